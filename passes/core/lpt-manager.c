/* lpt-manager.c - one sweep of passes over a graph
 *
 * A queue holds the nodes in topological order. Each node is offered to the
 * passes whose roots fit, in table order; the first that changes something ends
 * the node's turn. Nodes that a pass asks to visit go to the front, the first
 * asked for first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>
#include <lpt/lpt-explain.h>

#include "ir/lpt-memory.h"
#include "passes/support/lpt-layer.h"
#include "passes/core/lpt-rewriter.h"

static LptPassStats *
stats_of (LptRewriter *rw)
{
  return rw->stats != NULL ? &rw->stats[rw->current] : NULL;
}

/* Is there a node that waits for another one? */
static gboolean
has_controls (LptGraph *graph)
{
  guint i;

  for (i = 0; i < graph->nodes->len; i++)
    if (((LptNode *) g_ptr_array_index (graph->nodes, i))->controls != NULL)
      return TRUE;

  return FALSE;
}

static gboolean
pass_fits (const LptPass *pass,
           LptNode       *node)
{
  const LptOp *root;

  if (pass->roots == NULL)
    return TRUE;
  for (root = pass->roots; *root != LPT_OP_NONE; root++)
    if (*root == node->op)
      return TRUE;

  return FALSE;
}

/* The error that a rewrite left behind, if any, said of the pass and of what it was offered. @mark: lpt_memory_mark()
 * before. */
static gboolean
is_fine (LptRewriter  *rw,
         guint         mark,
         const char   *node,
         GError      **error)
{
  GError *limit = NULL;

  /* What lacked memory may have been taken for what cannot be folded, and then not have fitted. */
  if (!lpt_memory_check (mark, &limit) || (rw->error == NULL && !lpt_limits_go_on (&limit)))
    {
      g_clear_error (&rw->error);
      lpt_rewriter_fail (rw, limit);
    }
  if (rw->error == NULL)
    return TRUE;
  if (node != NULL)
    g_prefix_error (&rw->error, "pass %s: node \"%s\": ", rw->passes[rw->current]->name, node);
  else
    g_prefix_error (&rw->error, "pass %s: ", rw->passes[rw->current]->name);
  g_propagate_error (error, g_steal_pointer (&rw->error));

  return FALSE;
}

/* Where types are those of a restriction, so are the zero points that go with them: what a pass declined for one,
 * behind the first @before remarks, is said with the restriction in front. */
static void
remark_zero_point (LptRewriter *rw,
                   LptNode     *node,
                   guint        before)
{
  GPtrArray *remarks = rw->report != NULL ? rw->report->remarks : NULL;
  const guint at = remarks != NULL && remarks->len > before ? remarks->len - 1 : 0;
  const LptRemark *last = remarks != NULL && remarks->len > before ? g_ptr_array_index (remarks, at) : NULL;

  if (last == NULL || !g_str_equal (last->node, node->name) ||
      !g_str_equal (lpt_reason_find (last->reason)->group, "zero-point"))
    return;
  lpt_layer_remark_types (rw, node);
  if (remarks->len > at + 1)
    g_ptr_array_insert (remarks, (gint) at, g_ptr_array_steal_index (remarks, at + 1));
}

