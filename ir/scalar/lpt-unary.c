/* lpt-unary.c - the functions of one variable behind the elementwise ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/scalar/lpt-unary.h"
#include "ir/scalar/lpt-unary-words.h"

/* Elements that stay in the first cache between two steps. */
#define LINE 256

static inline double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* ln (1 + e^x) without overflow. */
static inline double
soft_plus (double x)
{
  return x > 0 ? x + log1p (exp (-x)) : log1p (exp (x));
}

static inline double
within (double x,
        double low,
        double high)
{
  return x < low ? low : x > high ? high : x;   /* NaN stays */
}

static inline double
gelu (double x,
      int    mode)
{
  if (mode == LPT_GELU_TANH)
    return 0.5 * x * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));

  return 0.5 * x * (1 + erf (x / G_SQRT2));
}

/* ENUM, number of parameters, expression of x and p[] */
#define UNARY_FUNCTIONS(X) \
  X (ABS, 0, fabs (x)) \
  X (ACOS, 0, acos (x)) \
  X (ACOSH, 0, acosh (x)) \
  X (ASIN, 0, asin (x)) \
  X (ASINH, 0, asinh (x)) \
  X (ATAN, 0, atan (x)) \
  X (ATANH, 0, atanh (x)) \
  X (CEILING, 0, ceil (x)) \
  X (CLAMP, 2, within (x, p[0], p[1])) \
  X (COS, 0, cos (x)) \
  X (COSH, 0, cosh (x)) \
  X (ELU, 1, x > 0 ? x : p[0] * expm1 (x)) \
  X (ERF, 0, erf (x)) \
  X (EXP, 0, exp (x)) \
  X (FLOOR, 0, floor (x)) \
  X (GELU, 1, gelu (x, (int) p[0])) \
  X (HARD_SIGMOID, 2, within (x * p[0] + p[1], 0, 1)) \
  X (HSIGMOID, 0, within (x + 3, 0, 6) / 6) \
  X (HSWISH, 0, x * within (x + 3, 0, 6) / 6) \
  X (LOG, 0, log (x)) \
  X (MISH, 0, x * tanh (soft_plus (x))) \
  X (NEGATIVE, 0, -x) \
  X (RELU, 0, x < 0 ? 0 : x) \
  X (ROUND, 1, (int) p[0] == LPT_ROUND_MODE_HALF_TO_EVEN ? nearbyint (x) : round (x)) \
  X (RSQRT, 0, 1 / sqrt (x)) \
  X (SELU, 2, p[1] * (x > 0 ? x : p[0] * expm1 (x))) \
  X (SIGMOID, 0, sigmoid (x)) \
  X (SIGN, 0, isnan (x) ? x : (x > 0) - (x < 0)) \
  X (SIN, 0, sin (x)) \
  X (SINH, 0, sinh (x)) \
  X (SOFT_PLUS, 0, soft_plus (x)) \
  X (SOFT_SIGN, 0, x / (1 + fabs (x))) \
  X (SQRT, 0, sqrt (x)) \
  X (SWISH, 1, x * sigmoid (p[0] * x)) \
  X (TAN, 0, tan (x)) \
  X (TANH, 0, tanh (x))

/* Those that kernels have, as ENUM, what its parameters must be (0 of those that have none) and the name of the
 * kernel's. */
