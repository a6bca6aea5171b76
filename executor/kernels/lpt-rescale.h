/* executor/kernels/lpt-rescale.h - double and single rounding of 32-bit sums as two shifts, in loops that compilers
 * vectorise
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A multiplier's two roundings as shifts: v = (acc m + half[0]) >> shift[0], then the same of v, less one below 0
 * (`away`: ties go away from 0). shift[0] is 1 to 62, shift[1] 0 to 31. */
typedef struct {
  int32_t m, away;
  int64_t half[2];
  int     shift[2];
} LptRescale;

/* v >> s, of lanes without such an instruction too. */
static inline __attribute__ ((always_inline)) int64_t
lpt_rescale_shift (int64_t v, int s)
{
#if defined (__AVX2__) && !defined (__AVX512F__)
  int64_t sign = v < 0 ? -1 : 0;

  return (int64_t) ((uint64_t) (v ^ sign) >> s) ^ sign;
#else
  return v >> s;
#endif
}

/* Of n numbers, within [low, high]. */
static inline __attribute__ ((always_inline)) void
lpt_rescale_all (const LptRescale *r, size_t n, int32_t *acc, int64_t low, int64_t high)
{
  const int32_t m = r->m;
  const int64_t half0 = r->half[0], half1 = r->half[1], away = r->away;
  const int shift0 = r->shift[0], shift1 = r->shift[1];

  for (size_t i = 0; i < n; i++)
    {
      int64_t v = lpt_rescale_shift ((int64_t) acc[i] * m + half0, shift0);

      v = lpt_rescale_shift (v + half1 - (v < 0 ? away : 0), shift1);
      v = v < low ? low : v;
      acc[i] = (int32_t) (v > high ? high : v);
    }
}
