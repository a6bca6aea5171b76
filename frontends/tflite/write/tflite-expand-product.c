/* tflite-expand-product.c - products and windows that TensorFlow Lite has in parts
 *
 *     MatMul            vectors as matrices of one row or column; more than two batch axes: neighbours that repeat
 *                       alike are one; plain sums of codes: tflite-expand-sums.c
 *     MaxPool, AvgPool  over three axes: over the last two, then over the first
 *     DepthToSpace      the depth before the blocks: Transpose
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include "ir/lpt-quant-plain.h"

#include <math.h>

#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))

/* --- products ------------------------------------------------------------------------ */

/* BATCH_MATMUL takes four axes. */
#define MOST_BATCHES 2

/* Batch axes of both sides, fewer of them. */
typedef struct
{
  gint   n;
  gint64 a[LPT_MAX_RANK], b[LPT_MAX_RANK], all[LPT_MAX_RANK];      /* lengths; @all: of the result before, all @rank */
  gint   rank;
} Batches;

static gint64
batch_length (const LptShape *shape, gint axis, gint rank)
{
  const gint at = axis - (rank - (shape->rank - 2));
  return at < 0 ? 1 : shape->dims[at];
}

/* Which of two lengths repeats: 0 none, 1 the left one, 2 the right one. */
static gint
repeats (gint64 a, gint64 b)
{
  return a == b ? 0 : a == 1 ? 1 : 2;
}

/* Neighbours of which the same side repeats, or none, become one axis. */
static void
join_batches (const LptShape *a, const LptShape *b, Batches *to)
{
  gint last = -1;
  *to = (Batches) { .rank = MAX (a->rank, b->rank) - 2 };
  for (gint i = 0; i < to->rank; i++)
    {
      const gint64 m = batch_length (a, i, to->rank), n = batch_length (b, i, to->rank);
      to->all[i] = MAX (m, n);
      if (m == 1 && n == 1)
        continue;
      if (repeats (m, n) != last)
        {
          last = repeats (m, n);
          to->a[to->n] = to->b[to->n] = 1;
          to->n++;
        }
      to->a[to->n - 1] *= m;
      to->b[to->n - 1] *= n;
    }
}

/* @value with these batch axes, before its matrix. */
static LptValue *
with_batches (LptTflExpand *x, LptValue *value, gint n, const gint64 *batches, gboolean broadcast)
{
  LptShape shape = { .rank = n + 2 };
  for (gint i = 0; i < n; i++)
    shape.dims[i] = batches[i];
  for (gint i = 0; i < 2; i++)
    shape.dims[n + i] = value->shape.dims[value->shape.rank - 2 + i];
  if (!broadcast)
    return lpt_tfl_x_reshape (x, value, (guint) shape.rank, shape.dims);
  return EMIT2 (BROADCAST, value, lpt_tfl_x_i64 (x, (guint) shape.rank, shape.dims));
}

/* Are these the weights of FULLY_CONNECTED, one matrix for all? */
static gboolean
is_matrix (LptNode *node)
{
  const LptShape *shape = &lpt_node_in (node, 1)->shape;
  LptNode *from = lpt_node_src (node, 1);
  gboolean one = TRUE;
  for (gint i = 0; i + 2 < shape->rank; i++)
    one = one && shape->dims[i] == 1;
  return one && !LPT_ATTRS (node, LptMatMulAttrs)->transpose_a
         && (from->data != NULL || (from->op == LPT_OP_DEQUANTIZE && lpt_node_const_in (from, 0) != NULL));
}

static gboolean
has_many_batches (LptNode *node)
{
  const LptShape *a = &lpt_node_in (node, 0)->shape, *b = &lpt_node_in (node, 1)->shape;
  return MAX (a->rank, b->rank) > MOST_BATCHES + 2 && lpt_shape_is_static (a) && lpt_shape_is_static (b)
         && lpt_shape_is_static (&lpt_node_out (node)->shape) && node->n_in == 2 && !is_matrix (node)
         && lpt_node_src (node, 0)->op != LPT_OP_DYNAMIC_FAKE_QUANTIZE;
}

/* The node's product of other shapes, of @codes or of real numbers; @row, @column: the side was a vector, which nothing
 * transposes. */
