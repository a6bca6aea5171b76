/* tflite-expand-index.c - reading and writing by index, moves, as GATHER and SCATTER_ND
 *
 *     GatherElements         Gather from the flat data, places computed
 *     ScatterElementsUpdate  the same places, as ScatterNDUpdate of the flat data
 *     ScatterUpdate          slices along an axis that comes first, as ScatterNDUpdate
 *     ScatterNDUpdate        into zeros, adding: SCATTER_ND; else the sum of that and the data, or what was written
 *                            where something was
 *     Pad                    with the outermost elements: Gather of places that stay inside; less than 0: Slice
 *     Roll, Slice            slices behind each other; computed bounds by StridedSlice
 *     TopK                   the axis behind the others; the smallest as the greatest of -x
 *     ArgMax, ArgMin         the last of equal ones: the first from the other end; of 64 bits: the first of TopK
 *     Reshape                a computed shape in which 0 keeps a length: what stands there in its place
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"
#include "frontends/tflite/write/tflite-writer.h"

/* An axis that a list of its places is written for. */
#define MAX_PLACES (1 << 24)

#define EMIT1(op, a) lpt_tfl_x_emit (x, LPT_OP_##op, 1, (a))
#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))

/* --- elements ------------------------------------------------------------------------ */

static LptValue *
flat (LptTflExpand *x, LptValue *v)
{
  return lpt_tfl_x_reshape (x, v, 1, (gint64[]) { -1 });
}

/* May some of them count from the end? */
static gboolean
may_be_negative (const LptValue *indices)
{
  LptTensor *data = indices->producer->data;
  gboolean negative = data == NULL;
  for (gint64 i = 0; data != NULL && i < lpt_tensor_count (data); i++)
    negative = negative || lpt_tensor_get_i64 (data, i) < 0;
  return negative;
}

/* @lengths added to those below 0. */
static LptValue *
add_to_negative (LptTflExpand *x, LptValue *indices, LptValue *lengths)
{
  LptValue *below = EMIT2 (LESS, indices, lpt_tfl_x_like (x, indices, 0));
  return lpt_tfl_x_emit (x, LPT_OP_SELECT, 3, below, EMIT2 (ADD, indices, lengths), indices);
}

/* Indices that count from the end, from the start. */
static LptValue *
wrapped (LptTflExpand *x, LptValue *indices, gint64 length)
{
  return may_be_negative (indices) ? add_to_negative (x, indices, lpt_tfl_x_like (x, indices, (double) length))
                                   : indices;
}

/* Rows of indices along the first axes of @data, likewise. */
static LptValue *
wrapped_rows (LptTflExpand *x, LptValue *rows, const LptShape *data)
{
  LptTensor *lengths;
  const gint64 n = rows->shape.rank > 0 ? rows->shape.dims[rows->shape.rank - 1] : 0;
  const LptShape shape = { 1, { n } };
  double values[LPT_MAX_RANK];
  if (!may_be_negative (rows) || n < 1 || n > data->rank)
    return rows;
  for (gint64 k = 0; k < n; k++)
    values[k] = (double) data->dims[k];
  lengths = lpt_tensor_from_f64 (rows->dtype, &shape, values, &x->error);
  return lengths != NULL ? add_to_negative (x, rows, lpt_tfl_x_tensor (x, lengths)) : rows;
}

