/* tflite-write-move.c - operators that move elements
 *
 * Codes move as they are, with their gauge. A Transpose between the IR's order of axes and channels last is none: the
 * value is the other tensor. Lists of axes are turned with the data where that has its channels last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include "ir/infer/lpt-infer-util.h"

#include <math.h>

/* A constant list of integers; FALSE + error. */
static gboolean
ints_in (LptTflWriter *w, guint i, LptInts *list)
{
  if (lpt_node_ints_in (w->node, i, list))
    return TRUE;
  lpt_tfl_w_fail (w, "input %u that is not constant", i);
  return FALSE;
}

/* Where the data of input 0 is. */
static LptTflLayout
layout_of (LptTflWriter *w, guint i)
{
  LptValue *x = lpt_node_in (w->node, i);
  return x->producer->data == NULL && lpt_tfl_w_place (w, x)->tensor[LPT_TFL_LAST] >= 0 ? LPT_TFL_LAST : LPT_TFL_PLAIN;
}

/* --- the same elements ----------------------------------------------------------------- */

void
lpt_tfl_write_identity (LptTflWriter *w, gint64 code)
{
  const LptValue *from = lpt_node_in (w->node, 0), *to = lpt_node_out (w->node);
  LptTflLayout layout = layout_of (w, 0);
  double gauge;
  w->real = w->real || (to->quant != NULL && (from->dtype != to->dtype || !lpt_quant_equal (from->quant, to->quant)));
  gint x = lpt_tfl_w_in_free (w, 0, layout, &gauge);
  lpt_tfl_w_alias (w, 0, layout, x, gauge);
}

/* Is @order the one that brings axes into @to from the other? */
static gboolean
turns (const LptInts *order, LptTflLayout to)
{
  gint64 wanted[LPT_MAX_RANK];
  if (order->n < 3 || order->n > LPT_MAX_RANK)
    return FALSE;
  lpt_tfl_w_order (to, (gint) order->n, wanted);
  for (guint i = 0; i < order->n; i++)
    if (order->v[i] != wanted[i])
      return FALSE;
  return TRUE;
}

void
lpt_tfl_write_transpose (LptTflWriter *w, gint64 code)
{
  LptInts order = { 0 };
  LptValue *x = lpt_node_in (w->node, 0);
  gint rank = x->shape.rank;
  double gauge;
  gboolean known = lpt_node_in (w->node, 1) == NULL
                   || (lpt_infer_ints_in (w->node, 1, &order) && lpt_infer_all_known (&order));
  lpt_ints_clear (&order);
  if (!known && rank >= 0 && rank <= 5)
    {
      /* A computed order, of the axes as they are. */
      gint in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), lpt_tfl_w_in_i32 (w, 1) };
      lpt_tfl_w_need (lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge)), rank == 5 ? 4 : 1);
      return;
    }
  if (lpt_node_in (w->node, 1) != NULL)
    ints_in (w, 1, &order);
  if (w->error == NULL && order.n == 0 && rank > 0)
    {
      lpt_ints_fill (&order, (guint) rank, 0);
      for (gint i = 0; i < rank; i++)
        order.v[i] = rank - 1 - i;
    }
  for (gint to = LPT_TFL_PLAIN; to <= LPT_TFL_LAST && w->error == NULL && x->producer->data == NULL; to++)
    if (turns (&order, (LptTflLayout) to))
      {
        /* Axes of the output in one order are those of the input in the other. */
        gint tensor = lpt_tfl_w_in_free (w, 0, (LptTflLayout) to, &gauge);
        lpt_tfl_w_alias (w, 0, (LptTflLayout) (1 - to), tensor, gauge);
        lpt_ints_clear (&order);
        return;
      }
  gint in = w->error == NULL ? lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge) : -1;
  if (w->error == NULL)
    lpt_tfl_w_transpose_to (w, in, order.n, order.v, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
  lpt_ints_clear (&order);
}

