/* lpt-graph.c - nodes, values, uses and names
 *
 * Every link is kept twice, as an input and as a use; both change together, in
 * link() and unlink() only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/storage/lpt-chunks.h"
#include "ir/lpt-graph-private.h"

/* --- life of a graph --- */

LptGraph *
lpt_graph_new (const char *name)
{
  LptGraph *graph = g_new0 (LptGraph, 1);
  LptBoxValue none = { 0 };

  graph->name = g_strdup (name != NULL ? name : "");
  graph->nodes = g_ptr_array_new ();
  graph->parameters = g_ptr_array_new ();
  graph->results = g_ptr_array_new ();
  graph->boxes = g_array_new (FALSE, TRUE, sizeof (LptBoxValue));
  g_array_append_val (graph->boxes, none);
  graph->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  graph->meta = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  return graph;
}

void
lpt_node_free (LptNode *node)
{
  guint i;

  for (i = 0; i < node->n_out; i++)
    {
      g_array_unref (node->out[i].uses);
      lpt_quant_unref (node->out[i].quant);
      g_clear_pointer (&node->out[i].names, g_ptr_array_unref);
    }
  g_free (node->out);
  g_free (node->in);
  lpt_attrs_free (node->info, node->attrs);
  if (node->data != NULL)
    lpt_tensor_unref (node->data);
  g_clear_pointer (&node->bodies, g_ptr_array_unref);
  g_clear_pointer (&node->body_maps, g_ptr_array_unref);
  g_clear_pointer (&node->controls, g_ptr_array_unref);
  g_clear_pointer (&node->rt_info, g_hash_table_unref);
  g_free (node->raw);
  g_free (node->requant);
  lpt_node_set_origin (node, NULL);
  g_free (node);
}

void
lpt_graph_free (LptGraph *graph)
{
  if (graph == NULL)
    return;
  g_ptr_array_foreach (graph->nodes, (GFunc) (void (*) (void)) lpt_node_free, NULL);
  g_ptr_array_unref (graph->nodes);
  g_ptr_array_unref (graph->parameters);
  g_ptr_array_unref (graph->results);
  g_array_unref (graph->boxes);
  g_hash_table_unref (graph->names);
  g_hash_table_unref (graph->meta);
  g_clear_pointer (&graph->op_requant, g_hash_table_unref);
  lpt_chunks_free (graph->codes);
  g_clear_pointer (&graph->file, g_bytes_unref);
  g_free (graph->requant);
  g_free (graph->source);
  g_free (graph->name);
  g_free (graph);
}

/* --- links --- */

static void
link_input (LptNode  *node,
            guint     index,
            LptValue *value)
{
  LptUse use = { node, index };

  node->in[index].value = value;
  if (value == NULL)
    return;
  node->in[index].use_at = value->uses->len;
  g_array_append_val (value->uses, use);
}

static void
unlink_input (LptNode *node,
              guint    index)
{
  LptValue *value = node->in[index].value;
  guint at = node->in[index].use_at, last;

  if (value == NULL)
    return;
  node->in[index].value = NULL;
  last = value->uses->len - 1;
  if (value->producer->op == LPT_OP_CONST)
    {
      /* A constant may have as many readers as the graph has nodes. */
      g_array_remove_index_fast (value->uses, at);
      last = MIN (last, at + 1);
    }
  else
    g_array_remove_index (value->uses, at);
  for (; at < last; at++)
    lpt_value_use (value, at)->node->in[lpt_value_use (value, at)->index].use_at = at;
}

void
lpt_node_set_input (LptNode  *node,
                    guint     index,
                    LptValue *value)
{
  g_return_if_fail (index <= node->n_in);

  if (index == node->n_in)
    lpt_node_set_n_in (node, index + 1);
  if (node->in[index].value == value)
    return;
  unlink_input (node, index);
  link_input (node, index, value);
}

