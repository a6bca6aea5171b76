/* values.c - values of a graph, sample by sample
 *
 * Those that are to be looked at are made results of a copy of the graph, so that kernels compute them as in any other
 * run: what LPT_PLAN_KEEP_ALL keeps is computed without (40 seconds instead of one for a sample of ResNet-50). What
 * nobody looks at stays fused, and in the layout that its reader wants. They are read where they are held, in blocks:
 * copies of all of them took longer than the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/values.h"

#include "executor/lpt-plan.h"

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

/* A copy of the graph: its results come first. */
static void
begin (LptValueRun *run)
{
  run->watched = lpt_graph_copy (run->graph);
  run->at = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  run->runner.graph = run->watched;
  run->runner.source = run->graph;
}

void
lpt_value_run_watch (LptValueRun *run, const LptValue *value)
{
  if (value == NULL)
    return;
  if (run->watched == NULL)
    begin (run);
  g_autofree char *name = lpt_value_name (value);
  LptNode *node = lpt_graph_find (run->watched, value->producer->name);
  LptValue *own = node != NULL && node->data == NULL && value->index < node->n_out ? &node->out[value->index] : NULL;
  if (own == NULL || lpt_value_n_uses (own) == 0 || g_hash_table_contains (run->at, name))
    return;
  g_hash_table_insert (run->at, g_steal_pointer (&name), GUINT_TO_POINTER (run->watched->results->len + 1));
  lpt_graph_add (run->watched, LPT_OP_RESULT, 1, NULL, 1, &own);
}

gboolean
lpt_value_run_sample (LptValueRun *run, LptTensor *const *tensors, GError **error)
{
  if (run->watched == NULL)
    begin (run);
  return lpt_runner_execute (&run->runner, tensors, error);
}

const LptArray *
lpt_value_run_held (LptValueRun *run, const LptValue *value)
{
  g_autofree char *name = lpt_value_name (value);
  guint at = GPOINTER_TO_UINT (g_hash_table_lookup (run->at, name));
  return at > 0 ? lpt_plan_context_output_array (run->runner.context, at - 1) : NULL;
}

/* --- real numbers ---------------------------------------------------------------- */

/* As it is held: numbers that the graph calls f16 are not rounded to it. */
static gboolean
convert_all (LptValueView *view, GError **error)
{
  const LptArray *held = view->held;
  LptDType dtype = held->dtype == LPT_DTYPE_I64 ? held->declared : held->dtype;
  g_autoptr (LptTensor) tensor = lpt_array_to_tensor (held, dtype, error);
  view->own = tensor != NULL ? lpt_tensor_to_f32 (tensor, error) : NULL;
  if (tensor != NULL && lpt_dtype_is_real (lpt_tensor_dtype (tensor)))
    view->quant = NULL;
  return view->own != NULL;
}

static float
real_of (const LptQuant *q, guint k, double code)
{
  return (float) (q->scale[k] * (code - q->zero_point[k]));
}

static gboolean
is_bytes (const LptArray *held)
{
  return held->dtype == LPT_DTYPE_U8 || held->dtype == LPT_DTYPE_I8;
}

gboolean
lpt_value_run_view (LptValueRun *run, const LptValue *value, LptValueView *view, GError **error)
{
  const LptArray *held = lpt_value_run_held (run, value);
  if (held == NULL || held->data == NULL)
    return FALSE;
  view->held = held;
  view->quant = held->dtype == LPT_DTYPE_F32 ? NULL : value->quant;
  view->n = lpt_array_count (held);
  view->inner = MAX (view->n, 1);
  if (view->quant != NULL && view->quant->n > 1)
    view->inner = lpt_quant_run (view->quant, &held->shape);
  for (guint i = 0; i < 256 && is_bytes (held); i++)
    {
      double code = held->dtype == LPT_DTYPE_I8 ? (double) (gint8) i : (double) i;
      view->table[i] = view->quant != NULL ? real_of (view->quant, 0, code) : (float) code;
    }
  return held->dtype == LPT_DTYPE_F32 || is_bytes (held) || convert_all (view, error);
}

static void
read_bytes (const LptValueView *view, gint64 first, gint64 n, float *to)
{
  const guint8 *bytes = (const guint8 *) view->held->data + first;
  for (gint64 i = 0; i < n; i++)
    to[i] = view->table[bytes[i]];
}

/* Codes with a unit for each channel, a run of one at a time. */
static void
read_channels (const LptValueView *view, gint64 first, gint64 n, float *to)
{
  const guint8 *bytes = view->held->data;
  for (gint64 i = first, end; i < first + n; i = end)
    {
      guint k = view->quant->n > 1 ? (guint) (i / view->inner % view->quant->n) : 0;
      end = MIN ((i / view->inner + 1) * view->inner, first + n);
      for (gint64 at = i; at < end; at++)
        {
          double code = view->own != NULL                  ? view->own[at]
                        : view->held->dtype == LPT_DTYPE_I8 ? (double) (gint8) bytes[at]
                                                            : (double) bytes[at];
          to[at - first] = real_of (view->quant, k, code);
        }
    }
}

const float *
lpt_value_view_read (const LptValueView *view, gint64 first, gint64 n, float *to)
{
  gboolean bytes = view->own == NULL && is_bytes (view->held);
  if (view->quant == NULL && !bytes)
    return (view->own != NULL ? view->own : (const float *) view->held->data) + first;
  if (bytes && (view->quant == NULL || view->quant->n == 1))
    read_bytes (view, first, n, to);
  else
    read_channels (view, first, n, to);
  return to;
}

void
lpt_value_view_clear (LptValueView *view)
{
  g_clear_pointer (&view->own, g_free);
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
