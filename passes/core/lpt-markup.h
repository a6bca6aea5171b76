/* lpt-markup.h - what the markup passes share: boxes of marks and how they spread
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_MARKUP_H
#define LPT_MARKUP_H

#include "passes/support/lpt-layer.h"

G_BEGIN_DECLS

/* Which mark of a node spreads. */
typedef enum { LPT_SPREAD_PRECISIONS, LPT_SPREAD_AVG_POOL, LPT_SPREAD_INTERVAL, LPT_SPREAD_ALIGNMENT } LptSpread;

/* Called for every node, bodies included, in the order from the results: what is met first decides the type of a
 * region, and must not be another one after a rewrite made new nodes. */
typedef void (*LptMarkFunc) (LptRewriter *rw, LptNode *node);
gboolean lpt_markup_each (LptRewriter *rw, LptGraph *graph, LptMarkFunc func, GError **error);

/* The node that a mark on input @index comes from: its producer, or the FakeQuantize behind a chain; an Add of a
 * constant that becomes part of the chain is looked through. NULL = absent input. */
LptNode *lpt_markup_source (LptRewriter *rw, LptNode *node, guint index);
/* Box of @what on @node: on the output of a FakeQuantize for precisions, else on the node. */
LptBox  *lpt_markup_box    (LptNode *node, LptSpread what);
/* Is input @index marked with an empty list: never low here? */
gboolean lpt_input_is_disabled (LptNode *node, guint index);
gboolean lpt_node_has_disabled_input (LptNode *node);

/**
 * lpt_markup_spread:
 * PropagateThroughPrecisionPreserved: a preserved @node joins the boxes of all its sources.
 * Returns: whether it found one
 */
gboolean lpt_markup_spread (LptRewriter *rw, LptNode *node, LptSpread what);

/* An empty list on an input, a list on inputs that share one choice. */
void     lpt_markup_disable_input (LptNode *node, guint index);

/* Is there such an operation, bodies included? */
gboolean lpt_graph_has (LptGraph *graph, LptOp op);

/* Is @op in the list of operations that LPT supports? */
gboolean lpt_markup_supports (LptNode *node);

G_END_DECLS

#endif
