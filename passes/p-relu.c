/* passes/p-relu.c - move dequantization through PReLU
 *
 *     PRelu (x s, slope)  =>  PRelu (x, slope) s      s >= 0
 *
 * The output is real. Exact in real arithmetic.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - there is a zero point: the function bends at real zero, not at raw zero;
 *   - the slope is not constant;
 *   - a scale is negative: the order would be reversed.
 *
 * Golden tests: tests/golden/p-relu/
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
  if (lpt_node_const_in (node, 1) == NULL)
    return lpt_rewriter_decline (rw, node, "the slope is not constant");
  if (dq.subtract != NULL)
    return lpt_rewriter_decline (rw, node, "there is a zero point, and the function bends at zero");
  if (!lpt_tensor_all_above (lpt_dequant_scale (&dq), -1e-38))
    return lpt_rewriter_decline (rw, node, "a scale is negative");
  lpt_dequant_move_after (rw, node, 0, &dq, FALSE, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq));

  return TRUE;
}

const LptPass lpt_pass_p_relu = {
  .name      = "p-relu",
  .doc       = "Move dequantization through PReLU",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_PRELU),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
