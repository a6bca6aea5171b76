/* lpt-dtype-holds.h - which element types hold all whole numbers of another
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_DTYPE_HOLDS_H
#define LPT_DTYPE_HOLDS_H

#include <lpt/lpt-types.h>

/* Does @wide hold every number of @narrow? Real types do, but for their precision. */
static inline gboolean
lpt_dtype_holds (LptDType wide,
                 LptDType narrow)
{
  if (lpt_dtype_is_real (wide))
    return TRUE;

  return lpt_dtype_is_integer (wide) && lpt_dtype_is_integer (narrow) &&
         lpt_dtype_min (wide) <= lpt_dtype_min (narrow) && lpt_dtype_max (wide) >= lpt_dtype_max (narrow);
}

#endif
