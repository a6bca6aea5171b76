/* onnx-map-place.c - ONNX operators that put values at computed places
 *
 *   CenterCropPad   axes that are too long are cut, those too short padded with zeros; half of an odd difference,
 *                   rounded down, is in front
 *   TensorScatter   steps of an update from write_indices[b] on along an axis of a cache; mode circular counts on from
 *                   0 behind its end
 *   MaxUnpool       zeros but x at its indices, which count the elements of the result in a row; its lengths are
 *                   output_shape, or (length - 1) stride + kernel - pads
 *   AffineGrid      theta [N, 2, 3] or [N, 3, 4] times (x, y, (z,) 1) of each place: -1 ... 1 between the middles of
 *                   the outer elements with align_corners, else between their borders
 * Of com.microsoft:
 *   UnfoldTensor      windows of `size` along an axis, every `step`, their elements along a new last axis
 *   NGramRepeatBlock  -infinity for scores [B, V] of what would repeat an n-gram: ids[b, i + n - 1] where the n - 1 ids
 *                     from i on are the last n - 1
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <math.h>
#include <string.h>

static LptValue *
binary (LptOnnxNode *on,
        LptOp        op,
        LptValue    *a,
        LptValue    *b)
{
  return lpt_onnx_emit (on, op, 2, a, b);
}

/* Element @i of a vector as a scalar. */
static LptValue *
element (LptOnnxNode *on,
         LptValue    *vector,
         gint64       i)
{
  return lpt_onnx_squeeze (on, lpt_onnx_slice (on, vector, 0, i, i + 1), 0);
}

static LptValue *
count_to (LptOnnxNode *on,
          LptValue    *n)
{
  return lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), n, lpt_onnx_i64_scalar (on, 1));
}

/* @vector of lengths along @axes as one of all axes of rank @rank, 0 elsewhere. */
static LptValue *
of_all_axes (LptOnnxNode   *on,
             const LptInts *axes,
             gint           rank,
             LptValue      *vector)
{
  const gint64 zeros[LPT_MAX_RANK] = { 0 };

  return lpt_onnx_emit (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, lpt_onnx_i64 (on, (guint) rank, zeros),
                        lpt_onnx_i64_list (on, axes), vector, lpt_onnx_i64_scalar (on, 0));
}

void
lpt_onnx_map_center_crop_pad (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *wanted = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I64);
  gint rank = lpt_onnx_rank (on, x);
  LptValue *lengths, *more, *start, *stop, *front, *behind, *two = lpt_onnx_i64_scalar (on, 2),
           *none = lpt_onnx_i64_scalar (on, 0);
  LptInts axes = { 0 };
  gint64 numbers[LPT_MAX_RANK], ones[LPT_MAX_RANK];
  LptNode *node;

  for (gint i = 0; i < LPT_MAX_RANK; i++)
    ones[i] = 1;
  if (!lpt_onnx_ints (on, "axes", &axes))
    {
      for (gint i = 0; i < rank; i++)
        numbers[i] = i;
      lpt_ints_set (&axes, (guint) rank, numbers);
    }
  for (guint i = 0; i < axes.n; i++)
    axes.v[i] = lpt_onnx_axis (on, axes.v[i], rank);
  if (axes.n > (guint) rank || wanted->shape.rank != 1
      || (wanted->shape.dims[0] != LPT_DYNAMIC && wanted->shape.dims[0] != axes.n))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "shape is not a vector of %u", axes.n);
  if (on->error == NULL)
    {
      lengths = lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_shape_of (on, x), lpt_onnx_i64_list (on, &axes), none);
      more = binary (on, LPT_OP_SUBTRACT, lengths, wanted);
      start = binary (on, LPT_OP_DIVIDE, binary (on, LPT_OP_MAXIMUM, more, none), two);
      stop = binary (on, LPT_OP_ADD, start, binary (on, LPT_OP_MINIMUM, lengths, wanted));
      x = lpt_onnx_emit (on, LPT_OP_SLICE, 5, x, start, stop, lpt_onnx_i64 (on, axes.n, ones),
                         lpt_onnx_i64_list (on, &axes));
      more = binary (on, LPT_OP_MAXIMUM, binary (on, LPT_OP_SUBTRACT, wanted, lengths), none);
      front = binary (on, LPT_OP_DIVIDE, more, two);
      behind = binary (on, LPT_OP_SUBTRACT, more, front);
      node = lpt_onnx_add (on, LPT_OP_PAD, 4, x, of_all_axes (on, &axes, rank, front),
                           of_all_axes (on, &axes, rank, behind), lpt_onnx_like (on, x, 0));
      LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
      lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
    }
  lpt_ints_clear (&axes);
}

