/* values.c - every value of a graph, sample by sample
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/values.h"
#include "report/distance.h"
#include "report/trail.h"

char *
lpt_value_name (const LptValue *value)
{
  return value->index == 0 ? g_strdup (value->producer->name) : g_strdup_printf ("%s.%u", value->producer->name, value->index);
}

void
lpt_value_run_clear (LptValueRun *run)
{
  lpt_runner_clear (&run->runner);
  g_clear_pointer (&run->at, g_hash_table_unref);
}

gboolean
lpt_value_run_sample (LptValueRun *run, LptTensor *const *tensors, GError **error)
{
  g_autoptr (GPtrArray) outputs = lpt_runner_run (&run->runner, tensors, error);
  if (outputs == NULL || run->plan == run->runner.plan)
    return outputs != NULL;
  g_clear_pointer (&run->at, g_hash_table_unref);
  run->at = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  run->plan = run->runner.plan;
  for (guint i = 0; i < lpt_plan_n_values (run->plan); i++)
    g_hash_table_insert (run->at, lpt_plan_value_name (run->plan, i), GUINT_TO_POINTER (i + 1));
  return TRUE;
}

/* A clamp of codes that end at 0 anyway is no value of its own in a plan. */
static const LptValue *
same_as (const LptValue *value)
{
  LptNode *node = value->producer;
  LptValue *in = node->op == LPT_OP_RELU ? lpt_node_in (node, 0) : NULL;
  return in != NULL && in->dtype == value->dtype && in->quant != NULL && lpt_quant_equal (in->quant, value->quant) && lpt_value_floor (in) >= 0.0 ? in : NULL;
}

LptTensor *
lpt_value_run_held (LptValueRun *run, const LptValue *value, GError **error)
{
  guint at = 0;
  for (; value != NULL && at == 0; value = same_as (value))
    {
      g_autofree char *name = lpt_value_name (value);
      at = GPOINTER_TO_UINT (g_hash_table_lookup (run->at, name));
    }
  return at > 0 ? lpt_plan_context_value (run->runner.context, at - 1, error) : NULL;
}

float *
lpt_value_run_real (LptValueRun *run, const LptValue *value, gint64 *n, GError **error)
{
  g_autoptr (LptTensor) tensor = lpt_value_run_held (run, value, error);
  *n = tensor != NULL ? lpt_tensor_count (tensor) : 0;
  return tensor != NULL ? lpt_value_to_real (value, tensor, error) : NULL;
}

gboolean
lpt_samples_inputs_for (LptGraph *a, LptTensor *const *tensors, LptGraph *b, LptTensor **inputs, GError **error)
{
  for (guint i = 0; i < b->parameters->len; i++)
    {
      LptNode *want = b->parameters->pdata[i], *have = lpt_graph_find_parameter (a, want->name);
      guint k = i;
      if (have != NULL)
        g_ptr_array_find (a->parameters, have, &k);
      else if (a->parameters->len != b->parameters->len)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the models have different inputs: the second has \"%s\"", want->name);
          return FALSE;
        }
      const LptNode *made_for = a->parameters->pdata[k];
      /* An array of another type holds the numbers of a real input, not its codes. */
      g_autoptr (LptTensor) given = lpt_dtype_is_real (made_for->out[0].dtype) && lpt_tensor_dtype (tensors[k]) != made_for->out[0].dtype
                                    ? lpt_tensor_convert (tensors[k], made_for->out[0].dtype, error) : lpt_tensor_ref (tensors[k]);
      inputs[i] = given != NULL ? lpt_input_adapt (given, made_for->out[0].quant, want, error) : NULL;
      if (inputs[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

void
lpt_samples_clear (LptTensor **tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], lpt_tensor_unref);
}

gboolean
lpt_samples_fix_shapes (LptGraph *graph, LptGraph *given, LptTensor *const *tensors, GError **error)
{
  guint n = graph->parameters->len;
  g_autofree LptTensor **inputs = g_new0 (LptTensor *, n + 1);
  gboolean ok = lpt_samples_inputs_for (given, tensors, graph, inputs, error);
  for (guint i = 0; ok && i < n; i++)
    ok = lpt_graph_set_input_shape (graph, ((LptNode *) graph->parameters->pdata[i])->name, lpt_tensor_shape (inputs[i]), error);
  lpt_samples_clear (inputs, n);
  return ok && lpt_graph_infer (graph, error);
}
