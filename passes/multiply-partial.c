/* passes/multiply-partial.c - move dequantization through Multiply of two branches
 *
 *     (s1 (x1 - z1)) (s2 x2)  =>  ((s1 s2) (x1 - z1)) x2
 * One branch takes both scales, the other one feeds raw integers (lpt_eltwise_full_path() says which). In scaling mode
 * the scales go behind: ((x1 - z1) x2) (s1 s2).
 *
 * A constant:
 *     (y c1) c2  =>  y (c1 c2)
 * whatever axes c1 and c2 vary along: a chain has one Multiply, or a second run would find two to join.
 *
 * Exact in real arithmetic. R21's MultiplyTransformation gives the same on what both take.
 *
 * Refused when
 *   - only one of two inputs that are not constant is quantized, or none;
 *   - scales vary along another axis than the channel axis;
 *   - the branch that would feed raw integers has a zero point, or starts from a real type.
 *
 * Golden tests: tests/golden/multiply-partial/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-eltwise.h"

/* A FakeQuantize over a constant operand becomes a constant. */
static gboolean
fold_operand (LptRewriter *rw,
              LptNode     *node,
              guint        index)
{
  LptNode *fq = lpt_node_src (node, index);
  LptTensor *folded;

  if (fq->op != LPT_OP_FAKE_QUANTIZE || !lpt_node_is_const (lpt_node_src (fq, 0)))
    return FALSE;
  folded = lpt_fold_fake_quantize (fq, fq->out[0].dtype, FALSE);
  if (folded == NULL)
    return FALSE;
  lpt_node_set_input (node, index, lpt_rewriter_const (rw, fq->name, folded));
  lpt_rewriter_drop_unused (rw, fq);

  return TRUE;
}

static gboolean
multiply_constant (LptRewriter *rw,
                   LptNode     *multiply)
{
  g_autofree char *name = g_strdup (multiply->name);
  g_autofree char *const_name = g_strconcat (name, "/Constant", NULL);
  g_autoptr (LptTensor) b = NULL;
  g_autoptr (LptTensor) product = NULL;
  LptConstBranch found;
  LptNode *fresh;

  if (!lpt_eltwise_const_branch (rw, multiply, &found))
    {
      gboolean folded = lpt_dequant_fold (rw, multiply, 0);

      return lpt_dequant_fold (rw, multiply, 1) || folded;
    }
  b = found.b;
  product = lpt_fold_binary (LPT_OP_MULTIPLY, found.a, b, LPT_DTYPE_F32);
  if (product == NULL || !lpt_tensor_is_finite (product))
    return lpt_rewriter_decline (rw, multiply, "the product of the scales is not finite");
  fresh = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, name, found.x,
                                lpt_rewriter_const (rw, const_name, g_steal_pointer (&product)),
                                LPT_DTYPE_F32, multiply->out[0].dtype);
  fresh->flags |= found.multiply->flags & (LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE);
  lpt_node_take_over (fresh, multiply, "/replaced");
  lpt_rewriter_absorbed (rw, found.multiply, lpt_node_known_as (fresh), "joined with \"%s\"",
                         lpt_node_known_as (fresh));
  lpt_rewriter_replace (rw, &multiply->out[0], &fresh->out[0], NULL);

  return TRUE;
}

