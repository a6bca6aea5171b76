/* executor/kernels/float/body-exact.h - functions of one variable that are exact, or rounded once
 *
 * As C has them, and so on every processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include "executor/kernels/lpt-vector.h"

/* @name of each lane by the instruction of the processor, or by C's function. */
#if defined (__AVX512F__)
#define EXACT_LANES(name, wide, middle, narrow, c) \
  INLINE V name (V x) { return (V) wide; }
#elif defined (__AVX2__)
#define EXACT_LANES(name, wide, middle, narrow, c) \
  INLINE V name (V x) { return (V) middle; }
#elif defined (__aarch64__)
#define EXACT_LANES(name, wide, middle, narrow, c) \
  INLINE V name (V x) { return (V) narrow; }
#else
#define EXACT_LANES(name, wide, middle, narrow, c) \
  INLINE V                                         \
  name (V x)                                       \
  {                                                \
    for (int i = 0; i < WIDTH; i++)                \
      x[i] = c (x[i]);                             \
    return x;                                      \
  }
#endif

/* _MM_FROUND_TO_NEAREST_INT, _NEG_INF, _POS_INF with _MM_FROUND_NO_EXC: 8, 9, 10 */
EXACT_LANES (sqrt_lanes, _mm512_sqrt_ps ((__m512) x), _mm256_sqrt_ps ((__m256) x), vsqrtq_f32 ((float32x4_t) x), sqrtf)
EXACT_LANES (round_lanes, _mm512_roundscale_ps ((__m512) x, 8), _mm256_round_ps ((__m256) x, 8),
             vrndnq_f32 ((float32x4_t) x), rintf)
EXACT_LANES (floor_lanes, _mm512_roundscale_ps ((__m512) x, 9), _mm256_round_ps ((__m256) x, 9),
             vrndmq_f32 ((float32x4_t) x), floorf)
EXACT_LANES (ceiling_lanes, _mm512_roundscale_ps ((__m512) x, 10), _mm256_round_ps ((__m256) x, 10),
             vrndpq_f32 ((float32x4_t) x), ceilf)

/* 1 / sqrt (x) in double, rounded once. */
INLINE V
rsqrt_lanes (V x)
{
#if defined (__AVX512F__)
  const __m512d one = _mm512_set1_pd (1);
  const __m256 low = _mm512_castps512_ps256 ((__m512) x), high = (__m256) _mm512_extractf64x4_pd ((__m512d) x, 1);
  const __m256 first = _mm512_cvtpd_ps (_mm512_div_pd (one, _mm512_sqrt_pd (_mm512_cvtps_pd (low))));
  const __m256 second = _mm512_cvtpd_ps (_mm512_div_pd (one, _mm512_sqrt_pd (_mm512_cvtps_pd (high))));

  return (V) _mm512_insertf64x4 (_mm512_castpd256_pd512 ((__m256d) first), (__m256d) second, 1);
#elif defined (__AVX2__)
  const __m256d one = _mm256_set1_pd (1);
  const __m128 low = _mm256_castps256_ps128 ((__m256) x), high = _mm256_extractf128_ps ((__m256) x, 1);
  const __m128 first = _mm256_cvtpd_ps (_mm256_div_pd (one, _mm256_sqrt_pd (_mm256_cvtps_pd (low))));
  const __m128 second = _mm256_cvtpd_ps (_mm256_div_pd (one, _mm256_sqrt_pd (_mm256_cvtps_pd (high))));

  return (V) _mm256_insertf128_ps (_mm256_castps128_ps256 (first), second, 1);
#else
  for (int i = 0; i < WIDTH; i++)
    x[i] = (float) (1.0 / sqrt ((double) x[i]));
  return x;
#endif
}

/* 1, -1, or 0 without a sign; a NaN stays. */
INLINE V
sign_lanes (V x)
{
  const V zero = { 0 }, one = splat (1.0f);

  return where_less (zero, x, one, where_less (x, zero, -one, choose (x == x, zero, x)));
}

#undef EXACT_LANES
