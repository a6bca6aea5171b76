/* json-reader.h - state of the reader of the native JSON, and its pieces
 *
 * Functions that can fail return FALSE or NULL; those without a GError leave the message to their caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_JSON_READER_H
#define LPT_JSON_READER_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include <cjson/cJSON.h>

typedef struct
{
  const char *source;
  GArray     *lines;         /* of guint: line of each node of the outermost graph */
  GBytes     *weights;
  const char *no_weights;    /* why there are none */
  guint       depth;         /* of bodies */
} LptJsonFile;

typedef struct
{
  LptJsonFile   *file;
  LptGraph   *graph;
  cJSON      *object;
  GHashTable *nodes;         /* name -> LptNode */
  GArray     *boxes;         /* of LptBox: number in the file - 1 -> box */
  /* the node at hand, for messages */
  const char *name;
  guint       line;
} LptJsonReader;

/* --- errors: FALSE and FILE:LINE: node "NAME": ... --- */

gboolean lpt_json_fail (GError **error, const LptJsonReader *r, const char *format, ...) G_GNUC_PRINTF (3, 4);
gboolean lpt_json_prefix (GError **error, const LptJsonReader *r);

/* --- items; NULL where there is none, FALSE where it is something else --- */

cJSON *lpt_json_member (const cJSON *object, const char *name);
const char *lpt_json_text (const cJSON *object, const char *name);
gboolean lpt_json_int (const cJSON *item, gint64 low, gint64 high, gint64 *out);
gboolean lpt_json_double (const cJSON *item, double *out);
gboolean lpt_json_shape (const cJSON *item, LptShape *out);
gboolean lpt_json_types (const cJSON *item, LptTypeList *out);
gint lpt_json_index (const char *text, const char *const *names, guint n);
gboolean lpt_json_strings (const cJSON *item, GHashTable **table);

/* --- what hangs on nodes and values --- */

gboolean lpt_json_read_boxes (LptJsonReader *r, GError **error);
gboolean lpt_json_read_mark (LptJsonReader *r, const cJSON *item, LptMark *mark, GError **error);
LptTensor *lpt_json_read_data (LptJsonReader *r, const cJSON *item, LptDType dtype, const LptShape *shape, GError **error);
gboolean lpt_json_read_attributes (LptJsonReader *r, LptNode *node, const cJSON *attributes, GError **error);
gboolean lpt_json_read_output (LptJsonReader *r, LptValue *value, const cJSON *item, GError **error);

#endif
