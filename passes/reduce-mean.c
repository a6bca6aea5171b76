/* passes/reduce-mean.c - move dequantization through ReduceMean
 *
 *     ReduceMean ((x - z) s, axes)  =>  (ReduceMean (x, axes) - z) s
 *
 * The mean is linear. The output is real. Exact in real arithmetic.
 *
 * Without keep_dims the constants lose the reduced axes.
 *
 * Refused when
 *   - there is no quantization on input 0, or a rank is dynamic;
 *   - the axes are not constant;
 *   - scale or zero point varies along a reduced axis.
 *
 * Golden tests: tests/golden/reduce-mean/
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
  lpt_dequant_move_after (rw, node, 0, &dq, FALSE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_reduce_mean = {
  .name      = "reduce-mean",
  .doc       = "Move dequantization through ReduceMean",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_REDUCE_MEAN),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
