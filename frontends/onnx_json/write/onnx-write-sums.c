/* onnx-write-sums.c - sums of products of codes that are plain integers: MatMulInteger, ConvInteger
 *
 *     product of 8-bit codes in steps of 1, int32 : codes in steps of 1 from 0  =>  the same, int32 without parameters
 *
 * where all that read the sums want integers, or convert them. As real numbers they would lack bits from 2^24 on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

#include <lpt/lpt-body.h>

#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"

static gboolean
is_byte (const LptValue *value)
{
  const LptQuant *q = value->quant;

  if (q == NULL || lpt_dtype_bits (value->dtype) != 8 || !lpt_dtype_is_integer (value->dtype))
    return FALSE;
  for (guint i = 0; i < q->n; i++)
    if (q->scale[i] != 1 || q->zero_point[i] < lpt_dtype_min (value->dtype) ||
        q->zero_point[i] > lpt_dtype_max (value->dtype))
      return FALSE;
  return TRUE;
}

static gboolean
wants_integers (const LptNode *node)
{
  if (node->op == LPT_OP_CONVERT || node->n_out == 0)
    return TRUE;
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].quant != NULL || lpt_dtype_is_real (node->out[o].dtype))
      return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    if (node->in[i].value != NULL && (lpt_dtype_is_real (node->in[i].value->dtype) ||
                                      !lpt_quant_is_plain (node->in[i].value->quant)))
      return FALSE;
  return lpt_node_n_bodies (node) == 0;
}

gboolean
lpt_onnx_w_one_zero (const LptQuant *quant)
{
  for (guint i = 1; i < quant->n; i++)
    if (quant->zero_point[i] != quant->zero_point[0])
      return FALSE;
  return TRUE;
}

gboolean
lpt_onnx_w_sums_integers (LptNode *node)
{
  const LptValue *x = lpt_node_in (node, 0), *weights = lpt_node_in (node, 1), *bias, *y = node->out;
  LptWeightedView view;

  if (!lpt_weighted_view (node, &view) || view.transposed || y->dtype != LPT_DTYPE_I32 ||
      !lpt_quant_is_plain (y->quant) || !is_byte (x) || x->quant->n > 1 || !is_byte (weights))
    return FALSE;
  bias = lpt_node_in (node, view.bias);

  return (view.window ? lpt_onnx_w_one_zero (weights->quant)
                      : weights->quant->n == 1 || weights->quant->axis == weights->shape.rank - 1) &&
         (bias == NULL || (!view.window && bias->dtype == LPT_DTYPE_I32 && lpt_quant_is_plain (bias->quant)));
}

static gboolean
is_sum (LptNode *node)
{
  if (node->n_out == 0 || node->out[0].quant == NULL || !lpt_onnx_w_sums_integers (node))
    return FALSE;
  for (guint i = 0; i < lpt_value_n_uses (node->out); i++)
    if (!wants_integers (lpt_value_use (node->out, i)->node))
      return FALSE;
  return TRUE;
}

gboolean
lpt_onnx_w_bare_sums (LptGraph *graph,
                      gboolean  change)
{
  gboolean any = FALSE;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        any |= lpt_onnx_w_bare_sums (lpt_node_body (node, b), change);
      if ((node->flags & LPT_NODE_DEAD) != 0 || !is_sum (node))
        continue;
      any = TRUE;
      if (change)
        lpt_value_set_quant (node->out, NULL);
    }
  return any;
}

/* The codes of @value, the last two axes exchanged if @turned. */
static const char *
matrix (LptOnnxWriter *w,
        LptValue      *value,
        gboolean       turned)
{
  const char *codes = lpt_onnx_w_codes (w, value), *out;
  gint64 order[LPT_MAX_RANK];
  const gint rank = value->shape.rank;

  if (!turned || rank < 2)
    return codes;
  for (gint i = 0; i < rank; i++)
    order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
  out = lpt_onnx_w_temp (w, "turned");
  lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", out, 1, codes), "perm", (guint) rank, order);
  return out;
}

const char *
lpt_onnx_w_zeros (LptOnnxWriter *w,
                  LptValue      *value)
{
  g_autoptr (LptQuant) one = lpt_quant_new_one (1, value->quant->zero_point[0]);
  const char *scale, *zero;

  lpt_onnx_w_quant (w, "codes", lpt_onnx_w_one_zero (value->quant) ? one : value->quant, value->dtype, &scale, &zero);
  return zero;
}

void
lpt_onnx_w_sums (LptOnnxWriter *w,
                 LptNode       *node)
{
  LptValue *x = lpt_node_in (node, 0), *weights = lpt_node_in (node, 1), *bias = lpt_node_in (node, 2);
  const gboolean matmul = node->op == LPT_OP_MATMUL;
  const LptMatMulAttrs *attrs = matmul ? LPT_ATTRS (node, LptMatMulAttrs) : NULL;
  const char *a = matrix (w, x, matmul && attrs->transpose_a);
  const char *b = matmul ? matrix (w, weights, attrs->transpose_b) : lpt_onnx_w_weight_codes (w, node);
  /* int32 as they are, also of a relaxed product, which counts as one of real numbers. */
  const char *result = lpt_onnx_w_own_name (w, lpt_node_out (node));
  const char *sum = bias != NULL ? lpt_onnx_w_temp (w, "sum") : result;
  Onnx__NodeProto *y = lpt_onnx_w_node (w, matmul ? "MatMulInteger" : "ConvInteger", sum, 4, a, b,
                                        lpt_onnx_w_zeros (w, x), lpt_onnx_w_zeros (w, weights));

  if (!matmul)
    lpt_onnx_w_conv_attributes (w, y, node);
  if (bias != NULL)
    lpt_onnx_w_node (w, "Add", result, 2, sum, lpt_onnx_w_codes (w, bias));
}
