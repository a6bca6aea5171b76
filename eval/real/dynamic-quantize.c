/* dynamic-quantize.c - DynamicFakeQuantize
 *
 * A row is everything from an axis on. Its codes, as TensorFlow Lite's hybrid kernels find them, times the step:
 *
 *   symmetric    r = max |x|;  q = round-away (x (127 / r));  y = q r / 127;  a row of zeros stays
 *   asymmetric   lo = min (0, x), hi = max (0, x), s = (hi - lo) / 255; the zero point is -128 - lo / s or 127 - hi / s, whichever
 *                bound is the more exact one; q = round-away (z + x / s) within -128 .. 127;  y = s (q - z)
 *
 * All in single precision but the choice of the zero point.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

static void
round_symmetric (gint64 n, const float *x, float *y)
{
  float range = 0;
  for (gint64 i = 0; i < n; i++)
    range = fmaxf (range, fabsf (x[i]));
  if (range == 0)
    {
      for (gint64 i = 0; i < n; i++)
        y[i] = 0;
      return;
    }
  float scale = range / 127.0f, inverse = 127.0f / range;
  for (gint64 i = 0; i < n; i++)
    y[i] = fminf (fmaxf (roundf (x[i] * inverse), -127.0f), 127.0f) * scale;
}

static void
round_asymmetric (gint64 n, const float *x, float *y)
{
  double low = 0, high = 0;
  for (gint64 i = 0; i < n; i++)
    {
      low = fmin (low, (double) x[i]);
      high = fmax (high, (double) x[i]);
    }
  if (low == high)
    {
      for (gint64 i = 0; i < n; i++)
        y[i] = 0;
      return;
    }
  double step = (high - low) / 255.0, from_low = -128.0 - low / step, from_high = 127.0 - high / step;
  double zero = 128.0 + fabs (low / step) < 127.0 + fabs (high / step) ? from_low : from_high;
  float z = (float) CLAMP (round (zero), -128.0, 127.0), scale = (float) step, inverse = 1.0f / scale;
  for (gint64 i = 0; i < n; i++)
    y[i] = scale * (fminf (fmaxf (roundf (z + x[i] * inverse), -128.0f), 127.0f) - z);
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
    (attrs->symmetric ? round_symmetric : round_asymmetric) (n, x + r * n, y + r * n);
  return TRUE;
}
