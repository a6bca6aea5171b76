/* dynamic-quantize.c - DynamicFakeQuantize, DynamicQuantize, DynamicRest
 *
 * A row is everything from an axis on. DynamicFakeQuantize: its codes, as TensorFlow Lite's hybrid kernels find them,
 * times the step:
 *
 *   symmetric    r = max |x|;  q = round-away (x (127 / r));  y = q r / 127;  a row of zeros stays
 *   asymmetric   lo = min (0, x), hi = max (0, x), s = (hi - lo) / 255; the zero point is -128 - lo / s or 127 - hi / s, whichever
 *                bound is the more exact one; q = round-away (z + x / s) within -128 .. 127;  y = s (q - z)
 *
 * All in single precision but the choice of the zero point.
 *
 * DynamicQuantize, in single precision (asymmetric: as ONNX's DynamicQuantizeLinear, symmetric: as MatMulNBits
 * quantizes its rows):
 *
 *   symmetric    r = max |x|;  s = r / 127;  q = round-even (x (127 / r));  a row of zeros has s = 1; of 16 bits
 *                32767 in place of 127
 *   asymmetric   lo, hi as above, s = (hi - lo) / 255, 1 if that is 0;  z = round-even (-lo / s) within 0 .. 255;
 *                q = round-even (x / s) + z within 0 .. 255
 *
 *   litert       the codes and steps of DynamicFakeQuantize, asymmetric ones and their zero points 128 more; a row of
 *                zeros has s = 1, and asymmetric z = 128
 *
 *                in mode litert2, asymmetric (XNNPACK's rows): r = 255 / (hi - lo), 1 if that is empty; s = 1 / r; the zero
 *                point is rint (-128 - lo r) where (lo r - 128) + (hi r + 127) > 0, else rint (127 - hi r), within
 *                -128 .. 127; q = round-even (x r) + z, all in single precision; 128 more as above
 *
 * Rows and blocks that are asymmetric multiply by 1 / s, once rounded, where one interval for all divides by s. With
 * blocks each so many elements of a row are one of these rows. NaN does not count in the interval; its code is the
 * lowest one.
 *
 * DynamicRest, of x with codes q, scale s and zero point z (absent: 0): what they leave, in steps of s / 256,
 *
 *   r = x - s (q - z);  l = round-even (r (256 / s)) within -128 .. 127
 *
 * so that x = s (q - z) + s / 256 l to half a step of the latter, but for a whole one where r is s / 2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-dynamic.h"
#include "eval/lpt-exec-ops.h"
#include "eval/requant/lpt-requant-modes.h"
#include "ir/scalar/lpt-loop.h"

LptDynamicStep
lpt_dynamic_fake_step (gboolean symmetric, float lo, float hi)
{
  if (symmetric)
    {
      const float range = fmaxf (-lo, hi);

      return (LptDynamicStep) { range / 127.0f, 127.0f / range, 0.0f, -127.0f };
    }
  const double low = (double) lo, high = (double) hi, step = (high - low) / 255.0;
  const double from_low = -128.0 - low / step, from_high = 127.0 - high / step;
  const double zero = 128.0 + fabs (low / step) < 127.0 + fabs (high / step) ? from_low : from_high;
  const float scale = (float) step;

  return (LptDynamicStep) { scale, 1.0f / scale, (float) CLAMP (round (zero), -128.0, 127.0), -128.0f };
}

static float
fake_code (gboolean symmetric, const LptDynamicStep *s, float x)
{
  const float code = roundf (symmetric ? x * s->inverse : s->zero + x * s->inverse);
  return fminf (fmaxf (code, s->least), 127.0f);
}

LptDynamicStep
lpt_dynamic_codes_step (gboolean symmetric, float lo, float hi)
{
  return lo != hi ? lpt_dynamic_fake_step (symmetric, lo, hi)
                  : (LptDynamicStep) { 1, 0, 0, symmetric ? -127.0f : -128.0f };
}

LptDynamicStep
lpt_dynamic_row_step (float lo, float hi)
{
  const float inverse = lo != hi ? 255.0f / (hi - lo) : 1.0f, least = lo * inverse, most = hi * inverse;
  const float zero = (least - 128.0f) + (most + 127.0f) > 0.0f ? -128.0f - least : 127.0f - most;

  return (LptDynamicStep) { 1.0f / inverse, inverse, rintf (CLAMP (zero, -128.0f, 127.0f)), -128.0f };
}

/* The interval of @x and 0; NaN does not count. */
static void
find_interval (gint64 n, const float *x, float *lo, float *hi)
{
  *lo = *hi = 0;
  for (gint64 i = 0; i < n; i++)
    {
      *lo = x[i] < *lo ? x[i] : *lo;
      *hi = x[i] > *hi ? x[i] : *hi;
    }
}