#define VECTOR_FUNCTIONS(X) \
  X (EXP, 0, 0, EXP) \
  X (LOG, 0, 0, LOG) \
  X (SIN, 0, 0, SIN) \
  X (COS, 0, 0, COS) \
  X (SIGMOID, 0, 0, SIGMOID) \
  X (SWISH, 1, 0, SILU) \
  X (TANH, 0, 0, TANH) \
  X (ERF, 0, 0, ERF) \
  X (GELU, LPT_GELU_ERF, 0, GELU) \
  X (GELU, LPT_GELU_TANH, 0, GELU_TANH) \
  X (ELU, 1, 0, ELU) \
  X (SELU, LPT_SELU_ALPHA, LPT_SELU_SCALE, SELU) \
  X (SOFT_PLUS, 0, 0, SOFT_PLUS) \
  X (SOFT_SIGN, 0, 0, SOFT_SIGN) \
  X (MISH, 0, 0, MISH) \
  X (HSWISH, 0, 0, HSWISH) \
  X (HSIGMOID, 0, 0, HSIGMOID) \
  X (ABS, 0, 0, ABS) \
  X (NEGATIVE, 0, 0, NEGATIVE) \
  X (SQRT, 0, 0, SQRT) \
  X (RSQRT, 0, 0, RSQRT) \
  X (FLOOR, 0, 0, FLOOR) \
  X (CEILING, 0, 0, CEILING) \
  X (ROUND, LPT_ROUND_MODE_HALF_TO_EVEN, 0, ROUND) \
  X (SIGN, 0, 0, SIGN)

#define DEFINE(ENUM, n, expression) \
  static double unary_##ENUM (double x, const double *p) { return expression; }
UNARY_FUNCTIONS (DEFINE)
#undef DEFINE

LptUnaryFunc
lpt_unary_func (LptOp op)
{
  switch ((guint) op)
    {
#define ROW(ENUM, n, expression) case LPT_OP_##ENUM: return unary_##ENUM;
    UNARY_FUNCTIONS (ROW)
#undef ROW
    default: return NULL;
    }
}

gboolean
lpt_unary_i64 (LptOp   op,
               gint64  x,
               gint64 *y)
{
  switch ((guint) op)
    {
#define ROW(ENUM, expression) case LPT_OP_##ENUM: *y = expression; return TRUE;
    LPT_UNARY_WORDS (ROW)
#undef ROW
    default: return FALSE;
    }
}

guint
lpt_unary_n_parameters (LptOp op)
{
  switch ((guint) op)
    {
#define ROW(ENUM, n, expression) case LPT_OP_##ENUM: return n;
    UNARY_FUNCTIONS (ROW)
#undef ROW
    default: return 0;
    }
}

gboolean
lpt_unary_map (LptOp         op,
               const double *p,
               LptFloatMap  *map)
{
  static const struct { LptOp op; double p[2]; LptFloatMap map; } rows[] =
  {
#define ROW(ENUM, first, second, map) { LPT_OP_##ENUM, { first, second }, LPT_MAP_##map },
    VECTOR_FUNCTIONS (ROW)
#undef ROW
  };
  const guint n = lpt_unary_n_parameters (op);
  const double first = n > 0 ? p[0] : 0, second = n > 1 ? p[1] : 0;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op && rows[i].p[0] == first && rows[i].p[1] == second)
      {
        *map = rows[i].map;
        return TRUE;
      }

  return FALSE;
}

/* x Sigmoid (beta x) */
static void
swish_line (const LptFloatKernel *kernel,
            const double         *p,
            size_t                n,
            const float          *x,
            float                *y)
{
  const float beta = (float) p[0];
  float share[LINE];
  size_t i, part;

  for (; n > 0; n -= part, x += part, y += part)
    {
      part = MIN (n, LINE);
      for (i = 0; i < part; i++)
        share[i] = beta * x[i];
      kernel->map (LPT_MAP_SIGMOID, part, share, share);
      for (i = 0; i < part; i++)
        y[i] = x[i] * share[i];
    }
}

/* Rounding keeps the order, and the bounds are floats: it may come before them. */
static void
hard_sigmoid_line (const LptFloatKernel *kernel,
                   const double         *p,
                   size_t                n,
                   const float          *x,
                   float                *y)
{
  kernel->shift (n, x, 0, p[0], p[1], y);
  kernel->clamp (n, y, 0, 1, y);
}

LptUnaryLine
lpt_unary_line (LptOp op)
{
  return op == LPT_OP_SWISH ? swish_line : op == LPT_OP_HARD_SIGMOID ? hard_sigmoid_line : NULL;
}
