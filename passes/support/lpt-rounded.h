/* lpt-rounded.h - intervals that values were rounded to by a FakeQuantize of one interval
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ROUNDED_H
#define LPT_ROUNDED_H

#include <lpt/lpt-pass.h>

G_BEGIN_DECLS

/* The interval, and 0, that @x was rounded to, with more than @above levels and at most @levels: by a FakeQuantize
 * behind which it was only moved, all inputs of a Concat. FALSE: it was not, or not to one. */
gboolean  lpt_rounded_find (const LptValue *x, gint64 above, gint64 levels, double *lo, double *hi);
/* @x rounded to 256 levels from @lo on, @step apart. */
LptValue *lpt_rounded_add  (LptRewriter *rw, LptValue *x, const char *name, double lo, double step);

G_END_DECLS

#endif
