/* test-fgemm.c - float products: every row gives the bits of the scalar chain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/fgemm/fgemm.h"

#define MAX_M 27
#define MAX_K 70

static void
fill (float *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    p[i] = (float) random_range (-1000, 1000) / 333.0f;
}

int
main (void)
{
  static float a[MAX_M * MAX_K], b[MAX_K * 40], bias[40], rows[MAX_M], panel[MAX_K * LPT_FGEMM_PANEL], y[MAX_M * 20], want[MAX_M * 20];
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptFgemmKernel *kernels = lpt_fgemm_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (size_t m = 0; m <= MAX_M && ok; m++)
        for (size_t n = 1; n <= LPT_FGEMM_PANEL && ok; n += 3)
          for (size_t k = 0; k <= MAX_K && ok; k += 7)
            {
              bool turned = (m + k) % 2;

              fill (a, m * k);
              fill (b, k * (n + 16));
              fill (bias, n);
              fill (rows, m);
              lpt_fgemm_pack (k, n + 16, 16, b, turned ? 1 : (ptrdiff_t) n + 16, turned ? (ptrdiff_t) k : 1, panel);
              for (size_t j = 0; j < sizeof y / sizeof *y; j++)
                y[j] = want[j] = 7.0f;
              for (size_t r = 0; r < m; r++)
                for (size_t c = 0; c < n; c++)
                  {
                    float sum = 0;

                    for (size_t j = 0; j < k; j++)
                      sum = fmaf (a[turned ? j * m + r : r * k + j], b[turned ? (c + 16) * k + j : j * (n + 16) + c + 16], sum);
                    if (turned)
                      sum += rows[r];
                    want[r * 20 + c] = turned ? sum : sum + bias[c];
                  }
              kernels[i].run (m, n, k, a, turned ? 1 : k, turned ? m : 1, panel, turned ? rows : NULL, turned ? NULL : bias, y, 20);
              ok = memcmp (y, want, sizeof y) == 0;
            }
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
