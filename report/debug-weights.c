/* debug-weights.c - the weights of a layer against those of the float model, channel by channel
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "ir/lpt-quantize-details.h"
#include "passes/support/lpt-product.h"

#include <math.h>

static double *
steps_of_quantizer (LptNode *fq, guint *n)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  if (!lpt_quantize_details_read (fq, &details) || details.levels < 2)
    return NULL;
  double *steps = g_new (double, details.n_out);
  *n = details.n_out;
  for (guint i = 0; i < *n; i++)
    steps[i] = ((double) details.out_high[i] - details.out_low[i]) / (double) (details.levels - 1);
  return steps;
}

double *
lpt_debug_weight_steps (const LptDebugged *layer, guint *n)
{
  LptNode *node = layer->weights_port >= 0 ? lpt_node_src (layer->root->producer, (guint) layer->weights_port) : NULL;
  for (guint steps = 0; node != NULL && steps < 8; steps++)
    {
      LptTensor *scale = node->op == LPT_OP_MULTIPLY ? lpt_node_const_in (node, 1) : NULL;
      if (node->op == LPT_OP_FAKE_QUANTIZE)
        return steps_of_quantizer (node, n);
      if (scale != NULL && (node->flags & LPT_NODE_DEQUANTIZATION))
        {
          *n = (guint) lpt_tensor_count (scale);
          return lpt_tensor_to_f64 (scale, NULL);
        }
      node = node->n_in > 0 ? lpt_node_src (node, 0) : NULL;
    }
  return NULL;
}

static double
to_db (double signal, double noise)
{
  return noise > 0.0 ? 10.0 * log10 (signal / noise) : HUGE_VAL;
}

/* @real: the layer of the float model; @ours: as many weights as they are used. */
static void
compare_weights (LptDebugLayer *row, const LptLayer *real, const float *theirs, const float *ours)
{
  double signal = 0.0, noise = 0.0;
  row->channels = g_array_new (FALSE, FALSE, sizeof (double));
  for (gint64 c = 0; c < lpt_layer_channels (real); c++)
    {
      double s = 0.0, e = 0.0;
      for (gint64 i = 0; i < real->inputs; i++)
        for (gint64 k = 0; k < real->places; k++)
          {
            gint64 at = lpt_layer_at (real, c, i, k);
            s += (double) theirs[at] * theirs[at];
            e += ((double) theirs[at] - ours[at]) * ((double) theirs[at] - ours[at]);
          }
      double db = to_db (s, e);
      g_array_append_val (row->channels, db);
      signal += s;
      noise += e;
    }
  row->weights = to_db (signal, noise);
}

static gboolean
take_weights (LptDebugger *d, LptDebugged *layer, LptTensor *weights, GError **error)
{
  LptLayer real;
  if (layer->real_root == NULL || layer->real_root->producer->op != layer->root->producer->op ||
      !lpt_layer_view (layer->real_root->producer, &real))
    return TRUE;
  if (real.weights_port == (guint) layer->weights_port
      && lpt_tensor_count (lpt_node_const_in (real.node, real.weights_port)) == lpt_tensor_count (weights))
    {
      g_autofree float *theirs = lpt_layer_weights (&real, error),
                       *ours = theirs != NULL ? lpt_tensor_to_f32 (weights, error) : NULL;
      if (ours == NULL)
        return FALSE;
      compare_weights (layer->row, &real, theirs, ours);
      /* Integers of the file against themselves say nothing. */
      if (!d->given && isinf (layer->row->weights))
        {
          layer->row->weights = NAN;
          g_clear_pointer (&layer->row->channels, g_array_unref);
        }
    }
  lpt_layer_clear (&real);
  return TRUE;
}

gboolean
lpt_debug_weights (LptDebugger *d, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) at = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < d->layers->len; i++)
    {
      const LptDebugged *layer = d->layers->pdata[i];
      LptValue *weights = layer->weights_port >= 0 ? lpt_node_in (layer->root->producer, (guint) layer->weights_port)
                                                   : NULL;
      if (weights == NULL || g_hash_table_contains (at, weights))
        continue;
      g_hash_table_insert (at, weights, GUINT_TO_POINTER (names->len));
      g_ptr_array_add (names, lpt_value_name (weights));
    }
  if (names->len == 0)
    return TRUE;
  g_ptr_array_add (names, NULL);
  g_autoptr (LptGraph) part = lpt_graph_copy (d->model);
  if (!lpt_graph_cut (part, (const char *const *) names->pdata, error))
    return FALSE;
  g_auto (LptRunner) runner = { .graph = part, .threads = d->options->threads };
  g_autoptr (GPtrArray) outputs = lpt_debug_run_sample (d, &runner, d->data, 0, error);
  for (guint i = 0; outputs != NULL && i < d->layers->len; i++)
    {
      LptDebugged *layer = d->layers->pdata[i];
      LptValue *weights = layer->weights_port >= 0 ? lpt_node_in (layer->root->producer, (guint) layer->weights_port)
                                                   : NULL;
      if (weights != NULL &&
          !take_weights (d, layer, outputs->pdata[GPOINTER_TO_UINT (g_hash_table_lookup (at, weights))], error))
        return FALSE;
    }
  return outputs != NULL;
}
