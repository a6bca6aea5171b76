/* onnx-lstm.c - an LSTM step by step: one TensorIterator per direction
 *
 * For what the sequence of the graph has not: peepholes, coupled gates, a state that is quantized anew at each step.
 *
 *     i, o, f, c' = X W + H R + bias, each in its quarter; i and f + P C before the step, o + P C after it
 *     i, o, f = f1 (clip (...)); with input_forget f = 1 - i;  c' = f2 (clip (...))
 *     C = f C + i c',  H = o f3 (C)
 *
 * Behind the end of a sequence its output is 0; state and cell are those of its last step. In the reverse direction the
 * steps of each sequence are turned round, since all of a batch begin together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-lstm.h"

#include "frontends/onnx_json/read/onnx-body.h"
#include "frontends/onnx_json/read/onnx-quant.h"

#include <lpt/lpt-body.h>

#include <string.h>

/* --- reading ---------------------------------------------------------------------------- */

gboolean
lpt_onnx_lstm_read (LptOnnxNode *on,
                    LptOnnxLstm *lstm,
                    gint64       hidden)
{
  const char *direction = lpt_onnx_string (on, "direction", "forward");

  lstm->backwards = strcmp (direction, "reverse") == 0;
  lstm->directions = strcmp (direction, "bidirectional") == 0 ? 2 : 1;
  lstm->clip = lpt_onnx_float (on, "clip", 0);
  lstm->coupled = lpt_onnx_int (on, "input_forget", 0) != 0;
  lpt_onnx_activations (on, 3, (guint) lstm->directions, lstm->activation);
  lstm->hidden = lpt_onnx_int (on, "hidden_size", hidden);
  if (on->error == NULL && (lstm->hidden < 1 || lstm->hidden > G_MAXINT32 / 8))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "hidden_size is %" G_GINT64_FORMAT, lstm->hidden);
  return on->error == NULL;
}

/* --- one direction ------------------------------------------------------------------------ */

LptValue *
lpt_onnx_of_direction (LptOnnxNode *on,
                       LptValue    *x,
                       gint64       d)
{
  return x != NULL ? lpt_onnx_squeeze (on, lpt_onnx_slice (on, x, 0, d, d + 1), 0) : NULL;
}

/* The state times the weights. */
static LptValue *
state_product (LptOnnxNode *on,
               LptValue    *h,
               LptValue    *weights,
               LptValue    *scale)
{
  return scale != NULL ? lpt_onnx_dynamic_product (on, lpt_onnx_quantize_dynamic (on, h), weights, scale)
                       : lpt_onnx_product (on, h, weights, TRUE);
}

static LptValue *
clipped (LptOnnxNode       *on,
         const LptOnnxLstm *lstm,
         LptValue          *x)
{
  LptNode *node;

  if (!(lstm->clip > 0))
    return x;
  node = lpt_onnx_add (on, LPT_OP_CLAMP, 1, x);
  LPT_ATTRS (node, LptClampAttrs)->min = -lstm->clip;
  LPT_ATTRS (node, LptClampAttrs)->max = lstm->clip;
  return lpt_onnx_done (on, node);
}

static LptValue *
quarter (LptOnnxNode       *on,
         const LptOnnxLstm *lstm,
         LptValue          *gates,
         gint64             i)
{
  return lpt_onnx_slice (on, gates, 1, i * lstm->hidden, (i + 1) * lstm->hidden);
}

/* Gate @i of i o f, with its peephole of @cell. */
static LptValue *
gate (LptOnnxNode       *on,
      const LptOnnxLstm *lstm,
      LptValue         **in,
      LptValue          *gates,
      gint64             i,
      LptValue          *cell)
{
  LptValue *x = quarter (on, lstm, gates, i), *p = in[LPT_ONNX_LSTM_PEEPHOLES];

  if (p != NULL)
    {
      p = lpt_onnx_slice (on, p, 0, i * lstm->hidden, (i + 1) * lstm->hidden);
      x = lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, cell, p));
    }
  return clipped (on, lstm, x);
}

static void
add_result (LptOnnxNode *on,
            LptGraph    *graph,
            LptValue    *value)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_RESULT, 0, NULL, 1, &value);

  if (on->error == NULL)
    lpt_node_infer (node, &on->error);
}

static LptValue *
activate (LptOnnxNode             *on,
          const LptOnnxActivation *function,
          LptValue                *x)
{
  return function->build (on, function, x);
}

