/* debug-run.c - how far the outputs of a variant of the model are from those of the float model, and how long it takes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "quantize/statistics.h"
#include "report/distance.h"

#include <lpt/lpt-pass.h>

#include <math.h>

#define TIMES 7

GPtrArray *
lpt_debug_run_sample (LptDebugger *d, LptRunner *runner, LptData *data, guint i, GError **error)
{
  guint n_in = d->samples_of->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1),
                       **inputs = g_new0 (LptTensor *, runner->graph->parameters->len + 1);
  if (!lpt_data_get (data, i, tensors, error))
    return NULL;
  GPtrArray *outputs = lpt_samples_inputs_for (d->samples_of, tensors, runner->graph, inputs, error)
                           ? lpt_runner_run (runner, inputs, error)
                           : NULL;
  lpt_samples_clear (tensors, n_in);
  lpt_samples_clear (inputs, runner->graph->parameters->len);
  return outputs;
}

gboolean
lpt_debug_judge_real (LptDebugger *d, GError **error)
{
  g_auto (LptRunner) runner = { .graph = d->real, .threads = d->options->threads };
  for (guint m = 0; m < LPT_DEBUG_JUDGES; m++)
    {
      LptDebugJudge *judge = &d->judges[m];
      judge->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
      for (guint i = 0; judge->data != NULL && i < judge->data->n; i++)
        {
          GPtrArray *outputs = lpt_debug_run_sample (d, &runner, judge->data, i, error);
          if (outputs == NULL)
            return FALSE;
          g_ptr_array_add (judge->outputs, outputs);
        }
    }
  return TRUE;
}

static gboolean
add_output (LptDistance *sum, LptTensor *real, LptTensor *other, GError **error)
{
  g_autofree float *x = lpt_tensor_to_f32 (real, error), *y = x != NULL ? lpt_tensor_to_f32 (other, error) : NULL;
  if (y == NULL)
    return FALSE;
  lpt_distance_add (sum, x, y, MIN (lpt_tensor_count (real), lpt_tensor_count (other)));
  return TRUE;
}

static double
judge_by (LptDebugger *d, const LptDebugJudge *judge, LptGraph *graph, GError **error)
{
  g_auto (LptRunner) runner = { .graph = graph, .threads = d->options->threads };
  guint n_out = d->real->results->len;
  g_autofree LptDistance *sums = g_new0 (LptDistance, n_out + 1);
  double noise = 0.0;
  for (guint i = 0; i < judge->data->n; i++)
    {
      g_autoptr (GPtrArray) outputs = lpt_debug_run_sample (d, &runner, judge->data, i, error);
      const GPtrArray *real = judge->outputs->pdata[i];
      for (guint k = 0; k < n_out; k++)
        if (outputs == NULL || !add_output (&sums[k], real->pdata[k], outputs->pdata[k], error))
          return NAN;
    }
  for (guint k = 0; k < n_out; k++)
    noise += sums[k].aa > 0.0 ? sums[k].dd / sums[k].aa : 0.0;
  return noise > 0.0 ? 10.0 * log10 (n_out / noise) : HUGE_VAL;
}

double
lpt_debug_judge (LptDebugger *d, LptGraph *graph, GError **error)
{
  return judge_by (d, &d->judges[0], graph, error);
}

double
lpt_debug_judge_held (LptDebugger *d, LptGraph *graph, GError **error)
{
  return d->judges[1].data != NULL ? judge_by (d, &d->judges[1], graph, error) : NAN;
}

/* --- times ---------------------------------------------------------------------- */

double
lpt_debug_time (LptDebugger *d, LptGraph *first, LptGraph *second)
{
  g_autoptr (LptGraph) one = lpt_graph_copy (first), two = lpt_graph_copy (second);
  LptGraph *graphs[2] = { one, two };
  LptRunner runners[2] = { { .graph = one, .threads = d->options->threads },
                           { .graph = two, .threads = d->options->threads } };
  double times[2][TIMES];
  gboolean ok = TRUE;
  for (guint m = 0; m < 2 && ok; m++)
    ok = lpt_pipeline_run (graphs[m], d->options->config, NULL, NULL, NULL);
  for (guint i = 0; i <= TIMES && ok; i++)
    for (guint m = 0; m < 2 && ok; m++)
      {
        gint64 start = g_get_monotonic_time ();
        GPtrArray *outputs = lpt_debug_run_sample (d, &runners[m], d->data, 0, NULL);
        ok = outputs != NULL;
        g_clear_pointer (&outputs, g_ptr_array_unref);
        if (i > 0)
          times[m][i - 1] = (double) (g_get_monotonic_time () - start);
      }
  for (guint m = 0; m < 2; m++)
    {
      lpt_runner_clear (&runners[m]);
      if (ok)
        qsort (times[m], TIMES, sizeof times[m][0], lpt_stat_compare);
    }
  return ok && times[0][TIMES / 2] > 0.0 ? times[1][TIMES / 2] / times[0][TIMES / 2] : NAN;
}