static gboolean
multiply_branches (LptRewriter      *rw,
                   LptNode          *multiply,
                   const LptDequant  dq[2],
                   guint             full)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptDequant *keep = &dq[full], *raw = &dq[1 - full];
  g_autofree char *name = g_strdup (multiply->name);
  g_autofree char *path_name = g_strconcat (name, "/FullPath", NULL);
  g_autoptr (LptTensor) z1 = NULL;
  g_autoptr (LptTensor) s1 = NULL;
  g_autoptr (LptTensor) z2 = NULL;
  g_autoptr (LptTensor) s2 = NULL;
  g_autoptr (LptTensor) scale = NULL;
  LptValue *in[2], *start;
  LptNode *fresh;

  if (lpt_dequant_is_empty (raw) || !lpt_layer_is_low (rw, raw))
    return lpt_rewriter_decline (rw, multiply, "input %u is dequantized from a real type", 1 - full);
  lpt_eltwise_values (keep, LPT_DTYPE_F32, &z1, &s1);
  lpt_eltwise_values (raw, LPT_DTYPE_F32, &z2, &s2);
  if (!lpt_tensor_is_zero (z2))
    return lpt_rewriter_decline (rw, multiply, "input %u has a zero point", 1 - full);
  scale = lpt_fold_binary (LPT_OP_MULTIPLY, s1, s2, LPT_DTYPE_F32);
  if (scale == NULL || !lpt_tensor_is_finite (scale))
    return lpt_rewriter_decline (rw, multiply, "the product of the scales is not finite");
  if (lpt_tensor_is_zero (z1))
    g_clear_pointer (&z1, lpt_tensor_unref);

  start = keep->convert != NULL ? &keep->convert->out[0] : keep->data;
  in[full] = lpt_layer_chain (rw, start, LPT_DTYPE_F32, z1, config->scaling_mode ? NULL : scale, LPT_DTYPE_F32,
                              path_name);
  in[1 - full] = raw->data;
  fresh = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, name, in[0], in[1], config->deq_precision,
                                config->scaling_mode ? LPT_DTYPE_F32 : multiply->out[0].dtype);
  if (config->scaling_mode)
    {
      LptValue *tail = lpt_layer_chain (rw, &fresh->out[0], LPT_DTYPE_F32, NULL, scale, multiply->out[0].dtype, name);

      lpt_dequant_rewire (rw, &multiply->out[0], &fresh->out[0], tail);
    }
  else
    {
      lpt_node_take_over (fresh, multiply, "/replaced");
      lpt_rewriter_replace (rw, &multiply->out[0], &fresh->out[0], NULL);
    }

  return TRUE;
}

/* Multiply (Multiply (y, constant), constant) */
static gboolean
follows_multiply (LptNode *multiply)
{
  guint side = lpt_node_const_in (multiply, 1) != NULL ? 1 : 0;
  LptNode *inner = lpt_node_src (multiply, 1 - side);

  return lpt_node_const_in (multiply, side) != NULL && inner->op == LPT_OP_MULTIPLY &&
         (lpt_node_const_in (inner, 0) != NULL) != (lpt_node_const_in (inner, 1) != NULL);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *multiply)
{
  LptDequant dq[2];
  gboolean constant, folded;
  gint full;

  constant = lpt_layer_find (rw, multiply, 0, &dq[0]);
  constant = lpt_node_is_const (dq[0].data->producer);
  lpt_layer_find (rw, multiply, 1, &dq[1]);
  constant |= lpt_node_is_const (dq[1].data->producer);
  /* A Multiply by a constant alone is a dequantization itself. */
  if (!constant && (lpt_dequant_is_empty (&dq[0]) || lpt_dequant_is_empty (&dq[1])))
    return lpt_dequant_is_empty (&dq[0]) && lpt_dequant_is_empty (&dq[1])
               ? lpt_rewriter_decline (rw, multiply, "no quantization on its inputs")
               : lpt_rewriter_decline (rw, multiply, "no quantization on input %u",
                                       lpt_dequant_is_empty (&dq[0]) ? 0u : 1u);
  if (lpt_node_const_in (multiply, 0) != NULL || lpt_node_const_in (multiply, 1) != NULL)
    {
      guint side = lpt_node_const_in (multiply, 1) != NULL ? 1 : 0;

      if (lpt_dequant_is_empty (&dq[1 - side]))
        return FALSE;
    }
  if (follows_multiply (multiply))
    return multiply_constant (rw, multiply);
  if (!lpt_eltwise_match (rw, multiply, dq))
    return FALSE;
  folded = fold_operand (rw, multiply, 0);
  folded |= fold_operand (rw, multiply, 1);
  if (folded)
    {
      lpt_layer_find (rw, multiply, 0, &dq[0]);
      lpt_layer_find (rw, multiply, 1, &dq[1]);
    }
  full = lpt_eltwise_full_path (rw, multiply, dq);

  return (full < 0 ? multiply_constant (rw, multiply) : multiply_branches (rw, multiply, dq, (guint) full)) || folded;
}

const LptPass lpt_pass_multiply_partial = {
  .name      = "multiply-partial",
  .doc       = "Move the scales of both branches of Multiply to one of them",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