/* Places in flat data of shape @data of elements of @indices along @axis. */
static LptValue *
element_places (LptTflExpand *x, LptValue *indices, const LptShape *data, gint axis)
{
  LptShape shape = lpt_tfl_x_shape (x, indices);
  gint64 strides[LPT_MAX_RANK], count, step = 1;
  if (x->declined || shape.rank != data->rank || !lpt_shape_count (&shape, &count))
    return NULL;
  for (gint i = data->rank - 1; i >= 0; i--)
    {
      strides[i] = step;
      step *= data->dims[i];
    }
  LptTensor *base = step <= G_MAXINT32 ? lpt_tensor_new (LPT_DTYPE_I32, &shape, &x->error) : NULL;
  if (base == NULL)
    return NULL;
  for (gint64 k = 0; k < count; k++)
    {
      gint64 rest = k, place = 0;
      for (gint i = shape.rank - 1; i >= 0; i--)
        {
          place += i == axis ? 0 : rest % shape.dims[i] * strides[i];
          rest /= shape.dims[i];
        }
      ((gint32 *) lpt_tensor_writable (base))[k] = (gint32) place;
    }
  LptValue *along = lpt_tfl_x_convert (x, wrapped (x, indices, data->dims[axis]), LPT_DTYPE_I32);
  if (strides[axis] != 1)
    along = EMIT2 (MULTIPLY, along, lpt_tfl_x_like (x, along, (double) strides[axis]));
  return flat (x, EMIT2 (ADD, along, lpt_tfl_x_tensor (x, base)));
}

void
lpt_tfl_expand_gather_elements (LptTflExpand *x)
{
  LptValue *data = lpt_tfl_x_raw (x, 0), *indices = lpt_tfl_x_raw (x, 1);
  LptShape shape = lpt_tfl_x_shape (x, data);
  gint axis;
  if (x->declined || !lpt_axis_normalize (LPT_ATTRS (x->node, LptAxisAttrs)->axis, shape.rank, &axis))
    return;
  LptValue *places = element_places (x, indices, &shape, axis);
  if (places == NULL)
    return;
  LptValue *y = lpt_tfl_x_gather (x, flat (x, data), places, 0);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_reshape (x, y, (guint) shape.rank, indices->shape.dims));
}

static LptValue *
scatter (LptTflExpand *x, LptValue *data, LptValue *places, LptValue *updates, gint reduction)
{
  LptValue *in[] = { data, places, updates };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_SCATTER_ND_UPDATE, 1, 3, in);
  node->opset = 15;
  LPT_ATTRS (node, LptScatterAttrs)->reduction = reduction;
  return lpt_tfl_x_done (x, node);
}

static gboolean
axis_in (LptTflExpand *x, guint i, gint rank, gint *axis)
{
  LptInts list = { 0 };
  gboolean ok = lpt_tfl_x_ints (x, i, &list) && list.n == 1 && lpt_axis_normalize (list.v[0], rank, axis);
  lpt_ints_clear (&list);
  return ok;
}

/* Input 2, in real numbers where it has codes, as the data are read; declined beside other data. */
static LptValue *
updates_in (LptTflExpand *x)
{
  if ((lpt_tfl_x_raw (x, 0)->quant == NULL) != (lpt_tfl_x_raw (x, 2)->quant == NULL))
    lpt_tfl_x_decline (x);
  return lpt_tfl_x_in (x, 2);
}

void
lpt_tfl_expand_scatter_elements (LptTflExpand *x)
{
  const LptScatterAttrs *attrs = LPT_ATTRS (x->node, LptScatterAttrs);
  LptValue *data = lpt_tfl_x_in (x, 0), *updates = updates_in (x);
  LptShape shape = lpt_tfl_x_shape (x, data);
  gint axis;
  if (x->declined || !axis_in (x, 3, shape.rank, &axis) || !attrs->use_init_val)
    return;
  LptValue *places = element_places (x, lpt_tfl_x_raw (x, 1), &shape, axis);
  if (places == NULL || (attrs->reduction != LPT_REDUCTION_NONE && attrs->reduction != LPT_REDUCTION_SUM))
    return;
  LptValue *y = scatter (x, flat (x, data), lpt_tfl_x_reshape (x, places, 2, (gint64[]) { -1, 1 }), flat (x, updates),
                         attrs->reduction);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_reshape (x, y, (guint) shape.rank, shape.dims));
}

/* --- slices ------------------------------------------------------------------------------ */

