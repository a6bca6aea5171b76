/* onnx-map-resize.c - ONNX Resize and Upsample
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-resample.h"

#include <math.h>
#include <string.h>

static const LptOnnxChoice modes[] = {
  { "nearest", LPT_INTERPOLATE_NEAREST }, { "linear", LPT_INTERPOLATE_LINEAR_ONNX }, { "cubic", LPT_INTERPOLATE_CUBIC },
  { "bilinear", LPT_INTERPOLATE_LINEAR_ONNX },   /* Upsample of opset 1 */
};
static const LptOnnxChoice coordinates[] = {
  { "half_pixel", LPT_COORD_HALF_PIXEL },        { "pytorch_half_pixel", LPT_COORD_PYTORCH_HALF_PIXEL },
  { "asymmetric", LPT_COORD_ASYMMETRIC },        { "tf_half_pixel_for_nn", LPT_COORD_TF_HALF_PIXEL_FOR_NN },
  { "align_corners", LPT_COORD_ALIGN_CORNERS },  { "half_pixel_symmetric", LPT_ONNX_COORD_SYMMETRIC },
  { "tf_crop_and_resize", LPT_ONNX_COORD_CROP },
};
static const LptOnnxChoice nearest[] = {
  { "round_prefer_floor", LPT_NEAREST_ROUND_PREFER_FLOOR }, { "round_prefer_ceil", LPT_NEAREST_ROUND_PREFER_CEIL },
  { "floor", LPT_NEAREST_FLOOR }, { "ceil", LPT_NEAREST_CEIL },
};

/* Scales or sizes of every axis become those of the axes that change: only they are interpolated. */
typedef struct
{
  gint     rank;
  guint    n;
  gint64   axes[LPT_MAX_RANK];
  double   scales[LPT_MAX_RANK];
  gint64   sizes[LPT_MAX_RANK];
} Target;

static void
read_axes (LptOnnxNode *on,
           LptValue    *x,
           Target      *t)
{
  LptInts axes = { 0 };

  t->rank = lpt_onnx_rank (on, x);
  t->n = (guint) t->rank;
  for (gint i = 0; i < t->rank; i++)
    t->axes[i] = i;
  if (lpt_onnx_ints (on, "axes", &axes))
    {
      if (axes.n > (guint) t->rank)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u axes for rank %d", axes.n, t->rank);
      t->n = MIN (axes.n, (guint) t->rank);
      for (guint i = 0; i < t->n; i++)
        t->axes[i] = lpt_onnx_axis (on, axes.v[i], t->rank);
    }
  lpt_ints_clear (&axes);
}

/* A size may be 0, as it may where it is computed: the result is empty. No scale gives that. */
static gboolean
read_numbers (LptOnnxNode *on,
              LptTensor   *tensor,
              gboolean     is_size,
              Target      *t,
              double      *out)
{
  if (lpt_tensor_count (tensor) != t->n)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " scales or sizes for %u axes",
                     lpt_tensor_count (tensor), t->n);
      return FALSE;
    }
  for (guint i = 0; i < t->n; i++)
    {
      out[i] = lpt_tensor_get_f64 (tensor, i);
      if (!((is_size ? out[i] >= 0 : out[i] > 0) && out[i] <= G_MAXINT32))
        {
          lpt_onnx_fail (on, LPT_ERROR_INVALID, "scale or size %g", out[i]);
          return FALSE;
        }
    }
  return TRUE;
}

/* Drops axis @i where nothing happens. */
static void
keep_changing (Target   *t,
               gboolean  is_size,
               LptValue *x)
{
  guint n = 0;

  for (guint i = 0; i < t->n; i++)
    {
      gboolean same = is_size ? t->sizes[i] == x->shape.dims[t->axes[i]] : t->scales[i] == 1;

      if (same)
        continue;
      t->axes[n] = t->axes[i];
      t->sizes[n] = t->sizes[i];
      t->scales[n] = t->scales[i];
      n++;
    }
  t->n = n;
}

static LptNode *
interpolate_to (LptOnnxNode *on,
                LptValue    *x,
                LptValue    *target,
                Target      *t,
                gboolean     is_size)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_INTERPOLATE, 3, x, target, lpt_onnx_i64 (on, t->n, t->axes));

  LPT_ATTRS (node, LptInterpolateAttrs)->shape_calculation_mode = is_size ? LPT_INTERPOLATE_SIZES : LPT_INTERPOLATE_SCALES;
  return node;
}

