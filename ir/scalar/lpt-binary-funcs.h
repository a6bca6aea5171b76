/* lpt-binary-funcs.h - what the elementwise ops of two inputs do with two numbers: the rows of a table
 *
 * Expressions of a and b, of whatever real type, rounded once where it is f32 (powers and remainders are computed in
 * f64), and of i64, which wraps. Loops over arrays are made of the same rows as the functions of lpt-binary.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include <glib.h>

/* --- integers: no undefined behaviour on overflow --- */

#define LPT_WRAP(op) ((gint64) ((guint64) a op (guint64) b))

static inline gint64
lpt_div_trunc (gint64 a,
               gint64 b)
{
  return b == -1 ? (gint64) (0 - (guint64) a) : a / b;
}

static inline gint64
lpt_div_floor (gint64 a,
               gint64 b)
{
  gint64 q = lpt_div_trunc (a, b);

  return b != -1 && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static inline gint64
lpt_mod_trunc (gint64 a,
               gint64 b)
{
  return b == -1 ? 0 : a % b;
}

static inline gint64
lpt_mod_floor (gint64 a,
               gint64 b)
{
  gint64 r = lpt_mod_trunc (a, b);

  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline gint64
lpt_power_i64 (gint64 a,
               gint64 b)
{
  guint64 result = 1, base = (guint64) a;

  if (b < 0)
    return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  for (; b > 0; b >>= 1, base *= base)
    if (b & 1)
      result *= base;

  return (gint64) result;
}

static inline double
lpt_mod_floor_real (double a,
                    double b)
{
  double r = fmod (a, b);

  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline gint64
lpt_shift_i64 (gint64   a,
               gint64   b,
               gboolean left)
{
  if (b < 0 || b > 63)
    return !left && a < 0 ? -1 : 0;

  return left ? (gint64) ((guint64) a << b) : a >> b;
}

static inline gint64
lpt_squared_difference_i64 (gint64 a,
                            gint64 b)
{
  guint64 d = (guint64) a - (guint64) b;

  return (gint64) (d * d);
}

/* 2 and 3 are products. */
static inline double
lpt_power_real (double a,
                double b)
{
  return b == 2 ? a * a : b == 3 ? a * a * a : pow (a, b);
}

/* --- the table --- */

/* ENUM, of real a and b, of integers a and b; a divisor is not 0 */
#define LPT_BINARY_ARITHMETIC(X) \
  X (ADD, a + b, LPT_WRAP (+)) \
  X (SUBTRACT, a - b, LPT_WRAP (-)) \
  X (MULTIPLY, a * b, LPT_WRAP (*)) \
  X (DIVIDE, a / b, lpt_div_floor (a, b)) \
  X (POWER, lpt_power_real (a, b), lpt_power_i64 (a, b)) \
  X (MAXIMUM, a > b || isnan (a) ? a : b, MAX (a, b)) \
  X (MINIMUM, a < b || isnan (a) ? a : b, MIN (a, b)) \
  X (MOD, fmod (a, b), lpt_mod_trunc (a, b)) \
  X (FLOOR_MOD, lpt_mod_floor_real (a, b), lpt_mod_floor (a, b)) \
  X (SQUARED_DIFFERENCE, (a - b) * (a - b), lpt_squared_difference_i64 (a, b)) \
  X (PRELU, a < 0 ? a * b : a, a < 0 ? LPT_WRAP (*) : a)

/* ENUM, of a and b */
#define LPT_BINARY_COMPARISONS(X) \
  X (EQUAL, a == b) \
  X (NOT_EQUAL, a != b) \
  X (LESS, a < b) \
  X (LESS_EQUAL, a <= b) \
  X (GREATER, a > b) \
  X (GREATER_EQUAL, a >= b)

/* ENUM, of integers a and b */
#define LPT_BINARY_INTEGERS(X) \
  X (LOGICAL_AND, a && b) \
  X (LOGICAL_OR, a || b) \
  X (LOGICAL_XOR, !a != !b) \
  X (BITWISE_AND, a & b) \
  X (BITWISE_OR, a | b) \
  X (BITWISE_XOR, a ^ b) \
  X (BITWISE_LEFT_SHIFT, lpt_shift_i64 (a, b, TRUE)) \
  X (BITWISE_RIGHT_SHIFT, lpt_shift_i64 (a, b, FALSE))

/* ENUM, and what undoes it with the same b */
#define LPT_BINARY_INVERSES(X) \
  X (ADD, SUBTRACT) \
  X (SUBTRACT, ADD) \
  X (MULTIPLY, DIVIDE) \
  X (DIVIDE, MULTIPLY)
