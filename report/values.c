/* values.c - every value of a graph, sample by sample
 *
 * All values that something reads are made results of a copy of the graph, so that kernels compute them as in any other
 * run: what LPT_PLAN_KEEP_ALL keeps is computed without (40 seconds instead of one for a sample of ResNet-50).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/values.h"

#include "executor/lpt-context.h"
#include "report/distance.h"
#include "report/trail.h"

gboolean
lpt_take_problems (GError **problems, guint n, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++)
    if (problems[i] != NULL && ok)
      {
        g_propagate_error (error, problems[i]);
        ok = FALSE;
      }
    else
      g_clear_error (&problems[i]);
  return ok;
}

void
lpt_value_run_clear (LptValueRun *run)
{
  lpt_runner_clear (&run->runner);
  g_clear_pointer (&run->at, g_hash_table_unref);
  g_clear_pointer (&run->watched, lpt_graph_free);
}

/* A copy of the graph with all that is read as further results. */
static void
watch (LptValueRun *run)
{
  run->watched = lpt_graph_copy (run->graph);
  run->at = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0, n = run->watched->nodes->len; i < n; i++)
    {
      LptNode *node = run->watched->nodes->pdata[i];
      for (guint k = 0; k < node->n_out && node->data == NULL; k++)
        {
          LptValue *value = &node->out[k];
          if (lpt_value_n_uses (value) == 0)
            continue;
          g_hash_table_insert (run->at, lpt_value_name (value), GUINT_TO_POINTER (run->watched->results->len + 1));
          lpt_graph_add (run->watched, LPT_OP_RESULT, 1, NULL, 1, &value);
        }
    }
  run->runner.graph = run->watched;
}

gboolean
lpt_value_run_sample (LptValueRun *run, LptTensor *const *tensors, GError **error)
{
  if (run->watched == NULL)
    watch (run);
  return lpt_runner_execute (&run->runner, tensors, error);
}

LptTensor *
lpt_value_run_held (LptValueRun *run, const LptValue *value, GError **error)
{
  g_autofree char *name = lpt_value_name (value);
  guint at = GPOINTER_TO_UINT (g_hash_table_lookup (run->at, name));
  if (at == 0)
    return NULL;
  /* As it is held: numbers that the graph calls f16 are not rounded to it. */
  const LptArray *array = lpt_plan_context_output_array (run->runner.context, at - 1);
  return lpt_array_to_tensor (array, array->dtype == LPT_DTYPE_I64 ? array->declared : array->dtype, error);
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
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the models have different inputs: the second has \"%s\"",
                       want->name);
          return FALSE;
        }
      const LptNode *made_for = a->parameters->pdata[k];
      /* An array of another type holds the numbers of a real input, not its codes. */
      g_autoptr (LptTensor) given = lpt_dtype_is_real (made_for->out[0].dtype) &&
                                            lpt_tensor_dtype (tensors[k]) != made_for->out[0].dtype
                                        ? lpt_tensor_convert (tensors[k], made_for->out[0].dtype, error)
                                        : lpt_tensor_ref (tensors[k]);
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
    ok = lpt_graph_set_input_shape (graph, ((LptNode *) graph->parameters->pdata[i])->name,
                                    lpt_tensor_shape (inputs[i]), error);
  lpt_samples_clear (inputs, n);
  return ok && lpt_graph_infer (graph, error);
}
