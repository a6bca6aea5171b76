/* passes/markup-bias.c - mark the Adds of a bias
 *
 * An Add of a constant, scalar or with one dimension above 1, right behind Convolution, GroupConvolution,
 * ConvolutionBackpropData, GroupConvolutionBackpropData or MatMul of static rank (lpt_spec 2.4.9).
 * Marks only; no value changes.
 *
 * Golden tests: tests/golden/markup-bias/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/lpt-markup.h"

static gboolean
is_weighted (LptNode *node)
{
  switch (node->op)
    {
    case LPT_OP_CONVOLUTION:
    case LPT_OP_GROUP_CONVOLUTION:
    case LPT_OP_CONVOLUTION_BACKPROP_DATA:
    case LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA:
    case LPT_OP_MATMUL:
      return node->out[0].shape.rank >= 0;
    default:
      return FALSE;
    }
}

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  guint i;

  if (node->op != LPT_OP_ADD || lpt_config_vetoes (lpt_rewriter_config (rw), "markup-bias", node))
    return;
  for (i = 0; i < 2; i++)
    {
      LptTensor *bias = lpt_node_const_in (node, i);

      if (bias != NULL && lpt_tensor_n_wide (bias) <= 1 && is_weighted (lpt_node_src (node, 1 - i)))
        {
          node->flags |= LPT_NODE_BIAS;
          lpt_rewriter_changed (rw, node);
          return;
        }
    }
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  return lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_markup_bias = {
  .name      = "markup-bias",
  .doc       = "Mark the Adds of a bias behind weighted operations",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
