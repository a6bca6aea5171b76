/* tflite-map-hlo.c - StableHLO: numbers, shapes, slices, padding, products
 *
 * Shapes are those of the file: an operator whose output's shape decides what it does needs it known. Operators that
 * differ from the others in name only have their rows (tflite-ops.def).
 *
 *   CLAMP                  min (max (x, low), high)
 *   CBRT                   sign (x) |x|^(1/3)
 *   BROADCAST_IN_DIM       axes of length 1 in between, then Broadcast
 *   PAD, DILATE            an axis behind each that is moved apart, padded and joined; then Pad and Slice
 *   DOT_GENERAL            MatMul of [batch, rows, inner] and [batch, inner, columns]
 *   CONVOLUTION            axes in the IR's order; padded and moved apart before where Convolution cannot say it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-hlo.h"

/* --- options ----------------------------------------------------------------------- */

/* @shape where it is known and places in it are numbers, whatever axes of it are empty. */
static LptShape
known_shape (LptTflOp *op, const LptShape *shape, const char *what)
{
  gint64 places = 1;
  if (shape == NULL || !lpt_shape_is_static (shape))
    lpt_tfl_unsupported (op, "%s of unknown shape", what);
  for (gint i = 0; op->error == NULL && i < shape->rank; i++)
    {
      if (shape->dims[i] > G_MAXINT32 / places)
        lpt_tfl_unsupported (op, "%s of more than 2^31 elements", what);
      else
        places *= MAX (shape->dims[i], 1);
    }
  return op->error == NULL ? *shape : LPT_SHAPE_SCALAR;
}

LptShape
lpt_tfl_hlo_shape (LptTflOp *op)
{
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  return known_shape (op, out != NULL ? &out->shape : NULL, "output");
}

LptShape
lpt_tfl_hlo_shape_of (LptTflOp *op, LptValue *value)
{
  return known_shape (op, &value->shape, "input");
}

gboolean
lpt_tfl_hlo_list (LptTflOp *op, LptTflField field, guint n, gint64 min, gint64 fallback, gint64 *list)
{
  LptInts read = { 0 };
  lpt_tfl_opt_ints (op, field, &read);
  if (read.n != n && read.n != 0)
    lpt_tfl_invalid (op, "%u numbers for %u axes", read.n, n);
  for (guint i = 0; i < n; i++)
    {
      list[i] = read.n == n ? read.v[i] : fallback;
      if (list[i] < min || list[i] > G_MAXINT32)
        {
          lpt_tfl_invalid (op, "the number %" G_GINT64_FORMAT " for axis %u", list[i], i);
          list[i] = fallback;
        }
    }
  lpt_ints_clear (&read);
  return op->error == NULL;
}

guint
lpt_tfl_hlo_axes (LptTflOp *op, LptTflField field, gint rank, gint64 *axes)
{
  LptInts read = { 0 };
  guint seen = 0, n;
  lpt_tfl_opt_ints (op, field, &read);
  n = MIN (read.n, LPT_MAX_RANK);
  for (guint i = 0; i < read.n && op->error == NULL; i++)
    {
      if (read.v[i] < 0 || read.v[i] >= rank || (seen >> read.v[i] & 1) != 0)
        lpt_tfl_invalid (op, "axis %" G_GINT64_FORMAT " of rank %d", read.v[i], rank);
      else
        {
          axes[i] = read.v[i];
          seen |= 1u << read.v[i];
        }
    }
  lpt_ints_clear (&read);
  return op->error == NULL ? n : 0;
}

guint
lpt_tfl_hlo_others (gint rank, guint n, const gint64 *axes, gint64 *others)
{
  guint count = 0;
  for (gint i = 0; i < rank; i++)
    {
      gboolean listed = FALSE;
      for (guint k = 0; k < n; k++)
        listed = listed || axes[k] == i;
      if (!listed)
        others[count++] = i;
    }
  return count;
}

/* --- numbers ----------------------------------------------------------------------- */

