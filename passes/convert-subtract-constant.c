/* passes/convert-subtract-constant.c - give the zero point of weights the type of the weights
 *
 *     Multiply (Subtract (Convert (w), z), s)  =>  Multiply (Subtract (Convert (w), Convert (z' : type of w)), s)
 *
 * w is a constant of a low type, z a real constant; z' is z rounded half away from zero. When all are zero the
 * Subtract goes. Every operation has one reader.
 *
 * Rounds the zero point, by LPT_ZERO_POINT_COARSE of a step at most but for targets whose zero points are integers.
 *
 * Refused when
 *   - rounding would move the zero point by more: weights near it would all be off by the same, which adds up;
 *   - a zero point is out of the range of the type, also after rounding;
 *   - an operation of the chain has other readers.
 *
 * Golden tests: tests/golden/convert-subtract-constant/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-quantize-details.h"
#include "passes/support/lpt-layer.h"

static gboolean
has_one_reader (LptNode *node)
{
  return lpt_value_n_uses (&node->out[0]) == 1;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *multiply)
{
  g_autoptr (LptTensor) rounded = NULL;
  g_autofree char *convert_name = NULL;
  LptNode *subtract = lpt_node_src (multiply, 0), *convert, *weights, *fresh;
  LptTensor *zp;
  LptValue *constant;
  double low, high;
  gint64 i;

  if (lpt_node_const_in (multiply, 1) == NULL || subtract->op != LPT_OP_SUBTRACT)
    return FALSE;
  zp = lpt_node_const_in (subtract, 1);
  convert = lpt_node_src (subtract, 0);
  if (zp == NULL || !lpt_dtype_is_real (lpt_tensor_dtype (zp)) || convert->op != LPT_OP_CONVERT)
    return FALSE;
  weights = lpt_node_src (convert, 0);
  if (!lpt_node_is_const (weights) || !lpt_dtype_is_low (weights->out[0].dtype))
    return FALSE;
  if (!has_one_reader (subtract) || !has_one_reader (convert) || !has_one_reader (weights))
    return lpt_rewriter_decline (rw, multiply, "an operation of the dequantization has other readers");
  low = lpt_dtype_min (weights->out[0].dtype);
  high = lpt_dtype_max (weights->out[0].dtype);
  for (i = 0; i < lpt_tensor_count (zp); i++)
    {
      double v = round (lpt_tensor_get_f64 (zp, i));

      if (!(v >= low && v <= high))
        return lpt_rewriter_decline (rw, multiply, "the zero point is out of the range of the weights' type");
      if (!lpt_rewriter_config (rw)->integer_zero_points &&
          fabs (v - lpt_tensor_get_f64 (zp, i)) > LPT_ZERO_POINT_COARSE)
        return lpt_rewriter_decline (rw, multiply, "rounding the zero point of the weights would add up in sums");
    }
  rounded = lpt_tensor_convert_round (zp, weights->out[0].dtype, LPT_ROUND_HALF_AWAY, NULL);
  if (rounded == NULL)
    return FALSE;
  if (lpt_tensor_is_zero (rounded))
    {
      lpt_rewriter_replace (rw, &subtract->out[0], &convert->out[0], NULL);
      return TRUE;
    }
  constant = lpt_rewriter_const (rw, lpt_node_src (subtract, 1)->name, g_steal_pointer (&rounded));
  convert_name = g_strconcat (lpt_node_src (subtract, 1)->name, "/Convert", NULL);
  fresh = lpt_layer_convert (rw, constant, lpt_tensor_dtype (zp), convert_name);
  fresh->flags |= LPT_NODE_KEEP_CONST;
  convert = lpt_node_src (subtract, 1);
  lpt_node_set_input (subtract, 1, &fresh->out[0]);
  lpt_rewriter_drop_unused (rw, convert);

  return TRUE;
}

const LptPass lpt_pass_convert_subtract_constant = {
  .name      = "convert-subtract-constant",
  .doc       = "Give the zero point of weights the type of the weights",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
