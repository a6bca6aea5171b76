/* onnx-quant-in.h - scales and zero points among an operator's inputs
 *
 * Integer operators have a scale and a zero point behind each operand and behind each result. Where these are constant
 * they become the quantization of the value (onnx-quant.h); where somebody computes them the operator is spelled out
 * on real numbers. Positions are those of the operator's inputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_QUANT_IN_H
#define LPT_ONNX_QUANT_IN_H

#include "frontends/onnx_json/read/onnx-quant.h"

/* --- as quantizations of values ---------------------------------------------------------- */

/* From the constant inputs @scale and @scale + 1 (transfer full); several numbers run along @axis. */
LptQuant *lpt_onnx_quant_in            (LptOnnxNode *on, guint scale, gint axis);
/* @quant has as many numbers as @x has elements along its axis, or one. */
void      lpt_onnx_check_quant_length  (LptOnnxNode *on, LptValue *x, const LptQuant *quant);
/* The type of the zero point at @zero: that of the codes; u8 where it is not given. */
LptDType  lpt_onnx_zero_type           (LptOnnxNode *on, guint zero);
/* Input @i with the quantization of inputs @scale, @scale + 1. */
LptValue *lpt_onnx_quantized_in        (LptOnnxNode *on, guint i, guint scale, gint axis);
/* Input @i of an operator with zero points only: scale 1. Several zero points run along @axis. */
LptValue *lpt_onnx_offset_in           (LptOnnxNode *on, guint i, guint zero, gint axis);
/* Is each of @n inputs from @first on constant or absent? */
gboolean  lpt_onnx_all_constant        (LptOnnxNode *on, guint first, guint n);
/* @node computes on quantized integers and writes @dtype with @quant (transfer full). */
LptValue *lpt_onnx_integer_done        (LptOnnxNode *on, LptNode *node, LptDType dtype, LptQuant *quant);

/* --- spelled out ------------------------------------------------------------------------- */

/* Scales or zero points so that they broadcast to @x: a vector along @axis, or blocks of @block elements along it. */
LptValue *lpt_onnx_spread              (LptOnnxNode *on, LptValue *x, LptValue *numbers, gint axis, gint64 block);
/* saturate (round (x / scale) + zero) as @dtype; @zero may be NULL. */
LptValue *lpt_onnx_quantize_by_steps   (LptOnnxNode *on, LptValue *x, LptValue *scale, LptValue *zero, LptDType dtype);
/* (input @i - zero point) * scale in f32. @scale 0 = no scale. */
LptValue *lpt_onnx_real_in             (LptOnnxNode *on, guint i, guint scale, guint zero, gint axis);

/* --- either ------------------------------------------------------------------------------ */

/* Input @i with scale and zero point behind it: codes where all of these are @known, else real numbers. */
LptValue *lpt_onnx_codes_or_real       (LptOnnxNode *on, guint i, gboolean known);
/* What @node computes, as codes of the scale input @scale and the zero point behind it. */
LptValue *lpt_onnx_codes_of            (LptOnnxNode *on, LptNode *node, guint scale, gboolean known);

#endif
