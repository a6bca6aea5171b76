/* tflite-map-recurrent.c - LSTM, RNN, SVDF and their sequences, in real numbers or with 8-bit weights
 *
 *   LSTM   pre[g] = W[g] x + R[g] h (+ P[g] c) + b[g];  with layer norm: norm (W x + R h + P c) N[g] + b[g]
 *          f = s (pre[f]), i = s (pre[i]) or 1 - f;  c' = clip (f c + i act (pre[c]));  o = s (pre[o]), P[o] reads c'
 *          h' = o act (c'), projected and clipped where there is a projection
 *   RNN    h' = act (W x + R h + b)
 *   SVDF   the state is a memory of features along time: shifted by one, the newest W x;  y = act (sum over rank and
 *          time (state T) + b)
 *
 * Gates in the order i, f, c, o.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-recurrent.h"

enum { I, F, C, O };

static LptValue *
sum (LptTflOp *op, LptValue *a, LptValue *b)
{
  return a == NULL ? b : b == NULL ? a : lpt_tfl_emit (op, LPT_OP_ADD, 2, a, b);
}

static LptValue *
times (LptTflOp *op, LptValue *a, LptValue *b)
{
  return lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, a, b);
}

/* (v - mean) / sqrt (variance + 1e-8) along the last axis. */
static LptValue *
normalize (LptTflOp *op, LptValue *v)
{
  LptValue *last = lpt_tfl_i64_one (op, -1);
  LptValue *centred = lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, v, lpt_tfl_reduce (op, LPT_OP_REDUCE_MEAN, v, last, TRUE));
  LptValue *variance = lpt_tfl_reduce (op, LPT_OP_REDUCE_MEAN, times (op, centred, centred), last, TRUE);
  LptValue *root = lpt_tfl_emit (op, LPT_OP_SQRT, 1, sum (op, variance, lpt_tfl_scalar (op, LPT_DTYPE_F32, 1e-8)));
  return lpt_tfl_emit (op, LPT_OP_DIVIDE, 2, centred, root);
}

static LptValue *
gate (LptTflOp *op, const LptTflCell *cell, guint g, LptValue *x, LptValue *aux, LptValue *h, LptValue *c)
{
  static const gint peephole[] = { 0, 1, -1, 2 };
  LptValue *v = sum (op, lpt_tfl_cell_product (op, cell, x, cell->w[g]),
                     lpt_tfl_cell_product (op, cell, h, cell->r[g]));
  LptValue *p = peephole[g] >= 0 ? lpt_tfl_cell_const (op, cell->peephole[peephole[g]]) : NULL;
  if (aux != NULL)
    v = sum (op, v, lpt_tfl_cell_product (op, cell, aux, cell->aux[g]));
  if (p != NULL)
    v = sum (op, v, times (op, p, c));
  if (cell->norm[g] != NULL)
    v = times (op, normalize (op, v), lpt_tfl_cell_const (op, cell->norm[g]));
  v = sum (op, v, lpt_tfl_cell_const (op, cell->bias[g]));
  return g == C ? lpt_tfl_activate (op, v, cell->activation) : lpt_tfl_emit (op, LPT_OP_SIGMOID, 1, v);
}

static LptValue *
lstm_step (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, LptValue **states)
{
  LptValue *h = states[0], *c = states[1];
  LptValue *f = gate (op, cell, F, x, aux, h, c);
  LptValue *i = cell->w[I] != NULL ? gate (op, cell, I, x, aux, h, c)
                                   : lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, lpt_tfl_scalar (op, LPT_DTYPE_F32, 1), f);
  c = sum (op, times (op, f, c), times (op, i, gate (op, cell, C, x, aux, h, c)));
  if (cell->cell_clip > 0)
    c = lpt_tfl_clamp (op, c, -cell->cell_clip, cell->cell_clip);
  LptValue *o = gate (op, cell, O, x, aux, h, c);
  h = times (op, o, lpt_tfl_activate (op, c, cell->activation));
  if (cell->projection != NULL)
    {
      h = sum (op, lpt_tfl_cell_product (op, cell, h, cell->projection),
               lpt_tfl_cell_const (op, cell->projection_bias));
      if (cell->projection_clip > 0)
        h = lpt_tfl_clamp (op, h, -cell->projection_clip, cell->projection_clip);
    }
  states[0] = h;
  states[1] = c;
  return h;
}

