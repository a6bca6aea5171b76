/* lpt-rewriter.c - one sweep over the graph, and what passes change it with
 *
 * A queue holds the nodes in topological order. Each node is offered to the
 * passes whose roots fit, in table order; the first that changes something ends
 * the node's turn. Nodes that a pass asks to visit go to the front, the first
 * asked for first (lpt_spec 2.0). What a rewrite made unused is detached at
 * once and freed after the sweep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdarg.h>

#include <lpt/lpt-body.h>

#include "ir/lpt-memory.h"
#include "passes/lpt-rewriter.h"
#include "passes/lpt-layer.h"

LptGraph *
lpt_rewriter_graph (LptRewriter *rw)
{
  return rw->graph;
}

const LptConfig *
lpt_rewriter_config (LptRewriter *rw)
{
  return rw->config;
}

static LptPassStats *
stats_of (LptRewriter *rw)
{
  return rw->stats != NULL ? &rw->stats[rw->current] : NULL;
}

gboolean
lpt_rewriter_decline (LptRewriter *rw,
                      LptNode     *node,
                      const char  *format,
                      ...)
{
  LptRemark *remark;
  va_list args;

  if (stats_of (rw) != NULL)
    stats_of (rw)->declined++;
  if (rw->report == NULL)
    return FALSE;
  remark = g_new0 (LptRemark, 1);
  remark->pass = rw->passes[rw->current];
  remark->node = g_strdup (node->name);
  remark->source = g_strdup (node->origin);
  remark->op = node->op;
  va_start (args, format);
  remark->reason = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (rw->report->remarks, remark);

  return FALSE;
}

void
lpt_rewriter_visit (LptRewriter *rw,
                    LptNode     *node)
{
  g_ptr_array_add (rw->fresh, node);
}

void
lpt_rewriter_changed (LptRewriter *rw,
                      LptNode     *node)
{
  rw->changed = TRUE;
  if (stats_of (rw) != NULL)
    stats_of (rw)->changed++;
}

/* What became of @node; NULL: nobody asks, or it stands for no node of the source. */
static LptFate *
add_fate (LptRewriter *rw,
          LptNode     *node,
          const char  *format,
          va_list      args)
{
  LptFate *fate;

  if (rw->report == NULL || node->origin == NULL)
    return NULL;
  fate = g_new0 (LptFate, 1);
  fate->source = g_strdup (node->origin);
  fate->reason = g_strdup_vprintf (format, args);
  g_ptr_array_add (rw->report->fates, fate);

  return fate;
}

void
lpt_rewriter_fate (LptRewriter *rw,
                   LptNode     *node,
                   const char  *format,
                   ...)
{
  LptFate *fate;
  va_list args;

  va_start (args, format);
  fate = add_fate (rw, node, format, args);
  va_end (args);
  if (fate == NULL)
    return;
  fate->node = node;
  fate->id = node->id;
}

void
lpt_rewriter_absorbed (LptRewriter *rw,
                       LptNode     *node,
                       const char  *into,
                       const char  *format,
                       ...)
{
  LptFate *fate;
  va_list args;

  va_start (args, format);
  fate = add_fate (rw, node, format, args);
  va_end (args);
  if (fate != NULL)
    fate->into = g_strdup (into);
}

/* --- building --- */

void
lpt_rewriter_fail (LptRewriter *rw,
                   GError      *error)
{
  if (rw->error == NULL)
    rw->error = error;
  else
    g_error_free (error);
}

LptNode *
lpt_rewriter_infer (LptRewriter *rw,
                    LptNode     *node)
{
  GError *error = NULL;
  guint i;

  if (lpt_node_infer (node, &error))
    return node;
  g_prefix_error (&error, "the rewrite does not fit: ");
  lpt_rewriter_fail (rw, error);
  /* The callback goes on to its end, with a node of which nothing is known. */
  for (i = 0; i < node->n_out; i++)
    {
      if (node->out[i].dtype == LPT_DTYPE_UNDEFINED)
        node->out[i].dtype = LPT_DTYPE_F32;
      node->out[i].shape = lpt_shape_make (-1, NULL);
    }

  return node;
}

