/* lpt-product.c - an op with constant weights, seen as a matrix per group
 *
 * Convolution W[O,I,k], transposed ones W[I,O,k], grouped ones with G in front, MatMul with a constant of rank 2
 * (longer ones with 1 in front count) on either input that is not transposed to a row vector. Refused: weights that are
 * not constant, batches of matrices, shapes that are not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-product.h"

#include "ir/lpt-weighted.h"

#include <lpt/lpt-attrs.h>
#include <math.h>
#include <string.h>

/* --- views --------------------------------------------------------------------- */

static gint64
product (const LptShape *shape, gint from)
{
  gint64 n = 1;
  for (gint i = from; i < shape->rank; i++)
    n *= shape->dims[i];
  return n;
}

static void
view_convolution (LptLayer *layer, const LptShape *w)
{
  LptWeightedView view;
  lpt_weighted_view (layer->node, &view);
  layer->groups = lpt_weighted_groups (&view, w);
  layer->outputs = w->dims[view.out];
  layer->inputs = w->dims[view.in];
  layer->places = product (w, view.kernel);
  layer->stride_g = product (w, 1);
  layer->stride_o = product (w, view.out + 1);
  layer->stride_i = product (w, view.in + 1);
  layer->out_axis = layer->in_axis = 1;
  layer->scale_shape.rank = w->rank;
  for (gint k = 0; k < w->rank; k++)
    layer->scale_shape.dims[k] = k == view.out || (view.grouped && k == 0) ? w->dims[k] : 1;
}

/* @port: of the weights. */
static gboolean
view_product (LptLayer *layer, const LptShape *w, guint port)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (layer->node, LptMatMulAttrs);
  LptValue *data = lpt_node_in (layer->node, 1 - port), *out = lpt_node_out (layer->node);
  if (w->rank < 2 || product (w, 0) != w->dims[w->rank - 1] * w->dims[w->rank - 2] || data->shape.rank < 2
      || out->shape.rank < 2)
    return FALSE;
  /* Outputs are the columns of input 1, the rows of input 0. */
  gboolean last = port == 1 ? !attrs->transpose_b : attrs->transpose_a;
  gint o = last ? w->rank - 1 : w->rank - 2, i = last ? w->rank - 2 : w->rank - 1;
  gboolean data_last = port == 1 ? !attrs->transpose_a : attrs->transpose_b;
  layer->groups = layer->places = 1;
  layer->outputs = w->dims[o];
  layer->inputs = w->dims[i];
  layer->stride_g = 0;
  layer->stride_o = last ? 1 : layer->inputs;
  layer->stride_i = last ? layer->outputs : 1;
  layer->out_axis = out->shape.rank - (port == 1 ? 1 : 2);
  layer->in_axis = data->shape.rank - (data_last ? 1 : 2);
  layer->scale_shape.rank = w->rank;
  for (gint k = 0; k < w->rank; k++)
    layer->scale_shape.dims[k] = k == o ? w->dims[k] : 1;
  return TRUE;
}

gboolean
lpt_product_is_bias (LptNode *add, LptValue *value, gint axis, gint64 channels)
{
  if (add->op != LPT_OP_ADD)
    return FALSE;
  guint port = lpt_node_in (add, 0) == value ? 1 : 0;
  LptTensor *c = lpt_node_const_in (add, port);
  if (c == NULL || !lpt_dtype_is_real (lpt_tensor_dtype (c)) || value->shape.rank < 1
      || !lpt_shape_equal (&lpt_node_out (add)->shape, &value->shape))
    return FALSE;
  const LptShape *shape = lpt_tensor_shape (c);
  gint64 count = lpt_tensor_count (c);
  gint at = axis - (value->shape.rank - shape->rank);
  return count == 1 || (count == channels && at >= 0 && shape->dims[at] == channels);
}

gboolean
lpt_layer_is_product (const LptNode *node)
{
  const guint32 both = LPT_OP_F_GROUPED | LPT_OP_F_TRANSPOSED;
  return (node->info->flags & LPT_OP_F_WEIGHTED) != 0 && (node->info->flags & both) != both;
}

