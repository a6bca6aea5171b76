/* expand-attention.c - attention as products and a Softmax
 *
 *     ScaledDotProductAttention (q, k, v, mask, scale)
 *     =>  MatMul (Softmax (MatMul (q * scale, k') + mask), v)
 *
 * for which there are kernels, and passes behind this one that gather the heads. Rounds in other places than the op
 * does, so it is no part of plans that show the graph as it is. The rule: lpt_attention_spell(). The graph is the
 * program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-attention.h"

gboolean
lpt_program_expand_attention (LptProgram *program,
                              GError    **error)
{
  return lpt_graph_spell_attention (program->graph, error);
}
