/* lpt-int-softmax.h - Softmax and LogSoftmax of codes, for kernels that do rows of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-int-litert.h"
#include "executor/kernels/eltwise/eltwise.h"

typedef struct
{
  gboolean     logarithm;
  gint64       axis;
  gboolean     litert;     /* of a Softmax: code (e (1 / (sum e Sy))), halves away from zero */
  /* Of 8-bit codes in float32; NULL: another rule, lpt_int_softmax_rows(). e^(Sx (q - max)) by max - q, and Sx q by q
   * in u8 form.
   *   Softmax     code (e / sum e / Sy)
   *   LogSoftmax  code ((Sx q - (Sx max + ln sum e)) / Sy)
   * sums from the first element to the last, all in float32. */
  const float *exps, *scaled;
  /* Softmax of 8-bit codes in fixed point, or NULL: exponentials by max - q in Q0, and what of them is summed. */
  const gint32 *fixed, *rounded;
  LptIntScale  x, y;
  const LptIntSoftmax16 *wide;     /* of 16-bit codes in 16-bit fixed point; or NULL */
} LptIntSoftmaxRule;

void lpt_int_softmax_rule (const LptIntOp *op, LptIntSoftmaxRule *rule);
/* The codes of a row whose exponentials have this @sum; FALSE: by lpt_int_softmax_codes() alone. */
gboolean lpt_int_softmax_shares (const LptIntOp *op, gint64 sum, LptShares *shares);
/* The same by max - q up to @reach, which is at most 255. */
void lpt_int_softmax_codes (const LptIntOp *op, gint64 sum, gint reach, guint8 *codes);
/* Rows [@from, @to) of those along the axis, inner axes first. */
void lpt_int_softmax_rows (const LptIntOp *op, const LptIntArray *x, const LptIntArray *y, gint64 from, gint64 to);
