/* executor/kernels/pool/avx2.c - pooling of 32 channels at a time
 *
 * The rest below 32 channels goes by sixteen, the last sixteen made again where they overlap; fewer are read as such.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/partial128.h"
#include "executor/kernels/pool/pool.h"

/* Where n channels, 1 to 16, behind c are made, and how many: sixteen where there are as many in front. */
static inline size_t
part_at (size_t c, size_t channels, size_t *n)
{
  size_t left = channels - c < 16 ? channels - c : 16;

  *n = channels < 16 ? left : 16;
  return c + left - *n;
}

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
  for (size_t n, at; c < channels; c = at + n)
    {
      __m128i best = _mm_setzero_si128 ();

      at = part_at (c, channels, &n);
      for (size_t tap = 0; tap < taps; tap++)
        best = _mm_max_epu8 (best, _mm_xor_si128 (load_some (in[tap] + at, n), _mm256_castsi256_si128 (flips)));
      store_some (out + at, _mm_xor_si128 (best, _mm256_castsi256_si128 (flips)), n);
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
  for (size_t n, at; c < channels; c = at + n)
    {
      _Alignas (32) int32_t all[16];
      __m256i x0 = none, x1 = none;

      at = part_at (c, channels, &n);
      for (size_t tap = 0; tap < taps; )
        {
          size_t end = taps - tap > 256 ? tap + 256 : taps;
          __m256i part = none;

          for (; tap < end; tap++)
            {
              __m128i x = _mm_xor_si128 (load_some (in[tap] + at, n), _mm256_castsi256_si128 (flips));

              part = _mm256_add_epi16 (part, _mm256_cvtepu8_epi16 (x));
            }
          x0 = _mm256_add_epi32 (x0, _mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (part)));
          x1 = _mm256_add_epi32 (x1, _mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (part, 1)));
        }
      store (all, x0);
      store (all + 8, x1);
      memcpy (sums + at, all, n * sizeof *sums);
    }
}
