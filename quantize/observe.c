/* observe.c - what values are, over all samples
 *
 * The values are read as further results of the float graph, so many in one run that they take a few megabytes; more
 * runs over the samples see the others. Of each a histogram and, per channel, mean and greatest magnitude are kept:
 * sums are in f64 over the elements of a sample in their order, then over samples in theirs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-value-name.h"
#include "quantize/quantizer.h"
#include "quantize/stats-file.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

#define BYTES_AT_ONCE ((gsize) 24 << 20)

/* --- runs ------------------------------------------------------------------------------- */

/* A copy of the graph whose results are values [from, to) of @names. NULL + error. */
static LptGraph *
cut_out (LptQuantizer *q, GPtrArray *values, guint from, guint to, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (q->graph);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = from; i < to; i++)
    {
      const LptValue *value = g_ptr_array_index (values, i);
      g_ptr_array_add (names, lpt_value_name (value));
    }
  g_ptr_array_add (names, NULL);
  if (!lpt_graph_cut (copy, (const char *const *) names->pdata, error))
    return NULL;
  return g_steal_pointer (&copy);
}

/* Values from @from on that are read together. */
static guint
take (GPtrArray *values, guint from)
{
  gsize bytes = 0;
  guint to = from;
  while (to < values->len && (to == from || bytes < BYTES_AT_ONCE))
    {
      const LptValue *value = g_ptr_array_index (values, to++);
      gint64 count = 1;
      for (gint i = 0; i < value->shape.rank; i++)
        count *= MAX (1, value->shape.dims[i]);
      bytes += (gsize) count * sizeof (float);
    }
  return to;
}

gboolean
lpt_quantize_watch (LptQuantizer *q, GPtrArray *values, LptData *samples, LptWatchFunc func, gpointer data,
                    GError **error)
{
  guint n_inputs = q->graph->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_inputs + 1);
  for (guint from = 0, to; from < values->len; from = to)
    {
      to = take (values, from);
      g_autoptr (LptGraph) part = cut_out (q, values, from, to, error);
      g_auto (LptRunner) runner = { .graph = part, .threads = q->options->threads, .flags = LPT_PLAN_ORDERED };
      gboolean ok = part != NULL;
      for (guint i = 0; ok && i < samples->n; i++)
        {
          lpt_quantizer_step (q, "running", i, samples->n);
          ok = lpt_data_get (samples, i, tensors, error);
          if (!ok)
            break;
          g_autoptr (GPtrArray) outputs = lpt_runner_run (&runner, tensors, error);
          lpt_samples_clear (tensors, n_inputs);
          ok = outputs != NULL;
          for (guint k = 0; ok && k < outputs->len; k++)
            ok = func (q, from + k, g_ptr_array_index (outputs, k), i, data, error);
        }
      if (!ok)
        return FALSE;
    }
  return TRUE;
}

/* --- what is kept ------------------------------------------------------------------------ */

static void
free_seen (gpointer data)
{
  LptSeen *seen = data;
  lpt_histogram_free (seen->histogram);
  lpt_channel_stats_clear (&seen->channels);
  g_free (seen);
}

LptSeen *
lpt_quantizer_seen (LptQuantizer *q, LptValue *value)
{
  return g_hash_table_lookup (q->seen, value);
}

void
lpt_channel_stats_clear (LptChannelStats *channels)
{
  g_clear_pointer (&channels->mean, g_free);
  g_clear_pointer (&channels->largest, g_free);
}

void
lpt_channel_stats_add (LptChannelStats *channels, LptTensor *tensor)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  const float *v = lpt_tensor_data (tensor);
  if (channels->axis < 0 || channels->axis >= shape->rank || lpt_tensor_count (tensor) == 0)
    return;
  gint64 n = shape->dims[channels->axis], inner = 1;
  for (gint i = channels->axis + 1; i < shape->rank; i++)
    inner *= shape->dims[i];
  if (channels->n == 0)
    {
      channels->n = n;
      channels->mean = g_new0 (double, n);
      channels->largest = g_new0 (double, n);
    }
  if (n != channels->n)
    return;
  gint64 outer = lpt_tensor_count (tensor) / (n * inner);
  for (gint64 c = 0; c < n; c++)
    {
      double sum = 0.0;
      float largest = 0.0f;
      for (gint64 o = 0; o < outer; o++)
        for (gint64 i = 0; i < inner; i++)
          {
            float x = v[(o * n + c) * inner + i];
            sum += x;
            largest = fabsf (x) > largest ? fabsf (x) : largest;
          }
      channels->mean[c] += (sum / (double) (outer * inner) - channels->mean[c]) / (double) (channels->samples + 1);
      channels->largest[c] = MAX (channels->largest[c], largest);
    }
  channels->samples++;
}

