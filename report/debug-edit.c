/* debug-edit.c - the model with one layer real, the float model with one layer quantized, quantizers with other
 * intervals
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "report/graft.h"

#include <lpt/lpt-attrs.h>

/* Are the two the same place of both graphs? @forth: @a is of the float model. */
static gboolean
are_partners (const LptDebugger *d, const LptTrail *a, const LptTrail *b, gboolean forth)
{
  return a != NULL && b != NULL &&
         g_hash_table_lookup (d->real_roots, forth ? b->root : a->root) == (forth ? a->root : b->root);
}

/* What the op of @from reads is what the op of @to reads in @into, a copy of its graph in which its inputs may have
 * been replaced. FALSE: that is not so. */
static gboolean
know_inputs (const LptDebugger *d, LptValue *from, LptValue *to, gboolean forth, LptGraph *into, GHashTable *known)
{
  const LptTrails *ours = forth ? d->real_trails : d->trails, *theirs = forth ? d->trails : d->real_trails;
  LptNode *a = from->producer, *b = to->producer, *now = lpt_graph_find (into, b->name);
  if (now == NULL || now->n_in != b->n_in)
    return FALSE;
  if (a->op == LPT_OP_PARAMETER)
    g_hash_table_insert (known, from, &now->out[to->index]);
  for (guint i = 0; i < a->n_in; i++)
    {
      const LptTrail *trail = lpt_trail_of (ours, lpt_node_in (a, i));
      gboolean found = trail == NULL;
      for (guint k = 0; k < b->n_in && !found; k++)
        {
          guint port = (i + k) % b->n_in;
          const LptTrail *other = lpt_trail_of (theirs, lpt_node_in (b, port));
          found = are_partners (d, trail, other, forth) && trail->coded == other->coded &&
                  lpt_shape_equal (&lpt_node_in (b, port)->shape, &trail->value->shape);
          if (found)
            g_hash_table_insert (known, trail->value, lpt_node_in (now, port));
        }
      if (!found)
        return FALSE;
    }
  return TRUE;
}

/* Everyone but what is on the trail of @end itself reads @value. */
static void
redirect (const LptDebugger *d, LptGraph *copy, const LptValue *end, LptValue *value)
{
  const LptValue *root = lpt_trail_of (d->trails, end)->root;
  for (guint i = 0; i < lpt_value_n_uses (end); i++)
    {
      LptUse use = *lpt_value_use (end, i);
      const LptTrail *next = use.node->n_out > 0 && use.node->op != LPT_OP_RESULT
                                 ? lpt_trail_of (d->trails, &use.node->out[0])
                                 : NULL;
      LptNode *reader = lpt_graph_find (copy, use.node->name);
      if (reader != NULL && (next == NULL || next->root != root))
        lpt_node_set_input (reader, use.index, value);
    }
}

/* The float model's layer in place of @layer in @copy, or FALSE: it does not fit, and nothing was done. */
static gboolean
replace_layer (const LptDebugger *d, const LptDebugged *layer, LptGraph *copy)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  if (layer->real_root == NULL || !know_inputs (d, layer->real_root, layer->root, TRUE, copy, known))
    return FALSE;
  for (guint i = 0; i < layer->ends->len; i++)
    {
      LptValue *real = lpt_debugger_real_of (d, layer->ends->pdata[i]),
               *value = real != NULL ? lpt_graft (copy, d->real_trails, real, known) : NULL;
      if (value == NULL)
        return FALSE;
      g_ptr_array_add (values, value);
    }
  for (guint i = 0; i < layer->ends->len; i++)
    redirect (d, copy, layer->ends->pdata[i], values->pdata[i]);
  return TRUE;
}

/* Its own quantizers left out. */
static void
bare_layer (const LptDebugged *layer, LptGraph *copy)
{
  for (guint i = 0; i < layer->quantizers->len; i++)
    {
      LptNode *fq = lpt_graph_find (copy, ((LptNode *) layer->quantizers->pdata[i])->name);
      if (fq != NULL)
        lpt_debug_leave_out (fq);
    }
  LptNode *node = lpt_graph_find (copy, layer->root->producer->name),
          *weights = layer->weights_port >= 0 ? lpt_node_src (node, (guint) layer->weights_port) : NULL;
  if (weights != NULL && weights->op == LPT_OP_FAKE_QUANTIZE && lpt_debug_keeps_unit (weights))
    lpt_node_set_input (node, (guint) layer->weights_port, lpt_node_in (weights, 0));
}

LptGraph *
lpt_debug_layers_real (LptDebugger *d, GPtrArray *layers, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (d->model);
  for (guint i = 0; i < layers->len; i++)
    {
      LptDebugged *layer = layers->pdata[i];
      layer->row->replaced = replace_layer (d, layer, copy);
      if (!layer->row->replaced)
        bare_layer (layer, copy);
    }
  lpt_graph_sweep (copy);
  return lpt_graph_infer (copy, error) ? g_steal_pointer (&copy) : NULL;
}

LptGraph *
lpt_debug_layer_real (LptDebugger *d, LptDebugged *layer, GError **error)
{
  g_autoptr (GPtrArray) one = g_ptr_array_new ();
  g_ptr_array_add (one, layer);
  return lpt_debug_layers_real (d, one, error);
}

LptGraph *
lpt_debug_all_alone (LptDebugger *d, char ***names, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (d->real);
  g_auto (GStrv) found = g_new0 (char *, d->layers->len + 1);
  for (guint i = 0; i < d->layers->len; i++)
    {
      const LptDebugged *layer = d->layers->pdata[i];
      g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
      LptValue *end = layer->ends->pdata[0], *value = NULL;
      if (layer->real_root != NULL && lpt_debugger_real_of (d, end) != NULL &&
          know_inputs (d, layer->root, layer->real_root, FALSE, copy, known))
        value = lpt_graft (copy, d->trails, end, known);
      found[i] = g_strdup ("");
      if (value == NULL)
        continue;
      g_autofree char *name = g_strconcat (value->producer->name, "/alone", NULL);
      lpt_graph_add (copy, LPT_OP_RESULT, 1, name, 1, &value);
      g_free (found[i]);
      found[i] = lpt_value_name (value);
    }
  lpt_graph_sweep (copy);
  if (!lpt_graph_infer (copy, error))
    return NULL;
  *names = g_steal_pointer (&found);
  return g_steal_pointer (&copy);
}

gboolean
lpt_debug_set_grid (LptGraph *copy, const char *name, double low, double high, guint64 levels, GError **error)
{
  LptNode *fq = lpt_graph_find (copy, name);
  const LptShape scalar = LPT_SHAPE_SCALAR;
  const float ends[2] = { (float) low, (float) high };
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (LptTensor) tensor = lpt_tensor_from_f32 (&scalar, &ends[i], error);
      if (tensor == NULL)
        return FALSE;
      LptNode *constant = lpt_graph_add_const (copy, NULL, tensor);
      lpt_node_set_input (fq, 1 + i, &constant->out[0]);
      lpt_node_set_input (fq, 3 + i, &constant->out[0]);
    }
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = levels;
  return TRUE;
}
