/* lpt-int-resize.c - Interpolate on integers: nearest, and linear over the last two axes
 *
 * Nearest moves codes; its coordinates are float32: those of the op on real values (lpt-resize.h), which divides by
 * the scale, so that the same pixel is chosen where two are as near; in TensorFlow Lite's modes multiplied by the ratio
 * of the lengths.
 * Linear, by algorithm of the rule:
 *   RESCALE, MICRO, LITERT   10-bit fixed point (TensorFlow Lite): scale = (1024 in + out / 2) / out, with
 *     aligned corners (1024 (in - 1) + (out - 1) / 2) / (out - 1); position = i scale (half pixels:
 *     + scale / 2 - 512); lower = max (position / 1024, 0), upper = min ((position + 1023) / 1024, in - 1);
 *     weights may be negative at the border; four products in 20 bits, then a division with ties
 *     away from zero (rounding SINGLE: a shift with ties toward +inf)
 *   unsigned codes in mode litert: float32 positions and weights, the sum rounded half up
 *   XNNPACK  float32 positions within the image, weights rounded to 11 bits, products in 22 bits, ties toward +inf
 *   EVEN     the same, ties to where code - zero point is even
 *   FLOAT   float32
 * Lengths may be open: any of nearest ones, those of lines where the last two axes have sizes or whole scales.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"

#include <math.h>

#include "executor/kernels/requant/requant-scalar.h"
#include "ir/scalar/lpt-resize.h"

typedef struct
{
  LptIntOp                 op;
  LptResizeStyle           style;
  gboolean                 multiplies;            /* coordinates as TensorFlow Lite has them */
  float                    scale[LPT_MAX_RANK];   /* given ones, else 0 */
  const LptRequantRule    *rule;
  LptIntScale              x;
  LptIntRescale            rescale;
  gboolean                 unsigned_litert;
} Resize;

/* --- nearest ----------------------------------------------------------------------- */

/* TensorFlow Lite: times in / out. */
static float
multiplied (const Resize *r,
            gint64        i,
            gint64        in,
            gint64        out)
{
  float scale = (float) in / (float) out;
  float v = (float) i;

  switch (r->style.coordinate)
    {
    case LPT_COORD_ALIGN_CORNERS:
      v *= out > 1 ? (float) (in - 1) / (float) (out - 1) : scale;
      break;
    case LPT_COORD_ASYMMETRIC:
      v *= scale;
      break;
    case LPT_COORD_TF_HALF_PIXEL_FOR_NN:
      v = (v + 0.5f) * scale;
      break;
    case LPT_COORD_PYTORCH_HALF_PIXEL:
      v = out > 1 ? (v + 0.5f) * scale - 0.5f : 0.0f;
      break;
    default:
      v = (v + 0.5f) * scale - 0.5f;
      break;
    }

  return v;
}

gint64
lpt_int_resize_source (const LptIntOp *op,
                       gint            axis,
                       gint64          i,
                       gint64          in,
                       gint64          out)
{
  const Resize *r = (const Resize *) op;
  float scale = r->scale[axis] != 0.0f ? r->scale[axis] : (float) out / (float) in;
  float v = r->multiplies ? multiplied (r, i, in, out) : lpt_resize_coordinate (r->style.coordinate, i, scale, in, out);

  return in == out ? i : CLAMP (lpt_resize_nearest (r->style.nearest, v, scale), 0, in - 1);
}

gboolean
lpt_int_resize_is_nearest (const LptIntOp *op)
{
  return ((const Resize *) op)->style.mode == LPT_INTERPOLATE_NEAREST;
}

/* The scales that the node names instead of sizes; FALSE: they are computed. */
static gboolean
read_scales (LptNode *node,
             Resize  *r)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  const gboolean late = node->opset == 0 || node->opset >= 11;
  LptTensor *scales = lpt_node_const_in (node, late ? 1 : 2), *axes = lpt_node_const_in (node, late ? 2 : 3);
  const gint rank = lpt_node_in (node, 0)->shape.rank;
  gint64 n;
  gint axis;

  if ((node->opset >= 1 && node->opset < 4) || attrs->shape_calculation_mode != LPT_INTERPOLATE_SCALES)
    return TRUE;
  if (scales == NULL || (axes == NULL && lpt_node_in (node, late ? 2 : 3) != NULL))
    return FALSE;
  n = axes != NULL ? lpt_tensor_count (axes) : rank;
  for (gint64 i = 0; i < n && i < lpt_tensor_count (scales); i++)
    if (lpt_axis_normalize (axes != NULL ? lpt_tensor_get_i64 (axes, i) : i, rank, &axis))
      r->scale[axis] = (float) lpt_tensor_get_f64 (scales, i);

  return TRUE;
}