void
lpt_onnx_map_tensor_scatter (LptOnnxNode *on)
{
  static const LptOnnxChoice modes[] = { { "linear", FALSE }, { "circular", TRUE } };
  LptValue *cache = lpt_onnx_in (on, 0), *update = lpt_onnx_in (on, 1), *from = lpt_onnx_optional (on, 2), *at;
  gboolean circular = lpt_onnx_choose (on, "mode", "linear", modes, G_N_ELEMENTS (modes));
  gint rank = lpt_onnx_rank (on, cache);
  gint axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", -2), rank);
  gint64 steps[LPT_MAX_RANK], batch[LPT_MAX_RANK];

  if (on->error == NULL && axis == 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "axis 0 is that of the batch");
  if (on->error != NULL)
    return;
  for (gint i = 0; i < rank; i++)
    {
      steps[i] = i == axis ? -1 : 1;
      batch[i] = i == 0 ? -1 : 1;
    }
  at = count_to (on, lpt_onnx_squeeze (on, lpt_onnx_dim (on, update, axis), 0));
  at = lpt_onnx_reshape (on, at, (guint) rank, steps);
  if (from != NULL)
    {
      from = lpt_onnx_reshape (on, lpt_onnx_convert (on, from, LPT_DTYPE_I64), (guint) rank, batch);
      at = binary (on, LPT_OP_ADD, at, from);
    }
  if (circular)
    at = binary (on, LPT_OP_FLOOR_MOD, at, lpt_onnx_squeeze (on, lpt_onnx_dim (on, cache, axis), 0));
  at = lpt_onnx_broadcast (on, at, lpt_onnx_shape_of (on, update));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, cache, at, update,
                                      lpt_onnx_i64_scalar (on, axis)));
}

/* --- MaxUnpool -------------------------------------------------------------------------- */

/* Number @i of a list attribute of @n, @fallback where there is none. */
static gint64
number (LptOnnxNode *on,
        const char  *name,
        guint        n,
        guint        i,
        gint64       fallback)
{
  LptInts list = { 0 };

  if (lpt_onnx_ints (on, name, &list) && list.n > 0)
    {
      if (list.n != n)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has %u numbers where %u belong", name, list.n, n);
      else
        fallback = list.v[i];
    }
  lpt_ints_clear (&list);
  if (fallback < 0 || fallback > G_MAXINT32)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" holds %" G_GINT64_FORMAT, name, fallback);
      return 0;
    }
  return fallback;
}

