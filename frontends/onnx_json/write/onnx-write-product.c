/* onnx-write-product.c - matrix products in ONNX
 *
 * Where MatMul reads DequantizeLinear on both sides, ONNX Runtime makes MatMulIntegerToFloat of it, or QLinearMatMul
 * with QuantizeLinear behind; so too where a Transpose stands between. These have one scale for the right side, or one
 * for each column of a matrix, and end in an error with any others. So do QLinearAdd and QLinearMul, which it makes of
 * sums and products element by element, with more than one scale. Such scales are therefore a Mul of their own, which
 * nothing takes in: (codes - zero point) * scale are the same numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

/* Does @use stand in a sum or product element by element, with another operand that may come from codes, too? */
static gboolean
is_pair (const LptUse *use)
{
  const LptValue *other = use->node->n_in == 2 ? lpt_node_in (use->node, 1 - use->index) : NULL;

  return (use->node->info->flags & (LPT_OP_F_TERM | LPT_OP_F_FACTOR)) != 0 && other != NULL &&
         (other->producer->data == NULL || other->quant != NULL);
}

/* Does @value, whose scales lie along @axis, meet a product from the right, and not as a scale for each column, or, if
 * @pairs, a sum or product element by element? */
static gboolean
meets_product (const LptValue *value,
               gint            axis,
               gboolean        pairs)
{
  const gint rank = value->shape.rank;

  for (guint i = 0; i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);
      LptInts order = { 0 };
      gint next = axis;

      if (use->node->op == LPT_OP_MATMUL)
        {
          const gint column = rank - (LPT_ATTRS (use->node, LptMatMulAttrs)->transpose_b ? 2 : 1);

          if (use->index == 1 && (rank != 2 || axis != column))
            return TRUE;
          continue;
        }
      if (pairs && is_pair (use))
        return TRUE;
      if (use->index != 0 || (!(use->node->info->flags & LPT_OP_F_QUANTIZES) && use->node->op != LPT_OP_TRANSPOSE))
        continue;
      if (lpt_node_ints_in (use->node, 1, &order))
        for (guint k = 0; k < order.n; k++)
          if (order.v[k] == axis)
            next = (gint) k;
      lpt_ints_clear (&order);
      if (meets_product (lpt_node_out (use->node), next, pairs))
        return TRUE;
    }
  return FALSE;
}

const char *
lpt_onnx_w_scaled (LptOnnxWriter *w,
                   LptValue      *value)
{
  const LptQuant *q = value->quant;
  g_autoptr (LptQuant) unit = NULL;
  g_autofree double *ones = NULL;
  gboolean one = TRUE;

  /* QLinearAdd and QLinearMul have no operand of 32 bits: a bias stays as it is. */
  if (q->n == 1 || !meets_product (value, q->axis, lpt_dtype_bits (value->dtype) < 32))
    return NULL;
  ones = g_new (double, q->n);
  for (guint i = 0; i < q->n; i++)
    {
      ones[i] = 1;
      one = one && q->zero_point[i] == q->zero_point[0];
    }
  unit = lpt_quant_new (one ? 0 : q->axis, one ? 1 : q->n, ones, q->zero_point);
  return lpt_onnx_w_by_channel (w, "Mul", lpt_onnx_w_dequantized (w, lpt_onnx_w_codes (w, value), unit, value->dtype,
                                                                  value->shape.rank),
                                q->scale, q->n, q->axis, value->shape.rank);
}