/* Lines take the ratio of the lengths for the scale, whatever the node names: no place is off by more than 2^-12 of a
 * pixel, which is a part of 16 of a step between the farthest of neighbours. Lengths that a run gives have the ratio
 * that is named where it is a whole number. */
static gboolean
is_ratio (float  scale,
          gint64 x,
          gint64 y)
{
  if (x == LPT_DYNAMIC || y == LPT_DYNAMIC)
    return scale >= 1 && scale == rintf (scale);
  return fabs ((double) scale * (double) x - (double) y) <= 0x1p-12 * fmin (1, (double) y / (double) x);
}

static gboolean
are_ratios (const Resize   *r,
            const LptShape *x,
            const LptShape *y)
{
  for (gint i = 0; i < x->rank && r->style.coordinate != LPT_COORD_ALIGN_CORNERS; i++)
    if (r->scale[i] != 0 && !is_ratio (r->scale[i], x->dims[i], y->dims[i]))
      return FALSE;

  return TRUE;
}

/* Are the lengths of the last two axes alone asked for as they are, whether a run knows them or all do? */
static gboolean
is_sized_image (LptNode *node)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  const gboolean late = node->opset == 0 || node->opset >= 11;
  LptTensor *axes = lpt_node_const_in (node, late ? 2 : 3);
  const gint rank = lpt_node_in (node, 0)->shape.rank;
  gint axis;

  if ((node->opset >= 1 && node->opset < 4) || attrs->shape_calculation_mode != LPT_INTERPOLATE_SIZES || rank < 2 ||
      lpt_node_out (node)->shape.rank != rank || axes == NULL)
    return FALSE;
  for (gint64 i = 0; i < lpt_tensor_count (axes); i++)
    if (!lpt_axis_normalize (lpt_tensor_get_i64 (axes, i), rank, &axis) || axis < rank - 2)
      return FALSE;

  return TRUE;
}

/* Does axis @i keep its length, whatever that is: has it a scale of 1, or none where others have one (@by_scales)? */
static gboolean
stays (const Resize   *r,
       const LptShape *x,
       const LptShape *y,
       gint            i,
       gboolean        by_scales)
{
  if (x->dims[i] != y->dims[i])
    return FALSE;
  return x->dims[i] != LPT_DYNAMIC || r->scale[i] == 1 || (by_scales && r->scale[i] == 0);
}

static void
nearest_run (const LptIntOp           *op,
             const LptIntArray *const *in,
             guint                     n_in,
             const LptIntArray        *out)
{
  const Resize *r = (const Resize *) op;
  const LptIntArray *x = in[0];
  gint64 strides[LPT_MAX_RANK];

  lpt_shape_strides (&x->shape, strides);
  for (gint64 i = 0, n = lpt_int_count (&out->shape); i < n; i++)
    {
      gint64 rest = i, offset = 0;

      for (gint a = out->shape.rank; a-- > 0; )
        {
          const gint64 to = out->shape.dims[a], from = x->shape.dims[a], position = rest % to;

          offset += lpt_int_resize_source (op, a, position, from, to) * strides[a];
          rest /= to;
        }
      lpt_int_put (out, i, lpt_int_rescale (&r->rescale, lpt_int_at (x, offset)));
    }
}

/* --- linear ------------------------------------------------------------------------ */

static gboolean
is_real (const Resize *r)
{
  return r->rule->algorithm == LPT_ALGO_FLOAT || r->rule->algorithm == LPT_ALGO_FLOAT_AWAY;
}

static gboolean
is_fine (const Resize *r)
{
  return r->rule->algorithm == LPT_ALGO_XNNPACK || r->rule->algorithm == LPT_ALGO_EVEN;
}

