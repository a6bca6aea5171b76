/* check-samples.c - can these samples be what the model was trained with?
 *
 * Samples of another scale cost 30 to 50 points and give no error. Three things of a model say what it takes:
 *
 *   the interval [low, high] of a FakeQuantize, or of the codes, that a real input is read by: warned about when
 *     samples reach further than half its width beyond it, or cover less than a twentieth of it (what is made for
 *     inputs of codes is compared where it is made, frontends/data/fit.c);
 *   a batch normalization behind the first product: s = the median over channels of (variance seen) / (its variance),
 *     1 on what it was trained with; warned about when s is outside [1/40, 40], a scale 6 times off;
 *   a cap (ReLU6) behind the first product: warned about when more than a third of all elements are at it.
 *
 * Up to 16 samples are run as far as that product. Said of each input once; where none of these is there nothing is
 * said: weights alone do not tell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/evaluate.h"
#include "quantize/samples.h"
#include "quantize/statistics.h"

#include "ir/lpt-quantize-details.h"
#include "ir/lpt-value-name.h"
#include "passes/support/lpt-product.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-eval.h>

#include <math.h>
#include <stdlib.h>

#define SAMPLES 16
#define FAR     40.0
#define CAPPED  (1.0 / 3.0)

/* --- intervals -------------------------------------------------------------------- */

typedef struct { double low, high; } Ends;

/* The interval of @value's own codes, or of the FakeQuantize that reads it through moves. */
static gboolean
find_interval (const LptValue *value, Ends *ends)
{
  const LptQuant *quant = value->quant;
  if (quant != NULL && quant->n == 1 && lpt_dtype_bits (value->dtype) == 8)
    {
      lpt_quant_interval (quant, value->dtype, &ends->low, &ends->high);
      return TRUE;
    }
  for (guint i = 0; i < value->uses->len; i++)
    {
      const LptUse *use = lpt_value_use ((LptValue *) value, i);
      gboolean rounds = use->node->op == LPT_OP_FAKE_QUANTIZE && use->index == 0;
      LptTensor *low = rounds ? lpt_node_const_in (use->node, 1) : NULL,
                *high = low != NULL ? lpt_node_const_in (use->node, 2) : NULL;
      if (high != NULL && lpt_tensor_count (low) == 1 && lpt_tensor_count (high) == 1)
        {
          *ends = (Ends) { lpt_tensor_get_f64 (low, 0), lpt_tensor_get_f64 (high, 0) };
          return ends->high > ends->low;
        }
      if (use->index == 0 && use->node->n_out == 1
          && (use->node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_QUANTIZES)) != 0
          && find_interval (&use->node->out[0], ends))
        return TRUE;
    }
  return FALSE;
}

static void
compare_ends (const LptNode *parameter, const Ends *is, const Ends *takes, GPtrArray *remarks)
{
  double width = takes->high - takes->low;
  if (is->low >= takes->low - width / 2.0 && is->high <= takes->high + width / 2.0
      && is->high - is->low >= width / 20.0)
    return;
  g_ptr_array_add (remarks, g_strdup_printf ("input \"%s\": samples are %g .. %g, the model takes %g .. %g",
                                             parameter->name, is->low, is->high, takes->low, takes->high));
}

/* --- what the first product gives ------------------------------------------------- */

/* A value of the graph that tells, and how. */
typedef struct
{
  LptNode *parameter;
  LptNode *norm;              /* BatchNormInference that reads @value, or NULL */
  LptValue *value;
  double   cap;               /* else: of the Clamp that gives @value */
} Evidence;

/* The one reader of @value, or NULL. */
static LptNode *
only_reader (LptValue *value)
{
  return value->uses->len == 1 ? lpt_value_use (value, 0)->node : NULL;
}

/* Does @node only move its data, or scale and shift it by constants? */
static gboolean
passes_on (LptNode *node)
{
  gboolean constants = node->n_out == 1 && node->n_in > 0;
  for (guint i = 1; i < node->n_in; i++)
    constants = constants && lpt_node_is_const (lpt_node_src (node, i));
  return constants
         && ((node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_AFFINE)) != 0 || node->op == LPT_OP_CONVERT);
}

static gboolean
find_evidence (LptNode *parameter, Evidence *evidence)
{
  LptNode *node = only_reader (lpt_node_out (parameter));
  LptLayer layer;
  while (node != NULL && !lpt_layer_is_product (node) && passes_on (node))
    node = only_reader (&node->out[0]);
  if (node == NULL || !lpt_layer_view (node, &layer) || lpt_node_src (node, layer.data_port) == NULL)
    return FALSE;
  LptValue *value = &node->out[0];
  for (LptNode *next = only_reader (value); next != NULL; value = &next->out[0], next = only_reader (value))
    {
      if (next->op == LPT_OP_BATCH_NORM_INFERENCE && lpt_node_const_in (next, 4) != NULL)
        {
          *evidence = (Evidence) { parameter, next, value, 0.0 };
          return TRUE;
        }
      if (next->op == LPT_OP_CLAMP)
        {
          *evidence = (Evidence) { parameter, NULL, &next->out[0], LPT_ATTRS (next, LptClampAttrs)->max };
          return isfinite (evidence->cap) && evidence->cap > 0.0 && evidence->cap <= 16.0;
        }
      if (!passes_on (next))
        return FALSE;
    }
  return FALSE;
}

/* Sums per channel, or over all. */
typedef struct { double *sum, *square; gint64 channels, n, capped; } Sums;

static void
sums_clear (Sums *sums)
{
  g_free (sums->sum);
  g_free (sums->square);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sums, sums_clear)

