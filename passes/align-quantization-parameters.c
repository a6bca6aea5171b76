/* passes/align-quantization-parameters.c - which regions need one scale?
 *
 * A preserved operation all of whose real inputs come from FakeQuantizes starts a flag, which spreads
 * through preserved operations. A consumer that is neither preserved nor a FakeQuantize, whose input is
 * marked per tensor, sets it: the FakeQuantizes above must then share scale and zero point. Marks only; no value
 * changes.
 *
 * Golden tests: tests/golden/align-quantization-parameters/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/core/lpt-markup.h"

static gboolean
comes_from_fake_quantizes (LptRewriter *rw,
                           LptNode     *node)
{
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < node->n_in; i++)
    {
      LptNode *source = lpt_markup_source (rw, node, i);

      if (source == NULL || lpt_node_is_const (lpt_node_src (node, i)))
        continue;
      if (source->op != LPT_OP_FAKE_QUANTIZE)
        return FALSE;
      any = TRUE;
    }

  return any;
}

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  guint i;

  if (lpt_config_vetoes (lpt_rewriter_config (rw), "align-quantization-parameters", node))
    return;
  if (lpt_node_is_preserved (node) && comes_from_fake_quantizes (rw, node))
    {
      node->mark.alignment = lpt_box_new (node->graph, LPT_BOX_ALIGNMENT);
      lpt_rewriter_changed (rw, node);
      return;
    }
  if (lpt_markup_spread (rw, node, LPT_SPREAD_ALIGNMENT))
    return;
  if (lpt_node_is_preserved (node) || node->op == LPT_OP_FAKE_QUANTIZE || lpt_node_has_disabled_input (node))
    return;
  for (i = 0; i < node->n_in; i++)
    {
      LptNode *source;

      if (node->in[i].mark.granularity != LPT_GRANULARITY_PER_TENSOR)
        continue;
      source = lpt_markup_source (rw, node, i);
      if (source != NULL && source->mark.alignment != 0)
        lpt_box (node->graph, source->mark.alignment)->flag = TRUE;
    }
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  return !lpt_graph_has (graph, LPT_OP_CONCAT) || lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_align_quantization_parameters = {
  .name      = "align-quantization-parameters",
  .doc       = "Find regions of FakeQuantizes that need one scale",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
