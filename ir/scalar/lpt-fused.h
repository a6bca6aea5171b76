/* lpt-fused.h - chains of fused multiply-adds of floats, with the same bits on every processor
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FUSED_H
#define LPT_FUSED_H

#include <glib.h>

/* sum[i * step] += w x[i * x_step] for @n elements of @sum, which are floats: each product and sum is rounded once. */
void lpt_fused_row (double *sum, gint64 step, const float *x, gint64 x_step, gint64 n, float w);

/* sum[j] = a . b[j], chains along @k from 0, for @n <= 4 rows of @b. */
void lpt_fused_dots (const float *a, gint64 a_step, const float *b, gint64 k, gint64 n, double *sum);

#endif
