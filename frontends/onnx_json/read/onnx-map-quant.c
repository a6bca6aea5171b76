/* onnx-map-quant.c - ONNX quantization: Q/DQ pairs, integer operators, com.microsoft's QLinear operators
 *
 * QuantizeLinear is Quantize, DequantizeLinear is Dequantize; blocked or computed
 * scales are spelled out in real arithmetic. An integer operator is the op of
 * its name on values that carry their scales (design: quantization lives on
 * values): a node of the lowered kind, which passes leave as it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-quant.h"
#include "frontends/onnx_json/read/onnx-scope.h"

#include <math.h>
#include <string.h>

/* --- scales --------------------------------------------------------------------------- */

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
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " scales with %" G_GINT64_FORMAT " zero points", n, n_zero);
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
static LptQuant *
quant_in (LptOnnxNode *on,
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

static void
check_length (LptOnnxNode    *on,
              LptValue       *x,
              const LptQuant *quant)
{
  gint64 length = quant->axis >= 0 && x->shape.rank >= 0 ? x->shape.dims[quant->axis] : LPT_DYNAMIC;

  if (quant->n > 1 && length != LPT_DYNAMIC && length != quant->n)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u scales along an axis of length %" G_GINT64_FORMAT, quant->n, length);
}

static LptDType
zero_type (LptOnnxNode *on,
           guint        zero)
{
  LptValue *value = lpt_onnx_optional (on, zero);

  return value != NULL ? value->dtype : LPT_DTYPE_U8;
}

/* --- spelled out ------------------------------------------------------------------------ */

/* Scales or zero points so that they broadcast to @x: a vector along @axis, or blocks of @block elements along it. */
static LptValue *
spread (LptOnnxNode *on,
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
  if (!lpt_shape_is_static (&x->shape) || !lpt_shape_is_static (&numbers->shape) || numbers->shape.rank != rank || rank >= LPT_MAX_RANK)
    {
      lpt_onnx_unsupported (on, "blocked quantization of this shape");
      return numbers;
    }
  /* [..., n, ...] -> [..., n, 1, ...] -> [..., n, block, ...] -> [..., n * block, ...], cut to the length of x. */
  for (gint i = 0; i <= rank; i++)
    dims[i] = i == axis + 1 ? block : numbers->shape.dims[i > axis ? i - 1 : i];
  numbers = lpt_onnx_broadcast (on, lpt_onnx_unsqueeze (on, numbers, axis + 1), lpt_onnx_i64 (on, (guint) rank + 1, dims));
  for (gint i = 0; i < rank; i++)
    dims[i] = i == axis ? -1 : x->shape.dims[i];
  numbers = lpt_onnx_reshape (on, numbers, (guint) rank, dims);
  if (numbers->shape.dims[axis] != x->shape.dims[axis])
    numbers = lpt_onnx_slice (on, numbers, axis, 0, x->shape.dims[axis]);
  return numbers;
}

/* saturate (round (x / scale) + zero), computed in f32; small floats round by themselves, and their zero point, always 0, takes
 * the sign of -0 away. */
static LptValue *
quantize_by_steps (LptOnnxNode *on,
                   LptValue    *x,
                   LptValue    *scale,
                   LptValue    *zero,
                   LptDType     dtype)
{
  LptValue *y = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_convert (on, x, LPT_DTYPE_F32), lpt_onnx_convert (on, scale, LPT_DTYPE_F32));
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

/* --- Q and DQ ------------------------------------------------------------------------------ */

/* The axis along which numbers run, when there are several. */
static gint
quant_axis (LptOnnxNode *on,
            LptValue    *x,
            LptValue    *scale)
{
  gboolean contrib = strcmp (lpt_onnx_domain (on->proto->domain), "com.microsoft") == 0;
  gint64 axis = lpt_onnx_int (on, "axis", contrib ? G_MININT64 : 1);
  gint64 count;

  if (lpt_shape_count (&scale->shape, &count) && count == 1)
    return 0;
  if (axis == G_MININT64)
    {
      lpt_onnx_unsupported (on, "scale of several numbers without an axis");
      return 0;
    }
  return lpt_onnx_axis (on, axis, lpt_onnx_rank (on, x));
}

void
lpt_onnx_map_quantize_linear (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1), *zero = lpt_onnx_optional (on, 2);
  LptDType dtype = lpt_onnx_dtype (on, "output_dtype");
  gint axis = quant_axis (on, x, scale);
  gint64 block = lpt_onnx_int (on, "block_size", 0);

  lpt_onnx_ignore (on, "saturate");   /* about 8-bit floats */
  lpt_onnx_ignore (on, "precision");
  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = zero_type (on, 2);
  if (!lpt_dtype_is_small_float (dtype) && (!lpt_dtype_is_integer (dtype) || lpt_dtype_bits (dtype) > 32))
    lpt_onnx_unsupported (on, "output type %s", lpt_dtype_name (dtype));
  if (on->error != NULL)
    return;
  if (lpt_dtype_is_integer (dtype) && block == 0 && lpt_onnx_const_in (on, 1) != NULL && (zero == NULL || lpt_onnx_const_in (on, 2) != NULL))
    {
      g_autoptr (LptQuant) quant = quant_in (on, 1, axis);
      LptNode *node = lpt_onnx_add (on, LPT_OP_QUANTIZE, 1, lpt_dtype_is_real (x->dtype) ? x : lpt_onnx_convert (on, x, LPT_DTYPE_F32));

      check_length (on, x, quant);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
      lpt_value_set_quant (lpt_node_out (node), quant);
      lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
      return;
    }
  scale = spread (on, x, scale, axis, block);
  zero = zero != NULL ? spread (on, x, lpt_onnx_convert (on, zero, LPT_DTYPE_F32), axis, block) : NULL;
  lpt_onnx_set (on, 0, quantize_by_steps (on, x, scale, zero, dtype));
}

