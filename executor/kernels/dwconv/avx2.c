/* executor/kernels/dwconv/avx2.c - depthwise convolution on vpmaddwd, exact
 *
 * Bytes become words: a lane of `even` has rows 0 and 2 of its channel, one of `odd` rows 1 and 3, as the even and the
 * odd bytes of packed weights with their signs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dwconv/step256.h"

#include <stddef.h>

typedef struct {
  Sums even, odd;
} Column, Taps;

ALWAYS Sums
words_of (__m128i a, __m128i b)
{
  return (Sums) { _mm256_cvtepu8_epi16 (_mm_unpacklo_epi8 (a, b)), _mm256_cvtepu8_epi16 (_mm_unpackhi_epi8 (a, b)) };
}

ALWAYS Column
interleave (const __m128i rows[4], size_t n)
{
  return (Column) { words_of (rows[0], rows[2]), n > 1 ? words_of (rows[1], rows[3]) : no_sums () };
}

ALWAYS Taps
taps_at (const int8_t *w)
{
  const Sums bytes = { load_256 (w), load_256 (w + 32) };
  const Sums even = { _mm256_slli_epi16 (bytes.low, 8), _mm256_slli_epi16 (bytes.high, 8) };

  return (Taps) { { _mm256_srai_epi16 (even.low, 8), _mm256_srai_epi16 (even.high, 8) },
                  { _mm256_srai_epi16 (bytes.low, 8), _mm256_srai_epi16 (bytes.high, 8) } };
}

ALWAYS void
add_words (Sums *sums, Sums x, Sums w)
{
  sums->low = _mm256_add_epi32 (sums->low, _mm256_madd_epi16 (x.low, w.low));
  sums->high = _mm256_add_epi32 (sums->high, _mm256_madd_epi16 (x.high, w.high));
}

ALWAYS void
add_step (Sums *sums, Column x, const Taps *taps, size_t n)
{
  add_words (sums, x.even, taps->even);
  if (n > 1)
    add_words (sums, x.odd, taps->odd);
}

#include "executor/kernels/dwconv/block256.h"

void
lpt_dwconv__avx2 (const LptDwconvRun *r)
{
  run_256 (r);
}
