/* lpt-onnx.h - ONNX, binary or as protobuf's JSON
 *
 * Opsets 7 to 28 of the default domain, the quantised operators of
 * com.microsoft, and the model's own functions, which are inlined. QuantizeLinear
 * and DequantizeLinear become Quantize and Dequantize, whose numbers are the
 * quantization of the integer value. Errors read `FILE: node "NAME" (OP, opset N): what`;
 * what the graph cannot hold is LPT_ERROR_UNSUPPORTED, what contradicts itself
 * LPT_ERROR_INVALID, what cannot be read LPT_ERROR_IO.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_H
#define LPT_ONNX_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * lpt_onnx_load:
 * @path: either serialisation, told by the content. External data is looked for in its folder and mapped.
 * Initializers and external data are not copied again: the graph's constants are slices of what was read.
 * Returns: (transfer full): NULL on error
 */
LPT_EXPORT LptGraph *lpt_onnx_load  (const char *path, GError **error);

/**
 * lpt_onnx_load_encoded:
 * @encodings: (nullable): a JSON file of AIMET's form (versions 0.4 to 2.0.0; QNN's quantization overrides) with scales
 *   and offsets of the model's tensors
 * The same; tensors that @encodings names become what their codes say: constants DequantizeLinear of codes, others
 * FakeQuantize. Names that are none of the model's tensors are counted in its LPT_META_REMARK.
 * Returns: (transfer full): NULL on error
 */
LPT_EXPORT LptGraph *lpt_onnx_load_encoded (const char *path, const char *encodings, GError **error);

/**
 * lpt_onnx_parse:
 * @folder: (nullable): of external data; NULL = there can be none
 * The same from memory; @data is not needed afterwards.
 */
LPT_EXPORT LptGraph *lpt_onnx_parse (gconstpointer data, gsize size, const char *folder, GError **error);

/**
 * LptOnnxSaveFlags:
 * @LPT_ONNX_JSON: protobuf's JSON mapping instead of binary
 * @LPT_ONNX_QOPERATOR: integer operators (QLinearConv, ...) where a lowered graph has one for them;
 *   else QuantizeLinear and DequantizeLinear around real operators
 */
typedef enum
{
  LPT_ONNX_JSON      = 1 << 0,
  LPT_ONNX_QOPERATOR = 1 << 1,
} LptOnnxSaveFlags;

/**
 * lpt_onnx_save:
 * Writes the graph for opset 17, or a newer one where an op needs it. The file appears by rename. What ONNX cannot
 * say is LPT_ERROR_UNSUPPORTED with the node's name; nothing is left behind then.
 */
LPT_EXPORT gboolean lpt_onnx_save      (LptGraph *graph, const char *path, LptOnnxSaveFlags flags, GError **error);
/* The same as bytes (transfer full). */
LPT_EXPORT GBytes  *lpt_onnx_serialise (LptGraph *graph, LptOnnxSaveFlags flags, GError **error);

G_END_DECLS

#endif
