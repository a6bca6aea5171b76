/* onnx-map-reduce.c - ONNX reductions, selections along an axis, softmax
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <string.h>

typedef struct
{
  LptValue *x;
  LptValue *axes;       /* NULL = nothing to reduce: the result is the input, elementwise */
  gboolean  keep_dims;
} Reduction;

/* Axes: an attribute, later an input (ReduceSum 13, the others 18); none = all, or nothing where noop_with_empty_axes
 * says so. */
static Reduction
reduction (LptOnnxNode *on)
{
  Reduction r = { .x = lpt_onnx_in (on, 0) };
  LptValue *input = lpt_onnx_optional (on, 1);
  LptInts axes = { 0 };
  gboolean noop = lpt_onnx_int (on, "noop_with_empty_axes", 0) != 0;

  r.keep_dims = lpt_onnx_int (on, "keepdims", 1) != 0;
  if (input != NULL && !(input->shape.rank == 1 && input->shape.dims[0] == 0))
    r.axes = input;
  else if (lpt_onnx_ints (on, "axes", &axes) && axes.n > 0)
    r.axes = lpt_onnx_i64_list (on, &axes);
  else if (!noop)
    {
      gint rank = lpt_onnx_rank (on, r.x);
      gint64 all[LPT_MAX_RANK];

      for (gint i = 0; i < rank; i++)
        all[i] = i;
      r.axes = lpt_onnx_i64 (on, (guint) rank, all);
    }
  lpt_ints_clear (&axes);
  return r;
}

static LptValue *
apply (LptOnnxNode     *on,
       LptOp            op,
       const Reduction *r,
       LptValue        *x)
{
  return r->axes != NULL ? lpt_onnx_reduce (on, op, x, r->axes, r->keep_dims) : x;
}

void
lpt_onnx_map_reduce (LptOnnxNode *on)
{
  LptOp op = (LptOp) on->argument;
  Reduction r = reduction (on);

  if (r.x->dtype == LPT_DTYPE_BOOL && op == LPT_OP_REDUCE_MAX)
    op = LPT_OP_REDUCE_LOGICAL_OR;
  if (r.x->dtype == LPT_DTYPE_BOOL && op == LPT_OP_REDUCE_MIN)
    op = LPT_OP_REDUCE_LOGICAL_AND;
  /* The norm of a single number is its magnitude. */
  if (r.axes == NULL && (op == LPT_OP_REDUCE_L1 || op == LPT_OP_REDUCE_L2))
    lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_ABS, 1, r.x));
  else
    lpt_onnx_set (on, 0, apply (on, op, &r, r.x));
}

/* Logarithms of integers are computed as real numbers, whose fraction is cut off. */
static LptValue *
as_real (LptOnnxNode *on,
         LptValue    *value)
{
  return lpt_dtype_is_integer (value->dtype) ? lpt_onnx_convert (on, value, LPT_DTYPE_F32) : value;
}

void
lpt_onnx_map_reduce_log_sum (LptOnnxNode *on)
{
  Reduction r = reduction (on);
  LptValue *log = lpt_onnx_emit (on, LPT_OP_LOG, 1, as_real (on, apply (on, LPT_OP_REDUCE_SUM, &r, r.x)));

  lpt_onnx_set (on, 0, lpt_onnx_convert (on, log, r.x->dtype));
}

void
lpt_onnx_map_reduce_sum_square (LptOnnxNode *on)
{
  Reduction r = reduction (on);

  lpt_onnx_set (on, 0, apply (on, LPT_OP_REDUCE_SUM, &r, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, r.x, r.x)));
}

/* m + ln sum e^(x - m) with m the maximum, so that nothing overflows; m is 0 where it is infinite. */
void
lpt_onnx_map_reduce_log_sum_exp (LptOnnxNode *on)
{
  Reduction r = reduction (on);
  LptValue *wide, *max, *zero, *finite, *sum, *log;
  LptDType given;

  if (r.axes == NULL)
    {
      lpt_onnx_set (on, 0, r.x);
      return;
    }
  given = r.x->dtype;
  r.x = as_real (on, r.x);
  zero = lpt_onnx_like (on, r.x, 0);
  wide = lpt_onnx_reduce (on, LPT_OP_REDUCE_MAX, r.x, r.axes, TRUE);
  finite = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, wide, wide), zero);
  max = lpt_onnx_emit (on, LPT_OP_SELECT, 3, finite, wide, zero);
  sum = lpt_onnx_emit (on, LPT_OP_EXP, 1, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, r.x, max));
  log = lpt_onnx_emit (on, LPT_OP_LOG, 1, lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, sum, r.axes, TRUE));
  log = lpt_onnx_emit (on, LPT_OP_ADD, 2, log, max);
  if (!r.keep_dims)
    log = lpt_onnx_emit (on, LPT_OP_SQUEEZE, 2, log, r.axes);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, log, given));
}

