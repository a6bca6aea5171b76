/* passes/turn-mat-mul.c - quantized constants of MatMul on its right
 *
 *     MatMul (w, x)  =>  Transpose (MatMul (x, w))        operands transposed; the order of the last two axes changed
 *
 * where w is a constant as codes, or one that a FakeQuantize rounds (adjacency of a graph network, a filter bank, the
 * mixing of tokens), and x is computed. Rules for weights ask for them on input 1, as OpenVINO's do: there a scale per
 * row of w is one per output channel, and a zero point of x becomes a constant behind the product. Exact, as
 * (w x)' = x' w'.
 *
 * Left alone: constants without quantization, or as codes with one scale, which take part in a product of two values as
 * they are; operands of rank 0 or 1 or without a known rank; a MatMul that is to stay real, or computes on codes.
 *
 * Golden tests: tests/golden/turn-mat-mul/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"

static LptValue *
swap_last_axes (LptRewriter *rw,
                LptValue    *value,
                const char  *name)
{
  const guint rank = (guint) value->shape.rank;
  g_autofree char *order_name = g_strconcat (name, "/order", NULL);
  gint64 order[LPT_MAX_RANK];

  for (guint d = 0; d < rank; d++)
    order[d] = d < rank - 2 ? d : d == rank - 1 ? rank - 2 : rank - 1;

  return lpt_node_out (
    lpt_rewriter_add (rw, LPT_OP_TRANSPOSE, name, 2, (LptValue *[]) {
      value, lpt_rewriter_const (rw, order_name, lpt_tensor_vector_i64 (rank, order)) }));
}

/* Codes with one scale. */
static gboolean
has_one_scale (LptRewriter *rw,
               LptValue    *w)
{
  LptDequant dq;

  return lpt_dequant_find (w, &lpt_rewriter_config (rw)->default_precisions, &dq) && dq.multiply != NULL &&
         lpt_node_is_const (dq.data->producer) && lpt_tensor_is_scalar_like (lpt_dequant_scale (&dq));
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *matmul)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (matmul, LptMatMulAttrs);
  const LptRestriction *restriction = lpt_config_restriction (lpt_rewriter_config (rw), matmul);
  LptValue *w = lpt_node_in (matmul, 0), *x = lpt_node_in (matmul, 1);
  g_autofree char *name = g_strconcat (matmul->name, "/turned", NULL);
  LptNode *fresh;

  if (w->shape.rank < 2 || x->shape.rank < 2 || !lpt_dtype_is_real (w->dtype) ||
      !lpt_dtype_is_real (matmul->out[0].dtype) || !lpt_value_is_constant_path (w) || !lpt_value_is_coded (w) ||
      has_one_scale (rw, w) || lpt_value_is_constant_path (x) ||
      (restriction != NULL && lpt_restriction_is_never (restriction)))
    return FALSE;
  fresh = lpt_node_clone (matmul, matmul->name, 2, (LptValue *[]) { x, w });
  LPT_ATTRS (fresh, LptMatMulAttrs)->transpose_a = !attrs->transpose_b;
  LPT_ATTRS (fresh, LptMatMulAttrs)->transpose_b = !attrs->transpose_a;
  lpt_rewriter_infer (rw, fresh);
  lpt_rewriter_replace (rw, &matmul->out[0], swap_last_axes (rw, &fresh->out[0], name), NULL);

  return TRUE;
}

const LptPass lpt_pass_turn_mat_mul = {
  .name      = "turn-mat-mul",
  .doc       = "Quantized constants of MatMul on its right",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_MATMUL),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
