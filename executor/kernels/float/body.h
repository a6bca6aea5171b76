/* executor/kernels/float/body.h - softmax, normalisation and functions on sixteen lanes of floats
 *
 * A sixteen is one register of AVX-512, two of AVX2, or four of SSE or NEON, in the compiler's own vector types: the same
 * IEEE operations in the same order everywhere.
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
#define WIDTH 16
#elif defined (__AVX2__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
#define PARTS (16 / WIDTH)
#define FOR_PARTS(q) _Pragma ("GCC unroll 4") for (int q = 0; q < PARTS; q++)

typedef float   V __attribute__ ((vector_size (WIDTH * 4)));
typedef int32_t I __attribute__ ((vector_size (WIDTH * 4)));

/* Elements that part q of the sixteen at j holds, of cols. */
INLINE size_t
part_size (size_t cols, size_t j, int q)
{
  size_t at = j + (size_t) q * WIDTH;

  return at >= cols ? 0 : cols - at < WIDTH ? cols - at : WIDTH;
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

INLINE V
choose (I mask, V a, V b)
{
  return (V) (((I) a & mask) | ((I) b & ~mask));
}

/* Zero in the lanes from n on. */
INLINE V
cut (V v, size_t n)
{
  float f[WIDTH];

  if (n == WIDTH)
    return v;
  memcpy (f, &v, sizeof f);
  for (size_t i = n; i < WIDTH; i++)
    f[i] = 0.0f;
  memcpy (&v, f, sizeof v);
  return v;
}

INLINE float
sum_lanes (const V v[PARTS])
{
  float f[16];

  memcpy (f, v, sizeof f);
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++)
      f[i] += f[i + half];
  return f[0];
}

INLINE V
exp_lanes (V x)
{
  const V zero = { 0 };
  const float magic = 12582912.0f;   /* 1.5 * 2^23: adding it rounds to an integer */
  I tiny = x < -87.33f;
  V n, r, p;

  x = choose (tiny, zero, x);
  n = (x * 1.44269504088896341f + magic) - magic;
  r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  p = 1.9875691500e-4f + zero;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  p = (V) ((I) p + (__builtin_convertvector (n, I) << 23));
  return choose (tiny, zero, p);
}

void
LPT_FN (lpt_float_softmax) (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      V best[PARTS], sum[PARTS];
      float max, lanes[16], total;

      FOR_PARTS (q)
        {
          best[q] = (V) { 0 } - INFINITY;
          sum[q] = (V) { 0 };
        }
      for (size_t j = 0; j < cols; j += 16)
        FOR_PARTS (q)
          {
            V x = load (in + j + q * WIDTH, part_size (cols, j, q), -INFINITY);

            best[q] = choose (x > best[q], x, best[q]);
          }
      memcpy (lanes, best, sizeof lanes);
      max = lanes[0];
      for (size_t l = 1; l < 16; l++)
        max = lanes[l] > max ? lanes[l] : max;

      for (size_t j = 0; j < cols; j += 16)
        FOR_PARTS (q)
          {
            size_t n = part_size (cols, j, q);
            V e = exp_lanes (load (in + j + q * WIDTH, n, 0.0f) - max);

            sum[q] += cut (e, n);
            store (out + j + q * WIDTH, e, n);
          }
      total = 1.0f / sum_lanes (sum);
      for (size_t j = 0; j < cols; j += 16)
        FOR_PARTS (q)
          {
            size_t n = part_size (cols, j, q);

            store (out + j + q * WIDTH, load (out + j + q * WIDTH, n, 0.0f) * total, n);
          }
    }
}

void
LPT_FN (lpt_float_normalize) (size_t rows, size_t cols, const float *in, size_t ldi, const float *gamma,
                              const float *beta, float eps, bool eps_outside, bool variance, float *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      V sum[PARTS], squares[PARTS];
      float mean, factor = 1.0f;

      FOR_PARTS (q)
        sum[q] = squares[q] = (V) { 0 };
      for (size_t j = 0; j < cols; j += 16)
        FOR_PARTS (q)
          sum[q] += load (in + j + q * WIDTH, part_size (cols, j, q), 0.0f);
      mean = sum_lanes (sum) / (float) cols;
      if (variance)
        {
          float var;

          for (size_t j = 0; j < cols; j += 16)
            FOR_PARTS (q)
              {
                V d = load (in + j + q * WIDTH, part_size (cols, j, q), mean) - mean;

                squares[q] += d * d;
              }
          var = sum_lanes (squares) / (float) cols;
          factor = 1.0f / (eps_outside ? sqrtf (var) + eps : sqrtf (var + eps));
        }
      for (size_t j = 0; j < cols; j += 16)
        FOR_PARTS (q)
          {
            size_t n = part_size (cols, j, q);
            V y = (load (in + j + q * WIDTH, n, 0.0f) - mean) * factor;

            if (gamma)
              y = y * load (gamma + j + q * WIDTH, n, 0.0f);
            if (beta)
              y = y + load (beta + j + q * WIDTH, n, 0.0f);
            store (out + j + q * WIDTH, y, n);
          }
    }
}

/* Coefficients from the highest power down. */
INLINE V
polynomial (V x, const float *c, int n)
{
  V p = (V) { 0 } + c[0];

  for (int i = 1; i < n; i++)
    p = p * x + c[i];
  return p;
}
#define POLYNOMIAL(x, ...)                                                                                   \
  polynomial (x, (const float[]) { __VA_ARGS__ }, (int) (sizeof ((const float[]) { __VA_ARGS__ }) / sizeof (float)))

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
  const V zero = { 0 };
  I tiny = x < -87.33f;

  return choose (tiny, zero, 1.0f / (1.0f + exp_lanes (-choose (tiny, zero, x))));
}

INLINE V
tanh_lanes (V x)
{
  const V most = { 0 };
  V t = magnitude (x), s = x * x, near, far;

  near = x * POLYNOMIAL (s, -0.00584964391f, 0.0207513491f, -0.0537679835f, 0.133316796f, -0.333332828f, 0.999999997f);
  t = choose (t > 10.0f, most + 10.0f, t);
  far = 1.0f - 2.0f / (exp_lanes (t + t) + 1.0f);
  return choose (t < 0.6f, near, with_sign_of (far, x));
}

INLINE V
erf_lanes (V x)
{
  const V most = { 0 };
  V t = magnitude (x), s = x * x, near, far;

  near = x * POLYNOMIAL (s, 8.52940135e-05f, -0.000817963219f, 0.00520422669f, -0.0268606648f, 0.11283718f, -0.376126352f,
                         1.12837917f);
  t = choose (t > 4.0f, most + 4.0f, t);
  far = 1.0f - exp_lanes (-POLYNOMIAL (t, -1.64306366e-06f, 4.61638586e-05f, -0.00059758577f, 0.00476262583f, -0.0264276372f,
                                       0.110087166f, 0.631823918f, 1.13023106f, -0.000318539662f));
  return choose (t < 0.9f, near, with_sign_of (far, x));
}

INLINE V
map_lanes (LptFloatMap map, V x)
{
  const V zero = { 0 };

  switch (map)
    {
    case LPT_MAP_EXP:
      return choose (x > 88.72f, zero + INFINITY, exp_lanes (choose (x > 88.72f, zero, x)));
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
    default:
      return x * 0.5f * (1.0f + tanh_lanes (0.79788456080286536f * (x + 0.044715f * x * x * x)));
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
    default:
    MAP (LPT_MAP_GELU_TANH)
#undef MAP
    }
}
