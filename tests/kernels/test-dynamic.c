/* test-dynamic.c - intervals: every row gives the numbers of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/dynamic/dynamic.h"

static float
draw (bool odd)
{
  static const float values[] = { NAN, INFINITY, -INFINITY, -0.0f, 0.0f, FLT_MAX };

  return odd && random_range (0, 9) == 0 ? values[random_range (0, 5)] : (float) random_range (-1000, 1000) / 333.0f;
}

static bool
check (const LptDynamicKernel *kernel, size_t n, bool odd, float shift)
{
  float *x = (float *) exact_bytes (n * sizeof (float)), range[2] = { -1, 1 }, lo = 0, hi = 0;
  bool ok;

  for (size_t i = 0; i < n; i++)
    {
      x[i] = draw (odd) + shift;
      lo = x[i] < lo ? x[i] : lo;
      hi = x[i] > hi ? x[i] : hi;
    }
  kernel->range (n, x, range);
  ok = range[0] == lo && range[1] == hi;
  bytes_free (x);
  return ok;
}

/* The formula, in plain floats; NaN counts as the lowest code. */
static bool
check_round (const LptDynamicKernel *kernel, size_t n, bool odd)
{
  float *x = (float *) exact_bytes (n * sizeof (float)), *y = (float *) exact_bytes (n * sizeof (float));
  const float zero = n % 3 ? (float) random_range (-128, 127) : 0.0f, add = n % 3 ? zero : -0.0f;
  const LptDynamicRound p = { 0.5f * (float) random_range (1, 90), add, n % 3 ? -128.0f : -127.0f, zero, 0.37f };
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    x[i] = i % 2 ? (float) random_range (-600, 600) / 2.0f / p.inverse : draw (odd);
  kernel->round (n, x, &p, y);
  for (size_t i = 0; i < n; i++)
    {
      float code = p.add + x[i] * p.inverse, want;

      code = code > p.least ? code < 127.0f ? roundf (code) : 127.0f : p.least;
      want = p.scale * (code - p.less);
      ok = ok && memcmp (&want, y + i, sizeof want) == 0;
    }
  bytes_free (x);
  bytes_free (y);
  return ok;
}

/* What codes leave, those that fit and others; NaN counts as the lowest code. */
static bool
check_rest (const LptDynamicKernel *kernel, size_t n, bool odd)
{
  float *x = (float *) exact_bytes (n * sizeof (float));
  uint8_t *codes = exact_bytes (n), *rest = exact_bytes (n);
  const float scale = 0.01f * (float) random_range (1, 90), zero = (float) random_range (0, 255);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    {
      codes[i] = (uint8_t) random_range (0, 255);
      x[i] = i % 3 ? scale * ((float) codes[i] - zero + (float) random_range (-140, 140) / 256.0f) : draw (odd);
    }
  kernel->rest (n, x, codes, scale, zero, rest);
  for (size_t i = 0; i < n; i++)
    {
      float code = (x[i] - scale * ((float) codes[i] - zero)) * (256.0f / scale);

      code = code > -128.0f ? code < 127.0f ? rintf (code) : 127.0f : -128.0f;
      ok = ok && rest[i] == (uint8_t) (code + 128.0f);
    }
  bytes_free (x);
  bytes_free (codes);
  bytes_free (rest);
  return ok;
}

int
main (void)
{
  size_t rows;
  const LptDynamicKernel *kernels = lpt_dynamic_kernels (&rows);

  for (size_t k = 0; k < rows; k++)
    {
      bool ok = true;

      if (!lpt_cpu_has (test_cpu (), kernels[k].needs))
        {
          test_skip (kernels[k].name);
          continue;
        }
      for (size_t n = 1; n < 300; n++)
        for (int odd = 0; odd < 2; odd++)
          for (int shift = -1; shift < 2; shift++)
            ok = check (&kernels[k], n, odd, 4.0f * (float) shift) && check_round (&kernels[k], n, odd) &&
                 check_rest (&kernels[k], n, odd) && ok;
      test_report (ok, "%s", kernels[k].name);
    }
  return test_end ();
}
