/* lpt-float-norm.h - NormalizeL2, MVN, GroupNormalization, BatchNormInference and LRN, as the plain ops and their form
 * do them
 *
 * A unit is what lpt-float-reduce.h makes one of, a row, a group of channels of an image, a channel of an image, or all
 * channels of some pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-float-reduce.h"

typedef struct LptFloatNorm LptFloatNorm;

typedef void (*LptFloatNormRun) (const LptFloatNorm *n, const LptFloatKernel *kernel, const float *const *in, float *y, gsize unit);

struct LptFloatNorm
{
  LptFloatNormRun   run;
  guint             n_in;            /* x, then scale and bias, or scale, bias, mean and variance of channels */
  gsize             units;
  double            eps;
  gboolean          adds;            /* NormalizeL2: eps, otherwise it is the least sum */
  gboolean          outside, variance;         /* MVN: eps outside of the root; there is a root */
  LptFloatReduction sums;            /* NormalizeL2 */
  gsize             channels, inner; /* of an image, elements of each */
  gsize             group;           /* channels of a group */
  gsize             back, on;        /* LRN: how far the window reaches to both sides */
  double            alpha, beta, bias;
};

/* x / root of the sum of x^2 over the axes of @set and eps, in f64. */
void     lpt_float_norm_l2    (LptFloatNorm *n, const LptShape *shape, const gboolean *set, double eps, gboolean adds);
/* (x - mean) / sqrt (var + eps) in f64, rounded, times scale, rounded, plus bias. FALSE: channels do not fit groups. */
gboolean lpt_float_norm_group (LptFloatNorm *n, const LptShape *shape, gint64 groups, double eps);
/* (x - mean) / sqrt (var + eps), or / (sqrt (var) + eps), or x - mean, of the axes from @axis on, in f64. */
void     lpt_float_norm_rows  (LptFloatNorm *n, const LptShape *shape, gint axis, double eps, gboolean outside,
                               gboolean variance);
/* (x - mean) * (scale / sqrt (variance + eps)) + bias in f64. FALSE: no channels. */
gboolean lpt_float_norm_batch (LptFloatNorm *n, const LptShape *shape, double eps);
/* x / (bias + alpha * sum of x^2)^beta in f64, sums of @size elements around each along @axis. FALSE: no such
 * window. */
gboolean lpt_float_norm_lrn   (LptFloatNorm *n, const LptShape *shape, gint axis, gint64 size, double alpha, double beta, double bias);