static LptNode *
interpolate (LptOnnxNode *on,
             LptValue    *x,
             Target      *t,
             gboolean     is_size)
{
  LptShape shape = { .rank = 1 };
  LptValue *target;
  float scales[LPT_MAX_RANK];

  shape.dims[0] = t->n;
  for (guint i = 0; i < t->n; i++)
    scales[i] = (float) t->scales[i];
  target = is_size ? lpt_onnx_i64 (on, t->n, t->sizes)
                   : lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, scales, NULL));
  return interpolate_to (on, x, target, t, is_size);
}

/* Opset 10 and Upsample: coordinates are divided by the scale, nearest is the floor. Argument 1: Upsample. */
void
lpt_onnx_map_resize_scales (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptTensor *scales = lpt_onnx_const_in (on, 1);
  Target t = { 0 };
  LptInterpolateAttrs *attrs;
  LptNode *node;
  int mode = lpt_onnx_choose (on, "mode", "nearest", modes, G_N_ELEMENTS (modes));

  lpt_onnx_in (on, 1);
  read_axes (on, x, &t);
  if (scales == NULL)
    node = interpolate_to (on, x, lpt_onnx_in (on, 1), &t, FALSE);
  else
    {
      if (on->error != NULL || !read_numbers (on, scales, FALSE, &t, t.scales))
        return;
      keep_changing (&t, FALSE, x);
      if (t.n == 0)
        {
          lpt_onnx_set (on, 0, x);
          return;
        }
      node = interpolate (on, x, &t, FALSE);
    }
  attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  attrs->mode = mode;
  attrs->coordinate_transformation_mode = LPT_COORD_ASYMMETRIC;
  attrs->nearest_mode = LPT_NEAREST_FLOOR;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* keep_aspect_ratio_policy: one scale for all axes, the least or the greatest of those asked for; sizes are
 * round (scale * length). NULL: stretch. */
static LptValue *
keep_aspect_ratio (LptOnnxNode *on,
                   LptValue    *x,
                   LptValue   **sizes,
                   Target      *t,
                   const char  *policy)
{
  LptOp op = strcmp (policy, "not_larger") == 0 ? LPT_OP_REDUCE_MIN : LPT_OP_REDUCE_MAX;
  LptValue *lengths, *scale;
  gint64 first = 0;

  if (*sizes == NULL || strcmp (policy, "stretch") == 0)
    return NULL;
  if (op == LPT_OP_REDUCE_MAX && strcmp (policy, "not_smaller") != 0)
    lpt_onnx_unsupported (on, "keep_aspect_ratio_policy \"%s\"", policy);
  lengths = lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_shape_of (on, x), lpt_onnx_i64 (on, t->n, t->axes),
                           lpt_onnx_i64_scalar (on, 0));
  lengths = lpt_onnx_convert (on, lengths, LPT_DTYPE_F32);
  scale = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_convert (on, *sizes, LPT_DTYPE_F32), lengths);
  scale = lpt_onnx_reduce (on, op, scale, lpt_onnx_i64 (on, 1, &first), FALSE);
  lengths = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lengths, scale),
                           lpt_onnx_like (on, lengths, 0.5));
  *sizes = lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_FLOOR, 1, lengths), LPT_DTYPE_I64);
  return scale;
}

static void
check_vector (LptOnnxNode    *on,
              const LptValue *vector,
              guint           n)
{
  if (vector->shape.rank != LPT_DYNAMIC &&
      (vector->shape.rank != 1 || (vector->shape.dims[0] >= 0 && vector->shape.dims[0] != n)))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "scales, sizes or region are not a vector of %u", n);
}

/* Are all scaled lengths whole numbers, but for four roundings to single precision? ONNX's align_corners counts the
 * fraction, Interpolate's does not. */
static gboolean
whole_lengths (const LptValue *x,
               LptTensor      *scales,
               const Target   *t)
{
  if (scales == NULL || lpt_tensor_count (scales) != t->n)
    return FALSE;
  for (guint i = 0; i < t->n; i++)
    {
      double scale = lpt_tensor_get_f64 (scales, i), length = scale * (double) x->shape.dims[t->axes[i]];

      if (x->shape.dims[t->axes[i]] < 0 ? scale != floor (scale) : fabs (length - round (length)) > length * 0x1p-22)
        return FALSE;
    }
  return TRUE;
}

