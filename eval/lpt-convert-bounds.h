/* lpt-convert-bounds.h - the interval that a real number is cut to before it becomes an integer
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-types.h>

static inline double
lpt_convert_low (LptDType dtype)
{
  return dtype == LPT_DTYPE_U64 ? 0 : lpt_dtype_min (dtype);
}

/* Of 64 bits the largest double below 2^63. */
static inline double
lpt_convert_high (LptDType dtype)
{
  return dtype == LPT_DTYPE_I64 || dtype == LPT_DTYPE_U64 ? 9223372036854774784.0 : lpt_dtype_max (dtype);
}
