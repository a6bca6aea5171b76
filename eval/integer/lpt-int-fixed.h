/* lpt-int-fixed.h - exp, reciprocal, logistic and tanh in 32-bit fixed point
 *
 * The functions of gemmlowp's fixedpoint.h, bit for bit. A Qi number has i
 * integer bits and 31 - i fractional ones; a product of Qa and Qb is
 * Q(a + b) = srdhm (a, b).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_INT_FIXED_H
#define LPT_INT_FIXED_H

#include <stdint.h>

#include "executor/kernels/requant/requant-scalar.h"

/* x * 2^e, saturated. */
static inline int32_t
lpt_fixed_shl (int32_t x,
               int     e)
{
  return lpt_requant_sat32 ((int64_t) x * ((int64_t) 1 << e));
}

/* e^a for a Q0 in [-1/4, 0): Taylor around -1/8. */
static inline int32_t
lpt_fixed_exp_quarter (int32_t a)
{
  const int32_t exp_minus_eighth = 1895147668, third = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = lpt_requant_srdhm (x, x);
  const int32_t x3 = lpt_requant_srdhm (x2, x);
  const int32_t x4 = lpt_requant_srdhm (x2, x2);
  const int32_t tail = lpt_requant_rdbpot (lpt_requant_srdhm (lpt_requant_rdbpot (x4, 2) + x3, third) + x2, 1);

  return exp_minus_eighth + lpt_requant_srdhm (exp_minus_eighth, x + tail);
}

/* e^a in Q0 for a <= 0 in Q(bits), bits <= 5. */
static inline int32_t
lpt_fixed_exp (int32_t a,
               int     bits)
{
  static const int32_t factors[] = { 1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242 };   /* e^-(2^k), k = -2.. */
  const int32_t quarter = 1 << (31 - bits - 2);
  const int32_t rest = (a & (quarter - 1)) - quarter;
  const int32_t whole = rest - a;
  int32_t result = lpt_fixed_exp_quarter (rest * (1 << bits));

  for (int k = -2; k < bits; k++)
    if ((whole & (1 << (31 - bits + k))) != 0)
      result = lpt_requant_srdhm (result, factors[k + 2]);

  return a == 0 ? INT32_MAX : result;
}

/* 1 / d by three Newton steps, in Q2, for d = (a + 1) / 2, a in Q0 within [0, 1]: the result is in [1, 2]. */
static inline int32_t
lpt_fixed_newton (int32_t a)
{
  const int32_t half = (int32_t) (((int64_t) a + INT32_MAX + 1) / 2);
  int32_t x = 1515870810 + lpt_requant_srdhm (half, -1010580540);

  for (int i = 0; i < 3; i++)
    {
      const int32_t error = (1 << 29) - lpt_requant_srdhm (half, x);

      x += lpt_fixed_shl (lpt_requant_srdhm (x, error), 2);
    }

  return x;
}

/* 1 / (1 + a), Q0. */
static inline int32_t
lpt_fixed_reciprocal (int32_t a)
{
  return lpt_fixed_shl (lpt_fixed_newton (a), 1);
}

/* Logistic function of a Q4 number, in Q0. */
static inline int32_t
lpt_fixed_logistic (int32_t a)
{
  const int32_t positive = lpt_fixed_reciprocal (lpt_fixed_exp (a > 0 ? -a : a, 4));

  return a == 0 ? 1 << 30 : a > 0 ? positive : INT32_MAX - positive;
}

/* Hyperbolic tangent of a Q4 number, in Q0: (1 - e^-2|a|) / (1 + e^-2|a|). */
static inline int32_t
lpt_fixed_tanh (int32_t a)
{
  const int32_t t = lpt_fixed_shl (lpt_fixed_newton (lpt_fixed_exp (a > 0 ? -a : a, 5)) - (1 << 29), 2);

  return a == 0 ? 0 : a > 0 ? t : -t;
}

#endif
