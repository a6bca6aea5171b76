/* lpt-reduce.h - dequantization in front of reductions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_REDUCE_H
#define LPT_REDUCE_H

#include "passes/support/lpt-layer.h"

G_BEGIN_DECLS

/**
 * lpt_reduce_match:
 * The chain in front of a reduction, and its constants behind it. Declines when it varies along a reduced axis.
 * @size: number of elements that one output element is made of, -1 = dynamic; may be NULL
 */
gboolean lpt_reduce_match (LptRewriter *rw, LptNode *node, LptDequant *dq, LptChainConstants *constants, gint64 *size);

G_END_DECLS

#endif
