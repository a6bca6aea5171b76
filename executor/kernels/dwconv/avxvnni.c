/* executor/kernels/dwconv/avxvnni.c - depthwise convolution on the VEX form of vpdpbusd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dwconv/step256.h"

#include <stddef.h>

typedef Sums Column;
typedef Sums Taps;

ALWAYS __m256i
lanes_of (__m128i low, __m128i high)
{
  return _mm256_inserti128_si256 (_mm256_castsi128_si256 (low), high, 1);
}

/* Channel in the lane, row in the byte. */
ALWAYS Column
interleave (const __m128i rows[4], size_t n)
{
  __m128i a = _mm_unpacklo_epi8 (rows[0], rows[1]), b = _mm_unpackhi_epi8 (rows[0], rows[1]);
  __m128i d = _mm_unpacklo_epi8 (rows[2], rows[3]), e = _mm_unpackhi_epi8 (rows[2], rows[3]);

  if (n <= 2)
    return (Column) { _mm256_cvtepu16_epi32 (a), _mm256_cvtepu16_epi32 (b) };
  return (Column) { lanes_of (_mm_unpacklo_epi16 (a, d), _mm_unpackhi_epi16 (a, d)),
                    lanes_of (_mm_unpacklo_epi16 (b, e), _mm_unpackhi_epi16 (b, e)) };
}

ALWAYS Taps
taps_at (const int8_t *w)
{
  return (Taps) { load_256 (w), load_256 (w + 32) };
}

ALWAYS void
add_step (Sums *sums, Column x, const Taps *taps, size_t n)
{
  (void) n;
  sums->low = _mm256_dpbusd_avx_epi32 (sums->low, x.low, taps->low);
  sums->high = _mm256_dpbusd_avx_epi32 (sums->high, x.high, taps->high);
}

#include "executor/kernels/dwconv/block256.h"

void
lpt_dwconv__avxvnni (const LptDwconvRun *r)
{
  run_256 (r);
}
