/* lpt-rewriter.c - what passes change a graph with, and what they say about it
 *
 * What a rewrite made unused is detached at once and freed after the sweep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdarg.h>

#include "passes/core/lpt-rewriter.h"

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

gboolean
lpt_rewriter_decline (LptRewriter *rw,
                      LptNode     *node,
                      const char  *format,
                      ...)
{
  LptRemark *remark;
  va_list args;

  if (rw->stats != NULL)
    rw->stats[rw->current].declined++;
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
  if (rw->stats != NULL)
    rw->stats[rw->current].changed++;
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

void
lpt_rewriter_step (LptRewriter   *rw,
                   const LptPass *pass,
                   LptNode       *node)
{
  GError *error = NULL;

  if (rw->error == NULL && rw->observer != NULL && rw->observer->after != NULL &&
      !rw->observer->after (pass, rw->graph, node, rw->observer->data, &error))
    lpt_rewriter_fail (rw, error);
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
      if (fresh != NULL && !lpt_node_is_const (fresh) && fresh != node &&
          !g_ptr_array_find (node->controls, fresh, NULL))
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
  lpt_value_replace (old, value, except);
  lpt_value_take_names (value, old);
  if (is_unused (old->producer))
    move_controls (rw, old->producer, value->producer);
  lpt_rewriter_drop_unused (rw, old->producer);
}
