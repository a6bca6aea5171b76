/* evaluate.c - runs one or two models over samples and keeps the score
 *
 * Samples go one after another through both models; a plan is made for each shape of inputs that comes. Where one
 * takes codes and the other does not, samples are quantized or dequantized; results are compared as what they stand
 * for (agreement.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/agreement.h"
#include "quantize/evaluate.h"
#include "quantize/metric.h"

#include <lpt/lpt-executor.h>


/* --- one model ------------------------------------------------------------------- */

void
lpt_runner_clear (LptRunner *runner)
{
  g_clear_pointer (&runner->context, lpt_plan_context_free);
  g_clear_pointer (&runner->plan, lpt_plan_free);
  g_clear_pointer (&runner->shapes, g_free);
}

/* What the codes @tensor of @quant stand for; @tensor itself where there is nothing to tell. */
static LptTensor *
dequantize (LptTensor *tensor, const LptQuant *quant, GError **error)
{
  if (quant == NULL || quant->n != 1 || lpt_dtype_is_real (lpt_tensor_dtype (tensor)))
    return lpt_tensor_ref (tensor);
  g_autofree float *v = lpt_tensor_to_f32 (tensor, error);
  for (gint64 i = 0, n = lpt_tensor_count (tensor); v != NULL && i < n; i++)
    v[i] = (float) (((double) v[i] - quant->zero_point[0]) * quant->scale[0]);
  return v != NULL ? lpt_tensor_from_f32 (lpt_tensor_shape (tensor), v, error) : NULL;
}

LptTensor *
lpt_input_adapt (LptTensor *tensor, const LptQuant *from, LptNode *parameter, GError **error)
{
  const LptValue *value = lpt_node_out (parameter);
  const LptQuant *quant = value->quant;
  if (lpt_tensor_dtype (tensor) == value->dtype && lpt_quant_equal (from, quant))
    return lpt_tensor_ref (tensor);
  g_autoptr (LptTensor) real = dequantize (tensor, from, error);
  if (real == NULL || quant == NULL || quant->n != 1 || !lpt_dtype_is_real (lpt_tensor_dtype (real)))
    return g_steal_pointer (&real);
  g_autofree float *v = lpt_tensor_to_f32 (real, error);
  for (gint64 i = 0, n = lpt_tensor_count (real); v != NULL && i < n; i++)
    v[i] = (float) (v[i] / quant->scale[0] + quant->zero_point[0]);
  g_autoptr (LptTensor) scaled = v != NULL ? lpt_tensor_from_f32 (lpt_tensor_shape (real), v, error) : NULL;
  return scaled != NULL ? lpt_tensor_convert_round (scaled, value->dtype, LPT_ROUND_HALF_EVEN, error) : NULL;
}

static gboolean
make_plan (LptRunner *runner, LptTensor *const *tensors, GError **error)
{
  guint n = runner->graph->parameters->len;
  gboolean same = runner->plan != NULL;
  for (guint i = 0; same && i < n; i++)
    same = lpt_shape_equal (&runner->shapes[i], lpt_tensor_shape (tensors[i]));
  if (same)
    return TRUE;
  lpt_runner_clear (runner);
  runner->shapes = g_new0 (LptShape, n + 1);
  for (guint i = 0; i < n; i++)
    runner->shapes[i] = *lpt_tensor_shape (tensors[i]);
  runner->plan = lpt_plan_new (runner->graph, runner->shapes, runner->flags, error);
  runner->context = runner->plan != NULL ? lpt_plan_context_new (runner->plan, runner->threads, error) : NULL;
  return runner->context != NULL;
}

static LptGraph *
source_of (const LptRunner *runner)
{
  return runner->source != NULL ? runner->source : runner->graph;
}

gboolean
lpt_runner_execute (LptRunner *runner, LptTensor *const *tensors, GError **error)
{
  LptGraph *source = source_of (runner), *given = runner->given != NULL ? runner->given : source;
  if (!make_plan (runner, tensors, error))
    return FALSE;
  for (guint i = 0; i < runner->graph->parameters->len; i++)
    {
      LptNode *made_for = g_ptr_array_index (given->parameters, i);
      g_autoptr (LptTensor) input = lpt_input_adapt (tensors[i], lpt_node_out (made_for)->quant,
                                                 g_ptr_array_index (source->parameters, i), error);
      if (input == NULL || !lpt_plan_context_set_input (runner->context, i, input, error))
        return FALSE;
    }
  return lpt_plan_run (runner->plan, runner->context, error);
}