/* --- along one axis ------------------------------------------------------------ */

static LptValue *
arg_reduce (LptOnnxNode *on,
            LptOp        op,
            LptValue    *x,
            gint64       axis,
            gboolean     keep_dims,
            gboolean     last_index)
{
  LptNode *node = lpt_onnx_add (on, op, 1, x);
  LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);

  attrs->axis = axis;
  attrs->keep_dims = keep_dims;
  attrs->last_index = last_index;
  attrs->output_type = LPT_DTYPE_I64;
  return lpt_onnx_done (on, node);
}

void
lpt_onnx_map_arg_reduce (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  gint axis = lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", 0));
  gboolean keep_dims = lpt_onnx_int (on, "keepdims", 1) != 0;

  lpt_onnx_set (on, 0,
                arg_reduce (on, (LptOp) on->argument, x, axis, keep_dims,
                            lpt_onnx_int (on, "select_last_index", 0) != 0));
}

void
lpt_onnx_map_cum_sum (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *axis = lpt_onnx_in (on, 1);
  gint64 none = 0;
  LptNode *node;

  if (axis->shape.rank == 1)
    axis = lpt_onnx_emit (on, LPT_OP_SQUEEZE, 2, axis, lpt_onnx_i64 (on, 1, &none));
  node = lpt_onnx_add (on, LPT_OP_CUM_SUM, 2, x, axis);
  LPT_ATTRS (node, LptCumSumAttrs)->exclusive = lpt_onnx_int (on, "exclusive", 0) != 0;
  LPT_ATTRS (node, LptCumSumAttrs)->reverse = lpt_onnx_int (on, "reverse", 0) != 0;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* Product i is that of all elements, each of which is 1 instead where it comes behind i. That is work with the square
 * of the length, which is some dozens where products run on (samples of a ray, steps of a schedule). */
void
lpt_onnx_map_cum_prod (LptOnnxNode *on)
{
  const gboolean reverse = lpt_onnx_int (on, "reverse", 0) != 0, exclusive = lpt_onnx_int (on, "exclusive", 0) != 0;
  LptValue *x = lpt_onnx_in (on, 0), *n, *places, *to, *from, *counts;
  LptInts given = { 0 };
  gint64 rank = lpt_onnx_rank (on, x), axis, within, after[LPT_MAX_RANK];

  if (!lpt_onnx_ints_in (on, 1, &given))
    return;
  if (given.n != 1 || rank < 1 || rank >= LPT_MAX_RANK)
    {
      lpt_ints_clear (&given);
      lpt_onnx_fail (on, LPT_ERROR_UNSUPPORTED, "unsupported: not one axis, or a scalar or %d axes", LPT_MAX_RANK);
      return;
    }
  axis = lpt_onnx_axis_of (on, x, given.v[0]);
  lpt_ints_clear (&given);
  n = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, axis), 0);
  places = lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), n, lpt_onnx_i64_scalar (on, 1));
  to = lpt_onnx_unsqueeze (on, places, 1);
  from = lpt_onnx_unsqueeze (on, places, 0);
  counts = lpt_onnx_emit (on, exclusive ? LPT_OP_GREATER : LPT_OP_GREATER_EQUAL, 2, reverse ? from : to,
                          reverse ? to : from);
  for (gint64 i = 0; i < rank - 1 - axis; i++)
    after[i] = 2 + i;
  if (axis < rank - 1)
    counts = lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, counts, lpt_onnx_i64 (on, (guint) (rank - 1 - axis), after));
  within = axis + 1;
  lpt_onnx_set (on, 0,
                lpt_onnx_reduce (on, LPT_OP_REDUCE_PROD,
                                 lpt_onnx_emit (on, LPT_OP_SELECT, 3, counts, lpt_onnx_unsqueeze (on, x, axis),
                                                lpt_onnx_like (on, x, 1)),
                                 lpt_onnx_i64 (on, 1, &within), FALSE));
}