void
lpt_onnx_map_resize (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptValue *scales = lpt_onnx_optional (on, 2), *sizes = lpt_onnx_optional (on, 3);
  LptTensor *data = lpt_onnx_const_in (on, sizes != NULL ? 3 : 2);
  LptInterpolateAttrs *attrs;
  Target t = { 0 };
  LptNode *node;
  int mode = lpt_onnx_choose (on, "mode", "nearest", modes, G_N_ELEMENTS (modes));
  int coordinate = lpt_onnx_choose (on, "coordinate_transformation_mode", "half_pixel", coordinates,
                                    G_N_ELEMENTS (coordinates));
  int rounding = lpt_onnx_choose (on, "nearest_mode", "round_prefer_floor", nearest, G_N_ELEMENTS (nearest));
  gboolean antialias = lpt_onnx_int (on, "antialias", 0) != 0;
  double cube_coeff = lpt_onnx_float (on, "cubic_coeff_a", -0.75);
  const char *policy = lpt_onnx_string (on, "keep_aspect_ratio_policy", "stretch");

  gboolean exclude_outside = lpt_onnx_int (on, "exclude_outside", 0) != 0 && mode != LPT_INTERPOLATE_NEAREST;
  double extrapolation = lpt_onnx_float (on, "extrapolation_value", 0);
  LptValue *scale;

  lpt_onnx_ignore_in (on, 1);   /* the region is tf_crop_and_resize's; exporters give an empty one to others */
  read_axes (on, x, &t);
  if (scales == NULL && sizes == NULL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "has neither scales nor sizes");
  if (on->error != NULL)
    return;
  if (sizes != NULL || data == NULL)
    check_vector (on, sizes != NULL ? sizes : scales, t.n);
  if (on->error != NULL)
    return;
  scale = keep_aspect_ratio (on, x, &sizes, &t, policy);
  if (coordinate >= LPT_ONNX_COORD_SYMMETRIC || exclude_outside || scale != NULL
      || (coordinate == LPT_COORD_ALIGN_CORNERS && sizes == NULL && !whole_lengths (x, data, &t)))
    {
      LptOnnxResample r = { mode, coordinate, rounding, exclude_outside, cube_coeff, extrapolation, t.n, t.axes };

      if (antialias)
        lpt_onnx_unsupported (on, "antialias with exclude_outside, a kept aspect ratio or this "
                                  "coordinate_transformation_mode");
      if (coordinate != LPT_COORD_HALF_PIXEL && coordinate != LPT_COORD_ALIGN_CORNERS
          && coordinate != LPT_COORD_ASYMMETRIC && coordinate < LPT_ONNX_COORD_SYMMETRIC)
        lpt_onnx_unsupported (on, "exclude_outside or a kept aspect ratio with this coordinate_transformation_mode");
      r.target = sizes != NULL ? lpt_onnx_convert (on, sizes, LPT_DTYPE_I64) : scales;
      r.scale = scale;
      r.roi = coordinate == LPT_ONNX_COORD_CROP ? lpt_onnx_in (on, 1) : NULL;
      check_vector (on, r.target, t.n);
      if (r.roi != NULL)
        check_vector (on, r.roi, 2 * t.n);
      lpt_onnx_set (on, 0, lpt_onnx_resample (on, x, &r));
      return;
    }
  if (data == NULL)
    {
      LptValue *target = sizes != NULL ? lpt_onnx_convert (on, sizes, LPT_DTYPE_I64) : scales;

      node = interpolate_to (on, x, target, &t, sizes != NULL);
    }
  else
    {
      if (!read_numbers (on, data, sizes != NULL, &t, t.scales))
        return;
      for (guint i = 0; i < t.n; i++)
        t.sizes[i] = (gint64) t.scales[i];
      keep_changing (&t, sizes != NULL, x);
      if (t.n == 0)
        {
          lpt_onnx_set (on, 0, x);
          return;
        }
      node = interpolate (on, x, &t, sizes != NULL);
    }
  attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  attrs->mode = mode;
  attrs->antialias = antialias;
  attrs->coordinate_transformation_mode = coordinate;
  attrs->nearest_mode = rounding;
  attrs->cube_coeff = cube_coeff;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}
