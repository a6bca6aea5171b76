/* passes/markup-precisions.c - write the target's restrictions on the inputs of operations
 *
 * Only with restrictions. For each node:
 *   - an operation that LPT does not support, or whose output rank is dynamic or whose scales vary
 *     spatially, gets an empty list on input 0;
 *   - one that only moves or selects values is marked as precision-preserved, unless an input is disabled;
 *   - restricted inputs get their ordered list of types; inputs named together share one choice.
 * An operation that cannot be quantized stays so. Marks only; no value changes.
 *
 * Golden tests: tests/golden/markup-precisions/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/core/lpt-markup.h"
#include "passes/support/lpt-restricted.h"

static void
restrict_ports (const LptConfig      *config,
                LptNode              *node,
                const LptRestriction *restriction)
{
  guint i, k;

  if (restriction->never || (lpt_config_is_strict (config) && lpt_restriction_is_never (restriction)))
    {
      for (i = 0; i < node->n_in; i++)
        lpt_markup_disable_input (node, i);
      if (lpt_config_is_strict (config))
        node->mark.preserved = 0;
      return;
    }
  for (i = 0; i < restriction->ports->len; i++)
    {
      const LptPortTypes *ports = &g_array_index (restriction->ports, LptPortTypes, i);
      LptBox box;

      for (k = 0; k < ports->n_ports; k++)
        if (ports->ports[k] < node->n_in && lpt_input_is_disabled (node, ports->ports[k]))
          return;
      if (ports->types.n == 0)
        continue;
      box = lpt_box_new (node->graph, LPT_BOX_PRECISIONS);
      lpt_box (node->graph, box)->types = ports->types;
      for (k = 0; k < ports->n_ports; k++)
        if (ports->ports[k] < node->n_in)
          node->in[ports->ports[k]].mark.precisions = box;
    }
}

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptRestriction *restriction;
  LptDequant dq;

  if (lpt_config_vetoes (config, "markup-precisions", node))
    return;
  switch (node->op)
    {
    case LPT_OP_RESULT:
    case LPT_OP_CONST:
    case LPT_OP_PARAMETER:
      return;
    default:
      break;
    }
  if (node->n_in == 0 || node->in[0].value == NULL)
    return;
  restriction = lpt_config_restriction (config, node);
  if (restriction != NULL && lpt_node_is_dequantization (node) && lpt_config_is_strict (config))
    restriction = NULL;
  lpt_layer_find (rw, node, 0, &dq);
  if (!lpt_markup_supports (node) || lpt_layer_static_problem (node, &dq) != NULL)
    {
      lpt_markup_disable_input (node, 0);
      return;
    }
  if ((node->info->flags & LPT_OP_F_PRESERVES) && !lpt_node_has_disabled_input (node))
    {
      LptBox box = lpt_box_new (node->graph, LPT_BOX_PRESERVED);

      lpt_box (node->graph, box)->flag = TRUE;
      node->mark.preserved = box;
    }
  if (restriction != NULL)
    {
      restrict_ports (config, node, restriction);
      lpt_rewriter_changed (rw, node);
    }
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  if (lpt_rewriter_config (rw)->restrictions->len == 0)
    return TRUE;

  return lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_markup_precisions = {
  .name      = "markup-precisions",
  .doc       = "Write the target's types on inputs, and which operations preserve precision",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
