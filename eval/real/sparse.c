/* sparse.c - embedding bags, segments, SearchSorted, SparseFillEmptyRows
 *
 * Sums of real numbers are in f64, of 32 and 64-bit integers in i64. An empty bag is the row of the default index, or
 * zeros.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-sorted.h"

/* A table of rows, what comes of it, and weights of the indices. */
typedef struct
{
  gboolean      integer;
  gint64        n_rows, width, n_indices;
  gconstpointer table, weights;
  const gint64 *indices;
  gpointer      y;
  double       *sum;          /* of one row; or NULL where integers are summed in place */
  gint64        fallback;     /* row of empty bags, or -1 */
} Table;

static gconstpointer
numbers_in (LptCall *call,
            gboolean integer,
            guint    i,
            GError **error)
{
  return integer ? (gconstpointer) lpt_call_i64 (call, i, error) : lpt_call_f32 (call, i, error);
}

/* Table, indices and output; weights and default index from inputs @weights and @fallback (0 = none). */
static gboolean
open_table (LptCall *call,
            Table   *t,
            guint    weights,
            guint    fallback,
            GError **error)
{
  const LptShape *shape = &call->in[0].shape;

  *t = (Table) { .integer = lpt_call_is_i64 (call, 0), .n_rows = shape->dims[0], .fallback = -1 };
  t->width = lpt_dims_product (shape, 1, shape->rank);
  t->n_indices = lpt_array_count (&call->in[1]);
  t->table = numbers_in (call, t->integer, 0, error);
  t->indices = t->table != NULL ? lpt_call_i64 (call, 1, error) : NULL;
  if (t->indices == NULL)
    return FALSE;
  if (weights > 0 && lpt_call_has (call, weights) &&
      (t->weights = numbers_in (call, t->integer, weights, error)) == NULL)
    return FALSE;
  if (t->weights != NULL && lpt_array_count (&call->in[weights]) != t->n_indices)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "weights and indices differ in number");
      return FALSE;
    }
  if (fallback > 0 && !lpt_call_int (call, fallback, -1, &t->fallback, error))
    return FALSE;
  if (t->fallback < -1 || t->fallback >= t->n_rows)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "default index %" G_GINT64_FORMAT " of a table of %" G_GINT64_FORMAT " rows", t->fallback,
                   t->n_rows);
      return FALSE;
    }
  t->sum = lpt_call_scratch (call, (gsize) t->width, sizeof (double), error);
  t->y = t->sum == NULL ? NULL : t->integer ? (gpointer) lpt_call_out_i64 (call, 0, error) : lpt_call_out_f32 (call, 0, error);

  return t->y != NULL;
}

/* Row @to of the output = the sum, or mean, of the rows that indices [@from, @end) name, but for those whose id is not
 * @to where there are ids. */
static gboolean
sum_bag (Table        *t,
         gint64        to,
         gint64        from,
         gint64        end,
         const gint64 *ids,
         gboolean      mean,
         GError      **error)
{
  gint64 *whole = t->integer ? (gint64 *) t->y + to * t->width : NULL, taken = 0;
  float *real = t->integer ? NULL : (float *) t->y + to * t->width;

  for (gint64 e = 0; e < t->width; e++)
    {
      t->sum[e] = 0;
      if (whole != NULL)
        whole[e] = 0;
    }
  for (gint64 i = from; i < end; i++)
    {
      gint64 row = t->indices[i];

      if (ids != NULL && ids[i] != to)
        continue;
      if (row < 0 || row >= t->n_rows)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "index %" G_GINT64_FORMAT " of a table of %" G_GINT64_FORMAT " rows", row, t->n_rows);
          return FALSE;
        }
      taken++;
      for (gint64 e = 0; e < t->width; e++)
        if (whole != NULL)
          whole[e] = (gint64) ((guint64) whole[e] + (guint64) ((const gint64 *) t->table)[row * t->width + e]
                               * (guint64) (t->weights != NULL ? ((const gint64 *) t->weights)[i] : 1));
        else
          t->sum[e] += (double) ((const float *) t->table)[row * t->width + e]
                       * (t->weights != NULL ? (double) ((const float *) t->weights)[i] : 1);
    }
  for (gint64 e = 0; e < t->width; e++)
    {
      gint64 at = t->fallback * t->width + e;

      if (whole != NULL)
        whole[e] = taken == 0 ? (t->fallback >= 0 ? ((const gint64 *) t->table)[at] : 0) : mean ? whole[e] / taken : whole[e];
      else
        real[e] = taken == 0 ? (t->fallback >= 0 ? ((const float *) t->table)[at] : 0)
                             : (float) (mean ? t->sum[e] / (double) taken : t->sum[e]);
    }

  return TRUE;
}