void
lpt_node_set_n_in (LptNode *node,
                   guint    n_in)
{
  guint i;

  for (i = n_in; i < node->n_in; i++)
    unlink_input (node, i);
  node->in = g_renew (LptInput, node->in, n_in);
  for (i = node->n_in; i < n_in; i++)
    node->in[i] = (LptInput) { NULL };
  node->n_in = n_in;
}

void
lpt_value_replace (LptValue *old,
                   LptValue *value,
                   LptNode  *except)
{
  g_autoptr (GArray) uses = NULL;
  guint i;

  if (old == value)
    return;
  uses = g_array_copy (old->uses);
  g_array_set_size (old->uses, 0);
  for (i = 0; i < uses->len; i++)
    {
      LptUse *use = &g_array_index (uses, LptUse, i);

      if (use->node == except)
        link_input (use->node, use->index, old);
      else
        link_input (use->node, use->index, value);
    }
}

/* --- names --- */

/* Owned by the table; @name itself when it is free, else with the first free "_N". */
static const char *
claim_name (LptGraph   *graph,
            const char *name,
            LptNode    *node)
{
  char *own = NULL;

  if (!g_hash_table_contains (graph->names, name))
    own = g_strdup (name);
  else
    {
      /* The counter of a name is kept under a key that no name can have, so
       * that many equal names cost linear time. */
      g_autofree char *key = g_strconcat ("\x01", name, NULL);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (graph->names, key));

      do
        {
          g_free (own);
          own = g_strdup_printf ("%s_%u", name, ++n);
        }
      while (g_hash_table_contains (graph->names, own));
      g_hash_table_replace (graph->names, g_steal_pointer (&key), GUINT_TO_POINTER (n));
    }
  g_hash_table_insert (graph->names, own, node);

  return own;
}

void
lpt_node_drop_name (LptNode *node)
{
  if (node->name != NULL && g_hash_table_lookup (node->graph->names, node->name) == node)
    g_hash_table_remove (node->graph->names, node->name);
  node->name = NULL;
}

void
lpt_node_rename (LptNode    *node,
                 const char *name)
{
  g_autofree char *copy = g_strdup (name);      /* may be the node's own */

  if (node->name != NULL && strcmp (node->name, name) == 0)
    return;
  lpt_node_drop_name (node);
  node->name = claim_name (node->graph, copy, node);
}

void
lpt_node_take_name (LptNode    *to,
                    LptNode    *from,
                    const char *suffix)
{
  g_autofree char *name = g_strdup (from->name);
  g_autofree char *other = g_strconcat (name, suffix, NULL);

  lpt_node_rename (from, other);
  lpt_node_rename (to, name);
}

void
lpt_node_take_over (LptNode    *to,
                    LptNode    *from,
                    const char *suffix)
{
  lpt_node_take_name (to, from, suffix);
  lpt_node_set_origin (to, from->origin);
}

void
lpt_node_set_origin (LptNode    *node,
                     const char *origin)
{
  char *own = origin != NULL ? g_ref_string_new (origin) : NULL;

  if (node->origin != NULL)
    g_ref_string_release (node->origin);
  node->origin = own;
}

/* --- building --- */

LptNode *
lpt_graph_add_full (LptGraph         *graph,
                    const LptOpInfo  *info,
                    guint             opset,
                    const char       *name,
                    guint             n_in,
                    LptValue  *const *in,
                    guint             n_out)
{
  LptNode *node = g_new0 (LptNode, 1);
  guint i;

  node->op = info->op;
  node->info = info;
  node->graph = graph;
  node->id = graph->next_id++;
  node->opset = opset;
  node->attrs = lpt_attrs_new (info, opset);
  node->name = claim_name (graph, name != NULL ? name : info->name, node);
  node->n_in = n_in;
  node->in = g_new0 (LptInput, n_in);
  for (i = 0; i < n_in; i++)
    link_input (node, i, in != NULL ? in[i] : NULL);
  node->n_out = n_out;
  node->out = g_new0 (LptValue, n_out);
  for (i = 0; i < n_out; i++)
    {
      node->out[i].producer = node;
      node->out[i].index = i;
      node->out[i].shape = LPT_SHAPE_ANY;
      node->out[i].uses = g_array_new (FALSE, FALSE, sizeof (LptUse));
    }

  g_ptr_array_add (graph->nodes, node);
  if (node->op == LPT_OP_PARAMETER)
    g_ptr_array_add (graph->parameters, node);
  else if (node->op == LPT_OP_RESULT)
    g_ptr_array_add (graph->results, node);

  return node;
}

