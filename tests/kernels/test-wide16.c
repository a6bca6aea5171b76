/* test-wide16.c - products of 16-bit data and 8-bit weights: every row gives the sums of 64 bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel-test.h"

#include "executor/kernels/wide16/wide16.h"

#define PITCH LPT_WIDE16_PITCH

static bool
check (const LptWide16Kernel *kernel, size_t channels, size_t taps, size_t n)
{
  const size_t ldw = taps + 3;
  int8_t *w = (int8_t *) exact_bytes (channels * ldw);
  int16_t *x = aligned_alloc (64, taps * PITCH * 2);
  int64_t *sums = aligned_alloc (64, channels * PITCH * 8), *want = malloc (channels * PITCH * 8);
  const bool ends = random_u32 () % 2;
  bool ok = true;

  for (size_t i = 0; i < taps * PITCH; i++)
    x[i] = (int16_t) (ends ? INT16_MIN : random_range (INT16_MIN, INT16_MAX));
  for (size_t i = 0; i < channels * ldw && ends; i++)
    w[i] = INT8_MIN;
  for (size_t i = 0; i < channels * PITCH; i++)
    sums[i] = want[i] = random_range (INT32_MIN / 2, INT32_MAX / 2) * (INT64_C (1) << 20);
  for (size_t c = 0; c < channels; c++)
    for (size_t p = 0; p < n; p++)
      for (size_t k = 0; k < taps; k++)
        want[c * PITCH + p] += (int64_t) w[c * ldw + k] * x[k * PITCH + p];
  kernel->sums (channels, taps, n, w, ldw, x, sums);
  for (size_t c = 0; c < channels; c++)
    for (size_t p = 0; p < n; p++)
      ok = ok && sums[c * PITCH + p] == want[c * PITCH + p];

  bytes_free (w);
  free (x);
  free (sums);
  free (want);
  return ok;
}

int
main (void)
{
  static const size_t positions[] = { 1, 15, 16, 17, 32, 33, 48, 63, 64 }, taps[] = { 1, 2, 9, 100, LPT_WIDE16_TAPS };
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptWide16Kernel *kernels = lpt_wide16_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (size_t p = 0; p < sizeof positions / sizeof positions[0]; p++)
        for (size_t t = 0; t < sizeof taps / sizeof taps[0]; t++)
          for (size_t channels = 1; channels <= 9; channels++)
            ok = check (&kernels[i], channels, taps[t], positions[p]) && ok;
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
