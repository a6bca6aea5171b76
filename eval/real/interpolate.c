/* interpolate.c - Interpolate, all opsets and modes
 *
 * Every mode is separable: along one axis an output position is a weighted sum of a few input positions (taps).
 * Taps of each resized axis are computed once, then the axes are resized one after the other in f64.
 *   nearest            the position that nearest_mode chooses, weight 1
 *   linear             triangle over the neighbours inside, normalised; wider by 1 / scale with antialias
 *   linear_onnx        two neighbours, positions clamped to the ends
 *   cubic              four neighbours, indices clamped, coefficient cube_coeff
 *                      linear_onnx and cubic with antialias: as ONNX's Resize, the filter wider by 1 / scale where that
 *                      shrinks, indices clamped, normalised
 *   area               mean over the covered elements (opset1)
 *   *_pillow           Pillow's filters, wider when shrinking
 * Coordinates: lpt-resize.h.
 * opset1 is opset4 with other coordinates, nearest_mode simple and linear_onnx for linear: lpt-resize.c.
 * pads enlarge the data by zeros first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-resize-taps.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-resize.h"

static void
cubic_weights (double  f,
               double  a,
               double *w)
{
  w[0] = a * (f - 1) * (f - 1) * f;
  w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
  w[2] = (((-a - 2) * f + (2 * a + 3)) * f - a) * f;
  w[3] = -a * f * f * (f - 1);
}

static double
cubic_filter (double x,
              double a)
{
  x = fabs (x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;

  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double
pillow_filter (double   x,
               gboolean cubic,
               double   a)
{
  return cubic ? cubic_filter (x, a) : MAX (0, 1 - fabs (x));
}

/* The filters of ONNX's antialias. */
static gboolean
is_wide (const LptResizeStyle *style,
         float        scale)
{
  return style->antialias && scale < 1 &&
         (style->mode == LPT_INTERPOLATE_LINEAR_ONNX || style->mode == LPT_INTERPOLATE_CUBIC);
}

static void
set_wide_taps (const LptResizeStyle *style,
               float        scale,
               float        x,
               gint64       in,
               gint64       n,
               gint64      *index,
               double      *w)
{
  double sum = 0;
  gint64 k;

  for (k = 0; k < n; k++)
    {
      gint64 at = (gint64) floorf (x) + 1 + k - n / 2;
      double t = ((double) at - x) * scale;

      index[k] = CLAMP (at, 0, in - 1);
      w[k] = style->mode == LPT_INTERPOLATE_CUBIC ? cubic_filter (t, style->cube) : MAX (0, 1 - fabs (t));
      sum += w[k];
    }
  for (k = 0; k < n && sum != 0; k++)
    w[k] /= sum;
}

static gint64
count_taps (const LptResizeStyle *style,
            float        scale,
            gint64       in,
            gint64       out)
{
  double shrink = out > 0 ? MAX ((double) in / (double) out, 1) : 1;

  if (is_wide (style, scale))
    return 2 * (gint64) MIN (ceil ((style->mode == LPT_INTERPOLATE_CUBIC ? 2 : 1) / (double) scale), 1 << 20) + 2;
  switch (style->mode)
    {
    case LPT_INTERPOLATE_NEAREST: return 1;
    case LPT_INTERPOLATE_LINEAR:
      return 2 * (scale > 1 ? 2 : (gint64) ceilf (2 / (style->antialias ? scale : 1))) + 1;
    case LPT_INTERPOLATE_LINEAR_ONNX: return 2;
    case LPT_INTERPOLATE_CUBIC: return 4;
    case LPT_INTERPOLATE_AREA: return (gint64) ceil (shrink) + 1;
    case LPT_INTERPOLATE_BILINEAR_PILLOW: return (gint64) ceil (shrink) * 2 + 1;
    default: return (gint64) ceil (2 * shrink) * 2 + 1;
    }
}

/* Filters of Pillow, which widen where the image shrinks. */
static void
set_pillow_taps (const LptResizeStyle *style,
                 gint64                o,
                 LptResizeTaps        *t)
{
  const gboolean cubic = style->mode == LPT_INTERPOLATE_BICUBIC_PILLOW;
  const double shrink = MAX ((double) t->in / (double) t->out, 1);
  const double center = ((double) o + 0.5) * (double) t->in / (double) t->out, reach = (cubic ? 2 : 1) * shrink;
  const gint64 low = MAX ((gint64) (center - reach + 0.5), 0), high = MIN ((gint64) (center + reach + 0.5), t->in);
  gint64 *index = t->index + o * t->n, k;
  double *w = t->weight + o * t->n, sum = 0;

  for (k = 0; k < t->n && low + k < high; k++)
    {
      index[k] = low + k;
      w[k] = pillow_filter (((double) (low + k) - center + 0.5) / shrink, cubic, style->cube);
      sum += w[k];
    }
  for (k = 0; k < t->n && sum != 0; k++)
    w[k] /= sum;
}

