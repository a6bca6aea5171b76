/* lpt-quant-move.c - quantization behind nodes that move elements
 *
 * One scale stays what it is. Scales along an axis follow a Transpose; a Reshape of weights of groups, [G * O, ...] to
 * [G, O, ...], keeps them along axis 0, a number for each pair of group and channel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-quant-move.h"

#include <lpt/lpt-tensor.h>

gint
lpt_quant_axis_behind (const LptQuant *quant, const LptNode *node)
{
  LptTensor *order = node->op == LPT_OP_TRANSPOSE ? lpt_node_const_in ((LptNode *) node, 1) : NULL;
  if (order != NULL)
    for (gint64 i = 0; i < lpt_tensor_count (order); i++)
      if (lpt_tensor_get_i64 (order, i) == quant->axis)
        return (gint) i;
  return node->op == LPT_OP_RESHAPE && quant->axis == 0 ? 0 : -1;
}

void
lpt_node_hand_on_quant (LptNode *node)
{
  LptValue *x = lpt_node_in (node, 0);
  LptQuant *quant = x != NULL ? x->quant : NULL;
  if (quant == NULL || (quant->n > 1 && lpt_quant_axis_behind (quant, node) < 0))
    return;
  gint axis = quant->n > 1 ? lpt_quant_axis_behind (quant, node) : LPT_QUANT_PER_TENSOR;
  g_autoptr (LptQuant) moved = lpt_quant_new (axis, quant->n, quant->scale, quant->zero_point);
  for (guint i = 0; i < node->n_out; i++)
    if (node->out[i].dtype == x->dtype && node->out[i].quant == NULL)
      lpt_value_set_quant (&node->out[i], moved);
}
