/* onnx-map-integer-product.c - products of ONNX and com.microsoft on integers: QLinearConv, MatMulInteger, QGemm, ...
 *
 * An operator becomes the op of its name on values that carry their scales: a node of the lowered kind, which passes
 * leave as it is. What has scales that are computed is spelled out in real arithmetic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-quant-in.h"

/* Bare codes at input @i with a zero point at @zero that somebody computes, one number in their type: they are as they
 * are, the zero point goes beside them. NULL: the product has another form. */
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

static gint
last_axis (LptOnnxNode *on,
           guint        i)
{
  return MAX (lpt_onnx_rank (on, lpt_onnx_in (on, i)) - 1, 0);
}

static void
qlinear_conv_by_steps (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_real_in (on, 0, 1, 2, 1), *weights = lpt_onnx_real_in (on, 3, 4, 5,
                                                                                0), *bias = lpt_onnx_optional (on,
                                                                                                               8), *y;
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
  lpt_onnx_set (on, 0,
                lpt_onnx_quantize_by_steps (on, y, lpt_onnx_in (on, 6), lpt_onnx_optional (on, 7),
                                            lpt_onnx_zero_type (on, 7)));
}

static void
qlinear_conv (LptOnnxNode *on)
{
  LptValue *x, *weights, *bias = lpt_onnx_optional (on, 8);
  LptNode *node;

  if (!lpt_onnx_all_constant (on, 1, 2) || !lpt_onnx_all_constant (on, 4, 5))
    {
      qlinear_conv_by_steps (on);
      return;
    }
  x = lpt_onnx_quantized_in (on, 0, 1, 1);
  weights = lpt_onnx_quantized_in (on, 3, 4, 0);
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
  lpt_onnx_set (on, 0, lpt_onnx_integer_done (on, node, lpt_onnx_zero_type (on, 7), lpt_onnx_quant_in (on, 6, 0)));
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
  gboolean known = lpt_onnx_all_constant (on, 3, 1) && lpt_onnx_const_in (on, 1) != NULL;
  LptNode *node;

  if (known && zero != NULL)
    {
      node = lpt_onnx_conv_node (on, x, lpt_onnx_offset_in (on, 1, 3, 0), NULL);
      set_zero (node, zero);
      lpt_onnx_set (on, 0, lpt_onnx_integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)));
      return;
    }
  if (!known || !lpt_onnx_all_constant (on, 2, 1))
    {
      node = lpt_onnx_conv_node (on, lpt_onnx_real_in (on, 0, 0, 2, 1), lpt_onnx_real_in (on, 1, 0, 3, 0), NULL);
      lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_done (on, node), LPT_DTYPE_I32));
      return;
    }
  node = lpt_onnx_conv_node (on, lpt_onnx_offset_in (on, 0, 2, 1), lpt_onnx_offset_in (on, 1, 3, 0), NULL);
  lpt_onnx_set (on, 0, lpt_onnx_integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)));
}

void
lpt_onnx_map_qlinear_matmul (LptOnnxNode *on)
{
  gint row = MAX (last_axis (on, 0) - 1, 0), column = last_axis (on, 3);
  LptValue *a, *b;

  if (!lpt_onnx_all_constant (on, 1, 2) || !lpt_onnx_all_constant (on, 4, 4))
    {
      a = lpt_onnx_emit (on, LPT_OP_MATMUL, 2, lpt_onnx_real_in (on, 0, 1, 2, row),
                         lpt_onnx_real_in (on, 3, 4, 5, column));
      lpt_onnx_set (on, 0,
                    lpt_onnx_quantize_by_steps (on, a, lpt_onnx_in (on, 6), lpt_onnx_optional (on, 7),
                                                lpt_onnx_zero_type (on, 7)));
      return;
    }
  a = lpt_onnx_quantized_in (on, 0, 1, row);
  b = lpt_onnx_quantized_in (on, 3, 4, column);
  lpt_onnx_set (on, 0,
                lpt_onnx_integer_done (on, lpt_onnx_add (on, LPT_OP_MATMUL, 2, a, b), lpt_onnx_zero_type (on, 7),
                                       lpt_onnx_quant_in (on, 6, 0)));
}

