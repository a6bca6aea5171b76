/* passes/recurrent-cell.c - bring integers in front of LSTMSequence and GRUSequence
 *
 *     LSTMSequence (X, H, C, S, FakeQuantize (W), FakeQuantize (R), B)
 *  => LSTMSequence (X, H, C, S, Multiply (Convert (w : i8), s), Multiply (Convert (r : i8), s), B)
 *
 * The operation stays real. Quantized weights become integers with a dequantization in front, and the chains on all
 * four quantized inputs (X, H, W, R) are kept from clean-up, so that `integers -> Convert -> Multiply` is there for a
 * runtime that computes the cell in integers. Where data and state are real, or of another type, quantized weights of
 * both halves become integers, and their chains are kept, all the same.
 *
 * Rounds weights that are not on the lattice of their FakeQuantize.
 *
 * Refused when
 *   - neither X nor H has a chain, or one of them starts from another type than u8;
 *   - no type that the restrictions allow fits the FakeQuantize on W or R without a zero point.
 *
 * Golden tests: tests/golden/recurrent-cell/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-weightable.h"

/* The chain behind @value stays as it is. */
static gboolean
keep_chain (const LptDequant *dq)
{
  LptNode *ops[] = { dq->convert, dq->subtract, dq->multiply };
  gboolean changed = FALSE;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ops); i++)
    if (ops[i] != NULL && (ops[i]->flags & (LPT_NODE_NO_CLEANUP | LPT_NODE_KEEP_CONST)) !=
                          (LPT_NODE_NO_CLEANUP | LPT_NODE_KEEP_CONST))
      {
        ops[i]->flags |= LPT_NODE_NO_CLEANUP | LPT_NODE_KEEP_CONST;
        changed = TRUE;
      }

  return changed;
}

/* FakeQuantize over constant weights on input @index; FALSE = there is one, but it cannot be. */
static gboolean
quantize_weights (LptRewriter *rw,
                  LptNode     *cell,
                  guint        index,
                  gboolean    *changed)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  g_auto (LptDecomposition) parts = { NULL };
  gboolean update = lpt_rewriter_config (rw)->update_precisions;
  LptNode *fq = lpt_node_src (cell, index);
  LptDataPrecision precision;
  LptTensor *q;
  LptValue *tail;
  LptDequant dq;

  if (fq->op != LPT_OP_FAKE_QUANTIZE)
    return TRUE;
  if (!lpt_quantize_is_supported (fq) || !lpt_quantize_details_read (fq, &details) ||
      !lpt_weights_precision (rw, fq, &details, &precision) || precision.has_zp ||
      !lpt_decompose (&details, &precision, &parts))
    return FALSE;
  q = lpt_fold_fake_quantize_to (fq, parts.low, parts.high, update ? precision.dtype : fq->out[0].dtype, TRUE);
  if (q == NULL)
    return FALSE;
  tail = lpt_layer_chain (rw, lpt_rewriter_const (rw, fq->name, q), lpt_rewriter_config (rw)->deq_precision, NULL,
                          parts.scale, fq->out[0].dtype, fq->name);
  lpt_node_set_input (cell, index, tail);
  lpt_rewriter_drop_unused (rw, fq);
  lpt_layer_find (rw, cell, index, &dq);
  keep_chain (&dq);
  *changed = TRUE;

  return TRUE;
}

/* Are the weights on input @index quantized? */
static gboolean
is_quantized (LptRewriter *rw,
              LptNode     *cell,
              guint        index)
{
  const LptNode *source = lpt_node_src (cell, index);
  LptDequant dq;

  return source != NULL && (source->op == LPT_OP_FAKE_QUANTIZE ||
                            (lpt_layer_find (rw, cell, index, &dq) && lpt_dequant_is_low (&dq)));
}

/* Integer weights of the data, input @index, and of the state stay integers. */
static gboolean
keep_weights (LptRewriter *rw,
              LptNode     *cell,
              guint        index)
{
  LptDequant dq[2];
  gboolean changed = FALSE;
  guint i;

  if (!is_quantized (rw, cell, index) || !is_quantized (rw, cell, index + 1))
    return FALSE;
  for (i = 0; i < 2; i++)
    if (!quantize_weights (rw, cell, index + i, &changed))
      return changed;
  for (i = 0; i < 2; i++)
    if (!lpt_layer_find (rw, cell, index + i, &dq[i]) || !lpt_dequant_is_low (&dq[i]))
      return changed;

  return changed | keep_chain (&dq[0]) | keep_chain (&dq[1]);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *cell)
{
  guint weights = cell->op == LPT_OP_LSTM_SEQUENCE ? 4 : 3;
  const guint inputs[4] = { 0, 1, weights, weights + 1 };
  gboolean changed = FALSE, any = FALSE;
  LptDequant dq;
  guint i;

  for (i = 0; i < 2; i++)
    {
      if (!lpt_layer_find (rw, cell, inputs[i], &dq) || lpt_node_is_const (dq.data->producer))
        continue;
      if (lpt_rewriter_config (rw)->update_precisions && dq.data->dtype != LPT_DTYPE_U8)
        {
          lpt_rewriter_decline (rw, cell, "input %u is dequantized from %s, not from u8", inputs[i],
                                lpt_dtype_name (dq.data->dtype));
          return keep_weights (rw, cell, weights);
        }
      any = TRUE;
    }
  if (!any)
    {
      lpt_rewriter_decline (rw, cell, "no quantization on its data and state");
      return keep_weights (rw, cell, weights);
    }
  for (i = 2; i < 4; i++)
    if (!quantize_weights (rw, cell, inputs[i], &changed))
      {
        lpt_rewriter_decline (rw, cell, "no integer type without zero point fits the FakeQuantize on input %u",
                              inputs[i]);
        return changed;
      }
  for (i = 0; i < 4; i++)
    if (lpt_layer_find (rw, cell, inputs[i], &dq) &&
        (lpt_dequant_is_low (&dq) || !lpt_rewriter_config (rw)->update_precisions))
      changed |= keep_chain (&dq);

  return changed;
}

const LptPass lpt_pass_recurrent_cell = {
  .name      = "recurrent-cell",
  .doc       = "Bring integers in front of LSTMSequence and GRUSequence",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_LSTM_SEQUENCE, LPT_OP_GRU_SEQUENCE),
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