/* [N, g, C/g, ...] with both channel axes exchanged */
void
lpt_tfl_write_shuffle_channels (LptTflWriter *w, gint64 code)
{
  const LptShuffleChannelsAttrs *attrs = LPT_ATTRS (w->node, LptShuffleChannelsAttrs);
  LptTflLayout layout = layout_of (w, 0);
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, layout, &gauge);
  gint axis = lpt_tfl_w_axis ((gint) (attrs->axis < 0 ? attrs->axis + rank : attrs->axis), rank, layout);
  gint out = lpt_tfl_w_out (w, 0, layout, gauge);
  if (w->error != NULL)
    return;
  LptShape shape = lpt_tfl_w_get (w, x)->shape, split = shape, whole = shape;
  gint64 order[LPT_MAX_RANK + 1];
  if (rank + 1 > 6 || shape.dims[axis] < 0)
    {
      lpt_tfl_w_fail (w, "channels of open number");
      return;
    }
  split.rank = rank + 1;
  for (gint i = axis + 1; i < rank; i++)
    split.dims[i + 1] = shape.dims[i];
  split.dims[axis] = attrs->group;
  split.dims[axis + 1] = shape.dims[axis] / attrs->group;
  for (gint i = 0; i <= rank; i++)
    order[i] = i == axis ? axis + 1 : i == axis + 1 ? axis : i;
  LptQuant *quant = lpt_tfl_w_get (w, x)->quant;
  gint parts = lpt_tfl_w_transpose (w, lpt_tfl_w_reshape (w, x, &split, quant, -1), (guint) rank + 1, order);
  lpt_tfl_w_reshape (w, parts, &whole, quant, out);
}

/* --- joining and splitting --------------------------------------------------------------- */

void
lpt_tfl_write_concat (LptTflWriter *w, gint64 code)
{
  LptValue *y = lpt_node_out (w->node);
  gint rank = y->shape.rank;
  gint64 axis = LPT_ATTRS (w->node, LptAxisAttrs)->axis;
  g_autofree gint *in = g_new (gint, w->node->n_in);
  g_autofree double *gauges = g_new (double, w->node->n_in);
  LptTflLayout layout = LPT_TFL_LAST;
  gboolean equal = TRUE;
  for (guint i = 0; i < w->node->n_in; i++)
    if (lpt_node_in (w->node, i)->producer->data == NULL && layout_of (w, i) == LPT_TFL_PLAIN)
      layout = LPT_TFL_PLAIN;
  for (guint i = 0; i < w->node->n_in; i++)
    {
      in[i] = lpt_tfl_w_in_free (w, i, layout, &gauges[i]);
      equal = equal && fabs (gauges[i] - gauges[0]) <= 1e-12 * gauges[0];
    }
  for (guint i = 0; i < w->node->n_in && !equal; i++)
    in[i] = lpt_tfl_w_in (w, i, layout);
  gint out = lpt_tfl_w_out (w, 0, layout, equal ? gauges[0] : 1);
  if (w->error != NULL)
    return;
  /* Kernels of 8 bits want one quantization. */
  const LptTflWTensor *to = lpt_tfl_w_get (w, out);
  for (guint i = 0; i < w->node->n_in && to->quant != NULL; i++)
    if (to->type != lpt_tfl_w_type (LPT_DTYPE_U8) && !lpt_quant_equal (lpt_tfl_w_get (w, in[i])->quant, to->quant))
      {
        LptShape shape = lpt_tfl_w_get (w, in[i])->shape;
        gint same = lpt_tfl_w_like (w, "requantized", out, &shape);
        lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &in[i], same);
        in[i] = same;
      }
  LptTflWOp *op = lpt_tfl_w_op (w, code, w->node->n_in, in, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (ConcatenationOptions, axis,
                                  lpt_tfl_w_axis ((gint) (axis < 0 ? axis + rank : axis), rank, layout)));
}

