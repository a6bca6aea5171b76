/* prepare.c - a float graph in the form that the rest works on
 *
 * Half floats become f32 (inputs and outputs, too), what depends on constants alone is folded, 8-bit weights beside
 * real data among it, data that a run would round to intervals of its own (DynamicFakeQuantize) is left as it is, and
 *
 *     BatchNormInference (op (x, W) + b)  =>  op (x, g W) + beta + g (b - mean),     g = gamma / sqrt (variance + eps)
 *     Multiply (op (x, W) + b, c)         =>  op (x, c W) + c b
 *     Add (op (x, W) + b, c)              =>  op (x, W) + (b + c)
 *
 * for convolutions and matrix products, c one value per output channel or one for all. Products are in f64, rounded
 * once to f32. Left alone: results that have other readers, constants that vary along other axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-pass.h>

#include <math.h>

static gboolean
is_half (LptDType dtype)
{
  return dtype == LPT_DTYPE_F16 || dtype == LPT_DTYPE_BF16 || dtype == LPT_DTYPE_F64;
}

static gboolean
widen_node (LptNode *node, GError **error)
{
  if (node->data != NULL && is_half (lpt_tensor_dtype (node->data)))
    {
      LptTensor *wide = lpt_tensor_convert (node->data, LPT_DTYPE_F32, error);
      if (wide == NULL)
        return FALSE;
      lpt_tensor_unref (node->data);
      node->data = wide;
    }
  if (node->op == LPT_OP_PARAMETER && is_half (LPT_ATTRS (node, LptParameterAttrs)->element_type))
    LPT_ATTRS (node, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
  if (node->op == LPT_OP_CONVERT && is_half (LPT_ATTRS (node, LptConvertAttrs)->destination_type))
    LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
  node->flags &= ~(guint32) LPT_NODE_DECOMPRESSION;
  for (guint i = 0; i < node->n_out; i++)
    if (is_half (node->out[i].dtype))
      node->out[i].dtype = LPT_DTYPE_F32;
  return TRUE;
}

/* --- scaling and shifting results ------------------------------------------------- */

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
  g_autofree double *b = lpt_layer_bias (layer, error);
  if (b == NULL || (factor != NULL && w == NULL))
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

/* gamma, beta, mean, variance as factor and offset. */
static gboolean
read_norm (LptNode *norm, const LptLayer *layer, double **factor, double **offset)
{
  guint x = lpt_op_version (norm->info, norm->opset) == 1 ? 2 : 0, at[4], n = 0;
  for (guint i = 0; i < 5 && n < 4; i++)
    if (i != x)
      at[n++] = i;
  gint64 channels = lpt_layer_channels (layer);
  LptValue like = { .shape = { layer->out_axis + 1, { 0 } } };
  g_autofree double *gamma = per_channel (lpt_node_const_in (norm, at[0]), layer, &like);
  g_autofree double *beta = per_channel (lpt_node_const_in (norm, at[1]), layer, &like);
  g_autofree double *mean = per_channel (lpt_node_const_in (norm, at[2]), layer, &like);
  g_autofree double *variance = per_channel (lpt_node_const_in (norm, at[3]), layer, &like);
  if (gamma == NULL || beta == NULL || mean == NULL || variance == NULL)
    return FALSE;
  *factor = g_new (double, channels);
  *offset = g_new (double, channels);
  for (gint64 i = 0; i < channels; i++)
    {
      (*factor)[i] = gamma[i] / sqrt (variance[i] + LPT_ATTRS (norm, LptBatchNormAttrs)->epsilon);
      (*offset)[i] = beta[i] - (*factor)[i] * mean[i];
    }
  return TRUE;
}

/* Takes the op behind @layer into it. *done: there was none to take. */
static gboolean
absorb (LptLayer *layer, gboolean *done, GError **error)
{
  LptValue *out = lpt_layer_out (layer);
  LptNode *user = out->uses->len == 1 ? lpt_value_use (out, 0)->node : NULL;
  g_autofree double *factor = NULL, *offset = NULL;
  *done = TRUE;
  if (user == NULL || user->n_out != 1 || !lpt_shape_equal (&user->out[0].shape, &out->shape))
    return TRUE;
  LptTensor *other = user->n_in == 2 ? lpt_node_const_in (user, lpt_node_in (user, 0) == out ? 1 : 0) : NULL;
  if (user->op == LPT_OP_BATCH_NORM_INFERENCE && !read_norm (user, layer, &factor, &offset))
    return TRUE;
  if (user->op == LPT_OP_MULTIPLY)
    factor = per_channel (other, layer, out);
  if (user->op == LPT_OP_ADD && layer->bias != NULL)
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
  *done = FALSE;
  return TRUE;
}

/* Intervals that are known beforehand take the place of those that a run finds. */
static void
leave_out_dynamic (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      if (node->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE && !(node->flags & LPT_NODE_DEAD))
        lpt_value_replace (lpt_node_out (node), lpt_node_in (node, 0), NULL);
    }
  graph->lowered = FALSE;
  g_clear_pointer (&graph->requant, g_free);
}

static gboolean
fold_constants (LptGraph *graph, GError **error)
{
  static const char *const names[] = { "fold-decompression", "constant-folding" };
  g_autoptr (LptConfig) config = lpt_config_new ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const LptPass *passes[] = { lpt_pass_find (names[i]), NULL };
      if (!lpt_pipeline_run_passes (graph, config, passes, NULL, NULL, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
lpt_quantize_prepare (LptGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    if (!widen_node (g_ptr_array_index (graph->nodes, i), error))
      return FALSE;
  leave_out_dynamic (graph);
  if (!lpt_graph_infer (graph, error) || !fold_constants (graph, error))
    return FALSE;
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptLayer layer;
      gboolean done = TRUE;
      do
        {
          if (!lpt_layer_view (g_ptr_array_index (order, i), &layer))
            break;
          if (!absorb (&layer, &done, error))
            return FALSE;
        }
      while (!done);
    }
  if (order == NULL)
    return FALSE;
  lpt_graph_sweep (graph);
  return lpt_graph_infer (graph, error);
}
