/* lattices.c - intervals of activations, scales of weights
 *
 * A point's lattice comes from what all values of its group saw; what leaves the model is never clipped. A signed
 * weight's scale is max |w| / 127 of its output channel (or of all), or, by least squares, of the factors 1.00, 0.99,
 * ..., 0.60 of it the one of the least sum (w - Q(w))^2, the first of equal ones; a channel of zeros, or one a thousand
 * times smaller than the largest, has the scale that a thousandth of the largest asks for. The scale grows until the
 * bias is below 2^30 of its steps, which are scale of the data times scale of the weights.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <math.h>

void
lpt_quantize_ranges (LptQuantizer *q)
{
  const LptQuantizeOptions *o = q->options;
  for (guint i = 0; i < q->points->len; i++)
    {
      LptPoint *point = g_ptr_array_index (q->points, i);
      g_autoptr (LptHistogram) all = lpt_histogram_new ();
      gboolean fixed = point->fixed;
      guint members = 0;
      for (guint k = 0; k < q->points->len; k++)
        {
          const LptPoint *other = g_ptr_array_index (q->points, k);
          LptSeen *seen = other->group == point->group ? lpt_quantizer_seen (q, other->value) : NULL;
          if (seen == NULL)
            continue;
          lpt_histogram_join (all, seen->histogram);
          fixed = fixed && other->fixed;
          members++;
        }
      if (!fixed && members > 0)
        point->lattice = lpt_range_find (all, point->ends ? LPT_RANGES_MIN_MAX : o->ranges, o->percentile,
                                         point->levels, point->symmetric);
    }
}

/* --- weights ----------------------------------------------------------------------------- */

typedef struct { double low, high; } Ends;

/* Of channels [c, c + n). */
static Ends
find_ends (const LptLayer *layer, const float *w, gint64 c, gint64 n)
{
  Ends ends = { 0.0, 0.0 };
  for (gint64 o = c; o < c + n; o++)
    for (gint64 i = 0; i < layer->inputs; i++)
      for (gint64 k = 0; k < layer->places; k++)
        {
          double x = w[lpt_layer_at (layer, o, i, k)];
          ends.low = MIN (ends.low, x);
          ends.high = MAX (ends.high, x);
        }
  return ends;
}

static double
square_error (const LptLayer *layer, const float *w, gint64 c, gint64 n, double best)
{
  double sum = 0.0;
  for (gint64 o = c; o < c + n && sum < best; o++)
    for (gint64 i = 0; i < layer->inputs; i++)
      for (gint64 k = 0; k < layer->places; k++)
        {
          double x = w[lpt_layer_at (layer, o, i, k)], d = x - lpt_layer_round (layer, o, x);
          sum += d * d;
        }
  return sum;
}

/* Scale and zero point @s of @ends times @factor. */
static void
set_scale (LptLayer *layer, guint s, const Ends *ends, double factor)
{
  double levels = layer->high - layer->low;
  if (layer->zero == NULL)
    layer->scale[s] = lpt_lattice_step (MAX (-ends->low, ends->high) * factor / layer->high);
  else
    {
      LptLattice lattice = lpt_lattice_make (ends->low * factor, ends->high * factor, (guint) levels + 1, FALSE);
      layer->scale[s] = lattice.step;
      layer->zero[s] = (gint32) rint (-lattice.low / lattice.step);
    }
}

static void
find_scales (LptLayer *layer, const float *w, gboolean mse)
{
  gint64 channels = lpt_layer_channels (layer), n = channels / layer->n_scale;
  Ends all = find_ends (layer, w, 0, channels);
  double least = MAX (MAX (-all.low, all.high) / 1000.0, 1e-20);
  layer->scale = g_new0 (double, layer->n_scale);
  if (layer->low == 0)
    layer->zero = g_new0 (gint32, layer->n_scale);
  for (guint s = 0; s < layer->n_scale; s++)
    {
      Ends ends = find_ends (layer, w, s * n, n);
      double best = HUGE_VAL, factor = 1.0;
      if (MAX (-ends.low, ends.high) < least)
        ends.high = least;
      for (gint percent = 100; mse && percent >= 60; percent--)
        {
          set_scale (layer, s, &ends, percent / 100.0);
          double e = square_error (layer, w, s * n, n, best);
          if (e < best)
            {
              best = e;
              factor = percent / 100.0;
            }
        }
      set_scale (layer, s, &ends, factor);
    }
}

/* The bias in int32. */
static gboolean
fit_bias (LptQuantizer *q, LptLayer *layer, GError **error)
{
  LptPoint *point = lpt_quantizer_point (q, layer->node, layer->data_port);
  g_autofree double *bias = lpt_layer_bias (layer, error);
  gint64 n = lpt_layer_channels (layer) / layer->n_scale;
  if (bias == NULL)
    return FALSE;
  for (gint64 c = 0; point != NULL && point->lattice.step > 0.0 && c < lpt_layer_channels (layer); c++)
    {
      guint s = (guint) (c / n);
      double least = fabs (bias[c]) / (point->lattice.step * ldexp (1.0, 30));
      if (layer->scale[s] < least)
        layer->scale[s] = lpt_lattice_step (least);
    }
  return TRUE;
}

static gboolean
scale_layer (LptLayer *layer, gboolean mse, GError **error)
{
  g_autofree float *w = lpt_layer_weights (layer, error);
  if (w == NULL)
    return FALSE;
  lpt_layer_clear (layer);
  find_scales (layer, w, mse);
  layer->original = g_steal_pointer (&w);
  return TRUE;
}

gboolean
lpt_quantize_scales (LptQuantizer *q, gboolean mse, GError **error)
{
  for (guint i = 0; i < q->layers->len; i++)
    if (!scale_layer (g_ptr_array_index (q->layers, i), mse, error)
        || !fit_bias (q, g_ptr_array_index (q->layers, i), error))
      return FALSE;
  for (guint i = 0; i < q->recurrent->len; i++)
    if (!scale_layer (g_ptr_array_index (q->recurrent, i), mse, error))
      return FALSE;
  return TRUE;
}
