/* executor/kernels/float/body.h - softmax, normalisation and functions on sixteen lanes of floats
 *
 * A sixteen is one register of AVX-512, two of AVX2, or four of SSE or NEON, and twice as many of doubles, in the compiler's
 * own vector types: the same IEEE operations in the same order everywhere. Polynomials are chains of fused multiply-adds;
 * where the processor has none, C's fmaf () is slow but gives the same bits.
 *
 * exp (x) = 2^n * e^r with n = rint (x / ln 2) and |r| <= ln 2 / 2: Cephes' polynomial, about 1 ulp; 0 below -87.33.
 * tanh and erf near zero are x times a polynomial of x^2; elsewhere 1 - 2 / (e^2x + 1) and 1 - e^-p(x). The coefficients are
 * those of interpolation at Chebyshev's nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/float/float.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

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
#define PARTS (16 / WIDTH)
#define FOR_PARTS(q) _Pragma ("GCC unroll 4") for (int q = 0; q < PARTS; q++)

/* Half a vector of floats, and as many doubles. */
#define HALF (WIDTH / 2)
#define FOR_HALVES(q) _Pragma ("GCC unroll 8") for (int q = 0; q < 2 * PARTS; q++)

typedef float   V __attribute__ ((vector_size (WIDTH * 4)));
typedef int32_t I __attribute__ ((vector_size (WIDTH * 4)));
typedef float   H __attribute__ ((vector_size (HALF * 4)));
typedef double  D __attribute__ ((vector_size (HALF * 8)));

/* Elements that part q of the sixteen at j holds, of cols, when a part has `width`. */
INLINE size_t
part_size (size_t cols, size_t j, int q, size_t width)
{
  size_t at = j + (size_t) q * width;

  return at >= cols ? 0 : cols - at < width ? cols - at : width;
}

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
    memcpy (p, &v, n * sizeof *p);
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
#else
  return choose (x < y, a, b);
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

/* n elements as doubles, others `fill`. */
INLINE D
load_wide (const float *p, size_t n, double fill)
{
  double f[HALF];
  D d;
  H h;

  if (n == HALF)
    {
      memcpy (&h, p, sizeof h);
      return __builtin_convertvector (h, D);
    }
  for (size_t i = 0; i < HALF; i++)
    f[i] = i < n ? p[i] : fill;
  memcpy (&d, f, sizeof d);
  return d;
}

INLINE void
store_narrow (float *p, D d, size_t n)
{
  H h = __builtin_convertvector (d, H);

  if (n == HALF)
    memcpy (p, &h, sizeof h);
  else
    memcpy (p, &h, n * sizeof *p);
}

INLINE double
sum_lanes (const D v[2 * PARTS])
{
  double f[16];

  memcpy (f, v, sizeof f);
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++)
      f[i] += f[i + half];
  return f[0];
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

INLINE V
exp_lanes (V x)
{
  const V zero = { 0 }, least = splat (-87.33f), magic = splat (12582912.0f);   /* 1.5 * 2^23: adding it rounds to an integer */
  V in = where_less (x, least, zero, x), n, r, p;

  n = fused (in, splat (1.44269504088896341f), magic) - magic;
  r = fused (n, splat (-0.693359375f), in);
  r = fused (n, splat (2.12194440e-4f), r);
  p = POLYNOMIAL (r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f);
  p = fused (p, r * r, r) + 1.0f;
  p = (V) ((I) p + (__builtin_convertvector (n, I) << 23));
  return where_less (x, least, zero, p);
}

void
LPT_FN (lpt_float_softmax) (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      V best[PARTS];
      D sum[2 * PARTS];
      float max, lanes[16], total;

      FOR_PARTS (q)
        best[q] = (V) { 0 } - INFINITY;
      FOR_HALVES (q)
        sum[q] = (D) { 0 };
      for (size_t j = 0; j < cols; j += 16)
        FOR_PARTS (q)
          {
            V x = load (in + j + q * WIDTH, part_size (cols, j, q, WIDTH), -INFINITY);

            best[q] = choose (x > best[q], x, best[q]);
          }
      memcpy (lanes, best, sizeof lanes);
      max = lanes[0];
      for (size_t l = 1; l < 16; l++)
        max = lanes[l] > max ? lanes[l] : max;

      for (size_t j = 0; j < cols; j += 16)
        {
          FOR_PARTS (q)
            {
              size_t n = part_size (cols, j, q, WIDTH);

              store (out + j + q * WIDTH, exp_lanes (load (in + j + q * WIDTH, n, 0.0f) - max), n);
            }
          FOR_HALVES (q)
            sum[q] += load_wide (out + j + q * HALF, part_size (cols, j, q, HALF), 0.0);
        }
      total = (float) (1.0 / sum_lanes (sum));
      for (size_t j = 0; j < cols; j += 16)
        FOR_PARTS (q)
          {
            size_t n = part_size (cols, j, q, WIDTH);

            store (out + j + q * WIDTH, load (out + j + q * WIDTH, n, 0.0f) * total, n);
          }
    }
}

