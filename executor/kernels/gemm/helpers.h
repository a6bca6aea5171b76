/* executor/kernels/gemm/helpers.h - sums of rows with 256 bits
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
