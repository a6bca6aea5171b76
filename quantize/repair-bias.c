/* repair-bias.c - the mean error of rounded weights taken out of the bias
 *
 *     E[y_q - y] = sum over i, k of (Q(w) - w)[o, i, k] f_k E[x_i]        b[o] <- b[o] - E[y_q - y]
 *
 * E[x_i] is the mean of input channel i over places and samples of the float run. f_k is the share of the result's
 * places that place k of the kernel takes part in (window.h): less than 1 where it reaches into the padding, and about
 * one in strides of a transposed convolution. So the mean is right up to what differs between borders and middle;
 * rounds to f32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"
#include "quantize/window.h"

static gboolean
correct (LptQuantizer *q, LptLayer *layer, GError **error)
{
  const LptSeen *seen = lpt_quantizer_seen (q, lpt_node_in (layer->node, layer->data_port));
  if (seen == NULL || seen->channels.mean == NULL || seen->channels.n != layer->groups * layer->inputs
      || seen->channels.axis != layer->in_axis)
    return TRUE;
  LptWindow window;
  g_autofree double *share = g_new (double, layer->places);
  const LptShape *result = &layer->node->out[0].shape;
  gboolean known = lpt_layer_window (layer, &lpt_node_in (layer->node, layer->data_port)->shape, result, &window);
  for (gint64 k = 0; k < layer->places; k++)
    share[k] = known ? lpt_window_coverage (&window, result, k) : 1.0;
  g_autofree float *w = lpt_layer_weights (layer, error);
  g_autofree double *bias = w != NULL ? lpt_layer_bias (layer, error) : NULL;
  if (bias == NULL)
    return FALSE;
  for (gint64 c = 0; c < lpt_layer_channels (layer); c++)
    {
      double shift = 0.0;
      for (gint64 i = 0; i < layer->inputs; i++)
        for (gint64 k = 0; k < layer->places; k++)
          {
            gint64 at = lpt_layer_at (layer, c, i, k);
            shift += (lpt_layer_round (layer, c, w[at]) - layer->original[at]) * share[k]
                     * seen->channels.mean[c / layer->outputs * layer->inputs + i];
          }
      bias[c] -= shift;
    }
  return lpt_layer_set_bias (layer, bias, error);
}

gboolean
lpt_repair_bias (LptQuantizer *q, GError **error)
{
  for (guint i = 0; i < q->layers->len; i++)
    if (!correct (q, g_ptr_array_index (q->layers, i), error))
      return FALSE;
  return TRUE;
}
