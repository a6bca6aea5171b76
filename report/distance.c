/* distance.c - how far two lists of numbers are apart, added up over samples
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/distance.h"

#include <math.h>
#include <string.h>

#define LANES 8
#define BLOCK 1024

static gboolean
are_finite (const float *x, gint64 n)
{
  guint32 worst = 0;
  for (gint64 i = 0; i < n; i++)
    {
      guint32 bits;
      memcpy (&bits, &x[i], sizeof bits);
      worst = MAX (worst, bits & 0x7fffffffu);
    }
  return worst < 0x7f800000u;
}

/* @n, a multiple of LANES, finite numbers: sums in lanes, which one after the other are summed up. */
static void
add_finite (LptDistance *d, const float *a, const float *b, gint64 n)
{
  double sum[LANES] = { 0 }, aa[LANES] = { 0 }, bb[LANES] = { 0 }, ab[LANES] = { 0 }, dd[LANES] = { 0 },
         max[LANES] = { 0 };
  for (gint64 i = 0; i < n; i += LANES)
    for (guint k = 0; k < LANES; k++)
      {
        double x = a[i + k], y = b[i + k], diff = fabs (x - y);
        max[k] = diff > max[k] ? diff : max[k];
        sum[k] += diff;
        aa[k] += x * x;
        bb[k] += y * y;
        ab[k] += x * y;
        dd[k] += diff * diff;
      }
  for (guint k = 0; k < LANES; k++)
    {
      d->max = max[k] > d->max ? max[k] : d->max;
      d->sum += sum[k];
      d->aa += aa[k];
      d->bb += bb[k];
      d->ab += ab[k];
      d->dd += dd[k];
    }
  d->n += n;
}

static void
add_any (LptDistance *d, const float *a, const float *b, gint64 n)
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

void
lpt_distance_add (LptDistance *d, const float *a, const float *b, gint64 n)
{
  for (gint64 i = 0; i < n; i += BLOCK)
    {
      gint64 m = MIN (n - i, BLOCK), even = are_finite (a + i, m) && are_finite (b + i, m) ? m - m % LANES : 0;
      add_finite (d, a + i, b + i, even);
      add_any (d, a + i + even, b + i + even, m - even);
    }
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
