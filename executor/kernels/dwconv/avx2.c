/* executor/kernels/dwconv/avx2.c - depthwise convolution on vpmaddwd, exact
 *
 * Bytes are split into even and odd ones of 16 bits, weights likewise with their signs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

static inline __m256i
dot_words (__m256i sum, __m256i x, __m256i w)
{
  __m256i x_even = _mm256_and_si256 (x, _mm256_set1_epi32 (0x00ff00ff)), x_odd = _mm256_srli_epi16 (x, 8);
  __m256i w_even = _mm256_srai_epi16 (_mm256_slli_epi16 (w, 8), 8), w_odd = _mm256_srai_epi16 (w, 8);

  sum = _mm256_add_epi32 (sum, _mm256_madd_epi16 (x_even, w_even));
  return _mm256_add_epi32 (sum, _mm256_madd_epi16 (x_odd, w_odd));
}

#define DOT(sum, x, w) dot_words (sum, x, w)
#include "executor/kernels/dwconv/block256.h"

void
lpt_dwconv__avx2 (const LptDwconvRun *r)
{
  run_256 (r);
}