/* Inputs: low, x, high. */
void
lpt_tfl_map_hlo_clamp (LptTflOp *op)
{
  LptValue *y = lpt_tfl_emit (op, LPT_OP_MAXIMUM, 2, lpt_tfl_in (op, 1), lpt_tfl_in (op, 0));
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_MINIMUM, 2, y, lpt_tfl_in (op, 2)));
}

void
lpt_tfl_map_hlo_cbrt (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptValue *root = lpt_tfl_emit (op, LPT_OP_POWER, 2, lpt_tfl_emit (op, LPT_OP_ABS, 1, x),
                                 lpt_tfl_like (op, x, 1.0 / 3));
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, lpt_tfl_emit (op, LPT_OP_SIGN, 1, x), root));
}

void
lpt_tfl_map_hlo_compare (LptTflOp *op)
{
  static const LptOp kinds[] = { LPT_OP_EQUAL,   LPT_OP_NOT_EQUAL,  LPT_OP_GREATER_EQUAL,
                                 LPT_OP_GREATER, LPT_OP_LESS_EQUAL, LPT_OP_LESS };
  gint64 direction = lpt_tfl_opt_int (op, TFL_StablehloCompareOptions_comparison_direction);
  if (direction < 0 || direction >= (gint64) G_N_ELEMENTS (kinds))
    lpt_tfl_unsupported (op, "comparison %" G_GINT64_FORMAT, direction);
  if (op->error == NULL)
    lpt_tfl_set (op, 0, lpt_tfl_emit (op, kinds[direction], 2, lpt_tfl_in (op, 0), lpt_tfl_in (op, 1)));
}

/* 0, 1, ... along one axis. */
void
lpt_tfl_map_hlo_iota (LptTflOp *op)
{
  LptShape shape = lpt_tfl_hlo_shape (op);
  gint axis = lpt_tfl_axis (op, lpt_tfl_opt_int (op, TFL_StablehloIotaOptions_iota_dimension), shape.rank);
  gint64 dims[LPT_MAX_RANK];
  if (op->error != NULL)
    return;
  for (gint i = 0; i < shape.rank; i++)
    dims[i] = i == axis ? shape.dims[i] : 1;
  LptNode *node = lpt_tfl_add (op, LPT_OP_RANGE, 3, lpt_tfl_i64_scalar (op, 0),
                               lpt_tfl_i64_scalar (op, shape.dims[axis]), lpt_tfl_i64_scalar (op, 1));
  LPT_ATTRS (node, LptRangeAttrs)->output_type = LPT_DTYPE_I64;
  LptValue *y = lpt_tfl_reshape (op, lpt_tfl_done (op, node), (guint) shape.rank, dims);
  y = lpt_tfl_broadcast (op, y, lpt_tfl_i64 (op, (guint) shape.rank, shape.dims));
  lpt_tfl_set (op, 0, lpt_tfl_convert (op, y, lpt_tfl_out_dtype (op, 0)));
}

/* --- shapes ------------------------------------------------------------------------ */

void
lpt_tfl_map_hlo_reshape (LptTflOp *op)
{
  LptShape shape = lpt_tfl_hlo_shape (op);
  lpt_tfl_set (op, 0, lpt_tfl_reshape (op, lpt_tfl_in (op, 0), (guint) shape.rank, shape.dims));
}

void
lpt_tfl_map_hlo_transpose (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gint64 order[LPT_MAX_RANK];
  gint rank = lpt_tfl_rank (op, x);
  if (lpt_tfl_hlo_axes (op, TFL_StablehloTransposeOptions_permutation, rank, order) != (guint) rank)
    lpt_tfl_invalid (op, "an order of another number of axes than %d", rank);
  if (op->error == NULL)
    lpt_tfl_set (op, 0, lpt_tfl_transpose (op, x, (guint) rank, order));
}