void
lpt_onnx_map_max_unpool (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *indices = lpt_onnx_in (on, 1), *shape, *zeros, *y;
  guint rank = (guint) lpt_onnx_rank (on, x), n = rank > 2 ? rank - 2 : 0;
  gint64 times[LPT_MAX_RANK] = { 1, 1 }, more[LPT_MAX_RANK] = { 0 };
  const gint64 flat = -1, first = 0;

  if (n == 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input of rank %u where [N, C, spatial...] belongs", rank);
  for (guint i = 0; i < n; i++)
    {
      times[i + 2] = number (on, "strides", n, i, 1);
      more[i + 2] = number (on, "kernel_shape", n, i, 0) - times[i + 2]
                    - number (on, "pads", 2 * n, i, 0) - number (on, "pads", 2 * n, i + n, 0);
    }
  if (on->error != NULL)
    return;
  if (lpt_onnx_optional (on, 2) != NULL)
    shape = lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_I64);
  else
    {
      shape = binary (on, LPT_OP_MULTIPLY, lpt_onnx_shape_of (on, x), lpt_onnx_i64 (on, rank, times));
      shape = binary (on, LPT_OP_ADD, shape, lpt_onnx_i64 (on, rank, more));
    }
  zeros = lpt_onnx_broadcast (on, lpt_onnx_like (on, x, 0), lpt_onnx_reduce (on, LPT_OP_REDUCE_PROD, shape,
                                                                             lpt_onnx_i64 (on, 1, &first), TRUE));
  y = lpt_onnx_emit (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, zeros, lpt_onnx_reshape (on, indices, 1, &flat),
                     lpt_onnx_reshape (on, x, 1, &flat), lpt_onnx_i64_scalar (on, 0));
  lpt_onnx_set (on, 0, lpt_onnx_reshape_to (on, y, shape));
}

/* --- AffineGrid --------------------------------------------------------------------------- */

/* Coordinates of the elements along an axis of @n: 1 - 2 (n - 1 - i) / (n - 1) with @corners, 1 where n is 1, as ONNX
 * Runtime has it; else (2 i + 1) / n - 1. */
static LptValue *
coordinates (LptOnnxNode *on,
             LptValue    *n,
             LptDType     dtype,
             gboolean     corners)
{
  LptValue *i = lpt_onnx_convert (on, count_to (on, n), dtype), *length = lpt_onnx_convert (on, n, dtype);
  LptValue *one = lpt_onnx_like (on, i, 1), *two = lpt_onnx_like (on, i, 2);

  if (!corners)
    {
      i = binary (on, LPT_OP_ADD, binary (on, LPT_OP_MULTIPLY, i, two), one);
      return binary (on, LPT_OP_SUBTRACT, binary (on, LPT_OP_DIVIDE, i, length), one);
    }
  length = binary (on, LPT_OP_SUBTRACT, length, one);
  i = binary (on, LPT_OP_MULTIPLY, binary (on, LPT_OP_SUBTRACT, length, i), two);
  return binary (on, LPT_OP_SUBTRACT, one, binary (on, LPT_OP_DIVIDE, i, binary (on, LPT_OP_MAXIMUM, length, one)));
}

void
lpt_onnx_map_affine_grid (LptOnnxNode *on)
{
  LptValue *theta = lpt_onnx_in (on, 0), *size = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I64);
  gboolean corners = lpt_onnx_int (on, "align_corners", 0) != 0;
  gint64 n = lpt_onnx_rank (on, theta) == 3 ? theta->shape.dims[1] : 0;
  LptValue *parts[4], *shape, *grid, *ends[3];

  if (on->error == NULL && n != 2 && n != 3)
    lpt_onnx_unsupported (on, "theta that is not known to be [N, 2, 3] or [N, 3, 4]");
  if (on->error != NULL)
    return;
  shape = lpt_onnx_slice (on, size, 0, 2, 2 + n);
  for (gint64 i = 0; i <= n; i++)
    {
      gint64 dims[4] = { 1, 1, 1, 1 };

      /* The last axis is x; behind all of them is 1. */
      parts[i] = lpt_onnx_scalar (on, theta->dtype, 1);
      if (i < n)
        {
          dims[n - 1 - i] = -1;
          parts[i] = coordinates (on, element (on, shape, n - 1 - i), theta->dtype, corners);
          parts[i] = lpt_onnx_reshape (on, parts[i], (guint) n, dims);
        }
      parts[i] = lpt_onnx_unsqueeze (on, lpt_onnx_broadcast (on, parts[i], shape), n);
    }
  grid = lpt_onnx_concat (on, n, (guint) n + 1, parts);
  grid = lpt_onnx_reshape (on, grid, 2, (const gint64[]) { -1, n + 1 });
  grid = lpt_onnx_product (on, grid, theta, TRUE);
  ends[0] = lpt_onnx_slice (on, size, 0, 0, 1);
  ends[1] = shape;
  ends[2] = lpt_onnx_i64 (on, 1, &n);
  lpt_onnx_set (on, 0, lpt_onnx_reshape_to (on, grid, lpt_onnx_concat (on, 0, 3, ends)));
}

