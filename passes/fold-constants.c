/* passes/fold-constants.c - evaluate what makes the data and the intervals of FakeQuantize
 *
 *     op (constant, ...)  =>  constant'
 *
 * Exporters leave arithmetic on weights in front of their quantization: bounds of narrow codes, a Transpose, a factor
 * that was joined to them. Weights are constants where the rules look for them, also those that a Round in place of a
 * FakeQuantize rounds (round-to-fake-quantize). By the reference executor. Exact.
 *
 * A product whose operands all are constants, those behind a dequantization or a FakeQuantize too, is none that could
 * run on integers: it is evaluated wherever it leads, as the projection of a table of positions or of latents. So is
 * what only FakeQuantizes read.
 *
 * Left alone are constants that reach no FakeQuantize, as those of a bias; FakeQuantize itself, which says what the
 * integers are, unless others behind it alone say that; a Convert, which may turn codes or compressed numbers into
 * wider ones; and what is marked to be kept, with everything behind that is no product and is not quantized again.
 *
 * Refused when
 *   - the result would be more than 16 times as large as what it is made of, and more than 1 MiB.
 *
 * Golden tests: tests/golden/fold-constants/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-evaluate-node.h"
#include "ir/lpt-fold.h"
#include "ir/lpt-quantize-details.h"
#include "passes/support/lpt-grid.h"
#include "passes/support/lpt-layer.h"

static gboolean
is_foldable (LptNode *node)
{
  const guint32 others = LPT_OP_F_SINK | LPT_OP_F_RANDOM | LPT_OP_F_STATE | LPT_OP_F_LOWERED;

  return node->n_in > 0 && node->n_out == 1 && node->bodies == NULL && (node->flags & LPT_NODE_KEEP_CONST) == 0 &&
         (node->info->flags & others) == 0 && node->op != LPT_OP_CONVERT && node->op != LPT_OP_CONVERT_LIKE &&
         node->out[0].quant == NULL;
}

static gboolean
quantizes (LptNode *node)
{
  return node->op == LPT_OP_FAKE_QUANTIZE ||
         (lpt_grid_rounds (node) && lpt_grid_feeds_weights (&node->out[0]));
}

/* How far such readers are looked for. */
#define MOST_STEPS 8

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

/* Do all that read @value quantize it, at once or behind what only moves it? */
static gboolean
is_quantized_again (LptValue *value,
                    guint     depth)
{
  for (guint i = 0; depth > 0 && i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);

      if (use->index != 0)
        return FALSE;
      if (use->node->op != LPT_OP_FAKE_QUANTIZE &&
          ((use->node->info->flags & LPT_OP_F_PRESERVES) == 0 || use->node->n_out != 1 ||
           !is_quantized_again (lpt_node_out (use->node), depth - 1)))
        return FALSE;
    }

  return depth > 0 && lpt_value_n_uses (value) > 0;
}

/* Is @node a product, or do all its readers quantize again what it makes? Of constants alone it is none for codes. */
static gboolean
needs_no_codes (LptNode *node)
{
  return (node->info->flags & LPT_OP_F_WEIGHTED) != 0 ||
         (node->n_out == 1 && is_quantized_again (lpt_node_out (node), MOST_STEPS));
}

/* The data of @dq, or the codes of more than 8 bits behind a Convert, are constant. */
static gboolean
is_of_constant (const LptDequant *dq)
{
  LptNode *source = dq->data->producer;

  return lpt_node_is_const (source) || (source->op == LPT_OP_CONVERT && lpt_node_const_in (source, 0) != NULL);
}

/* Is @node a FakeQuantize that can be evaluated? */
static gboolean
quantizes_constant (LptNode *node)
{
  return node->op == LPT_OP_FAKE_QUANTIZE && lpt_node_const_in (node, 0) != NULL &&
         lpt_quantize_intervals_are_constant (node) && lpt_dtype_is_real (node->out[0].dtype);
}

/* Is input @i of @node constant or absent? What needs no codes takes what is behind a dequantization, too: @dq, else
 * empty; and what is behind a FakeQuantize. */
static gboolean
is_operand (LptRewriter *rw,
            LptNode     *node,
            guint        i,
            LptDequant  *dq)
{
  LptValue *value = lpt_node_in (node, i);

  *dq = (LptDequant) { NULL };
  if (value == NULL || lpt_node_const_in (node, i) != NULL)
    return value == NULL || value->quant == NULL;

  return needs_no_codes (node) &&
         (quantizes_constant (value->producer) ||
          (lpt_dequant_find (value, &lpt_rewriter_config (rw)->default_precisions, dq) && is_of_constant (dq)));
}

/* The inputs as numbers, NULL where there is none; FALSE: one is not constant. */
static gboolean
operands (LptRewriter *rw,
          LptNode     *node,
          GPtrArray   *in)
{
  LptDequant dq;

  for (guint i = 0; i < node->n_in; i++)
    if (!is_operand (rw, node, i, &dq))
      return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      LptTensor *known = lpt_node_const_in (node, i);
      LptTensor *tensor = known != NULL ? lpt_tensor_ref (known) : NULL;

      if (known == NULL && lpt_node_in (node, i) != NULL)
        {
          is_operand (rw, node, i, &dq);
          tensor = dq.data != NULL ? lpt_layer_fold_chain (&dq)
                                   : lpt_fold_fake_quantize (lpt_node_src (node, i), LPT_DTYPE_F32, FALSE);
          if (tensor == NULL)
            return FALSE;
        }
      g_ptr_array_add (in, tensor);
    }

  return TRUE;
}

static gboolean
is_wanted (LptNode *node)
{
  LptValue *out = lpt_node_out (node);

  if ((node->info->flags & LPT_OP_F_QUANTIZES) != 0)
    return node->op == LPT_OP_FAKE_QUANTIZE && is_quantized_again (out, MOST_STEPS);

  return !quantizes (node) && ((node->info->flags & LPT_OP_F_WEIGHTED) != 0 || is_quantized (out, MOST_STEPS));
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_autoptr (GPtrArray) in = NULL;
  LptTensor *folded;
  LptValue *constant;

  if (!is_foldable (node) || !is_wanted (node))
    return FALSE;
  in = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  if (!operands (rw, node, in))
    return FALSE;
  if (lpt_node_const_grows (node, (LptTensor *const *) in->pdata))
    return lpt_rewriter_decline (rw, node, "the constant would be more than %d times as large as its inputs",
                                 LPT_CONST_MAX_GROWTH);
  if (!lpt_node_evaluate (node, (LptTensor *const *) in->pdata, &folded, NULL))
    return FALSE;      /* constant-folding says why */
  constant = lpt_rewriter_const (rw, node->name, folded);
  lpt_layer_replace_folded (rw, node, constant);

  return TRUE;
}

const LptPass lpt_pass_fold_constants = {
  .name      = "fold-constants",
  .doc       = "Evaluate what makes the data and the intervals of FakeQuantize",
  .stage     = LPT_STAGE_PREPARE,
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
