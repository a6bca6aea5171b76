/* lpt-convert-bounds.h - how a real number becomes an integer: the interval that it is cut to, what counts as an integer
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

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

/* x counts as the integer nearest to it within slack + share |x| (eval/real/convert.c). */
typedef struct
{
  double slack, share;
} LptConvertNear;

/* Of a Convert of real numbers */
LptConvertNear lpt_convert_near (LptNode *convert);
