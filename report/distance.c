/* distance.c - how far two lists of numbers are apart, added up over samples
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/distance.h"

#include <math.h>

void
lpt_distance_add (LptDistance *d, const float *a, const float *b, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      double x = a[i], y = b[i], diff = fabs (x - y);
      d->nan_a += isnan (x);
      d->nan_b += isnan (y);
      if ((isnan (x) && isnan (y)) || x == y)
        diff = 0.0;
      if (isnan (diff) || diff > d->max)
        d->max = diff;
      if (!isfinite (x) || !isfinite (y))
        continue;
      d->sum += diff;
      d->aa += x * x;
      d->bb += y * y;
      d->ab += x * y;
      d->dd += diff * diff;
    }
  d->n += n;
}

double
lpt_distance_sqnr (const LptDistance *d)
{
  return d->dd > 0.0 ? 10.0 * log10 (d->aa / d->dd) : HUGE_VAL;
}

double
lpt_distance_cosine (const LptDistance *d)
{
  return d->aa > 0.0 && d->bb > 0.0 ? d->ab / (sqrt (d->aa) * sqrt (d->bb)) : d->aa == d->bb ? 1.0 : 0.0;
}

float *
lpt_value_to_real (const LptValue *value, LptTensor *tensor, GError **error)
{
  float *x = lpt_tensor_to_f32 (tensor, error);
  const LptQuant *q = value->quant;
  const LptShape *shape = lpt_tensor_shape (tensor);
  if (x == NULL || q == NULL || lpt_dtype_is_real (lpt_tensor_dtype (tensor)))
    return x;
  gint64 run = q->n > 1 ? lpt_quant_run (q, shape) : 1;
  for (gint64 i = 0, n = lpt_tensor_count (tensor); i < n; i++)
    {
      guint k = q->n > 1 ? (guint) (i / run % q->n) : 0;
      x[i] = (float) (q->scale[k] * ((double) x[i] - q->zero_point[k]));
    }
  return x;
}