static LptIntResizeTap
linear_tap (const Resize *r,
            gint64        i,
            gint64        in,
            gint64        out)
{
  const gboolean corners = r->style.coordinate == LPT_COORD_ALIGN_CORNERS && out > 1;
  const gboolean half = r->style.coordinate == LPT_COORD_HALF_PIXEL ||
                        (r->style.coordinate == LPT_COORD_PYTORCH_HALF_PIXEL && out > 1);
  const gint64 scale = corners ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1) : (1024 * in + out / 2) / out;
  const gint64 position = i * scale + (half ? scale / 2 - 512 : 0);
  const float f = corners ? (float) i * ((float) (in - 1) / (float) (out - 1))
                  : half ? ((float) i + 0.5f) * ((float) in / (float) out) - 0.5f : (float) i * ((float) in / (float) out);
  LptIntResizeTap tap;

  if (r->unsigned_litert)
    {
      tap.lower = (gint64) MAX (floorf (f), 0.0f);
      tap.upper = MIN ((gint64) floorf (f) + 1, in - 1);
      tap.real = f - (float) tap.lower;
      tap.weight = 0;
      return tap;
    }
  if (is_real (r) || is_fine (r))
    {
      const float g = CLAMP (f, 0.0f, (float) (in - 1));

      tap.lower = (gint64) g;
      tap.upper = MIN (tap.lower + 1, in - 1);
      tap.real = g - (float) tap.lower;
      tap.weight = (gint32) lrintf (tap.real * 2048.0f);
      return tap;
    }

  tap.lower = MIN (MAX (position / 1024, 0), in - 1);
  tap.upper = MIN ((position + 1023) / 1024, in - 1);
  tap.upper = MAX (tap.upper, 0);
  tap.weight = (gint32) (position - 1024 * tap.lower);
  tap.real = 0.0f;

  return tap;
}

