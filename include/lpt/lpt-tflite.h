/* lpt-tflite.h - TensorFlow Lite (LiteRT) models
 *
 * Schema 3 with all its additions. What the file has as quantized tensors become values with quantization, and the
 * graph is lowered, with requant mode "litert"; a float model becomes a float graph. Inputs and outputs keep their
 * names, shapes and order of axes. Operators that are not known (custom, Flex, of devices) become nodes that are kept
 * and cannot run.
 * Errors read `FILE: subgraph 0: operator 12 (CONV_2D, "name"): what`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_H
#define LPT_TFLITE_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * LptTfliteFlags:
 * @LPT_TFLITE_ALL_TENSORS: every tensor that an operator of the entry point writes is an output, named by its index:
 *   "t012"
 */
typedef enum
{
  LPT_TFLITE_ALL_TENSORS = 1 << 0,
} LptTfliteFlags;

/**
 * lpt_tflite_load:
 * @signature: (nullable): key of the signature whose subgraph is read; NULL = the first subgraph
 * The file is mapped: constants are slices of it. External buffers are looked for in its folder.
 * Returns: (transfer full): NULL on error
 */
LPT_EXPORT LptGraph *lpt_tflite_load  (const char *path, const char *signature, guint flags, GError **error);

/**
 * lpt_tflite_parse:
 * @folder: (nullable): of external buffers; NULL = there can be none
 * The same from memory; constants keep references to @bytes.
 */
LPT_EXPORT LptGraph *lpt_tflite_parse (GBytes *bytes, const char *folder, const char *signature, guint flags, GError **error);

/**
 * lpt_tflite_check:
 * What in the file breaks LiteRT's quantization specification: "subgraph 0: operator 3 (CONV_2D): it has no bias
 * [bias]".
 * Returns: (transfer full) (element-type utf8): NULL + error: it cannot be read
 */
LPT_EXPORT GPtrArray *lpt_tflite_check (GBytes *bytes, GError **error);

/**
 * LptTfliteSaveFlags:
 * @LPT_TFLITE_ANEW: from the nodes also where the file that was read says the same
 * @LPT_TFLITE_BUFFERS_BEHIND: constants behind the FlatBuffer, as models of more than 2 GB have them
 */
typedef enum
{
  LPT_TFLITE_ANEW           = 1 << 0,
  LPT_TFLITE_BUFFERS_BEHIND = 1 << 1,
} LptTfliteSaveFlags;

/**
 * lpt_tflite_serialise:
 * The graph as a model: floats as they are, integers as quantized tensors; what TensorFlow Lite has no integer operator
 * for stands between DEQUANTIZE and QUANTIZE. @flags: LptTfliteSaveFlags. A graph that nothing changed since it was
 * read from a .tflite file is that file.
 * Returns: (transfer full): NULL + error that names the node for which there is no operator
 */
LPT_EXPORT GBytes   *lpt_tflite_serialise (LptGraph *graph, guint flags, GError **error);
LPT_EXPORT gboolean  lpt_tflite_save      (LptGraph *graph, const char *path, guint flags, GError **error);

G_END_DECLS

#endif
