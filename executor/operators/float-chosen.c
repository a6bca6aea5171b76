/* float-chosen.c - products with matrices that a Gather chooses: experts of a mixture
 *
 *     MatMul (x [T, m, K], Gather (w [E, K, N], i [T]))
 *
 * Each product reads its matrix where it lies in w, no copy is made. The Gather ends with an error where an index is
 * outside, which a form cannot: so only indices that are known to be inside (index-range.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/float.h"

LptProgramOp *
lpt_float_chosen_by (const LptProgramOp *op)
{
  LptProgramOp *gather = op->in[1]->def;
  const LptShape *w, *i;
  const LptTensor *axis;

  if (gather == NULL || gather->node->op != LPT_OP_GATHER || !lpt_program_is_free (gather) || gather->folded ||
      lpt_program_reader (op->in[1]) != op || LPT_ATTRS (gather->node, LptGatherAttrs)->batch_dims != 0)
    return NULL;
  axis = lpt_node_const_in (gather->node, 2);
  w = &gather->in[0]->array.shape;
  i = &gather->in[1]->array.shape;
  if (axis == NULL || lpt_tensor_count (axis) != 1 || lpt_tensor_get_i64 (axis, 0) != 0 || w->rank != 3 ||
      i->rank != 1 || !lpt_shape_is_static (w) || !lpt_shape_is_static (i) || !lpt_program_is_real (gather->in[0]) ||
      !lpt_indices_are_below (gather->in[1], w->dims[0]))
    return NULL;

  return gather;
}