static void
linear_run (const LptIntOp           *op,
            const LptIntArray *const *in,
            guint                     n_in,
            const LptIntArray        *out)
{
  const Resize *r = (const Resize *) op;
  const LptIntArray *x = in[0];
  const gint rank = out->shape.rank;
  const gint64 h = x->shape.dims[rank - 2], w = x->shape.dims[rank - 1];
  const gint64 to_h = out->shape.dims[rank - 2], to_w = out->shape.dims[rank - 1];
  const gint64 n = lpt_int_count (&out->shape);
  const LptIntResize view = lpt_int_resize_view (&r->op);
  const gint32 one = 1 << view.bits;

  for (gint64 i = 0; i < n; i++)
    {
      const gint64 plane = i / (to_h * to_w) * h * w;
      const LptIntResizeTap ty = linear_tap (r, i / to_w % to_h, h, to_h), tx = linear_tap (r, i % to_w, w, to_w);
      const gint32 q00 = lpt_int_at (x, plane + ty.lower * w + tx.lower),
                   q01 = lpt_int_at (x, plane + ty.lower * w + tx.upper);
      const gint32 q10 = lpt_int_at (x, plane + ty.upper * w + tx.lower),
                   q11 = lpt_int_at (x, plane + ty.upper * w + tx.upper);
      gint64 v;

      if (r->unsigned_litert)
        {
          const float a = 1.0f - ty.real, b = 1.0f - tx.real;
          const float sum = (float) q00 * (a * b) + (float) q01 * (a * tx.real) + (float) q10 * (ty.real * b) +
                            (float) q11 * (ty.real * tx.real);

          lpt_int_put (out, i, lpt_int_rescale (&r->rescale, lpt_int_clamp ((gint64) (sum + 0.5f), r->x.lo, r->x.hi)));
          continue;
        }
      if (is_real (r))
        {
          const float scale = (float) r->x.scale;
          const float top = ((float) (q00 - r->x.zero) * (1.0f - tx.real) + (float) (q01 - r->x.zero) * tx.real) *
                            scale;
          const float bottom = ((float) (q10 - r->x.zero) * (1.0f - tx.real) + (float) (q11 - r->x.zero) * tx.real) *
                               scale;

          lpt_int_put (out, i,
                       lpt_int_code ((top * (1.0f - ty.real) + bottom * ty.real) / (float) r->rescale.to.scale,
                                     &r->rescale.to, r->rule->algorithm == LPT_ALGO_FLOAT_AWAY));
          continue;
        }

      v = (gint64) q00 * (one - ty.weight) * (one - tx.weight) + (gint64) q01 * (one - ty.weight) * tx.weight
          + (gint64) q10 * ty.weight * (one - tx.weight) + (gint64) q11 * ty.weight * tx.weight;
      v = view.even ? lpt_requant_even_shift (v, 2 * view.bits, r->x.zero & 1)
          : view.away ? (v + (v > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20)
          : lpt_requant_round_shift (v, 2 * view.bits);
      lpt_int_put (out, i, lpt_int_rescale (&r->rescale, lpt_int_clamp (v, r->x.lo, r->x.hi)));
    }
}

LptIntResizeTap
lpt_int_resize_tap (const LptIntOp *op,
                    gint64          i,
                    gint64          in,
                    gint64          out)
{
  return linear_tap ((const Resize *) op, i, in, out);
}

LptIntResize
lpt_int_resize_view (const LptIntOp *op)
{
  const Resize *r = (const Resize *) op;

  return (LptIntResize) { .nearest = r->style.mode == LPT_INTERPOLATE_NEAREST,
                          .sums_reals = r->unsigned_litert,
                          .bits = is_fine (r) ? 11 : 10,
                          .even = r->rule->algorithm == LPT_ALGO_EVEN,
                          .away = !is_fine (r) && r->rule->rounding != LPT_REQUANT_SINGLE,
                          .rule = r->rule,
                          .x = &r->x,
                          .rescale = &r->rescale };
}

LptIntOp *
lpt_int_resize_new (LptNode              *node,
                    const LptRequantRule *rule,
                    GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  const LptShape *x = &lpt_node_in (node, 0)->shape, *y = &lpt_node_out (node)->shape;
  LptIntScale to;
  Resize *r = g_new0 (Resize, 1);
  gboolean nearest;

  op = &r->op;
  r->rule = rule;
  r->style = lpt_resize_style (node);
  nearest = r->style.mode == LPT_INTERPOLATE_NEAREST;
  r->multiplies = lpt_modes ()[lpt_requant_node_mode (node)].tflite;
  r->unsigned_litert = rule->mode == LPT_MODE_LITERT && lpt_node_in (node, 0)->dtype == LPT_DTYPE_U8;
  op->run = nearest ? nearest_run : linear_run;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the input", &r->x, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &to, error))
    return NULL;
  if (x->rank < 0 || y->rank != x->rank)
    {
      lpt_int_refuse (error, "an integer Interpolate of dynamic rank");
      return NULL;
    }
  if (!read_scales (node, r))
    {
      lpt_int_refuse (error, "computed scales of an integer Interpolate");
      return NULL;
    }
  if (!nearest && !are_ratios (r, x, y))
    {
      lpt_int_refuse (error, "scales of an integer Interpolate that are no ratios of lengths");
      return NULL;
    }
  for (guint i = 0; i < MAX (attrs->pads_begin.n, attrs->pads_end.n); i++)
    if (lpt_ints_get (&attrs->pads_begin, i, 0) != 0 || lpt_ints_get (&attrs->pads_end, i, 0) != 0)
      {
        lpt_int_refuse (error, "padding in an integer Interpolate");
        return NULL;
      }
  if (!nearest)
    {
      gboolean fits = x->rank >= 2 && !r->style.antialias && r->style.coordinate != LPT_COORD_TF_HALF_PIXEL_FOR_NN
                      && (r->style.mode == LPT_INTERPOLATE_LINEAR || r->style.mode == LPT_INTERPOLATE_LINEAR_ONNX);

      for (gint i = 0; i < x->rank - 2 && !is_sized_image (node); i++)
        fits = fits && stays (r, x, y, i, attrs->shape_calculation_mode == LPT_INTERPOLATE_SCALES);
      if (!fits)
        {
          lpt_int_refuse (error, "unsupported mode of an integer Interpolate: only nearest, and linear over the last two axes");
          return NULL;
        }
    }
  lpt_int_rescale_init (&r->rescale, rule, &r->x, &to);

  return g_steal_pointer (&op);
}