LptNode *
lpt_graph_add (LptGraph         *graph,
               LptOp             op,
               guint             opset,
               const char       *name,
               guint             n_in,
               LptValue  *const *in)
{
  const LptOpInfo *info = lpt_op_info (op);

  return lpt_graph_add_full (graph, info, opset, name, n_in, in,
                             info->n_out < 0 ? 1 : (guint) info->n_out);
}

LptNode *
lpt_graph_add_const (LptGraph   *graph,
                     const char *name,
                     LptTensor  *tensor)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_CONST, 1, name, 0, NULL);

  /* Where memory lacked (lpt_memory_check() says so, and the graph is given up) 0 stands in. */
  node->data = tensor != NULL ? lpt_tensor_ref (tensor) : lpt_tensor_scalar (LPT_DTYPE_F32, 0);
  node->out[0].dtype = lpt_tensor_dtype (node->data);
  node->out[0].shape = *lpt_tensor_shape (node->data);

  return node;
}

static void
copy_strings (GHashTable *from,
              GHashTable *to)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_replace (to, g_strdup (key), g_strdup (value));
}

/* Everything of @from but inputs, name, controls and marks, which hold box numbers of their graph. */
static LptNode *
node_copy (LptGraph         *graph,
           LptNode          *from,
           const char       *name,
           guint             n_in,
           LptValue  *const *in)
{
  LptNode *node = lpt_graph_add_full (graph, from->info, from->opset, name, n_in, in, from->n_out);
  guint i;

  lpt_attrs_free (node->info, node->attrs);
  node->attrs = lpt_attrs_copy (from->info, from->attrs);
  node->flags = from->flags & ~(guint32) LPT_NODE_DEAD;
  node->line = from->line;
  node->raw = g_strdup (from->raw);
  node->requant = g_strdup (from->requant);
  node->origin = from->origin != NULL ? g_ref_string_acquire (from->origin) : NULL;
  if (from->data != NULL)
    node->data = lpt_tensor_ref (from->data);
  if (from->rt_info != NULL)
    {
      node->rt_info = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      copy_strings (from->rt_info, node->rt_info);
    }
  for (i = 0; i < lpt_node_n_bodies (from); i++)
    lpt_node_add_body (node, lpt_graph_copy (lpt_node_body (from, i)),
                       lpt_body_map_copy (lpt_node_body_map (from, i)));
  for (i = 0; i < MIN (n_in, from->n_in); i++)
    node->in[i].compute = from->in[i].compute;
  for (i = 0; i < from->n_out; i++)
    {
      node->out[i].dtype = from->out[i].dtype;
      node->out[i].shape = from->out[i].shape;
      node->out[i].quant = lpt_quant_ref (from->out[i].quant);
    }

  return node;
}

static void
copy_marks (LptNode *from,
            LptNode *to)
{
  guint i;

  to->mark = from->mark;
  for (i = 0; i < MIN (to->n_in, from->n_in); i++)
    to->in[i].mark = from->in[i].mark;
  for (i = 0; i < to->n_out; i++)
    to->out[i].mark = from->out[i].mark;
}

LptNode *
lpt_node_clone (LptNode          *node,
                const char       *name,
                guint             n_in,
                LptValue  *const *in)
{
  LptNode *copy = node_copy (node->graph, node, name, n_in, in);

  copy_marks (node, copy);
  if (node->controls != NULL)
    copy->controls = g_ptr_array_copy (node->controls, NULL, NULL);

  return copy;
}

