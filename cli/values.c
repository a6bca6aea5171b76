/* values.c - one node by the reference executor, on values that are given
 *
 * A graph of the node alone is planned and run. Inputs that are constant, and the integers that shapes are made of, are
 * constants there, too, so that shapes are known; other inputs are Parameters, which hold what they are given without
 * rounding to their type, as a run of the whole graph does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/values.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-executor.h>

#include <math.h>
#include <string.h>

/* No list of sizes, axes or places to pad is longer. */
#define MAX_LIST 1024

static gboolean
is_list (const LptValue *value, LptTensor *tensor)
{
  return value->quant == NULL && !lpt_dtype_is_real (value->dtype) && lpt_dtype_bits (value->dtype) >= 32 &&
         lpt_tensor_count (tensor) <= MAX_LIST;
}

/* A value of @graph that holds @tensor in place of @value. */
static LptValue *
stand_in (LptGraph *graph, LptValue *value, LptTensor *tensor, GPtrArray *inputs)
{
  LptNode *node;
  if (lpt_node_is_const (value->producer) || is_list (value, tensor))
    node = lpt_graph_add_const (graph, "constant",
                                lpt_node_is_const (value->producer) ? value->producer->data : tensor);
  else
    {
      node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "input", 0, NULL);
      LPT_ATTRS (node, LptParameterAttrs)->shape = *lpt_tensor_shape (tensor);
      LPT_ATTRS (node, LptParameterAttrs)->element_type = value->dtype;
      lpt_node_infer (node, NULL);
      g_ptr_array_add (inputs, tensor);
    }
  lpt_value_set_quant (&node->out[0], value->quant);
  return &node->out[0];
}

/* The Convert of a FakeQuantize to few bits rounds to the nearest, and knows by what stands in front of it: NULL where
 * it is not that. */
static LptTensor *
round_codes (LptNode *node, LptTensor *tensor)
{
  LptNode *source = node->op == LPT_OP_CONVERT ? lpt_node_src (node, 0) : NULL;
  if (source == NULL || source->op != LPT_OP_FAKE_QUANTIZE || !lpt_dtype_is_integer (node->out[0].dtype) ||
      lpt_dtype_bits (node->out[0].dtype) > 16)
    return NULL;
  g_autofree float *x = lpt_tensor_to_f32 (tensor, NULL);
  for (gint64 i = 0; x != NULL && i < lpt_tensor_count (tensor); i++)
    x[i] = nearbyintf (x[i]);
  return x != NULL ? lpt_tensor_from_f32 (lpt_tensor_shape (tensor), x, NULL) : NULL;
}

static LptTensor *
held_value (const LptPlan *plan, LptPlanContext *context, guint output, const char *name, GError **error)
{
  for (guint i = 0; i < lpt_plan_n_values (plan); i++)
    {
      g_autofree char *own = lpt_plan_value_name (plan, i);
      if (g_str_equal (own, name))
        return lpt_plan_context_value (context, i, error);
    }
  /* It depends on constants alone. */
  return lpt_plan_context_output (context, output, error);
}

static gboolean
run_graph (LptGraph *graph, LptNode *node, GPtrArray *inputs, LptTensor **out, GError **error)
{
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE | LPT_PLAN_KEEP_ALL, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, error) : NULL;
  if (context == NULL)
    return FALSE;
  for (guint i = 0; i < inputs->len; i++)
    if (!lpt_plan_context_set_input (context, i, g_ptr_array_index (inputs, i), error))
      return FALSE;
  if (!lpt_plan_run (plan, context, error))
    return FALSE;
  for (guint i = 0; i < node->n_out; i++)
    {
      g_autofree char *name = i > 0 ? g_strdup_printf ("%s.%u", node->name, i) : g_strdup (node->name);
      out[i] = held_value (plan, context, i, name, error);
      if (out[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

gboolean
cmd_values_run (LptNode *node, LptTensor *const *in, LptTensor **out, GError **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("value");
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autofree LptValue **values = g_new0 (LptValue *, node->n_in + 1);
  g_autoptr (LptTensor) codes = node->n_in > 0 && in[0] != NULL ? round_codes (node, in[0]) : NULL;
  graph->lowered = node->graph->lowered;
  graph->requant = g_strdup (node->graph->requant);
  graph->op_requant = node->graph->op_requant != NULL ? g_hash_table_ref (node->graph->op_requant) : NULL;
  for (guint i = 0; i < node->n_in; i++)
    if (in[i] != NULL)
      values[i] = stand_in (graph, node->in[i].value, i == 0 && codes != NULL ? codes : in[i], inputs);
  LptNode *copy = lpt_node_clone_into (graph, node, node->name, node->n_in, values);
  for (guint i = 0; i < node->n_out; i++)
    {
      out[i] = NULL;
      lpt_node_infer (lpt_graph_add (graph, LPT_OP_RESULT, 0, NULL, 1, (LptValue *[]) { &copy->out[i] }), NULL);
    }
  if (lpt_graph_infer (graph, error) && run_graph (graph, copy, inputs, out, error))
    return TRUE;
  if (error != NULL && *error != NULL && strstr ((*error)->message, node->name) == NULL)
    g_prefix_error (error, "node \"%s\": ", node->name);
  for (guint i = 0; i < node->n_out; i++)
    g_clear_pointer (&out[i], lpt_tensor_unref);
  return FALSE;
}
