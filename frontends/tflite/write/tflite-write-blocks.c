/* tflite-write-blocks.c - products of data rounded at run time with weights that have a scale for each block of a row
 *
 *     MatMul (DynamicFakeQuantize (x), w)      FULLY_CONNECTED (x, codes of w)
 *
 * The codes have 4 bits where they fit, else 8, and name another tensor with the scales, half floats [rows, blocks].
 * Kernels younger than 2.9 have this; they round data with a zero point, and codes have none.
 *
 * Refused: scales that are no half floats, codes with zero points, data that is rounded around 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"
#include "passes/lower/weight-codes.h"

/* @scale as half floats (transfer full); NULL: some are none. */
static LptTensor *
half_floats (LptTensor *scale)
{
  g_autoptr (LptTensor) half = lpt_tensor_convert (scale, LPT_DTYPE_F16, NULL);
  g_autoptr (LptTensor) back = half != NULL ? lpt_tensor_convert (half, LPT_DTYPE_F32, NULL) : NULL;
  const float *a = lpt_tensor_data (scale), *b = back != NULL ? lpt_tensor_data (back) : NULL;
  for (gint64 i = 0; b != NULL && i < lpt_tensor_count (scale); i++)
    if (a[i] != b[i])
      return NULL;
  return b != NULL ? g_steal_pointer (&half) : NULL;
}

/* Of the fewest bits (transfer full). */
static LptTensor *
few_bits (LptTflWriter *w, LptTensor *codes)
{
  g_autoptr (LptTensor) bytes = lpt_tensor_convert (codes, LPT_DTYPE_I8, w->error == NULL ? &w->error : NULL);
  const gint8 *code = bytes != NULL ? lpt_tensor_data (bytes) : NULL;
  gboolean fit = code != NULL;
  for (gint64 i = 0; fit && i < lpt_tensor_count (bytes); i++)
    fit = code[i] >= -8 && code[i] <= 7;
  return fit ? lpt_tensor_convert (bytes, LPT_DTYPE_I4, w->error == NULL ? &w->error : NULL) : g_steal_pointer (&bytes);
}

static gint
write_weights (LptTflWriter *w, const LptWeightCodes *codes)
{
  LptTensor *half = half_floats (codes->scale);
  if (codes->zero != NULL || lpt_dtype_min (lpt_tensor_dtype (codes->codes)) == 0)
    lpt_tfl_w_fail (w, "weights in blocks with zero points");
  else if (half == NULL)
    lpt_tfl_w_fail (w, "scales of blocks that are no half floats");
  g_autofree char *name = g_strconcat (w->node->name, "/weights", NULL);
  g_autofree char *scales = g_strconcat (w->node->name, "/scales", NULL);
  LptTensor *data = w->error == NULL ? few_bits (w, codes->codes) : NULL;
  if (data == NULL)
    {
      g_clear_pointer (&half, lpt_tensor_unref);
      return -1;
    }
  gint weights = lpt_tfl_w_const (w, name, data, NULL);
  gint of_blocks = lpt_tfl_w_tensor (w, scales, LPT_DTYPE_F32, lpt_tensor_shape (half), NULL);
  lpt_tfl_w_get (w, of_blocks)->type = TFL_TYPE_FLOAT16;
  lpt_tfl_w_get (w, of_blocks)->data = half;
  lpt_tfl_w_get (w, weights)->block = codes->block;
  lpt_tfl_w_get (w, weights)->scales = of_blocks;
  return weights;
}

gboolean
lpt_tfl_w_blocks (LptTflWriter *w)
{
  LptNode *round = lpt_node_src (w->node, 0);
  const LptMatMulAttrs *attrs = LPT_ATTRS (w->node, LptMatMulAttrs);
  LptValue *value = lpt_node_out (w->node);
  g_auto (LptWeightCodes) codes = { 0 };
  double gauge = 1;
  LptValue *matrix = lpt_node_in (w->node, 1);
  if (round->op != LPT_OP_DYNAMIC_FAKE_QUANTIZE || attrs->transpose_a || matrix->producer->data != NULL
      || !lpt_weight_codes_read (matrix, attrs->transpose_b, &codes) || codes.block == 0
      || codes.k % codes.block != 0)
    return FALSE;
  if (LPT_ATTRS (round, LptDynamicFakeQuantizeAttrs)->symmetric)
    lpt_tfl_w_fail (w, "data rounded around 0 before weights in blocks");
  gint in[] = { lpt_tfl_w_value (w, lpt_node_in (round, 0), LPT_TFL_PLAIN), write_weights (w, &codes), -1 };
  const LptTflBiasForm form = { .n = codes.n, .axis = value->shape.rank - 1, .hybrid = TRUE, .x_scale = 1 };
  if (w->error != NULL)
    return TRUE;
  gboolean keep = value->shape.rank != 2;
  in[2] = lpt_tfl_w_bias (w, 2, in[1], &form, &value);
  gint64 activation = lpt_tfl_w_activation (w, &value, &gauge);
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_FULLY_CONNECTED, 3, in, lpt_tfl_w_out_value (w, value, LPT_TFL_PLAIN, gauge));
  lpt_tfl_w_set (op, LPT_TFL_INT (FullyConnectedOptions, fused_activation_function, activation));
  lpt_tfl_w_set (op, LPT_TFL_INT (FullyConnectedOptions, keep_num_dims, keep));
  lpt_tfl_w_set (op, LPT_TFL_INT (FullyConnectedOptions, asymmetric_quantize_inputs, TRUE));
  lpt_tfl_w_need (op, 10);
  return TRUE;
}