/* Offers @node to the passes; FALSE + error when a rewrite does not fit or the observer stops. */
static gboolean
offer (LptRewriter  *rw,
       LptNode      *node,
       GError      **error)
{
  for (rw->current = 0; rw->passes[rw->current] != NULL; rw->current++)
    {
      const LptPass *pass = rw->passes[rw->current];
      LptPassStats *stats = stats_of (rw);
      g_autofree char *name = NULL;
      const guint mark = lpt_memory_mark (), before = rw->report != NULL ? rw->report->remarks->len : 0;
      gint64 start;
      gboolean changed;

      if (pass->rewrite == NULL || !pass_fits (pass, node))
        continue;
      if (lpt_config_vetoes (rw->config, pass->name, node))
        {
          lpt_layer_remark_types (rw, node);
          lpt_rewriter_decline (rw, node, "left alone by a callback of the target");
          continue;
        }
      if ((pass->stage == LPT_STAGE_PROPAGATE || pass->stage == LPT_STAGE_DECOMPOSE) &&
          lpt_layer_is_restricted (rw, node))
        continue;
      start = g_get_monotonic_time ();
      name = g_strdup (node->name);
      changed = pass->rewrite (rw, node);
      if (!is_fine (rw, mark, name, error))
        return FALSE;
      if (stats != NULL)
        {
          stats->tried++;
          stats->changed += changed;
          stats->usec += g_get_monotonic_time () - start;
        }
      if (!changed)
        {
          remark_zero_point (rw, node, before);
          continue;
        }
      rw->changed = TRUE;
      if (rw->observer != NULL && rw->observer->after != NULL &&
          !rw->observer->after (pass, rw->graph, node, rw->observer->data, error))
        return FALSE;
      if (rw->config->validate && !lpt_graph_validate (rw->graph, error))
        {
          g_prefix_error (error, "after pass %s: ", pass->name);
          return FALSE;
        }
      return TRUE;
    }

  return TRUE;
}

static gboolean
sweep_graph (LptRewriter  *rw,
             LptGraph     *graph,
             GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order_from_results (graph, error);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  LptGraph *outer = rw->graph;
  gboolean outer_waits = rw->waits;
  guint i, k;

  if (order == NULL)
    return FALSE;
  rw->waits = has_controls (graph);
  for (i = order->len; i-- > 0; )
    g_ptr_array_add (stack, g_ptr_array_index (order, i));

  rw->graph = graph;
  while (stack->len > 0)
    {
      LptNode *node = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      if (node->flags & LPT_NODE_DEAD)
        continue;
      for (i = 0; i < lpt_node_n_bodies (node); i++)
        if (!sweep_graph (rw, lpt_node_body (node, i), error))
          return FALSE;
      if (!offer (rw, node, error))
        return FALSE;
      for (k = rw->fresh->len; k-- > 0; )
        g_ptr_array_add (stack, g_ptr_array_index (rw->fresh, k));
      g_ptr_array_set_size (rw->fresh, 0);
    }
  lpt_graph_sweep (graph);
  rw->graph = outer;
  rw->waits = outer_waits;

  return TRUE;
}

static gboolean
run_whole (LptRewriter  *rw,
           LptGraph     *graph,
           GError      **error)
{
  const LptPass *pass = rw->passes[rw->current];
  LptPassStats *stats = stats_of (rw);
  gint64 start = g_get_monotonic_time ();
  guint mark = lpt_memory_mark ();
  GError *local = NULL;

  rw->graph = graph;
  rw->waits = has_controls (graph);
  rw->changed = FALSE;
  if (!pass->run (rw, graph, &local))
    {
      g_clear_error (&rw->error);
      if (local == NULL)
        return FALSE;
      lpt_rewriter_fail (rw, local);
    }
  if (!is_fine (rw, mark, NULL, error))
    return FALSE;
  if (stats != NULL)
    {
      stats->tried++;
      stats->usec += g_get_monotonic_time () - start;
    }
  if (rw->changed && rw->observer != NULL && rw->observer->after != NULL &&
      !rw->observer->after (pass, graph, NULL, rw->observer->data, error))
    return FALSE;
  lpt_graph_sweep (graph);
  if (rw->changed && rw->config->validate && !lpt_graph_validate (graph, error))
    {
      g_prefix_error (error, "after pass %s: ", pass->name);
      return FALSE;
    }

  return TRUE;
}

gboolean
lpt_rewriter_run (LptRewriter  *rw,
                  LptGraph     *graph,
                  GError      **error)
{
  gboolean any_rewrite = FALSE;

  for (rw->current = 0; rw->passes[rw->current] != NULL; rw->current++)
    if (rw->passes[rw->current]->run != NULL)
      {
        if (!run_whole (rw, graph, error))
          return FALSE;
      }
    else
      any_rewrite = TRUE;

  return !any_rewrite || sweep_graph (rw, graph, error);
}