/* Axes [from, from + n) before the others, or back to where they were. */
static LptValue *
to_front (LptTflExpand *x, LptValue *v, gint from, gint n, gboolean back)
{
  gint64 order[LPT_MAX_RANK], inverse[LPT_MAX_RANK];
  gint rank = v->shape.rank, k = 0;
  for (gint i = from; i < from + n; i++)
    order[k++] = i;
  for (gint i = 0; i < rank; i++)
    if (i < from || i >= from + n)
      order[k++] = i;
  for (gint i = 0; i < rank; i++)
    inverse[order[i]] = i;
  return from == 0 ? v : lpt_tfl_x_transpose (x, v, (guint) rank, back ? inverse : order);
}

void
lpt_tfl_expand_scatter_update (LptTflExpand *x)
{
  LptValue *data = lpt_tfl_x_in (x, 0), *indices = lpt_tfl_x_raw (x, 1), *updates = updates_in (x);
  LptShape shape = lpt_tfl_x_shape (x, data);
  gint axis;
  if (x->declined || indices->shape.rank < 0 || !axis_in (x, 3, shape.rank, &axis))
    return;
  updates = to_front (x, updates, axis, indices->shape.rank, FALSE);
  LptValue *places = EMIT2 (UNSQUEEZE, wrapped (x, indices, shape.dims[axis]),
                            lpt_tfl_x_i64 (x, 1, (gint64[]) { indices->shape.rank }));
  LptValue *y = scatter (x, to_front (x, data, axis, 1, FALSE), places, updates, LPT_REDUCTION_NONE);
  lpt_tfl_x_set (x, 0, to_front (x, y, axis, 1, TRUE));
}

/* Is a place named twice among constant ones (rows of the last axis)? */
static gboolean
repeats (const LptValue *places)
{
  LptTensor *data = places->producer->data;
  gint64 n = data != NULL && places->shape.rank > 0 ? places->shape.dims[places->shape.rank - 1] : 0;
  gint64 rows = n > 0 ? lpt_tensor_count (data) / n : 0;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref,
                                                       NULL);
  for (gint64 i = 0; i < rows; i++)
    {
      gint64 row[LPT_MAX_RANK] = { 0 };
      for (gint64 k = 0; k < MIN (n, LPT_MAX_RANK); k++)
        row[k] = lpt_tensor_get_i64 (data, i * n + k);
      if (!g_hash_table_add (seen, g_bytes_new (row, sizeof row)))
        return TRUE;
    }
  return FALSE;
}

static LptValue *
filled (LptTflExpand *x, LptDType dtype, double number, const LptShape *shape)
{
  LptValue *one = lpt_tfl_x_tensor (x, lpt_tensor_scalar (dtype, number));
  return EMIT2 (BROADCAST, one, lpt_tfl_x_i64 (x, (guint) shape->rank, shape->dims));
}

/* The operator adds up at repeated places. Written once are the places whose count is not 0. */
void
lpt_tfl_expand_scatter_nd (LptTflExpand *x)
{
  gint reduction = LPT_ATTRS (x->node, LptScatterAttrs)->reduction;
  LptValue *data = lpt_tfl_x_in (x, 0), *places = lpt_tfl_x_raw (x, 1), *updates = updates_in (x);
  LptShape shape = lpt_tfl_x_shape (x, data), some = lpt_tfl_x_shape (x, updates);
  if (x->declined || (reduction != LPT_REDUCTION_NONE && reduction != LPT_REDUCTION_SUM)
      || (reduction == LPT_REDUCTION_NONE && repeats (places)))
    return;
  gboolean zeros = lpt_tfl_w_is_zero (data) && reduction == LPT_REDUCTION_SUM && data == lpt_tfl_x_raw (x, 0);
  /* The operator itself, as a file of TensorFlow Lite is read: it has no indices from the end. */
  if (zeros && data->producer->op == LPT_OP_BROADCAST)
    return;
  places = wrapped_rows (x, places, &shape);
  if (zeros)
    {
      if (places != lpt_tfl_x_raw (x, 1))
        lpt_tfl_x_set (x, 0, scatter (x, data, places, updates, reduction));
      return;
    }
  LptDType own = data->dtype == LPT_DTYPE_BOOL ? LPT_DTYPE_I32 : data->dtype;
  LptValue *none = filled (x, own, 0, &shape);
  LptValue *sums = scatter (x, none, places, lpt_tfl_x_convert (x, updates, own), LPT_REDUCTION_SUM);
  if (reduction == LPT_REDUCTION_SUM)
    {
      lpt_tfl_x_set (x, 0, EMIT2 (ADD, data, sums));
      return;
    }
  if (own == LPT_DTYPE_F16 || own == LPT_DTYPE_F64 || own == LPT_DTYPE_BF16)
    return;
  LptValue *count = scatter (x, none, places, filled (x, own, 1, &some), LPT_REDUCTION_SUM);
  LptValue *written = EMIT2 (NOT_EQUAL, count, lpt_tfl_x_like (x, count, 0));
  lpt_tfl_x_set (x, 0, lpt_tfl_x_emit (x, LPT_OP_SELECT, 3, written, lpt_tfl_x_convert (x, sums, data->dtype), data));
}

