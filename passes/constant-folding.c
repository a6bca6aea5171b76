/* passes/constant-folding.c - evaluate what depends on constants alone
 *
 *     op (constant, ...)  =>  constant'
 *
 * By the reference executor. What is marked to be kept (integer weights and their zero point) stays, and with it
 * everything behind. Codes keep what they mean. Exact.
 *
 * Refused when
 *   - an input is not constant, the operation is marked to be kept, or has several outputs;
 *   - the result would be more than 16 times as large as what it is made of, and more than 1 MiB: a few numbers may ask
 *   for gigabytes;
 *   - the executor cannot evaluate it.
 *
 * Golden tests: tests/golden/constant-folding/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-evaluate-node.h"
#include "passes/support/lpt-layer.h"

static gboolean
is_foldable (LptRewriter *rw,
             LptNode     *node)
{
  guint i;

  if (node->n_in == 0 || node->n_out != 1 || (node->info->flags & (LPT_OP_F_SINK | LPT_OP_F_RANDOM)) ||
      (node->flags & LPT_NODE_KEEP_CONST) || lpt_node_is_const (node) || node->op == LPT_OP_READ_VALUE ||
      node->bodies != NULL)
    return FALSE;
  for (i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && lpt_node_const_in (node, i) == NULL)
      return FALSE;

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_autoptr (GError) error = NULL;
  LptTensor *folded;
  LptValue *constant;

  if (!is_foldable (rw, node))
    return FALSE;
  if (lpt_node_const_grows (node, NULL))
    return lpt_rewriter_decline (rw, node, "the constant would be more than %d times as large as its inputs",
                                 LPT_CONST_MAX_GROWTH);
  folded = lpt_node_evaluate_const (node, &error);
  if (folded == NULL)
    return lpt_rewriter_decline (rw, node, "%s", error != NULL ? error->message : "cannot be evaluated");
  constant = lpt_rewriter_const (rw, node->name, folded);
  lpt_value_set_quant (constant, node->out[0].quant);
  lpt_layer_replace_folded (rw, node, constant);

  return TRUE;
}

const LptPass lpt_pass_constant_folding = {
  .name      = "constant-folding",
  .doc       = "Evaluate what depends on constants alone",
  .stage     = LPT_STAGE_CLEANUP,
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
