/* lpt-int-litert.h - TensorFlow Lite's own integer functions, where they are no rescaled sums
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-int.h"

/* The code of output for @q; sigmoid and tanh of 16 bits. */
gint32   lpt_int_litert_absolute     (const LptIntScale *x, const LptIntScale *y, gint32 q);
gint32   lpt_int_litert_inverse_root (const LptIntScale *x, const LptIntScale *y, gint32 q);
gint32   lpt_int_litert_sigmoid      (const LptIntScale *x, const LptIntScale *y, gint32 q);
gint32   lpt_int_litert_tanh         (const LptIntScale *x, const LptIntScale *y, gint32 q);

/* By the table, in 2^-15: @v in steps of 1 / (3 * 4096). */
gint32   lpt_int_litert_sigmoid16 (gint32 v);
gint32   lpt_int_litert_tanh16    (gint32 v);

/* Softmax of 16-bit codes. */
typedef struct
{
  LptMultiplier scale;            /* to 10 / 65535 */
  gint16        exps[513];        /* e^x from -10 to 0 */
  gint16        inverses[513];    /* 1 / (1 + x) from 0 to 1 */
} LptIntSoftmax16;

void lpt_int_softmax16_init (LptIntSoftmax16 *sm, double scale);
/* @n codes @step apart. */
void lpt_int_softmax16_row  (const LptIntSoftmax16 *sm, const gint16 *x, gint16 *y, gint64 n, gint64 step);