/* The parts of a Split by their lengths. */
static gboolean
equal_lengths (LptTflWriter *w, gint64 axis, gint rank, gint64 *code, LptInts *lengths)
{
  const gint64 n = w->node->n_out, all = lpt_node_in (w->node, 0)->shape.dims[axis < 0 ? axis + rank : axis];
  if (all < 0)
    lpt_tfl_w_fail (w, "parts of an axis of unknown length of 64 bits");
  lpt_ints_fill (lengths, (guint) n, all / n);
  *code = TFL_SPLIT_V;
  return all >= 0;
}

/* Split and VariadicSplit */
void
lpt_tfl_write_split (LptTflWriter *w, gint64 code)
{
  LptInts axes = { 0 }, lengths = { 0 };
  LptTflLayout layout = layout_of (w, 0);
  gint rank = lpt_node_in (w->node, 0)->shape.rank, in[3];
  gboolean ok = ints_in (w, 1, &axes) && axes.n == 1 && (code == TFL_SPLIT || ints_in (w, 2, &lengths));
  if (ok && code == TFL_SPLIT && lpt_node_in (w->node, 0)->dtype == LPT_DTYPE_I64)      /* it has none of 64 bits */
    ok = equal_lengths (w, axes.v[0], rank, &code, &lengths);
  double gauge;
  gint x = ok ? lpt_tfl_w_in_free (w, 0, layout, &gauge) : -1;
  if (ok && w->error == NULL)
    {
      gint axis = lpt_tfl_w_i32 (w, "axis",
                                 lpt_tfl_w_axis ((gint) (axes.v[0] < 0 ? axes.v[0] + rank : axes.v[0]), rank, layout));
      in[0] = code == TFL_SPLIT ? axis : x;
      in[1] = code == TFL_SPLIT ? x : lpt_tfl_w_i32s (w, "lengths", lengths.n, lengths.v);
      in[2] = axis;
      LptTflWOp *op = lpt_tfl_w_op (w, code, code == TFL_SPLIT ? 2 : 3, in, -1);
      if (code == TFL_SPLIT)
        lpt_tfl_w_set (op, LPT_TFL_INT (SplitOptions, num_splits, w->node->n_out));
      else
        lpt_tfl_w_set (op, LPT_TFL_INT (SplitVOptions, num_splits, w->node->n_out));
      for (guint o = 0; o < w->node->n_out; o++)
        lpt_tfl_w_add_out (op, lpt_tfl_w_out (w, o, layout, gauge));
    }
  lpt_ints_clear (&axes);
  lpt_ints_clear (&lengths);
}

/* --- slices ---------------------------------------------------------------------------------- */

#define MAX_STEP (1 << 30)   /* kernels add it to places of 32 bits */

