/* lpt-check.h - numbers of a model that make no sense
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_CHECK_H
#define LPT_CHECK_H

#include <lpt/lpt-graph.h>

/**
 * lpt_graph_check_scales:
 * For graphs from files. Refuses intervals of FakeQuantize that are not finite or too wide for f32, and quantization
 * whose scale is not finite or negative, or zero on a value that is no constant (a constant channel of zeros may have it).
 * Intervals of no width are right: everything becomes one of two values.
 * Returns: FALSE + `FILE:LINE: node "NAME": what`
 */
gboolean lpt_graph_check_scales (LptGraph *graph, GError **error);

#endif
