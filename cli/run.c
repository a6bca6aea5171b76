/* run.c - running a model once; distances between arrays
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/run.h"

#include <math.h>

void
cmd_outputs_clear (CmdOutputs *outputs)
{
  g_clear_pointer (&outputs->names, g_ptr_array_unref);
  g_clear_pointer (&outputs->tensors, g_ptr_array_unref);
}

LptPlanContext *
cmd_run_context (LptGraph *graph, GPtrArray *tensors, guint flags, guint threads, LptPlan **plan, CmdOutputs *outputs,
                 GError **error)
{
  g_autofree LptShape *shapes = g_new0 (LptShape, graph->parameters->len + 1);
  gint64 runs = lpt_plan_stack (graph, (LptTensor *const *) tensors->pdata, shapes, error);
  *plan = runs > 0 ? lpt_plan_new (graph, shapes, flags, error) : NULL;
  g_autoptr (LptPlanContext) context = *plan != NULL ? lpt_plan_context_new (*plan, threads, error) : NULL;
  if (context == NULL)
    return NULL;
  outputs->tensors = lpt_plan_run_stacked (*plan, context, (LptTensor *const *) tensors->pdata, runs, error);
  if (outputs->tensors == NULL)
    return NULL;
  outputs->names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < outputs->tensors->len; i++)
    g_ptr_array_add (outputs->names, g_strdup (lpt_plan_output_name (*plan, i)));
  return g_steal_pointer (&context);
}

gboolean
cmd_run (LptGraph *graph, GPtrArray *tensors, guint flags, guint threads, CmdOutputs *outputs, GError **error)
{
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = cmd_run_context (graph, tensors, flags, threads, &plan, outputs, error);
  return context != NULL;
}

/* |x - y|; integers of 64 bits, of which double does not hold all, as such. */
static double
difference (LptTensor *a, LptTensor *b, gint64 i, double x, double y)
{
  const LptDType dtype = lpt_tensor_dtype (a);
  if (dtype == lpt_tensor_dtype (b) && (dtype == LPT_DTYPE_I64 || dtype == LPT_DTYPE_U64))
    {
      const gint64 u = lpt_tensor_get_i64 (a, i), v = lpt_tensor_get_i64 (b, i);
      const gboolean less = dtype == LPT_DTYPE_I64 ? u < v : (guint64) u < (guint64) v;
      return (double) (less ? (guint64) v - (guint64) u : (guint64) u - (guint64) v);
    }
  return (isnan (x) && isnan (y)) || x == y ? 0.0 : fabs (x - y);
}

gboolean
cmd_distance (LptTensor *a, LptTensor *b, CmdDistance *distance)
{
  gint64 n = lpt_tensor_count (a);
  double max = 0.0, sum = 0.0, aa = 0.0, bb = 0.0, ab = 0.0, dd = 0.0;
  gint64 nan_a = 0, nan_b = 0;
  if (n != lpt_tensor_count (b))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      double x = lpt_tensor_get_f64 (a, i), y = lpt_tensor_get_f64 (b, i), d = difference (a, b, i, x, y);
      nan_a += isnan (x);
      nan_b += isnan (y);
      if (isnan (d) || d > max)
        max = d;
      if (!isfinite (x) || !isfinite (y))
        continue;
      sum += d;
      aa += x * x;
      bb += y * y;
      ab += x * y;
      dd += d * d;
    }
  *distance = (CmdDistance) { .max = max, .mean = n > 0 ? sum / (double) n : 0.0,
                              .sqnr = dd > 0.0 ? 10.0 * log10 (aa / dd) : HUGE_VAL,
                              .cosine = aa > 0.0 && bb > 0.0 ? ab / (sqrt (aa) * sqrt (bb)) : aa == bb ? 1.0 : 0.0,
                              .nan_a = nan_a, .nan_b = nan_b };
  return TRUE;
}
