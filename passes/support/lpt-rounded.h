/* lpt-rounded.h - intervals that values were rounded to by a FakeQuantize of one interval
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ROUNDED_H
#define LPT_ROUNDED_H

#include <lpt/lpt-pass.h>

G_BEGIN_DECLS

/* An interval, 0 among it, and how far apart its levels are; 0: there are levels of several distances. */
typedef struct { double lo, hi, step; } LptRounded;

/* What @x was rounded to, with more than @above levels and at most @levels: by a FakeQuantize behind which it was only
 * moved, all inputs of a Concat. FALSE: it was not, or not to one interval. */
gboolean  lpt_rounded_find (const LptValue *x, gint64 above, gint64 levels, LptRounded *rounded);
/* @x rounded to 256 levels from @lo on, @step apart; each stands for what is nearest to it + @shift. */
LptValue *lpt_rounded_add  (LptRewriter *rw, LptValue *x, const char *name, double lo, double step, double shift);

G_END_DECLS

#endif
