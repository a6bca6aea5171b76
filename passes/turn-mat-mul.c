/* passes/turn-mat-mul.c - quantized constants of MatMul on its right
 *
 *     MatMul (w, x)  =>  Transpose (MatMul (Transpose (x), w))        last two axes; w by its attribute
 *
 * where w is a constant as codes, or one that a FakeQuantize rounds (adjacency of a graph network, a filter bank, the
 * mixing of tokens), and x is computed. Rules for weights ask for them on input 1, as OpenVINO's do: there a scale per
 * row of w is one per output channel, and a zero point of x becomes a constant behind the product. An Add of one
 * constant per row, which alone reads the product, comes in front of the Transpose and so is its bias. Exact, as
 * (w x)' = x' w'.
 *
 * Left alone: constants without quantization, or as codes with one scale, which take part in a product of two values as
 * they are, unless x is one column, which then is a row that meets rows of weights; operands of rank 0 or 1 or without
 * a known rank; a MatMul that is to stay real, or computes on codes.
 *
 * Golden tests: tests/golden/turn-mat-mul/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-product.h"
#include "passes/support/lpt-restricted.h"

static LptValue *
swap_last_axes (LptRewriter *rw,
                LptValue    *value,
                const char  *name)
{
  /* Not known where what is in front could not be built: the rewriter has the error. */
  const guint rank = (guint) MAX (value->shape.rank, 0);
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

/* The constant for each row, or one for all, that the only reader of @y adds, for what is turned; NULL: there is
 * none. */
static LptTensor *
turned_bias (LptValue *y)
{
  const gint rows = y->shape.rank - 2;
  LptNode *add = lpt_value_n_uses (y) == 1 ? lpt_value_use (y, 0)->node : NULL;
  LptTensor *bias;
  LptShape shape;

  if (add == NULL || !lpt_product_is_bias (add, y, rows, y->shape.dims[rows]))
    return NULL;
  bias = lpt_node_const_in (add, lpt_node_in (add, 0) == y ? 1 : 0);
  shape = *lpt_tensor_shape (bias);
  if (shape.rank >= 2)
    {
      shape.dims[shape.rank - 1] = shape.dims[shape.rank - 2];
      shape.dims[shape.rank - 2] = 1;
    }

  return lpt_tensor_reshape (bias, &shape, NULL);
}

/* One column for each matrix: turning moves nothing, and rows of weights meet a row of data. */
static gboolean
is_column (const LptValue *x,
           gboolean        transposed)
{
  return x->shape.dims[x->shape.rank - (transposed ? 2 : 1)] == 1;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *matmul)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (matmul, LptMatMulAttrs);
  const LptRestriction *restriction = lpt_config_restriction (lpt_rewriter_config (rw), matmul);
  LptValue *w = lpt_node_in (matmul, 0), *x = lpt_node_in (matmul, 1);
  g_autofree char *name = g_strconcat (matmul->name, "/turned", NULL);
  LptTensor *bias;
  LptNode *fresh, *last = matmul;

  if (w->shape.rank < 2 || x->shape.rank < 2 || !lpt_dtype_is_real (w->dtype) ||
      !lpt_dtype_is_real (matmul->out[0].dtype) || !lpt_value_is_constant_path (w) || lpt_value_is_constant_path (x) ||
      (!is_column (x, attrs->transpose_b) && (!lpt_value_is_coded (w) || has_one_scale (rw, w))) ||
      (restriction != NULL && lpt_restriction_is_never (restriction)))
    return FALSE;
  /* Products of codes with weights take rows of data: x is turned by an op of its own. */
  if (!attrs->transpose_b)
    {
      g_autofree char *data_name = g_strconcat (matmul->name, "/data", NULL);

      x = swap_last_axes (rw, x, data_name);
    }
  fresh = lpt_node_clone (matmul, matmul->name, 2, (LptValue *[]) { x, w });
  LPT_ATTRS (fresh, LptMatMulAttrs)->transpose_a = FALSE;
  LPT_ATTRS (fresh, LptMatMulAttrs)->transpose_b = !attrs->transpose_a;
  lpt_rewriter_infer (rw, fresh);
  bias = turned_bias (&matmul->out[0]);
  if (bias != NULL)
    {
      g_autofree char *bias_name = g_strconcat (name, "/bias", NULL);

      last = lpt_value_use (&matmul->out[0], 0)->node;
      fresh = lpt_rewriter_add (rw, LPT_OP_ADD, last->name, 2, (LptValue *[]) {
        &fresh->out[0], lpt_rewriter_const (rw, bias_name, bias) });
    }
  lpt_rewriter_replace (rw, &last->out[0], swap_last_axes (rw, &fresh->out[0], name), NULL);

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