void
lpt_tfl_map_hlo_broadcast_in_dim (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptShape shape = lpt_tfl_hlo_shape (op), own = lpt_tfl_hlo_shape_of (op, x);
  gint64 axes[LPT_MAX_RANK], dims[LPT_MAX_RANK];
  guint n = lpt_tfl_hlo_axes (op, TFL_StablehloBroadcastInDimOptions_broadcast_dimensions, shape.rank, axes);
  if (n != (guint) own.rank)
    lpt_tfl_invalid (op, "%u axes for rank %d", n, own.rank);
  for (guint i = 1; i < n && op->error == NULL; i++)
    if (axes[i] < axes[i - 1])
      lpt_tfl_unsupported (op, "broadcast into axes in another order");
  if (op->error != NULL)
    return;
  for (gint i = 0; i < shape.rank; i++)
    dims[i] = 1;
  for (guint i = 0; i < n; i++)
    dims[axes[i]] = own.dims[i];
  LptValue *y = lpt_tfl_reshape (op, x, (guint) shape.rank, dims);
  lpt_tfl_set (op, 0, lpt_tfl_broadcast (op, y, lpt_tfl_i64 (op, (guint) shape.rank, shape.dims)));
}

/* --- slices ------------------------------------------------------------------------ */

void
lpt_tfl_map_hlo_slice (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  guint rank = (guint) lpt_tfl_rank (op, x);
  gint64 begin[LPT_MAX_RANK], end[LPT_MAX_RANK], strides[LPT_MAX_RANK];
  if (lpt_tfl_hlo_list (op, TFL_StablehloSliceOptions_start_indices, rank, 0, 0, begin)
      && lpt_tfl_hlo_list (op, TFL_StablehloSliceOptions_limit_indices, rank, 0, G_MAXINT32, end)
      && lpt_tfl_hlo_list (op, TFL_StablehloSliceOptions_strides, rank, 1, 1, strides))
    lpt_tfl_set (op, 0,
                 lpt_tfl_emit (op, LPT_OP_SLICE, 4, x, lpt_tfl_i64 (op, rank, begin), lpt_tfl_i64 (op, rank, end),
                               lpt_tfl_i64 (op, rank, strides)));
}

/* A start for each axis, moved so that the slice lies inside. */
void
lpt_tfl_map_hlo_dynamic_slice (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *parts[LPT_MAX_RANK];
  guint rank = (guint) lpt_tfl_rank (op, x);
  gint64 sizes[LPT_MAX_RANK], ones[LPT_MAX_RANK];
  if (op->n_in != rank + 1)
    lpt_tfl_invalid (op, "%u inputs for rank %u", op->n_in, rank);
  if (!lpt_tfl_hlo_list (op, TFL_StablehloDynamicSliceOptions_slice_sizes, rank, 0, 0, sizes) || rank == 0)
    {
      if (op->error == NULL)
        lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, x));
      return;
    }
  for (guint i = 0; i < rank; i++)
    {
      ones[i] = 1;
      parts[i] = lpt_tfl_reshape (op, lpt_tfl_convert (op, lpt_tfl_in (op, i + 1), LPT_DTYPE_I64), 1, ones);
    }
  LptValue *size = lpt_tfl_i64 (op, rank, sizes), *start = lpt_tfl_concat (op, 0, rank, parts);
  LptValue *last = lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, lpt_tfl_shape_of (op, x), size);
  start = lpt_tfl_emit (op, LPT_OP_MAXIMUM, 2, lpt_tfl_emit (op, LPT_OP_MINIMUM, 2, start, last),
                        lpt_tfl_i64_scalar (op, 0));
  LptValue *y = lpt_tfl_emit (op, LPT_OP_SLICE, 4, x, start, lpt_tfl_emit (op, LPT_OP_ADD, 2, start, size),
                              lpt_tfl_i64 (op, rank, ones));
  lpt_tfl_set (op, 0, lpt_tfl_reshape (op, y, rank, sizes));
}

/* --- padding ----------------------------------------------------------------------- */

static LptValue *
pad_constant (LptTflOp *op, LptValue *x, LptValue *value, const gint64 *low, const gint64 *high)
{
  guint rank = (guint) x->shape.rank;
  LptValue *in[] = { x, lpt_tfl_i64 (op, rank, low), lpt_tfl_i64 (op, rank, high), value };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_PAD, 1, 4, in);
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
  return lpt_tfl_done (op, node);
}

