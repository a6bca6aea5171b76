/* executor/kernels/partial128.h - up to sixteen bytes at once where memory ends behind them
 *
 * Two words that overlap, never a byte beyond: the second one holds the last bytes, shifted to their place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* n bytes at p, 1 to 16, zeros behind them. */
static inline __attribute__ ((always_inline)) __m128i
load_some (const void *p, size_t n)
{
  const uint8_t *bytes = p;
  uint64_t low, high = 0;

  if (n == 16)
    return _mm_loadu_si128 ((const __m128i *) p);
  if (n >= 8)
    {
      memcpy (&low, bytes, 8);
      if (n > 8)
        {
          memcpy (&high, bytes + n - 8, 8);
          high >>= 8 * (16 - n);
        }
    }
  else if (n >= 4)
    {
      uint32_t first, last;

      memcpy (&first, bytes, 4);
      memcpy (&last, bytes + n - 4, 4);
      low = first | (uint64_t) last << 8 * (n - 4);
    }
  else
    low = (uint64_t) (bytes[0] | bytes[n / 2] << 8 * (n / 2) | bytes[n - 1] << 8 * (n - 1));
  return _mm_set_epi64x ((int64_t) high, (int64_t) low);
}

/* The first n bytes of x, 1 to 16, at p. */
static inline __attribute__ ((always_inline)) void
store_some (void *p, __m128i x, size_t n)
{
  uint8_t *bytes = p;
  uint64_t low, high;

  if (n == 16)
    {
      _mm_storeu_si128 ((__m128i *) p, x);
      return;
    }
  low = (uint64_t) _mm_cvtsi128_si64 (x);
  if (n >= 8)
    {
      memcpy (bytes, &low, 8);
      if (n > 8)
        {
          high = (uint64_t) _mm_extract_epi64 (x, 1);
          low = low >> 8 * (n - 8) | high << 8 * (16 - n);
          memcpy (bytes + n - 8, &low, 8);
        }
    }
  else if (n >= 4)
    {
      uint32_t first = (uint32_t) low, last = (uint32_t) (low >> 8 * (n - 4));

      memcpy (bytes, &first, 4);
      memcpy (bytes + n - 4, &last, 4);
    }
  else
    for (size_t j = 0; j < n; j++, low >>= 8)
      bytes[j] = (uint8_t) low;
}
