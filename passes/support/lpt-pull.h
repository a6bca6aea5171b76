/* passes/support/lpt-pull.h - bring a data movement (Reshape, Transpose) in front of the dequantization of weights
 *
 *     Move (Multiply (Subtract (Convert (w), z), s))  =>  Multiply (Subtract (Convert (Move (w)), z'), s')
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include "passes/core/lpt-rewriter.h"

/* The weights @tensor after the movement, of shape @to; a new reference, NULL where it cannot be made. */
typedef LptTensor *(*LptPullWeights) (LptTensor *tensor, const LptShape *to, gconstpointer order);

/* The constant @tensor, broadcast on @from, as it is broadcast on @to after the movement; a new reference, NULL when it
 * cannot be. */
typedef LptTensor *(*LptPullConstant) (LptTensor *tensor, const LptShape *from, const LptShape *to,
                                       gconstpointer order);

/* Is @node the end of Multiply ([Subtract] (Convert (constant of i8 or u8))) ? */
gboolean lpt_pull_stands_on_weights (LptNode *node);

/* Moves @node, of static shape, up one operation after the other until it ends in the constant, or until a constant
 * cannot follow (which is declined by name). @order is passed to @move and @follow. TRUE when the graph changed. */
gboolean lpt_pull_through_dequantization (LptRewriter    *rw,
                                          LptNode        *node,
                                          LptPullWeights  move,
                                          LptPullConstant follow,
                                          gconstpointer   order);
