/* lpt-sum-steps.h - the steps in which the sums of a product of codes count
 *
 *     step[o] = step of x * step of w[o]
 *
 * An integer product adds the codes of its bias to its sums: integers without a quantization there count in these
 * steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "ir/lpt-weighted.h"

/* Index into the parameters of a convolution's weights: they may stand for all channels, each channel, each group, or
 * each channel of a group; @group_axis: 0 where the weights have such an axis, else -2. -1: they stand for something
 * else. */
gint64    lpt_weighted_parameter (const LptQuant *quant, gint group_axis, gint64 groups, gint64 per_group,
                                  gint64 channel);
/* Of @node with data of quantization @x and @weights of @w, one for all or along @axis (transfer full). NULL: sums of
 * @node have none, or none that are known. */
LptQuant *lpt_weighted_sum_steps (const LptNode *node, const LptQuant *x, const LptQuant *w, const LptShape *weights,
                                  gint axis);
/* The same scales and zero points, but for what single precision rounds, one for all or as many along their axis. */
gboolean  lpt_quant_same_numbers (const LptQuant *a, const LptQuant *b);
/* Are the real numbers that @node makes no multiples of the steps of @value, one of its outputs, yet? Sums of codes
 * are, and codes that are moved. */
gboolean  lpt_node_leaves_steps  (LptNode *node, const LptValue *value);