static LptValue *
product_of (LptTflExpand *x, LptValue *a, LptValue *b, gboolean codes, gboolean row, gboolean column)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (x->node, LptMatMulAttrs);
  const LptValue *y = lpt_node_out (x->node);
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_MATMUL, 1, 2, (LptValue *[]) { a, b });
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = attrs->transpose_a && !row;
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = attrs->transpose_b && !column;
  if (codes)
    {
      node->flags |= LPT_NODE_RELAXED;
      lpt_node_out (node)->dtype = y->dtype;
      lpt_value_set_quant (lpt_node_out (node), y->quant);
    }
  return lpt_tfl_x_done (x, node);
}

static void
expand_batches (LptTflExpand *x)
{
  LptValue *a = lpt_tfl_x_raw (x, 0), *b = lpt_tfl_x_raw (x, 1), *y = lpt_node_out (x->node);
  const gboolean codes = y->quant != NULL && a->quant != NULL && b->quant != NULL && a->quant->n == 1
                         && b->quant->n == 1 && y->quant->n == 1;
  Batches to;
  if (!codes && y->quant != NULL && y->dtype == LPT_DTYPE_I32)
    return;
  a = codes ? a : lpt_tfl_x_in (x, 0);
  b = codes ? b : lpt_tfl_x_in (x, 1);
  join_batches (&a->shape, &b->shape, &to);
  if (to.n > MOST_BATCHES)
    {
      a = with_batches (x, a, to.rank, to.all, TRUE);
      b = with_batches (x, b, to.rank, to.all, TRUE);
      if (x->error != NULL)
        return;
      join_batches (&a->shape, &b->shape, &to);
    }
  a = with_batches (x, a, to.n, to.a, FALSE);
  b = with_batches (x, b, to.n, to.b, FALSE);
  if (x->error != NULL)
    return;
  LptValue *whole = product_of (x, a, b, codes, FALSE, FALSE);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_reshape (x, whole, (guint) y->shape.rank, y->shape.dims));
}

/* A vector at the left is a row, at the right a column, whatever the transposition says. */
void
lpt_tfl_expand_matmul (LptTflExpand *x)
{
  LptValue *a = lpt_tfl_x_raw (x, 0), *b = lpt_tfl_x_raw (x, 1), *y = lpt_node_out (x->node);
  gint64 axes[2], n = 0;
  gboolean row = a->shape.rank == 1, column = b->shape.rank == 1;
  if (!row && !column && has_many_batches (x->node))
    {
      expand_batches (x);
      return;
    }
  if (!row && !column)
    {
      lpt_tfl_x_sums (x);
      return;
    }
  if (x->node->n_in > 2)
    return;
  /* Plain sums of codes stay such. */
  const gboolean plain = y->dtype == LPT_DTYPE_I32 && y->quant != NULL && lpt_quant_is_plain (y->quant);
  a = plain ? a : lpt_tfl_x_in (x, 0);
  b = plain ? b : lpt_tfl_x_in (x, 1);
  a = row ? lpt_tfl_x_reshape (x, a, 2, (gint64[]) { 1, -1 }) : a;
  b = column ? lpt_tfl_x_reshape (x, b, 2, (gint64[]) { -1, 1 }) : b;
  LptValue *whole = product_of (x, a, b, plain, row, column);
  gint rank = y->shape.rank + row + column;
  if (row)
    axes[n++] = rank - 2;
  if (column)
    axes[n++] = rank - 1;
  lpt_tfl_x_set (x, 0, EMIT2 (SQUEEZE, whole, lpt_tfl_x_i64 (x, (guint) n, axes)));
}

/* --- windows ---------------------------------------------------------------------------- */

