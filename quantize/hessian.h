/* hessian.h - second moments of what layers read, in codes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_HESSIAN_H
#define LPT_HESSIAN_H

#include "quantize/quantizer.h"

/* Of one group: d = inputs * places columns, sums of q_a q_b over places of the result; q without zero point. */
typedef struct
{
  gint64  d, groups;
  gint32 *sums;          /* groups * d * d, the upper triangles */
} LptHessian;

/* Rounds the weights of one output channel: @codes in and out, @w what they stand for in steps, d values each;
   @h: d * d, symmetric. */
typedef void (*LptRoundRow) (gint64 d, const double *h, const double *w, double *codes, double low, double high,
                             gpointer workspace);
/* What a row needs, worked out once per group (nullable); freed by g_free(). FALSE: the rows of this group stay
   nearest. */
typedef gboolean (*LptRoundPrepare) (gint64 d, const double *h, gpointer *workspace);

/* Rounds the weights of every layer by @row; layers come in turns that keep a few megabytes of moments, or one
   layer's. */
gboolean lpt_quantize_round_rows (LptQuantizer *q, LptRoundPrepare prepare, LptRoundRow row, GError **error);

#endif
