/* onnx-map-select.c - ONNX operators whose length depends on data: Compress and Unique
 *
 *   Compress   slices where the condition is true: NonZero, then Gather; without an axis of all elements in a row
 *   Unique     one of each slice along the axis, or of all elements in a row. With p the order that sorts them, stably,
 *              and s = x[p], groups start where s[i] != s[i - 1]:
 *                first    p[start], where each first occurs       y      x[first]
 *                group    sum of starts up to i, less 1           inverse[p[i]] = group[i]
 *                counts   distances of starts
 *              Without `sorted` groups are in the order of first.
 *
 * Slices of several elements are sorted by their last element first, a stable sort each; of more than MOST_KEYS, or a
 * number that is not known, Unique is an op.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#define MOST_KEYS 64

static LptValue *
flat (LptOnnxNode *on,
      LptValue    *x)
{
  const gint64 all = -1;

  return x->shape.rank == 1 ? x : lpt_onnx_reshape (on, x, 1, &all);
}

static LptValue *
gather (LptOnnxNode *on,
        LptValue    *x,
        LptValue    *indices,
        gint64       axis)
{
  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, indices, lpt_onnx_i64_scalar (on, axis));
}

/* Where a vector is true. */
static LptValue *
places (LptOnnxNode *on,
        LptValue    *condition)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_NON_ZERO, 1, condition);

  LPT_ATTRS (node, LptOutputTypeAttrs)->output_type = LPT_DTYPE_I64;
  return lpt_onnx_squeeze (on, lpt_onnx_done (on, node), 0);
}

/* What a condition says of the first @length elements; it may be shorter. */
static LptValue *
cut (LptOnnxNode *on,
     LptValue    *condition,
     LptValue    *length)
{
  const gint64 zero = 0, one = 1;

  return lpt_onnx_emit (on, LPT_OP_SLICE, 5, condition, lpt_onnx_i64 (on, 1, &zero), length, lpt_onnx_i64 (on, 1, &one),
                        lpt_onnx_i64 (on, 1, &zero));
}

void
lpt_onnx_map_compress (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *condition = lpt_onnx_in (on, 1);
  gint64 axis = 0;

  if (condition->shape.rank != LPT_DYNAMIC && condition->shape.rank != 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "condition of rank %d", condition->shape.rank);
  if (lpt_onnx_attr (on, "axis", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT) != NULL)
    axis = lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", 0));
  else
    x = flat (on, x);
  condition = cut (on, condition, lpt_onnx_dim (on, x, axis));
  lpt_onnx_set (on, 0, gather (on, x, places (on, condition), axis));
}

/* --- Unique ------------------------------------------------------------------------- */

/* How many elements a vector has, as a scalar. */
static LptValue *
length_of (LptOnnxNode *on,
           LptValue    *vector)
{
  return lpt_onnx_squeeze (on, lpt_onnx_dim (on, vector, 0), 0);
}

static LptValue *
positions (LptOnnxNode *on,
           LptValue    *vector)
{
  return lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), length_of (on, vector), lpt_onnx_i64_scalar (on, 1));
}

/* The stable order that sorts a vector. */
static LptValue *
order_of (LptOnnxNode *on,
          LptValue    *vector)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_TOP_K, 2, vector, length_of (on, vector));
  LptTopKAttrs *attrs = LPT_ATTRS (node, LptTopKAttrs);

  attrs->axis = 0;
  attrs->mode = LPT_TOPK_MIN;
  attrs->sort = LPT_TOPK_SORT_VALUE;
  attrs->index_element_type = LPT_DTYPE_I64;
  attrs->stable = TRUE;
  lpt_onnx_done (on, node);
  return &node->out[1];
}

/* y[p[i]] = values[i] */
static LptValue *
scatter (LptOnnxNode *on,
         LptValue    *p,
         LptValue    *values)
{
  return lpt_onnx_emit (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, p, p, values, lpt_onnx_i64_scalar (on, 0));
}

/* Are slices of @x along @axis known to have at most MOST_KEYS elements? */
static gboolean
are_small (const LptValue *x,
           gint            axis)
{
  gint64 n = 1;

  for (gint i = 0; i < x->shape.rank && n <= MOST_KEYS; i++)
    if (i != axis)
      n = x->shape.dims[i] == LPT_DYNAMIC || x->shape.dims[i] > MOST_KEYS ? MOST_KEYS + 1 : n * x->shape.dims[i];

  return n <= MOST_KEYS;
}

