/* lpt-softmax.h - rows of LogSoftmax
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

/* ln (e^x / sum e^x) of @length numbers @step apart, in f64 and rounded once; @y as @x. */
void lpt_log_softmax_row (gint64 length, gint64 step, const float *x, float *y);
