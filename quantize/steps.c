/* steps.c - from a prepared graph to one with FakeQuantize
 *
 *   probe      which values and weights, in agreement with the target
 *   FLOAT repairs
 *   observe    the samples through the float graph
 *   ranges, scales
 *   ROUNDING repairs, BIAS repairs
 *   insert
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/samples.h"
#include "quantize/stats-file.h"
#include "quantize/steps.h"
#include "quantize/trial.h"

#include <math.h>

#define HELD 32      /* samples that repairs are judged by */

static gboolean
run_float_repairs (LptQuantizer *q, GError **error)
{
  for (guint i = 0; i < lpt_repair_count (); i++)
    if (lpt_repair_row (i)->stage == LPT_REPAIR_FLOAT && (q->options->repairs >> i & 1) != 0
        && !lpt_repair_row (i)->run (q, error))
      {
        g_prefix_error (error, "%s: ", lpt_repair_name (i));
        return FALSE;
      }
  return TRUE;
}

/* SQNR of the weights of @layers, for people; where a node has several, the least. */
static gboolean
measure_weights (LptQuantizer *q, GPtrArray *layers, GError **error)
{
  for (guint i = 0; i < layers->len; i++)
    {
      const LptLayer *layer = g_ptr_array_index (layers, i);
      const float *was = layer->original;
      g_autofree float *w = lpt_layer_weights (layer, error);
      double signal = 0.0, noise = 0.0;
      if (w == NULL)
        return FALSE;
      for (gint64 c = 0; c < lpt_layer_channels (layer); c++)
        for (gint64 k = 0; k < layer->inputs * layer->places; k++)
          {
            gint64 at = lpt_layer_at (layer, c, k / layer->places, k % layer->places);
            double d = was[at] - lpt_layer_round (layer, c, w[at]);
            signal += (double) was[at] * was[at];
            noise += d * d;
          }
      double db = noise > 0.0 ? 10.0 * log10 (signal / noise) : HUGE_VAL;
      for (guint k = 0; k < q->report->layers->len; k++)
        {
          LptQuantizedLayer *row = g_ptr_array_index (q->report->layers, k);
          if (g_str_equal (row->name, layer->node->name))
            row->sqnr = row->sqnr != 0.0 ? MIN (row->sqnr, db) : db;
        }
    }
  return TRUE;
}

/* What values are; kept in a file for the next time. */
static gboolean
observe (LptQuantizer *q, GError **error)
{
  const char *out = q->options->stats_out;
  g_autofree char *digest = out != NULL ? lpt_stats_graph_digest (q->graph) : NULL;
  return lpt_quantize_observe (q, error) && lpt_quantize_split_concats (q, error)
         && (out == NULL || lpt_stats_save (q, out, digest, error));
}

static gboolean
run_steps (LptQuantizer *q, GError **error)
{
  if (!lpt_quantize_probe (q, error))
    return FALSE;
  if (q->points->len == 0 && q->recurrent->len == 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the target leaves nothing to quantize");
      return FALSE;
    }
  if (!run_float_repairs (q, error) || !observe (q, error))
    return FALSE;
  lpt_quantizer_step (q, "choosing intervals", 0, 0);
  lpt_quantize_ranges (q);
  if (!lpt_quantize_scales (q, q->options->weights_mse, error))
    return FALSE;
  return lpt_trial_repairs (q, error) && measure_weights (q, q->layers, error)
         && measure_weights (q, q->recurrent, error) && lpt_quantize_insert (q, q->graph, error)
         && (q->options->io_type == LPT_DTYPE_F32 || lpt_quantize_set_io (q, q->options->io_type, error));
}

gboolean
lpt_quantize_run (LptGraph *graph, LptData *data, const LptQuantizeOptions *options, GPtrArray *kept, double bound,
                  LptQuantizeReport *report, GError **error)
{
  g_auto (LptQuantizer) q = { .graph = graph, .data = data, .options = options, .report = report, .bound = bound };
  guint held = data->n >= 8 ? MIN (HELD, data->n / 4) : 0;
  lpt_quantizer_init (&q);
  q.fit = lpt_data_spread (data, held, TRUE);
  q.held = lpt_data_spread (data, held > 0 ? held : HELD, FALSE);
  for (guint i = 0; kept != NULL && i < kept->len; i++)
    g_hash_table_replace (q.kept, g_strdup (g_ptr_array_index (kept, i)), g_strdup (""));
  if (!run_steps (&q, error))
    return FALSE;
  report->n_values = q.points->len;
  report->n_samples = data->n;
  return TRUE;
}