static void
set_taps (const LptResizeStyle *style,
          float        scale,
          gint64       o,
          LptResizeTaps *t)
{
  gint64 *index = t->index + o * t->n, k, low, high;
  double *w = t->weight + o * t->n, sum = 0;
  float x = lpt_resize_coordinate (style->coordinate, o, scale, t->in, t->out), a;

  for (k = 0; k < t->n; k++)
    {
      index[k] = -1;
      w[k] = 0;
    }
  if (is_wide (style, scale))
    {
      set_wide_taps (style, scale, x, t->in, t->n, index, w);
      return;
    }
  switch (style->mode)
    {
    case LPT_INTERPOLATE_NEAREST:
      index[0] = CLAMP (lpt_resize_nearest (style->nearest, x, scale), 0, t->in - 1);
      w[0] = 1;
      break;

    case LPT_INTERPOLATE_LINEAR:
      a = style->antialias ? scale : 1;
      for (k = 0; k < t->n; k++)
        {
          gint64 at = (gint64) roundf (x) + k - t->n / 2;
          float weight = MAX (0, 1 - fabsf (a * (x - (float) at)));

          if (at < 0 || at >= t->in)
            continue;
          index[k] = at;
          w[k] = weight;
          sum += weight;
        }
      for (k = 0; k < t->n && sum != 0; k++)
        w[k] /= sum;
      break;

    case LPT_INTERPOLATE_LINEAR_ONNX:
      x = CLAMP (x, 0, (float) (t->in - 1));
      index[0] = MIN ((gint64) x, t->in - 1);
      index[1] = MIN (index[0] + 1, t->in - 1);
      w[1] = index[0] == index[1] ? 0.5 : x - (float) index[0];
      w[0] = index[0] == index[1] ? 0.5 : (float) index[1] - x;
      break;

    case LPT_INTERPOLATE_CUBIC:
      cubic_weights (x - floorf (x), style->cube, w);
      for (k = 0; k < 4; k++)
        index[k] = CLAMP ((gint64) floorf (x) - 1 + k, 0, t->in - 1);
      break;

    case LPT_INTERPOLATE_AREA:
      low = o * t->in / t->out;
      high = ((o + 1) * t->in + t->out - 1) / t->out;
      for (k = 0; k < t->n && low + k < high; k++)
        {
          index[k] = low + k;
          w[k] = 1 / (double) (high - low);
        }
      break;

    default:
      set_pillow_taps (style, o, t);
    }
}

/* @pad zeros in front of @length elements are part of the axis of t->in elements. */
static gboolean
make_taps (LptCall     *call,
           const LptResizeStyle *style,
           float        scale,
           gint64       pad,
           gint64       length,
           LptResizeTaps *t,
           GError     **error)
{
  gint64 i;

  if (t->in < 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "an empty axis cannot be resized");
      return FALSE;
    }
  t->n = count_taps (style, scale, t->in, t->out);
  if (t->n < 1 || t->n > (1 << 20))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "scale %g is too small", scale);
      return FALSE;
    }
  t->index = lpt_call_scratch (call, (gsize) t->out * (gsize) t->n, sizeof (gint64), error);
  t->weight = t->index != NULL ? lpt_call_scratch (call, (gsize) t->out * (gsize) t->n, sizeof (double), error) : NULL;
  if (t->weight == NULL)
    return FALSE;
  for (i = 0; i < t->out; i++)
    set_taps (style, scale, i, t);
  for (i = 0; i < t->out * t->n; i++)
    {
      t->index[i] -= t->index[i] >= 0 ? pad : 0;
      if (t->index[i] >= length)
        t->index[i] = -1;
    }

  return TRUE;
}

static void
resize_axis (const double *x,
             double       *y,
             gint64        outer,
             gint64        length,
             gint64        inner,
             const LptResizeTaps *t)
{
  gint64 o, p, k, i;

  for (o = 0; o < outer; o++)
    for (p = 0; p < t->out; p++, y += inner)
      {
        /* What is added to this stays as it is, the sign of a zero too. */
        for (i = 0; i < inner; i++)
          y[i] = -0.0;
        for (k = 0; k < t->n; k++)
          {
            gint64 index = t->index[p * t->n + k];
            const double *row = x + (o * length + index) * inner;
            double w = t->weight[p * t->n + k];

            for (i = 0; i < inner && w != 0; i++)
              y[i] += index >= 0 ? w * row[i] : 0;
          }
      }
}