/* One step: results are the output [1, B, S], the state and the cell [B, S], with lengths also those of the last step
 * of each sequence. */
static void
fill_body (LptOnnxNode       *on,
           LptGraph          *graph,
           const LptOnnxLstm *lstm,
           gint64             d,
           LptValue         **in)
{
  const LptOnnxActivation *function = lstm->activation + 3 * d;
  LptValue *h = in[LPT_ONNX_LSTM_HIDDEN], *c = in[LPT_ONNX_LSTM_CELL], *lengths = in[LPT_ONNX_LSTM_LENGTHS];
  LptValue *gates, *i, *o, *f, *g, *next, *cell, *live = NULL;

  gates = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_squeeze (on, in[LPT_ONNX_LSTM_STEP], 0),
                         state_product (on, h, in[LPT_ONNX_LSTM_WEIGHTS], in[LPT_ONNX_LSTM_SCALE]));
  i = activate (on, &function[0], gate (on, lstm, in, gates, 0, c));
  f = lstm->coupled ? lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, i, 1), i)
                    : activate (on, &function[0], gate (on, lstm, in, gates, 2, c));
  g = activate (on, &function[1], clipped (on, lstm, quarter (on, lstm, gates, 3)));
  cell = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, f, c),
                        lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, i, g));
  o = activate (on, &function[0], gate (on, lstm, in, gates, 1, cell));
  next = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, o, activate (on, &function[2], cell));
  g = next;
  /* What is quantized with its batch is 0 behind the end of a sequence, as the output is. */
  if (lengths != NULL)
    {
      live = lpt_onnx_emit (on, LPT_OP_LESS, 2, in[LPT_ONNX_LSTM_POSITION], lengths);
      g = lpt_onnx_emit (on, LPT_OP_SELECT, 3, live, next, lpt_onnx_like (on, next, 0));
    }
  add_result (on, graph, lpt_onnx_unsqueeze (on, g, 0));
  add_result (on, graph, g);
  add_result (on, graph, cell);
  if (lengths != NULL)
    {
      add_result (on, graph, lpt_onnx_emit (on, LPT_OP_SELECT, 3, live, next, in[LPT_ONNX_LSTM_LAST_HIDDEN]));
      add_result (on, graph, lpt_onnx_emit (on, LPT_OP_SELECT, 3, live, cell, in[LPT_ONNX_LSTM_LAST_CELL]));
    }
}

static gboolean
goes_back (const LptOnnxLstm *lstm,
           gint64             d)
{
  return lstm->backwards || d == 1;
}

/* The steps of each sequence in reverse order: all begin together. */
static LptValue *
reversed (LptOnnxNode *on,
          LptValue    *x,
          LptValue    *lengths)
{
  gint64 flat = -1;
  LptNode *node = lpt_onnx_add (on, LPT_OP_REVERSE_SEQUENCE, 2, x, lpt_onnx_reshape (on, lengths, 1, &flat));

  LPT_ATTRS (node, LptReverseSequenceAttrs)->batch_axis = 1;
  LPT_ATTRS (node, LptReverseSequenceAttrs)->seq_axis = 0;
  return lpt_onnx_done (on, node);
}

/* Parameter @n of the body for @value, input @i. */
static LptValue *
add_parameter (LptOnnxNode *inner,
               LptGraph    *graph,
               LptBodyMap  *map,
               LptValue    *value,
               guint        i,
               guint        n,
               gboolean     backwards)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, NULL, 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);

  attrs->element_type = value->dtype;
  attrs->shape = value->shape;
  lpt_onnx_add_port (map->inputs, (gint) n, n);
  if (i == LPT_ONNX_LSTM_STEP || i == LPT_ONNX_LSTM_POSITION)
    {
      attrs->shape.dims[0] = 1;
      lpt_onnx_slice_port (map->inputs, 0, backwards);
    }
  else if (i >= LPT_ONNX_LSTM_HIDDEN && i <= LPT_ONNX_LSTM_LAST_CELL)
    {
      LptBackEdge edge = { .result = 1 + i - LPT_ONNX_LSTM_HIDDEN, .parameter = n };

      g_array_append_val (map->back_edges, edge);
    }
  return lpt_onnx_done (inner, node);
}