/* Along listed axes: STRIDED_SLICE of all, where a bound that is not in the list is not looked at. */
void
lpt_tfl_write_slice (LptTflWriter *w, gint64 code)
{
  LptInts start = { 0 }, stop = { 0 }, step = { 0 }, axes = { 0 };
  LptTflLayout layout = layout_of (w, 0);
  LptValue *x = lpt_node_in (w->node, 0);
  gint rank = x->shape.rank;
  gint64 begin[LPT_MAX_RANK] = { 0 }, end[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK], open_begin = 0, open_end = 0;
  double gauge;
  gboolean ok = ints_in (w, 1, &start) && ints_in (w, 2, &stop) && ints_in (w, 3, &step)
                && (lpt_node_in (w->node, 4) == NULL || ints_in (w, 4, &axes));
  for (gint i = 0; i < rank; i++)
    {
      strides[i] = 1;
      open_begin |= 1 << i;
    }
  open_end = open_begin;
  for (guint k = 0; ok && k < start.n; k++)
    {
      gint64 axis = axes.n > 0 ? axes.v[k] : k;
      gint at = lpt_tfl_w_axis ((gint) (axis < 0 ? axis + rank : axis), rank, layout);
      /* A longer step than the axis takes one element as well. */
      gint64 far = MAX_STEP;
      if (k >= stop.n || k >= step.n || at < 0 || at >= rank)
        break;
      begin[at] = CLAMP (start.v[k], -G_MAXINT32, G_MAXINT32);
      end[at] = CLAMP (stop.v[k], -G_MAXINT32, G_MAXINT32);
      if (x->shape.dims[axis < 0 ? axis + rank : axis] > 0)
        far = MIN (far, x->shape.dims[axis < 0 ? axis + rank : axis]);
      strides[at] = CLAMP (step.v[k], -far, far);
      open_begin &= ~(1 << at);
      /* Below 0 the end is open: nothing else says so. */
      open_end &= step.v[k] < 0 && stop.v[k] < -(x->shape.dims[axis < 0 ? axis + rank : axis]) ? ~0 : ~(1 << at);
    }
  gint in[] = { ok ? lpt_tfl_w_in_free (w, 0, layout, &gauge) : -1, -1, -1, -1 };
  if (ok && w->error == NULL)
    {
      in[1] = lpt_tfl_w_i32s (w, "begin", (guint) rank, begin);
      in[2] = lpt_tfl_w_i32s (w, "end", (guint) rank, end);
      in[3] = lpt_tfl_w_i32s (w, "strides", (guint) rank, strides);
      LptTflWOp *op = lpt_tfl_w_op (w, TFL_STRIDED_SLICE, 4, in, lpt_tfl_w_out (w, 0, layout, gauge));
      lpt_tfl_w_set (op, LPT_TFL_INT (StridedSliceOptions, begin_mask, open_begin));
      lpt_tfl_w_set (op, LPT_TFL_INT (StridedSliceOptions, end_mask, open_end));
      lpt_tfl_w_need (op, rank > 4 ? 4 : 1);
    }
  lpt_ints_clear (&start);
  lpt_ints_clear (&stop);
  lpt_ints_clear (&step);
  lpt_ints_clear (&axes);
}

static gint64
mask_of (const LptInts *list)
{
  gint64 mask = 0;
  for (guint i = 0; i < MIN (list->n, 31); i++)
    mask |= list->v[i] != 0 ? 1 << i : 0;
  return mask;
}

void
lpt_tfl_write_strided_slice (LptTflWriter *w, gint64 code)
{
  const LptStridedSliceAttrs *attrs = LPT_ATTRS (w->node, LptStridedSliceAttrs);
  double gauge;
  gint in[4] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge) };
  LptValue *begin = lpt_node_in (w->node, 1);
  gint64 n = begin->shape.rank == 1 ? begin->shape.dims[0] : -1, ones[32];
  if (n < 0 || n > 31)
    lpt_tfl_w_fail (w, "an unknown number of axes");
  for (guint i = 1; i < 4 && w->error == NULL; i++)
    in[i] = lpt_tfl_w_in_i32 (w, i);
  for (gint64 i = 0; i < n && i < 32; i++)
    ones[i] = 1;
  if (w->error == NULL && in[3] < 0)
    in[3] = lpt_tfl_w_i32s (w, "strides", (guint) n, ones);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 4, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
  gint64 ellipsis = mask_of (&attrs->ellipsis_mask), fresh = mask_of (&attrs->new_axis_mask);
  /* An axis that shrinks begins where begin says, whatever the IR's mask is; the file's would be obeyed. */
  gint64 one = mask_of (&attrs->shrink_axis_mask);
  lpt_tfl_w_set (op, LPT_TFL_INT (StridedSliceOptions, begin_mask, mask_of (&attrs->begin_mask) & ~one));
  lpt_tfl_w_set (op, LPT_TFL_INT (StridedSliceOptions, end_mask, mask_of (&attrs->end_mask) & ~one));
  lpt_tfl_w_set (op, LPT_TFL_INT (StridedSliceOptions, ellipsis_mask, ellipsis));
  lpt_tfl_w_set (op, LPT_TFL_INT (StridedSliceOptions, new_axis_mask, fresh));
  lpt_tfl_w_set (op, LPT_TFL_INT (StridedSliceOptions, shrink_axis_mask, one));
  lpt_tfl_w_need (op, ellipsis != 0 || fresh != 0 ? 6 : lpt_node_in (w->node, 0)->shape.rank > 4 ? 4 : 1);
}

