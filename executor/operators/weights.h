/* weights.h - constant 8-bit weights of products: scale and zero point of each output channel, what zero points add to
 * the sums
 *
 * With x in u8 form of zero point Z and stored weights of zero point W (u8 weights are stored as w - 128):
 *     bias'[n] = bias[n] - Z * column sum[n] + K * Z * W[n]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"

typedef struct
{
  const LptArray *array;
  gsize   channels;          /* of all groups */
  double *scale;             /* [channels] */
  gint32 *zero;              /* [channels], of the stored form */
} LptWeightChannels;

/* The data of @op are no constant, its weights are such; else a remark says what is not. */
gboolean lpt_reads_codes_with_weights (LptProgramOp *op);
gboolean lpt_is_integer_weights     (const LptProgramValue *value);
/* @grouped: the first axis counts the groups. FALSE: scales or zero points vary in another way. */
gboolean lpt_weight_channels_init   (LptWeightChannels *weights, const LptProgramValue *value, gboolean grouped, gsize groups, gsize channels);
void     lpt_weight_channels_clear  (LptWeightChannels *weights);

/* The input's zero points in u8 form, one for @per output channels each. */
typedef struct
{
  const gint32 *of;
  gsize         per;
} LptInputZeros;

/* Of each column of products: the sum of its stored weights, and where the epilogue's bias and zero points go. */
typedef struct
{
  const gint32 *col_sum;
  gint32       *bias, *weight_zp;
} LptSumChannels;

/* The bias and the zero points of @epilogue, of sums of @taps products; @weights: NULL where the stored ones have zero
 * point 0. Returns a bound of the sums. */
double   lpt_fold_zero_points       (LptEpilogue *epilogue, const LptSumChannels *sums, gsize channels, const LptWeightChannels *weights,
                                     const LptArray *bias, LptInputZeros zeros, gsize taps);
