/* executor/kernels/float/body.h - softmax and normalisation on sixteen lanes of floats
 *
 * A sixteen is one register of AVX-512, two of AVX2, or four of SSE or NEON, in the compiler's own vector types: the same
 * IEEE operations in the same order everywhere.
 *
 * exp (x) = 2^n * e^r with n = rint (x / ln 2) and |r| <= ln 2 / 2: Cephes' polynomial, about 1 ulp; 0 below -87.33.
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
