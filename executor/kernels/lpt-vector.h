/* executor/kernels/lpt-vector.h - vectors of floats for bodies that are compiled once per instruction set
 *
 * V holds WIDTH floats and D half as many doubles, in the compiler's own vector types: the same IEEE operations
 * everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "executor/kernels/lpt-isa.h"

#define INLINE static inline __attribute__ ((always_inline))

#if defined (__AVX512F__)
#include <immintrin.h>
#define WIDTH 16
#elif defined (__AVX2__)
#include <immintrin.h>
#define WIDTH 8
#else
#if defined (__ARM_NEON)
#include <arm_neon.h>
#endif
#define WIDTH 4
#endif

/* Half a vector of floats, and as many doubles. */
#define HALF (WIDTH / 2)

typedef float   V __attribute__ ((vector_size (WIDTH * 4)));
typedef int32_t I __attribute__ ((vector_size (WIDTH * 4)));
typedef uint32_t U __attribute__ ((vector_size (WIDTH * 4)));
typedef float   H __attribute__ ((vector_size (HALF * 4)));
typedef double  D __attribute__ ((vector_size (HALF * 8)));

/* n elements, others `fill`. */
INLINE V
load (const float *p, size_t n, float fill)
{
  float f[WIDTH];
  V v;

  if (n == WIDTH)
    {
      memcpy (&v, p, sizeof v);
      return v;
    }
#if defined (__AVX512F__)
  return (V) _mm512_mask_loadu_ps (_mm512_set1_ps (fill), (__mmask16) ((1u << n) - 1), p);
#endif
  for (size_t i = 0; i < WIDTH; i++)
    f[i] = i < n ? p[i] : fill;
  memcpy (&v, f, sizeof v);
  return v;
}

INLINE void
store (float *p, V v, size_t n)
{
  if (n == WIDTH)
    memcpy (p, &v, sizeof v);
  else
#if defined (__AVX512F__)
    _mm512_mask_storeu_ps (p, (__mmask16) ((1u << n) - 1), (__m512) v);
#else
    memcpy (p, &v, n * sizeof *p);
#endif
}

