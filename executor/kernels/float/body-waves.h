/* executor/kernels/float/body-waves.h - sine and cosine
 *
 * x = n pi/2 + r with |r| <= pi/4: pi/2 in three parts, products and differences rounded once, so r is good to 2^-25
 * for |x| <= 2^13; polynomials of r, the terms of Taylor; by n mod 4 one of them or its negative. What lies beyond,
 * infinity and NaN is left to C's functions of doubles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define WAVES_MOST 8192.0f
#define WAVES_BLOCK 256

/* @quarter: 0 sine, 1 cosine. */
INLINE V
wave_lanes (V x, int quarter)
{
  const V magic = splat (12582912.0f);      /* 1.5 * 2^23: adding it rounds to an integer, in the lowest bits */
  V t = fused (x, splat (0.63661977236758134f), magic), n = t - magic, r, z, sine, cosine;
  I k = (I) t + quarter;

  r = fused (n, splat (-1.57079637050628662109375f), x);
  r = fused (n, splat (4.3711388286737929e-8f), r);
  r = fused (n, splat (1.7151245100058819e-15f), r);
  z = r * r;
  sine = fused (r * z, POLYNOMIAL (z, 1.0f / 362880, -1.0f / 5040, 1.0f / 120, -1.0f / 6), r);
  cosine = fused (z, POLYNOMIAL (z, -1.0f / 3628800, 1.0f / 40320, -1.0f / 720, 1.0f / 24, -0.5f), splat (1.0f));
  return (V) ((I) choose ((k & 1) != 0, cosine, sine) ^ (I) ((U) (k & 2) << 30));
}
