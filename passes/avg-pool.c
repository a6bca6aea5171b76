/* passes/avg-pool.c - move dequantization through AvgPool
 *
 *     AvgPool ((x - z) s)  =>  (AvgPool (x) - z) s
 *
 * The mean is linear. The output is rounded to the type of the data only where somebody behind wants integers
 * (markup-avg-pool-precision-preserved); else it is real. Exact in real arithmetic, but for that rounding.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - zeros of the padding count in the mean and there is a zero point: raw zero is not real zero.
 *
 * Golden tests: tests/golden/avg-pool/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
pads_with_zeros (LptNode *pool)
{
  const LptAvgPoolAttrs *attrs = pool->attrs;
  guint i;

  if (attrs->exclude_pad)
    return FALSE;
  if (attrs->auto_pad == LPT_AUTO_PAD_SAME_UPPER || attrs->auto_pad == LPT_AUTO_PAD_SAME_LOWER)
    return TRUE;
  for (i = 0; i < attrs->pads_begin.n || i < attrs->pads_end.n; i++)
    if (lpt_ints_get (&attrs->pads_begin, i, 0) != 0 || lpt_ints_get (&attrs->pads_end, i, 0) != 0)
      return TRUE;

  return FALSE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *pool)
{
  LptDequant dq;

  if (!lpt_layer_match (rw, pool, &dq))
    return FALSE;
  if (dq.subtract != NULL && pads_with_zeros (pool))
    return lpt_rewriter_decline (rw, pool, "zeros of the padding count in the mean, and there is a zero point");
  lpt_dequant_move_after (rw, pool, 0, &dq, lpt_node_is_preserved (pool), lpt_dequant_zp (&dq),
                          lpt_dequant_scale (&dq));

  return TRUE;
}

const LptPass lpt_pass_avg_pool = {
  .name      = "avg-pool",
  .doc       = "Move dequantization through AvgPool",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_AVG_POOL),
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