void
LPT_FN (lpt_float_normalize) (size_t rows, size_t cols, const float *in, size_t ldi, double eps, bool eps_outside,
                              bool variance, float *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      D sum[2 * PARTS], squares[2 * PARTS];
      double mean, factor = 1.0;

      FOR_HALVES (q)
        sum[q] = squares[q] = (D) { 0 };
      for (size_t j = 0; j < cols; j += 16)
        FOR_HALVES (q)
          sum[q] += load_wide (in + j + q * HALF, part_size (cols, j, q, HALF), 0.0);
      mean = sum_lanes (sum) / (double) cols;
      if (variance)
        {
          double var;

          for (size_t j = 0; j < cols; j += 16)
            FOR_HALVES (q)
              {
                D d = load_wide (in + j + q * HALF, part_size (cols, j, q, HALF), mean) - mean;

                squares[q] += d * d;
              }
          var = sum_lanes (squares) / (double) cols;
          factor = 1.0 / (eps_outside ? sqrt (var) + eps : sqrt (var + eps));
        }
      for (size_t j = 0; j < cols; j += 16)
        FOR_HALVES (q)
          {
            size_t n = part_size (cols, j, q, HALF);

            store_narrow (out + j + q * HALF, (load_wide (in + j + q * HALF, n, 0.0) - mean) * factor, n);
          }
    }
}

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

  return where_less (x, least, zero, 1.0f / (1.0f + exp_lanes (-where_less (x, least, zero, x))));
}

/* The smaller one; a NaN in x stays. */
INLINE V
at_most (V x, float most)
{
  return where_less (splat (most), x, splat (most), x);
}

INLINE V
tanh_lanes (V x)
{
  V t = magnitude (x), s = x * x, near, far;

  near = x * POLYNOMIAL (s, -0.00584964391f, 0.0207513491f, -0.0537679835f, 0.133316796f, -0.333332828f, 0.999999997f);
  far = at_most (t, 10.0f);
  far = 1.0f - 2.0f / (exp_lanes (far + far) + 1.0f);
  return where_less (t, splat (0.6f), near, with_sign_of (far, x));
}

INLINE V
erf_lanes (V x)
{
  V t = magnitude (x), s = x * x, near, far;

  near = x * POLYNOMIAL (s, 8.52940135e-05f, -0.000817963219f, 0.00520422669f, -0.0268606648f, 0.11283718f, -0.376126352f,
                         1.12837917f);
  far = at_most (t, 4.0f);
  far = 1.0f - exp_lanes (-POLYNOMIAL (far, -1.64306366e-06f, 4.61638586e-05f, -0.00059758577f, 0.00476262583f, -0.0264276372f,
                                       0.110087166f, 0.631823918f, 1.13023106f, -0.000318539662f));
  return where_less (t, splat (0.9f), near, with_sign_of (far, x));
}

INLINE V
elu_lanes (V x)
{
  const V zero = { 0 };
  V below = where_less (zero, x, zero, x), near, far = exp_lanes (below) - 1.0f;

  near = below * POLYNOMIAL (below, 1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f);
  return where_less (zero, x, x, where_less (splat (-0.35f), below, near, far));
}

INLINE V
clamp_lanes (V x, float lo, float hi)
{
  return where_less (x, splat (lo), splat (lo), where_less (splat (hi), x, splat (hi), x));
}

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
      return x * (clamp_lanes (x + 3.0f, 0.0f, 6.0f) / 6.0f);
    case LPT_MAP_HSIGMOID:
      return clamp_lanes (x + 3.0f, 0.0f, 6.0f) / 6.0f;
    case LPT_MAP_ABS:
      return magnitude (x);
    default:
      return (V) ((I) x ^ (int32_t) 0x80000000);
    }
}

INLINE void
map_all (LptFloatMap map, size_t n, const float *in, float *out)
{
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, map_lanes (map, load (in + i, WIDTH, 0.0f)), WIDTH);
  if (i < n)
    store (out + i, map_lanes (map, load (in + i, n - i, 0.0f)), n - i);
}

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
    default:
    MAP (LPT_MAP_NEGATIVE)
#undef MAP
    }
}

/* --- arithmetic --- */

INLINE V
operand (const float *p, size_t step, size_t i, size_t n)
{
  return step ? load (p + i, n, 1.0f) : splat (p[0]);
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
    default:
      return choose ((a < b) | (a != a), a, b);
    }
}

INLINE void
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
LPT_FN (lpt_float_binary) (LptFloatBinary op, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float *out)
{
  switch (op)
    {
#define BINARY(name) case name: binary_steps (name, n, a, a_step, b, b_step, out); break;
    BINARY (LPT_BINARY_ADD)
    BINARY (LPT_BINARY_SUBTRACT)
    BINARY (LPT_BINARY_MULTIPLY)
    BINARY (LPT_BINARY_DIVIDE)
    BINARY (LPT_BINARY_MAXIMUM)
    default:
    BINARY (LPT_BINARY_MINIMUM)
#undef BINARY
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
