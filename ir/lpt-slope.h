/* lpt-slope.h - how the slope of PRelu lies along its data
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SLOPE_H
#define LPT_SLOPE_H

#include <lpt/lpt-types.h>

/* [C] lies along axis 1 of data that have C channels; other slopes broadcast. */
static inline gboolean
lpt_slope_is_by_channel (const LptShape *x,
                         const LptShape *slope)
{
  return slope->rank == 1 && x->rank >= 2 && slope->dims[0] == x->dims[1];
}

/* The same, where lengths may not be known before a run. */
static inline gboolean
lpt_slope_may_be_by_channel (const LptShape *x,
                             const LptShape *slope)
{
  return slope->rank == 1 && x->rank >= 2 &&
         (slope->dims[0] == LPT_DYNAMIC || x->dims[1] == LPT_DYNAMIC || slope->dims[0] == x->dims[1]);
}

#endif