gboolean
lpt_layer_view (LptNode *node, LptLayer *layer)
{
  LptTensor *w;
  *layer = (LptLayer) { .node = node, .data_port = 0, .weights_port = 1 };
  if (!lpt_layer_is_product (node))
    return FALSE;
  if (node->op == LPT_OP_MATMUL && lpt_node_const_in (node, 1) == NULL)
    {
      layer->data_port = 1;
      layer->weights_port = 0;
    }
  w = lpt_node_const_in (node, layer->weights_port);
  if (w == NULL || lpt_tensor_count (w) == 0)
    return FALSE;
  if (node->op == LPT_OP_MATMUL)
    {
      if (!view_product (layer, lpt_tensor_shape (w), layer->weights_port))
        return FALSE;
    }
  else if (lpt_node_out (node)->shape.rank >= 3)
    view_convolution (layer, lpt_tensor_shape (w));
  else
    return FALSE;
  LptValue *out = lpt_node_out (node);
  if (out->uses->len == 1
      && lpt_product_is_bias (lpt_value_use (out, 0)->node, out, layer->out_axis, lpt_layer_channels (layer)))
    layer->bias = lpt_value_use (out, 0)->node;
  return lpt_dtype_is_real (lpt_tensor_dtype (w));
}

void
lpt_layer_clear (LptLayer *layer)
{
  g_clear_pointer (&layer->scale, g_free);
  g_clear_pointer (&layer->zero, g_free);
  g_clear_pointer (&layer->original, g_free);
}

LptValue *
lpt_layer_out (const LptLayer *layer)
{
  return lpt_node_out (layer->bias != NULL ? layer->bias : layer->node);
}

/* --- constants ------------------------------------------------------------------ */

LptNode *
lpt_product_add_const (LptGraph *graph, const char *name, const LptShape *shape, const float *values, GError **error)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f32 (shape, values, error);
  return tensor != NULL ? lpt_graph_add_const (graph, name, tensor) : NULL;
}

float *
lpt_layer_weights (const LptLayer *layer, GError **error)
{
  return lpt_tensor_to_f32 (lpt_node_const_in (layer->node, layer->weights_port), error);
}

gboolean
lpt_layer_set_weights (LptLayer *layer, const float *weights, GError **error)
{
  LptNode *old = lpt_node_src (layer->node, layer->weights_port);
  LptNode *constant =
    lpt_product_add_const (layer->node->graph, old->name, lpt_tensor_shape (old->data), weights, error);
  if (constant == NULL)
    return FALSE;
  lpt_node_set_input (layer->node, layer->weights_port, lpt_node_out (constant));
  if (old->out[0].uses->len == 0)
    lpt_node_take_name (constant, old, "/before");
  return TRUE;
}

static guint
bias_port (const LptLayer *layer)
{
  return lpt_node_in (layer->bias, 0) == lpt_node_out (layer->node) ? 1 : 0;
}

double *
lpt_layer_bias (const LptLayer *layer, GError **error)
{
  gint64 n = lpt_layer_channels (layer);
  g_autofree double *given =
    layer->bias != NULL ? lpt_tensor_to_f64 (lpt_node_const_in (layer->bias, bias_port (layer)), error) : NULL;
  if (layer->bias != NULL && given == NULL)
    return NULL;
  gint64 count = given != NULL ? lpt_tensor_count (lpt_node_const_in (layer->bias, bias_port (layer))) : 0;
  double *bias = g_new0 (double, n);
  for (gint64 i = 0; given != NULL && i < n; i++)
    bias[i] = given[count == 1 ? 0 : i];
  return bias;
}

gboolean
lpt_layer_set_bias (LptLayer *layer, const double *bias, GError **error)
{
  LptGraph *graph = layer->node->graph;
  LptValue *out = lpt_node_out (layer->node);
  gint64 n = lpt_layer_channels (layer);
  g_autofree float *values = g_new (float, n);
  LptShape full = { out->shape.rank, { 0 } };
  for (gint i = 0; i < full.rank; i++)
    full.dims[i] = i == layer->out_axis ? n : 1;
  for (gint64 i = 0; i < n; i++)
    values[i] = (float) bias[i];
  g_autofree char *name = g_strconcat (layer->node->name, "/bias", NULL),
                  *add_name = g_strconcat (layer->node->name, "/add", NULL);
  LptNode *constant = lpt_product_add_const (graph, name, &full, values, error);
  if (constant == NULL)
    return FALSE;
  if (layer->bias != NULL)
    {
      lpt_node_set_input (layer->bias, bias_port (layer), lpt_node_out (constant));
      return TRUE;
    }
  LptNode *add =
    lpt_graph_add (graph, LPT_OP_ADD, 0, add_name, 2, (LptValue *const[]) { out, lpt_node_out (constant) });
  if (!lpt_node_infer (add, error))
    return FALSE;
  lpt_value_replace (out, lpt_node_out (add), add);
  layer->bias = add;
  return TRUE;
}

double
lpt_layer_round (const LptLayer *layer, gint64 channel, double w)
{
  guint c = layer->n_scale > 1 ? (guint) channel : 0;
  double zero = layer->zero != NULL ? layer->zero[c] : 0.0;
  return (CLAMP (rint (w / layer->scale[c]) + zero, layer->low, layer->high) - zero) * layer->scale[c];
}
