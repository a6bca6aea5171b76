/* tflite-map-move.c - operators that move elements
 *
 * Codes are moved as they are. Concatenation and padding keep the channels first where their operands have them so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#define MAX_PARTS 4096

/* --- joining and splitting --------------------------------------------------------- */

void
lpt_tfl_map_concatenation (LptTflOp *op)
{
  if (op->n_in == 0 || op->n_in > MAX_PARTS)
    lpt_tfl_invalid (op, "%u inputs", op->n_in);
  if (op->error != NULL)
    return;
  g_autofree LptValue **in = g_new (LptValue *, op->n_in);
  gboolean front = TRUE;
  for (guint i = 0; i < op->n_in; i++)
    {
      in[i] = lpt_tfl_in (op, i);
      front = front && lpt_tfl_is_back (in[i]) != NULL && in[i]->shape.rank == in[0]->shape.rank;
    }
  gint rank = lpt_tfl_rank (op, in[0]);
  LptTflField field = op->argument != 0 ? TFL_StablehloConcatenateOptions_dimension : TFL_ConcatenationOptions_axis;
  gint axis = lpt_tfl_axis (op, lpt_tfl_opt_int (op, field), rank);
  for (guint i = 0; front && i < op->n_in; i++)
    in[i] = lpt_tfl_front (op, in[i]);
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_CONCAT, 1, op->n_in, in);
  LPT_ATTRS (node, LptAxisAttrs)->axis = front ? lpt_tfl_front_axis (axis, rank) : axis;
  LptValue *y = lpt_tfl_activate (op, lpt_tfl_done_as (op, node, 0),
                                  lpt_tfl_opt_int (op, TFL_ConcatenationOptions_fused_activation_function));
  lpt_tfl_set (op, 0, front ? lpt_tfl_back (op, y) : y);
}

void
lpt_tfl_map_pack (LptTflOp *op)
{
  if (op->n_in == 0 || op->n_in > MAX_PARTS)
    lpt_tfl_invalid (op, "%u inputs", op->n_in);
  if (op->error != NULL)
    return;
  g_autofree LptValue **in = g_new (LptValue *, op->n_in);
  gint axis = lpt_tfl_axis (op, lpt_tfl_opt_int (op, TFL_PackOptions_axis), lpt_tfl_rank (op, lpt_tfl_in (op, 0)) + 1);
  for (guint i = 0; i < op->n_in; i++)
    in[i] = lpt_tfl_unsqueeze (op, lpt_tfl_in (op, i), axis);
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_CONCAT, 1, op->n_in, in);
  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;
  lpt_tfl_set (op, 0, lpt_tfl_done_as (op, node, 0));
}

/* @x in as many parts as there are outputs. */
static LptNode *
split (LptTflOp *op, LptValue *x, LptValue *axis)
{
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_SPLIT, op->n_out, 2, (LptValue *[]) { x, axis });
  LPT_ATTRS (node, LptSplitAttrs)->num_splits = op->n_out;
  lpt_tfl_done (op, node);
  return node;
}

void
lpt_tfl_map_unpack (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gint axis = lpt_tfl_axis (op, lpt_tfl_opt_int (op, TFL_UnpackOptions_axis), lpt_tfl_rank (op, x));
  if (op->n_out == 0)
    lpt_tfl_invalid (op, "has no outputs");
  LptNode *node = op->error == NULL ? split (op, x, lpt_tfl_i64_scalar (op, axis)) : NULL;
  for (guint o = 0; o < op->n_out && op->error == NULL; o++)
    lpt_tfl_set (op, o, lpt_tfl_squeeze (op, &node->out[o], axis));
}

/* One axis of @x; where it is computed, what a run knows. */
static LptValue *
axis_in (LptTflOp *op, guint i, LptValue *x)
{
  if (op->error == NULL && lpt_tfl_given (op, i) && lpt_tfl_const_in (op, i) == NULL)
    return lpt_tfl_whole_in (op, i);
  LptInts axis = { 0 };
  if (!lpt_tfl_ints_in (op, i, &axis) || axis.n != 1)
    lpt_tfl_invalid (op, "input %u is not one axis", i);
  gint result = lpt_tfl_axis (op, lpt_ints_get (&axis, 0, 0), lpt_tfl_rank (op, x));
  lpt_ints_clear (&axis);
  return lpt_tfl_i64_scalar (op, result);
}

void
lpt_tfl_map_split (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 1);
  if (op->n_out == 0)
    lpt_tfl_invalid (op, "has no outputs");
  LptNode *node = op->error == NULL ? split (op, x, axis_in (op, 0, x)) : NULL;
  for (guint o = 0; o < op->n_out && op->error == NULL; o++)
    lpt_tfl_set (op, o, &node->out[o]);
}