static void
round_row (gboolean symmetric, gint64 n, const float *x, float *y)
{
  float lo, hi;
  find_interval (n, x, &lo, &hi);
  if (lo == hi)
    {
      for (gint64 i = 0; i < n; i++)
        y[i] = 0;
      return;
    }
  const LptDynamicStep s = lpt_dynamic_fake_step (symmetric, lo, hi);
  for (gint64 i = 0; i < n; i++)
    y[i] = s.scale * (fake_code (symmetric, &s, x[i]) - s.zero);
}

gboolean
lpt_run_dynamic_fake_quantize (LptCall *call, GError **error)
{
  const LptDynamicFakeQuantizeAttrs *attrs = LPT_ATTRS (call->node, LptDynamicFakeQuantizeAttrs);
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint axis = 0;
  if (y == NULL || (shape->rank > 0 && !lpt_call_axis (call, attrs->axis, shape->rank, &axis, error)))
    return FALSE;
  gint64 rows = lpt_dims_product (shape, 0, axis), n = lpt_dims_product (shape, axis, shape->rank);
  for (gint64 r = 0; r < rows; r++)
    round_row (attrs->symmetric, n, x + r * n, y + r * n);
  return TRUE;
}

/* --- codes ------------------------------------------------------------------------ */

/* NaN becomes @lo. */
static float
code_of (float x, float lo, float hi)
{
  return x >= hi ? hi : x > lo ? rintf (x) : lo;
}

/* Codes up to @most. */
static void
quantize_around_zero (float most, gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  float range = 0;
  for (gint64 i = 0; i < n; i++)
    range = fabsf (x[i]) > range ? fabsf (x[i]) : range;
  const float inverse = range > 0 ? most / range : 0.0f;
  *scale = range > 0 ? range / most : 1.0f;
  *zero = 0;
  for (gint64 i = 0; i < n; i++)
    codes[i] = code_of (x[i] * inverse, -most, most);
}

static void
quantize_symmetric (gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  quantize_around_zero (127.0f, n, x, codes, scale, zero);
}

static void
quantize_symmetric16 (gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  quantize_around_zero (32767.0f, n, x, codes, scale, zero);
}

/* The step of the interval of @x, and in *@lo where it begins. */
static float
find_step (gint64 n, const float *x, float *lo)
{
  float hi;
  find_interval (n, x, lo, &hi);
  return hi != *lo ? (hi - *lo) / 255.0f : 1.0f;
}

static void
quantize_all (gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  float lo;
  const float s = find_step (n, x, &lo), z = code_of ((0.0f - lo) / s, 0, 255);
  *scale = s;
  *zero = z;
  for (gint64 i = 0; i < n; i++)
    codes[i] = code_of (x[i] / s, 0.0f - z, 255.0f - z) + z;
}

static void
quantize_row (gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  float lo;
  const float s = find_step (n, x, &lo), inverse = 1.0f / s, z = code_of ((0.0f - lo) * inverse, 0, 255);
  *scale = s;
  *zero = z;
  for (gint64 i = 0; i < n; i++)
    codes[i] = code_of (x[i] * inverse, 0.0f - z, 255.0f - z) + z;
}

