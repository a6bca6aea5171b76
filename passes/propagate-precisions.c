/* passes/propagate-precisions.c - bring the consumers' types up to the FakeQuantizes
 *
 * Each FakeQuantize starts with the default types. Operations that preserve precision share the list of
 * their sources. An input with a list intersects it with its source's, in the order of the input's list;
 * an input without one receives its source's. An empty list on an input means that this operation is out:
 * it is not merged. An empty intersection means that a FakeQuantize cannot serve all its consumers, and
 * stays real. Where restrictions are strict (LptConfig) the consumer alone is out whose list has none of
 * the types that are left, and an operation that preserves precision brings its own list as well. Marks only; no value
 * changes.
 *
 * Golden tests: tests/golden/propagate-precisions/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/core/lpt-markup.h"
#include "passes/support/lpt-restricted.h"

/* Input @i and what is above it have no type in common. */
static gboolean
finds_no_type (LptRewriter *rw,
               LptNode     *node,
               guint        i)
{
  LptNode *source = lpt_markup_source (rw, node, i);
  LptBoxValue *above = source != NULL ? lpt_box (node->graph, *lpt_markup_box (source, LPT_SPREAD_PRECISIONS)) : NULL;
  LptBoxValue *own = lpt_box (node->graph, node->in[i].mark.precisions);

  return above != NULL && own != NULL && above->types.n > 0 && own->types.n > 0 &&
         lpt_type_list_intersect (&own->types, &above->types).n == 0;
}

/* The restriction of @node cannot be met: it is out, and FakeQuantizes above serve the others. */
static gboolean
is_out (LptRewriter *rw,
        LptNode     *node)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptRestriction *restriction = lpt_config_restriction (config, node);
  guint i, k;

  if (!lpt_config_is_strict (config) || restriction == NULL)
    return FALSE;
  for (i = 0; i < node->n_in; i++)
    if (finds_no_type (rw, node, i))
      {
        lpt_rewriter_decline (rw, node, "the other readers of input %u take none of its types (restriction \"%s\")", i,
                              restriction->text);
        node->mark.preserved = 0;
        for (k = 0; k < node->n_in; k++)
          lpt_markup_disable_input (node, k);
        return TRUE;
      }

  return FALSE;
}

static void
propagate_to_inputs (LptRewriter *rw,
                     LptNode     *node)
{
  guint i;

  if (lpt_node_has_disabled_input (node) || is_out (rw, node))
    return;
  for (i = 0; i < node->n_in; i++)
    {
      LptNode *source = lpt_markup_source (rw, node, i);
      LptBox upper = source != NULL ? *lpt_markup_box (source, LPT_SPREAD_PRECISIONS) : 0;
      LptBox own = node->in[i].mark.precisions;

      if (upper == 0)
        continue;
      upper = lpt_box_root (node->graph, upper);
      if (own != 0 && lpt_box_root (node->graph, own) != upper)
        {
          LptBoxValue *above = lpt_box (node->graph, upper);

          above->types = lpt_type_list_intersect (&lpt_box (node->graph, own)->types, &above->types);
          lpt_box_share (node->graph, upper, own);
        }
      node->in[i].mark.precisions = upper;
    }
}

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  const LptConfig *config = lpt_rewriter_config (rw);

  if (lpt_config_vetoes (config, "propagate-precisions", node))
    return;
  if (node->op == LPT_OP_FAKE_QUANTIZE)
    {
      LptBox box = lpt_box_new (node->graph, LPT_BOX_PRECISIONS);

      lpt_box (node->graph, box)->types = config->default_precisions;
      node->out[0].mark.precisions = box;
      lpt_rewriter_changed (rw, node);
      return;
    }
  if (lpt_node_is_preserved (node) && lpt_config_is_strict (config) && lpt_config_restriction (config, node) != NULL)
    propagate_to_inputs (rw, node);
  if (!lpt_markup_spread (rw, node, LPT_SPREAD_PRECISIONS))
    propagate_to_inputs (rw, node);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  return lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_propagate_precisions = {
  .name      = "propagate-precisions",
  .doc       = "Bring the consumers' types up to the FakeQuantizes",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
