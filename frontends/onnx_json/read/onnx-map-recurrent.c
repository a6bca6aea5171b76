/* onnx-map-recurrent.c - ONNX LSTM, GRU and RNN as sequences of the IR
 *
 *            ONNX                          IR
 *   X        [T, B, I] (layout 1: [B, T, I])   [B, T, I]
 *   states   [D, B, S] (layout 1: [B, D, S])   [B, D, S]
 *   Y        [T, D, B, S] (layout 1: [B, T, D, S])   [B, D, T, S]
 *   gates    LSTM i o f c, GRU z r h       LSTM f i c o, GRU z r h
 *   bias     [D, 2 g S], W's and R's       [D, g S], their sum; GRU with linear_before_reset: z r h of W's, h of R's
 *
 * Lengths that are not given are T. An LSTM with peepholes or input_forget goes step by step (onnx-lstm.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-lstm.h"

#include <string.h>

static const gint64 swap_axes[] = { 1, 0, 2 };   /* [T, B, I] <-> [B, T, I] */

/* Gates in the IR's order: @value has g * S rows along axis 1. */
static LptValue *
order_gates (LptOnnxNode *on,
             LptValue    *value,
             gint64       hidden)
{
  static const gint64 from[] = { 2, 0, 3, 1 };   /* i o f c -> f i c o */
  LptValue *parts[4];

  if (on->argument != LPT_OP_LSTM_SEQUENCE)
    return value;
  for (guint i = 0; i < 4; i++)
    parts[i] = lpt_onnx_slice (on, value, 1, from[i] * hidden, (from[i] + 1) * hidden);
  return lpt_onnx_concat (on, 1, 4, parts);
}

static LptValue *
read_bias (LptOnnxNode *on,
           LptValue    *bias,
           gint64       gates,
           gint64       hidden,
           gboolean     linear)
{
  gint64 rows = gates * hidden;
  LptValue *w, *r, *parts[3];

  w = lpt_onnx_slice (on, bias, 1, 0, rows);
  r = lpt_onnx_slice (on, bias, 1, rows, 2 * rows);
  if (!linear)
    return order_gates (on, lpt_onnx_emit (on, LPT_OP_ADD, 2, w, r), hidden);
  parts[0] = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_slice (on, w, 1, 0, 2 * hidden),
                            lpt_onnx_slice (on, r, 1, 0, 2 * hidden));
  parts[1] = lpt_onnx_slice (on, w, 1, 2 * hidden, rows);
  parts[2] = lpt_onnx_slice (on, r, 1, 2 * hidden, rows);
  return lpt_onnx_concat (on, 1, 3, parts);
}

/* Zeros of [D, g S]: no bias. */
static LptValue *
no_bias (LptOnnxNode *on,
         LptValue    *like,
         gint64       directions,
         gint64       rows)
{
  gint64 dims[2] = { directions, rows };

  return lpt_onnx_broadcast (on, lpt_onnx_like (on, like, 0), lpt_onnx_i64 (on, 2, dims));
}

/* The state [B, D, S]; @value NULL = zeros. */
static LptValue *
read_state (LptOnnxNode *on,
            LptValue    *value,
            LptValue    *x,
            gint64       directions,
            gint64       hidden,
            gboolean     batch_first)
{
  gint64 dims[2] = { directions, hidden };
  LptValue *shape[2];

  if (value != NULL)
    value = lpt_onnx_with_rank (on, value, 3);
  if (value != NULL)
    return batch_first ? value : lpt_onnx_transpose (on, value, 3, swap_axes);
  shape[0] = lpt_onnx_dim (on, x, 0);
  shape[1] = lpt_onnx_i64 (on, 2, dims);
  return lpt_onnx_broadcast (on, lpt_onnx_like (on, x, 0), lpt_onnx_concat (on, 0, 2, shape));
}

