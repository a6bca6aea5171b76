/* onnx-quant.h - quantization of values while a model is read
 *
 * QuantizeLinear's integers carry their scale and zero point (LptQuant). Moves
 * hand it on; an op that means the bare integers reads them through a
 * Reinterpret with scale 1 and zero point 0, which is the same numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_QUANT_H
#define LPT_ONNX_QUANT_H

#include "frontends/onnx_json/read/onnx-import.h"

/* The bare integers of a value. */
LptValue *lpt_onnx_plain      (LptOnnxNode *on, LptValue *value);
/* The same integers with this quantization. */
LptValue *lpt_onnx_quantized  (LptOnnxNode *on, LptValue *value, LptQuant *quant);
/* Does the op hand quantization on from input 0, element by element? */
gboolean  lpt_onnx_moves      (const LptNode *node);

/* Inputs @a and @b less their zero points @zero_a and @zero_b (which may be absent), multiplied: int32. */
LptValue *lpt_onnx_matmul_integer (LptOnnxNode *on, guint a, guint b, guint zero_a, guint zero_b);

/* What DynamicQuantizeLinear makes of @x */
typedef struct { LptValue *codes, *scale, *zero_point; } LptOnnxDynamic;

LptOnnxDynamic lpt_onnx_quantize_dynamic (LptOnnxNode *on, LptValue *x);
/* (codes of @x - their zero point) @weights * (the two scales) */
LptValue      *lpt_onnx_dynamic_product  (LptOnnxNode *on, LptOnnxDynamic x, LptValue *weights, LptValue *scale);

#endif
