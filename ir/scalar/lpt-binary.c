/* lpt-binary.c - elementwise ops of two inputs on two numbers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/scalar/lpt-binary.h"
#include "ir/scalar/lpt-binary-funcs.h"

double
lpt_binary_f64 (LptOp  op,
                double a,
                double b)
{
  switch ((guint) op)
    {
#define CASE(ENUM, real, integer) case LPT_OP_##ENUM: return real;
    LPT_BINARY_ARITHMETIC (CASE)
#undef CASE
    default: return NAN;
    }
}

gboolean
lpt_binary_i64 (LptOp   op,
                gint64  a,
                gint64  b,
                gint64 *out)
{
  if (b == 0 && (op == LPT_OP_DIVIDE || op == LPT_OP_MOD || op == LPT_OP_FLOOR_MOD))
    return FALSE;
  switch ((guint) op)
    {
#define CASE(ENUM, real, integer) case LPT_OP_##ENUM: *out = integer; return TRUE;
    LPT_BINARY_ARITHMETIC (CASE)
#undef CASE
#define CASE(ENUM, expression) case LPT_OP_##ENUM: *out = expression; return TRUE;
    LPT_BINARY_COMPARISONS (CASE)
    LPT_BINARY_INTEGERS (CASE)
#undef CASE
    default: return FALSE;
    }
}

gboolean
lpt_compare_f64 (LptOp   op,
                 double  a,
                 double  b,
                 gint64 *out)
{
  switch ((guint) op)
    {
#define CASE(ENUM, expression) case LPT_OP_##ENUM: *out = expression; return TRUE;
    LPT_BINARY_COMPARISONS (CASE)
#undef CASE
    default: return FALSE;
    }
}
