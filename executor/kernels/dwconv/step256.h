/* executor/kernels/dwconv/step256.h - sums of sixteen channels in two registers of 256 bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define ALWAYS static inline __attribute__ ((always_inline))

typedef struct {
  __m256i low, high;      /* channels 0 to 7, 8 to 15 */
} Sums;

ALWAYS Sums
no_sums (void)
{
  return (Sums) { _mm256_setzero_si256 (), _mm256_setzero_si256 () };
}

ALWAYS __m256i
load_256 (const int8_t *p)
{
  return _mm256_loadu_si256 ((const __m256i *) (const void *) p);
}