/* --- borders -------------------------------------------------------------------------------- */

/* 0, 0, 1, 2, ... n - 1, n - 1: the places that are read along an axis. */
static LptValue *
edge_places (LptTflExpand *x, gint64 n, gint64 before, gint64 after)
{
  LptShape shape = lpt_shape_make (1, (gint64[]) { n + before + after });
  LptTensor *list = lpt_tensor_new (LPT_DTYPE_I64, &shape, &x->error);
  for (gint64 i = 0; list != NULL && i < n + before + after; i++)
    ((gint64 *) lpt_tensor_writable (list))[i] = CLAMP (i - before, 0, n - 1);
  return lpt_tfl_x_tensor (x, list);
}

void
lpt_tfl_expand_pad (LptTflExpand *x)
{
  gboolean edge = LPT_ATTRS (x->node, LptPadAttrs)->pad_mode == LPT_PAD_EDGE, cuts = FALSE;
  LptValue *v = lpt_tfl_x_raw (x, 0), *in[4] = { NULL, NULL, NULL, lpt_tfl_x_raw (x, 3) };
  LptInts begin = { 0 }, end = { 0 };
  if (!lpt_node_ints_in (x->node, 1, &begin) || !lpt_node_ints_in (x->node, 2, &end) || begin.n != end.n
      || begin.n != (guint) v->shape.rank || (v->quant != NULL && v->quant->n > 1))
    goto end;
  for (guint i = 0; i < begin.n; i++)
    {
      gint64 n = v->shape.dims[i];
      gboolean less = begin.v[i] < 0 || end.v[i] < 0;
      if (n < 1 && (less || (edge && (begin.v[i] > 0 || end.v[i] > 0))))
        goto end;
      if (less)
        v = lpt_tfl_x_slice (x, v, i, MAX (-begin.v[i], 0), n + MIN (end.v[i], 0));
      cuts = cuts || less;
      begin.v[i] = MAX (begin.v[i], 0);
      end.v[i] = MAX (end.v[i], 0);
      if (edge && (begin.v[i] > 0 || end.v[i] > 0))
        v = lpt_tfl_x_gather (x, v, edge_places (x, v->shape.dims[i], begin.v[i], end.v[i]), i);
    }
  if (!edge && cuts)
    {
      in[0] = v;
      in[1] = lpt_tfl_x_i64 (x, begin.n, begin.v);
      in[2] = lpt_tfl_x_i64 (x, end.n, end.v);
      LptNode *node = lpt_tfl_x_add (x, LPT_OP_PAD, 1, in[3] != NULL ? 4 : 3, in);
      LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_ATTRS (x->node, LptPadAttrs)->pad_mode;
      v = lpt_tfl_x_done (x, node);
    }
  if (edge || cuts)
    lpt_tfl_x_set (x, 0, v);
end:
  lpt_ints_clear (&begin);
  lpt_ints_clear (&end);
}

