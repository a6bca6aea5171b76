/* executor/kernels/lstm/fixed16-256.h - the functions of fixed16.h on sixteen numbers
 *
 * vpmulhrsw is lpt_fixed16_mul () but for -1 times -1, which does not occur: arguments of exp are within an eighth, its
 * values and those of the Newton steps are positive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>
#include <string.h>

#define LANES 16

INLINE __m256i
all_of (int v)
{
  return _mm256_set1_epi16 ((short) v);
}

/* n numbers, others 0. */
INLINE __m256i
load_lanes (const int16_t *p, size_t n)
{
  int16_t some[LANES] = { 0 };

  if (n >= LANES)
    return _mm256_loadu_si256 ((const __m256i *) p);
  memcpy (some, p, n * sizeof *p);
  return _mm256_loadu_si256 ((const __m256i *) some);
}

INLINE void
store_lanes (int16_t *p, __m256i v, size_t n)
{
  if (n >= LANES)
    _mm256_storeu_si256 ((__m256i *) p, v);
  else
    memcpy (p, &v, n * sizeof *p);
}

/* x / 2^e, ties away from zero. */
INLINE __m256i
rdbpot_lanes (__m256i x, int e)
{
  const int mask = (1 << e) - 1;
  const __m256i rest = _mm256_and_si256 (x, all_of (mask)),
                threshold = _mm256_sub_epi16 (all_of (mask >> 1), _mm256_srai_epi16 (x, 15));

  return _mm256_sub_epi16 (_mm256_srai_epi16 (x, e), _mm256_cmpgt_epi16 (rest, threshold));
}

INLINE __m256i
twice (__m256i x)
{
  return _mm256_adds_epi16 (x, x);
}

/* e^a for a <= 0. `bits` is a constant. */
INLINE __m256i
exp_lanes (__m256i a, int bits)
{
  static const int16_t factors[] = { 25520, 19875, 12055, 4435, 600, 11, 0, 0, 0 };
  const int quarter = 1 << (15 - bits - 2);
  const __m256i rest = _mm256_sub_epi16 (_mm256_and_si256 (a, all_of (quarter - 1)), all_of (quarter)),
                whole = _mm256_sub_epi16 (rest, a),
                x = _mm256_add_epi16 (_mm256_slli_epi16 (rest, bits), all_of (1 << 12)),
                x2 = _mm256_mulhrs_epi16 (x, x), x3 = _mm256_mulhrs_epi16 (x2, x), x4 = _mm256_mulhrs_epi16 (x2, x2),
                third = _mm256_adds_epi16 (rdbpot_lanes (x4, 2), x3),
                inner = _mm256_adds_epi16 (_mm256_mulhrs_epi16 (third, all_of (10923)), x2),
                tail = _mm256_adds_epi16 (x, rdbpot_lanes (inner, 1));
  __m256i result = _mm256_adds_epi16 (all_of (28918), _mm256_mulhrs_epi16 (all_of (28918), tail));

#pragma GCC unroll 16
  for (int k = -2; k < bits; k++)
    {
      const __m256i bit = all_of (1 << (15 - bits + k)), has = _mm256_cmpeq_epi16 (_mm256_and_si256 (whole, bit), bit);

      result = _mm256_blendv_epi8 (result, _mm256_mulhrs_epi16 (result, all_of (factors[k + 2])), has);
    }
  return _mm256_blendv_epi8 (result, all_of (INT16_MAX), _mm256_cmpeq_epi16 (a, _mm256_setzero_si256 ()));
}

/* 1 / d in Q2, d = (a + 1) / 2, for a >= 0. */
INLINE __m256i
newton_lanes (__m256i a)
{
  const __m256i half = _mm256_add_epi16 (_mm256_srli_epi16 (a, 1), all_of (1 << 14));
  __m256i x = _mm256_adds_epi16 (all_of (23130), _mm256_mulhrs_epi16 (half, all_of (-15420)));

#pragma GCC unroll 3
  for (int i = 0; i < 3; i++)
    {
      const __m256i error = _mm256_subs_epi16 (all_of (1 << 13), _mm256_mulhrs_epi16 (half, x));

      x = _mm256_adds_epi16 (x, twice (twice (_mm256_mulhrs_epi16 (x, error))));
    }
  return x;
}

/* -|a| */
INLINE __m256i
below_zero (__m256i a)
{
  return _mm256_sub_epi16 (_mm256_setzero_si256 (), _mm256_abs_epi16 (a));
}

/* a > 0 ? positive : a < 0 ? negative : zero */
INLINE __m256i
by_sign (__m256i a, __m256i positive, __m256i negative, __m256i zero)
{
  const __m256i none = _mm256_setzero_si256 ();

  return _mm256_blendv_epi8 (_mm256_blendv_epi8 (negative, positive, _mm256_cmpgt_epi16 (a, none)), zero,
                             _mm256_cmpeq_epi16 (a, none));
}

INLINE __m256i
logistic_lanes (__m256i a, int bits)
{
  const __m256i positive = twice (newton_lanes (exp_lanes (below_zero (a), bits)));

  return by_sign (a, positive, _mm256_sub_epi16 (all_of (INT16_MAX), positive), all_of (1 << 14));
}

INLINE __m256i
tanh_lanes (__m256i a, int bits)
{
  const __m256i inverse = newton_lanes (exp_lanes (below_zero (a), bits + 1)),
                t = twice (twice (_mm256_subs_epi16 (inverse, all_of (1 << 13))));

  return by_sign (a, t, _mm256_sub_epi16 (_mm256_setzero_si256 (), t), _mm256_setzero_si256 ());
}

static void
logistic (size_t n, int16_t *v)
{
  for (size_t k = 0; k < n; k += LANES)
    store_lanes (v + k, logistic_lanes (load_lanes (v + k, n - k), 3), n - k);
}

/* `bits` is a constant. */
INLINE void
tanh_of (int bits, size_t n, const int16_t *x, int16_t *y)
{
  for (size_t k = 0; k < n; k += LANES)
    store_lanes (y + k, tanh_lanes (load_lanes (x + k, n - k), bits), n - k);
}