/* --- borders, repetition ------------------------------------------------------------------------ */

/* The constant that stands at the borders of @data: a number, or what its codes stand for, as a code beside codes. */
static gint
pad_value (LptTflWriter *w, LptTensor *value, gint data)
{
  const LptQuant *own = lpt_node_in (w->node, 3)->quant, *to = lpt_tfl_w_get (w, data)->quant;
  const LptDType dtype = lpt_tfl_dtype (lpt_tfl_w_get (w, data)->type);
  double number = lpt_tensor_get_f64 (value, 0);
  if (own != NULL && own->n > 1)
    lpt_tfl_w_fail (w, "a border of several scales");
  if (to != NULL && own != NULL && lpt_quant_equal (own, to))
    return lpt_tfl_w_number (w, "value", data, number);
  if (own != NULL)
    number = (number - own->zero_point[0]) * own->scale[0];
  if (to != NULL)
    number = fmax (lpt_dtype_min (dtype), fmin (nearbyint (number / to->scale[0]) + to->zero_point[0],
                                                lpt_dtype_max (dtype)));
  return lpt_tfl_w_number (w, "value", data, number);
}

/* Numbers of elements in front and behind that are computed, [rank, 2]. */
static void
write_computed_pad (LptTflWriter *w)
{
  gint rank = lpt_node_in (w->node, 0)->shape.rank, sides[2];
  const LptShape column = lpt_shape_make (2, (gint64[]) { rank, 1 });
  const LptShape square = lpt_shape_make (2, (gint64[]) { rank, 2 });
  double gauge = 1;
  if (rank < 1 || LPT_ATTRS (w->node, LptPadAttrs)->pad_mode != LPT_PAD_CONSTANT)
    lpt_tfl_w_fail (w, "computed borders that are not constant numbers");
  for (guint i = 0; i < 2; i++)
    sides[i] = lpt_tfl_w_reshape (w, lpt_tfl_w_in_i32 (w, 1 + i), &column, NULL, -1);
  gint pads = lpt_tfl_w_like (w, "pads", sides[0], &square);
  lpt_tfl_w_set (lpt_tfl_w_op (w, TFL_CONCATENATION, 2, sides, pads), LPT_TFL_INT (ConcatenationOptions, axis, 1));
  LptTensor *value = lpt_node_const_in (w->node, 3);
  gint in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), pads, -1 };
  if (value != NULL)
    in[2] = pad_value (w, value, in[0]);
  else if (lpt_node_in (w->node, 3) != NULL)
    in[2] = lpt_tfl_w_in (w, 3, LPT_TFL_PLAIN);
  LptTflWOp *op = lpt_tfl_w_op (w, in[2] >= 0 ? TFL_PADV2 : TFL_PAD, in[2] >= 0 ? 3 : 2, in,
                                lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
  lpt_tfl_w_need (op, rank > 4 ? 4 : 1);
}

