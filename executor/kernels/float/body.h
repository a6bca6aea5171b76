/* executor/kernels/float/body.h - functions of floats on sixteen lanes; those of rows are in body-rows.h, rounding is in
 * body-levels.h
 *
 * A sixteen is one register of AVX-512, two of AVX2, or four of SSE or NEON, and twice as many of doubles, in the
 * compiler's own vector types: the same IEEE operations in the same order everywhere. Polynomials are chains of fused
 * multiply-adds; where the processor has none, C's fmaf () is slow but gives the same bits.
 *
 * exp (x) = 2^n * e^r with n = rint (x / ln 2) and |r| <= ln 2 / 2: Cephes' polynomial, about 1 ulp; 0 below -87.33.
 * ln (1 + e) and ln (m) are 2 artanh (s) with s = e / (2 + e) and (m - 1) / (m + 1): odd polynomials for |s| <= 1/3 and
 * |s| <= 0.172, the terms of Taylor.
 * e^x - 1 near zero is a polynomial; tanh and erf are polynomials by parts (body-tables.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-half.h"
#include "executor/kernels/lpt-vector.h"
#include "executor/kernels/float/float.h"

#define PARTS (16 / WIDTH)
#define FOR_PARTS(q) _Pragma ("GCC unroll 4") for (int q = 0; q < PARTS; q++)
#define FOR_HALVES(q) _Pragma ("GCC unroll 8") for (int q = 0; q < 2 * PARTS; q++)

/* Elements of part q of a sixteen that has `left` elements, when a part has `width`. */
INLINE size_t
part_size (size_t left, int q, size_t width)
{
  size_t at = (size_t) q * width;

  return at >= left ? 0 : left - at < width ? left - at : width;
}

/* `step` for every sixteen of a row at `j`, the last one of `left` < 16 elements. */
#define EACH_SIXTEEN(cols, step)                                                                             \
  do                                                                                                         \
    {                                                                                                        \
      size_t j = 0, left = 16;                                                                               \
                                                                                                             \
      for (; j + 16 <= (cols); j += 16)                                                                      \
        step;                                                                                                \
      left = (cols) - j;                                                                                     \
      if (left > 0)                                                                                          \
        step;                                                                                                \
    }                                                                                                        \
  while (0)

/* Lane l and lane l + 8, then l and l + 4, l and l + 2, the last two. */
LPT_TILE double
sum_lanes (const D v[2 * PARTS])
{
#if defined (__AVX2__)
#if defined (__AVX512F__)
  __m512d eight = (__m512d) (v[0] + v[1]);
  __m256d four = _mm256_add_pd (_mm512_castpd512_pd256 (eight), _mm512_extractf64x4_pd (eight, 1));
#else
  __m256d four = (__m256d) ((v[0] + v[2]) + (v[1] + v[3]));
#endif
  __m128d two = _mm_add_pd (_mm256_castpd256_pd128 (four), _mm256_extractf128_pd (four, 1));

  return two[0] + two[1];
#else
  double f[16];

  memcpy (f, v, sizeof f);
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++)
      f[i] += f[i + half];
  return f[0];
#endif
}

/* The greatest of 16 numbers; the first of two that are neither greater nor smaller, in the order of sum_lanes (). */
INLINE float
greatest_lane (const V v[PARTS])
{
  V all[PARTS];

  FOR_PARTS (q)
    all[q] = v[q];
#pragma GCC unroll 2
  for (int half = PARTS / 2; half > 0; half /= 2)
#pragma GCC unroll 2
    for (int q = 0; q < half; q++)
      all[q] = greater (all[q + half], all[q]);
  return greatest_of (all[0]);
}

/* Coefficients from the highest power down. */
INLINE V
polynomial (V x, const float *c, int n)
{
  V p = splat (c[0]);

#pragma GCC unroll 16
  for (int i = 1; i < n; i++)
    p = fused (p, x, splat (c[i]));
  return p;
}
#define POLYNOMIAL(x, ...)                                                                                   \
  polynomial (x, (const float[]) { __VA_ARGS__ }, (int) (sizeof ((const float[]) { __VA_ARGS__ }) / sizeof (float)))

