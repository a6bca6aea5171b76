/* executor/kernels/lstm/fixed16.h - exp, logistic and tanh in 16-bit fixed point
 *
 * The functions of eval/integer/lpt-int-fixed.h with 16-bit raw numbers: constants are cut to 16 bits, sums saturate. A
 * Qi number has i integer bits and 15 - i fractional ones. The specification and the kernels have the same functions,
 * which compilers vectorise where `bits` is a constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <stdint.h>

static inline int16_t
lpt_fixed16_sat (int32_t x)
{
  return (int16_t) (x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x);
}

/* Rounding doubling high product, ties toward +inf. */
static inline int16_t
lpt_fixed16_mul (int16_t a, int16_t b)
{
  return lpt_fixed16_sat (((int32_t) a * b + (1 << 14)) >> 15);
}

/* x / 2^e, ties away from zero. */
static inline int16_t
lpt_fixed16_rdbpot (int16_t x, int e)
{
  int32_t mask = (1 << e) - 1, rest = x & mask, threshold = (mask >> 1) + (x < 0);
  return (int16_t) ((x >> e) + (rest > threshold));
}

static inline int16_t
lpt_fixed16_shl (int16_t x, int e)
{
  return lpt_fixed16_sat ((int32_t) x * (1 << e));
}

/* e^a in Q0 for a <= 0 in Q(bits), bits <= 7. */
static inline int16_t
lpt_fixed16_exp (int16_t a, int bits)
{
  static const int16_t factors[] = { 25520, 19875, 12055, 4435, 600, 11, 0, 0, 0 };      /* e^-(2^k), k = -2.. */
  const int quarter = 1 << (15 - bits - 2);
  const int rest = (a & (quarter - 1)) - quarter, whole = rest - a;
  const int16_t x = lpt_fixed16_sat (rest * (1 << bits) + (1 << 12)), x2 = lpt_fixed16_mul (x, x),
                x3 = lpt_fixed16_mul (x2, x), x4 = lpt_fixed16_mul (x2, x2),
                third = lpt_fixed16_sat (lpt_fixed16_rdbpot (x4, 2) + x3);
  const int16_t inner = lpt_fixed16_sat (lpt_fixed16_mul (third, 10923) + x2);
  const int16_t tail = lpt_fixed16_rdbpot (inner, 1);
  int16_t result = lpt_fixed16_sat (28918 + lpt_fixed16_mul (28918, lpt_fixed16_sat (x + tail)));
  for (int k = -2; k < bits; k++)
    if ((whole & (1 << (15 - bits + k))) != 0)
      result = lpt_fixed16_mul (result, factors[k + 2]);
  return a == 0 ? INT16_MAX : result;
}

/* 1 / d by three Newton steps, in Q2, for d = (a + 1) / 2, a in Q0 within [0, 1]. */
static inline int16_t
lpt_fixed16_newton (int16_t a)
{
  const int16_t half = (int16_t) ((a + INT16_MAX + 1) / 2);
  int16_t x = lpt_fixed16_sat (23130 + lpt_fixed16_mul (half, -15420));
  for (int i = 0; i < 3; i++)
    {
      const int16_t error = lpt_fixed16_sat ((1 << 13) - lpt_fixed16_mul (half, x));
      x = lpt_fixed16_sat (x + lpt_fixed16_shl (lpt_fixed16_mul (x, error), 2));
    }
  return x;
}

/* Logistic function of a Q(bits) number, in Q0; bits <= 4. */
static inline int16_t
lpt_fixed16_logistic (int16_t a, int bits)
{
  const int16_t positive = lpt_fixed16_shl (lpt_fixed16_newton (lpt_fixed16_exp (a > 0 ? (int16_t) -a : a, bits)), 1);
  return a == 0 ? 1 << 14 : a > 0 ? positive : (int16_t) (INT16_MAX - positive);
}

/* Hyperbolic tangent of a Q(bits) number, in Q0; bits <= 6. */
static inline int16_t
lpt_fixed16_tanh (int16_t a, int bits)
{
  const int16_t inverse = lpt_fixed16_newton (lpt_fixed16_exp (a > 0 ? (int16_t) -a : a, bits + 1)),
                t = lpt_fixed16_shl (lpt_fixed16_sat (inverse - (1 << 13)), 2);
  return a == 0 ? 0 : a > 0 ? t : (int16_t) -t;
}
