/* lpt-macs.c - how many multiply-accumulates an op is, from the shapes of its inputs and its output
 *
 * Of ops that sum products; elementwise arithmetic counts as none.
 *
 *   convolution       each output (transposed: each input) meets the weights of its channel
 *   matrix product    each output is a sum along the axis that both inputs share
 *   attention         Q K^T and the product with V
 *   recurrent cell    each gate of each output sums over the data and over the state; all steps, all directions
 *
 * A graph whose inputs have an open first axis, and no other that is open, is counted for one sample: that axis is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-work.h>

#include "ir/lpt-weighted.h"

static gint64
product (const LptShape *shape,
         gint            from)
{
  gint64 n = 1;
  gint i;

  for (i = from; i < shape->rank; i++)
    n *= shape->dims[i];

  return n;
}

static gint64
last (const LptShape *shape)
{
  return shape->rank < 1 ? 1 : shape->dims[shape->rank - 1];
}

/* Each output, transposed each input, meets the weights of its channel. */
static gint64
macs_of_convolution (const LptWeightedView *view,
                     const LptShape        *x,
                     const LptShape        *w,
                     const LptShape        *y)
{
  return product (view->transposed ? x : y, 0) * product (w, view->kernel - 1);
}

static gint64
macs_of_matmul (const LptNode  *node,
                const LptShape *x,
                const LptShape *y)
{
  gboolean transposed = LPT_ATTRS (node, LptMatMulAttrs)->transpose_a && x->rank > 1;

  return x->rank < 1 ? 0 : product (y, 0) * x->dims[x->rank - (transposed ? 2 : 1)];
}

/* @x: queries [..., L, E], @w: keys [..., S, E], @y: [..., L, V]. */
static gint64
macs_of_attention (const LptShape *x,
                   const LptShape *w,
                   const LptShape *y)
{
  gint64 rows = 1;
  gint i;

  for (i = 0; i < y->rank - 1; i++)
    rows *= y->dims[i];

  return w->rank < 2 ? 0 : rows * w->dims[w->rank - 2] * (last (x) + last (y));
}

static gint64
macs_of_recurrent (const LptNode  *node,
                   const LptShape *x,
                   const LptShape *y)
{
  return product (y, 0) * lpt_node_recurrent_gates (node) * (last (x) + last (y));
}

gint64
lpt_node_macs_for (const LptNode  *node,
                   const LptShape *x,
                   const LptShape *w,
                   const LptShape *y)
{
  const guint32 flags = node->info->flags;
  LptWeightedView view;

  if ((flags & (LPT_OP_F_WEIGHTED | LPT_OP_F_RECURRENT)) == 0 && node->op != LPT_OP_SCALED_DOT_PRODUCT_ATTENTION &&
      node->op != LPT_OP_BLOCK_MATMUL)
    return 0;
  if (!lpt_shape_is_static (x) || !lpt_shape_is_static (w) || !lpt_shape_is_static (y))
    return -1;
  if ((flags & LPT_OP_F_RECURRENT) != 0)
    return macs_of_recurrent (node, x, y);
  if (node->op == LPT_OP_MATMUL)
    return macs_of_matmul (node, x, y);
  if (node->op == LPT_OP_BLOCK_MATMUL)
    return product (y, 0) * last (x);

  return lpt_weighted_view (node, &view) ? macs_of_convolution (&view, x, w, y) : macs_of_attention (x, w, y);
}

gboolean
lpt_graph_counts_samples (const LptGraph *graph)
{
  gboolean open = FALSE;

  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->parameters, i);
      const LptShape *shape = &node->out[0].shape;

      for (gint d = 0; d < shape->rank; d++)
        if (shape->dims[d] == LPT_DYNAMIC && d > 0)
          return FALSE;
      if (shape->rank == LPT_DYNAMIC)
        return FALSE;
      open = open || (shape->rank > 0 && shape->dims[0] == LPT_DYNAMIC);
    }

  return open;
}

/* @shape, its open first axis as one where @sample. */
static LptShape
sized (const LptShape *shape,
       gboolean        sample)
{
  LptShape sized = *shape;

  if (sample && sized.rank > 0 && sized.dims[0] == LPT_DYNAMIC)
    sized.dims[0] = 1;

  return sized;
}

gint64
lpt_node_macs (const LptNode *node)
{
  const gboolean sample = lpt_graph_counts_samples (node->graph);
  LptShape x, w, y;

  if (node->n_in < 2 || node->in[0].value == NULL || node->in[1].value == NULL || node->n_out < 1)
    return 0;
  x = sized (&node->in[0].value->shape, sample);
  w = sized (&node->in[1].value->shape, sample);
  y = sized (&node->out[0].shape, sample);

  return lpt_node_macs_for (node, &x, &w, &y);
}
