/* lpt-unary.h - the functions of one variable behind the elementwise ops
 *
 * In f64, for tables over 8-bit codes and for real tensors, rounded once to f32; the common ones have kernels for real
 * tensors (executor/kernels/float). Parameters p[] by op:
 *   Clamp         minimum, maximum          Elu     alpha
 *   HardSigmoid   alpha, beta               Selu    alpha, lambda
 *   Gelu, Round   mode (as in lpt-attrs.h)  Swish   beta
 * all others take none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-op.h>

#include "executor/kernels/float/float.h"

#define LPT_UNARY_MAX_PARAMETERS 2

typedef double (*LptUnaryFunc) (double x, const double *p);

/* NULL where @op is not a function of one variable. */
LptUnaryFunc lpt_unary_func (LptOp op);
/* The function of an integer, where it is one; FALSE else, and for Clamp, whose bounds depend on the type. */
gboolean     lpt_unary_i64  (LptOp op, gint64 x, gint64 *y);
/* Length of p[]. */
guint        lpt_unary_n_parameters (LptOp op);
/* The function of the kernel family that computes @op on f32; FALSE where lpt_unary_func () does, in f64. */
gboolean     lpt_unary_map  (LptOp op, const double *p, LptFloatMap *map);

/* @n elements by several steps of @kernel, in f32; @y may be @x. */
typedef void (*LptUnaryLine) (const LptFloatKernel *kernel, const double *p, size_t n, const float *x, float *y);

/* What does that for @op where lpt_unary_map () is FALSE; NULL: nothing. */
LptUnaryLine lpt_unary_line (LptOp op);
