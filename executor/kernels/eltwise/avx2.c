/* executor/kernels/eltwise/avx2.c - body.h for this instruction set, with an own sum of form single
 *
 * As in avx512vnni.c: m1*a + m2*b + bias is split into 2^16 * H + L with signed 16-bit factors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx2
#define LPT_OWN_ADD
#include "executor/kernels/partial128.h"
#include "executor/kernels/requant/avx2.h"

#include "executor/kernels/eltwise/body.h"

typedef struct {
  __m256i    high, low, high_bias, low_bias, shift, xors;
  PackLimits limits;
} Sum;

INLINE __m256i
add_words (const Sum *s, __m256i pairs)
{
  __m256i high = _mm256_add_epi32 (_mm256_madd_epi16 (pairs, s->high), s->high_bias);
  __m256i low = _mm256_add_epi32 (_mm256_madd_epi16 (pairs, s->low), s->low_bias);

  return _mm256_srav_epi32 (_mm256_add_epi32 (high, _mm256_srai_epi32 (low, 16)), s->shift);
}

INLINE __m256i
add_bytes (const Sum *s, __m256i a, __m256i b)
{
  const __m256i none = _mm256_setzero_si256 ();
  __m256i low = _mm256_xor_si256 (_mm256_unpacklo_epi8 (a, b), s->xors);
  __m256i high = _mm256_xor_si256 (_mm256_unpackhi_epi8 (a, b), s->xors);

  low = _mm256_packs_epi32 (add_words (s, _mm256_unpacklo_epi8 (low, none)),
                            add_words (s, _mm256_unpackhi_epi8 (low, none)));
  high = _mm256_packs_epi32 (add_words (s, _mm256_unpacklo_epi8 (high, none)),
                             add_words (s, _mm256_unpackhi_epi8 (high, none)));
  low = limit_words (&s->limits, low);
  high = limit_words (&s->limits, high);
  return s->limits.is_signed ? _mm256_packs_epi16 (low, high) : _mm256_packus_epi16 (low, high);
}

void
lpt_eltwise_add__avx2 (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                       const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  bool byte = p->lo >= -128 && p->hi <= 255 && (p->lo >= 0 || p->hi <= 127) && p->zp >= -128 && p->zp <= 255;
  int64_t bias = p->form == LPT_ADD_SINGLE ? p->bias + ((int64_t) 1 << (p->shift - 1)) : 0;
  int16_t low1 = (int16_t) p->m1, low2 = (int16_t) p->m2;
  size_t whole = cols / 32 * 32;
  Sum s;

  if (!byte || p->form != LPT_ADD_SINGLE || !lpt_add_fits_pairs (p))
    {
      add_plain (p, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      return;
    }
  s.high = _mm256_set1_epi32 ((int32_t) ((uint32_t) (((int64_t) p->m2 - low2) >> 16) << 16
                                         | (uint16_t) (((int64_t) p->m1 - low1) >> 16)));
  s.low = _mm256_set1_epi32 ((int32_t) ((uint32_t) (uint16_t) low2 << 16 | (uint16_t) low1));
  s.high_bias = _mm256_set1_epi32 ((int32_t) (bias >> 16));
  s.low_bias = _mm256_set1_epi32 ((int32_t) (bias & 0xffff));
  s.shift = _mm256_set1_epi32 (p->shift - 16);
  s.xors = _mm256_set1_epi16 ((int16_t) (p->xor_b << 8 | p->xor_a));
  s.limits = pack_limits (p->zp, p->lo, p->hi);

  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    {
      __m256i x = _mm256_set1_epi8 ((char) a[0]), y = _mm256_set1_epi8 ((char) b[0]);

      for (size_t j = 0; j < whole; j += 32)
        {
          if (a_step)
            x = load_256 (a + j);
          if (b_step)
            y = load_256 (b + j);
          _mm256_storeu_si256 ((__m256i *) (void *) (out + j), add_bytes (&s, x, y));
        }
      for (size_t j = whole, n; j < cols; j += n)
        {
          n = cols - j < 16 ? cols - j : 16;
          if (a_step)
            x = _mm256_castsi128_si256 (load_some (a + j, n));
          if (b_step)
            y = _mm256_castsi128_si256 (load_some (b + j, n));
          store_some (out + j, _mm256_castsi256_si128 (add_bytes (&s, x, y)), n);
        }
    }
}