/* --- com.microsoft ------------------------------------------------------------------------- */

void
lpt_onnx_map_unfold_tensor (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *length, *start;
  gint64 size = lpt_onnx_int (on, "size", 0), step = lpt_onnx_int (on, "step", 1), order[LPT_MAX_RANK + 1];
  gint rank = lpt_onnx_rank (on, x), axis = lpt_onnx_axis (on, lpt_onnx_int (on, "dim", -1), rank), n = 0;

  if (size < 1 || step < 1 || size > G_MAXINT32 || step > G_MAXINT32)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "windows of %" G_GINT64_FORMAT " every %" G_GINT64_FORMAT, size, step);
  if (on->error != NULL)
    return;
  length = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, axis), 0);
  start = binary (on, LPT_OP_SUBTRACT, length, lpt_onnx_i64_scalar (on, size - 1));
  start = lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), start, lpt_onnx_i64_scalar (on, step));
  start = binary (on, LPT_OP_ADD, lpt_onnx_unsqueeze (on, start, 1), count_to (on, lpt_onnx_i64_scalar (on, size)));
  x = lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, start, lpt_onnx_i64_scalar (on, axis));
  for (gint i = 0; i <= rank; i++)
    if (i != axis + 1)
      order[n++] = i;
  order[n] = axis + 1;
  lpt_onnx_set (on, 0, axis + 1 < rank ? lpt_onnx_transpose (on, x, (guint) rank + 1, order) : x);
}

/* Elements @from up to the one @left in front of the end, along axis 1. */
static LptValue *
columns (LptOnnxNode *on,
         LptValue    *x,
         gint64       from,
         gint64       left)
{
  return lpt_onnx_slice (on, x, 1, from, left > 0 ? -left : G_MAXINT64);
}

void
lpt_onnx_map_ngram_repeat_block (LptOnnxNode *on)
{
  LptValue *ids = lpt_onnx_convert (on, lpt_onnx_in (on, 0), LPT_DTYPE_I64), *scores = lpt_onnx_in (on, 1);
  gint64 n = lpt_onnx_int (on, "ngram_size", 0);
  LptValue *repeats = NULL, *next, *blocked, *kept;
  LptNode *node;

  if (on->error == NULL && (n < 1 || n > 64))
    lpt_onnx_unsupported (on, "ngram_size %" G_GINT64_FORMAT, n);
  if (on->error != NULL)
    return;
  for (gint64 i = 0; i < n - 1; i++)
    {
      LptValue *last = columns (on, ids, i - (n - 1), n - 2 - i);
      LptValue *same = binary (on, LPT_OP_EQUAL, columns (on, ids, i, n - 1 - i), last);

      repeats = repeats != NULL ? binary (on, LPT_OP_LOGICAL_AND, repeats, same) : same;
    }
  next = columns (on, ids, n - 1, 0);
  blocked = lpt_onnx_like (on, scores, -INFINITY);
  kept = lpt_onnx_like (on, scores, INFINITY);
  blocked = repeats != NULL ? lpt_onnx_emit (on, LPT_OP_SELECT, 3, repeats, blocked, kept)
                            : lpt_onnx_broadcast (on, blocked, lpt_onnx_shape_of (on, next));
  node = lpt_onnx_add (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, scores, next, blocked, lpt_onnx_i64_scalar (on, 1));
  LPT_ATTRS (node, LptScatterAttrs)->reduction = LPT_REDUCTION_MIN;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}
