/* lpt-float-reduce.h - reductions of real numbers along any axes, as the plain op and its form do them
 *
 * Axes that are neighbours and treated alike are one. A unit makes one element of the result where the last axis is
 * reduced, a piece of the last axis where that is kept. Elements come in the order of memory; along a last axis that is
 * reduced in sixteen lanes (executor/kernels/float). All in f64, rounded once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-op.h>
#include <lpt/lpt-types.h>

#include "executor/kernels/float/float.h"

/* Elements of a piece of the last axis. */
#define LPT_REDUCTION_PIECE 512

typedef struct
{
  LptOp          op;
  LptFloatReduce reduce;
  gint64         each;                      /* elements that make one */
  /* The axes but the last one: those kept, and those reduced. */
  gint           n_kept, n_reduced;
  gint64         kept[LPT_MAX_RANK], kept_strides[LPT_MAX_RANK];
  gint64         reduced[LPT_MAX_RANK], reduced_strides[LPT_MAX_RANK];
  gboolean       lines;                     /* the last axis is reduced */
  gsize          length;                    /* of the last axis */
  gsize          pieces, units;
  gsize          times;                     /* pieces of the last axis, or whole ones, that make a unit */
} LptFloatReduction;

/* FALSE: the op is none of real numbers. */
gboolean lpt_float_reduction_of   (LptOp op, LptFloatReduce *reduce);
/* Over the axes of @set; FALSE: see lpt_float_reduction_of(). */
gboolean lpt_float_reduction_init (LptFloatReduction *r, LptOp op, const LptShape *shape, const gboolean *set);
/* Units [@from, @to). */
void     lpt_float_reduction_run  (const LptFloatReduction *r, const LptFloatKernel *kernel, const float *x, float *y, gsize from, gsize to);
/* The sums of a unit, without what is done with them at the end, as many as are returned; @at: where it begins. */
gsize    lpt_float_reduction_sums (const LptFloatReduction *r, const LptFloatKernel *kernel, const float *x, gsize unit, gint64 *at, double *sums);
/* Where piece @i of a unit lies from there. */
gint64   lpt_float_reduction_line (const LptFloatReduction *r, gsize i);