static void
quantize_litert (gboolean symmetric, gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  const float add = symmetric ? 0 : 128;
  float lo, hi;
  find_interval (n, x, &lo, &hi);
  const LptDynamicStep s = lpt_dynamic_codes_step (symmetric, lo, hi);
  *scale = s.scale;
  *zero = s.zero + add;
  for (gint64 i = 0; i < n; i++)
    codes[i] = fake_code (symmetric, &s, x[i]) + add;
}

static void
quantize_litert_symmetric (gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  quantize_litert (TRUE, n, x, codes, scale, zero);
}

static void
quantize_litert_asymmetric (gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  quantize_litert (FALSE, n, x, codes, scale, zero);
}

static void
quantize_litert2 (gint64 n, const float *x, float *codes, float *scale, float *zero)
{
  float lo, hi;
  find_interval (n, x, &lo, &hi);
  const LptDynamicStep s = lpt_dynamic_row_step (lo, hi);
  *scale = s.scale;
  *zero = s.zero + 128.0f;
  for (gint64 i = 0; i < n; i++)
    codes[i] = code_of (x[i] * s.inverse, -128.0f - s.zero, 127.0f - s.zero) + *zero;
}

/* By their rules. */
static void (*find_rule (LptNode *node)) (gint64, const float *, float *, float *, float *)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  if (attrs->litert && !attrs->symmetric && lpt_requant_node_mode (node) == LPT_MODE_LITERT2)
    return quantize_litert2;
  if (attrs->litert)
    return attrs->symmetric ? quantize_litert_symmetric : quantize_litert_asymmetric;
  if (attrs->symmetric)
    return attrs->bits == 16 ? quantize_symmetric16 : quantize_symmetric;
  return attrs->axis == 0 && attrs->block == 0 ? quantize_all : quantize_row;
}

gboolean
lpt_run_dynamic_quantize (LptCall *call, GError **error)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (call->node, LptDynamicQuantizeAttrs);
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *codes = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  float *scale = codes != NULL ? lpt_call_out_f32 (call, 1, error) : NULL;
  float *zero = scale != NULL ? lpt_call_out_f32 (call, 2, error) : NULL;
  gint axis = 0;
  if (zero == NULL || (attrs->axis != 0 && !lpt_call_axis (call, attrs->axis, shape->rank, &axis, error)))
    return FALSE;
  gint64 rows = lpt_dims_product (shape, 0, axis), n = lpt_dims_product (shape, axis, shape->rank);
  gint64 block = attrs->block > 0 && attrs->block < n ? attrs->block : n, blocks = n > 0 ? (n + block - 1) / block : 0;
  void (*quantize) (gint64, const float *, float *, float *, float *) = find_rule (call->node);
  for (gint64 r = 0; r < rows * blocks && blocks > 1; r++)
    {
      const gint64 at = r / blocks * n + r % blocks * block, size = MIN (block, n - r % blocks * block);
      quantize (size, x + at, codes + at, scale + r, zero + r);
    }
  for (gint64 r = 0; r < rows && blocks <= 1; r++)
    quantize (n, x + r * n, codes + r * n, scale + r, zero + r);
  return TRUE;
}

gboolean
lpt_run_dynamic_rest (LptCall *call, GError **error)
{
  const float *x = lpt_call_f32 (call, 0, error);
  const float *codes = x != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  const float *scale = codes != NULL ? lpt_call_f32 (call, 2, error) : NULL;
  const gboolean shifted = lpt_call_has (call, 3);
  const float *zero = scale != NULL && shifted ? lpt_call_f32 (call, 3, error) : NULL;
  float *y = scale != NULL && (!shifted || zero != NULL) ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 count = lpt_dims_product (&call->in[0].shape, 0, call->in[0].shape.rank);
  const float none = y != NULL && shifted ? *zero : 0;
  if (y == NULL)
    return FALSE;
  for (gint64 i = 0; i < count; i++)
    {
      const float rest = x[i] - *scale * (codes[i] - none);

      y[i] = code_of (rest * (256.0f / *scale), -128.0f, 127.0f);
    }
  return TRUE;
}
