/* lpt-explain-types.h - in which types the nodes that stand for an op compute, in words
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EXPLAIN_TYPES_H
#define LPT_EXPLAIN_TYPES_H

#include <lpt/lpt-graph.h>

/* @node and the other @nodes (element-type const LptNode) stand for one op of @source: in which types they compute,
 * that of @node first, each type of codes once. */
char *lpt_explain_types (LptGraph *source, const LptNode *node, GPtrArray *nodes);

#endif