static LptValue *
dequantize (LptOnnxNode *on,
            LptValue    *q,
            LptDType     dtype)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_DEQUANTIZE, 1, q);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
  return lpt_onnx_done (on, node);
}

/* Codes as real numbers; those of constants stay codes, which folding leaves alone. */
static LptValue *
decoded (LptOnnxNode *on,
         LptValue    *codes)
{
  LptNode *node;

  if (codes->producer->data == NULL || !lpt_dtype_is_integer (codes->dtype) || lpt_dtype_bits (codes->dtype) > 8)
    return lpt_onnx_convert (on, codes, LPT_DTYPE_F32);
  node = lpt_onnx_add (on, LPT_OP_CONVERT, 1, codes);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
  node->flags |= LPT_NODE_KEEP_CONST | LPT_NODE_DEQUANTIZATION;
  return lpt_onnx_done (on, node);
}

static LptValue *
dequantization (LptOnnxNode *on,
                LptOp        op,
                LptValue    *x,
                LptValue    *numbers)
{
  LptNode *node = lpt_onnx_add (on, op, 2, x, numbers);

  if (x->producer->flags & LPT_NODE_DEQUANTIZATION)
    node->flags |= LPT_NODE_DEQUANTIZATION;
  return lpt_onnx_done (on, node);
}

void
lpt_onnx_map_dequantize_linear (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1), *zero = lpt_onnx_optional (on, 2);
  LptDType dtype = lpt_onnx_dtype (on, "output_dtype");
  gint axis = quant_axis (on, x, scale);
  gint64 block = lpt_onnx_int (on, "block_size", 0);

  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = scale->dtype;
  if (!lpt_dtype_is_small_float (x->dtype) && (!lpt_dtype_is_integer (x->dtype) || lpt_dtype_bits (x->dtype) > 32))
    lpt_onnx_unsupported (on, "input type %s", lpt_dtype_name (x->dtype));
  if (on->error != NULL)
    return;
  if (lpt_dtype_is_small_float (x->dtype))
    zero = NULL;      /* must be 0 */
  else if (block == 0 && lpt_onnx_const_in (on, 1) != NULL && (zero == NULL || lpt_onnx_const_in (on, 2) != NULL))
    {
      g_autoptr (LptQuant) quant = quant_in (on, 1, axis);

      check_length (on, x, quant);
      lpt_onnx_set (on, 0, dequantize (on, lpt_onnx_quantized (on, x, quant), dtype));
      return;
    }
  x = decoded (on, lpt_onnx_plain (on, x));
  if (zero != NULL)
    {
      zero = spread (on, x, lpt_onnx_convert (on, zero, LPT_DTYPE_F32), axis, block);
      x = dequantization (on, LPT_OP_SUBTRACT, x, zero);
    }
  scale = lpt_onnx_convert (on, spread (on, x, scale, axis, block), LPT_DTYPE_F32);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, dequantization (on, LPT_OP_MULTIPLY, x, scale), dtype));
}

