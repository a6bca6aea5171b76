/* lpt-reduction.h - the scalar functions of reductions, from reductions.def
 *
 * LPT_OP_REDUCE_... only. Inline, as they are called for each element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <math.h>

#include <lpt/lpt-op.h>

static inline double
lpt_reduction_first (LptOp op)
{
  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) case LPT_OP_REDUCE_##op: return first;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default: return 0;
    }
}

static inline double
lpt_reduction_next (LptOp  op,
                    double sum,
                    double x)
{
  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) case LPT_OP_REDUCE_##op: return next;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default: return sum;
    }
}

/* @n: elements there were. */
static inline double
lpt_reduction_end (LptOp  op,
                   double sum,
                   gint64 n)
{
  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) case LPT_OP_REDUCE_##op: return end;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default: return sum;
    }
}

/* lpt_reduction_end () of @count sums, rounded to singles. */
static inline void
lpt_reduction_end_all (LptOp         op,
                       gsize         count,
                       const double *sums,
                       gint64        n,
                       float        *y)
{
  gsize i;

  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i)                                          \
    case LPT_OP_REDUCE_##op:                                                                                 \
      for (i = 0; i < count; i++)                                                                            \
        {                                                                                                    \
          const double sum = sums[i];                                                                        \
                                                                                                             \
          y[i] = (float) (end);                                                                              \
        }                                                                                                    \
      break;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default:
      break;
    }
}

static inline gint64
lpt_reduction_first_i64 (LptOp op)
{
  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) case LPT_OP_REDUCE_##op: return first_i;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default: return 0;
    }
}

static inline gint64
lpt_reduction_next_i64 (LptOp  op,
                        gint64 sum,
                        gint64 x)
{
  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) case LPT_OP_REDUCE_##op: return next_i;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default: return sum;
    }
}

/* @n: elements there were. */
static inline gint64
lpt_reduction_end_i64 (LptOp  op,
                       gint64 sum,
                       gint64 n)
{
  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) case LPT_OP_REDUCE_##op: return end_i;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default: return sum;
    }
}