/* Tensors of one direction from input @first (its input gate) on. */
static LptTflCell
read_lstm (LptTflOp *op, guint first)
{
  LptTflCell cell = { .step = lstm_step, .n_states = 2 };
  for (guint g = 0; g < 4; g++)
    {
      cell.w[g] = lpt_tfl_optional (op, first + g);
      cell.r[g] = lpt_tfl_optional (op, first + 4 + g);
      cell.bias[g] = lpt_tfl_optional (op, first + 11 + g);
    }
  for (guint p = 0; p < 3; p++)
    cell.peephole[p] = lpt_tfl_optional (op, first + 8 + p);
  cell.projection = lpt_tfl_optional (op, first + 15);
  cell.projection_bias = lpt_tfl_optional (op, first + 16);
  for (guint g = F; g < 4; g++)
    if (cell.w[g] == NULL || cell.r[g] == NULL || cell.bias[g] == NULL)
      lpt_tfl_invalid (op, "weights or a bias are missing");
  return cell;
}

static gboolean
is_integer (LptTflOp *op)
{
  if (lpt_tfl_in (op, 0)->quant == NULL)
    return FALSE;
  lpt_tfl_unsupported (op, "%s on integers", op->type);
  return TRUE;
}

static void
map_basic_lstm (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *h = lpt_tfl_in (op, 1), *c = lpt_tfl_in (op, 4), *in[] = { x, h };
  LptTflCell cell = { .activation = TFL_ACT_TANH };
  LptValue *both = lpt_tfl_concat (op, -1, 2, in);
  LptValue *v = sum (op, lpt_tfl_cell_product (op, &cell, both, lpt_tfl_in (op, 2)), lpt_tfl_in (op, 3));
  LptValue *parts[] = { v, lpt_tfl_i64_scalar (op, -1) };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_SPLIT, 4, 2, parts);
  LPT_ATTRS (node, LptSplitAttrs)->num_splits = 4;
  lpt_tfl_done (op, node);
  if (op->error != NULL)
    return;
  /* Rows of the weights: i, c, f, o. */
  LptValue *fresh = times (op, lpt_tfl_emit (op, LPT_OP_SIGMOID, 1, &node->out[0]),
                           lpt_tfl_emit (op, LPT_OP_TANH, 1, &node->out[1]));
  c = sum (op, times (op, lpt_tfl_emit (op, LPT_OP_SIGMOID, 1, &node->out[2]), c), fresh);
  h = times (op, lpt_tfl_emit (op, LPT_OP_SIGMOID, 1, &node->out[3]), lpt_tfl_emit (op, LPT_OP_TANH, 1, c));
  lpt_tfl_state_out (op, 1, h);
  lpt_tfl_state_out (op, 4, c);
  lpt_tfl_set (op, 0, h);
  lpt_tfl_set (op, 1, c);
  lpt_tfl_set (op, 2, both);
  lpt_tfl_set (op, 3, v);
}

/* argument 0: LSTM, one step; 1: a sequence. */
void
lpt_tfl_map_lstm (LptTflOp *op)
{
  gboolean sequence = op->argument != 0;
  gboolean time_major = lpt_tfl_opt_int (op, TFL_UnidirectionalSequenceLSTMOptions_time_major) != 0;
  gboolean integer = lpt_tfl_in (op, 0)->quant != NULL;
  LptValue *inputs[24];
  if (!sequence && lpt_tfl_opt_int (op, TFL_LSTMOptions_kernel_type) == 1)
    {
      map_basic_lstm (op);
      return;
    }
  LptTflCell cell = integer ? lpt_tfl_integer_cell (op, inputs) : read_lstm (op, 1);
  cell.activation = lpt_tfl_opt_int (op, sequence ? TFL_UnidirectionalSequenceLSTMOptions_fused_activation_function
                                                  : TFL_LSTMOptions_fused_activation_function);
  cell.cell_clip = lpt_tfl_opt_real (op, sequence ? TFL_UnidirectionalSequenceLSTMOptions_cell_clip
                                                  : TFL_LSTMOptions_cell_clip);
  cell.projection_clip = lpt_tfl_opt_real (op, sequence ? TFL_UnidirectionalSequenceLSTMOptions_proj_clip
                                                        : TFL_LSTMOptions_proj_clip);
  cell.asymmetric = lpt_tfl_opt_int (op, sequence ? TFL_UnidirectionalSequenceLSTMOptions_asymmetric_quantize_inputs
                                                  : TFL_LSTMOptions_asymmetric_quantize_inputs)
                    != 0;
  if (lpt_tfl_opt_int (op, TFL_UnidirectionalSequenceLSTMOptions_diagonal_recurrent_tensors) != 0)
    lpt_tfl_unsupported (op, "diagonal recurrent weights");
  for (guint g = 0; g < 4 && !integer; g++)
    cell.norm[g] = lpt_tfl_optional (op, 20 + g);
  LptValue *x = lpt_tfl_in (op, 0), *states[] = { lpt_tfl_state_in (op, 18), lpt_tfl_state_in (op, 19) };
  if (op->error != NULL)
    return;
  LptValue *y = sequence ? lpt_tfl_cell_sequence (op, &cell, x, NULL, time_major ? 0 : 1, FALSE, states)
                         : cell.step (op, &cell, x, NULL, states);
  lpt_tfl_state_out (op, 18, states[0]);
  lpt_tfl_state_out (op, 19, states[1]);
  lpt_tfl_set (op, 0, y);
}

