/* held-integers.h - small integers of OpenVINO IRs for forms in which such integers wrap
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_HELD_INTEGERS_H
#define LPT_HELD_INTEGERS_H

#include <lpt/lpt-graph.h>

/* Does it compute integers of 16 bits or fewer without quantization, which may leave their type? */
gboolean lpt_node_is_held      (const LptNode *node);
/* Does an op of @graph, which comes of an IR, compute small integers? */
gboolean lpt_graph_has_held    (const LptGraph *graph);
/* They are real numbers then, which saturate where others read them. FALSE + error: its types do not fit. */
gboolean lpt_graph_settle_held (LptGraph *graph, GError **error);

#endif
