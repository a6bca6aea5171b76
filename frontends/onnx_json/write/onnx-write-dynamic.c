/* onnx-write-dynamic.c - codes whose scale and zero point are computed, and integer products of them, in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

void
lpt_onnx_write_dynamic_quantize (LptOnnxWriter *w,
                                 LptNode       *node,
                                 const char    *onnx)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  const char *out[3], *x = IN (0);
  guint i;

  if (attrs->symmetric || attrs->axis != 0)
    {
      lpt_onnx_w_fail (w, "codes of rows that have an interval each");
      return;
    }
  if (lpt_onnx_w_real_type (node, 0) != LPT_DTYPE_F32)
    x = lpt_onnx_w_cast (w, x, LPT_DTYPE_F32);
  w->bare = TRUE;
  for (i = 0; i < 3; i++)
    out[i] = lpt_onnx_w_out (w, node, i);
  w->bare = FALSE;
  lpt_onnx_w_list (w, onnx, 3, out, 1, &x);
}

/* Zero points of constant weights */
static const char *
weight_zeros (LptOnnxWriter *w,
              LptValue      *weights)
{
  const char *scale, *zero;
  guint i;

  for (i = 0; i < weights->quant->n; i++)
    if (weights->quant->scale[i] != 1)
      lpt_onnx_w_fail (w, "weights with a scale in a product of plain integers");
  lpt_onnx_w_quant (w, "weights", weights->quant, weights->dtype, &scale, &zero);
  return zero;
}

gboolean
lpt_onnx_w_integer_product (LptOnnxWriter *w,
                            LptNode       *node)
{
  LptValue *weights = lpt_node_in (node, 1), *bias = lpt_node_in (node, 2), *zero = node->n_in > 3 ? lpt_node_in (node, 3) : NULL;
  const gboolean matmul = node->op == LPT_OP_MATMUL, grouped = node->op == LPT_OP_GROUP_CONVOLUTION;
  const gboolean bare = lpt_node_out (node)->quant == NULL;
  const char *codes, *sum;
  Onnx__NodeProto *y;

  if (zero == NULL)
    return FALSE;
  if (bias != NULL || weights->quant == NULL || lpt_node_out (node)->dtype != LPT_DTYPE_I32 ||
      (matmul && (LPT_ATTRS (node, LptMatMulAttrs)->transpose_a || LPT_ATTRS (node, LptMatMulAttrs)->transpose_b)))
    {
      lpt_onnx_w_fail (w, "a product with a computed zero point and a bias, or transposed");
      return TRUE;
    }
  codes = grouped ? lpt_onnx_w_merged_groups (w, node) : lpt_onnx_w_codes (w, weights);
  sum = bare ? OUT (0) : lpt_onnx_w_temp (w, "sum");
  y = lpt_onnx_w_node (w, matmul ? "MatMulInteger" : "ConvInteger", sum, 4, lpt_onnx_w_codes (w, lpt_node_in (node, 0)), codes,
                       lpt_onnx_w_codes (w, zero), weight_zeros (w, weights));
  if (!matmul)
    lpt_onnx_w_conv_attributes (w, y, node);
  /* Sums with a quantization count as real numbers. */
  if (!bare)
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, sum), "to", lpt_onnx_type_from_dtype (LPT_DTYPE_F32));
  return TRUE;
}