GPtrArray *
lpt_runner_outputs (LptRunner *runner, GError **error)
{
  LptGraph *source = source_of (runner);
  g_autoptr (GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < source->results->len; i++)
    {
      g_autoptr (LptTensor) output = lpt_plan_context_output (runner->context, i, error);
      LptNode *result = g_ptr_array_index (source->results, i);
      LptTensor *real = output != NULL ? dequantize (output, lpt_node_in (result, 0)->quant, error) : NULL;
      if (real == NULL)
        return NULL;
      g_ptr_array_add (outputs, real);
    }
  return g_steal_pointer (&outputs);
}

GPtrArray *
lpt_runner_run (LptRunner *runner, LptTensor *const *tensors, GError **error)
{
  return lpt_runner_execute (runner, tensors, error) ? lpt_runner_outputs (runner, error) : NULL;
}

void
lpt_samples_clear (LptTensor **tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], lpt_tensor_unref);
}

/* --- both ------------------------------------------------------------------------- */

struct LptEvaluator
{
  LptEvalOptions options;
  LptEvaluation *result;
  guint          n_models, n_metrics;
  LptRunner      runners[2];
  GPtrArray     *metrics[2];        /* of LptMetric */
  LptAgreement   agreement;
};

void
lpt_evaluator_free (LptEvaluator *e)
{
  if (e == NULL)
    return;
  for (guint i = 0; i < 2; i++)
    {
      lpt_runner_clear (&e->runners[i]);
      g_clear_pointer (&e->metrics[i], g_ptr_array_unref);
    }
  lpt_agreement_clear (&e->agreement);
  lpt_evaluation_free (e->result);
  g_free (e);
}

void
lpt_evaluation_free (LptEvaluation *evaluation)
{
  if (evaluation == NULL)
    return;
  for (guint i = 0; i < 2; i++)
    g_clear_pointer (&evaluation->scores[i], g_array_unref);
  g_free (evaluation);
}

static gboolean
choose_metrics (LptEvaluator *e, GError **error)
{
  static const char *const by_default[] = { "top1", NULL };
  const char *const *names = e->options.metrics != NULL  ? e->options.metrics
                             : e->options.labels != NULL ? by_default
                                                          : NULL;
  for (guint m = 0; m < e->n_models; m++)
    {
      e->metrics[m] = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_metric_free);
    }
  for (e->n_metrics = 0; names != NULL && names[e->n_metrics] != NULL; e->n_metrics++)
    {
      const char *name = names[e->n_metrics];
      const LptMetricKind *kind = lpt_metric_find (name);
      g_autofree char *known = g_strjoinv (", ", (char **) lpt_metric_names ());
      if (kind == NULL)
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no metric is called \"%s\": %s", name, known);
      else if (kind->needs_labels && e->options.labels == NULL)
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s needs labels", name);
      else
        {
          for (guint m = 0; m < e->n_models; m++)
            g_ptr_array_add (e->metrics[m], lpt_metric_new (kind));
          continue;
        }
      return FALSE;
    }
  return TRUE;
}