/* "Tanh", "Sigmoid" ... as "tanh,sigmoid". The IR counts numbers of all functions, ONNX of those that have any. */
static void
set_activations (LptOnnxNode         *on,
                 LptRnnSequenceAttrs *attrs,
                 guint                n,
                 guint                directions)
{
  LptOnnxActivation list[6];
  GString *names;
  double alpha[6], beta[6];

  if (!lpt_onnx_activations (on, n, directions, list) || on->error != NULL)
    return;
  names = g_string_new (NULL);
  for (guint i = 0; i < n * directions; i++)
    {
      g_string_append_printf (names, "%s%s", i > 0 ? "," : "", list[i].name);
      alpha[i] = list[i].alpha;
      beta[i] = list[i].beta;
    }
  g_free (attrs->activations);
  attrs->activations = g_string_free (g_string_ascii_down (names), FALSE);
  if (!lpt_onnx_activation_numbers (on))
    return;
  lpt_floats_set (&attrs->activations_alpha, n * directions, alpha);
  lpt_floats_set (&attrs->activations_beta, n * directions, beta);
}

static LptDirection
read_direction (LptOnnxNode *on)
{
  const char *name = lpt_onnx_string (on, "direction", "forward");

  if (strcmp (name, "forward") == 0)
    return LPT_DIRECTION_FORWARD;
  if (strcmp (name, "reverse") == 0)
    return LPT_DIRECTION_REVERSE;
  if (strcmp (name, "bidirectional") != 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "direction \"%s\"", name);
  return LPT_DIRECTION_BIDIRECTIONAL;
}

/* LSTM with peepholes or coupled gates: X [T, B, I], states [B, D, S]; sets the outputs with the batch second. */
static void
go_by_steps (LptOnnxNode *on,
             LptValue    *x,
             LptValue   **state,
             gint64       hidden)
{
  LptValue *out[2][3] = { { NULL } };
  LptOnnxLstm lstm;

  if (!lpt_onnx_lstm_read (on, &lstm, hidden))
    return;
  for (gint64 d = 0; d < lstm.directions && on->error == NULL; d++)
    {
      LptValue *in[LPT_ONNX_LSTM_INPUTS] = { NULL }, *bias = lpt_onnx_of_direction (on, lpt_onnx_optional (on, 3), d);

      in[LPT_ONNX_LSTM_STEP] = lpt_onnx_product (on, x, lpt_onnx_of_direction (on, lpt_onnx_in (on, 1), d), TRUE);
      if (bias != NULL)
        {
          bias = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_slice (on, bias, 0, 0, 4 * hidden),
                                lpt_onnx_slice (on, bias, 0, 4 * hidden, 8 * hidden));
          in[LPT_ONNX_LSTM_STEP] = lpt_onnx_emit (on, LPT_OP_ADD, 2, in[LPT_ONNX_LSTM_STEP], bias);
        }
      in[LPT_ONNX_LSTM_HIDDEN] = lpt_onnx_squeeze (on, lpt_onnx_slice (on, state[0], 1, d, d + 1), 1);
      in[LPT_ONNX_LSTM_CELL] = lpt_onnx_squeeze (on, lpt_onnx_slice (on, state[1], 1, d, d + 1), 1);
      in[LPT_ONNX_LSTM_WEIGHTS] = lpt_onnx_of_direction (on, lpt_onnx_in (on, 2), d);
      in[LPT_ONNX_LSTM_PEEPHOLES] = lpt_onnx_of_direction (on, lpt_onnx_optional (on, 7), d);
      in[LPT_ONNX_LSTM_LENGTHS] = lpt_onnx_optional (on, 4);
      lpt_onnx_lstm_run (on, &lstm, d, in, out[d]);
    }
  lpt_onnx_lstm_set (on, &lstm, out);
}

/* Y and the states from [T, D, B, S] and [D, B, S] to layout 1. */
static void
set_batch_first (LptOnnxNode *on,
                 guint        states)
{
  const gint64 order[] = { 2, 0, 1, 3 };

  for (guint i = 0; i <= states; i++)
    if (lpt_onnx_wants (on, i) && on->error == NULL)
      lpt_onnx_set (on, i, i == 0 ? lpt_onnx_transpose (on, on->out[0], 4, order)
                                  : lpt_onnx_transpose (on, on->out[i], 3, swap_axes));
}

