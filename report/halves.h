/* halves.h - products of wide data that were split into products of halves, as one product
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* One product, which takes the name of the sum, in the place of each sum of P (h), P (x - h), h = x in fewer codes
 * (passes/split-wide-data.c). For finding places only: its elements are what they were. FALSE + error: a circle. */
gboolean lpt_halves_join (LptGraph *graph, GError **error);
