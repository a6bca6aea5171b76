/* statistics.c - intervals and tests
 *
 * Wilson, z = 1.959964, p = k / n: centre (p + z^2 / 2n) / (1 + z^2 / n), half width z sqrt (p (1 - p) / n + z^2 /
 * 4n^2) / (1 + z^2 / n). McNemar, exact: min (1, 2 sum_{i <= min (b, c)} C(b + c, i) 2^-(b + c)), terms by logarithms
 * of the gamma function. Bootstrap: item k of replicate r is sample hash (seed, r, k) mod n; the interval is between
 * the 26th and the 975th of 1000 values. Two models on the same samples see the same resamplings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPLICATES 1000
#define SEED G_GUINT64_CONSTANT (0x6c70742d6576616c)

void
lpt_stat_wilson (gint64 k, gint64 n, double *low, double *high)
{
  const double z = 1.959964;
  if (n <= 0)
    {
      *low = 0.0;
      *high = 1.0;
      return;
    }
  double m = (double) n, p = (double) k / m, d = 1.0 + z * z / m;
  double centre = (p + z * z / (2.0 * m)) / d, half = z * sqrt (p * (1.0 - p) / m + z * z / (4.0 * m * m)) / d;
  *low = k == 0 ? 0.0 : centre - half;
  *high = k == n ? 1.0 : centre + half;
}

double
lpt_stat_mcnemar (gint64 b, gint64 c)
{
  double n = (double) (b + c), sum = 0.0;
  for (gint64 i = 0, least = MIN (b, c); i <= least; i++)
    sum += exp (lgamma (n + 1.0) - lgamma ((double) i + 1.0) - lgamma (n - (double) i + 1.0) - n * M_LN2);
  return MIN (1.0, 2.0 * sum);
}

/* splitmix64's mixer. */
static guint64
mix (guint64 x)
{
  x += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

guint64
lpt_stat_hash (guint64 seed, guint64 a, guint64 b)
{
  return mix (mix (mix (seed) ^ a) ^ b);
}

int
lpt_stat_compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

void
lpt_stat_bootstrap (guint n, double (*value) (gconstpointer data, const guint32 *times), gconstpointer data,
                    double *low, double *high)
{
  *low = *high = NAN;
  if (n == 0)
    return;
  g_autofree guint32 *times = g_new (guint32, n);
  g_autofree double *values = g_new (double, REPLICATES);
  guint found = 0;
  for (guint r = 0; r < REPLICATES; r++)
    {
      memset (times, 0, n * sizeof *times);
      for (guint k = 0; k < n; k++)
        times[lpt_stat_hash (SEED, r, k) % n]++;
      values[found] = value (data, times);
      found += !isnan (values[found]);
    }
  qsort (values, found, sizeof *values, lpt_stat_compare);
  if (found == 0)
    return;
  *low = values[found * 25 / 1000];
  *high = values[MIN (found - 1, found * 975 / 1000)];
}
