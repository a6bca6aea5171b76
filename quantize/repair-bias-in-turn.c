/* repair-bias-in-turn.c - the mean error of each layer, behind the quantized ones before it, taken out of the bias
 *
 *     b[o] <- b[o] - (E[y_q] - E[y])
 *
 * y is the layer's result in the float graph, y_q in the graph whose layers before are quantized and corrected already; means
 * are over places and samples. Layers go in topological order; each costs a run of the samples through the graph up to it. At
 * most 64 samples are used. Rounds to f32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#define SAMPLES 64

typedef struct { gint axis; gint64 n; double *mean; guint samples; } Means;

static gboolean
add_means (LptQuantizer *q, guint i, LptTensor *tensor, guint sample, gpointer data, GError **error)
{
  Means *m = &((Means *) data)[i];
  const LptShape *shape = lpt_tensor_shape (tensor);
  g_autofree float *v = lpt_tensor_to_f32 (tensor, error);
  gint64 inner = 1, count = lpt_tensor_count (tensor);
  if (v == NULL)
    return FALSE;
  if (m->axis >= shape->rank || shape->dims[m->axis] != m->n || count == 0)
    return TRUE;
  for (gint k = m->axis + 1; k < shape->rank; k++)
    inner *= shape->dims[k];
  gint64 outer = count / (m->n * inner);
  for (gint64 c = 0; c < m->n; c++)
    {
      double sum = 0.0;
      for (gint64 o = 0; o < outer; o++)
        for (gint64 k = 0; k < inner; k++)
          sum += v[(o * m->n + c) * inner + k];
      m->mean[c] += (sum / (double) (outer * inner) - m->mean[c]) / (double) (m->samples + 1);
    }
  m->samples++;
  return TRUE;
}

/* The means of @layer's result in @graph. */
static gboolean
measure (LptQuantizer *q, LptGraph *graph, const char *const *names, guint from, guint to, Means *means, GError **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  LptQuantizer view = *q;
  view.graph = graph;
  for (guint i = from; i < to; i++)
    g_ptr_array_add (values, lpt_node_out (lpt_graph_find (graph, names[i])));
  return lpt_quantize_watch (&view, values, MIN (SAMPLES, q->data->n), add_means, means + from, error);
}

static void
start_means (LptQuantizer *q, Means *means)
{
  for (guint i = 0; i < q->layers->len; i++)
    {
      const LptLayer *layer = g_ptr_array_index (q->layers, i);
      g_free (means[i].mean);
      means[i] = (Means) { layer->out_axis, lpt_layer_channels (layer), g_new0 (double, lpt_layer_channels (layer)), 0 };
    }
}

/* A copy of the graph with FakeQuantize as far as it is known. */
static LptGraph *
copy_quantized (LptQuantizer *q, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (q->graph);
  return lpt_quantize_insert (q, copy, error) ? g_steal_pointer (&copy) : NULL;
}

static gboolean
correct (LptQuantizer *q, guint i, const char *const *names, Means *real, Means *rounded, GError **error)
{
  LptLayer *layer = g_ptr_array_index (q->layers, i);
  g_autoptr (LptGraph) graph = copy_quantized (q, error);
  g_autofree double *bias = graph != NULL ? lpt_layer_bias (layer, error) : NULL;
  if (bias == NULL || !measure (q, graph, names, i, i + 1, rounded, error))
    return FALSE;
  for (gint64 c = 0; real[i].samples > 0 && c < real[i].n; c++)
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
  g_autofree Means *real = g_new0 (Means, n + 1), *rounded = g_new0 (Means, n + 1);
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
      g_free (real[i].mean);
      g_free (rounded[i].mean);
    }
  return ok;
}
