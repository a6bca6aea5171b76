/* passes/convert-subtract.c - write a difference with a constant as a sum
 *
 *     Subtract (x, c)  =>  Add (x, -c)
 *
 * so that dequantization moves through it, a bias is seen as one, and sequences of constants can be joined: only Add
 * has rules for that. Exact: x - c and x + (-c) are the same number.
 *
 * A zero point is left alone, without a remark: the Subtract of a dequantization (marked so, or on integers, with a
 * Convert between them or not), and what is kept from clean-up.
 *
 * Golden tests: tests/golden/convert-subtract/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
is_zero_point (LptNode *subtract)
{
  LptNode *source = lpt_node_src (subtract, 0);

  return (subtract->flags & (LPT_NODE_DEQUANTIZATION | LPT_NODE_NO_CLEANUP)) ||
         (source->op == LPT_OP_CONVERT && !lpt_dtype_is_real (lpt_node_in (source, 0)->dtype));
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *subtract)
{
  g_autofree char *name = NULL;
  g_autoptr (LptTensor) zero = NULL;
  LptTensor *constant = lpt_node_const_in (subtract, 1), *minus;
  LptDType dtype = subtract->out[0].dtype;
  LptValue *in[2] = { lpt_node_in (subtract, 0), NULL };
  LptNode *fresh;

  if (constant == NULL || lpt_node_is_const (in[0]->producer) || !lpt_dtype_is_real (dtype) || in[0]->dtype != dtype ||
      lpt_tensor_dtype (constant) != dtype || is_zero_point (subtract))
    return FALSE;
  zero = lpt_tensor_scalar (dtype, 0);
  minus = lpt_fold_binary (LPT_OP_SUBTRACT, zero, constant, dtype);
  if (minus == NULL)
    return FALSE;
  name = g_strconcat (subtract->name, "/Constant", NULL);
  in[1] = lpt_rewriter_const (rw, name, minus);
  fresh = lpt_rewriter_add (rw, LPT_OP_ADD, subtract->name, 2, in);
  lpt_node_take_over (fresh, subtract, "/replaced");
  lpt_rewriter_replace (rw, &subtract->out[0], &fresh->out[0], NULL);
  lpt_rewriter_visit (rw, fresh);

  return TRUE;
}

const LptPass lpt_pass_convert_subtract = {
  .name      = "convert-subtract",
  .doc       = "Write a difference with a constant as a sum",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_SUBTRACT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