/* Their scale and zero point are computed: codes and zero point count as plain integers. */
LptOnnxDynamic
lpt_onnx_quantize_dynamic (LptOnnxNode *on,
                           LptValue    *x)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  LptNode *node = lpt_onnx_add (on, LPT_OP_DYNAMIC_QUANTIZE, 1, x);

  lpt_value_set_quant (&node->out[0], unit);
  lpt_value_set_quant (&node->out[2], unit);
  if (on->error == NULL)
    lpt_node_infer (node, &on->error);
  return (LptOnnxDynamic) { &node->out[0], &node->out[1], &node->out[2] };
}

void
lpt_onnx_map_dynamic_quantize_linear (LptOnnxNode *on)
{
  LptOnnxDynamic dynamic = lpt_onnx_quantize_dynamic (on, lpt_onnx_in (on, 0));

  lpt_onnx_set (on, 0, dynamic.codes);
  lpt_onnx_set (on, 1, dynamic.scale);
  lpt_onnx_set (on, 2, dynamic.zero_point);
}

/* --- integer operators ------------------------------------------------------------------------ */

/* @node computes on quantized integers and writes @dtype with @quant (taken over). */
static LptValue *
integer_done (LptOnnxNode *on,
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

/* Input @i with the quantization of inputs @scale, @scale + 1. */
static LptValue *
quantized_in (LptOnnxNode *on,
              guint        i,
              guint        scale,
              gint         axis)
{
  g_autoptr (LptQuant) quant = quant_in (on, scale, axis);

  check_length (on, lpt_onnx_in (on, i), quant);
  return lpt_onnx_quantized (on, lpt_onnx_in (on, i), quant);
}

/* Input @i of an operator with zero points only: scale 1. Several zero points run along @axis. */
static LptValue *
offset_in (LptOnnxNode *on,
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
  check_length (on, lpt_onnx_in (on, i), quant);
  return lpt_onnx_quantized (on, lpt_onnx_in (on, i), quant);
}

static gboolean
all_constant (LptOnnxNode *on,
              guint        first,
              guint        n)
{
  for (guint i = first; i < first + n; i++)
    if (lpt_onnx_optional (on, i) != NULL && lpt_onnx_const_in (on, i) == NULL)
      return FALSE;
  return TRUE;
}

/* Bare codes at input @i with a zero point at @zero that somebody computes, one number in their type: they are as they are, the
 * zero point goes beside them. NULL: the product has another form. */
static LptValue *
computed_zero (LptOnnxNode *on,
               guint        i,
               guint        zero,
               LptValue   **codes)
{
  LptValue *value = lpt_onnx_optional (on, zero), *x = lpt_onnx_in (on, i);
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  gint64 count;

  if (value == NULL || value->producer->data != NULL || value->dtype != x->dtype || lpt_dtype_bits (x->dtype) != 8 ||
      !lpt_dtype_is_integer (x->dtype) || !lpt_shape_count (&value->shape, &count) || count != 1)
    return NULL;
  *codes = lpt_onnx_quantized (on, x, unit);
  return lpt_onnx_quantized (on, value, unit);
}

/* @zero is the zero point of the data of @node. */
static void
set_zero (LptNode  *node,
          LptValue *zero)
{
  if (node->n_in == 2)
    lpt_node_set_input (node, 2, NULL);
  lpt_node_set_input (node, 3, zero);
}

/* Scales that are computed: (input @i - zero point) * scale in f32. @scale 0 = no scale. */
static LptValue *
real_in (LptOnnxNode *on,
         guint        i,
         guint        scale,
         guint        zero,
         gint         axis)
{
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_plain (on, lpt_onnx_in (on, i)), LPT_DTYPE_F32);

  if (lpt_onnx_optional (on, zero) != NULL)
    x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, lpt_onnx_convert (on, spread (on, x, lpt_onnx_in (on, zero), axis, 0), LPT_DTYPE_F32));
  if (scale != 0)
    x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_convert (on, spread (on, x, lpt_onnx_in (on, scale), axis, 0), LPT_DTYPE_F32));
  return x;
}

