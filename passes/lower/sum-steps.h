/* sum-steps.h - products of codes whose biases and sums have the steps in which they count (sum-steps.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef SUM_STEPS_H
#define SUM_STEPS_H

#include <lpt/lpt-graph.h>

/* For formats that read a bias, or sums, by the scale that these have. Returns: something has others; it is only said
 * so unless @change. */
gboolean lpt_graph_settle_sums (LptGraph *graph, gboolean change);

#endif
