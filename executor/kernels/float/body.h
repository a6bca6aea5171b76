/* executor/kernels/float/body.h - softmax and normalisation on vectors of sixteen floats
 *
 * The vector type is the compiler's: it becomes one AVX-512 register or four SSE or NEON ones, with the same IEEE
 * operations in the same order.
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

typedef float   V __attribute__ ((vector_size (64)));
typedef int32_t I __attribute__ ((vector_size (64)));

INLINE V
load (const float *p, size_t n)
{
  V v = { 0 };

  if (n >= 16)
    memcpy (&v, p, sizeof v);
  else
    memcpy (&v, p, n * sizeof *p);
  return v;
}

INLINE void
store (float *p, V v, size_t n)
{
  if (n >= 16)
    memcpy (p, &v, sizeof v);
  else
    memcpy (p, &v, n * sizeof *p);
}

/* Lanes below n are true. */
INLINE I
first (size_t n)
{
  const I lane = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

  return lane < (int32_t) (n < 16 ? n : 16);
}

INLINE V
choose (I mask, V a, V b)
{
  return (V) (((I) a & mask) | ((I) b & ~mask));
}

INLINE float
sum_lanes (V v)
{
  float f[16];

  memcpy (f, &v, sizeof f);
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
  const V lowest = (V) { 0 } - INFINITY;

  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      V best = lowest, sum = { 0 };
      float max, lanes[16], total;

      for (size_t j = 0; j < cols; j += 16)
        {
          V x = choose (first (cols - j), load (in + j, cols - j), lowest);

          best = choose (x > best, x, best);
        }
      memcpy (lanes, &best, sizeof lanes);
      max = lanes[0];
      for (size_t l = 1; l < 16; l++)
        max = lanes[l] > max ? lanes[l] : max;

      for (size_t j = 0; j < cols; j += 16)
        {
          V e = exp_lanes (load (in + j, cols - j) - max);

          sum += choose (first (cols - j), e, (V) { 0 });
          store (out + j, e, cols - j);
        }
      total = 1.0f / sum_lanes (sum);
      for (size_t j = 0; j < cols; j += 16)
        store (out + j, load (out + j, cols - j) * total, cols - j);
    }
}

void
LPT_FN (lpt_float_normalize) (size_t rows, size_t cols, const float *in, size_t ldi, const float *gamma,
                              const float *beta, float eps, bool eps_outside, bool variance, float *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      V sum = { 0 }, squares = { 0 };
      float mean, factor = 1.0f;

      for (size_t j = 0; j < cols; j += 16)
        sum += load (in + j, cols - j);
      mean = sum_lanes (sum) / (float) cols;
      if (variance)
        {
          float var;

          for (size_t j = 0; j < cols; j += 16)
            {
              V d = choose (first (cols - j), load (in + j, cols - j) - mean, (V) { 0 });

              squares += d * d;
            }
          var = sum_lanes (squares) / (float) cols;
          factor = 1.0f / (eps_outside ? sqrtf (var) + eps : sqrtf (var + eps));
        }
      for (size_t j = 0; j < cols; j += 16)
        {
          V y = (load (in + j, cols - j) - mean) * factor;

          if (gamma)
            y = y * load (gamma + j, cols - j);
          if (beta)
            y = y + load (beta + j, cols - j);
          store (out + j, y, cols - j);
        }
    }
}
