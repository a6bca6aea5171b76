/* passes/subtract-multiply-to-multiply-add.c - write dequantization as scale and shift
 *
 *     Multiply (Subtract ([Convert] x, z), s)  =>  Add (Multiply (x, s), -z s)
 *
 * For runtimes that have one operation for both. Exact in real arithmetic.
 *
 * Refused when
 *   - it is not marked as dequantization (with made-only: not made by this run);
 *   - a constant varies along another axis than the channel axis.
 *
 * Golden tests: tests/golden/subtract-multiply-to-multiply-add/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
is_marked (LptRewriter *rw,
           LptNode     *node)
{
  guint32 flag = lpt_rewriter_config (rw)->made_only ? LPT_NODE_LPT_MADE : LPT_NODE_DEQUANTIZATION;

  return node != NULL && (node->flags & flag);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *multiply)
{
  LptDType real = lpt_rewriter_config (rw)->deq_precision;
  g_autofree char *scale_name = g_strconcat (multiply->name, "/DequantizationMultiply", NULL);
  g_autofree char *shift_name = g_strconcat (multiply->name, "/DequantizationAdd/Constant", NULL);
  g_autoptr (LptTensor) product = NULL;
  g_autoptr (LptTensor) zero = NULL;
  g_autoptr (LptTensor) minus = NULL;
  LptNode *scaled, *shifted;
  LptDequant dq;

  if (!lpt_dequant_find (&multiply->out[0], &lpt_rewriter_config (rw)->default_precisions, &dq) ||
      dq.multiply != multiply)
    return FALSE;
  if (dq.subtract == NULL && dq.convert == NULL)
    return FALSE;
  if (!is_marked (rw, multiply) && !is_marked (rw, dq.subtract))
    return FALSE;
  /* Scale and shift operations know channels on axis 1 only. */
  dq.axis = MIN (1, dq.axis);
  if (!lpt_dequant_is_elementwise (&dq, dq.multiply) ||
      (dq.subtract != NULL && !lpt_dequant_is_elementwise (&dq, dq.subtract)))
    return lpt_rewriter_decline (rw, multiply, "a constant varies along another axis than the channel axis");
  scaled = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, scale_name, dq.data, &dq.scale_const->out[0], real,
                                 dq.subtract != NULL ? real : multiply->out[0].dtype);
  if (dq.subtract == NULL)
    {
      lpt_node_take_over (scaled, multiply, "/replaced");
      lpt_rewriter_replace (rw, &multiply->out[0], &scaled->out[0], NULL);
      return TRUE;
    }
  product = lpt_fold_binary (LPT_OP_MULTIPLY, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq), real);
  zero = lpt_tensor_scalar (real, 0);
  minus = product != NULL ? lpt_fold_binary (LPT_OP_SUBTRACT, zero, product, real) : NULL;
  if (minus == NULL)
    return lpt_rewriter_decline (rw, multiply, "scale and zero point have shapes that do not fit");
  shifted = lpt_layer_arithmetic (rw, LPT_OP_ADD, multiply->name, &scaled->out[0],
                                  lpt_rewriter_const (rw, shift_name, lpt_fold_scalar_if_possible (minus)),
                                  real, multiply->out[0].dtype);
  lpt_node_take_over (shifted, multiply, "/replaced");
  lpt_rewriter_replace (rw, &multiply->out[0], &shifted->out[0], NULL);

  return TRUE;
}

const LptPass lpt_pass_subtract_multiply_to_multiply_add = {
  .name      = "subtract-multiply-to-multiply-add",
  .doc       = "Write dequantization as scale and shift",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