void
lpt_tfl_expand_roll (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_raw (x, 0);
  LptInts shifts = { 0 }, axes = { 0 };
  if (lpt_tfl_x_ints (x, 1, &shifts) && lpt_tfl_x_ints (x, 2, &axes) && lpt_tfl_x_shape (x, v).rank > 0)
    {
      for (guint i = 0; i < axes.n; i++)
        {
          gint axis;
          if (!lpt_axis_normalize (axes.v[i], v->shape.rank, &axis) || v->shape.dims[axis] < 1)
            break;
          gint64 n = v->shape.dims[axis], by = ((lpt_ints_get (&shifts, shifts.n == 1 ? 0 : i, 0) % n) + n) % n;
          LptValue *parts[] = { lpt_tfl_x_slice (x, v, axis, n - by, n), lpt_tfl_x_slice (x, v, axis, 0, n - by) };
          v = by != 0 ? lpt_tfl_x_concat (x, axis, 2, parts) : v;
        }
      lpt_tfl_x_set (x, 0, lpt_tfl_x_emit (x, LPT_OP_IDENTITY, 1, v));
    }
  lpt_ints_clear (&shifts);
  lpt_ints_clear (&axes);
}

/* One after the other: REVERSE_V2 turns a single axis around, and some versions of it the first of several. */
void
lpt_tfl_expand_reverse (LptTflExpand *x)
{
  const gboolean mask = LPT_ATTRS (x->node, LptReverseAttrs)->mode == LPT_REVERSE_MASK;
  LptValue *v = lpt_tfl_x_raw (x, 0);
  LptInts axes = { 0 };
  if (lpt_tfl_x_ints (x, 1, &axes) && (mask || axes.n != 1))
    {
      for (guint i = 0; i < axes.n; i++)
        if (!mask || axes.v[i] != 0)
          {
            LptValue *in[] = { v, lpt_tfl_x_i64 (x, 1, (gint64[]) { mask ? (gint64) i : axes.v[i] }) };
            LptNode *node = lpt_tfl_x_add (x, LPT_OP_REVERSE, 1, 2, in);
            if (node == NULL)
              break;
            LPT_ATTRS (node, LptReverseAttrs)->mode = LPT_REVERSE_INDEX;
            v = lpt_tfl_x_done (x, node);
          }
      lpt_tfl_x_set (x, 0, lpt_tfl_x_emit (x, LPT_OP_IDENTITY, 1, v));
    }
  lpt_ints_clear (&axes);
}

/* Bound @i of the node for each axis of @rank, 0 for those that it does not name. */
static LptValue *
spread (LptTflExpand *x, guint i, gint rank, const LptInts *axes)
{
  LptValue *parts[LPT_MAX_RANK], *bounds = lpt_tfl_x_convert (x, lpt_tfl_x_raw (x, i), LPT_DTYPE_I64);
  for (gint k = 0; k < rank; k++)
    parts[k] = lpt_tfl_x_i64 (x, 1, (gint64[]) { i == 3 ? 1 : 0 });
  for (guint k = 0; k < axes->n; k++)
    {
      gint axis;
      if (lpt_axis_normalize (axes->v[k], rank, &axis))
        parts[axis] = lpt_tfl_x_slice (x, bounds, 0, k, (gint64) k + 1);
    }
  return lpt_tfl_x_concat (x, 0, (guint) rank, parts);
}

