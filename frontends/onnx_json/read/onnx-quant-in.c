/* onnx-quant-in.c - scales and zero points among an operator's inputs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-quant-in.h"

#include <math.h>

/* --- as quantizations of values -------------------------------------------------------------- */

/* @scale and @zero (NULL = 0) as a quantization; several numbers run along @axis. */
static LptQuant *
make_quant (LptOnnxNode *on,
            LptTensor   *scale,
            LptTensor   *zero,
            gint         axis)
{
  gint64 n = lpt_tensor_count (scale), n_zero = zero != NULL ? lpt_tensor_count (zero) : 1;
  g_autofree double *scales = NULL;
  g_autofree gint32 *zeros = NULL;

  if (n < 1 || n > G_MAXINT32 || (n_zero != n && n_zero != 1))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " scales with %" G_GINT64_FORMAT " zero points", n,
                     n_zero);
      return lpt_quant_new_one (1, 0);
    }
  scales = lpt_tensor_to_f64 (scale, on->error == NULL ? &on->error : NULL);
  zeros = g_new0 (gint32, n);
  if (scales == NULL)
    return lpt_quant_new_one (1, 0);
  for (gint64 i = 0; i < n; i++)
    {
      if (!(scales[i] > 0) || isinf (scales[i]))
        lpt_onnx_unsupported (on, "scale %g", scales[i]);
      if (zero != NULL)
        zeros[i] = (gint32) lpt_tensor_get_i64 (zero, n_zero == 1 ? 0 : i);
    }
  return lpt_quant_new (n == 1 ? LPT_QUANT_PER_TENSOR : axis, (guint) n, scales, zeros);
}

/* From the constant inputs @scale and @scale + 1. */
LptQuant *
lpt_onnx_quant_in (LptOnnxNode *on,
                   guint        scale,
                   gint         axis)
{
  LptTensor *data = lpt_onnx_const_in (on, scale);

  lpt_onnx_in (on, scale);
  if (data == NULL || (lpt_onnx_optional (on, scale + 1) != NULL && lpt_onnx_const_in (on, scale + 1) == NULL))
    {
      lpt_onnx_unsupported (on, "scale or zero point that is not constant");
      return lpt_quant_new_one (1, 0);
    }
  return make_quant (on, data, lpt_onnx_const_in (on, scale + 1), axis);
}

void
lpt_onnx_check_quant_length (LptOnnxNode    *on,
                             LptValue       *x,
                             const LptQuant *quant)
{
  gint64 length = quant->axis >= 0 && x->shape.rank >= 0 ? x->shape.dims[quant->axis] : LPT_DYNAMIC;

  if (quant->n > 1 && length != LPT_DYNAMIC && length != quant->n)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u scales along an axis of length %" G_GINT64_FORMAT, quant->n, length);
}

LptDType
lpt_onnx_zero_type (LptOnnxNode *on,
                    guint        zero)
{
  LptValue *value = lpt_onnx_optional (on, zero);

  return value != NULL ? value->dtype : LPT_DTYPE_U8;
}

/* Input @i with the quantization of inputs @scale, @scale + 1. */
LptValue *
lpt_onnx_quantized_in (LptOnnxNode *on,
                       guint        i,
                       guint        scale,
                       gint         axis)
{
  g_autoptr (LptQuant) quant = lpt_onnx_quant_in (on, scale, axis);

  lpt_onnx_check_quant_length (on, lpt_onnx_in (on, i), quant);
  return lpt_onnx_quantized (on, lpt_onnx_in (on, i), quant);
}

/* Input @i of an operator with zero points only: scale 1. Several zero points run along @axis. */
LptValue *
lpt_onnx_offset_in (LptOnnxNode *on,
                    guint        i,
                    guint        zero,
                    gint         axis)
{
  LptTensor *data = lpt_onnx_const_in (on, zero);
  g_autoptr (LptTensor) one = lpt_tensor_scalar (LPT_DTYPE_F32, 1);
  g_autoptr (LptTensor) ones = NULL;
  g_autoptr (LptQuant) quant = NULL;

  if (lpt_onnx_optional (on, zero) != NULL && data == NULL)
    lpt_onnx_unsupported (on, "zero point that is not constant");
  if (data != NULL && lpt_tensor_count (data) > 1)
    {
      LptShape shape = { .rank = 1, .dims = { lpt_tensor_count (data) } };
      g_autofree double *values = g_try_new (double, lpt_tensor_count (data));

      for (gint64 k = 0; values != NULL && k < lpt_tensor_count (data); k++)
        values[k] = 1;
      ones = values != NULL ? lpt_tensor_from_f64 (LPT_DTYPE_F64, &shape, values, NULL) : NULL;
    }
  quant = make_quant (on, ones != NULL ? ones : one, data, axis);
  lpt_onnx_check_quant_length (on, lpt_onnx_in (on, i), quant);
  return lpt_onnx_quantized (on, lpt_onnx_in (on, i), quant);
}

gboolean
lpt_onnx_all_constant (LptOnnxNode *on,
                       guint        first,
                       guint        n)
{
  for (guint i = first; i < first + n; i++)
    if (lpt_onnx_optional (on, i) != NULL && lpt_onnx_const_in (on, i) == NULL)
      return FALSE;
  return TRUE;
}

/* @node computes on quantized integers and writes @dtype with @quant (taken over). */
LptValue *
lpt_onnx_integer_done (LptOnnxNode *on,
                       LptNode     *node,
                       LptDType     dtype,
                       LptQuant    *quant)
{
  LptValue *out = lpt_node_out (node);

  node->flags |= LPT_NODE_RELAXED;
  out->dtype = dtype;
  lpt_value_set_quant (out, quant);
  lpt_quant_unref (quant);
  return lpt_onnx_done (on, node);
}

