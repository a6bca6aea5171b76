/* lpt-grid.h - where GridSample looks
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include <lpt/lpt-types.h>

/* The place along an axis of @n elements of a coordinate in -1 .. 1: its ends are those of the axis, or with @corners
 * the outermost elements; what is not finite lies before all. */
static inline double
lpt_grid_place (double   v,
                gint64   n,
                gboolean corners)
{
  double x = corners ? (v + 1) / 2 * (double) (n - 1) : ((v + 1) * (double) n - 1) / 2;

  return isfinite (x) ? CLAMP (x, -1e15, 1e15) : -1e15;
}
