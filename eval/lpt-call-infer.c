/* lpt-call-infer.c - shapes that are known only when the graph runs
 *
 * Shape inference works on nodes. So a call whose output shapes the plan could not know (they depend on data) is
 * inferred again as a graph of one node: its inputs are Parameters with the shapes at hand, or Constants where
 * the values are small enough to be a shape, a list of axes or a number of elements. Who calls the node again keeps
 * that graph (LptCall.twins): then only shapes and values are put into it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-call.h"

#define MAX_VALUES 4096

static gboolean
is_small (const LptArray *array)
{
  return array->quant == NULL && lpt_array_count (array) <= MAX_VALUES;
}

/* The shape of @array, and its values if @source is a Constant. */
static gboolean
set_source (LptNode        *source,
            const LptArray *array,
            GError        **error)
{
  if (source->op == LPT_OP_CONST)
    {
      LptTensor *tensor = lpt_array_to_tensor (array, array->declared, error);

      if (tensor == NULL)
        return FALSE;
      lpt_tensor_unref (source->data);
      source->data = tensor;
    }
  else
    {
      LPT_ATTRS (source, LptParameterAttrs)->shape = array->shape;
      LPT_ATTRS (source, LptParameterAttrs)->element_type = array->declared;
    }
  lpt_node_out (source)->shape = array->shape;
  lpt_node_out (source)->dtype = array->declared;

  return TRUE;
}

/* The call's node in a graph of its own. */
static LptNode *
twin_new (const LptCall *call)
{
  LptGraph *graph = lpt_graph_new ("call");
  g_autofree LptValue **in = g_new0 (LptValue *, call->n_in + 1);
  LptNode *node = call->node, *twin;
  guint i;

  for (i = 0; i < call->n_in; i++)
    if (lpt_call_has (call, i))
      in[i] = lpt_node_out (is_small (&call->in[i]) ? lpt_graph_add_const (graph, "in", NULL)
                                                    : lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "in", 0, NULL));
  twin = lpt_graph_add_full (graph, node->info, node->opset, node->name, call->n_in, in, node->n_out);
  if (node->attrs != NULL)
    {
      lpt_attrs_free (twin->info, twin->attrs);
      twin->attrs = lpt_attrs_copy (node->info, node->attrs);
    }
  twin->flags = node->flags;
  twin->line = node->line;
  for (i = 0; i < node->n_in; i++)
    if (lpt_call_has (call, i))
      twin->in[i].compute = node->in[i].compute;

  return twin;
}

/* Has @twin what the call has: the same inputs, small ones as Constants? */
static gboolean
is_like (const LptNode *twin,
         const LptCall *call)
{
  guint i;

  if (twin->n_in != call->n_in)
    return FALSE;
  for (i = 0; i < call->n_in; i++)
    {
      const LptValue *value = twin->in[i].value;

      if ((value != NULL) != lpt_call_has (call, i) ||
          (value != NULL && (value->producer->op == LPT_OP_CONST) != is_small (&call->in[i])))
        return FALSE;
    }

  return TRUE;
}

static gboolean
infer (LptNode *twin,
       LptCall *call,
       GError **error)
{
  guint i;

  for (i = 0; i < call->n_in; i++)
    if (lpt_call_has (call, i) && !set_source (twin->in[i].value->producer, &call->in[i], error))
      return FALSE;
  for (i = 0; i < twin->n_out; i++)
    {
      twin->out[i].dtype = call->node->out[i].dtype;
      twin->out[i].shape = LPT_SHAPE_ANY;
    }
  if (!lpt_node_infer (twin, error))
    return FALSE;
  for (i = 0; i < call->n_out; i++)
    if (call->out[i].data == NULL && !lpt_exec_is_held (call->node))
      call->out[i].shape = twin->out[i].shape;

  return TRUE;
}

GHashTable *
lpt_call_twins_new (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lpt_graph_free);
}

gboolean
lpt_call_infer (LptCall *call,
                GError **error)
{
  LptGraph *kept = call->twins != NULL ? g_hash_table_lookup (call->twins, call->node) : NULL;
  LptNode *twin = kept != NULL ? g_ptr_array_index (kept->nodes, kept->nodes->len - 1) : NULL;
  gboolean ok;

  if (twin != NULL && is_like (twin, call))
    return infer (twin, call, error);

  twin = twin_new (call);
  ok = infer (twin, call, error);
  if (call->twins != NULL)
    g_hash_table_replace (call->twins, call->node, twin->graph);
  else
    lpt_graph_free (twin->graph);

  return ok;
}