void
lpt_tfl_map_split_v (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  if (op->n_out == 0)
    lpt_tfl_invalid (op, "has no outputs");
  if (op->error != NULL)
    return;
  LptValue *in[] = { x, axis_in (op, 2, x), lpt_tfl_whole_in (op, 1) };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_VARIADIC_SPLIT, op->n_out, 3, in);
  lpt_tfl_done (op, node);
  for (guint o = 0; o < op->n_out && op->error == NULL; o++)
    lpt_tfl_set (op, o, &node->out[o]);
}

/* --- shapes -------------------------------------------------------------------------- */

/* Input 1 wins over the options; [0] for one element is how old files say scalar. */
void
lpt_tfl_map_reshape (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *shape = lpt_tfl_optional (op, 1);
  gint64 count;
  if (shape == NULL || shape->shape.rank != 1)
    {
      LptInts list = { 0 };
      lpt_tfl_opt_ints (op, TFL_ReshapeOptions_new_shape, &list);
      if (list.n == 1 && list.v[0] == 0 && lpt_shape_count (&x->shape, &count) && count == 1)
        list.n = 0;
      shape = lpt_tfl_i64 (op, list.n, list.v);
      lpt_ints_clear (&list);
    }
  else if (shape->producer->data != NULL && lpt_tensor_count (shape->producer->data) == 1
           && lpt_tensor_get_i64 (shape->producer->data, 0) == 0 && lpt_shape_count (&x->shape, &count) && count == 1)
    shape = lpt_tfl_i64 (op, 0, NULL);
  shape = lpt_tfl_convert (op, shape, LPT_DTYPE_I64);
  if (op->error != NULL)
    return;
  if (lpt_tfl_in_tensor (op, 0)->type == TFL_TYPE_COMPLEX64)
    shape = lpt_tfl_concat (op, 0, 2, (LptValue *[]) { shape, lpt_tfl_i64_one (op, 2) });
  lpt_tfl_set (op, 0, lpt_tfl_reshape_to (op, x, shape));
}

void
lpt_tfl_map_squeeze (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptInts axes = { 0 };
  lpt_tfl_opt_ints (op, TFL_SqueezeOptions_squeeze_dims, &axes);
  lpt_tfl_set (op, 0,
               axes.n > 0 ? lpt_tfl_emit (op, LPT_OP_SQUEEZE, 2, x, lpt_tfl_i64 (op, axes.n, axes.v))
                          : lpt_tfl_emit (op, LPT_OP_SQUEEZE, 1, x));
  lpt_ints_clear (&axes);
}

void
lpt_tfl_map_expand_dims (LptTflOp *op)
{
  lpt_tfl_set (op, 0,
               lpt_tfl_emit (op, LPT_OP_UNSQUEEZE, 2, lpt_tfl_in (op, 0),
                             lpt_tfl_whole_in (op, 1)));
}

void
lpt_tfl_map_transpose (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptInts order = { 0 };
  if (lpt_tfl_const_in (op, 1) == NULL)
    lpt_tfl_set (op, 0,
                 lpt_tfl_emit (op, LPT_OP_TRANSPOSE, 2, x, lpt_tfl_whole_in (op, 1)));
  else if (lpt_tfl_ints_in (op, 1, &order))
    {
      for (guint i = 0; i < order.n; i++)
        order.v[i] += order.v[i] < 0 ? order.n : 0;
      lpt_tfl_set (op, 0, lpt_tfl_transpose (op, x, order.n, order.v));
    }
  lpt_ints_clear (&order);
}

void
lpt_tfl_map_tile (LptTflOp *op)
{
  lpt_tfl_set (
      op, 0,
      lpt_tfl_emit (op, LPT_OP_TILE, 2, lpt_tfl_in (op, 0), lpt_tfl_whole_in (op, 1)));
}

void
lpt_tfl_map_reverse (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_REVERSE, 2, lpt_tfl_in (op, 0),
                               lpt_tfl_whole_in (op, 1));
  LPT_ATTRS (node, LptReverseAttrs)->mode = LPT_REVERSE_INDEX;
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

void
lpt_tfl_map_reverse_sequence (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_REVERSE_SEQUENCE, 2, lpt_tfl_in (op, 0), lpt_tfl_in (op, 1));
  LPT_ATTRS (node, LptReverseSequenceAttrs)->seq_axis = lpt_tfl_opt_int (op, TFL_ReverseSequenceOptions_seq_dim);
  LPT_ATTRS (node, LptReverseSequenceAttrs)->batch_axis = lpt_tfl_opt_int (op, TFL_ReverseSequenceOptions_batch_dim);
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

void
lpt_tfl_map_broadcast_to (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_BROADCAST, 2, lpt_tfl_in (op, 0),
                               lpt_tfl_whole_in (op, 1));
  LPT_ATTRS (node, LptBroadcastAttrs)->mode = LPT_BROADCAST_MODE_NUMPY;
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

