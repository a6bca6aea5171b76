/* passes/fold-constants.c - evaluate what makes the data and the intervals of FakeQuantize
 *
 *     op (constant, ...)  =>  constant'
 *
 * Exporters leave arithmetic on weights in front of their quantization: bounds of narrow codes, a Transpose, a factor
 * that was joined to them. Weights are constants where the rules look for them, also those that a Round in place of a
 * FakeQuantize rounds (round-to-fake-quantize). By the reference executor. Exact.
 *
 * Left alone are constants that reach no FakeQuantize, as those of a bias; FakeQuantize itself, which says what the
 * integers are; a Convert, which may turn codes or compressed numbers into wider ones; and what is marked to be kept,
 * with everything behind.
 *
 * Refused when
 *   - the result would be more than 16 times as large as what it is made of, and more than 1 MiB.
 *
 * Golden tests: tests/golden/fold-constants/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-evaluate-node.h"
#include "passes/support/lpt-grid.h"
#include "passes/support/lpt-layer.h"

static gboolean
is_foldable (LptNode *node)
{
  const guint32 others = LPT_OP_F_SINK | LPT_OP_F_RANDOM | LPT_OP_F_STATE | LPT_OP_F_QUANTIZES | LPT_OP_F_LOWERED;

  if (node->n_in == 0 || node->n_out != 1 || node->bodies != NULL || (node->flags & LPT_NODE_KEEP_CONST) ||
      (node->info->flags & others) || node->op == LPT_OP_CONVERT || node->op == LPT_OP_CONVERT_LIKE ||
      node->out[0].quant != NULL)
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && (lpt_node_const_in (node, i) == NULL || lpt_node_in (node, i)->quant != NULL))
      return FALSE;
  return TRUE;
}

static gboolean
quantizes (LptNode *node)
{
  return node->op == LPT_OP_FAKE_QUANTIZE ||
         (lpt_grid_rounds (node) && lpt_grid_feeds_weights (&node->out[0]));
}

/* Is there a FakeQuantize behind @value, or a Round of weights, with nothing but constants between? */
static gboolean
is_quantized (LptValue *value,
              guint     depth)
{
  for (guint i = 0; depth > 0 && i < lpt_value_n_uses (value); i++)
    {
      LptNode *reader = lpt_value_use (value, i)->node;

      if (quantizes (reader) ||
          (reader->n_out == 1 && reader->n_in > 0 && lpt_value_is_constant_path (&reader->out[0]) &&
           is_quantized (&reader->out[0], depth - 1)))
        return TRUE;
    }

  return FALSE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  enum { MOST_STEPS = 8 };
  LptTensor *folded;
  LptValue *constant;

  if (!is_foldable (node) || quantizes (node) || !is_quantized (&node->out[0], MOST_STEPS))
    return FALSE;
  if (lpt_node_const_grows (node))
    return lpt_rewriter_decline (rw, node, "the constant would be more than %d times as large as its inputs",
                                 LPT_CONST_MAX_GROWTH);
  folded = lpt_node_evaluate_const (node, NULL);
  if (folded == NULL)
    return FALSE;      /* constant-folding says why */
  constant = lpt_rewriter_const (rw, node->name, folded);
  lpt_node_take_name (constant->producer, node, "/replaced");
  lpt_rewriter_replace (rw, &node->out[0], constant, NULL);

  return TRUE;
}

const LptPass lpt_pass_fold_constants = {
  .name      = "fold-constants",
  .doc       = "Evaluate what makes the data and the intervals of FakeQuantize",
  .stage     = LPT_STAGE_PREPARE,
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