static gboolean
is_mean (const LptCall *call)
{
  return call->node->op != LPT_OP_EMBEDDING_SEGMENTS_SUM &&
         LPT_ATTRS (call->node, LptEmbeddingBagAttrs)->reduction == LPT_BAG_MEAN;
}

/* Bag b has the indices [offsets[b], offsets[b + 1]). */
gboolean
lpt_run_embedding_bag_offsets (LptCall *call,
                               GError **error)
{
  const gint64 *offsets = lpt_call_i64 (call, 2, error);
  gint64 n = lpt_array_count (&call->in[2]);
  Table t;

  if (offsets == NULL || !open_table (call, &t, 4, 3, error))
    return FALSE;
  for (gint64 b = 0; b < n; b++)
    {
      gint64 end = b + 1 < n ? offsets[b + 1] : t.n_indices;

      if (offsets[b] < 0 || offsets[b] > end || end > t.n_indices)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "offset %" G_GINT64_FORMAT " of bag %" G_GINT64_FORMAT " is out of order or beyond the indices",
                       offsets[b], b);
          return FALSE;
        }
      if (!sum_bag (&t, b, offsets[b], end, NULL, is_mean (call), error))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_run_embedding_bag_packed (LptCall *call,
                              GError **error)
{
  gint64 bags = call->in[1].shape.dims[0], size = call->in[1].shape.dims[1];
  Table t;

  if (!open_table (call, &t, 2, 0, error))
    return FALSE;
  for (gint64 b = 0; b < bags; b++)
    if (!sum_bag (&t, b, b * size, (b + 1) * size, NULL, is_mean (call), error))
      return FALSE;

  return TRUE;
}

gboolean
lpt_run_embedding_segments_sum (LptCall *call,
                                GError **error)
{
  const gint64 *ids = lpt_call_i64 (call, 2, error);
  gint64 n = call->out[0].shape.dims[0], first = 0;
  gboolean sorted = TRUE;
  Table t;

  if (ids == NULL || !open_table (call, &t, 5, 4, error))
    return FALSE;
  for (gint64 i = 0; i < t.n_indices; i++)
    {
      if (ids[i] < 0 || ids[i] >= n)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "segment %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, ids[i],
                       n);
          return FALSE;
        }
      sorted = sorted && (i == 0 || ids[i] >= ids[i - 1]);
    }
  for (gint64 s = 0; s < n; s++)
    {
      gint64 end = t.n_indices;

      if (sorted)
        for (end = first; end < t.n_indices && ids[end] == s; end++)
          ;
      if (!sum_bag (&t, s, sorted ? first : 0, end, sorted ? NULL : ids, FALSE, error))
        return FALSE;
      first = end;
    }

  return TRUE;
}