void
lpt_onnx_map_top_k (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *k = lpt_onnx_in (on, 1);
  LptNode *node;
  LptTopKAttrs *attrs;

  if (k->shape.rank == 1)
    k = lpt_onnx_squeeze (on, k, 0);
  node = lpt_onnx_add (on, LPT_OP_TOP_K, 2, x, k);
  attrs = LPT_ATTRS (node, LptTopKAttrs);
  attrs->axis = lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", -1));
  attrs->mode = lpt_onnx_int (on, "largest", 1) != 0 ? LPT_TOPK_MAX : LPT_TOPK_MIN;
  attrs->sort = lpt_onnx_int (on, "sorted", 1) != 0 ? LPT_TOPK_SORT_VALUE : LPT_TOPK_SORT_NONE;
  attrs->index_element_type = LPT_DTYPE_I64;
  attrs->stable = attrs->sort == LPT_TOPK_SORT_VALUE;   /* equal values: the lower index first */
  lpt_onnx_done (on, node);
  lpt_onnx_set (on, 0, &node->out[0]);
  lpt_onnx_set (on, 1, &node->out[1]);
}

/* --- softmax -------------------------------------------------------------------- */

typedef LptValue *(*AlongAxis) (LptOnnxNode *on, LptValue *x, gint64 axis);

static LptValue *
softmax_along (LptOnnxNode *on,
               LptValue    *x,
               gint64       axis)
{
  LptNode *node = lpt_onnx_add (on, (LptOp) on->argument, 1, x);

  if (node->op == LPT_OP_SOFTMAX)
    LPT_ATTRS (node, LptSoftMaxAttrs)->axis = axis;
  else
    LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis = axis;
  return lpt_onnx_done (on, node);
}

/* 1 at the first maximum, 0 elsewhere */
static LptValue *
hardmax_along (LptOnnxNode *on,
               LptValue    *x,
               gint64       axis)
{
  LptValue *index = arg_reduce (on, LPT_OP_ARG_MAX, x, axis, FALSE, FALSE);
  LptValue *depth = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, axis), 0);
  LptNode *node = lpt_onnx_add (on, LPT_OP_ONE_HOT, 4, index, depth, lpt_onnx_like (on, x, 1),
                                lpt_onnx_like (on, x, 0));

  LPT_ATTRS (node, LptOneHotAttrs)->axis = axis;
  return lpt_onnx_done (on, node);
}

static void
map_along (LptOnnxNode *on,
           AlongAxis    along)
{
  LptValue *x = lpt_onnx_in (on, 0);

  lpt_onnx_set (on, 0, along (on, x, lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", -1))));
}

/* Up to opset 12: the input as a matrix, cut in front of the axis. */
static void
map_flat (LptOnnxNode *on,
          AlongAxis    along)
{
  LptValue *x = lpt_onnx_in (on, 0), *flat;
  gint rank = lpt_onnx_rank (on, x);
  gint64 axis = lpt_onnx_int (on, "axis", 1);
  gint64 dims[LPT_MAX_RANK] = { 1, 1 };

  axis = axis == rank ? rank : lpt_onnx_axis (on, axis, rank);
  if (axis == rank - 1)
    {
      lpt_onnx_set (on, 0, along (on, x, axis));
      return;
    }
  for (gint i = 0; i < rank; i++)
    {
      gint64 *part = &dims[i >= axis];

      if (x->shape.dims[i] == LPT_DYNAMIC || *part == -1)
        *part = -1;
      else if (x->shape.dims[i] > 0 && *part > G_MAXINT64 / x->shape.dims[i])
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "the shape is too large");
      else
        *part *= x->shape.dims[i];
    }
  if (dims[0] == -1 && dims[1] == -1)   /* the axes in front stay apart */
    {
      memset (dims, 0, (gsize) axis * sizeof *dims);
      dims[axis] = -1;
      flat = along (on, lpt_onnx_reshape_keep (on, x, (guint) axis + 1, dims), axis);
    }
  else
    flat = along (on, lpt_onnx_reshape (on, x, 2, dims), 1);
  lpt_onnx_set (on, 0, lpt_onnx_reshape_to (on, flat, lpt_onnx_shape_of (on, x)));
}

void
lpt_onnx_map_softmax (LptOnnxNode *on)
{
  map_along (on, softmax_along);
}

void
lpt_onnx_map_softmax_flat (LptOnnxNode *on)
{
  map_flat (on, softmax_along);
}

void
lpt_onnx_map_hardmax (LptOnnxNode *on)
{
  map_along (on, hardmax_along);
}

void
lpt_onnx_map_hardmax_flat (LptOnnxNode *on)
{
  map_flat (on, hardmax_along);
}
