/* passes/markup-bias.c - mark the Adds of a bias
 *
 * An Add of a constant, scalar or with one dimension above 1, right behind Convolution, GroupConvolution,
 * ConvolutionBackpropData, GroupConvolutionBackpropData or MatMul of static rank. In a graph that has
 * been transformed already a dequantization may stand between them: the data of the operation are integers then.
 * Marks only; no value changes.
 *
 * Golden tests: tests/golden/markup-bias/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/core/lpt-markup.h"

static gboolean
is_product_of_known_rank (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_WEIGHTED) != 0 && node->out[0].shape.rank >= 0;
}

/* Is @index of the Add the result of a weighted operation, dequantized when that reads integers? */
static gboolean
follows_weighted (LptRewriter *rw,
                  LptNode     *add,
                  guint        index)
{
  LptDequant dq;
  LptNode *node;

  if (is_product_of_known_rank (lpt_node_src (add, index)))
    return TRUE;
  if (!lpt_layer_find (rw, add, index, &dq))
    return FALSE;
  node = dq.data->producer;

  return is_product_of_known_rank (node) && lpt_node_in (node, 0) != NULL
         && lpt_dtype_is_low (lpt_node_in (node, 0)->dtype);
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

      if (bias != NULL && lpt_tensor_n_wide (bias) <= 1 && follows_weighted (rw, node, 1 - i))
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
