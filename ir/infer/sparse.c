/* sparse.c - inference of embedding bags, segments, SearchSorted, SliceScatter, Col2Im, attention
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

static gboolean
has_input (LptNode *node,
           guint    i)
{
  return i < node->n_in && node->in[i].value != NULL;
}

/* [@first, the table's other axes] */
static gboolean
set_rows (LptNode *node,
          gint64   first,
          GError **error)
{
  LptShape table = lpt_infer_shape_in (node, 0);

  if (table.rank != LPT_DYNAMIC)
    table.dims[0] = first;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &table, error);
}

/* Input @i has the shape of the indices and the type of the table. */
static gboolean
check_weights (LptNode *node,
               guint    i,
               GError **error)
{
  LptShape indices = lpt_infer_shape_in (node, 1), weights = lpt_infer_shape_in (node, i);

  if (!has_input (node, i))
    return TRUE;
  if (!lpt_infer_is_relaxed (node) && lpt_infer_dtype_in (node, i) != lpt_infer_dtype_in (node, 0))
    return lpt_infer_fail (error, "per_sample_weights have type %s, the table %s",
                           lpt_dtype_name (lpt_infer_dtype_in (node, i)),
                           lpt_dtype_name (lpt_infer_dtype_in (node, 0)));
  if (!lpt_shape_compatible (&indices, &weights))
    {
      g_autofree char *a = lpt_infer_text (&weights), *b = lpt_infer_text (&indices);

      return lpt_infer_fail (error, "per_sample_weights %s do not fit indices %s", a, b);
    }

  return TRUE;
}

static gboolean
check_table (LptNode *node,
             gint     rank,
             GError **error)
{
  return lpt_infer_want_number (node, 0, error) && lpt_infer_want_rank (node, 0, 1, LPT_MAX_RANK, error) &&
         lpt_infer_want_integer (node, 1, "indices", error) && lpt_infer_want_rank (node, 1, rank, rank, error);
}

/* Only sums take weights. */
static gboolean
check_reduction (LptNode *node,
                 guint    weights,
                 GError **error)
{
  if (LPT_ATTRS (node, LptEmbeddingBagAttrs)->reduction == LPT_BAG_MEAN && has_input (node, weights))
    return lpt_infer_fail (error, "a mean with per_sample_weights");

  return check_weights (node, weights, error);
}

gboolean
lpt_infer_embedding_bag_offsets (LptNode *node,
                                 GError **error)
{
  LptShape offsets = lpt_infer_shape_in (node, 2);

  return check_table (node, 1, error) && lpt_infer_want_integer (node, 2, "offsets", error) &&
         lpt_infer_want_rank (node, 2, 1, 1, error) &&
         (!has_input (node, 3) || lpt_infer_want_index (node, 3, "default_index", error)) &&
         check_reduction (node, 4, error) && set_rows (node, lpt_shape_dim (&offsets, 0), error);
}

gboolean
lpt_infer_embedding_bag_packed (LptNode *node,
                                GError **error)
{
  LptShape indices = lpt_infer_shape_in (node, 1);

  return check_table (node, 2, error) && check_reduction (node, 2, error) &&
         set_rows (node, lpt_shape_dim (&indices, 0), error);
}

gboolean
lpt_infer_embedding_segments_sum (LptNode *node,
                                  GError **error)
{
  LptShape indices = lpt_infer_shape_in (node, 1), ids = lpt_infer_shape_in (node, 2);
  gint64 n;

  if (!check_table (node, 1, error) || !lpt_infer_want_integer (node, 2, "segment_ids", error) ||
      !lpt_infer_want_rank (node, 2, 1, 1, error) || !lpt_infer_want_index (node, 3, "num_segments", error) ||
      (has_input (node, 4) && !lpt_infer_want_index (node, 4, "default_index", error)) ||
      !check_weights (node, 5, error))
    return FALSE;
  if (!lpt_shape_compatible (&indices, &ids))
    return lpt_infer_fail (error, "indices and segment_ids differ in length");
  if (!lpt_infer_int_in (node, 3, &n))
    n = LPT_DYNAMIC;
  else if (n < 0)
    return lpt_infer_fail (error, "num_segments is %" G_GINT64_FORMAT, n);

  return set_rows (node, n, error);
}