/* Of x >= -87.33, or a NaN; elsewhere the result means nothing. */
INLINE V
exp_within (V x)
{
  const V magic = splat (12582912.0f);      /* 1.5 * 2^23: adding it rounds to an integer */
  V n, r, p;

  n = fused (x, splat (1.44269504088896341f), magic) - magic;
  r = fused (n, splat (-0.693359375f), x);
  r = fused (n, splat (2.12194440e-4f), r);
  p = POLYNOMIAL (r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f);
  p = fused (p, r * r, r) + 1.0f;
#if defined (__AVX512F__)
  return (V) _mm512_scalef_ps ((__m512) p, (__m512) n);
#else
  return (V) ((I) p + (__builtin_convertvector (n, I) << 23));
#endif
}

LPT_TILE V
exp_lanes (V x)
{
  const V zero = { 0 }, least = splat (-87.33f);

#if defined (__AVX512F__)
  return where_less (x, least, zero, exp_within (x));
#else
  return where_less (x, least, zero, exp_within (where_less (x, least, zero, x)));
#endif
}

#include "executor/kernels/float/body-rows.h"

INLINE V
magnitude (V x)
{
  return (V) ((I) x & 0x7fffffff);
}

INLINE V
with_sign_of (V x, V sign)
{
  return (V) ((I) x | ((I) sign & (int32_t) 0x80000000));
}

INLINE V
sigmoid_lanes (V x)
{
  const V zero = { 0 }, least = splat (-87.33f);
  V within = greater (least, lesser (-least, x));      /* e^-x of larger ones is nothing beside 1 */

  return where_less (x, least, zero, 1.0f / (1.0f + exp_within (-within)));
}

/* The smaller one; a NaN in x stays. */
INLINE V
at_most (V x, float most)
{
  return lesser (splat (most), x);
}

#include "executor/kernels/float/body-tables.h"

INLINE V
elu_lanes (V x)
{
  const V zero = { 0 };
  V below = where_less (zero, x, zero, x), near, far = exp_lanes (below) - 1.0f;

  near = below * POLYNOMIAL (below, 1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f);
  return where_less (zero, x, x, where_less (splat (-0.35f), below, near, far));
}

/* 2 artanh (s) / s of s^2 <= 1/9. */
INLINE V
artanh_lanes (V q)
{
  return POLYNOMIAL (q, 2.0f / 15, 2.0f / 13, 2.0f / 11, 2.0f / 9, 2.0f / 7, 2.0f / 5, 2.0f / 3, 2.0f);
}

/* The larger one of x and 0, plus ln (1 + e^-|x|); the factor e comes last: no denormals on the way. */
INLINE V
soft_plus_lanes (V x)
{
  const V zero = { 0 };
  V e = exp_lanes (-magnitude (x)), r = 1.0f / (e + 2.0f), s = e * r;

  return where_less (zero, x, x, zero) + e * (r * artanh_lanes (s * s));
}

/* x = 2^n m with m in [sqrt (1/2), sqrt (2)); denormals are made larger first. */
LPT_TILE V
log_lanes (V x)
{
  const V zero = { 0 }, least = splat (1.17549435e-38f), most = splat (3.40282347e38f), half = splat (0.70710678f);
  V in = where_less (x, least, x * 8388608.0f, x), n = where_less (x, least, splat (-23.0f), zero), m, s, y;
  I bits = (I) ((U) in - (U) half);          /* of a negative number it wraps, and the number has no logarithm */

  n += __builtin_convertvector (bits >> 23, V);
  m = (V) ((bits & 0x7fffff) + (I) half) - 1.0f;
  s = m / (m + 2.0f);
  y = fused (n, splat (0.693359375f), fused (n, splat (-2.12194440e-4f), s * artanh_lanes (s * s)));
  y = where_less (most, x, x, y);
  return where_less (zero, x, y, choose (x == 0.0f, splat (-INFINITY), splat (NAN)));
}

