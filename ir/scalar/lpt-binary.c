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

/* The trait, from the rows: scalar functions know no LptOpInfo. */
static gboolean
has_divisor (LptOp op)
{
  switch ((guint) op)
    {
#define LPT_OP(ENUM, name, min_in, max_in, n_out, traits, attrs, infer, versions, openvino, doc) \
    case LPT_OP_##ENUM: return ((traits) & LPT_OP_F_DIVISOR) != 0;
#include "ir/lpt-ops.def"
    default: return FALSE;
    }
}

gboolean
lpt_binary_i64 (LptOp   op,
                gint64  a,
                gint64  b,
                gint64 *out)
{
  if (b == 0 && has_divisor (op))
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

gboolean
lpt_binary_is_of_integers (LptOp op)
{
  switch ((guint) op)
    {
#define CASE(ENUM, expression) case LPT_OP_##ENUM: return TRUE;
    LPT_BINARY_INTEGERS (CASE)
#undef CASE
    default: return FALSE;
    }
}

LptOp
lpt_binary_inverse (LptOp op)
{
  switch ((guint) op)
    {
#define CASE(ENUM, INVERSE) case LPT_OP_##ENUM: return LPT_OP_##INVERSE;
    LPT_BINARY_INVERSES (CASE)
#undef CASE
    default: return LPT_OP_NONE;
    }
}