/* --- spelled out ----------------------------------------------------------------------------- */

/* Scales or zero points so that they broadcast to @x: a vector along @axis, or blocks of @block elements along it. */
LptValue *
lpt_onnx_spread (LptOnnxNode *on,
                 LptValue    *x,
                 LptValue    *numbers,
                 gint         axis,
                 gint64       block)
{
  gint rank = lpt_onnx_rank (on, x);
  gint64 dims[LPT_MAX_RANK + 1];

  if (numbers->shape.rank == 0 || (numbers->shape.rank == 1 && numbers->shape.dims[0] == 1 && block == 0))
    return numbers;
  if (block == 0)
    {
      for (gint i = 0; i < rank; i++)
        dims[i] = i == axis ? -1 : 1;
      return lpt_onnx_reshape (on, numbers, (guint) rank, dims);
    }
  if (!lpt_shape_is_static (&x->shape) || !lpt_shape_is_static (&numbers->shape) || numbers->shape.rank != rank ||
      rank >= LPT_MAX_RANK)
    {
      lpt_onnx_unsupported (on, "blocked quantization of this shape");
      return numbers;
    }
  /* [..., n, ...] -> [..., n, 1, ...] -> [..., n, block, ...] -> [..., n * block, ...], cut to the length of x. */
  for (gint i = 0; i <= rank; i++)
    dims[i] = i == axis + 1 ? block : numbers->shape.dims[i > axis ? i - 1 : i];
  numbers = lpt_onnx_broadcast (on, lpt_onnx_unsqueeze (on, numbers, axis + 1),
                                lpt_onnx_i64 (on, (guint) rank + 1, dims));
  for (gint i = 0; i < rank; i++)
    dims[i] = i == axis ? -1 : x->shape.dims[i];
  numbers = lpt_onnx_reshape (on, numbers, (guint) rank, dims);
  if (numbers->shape.dims[axis] != x->shape.dims[axis])
    numbers = lpt_onnx_slice (on, numbers, axis, 0, x->shape.dims[axis]);
  return numbers;
}

/* saturate (round (x / scale) + zero), computed in f32; small floats round by themselves, and their zero point, always
 * 0, takes the sign of -0 away. */
LptValue *
lpt_onnx_quantize_by_steps (LptOnnxNode *on,
                            LptValue    *x,
                            LptValue    *scale,
                            LptValue    *zero,
                            LptDType     dtype)
{
  LptValue *y = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_convert (on, x, LPT_DTYPE_F32),
                               lpt_onnx_convert (on, scale, LPT_DTYPE_F32));
  LptNode *clamp;

  if (lpt_dtype_is_small_float (dtype) && zero != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_like (on, y, 0));
  if (lpt_dtype_is_small_float (dtype))
    return lpt_onnx_to_small_float (on, y, dtype, lpt_onnx_int (on, "saturate", 1) != 0, LPT_POWER_ROUND_EVEN);
  y = lpt_onnx_emit (on, LPT_OP_ROUND, 1, y);
  if (zero != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_convert (on, zero, LPT_DTYPE_F32));
  clamp = lpt_onnx_add (on, LPT_OP_CLAMP, 1, y);
  LPT_ATTRS (clamp, LptClampAttrs)->min = lpt_dtype_min (dtype);
  LPT_ATTRS (clamp, LptClampAttrs)->max = lpt_dtype_max (dtype);
  return lpt_onnx_convert (on, lpt_onnx_done (on, clamp), dtype);
}

/* Scales that are computed: (input @i - zero point) * scale in f32. @scale 0 = no scale. */
LptValue *
lpt_onnx_real_in (LptOnnxNode *on,
                  guint        i,
                  guint        scale,
                  guint        zero,
                  gint         axis)
{
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_plain (on, lpt_onnx_in (on, i)), LPT_DTYPE_F32);

  if (lpt_onnx_optional (on, zero) != NULL)
    x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x,
                       lpt_onnx_convert (on, lpt_onnx_spread (on, x, lpt_onnx_in (on, zero), axis, 0), LPT_DTYPE_F32));
  if (scale != 0)
    x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x,
                       lpt_onnx_convert (on, lpt_onnx_spread (on, x, lpt_onnx_in (on, scale), axis, 0), LPT_DTYPE_F32));
  return x;
}

/* --- either ---------------------------------------------------------------------------------- */

/* Input @i with scale and zero point behind it: codes where all of these are @known, else real numbers. */
LptValue *
lpt_onnx_codes_or_real (LptOnnxNode *on,
                        guint        i,
                        gboolean     known)
{
  return known ? lpt_onnx_quantized_in (on, i, i + 1, 0) : lpt_onnx_real_in (on, i, i + 1, i + 2, 0);
}

/* What @node computes, as codes of the scale input @scale and the zero point behind it */
LptValue *
lpt_onnx_codes_of (LptOnnxNode *on,
                   LptNode     *node,
                   guint        scale,
                   gboolean     known)
{
  if (known)
    return lpt_onnx_integer_done (on, node, lpt_onnx_zero_type (on, scale + 1), lpt_onnx_quant_in (on, scale, 0));
  return lpt_onnx_quantize_by_steps (on, lpt_onnx_done (on, node), lpt_onnx_in (on, scale),
                                     lpt_onnx_optional (on, scale + 1), lpt_onnx_zero_type (on, scale + 1));
}
