/* fit.h - the unit of a value: b in the numbers of a
 *
 * Passes move scales and shifts of integers into the ops behind them, so that the integers of a lowered graph may stand
 * for other multiples than those of the source.
 * What becomes of a value is compared all the same: sums over all elements, and for each channel, say by which a ~ k b
 * + m the squares of what is left are least. One factor for all is preferred, and none at all, where more of them gain
 * little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "report/distance.h"

typedef struct
{
  double n, a, b, aa, bb, ab;
} LptFitSums;

/* Of one axis; `length` 1 = of all elements together. */
typedef struct
{
  gint64      length, inner;      /* inner: elements behind each other of one channel */
  LptFitSums *sums;
} LptFitAxis;

typedef struct
{
  LptFitAxis axes[3];             /* all, the second, the last */
  guint      n_axes;
  double     dd;                  /* as it is */
  gint       chosen;              /* an axis, or -1 = as it is */
  double    *lines;               /* of the chosen axis: k and m of each channel */
} LptFit;

/* @n elements from @first on, of @total. */
void   lpt_fit_add    (LptFit *fit, const LptShape *shape, gint64 total, const float *a, const float *b,
                       gint64 first, gint64 n);
void   lpt_fit_choose (LptFit *fit);
/* @n elements of b from @first on, in the unit of a. */
void   lpt_fit_apply  (const LptFit *fit, float *b, gint64 first, gint64 n);
void   lpt_fit_clear  (LptFit *fit);
