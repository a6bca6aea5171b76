/* passes/relu.c - move dequantization through ReLU
 *
 *     Relu (x s)  =>  Relu (x) s      s >= 0
 *
 * Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - there is a zero point: the function bends at real zero, not at raw zero;
 *   - a scale is negative: the order would be reversed.
 *
 * Golden tests: tests/golden/relu/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  LptDequant dq;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (dq.subtract != NULL)
    return lpt_rewriter_decline (rw, node, "there is a zero point, and the function bends at zero");
  if (!lpt_tensor_all_above (lpt_dequant_scale (&dq), -G_MINDOUBLE))
    return lpt_rewriter_decline (rw, node, "a scale is negative");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq));

  return TRUE;
}

const LptPass lpt_pass_relu = {
  .name      = "relu",
  .doc       = "Move dequantization through ReLU",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_RELU),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
