/* executor/kernels/pool/avx2.c - pooling of 32 channels at a time
 *
 * The rest below 32 channels goes one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/pool/pool.h"

#include <immintrin.h>

static inline __m256i
load (const uint8_t *p)
{
  return _mm256_loadu_si256 ((const __m256i *) (const void *) p);
}

static inline void
store (void *p, __m256i x)
{
  _mm256_storeu_si256 ((__m256i *) p, x);
}

void
lpt_pool_max__avx2 (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, uint8_t *out)
{
  const __m256i flips = _mm256_set1_epi8 ((char) flip);
  size_t c = 0;

  for (; c + 32 <= channels; c += 32)
    {
      __m256i best = _mm256_setzero_si256 ();

      for (size_t tap = 0; tap < taps; tap++)
        best = _mm256_max_epu8 (best, _mm256_xor_si256 (load (in[tap] + c), flips));
      store (out + c, _mm256_xor_si256 (best, flips));
    }
  for (; c < channels; c++)
    {
      uint8_t best = 0;

      for (size_t tap = 0; tap < taps; tap++)
        {
          uint8_t x = in[tap][c] ^ flip;

          best = x > best ? x : best;
        }
      out[c] = best ^ flip;
    }
}

void
lpt_pool_sum__avx2 (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, int32_t *sums)
{
  const __m256i flips = _mm256_set1_epi8 ((char) flip), none = _mm256_setzero_si256 ();
  size_t c = 0;

  for (; c + 32 <= channels; c += 32)
    {
      __m256i x0 = none, x1 = none, x2 = none, x3 = none;

      for (size_t tap = 0; tap < taps; )
        {
          /* 257 bytes fit 16 bits. */
          size_t end = taps - tap > 256 ? tap + 256 : taps;
          __m256i low = none, high = none;

          for (; tap < end; tap++)
            {
              __m256i x = _mm256_xor_si256 (load (in[tap] + c), flips);

              low = _mm256_add_epi16 (low, _mm256_cvtepu8_epi16 (_mm256_castsi256_si128 (x)));
              high = _mm256_add_epi16 (high, _mm256_cvtepu8_epi16 (_mm256_extracti128_si256 (x, 1)));
            }
          x0 = _mm256_add_epi32 (x0, _mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (low)));
          x1 = _mm256_add_epi32 (x1, _mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (low, 1)));
          x2 = _mm256_add_epi32 (x2, _mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (high)));
          x3 = _mm256_add_epi32 (x3, _mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (high, 1)));
        }
      store (sums + c, x0);
      store (sums + c + 8, x1);
      store (sums + c + 16, x2);
      store (sums + c + 24, x3);
    }
  for (; c < channels; c++)
    {
      uint32_t sum = 0;

      for (size_t tap = 0; tap < taps; tap++)
        sum += (uint8_t) (in[tap][c] ^ flip);
      sums[c] = (int32_t) sum;
    }
}
