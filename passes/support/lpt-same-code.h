/* lpt-same-code.h - which difference between real numbers and integers is only what single precision rounds?
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SAME_CODE_H
#define LPT_SAME_CODE_H

#include <lpt/lpt-types.h>

/* Is code @x of @dtype the integer @whole but for what single precision leaves of the numbers that it was made of,
 * 2^-22 of the distance between the farthest codes? Such a fraction of a step turns no code, nor sums of thousands of
 * them, but at a tie; a larger one may. With 16 bits no more than a thousandth of a step counts as that. */
gboolean lpt_same_code (double x, double whole, LptDType dtype);
/* Would a number of @x steps that is not 0 be taken for 0 beside codes of @dtype? What keeps a divisor or a root away
 * from zero is often that little, and then it counts: it is added, or held against, as a real number. */
gboolean lpt_is_lost_beside_codes (double x, LptDType dtype);
/* Are all of @n numbers that, but for zeros, of which not all are? */
gboolean lpt_are_lost_beside_codes (const double *x, gint64 n, LptDType dtype);
/* Is @x, a number of steps of sums, what single precision leaves of as many as @sum? A millionth, below which no code
 * of them changes, or eight roundings of @sum, which those of its reader hide; at most a thousandth. A sum that is 0
 * takes its sign, and a comparison its answer, from what is more. */
gboolean lpt_is_rest_of_sum (double x, double sum);

#endif