/* Input @i with scale and zero point behind it: codes where all of these are @known, else real numbers. */
static LptValue *
codes_or_real (LptOnnxNode *on,
               guint        i,
               gboolean     known)
{
  return known ? quantized_in (on, i, i + 1, 0) : real_in (on, i, i + 1, i + 2, 0);
}

/* What @node computes, as codes of the scale input @scale and the zero point behind it */
static LptValue *
codes_of (LptOnnxNode *on,
          LptNode     *node,
          guint        scale,
          gboolean     known)
{
  if (known)
    return integer_done (on, node, zero_type (on, scale + 1), quant_in (on, scale, 0));
  return quantize_by_steps (on, lpt_onnx_done (on, node), lpt_onnx_in (on, scale), lpt_onnx_optional (on, scale + 1), zero_type (on, scale + 1));
}

static void
qlinear_conv_by_steps (LptOnnxNode *on)
{
  LptValue *x = real_in (on, 0, 1, 2, 1), *weights = real_in (on, 3, 4, 5, 0), *bias = lpt_onnx_optional (on, 8), *y;
  gint64 column[LPT_MAX_RANK] = { 1, -1 };

  y = lpt_onnx_done (on, lpt_onnx_conv_node (on, x, weights, NULL));
  if (bias != NULL)
    {
      gint rank = lpt_onnx_rank (on, y);

      for (gint i = 2; i < rank; i++)
        column[i] = 1;
      bias = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_convert (on, bias, LPT_DTYPE_F32),
                            lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_in (on, 1), lpt_onnx_in (on, 4)));
      y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_reshape (on, bias, (guint) MAX (rank, 2), column));
    }
  lpt_onnx_set (on, 0, quantize_by_steps (on, y, lpt_onnx_in (on, 6), lpt_onnx_optional (on, 7), zero_type (on, 7)));
}

static void
qlinear_conv (LptOnnxNode *on)
{
  LptValue *x, *weights, *bias = lpt_onnx_optional (on, 8);
  LptNode *node;

  if (!all_constant (on, 1, 2) || !all_constant (on, 4, 5))
    {
      qlinear_conv_by_steps (on);
      return;
    }
  x = quantized_in (on, 0, 1, 1);
  weights = quantized_in (on, 3, 4, 0);
  if (bias != NULL)
    {
      /* Its step is that of the accumulator. */
      guint n = weights->quant->n;
      g_autofree double *steps = g_new (double, n);
      g_autoptr (LptQuant) quant = NULL;

      for (guint i = 0; i < n; i++)
        steps[i] = x->quant->scale[0] * weights->quant->scale[i];
      quant = lpt_quant_new (n == 1 ? LPT_QUANT_PER_TENSOR : 0, n, steps, NULL);
      bias = lpt_onnx_quantized (on, bias, quant);
    }
  node = lpt_onnx_conv_node (on, x, weights, bias);
  lpt_onnx_set (on, 0, integer_done (on, node, zero_type (on, 7), quant_in (on, 6, 0)));
}

/* com.microsoft's may have the channels last. */
void
lpt_onnx_map_qlinear_conv (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  gboolean last = lpt_onnx_int (on, "channels_last", 0) != 0;

  if (last)
    on->in[0] = lpt_onnx_move_channels (on, x, TRUE);
  qlinear_conv (on);
  if (last && on->out[0] != NULL)
    lpt_onnx_set (on, 0, lpt_onnx_move_channels (on, on->out[0], FALSE));
}

