/* distance.h - how far two lists of numbers are apart, added up over samples
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

typedef struct
{
  double aa, bb, ab, dd, sum, max;
  gint64 n, nan_a, nan_b;
} LptDistance;

void   lpt_distance_add    (LptDistance *d, const float *a, const float *b, gint64 n);
double lpt_distance_sqnr   (const LptDistance *d);     /* dB; HUGE_VAL: equal */
double lpt_distance_cosine (const LptDistance *d);