LptNode *
lpt_rewriter_add (LptRewriter      *rw,
                  LptOp             op,
                  const char       *name,
                  guint             n_in,
                  LptValue  *const *in)
{
  return lpt_rewriter_infer (rw, lpt_graph_add (rw->graph, op, 1, name, n_in, in));
}

LptNode *
lpt_rewriter_add_relaxed (LptRewriter      *rw,
                          LptOp             op,
                          const char       *name,
                          guint             n_in,
                          LptValue  *const *in,
                          LptDType          compute,
                          LptDType          dtype)
{
  LptNode *node = lpt_graph_add (rw->graph, op, 1, name, n_in, in);
  guint i;

  node->flags |= LPT_NODE_RELAXED;
  node->out[0].dtype = dtype;
  for (i = 0; i < n_in; i++)
    node->in[i].compute = compute;

  return lpt_rewriter_infer (rw, node);
}

LptValue *
lpt_rewriter_const (LptRewriter *rw,
                    const char  *name,
                    LptTensor   *tensor)
{
  LptNode *node;

  if (tensor == NULL)
    {
      lpt_rewriter_fail (rw, g_error_new (LPT_ERROR, LPT_ERROR_MEMORY, "no memory for the constant \"%s\"", name));
      tensor = lpt_tensor_scalar (LPT_DTYPE_F32, 0);
    }
  node = lpt_graph_add_const (rw->graph, name, tensor);
  lpt_tensor_unref (tensor);

  return &node->out[0];
}

/* --- replacing --- */

static gboolean
is_unused (LptNode *node)
{
  guint i;

  if (node->op == LPT_OP_PARAMETER || (node->info->flags & LPT_OP_F_SINK))
    return FALSE;
  for (i = 0; i < node->n_out; i++)
    if (lpt_value_n_uses (&node->out[i]) > 0)
      return FALSE;

  return TRUE;
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

/* What waited for @old waits for @fresh: NULL, or a constant, for nothing. */
static void
move_controls (LptRewriter *rw,
               LptNode     *old,
               LptNode     *fresh)
{
  guint i;

  for (i = 0; rw->waits && i < old->graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (old->graph->nodes, i);

      if (node->controls == NULL || !g_ptr_array_remove (node->controls, old))
        continue;
      if (fresh != NULL && !lpt_node_is_const (fresh) && fresh != node && !g_ptr_array_find (node->controls, fresh, NULL))
        g_ptr_array_add (node->controls, fresh);
      if (node->controls->len == 0)
        g_clear_pointer (&node->controls, g_ptr_array_unref);
    }
}

void
lpt_rewriter_drop_unused (LptRewriter *rw,
                          LptNode     *node)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  guint i;

  g_ptr_array_add (stack, node);
  while (stack->len > 0)
    {
      LptNode *top = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      if ((top->flags & LPT_NODE_DEAD) || !is_unused (top))
        continue;
      top->flags |= LPT_NODE_DEAD;
      move_controls (rw, top, NULL);
      for (i = 0; i < top->n_in; i++)
        {
          LptNode *source = lpt_node_src (top, i);

          if (source == NULL)
            continue;
          lpt_node_set_input (top, i, NULL);
          g_ptr_array_add (stack, source);
        }
    }
}

void
lpt_rewriter_replace (LptRewriter *rw,
                      LptValue    *old,
                      LptValue    *value,
                      LptNode     *except)
{
  guint i;

  lpt_value_replace (old, value, except);
  for (i = 0; old->names != NULL && i < old->names->len; i++)
    lpt_value_add_name (value, g_ptr_array_index (old->names, i));
  g_clear_pointer (&old->names, g_ptr_array_unref);
  if (is_unused (old->producer))
    move_controls (rw, old->producer, value->producer);
  lpt_rewriter_drop_unused (rw, old->producer);
}

/* --- the sweep --- */

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

/* The error that a rewrite left behind, if any, said of the pass and of what it was offered. @mark: lpt_memory_mark() before. */
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
      guint mark = lpt_memory_mark ();
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
      if ((pass->stage == LPT_STAGE_PROPAGATE || pass->stage == LPT_STAGE_DECOMPOSE) && lpt_layer_is_restricted (rw, node))
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
        continue;
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