void
lpt_onnx_map_conv_integer (LptOnnxNode *on)
{
  LptValue *x = NULL, *zero = computed_zero (on, 0, 2, &x);
  gboolean known = all_constant (on, 3, 1) && lpt_onnx_const_in (on, 1) != NULL;
  LptNode *node;

  if (known && zero != NULL)
    {
      node = lpt_onnx_conv_node (on, x, offset_in (on, 1, 3, 0), NULL);
      set_zero (node, zero);
      lpt_onnx_set (on, 0, integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)));
      return;
    }
  if (!known || !all_constant (on, 2, 1))
    {
      node = lpt_onnx_conv_node (on, real_in (on, 0, 0, 2, 1), real_in (on, 1, 0, 3, 0), NULL);
      lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_done (on, node), LPT_DTYPE_I32));
      return;
    }
  node = lpt_onnx_conv_node (on, offset_in (on, 0, 2, 1), offset_in (on, 1, 3, 0), NULL);
  lpt_onnx_set (on, 0, integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)));
}

static gint
last_axis (LptOnnxNode *on,
           guint        i)
{
  return MAX (lpt_onnx_rank (on, lpt_onnx_in (on, i)) - 1, 0);
}

void
lpt_onnx_map_qlinear_matmul (LptOnnxNode *on)
{
  gint row = MAX (last_axis (on, 0) - 1, 0), column = last_axis (on, 3);
  LptValue *a, *b;

  if (!all_constant (on, 1, 2) || !all_constant (on, 4, 4))
    {
      a = lpt_onnx_emit (on, LPT_OP_MATMUL, 2, real_in (on, 0, 1, 2, row), real_in (on, 3, 4, 5, column));
      lpt_onnx_set (on, 0, quantize_by_steps (on, a, lpt_onnx_in (on, 6), lpt_onnx_optional (on, 7), zero_type (on, 7)));
      return;
    }
  a = quantized_in (on, 0, 1, row);
  b = quantized_in (on, 3, 4, column);
  lpt_onnx_set (on, 0, integer_done (on, lpt_onnx_add (on, LPT_OP_MATMUL, 2, a, b), zero_type (on, 7), quant_in (on, 6, 0)));
}

/* (a - zero of a) times (b - zero of b) as int32; zero points of b that are computed are subtracted as real numbers. */
LptValue *
lpt_onnx_matmul_integer (LptOnnxNode *on,
                         guint        a,
                         guint        b,
                         guint        zero_a,
                         guint        zero_b)
{
  LptValue *left = NULL, *right, *zero = all_constant (on, zero_b, 1) ? computed_zero (on, a, zero_a, &left) : NULL;

  if (zero != NULL && lpt_onnx_const_in (on, b) != NULL)
    {
      LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, left, offset_in (on, b, zero_b, last_axis (on, b)));

      set_zero (node, zero);
      return integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0));
    }
  if (all_constant (on, zero_a, 1) && all_constant (on, zero_b, 1))
    return integer_done (on, lpt_onnx_add (on, LPT_OP_MATMUL, 2, offset_in (on, a, zero_a, MAX (last_axis (on, a) - 1, 0)),
                                           offset_in (on, b, zero_b, last_axis (on, b))),
                         LPT_DTYPE_I32, lpt_quant_new_one (1, 0));
  left = real_in (on, a, 0, zero_a, MAX (last_axis (on, a) - 1, 0));
  right = real_in (on, b, 0, zero_b, last_axis (on, b));
  return lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_MATMUL, 2, left, right), LPT_DTYPE_I32);
}

void
lpt_onnx_map_matmul_integer (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_matmul_integer (on, 0, 1, 2, 3));
}

/* float32 (accumulator) * (scale a * scale b), + bias */
void
lpt_onnx_map_matmul_integer_to_float (LptOnnxNode *on)
{
  LptValue *y = lpt_onnx_matmul_integer (on, 0, 1, 4, 5), *bias = lpt_onnx_optional (on, 6);
  LptValue *scale = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_in (on, 2), lpt_onnx_in (on, 3));

  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_convert (on, y, LPT_DTYPE_F32), scale);
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, bias);
  lpt_onnx_set (on, 0, y);
}

