/* passes/reduce-max.c - move dequantization through ReduceMax
 *
 *     ReduceMax ((x - z) s, axes)  =>  (ReduceMax (x, axes) - z) s      s >= 0
 *
 * Scale and zero point do not vary along the reduced axes, and the map keeps the order. Exact.
 *
 * Without keep_dims the constants lose the reduced axes.
 *
 * Refused when
 *   - there is no quantization on input 0, or a rank is dynamic;
 *   - the axes are not constant;
 *   - scale or zero point varies along a reduced axis;
 *   - a scale is negative: the order would be reversed.
 *
 * Golden tests: tests/golden/reduce-max/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-reduce.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  LptDequant dq;

  if (!lpt_reduce_match (rw, node, &dq, &constants, NULL))
    return FALSE;
  if (!lpt_tensor_all_above (lpt_dequant_scale (&dq), -1e-38))
    return lpt_rewriter_decline (rw, node, "a scale is negative");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_reduce_max = {
  .name      = "reduce-max",
  .doc       = "Move dequantization through ReduceMax",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_REDUCE_MAX),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
