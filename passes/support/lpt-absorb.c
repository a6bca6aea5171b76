/* lpt-absorb.c - what scales and shifts the results of a product goes into its weights and bias
 *
 *     BatchNormInference (op (x, W) + b)  =>  op (x, g W) + beta + g (b - mean),     g = gamma / sqrt (variance + eps)
 *     Multiply (op (x, W) + b, c)         =>  op (x, c W) + c b
 *     Add (op (x, W) + b, c)              =>  op (x, W) + (b + c)
 *
 * for convolutions and matrix products of real numbers, c one value per output channel or one for all. Products are in
 * f64, rounded once to f32. Left alone: results that have other readers, constants that vary along other axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-absorb.h"

#include "ir/lpt-batch-norm.h"
#include "passes/support/lpt-product.h"

/* @value as one per output channel of @layer (g_free), or NULL. @like: the value that it is broadcast on. */
static double *
per_channel (LptTensor *tensor, const LptLayer *layer, const LptValue *like)
{
  gint64 n = lpt_layer_channels (layer), count = tensor != NULL ? lpt_tensor_count (tensor) : 0;
  if (tensor == NULL || !lpt_dtype_is_real (lpt_tensor_dtype (tensor)) || (count != 1 && count != n))
    return NULL;
  const LptShape *shape = lpt_tensor_shape (tensor);
  gint at = layer->out_axis - (like->shape.rank - shape->rank);
  if (shape->rank > like->shape.rank || (count != 1 && (at < 0 || shape->dims[at] != n)))
    return NULL;
  g_autofree double *v = lpt_tensor_to_f64 (tensor, NULL);
  double *result = v != NULL ? g_new (double, n) : NULL;
  for (gint64 i = 0; result != NULL && i < n; i++)
    result[i] = v[count == 1 ? 0 : i];
  return result;
}

/* y <- factor y + offset behind the layer's bias; @factor may be NULL. */
static gboolean
apply (LptLayer *layer, const double *factor, const double *offset, GError **error)
{
  g_autofree float *w = factor != NULL ? lpt_layer_weights (layer, error) : NULL;
  g_autofree double *b = factor == NULL || w != NULL ? lpt_layer_bias (layer, error) : NULL;
  if (b == NULL)
    return FALSE;
  for (gint64 c = 0; c < lpt_layer_channels (layer); c++)
    {
      for (gint64 i = 0; factor != NULL && i < layer->inputs; i++)
        for (gint64 k = 0; k < layer->places; k++)
          {
            gint64 at = lpt_layer_at (layer, c, i, k);
            w[at] = (float) (w[at] * factor[c]);
          }
      b[c] = (factor != NULL ? b[c] * factor[c] : b[c]) + (offset != NULL ? offset[c] : 0.0);
    }
  return (factor == NULL || lpt_layer_set_weights (layer, w, error)) && lpt_layer_set_bias (layer, b, error);
}

/* Takes the op behind @layer into it. *done: there was none to take. */
static gboolean
absorb (LptLayer *layer, LptAbsorb what, gboolean *done, GError **error)
{
  LptValue *out = lpt_layer_out (layer);
  LptNode *user = out->uses->len == 1 ? lpt_value_use (out, 0)->node : NULL;
  g_autofree double *factor = NULL, *offset = NULL;
  *done = TRUE;
  if (user == NULL || user->n_out != 1 || !lpt_shape_equal (&user->out[0].shape, &out->shape))
    return TRUE;
  LptTensor *other = user->n_in == 2 ? lpt_node_const_in (user, lpt_node_in (user, 0) == out ? 1 : 0) : NULL;
  if (user->op == LPT_OP_BATCH_NORM_INFERENCE &&
      lpt_batch_norm_numbers (user, &factor, &offset) != lpt_layer_channels (layer))
    return TRUE;
  if (user->op == LPT_OP_MULTIPLY && what == LPT_ABSORB_ALL)
    factor = per_channel (other, layer, out);
  if (user->op == LPT_OP_ADD && layer->bias != NULL && what == LPT_ABSORB_ALL)
    offset = per_channel (other, layer, out);
  if (factor == NULL && offset == NULL)
    return TRUE;
  LptValue *gone = &user->out[0];
  if (!apply (layer, factor, offset, error))
    return FALSE;
  LptNode *last = lpt_layer_out (layer)->producer;
  lpt_value_replace (gone, lpt_node_out (last), NULL);
  if (last != layer->node)
    lpt_node_take_name (last, user, "/folded");
  /* It reads the product no more: what stands behind it is the next to take. */
  for (guint i = 0; i < user->n_in; i++)
    lpt_node_set_input (user, i, NULL);
  *done = FALSE;
  return TRUE;
}

gboolean
lpt_absorb (LptGraph *graph, LptAbsorb what, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      LptLayer layer;
      gboolean done = (node->flags & LPT_NODE_DEAD) != 0;
      while (!done)
        {
          /* Weights that are codes are none that it views; codes that it writes keep their scale. */
          if (!lpt_layer_view (node, &layer) || lpt_node_out (node)->quant != NULL)
            break;
          if (!absorb (&layer, what, &done, error))
            return FALSE;
        }
    }
  if (order == NULL)
    return FALSE;
  lpt_graph_sweep (graph);
  return TRUE;
}