/* Large slices are left to the op. */
static void
map_large (LptOnnxNode *on,
           LptValue    *x,
           gint         axis)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_UNIQUE, 2, x, lpt_onnx_i64_scalar (on, axis));

  LPT_ATTRS (node, LptUniqueAttrs)->sorted = lpt_onnx_int (on, "sorted", 1) != 0;
  lpt_onnx_done (on, node);
  for (guint k = 0; k < 4; k++)
    lpt_onnx_set (on, k, &node->out[k]);
}

/* Slices of @x along @axis as rows; a vector where they have one element. @n: how many elements each has. */
static LptValue *
rows_of (LptOnnxNode *on,
         LptValue    *x,
         gint         axis,
         gint64      *n)
{
  gint64 order[LPT_MAX_RANK] = { axis }, shape[2] = { 0, -1 };
  gint rank = lpt_onnx_rank (on, x);

  *n = 1;
  for (gint i = 0, k = 1; i < rank; i++)
    if (i != axis)
      {
        order[k++] = i;
        *n *= x->shape.dims[i];
      }
  if (axis > 0)
    x = lpt_onnx_transpose (on, x, (guint) rank, order);
  if (*n == 1)
    return flat (on, x);
  shape[1] = *n;
  return rank == 2 ? x : lpt_onnx_reshape_keep (on, x, 2, shape);
}

/* Does each row differ from the one in front? */
static LptValue *
starts_of (LptOnnxNode *on,
           LptValue    *sorted,
           gint64       n)
{
  LptValue *at = positions (on, sorted), *zero = lpt_onnx_i64_scalar (on, 0), *before, *differs;
  const gint64 last = 1;

  before = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, at, lpt_onnx_i64_scalar (on, 1));
  before = gather (on, sorted, lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, before, zero), 0);
  differs = lpt_onnx_emit (on, LPT_OP_NOT_EQUAL, 2, sorted, before);
  if (n > 1)
    differs = lpt_onnx_reduce (on, LPT_OP_REDUCE_LOGICAL_OR, differs, lpt_onnx_i64 (on, 1, &last), FALSE);
  return lpt_onnx_emit (on, LPT_OP_LOGICAL_OR, 2, differs, lpt_onnx_emit (on, LPT_OP_EQUAL, 2, at, zero));
}

/* Argument 1: com.microsoft's, of vectors, in the order of first occurrence; its outputs are y, inverse, counts. */
void
lpt_onnx_map_unique (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *rows, *order, *start, *first, *inverse, *counts, *ends[2];
  gboolean whole = lpt_onnx_attr (on, "axis", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT) == NULL;
  gint axis = whole ? 0 : lpt_onnx_axis (on, lpt_onnx_int (on, "axis", 0), lpt_onnx_rank (on, x));
  gint64 n = 1, front = 0;

  if (on->error != NULL)
    return;
  if (!whole && !are_small (x, axis))
    {
      map_large (on, x, axis);
      return;
    }
  x = whole ? flat (on, x) : x;
  rows = rows_of (on, x, axis, &n);
  if (n == 0)
    lpt_onnx_unsupported (on, "slices without elements");
  order = n == 1 ? order_of (on, rows) : positions (on, rows);
  for (gint64 k = n - 1; k >= 0 && n > 1 && on->error == NULL; k--)
    {
      LptValue *keys = lpt_onnx_squeeze (on, lpt_onnx_slice (on, rows, 1, k, k + 1), 1);

      order = gather (on, order, order_of (on, gather (on, keys, order, 0)), 0);
    }
  if (on->error != NULL)
    return;

  start = starts_of (on, gather (on, rows, order, 0), n);
  inverse = lpt_onnx_emit (on, LPT_OP_CUM_SUM, 2, lpt_onnx_convert (on, start, LPT_DTYPE_I64),
                           lpt_onnx_i64_scalar (on, 0));
  inverse = scatter (on, order, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, inverse, lpt_onnx_i64_scalar (on, 1)));
  start = places (on, start);
  first = gather (on, order, start, 0);
  ends[0] = lpt_onnx_slice (on, start, 0, 1, G_MAXINT64);
  ends[1] = lpt_onnx_dim (on, rows, 0);
  counts = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_concat (on, front, 2, ends), start);
  if (on->argument == 1 || lpt_onnx_int (on, "sorted", 1) == 0)
    {
      order = order_of (on, first);
      first = gather (on, first, order, 0);
      counts = gather (on, counts, order, 0);
      inverse = gather (on, scatter (on, order, positions (on, order)), inverse, 0);
    }
  lpt_onnx_set (on, 0, gather (on, x, first, axis));
  if (on->argument == 0)
    lpt_onnx_set (on, 1, first);
  lpt_onnx_set (on, on->argument == 0 ? 2 : 1, inverse);
  lpt_onnx_set (on, on->argument == 0 ? 3 : 2, counts);
}
