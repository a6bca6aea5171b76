/* repair-bias-in-turn.c - the mean error of each layer, behind the quantized ones before it, taken out of the bias
 *
 *     b[o] <- b[o] - (E[y_q] - E[y])
 *
 * y is the layer's result in the float graph, y_q in the graph whose layers before are quantized and corrected already;
 * means are over places and samples. Layers go in topological order; each costs a run of the samples through the graph
 * up to it. At most 64 samples are used. Rounds to f32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"
#include "quantize/samples.h"

#define SAMPLES 64

static gboolean
add_means (LptQuantizer *q, guint i, LptTensor *tensor, guint sample, gpointer data, GError **error)
{
  g_autoptr (LptTensor) real = lpt_tensor_convert (tensor, LPT_DTYPE_F32, error);
  if (real == NULL)
    return FALSE;
  lpt_channel_stats_add (&((LptChannelStats *) data)[i], real);
  return TRUE;
}

/* The means of @layer's result in @graph. */
static gboolean
measure (LptQuantizer *q, LptGraph *graph, const char *const *names, guint from, guint to,
         LptChannelStats *means, GError **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  LptQuantizer view = *q;
  view.graph = graph;
  for (guint i = from; i < to; i++)
    g_ptr_array_add (values, lpt_node_out (lpt_graph_find (graph, names[i])));
  g_autoptr (LptData) samples = lpt_data_spread (q->fit, SAMPLES, FALSE);
  return lpt_quantize_watch (&view, values, samples, add_means, means + from, error);
}

static void
start_means (LptQuantizer *q, LptChannelStats *means)
{
  for (guint i = 0; i < q->layers->len; i++)
    means[i].axis = ((LptLayer *) g_ptr_array_index (q->layers, i))->out_axis;
}

/* A copy of the graph with FakeQuantize as far as it is known. */
static LptGraph *
copy_quantized (LptQuantizer *q, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (q->graph);
  return lpt_quantize_insert (q, copy, error) ? g_steal_pointer (&copy) : NULL;
}

static gboolean
correct (LptQuantizer *q, guint i, const char *const *names, LptChannelStats *real, LptChannelStats *rounded,
         GError **error)
{
  LptLayer *layer = g_ptr_array_index (q->layers, i);
  g_autoptr (LptGraph) graph = copy_quantized (q, error);
  g_autofree double *bias = graph != NULL ? lpt_layer_bias (layer, error) : NULL;
  if (bias == NULL || !measure (q, graph, names, i, i + 1, rounded, error))
    return FALSE;
  for (gint64 c = 0; real[i].n == lpt_layer_channels (layer) && rounded[i].n == real[i].n && c < real[i].n; c++)
    bias[c] -= rounded[i].mean[c] - real[i].mean[c];
  return lpt_layer_set_bias (layer, bias, error);
}

/* The layers with their weights as they were before rounding. */
static LptGraph *
copy_original (LptQuantizer *q, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (q->graph);
  for (guint i = 0; i < q->layers->len; i++)
    {
      LptLayer layer = *(LptLayer *) g_ptr_array_index (q->layers, i);
      const char *bias = layer.bias != NULL ? layer.bias->name : NULL;
      layer.node = lpt_graph_find (copy, layer.node->name);
      layer.bias = bias != NULL ? lpt_graph_find (copy, bias) : NULL;
      if (!lpt_layer_set_weights (&layer, layer.original, error))
        return NULL;
    }
  return g_steal_pointer (&copy);
}

gboolean
lpt_repair_bias_in_turn (LptQuantizer *q, GError **error)
{
  guint n = q->layers->len;
  g_autofree const char **names = g_new0 (const char *, n + 1);
  g_autofree LptChannelStats *real = g_new0 (LptChannelStats, n + 1), *rounded = g_new0 (LptChannelStats, n + 1);
  g_autoptr (LptGraph) original = copy_original (q, error);
  gboolean ok = original != NULL;
  for (guint i = 0; i < n; i++)
    names[i] = ((LptLayer *) g_ptr_array_index (q->layers, i))->node->name;
  start_means (q, real);
  start_means (q, rounded);
  ok = ok && measure (q, original, names, 0, n, real, error);
  for (guint i = 0; ok && i < n; i++)
    {
      lpt_quantizer_step (q, "correcting", i, n);
      ok = correct (q, i, names, real, rounded, error);
    }
  for (guint i = 0; i < n; i++)
    {
      lpt_channel_stats_clear (&real[i]);
      lpt_channel_stats_clear (&rounded[i]);
    }
  return ok;
}