void
lpt_tfl_expand_slice (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_raw (x, 0), *in[4] = { v };
  LptInts axes = { 0 };
  gint rank = v->shape.rank;
  gint64 n = lpt_tfl_x_raw (x, 1)->shape.rank == 1 ? lpt_tfl_x_raw (x, 1)->shape.dims[0] : -1;
  gboolean known = lpt_node_const_in (x->node, 1) != NULL && lpt_node_const_in (x->node, 2) != NULL;
  if (known || rank < 1 || n < 0 || n > rank || (v->quant != NULL && v->quant->n > 1))
    return;
  if (lpt_tfl_x_raw (x, 4) == NULL)
    {
      lpt_ints_fill (&axes, (guint) n, 0);
      for (gint64 i = 0; i < n; i++)
        axes.v[i] = i;
    }
  else if (!lpt_tfl_x_ints (x, 4, &axes))
    return;
  for (guint i = 1; i < 4; i++)
    in[i] = spread (x, i, rank, &axes);
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_STRIDED_SLICE, 1, 4, in);
  LptStridedSliceAttrs *attrs = LPT_ATTRS (node, LptStridedSliceAttrs);
  lpt_ints_fill (&attrs->begin_mask, (guint) rank, 1);
  lpt_ints_fill (&attrs->end_mask, (guint) rank, 1);
  for (guint k = 0; k < axes.n; k++)
    {
      gint axis;
      if (lpt_axis_normalize (axes.v[k], rank, &axis))
        attrs->begin_mask.v[axis] = attrs->end_mask.v[axis] = 0;
    }
  lpt_ints_clear (&axes);
  if (v->quant != NULL)
    lpt_value_set_quant (lpt_node_out (node), v->quant);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_done (x, node));
}

/* --- order ---------------------------------------------------------------------------------- */

void
lpt_tfl_expand_top_k (LptTflExpand *x)
{
  const LptTopKAttrs *attrs = LPT_ATTRS (x->node, LptTopKAttrs);
  gboolean least = attrs->mode == LPT_TOPK_MIN;
  LptValue *v = least ? lpt_tfl_x_in (x, 0) : lpt_tfl_x_raw (x, 0), *in[2] = { NULL, lpt_tfl_x_raw (x, 1) };
  gint rank = v->shape.rank, axis;
  gint64 order[LPT_MAX_RANK];
  /* TOPK_V2 of 2.9 has no plain numbers of 16 bits. */
  gboolean narrow = v->dtype == LPT_DTYPE_I16 && v->quant == NULL;
  if (narrow)
    v = lpt_tfl_x_convert (x, v, LPT_DTYPE_I32);
  if (!lpt_axis_normalize (attrs->axis, rank, &axis) || attrs->sort == LPT_TOPK_SORT_INDEX
      || (axis == rank - 1 && !least && !narrow) || (v->quant != NULL && v->quant->n > 1)
      || (least && !lpt_dtype_is_real (v->dtype) && v->dtype != LPT_DTYPE_I32 && v->dtype != LPT_DTYPE_I64))
    return;
  for (gint i = 0; i < rank; i++)
    order[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
  in[0] = axis == rank - 1 ? v : lpt_tfl_x_transpose (x, v, (guint) rank, order);
  in[0] = least ? EMIT1 (NEGATIVE, in[0]) : in[0];
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_TOP_K, 2, 2, in);
  LptTopKAttrs *own = LPT_ATTRS (node, LptTopKAttrs);
  node->opset = 11;
  own->axis = -1;
  own->mode = LPT_TOPK_MAX;
  own->sort = LPT_TOPK_SORT_VALUE;
  own->index_element_type = attrs->index_element_type;
  own->stable = TRUE;
  lpt_tfl_x_done (x, node);
  if (!least && v->quant != NULL)
    lpt_value_set_quant (&node->out[0], v->quant);
  for (guint o = 0; o < 2 && x->error == NULL; o++)
    {
      LptValue *y = o == 0 && least ? EMIT1 (NEGATIVE, &node->out[0]) : &node->out[o];
      lpt_tfl_x_set (x, o, axis == rank - 1 ? y : lpt_tfl_x_transpose (x, y, (guint) rank, order));
    }
}

/* The operators give the first of equal ones. */
/* Of 64 bits: the first of TopK, of -1 - x where the least is wanted. */
static void
first_of_longs (LptTflExpand *x, LptValue *v)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (x->node, LptArgReduceAttrs);
  v = x->node->op == LPT_OP_ARG_MIN ? EMIT2 (SUBTRACT, lpt_tfl_x_like (x, v, -1), v) : v;
  LptValue *in[2] = { v, lpt_tfl_x_index (x, 1) };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_TOP_K, 2, 2, in);
  LptTopKAttrs *own = LPT_ATTRS (node, LptTopKAttrs);
  own->axis = attrs->axis;
  own->mode = LPT_TOPK_MAX;
  own->sort = LPT_TOPK_SORT_VALUE;
  own->index_element_type = LPT_DTYPE_I32;
  lpt_tfl_x_done (x, node);
  LptValue *at = &node->out[1];
  lpt_tfl_x_set (x, 0, attrs->keep_dims ? at : EMIT2 (SQUEEZE, at, lpt_tfl_x_i64 (x, 1, &attrs->axis)));
}