/* As many rows as num_segments says, else one more than the greatest id. */
gboolean
lpt_infer_segment_max (LptNode *node,
                       GError **error)
{
  LptShape data = lpt_infer_shape_in (node, 0), ids = lpt_infer_shape_in (node, 1);
  g_auto (LptInts) known = { 0 };
  gint64 n = LPT_DYNAMIC;

  if (!check_table (node, 1, error) || (has_input (node, 2) && !lpt_infer_want_index (node, 2, "num_segments", error)))
    return FALSE;
  if (data.rank > 0 && ids.rank == 1 && data.dims[0] != LPT_DYNAMIC && ids.dims[0] != LPT_DYNAMIC &&
      data.dims[0] != ids.dims[0])
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " segment_ids for %" G_GINT64_FORMAT " rows", ids.dims[0],
                           data.dims[0]);
  if (has_input (node, 2))
    {
      if (!lpt_infer_int_in (node, 2, &n))
        n = LPT_DYNAMIC;
      else if (n < 0)
        return lpt_infer_fail (error, "num_segments is %" G_GINT64_FORMAT, n);
    }
  else if (lpt_infer_ints_in (node, 1, &known) && lpt_infer_all_known (&known))
    {
      n = 0;
      for (guint i = 0; i < known.n; i++)
        {
          if (known.v[i] < 0 || known.v[i] == G_MAXINT64)
            return lpt_infer_fail (error, "segment_ids hold %" G_GINT64_FORMAT, known.v[i]);
          n = MAX (n, known.v[i] + 1);
        }
    }

  return set_rows (node, n, error);
}

/* The sorted sequences are one, or one for each row of values. */
gboolean
lpt_infer_search_sorted (LptNode *node,
                         GError **error)
{
  const LptSearchSortedAttrs *attrs = LPT_ATTRS (node, LptSearchSortedAttrs);
  LptShape sorted = lpt_infer_shape_in (node, 0), values = lpt_infer_shape_in (node, 1);
  LptDType dtype;

  if (!lpt_infer_index_type (attrs->output_type, "output_type", error))
    return FALSE;
  if (!lpt_infer_want_number (node, 0, error) || !lpt_infer_same_types (node, 0, 1, &dtype, error) ||
      !lpt_infer_want_rank (node, 0, 1, LPT_MAX_RANK, error))
    return FALSE;
  if (sorted.rank > 1 && values.rank != LPT_DYNAMIC)
    {
      gboolean fit = sorted.rank == values.rank;

      for (gint i = 0; fit && i + 1 < sorted.rank; i++)
        fit = sorted.dims[i] == LPT_DYNAMIC || values.dims[i] == LPT_DYNAMIC || sorted.dims[i] == values.dims[i];
      if (!fit)
        {
          g_autofree char *a = lpt_infer_text (&sorted), *b = lpt_infer_text (&values);

          return lpt_infer_fail (error, "sequences %s do not fit values %s", a, b);
        }
    }

  return lpt_infer_set (node, 0, attrs->output_type, &values, error);
}

gboolean
lpt_infer_slice_scatter (LptNode *node,
                         GError **error)
{
  LptShape data = lpt_infer_shape_in (node, 0), updates = lpt_infer_shape_in (node, 1);
  LptDType dtype;
  gint64 n = LPT_DYNAMIC;

  if (!lpt_infer_same_types (node, 0, 1, &dtype, error) || !lpt_infer_want_rank (node, 0, 1, LPT_MAX_RANK, error))
    return FALSE;
  for (guint i = 2; i < 6; i++)
    if (has_input (node, i))
      {
        gint64 length = lpt_infer_length_in (node, i);

        if (!lpt_infer_want_index (node, i, i == 2 ? "start" : i == 3 ? "stop" : i == 4 ? "step" : "axes", error))
          return FALSE;
        if (!lpt_dim_merge (n, length, &n))
          return lpt_infer_fail (error, "start, stop, step and axes differ in length");
      }
  if (updates.rank > 0 && data.rank != LPT_DYNAMIC && updates.rank != data.rank)
    {
      g_autofree char *a = lpt_infer_text (&updates), *b = lpt_infer_text (&data);

      return lpt_infer_fail (error, "updates %s do not fit data %s", a, b);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &data, error);
}

