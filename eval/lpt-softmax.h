/* lpt-softmax.h - LogSoftmax of a row and of columns
 *
 *     y = x - max - ln sum e^(x - max)
 *
 * The powers are single, the sum and what follows it double, rounded once. All levels of the kernels give the same
 * bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

#include "executor/kernels/float/float.h"

/* Columns that are done together. */
#define LPT_LOG_SOFTMAX_COLUMNS 256

/* Of rows of @n numbers, one behind the other; @y is other memory than @x. */
void lpt_log_softmax_rows    (const LptFloatKernel *floats, gsize rows, gsize n, const float *x, float *y);
/* Of each of @columns (LPT_LOG_SOFTMAX_COLUMNS at most), whose @n rows are @ld apart in both. */
void lpt_log_softmax_columns (const LptFloatKernel *floats, gsize n, gsize columns, gsize ld, const float *x, float *y);
