/* test-split16.c - 16-bit codes in bytes: every row gives the bytes and bits of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/split16/split16.h"

static void
fill (float *x, size_t n, unsigned round)
{
  static const float values[] = { NAN, INFINITY, -INFINITY, -0.0f, 0.0f, FLT_MAX, 1e-38f };
  float size = round % 5 == 0 ? 1e-33f : round % 5 == 1 ? 1e20f : 1.0f;

  for (size_t i = 0; i < n; i++)
    x[i] = round % 3 == 0 && random_range (0, 9) == 0 ? values[random_range (0, 6)]
                                                      : size * (float) random_range (-100000, 100000) / 33333.0f;
}

static float
expected_split (size_t n, const float *x, int32_t *q)
{
  float range = 0, factor;

  for (size_t i = 0; i < n; i++)
    range = fabsf (x[i]) > range ? fabsf (x[i]) : range;
  range = fminf (range, FLT_MAX);
  factor = range < 1e-30f ? 0 : LPT_SPLIT16_MAX / range;
  for (size_t i = 0; i < n; i++)
    {
      float v = x[i] * factor;

      q[i] = isnan (v) ? 0 : (int32_t) rintf (fmaxf (fminf (v, LPT_SPLIT16_MAX), -LPT_SPLIT16_MAX));
    }
  return range < 1e-30f ? 0 : range / LPT_SPLIT16_MAX;
}

static bool
check_split (const LptSplit16Kernel *kernel, size_t n, unsigned round)
{
  float *x = (float *) exact_bytes (n * sizeof (float)), step;
  uint8_t *high = exact_bytes (n), *low = exact_bytes (n);
  int32_t *q = (int32_t *) exact_bytes (n * sizeof (int32_t));
  bool ok;

  fill (x, n, round);
  step = expected_split (n, x, q);
  ok = kernel->split (n, x, high, low) == step;
  for (size_t i = 0; i < n; i++)
    ok = ok && 256 * (high[i] - 128) + (low[i] - 128) == q[i];
  bytes_free (x);
  bytes_free (high);
  bytes_free (low);
  bytes_free (q);
  return ok;
}

static bool
check_join (const LptSplit16Kernel *kernel, size_t n, unsigned round)
{
  int32_t *high = (int32_t *) exact_bytes (n * sizeof (int32_t)), *low = (int32_t *) exact_bytes (n * sizeof (int32_t));
  float *scale = (float *) exact_bytes (n * sizeof (float)), *add = (float *) exact_bytes (n * sizeof (float));
  float *out = round % 2 ? add : (float *) exact_bytes (n * sizeof (float)),
        *sums = (float *) exact_bytes (n * sizeof (float)), step = 0.37f;
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    {
      high[i] = random_range (-5000000, 5000000);
      low[i] = random_range (-50000000, 50000000);
      scale[i] = (float) random_range (1, 1000) / 999.0f;
      add[i] = (float) random_range (-1000, 1000) / 7.0f;
      sums[i] = ((float) high[i] * 256.0f + (float) low[i]) * (scale[i] * step);
      if (round % 4 > 0)
        sums[i] += add[i];
    }
  kernel->join (n, high, low, scale, step, round % 4 > 0 ? add : NULL, out);
  for (size_t i = 0; i < n; i++)
    ok = ok && out[i] == sums[i];
  if (out != add)
    bytes_free (out);
  bytes_free (high);
  bytes_free (low);
  bytes_free (scale);
  bytes_free (add);
  bytes_free (sums);
  return ok;
}

int
main (void)
{
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptSplit16Kernel *kernels = lpt_split16_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    {
      bool split = true, join = true;
      unsigned round = 0;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (size_t n = 1; n <= 200; n += n < 40 ? 1 : 13)
        for (unsigned k = 0; k < 15; k++, round++)
          {
            split = split && check_split (&kernels[i], n, round);
            join = join && check_join (&kernels[i], n, round);
          }
      test_report (split, "%s split", kernels[i].name);
      test_report (join, "%s join", kernels[i].name);
    }

  return test_end ();
}