/* The last two axes of an operand swapped */
static const char *
swapped (LptOnnxWriter *w,
         LptNode       *node,
         guint          i)
{
  gint rank = lpt_node_in (node, i)->shape.rank;
  gint64 order[LPT_MAX_RANK];
  const char *output;

  if (rank < 2)
    return IN (i);
  for (gint k = 0; k < rank; k++)
    order[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
  output = lpt_onnx_w_temp (w, "Transpose");
  lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", output, 1, IN (i)), "perm", (guint) rank, order);
  return output;
}

/* The right operand. Constant codes with a scale for each column are one matrix, without axes of length 1 in front:
 * with such ONNX Runtime fuses the product, and then wants the scales in another shape than DequantizeLinear has. */
static const char *
right_operand (LptOnnxWriter *w,
               LptNode       *node)
{
  LptValue *value = lpt_node_in (node, 1);
  const LptQuant *q = value->quant;
  const gint first = value->shape.rank - 2;

  if (value->producer->data == NULL || q == NULL || q->n == 1 || first < 1 || q->axis < first || w->bare ||
      LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ||
      lpt_tensor_count (value->producer->data) != value->shape.dims[first] * value->shape.dims[first + 1] ||
      value->shape.rank > lpt_node_in (node, 0)->shape.rank)
    return IN (1);
  const LptShape matrix = lpt_shape_make (2, value->shape.dims + first);
  g_autoptr (LptQuant) quant = lpt_quant_new (q->axis - first, q->n, q->scale, q->zero_point);
  const char *codes = lpt_onnx_w_tensor (w, "codes", lpt_tensor_reshape (value->producer->data, &matrix, NULL));
  return lpt_onnx_w_dequantized (w, codes, quant, value->dtype, 2);
}

/* Matrices with a bias, or that are read transposed: Gemm. */
void
lpt_onnx_write_matmul (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (node, LptMatMulAttrs);
  gboolean flat = lpt_node_in (node, 0)->shape.rank == 2 && lpt_node_in (node, 1)->shape.rank == 2;
  g_auto (LptOnnxFold) fold = { 0 };
  const char *bias, *right;

  if (lpt_onnx_w_integer_product (w, node))
    return;
  if (flat)
    lpt_onnx_w_fold_init (w, node, 1, &fold);
  bias = lpt_onnx_w_bias (w, node, 2, &attrs->bias_rest, &fold);
  right = fold.n == 0 ? right_operand (w, node)
                      : lpt_onnx_w_folded_weights (w, node, lpt_onnx_w_codes (w, lpt_node_in (node, 1)),
                                                   attrs->transpose_b ? 0 : 1, &fold);
  if (flat && (*bias != '\0' || attrs->transpose_a || attrs->transpose_b))
    {
      Onnx__NodeProto *y = lpt_onnx_w_node (w, "Gemm", OUT (0), 3, IN (0), right, bias);

      lpt_onnx_w_int (w, y, "transA", attrs->transpose_a);
      lpt_onnx_w_int (w, y, "transB", attrs->transpose_b);
    }
  else
    {
      const char *a = attrs->transpose_a ? swapped (w, node, 0) : IN (0),
                 *b = attrs->transpose_b ? swapped (w, node, 1) : right;

      if (*bias != '\0')
        lpt_onnx_w_node (w, "Add", OUT (0), 2, lpt_onnx_w_step (w, "MatMul", 2, a, b), bias);
      else
        lpt_onnx_w_node (w, "MatMul", OUT (0), 2, a, b);
    }
}

void
lpt_onnx_write_einsum (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  lpt_onnx_w_string (w, lpt_onnx_w_all_inputs (w, "Einsum", node), "equation",
                     LPT_ATTRS (node, LptEinsumAttrs)->equation);
}

/* Of a transpose: the operator of com.microsoft has no word for it. */
void
lpt_onnx_write_inverse (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  const gint rank = lpt_node_in (node, 0)->shape.rank;
  const char *x = IN (0);

  if (LPT_ATTRS (node, LptInverseAttrs)->adjoint && rank < 2)
    lpt_onnx_w_fail (w, "matrices of unknown rank");
  else if (LPT_ATTRS (node, LptInverseAttrs)->adjoint)
    {
      gint64 order[LPT_MAX_RANK];

      for (gint i = 0; i < rank; i++)
        order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
      x = lpt_onnx_w_transposed (w, x, (guint) rank, order);
    }
  lpt_onnx_w_node (w, onnx, OUT (0), 1, x);
}
