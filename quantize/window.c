/* window.c - the kernel of a convolution over its data
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/window.h"

gboolean
lpt_layer_window (const LptLayer *layer, const LptShape *data, const LptShape *result, LptWindow *window)
{
  LptWeightedView view;
  if (!lpt_weighted_view (layer->node, &view) || !view.window || data->rank < 3 || data->rank > 5
      || result->rank != data->rank)
    return FALSE;
  for (gint i = 2; i < data->rank; i++)
    if (data->dims[i] <= 0 || result->dims[i] <= 0)
      return FALSE;
  const LptShape *weights = lpt_tensor_shape (lpt_node_const_in (layer->node, layer->weights_port));
  return lpt_window_init_weighted (window, &view, data, weights, result, NULL);
}

double
lpt_window_coverage (const LptWindow *w, const LptShape *result, gint64 k)
{
  double share = 1.0;
  for (gint axis = 2; axis >= 0; k /= w->kernel[axis--])
    {
      gint64 from, to;
      lpt_window_range (w, (guint) axis, k % w->kernel[axis], &from, &to);
      share *= (double) (to - from);
    }
  for (gint i = 2; i < result->rank; i++)
    share /= (double) result->dims[i];
  return share;
}
