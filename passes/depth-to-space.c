/* passes/depth-to-space.c - move dequantization through DepthToSpace
 *
 *     DepthToSpace ((x - z) s)  =>  (DepthToSpace (x) - z) s
 *
 * Elements only move, and all have the same scale and zero point, which become one number. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - scale or zero point differs between channels: channels may end up elsewhere.
 *
 * Golden tests: tests/golden/depth-to-space/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  LptDequant dq;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (!lpt_dequant_is_scalar_like (&dq))
    return lpt_rewriter_decline (rw, node, "scale or zero point differs between channels");
  lpt_chain_constants_single (&dq, &constants);
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_depth_to_space = {
  .name      = "depth-to-space",
  .doc       = "Move dequantization through DepthToSpace",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_DEPTH_TO_SPACE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