/* @in of one direction, complete -> output [T, B, S], state, cell */
static void
iterate (LptOnnxNode       *on,
         const LptOnnxLstm *lstm,
         gint64             d,
         LptValue         **in,
         LptValue         **out)
{
  LptGraph *graph = lpt_graph_new ("step");
  g_autoptr (LptOnnxScope) scope = lpt_onnx_scope_inside (on->scope, graph);
  LptOnnxNode inner = { .import = on->import, .scope = scope, .proto = on->proto, .name = on->name,
                        .opset = on->opset };
  gboolean backwards = in[LPT_ONNX_LSTM_LENGTHS] == NULL && goes_back (lstm, d);
  LptBodyMap *map = lpt_body_map_new ();
  LptValue *inside[LPT_ONNX_LSTM_INPUTS] = { NULL }, *outside[LPT_ONNX_LSTM_INPUTS];
  LptNode *node;
  guint n = 0;

  for (guint i = 0; i < LPT_ONNX_LSTM_INPUTS; i++)
    if (in[i] != NULL)
      {
        inside[i] = add_parameter (&inner, graph, map, in[i], i, n, backwards);
        outside[n++] = in[i];
      }
  if (inner.error == NULL)
    fill_body (&inner, graph, lstm, d, inside);
  for (guint i = 0; i < 3; i++)
    {
      lpt_onnx_add_port (map->outputs, (gint) i, i > 0 && in[LPT_ONNX_LSTM_LENGTHS] != NULL ? i + 2 : i);
      if (i == 0)
        lpt_onnx_slice_port (map->outputs, 0, backwards);
    }
  if (inner.error != NULL)
    {
      if (on->error == NULL)
        g_propagate_error (&on->error, inner.error);
      else
        g_error_free (inner.error);
      lpt_graph_free (graph);
      lpt_body_map_free (map);
      return;
    }
  node = lpt_onnx_add_list (on, LPT_OP_TENSOR_ITERATOR, 3, n, outside);
  lpt_node_add_body (node, graph, map);
  lpt_onnx_done (on, node);
  for (guint i = 0; i < 3; i++)
    out[i] = &node->out[i];
}

/* 0, 1, ... as [T, 1] */
static LptValue *
positions (LptOnnxNode *on,
           LptValue    *x)
{
  LptValue *length = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, 0), 0);
  gint64 dims[2] = { -1, 1 };
  LptValue *steps = lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), length, lpt_onnx_i64_scalar (on, 1));

  return lpt_onnx_reshape (on, steps, 2, dims);
}

void
lpt_onnx_lstm_run (LptOnnxNode       *on,
                   const LptOnnxLstm *lstm,
                   gint64             d,
                   LptValue         **in,
                   LptValue         **out)
{
  LptValue *lengths = in[LPT_ONNX_LSTM_LENGTHS];
  gint64 column[2] = { -1, 1 };

  if (lengths != NULL)
    {
      lengths = lpt_onnx_reshape (on, lpt_onnx_convert (on, lengths, LPT_DTYPE_I64), 2, column);
      in[LPT_ONNX_LSTM_LENGTHS] = lengths;
      in[LPT_ONNX_LSTM_LAST_HIDDEN] = in[LPT_ONNX_LSTM_HIDDEN];
      in[LPT_ONNX_LSTM_LAST_CELL] = in[LPT_ONNX_LSTM_CELL];
      in[LPT_ONNX_LSTM_POSITION] = positions (on, in[LPT_ONNX_LSTM_STEP]);
      if (goes_back (lstm, d))
        in[LPT_ONNX_LSTM_STEP] = reversed (on, in[LPT_ONNX_LSTM_STEP], lengths);
    }
  if (on->error == NULL)
    iterate (on, lstm, d, in, out);
  if (on->error == NULL && lengths != NULL && goes_back (lstm, d))
    out[0] = reversed (on, out[0], lengths);
}

void
lpt_onnx_lstm_set (LptOnnxNode       *on,
                   const LptOnnxLstm *lstm,
                   LptValue        *(*out)[3])
{
  for (guint i = 0; i < 3; i++)
    if (lpt_onnx_wants (on, i) && on->error == NULL)
      {
        gint64 axis = i == 0 ? 1 : 0;
        LptValue *parts[2] = { NULL };

        for (gint64 d = 0; d < lstm->directions; d++)
          parts[d] = lpt_onnx_unsqueeze (on, out[d][i], axis);
        lpt_onnx_set (on, i, lstm->directions == 2 ? lpt_onnx_concat (on, axis, 2, parts) : parts[0]);
      }
}