/* With e = e^x and n = e (e + 2), tanh (ln (1 + e)) = n / (n + 2). */
INLINE V
mish_lanes (V x)
{
  V e = exp_lanes (at_most (x, 20.0f)), n = e * (e + 2.0f);

  return where_less (splat (20.0f), x, x, x * (n / (n + 2.0f)));
}

/* 0, 6 or x between; a NaN stays. */
INLINE V
within_six (V x)
{
  return greater ((V) { 0 }, lesser (splat (6.0f), x));
}

#include "executor/kernels/float/body-waves.h"
#include "executor/kernels/float/body-exact.h"

INLINE V
map_lanes (LptFloatMap map, V x)
{
  const V most = splat (88.72f);

  switch (map)
    {
    case LPT_MAP_EXP:
      return where_less (most, x, splat (INFINITY), exp_lanes (where_less (most, x, most, x)));
    case LPT_MAP_SIGMOID:
      return sigmoid_lanes (x);
    case LPT_MAP_SILU:
      return x * sigmoid_lanes (x);
    case LPT_MAP_TANH:
      return tanh_lanes (x);
    case LPT_MAP_ERF:
      return erf_lanes (x);
    case LPT_MAP_GELU:
      return x * 0.5f * (1.0f + erf_lanes (x * 0.70710678118654752f));
    case LPT_MAP_GELU_TANH:
      return x * 0.5f * (1.0f + tanh_lanes (0.79788456080286536f * fused (0.044715f * x * x, x, x)));
    case LPT_MAP_ELU:
      return elu_lanes (x);
    case LPT_MAP_HSWISH:
      return x * (within_six (x + 3.0f) / 6.0f);
    case LPT_MAP_HSIGMOID:
      return within_six (x + 3.0f) / 6.0f;
    case LPT_MAP_ABS:
      return magnitude (x);
    case LPT_MAP_MISH:
      return mish_lanes (x);
    case LPT_MAP_SELU:
      return elu_lanes (x) * where_less ((V) { 0 }, x, splat (LPT_SELU_SCALE), splat (LPT_SELU_SCALE * LPT_SELU_ALPHA));
    case LPT_MAP_SOFT_PLUS:
      return soft_plus_lanes (x);
    case LPT_MAP_SOFT_SIGN:
      return x / (1.0f + magnitude (x));
    case LPT_MAP_LOG:
      return log_lanes (x);
    case LPT_MAP_SIN:
    case LPT_MAP_COS:
      return wave_lanes (x, map == LPT_MAP_COS);
    case LPT_MAP_SQRT:
      return sqrt_lanes (x);
    case LPT_MAP_RSQRT:
      return rsqrt_lanes (x);
    case LPT_MAP_FLOOR:
      return floor_lanes (x);
    case LPT_MAP_CEILING:
      return ceiling_lanes (x);
    case LPT_MAP_ROUND:
      return round_lanes (x);
    case LPT_MAP_SIGN:
      return sign_lanes (x);
    case LPT_MAP_F16:
      return f16_lanes (x);
    case LPT_MAP_BF16:
      return bf16_lanes (x);
    default:
      return (V) ((I) x ^ (int32_t) 0x80000000);
    }
}

LPT_TILE void
map_all (LptFloatMap map, size_t n, const float *in, float *out)
{
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, map_lanes (map, load (in + i, WIDTH, 0.0f)), WIDTH);
  if (i < n)
    store (out + i, map_lanes (map, load (in + i, n - i, 0.0f)), n - i);
}

