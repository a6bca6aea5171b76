/* executor/kernels/gemm/tails.h - what the micro kernels share: reading rows exactly, passing over zero taps
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include "executor/kernels/gemm/gemm.h"

static inline __attribute__ ((always_inline)) int32_t
four_bytes (const uint8_t *p)
{
  int32_t v;

  memcpy (&v, p, sizeof v);
  return v;
}

/* The last one to three bytes of each row, zeros behind them. */
static __attribute__ ((noinline)) void
copy_tails (const uint8_t *const *a, size_t mr, size_t whole, size_t rest, int32_t *words, const uint8_t **rows)
{
  for (size_t i = 0; i < mr; i++)
    {
      const uint8_t *p = a[i] + whole;

      words[i] = p[0] | (rest > 1 ? p[1] << 8 : 0) | (rest > 2 ? p[2] << 16 : 0);
      rows[i] = (const uint8_t *) &words[i];
    }
}

static __attribute__ ((noinline)) bool
is_zero_tap (const uint8_t *const *a, size_t mr, const uint8_t *zeros)
{
  for (size_t i = 0; i < mr; i++)
    if (a[i] != zeros)
      return false;
  return true;
}
