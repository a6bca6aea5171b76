/* lpt-evaluate.h - values of small constant and shape sub-graphs
 *
 * Shapes that a model computes (ShapeOf, Gather, Multiply, Concat, Reshape ...)
 * are constants as soon as the input shapes are known. These functions compute
 * them, element by element: what depends on a dynamic dimension is unknown, the
 * rest is known. Nothing larger than LPT_EVALUATE_LIMIT elements is looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EVALUATE_H
#define LPT_EVALUATE_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

#define LPT_EVALUATE_LIMIT 4096
#define LPT_UNKNOWN        G_MININT64

/**
 * lpt_value_evaluate:
 * The tensor of a Const, whatever its size, or the result of a small sub-graph
 * over Consts and shapes when every element is known.
 * Returns: (transfer full): NULL when the value is not constant
 */
LptTensor *lpt_value_evaluate (LptValue *value);

/**
 * lpt_node_fold:
 * For readers, whose files write shapes as chains of operators: a Constant of @graph under the name of @node, in place
 * of its only output, when all that it reads is known, carries no quantization and is not marked to be kept. Real
 * numbers only from Consts.
 * Returns: (transfer none): that Constant's output, or the node's
 */
LptValue  *lpt_node_fold      (LptGraph *graph, LptNode *node);

/* The elements as integers (real numbers truncated), LPT_UNKNOWN where not known; FALSE when nothing is known
 * of the value, not even how many elements it has, or it is too large. @out must be zeroed or a list. */
gboolean   lpt_value_ints     (LptValue *value, LptInts *out);
/* The same as real numbers, NaN where not known. */
gboolean   lpt_value_reals    (LptValue *value, LptFloats *out);

G_END_DECLS

#endif