void
lpt_tfl_expand_arg (LptTflExpand *x)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (x->node, LptArgReduceAttrs);
  LptValue *v = lpt_tfl_x_raw (x, 0);
  gint axis;
  if (v->dtype == LPT_DTYPE_I64 && v->quant == NULL && !attrs->last_index)
    {
      first_of_longs (x, v);
      return;
    }
  if (!attrs->last_index || !lpt_axis_normalize (attrs->axis, v->shape.rank, &axis) || v->shape.dims[axis] < 1
      || v->shape.dims[axis] > MAX_PLACES || (v->quant != NULL && v->quant->n > 1))
    return;
  gint64 n = v->shape.dims[axis];
  g_autofree gint64 *places = g_new (gint64, (gsize) n);
  for (gint64 i = 0; i < n; i++)
    places[i] = n - 1 - i;
  v = lpt_tfl_x_gather (x, v, lpt_tfl_x_i64 (x, (guint) n, places), axis);
  LptNode *node = lpt_tfl_x_add (x, x->node->op, 1, 1, &v);
  LptArgReduceAttrs *own = LPT_ATTRS (node, LptArgReduceAttrs);
  own->axis = attrs->axis;
  own->keep_dims = attrs->keep_dims;
  own->output_type = attrs->output_type;
  LptValue *y = lpt_tfl_x_done (x, node);
  lpt_tfl_x_set (x, 0, EMIT2 (SUBTRACT, lpt_tfl_x_like (x, y, (double) (n - 1)), y));
}

/* Lengths 0 to n - 1 of @v, 1 behind them. */
static LptValue *
lengths_of (LptTflExpand *x, LptValue *v, gint n)
{
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_SHAPE_OF, 1, 1, &v);
  LPT_ATTRS (node, LptShapeOfAttrs)->output_type = LPT_DTYPE_I64;
  LptValue *parts[2] = { lpt_tfl_x_done (x, node), NULL };
  if (n < v->shape.rank)
    return lpt_tfl_x_slice (x, parts[0], 0, 0, n);
  gint64 ones[LPT_MAX_RANK];
  for (gint i = 0; i < LPT_MAX_RANK; i++)
    ones[i] = 1;
  parts[1] = lpt_tfl_x_i64 (x, (guint) (n - v->shape.rank), ones);
  return n == v->shape.rank ? parts[0] : lpt_tfl_x_concat (x, 0, 2, parts);
}

void
lpt_tfl_expand_reshape (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_raw (x, 0), *list = lpt_tfl_x_raw (x, 1);
  gint rank = lpt_node_out (x->node)->shape.rank, open = 0;
  for (gint i = 0; i < rank; i++)
    open += lpt_node_out (x->node)->shape.dims[i] == LPT_DYNAMIC;
  if (!LPT_ATTRS (x->node, LptReshapeAttrs)->special_zero || list->producer->data != NULL || open < 2
      || v->shape.rank < 0)
    return;
  list = lpt_tfl_x_convert (x, list, LPT_DTYPE_I64);
  LptValue *zero = EMIT2 (EQUAL, list, lpt_tfl_x_like (x, list, 0));
  LptValue *in[] = { v, lpt_tfl_x_emit (x, LPT_OP_SELECT, 3, zero, lengths_of (x, v, rank), list) };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_RESHAPE, 1, 2, in);
  LPT_ATTRS (node, LptReshapeAttrs)->special_zero = FALSE;
  if (v->quant != NULL)
    lpt_value_set_quant (lpt_node_out (node), v->quant);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_done (x, node));
}
