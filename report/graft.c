/* graft.c - a layer of one graph in the place of the same layer of another
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/graft.h"

/* May @value be copied: a constant, or on the trail of @root? */
static gboolean
may_copy (const LptTrails *trails, const LptValue *value, const LptValue *root)
{
  const LptTrail *trail = lpt_trail_of (trails, value);
  return value->producer->op != LPT_OP_PARAMETER && value->producer->bodies == NULL &&
         (trail == NULL || trail->root == root);
}

/* The first input of @node that is not known yet; NULL: all are. */
static LptValue *
missing (const LptNode *node, GHashTable *known)
{
  for (guint i = 0; i < node->n_in; i++)
    if (node->in[i].value != NULL && !g_hash_table_contains (known, node->in[i].value))
      return node->in[i].value;
  return NULL;
}

static gboolean
copy_node (LptGraph *into, LptNode *node, GHashTable *known)
{
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in + 1);
  for (guint i = 0; i < node->n_in; i++)
    in[i] = node->in[i].value != NULL ? g_hash_table_lookup (known, node->in[i].value) : NULL;
  LptNode *copy = node->data != NULL ? lpt_graph_add_const (into, node->name, node->data)
                                     : lpt_node_clone_into (into, node, node->name, node->n_in, in);
  if (node->data == NULL && !lpt_node_infer (copy, NULL))
    return FALSE;
  for (guint k = 0; k < MIN (node->n_out, copy->n_out); k++)
    {
      lpt_value_set_quant (&copy->out[k], node->out[k].quant);
      if (!g_hash_table_contains (known, &node->out[k]))
        g_hash_table_insert (known, &node->out[k], &copy->out[k]);
    }
  return TRUE;
}

LptValue *
lpt_graft (LptGraph *into, const LptTrails *trails, LptValue *value, GHashTable *known)
{
  const LptTrail *trail = lpt_trail_of (trails, value);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  g_ptr_array_add (stack, value);
  while (trail != NULL && stack->len > 0)
    {
      LptValue *top = stack->pdata[stack->len - 1];
      if (g_hash_table_contains (known, top))
        {
          g_ptr_array_set_size (stack, (gint) stack->len - 1);
          continue;
        }
      LptValue *needed = missing (top->producer, known);
      if (!may_copy (trails, top, trail->root) || (needed == NULL && !copy_node (into, top->producer, known)))
        return NULL;
      if (needed != NULL)
        g_ptr_array_add (stack, needed);
    }
  return trail != NULL ? g_hash_table_lookup (known, value) : NULL;
}