/* The node's pool over axes [@from, @from + @n) of its windows, as one of two axes; @lengths is the output's shape. */
static LptValue *
pool_part (LptTflExpand *x, LptValue *v, guint from, guint n, guint at)
{
  gboolean max = x->node->op == LPT_OP_MAX_POOL;
  const LptMaxPoolAttrs *m = LPT_ATTRS (x->node, LptMaxPoolAttrs);
  const LptAvgPoolAttrs *a = LPT_ATTRS (x->node, LptAvgPoolAttrs);
  LptNode *node = lpt_tfl_x_add (x, x->node->op, 1, 1, &v);
  LptMaxPoolAttrs *to_max = LPT_ATTRS (node, LptMaxPoolAttrs);
  LptAvgPoolAttrs *to_avg = LPT_ATTRS (node, LptAvgPoolAttrs);
  const LptInts *lists[] = { max ? &m->kernel : &a->kernel, max ? &m->strides : &a->strides,
                             max ? &m->pads_begin : &a->pads_begin, max ? &m->pads_end : &a->pads_end };
  LptInts *to[] = { max ? &to_max->kernel : &to_avg->kernel, max ? &to_max->strides : &to_avg->strides,
                    max ? &to_max->pads_begin : &to_avg->pads_begin, max ? &to_max->pads_end : &to_avg->pads_end };
  node->opset = max ? 1 : node->opset;
  for (guint k = 0; k < 4; k++)
    {
      gint64 values[2] = { k < 2, k < 2 };
      for (guint i = 0; i < n; i++)
        values[at + i] = lpt_ints_get (lists[k], from + i, k < 2);
      lpt_ints_set (to[k], 2, values);
    }
  if (max)
    {
      to_max->rounding_type = m->rounding_type;
      to_max->auto_pad = m->auto_pad;
    }
  else
    {
      to_avg->rounding_type = a->rounding_type;
      to_avg->auto_pad = a->auto_pad;
      to_avg->exclude_pad = a->exclude_pad;
    }
  if (v->quant != NULL)
    lpt_value_set_quant (lpt_node_out (node), v->quant);
  return lpt_tfl_x_done (x, node);
}

/* [N, C, D, H, W] -> [N, C D, H, W] -> pooled -> [N, C, D, H' W'] -> pooled along D. An average is one of averages, for
 * each window of one axis counts as many elements whatever the others. */
void
lpt_tfl_expand_pool (LptTflExpand *x)
{
  gboolean max = x->node->op == LPT_OP_MAX_POOL;
  if (x->node->n_out > 1 && lpt_value_n_uses (&x->node->out[1]) > 0)
    {
      lpt_tfl_x_pool_places (x);
      return;
    }
  if (lpt_tfl_x_pool_has_gaps (x->node))
    {
      lpt_tfl_x_pool_gaps (x);
      return;
    }
  LptValue *v = max ? lpt_tfl_x_raw (x, 0) : lpt_tfl_x_in (x, 0), *y = lpt_node_out (x->node);
  if (v->shape.rank != 5 || !lpt_shape_is_static (&v->shape) || !lpt_shape_is_static (&y->shape)
      || (v->quant != NULL && v->quant->n > 1))
    return;
  const gint64 *d = v->shape.dims, *o = y->shape.dims;
  LptValue *flat = lpt_tfl_x_reshape (x, v, 4, (gint64[]) { d[0], d[1] * d[2], d[3], d[4] });
  flat = pool_part (x, flat, 1, 2, 0);
  flat = lpt_tfl_x_reshape (x, flat, 4, (gint64[]) { d[0], d[1], d[2], o[3] * o[4] });
  flat = pool_part (x, flat, 0, 1, 0);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_reshape (x, flat, 5, o));
}

/* [N, C, b, b, H, W] -> [N, C, H, b, W, b] */
void
lpt_tfl_expand_depth_to_space (LptTflExpand *x)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (x->node, LptDepthToSpaceAttrs);
  LptValue *v = lpt_tfl_x_raw (x, 0);
  gint64 b = attrs->block_size;
  if (attrs->mode != LPT_DEPTH_DEPTH_FIRST || v->shape.rank != 4 || !lpt_shape_is_static (&v->shape) || b < 1
      || (v->quant != NULL && v->quant->n > 1))
    return;
  const gint64 *d = v->shape.dims;
  LptValue *y = lpt_tfl_x_reshape (x, v, 6, (gint64[]) { d[0], d[1] / (b * b), b, b, d[2], d[3] });
  y = lpt_tfl_x_transpose (x, y, 6, (gint64[]) { 0, 1, 4, 2, 5, 3 });
  lpt_tfl_x_set (x, 0, lpt_tfl_x_reshape (x, y, 4, (gint64[]) { d[0], d[1] / (b * b), d[2] * b, d[3] * b }));
}
