/* lpt-order.c - topological order, sweeping, cutting at values
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/lpt-graph-private.h"

enum { NEW, OPEN, DONE };

/* Producers of a node: its inputs, then its control dependencies. */
static LptNode *
nth_source (LptNode *node,
            guint    n)
{
  if (n < node->n_in)
    return lpt_node_src (node, n);

  return g_ptr_array_index (node->controls, n - node->n_in);
}

static guint
n_sources (LptNode *node)
{
  return node->n_in + (node->controls != NULL ? node->controls->len : 0);
}

/* Depth first without recursion: a chain of 10^6 nodes must not eat the stack. */
static gboolean
visit (LptNode    *root,
       guint8     *state,
       GPtrArray  *order,
       GError    **error)
{
  typedef struct { LptNode *node; guint next; } Frame;
  g_autoptr (GArray) stack = NULL;
  Frame frame = { root, 0 };

  if (state[root->id] == DONE)
    return TRUE;
  stack = g_array_new (FALSE, FALSE, sizeof (Frame));
  state[root->id] = OPEN;
  g_array_append_val (stack, frame);
  while (stack->len > 0)
    {
      Frame *top = &g_array_index (stack, Frame, stack->len - 1);
      LptNode *node = top->node;
      LptNode *source;

      if (top->next == n_sources (node))
        {
          state[node->id] = DONE;
          g_ptr_array_add (order, node);
          g_array_set_size (stack, stack->len - 1);
          continue;
        }
      source = nth_source (node, top->next++);
      if (source == NULL || state[source->id] == DONE)
        continue;
      if (state[source->id] == OPEN)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "node \"%s\": is on a cycle", source->name);
          return FALSE;
        }
      state[source->id] = OPEN;
      frame = (Frame) { source, 0 };
      g_array_append_val (stack, frame);
    }

  return TRUE;
}

static GPtrArray *
order_nodes (LptGraph  *graph,
             gboolean   results_first,
             GError   **error)
{
  g_autofree guint8 *state = g_new0 (guint8, graph->next_id + 1);
  g_autoptr (GPtrArray) order = g_ptr_array_sized_new (graph->nodes->len);
  guint i;

  for (i = 0; i < graph->results->len && results_first; i++)
    if (!visit (g_ptr_array_index (graph->results, i), state, order, error))
      return NULL;
  for (i = 0; i < graph->nodes->len; i++)
    if (!visit (g_ptr_array_index (graph->nodes, i), state, order, error))
      return NULL;

  return g_steal_pointer (&order);
}

GPtrArray *
lpt_graph_order (LptGraph  *graph,
                 GError   **error)
{
  return order_nodes (graph, FALSE, error);
}

GPtrArray *
lpt_graph_order_from_results (LptGraph  *graph,
                              GError   **error)
{
  return order_nodes (graph, TRUE, error);
}

/* --- sweeping --- */

guint
lpt_graph_sweep (LptGraph *graph)
{
  g_autofree guint8 *state = g_new0 (guint8, graph->next_id + 1);
  g_autoptr (GPtrArray) alive = g_ptr_array_new ();
  g_autoptr (GPtrArray) kept = g_ptr_array_sized_new (graph->nodes->len);
  guint removed;
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if ((node->op == LPT_OP_PARAMETER || (node->info->flags & LPT_OP_F_SINK)) &&
          !(node->flags & LPT_NODE_DEAD))
        visit (node, state, alive, NULL);
    }
  removed = graph->nodes->len - alive->len;
  if (removed == 0)
    return 0;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (state[node->id] == DONE)
        g_ptr_array_add (kept, node);
      else
        for (k = 0; k < node->n_in; k++)
          lpt_node_set_input (node, k, NULL);
    }
  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (state[node->id] != DONE)
        {
          lpt_node_drop_name (node);
          g_ptr_array_remove (graph->parameters, node);
          g_ptr_array_remove (graph->results, node);
          lpt_node_free (node);
        }
    }
  g_ptr_array_set_size (graph->nodes, 0);
  g_ptr_array_extend (graph->nodes, kept, NULL, NULL);

  return removed;
}

/* --- cutting --- */

gboolean
lpt_graph_cut (LptGraph           *graph,
               const char *const  *names,
               GError            **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  guint i;

  for (i = 0; names[i] != NULL; i++)
    {
      LptValue *value = lpt_graph_find_value (graph, names[i]);

      if (value == NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no value is named \"%s\"", names[i]);
          return FALSE;
        }
      g_ptr_array_add (values, value);
    }
  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->info->flags & LPT_OP_F_SINK)
        node->flags |= LPT_NODE_DEAD;
    }
  for (i = 0; names[i] != NULL; i++)
    {
      LptValue *value = g_ptr_array_index (values, i);
      g_autofree char *name = g_strconcat (names[i], "/result", NULL);
      LptNode *result = lpt_graph_add (graph, LPT_OP_RESULT, 1, name, 1, &value);
      LptResultAttrs *attrs = result->attrs;

      g_free (attrs->output);
      attrs->output = g_strdup (names[i]);
    }
  lpt_graph_sweep (graph);

  return TRUE;
}
