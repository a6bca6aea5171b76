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
 * lpt_onnx_parse:
 * @folder: (nullable): of external data; NULL = there can be none
 * The same from memory; @data is not needed afterwards.
 */
LPT_EXPORT LptGraph *lpt_onnx_parse (gconstpointer data, gsize size, const char *folder, GError **error);

G_END_DECLS

#endif
