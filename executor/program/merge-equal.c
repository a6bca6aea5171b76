/* merge-equal.c - what two nodes compute alike is computed once
 *
 *     b = f (x), c = f (x)  =>  who reads c reads b
 *
 * Exporters write a function of a value again for each reader: a ReLU in front of each branch, an axis or a step as a
 * constant of its own. Alike are two nodes of one operation, opset and attributes that read the same values and make
 * the same types; of constants, small ones of equal bytes. Not: products, what draws numbers, keeps a state, runs a
 * body, is written as in its file or waits for others. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "executor/program/lpt-program-passes.h"

/* Of constants; weights are hardly ever there twice. */
#define MAX_BYTES 256

static gboolean
may_merge (const LptNode *node)
{
  if (node->op == LPT_OP_CONST)
    return node->data != NULL && lpt_tensor_size (node->data) <= MAX_BYTES;

  return node->n_in > 0 && node->n_out > 0 && node->raw == NULL && node->controls == NULL &&
         (node->info->flags & (LPT_OP_F_RANDOM | LPT_OP_F_STATE | LPT_OP_F_BODY | LPT_OP_F_SINK)) == 0;
}

/* Products are counted where they run, one by one (lpt_graph_macs()). */
static gboolean
is_product (LptNode *node)
{
  const LptValue *x = lpt_node_in (node, 0), *w = node->n_in > 1 ? lpt_node_in (node, 1) : NULL;

  return x != NULL && w != NULL && lpt_node_macs_for (node, &x->shape, &w->shape, &node->out[0].shape) != 0;
}

static guint
hash (gconstpointer key)
{
  const LptNode *node = key;
  guint h = (guint) node->op, i;

  for (i = 0; i < node->n_in; i++)
    h = h * 31 + g_direct_hash (node->in[i].value);
  if (node->op == LPT_OP_CONST)
    h = h * 31 + (guint) lpt_tensor_size (node->data);

  return h;
}

static gboolean
outputs_equal (const LptNode *a,
               const LptNode *b)
{
  guint k;

  for (k = 0; k < a->n_out; k++)
    if (a->out[k].dtype != b->out[k].dtype || !lpt_shape_equal (&a->out[k].shape, &b->out[k].shape) ||
        !lpt_quant_equal (a->out[k].quant, b->out[k].quant))
      return FALSE;

  return TRUE;
}

static gboolean
equal (gconstpointer first,
       gconstpointer second)
{
  const LptNode *a = first, *b = second;
  guint i;

  if (a->info != b->info || a->opset != b->opset || a->n_in != b->n_in || a->n_out != b->n_out ||
      (a->flags & LPT_NODE_RELAXED) != (b->flags & LPT_NODE_RELAXED) || g_strcmp0 (a->requant, b->requant) != 0)
    return FALSE;
  for (i = 0; i < a->n_in; i++)
    if (a->in[i].value != b->in[i].value || a->in[i].compute != b->in[i].compute)
      return FALSE;

  return outputs_equal (a, b) && lpt_attrs_equal (a->info, a->attrs, b->attrs) &&
         (a->op != LPT_OP_CONST || lpt_tensor_equal (a->data, b->data));
}

gboolean
lpt_program_merge_equal (LptProgram *program,
                         GError    **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (program->graph, error);
  g_autoptr (GHashTable) seen = g_hash_table_new (hash, equal);
  guint i, k;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i), *first;

      if (!may_merge (node) || (node->op != LPT_OP_CONST && is_product (node)))
        continue;
      first = g_hash_table_lookup (seen, node);
      if (first == NULL)
        g_hash_table_add (seen, node);
      else
        for (k = 0; k < node->n_out; k++)
          lpt_value_replace (&node->out[k], &first->out[k], NULL);
    }

  return TRUE;
}