/* Without scale and zero point of y the result is real. */
void
lpt_onnx_map_qgemm (LptOnnxNode *on)
{
  gboolean transpose_a = lpt_onnx_int (on, "transA", 0) != 0, transpose_b = lpt_onnx_int (on, "transB", 0) != 0;
  gboolean real = lpt_onnx_optional (on, 7) == NULL;
  double alpha = lpt_onnx_float (on, "alpha", 1);
  LptValue *a = real ? offset_in (on, 0, 2, 0) : quantized_in (on, 0, 1, 0);
  gint columns = transpose_b ? 0 : 1;
  LptValue *b = real ? offset_in (on, 3, 5, columns) : quantized_in (on, 3, 4, columns);
  LptValue *bias = lpt_onnx_optional (on, 6), *y, *scale;
  gint64 flat = -1;
  LptNode *node;

  if (!real && alpha != 1)
    {
      /* The bias counts in steps of the product, alpha among them. */
      g_autoptr (LptQuant) quant = lpt_quant_new_one ((float) (alpha * a->quant->scale[0]), a->quant->zero_point[0]);

      if (!(alpha > 0))
        lpt_onnx_unsupported (on, "alpha %g", alpha);
      a = lpt_onnx_quantized (on, a, quant);
    }
  if (bias != NULL)
    {
      g_autofree double *steps = g_new (double, b->quant->n);
      g_autoptr (LptQuant) quant = NULL;

      for (guint i = 0; i < b->quant->n; i++)
        steps[i] = a->quant->scale[0] * b->quant->scale[i];
      quant = lpt_quant_new (b->quant->n == 1 ? LPT_QUANT_PER_TENSOR : 0, b->quant->n, steps, NULL);
      if (bias->shape.rank != 1)
        bias = lpt_onnx_reshape (on, bias, 1, &flat);
      bias = lpt_onnx_quantized (on, bias, quant);
    }
  node = bias != NULL ? lpt_onnx_add (on, LPT_OP_MATMUL, 3, a, b, bias) : lpt_onnx_add (on, LPT_OP_MATMUL, 2, a, b);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = transpose_a;
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transpose_b;
  if (!real)
    {
      lpt_onnx_set (on, 0, integer_done (on, node, zero_type (on, 8), quant_in (on, 7, 0)));
      return;
    }
  y = lpt_onnx_convert (on, integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)), LPT_DTYPE_F32);
  scale = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_in (on, 1), lpt_onnx_in (on, 4));
  if (alpha != 1)
    scale = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_like (on, scale, alpha), scale);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, scale));
}

/* QLinearAdd, QLinearMul: argument = the op */
void
lpt_onnx_map_qlinear_binary (LptOnnxNode *on)
{
  gboolean known = all_constant (on, 1, 2) && all_constant (on, 4, 4);
  LptNode *node = lpt_onnx_add (on, (LptOp) on->argument, 2, codes_or_real (on, 0, known), codes_or_real (on, 3, known));

  lpt_onnx_set (on, 0, codes_of (on, node, 6, known));
}

/* QLinearSigmoid and the like: argument = the op */
void
lpt_onnx_map_qlinear_unary (LptOnnxNode *on)
{
  gboolean known = all_constant (on, 1, 4);

  lpt_onnx_set (on, 0, codes_of (on, lpt_onnx_add (on, (LptOp) on->argument, 1, codes_or_real (on, 0, known)), 3, known));
}

void
lpt_onnx_map_qlinear_leaky_relu (LptOnnxNode *on)
{
  gboolean known = all_constant (on, 1, 4);
  LptValue *x = codes_or_real (on, 0, known);
  LptNode *node = lpt_onnx_add (on, LPT_OP_PRELU, 2, x, lpt_onnx_scalar (on, LPT_DTYPE_F32, (float) lpt_onnx_float (on, "alpha", 0.01f)));

  lpt_onnx_set (on, 0, codes_of (on, node, 3, known));
}