/* Forward and backward results: outputs, or one output with both joined. */
static void
set_both (LptTflOp *op, LptValue *forward, LptValue *backward, gboolean merge)
{
  LptValue *both[] = { forward, backward };
  lpt_tfl_set (op, 0, merge ? lpt_tfl_concat (op, -1, 2, both) : forward);
  if (!merge)
    lpt_tfl_set (op, 1, backward);
}

void
lpt_tfl_map_bidirectional_lstm (LptTflOp *op)
{
  LptTflCell cells[2];
  LptValue *x = lpt_tfl_in (op, 0), *aux = lpt_tfl_optional (op, 39), *y[2];
  gint axis = lpt_tfl_opt_int (op, TFL_BidirectionalSequenceLSTMOptions_time_major) != 0 ? 0 : 1;
  if (is_integer (op))
    return;
  for (guint d = 0; d < 2; d++)
    {
      cells[d] = read_lstm (op, d == 0 ? 1 : 18);
      cells[d].activation = lpt_tfl_opt_int (op, TFL_BidirectionalSequenceLSTMOptions_fused_activation_function);
      cells[d].cell_clip = lpt_tfl_opt_real (op, TFL_BidirectionalSequenceLSTMOptions_cell_clip);
      cells[d].projection_clip = lpt_tfl_opt_real (op, TFL_BidirectionalSequenceLSTMOptions_proj_clip);
      cells[d].asymmetric = lpt_tfl_opt_int (op, TFL_BidirectionalSequenceLSTMOptions_asymmetric_quantize_inputs) != 0;
      for (guint g = 0; g < 4; g++)
        cells[d].aux[g] = lpt_tfl_optional (op, 40 + 4 * d + g);
      LptValue *states[] = { lpt_tfl_state_in (op, 35 + 2 * d), lpt_tfl_state_in (op, 36 + 2 * d) };
      gboolean stacked = aux != NULL && cells[d].aux[F] == NULL;
      /* Without weights of its own the second input is what the backward direction reads. */
      y[d] = lpt_tfl_cell_sequence (op, &cells[d], stacked && d == 1 ? aux : x, stacked ? NULL : aux, axis, d == 1,
                                    states);
      lpt_tfl_state_out (op, 35 + 2 * d, states[0]);
      lpt_tfl_state_out (op, 36 + 2 * d, states[1]);
      if (op->error != NULL)
        return;
    }
  set_both (op, y[0], y[1], lpt_tfl_opt_int (op, TFL_BidirectionalSequenceLSTMOptions_merge_outputs) != 0);
}

/* --- RNN --------------------------------------------------------------------------- */

static LptValue *
rnn_step (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, LptValue **states)
{
  LptValue *v = sum (op, lpt_tfl_cell_product (op, cell, x, cell->w[0]),
                     lpt_tfl_cell_product (op, cell, states[0], cell->r[0]));
  if (aux != NULL)
    v = sum (op, v, lpt_tfl_cell_product (op, cell, aux, cell->aux[0]));
  states[0] = lpt_tfl_activate (op, sum (op, v, lpt_tfl_cell_const (op, cell->bias[0])), cell->activation);
  return states[0];
}

static LptTflCell
read_rnn (LptTflOp *op, guint first)
{
  LptTflCell cell = { .step = rnn_step, .n_states = 1 };
  cell.w[0] = lpt_tfl_in (op, first);
  cell.r[0] = lpt_tfl_in (op, first + 1);
  cell.bias[0] = lpt_tfl_in (op, first + 2);
  return cell;
}

