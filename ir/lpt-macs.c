/* lpt-macs.c - how many multiply-accumulates an op is, from the shapes of its inputs and its output
 *
 * One row per op that sums products, with its function; elementwise arithmetic counts as none.
 *
 *   convolution       each output (transposed: each input) meets the weights of its channel
 *   matrix product    each output is a sum along the axis that both inputs share
 *   attention         Q K^T and the product with V
 *   recurrent cell    each gate of each output sums over the data and over the state; all steps, all directions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-work.h>

typedef gint64 (*MacsFunc) (const LptNode *node, const LptShape *x, const LptShape *w, const LptShape *y);

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

static gint64
macs_of_convolution (const LptNode  *node,
                     const LptShape *x,
                     const LptShape *w,
                     const LptShape *y)
{
  return product (y, 0) * product (w, 1);
}

static gint64
macs_of_group_convolution (const LptNode  *node,
                           const LptShape *x,
                           const LptShape *w,
                           const LptShape *y)
{
  return product (y, 0) * product (w, 2);
}

static gint64
macs_of_backprop (const LptNode  *node,
                  const LptShape *x,
                  const LptShape *w,
                  const LptShape *y)
{
  return product (x, 0) * product (w, node->op == LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA ? 2 : 1);
}

static gint64
macs_of_matmul (const LptNode  *node,
                const LptShape *x,
                const LptShape *w,
                const LptShape *y)
{
  gboolean transposed = LPT_ATTRS (node, LptMatMulAttrs)->transpose_a && x->rank > 1;

  return x->rank < 1 ? 0 : product (y, 0) * x->dims[x->rank - (transposed ? 2 : 1)];
}

/* @x: queries [..., L, E], @w: keys [..., S, E], @y: [..., L, V]. */
static gint64
macs_of_attention (const LptNode  *node,
                   const LptShape *x,
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
macs_of_recurrent (const LptShape *x,
                   gint64          gates,
                   const LptShape *y)
{
  return product (y, 0) * gates * (last (x) + last (y));
}

static gint64
macs_of_lstm (const LptNode  *node,
              const LptShape *x,
              const LptShape *w,
              const LptShape *y)
{
  return macs_of_recurrent (x, 4, y);
}

static gint64
macs_of_gru (const LptNode  *node,
             const LptShape *x,
             const LptShape *w,
             const LptShape *y)
{
  return macs_of_recurrent (x, 3, y);
}

static gint64
macs_of_rnn (const LptNode  *node,
             const LptShape *x,
             const LptShape *w,
             const LptShape *y)
{
  return macs_of_recurrent (x, 1, y);
}

static const struct
{
  LptOp    op;
  MacsFunc macs;
} rows[] = {
  { LPT_OP_CONVOLUTION,                     macs_of_convolution },
  { LPT_OP_GROUP_CONVOLUTION,               macs_of_group_convolution },
  { LPT_OP_CONVOLUTION_BACKPROP_DATA,       macs_of_backprop },
  { LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA, macs_of_backprop },
  { LPT_OP_MATMUL,                          macs_of_matmul },
  { LPT_OP_SCALED_DOT_PRODUCT_ATTENTION,    macs_of_attention },
  { LPT_OP_LSTM_CELL,                       macs_of_lstm },
  { LPT_OP_LSTM_SEQUENCE,                   macs_of_lstm },
  { LPT_OP_GRU_CELL,                        macs_of_gru },
  { LPT_OP_GRU_SEQUENCE,                    macs_of_gru },
  { LPT_OP_RNN_CELL,                        macs_of_rnn },
  { LPT_OP_RNN_SEQUENCE,                    macs_of_rnn },
};

gint64
lpt_node_macs_for (const LptNode  *node,
                   const LptShape *x,
                   const LptShape *w,
                   const LptShape *y)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == node->op)
      return lpt_shape_is_static (x) && lpt_shape_is_static (w) && lpt_shape_is_static (y) ? rows[i].macs (node, x, w, y) : -1;

  return 0;
}
