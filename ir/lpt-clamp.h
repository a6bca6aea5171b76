/* lpt-clamp.h - the bounds of Clamp
 *
 * y = min (max (x, low), high): with bounds the wrong way around that is high for every x, as if low was high, and a
 * bound that is NaN bounds nothing. Whoever computes a Clamp reads its bounds here, so that all do the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

static inline void
lpt_clamp_bounds (const LptNode *node,
                  double        *low,
                  double        *high)
{
  const LptClampAttrs *attrs = node->attrs;

  *high = isnan (attrs->max) ? INFINITY : attrs->max;
  *low = isnan (attrs->min) ? -INFINITY : MIN (attrs->min, *high);
}

/* The same for integers of @dtype: rounded inwards, and within the type. */
static inline void
lpt_clamp_bounds_i64 (const LptNode *node,
                      LptDType       dtype,
                      gint64        *low,
                      gint64        *high)
{
  const double least = lpt_dtype_min (dtype), most = lpt_dtype_max (dtype);
  double bound[2];
  gint64 *to[2] = { low, high };
  gint i;

  lpt_clamp_bounds (node, &bound[0], &bound[1]);
  bound[0] = ceil (bound[0]);
  bound[1] = floor (bound[1]);
  for (i = 0; i < 2; i++)
    {
      double v = CLAMP (bound[i], least, most);

      *to[i] = v >= 0x1p63 ? G_MAXINT64 : v < -0x1p63 ? G_MININT64 : (gint64) v;
    }
  *low = MIN (*low, *high);
}
