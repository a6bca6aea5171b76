/* passes/convert-composites.c - spell out ops that are made of others
 *
 *     ScaledDotProductAttention (q, k, v, mask, scale)
 *     =>  MatMul (Softmax (MatMul (q * scale, k') + mask), v)
 *     Einsum (a, b)  =>  Reshape (Transpose (MatMul (Reshape (Transpose (a)), ..)))
 *     AdaptiveAvgPool (x)  =>  AvgPool (x)        where its windows have one length; AdaptiveMaxPool likewise
 *     BinaryConvolution (x, w)  =>  Convolution (FakeQuantize (Pad (sign (x))), sign (w))
 *
 * in graphs that carry quantization, or get it at run time, so that dequantizations of their operands meet products,
 * whose rules are those of any other. Elsewhere the ops stay, for which runtimes have kernels of their own. Exact in
 * real arithmetic. The rules: ir/lpt-composite.h.
 *
 * Left alone: what the rules leave alone; an op that is to stay real.
 *
 * Golden tests: tests/golden/convert-composites/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-composite.h"
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
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptRestriction *restriction;
  LptNode *last;

  if (!lpt_op_is_composite (node->op))
    return FALSE;
  restriction = lpt_config_restriction (config, node);
  if ((restriction != NULL && lpt_restriction_is_never (restriction)) ||
      (!config->dynamic && !lpt_graph_is_quantized (lpt_rewriter_graph (rw))))
    return FALSE;
  last = lpt_composite_spell (lpt_rewriter_graph (rw), node, LPT_SPELL_FOR_RULES, finish, rw);
  if (last == NULL)
    return lpt_rewriter_decline (rw, node, "no product has its form, or ranks or lengths are not known");
  lpt_node_take_over (last, node, "/replaced");
  lpt_rewriter_replace (rw, &node->out[0], &last->out[0], NULL);
  lpt_rewriter_visit (rw, last);

  return TRUE;
}

const LptPass lpt_pass_convert_composites = {
  .name      = "convert-composites",
  .doc       = "Spell out ops that are made of others where something is quantized",
  .stage     = LPT_STAGE_PREPARE,
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
