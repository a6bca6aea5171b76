/* lpt-call-infer.c - shapes that are known only when the graph runs
 *
 * Shape inference works on nodes. So a call whose output shapes the plan could not know (they depend on data) is
 * inferred again as a graph of one node: its inputs are Parameters with the shapes at hand, or Constants where
 * the values are small enough to be a shape, a list of axes or a number of elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-call.h"

#define MAX_VALUES 4096

static LptNode *
add_input (LptGraph       *graph,
           const LptArray *array,
           GError        **error)
{
  LptNode *node;

  if (array->quant == NULL && lpt_array_count (array) <= MAX_VALUES)
    {
      g_autoptr (LptTensor) tensor = lpt_array_to_tensor (array, array->declared, error);

      return tensor != NULL ? lpt_graph_add_const (graph, "in", tensor) : NULL;
    }

  node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "in", 0, NULL);
  LPT_ATTRS (node, LptParameterAttrs)->shape = array->shape;
  LPT_ATTRS (node, LptParameterAttrs)->element_type = array->declared;
  lpt_node_out (node)->shape = array->shape;
  lpt_node_out (node)->dtype = array->declared;

  return node;
}

gboolean
lpt_call_infer (LptCall *call,
                GError **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("call");
  g_autofree LptValue **in = g_new0 (LptValue *, call->n_in + 1);
  LptNode *node = call->node, *twin;
  guint i;

  for (i = 0; i < call->n_in; i++)
    if (lpt_call_has (call, i))
      {
        LptNode *source = add_input (graph, &call->in[i], error);

        if (source == NULL)
          return FALSE;
        in[i] = lpt_node_out (source);
      }

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
  for (i = 0; i < node->n_out; i++)
    twin->out[i].dtype = node->out[i].dtype;

  if (!lpt_node_infer (twin, error))
    return FALSE;
  for (i = 0; i < call->n_out; i++)
    if (call->out[i].data == NULL)
      call->out[i].shape = twin->out[i].shape;

  return TRUE;
}
