/* passes/space-to-batch.c - move dequantization through SpaceToBatch
 *
 *     SpaceToBatch ((x - z) s)  =>  (SpaceToBatch (x) - z) s
 *
 * Elements only move, and all have the same scale and zero point, which become one number. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - scale or zero point differs between channels;
 *   - there is a zero point and elements are padded: raw zero is not real zero.
 *
 * Golden tests: tests/golden/space-to-batch/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
pads (LptNode *node)
{
  guint i;

  for (i = 2; i < 4; i++)
    {
      LptTensor *ends = lpt_node_const_in (node, i);

      if (ends == NULL || !lpt_tensor_is_zero (ends))
        return TRUE;
    }

  return FALSE;
}

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
  if (dq.subtract != NULL && pads (node))
    return lpt_rewriter_decline (rw, node, "elements are padded with zeros, and there is a zero point");
  lpt_chain_constants_single (&dq, &constants);
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_space_to_batch = {
  .name      = "space-to-batch",
  .doc       = "Move dequantization through SpaceToBatch",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_SPACE_TO_BATCH),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