typedef struct
{
  gboolean resized[LPT_MAX_RANK];
  float    scale[LPT_MAX_RANK];
} Axes;

/* Which axes, and their scales: given, or the ratio of the lengths. */
static gboolean
read_axes (LptCall *call,
           Axes    *axes,
           GError **error)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (call->node, LptInterpolateAttrs);
  guint version = lpt_op_version (call->node->info, call->node->opset == 0 ? G_MAXUINT : call->node->opset);
  guint input = version >= 11 ? 2 : 3, scales_input = version >= 11 ? 1 : 2;
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  gboolean given = version >= 4 && attrs->shape_calculation_mode == LPT_INTERPOLATE_SCALES;
  const gint64 *list = NULL;
  const float *scales = NULL;
  gint64 n = in->rank, i;
  gint axis;

  memset (axes, 0, sizeof *axes);
  if (version < 4)
    {
      list = attrs->axes.v;
      n = attrs->axes.n;
    }
  else if (lpt_call_has (call, input))
    {
      list = lpt_call_i64 (call, input, error);
      if (list == NULL)
        return FALSE;
      n = lpt_array_count (&call->in[input]);
    }
  if (given)
    {
      scales = lpt_call_f32 (call, scales_input, error);
      if (scales == NULL)
        return FALSE;
      if (lpt_array_count (&call->in[scales_input]) < n)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "there are fewer scales than axes");
          return FALSE;
        }
    }
  for (i = 0; i < n; i++)
    {
      gint64 pad;

      if (!lpt_call_axis (call, list != NULL ? list[i] : i, in->rank, &axis, error))
        return FALSE;
      pad = lpt_ints_get (&attrs->pads_begin, (guint) axis, 0) + lpt_ints_get (&attrs->pads_end, (guint) axis, 0);
      axes->resized[axis] = TRUE;
      axes->scale[axis] = given ? scales[i] : (float) out->dims[axis] / (float) (in->dims[axis] + pad);
    }

  return TRUE;
}

gboolean
lpt_interpolate_taps (LptCall       *call,
                      LptResizeTaps *taps,
                      GError       **error)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (call->node, LptInterpolateAttrs);
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  const LptResizeStyle style = lpt_resize_style (call->node);
  const LptResizeStyle pad_style = { LPT_INTERPOLATE_NEAREST, LPT_COORD_ASYMMETRIC, LPT_NEAREST_FLOOR, FALSE, 0 };
  Axes axes;
  gint axis;

  if (!read_axes (call, &axes, error))
    return FALSE;
  for (axis = 0; axis < in->rank; axis++)
    {
      gint64 begin = lpt_ints_get (&attrs->pads_begin, (guint) axis, 0),
             end = lpt_ints_get (&attrs->pads_end, (guint) axis, 0);

      taps[axis] = (LptResizeTaps) { .in = in->dims[axis] + begin + end, .out = out->dims[axis] };
      if ((axes.resized[axis] || begin != 0 || end != 0) &&
          !make_taps (call, axes.resized[axis] ? &style : &pad_style, axes.resized[axis] ? axes.scale[axis] : 1, begin,
                      in->dims[axis], &taps[axis], error))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_run_interpolate (LptCall *call,
                     GError **error)
{
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  LptShape shape = call->in[0].shape;
  gint64 i, count = lpt_array_count (&call->in[0]);
  LptResizeTaps taps[LPT_MAX_RANK];
  double *data;
  gint axis;

  if (y == NULL)
    return FALSE;
  if (lpt_array_count (&call->out[0]) == 0)
    return TRUE;
  if (!lpt_interpolate_taps (call, taps, error))
    return FALSE;
  data = lpt_call_scratch (call, (gsize) count, sizeof (double), error);
  if (data == NULL)
    return FALSE;
  for (i = 0; i < count; i++)
    data[i] = x[i];

  for (axis = 0; axis < shape.rank; axis++)
    {
      double *resized;

      if (taps[axis].n == 0)
        continue;
      resized = lpt_call_scratch (call, (gsize) (lpt_dims_product (&shape, 0, axis) * taps[axis].out
                                                 * lpt_dims_product (&shape, axis + 1, shape.rank)), sizeof (double), error);
      if (resized == NULL)
        return FALSE;
      resize_axis (data, resized, lpt_dims_product (&shape, 0, axis), shape.dims[axis],
                   lpt_dims_product (&shape, axis + 1, shape.rank), &taps[axis]);
      shape.dims[axis] = taps[axis].out;
      data = resized;
    }
  for (i = 0; i < lpt_array_count (&call->out[0]); i++)
    y[i] = (float) data[i];

  return TRUE;
}
