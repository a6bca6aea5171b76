/* executor/kernels/pool/avx512vnni.c - pooling of 64 channels at a time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/pool/pool.h"

#include <immintrin.h>

static inline __mmask64
channels_mask (size_t n)
{
  return n < 64 ? ((__mmask64) 1 << n) - 1 : ~(__mmask64) 0;
}

void
lpt_pool_max__avx512vnni (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, uint8_t *out)
{
  const __m512i flips = _mm512_set1_epi8 ((char) flip);

  size_t whole = channels / 64 * 64;

  for (size_t c = 0; c < whole; c += 64)
    {
      __m512i best = _mm512_setzero_si512 ();

      for (size_t tap = 0; tap < taps; tap++)
        best = _mm512_max_epu8 (best, _mm512_xor_si512 (_mm512_loadu_si512 (in[tap] + c), flips));
      _mm512_storeu_si512 (out + c, _mm512_xor_si512 (best, flips));
    }
  for (size_t c = whole; c < channels; c += 64)
    {
      __mmask64 mask = channels_mask (channels - c);
      __m512i best = _mm512_setzero_si512 ();

      for (size_t tap = 0; tap < taps; tap++)
        best = _mm512_max_epu8 (best, _mm512_xor_si512 (_mm512_maskz_loadu_epi8 (mask, in[tap] + c), flips));
      _mm512_mask_storeu_epi8 (out + c, mask, _mm512_xor_si512 (best, flips));
    }
}

void
lpt_pool_sum__avx512vnni (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, int32_t *sums)
{
  const __m512i flips = _mm512_set1_epi8 ((char) flip), none = _mm512_setzero_si512 ();

  for (size_t c = 0; c < channels; c += 64)
    {
      __mmask64 mask = channels_mask (channels - c);
      __m512i x0 = none, x1 = none, x2 = none, x3 = none;

      for (size_t tap = 0; tap < taps; )
        {
          /* 257 bytes fit 16 bits. */
          size_t end = taps - tap > 256 ? tap + 256 : taps;
          __m512i low = none, high = none;

          for (; tap < end; tap++)
            {
              __m512i x = _mm512_xor_si512 (_mm512_maskz_loadu_epi8 (mask, in[tap] + c), flips);

              low = _mm512_add_epi16 (low, _mm512_cvtepu8_epi16 (_mm512_castsi512_si256 (x)));
              high = _mm512_add_epi16 (high, _mm512_cvtepu8_epi16 (_mm512_extracti64x4_epi64 (x, 1)));
            }
          x0 = _mm512_add_epi32 (x0, _mm512_cvtepu16_epi32 (_mm512_castsi512_si256 (low)));
          x1 = _mm512_add_epi32 (x1, _mm512_cvtepu16_epi32 (_mm512_extracti64x4_epi64 (low, 1)));
          x2 = _mm512_add_epi32 (x2, _mm512_cvtepu16_epi32 (_mm512_castsi512_si256 (high)));
          x3 = _mm512_add_epi32 (x3, _mm512_cvtepu16_epi32 (_mm512_extracti64x4_epi64 (high, 1)));
        }
      _mm512_mask_storeu_epi32 (sums + c, (__mmask16) mask, x0);
      _mm512_mask_storeu_epi32 (sums + c + 16, (__mmask16) (mask >> 16), x1);
      _mm512_mask_storeu_epi32 (sums + c + 32, (__mmask16) (mask >> 32), x2);
      _mm512_mask_storeu_epi32 (sums + c + 48, (__mmask16) (mask >> 48), x3);
    }
}