/* [N, C kh kw, L] or without N, to [N, C, height, width] */
gboolean
lpt_infer_col2im (LptNode *node,
                  GError **error)
{
  const LptCol2ImAttrs *attrs = LPT_ATTRS (node, LptCol2ImAttrs);
  LptWindow window = { &attrs->strides,  &attrs->dilations,     &attrs->pads_begin,
                       &attrs->pads_end, LPT_AUTO_PAD_EXPLICIT, LPT_ROUNDING_FLOOR };
  LptShape in = lpt_infer_shape_in (node, 0), out;
  g_auto (LptInts) size = { 0 }, kernel = { 0 };
  gboolean size_known, kernel_known;
  gint64 blocks = 1, taps, count;
  gint n;

  if (!lpt_infer_want_rank (node, 0, 2, 3, error) || !lpt_infer_want_index (node, 1, "output_size", error) ||
      !lpt_infer_want_index (node, 2, "kernel_size", error) || !lpt_window_check (&window, 2, error))
    return FALSE;
  size_known = lpt_infer_ints_in (node, 1, &size);
  kernel_known = lpt_infer_ints_in (node, 2, &kernel);
  if ((size_known && size.n != 2) || (kernel_known && kernel.n != 2))
    return lpt_infer_fail (error, "output_size and kernel_size are not two numbers each");
  for (guint i = 0; i < 2; i++)
    if ((size_known && size.v[i] != LPT_UNKNOWN && size.v[i] < 0) ||
        (kernel_known && kernel.v[i] != LPT_UNKNOWN && kernel.v[i] < 1))
      return lpt_infer_fail (error, "output_size or kernel_size is not positive");
  if (in.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, lpt_infer_dtype_in (node, 0), LPT_DYNAMIC, error);

  n = in.rank - 2;
  out = lpt_shape_unknown (n + 3);
  if (n > 0)
    out.dims[0] = in.dims[0];
  for (guint i = 0; size_known && i < 2; i++)
    out.dims[n + 1 + (gint) i] = size.v[i] != LPT_UNKNOWN ? size.v[i] : LPT_DYNAMIC;
  if (kernel_known && lpt_infer_all_known (&kernel))
    {
      if (!lpt_dim_mul (kernel.v[0], kernel.v[1], &taps) || (in.dims[n] != LPT_DYNAMIC && in.dims[n] % taps != 0))
        return lpt_infer_fail (error,
                               "%" G_GINT64_FORMAT " values in a block are not whole windows of %" G_GINT64_FORMAT
                               " by %" G_GINT64_FORMAT,
                               in.dims[n], kernel.v[0], kernel.v[1]);
      if (in.dims[n] != LPT_DYNAMIC)
        out.dims[n] = in.dims[n] / taps;
      for (gint i = 0; i < 2; i++)
        {
          if (!lpt_window_out (&window, i, out.dims[n + 1 + i], kernel.v[i], &count, error))
            return FALSE;
          blocks = blocks == LPT_DYNAMIC || count == LPT_DYNAMIC ? LPT_DYNAMIC : lpt_dim_mul (blocks, count, &blocks) ? blocks : LPT_DYNAMIC;
        }
      if (blocks != LPT_DYNAMIC && in.dims[n + 1] != LPT_DYNAMIC && blocks != in.dims[n + 1])
        return lpt_infer_fail (error, "%" G_GINT64_FORMAT " blocks where output_size has %" G_GINT64_FORMAT " windows",
                               in.dims[n + 1], blocks);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* [..., L, E] [..., S, E] [..., S, V] to [..., L, V]; the mask broadcasts to [..., L, S]. */
gboolean
lpt_infer_scaled_dot_product_attention (LptNode *node,
                                        GError **error)
{
  LptShape in[3], batch[3], out, mask = lpt_infer_shape_in (node, 3), scores;
  gint64 e, s;
  LptDType dtype;

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_same_types (node, 0, 2, &dtype, error))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    {
      if (!lpt_infer_want_rank (node, i, 2, LPT_MAX_RANK, error))
        return FALSE;
      in[i] = lpt_infer_shape_in (node, i);
      batch[i] = in[i];
      if (in[i].rank != LPT_DYNAMIC)
        batch[i].rank -= 2;
    }
  if (has_input (node, 3) && lpt_infer_dtype_in (node, 3) != LPT_DTYPE_BOOL &&
      lpt_infer_dtype_in (node, 3) != lpt_infer_dtype_in (node, 0) && !lpt_infer_is_relaxed (node))
    return lpt_infer_fail (error, "the mask has type %s, neither boolean nor that of the query",
                           lpt_dtype_name (lpt_infer_dtype_in (node, 3)));
  if (has_input (node, 4) && (!lpt_infer_want_real (node, 4, error) || !lpt_infer_want_rank (node, 4, 0, 1, error)))
    return FALSE;
  if (in[0].rank == LPT_DYNAMIC || in[1].rank == LPT_DYNAMIC || in[2].rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, lpt_infer_dtype_in (node, 0), in[0].rank, error);

  if (!lpt_dim_merge (in[0].dims[in[0].rank - 1], in[1].dims[in[1].rank - 1], &e) ||
      !lpt_dim_merge (in[1].dims[in[1].rank - 2], in[2].dims[in[2].rank - 2], &s) ||
      !lpt_shape_broadcast (&batch[0], &batch[1], &out) || !lpt_shape_broadcast (&out, &batch[2], &out))
    {
      g_autofree char *q = lpt_infer_text (&in[0]), *k = lpt_infer_text (&in[1]), *v = lpt_infer_text (&in[2]);

      return lpt_infer_fail (error, "query %s, key %s and value %s do not fit", q, k, v);
    }
  scores = out;
  scores.dims[scores.rank++] = in[0].dims[in[0].rank - 2];
  scores.dims[scores.rank++] = s;
  if (has_input (node, 3) && mask.rank != LPT_DYNAMIC)
    {
      LptShape merged;

      if (mask.rank > scores.rank || !lpt_shape_broadcast (&scores, &mask, &merged) ||
          !lpt_shape_compatible (&scores, &merged))
        {
          g_autofree char *a = lpt_infer_text (&mask), *b = lpt_infer_text (&scores);

          return lpt_infer_fail (error, "the mask %s does not broadcast to %s", a, b);
        }
    }
  out.dims[out.rank++] = in[0].dims[in[0].rank - 2];
  out.dims[out.rank++] = in[2].dims[in[2].rank - 1];

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* --- lists whose lengths depend on the data --- */

/* Elements of the whole input, or slices along the axis. */
gboolean
lpt_infer_unique (LptNode *node,
                  GError **error)
{
  const LptUniqueAttrs *attrs = LPT_ATTRS (node, LptUniqueAttrs);
  LptShape x = lpt_infer_shape_in (node, 0), list = lpt_shape_unknown (1), all = list, out = list;
  gint64 axis, count;
  gint at;

  if (lpt_infer_dtype_in (node, 0) == LPT_DTYPE_STRING)
    return lpt_infer_unsupported (error, "strings");
  if (!lpt_infer_index_type (attrs->index_element_type, "index_element_type", error) ||
      !lpt_infer_index_type (attrs->count_element_type, "count_element_type", error))
    return FALSE;
  if (has_input (node, 1))
    {
      if (!lpt_infer_want_index (node, 1, "axis", error))
        return FALSE;
      out = x;
      for (gint d = 0; d < x.rank; d++)
        out.dims[d] = LPT_DYNAMIC;
      if (x.rank != LPT_DYNAMIC && lpt_infer_int_in (node, 1, &axis))
        {
          if (!lpt_infer_axis (axis, x.rank, &at, error))
            return FALSE;
          out = x;
          out.dims[at] = x.dims[at] == 0 ? 0 : LPT_DYNAMIC;
          all.dims[0] = x.dims[at];
        }
    }
  else if (lpt_shape_count (&x, &count))
    all.dims[0] = count;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error) &&
         lpt_infer_set (node, 1, attrs->index_element_type, &list, error) &&
         lpt_infer_set (node, 2, attrs->index_element_type, &all, error) &&
         lpt_infer_set (node, 3, attrs->count_element_type, &list, error);
}

/* Values [M], the shape of the matrix [2], indices [M,2], a value: indices [N,2], values [N], a flag for each row. */
gboolean
lpt_infer_sparse_fill_empty_rows (LptNode *node,
                                  GError **error)
{
  const LptShape indices = { 2, { LPT_DYNAMIC, 2 } }, values = lpt_shape_unknown (1);
  LptShape places = lpt_infer_shape_in (node, 2), rows = values;
  g_auto (LptInts) known = { 0 };
  LptDType dtype;
  gint64 m;

  if (!lpt_infer_want_rank (node, 0, 1, 1, error) || !lpt_infer_want_index (node, 1, "dense_shape", error) ||
      !lpt_infer_want_integer (node, 2, "indices", error) || !lpt_infer_want_rank (node, 2, 2, 2, error) ||
      !lpt_infer_want_rank (node, 3, 0, 1, error))
    return FALSE;
  dtype = lpt_infer_dtype_in (node, 0);
  if (lpt_infer_dtype_in (node, 3) != dtype && !lpt_infer_is_relaxed (node))
    return lpt_infer_fail (error, "default_value is %s, values are %s", lpt_dtype_name (lpt_infer_dtype_in (node, 3)),
                           lpt_dtype_name (dtype));
  if (!lpt_dim_merge (lpt_infer_length_in (node, 0), lpt_shape_dim (&places, 0), &m))
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " indices",
                           lpt_infer_length_in (node, 0), lpt_shape_dim (&places, 0));
  if (lpt_shape_dim (&places, 1) != LPT_DYNAMIC && lpt_shape_dim (&places, 1) != 2)
    return lpt_infer_fail (error, "indices of %" G_GINT64_FORMAT " numbers, not 2", lpt_shape_dim (&places, 1));
  if (lpt_infer_ints_in (node, 1, &known) && lpt_infer_all_known (&known))
    {
      if (known.n != 2 || known.v[0] < 0)
        return lpt_infer_fail (error, "dense_shape is not that of a matrix");
      rows.dims[0] = known.v[0];
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 2), &indices, error) &&
         lpt_infer_set (node, 1, dtype, &values, error) && lpt_infer_set (node, 2, LPT_DTYPE_BOOL, &rows, error);
}
