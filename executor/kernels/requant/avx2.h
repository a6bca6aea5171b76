/* executor/kernels/requant/avx2.h - schemes and sums on eight lanes of AVX2
 *
 * As avx512.h. There is no 64-bit arithmetic shift: floor (x / 2^n) of a 64-bit x for n >= 32 is its upper word shifted
 * by n - 32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>

#include "executor/kernels/requant/requant.h"

#ifndef INLINE
#define INLINE static inline __attribute__ ((always_inline))
#endif

INLINE __m256i
load_256 (const void *p)
{
  return _mm256_loadu_si256 ((const __m256i *) p);
}

typedef struct {
  __m256i mult, mult_odd;
  __m256i a, b, c;          /* single: rounding of even and odd lanes, shift; others: e and mask */
  __m256  scale;
} RequantVec;

INLINE RequantVec
requant_vec (LptRequantScheme scheme, __m256i mult, __m256i shift, __m256 scale)
{
  RequantVec v;
  const __m256i one = _mm256_set1_epi32 (1);

  v.mult = mult;
  v.mult_odd = _mm256_srli_epi64 (mult, 32);
  v.scale = scale;
  v.a = v.b = v.c = one;
  if (scheme == LPT_REQUANT_SINGLE)
    {
      __m256i right = _mm256_sub_epi32 (_mm256_set1_epi32 (31), shift);
      __m256i even = _mm256_and_si256 (right, _mm256_set1_epi64x (0xffffffff)), odd = _mm256_srli_epi64 (right, 32);
      const __m256i one64 = _mm256_set1_epi64x (1);

      v.a = _mm256_sllv_epi64 (one64, _mm256_sub_epi64 (even, one64));
      v.b = _mm256_sllv_epi64 (one64, _mm256_sub_epi64 (odd, one64));
      v.c = _mm256_sub_epi32 (right, _mm256_set1_epi32 (32));
    }
  else if (scheme != LPT_REQUANT_FLOAT)
    {
      v.a = _mm256_sub_epi32 (_mm256_setzero_si256 (), shift);
      v.b = _mm256_sub_epi32 (_mm256_sllv_epi32 (one, v.a), one);
    }
  return v;
}

/* Adds rests to single rounding. */
INLINE void
add_rests (RequantVec *v, __m256i rest)
{
  __m256i sign = _mm256_srai_epi32 (rest, 31);

  v->a = _mm256_add_epi64 (v->a, _mm256_blend_epi32 (rest, _mm256_slli_epi64 (sign, 32), 0xaa));
  v->b = _mm256_add_epi64 (v->b, _mm256_blend_epi32 (_mm256_srli_epi64 (rest, 32), sign, 0xaa));
}

/* Rescaled values, not yet clamped but for the float scheme, whose limits are low and high. */
INLINE __m256i
requant_lanes (LptRequantScheme scheme, const RequantVec *v, __m256i x, __m256 low, __m256 high)
{
  const __m256i half = _mm256_set1_epi64x (1 << 30), one = _mm256_set1_epi32 (1);
  __m256i even, odd, t, down, rest, threshold;

  if (scheme == LPT_REQUANT_FLOAT)
    {
      __m256 f = _mm256_mul_ps (_mm256_cvtepi32_ps (x), v->scale);

      return _mm256_cvtps_epi32 (_mm256_min_ps (_mm256_max_ps (f, low), high));
    }
  even = _mm256_mul_epi32 (x, v->mult);
  odd = _mm256_mul_epi32 (_mm256_srli_epi64 (x, 32), v->mult_odd);
  if (scheme == LPT_REQUANT_SINGLE)
    {
      even = _mm256_srli_epi64 (_mm256_add_epi64 (even, v->a), 32);
      odd = _mm256_add_epi64 (odd, v->b);
      return _mm256_srav_epi32 (_mm256_blend_epi32 (even, odd, 0xaa), v->c);
    }

  even = _mm256_srli_epi64 (_mm256_add_epi64 (even, half), 31);
  odd = _mm256_slli_epi64 (_mm256_add_epi64 (odd, half), 1);
  t = _mm256_blend_epi32 (even, odd, 0xaa);
  down = _mm256_srav_epi32 (t, v->a);
  if (scheme == LPT_REQUANT_TWO_STEP)
    return _mm256_add_epi32 (down, _mm256_and_si256 (_mm256_srlv_epi32 (_mm256_slli_epi32 (t, 1), v->a), one));
  rest = _mm256_and_si256 (t, v->b);
  threshold = _mm256_srli_epi32 (v->b, 1);
  if (scheme == LPT_REQUANT_DOUBLE)
    threshold = _mm256_sub_epi32 (threshold, _mm256_srai_epi32 (t, 31));
  else
    rest = _mm256_add_epi32 (rest, _mm256_srai_epi32 (x, 31));
  return _mm256_sub_epi32 (down, _mm256_cmpgt_epi32 (rest, threshold));
}

/* Limits and zero point on sixteen 16-bit lanes. */
typedef struct {
  __m256i low, high, zp;
  bool    is_signed;
} PackLimits;

INLINE PackLimits
pack_limits (int32_t zp, int32_t lo, int32_t hi)
{
  return (PackLimits) { _mm256_set1_epi16 ((int16_t) (lo - zp)), _mm256_set1_epi16 ((int16_t) (hi - zp)),
                        _mm256_set1_epi16 ((int16_t) zp), lo < 0 };
}

INLINE __m256i
limit_words (const PackLimits *l, __m256i x)
{
  return _mm256_add_epi16 (_mm256_min_epi16 (_mm256_max_epi16 (x, l->low), l->high), l->zp);
}

/* Sixteen words to bytes. */
INLINE __m128i
pack_words (const PackLimits *l, __m256i words)
{
  __m256i x = limit_words (l, words);
  __m128i low = _mm256_castsi256_si128 (x), high = _mm256_extracti128_si256 (x, 1);

  return l->is_signed ? _mm_packs_epi16 (low, high) : _mm_packus_epi16 (low, high);
}

/* Sixteen sums to bytes, in order. */
INLINE __m128i
pack_16 (const PackLimits *l, __m256i x0, __m256i x1)
{
  return pack_words (l, _mm256_permute4x64_epi64 (_mm256_packs_epi32 (x0, x1), 0xd8));
}
