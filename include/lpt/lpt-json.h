/* lpt-json.h - the native JSON form: everything that a graph holds
 *
 * docs/json.md describes the format, docs/lpt-graph.schema.json is its schema.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_JSON_H
#define LPT_JSON_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* What a native JSON file calls itself. */
#define LPT_JSON_FORMAT  "lpt-graph"
/* Of the format that is written; older ones are read. */
#define LPT_JSON_VERSION 1

/**
 * lpt_json_load:
 * Weights come from the file that the JSON names (relative to @path, mapped) or lie in it as base64.
 * Errors read `FILE:LINE: node "NAME": what`.
 * Returns: (transfer full): NULL on error
 */
LPT_EXPORT LptGraph *lpt_json_load  (const char *path, GError **error);
/* The same from memory. @weights: (nullable): content of the weights file. @source: (nullable): for messages. */
LPT_EXPORT LptGraph *lpt_json_parse (const char *text, gsize length, GBytes *weights, const char *source, GError **error);

/**
 * lpt_json_save:
 * @embed_weights: base64 in the JSON instead of a file @path.bin beside it
 * Both files are written beside their names and renamed, weights first.
 */
LPT_EXPORT gboolean  lpt_json_save  (LptGraph *graph, const char *path, gboolean embed_weights, GError **error);
/* The text with embedded weights (transfer full). */
LPT_EXPORT char     *lpt_json_print (LptGraph *graph, GError **error);
/* The text (transfer full); weights are written to @weights (a FILE *) from where it stands: *size bytes, which
 * lpt_json_parse() takes. Errors of the stream show up there. */
LPT_EXPORT char     *lpt_json_print_apart (LptGraph *graph, gpointer weights, guint64 *size, GError **error);

G_END_DECLS

#endif