/* (a - zero of a) times (b - zero of b) as int32; zero points of b that are computed are subtracted as real numbers. */
LptValue *
lpt_onnx_matmul_integer (LptOnnxNode *on,
                         guint        a,
                         guint        b,
                         guint        zero_a,
                         guint        zero_b)
{
  LptValue *left = NULL, *right;
  LptValue *zero = lpt_onnx_all_constant (on, zero_b, 1) ? computed_zero (on, a, zero_a, &left) : NULL;

  if (zero != NULL && lpt_onnx_const_in (on, b) != NULL)
    {
      LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, left, lpt_onnx_offset_in (on, b, zero_b, last_axis (on, b)));

      set_zero (node, zero);
      return lpt_onnx_integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0));
    }
  if (lpt_onnx_all_constant (on, zero_a, 1) && lpt_onnx_all_constant (on, zero_b, 1))
    return lpt_onnx_integer_done (on,
                                  lpt_onnx_add (on, LPT_OP_MATMUL, 2,
                                                lpt_onnx_offset_in (on, a, zero_a, MAX (last_axis (on, a) - 1, 0)),
                                           lpt_onnx_offset_in (on, b, zero_b, last_axis (on, b))),
                         LPT_DTYPE_I32, lpt_quant_new_one (1, 0));
  left = lpt_onnx_real_in (on, a, 0, zero_a, MAX (last_axis (on, a) - 1, 0));
  right = lpt_onnx_real_in (on, b, 0, zero_b, last_axis (on, b));
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

/* Inputs: A, codes of B, their scale, their zero point, bias. A is quantized as DynamicQuantizeLinear does. */
void
lpt_onnx_map_dynamic_quantize_matmul (LptOnnxNode *on)
{
  LptValue *scale = lpt_onnx_in (on, 2), *bias = lpt_onnx_optional (on, 4), *y;
  LptOnnxDynamic d = lpt_onnx_quantize_dynamic (on, lpt_onnx_in (on, 0));

  if (lpt_onnx_all_constant (on, 3, 1) && lpt_onnx_const_in (on, 1) != NULL)
    {
      LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, d.codes, lpt_onnx_offset_in (on, 1, 3, last_axis (on, 1)));

      set_zero (node, d.zero_point);
      y = lpt_onnx_convert (on, lpt_onnx_integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)),
                            LPT_DTYPE_F32);
    }
  else
    y = lpt_onnx_emit (on, LPT_OP_MATMUL, 2,
                       lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_convert (on, d.codes, LPT_DTYPE_F32),
                                                            lpt_onnx_convert (on, d.zero_point, LPT_DTYPE_F32)),
                       lpt_onnx_real_in (on, 1, 0, 3, last_axis (on, 1)));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, d.scale, scale));
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
  LptValue *a = real ? lpt_onnx_offset_in (on, 0, 2, 0) : lpt_onnx_quantized_in (on, 0, 1, 0);
  gint columns = transpose_b ? 0 : 1;
  LptValue *b = real ? lpt_onnx_offset_in (on, 3, 5, columns) : lpt_onnx_quantized_in (on, 3, 4, columns);
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
      lpt_onnx_set (on, 0, lpt_onnx_integer_done (on, node, lpt_onnx_zero_type (on, 8), lpt_onnx_quant_in (on, 7, 0)));
      return;
    }
  y = lpt_onnx_convert (on, lpt_onnx_integer_done (on, node, LPT_DTYPE_I32, lpt_quant_new_one (1, 0)), LPT_DTYPE_F32);
  scale = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_in (on, 1), lpt_onnx_in (on, 4));
  if (alpha != 1)
    scale = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_like (on, scale, alpha), scale);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, scale));
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
