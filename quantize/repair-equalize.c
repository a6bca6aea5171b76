/* repair-equalize.c - cross-layer equalization: channels of two layers brought to one size
 *
 * For a > 0 and f one of Relu, MaxPool, AvgPool, Pad with 0, nothing: f (a x) = a f (x). So with one factor per channel
 * c between two convolutions
 *
 *     W1[c] <- W1[c] / s_c      b1[c] <- b1[c] / s_c      W2[:, c] <- s_c W2[:, c]
 *
 * changes nothing but roundings of f32. With r1 = max |W1[c]| and r2 = max |W2[:, c]|, s_c = sqrt (r1 / r2) makes both
 * sqrt (r1 r2). Pairs are visited in turn, 20 times. All factors of a channel together stay in [1 / c, c]; r below a
 * thousandth of the layer's largest counts as that; channels of zeros are left alone.
 *
 *     Clamp (0, cap)  =>  Minimum (Relu, cap / s_c)      exact: caps become one per channel
 *
 * For weights with one scale; with one per channel it only spreads the ranges of activations, so layers are left alone
 * then. Left alone, too: values with other readers, other activations, matrix products, convolutions whose channels do
 * not match.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

#define ROUNDS 20

typedef struct
{
  LptLayer *first, *second;
  LptNode  *clamp;          /* between them, or NULL */
  double   *total;          /* factors so far */
} Pair;

static gboolean
is_convolution (const LptLayer *layer)
{
  return layer->node->op != LPT_OP_MATMUL && !(layer->node->info->flags & LPT_OP_F_TRANSPOSED);
}

/* Does f (a x) = a f (x) hold for @node, but for the cap of a Clamp? */
static gboolean
is_homogeneous (LptNode *node)
{
  LptTensor *fill;
  if (node->op == LPT_OP_CLAMP)
    return LPT_ATTRS (node, LptClampAttrs)->min == 0.0;
  if (node->op != LPT_OP_PAD)
    return (node->info->flags & LPT_OP_F_HOMOGENEOUS) != 0;
  fill = lpt_node_const_in (node, 3);
  return LPT_ATTRS (node, LptPadAttrs)->pad_mode == LPT_PAD_CONSTANT
         && (lpt_node_in (node, 3) == NULL || (fill != NULL && lpt_tensor_get_f64 (fill, 0) == 0.0));
}

static gboolean
find_pair (LptQuantizer *q, LptLayer *first, Pair *pair)
{
  LptValue *value = lpt_layer_out (first);
  *pair = (Pair) { .first = first };
  while (value->uses->len == 1)
    {
      LptUse use = *lpt_value_use (value, 0);
      pair->second = lpt_quantizer_layer (q, use.node);
      if (pair->second != NULL)
        return use.index == pair->second->data_port && is_convolution (pair->second)
               && lpt_layer_channels (first) == pair->second->groups * pair->second->inputs;
      if (!is_homogeneous (use.node) || (use.node->op == LPT_OP_CLAMP && pair->clamp != NULL))
        return FALSE;
      if (use.node->op == LPT_OP_CLAMP)
        pair->clamp = use.node;
      value = &use.node->out[0];
    }
  return FALSE;
}

/* Greatest |w| of each channel between the layers. */
static void
find_sizes (const LptLayer *layer, const float *w, gboolean of_inputs, double *r)
{
  gint64 n = of_inputs ? layer->groups * layer->inputs : lpt_layer_channels (layer);
  double largest = 0.0;
  for (gint64 c = 0; c < n; c++)
    r[c] = 0.0;
  for (gint64 o = 0; o < lpt_layer_channels (layer); o++)
    for (gint64 i = 0; i < layer->inputs; i++)
      for (gint64 k = 0; k < layer->places; k++)
        {
          gint64 c = of_inputs ? o / layer->outputs * layer->inputs + i : o;
          r[c] = MAX (r[c], fabs (w[lpt_layer_at (layer, o, i, k)]));
        }
  for (gint64 c = 0; c < n; c++)
    largest = MAX (largest, r[c]);
  for (gint64 c = 0; c < n; c++)
    r[c] = r[c] > 0.0 ? MAX (r[c], largest / 1000.0) : 0.0;
}

