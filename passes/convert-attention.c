/* passes/convert-attention.c - write attention as products and a Softmax
 *
 *     ScaledDotProductAttention (q, k, v, mask, scale)
 *     =>  MatMul (Softmax (MatMul (q * scale, k') + mask), v)
 *
 * in graphs that carry quantization, so that dequantizations of q, k and v meet products, whose rules are those of any
 * other. Elsewhere the op stays, for which runtimes have one kernel. A boolean mask is a Select, a causal one a
 * constant. Exact in real arithmetic. The rule: lpt_attention_spell().
 *
 * Left alone: operands of unknown rank, no scale and an unknown width, a causal mask and unknown lengths; an attention
 * that is to stay real.
 *
 * Golden tests: tests/golden/convert-attention/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-attention.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-restricted.h"

static LptNode *
finish (gpointer data,
        LptNode *node)
{
  return lpt_rewriter_infer (data, node);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  const LptRestriction *restriction = lpt_config_restriction (lpt_rewriter_config (rw), node);
  LptNode *last;

  if (!lpt_graph_is_quantized (lpt_rewriter_graph (rw)) ||
      (restriction != NULL && lpt_restriction_is_never (restriction)))
    return FALSE;
  last = lpt_attention_spell (lpt_rewriter_graph (rw), node, finish, rw);
  if (last == NULL)
    return lpt_rewriter_decline (rw, node, "ranks or lengths that its products need are not known");
  lpt_node_take_over (last, node, "/replaced");
  lpt_rewriter_replace (rw, &node->out[0], &last->out[0], NULL);
  lpt_rewriter_visit (rw, last);

  return TRUE;
}

const LptPass lpt_pass_convert_attention = {
  .name      = "convert-attention",
  .doc       = "Write attention as products and a Softmax where something is quantized",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_SCALED_DOT_PRODUCT_ATTENTION),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