/* Argument: the op. */
void
lpt_onnx_map_recurrent (LptOnnxNode *on)
{
  LptOp op = (LptOp) on->argument;
  gint64 gates = op == LPT_OP_LSTM_SEQUENCE ? 4 : op == LPT_OP_GRU_SEQUENCE ? 3 : 1;
  guint states = gates == 4 ? 2 : 1, n = 0;
  gboolean batch_first = lpt_onnx_int (on, "layout", 0) != 0;
  gboolean linear = op == LPT_OP_GRU_SEQUENCE && lpt_onnx_int (on, "linear_before_reset", 0) != 0;
  LptDirection direction = read_direction (on);
  gint64 directions = direction == LPT_DIRECTION_BIDIRECTIONAL ? 2 : 1, hidden;
  LptValue *x = lpt_onnx_with_rank (on, lpt_onnx_in (on, 0), 3);
  LptValue *w = lpt_onnx_with_rank (on, lpt_onnx_in (on, 1), 3), *r = lpt_onnx_with_rank (on, lpt_onnx_in (on, 2), 3);
  LptValue *bias = lpt_onnx_optional (on, 3), *lengths = lpt_onnx_optional (on, 4), *in[7];
  LptRnnSequenceAttrs *attrs;
  LptNode *node;

  if (lpt_onnx_rank (on, r) != 3 || lpt_onnx_rank (on, x) != 3 || lpt_onnx_rank (on, w) != 3)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "X, W and R need three axes");
  hidden = lpt_onnx_int (on, "hidden_size", on->error == NULL ? r->shape.dims[2] : 0);
  if (on->error == NULL && (hidden < 1 || hidden > G_MAXINT32 / 8))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "hidden_size is %" G_GINT64_FORMAT, hidden);
  lpt_onnx_ignore (on, "output_sequence");   /* below opset 7: whether Y is wanted */
  if (on->error != NULL)
    return;

  x = batch_first ? x : lpt_onnx_transpose (on, x, 3, swap_axes);
  in[n++] = x;
  for (guint i = 0; i < states; i++)
    in[n++] = read_state (on, lpt_onnx_optional (on, 5 + i), x, directions, hidden, batch_first);
  if (states > 1 && (lpt_onnx_optional (on, 7) != NULL || lpt_onnx_int (on, "input_forget", 0) != 0))
    {
      go_by_steps (on, lpt_onnx_transpose (on, x, 3, swap_axes), in + 1, hidden);
      if (batch_first)
        set_batch_first (on, states);
      return;
    }
  in[n++] = lengths != NULL ? lpt_onnx_convert (on, lengths, LPT_DTYPE_I64)
                            : lpt_onnx_broadcast (on, lpt_onnx_dim (on, x, 1), lpt_onnx_dim (on, x, 0));
  in[n++] = order_gates (on, w, hidden);
  in[n++] = order_gates (on, r, hidden);
  in[n++] = bias != NULL ? read_bias (on, bias, gates, hidden, linear)
                         : no_bias (on, x, directions, (gates + (linear ? 1 : 0)) * hidden);
  node = lpt_onnx_add_list (on, op, states + 1, n, in);
  attrs = LPT_ATTRS (node, LptRnnSequenceAttrs);
  attrs->hidden_size = hidden;
  attrs->direction = direction;
  attrs->clip = lpt_onnx_float (on, "clip", 0);
  attrs->linear_before_reset = linear;
  set_activations (on, attrs, gates == 4 ? 3 : gates == 3 ? 2 : 1, (guint) directions);
  lpt_onnx_done (on, node);
  if (on->error != NULL)
    return;

  if (lpt_onnx_wants (on, 0))
    {
      const gint64 time_first[] = { 2, 1, 0, 3 }, after_batch[] = { 0, 2, 1, 3 };

      lpt_onnx_set (on, 0, lpt_onnx_transpose (on, &node->out[0], 4, batch_first ? after_batch : time_first));
    }
  for (guint i = 1; i <= states; i++)
    if (lpt_onnx_wants (on, i))
      lpt_onnx_set (on, i, batch_first ? &node->out[i] : lpt_onnx_transpose (on, &node->out[i], 3, swap_axes));
}
