/* lpt-check.h - what every reader asks of a graph before it gives it away
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_CHECK_H
#define LPT_CHECK_H

#include <lpt/lpt-graph.h>

/**
 * lpt_graph_check_scales:
 * For graphs from files. Refuses intervals of FakeQuantize that are not finite or too wide for f32, and quantization
 * whose scale is not finite or negative, or zero on a value that is no constant (a constant channel of zeros may have
 * it).
 * Intervals of no width are right: everything becomes one of two values.
 * Returns: FALSE + `FILE:LINE: node "NAME": what`
 */
gboolean lpt_graph_check_scales (LptGraph *graph, GError **error);

/**
 * lpt_value_check_codes:
 * Can @value be codes, as its quantization says? Its type must be integers that are kept as such, and its op one that
 * computes or moves quantities. Plans trust that this holds.
 * Returns: FALSE + what is wrong, without the node
 */
gboolean lpt_value_check_codes  (const LptValue *value, GError **error);
/* The same for all values, bodies included: FALSE + `FILE:LINE: node "NAME": what`. */
gboolean lpt_graph_check_codes  (LptGraph *graph, GError **error);

/**
 * lpt_graph_check_read:
 * @graph: (transfer full) (nullable): what a reader made; NULL, and what @error says of it, is handed on
 * @mark: lpt_memory_mark() from before it began
 * The end of every reader: memory did not lack on the way, quantization is where codes are, and its numbers are good.
 * Outputs of one name become NAME, NAME_2, ...
 * Returns: (transfer full): @graph, or NULL + error
 */
LptGraph *lpt_graph_check_read  (LptGraph *graph, guint mark, GError **error);

#endif
