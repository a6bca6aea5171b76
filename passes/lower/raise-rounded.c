/* raise-rounded.c - products of codes that are rounded at run time as TensorFlow Lite's hybrid operators round them
 * become those of real numbers again
 *
 *     BlockMatMul (codes, w, s, scales, [zeros], -, z)  =>  MatMul (DynamicFakeQuantize (x), Dequantize (w)), of blocks
 *                                                           (w - zeros) * scales in place of Dequantize (w)
 *     Dequantize (Convolution (codes, w, z)) * (s * f)  =>  Convolution (DynamicFakeQuantize (x), Dequantize (w))
 *     codes, s, z = DynamicQuantize (x), of that rule
 *
 * The inverse of rounded-products.c, and of nothing else: what has another form, or another reader of its sums, stays.
 * In real numbers both are the same. Weights of a convolution have one scale again where all are equal and the data is
 * rounded around 0, which is how TensorFlow Lite tells the two kinds of data apart.
 *
 * Golden tests: tests/golden/raise/rounded-*.lpt
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/lpt-weighted.h"
#include "passes/lower/raise-rounded.h"
#include "passes/lower/unlower.h"

typedef struct
{
  LptGraph   *graph;
  GHashTable *rounded;     /* DynamicQuantize -> DynamicFakeQuantize */
} RaiseRounded;

/* The DynamicQuantize whose codes @value are, by the rule of TensorFlow Lite, or NULL. */
static LptNode *
codes_of (const LptValue *value)
{
  LptNode *node = value->producer;
  const LptDynamicQuantizeAttrs *attrs;

  if (node->op != LPT_OP_DYNAMIC_QUANTIZE || value->index != 0)
    return NULL;
  attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);

  return attrs->litert && attrs->block == 0 ? node : NULL;
}

static LptValue *
real_data (RaiseRounded *r,
           LptNode      *codes)
{
  const LptDynamicQuantizeAttrs *from = LPT_ATTRS (codes, LptDynamicQuantizeAttrs);
  LptNode *node = g_hash_table_lookup (r->rounded, codes);
  LptValue *x = lpt_node_in (codes, 0);

  if (node == NULL)
    {
      node = lpt_graph_add (r->graph, LPT_OP_DYNAMIC_FAKE_QUANTIZE, 0, NULL, 1, &x);
      LPT_ATTRS (node, LptDynamicFakeQuantizeAttrs)->axis = from->axis;
      LPT_ATTRS (node, LptDynamicFakeQuantizeAttrs)->symmetric = from->symmetric;
      lpt_node_out (node)->dtype = LPT_DTYPE_F32;
      lpt_node_out (node)->shape = x->shape;
      node->requant = g_strdup (codes->requant);
      lpt_node_set_origin (node, codes->origin);
      lpt_node_take_name (node, codes, "/codes");
      g_hash_table_insert (r->rounded, codes, node);
    }

  return lpt_node_out (node);
}

/* What weights with @n outputs along @axis stand for, whose scales and zero points (NULL: those of @own) are @scale and
 * @zero. @one: equal ones are one. NULL: a zero point is no integer. */
static LptQuant *
quant_of (const LptTensor *scale,
          const LptTensor *zero,
          const LptQuant  *own,
          gint             axis,
          gboolean         one)
{
  const guint n = (guint) lpt_tensor_count (scale);
  g_autofree double *scales = g_new (double, n);
  g_autofree gint32 *zeros = g_new (gint32, n);
  gboolean same = TRUE;

  for (guint i = 0; i < n; i++)
    {
      const double z = zero != NULL ? lpt_tensor_get_f64 (zero, i) : own->zero_point[own->n == 1 ? 0 : i];

      if (z < -255 || z > 255 || z != (gint32) z)
        return NULL;
      scales[i] = lpt_tensor_get_f64 (scale, i);
      zeros[i] = (gint32) z;
      same = same && scales[i] == scales[0] && zeros[i] == zeros[0];
    }

  if ((one && same) || n == 1)
    return lpt_quant_new_one (scales[0], zeros[0]);

  return lpt_quant_new (axis, n, scales, zeros);
}

