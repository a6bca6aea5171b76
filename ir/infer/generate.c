/* generate.c - inference of ops that make indices, ranges, windows and samples
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/infer/lpt-infer-util.h"

/* [rank, number of elements that are not 0] */
gboolean
lpt_infer_non_zero (LptNode *node,
                    GError **error)
{
  LptDType dtype = LPT_ATTRS (node, LptOutputTypeAttrs)->output_type;
  LptShape in = lpt_infer_shape_in (node, 0);
  LptShape out = { 2, { in.rank == 0 ? 1 : in.rank, LPT_DYNAMIC } };

  return lpt_infer_index_type (dtype, "output_type", error) && lpt_infer_set (node, 0, dtype, &out, error);
}

/* ceil ((stop - start) / step), not below 0 */
gboolean
lpt_infer_range (LptNode *node,
                 GError **error)
{
  LptShape out = lpt_shape_unknown (1);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gboolean real = FALSE;

  if (lpt_op_version (node->info, node->opset) >= 4)
    dtype = LPT_ATTRS (node, LptRangeAttrs)->output_type;
  if (dtype == LPT_DTYPE_BOOL)
    return lpt_infer_fail (error, "a range of booleans");
  for (guint i = 0; i < 3; i++)
    {
      LptShape shape = lpt_infer_shape_in (node, i);

      if (shape.rank > 1 || (shape.rank == 1 && shape.dims[0] != LPT_DYNAMIC && shape.dims[0] != 1))
        return lpt_infer_fail (error, "input %u is not a scalar", i);
      if (lpt_node_in (node, i) != NULL && lpt_node_in (node, i)->quant != NULL)
        return lpt_infer_fail (error, "input %u is quantized: its integers stand for other numbers", i);
      real = real || lpt_dtype_is_real (lpt_infer_dtype_in (node, i));
    }

  if (!real)
    {
      gint64 start, stop, step;

      if (lpt_infer_int_in (node, 2, &step))
        {
          if (step == 0)
            return lpt_infer_fail (error, "step is 0");
          if (lpt_infer_int_in (node, 0, &start) && lpt_infer_int_in (node, 1, &stop))
            {
              guint64 span = step > 0 ? (guint64) stop - (guint64) start : (guint64) start - (guint64) stop;
              guint64 by = step > 0 ? (guint64) step : (guint64) 0 - (guint64) step;
              guint64 n = (step > 0 ? stop > start : start > stop) ? (span - 1) / by + 1 : 0;

              if (n > G_MAXINT64)
                return lpt_infer_fail (error, "the range has more than 2^63 elements");
              out.dims[0] = (gint64) n;
            }
        }
    }
  else
    {
      double v[3];
      gboolean known = TRUE;

      for (guint i = 0; i < 3; i++)
        {
          g_auto (LptFloats) list = { 0 };

          v[i] = NAN;
          if (lpt_infer_reals_in (node, i, &list) && list.n == 1)
            v[i] = list.v[0];
          known = known && !isnan (v[i]);
        }
      if (v[2] == 0)
        return lpt_infer_fail (error, "step is 0");
      if (known)
        {
          double n;

          /* Integer results take whole bounds, as OpenVINO converts them first. */
          if (lpt_dtype_is_integer (dtype))
            for (guint i = 0; i < 3; i++)
              v[i] = trunc (v[i]);
          if (v[2] == 0)
            return lpt_infer_fail (error, "step is 0 as an integer");
          n = ceil ((v[1] - v[0]) / v[2]);
          if (!(n < 9.0e18))
            return lpt_infer_fail (error, "the range has too many elements");
          out.dims[0] = n > 0 ? (gint64) n : 0;
        }
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* Scalar input @i; FALSE with error when it is not one. */
static gboolean
want_scalar (LptNode    *node,
             guint       i,
             const char *what,
             GError    **error)
{
  LptShape shape = lpt_infer_shape_in (node, i);
  gint64 count;

  if (lpt_shape_count (&shape, &count) && count != 1)
    return lpt_infer_fail (error, "input %u (%s) has %" G_GINT64_FORMAT " elements, not 1", i, what, count);

  return TRUE;
}

gboolean
lpt_infer_one_hot (LptNode *node,
                   GError **error)
{
  LptShape indices = lpt_infer_shape_in (node, 0);
  LptShape out;
  LptDType dtype;
  gint64 depth;
  gint axis;

  if (!lpt_infer_want_integer (node, 0, "indices", error) || !lpt_infer_want_integer (node, 1, "depth", error) ||
      !want_scalar (node, 1, "depth", error) ||
      !want_scalar (node, 2, "on value", error) || !want_scalar (node, 3, "off value", error) ||
      !lpt_infer_same_types (node, 2, 3, &dtype, error))
    return FALSE;
  if (indices.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  if (indices.rank == LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank of the output: more than %d", LPT_MAX_RANK);
  if (!lpt_infer_axis (LPT_ATTRS (node, LptOneHotAttrs)->axis, indices.rank + 1, &axis, error))
    return FALSE;
  if (!lpt_infer_int_in (node, 1, &depth))
    depth = LPT_DYNAMIC;
  else if (depth < 0)
    return lpt_infer_fail (error, "depth is %" G_GINT64_FORMAT, depth);
  out = (LptShape) { .rank = indices.rank + 1 };
  for (gint i = 0; i < out.rank; i++)
    out.dims[i] = i == axis ? depth : indices.dims[i < axis ? i : i - 1];

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* rows, columns, diagonal, [batch shape] */
gboolean
lpt_infer_eye (LptNode *node,
               GError **error)
{
  LptDType dtype = LPT_ATTRS (node, LptEyeAttrs)->output_type;
  g_auto (LptInts) batch = { 0 };
  LptShape out = LPT_SHAPE_SCALAR;

  for (guint i = 0; i < 3; i++)
    if (!lpt_infer_want_index (node, i, "size", error) || !want_scalar (node, i, "size", error))
      return FALSE;
  if (lpt_node_in (node, 3) != NULL)
    {
      gint64 n = lpt_infer_length_in (node, 3);

      if (!lpt_infer_want_index (node, 3, "batch shape", error))
        return FALSE;
      if (n == LPT_DYNAMIC)
        return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
      if (n > LPT_MAX_RANK - 2)
        return lpt_infer_unsupported (error, "unsupported rank of the output: more than %d", LPT_MAX_RANK);
      out = lpt_shape_unknown ((gint) n);
      if (lpt_infer_ints_in (node, 3, &batch))
        for (guint i = 0; i < batch.n && (gint) i < out.rank; i++)
          {
            if (batch.v[i] != LPT_UNKNOWN && batch.v[i] < 0)
              return lpt_infer_fail (error, "batch shape has the value %" G_GINT64_FORMAT, batch.v[i]);
            out.dims[i] = batch.v[i] == LPT_UNKNOWN ? LPT_DYNAMIC : batch.v[i];
          }
    }
  for (guint i = 0; i < 2; i++)
    {
      gint64 length = LPT_DYNAMIC;

      if (lpt_infer_int_in (node, i, &length) && length < 0)
        return lpt_infer_fail (error, "a side is %" G_GINT64_FORMAT, length);
      out.dims[out.rank++] = length;
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_top_k (LptNode *node,
                 GError **error)
{
  const LptTopKAttrs *attrs = LPT_ATTRS (node, LptTopKAttrs);
  LptShape out = lpt_infer_shape_in (node, 0);
  gint64 k;
  gint axis;

  if (!lpt_infer_want_number (node, 0, error) || !lpt_infer_want_index (node, 1, "k", error) ||
      !want_scalar (node, 1, "k", error) ||
      !lpt_infer_index_type (attrs->index_element_type, "index_element_type", error))
    return FALSE;
  if (out.rank == 0)
    return lpt_infer_fail (error, "input 0 is a scalar");
  if (out.rank != LPT_DYNAMIC)
    {
      if (!lpt_infer_axis (attrs->axis, out.rank, &axis, error))
        return FALSE;
      if (!lpt_infer_int_in (node, 1, &k))
        out.dims[axis] = LPT_DYNAMIC;
      else if (k < 0)
        return lpt_infer_fail (error, "k is %" G_GINT64_FORMAT, k);
      else if (out.dims[axis] == LPT_DYNAMIC || k <= out.dims[axis])
        out.dims[axis] = k;
      else
        return lpt_infer_fail (error,
                               "k %" G_GINT64_FORMAT " is greater than the length %" G_GINT64_FORMAT " of axis %d", k,
                               out.dims[axis], axis);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error) &&
         lpt_infer_set (node, 1, attrs->index_element_type, &out, error);
}

gboolean
lpt_infer_bucketize (LptNode *node,
                     GError **error)
{
  LptDType dtype = LPT_ATTRS (node, LptBucketizeAttrs)->output_type;
  LptShape shape = lpt_infer_shape_in (node, 0);

  return lpt_infer_want_rank (node, 1, 1, 1, error) && lpt_infer_index_type (dtype, "output_type", error) &&
         lpt_infer_set (node, 0, dtype, &shape, error);
}

/* [N, C kh kw, oh, ow]: windows of @sizes, every @strides, spread by @rates */
gboolean
lpt_infer_extract_image_patches (LptNode *node,
                                 GError **error)
{
  const LptExtractImagePatchesAttrs *attrs = LPT_ATTRS (node, LptExtractImagePatchesAttrs);
  LptWindow window = { &attrs->strides, &attrs->rates, NULL, NULL, (LptAutoPad) attrs->auto_pad, LPT_ROUNDING_FLOOR };
  LptShape in = lpt_infer_shape_in (node, 0);
  LptShape out = lpt_shape_unknown (4);
  g_auto (LptInts) none = { 0 };

  window.pads_begin = &none;
  window.pads_end = &none;
  if (attrs->sizes.n != 2 || attrs->sizes.v[0] < 1 || attrs->sizes.v[1] < 1)
    return lpt_infer_fail (error, "sizes are not two positive numbers");
  if (!lpt_infer_want_rank (node, 0, 4, 4, error) || !lpt_window_check (&window, 2, error))
    return FALSE;
  out.dims[0] = lpt_shape_dim (&in, 0);
  if (!lpt_dim_mul (lpt_shape_dim (&in, 1), attrs->sizes.v[0], &out.dims[1]) ||
      !lpt_dim_mul (out.dims[1], attrs->sizes.v[1], &out.dims[1]))
    return lpt_infer_fail (error, "number of channels overflows");
  for (gint i = 0; i < 2; i++)
    {
      gint64 length = lpt_shape_dim (&in, i + 2);
      gint64 rate = lpt_ints_get (&attrs->rates, (guint) i, 1);
      gint64 span;

      /* An image that no window fits into has no patches. */
      if (attrs->auto_pad == LPT_AUTO_PAD_VALID && length != LPT_DYNAMIC &&
          !__builtin_mul_overflow (rate, attrs->sizes.v[i] - 1, &span) && span >= length)
        out.dims[i + 2] = 0;
      else if (!lpt_window_out (&window, i, length, attrs->sizes.v[i], &out.dims[i + 2], error))
        return FALSE;
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* X [N,C,H,W], grid [N,OH,OW,2] */
gboolean
lpt_infer_grid_sample (LptNode *node,
                       GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape grid = lpt_infer_shape_in (node, 1);
  LptShape out = lpt_shape_unknown (4);

  if (!lpt_infer_want_rank (node, 0, 4, 4, error) || !lpt_infer_want_rank (node, 1, 4, 4, error) ||
      !lpt_infer_want_real (node, 1, error))
    return FALSE;
  if (lpt_shape_dim (&grid, 3) != LPT_DYNAMIC && grid.dims[3] != 2)
    return lpt_infer_fail (error, "the grid has %" G_GINT64_FORMAT " coordinates, not 2", grid.dims[3]);
  if (!lpt_dim_merge (lpt_shape_dim (&x, 0), lpt_shape_dim (&grid, 0), &out.dims[0]))
    return lpt_infer_fail (error, "batches of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, x.dims[0], grid.dims[0]);
  out.dims[1] = lpt_shape_dim (&x, 1);
  out.dims[2] = lpt_shape_dim (&grid, 1);
  out.dims[3] = lpt_shape_dim (&grid, 2);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

gboolean
lpt_infer_random_uniform (LptNode *node,
                          GError **error)
{
  LptDType dtype = LPT_ATTRS (node, LptRandomUniformAttrs)->output_type;
  gint64 n = lpt_infer_length_in (node, 0);
  g_auto (LptInts) list = { 0 };
  LptShape out;

  if (!lpt_infer_want_index (node, 0, "shape", error) || !want_scalar (node, 1, "minimum", error) ||
      !want_scalar (node, 2, "maximum", error))
    return FALSE;
  if (n > LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank %" G_GINT64_FORMAT " of the output: at most %d", n,
                                  LPT_MAX_RANK);
  out = lpt_shape_unknown ((gint) n);
  if (out.rank > 0 && lpt_infer_ints_in (node, 0, &list))
    for (guint i = 0; i < list.n && (gint) i < out.rank; i++)
      {
        if (list.v[i] != LPT_UNKNOWN && list.v[i] < 0)
          return lpt_infer_fail (error, "shape has the value %" G_GINT64_FORMAT, list.v[i]);
        out.dims[i] = list.v[i] == LPT_UNKNOWN ? LPT_DYNAMIC : list.v[i];
      }

  return lpt_infer_set (node, 0, dtype, &out, error);
}
