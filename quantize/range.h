/* range.h - intervals and lattices
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_RANGE_H
#define LPT_RANGE_H

#include <lpt/lpt-quantize.h>

#include "quantize/histogram.h"

/* A lattice of @levels values low, low + step, ..., one of them 0. */
typedef struct
{
  guint  levels;
  double step, low, high;
} LptLattice;

/* @symmetric: as far below 0 as above, one value less. */
LptLattice lpt_range_find (const LptHistogram *h, LptRangeMethod method, double percentile, guint levels,
                           gboolean symmetric);
/* The lattice that holds [low, high] and 0: the step is rounded up to 16 bits, so that ends are exact in f32. */
LptLattice lpt_lattice_make (double low, double high, guint levels, gboolean symmetric);
/* @step rounded up to 16 bits. */
double     lpt_lattice_step (double step);

#endif
