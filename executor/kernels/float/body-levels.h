/* executor/kernels/float/body-levels.h - rounding to levels, and both bytes of levels of 16 bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/float/float.h"
#include "executor/kernels/lpt-vector.h"

/* A reciprocal in two floats, near + rest. */
typedef struct { float near, rest; } Reciprocal;

INLINE Reciprocal
reciprocal (float steps)
{
  const float near = 1 / steps;

  return (Reciprocal) { near, (float) (1 / (double) steps - near) };
}

/* k / steps of whole numbers k and steps below 2^21. The sum is within 2^-49 of the quotient, which is 2^-46 of itself
 * or more from the middle between any two floats: |k 2^j - m steps| >= 1 for all whole m, but where both are the same,
 * and then the quotient is a float. */
INLINE V
by_steps (V k, float steps, Reciprocal r)
{
#if defined (__AVX2__) || defined (__ARM_NEON)
  return fused (k, splat (r.near), k * r.rest);
#else
  return k / splat (steps);
#endif
}

/* FakeQuantize of x between il and ih. */
INLINE V
nearest_level (V x, V il, V ih, V ol, V oh, float steps, Reciprocal r)
{
  const V magic = splat (12582912.0f);      /* 1.5 * 2^23: adding it rounds to an integer */
  const V k = ((x - il) / (ih - il) * steps + magic) - magic;

  return by_steps (k, steps, r) * (oh - ol) + ol;
}

/* What is beyond an end of the interval is put there before, or the level of that end is put in its place behind. */
INLINE V
levels_lanes (const LptFloatLevels *q, Reciprocal r, bool low, bool high, V x)
{
  const V il = splat (q->il), ih = splat (q->ih), ol = splat (q->ol), oh = splat (q->oh);
  V y = low ? greater (il, x) : x;      /* a NaN stays one */

  y = nearest_level (high ? lesser (ih, y) : y, il, ih, ol, oh, q->steps, r);
  y = low ? y : choose (x == x, where_less (il, x, y, ol), x);
  return high ? y : where_less (ih, x, oh, y);
}

INLINE void
levels_row (const LptFloatLevels *q, Reciprocal r, bool low, bool high, size_t n, const float *in, float *out)
{
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, levels_lanes (q, r, low, high, load (in + i, WIDTH, 0.0f)), WIDTH);
  if (i < n)
    store (out + i, levels_lanes (q, r, low, high, load (in + i, n - i, 0.0f)), n - i);
}

void
LPT_FN (lpt_float_levels) (const LptFloatLevels *q, size_t n, const float *in, float *out)
{
  const LptFloatLevels own = *q;      /* that no number written may change */
  const Reciprocal r = reciprocal (own.steps);

  if (own.ol == 0 && signbit (own.ol))      /* 0 * (oh - ol) + ol is another zero */
    levels_row (&own, r, false, false, n, in, out);
  else if (own.oh - own.ol + own.ol == own.oh)
    levels_row (&own, r, true, true, n, in, out);
  else
    levels_row (&own, r, true, false, n, in, out);
}

void
LPT_FN (lpt_float_intervals) (float steps, size_t n, const float *const x[5], const size_t step[5], float *out)
{
  const Reciprocal r = reciprocal (steps);

  for (size_t i = 0; i < n; i += WIDTH)
    {
      const size_t left = n - i < WIDTH ? n - i : WIDTH;
      V v[5], y;

      for (int k = 0; k < 5; k++)
        v[k] = operand (x[k], step[k], i, left);
      y = nearest_level (v[0], v[1], v[2], v[3], v[4], steps, r);
      y = choose (v[0] > greater (v[1], v[2]), v[4], y);
      store (out + i, choose (v[0] <= lesser (v[1], v[2]), v[3], y), left);
    }
}

INLINE void
halves_lanes (const LptFloatHalves *q, V x, size_t n, uint8_t *high, uint8_t *low)
{
  const V magic = splat (12582912.0f);      /* as above */
  I c = (I) (x * q->inverse + magic) - (I) magic + q->zero, nan = x != x;

  c = (c & ~nan) | (q->nan & nan);
  store_bytes (high, (c >> 8) + q->high_zero, n);
  store_bytes (low, c, n);
}

void
LPT_FN (lpt_float_halves) (const LptFloatHalves *q, size_t n, const float *in, uint8_t *high, uint8_t *low)
{
  const LptFloatHalves own = *q;
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    halves_lanes (&own, load (in + i, WIDTH, 0.0f), WIDTH, high + i, low + i);
  if (i < n)
    halves_lanes (&own, load (in + i, n - i, 0.0f), n - i, high + i, low + i);
}