/* The numbers of the constant @codes, with @quant. */
static LptValue *
real_weights (RaiseRounded *r,
              LptValue     *codes,
              LptQuant     *quant)
{
  LptNode *node = lpt_graph_add_const (r->graph, NULL, codes->producer->data);
  LptValue *value = lpt_node_out (node);

  lpt_value_set_quant (value, quant);
  if (lpt_value_n_uses (codes) == 1)
    lpt_node_take_name (node, codes->producer, "/codes");
  node = lpt_graph_add (r->graph, LPT_OP_DEQUANTIZE, 0, NULL, 1, &value);
  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = value->shape;

  return lpt_node_out (node);
}

static LptValue *
shaped (RaiseRounded   *r,
        LptValue       *x,
        const LptShape *shape)
{
  g_autoptr (LptTensor) dims = lpt_tensor_vector_i64 ((guint) shape->rank, shape->dims);
  LptValue *y = lpt_unlower_binary (r->graph, LPT_OP_RESHAPE, x,
                                    lpt_node_out (lpt_graph_add_const (r->graph, NULL, dims)));

  y->shape = *shape;

  return y;
}

/* The numbers of signed @codes [N, K] with @scale and, unless NULL, @zero [N, blocks]: (codes - zero) scale, by blocks;
 * NULL: they have other blocks. */
static LptValue *
block_weights (RaiseRounded *r,
               LptValue     *codes,
               LptValue     *scale,
               LptValue     *zero)
{
  const LptShape *shape = &codes->shape;
  const gint64 blocks = scale->shape.dims[1];
  g_autoptr (LptTensor) tensor = NULL;
  LptShape split, one;
  LptNode *node;
  LptValue *w;

  if (shape->dims[1] % blocks != 0 || lpt_dtype_min (codes->dtype) == 0)
    return NULL;
  split = lpt_shape_make (3, (gint64[]) { shape->dims[0], blocks, shape->dims[1] / blocks });
  one = lpt_shape_make (3, (gint64[]) { shape->dims[0], blocks, 1 });
  tensor = lpt_tensor_reshape (codes->producer->data, &split, NULL);
  if (tensor == NULL)
    return NULL;
  node = lpt_graph_add_const (r->graph, NULL, tensor);
  lpt_node_take_name (node, codes->producer, "/codes");
  w = lpt_unlower_convert (r->graph, lpt_node_out (node), LPT_DTYPE_F32);
  if (zero != NULL)
    w = lpt_unlower_binary (r->graph, LPT_OP_SUBTRACT, w, shaped (r, zero, &one));
  w = lpt_unlower_binary (r->graph, LPT_OP_MULTIPLY, w, shaped (r, scale, &one));

  return shaped (r, w, shape);
}

/* Along which axis of @weights the channels of the output lie that have scales of their own. */
static gint
channel_axis (const LptWeightedView *view,
              const LptShape        *weights)
{
  return !view->grouped || (weights->dims[0] == 1 && weights->dims[view->out] > 1) ? view->out : 0;
}

/* Another op in place of @old, which gives @real. */
static void
put (LptNode  *old,
     LptValue *real)
{
  LptValue *y = lpt_node_out (old);

  real->dtype = LPT_DTYPE_F32;
  real->shape = y->shape;
  lpt_node_set_origin (real->producer, old->origin);
  lpt_node_take_name (real->producer, old, "/integer");
  lpt_value_replace (y, real, NULL);
}