static gboolean
equalize (Pair *pair, double bound, GError **error)
{
  LptLayer *a = pair->first, *b = pair->second;
  gint64 n = lpt_layer_channels (a);
  g_autofree float *wa = lpt_layer_weights (a, error), *wb = wa != NULL ? lpt_layer_weights (b, error) : NULL;
  g_autofree double *bias = wb != NULL ? lpt_layer_bias (a, error) : NULL, *ra = g_new (double, n),
                    *rb = g_new (double, n), *s = g_new (double, n);
  if (bias == NULL)
    return FALSE;
  find_sizes (a, wa, FALSE, ra);
  find_sizes (b, wb, TRUE, rb);
  for (gint64 c = 0; c < n; c++)
    {
      double wish = ra[c] > 0.0 && rb[c] > 0.0 ? sqrt (ra[c] / rb[c]) : 1.0,
             total = CLAMP (pair->total[c] * wish, 1.0 / bound, bound);
      s[c] = total / pair->total[c];
      pair->total[c] = total;
      bias[c] /= s[c];
    }
  for (gint64 o = 0; o < n; o++)
    for (gint64 i = 0; i < a->inputs * a->places; i++)
      {
        gint64 at = lpt_layer_at (a, o, i / a->places, i % a->places);
        wa[at] = (float) (wa[at] / s[o]);
      }
  for (gint64 o = 0; o < lpt_layer_channels (b); o++)
    for (gint64 i = 0; i < b->inputs * b->places; i++)
      {
        gint64 at = lpt_layer_at (b, o, i / b->places, i % b->places);
        wb[at] = (float) (wb[at] * s[o / b->outputs * b->inputs + i / b->places]);
      }
  return lpt_layer_set_weights (a, wa, error) && lpt_layer_set_weights (b, wb, error)
         && (a->bias == NULL || lpt_layer_set_bias (a, bias, error));
}

/* The Clamp with its cap per channel. */
static gboolean
split_clamp (Pair *pair, GError **error)
{
  LptNode *clamp = pair->clamp;
  LptGraph *graph = clamp->graph;
  LptValue *in = lpt_node_in (clamp, 0), *out = &clamp->out[0];
  gint64 n = lpt_layer_channels (pair->first);
  LptShape shape = { out->shape.rank, { 0 } };
  double cap = LPT_ATTRS (clamp, LptClampAttrs)->max;
  g_autofree float *caps = g_new (float, n);
  g_autofree char *name = g_strconcat (clamp->name, "/caps", NULL),
                  *relu_name = g_strconcat (clamp->name, "/relu", NULL);
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 1 ? n : 1;
  for (gint64 c = 0; c < n; c++)
    caps[c] = (float) (cap / pair->total[c]);
  LptNode *constant = lpt_product_add_const (graph, name, &shape, caps, error);
  if (constant == NULL)
    return FALSE;
  LptNode *relu = lpt_graph_add (graph, LPT_OP_RELU, 0, relu_name, 1, &in);
  if (!lpt_node_infer (relu, error))
    return FALSE;
  LptNode *minimum = lpt_graph_add (graph, LPT_OP_MINIMUM, 0, NULL, 2,
                                    (LptValue *const[]) { lpt_node_out (relu), lpt_node_out (constant) });
  if (!lpt_node_infer (minimum, error))
    return FALSE;
  lpt_value_replace (out, lpt_node_out (minimum), NULL);
  lpt_node_take_name (minimum, clamp, "/before");
  return TRUE;
}

gboolean
lpt_repair_equalize (LptQuantizer *q, GError **error)
{
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  gboolean ok = TRUE;
  for (guint i = 0; q->bound > 1.0 && i < q->layers->len; i++)
    {
      LptLayer *layer = g_ptr_array_index (q->layers, i);
      Pair pair;
      if (!is_convolution (layer) || !find_pair (q, layer, &pair) || (layer->n_scale > 1 && pair.second->n_scale > 1))
        continue;
      pair.total = g_new (double, lpt_layer_channels (layer));
      for (gint64 c = 0; c < lpt_layer_channels (layer); c++)
        pair.total[c] = 1.0;
      g_array_append_val (pairs, pair);
    }
  for (guint round = 0; ok && round < ROUNDS; round++)
    for (guint i = 0; ok && i < pairs->len; i++)
      ok = equalize (&g_array_index (pairs, Pair, i), q->bound, error);
  for (guint i = 0; i < pairs->len; i++)
    {
      Pair *pair = &g_array_index (pairs, Pair, i);
      ok = ok && (pair->clamp == NULL || split_clamp (pair, error));
      g_free (pair->total);
    }
  lpt_quantizer_remark (q, "equalization: %u pairs of layers, factors up to %g", pairs->len, q->bound);
  return ok && lpt_quantize_place (q, error);
}