gboolean
lpt_run_segment_max (LptCall *call,
                     GError **error)
{
  gboolean lowest = LPT_ATTRS (call->node, LptSegmentMaxAttrs)->fill_mode == LPT_SEGMENT_FILL_LOWEST,
           integer = lpt_call_is_i64 (call, 0);
  LptShape shape = call->in[0].shape;
  gint64 rows = shape.dims[0], width = lpt_dims_product (&shape, 1, shape.rank), n = 0;
  const gint64 *ids = lpt_call_i64 (call, 1, error);
  gconstpointer x = ids != NULL ? numbers_in (call, integer, 0, error) : NULL;
  guint8 *seen;
  gpointer y;

  if (x == NULL)
    return FALSE;
  if (lpt_array_count (&call->in[1]) != rows)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "segment_ids and rows differ in number");
      return FALSE;
    }
  for (gint64 i = 0; i < rows; i++)
    n = MAX (n, ids[i] == G_MAXINT64 ? ids[i] : ids[i] + 1);
  if (lpt_call_has (call, 2))
    {
      gint64 given;

      if (!lpt_call_int (call, 2, 0, &given, error))
        return FALSE;
      if (given < n)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "segment %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, n - 1,
                       given);
          return FALSE;
        }
      n = given;
    }
  shape.dims[0] = n;
  if (!lpt_call_set_shape (call, 0, &shape, error))
    return FALSE;
  y = integer ? (gpointer) lpt_call_out_i64 (call, 0, error) : lpt_call_out_f32 (call, 0, error);
  seen = y != NULL ? lpt_call_scratch (call, (gsize) n, 1, error) : NULL;
  if (seen == NULL)
    return FALSE;

  memset (seen, 0, (gsize) n);
  for (gint64 i = 0; i < n * width; i++)
    if (integer)
      ((gint64 *) y)[i] = !lowest ? 0 : lpt_dtype_bits (call->in[0].declared) == 64 ? G_MININT64 : (gint64) lpt_dtype_min (call->in[0].declared);
    else
      ((float *) y)[i] = lowest ? (float) lpt_dtype_min (call->in[0].declared) : 0;
  for (gint64 i = 0; i < rows; i++)
    {
      if (ids[i] < 0)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "segment %" G_GINT64_FORMAT, ids[i]);
          return FALSE;
        }
      for (gint64 e = 0; e < width; e++)
        {
          gint64 to = ids[i] * width + e, from = i * width + e;

          if (integer && (!seen[ids[i]] || ((const gint64 *) x)[from] > ((gint64 *) y)[to]))
            ((gint64 *) y)[to] = ((const gint64 *) x)[from];
          else if (!integer && (!seen[ids[i]] || ((const float *) x)[from] > ((float *) y)[to]))
            ((float *) y)[to] = ((const float *) x)[from];
        }
      seen[ids[i]] = 1;
    }

  return TRUE;
}

/* How many elements of the sequence are below the value, or not above it. */
gboolean
lpt_run_search_sorted (LptCall *call,
                       GError **error)
{
  gboolean right = LPT_ATTRS (call->node, LptSearchSortedAttrs)->right_mode;
  gboolean integer = lpt_call_is_i64 (call, 0) && lpt_call_is_i64 (call, 1);
  const LptShape *sorted = &call->in[0].shape, *values = &call->in[1].shape;
  gint64 length = sorted->dims[sorted->rank - 1], per = values->rank > 0 ? values->dims[values->rank - 1] : 1,
         count = lpt_array_count (&call->in[1]);
  gconstpointer s = numbers_in (call, integer, 0, error), v = s != NULL ? numbers_in (call, integer, 1, error) : NULL;
  gint64 *y = v != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;

  if (y == NULL)
    return FALSE;
  if (sorted->rank > 1 && lpt_dims_product (sorted, 0, sorted->rank - 1) * per != count)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "sequences and values differ in number");
      return FALSE;
    }
  for (gint64 i = 0; i < count; i++)
    {
      const gint64 start = sorted->rank > 1 ? i / per * length : 0;

      y[i] = integer ? lpt_sorted_below_i64 ((const gint64 *) s + start, length, ((const gint64 *) v)[i], right)
                     : lpt_sorted_below_f32 ((const float *) s + start, length, ((const float *) v)[i], right);
    }

  return TRUE;
}

/* --- SparseFillEmptyRows --- */

/* A sparse matrix, with the row of each place counted. */
typedef struct
{
  gboolean      integer;
  gconstpointer values, fallback;
  const gint64 *places;        /* row and column of each value */
  gint64        n, rows;
  gint64       *ends;          /* of each row: where its next value goes, and in the end where they end */
} Sparse;

