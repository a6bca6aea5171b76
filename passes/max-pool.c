/* passes/max-pool.c - move dequantization through MaxPool
 *
 *     MaxPool ((x - z) s)  =>  (MaxPool (x) - z) s      s >= 0
 *
 * A non-decreasing map commutes with the maximum. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - a scale is negative: the order would be reversed.
 *
 * Golden tests: tests/golden/max-pool/
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
  if (!lpt_tensor_all_above (lpt_dequant_scale (&dq), -1e-38))
    return lpt_rewriter_decline (rw, node, "a scale is negative");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq));

  return TRUE;
}

const LptPass lpt_pass_max_pool = {
  .name      = "max-pool",
  .doc       = "Move dequantization through MaxPool",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_MAX_POOL),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
