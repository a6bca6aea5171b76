/* expand-composites.c - ops that are made of others, spelled out
 *
 *     ScaledDotProductAttention  =>  MatMul, Softmax, MatMul
 *     Einsum                     =>  ReduceSum, Transpose, MatMul
 *     AdaptiveAvgPool            =>  AvgPool or MatMul
 *
 * for which there are kernels, and passes behind this one. Rounds in other places than the ops do, so it is no part of
 * plans that show the graph as it is. The rules: ir/lpt-composite.h. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-composite.h"

gboolean
lpt_program_expand_composites (LptProgram *program,
                               GError    **error)
{
  return lpt_graph_spell (program->graph, LPT_N_OPS, LPT_SPELL_FOR_RUN, error);
}
