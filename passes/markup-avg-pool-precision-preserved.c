/* passes/markup-avg-pool-precision-preserved.c - does an AvgPool give integers?
 *
 * The mean of integers is an integer only after rounding. Somebody behind the AvgPool
 * (across operations that preserve precision) must want integers for that to pay: then
 * the AvgPool counts as preserving precision too. Each AvgPool gets a
 * shared flag, which spreads through preserved nodes and becomes true at the first
 * consumer that is neither preserved, a FakeQuantize nor a Result, and has no disabled input.
 * Marks only; no value changes.
 *
 * Golden tests: tests/golden/markup-avg-pool-precision-preserved/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/core/lpt-markup.h"

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  guint i;

  if (lpt_config_vetoes (lpt_rewriter_config (rw), "markup-avg-pool-precision-preserved", node))
    return;
  if (node->op == LPT_OP_AVG_POOL)
    {
      node->mark.preserved = lpt_box_new (node->graph, LPT_BOX_PRESERVED);
      node->mark.avg_pool = node->mark.preserved;
      lpt_rewriter_changed (rw, node);
      return;
    }
  if (lpt_markup_spread (rw, node, LPT_SPREAD_AVG_POOL))
    return;
  if (lpt_node_is_preserved (node) || node->op == LPT_OP_FAKE_QUANTIZE || node->op == LPT_OP_RESULT ||
      lpt_node_has_disabled_input (node))
    return;
  for (i = 0; i < node->n_in; i++)
    {
      LptNode *source = lpt_markup_source (rw, node, i);

      if (source != NULL && source->mark.avg_pool != 0)
        lpt_box (node->graph, source->mark.avg_pool)->flag = TRUE;
    }
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  return lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_markup_avg_pool_precision_preserved = {
  .name      = "markup-avg-pool-precision-preserved",
  .doc       = "Find out which AvgPools shall give integers",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