/* Others between the elements of axis @axis: [.., n, ..] -> [.., n, 1 + gap, ..] -> [.., n + n gap, ..] and cut. */
static LptValue *
move_apart (LptTflOp *op, LptValue *x, LptValue *value, gint axis, gint64 gap)
{
  LptShape shape = x->shape;
  gint64 zeros[LPT_MAX_RANK] = { 0 }, behind[LPT_MAX_RANK] = { 0 };
  gint64 n = shape.dims[axis];
  if (shape.rank >= LPT_MAX_RANK || n > G_MAXINT32 / (gap + 1))
    lpt_tfl_unsupported (op, "%" G_GINT64_FORMAT " elements moved apart by %" G_GINT64_FORMAT, n, gap);
  if (op->error != NULL || n == 0)
    return x;
  behind[axis + 1] = gap;
  x = pad_constant (op, lpt_tfl_unsqueeze (op, x, axis + 1), value, zeros, behind);
  shape.dims[axis] = n * (gap + 1);
  x = lpt_tfl_reshape (op, x, (guint) shape.rank, shape.dims);
  return lpt_tfl_slice (op, x, axis, 0, n * (gap + 1) - gap);
}

LptValue *
lpt_tfl_hlo_pad (LptTflOp *op, LptValue *x, LptValue *value, const gint64 *low, const gint64 *high,
                 const gint64 *interior)
{
  LptShape shape = lpt_tfl_hlo_shape_of (op, x);
  gint64 more[2][LPT_MAX_RANK];
  gboolean pads = FALSE;
  for (gint i = 0; i < shape.rank && op->error == NULL; i++)
    {
      if (interior[i] > 0)
        x = move_apart (op, x, value, i, interior[i]);
      gint64 n = x->shape.dims[i];
      if (n + MIN (low[i], 0) + MIN (high[i], 0) < 0)
        lpt_tfl_invalid (op, "more is cut from axis %d than there is", i);
      if (low[i] < 0 || high[i] < 0)
        x = lpt_tfl_slice (op, x, i, MAX (-low[i], 0), n + MIN (high[i], 0));
      more[0][i] = MAX (low[i], 0);
      more[1][i] = MAX (high[i], 0);
      pads = pads || more[0][i] > 0 || more[1][i] > 0;
    }
  return pads && op->error == NULL ? pad_constant (op, x, value, more[0], more[1]) : x;
}

void
lpt_tfl_map_hlo_pad (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *value = lpt_tfl_reshape (op, lpt_tfl_in (op, 1), 0, NULL);
  guint rank = (guint) lpt_tfl_rank (op, x);
  gint64 low[LPT_MAX_RANK], high[LPT_MAX_RANK], interior[LPT_MAX_RANK];
  if (lpt_tfl_hlo_list (op, TFL_StablehloPadOptions_edge_padding_low, rank, G_MININT32, 0, low)
      && lpt_tfl_hlo_list (op, TFL_StablehloPadOptions_edge_padding_high, rank, G_MININT32, 0, high)
      && lpt_tfl_hlo_list (op, TFL_StablehloPadOptions_interior_padding, rank, 0, 0, interior))
    lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, lpt_tfl_hlo_pad (op, x, value, low, high, interior)));
}

/* Inputs: x, dilations, the number between its elements. */
void
lpt_tfl_map_dilate (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *value = lpt_tfl_reshape (op, lpt_tfl_in (op, 2), 0, NULL);
  gint64 none[LPT_MAX_RANK] = { 0 }, interior[LPT_MAX_RANK];
  LptInts dilations = { 0 };
  if (!lpt_tfl_ints_in (op, 1, &dilations) || dilations.n != (guint) lpt_tfl_rank (op, x))
    lpt_tfl_invalid (op, "%u dilations for rank %d", dilations.n, x->shape.rank);
  for (guint i = 0; i < dilations.n && op->error == NULL; i++)
    {
      interior[i] = dilations.v[i] - 1;
      if (interior[i] < 0 || interior[i] > G_MAXINT32)
        lpt_tfl_invalid (op, "dilation %" G_GINT64_FORMAT, dilations.v[i]);
    }
  lpt_ints_clear (&dilations);
  if (op->error == NULL)
    lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, lpt_tfl_hlo_pad (op, x, value, none, none, interior)));
}
