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
            ok = check (&kernels[k], n, odd, 4.0f * (float) shift) && ok;
      test_report (ok, "%s", kernels[k].name);
    }
  return test_end ();
}