void
lpt_tfl_write_pad (LptTflWriter *w, gint64 code)
{
  if (lpt_node_const_in (w->node, 1) == NULL || lpt_node_const_in (w->node, 2) == NULL)
    {
      write_computed_pad (w);
      return;
    }
  LptInts begin = { 0 }, end = { 0 };
  gint mode = LPT_ATTRS (w->node, LptPadAttrs)->pad_mode, rank = lpt_node_in (w->node, 0)->shape.rank;
  LptTflLayout layout = layout_of (w, 0);
  gint64 pads[2 * LPT_MAX_RANK];
  double gauge;
  gboolean ok = ints_in (w, 1, &begin) && ints_in (w, 2, &end) && begin.n == (guint) rank && end.n == (guint) rank;
  for (gint i = 0; ok && i < rank; i++)
    {
      gint at = lpt_tfl_w_axis (i, rank, layout);
      pads[2 * at] = begin.v[i];
      pads[2 * at + 1] = end.v[i];
      if (begin.v[i] < 0 || end.v[i] < 0)
        lpt_tfl_w_fail (w, "negative padding");
    }
  if (mode == LPT_PAD_EDGE)
    lpt_tfl_w_fail (w, "padding with the outermost elements");
  gint in[] = { ok ? lpt_tfl_w_in_free (w, 0, layout, &gauge) : -1, -1, -1 };
  if (ok && w->error == NULL)
    {
      in[1] = lpt_tfl_w_pairs (w, "pads", (guint) rank, pads);
      LptTensor *value = lpt_node_const_in (w->node, 3);
      if (mode == LPT_PAD_CONSTANT && value != NULL)
        in[2] = pad_value (w, value, in[0]);
      else if (mode == LPT_PAD_CONSTANT && lpt_node_in (w->node, 3) != NULL)
        in[2] = lpt_tfl_w_in (w, 3, LPT_TFL_PLAIN);
      gboolean mirrors = mode != LPT_PAD_CONSTANT;
      gint64 kind = mirrors ? TFL_MIRROR_PAD : in[2] >= 0 ? TFL_PADV2 : TFL_PAD;
      LptTflWOp *op = lpt_tfl_w_op (w, kind, in[2] >= 0 ? 3 : 2, in, lpt_tfl_w_out (w, 0, layout, gauge));
      if (mirrors)
        lpt_tfl_w_set (op, LPT_TFL_INT (MirrorPadOptions, mode, mode == LPT_PAD_SYMMETRIC));
      else
        lpt_tfl_w_need (op, rank > 4 ? 4 : 1);
    }
  lpt_ints_clear (&begin);
  lpt_ints_clear (&end);
}

void
lpt_tfl_write_tile (LptTflWriter *w, gint64 code)
{
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), rank = lpt_node_in (w->node, 0)->shape.rank;
  LptShape shape = lpt_node_in (w->node, 0)->shape;
  const LptShape *times = &lpt_node_in (w->node, 1)->shape;
  gint extra = times->rank == 1 ? (gint) times->dims[0] - rank : -1;
  if (extra < 0)
    lpt_tfl_w_fail (w, "repetitions of other axes than the data has");
  else if (extra > 0 && w->error == NULL)
    {
      LptShape wide = { .rank = rank + extra };
      for (gint i = 0; i < rank + extra; i++)
        wide.dims[i] = i < extra ? 1 : shape.dims[i - extra];
      x = lpt_tfl_w_reshape (w, x, &wide, lpt_tfl_w_get (w, x)->quant, -1);
    }
  gint list = w->error == NULL ? lpt_tfl_w_in_i32 (w, 1) : -1;
  lpt_tfl_w_op (w, code, 2, (gint[]) { x, list }, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
}

void
lpt_tfl_write_broadcast (LptTflWriter *w, gint64 code)
{
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), shape;
  const LptShape *out = &lpt_node_out (w->node)->shape;
  if (LPT_ATTRS (w->node, LptBroadcastAttrs)->mode == LPT_BROADCAST_MODE_EXPLICIT)
    lpt_tfl_w_fail (w, "axes of its own");
  if (w->error != NULL)
    return;
  if (lpt_shape_is_static (out))
    shape = lpt_tfl_w_i32s (w, "shape", (guint) out->rank, out->dims);
  else
    {
      shape = lpt_tfl_w_in_i32 (w, 1);
      if (LPT_ATTRS (w->node, LptBroadcastAttrs)->mode == LPT_BROADCAST_MODE_BIDIRECTIONAL)
        lpt_tfl_w_fail (w, "a broadcast in both directions to a computed shape");
    }
  lpt_tfl_w_need (lpt_tfl_w_op (w, code, 2, (gint[]) { x, shape }, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge)), 2);
}

