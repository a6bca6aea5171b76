/* passes/max-pool.c - move dequantization through MaxPool
 *
 *     MaxPool ((x - z) s)  =>  (MaxPool (x) - z) s      s >= 0
 *
 * A non-decreasing map commutes with the maximum. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - a scale is negative: the order would be reversed;
 *   - a window lies in the padding alone: its maximum is the least number of the type.
 *
 * Golden tests: tests/golden/max-pool/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-window.h"
#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

/* The maximum of nothing is the least number of the type, which is another one among integers. */
static gboolean
has_empty_windows (LptNode *pool)
{
  const LptMaxPoolAttrs *a = LPT_ATTRS (pool, LptMaxPoolAttrs);
  const LptWindowAttrs attrs = { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
  const LptShape *in = &lpt_node_in (pool, 0)->shape, *out = &pool->out[0].shape;
  LptWindow window;

  return lpt_shape_is_static (in) && lpt_shape_is_static (out) && in->rank > 2 &&
         lpt_window_init (&window, in->rank - 2, in->dims + 2, out->dims + 2, a->kernel.v, &attrs, NULL) &&
         lpt_window_misses (&window);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  LptDequant dq;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (!lpt_tensor_all_above (lpt_dequant_scale (&dq), -1e-38))
    return lpt_rewriter_decline (rw, node, "a scale is negative");
  if (has_empty_windows (node))
    return lpt_rewriter_decline (rw, node, "a window lies in the padding alone");
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