static void
copy_number (const Sparse *s,
             gconstpointer from,
             gint64        i,
             gpointer      to,
             gint64        at)
{
  if (s->integer)
    ((gint64 *) to)[at] = ((const gint64 *) from)[i];
  else
    ((float *) to)[at] = ((const float *) from)[i];
}

static gboolean
open_sparse (LptCall *call,
             Sparse  *s,
             GError **error)
{
  const gint64 *shape = lpt_call_i64 (call, 1, error);

  if (shape == NULL)
    return FALSE;
  *s = (Sparse) { .integer = lpt_call_is_i64 (call, 0), .n = lpt_array_count (&call->in[0]), .rows = shape[0] };
  if (lpt_array_count (&call->in[1]) != 2 || s->rows < 0 || lpt_array_count (&call->in[2]) != 2 * s->n ||
      lpt_array_count (&call->in[3]) != 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "dense_shape, values, indices and default_value do not fit");
      return FALSE;
    }
  s->values = numbers_in (call, s->integer, 0, error);
  s->places = s->values != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  s->fallback = s->places != NULL ? numbers_in (call, s->integer, 3, error) : NULL;
  s->ends = s->fallback != NULL ? lpt_call_scratch (call, (gsize) s->rows, sizeof *s->ends, error) : NULL;
  if (s->ends == NULL)
    return FALSE;
  memset (s->ends, 0, (gsize) s->rows * sizeof *s->ends);
  for (gint64 i = 0; i < s->n; i++)
    {
      if (s->places[2 * i] < 0 || s->places[2 * i] >= s->rows || s->places[2 * i + 1] < 0 ||
          s->places[2 * i + 1] >= shape[1])
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "indices [%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                       "] of a matrix of %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT " columns", s->places[2 * i],
                       s->places[2 * i + 1], s->rows, shape[1]);
          return FALSE;
        }
      s->ends[s->places[2 * i]]++;
    }

  return TRUE;
}

/* The values row by row, each row in the order of the input; an empty one has the default value in column 0. */
gboolean
lpt_run_sparse_fill_empty_rows (LptCall *call,
                                GError **error)
{
  LptShape places = { .rank = 2, .dims = { 0, 2 } }, values = { .rank = 1 }, rows = { .rank = 1 };
  gint64 *to, *empty, n = 0;
  gpointer y;
  Sparse s;

  if (!open_sparse (call, &s, error))
    return FALSE;
  rows.dims[0] = s.rows;
  if (!lpt_call_set_shape (call, 2, &rows, error) || (empty = lpt_call_out_i64 (call, 2, error)) == NULL)
    return FALSE;
  for (gint64 r = 0; r < s.rows; r++)
    {
      const gint64 first = n;

      empty[r] = s.ends[r] == 0;
      n += MAX (s.ends[r], 1);
      s.ends[r] = first;
    }
  places.dims[0] = values.dims[0] = n;
  if (!lpt_call_set_shape (call, 0, &places, error) || !lpt_call_set_shape (call, 1, &values, error) ||
      (to = lpt_call_out_i64 (call, 0, error)) == NULL)
    return FALSE;
  y = s.integer ? (gpointer) lpt_call_out_i64 (call, 1, error) : lpt_call_out_f32 (call, 1, error);
  if (y == NULL)
    return FALSE;
  for (gint64 i = 0; i < s.n; i++)
    {
      const gint64 at = s.ends[s.places[2 * i]]++;

      memcpy (to + 2 * at, s.places + 2 * i, 2 * sizeof *to);
      copy_number (&s, s.values, i, y, at);
    }
  for (gint64 r = 0; r < s.rows; r++)
    if (empty[r])
      {
        to[2 * s.ends[r]] = r;
        to[2 * s.ends[r] + 1] = 0;
        copy_number (&s, s.fallback, 0, y, s.ends[r]);
      }

  return TRUE;
}