LptNode *
lpt_node_clone_into (LptGraph         *graph,
                     LptNode          *node,
                     const char       *name,
                     guint             n_in,
                     LptValue  *const *in)
{
  return node_copy (graph, node, name, n_in, in);
}

void
lpt_value_set_quant (LptValue *value,
                     LptQuant *quant)
{
  lpt_quant_ref (quant);
  lpt_quant_unref (value->quant);
  value->quant = quant;
}

void
lpt_value_add_name (LptValue   *value,
                    const char *tensor_name)
{
  guint i;

  if (value->names == NULL)
    value->names = g_ptr_array_new_with_free_func (g_free);
  for (i = 0; i < value->names->len; i++)
    if (strcmp (g_ptr_array_index (value->names, i), tensor_name) == 0)
      return;
  g_ptr_array_add (value->names, g_strdup (tensor_name));
}

void
lpt_value_take_names (LptValue *value, LptValue *from)
{
  guint i;

  for (i = 0; from->names != NULL && i < from->names->len; i++)
    lpt_value_add_name (value, g_ptr_array_index (from->names, i));
  g_clear_pointer (&from->names, g_ptr_array_unref);
}

LptGraph *
lpt_graph_copy (LptGraph *graph)
{
  LptGraph *copy = lpt_graph_new (graph->name);
  g_autoptr (GHashTable) map = g_hash_table_new (NULL, NULL);
  guint i, k;

  copy->source = g_strdup (graph->source);
  copy->requant = g_strdup (graph->requant);
  copy->ir_version = graph->ir_version;
  copy->lowered = graph->lowered;
  copy->file = graph->file != NULL ? g_bytes_ref (graph->file) : NULL;
  copy->file_digest = graph->file_digest;
  copy_strings (graph->meta, copy->meta);
  if (graph->op_requant != NULL)
    {
      copy->op_requant = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      copy_strings (graph->op_requant, copy->op_requant);
    }
  g_array_set_size (copy->boxes, 0);
  g_array_append_vals (copy->boxes, graph->boxes->data, graph->boxes->len);

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      LptNode *twin = node_copy (copy, node, node->name, node->n_in, NULL);

      /* In the midst of a sweep some wait to be freed, without inputs. */
      twin->flags = node->flags;
      g_hash_table_insert (map, node, twin);
    }
  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      LptNode *twin = g_hash_table_lookup (map, node);

      for (k = 0; k < node->n_in; k++)
        if (node->in[k].value != NULL)
          {
            LptNode *producer = g_hash_table_lookup (map, node->in[k].value->producer);

            lpt_node_set_input (twin, k, &producer->out[node->in[k].value->index]);
          }
      for (k = 0; k < node->n_out; k++)
        if (node->out[k].names != NULL)
          {
            guint n;

            for (n = 0; n < node->out[k].names->len; n++)
              lpt_value_add_name (&twin->out[k], g_ptr_array_index (node->out[k].names, n));
          }
      copy_marks (node, twin);
      if (node->controls != NULL)
        {
          twin->controls = g_ptr_array_new ();
          for (k = 0; k < node->controls->len; k++)
            g_ptr_array_add (twin->controls,
                             g_hash_table_lookup (map, g_ptr_array_index (node->controls, k)));
        }
    }
  /* Inputs and outputs keep the order that the original has now. */
  g_ptr_array_set_size (copy->parameters, 0);
  for (i = 0; i < graph->parameters->len; i++)
    g_ptr_array_add (copy->parameters, g_hash_table_lookup (map, g_ptr_array_index (graph->parameters, i)));
  g_ptr_array_set_size (copy->results, 0);
  for (i = 0; i < graph->results->len; i++)
    g_ptr_array_add (copy->results, g_hash_table_lookup (map, g_ptr_array_index (graph->results, i)));

  return copy;
}