static void
raise_matmul (RaiseRounded *r,
              LptNode      *node)
{
  LptNode *codes = codes_of (lpt_node_in (node, 0)), *real;
  LptValue *w = lpt_node_in (node, 1), *in[2];
  const LptTensor *scale = lpt_node_const_in (node, 3), *zero = node->n_in > 4 ? lpt_node_const_in (node, 4) : NULL;
  g_autoptr (LptQuant) quant = NULL;

  if (codes == NULL || lpt_node_in (node, 2) != &codes->out[1] || w->producer->data == NULL || w->quant == NULL ||
      scale == NULL ||
      (node->n_in > 4 && lpt_node_in (node, 4) != NULL && zero == NULL) ||
      (node->n_in > 5 && lpt_node_in (node, 5) != NULL))
    return;
  if (lpt_tensor_shape (scale)->dims[1] == 1)
    {
      quant = quant_of (scale, zero, w->quant, 0, TRUE);
      in[1] = quant != NULL ? real_weights (r, w, quant) : NULL;
    }
  else
    in[1] = block_weights (r, w, lpt_node_in (node, 3), zero != NULL ? lpt_node_in (node, 4) : NULL);
  if (in[1] == NULL)
    return;
  in[0] = real_data (r, codes);
  real = lpt_graph_add (r->graph, LPT_OP_MATMUL, 0, NULL, 2, in);
  LPT_ATTRS (real, LptMatMulAttrs)->transpose_b = TRUE;
  put (node, lpt_node_out (real));
}

static LptNode *
only_reader (const LptValue *value,
             LptOp           op)
{
  LptNode *reader = lpt_value_n_uses (value) == 1 ? lpt_value_use (value, 0)->node : NULL;

  return reader != NULL && reader->op == op ? reader : NULL;
}

/* The scales of the weights that multiply the sums of @sum behind @product; NULL: it has another form. */
static const LptTensor *
factors_of (LptNode *codes,
            LptNode *real,
            LptNode *product)
{
  LptValue *factor = lpt_node_in (product, lpt_node_in (product, 0) == lpt_node_out (real) ? 1 : 0);
  LptNode *node = factor->producer;

  if (node->op != LPT_OP_MULTIPLY || lpt_node_in (node, 0) != &codes->out[1])
    return NULL;

  return lpt_node_const_in (node, 1);
}

static void
raise_window (RaiseRounded *r,
              LptNode      *node)
{
  LptNode *codes = codes_of (lpt_node_in (node, 0));
  LptNode *real = codes != NULL ? only_reader (lpt_node_out (node), LPT_OP_DEQUANTIZE) : NULL;
  LptNode *product = real != NULL ? only_reader (lpt_node_out (real), LPT_OP_MULTIPLY) : NULL;
  const LptTensor *scale = product != NULL ? factors_of (codes, real, product) : NULL;
  LptValue *w = lpt_node_in (node, 1), *in[3] = { NULL };
  g_autoptr (LptQuant) quant = NULL;
  LptWeightedView view;
  guint n_in;

  if (scale == NULL || w->producer->data == NULL || w->quant == NULL || !lpt_weighted_view (node, &view) ||
      (node->n_in > view.bias && lpt_node_in (node, view.bias) != NULL))
    return;
  n_in = view.bias;
  quant = quant_of (scale, NULL, w->quant, channel_axis (&view, &w->shape),
                    LPT_ATTRS (codes, LptDynamicQuantizeAttrs)->symmetric);
  if (quant == NULL)
    return;
  in[0] = real_data (r, codes);
  in[1] = real_weights (r, w, quant);
  if (n_in > 2)
    in[2] = lpt_node_in (node, 2);
  real = lpt_node_clone (node, NULL, n_in, in);
  real->flags &= ~(guint) LPT_NODE_RELAXED;
  lpt_value_set_quant (lpt_node_out (real), NULL);
  put (product, lpt_node_out (real));
}

gboolean
lpt_graph_has_rounded (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->n_out > 0 && codes_of (&node->out[0]) != NULL)
        return TRUE;
      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        if (lpt_graph_has_rounded (lpt_node_body (node, k)))
          return TRUE;
    }

  return FALSE;
}

gboolean
lpt_graph_raise_rounded (LptGraph  *graph,
                         GError   **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  g_autoptr (GHashTable) rounded = g_hash_table_new (NULL, NULL);
  RaiseRounded r = { graph, rounded };

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];

      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        if (!lpt_graph_raise_rounded (lpt_node_body (node, k), error))
          return FALSE;
      if (node->op == LPT_OP_BLOCK_MATMUL)
        raise_matmul (&r, node);
      else if (node->info->flags & LPT_OP_F_WEIGHTED)
        raise_window (&r, node);
    }
  if (g_hash_table_size (rounded) > 0)
    lpt_graph_sweep (graph);

  return TRUE;
}
