/* expand-norms.c - batch normalizations with constants as a factor and a term for each channel
 *
 *     BatchNormInference (x)  =>  Add (Multiply (x, factor), term)
 *
 * Elementwise ops of reals are fused with their neighbours: with the function behind, with the product in front. Rounds
 * in other places than the op does, so it is no part of plans that show the graph as it is. Factor and term are f32
 * whatever real type the op has, as values in between are not rounded to it; of another type the two ops are relaxed.
 * The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-batch-norm.h"

/* @op of @x and a constant (taken over), with the type of @like. */
static LptNode *
add_op (LptGraph       *graph,
        LptOp           op,
        const char     *name,
        LptValue       *x,
        LptTensor      *constant,
        const LptValue *like)
{
  LptValue *in[2] = { x, lpt_node_out (lpt_graph_add_const (graph, NULL, constant)) };
  LptNode *node = lpt_graph_add (graph, op, 0, name, 2, in);

  node->out[0].dtype = like->dtype;
  node->out[0].shape = like->shape;
  node->flags |= like->dtype != lpt_tensor_dtype (constant) ? LPT_NODE_RELAXED : 0;
  lpt_tensor_unref (constant);

  return node;
}

static void
expand (LptNode *norm)
{
  g_autofree char *name = NULL;
  LptNode *product, *sum;
  LptTensor *factor, *term;
  LptValue *x;

  if (norm->op != LPT_OP_BATCH_NORM_INFERENCE || !lpt_dtype_is_real (lpt_node_out (norm)->dtype))
    return;
  x = lpt_batch_norm_line (norm, LPT_DTYPE_F32, &factor, &term);
  if (x == NULL)
    return;
  name = g_strconcat (norm->name, "/Multiply", NULL);
  product = add_op (norm->graph, LPT_OP_MULTIPLY, name, x, factor, lpt_node_out (norm));
  sum = add_op (norm->graph, LPT_OP_ADD, NULL, lpt_node_out (product), term, lpt_node_out (norm));
  lpt_value_replace (lpt_node_out (norm), lpt_node_out (sum), NULL);
  lpt_node_take_name (sum, norm, "/expanded");
}

gboolean
lpt_program_expand_norms (LptProgram *program,
                          GError    **error)
{
  return lpt_program_visit (program, expand, error);
}