void
lpt_onnx_map_qlinear_softmax (LptOnnxNode *on)
{
  gboolean known = all_constant (on, 1, 4);
  LptValue *x = codes_or_real (on, 0, known);
  gint rank = lpt_onnx_rank (on, x);
  gint axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", -1), rank);
  LptValue *shape = NULL, *y;
  LptNode *node;

  /* Before opset 13 over all axes from this one on */
  if (lpt_onnx_int (on, "opset", 13) < 13 && axis != rank - 1)
    {
      gint64 flat[LPT_MAX_RANK] = { 0 };

      flat[axis] = -1;
      shape = lpt_onnx_shape_of (on, x);
      node = lpt_onnx_add (on, LPT_OP_RESHAPE, 2, x, lpt_onnx_i64 (on, (guint) axis + 1, flat));
      LPT_ATTRS (node, LptReshapeAttrs)->special_zero = TRUE;
      x = lpt_onnx_done (on, node);
    }
  node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, x);
  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = axis;
  y = codes_of (on, node, 3, known);
  lpt_onnx_set (on, 0, shape != NULL ? lpt_onnx_reshape_to (on, y, shape) : y);
}

void
lpt_onnx_map_qlinear_concat (LptOnnxNode *on)
{
  guint n = on->n_in > 2 ? (on->n_in - 2 + 2) / 3 : 0;
  g_autofree LptValue **in = g_new0 (LptValue *, n + 1);
  gboolean known = all_constant (on, 0, 2);
  LptNode *node;

  for (guint i = 0; i < n; i++)
    known = known && all_constant (on, 3 + 3 * i, 2);
  if (n == 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "nothing to join");
      return;
    }
  for (guint i = 0; i < n; i++)
    in[i] = codes_or_real (on, 2 + 3 * i, known);
  node = lpt_onnx_add_list (on, LPT_OP_CONCAT, 1, n, in);
  LPT_ATTRS (node, LptAxisAttrs)->axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", 0), lpt_onnx_rank (on, in[0]));
  lpt_onnx_set (on, 0, codes_of (on, node, 0, known));
}

/* --- pooling, maybe with the channels last ---------------------------------------------------------- */

void
lpt_onnx_map_qlinear_average_pool (LptOnnxNode *on)
{
  gboolean last = lpt_onnx_int (on, "channels_last", 0) != 0, known = all_constant (on, 1, 4);
  LptValue *x = codes_or_real (on, 0, known), *y;

  if (last)
    x = lpt_onnx_move_channels (on, x, TRUE);
  y = codes_of (on, lpt_onnx_average_pool_node (on, x), 3, known);
  lpt_onnx_set (on, 0, last ? lpt_onnx_move_channels (on, y, FALSE) : y);
}

void
lpt_onnx_map_qlinear_global_average_pool (LptOnnxNode *on)
{
  gboolean last = lpt_onnx_int (on, "channels_last", 0) != 0, known = all_constant (on, 1, 4);
  LptValue *x = codes_or_real (on, 0, known);
  gint rank = lpt_onnx_rank (on, x);
  gint64 axes[LPT_MAX_RANK] = { 0 };
  LptNode *node;

  for (gint i = 2; i < rank; i++)
    axes[i - 2] = last ? i - 1 : i;
  node = lpt_onnx_add (on, LPT_OP_REDUCE_MEAN, 2, x, lpt_onnx_i64 (on, (guint) MAX (rank - 2, 0), axes));
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = TRUE;
  lpt_onnx_set (on, 0, codes_of (on, node, 3, known));
}

/* Both sides requantized to the output, then chosen. */
void
lpt_onnx_map_qlinear_where (LptOnnxNode *on)
{
  gboolean known = all_constant (on, 2, 2) && all_constant (on, 5, 4);
  LptDType dtype = zero_type (on, 8);
  LptValue *sides[2];

  for (guint i = 0; i < 2; i++)
    {
      LptNode *node;

      sides[i] = codes_or_real (on, 1 + 3 * i, known);
      if (!known)
        continue;
      node = lpt_onnx_add (on, LPT_OP_REQUANTIZE, 1, sides[i]);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
      sides[i] = integer_done (on, node, dtype, quant_in (on, 7, 0));
    }
  lpt_onnx_set (on, 0, codes_of (on, lpt_onnx_add (on, LPT_OP_SELECT, 3, lpt_onnx_in (on, 0), sides[0], sides[1]), 7, known));
}

/* --- integers without a scale, and reals beside them -------------------------------------------------- */

