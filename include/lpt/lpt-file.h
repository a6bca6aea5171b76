/* lpt-file.h - models in and out, whatever their form
 *
 * Functions may be called by any thread; a graph belongs to one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FILE_H
#define LPT_FILE_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * LptLoadOptions:
 * @weights: (nullable): of an OpenVINO IR, where they lie under another name than the .xml's
 * @signature: (nullable): entry point of a TensorFlow Lite model; NULL = its first subgraph
 * @encodings: (nullable): quantizations beside an ONNX model: lpt_onnx_load_encoded()
 * Plain data. A member that is not for the form of the file is an error.
 */
typedef struct
{
  const char *weights;
  const char *signature;
  const char *encodings;
} LptLoadOptions;

/**
 * lpt_graph_load:
 * @path: OpenVINO IR, TensorFlow Lite, ONNX (binary or JSON), native JSON or text, told by its content
 * @options: (nullable)
 * What lpt_limits_set_thread() sets holds for it.
 * Returns: (transfer full): validated, shapes and types inferred; NULL + error that names file, place and reason: not a
 * model, of another
 *   program (which one is said), damaged, or with what is not supported
 */
LPT_EXPORT LptGraph   *lpt_graph_load     (const char *path, const LptLoadOptions *options, GError **error);

/**
 * LptSaveOptions:
 * @embed_weights: native JSON: weights as base64 in the file, not beside it
 * @onnx_form: (nullable): "qdq" or "qoperator"; NULL = "qdq"
 * Plain data.
 */
typedef struct
{
  gboolean    embed_weights;
  const char *onnx_form;
} LptSaveOptions;

/**
 * lpt_graph_save:
 * @path: its extension says the form: one of lpt_save_forms()
 * @options: (nullable)
 * Written beside its name and renamed: after an error nothing is there that was not before.
 * Returns: FALSE + error: no such form, the form cannot say what the graph does, the file cannot be written
 */
LPT_EXPORT gboolean    lpt_graph_save     (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error);

/* ".xml, .json, ..." (transfer full). */
LPT_EXPORT char       *lpt_save_forms     (void);
/* Does the extension of @path name a form that can be written? */
LPT_EXPORT gboolean    lpt_path_can_save  (const char *path);
/* The target whose lowered graphs the form of @path (nullable) is made for (transfer none); NULL: any graph. */
LPT_EXPORT const char *lpt_path_save_target (const char *path);
/* The weights file that belongs to the model file @path (transfer full); NULL: its form has none. */
LPT_EXPORT char       *lpt_path_weights_beside (const char *path);

G_END_DECLS

#endif
