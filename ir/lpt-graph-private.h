/* lpt-graph-private.h - what the files of the graph share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_GRAPH_PRIVATE_H
#define LPT_GRAPH_PRIVATE_H

#include <lpt/lpt-graph.h>

/* Frees the node alone: links and names are the caller's. */
void lpt_node_free      (LptNode *node);
void lpt_node_drop_name (LptNode *node);
/* The nodes that depend on inputs of the graph, on state or on chance, or have bodies (transfer full). */
GHashTable *lpt_graph_varying (LptGraph *graph);

#endif