/* Runs model @m; NULL + error. */
static GPtrArray *
run_model (LptEvaluator *e, guint m, LptTensor *const *tensors, GError **error)
{
  gint64 start = g_get_monotonic_time ();
  GPtrArray *outputs = lpt_runner_run (&e->runners[m], tensors, error);
  e->result->run_seconds[m] += (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  return outputs;
}

static gboolean
add_answer (LptEvaluator *e, guint m, guint i, GPtrArray *outputs, LptTensor *label, GError **error)
{
  LptAnswer answer = { (LptTensor *const *) outputs->pdata, outputs->len, label, e->options.offset };
  if (outputs->len == 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the model has no outputs");
      return FALSE;
    }
  for (guint k = 0; k < e->n_metrics; k++)
    {
      LptMetric *metric = g_ptr_array_index (e->metrics[m], k);
      if (!metric->kind->add (metric, &answer, error))
        {
          g_prefix_error (error, "sample %u: ", i);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
lpt_evaluator_add (LptEvaluator *e, guint i, LptTensor *const *tensors, GPtrArray *const *outputs, GError **error)
{
  g_autoptr (GPtrArray) first = NULL, second = NULL;
  GPtrArray **all[2] = { &first, &second };
  g_autoptr (LptTensor) label = NULL;
  gint64 start = g_get_monotonic_time ();
  if (e->options.labels != NULL && !lpt_data_get (e->options.labels, i, &label, error))
    return FALSE;
  e->result->data_seconds += (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  for (guint m = 0; m < e->n_models; m++)
    {
      *all[m] = outputs != NULL ? g_ptr_array_ref (outputs[m]) : run_model (e, m, tensors, error);
      if (*all[m] == NULL || !add_answer (e, m, i, *all[m], label, error))
        return FALSE;
    }
  return lpt_agreement_add (&e->agreement, first, second, error);
}

static void
finish (LptEvaluator *e)
{
  LptEvaluation *r = e->result;
  for (guint m = 0; m < e->n_models; m++)
    {
      r->scores[m] = g_array_new (FALSE, FALSE, sizeof (LptScore));
      for (guint k = 0; k < e->n_metrics; k++)
        {
          LptScore score = lpt_metric_score (g_ptr_array_index (e->metrics[m], k));
          g_array_append_val (r->scores[m], score);
        }
    }
  r->p = -1.0;
  for (guint k = 0; e->n_models == 2 && k < e->n_metrics; k++)
    {
      const LptMetric *a = g_ptr_array_index (e->metrics[0], k), *b = g_ptr_array_index (e->metrics[1], k);
      if (!g_str_equal (a->kind->name, "top1"))
        continue;
      for (guint i = 0; i < MIN (a->hits->len, b->hits->len); i++)
        {
          r->lost += a->hits->data[i] && !b->hits->data[i];
          r->won += !a->hits->data[i] && b->hits->data[i];
        }
      r->p = lpt_stat_mcnemar (r->lost, r->won);
    }
  lpt_agreement_finish (&e->agreement, r);
}

/* Can the inputs of the first model be those of the second? */
static gboolean
check_inputs (LptGraph *const *graphs, guint n, GError **error)
{
  if (n < 2 || graphs[0]->parameters->len == graphs[1]->parameters->len)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the models have %u and %u inputs", graphs[0]->parameters->len,
               graphs[1]->parameters->len);
  return FALSE;
}

LptEvaluator *
lpt_evaluator_new (LptGraph *const *graphs, guint n_graphs, guint n_samples, const LptEvalOptions *options,
                   GError **error)
{
  LptGraph *const *sources = options->sources != NULL ? options->sources : graphs;
  g_return_val_if_fail (n_graphs == 1 || n_graphs == 2, NULL);
  g_autoptr (LptEvaluator) e = g_new0 (LptEvaluator, 1);
  e->options = *options;
  e->result = g_new0 (LptEvaluation, 1);
  e->n_models = e->result->n_models = n_graphs;
  e->result->n_samples = n_samples;
  lpt_agreement_init (&e->agreement);
  for (guint m = 0; m < n_graphs; m++)
    e->runners[m] = (LptRunner) { graphs[m], sources[m], sources[0], .threads = options->threads,
                                  .flags = options->plan_flags };
  return check_inputs (graphs, n_graphs, error) && choose_metrics (e, error) ? g_steal_pointer (&e) : NULL;
}

LptEvaluation *
lpt_evaluator_finish (LptEvaluator *e)
{
  finish (e);
  return g_steal_pointer (&e->result);
}

LptEvaluation *
lpt_evaluate (LptGraph *const *graphs, guint n_graphs, LptData *data, const LptEvalOptions *options, GError **error)
{
  g_autoptr (LptEvaluator) e = lpt_evaluator_new (graphs, n_graphs, data->n, options, error);
  guint n_inputs = graphs[0]->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_inputs + 1);
  gboolean ok = e != NULL;
  for (guint i = 0; ok && i < data->n; i++)
    {
      gint64 start = g_get_monotonic_time ();
      if (options->progress != NULL)
        options->progress ("evaluating", i, data->n, options->progress_data);
      ok = lpt_data_get (data, i, tensors, error);
      e->result->data_seconds += (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
      ok = ok && lpt_evaluator_add (e, i, tensors, NULL, error);
      lpt_samples_clear (tensors, n_inputs);
    }
  return ok ? lpt_evaluator_finish (e) : NULL;
}
