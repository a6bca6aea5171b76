/* passes/slice.c - move dequantization through Slice
 *
 *     Slice ((x - z) s)  =>  (Slice (x) - z) s
 *
 * Elements only move, and all have the same scale and zero point. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - scale or zero point differs between channels: channels may end up elsewhere.
 *
 * Golden tests: tests/golden/slice/
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
  if (!lpt_dequant_is_per_tensor (&dq))
    return lpt_rewriter_decline (rw, node, "scale or zero point differs between channels");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq));

  return TRUE;
}

const LptPass lpt_pass_slice = {
  .name      = "slice",
  .doc       = "Move dequantization through Slice",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_SLICE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
