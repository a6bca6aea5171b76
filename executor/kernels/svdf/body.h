/* executor/kernels/svdf/body.h - sums of 16-bit products for four units at a time, then loops that compilers vectorise
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/svdf/svdf.h"

#define INLINE static inline __attribute__ ((always_inline))

#if defined (__AVX2__)
#include <immintrin.h>

INLINE __m128i
eight (const int16_t *a, const int16_t *w)
{
  return _mm_madd_epi16 (_mm_loadu_si128 ((const __m128i *) a), _mm_loadu_si128 ((const __m128i *) w));
}

/* Four numbers whose sum is that of n products. */
INLINE __m128i
four_of (const int16_t *a, const int16_t *w, size_t n)
{
  __m128i sum = _mm_setzero_si128 ();
  size_t k = 0;
  int32_t rest = 0;

  if (n == 8)
    return eight (a, w);
  if (n >= 16)
    {
      __m256i wide = _mm256_setzero_si256 ();

      for (; k + 16 <= n; k += 16)
        wide = _mm256_add_epi32 (wide, _mm256_madd_epi16 (_mm256_loadu_si256 ((const __m256i *) (a + k)),
                                                          _mm256_loadu_si256 ((const __m256i *) (w + k))));
      sum = _mm_add_epi32 (_mm256_castsi256_si128 (wide), _mm256_extracti128_si256 (wide, 1));
    }
  for (; k + 8 <= n; k += 8)
    sum = _mm_add_epi32 (sum, eight (a + k, w + k));
  for (; k < n; k++)
    rest += a[k] * w[k];
  return _mm_add_epi32 (sum, _mm_cvtsi32_si128 (rest));
}

/* Sums of n products each of four units, which lie `stride` behind each other, in 64 bits. */
INLINE __m256i
four_dots (const int16_t *a, const int16_t *w, size_t stride, size_t n)
{
  __m128i first = _mm_hadd_epi32 (four_of (a, w, n), four_of (a + stride, w + stride, n)),
          last = _mm_hadd_epi32 (four_of (a + 2 * stride, w + 2 * stride, n),
                                 four_of (a + 3 * stride, w + 3 * stride, n));

  return _mm256_cvtepi32_epi64 (_mm_hadd_epi32 (first, last));
}

INLINE __m128i
sat32_of (__m256i v)
{
#if defined (__AVX512VL__)
  return _mm256_cvtsepi64_epi32 (v);
#else
  const __m256i high = _mm256_set1_epi64x (INT32_MAX), low = _mm256_set1_epi64x (INT32_MIN);

  v = _mm256_blendv_epi8 (v, high, _mm256_cmpgt_epi64 (v, high));
  v = _mm256_blendv_epi8 (v, low, _mm256_cmpgt_epi64 (low, v));
  return _mm256_castsi256_si128 (_mm256_permutevar8x32_epi32 (v, _mm256_setr_epi32 (0, 2, 4, 6, 0, 2, 4, 6)));
#endif
}

/* Sums of units u to u + 3. */
INLINE void
sum_four (const LptSvdf *p, const int16_t *next, size_t u, int32_t *sums)
{
  const size_t length = p->rank * p->memory, at = u * length;
  const int narrow = p->narrow[u] & p->narrow[u + 1] & p->narrow[u + 2] & p->narrow[u + 3];
  __m256i all = _mm256_loadu_si256 ((const __m256i *) (p->bias + u));

  for (size_t from = 0; from < length; from += LPT_SVDF_PART)
    {
      const size_t n = length - from < LPT_SVDF_PART ? length - from : LPT_SVDF_PART, k = at + from;

      all = _mm256_add_epi64 (all, four_dots (next + k, p->low + k, length, n));
      if (!narrow)
        all = _mm256_add_epi64 (all, _mm256_slli_epi64 (four_dots (next + k, p->high + k, length, n), 8));
    }
  _mm_storeu_si128 ((__m128i *) sums, sat32_of (all));
}

#endif

INLINE int32_t
dot (const int16_t *a, const int16_t *w, size_t n)
{
  int32_t sum = 0;

  for (size_t k = 0; k < n; k++)
    sum += a[k] * w[k];
  return sum;
}

INLINE int32_t
sat32 (int64_t v)
{
  return (int32_t) (v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
}

INLINE void
sum_one (const LptSvdf *p, const int16_t *next, size_t u, int32_t *sums)
{
  const size_t length = p->rank * p->memory, at = u * length;
  int64_t all = p->bias[u];

  for (size_t from = 0; from < length; from += LPT_SVDF_PART)
    {
      const size_t n = length - from < LPT_SVDF_PART ? length - from : LPT_SVDF_PART, k = at + from;

      all += dot (next + k, p->low + k, n);
      if (!p->narrow[u])
        all += 256 * (int64_t) dot (next + k, p->high + k, n);
    }
  *sums = sat32 (all);
}

void
LPT_FN (lpt_svdf_step) (const LptSvdf *p, int32_t *sums, int16_t *next, uint8_t *y)
{
  const size_t units = p->filters / p->rank;
  size_t u = 0;

  lpt_rescale_all (&p->newest, p->filters, sums, INT16_MIN, INT16_MAX);
  for (size_t f = 0; f < p->filters; f++)
    next[(f + 1) * p->memory - 1] = (int16_t) sums[f];

#if defined (__AVX2__)
  for (; u + 4 <= units; u += 4)
    sum_four (p, next, u, sums + u);
#endif
  for (; u < units; u++)
    sum_one (p, next, u, sums + u);
  lpt_rescale_all (&p->result, units, sums, -(int64_t) p->zero, 255 - (int64_t) p->zero);
  for (u = 0; u < units; u++)
    y[u] = (uint8_t) (sums[u] + p->zero);
}
