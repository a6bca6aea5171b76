/* passes/broadcast.c - move dequantization through Broadcast
 *
 *     Broadcast ((x - z) s, shape)  =>  (Broadcast (x, shape) - z) s
 *
 * Elements are only repeated. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - scale or zero point differs between channels: the channel axis may end up elsewhere.
 *
 * Golden tests: tests/golden/broadcast/
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
  if (!lpt_dequant_is_scalar_like (&dq))
    return lpt_rewriter_decline (rw, node, "scale or zero point differs between channels");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq));

  return TRUE;
}

const LptPass lpt_pass_broadcast = {
  .name      = "broadcast",
  .doc       = "Move dequantization through Broadcast",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_BROADCAST),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
