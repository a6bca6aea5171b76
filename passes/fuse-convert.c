/* passes/fuse-convert.c - drop the Convert in front of arithmetic with a constant
 *
 *     Multiply|Subtract|Add (Convert (x), constant)  =>  the same on x, computed in the type of the Convert
 *     FakeQuantize (Convert (constant), ...)         =>  FakeQuantize (constant', ...)
 *
 * A Convert over a constant is folded. Exact: the operation sees the integers as the same real numbers.
 *
 * Refused when
 *   - the Convert does not go to f32 or f16, or comes from another type than an 8, 16, 32 bit integer or a real type;
 *   - it rounds: from a real type of more bits, or from 16 bits and more to f16;
 *   - Subtract of a negative value from an unsigned type;
 *   - the operation is kept from clean-up, or the Convert over a constant is marked to be kept.
 *
 * Golden tests: tests/golden/fuse-convert/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
is_negative_somewhere (LptTensor *tensor)
{
  gint64 i;

  for (i = 0; i < lpt_tensor_count (tensor); i++)
    if (lpt_tensor_get_f64 (tensor, i) < 0)
      return TRUE;

  return FALSE;
}

static gboolean
fold_constant (LptRewriter *rw,
               LptNode     *node,
               LptNode     *convert)
{
  LptTensor *folded;

  if (lpt_layer_is_kept (rw, convert))
    return lpt_rewriter_decline (rw, node, "the Convert of its constant is marked to be kept");
  folded = lpt_fold_value (&convert->out[0]);
  if (folded == NULL)
    return FALSE;
  lpt_node_set_input (node, 0, lpt_rewriter_const (rw, convert->name, folded));
  lpt_rewriter_drop_unused (rw, convert);

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  LptNode *convert = lpt_node_src (node, 0);
  LptNode *fresh;
  LptValue *x;

  if (convert->op != LPT_OP_CONVERT ||
      (convert->out[0].dtype != LPT_DTYPE_F32 && convert->out[0].dtype != LPT_DTYPE_F16))
    return FALSE;
  x = lpt_node_in (convert, 0);
  if ((node->info->flags & LPT_OP_F_AFFINE) != 0 && lpt_node_const_in (node, 1) == NULL)
    return FALSE;
  if (lpt_node_is_const (x->producer))
    return fold_constant (rw, node, convert);
  if ((node->info->flags & LPT_OP_F_AFFINE) == 0)
    return FALSE;
  if (node->flags & LPT_NODE_NO_CLEANUP)
    return lpt_rewriter_decline (rw, node, "it is kept from clean-up");
  /* Integers of 16 bits are rounded to halves, or infinite. */
  if (lpt_dtype_is_integer (x->dtype) && lpt_dtype_bits (x->dtype) > 8 && convert->out[0].dtype == LPT_DTYPE_F16)
    return FALSE;
  if (!lpt_dtype_is_low (x->dtype) &&
      (!lpt_dtype_is_real (x->dtype) || lpt_dtype_bits (x->dtype) > lpt_dtype_bits (convert->out[0].dtype)))
    return FALSE;
  if (node->op == LPT_OP_SUBTRACT && lpt_dtype_kind (x->dtype) == LPT_KIND_UINT &&
      is_negative_somewhere (lpt_node_const_in (node, 1)))
    return lpt_rewriter_decline (rw, node, "it subtracts a negative value from an unsigned type");
  fresh = lpt_layer_arithmetic (rw, node->op, node->name, x, lpt_node_in (node, 1),
                                convert->out[0].dtype, node->out[0].dtype);
  fresh->flags |= node->flags & (LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE | LPT_NODE_BIAS);
  lpt_node_take_over (fresh, node, "/replaced");
  lpt_rewriter_replace (rw, &node->out[0], &fresh->out[0], NULL);
  lpt_rewriter_visit (rw, fresh);

  return TRUE;
}

const LptPass lpt_pass_fuse_convert = {
  .name      = "fuse-convert",
  .doc       = "Drop the Convert in front of arithmetic with a constant",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY, LPT_OP_SUBTRACT, LPT_OP_ADD, LPT_OP_FAKE_QUANTIZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