/* The lowest byte of each lane. */
INLINE void
store_bytes (uint8_t *p, I v, size_t n)
{
#if defined (__AVX512F__)
  const __m128i bytes = _mm512_cvtepi32_epi8 ((__m512i) v);
#elif defined (__AVX2__)
  const __m256i lowest = _mm256_setr_epi8 (0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                           0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i four = _mm256_shuffle_epi8 ((__m256i) v, lowest);
  const __m128i bytes = _mm_unpacklo_epi32 (_mm256_castsi256_si128 (four), _mm256_extracti128_si256 (four, 1));
#elif defined (__aarch64__)
  const uint8x16_t lowest = { 0, 4, 8, 12 }, bytes = vqtbl1q_u8 ((uint8x16_t) v, lowest);
#else
  uint8_t bytes[WIDTH];

  for (int i = 0; i < WIDTH; i++)
    bytes[i] = (uint8_t) v[i];
#endif
  if (n == WIDTH)
    memcpy (p, &bytes, WIDTH);
  else
    memcpy (p, &bytes, n);
}

/* x in all lanes, the sign of a zero too. */
INLINE V
splat (float x)
{
  return x - (V) { 0 };
}

INLINE V
choose (I mask, V a, V b)
{
  return (V) (((I) a & mask) | ((I) b & ~mask));
}

/* x < y ? a : b */
INLINE V
where_less (V x, V y, V a, V b)
{
#if defined (__AVX512F__)
  return (V) _mm512_mask_blend_ps (_mm512_cmp_ps_mask ((__m512) x, (__m512) y, _CMP_LT_OQ), (__m512) b, (__m512) a);
#elif defined (__AVX2__)
  return (V) _mm256_blendv_ps ((__m256) b, (__m256) a, _mm256_cmp_ps ((__m256) x, (__m256) y, _CMP_LT_OQ));
#else
  return choose (x < y, a, b);
#endif
}

/* a < b ? a : b and a > b ? a : b, which are b where one of them is a NaN */
INLINE V
lesser (V a, V b)
{
#if defined (__AVX512F__)
  return (V) _mm512_min_ps ((__m512) a, (__m512) b);
#elif defined (__AVX2__)
  return (V) _mm256_min_ps ((__m256) a, (__m256) b);
#else
  return choose (a < b, a, b);
#endif
}

INLINE V
greater (V a, V b)
{
#if defined (__AVX512F__)
  return (V) _mm512_max_ps ((__m512) a, (__m512) b);
#elif defined (__AVX2__)
  return (V) _mm256_max_ps ((__m256) a, (__m256) b);
#else
  return choose (a > b, a, b);
#endif
}

/* The greatest lane: of lanes i and i + WIDTH / 2 the second where it is greater, and so on. */
INLINE float
greatest_of (V v)
{
#if defined (__AVX2__)
#if defined (__AVX512F__)
  __m256 eight = _mm256_max_ps (_mm512_extractf32x8_ps ((__m512) v, 1), _mm512_castps512_ps256 ((__m512) v));
#else
  __m256 eight = (__m256) v;
#endif
  __m128 four = _mm_max_ps (_mm256_extractf128_ps (eight, 1), _mm256_castps256_ps128 (eight)),
         two = _mm_max_ps (_mm_movehl_ps (four, four), four);

  return two[1] > two[0] ? two[1] : two[0];
#else
  for (int half = WIDTH / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++)
      v[i] = v[i + half] > v[i] ? v[i + half] : v[i];
  return v[0];
#endif
}

/* table[i] of the lowest four bits of each lane */
INLINE V
look_up (const float table[16], I i)
{
#if defined (__AVX512F__)
  return (V) _mm512_permutexvar_ps ((__m512i) i, _mm512_loadu_ps (table));
#elif defined (__AVX2__)
  __m256 low = _mm256_permutevar8x32_ps (_mm256_loadu_ps (table), (__m256i) i),
         high = _mm256_permutevar8x32_ps (_mm256_loadu_ps (table + 8), (__m256i) i);

  return (V) _mm256_blendv_ps (low, high, (__m256) (i << 28));
#else
  V v;

  for (int l = 0; l < WIDTH; l++)
    v[l] = table[i[l] & 15];
  return v;
#endif
}

/* v[i] for each lane; i names lanes. */
INLINE V
pick (V v, I i)
{
#if defined (__AVX512F__)
  return (V) _mm512_permutexvar_ps ((__m512i) i, (__m512) v);
#elif defined (__AVX2__)
  return (V) _mm256_permutevar8x32_ps ((__m256) v, (__m256i) i);
#elif defined (__ARM_NEON)
  return (V) vqtbl1q_u8 ((uint8x16_t) v, (uint8x16_t) (i * 0x04040404 + 0x03020100));
#else
  V r;

  for (int l = 0; l < WIDTH; l++)
    r[l] = v[i[l] & (WIDTH - 1)];
  return r;
#endif
}

/* a * b + c, rounded once */
INLINE V
fused (V a, V b, V c)
{
#if defined (__AVX512F__)
  return (V) _mm512_fmadd_ps ((__m512) a, (__m512) b, (__m512) c);
#elif defined (__AVX2__)
  return (V) _mm256_fmadd_ps ((__m256) a, (__m256) b, (__m256) c);
#elif defined (__ARM_NEON)
  return (V) vfmaq_f32 ((float32x4_t) c, (float32x4_t) a, (float32x4_t) b);
#else
  V r;

  for (int i = 0; i < WIDTH; i++)
    r[i] = fmaf (a[i], b[i], c[i]);
  return r;
#endif
}

INLINE D
wide_half (H h)
{
#if defined (__AVX512F__)
  return (D) _mm512_cvtps_pd ((__m256) h);
#else
  return __builtin_convertvector (h, D);
#endif
}

/* Both halves of a vector; in registers, as a load of what two stores have written waits for both. */
INLINE void
split_halves (V x, H h[2])
{
#if defined (__AVX512F__)
  h[0] = (H) _mm512_castps512_ps256 ((__m512) x);
  h[1] = (H) _mm256_castpd_ps (_mm512_extractf64x4_pd (_mm512_castps_pd ((__m512) x), 1));
#elif defined (__AVX2__)
  h[0] = (H) _mm256_castps256_ps128 ((__m256) x);
  h[1] = (H) _mm256_extractf128_ps ((__m256) x, 1);
#else
  memcpy (h, &x, sizeof x);
#endif
}

INLINE V
join_halves (H low, H high)
{
#if defined (__AVX512F__)
  return (V) _mm512_castpd_ps (_mm512_insertf64x4 (_mm512_castpd256_pd512 (_mm256_castps_pd ((__m256) low)),
                                                   _mm256_castps_pd ((__m256) high), 1));
#elif defined (__AVX2__)
  return (V) _mm256_insertf128_ps (_mm256_castps128_ps256 ((__m128) low), (__m128) high, 1);
#else
  H h[2] = { low, high };
  V x;

  memcpy (&x, h, sizeof x);
  return x;
#endif
}

INLINE H
narrow_half (D d)
{
#if defined (__AVX512F__)
  return (H) _mm512_cvtpd_ps ((__m512d) d);
#else
  return __builtin_convertvector (d, H);
#endif
}

/* n elements as doubles, others `fill`. */
INLINE D
load_wide (const float *p, size_t n, double fill)
{
#if defined (__AVX512F__)
  __mmask8 mask = (__mmask8) ((1u << n) - 1);

  return (D) (n == HALF ? _mm512_cvtps_pd (_mm256_loadu_ps (p))
                        : _mm512_mask_cvtps_pd (_mm512_set1_pd (fill), mask, _mm256_maskz_loadu_ps (mask, p)));
#else
  double f[HALF];
  D d;
  H h;

  if (n == HALF)
    {
      memcpy (&h, p, sizeof h);
      return wide_half (h);
    }
  for (size_t i = 0; i < HALF; i++)
    f[i] = i < n ? p[i] : fill;
  memcpy (&d, f, sizeof d);
  return d;
#endif
}

INLINE void
store_narrow (float *p, D d, size_t n)
{
  H h = narrow_half (d);

#if defined (__AVX512F__)
  if (n < HALF)
    {
      _mm256_mask_storeu_ps (p, (__mmask8) ((1u << n) - 1), (__m256) h);
      return;
    }
#endif

  if (n == HALF)
    memcpy (p, &h, sizeof h);
  else
    memcpy (p, &h, n * sizeof *p);
}

INLINE V
clamp_lanes (V x, float lo, float hi)
{
  return where_less (x, splat (lo), splat (lo), lesser (splat (hi), x));
}

/* The same where lo is not above hi, with an operation less. */
INLINE V
limit_lanes (V x, float lo, float hi)
{
  return greater (splat (lo), lesser (splat (hi), x));
}