/* The shape that both shapes broadcast to: that of a sum of arrays of these shapes. */
void
lpt_tfl_map_broadcast_args (LptTflOp *op)
{
  LptValue *zero = lpt_tfl_scalar (op, LPT_DTYPE_I32, 0);
  LptValue *a = lpt_tfl_broadcast (op, zero, lpt_tfl_whole_in (op, 0));
  LptValue *b = lpt_tfl_broadcast (op, zero, lpt_tfl_whole_in (op, 1));
  lpt_tfl_set (op, 0, lpt_tfl_shape_of (op, lpt_tfl_emit (op, LPT_OP_ADD, 2, a, b)));
}

/* --- slices -------------------------------------------------------------------------- */

/* [begin, begin + size); size -1: to the end. */
void
lpt_tfl_map_slice (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptValue *begin = lpt_tfl_whole_in (op, 1);
  LptValue *size = lpt_tfl_whole_in (op, 2);
  gint rank = lpt_tfl_rank (op, x);
  gint64 ones[LPT_MAX_RANK];
  for (gint i = 0; i < rank; i++)
    ones[i] = 1;
  LptValue *open = lpt_tfl_emit (op, LPT_OP_LESS, 2, size, lpt_tfl_i64_scalar (op, 0));
  LptValue *end = lpt_tfl_emit (op, LPT_OP_SELECT, 3, open, lpt_tfl_i64_scalar (op, G_MAXINT32),
                                lpt_tfl_emit (op, LPT_OP_ADD, 2, begin, size));
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_SLICE, 4, x, begin, end, lpt_tfl_i64 (op, (guint) rank, ones)));
}

static void
read_mask (LptTflOp *op, LptInts *list, LptTflField field, guint n)
{
  guint bits = (guint) lpt_tfl_opt_int (op, field);
  lpt_ints_fill (list, n, 0);
  for (guint i = 0; i < n; i++)
    list->v[i] = bits >> i & 1;
}

/* @begin, 0 where the file says that an axis that shrinks begins at its start: the IR looks at no mask there. */
static LptValue *
begin_at_start (LptTflOp *op, LptValue *begin, guint n)
{
  guint bits = (guint) lpt_tfl_opt_int (op, TFL_StridedSliceOptions_begin_mask)
               & (guint) lpt_tfl_opt_int (op, TFL_StridedSliceOptions_shrink_axis_mask);
  gint64 keep[32];
  for (guint i = 0; i < n; i++)
    keep[i] = (bits >> i & 1) == 0;
  return bits != 0 ? lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, begin, lpt_tfl_i64 (op, n, keep)) : begin;
}

/* A mask bit of the IR means that the bound is not used, as here; an axis that shrinks is one element from begin on,
   whatever end and stride say. */
