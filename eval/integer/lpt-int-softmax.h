/* lpt-int-softmax.h - Softmax and LogSoftmax of codes, for kernels that do rows of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-int.h"

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
  /* Softmax of 8-bit codes in fixed point, or NULL: the exponentials to be summed by max - q; lpt_int_softmax_codes()
   * knows the rest. */
  const gint32 *rounded;
  LptIntScale  x, y;
} LptIntSoftmaxRule;

void lpt_int_softmax_rule (const LptIntOp *op, LptIntSoftmaxRule *rule);
/* Codes by max - q up to @reach, which is at most 255, of a row whose exponentials have this sum. */
void lpt_int_softmax_codes (const LptIntOp *op, gint64 sum, gint reach, gint32 *codes);
/* The same of @n elements, each with its max - q. */
void lpt_int_softmax_some (const LptIntOp *op, gint64 sum, gsize n, const guint8 *distances, gint32 *codes);
/* Rows [@from, @to) of those along the axis, inner axes first. */
void lpt_int_softmax_rows (const LptIntOp *op, const LptIntArray *x, const LptIntArray *y, gint64 from, gint64 to);