/* Blocks with a large number are copied first: `in` may be `out`. */
INLINE void
map_waves (LptFloatMap map, size_t n, const float *in, float *out)
{
  for (size_t at = 0; at < n; at += WAVES_BLOCK)
    {
      const size_t count = n - at < WAVES_BLOCK ? n - at : WAVES_BLOCK;
      float own[WAVES_BLOCK];
      bool large = false;

      for (size_t i = 0; i < count; i++)
        large |= !(fabsf (in[at + i]) <= WAVES_MOST);
      if (large)
        memcpy (own, in + at, count * sizeof *own);
      map_all (map, count, in + at, out + at);
      for (size_t i = 0; i < count && large; i++)
        if (!(fabsf (own[i]) <= WAVES_MOST))
          out[at + i] = (float) (map == LPT_MAP_COS ? cos ((double) own[i]) : sin ((double) own[i]));
    }
}

#include "executor/kernels/float/body-gelu.h"

void
LPT_FN (lpt_float_map) (LptFloatMap map, size_t n, const float *in, float *out)
{
  switch (map)
    {
#define MAP(name) case name: map_all (name, n, in, out); break;
    MAP (LPT_MAP_EXP)
    MAP (LPT_MAP_SIGMOID)
    MAP (LPT_MAP_SILU)
    MAP (LPT_MAP_TANH)
    MAP (LPT_MAP_ERF)
    MAP (LPT_MAP_GELU)
    MAP (LPT_MAP_GELU_TANH)
    MAP (LPT_MAP_ELU)
    MAP (LPT_MAP_HSWISH)
    MAP (LPT_MAP_HSIGMOID)
    MAP (LPT_MAP_ABS)
    MAP (LPT_MAP_MISH)
    MAP (LPT_MAP_SELU)
    MAP (LPT_MAP_SOFT_PLUS)
    MAP (LPT_MAP_SOFT_SIGN)
    MAP (LPT_MAP_LOG)
    MAP (LPT_MAP_NEGATIVE)
    MAP (LPT_MAP_SQRT)
    MAP (LPT_MAP_RSQRT)
    MAP (LPT_MAP_FLOOR)
    MAP (LPT_MAP_CEILING)
    MAP (LPT_MAP_ROUND)
    MAP (LPT_MAP_SIGN)
    MAP (LPT_MAP_F16)
#undef MAP
    case LPT_MAP_SIN:
      map_waves (LPT_MAP_SIN, n, in, out);
      break;
    case LPT_MAP_COS:
      map_waves (LPT_MAP_COS, n, in, out);
      break;
    default:
      map_all (LPT_MAP_BF16, n, in, out);
    }
}

/* --- arithmetic --- */

INLINE V
operand (const float *p, size_t step, size_t i, size_t n)
{
  return step ? load (p + i, n, 1.0f) : splat (p[0]);
}

#include "executor/kernels/float/body-levels.h"

INLINE V
truth (I mask)
{
  return choose (mask, splat (1.0f), (V) { 0 });
}

INLINE V
binary_lanes (LptFloatBinary op, V a, V b)
{
  switch (op)
    {
    case LPT_BINARY_ADD:
      return a + b;
    case LPT_BINARY_SUBTRACT:
      return a - b;
    case LPT_BINARY_MULTIPLY:
      return a * b;
    case LPT_BINARY_DIVIDE:
      return a / b;
    case LPT_BINARY_MAXIMUM:
      return choose ((a > b) | (a != a), a, b);
    case LPT_BINARY_SQUARED_DIFFERENCE:
      return (a - b) * (a - b);
    case LPT_BINARY_PRELU:
      return where_less (a, (V) { 0 }, a * b, a);
    case LPT_BINARY_EQUAL:
      return truth (a == b);
    case LPT_BINARY_NOT_EQUAL:
      return truth (a != b);
    case LPT_BINARY_LESS:
      return truth (a < b);
    case LPT_BINARY_LESS_EQUAL:
      return truth (a <= b);
    case LPT_BINARY_GREATER:
      return truth (a > b);
    case LPT_BINARY_GREATER_EQUAL:
      return truth (a >= b);
    default:
      return choose ((a < b) | (a != a), a, b);
    }
}