/* (a - zero point of a) * (b - zero point of b) as int32 */
void
lpt_onnx_map_mul_integer (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_convert (on, lpt_onnx_in (on, 0), LPT_DTYPE_I32), *b = lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_I32);

  if (lpt_onnx_optional (on, 1) != NULL)
    a = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, a, lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I32));
  if (lpt_onnx_optional (on, 3) != NULL)
    b = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, b, lpt_onnx_convert (on, lpt_onnx_in (on, 3), LPT_DTYPE_I32));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, a, b));
}

/* The axes of the attribute, or all of them */
static LptValue *
axes_attribute (LptOnnxNode *on,
                LptValue    *x)
{
  gint rank = lpt_onnx_rank (on, x);
  gint64 all[LPT_MAX_RANK] = { 0 };
  LptInts axes = { 0 };
  LptValue *value;

  for (gint i = 0; i < rank; i++)
    all[i] = i;
  if (!lpt_onnx_ints (on, "axes", &axes) || axes.n == 0)
    lpt_ints_set (&axes, (guint) rank, all);
  value = lpt_onnx_i64_list (on, &axes);
  lpt_ints_clear (&axes);
  return value;
}

void
lpt_onnx_map_reduce_sum_integer (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptDType dtype = lpt_dtype_min (x->dtype) < 0 ? LPT_DTYPE_I32 : LPT_DTYPE_U32;

  lpt_onnx_set (on, 0, lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, lpt_onnx_convert (on, x, dtype), axes_attribute (on, x),
                                        lpt_onnx_int (on, "keepdims", 1) != 0));
}

void
lpt_onnx_map_qlinear_reduce_mean (LptOnnxNode *on)
{
  LptValue *x = real_in (on, 0, 1, 2, 0);

  x = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, x, axes_attribute (on, x), lpt_onnx_int (on, "keepdims", 1) != 0);
  lpt_onnx_set (on, 0, quantize_by_steps (on, x, lpt_onnx_in (on, 3), lpt_onnx_optional (on, 4), zero_type (on, 4)));
}

/* Sums of products of 16 bits, modulo 2^32 */
void
lpt_onnx_map_matmul_integer16 (LptOnnxNode *on)
{
  LptValue *y = lpt_onnx_emit (on, LPT_OP_MATMUL, 2, lpt_onnx_convert (on, lpt_onnx_in (on, 0), LPT_DTYPE_F64),
                               lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_F64));
  LptValue *half = lpt_onnx_i64_scalar (on, G_GINT64_CONSTANT (1) << 31);

  /* Below 2^53 real sums are exact; what leaves 32 bits wraps. */
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_convert (on, y, LPT_DTYPE_I64), half);
  y = lpt_onnx_emit (on, LPT_OP_FLOOR_MOD, 2, y, lpt_onnx_i64_scalar (on, G_GINT64_CONSTANT (1) << 32));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, y, half), LPT_DTYPE_I32));
}

/* Inputs: A, codes of B, their scale, their zero point, bias. A is quantized as DynamicQuantizeLinear does. */
void
lpt_onnx_map_dynamic_quantize_matmul (LptOnnxNode *on)
{
  LptValue *scale = lpt_onnx_in (on, 2), *bias = lpt_onnx_optional (on, 4), *y;
  LptOnnxDynamic d = lpt_onnx_quantize_dynamic (on, lpt_onnx_in (on, 0));

  if (all_constant (on, 3, 1) && lpt_onnx_const_in (on, 1) != NULL)
    {
      LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, d.codes, offset_in (on, 1, 3, last_axis (on, 1)));

      set_zero (node, d.zero_point);
      y = lpt_onnx_convert (on, integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)), LPT_DTYPE_F32);
    }
  else
    y = lpt_onnx_emit (on, LPT_OP_MATMUL, 2, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_convert (on, d.codes, LPT_DTYPE_F32),
                                                            lpt_onnx_convert (on, d.zero_point, LPT_DTYPE_F32)),
                       real_in (on, 1, 0, 3, last_axis (on, 1)));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, d.scale, scale));
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, bias);
  lpt_onnx_set (on, 0, y);
}
