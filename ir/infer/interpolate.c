/* interpolate.c - inference of Interpolate
 *
 * opset1: lengths of the axes named by the attribute. opset4: sizes or scales of the padded input along the axes of
 * input 3 (all axes without it). opset11: sizes or scales in input 1, axes in input 2.
 *   out = floor (padded * scale + 1e-6), in single precision as OpenVINO does
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/infer/lpt-infer-util.h"

#define EPSILON 1.0e-6f

static gboolean
scaled (gint64   length,
        double   scale,
        gint64  *out,
        GError **error)
{
  float product;

  *out = LPT_DYNAMIC;
  if (isnan (scale) || length == LPT_DYNAMIC)
    return TRUE;
  product = (float) length * (float) scale + EPSILON;
  if (!(scale > 0) || !(product < 9.0e18f))
    return lpt_infer_fail (error, "scale %g of length %" G_GINT64_FORMAT " is out of range", scale, length);
  *out = (gint64) product;

  return TRUE;
}

static gboolean
add_pads (const LptInterpolateAttrs *attrs,
          LptShape                  *shape,
          GError                   **error)
{
  if (attrs->pads_begin.n > (guint) shape->rank || attrs->pads_end.n > (guint) shape->rank)
    return lpt_infer_fail (error, "more pads than the %d axes of the input", shape->rank);
  for (gint i = 0; i < shape->rank; i++)
    {
      gint64 begin = lpt_ints_get (&attrs->pads_begin, (guint) i, 0);
      gint64 end = lpt_ints_get (&attrs->pads_end, (guint) i, 0);

      if (begin < 0 || end < 0 || !lpt_dim_add (shape->dims[i], begin, &shape->dims[i]) ||
          !lpt_dim_add (shape->dims[i], end, &shape->dims[i]))
        return lpt_infer_fail (error, "pads %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " of axis %d are out of range",
                               begin, end, i);
    }

  return TRUE;
}

static gboolean
find_axes (LptNode    *node,
           guint       version,
           gint        rank,
           LptInts    *axes,
           gboolean   *known,
           GError    **error)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  guint input = version >= 11 ? 2 : 3;

  *known = TRUE;
  if (version < 4)
    lpt_ints_set (axes, attrs->axes.n, attrs->axes.v);
  else if (lpt_node_in (node, input) == NULL)
    {
      lpt_ints_fill (axes, (guint) rank, 0);
      for (gint i = 0; i < rank; i++)
        axes->v[i] = i;
    }
  else
    {
      if (!lpt_infer_want_index (node, input, "axes", error))
        return FALSE;
      *known = lpt_infer_ints_in (node, input, axes) && lpt_infer_all_known (axes);
      if (!*known)
        return TRUE;
    }
  for (guint i = 0; i < axes->n; i++)
    {
      gint axis;

      if (!lpt_infer_axis (axes->v[i], rank, &axis, error))
        return FALSE;
      for (guint k = 0; k < i; k++)
        if (axes->v[k] == axis)
          return lpt_infer_fail (error, "axis %d stands twice among the axes", axis);
      axes->v[i] = axis;
    }

  return TRUE;
}

gboolean
lpt_infer_interpolate (LptNode *node,
                       GError **error)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  guint version = lpt_op_version (node->info, node->opset);
  gboolean by_scales = version >= 4 && attrs->shape_calculation_mode == LPT_INTERPOLATE_SCALES;
  guint input = version >= 4 && version < 11 && by_scales ? 2 : 1;
  LptShape out = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  g_auto (LptInts) axes = { 0 };
  g_auto (LptInts) sizes = { 0 };
  g_auto (LptFloats) scales = { 0 };
  gint64 n = lpt_infer_length_in (node, input);
  gboolean known;

  if (!lpt_infer_want_number (node, 0, error))
    return FALSE;
  if (version >= 4 && version < 11 && node->n_in < 3)
    return lpt_infer_fail (error, "opset4 takes sizes and scales, but there are %u inputs", node->n_in);
  if (by_scales ? !lpt_infer_want_real (node, input, error) : !lpt_infer_want_index (node, input, "sizes", error))
    return FALSE;
  if (out.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  if (!find_axes (node, version, out.rank, &axes, &known, error) || (version >= 4 && !add_pads (attrs, &out, error)))
    return FALSE;
  if (!known)
    return lpt_infer_set_rank (node, 0, dtype, out.rank, error);
  /* More sizes or scales than axes are allowed, the first ones count. */
  if (n != LPT_DYNAMIC && n < (gint64) axes.n)
    return lpt_infer_fail (error, "input %u has %" G_GINT64_FORMAT " %s for %u axes", input, n,
                           by_scales ? "scales" : "sizes", axes.n);

  if (by_scales)
    known = lpt_infer_reals_in (node, input, &scales) && scales.n >= axes.n;
  else
    known = lpt_infer_ints_in (node, input, &sizes) && sizes.n >= axes.n;
  for (guint i = 0; i < axes.n; i++)
    {
      gint64 *dim = &out.dims[axes.v[i]];

      if (axes.v[i] >= out.rank)
        continue;
      if (!known)
        *dim = LPT_DYNAMIC;
      else if (by_scales)
        {
          if (!scaled (*dim, scales.v[i], dim, error))
            return FALSE;
        }
      else if (sizes.v[i] == LPT_UNKNOWN)
        *dim = LPT_DYNAMIC;
      else if (sizes.v[i] < 0)
        return lpt_infer_fail (error, "size %" G_GINT64_FORMAT " is negative", sizes.v[i]);
      else
        *dim = sizes.v[i];
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}