/* Powers of one exponent, and others. */
INLINE void
power_all (size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float *out)
{
  const double exponent = b[0];

  if (b_step == 0 && a_step == 1 && exponent == 2)
    for (size_t i = 0; i < n; i++)
      out[i] = a[i] * a[i];
  else if (b_step == 0 && a_step == 1 && exponent == 3)
    for (size_t i = 0; i < n; i++)
      out[i] = (float) ((double) a[i] * a[i] * a[i]);
  else
    for (size_t i = 0; i < n; i++)
      {
        double x = a[i * a_step], y = b[i * b_step];

        out[i] = (float) (y == 2 ? x * x : y == 3 ? x * x * x : pow (x, y));
      }
}

LPT_TILE void
binary_all (LptFloatBinary op, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float *out)
{
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, binary_lanes (op, operand (a, a_step, i, WIDTH), operand (b, b_step, i, WIDTH)), WIDTH);
  if (i < n)
    store (out + i, binary_lanes (op, operand (a, a_step, i, n - i), operand (b, b_step, i, n - i)), n - i);
}

INLINE void
binary_steps (LptFloatBinary op, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float *out)
{
  if (a_step && b_step)
    binary_all (op, n, a, 1, b, 1, out);
  else if (a_step)
    binary_all (op, n, a, 1, b, 0, out);
  else
    binary_all (op, n, a, 0, b, b_step, out);
}

void
LPT_FN (lpt_float_binary) (LptFloatBinary op, size_t n, const float *a, size_t a_step, const float *b, size_t b_step,
                           float *out)
{
  switch (op)
    {
#define BINARY(name) case name: binary_steps (name, n, a, a_step, b, b_step, out); break;
    BINARY (LPT_BINARY_ADD)
    BINARY (LPT_BINARY_SUBTRACT)
    BINARY (LPT_BINARY_MULTIPLY)
    BINARY (LPT_BINARY_DIVIDE)
    BINARY (LPT_BINARY_MAXIMUM)
    BINARY (LPT_BINARY_SQUARED_DIFFERENCE)
    BINARY (LPT_BINARY_PRELU)
    BINARY (LPT_BINARY_EQUAL)
    BINARY (LPT_BINARY_NOT_EQUAL)
    BINARY (LPT_BINARY_LESS)
    BINARY (LPT_BINARY_LESS_EQUAL)
    BINARY (LPT_BINARY_GREATER)
    BINARY (LPT_BINARY_GREATER_EQUAL)
    case LPT_BINARY_POWER:
      power_all (n, a, a_step, b, b_step, out);
      break;
    default:
    BINARY (LPT_BINARY_MINIMUM)
#undef BINARY
    }
}

void
LPT_FN (lpt_float_select) (size_t n, const float *mask, size_t mask_step, const float *a, size_t a_step, const float *b, size_t b_step,
                           float *out)
{
  for (size_t i = 0; i < n; i += WIDTH)
    {
      size_t left = n - i < WIDTH ? n - i : WIDTH;
      V m = operand (mask, mask_step, i, left);

      store (out + i, choose (m != 0.0f, operand (a, a_step, i, left), operand (b, b_step, i, left)), left);
    }
}

void
LPT_FN (lpt_float_clamp) (size_t n, const float *in, float lo, float hi, float *out)
{
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, clamp_lanes (load (in + i, WIDTH, 0.0f), lo, hi), WIDTH);
  if (i < n)
    store (out + i, clamp_lanes (load (in + i, n - i, 0.0f), lo, hi), n - i);
}

INLINE V
load_words (const int32_t *p, size_t n)
{
  I v = { 0 };

  memcpy (&v, p, n * sizeof *p);
  return __builtin_convertvector (v, V);
}

void
LPT_FN (lpt_float_words) (size_t n, const int32_t *in, const float *scale, size_t step, float *out)
{
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, load_words (in + i, WIDTH) * operand (scale, step, i, WIDTH), WIDTH);
  if (i < n)
    store (out + i, load_words (in + i, n - i) * operand (scale, step, i, n - i), n - i);
}