void
lpt_tfl_map_rnn (LptTflOp *op)
{
  gboolean sequence = op->argument != 0;
  LptTflCell cell = read_rnn (op, 1);
  LptValue *x = lpt_tfl_in (op, 0), *state = lpt_tfl_state_in (op, 4);
  if (is_integer (op))
    return;
  cell.activation = lpt_tfl_opt_int (op, sequence ? TFL_SequenceRNNOptions_fused_activation_function
                                                  : TFL_RNNOptions_fused_activation_function);
  cell.asymmetric = lpt_tfl_opt_int (op, sequence ? TFL_SequenceRNNOptions_asymmetric_quantize_inputs
                                                  : TFL_RNNOptions_asymmetric_quantize_inputs)
                    != 0;
  gint axis = lpt_tfl_opt_int (op, TFL_SequenceRNNOptions_time_major) != 0 ? 0 : 1;
  LptValue *y = sequence ? lpt_tfl_cell_sequence (op, &cell, x, NULL, axis, FALSE, &state)
                         : cell.step (op, &cell, x, NULL, &state);
  lpt_tfl_state_out (op, 4, state);
  lpt_tfl_set (op, 0, y);
}

void
lpt_tfl_map_bidirectional_rnn (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *aux = lpt_tfl_optional (op, 9), *y[2];
  gint axis = lpt_tfl_opt_int (op, TFL_BidirectionalSequenceRNNOptions_time_major) != 0 ? 0 : 1;
  if (is_integer (op))
    return;
  for (guint d = 0; d < 2; d++)
    {
      LptTflCell cell = read_rnn (op, 1 + 4 * d);
      LptValue *state = lpt_tfl_state_in (op, 4 + 4 * d);
      cell.activation = lpt_tfl_opt_int (op, TFL_BidirectionalSequenceRNNOptions_fused_activation_function);
      cell.asymmetric = lpt_tfl_opt_int (op, TFL_BidirectionalSequenceRNNOptions_asymmetric_quantize_inputs) != 0;
      cell.aux[0] = lpt_tfl_optional (op, 10 + d);
      gboolean stacked = aux != NULL && cell.aux[0] == NULL;
      y[d] = lpt_tfl_cell_sequence (op, &cell, stacked && d == 1 ? aux : x, stacked ? NULL : aux, axis, d == 1, &state);
      lpt_tfl_state_out (op, 4 + 4 * d, state);
    }
  set_both (op, y[0], y[1], lpt_tfl_opt_int (op, TFL_BidirectionalSequenceRNNOptions_merge_outputs) != 0);
}

/* --- SVDF ---------------------------------------------------------------------------- */

void
lpt_tfl_map_svdf (LptTflOp *op)
{
  LptTflCell cell = { .asymmetric = lpt_tfl_opt_int (op, TFL_SVDFOptions_asymmetric_quantize_inputs) != 0 };
  gint64 rank = lpt_tfl_opt_int (op, TFL_SVDFOptions_rank);
  LptValue *x = lpt_tfl_in (op, 0);
  LptValue *feature = lpt_tfl_in (op, 1);
  LptValue *time = lpt_tfl_in (op, 2);
  LptValue *bias = lpt_tfl_optional (op, 3);
  if (x->quant != NULL)
    {
      lpt_tfl_integer_svdf (op);
      return;
    }
  if (time->shape.rank != 2 || feature->shape.rank != 2 || rank < 1 || feature->shape.dims[0] % rank != 0
      || time->shape.dims[1] < 1)
    lpt_tfl_invalid (op, "rank %" G_GINT64_FORMAT " of these weights", rank);
  if (op->error != NULL)
    return;
  gint64 filters = feature->shape.dims[0], memory = time->shape.dims[1];
  LptValue *state = lpt_tfl_reshape (op, lpt_tfl_state_in (op, 4), 3, (gint64[]) { -1, filters, memory });
  LptValue *parts[] = { lpt_tfl_slice (op, state, 2, 1, G_MAXINT32),
                        lpt_tfl_unsqueeze (op, lpt_tfl_cell_product (op, &cell, x, feature), 2) };
  state = lpt_tfl_concat (op, 2, 2, parts);
  LptValue *y = lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, times (op, state, lpt_tfl_real_of (op, time)),
                                lpt_tfl_i64_one (op, 2), FALSE);
  y = lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, lpt_tfl_reshape (op, y, 3, (gint64[]) { -1, filters / rank, rank }),
                      lpt_tfl_i64_one (op, 2), FALSE);
  y = lpt_tfl_activate (op, sum (op, y, bias), lpt_tfl_opt_int (op, TFL_SVDFOptions_fused_activation_function));
  lpt_tfl_state_out (op, 4, lpt_tfl_reshape (op, state, 2, (gint64[]) { -1, filters * memory }));
  lpt_tfl_set (op, 0, y);
}
