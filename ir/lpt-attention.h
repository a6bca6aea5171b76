/* lpt-attention.h - attention as products and a Softmax
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* Takes a node whose inputs and attributes are set; returns it with types and shapes. */
typedef LptNode *(*LptFinishNode) (gpointer data, LptNode *node);

/**
 * lpt_attention_spell:
 * @node: ScaledDotProductAttention (q, k, v, mask, scale)
 * @finish: called for each new node, in order
 *
 *     y = MatMul (Softmax (MatMul (q * scale, k') + mask), v)
 *
 * on the last two axes, in the type of q; 1 / sqrt (E) where no scale is given; Select (mask, .., -inf) where the mask
 * is boolean, or causal: key j for query i where j <= i. The sums that scale multiplies are rounded elsewhere: equal in
 * real arithmetic.
 * Returns: (nullable): the node of y, its name derived from the op's; NULL: types are mixed, or ranks or lengths that
 *   the rule needs are not known
 */
LptNode *lpt_attention_spell (LptGraph *graph, LptNode *node, LptFinishNode finish, gpointer data);

/* Every one of @graph and its bodies for which that can be done. */
gboolean lpt_graph_spell_attention (LptGraph *graph, GError **error);
/* Is there one? */
gboolean lpt_graph_has_attention   (LptGraph *graph);
