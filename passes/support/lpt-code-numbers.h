/* lpt-code-numbers.h - scales and zero points of codes that come again and again
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_CODE_NUMBERS_H
#define LPT_CODE_NUMBERS_H

#include <lpt/lpt-graph.h>

/* A number for each code, in the order in which these lie: @run codes have one, and @n numbers come again and again.
 * n * run divides the number of all codes. */
typedef struct
{
  float  *v;       /* owned */
  gint64  n, run;
} LptCodeNumbers;

/* Those of @tensor, or of the constant @value, broadcast to @shape. FALSE: they do not fit, or it is computed. */
gboolean lpt_code_numbers_spread (LptTensor *tensor, const LptShape *shape, LptCodeNumbers *all);
gboolean lpt_code_numbers_of     (LptValue *value, const LptShape *shape, LptCodeNumbers *all);
float    lpt_code_numbers_at     (const LptCodeNumbers *a, gint64 code);
/* Do @n codes, every @stride, from @a on have other numbers than those from @b on? */
gboolean lpt_code_numbers_differ (const LptCodeNumbers *all, gint64 n, gint64 stride, gint64 a, gint64 b);
/* Are all of them @number? None are 0. */
gboolean lpt_code_numbers_are    (const LptCodeNumbers *all, float number);
/* How many codes have the same numbers of both, and after how many these come again; @b may have none. */
gint64   lpt_code_numbers_run    (const LptCodeNumbers *a, const LptCodeNumbers *b);
gint64   lpt_code_numbers_period (const LptCodeNumbers *a, const LptCodeNumbers *b);
/* The same said by @n numbers for @run codes each. FALSE: no memory. */
gboolean lpt_code_numbers_refine (LptCodeNumbers *a, gint64 n, gint64 run);

#endif