static gboolean
add_sums (const Evidence *evidence, Sums *sums, LptTensor *tensor, GError **error)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  g_autofree float *v = lpt_tensor_to_f32 (tensor, error);
  if (v == NULL || shape->rank < 2)
    return v != NULL;
  gint64 channels = shape->dims[1], n = lpt_tensor_count (tensor), inner = 1;
  for (gint i = 2; i < shape->rank; i++)
    inner *= shape->dims[i];
  if (sums->sum == NULL)
    {
      sums->channels = channels;
      sums->sum = g_new0 (double, channels + 1);
      sums->square = g_new0 (double, channels + 1);
    }
  for (gint64 i = 0; channels == sums->channels && i < n; i++)
    {
      gint64 c = i / inner % channels;
      sums->sum[c] += v[i];
      sums->square[c] += (double) v[i] * v[i];
      sums->capped += v[i] >= evidence->cap * 0.999;
    }
  sums->n += n;
  return TRUE;
}

static void
judge (const Evidence *evidence, const Sums *sums, GPtrArray *remarks)
{
  if (sums->n == 0 || sums->channels == 0)
    return;
  if (evidence->norm == NULL)
    {
      double share = (double) sums->capped / (double) sums->n;
      if (share > CAPPED)
        g_ptr_array_add (remarks,
                         g_strdup_printf ("input \"%s\": %.0f %% of what the first layer gives is at its cap of %g",
                                          evidence->parameter->name, 100.0 * share, evidence->cap));
      return;
    }
  LptTensor *variance = lpt_node_const_in (evidence->norm, 4);
  g_autofree double *quotients = g_new (double, sums->channels);
  double count = (double) sums->n / (double) sums->channels;
  if (lpt_tensor_count (variance) != sums->channels)
    return;
  for (gint64 c = 0; c < sums->channels; c++)
    {
      double mean = sums->sum[c] / count, seen = MAX (sums->square[c] / count - mean * mean, 0.0);
      quotients[c] = seen / MAX (lpt_tensor_get_f64 (variance, c), 1e-12);
    }
  qsort (quotients, (gsize) sums->channels, sizeof *quotients, lpt_stat_compare);
  double median = quotients[sums->channels / 2];
  if (median > FAR || median < 1.0 / FAR)
    g_ptr_array_add (remarks,
                     g_strdup_printf ("input \"%s\": the first layer's results have %.3g times the deviation that its "
                                      "normalization was trained with",
                                      evidence->parameter->name, sqrt (median)));
}

static LptGraph *
cut_at (LptGraph *graph, const LptValue *value, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  g_autofree char *name = lpt_value_name (value);
  return lpt_graph_cut (copy, (const char *const[]) { name, NULL }, error) ? g_steal_pointer (&copy) : NULL;
}

/* Runs @some as far as the evidence. */
static gboolean
look (LptGraph *graph, const Evidence *evidence, LptData *some, GPtrArray *remarks, GError **error)
{
  guint n = graph->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n + 1);
  g_autoptr (LptGraph) part = cut_at (graph, evidence->value, error);
  g_auto (LptRunner) runner = { .graph = part };
  g_auto (Sums) sums = { NULL };
  gboolean ok = part != NULL;
  for (guint i = 0; ok && i < some->n; i++)
    {
      if (!lpt_data_get (some, i, tensors, error))
        return FALSE;
      g_autoptr (GPtrArray) outputs = lpt_runner_run (&runner, tensors, error);
      for (guint k = 0; k < n; k++)
        g_clear_pointer (&tensors[k], lpt_tensor_unref);
      ok = outputs != NULL && (outputs->len == 0 || add_sums (evidence, &sums, outputs->pdata[0], error));
    }
  if (ok)
    judge (evidence, &sums, remarks);
  return ok;
}

/* --- all inputs ------------------------------------------------------------------- */

/* The ends of the samples of each real input. */
static gboolean
find_ends (LptGraph *graph, LptData *some, Ends *ends, GError **error)
{
  guint n = graph->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n + 1);
  for (guint k = 0; k < n; k++)
    ends[k] = (Ends) { HUGE_VAL, -HUGE_VAL };
  for (guint i = 0; i < some->n; i++)
    {
      if (!lpt_data_get (some, i, tensors, error))
        return FALSE;
      for (guint k = 0; k < n; k++)
        {
          for (gint64 j = 0, count = lpt_tensor_count (tensors[k]); j < count; j++)
            {
              double x = lpt_tensor_get_f64 (tensors[k], j);
              ends[k].low = MIN (ends[k].low, x);
              ends[k].high = MAX (ends[k].high, x);
            }
          g_clear_pointer (&tensors[k], lpt_tensor_unref);
        }
    }
  return TRUE;
}

gboolean
lpt_samples_check (LptGraph *graph, LptData *data, GPtrArray *remarks, GError **error)
{
  guint n = graph->parameters->len;
  g_autoptr (LptData) some = lpt_data_spread (data, SAMPLES, FALSE);
  g_autofree Ends *seen = g_new0 (Ends, n + 1);
  if (!find_ends (graph, some, seen, error))
    return FALSE;
  for (guint k = 0; k < n; k++)
    {
      LptNode *parameter = g_ptr_array_index (graph->parameters, k);
      const LptValue *value = lpt_node_out (parameter);
      Evidence evidence;
      Ends takes;
      if (!lpt_dtype_is_real (value->dtype) || !(seen[k].high > seen[k].low))
        continue;
      if (find_interval (value, &takes))
        compare_ends (parameter, &seen[k], &takes, remarks);
      else if (find_evidence (parameter, &evidence) && !look (graph, &evidence, some, remarks, error))
        return FALSE;
    }
  return TRUE;
}
