/* window.c - the kernel of a convolution over its data
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/window.h"

#include "ir/lpt-weighted.h"

static void
read_axis (const LptWeightedView *view, gint i, LptWindow *w)
{
  w->stride[i] = lpt_ints_get (view->strides, (guint) i, 1);
  w->dilation[i] = lpt_ints_get (view->dilations, (guint) i, 1);
  gint64 steps = w->transposed ? w->in[i] : w->out[i], length = w->transposed ? w->out[i] : w->in[i];
  gint64 whole = MAX (0, (steps - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - length);
  switch (view->auto_pad)
    {
    case LPT_AUTO_PAD_SAME_UPPER:
      w->pad[i] = whole / 2;
      break;
    case LPT_AUTO_PAD_SAME_LOWER:
      w->pad[i] = whole - whole / 2;
      break;
    case LPT_AUTO_PAD_VALID:
      w->pad[i] = 0;
      break;
    default:
      w->pad[i] = lpt_ints_get (view->pads_begin, (guint) i, 0);
    }
}

gboolean
lpt_window_read (const LptLayer *layer, const LptShape *data, const LptShape *result, LptWindow *window)
{
  LptWindow w = { .n = data->rank - 2 };
  LptWeightedView view;
  if (!lpt_weighted_view (layer->node, &view) || !view.window || w.n < 1 || w.n > 3 || result->rank != data->rank)
    return FALSE;
  const LptShape *weights = lpt_tensor_shape (lpt_node_const_in (layer->node, layer->weights_port));
  w.transposed = view.transposed;
  for (gint i = 0; i < w.n; i++)
    {
      w.in[i] = data->dims[i + 2];
      w.out[i] = result->dims[i + 2];
      w.kernel[i] = weights->dims[weights->rank - w.n + i];
      if (w.in[i] <= 0 || w.out[i] <= 0)
        return FALSE;
      read_axis (&view, i, &w);
    }
  *window = w;
  return TRUE;
}

double
lpt_window_coverage (const LptWindow *w, gint64 k)
{
  double share = 1.0;
  for (gint i = w->n - 1; i >= 0; i--)
    {
      gint64 at = k % w->kernel[i] * w->dilation[i] - w->pad[i], met = 0;
      gint64 steps = w->transposed ? w->in[i] : w->out[i], length = w->transposed ? w->out[i] : w->in[i];
      k /= w->kernel[i];
      for (gint64 y = 0; y < steps; y++)
        met += y * w->stride[i] + at >= 0 && y * w->stride[i] + at < length;
      share *= (double) met / (double) w->out[i];
    }
  return share;
}
