/* executor/kernels/gemm/helpers.h - sums of rows with 256 bits, three planes side by side with 128 bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>

#include "executor/kernels/gemm/gemm.h"

static inline void
row_sums_256 (size_t rows, size_t taps, size_t k, const uint8_t *const *a, size_t a_stride, int32_t *sums)
{
  for (size_t i = 0; i < rows; i++)
    {
      __m256i sum = _mm256_setzero_si256 ();
      uint64_t lanes[4], rest = 0;

      for (size_t tap = 0; tap < taps; tap++)
        {
          const uint8_t *x = a[tap * a_stride + i];
          size_t p = 0;

          for (; p + 32 <= k; p += 32)
            sum = _mm256_add_epi64 (sum, _mm256_sad_epu8 (_mm256_loadu_si256 ((const __m256i *) (const void *) (x + p)),
                                                          _mm256_setzero_si256 ()));
          for (; p < k; p++)
            rest += x[p];
        }
      _mm256_storeu_si256 ((__m256i *) (void *) lanes, sum);
      sums[i] = (int32_t) (uint32_t) (lanes[0] + lanes[1] + lanes[2] + lanes[3] + rest);
    }
}

static inline void
interleave_128 (size_t n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out)
{
  /* Byte j of the result is byte j / 3 of plane j % 3; -1 leaves a zero for the other planes. */
  const __m128i a0 = _mm_setr_epi8 (0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5);
  const __m128i b0 = _mm_setr_epi8 (-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1);
  const __m128i c0 = _mm_setr_epi8 (-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
  const __m128i a1 = _mm_setr_epi8 (-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1);
  const __m128i b1 = _mm_setr_epi8 (5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10);
  const __m128i c1 = _mm_setr_epi8 (-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1);
  const __m128i a2 = _mm_setr_epi8 (-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1);
  const __m128i b2 = _mm_setr_epi8 (-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1);
  const __m128i c2 = _mm_setr_epi8 (10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15);
  size_t x = 0;

#define LOAD(p) _mm_loadu_si128 ((const __m128i *) (const void *) (p))
#define STORE(part)                                                                                          \
  _mm_storeu_si128 ((__m128i *) (void *) (out + 3 * x + 16 * part),                                          \
                    _mm_or_si128 (_mm_or_si128 (_mm_shuffle_epi8 (va, a##part), _mm_shuffle_epi8 (vb, b##part)), \
                                  _mm_shuffle_epi8 (vc, c##part)));
  for (; x + 16 <= n; x += 16)
    {
      __m128i va = LOAD (a + x), vb = LOAD (b + x), vc = LOAD (c + x);

      STORE (0)
      STORE (1)
      STORE (2)
    }
#undef LOAD
#undef STORE
  for (; x < n; x++)
    {
      out[3 * x] = a[x];
      out[3 * x + 1] = b[x];
      out[3 * x + 2] = c[x];
    }
}
