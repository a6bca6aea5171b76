/* lpt-requant.h - how the integer nodes of a lowered graph round
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_REQUANT_H
#define LPT_REQUANT_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * lpt_graph_set_requant:
 * @spec: "MODE" (the graph's default), "OP:MODE" (an op's name, or conv, group_conv, deconv, mul, ...),
 *   or "node=NAME:MODE". The node's mode counts before the op's, the op's before the graph's.
 * Changes how integer nodes round, nothing else: one lowered graph runs under any mode.
 * Returns: FALSE + error when there is no such mode, op or node; the graph is then unchanged.
 */
LPT_EXPORT gboolean lpt_graph_set_requant (LptGraph *graph, const char *spec, GError **error);

G_END_DECLS

#endif