void
lpt_tfl_write_reverse (LptTflWriter *w, gint64 code)
{
  double gauge;
  if (LPT_ATTRS (w->node, LptReverseAttrs)->mode != LPT_REVERSE_INDEX)
    lpt_tfl_w_fail (w, "axes as a mask");
  else if (lpt_node_in (w->node, 1)->shape.rank != 1 || lpt_node_in (w->node, 1)->shape.dims[0] != 1)
    lpt_tfl_w_fail (w, "another number of axes than one");
  gint in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), lpt_tfl_w_in_i32 (w, 1) };
  lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
}

/* --- blocks ------------------------------------------------------------------------------------------ */

void
lpt_tfl_write_blocks (LptTflWriter *w, gint64 code)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (w->node, LptDepthToSpaceAttrs);
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  double gauge;
  if (attrs->mode != LPT_DEPTH_BLOCKS_FIRST || rank != 4)
    lpt_tfl_w_fail (w, rank == 4 ? "the depth before the blocks" : "blocks of rank %d", rank);
  gint x = lpt_tfl_w_in_free (w, 0, LPT_TFL_LAST, &gauge);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &x, lpt_tfl_w_out (w, 0, LPT_TFL_LAST, gauge));
  if (code == TFL_DEPTH_TO_SPACE)
    lpt_tfl_w_set (op, LPT_TFL_INT (DepthToSpaceOptions, block_size, attrs->block_size));
  else
    lpt_tfl_w_set (op, LPT_TFL_INT (SpaceToDepthOptions, block_size, attrs->block_size));
}

/* Blocks over all axes: the first one is 1, the last ones too. */
void
lpt_tfl_write_space_batch (LptTflWriter *w, gint64 code)
{
  LptInts blocks = { 0 }, begin = { 0 }, end = { 0 };
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  gint64 list[LPT_MAX_RANK], pads[2 * LPT_MAX_RANK];
  double gauge;
  gboolean ok = ints_in (w, 1, &blocks) && ints_in (w, 2, &begin) && ints_in (w, 3, &end) && blocks.n == (guint) rank
                && begin.n == blocks.n && end.n == blocks.n && rank > 1;
  /* The kernels count on an axis without blocks behind those with some: the channels, or the last one. */
  const gboolean still = ok && blocks.v[1] == 1 && begin.v[1] == 0 && end.v[1] == 0;
  LptTflLayout layout = still && rank > 2 ? LPT_TFL_LAST : LPT_TFL_PLAIN;
  for (gint i = 0; ok && i < rank; i++)
    {
      gint at = lpt_tfl_w_axis (i, rank, layout) - 1;
      if (at >= 0)
        {
          list[at] = blocks.v[i];
          pads[2 * at] = begin.v[i];
          pads[2 * at + 1] = end.v[i];
        }
    }
  gint n = rank - 1;
  while (ok && n > rank - 2 && n > 1 && list[n - 1] == 1 && pads[2 * n - 2] == 0 && pads[2 * n - 1] == 0)
    n--;
  if (ok && n != rank - 2)
    lpt_tfl_w_fail (w, "blocks along the last axis");
  gint in[3] = { ok ? lpt_tfl_w_in_free (w, 0, layout, &gauge) : -1 };
  if (ok && w->error == NULL)
    {
      in[1] = lpt_tfl_w_i32s (w, "blocks", (guint) n, list);
      in[2] = lpt_tfl_w_pairs (w, "borders", (guint) n, pads);
      lpt_tfl_w_need (lpt_tfl_w_op (w, code, 3, in, lpt_tfl_w_out (w, 0, layout, gauge)), rank != 4 ? 3 : 1);
    }
  else
    lpt_tfl_w_fail (w, "blocks that are not constant");
  lpt_ints_clear (&blocks);
  lpt_ints_clear (&begin);
  lpt_ints_clear (&end);
}