LptSeen *
lpt_quantizer_add_seen (LptQuantizer *q, LptValue *value)
{
  LptSeen *seen = g_new0 (LptSeen, 1);
  seen->histogram = lpt_histogram_new ();
  seen->channels.axis = -1;
  g_hash_table_insert (q->seen, value, seen);
  return seen;
}

/* @again: a second look, ends being known; means are not taken twice. */
typedef struct { GPtrArray *values; gboolean again; } Look;

static gboolean
look (LptQuantizer *q, guint i, LptTensor *tensor, guint sample, gpointer data, GError **error)
{
  const Look *l = data;
  LptValue *value = g_ptr_array_index (l->values, i);
  LptSeen *seen = lpt_quantizer_seen (q, value);
  g_autoptr (LptTensor) real = lpt_tensor_convert (tensor, LPT_DTYPE_F32, error);
  if (real == NULL)
    return FALSE;
  lpt_histogram_add (seen->histogram, lpt_tensor_data (real), lpt_tensor_count (real));
  if (seen->histogram->broken > 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "sample %u: node \"%s\" gives NaN or infinity", sample,
                   value->producer->name);
      return FALSE;
    }
  if (!l->again)
    lpt_channel_stats_add (&seen->channels, real);
  return TRUE;
}

/* @value is looked at; @axis of channels, -1 = none. */
static void
want (LptQuantizer *q, GPtrArray *values, LptValue *value, gint axis)
{
  LptSeen *seen = lpt_quantizer_seen (q, value);
  gboolean other_axis = seen != NULL && axis >= 0 && seen->channels.n > 0 && seen->channels.axis != axis;
  if (seen == NULL || other_axis)
    {
      seen = lpt_quantizer_add_seen (q, value);
      g_ptr_array_add (values, value);
    }
  if (axis >= 0 && axis < value->shape.rank)
    seen->channels.axis = axis;
}

/* Inputs and outputs become codes, too. */
static void
want_ends (LptQuantizer *q, GPtrArray *values)
{
  for (guint i = 0; i < q->graph->parameters->len; i++)
    {
      LptValue *value = lpt_node_out (g_ptr_array_index (q->graph->parameters, i));
      if (lpt_dtype_is_real (value->dtype))
        want (q, values, value, -1);
    }
  for (guint i = 0; i < q->graph->results->len; i++)
    {
      LptValue *value = lpt_node_in (g_ptr_array_index (q->graph->results, i), 0);
      if (lpt_dtype_is_real (value->dtype))
        want (q, values, value, -1);
    }
}

/* The second of two passes: bins that fit what the first one saw. */
static gboolean
look_again (LptQuantizer *q, GPtrArray *values, GError **error)
{
  Look second = { values, TRUE };
  for (guint i = 0; i < values->len; i++)
    {
      LptSeen *seen = lpt_quantizer_seen (q, g_ptr_array_index (values, i));
      LptHistogram *fresh = lpt_histogram_new_for (MAX (-seen->histogram->min, seen->histogram->max));
      lpt_histogram_free (seen->histogram);
      seen->histogram = fresh;
    }
  return lpt_quantize_watch (q, values, q->data, look, &second, error);
}

gboolean
lpt_quantize_observe_rest (LptQuantizer *q, GError **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Look first = { values, FALSE };
  for (guint i = 0; i < q->points->len; i++)
    {
      const LptPoint *point = g_ptr_array_index (q->points, i);
      want (q, values, point->value, -1);
    }
  for (guint i = 0; i < q->layers->len; i++)
    {
      const LptLayer *layer = g_ptr_array_index (q->layers, i);
      want (q, values, lpt_node_in (layer->node, layer->data_port), layer->in_axis);
    }
  if (q->options->io_type != LPT_DTYPE_F32)
    want_ends (q, values);
  return lpt_quantize_watch (q, values, q->data, look, &first, error)
         && (!q->options->two_pass || look_again (q, values, error));
}

gboolean
lpt_quantize_observe (LptQuantizer *q, GError **error)
{
  g_clear_pointer (&q->seen, g_hash_table_unref);
  q->seen = g_hash_table_new_full (NULL, NULL, NULL, free_seen);
  if (q->options->stats_in != NULL && q->report->digest != NULL)
    {
      g_autofree char *digest = lpt_stats_graph_digest (q->graph);
      if (!lpt_stats_load (q, q->options->stats_in, digest, error))
        return FALSE;
    }
  return lpt_quantize_observe_rest (q, error);
}
