/* executor/kernels/requant/requant-scalar.h - how an accumulator is rescaled, one value at a time
 *
 * The exact definition of every requantization scheme. A scheme is data: vector kernels must give
 * the same integers for every input. `>>` is an arithmetic (floor) shift, products have 64 bits.
 *
 * A real multiplier M is `mult * 2^(shift - 31)`, mult a Q31 integer, shift a LEFT shift (negative
 * moves right), as decompose () of TensorFlow Lite gives them, or a float `scale`.
 *
 *   single    sat32 ((acc * mult + 2^(30-shift)) >> (31-shift)), ties toward +inf; shift <= 63.
 *             A TPU-MLIR pair (mult, rshift) is this scheme with shift = 31 - rshift.
 *   double    rdbpot (srdhm (acc, mult), -shift); shift > 0: as single
 *   two-step  t = srdhm (acc, mult); shift < 0: (t + 2^(-shift-1)) >> -shift; shift > 0: as single
 *   qnnpack   q = (acc * mult + 2^30) >> 31, then as rdbpot, but the fix-up of negative values goes
 *             by the sign of acc; shift <= 0
 *   float     rint (clamp ((float) acc * scale)), ties to even, all in float32
 *
 * For a left shift the originals of `double` and `two-step` compute srdhm (acc << shift, mult),
 * undefined when acc << shift leaves int32. Where it is defined it equals `single`: only one
 * rounding takes place. So `single` it is for shift > 0, and it saturates where they are undefined.
 *
 * The zero point is added after the rounding, and the clamp is [lo - zp, hi - zp] before that
 * addition, so nothing can overflow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>
#include <stdint.h>

typedef enum {
  LPT_REQUANT_SINGLE,
  LPT_REQUANT_DOUBLE,
  LPT_REQUANT_TWO_STEP,
  LPT_REQUANT_QNNPACK,
  LPT_REQUANT_FLOAT,
  LPT_REQUANT_N_SCHEMES
} LptRequantScheme;

static inline int32_t
lpt_requant_sat32 (int64_t v)
{
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t) v;
}

/* v / 2^shift, ties to numbers as odd as `odd` (0 or 1). Needs |v| <= 2^62, 0 < shift <= 62. */
static inline int64_t
lpt_requant_even_shift (int64_t v, int shift, int64_t odd)
{
  return (v + ((int64_t) 1 << (shift - 1)) - 1 + (((v >> shift) ^ odd) & 1)) >> shift;
}

/* v / 2^shift, ties toward +inf; a shift <= 0 multiplies, saturating in 64 bits.
 * Needs |v| <= 2^62, -63 < shift <= 62. */
static inline int64_t
lpt_requant_round_shift (int64_t v, int shift)
{
  if (shift > 0)
    return (v + ((int64_t) 1 << (shift - 1))) >> shift;
  if (v > (INT64_MAX >> -shift))
    return INT64_MAX;
  if (v < (INT64_MIN >> -shift))
    return INT64_MIN;
  return (int64_t) ((uint64_t) v << -shift);
}

/* Saturating rounding doubling high product: (a*b + 2^30) >> 31. */
static inline int32_t
lpt_requant_srdhm (int32_t a, int32_t b)
{
  return lpt_requant_sat32 (((int64_t) a * b + ((int64_t) 1 << 30)) >> 31);
}

/* x / 2^e to nearest, ties away from zero; 0 <= e <= 31. */
static inline int32_t
lpt_requant_rdbpot (int32_t x, int e)
{
  int32_t mask = (int32_t) (((uint32_t) 1 << e) - 1);
  int32_t rest = x & mask;
  int32_t threshold = (mask >> 1) + (x < 0);

  return (x >> e) + (rest > threshold);
}

static inline int32_t
lpt_requant_single (int32_t acc, int32_t mult, int shift)
{
  return lpt_requant_sat32 (lpt_requant_round_shift ((int64_t) acc * mult, 31 - shift));
}

/* The same with a fraction of the accumulator: rest = rint (fraction * mult), |rest| <= 2^31. */
static inline int32_t
lpt_requant_single_rest (int32_t acc, int32_t rest, int32_t mult, int shift)
{
  return lpt_requant_sat32 (lpt_requant_round_shift ((int64_t) acc * mult + rest, 31 - shift));
}

static inline int32_t
lpt_requant_tpu (int32_t acc, int32_t mult, int rshift)
{
  return lpt_requant_sat32 (lpt_requant_round_shift ((int64_t) acc * mult, rshift));
}

static inline int32_t
lpt_requant_double (int32_t acc, int32_t mult, int shift)
{
  if (shift > 0)
    return lpt_requant_single (acc, mult, shift);

  return lpt_requant_rdbpot (lpt_requant_srdhm (acc, mult), -shift);
}

static inline int32_t
lpt_requant_two_step (int32_t acc, int32_t mult, int shift)
{
  int32_t t;

  if (shift > 0)
    return lpt_requant_single (acc, mult, shift);

  t = lpt_requant_srdhm (acc, mult);

  return shift < 0 ? (int32_t) (((int64_t) t + ((int64_t) 1 << (-shift - 1))) >> -shift) : t;
}

static inline int32_t
lpt_requant_qnnpack (int32_t acc, int32_t mult, int shift)
{
  int32_t q = lpt_requant_srdhm (acc, mult);
  int32_t mask = (int32_t) (((uint32_t) 1 << -shift) - 1);
  int32_t rest = (q & mask) - (acc < 0);

  return (q >> -shift) + (rest > (mask >> 1));
}

/* Result in [lo, hi]; a NaN gives lo. */
static inline int32_t
lpt_requant_float (int32_t acc, float scale, int32_t lo, int32_t hi)
{
  float v = (float) acc * scale;

  v = v > (float) lo ? v : (float) lo;
  v = v < (float) hi ? v : (float) hi;
  return (int32_t) rintf (v);
}

/* One accumulator to one code in [lo, hi]. `mult` and `shift` are read by the fixed-point
 * schemes, `scale` by the float one. lo, hi and zp are codes of the 8-bit output. */
static inline int32_t
lpt_requant_code (LptRequantScheme scheme, int32_t acc, int32_t mult, int shift, float scale,
                  int32_t zp, int32_t lo, int32_t hi)
{
  int32_t v;

  switch (scheme)
    {
    case LPT_REQUANT_SINGLE:   v = lpt_requant_single (acc, mult, shift); break;
    case LPT_REQUANT_DOUBLE:   v = lpt_requant_double (acc, mult, shift); break;
    case LPT_REQUANT_TWO_STEP: v = lpt_requant_two_step (acc, mult, shift); break;
    case LPT_REQUANT_QNNPACK:  v = lpt_requant_qnnpack (acc, mult, shift); break;
    default:                   v = lpt_requant_float (acc, scale, lo - zp, hi - zp); break;
    }
  v = v < lo - zp ? lo - zp : v > hi - zp ? hi - zp : v;
  return v + zp;
}
