/* lpt-evaluate-node.h - the value of one node with constant inputs
 *
 * For constant folding: passes know the IR only, and this is the one thing that they ask the executor for. It takes
 * and gives tensors, so nothing of plans or arrays leaks into passes, and a folded constant is what the reference
 * executor would compute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/**
 * lpt_node_evaluate:
 * @in: node->n_in tensors, NULL where the input is absent
 * @out: (out): node->n_out tensors of the outputs' element types (transfer full)
 * f32 arithmetic as in the reference executor; results round half to even and saturate into integer types.
 * Returns: FALSE + error: the op cannot run, or refuses these values
 */
gboolean   lpt_node_evaluate       (LptNode *node, LptTensor *const *in, LptTensor **out, GError **error);

/* Would the constant output 0 be more than LPT_CONST_MAX_GROWTH times as large as what it is made of, and more than
 * 1 MiB? A few numbers may ask for gigabytes. As far as its shape is known before. @in (nullable): its inputs, else those of
 * the graph. */
#define LPT_CONST_MAX_GROWTH 16
gboolean   lpt_node_const_grows    (LptNode *node, LptTensor *const *in);
/* Output 0 of a node whose inputs are all Constants. NULL + error (also when one is not). */
LptTensor *lpt_node_evaluate_const (LptNode *node, GError **error);
