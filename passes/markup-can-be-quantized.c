/* passes/markup-can-be-quantized.c - mark operations that can never run on integers
 *
 * Convolution, GroupConvolution and ConvolutionBackpropData whose weights are not
 * quantized in a usable way, and Concat of dynamic rank, get an empty list of types
 * on every input: their wishes do not reach the FakeQuantizes above, and nothing is
 * aligned for them. Marks only; no value changes.
 *
 * Golden tests: tests/golden/markup-can-be-quantized/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/core/lpt-markup.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-weightable.h"

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  const char *problem = NULL;
  guint i;

  if (lpt_node_is_convolution (node))
    problem = lpt_weights_static_problem (node, &lpt_rewriter_config (rw)->default_precisions);
  else if (node->op == LPT_OP_CONCAT && node->out[0].shape.rank < 0)
    problem = "its output has a dynamic rank";
  if (problem == NULL || lpt_config_vetoes (lpt_rewriter_config (rw), "markup-can-be-quantized", node))
    return;
  lpt_rewriter_decline (rw, node, "%s", problem);
  for (i = 0; i < node->n_in; i++)
    lpt_markup_disable_input (node, i);
  lpt_rewriter_changed (rw, node);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  return lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_markup_can_be_quantized = {
  .name      = "markup-can-be-quantized",
  .doc       = "Mark operations whose weights rule integers out",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