void
lpt_tfl_map_strided_slice (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptValue *begin = lpt_tfl_whole_in (op, 1);
  LptValue *end = lpt_tfl_whole_in (op, 2);
  LptValue *strides = lpt_tfl_whole_in (op, 3);
  gint64 n = begin->shape.rank == 1 ? begin->shape.dims[0] : -1;
  if (n < 0 || n > 32)
    lpt_tfl_unsupported (op, "slices of an unknown number of axes");
  if (op->error != NULL)
    return;
  if (lpt_tfl_opt_int (op, TFL_StridedSliceOptions_offset) != 0)
    end = lpt_tfl_emit (op, LPT_OP_ADD, 2, begin, end);
  begin = begin_at_start (op, begin, (guint) n);
  LptNode *node = lpt_tfl_add (op, LPT_OP_STRIDED_SLICE, 4, x, begin, end, strides);
  LptStridedSliceAttrs *attrs = LPT_ATTRS (node, LptStridedSliceAttrs);
  read_mask (op, &attrs->begin_mask, TFL_StridedSliceOptions_begin_mask, (guint) n);
  read_mask (op, &attrs->end_mask, TFL_StridedSliceOptions_end_mask, (guint) n);
  read_mask (op, &attrs->ellipsis_mask, TFL_StridedSliceOptions_ellipsis_mask, (guint) n);
  read_mask (op, &attrs->new_axis_mask, TFL_StridedSliceOptions_new_axis_mask, (guint) n);
  read_mask (op, &attrs->shrink_axis_mask, TFL_StridedSliceOptions_shrink_axis_mask, (guint) n);
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

/* --- borders ------------------------------------------------------------------------- */

/* Pad of @x by [rank, 2] numbers that are computed. */
static void
pad_by_values (LptTflOp *op, LptValue *x, LptValue *value, LptPadMode mode)
{
  LptValue *pads = lpt_tfl_whole_in (op, 1), *ends[2];
  if (pads->shape.rank != 2 || (pads->shape.dims[1] != 2 && pads->shape.dims[1] != LPT_DYNAMIC))
    lpt_tfl_unsupported (op, "padding that is computed and no pair for each axis");
  if (op->error != NULL)
    return;
  for (guint e = 0; e < 2; e++)
    ends[e] = lpt_tfl_squeeze (op, lpt_tfl_slice (op, pads, 1, e, e + 1), 1);
  LptValue *in[] = { x, ends[0], ends[1], value };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_PAD, 1, value != NULL ? 4 : 3, in);
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = mode;
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

/* Pad of @x by the [rank, 2] numbers of input 1; @value NULL: of the mode. */
static void
pad (LptTflOp *op, LptValue *x, LptValue *value, LptPadMode mode)
{
  if (lpt_tfl_given (op, 1) && lpt_tfl_const_in (op, 1) == NULL)
    {
      pad_by_values (op, x, value, mode);
      return;
    }
  LptInts pads = { 0 };
  gint rank = lpt_tfl_rank (op, x);
  gint64 begin[LPT_MAX_RANK], end[LPT_MAX_RANK];
  if (!lpt_tfl_ints_in (op, 1, &pads) || pads.n != 2 * (guint) rank)
    lpt_tfl_invalid (op, "%u numbers of padding for rank %d", pads.n, rank);
  gboolean front = op->error == NULL && lpt_tfl_align (op, 1, &x);
  for (gint i = 0; op->error == NULL && i < rank; i++)
    {
      gint to = front ? lpt_tfl_front_axis (i, rank) : i;
      begin[to] = pads.v[2 * i];
      end[to] = pads.v[2 * i + 1];
      if (begin[to] < 0 || end[to] < 0)
        lpt_tfl_invalid (op, "negative padding");
    }
  lpt_ints_clear (&pads);
  if (op->error != NULL)
    return;
  LptValue *in[] = { x, lpt_tfl_i64 (op, (guint) rank, begin), lpt_tfl_i64 (op, (guint) rank, end), value };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_PAD, 1, value != NULL ? 4 : 3, in);
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = mode;
  LptValue *y = lpt_tfl_done (op, node);
  lpt_tfl_set (op, 0, front ? lpt_tfl_back (op, y) : y);
}

void
lpt_tfl_map_pad (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *value = lpt_tfl_optional (op, 2);
  /* Codes are padded with what means 0. */
  if (value == NULL && x->quant != NULL)
    value = lpt_tfl_tensor_value (op, lpt_tensor_scalar (x->dtype, x->quant->zero_point[0]), x->quant);
  else if (value == NULL)
    value = lpt_tfl_like (op, x, 0);
  else if (value->shape.rank > 0)
    value = lpt_tfl_reshape (op, value, 0, NULL);
  pad (op, x, value, LPT_PAD_CONSTANT);
}

/* Without options it is symmetric, with options it reflects unless they say so. */
void
lpt_tfl_map_mirror_pad (LptTflOp *op)
{
  gboolean symmetric = op->options_id != TFLT_MirrorPadOptions || lpt_tfl_opt_int (op, TFL_MirrorPadOptions_mode) == 1;
  pad (op, lpt_tfl_in (op, 0), NULL, symmetric ? LPT_PAD_SYMMETRIC : LPT_PAD_REFLECT);
}

/* The blocks run over the axes after the batch. */
void
lpt_tfl_map_space_batch (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptValue *blocks = lpt_tfl_whole_in (op, 1);
  LptValue *pads = lpt_tfl_whole_in (op, 2);
  gint rank = lpt_tfl_rank (op, x);
  gint64 n = blocks->shape.rank == 1 ? blocks->shape.dims[0] : -1, fill[LPT_MAX_RANK];
  if (n < 0 || n >= rank || pads->shape.rank != 2)
    lpt_tfl_unsupported (op, "blocks of an unknown number of axes");
  if (op->error != NULL)
    return;
  LptValue *one = lpt_tfl_i64_one (op, 1), *zero = lpt_tfl_i64_one (op, 0), *lists[3], *ends[2];
  for (guint e = 0; e < 2; e++)
    ends[e] = lpt_tfl_squeeze (op, lpt_tfl_slice (op, pads, 1, e, e + 1), 1);
  for (guint k = 0; k < 3; k++)
    {
      LptValue *parts[3] = { k == 0 ? one : zero, k == 0 ? blocks : ends[k - 1] };
      for (gint i = 0; i < rank; i++)
        fill[i] = k == 0 ? 1 : 0;
      if (rank - 1 - n > 0)
        parts[2] = lpt_tfl_i64 (op, (guint) (rank - 1 - n), fill);
      lists[k] = lpt_tfl_concat (op, 0, parts[2] != NULL ? 3 : 2, parts);
    }
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, (LptOp) op->argument, 4, x, lists[0], lists[1], lists[2]));
}
