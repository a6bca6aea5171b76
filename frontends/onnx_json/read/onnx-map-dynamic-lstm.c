/* onnx-map-dynamic-lstm.c - com.microsoft's DynamicQuantizeLSTM
 *
 * X is quantized once, over all steps and the whole batch, and multiplied with W before the loop; the state is
 * quantized anew at each step. Everything else is real:
 *
 *     i, o, f, c = X W + H R + bias, each in its quarter; peepholes, clip, activations as in LSTM
 *
 * W [D, I, 4 S] and R [D, S, 4 S] are transposed against LSTM. One TensorIterator per direction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-body.h"
#include "frontends/onnx_json/read/onnx-quant.h"

#include <lpt/lpt-body.h>

#include <string.h>

/* Parameters of the body in this order; inputs of the node likewise */
enum { STEP, POSITION, HIDDEN, CELL, LAST_HIDDEN, LAST_CELL, WEIGHTS, SCALE, LENGTHS, PEEPHOLES, N_PARAMETERS };

typedef struct
{
  gint64    hidden;
  gint64    directions;
  gboolean  backwards;       /* a single direction */
  double    clip;
  LptOp     activation[6];   /* of the gates, the candidate and the cell; three of each direction */
} Lstm;

/* --- reading ---------------------------------------------------------------------------- */

static void
read_activations (LptOnnxNode *on,
                  Lstm        *lstm)
{
  static const struct { const char *name; LptOp op; } known[] = {
    { "Sigmoid", LPT_OP_SIGMOID }, { "Tanh", LPT_OP_TANH }, { "Relu", LPT_OP_RELU }, { "Softsign", LPT_OP_SOFT_SIGN },
    { "Softplus", LPT_OP_SOFT_PLUS },
  };
  const Onnx__AttributeProto *list = lpt_onnx_attr (on, "activations", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);

  for (guint i = 0; i < 6; i++)
    lstm->activation[i] = i % 3 == 0 ? LPT_OP_SIGMOID : LPT_OP_TANH;
  for (guint i = 0; list != NULL && i < MIN (list->n_strings, 6); i++)
    {
      const ProtobufCBinaryData *text = &list->strings[i];
      guint k = 0;

      while (k < G_N_ELEMENTS (known)
             && (strlen (known[k].name) != text->len
                 || g_ascii_strncasecmp (known[k].name, (const char *) text->data, text->len) != 0))
        k++;
      if (k < G_N_ELEMENTS (known))
        lstm->activation[i] = known[k].op;
      else
        lpt_onnx_unsupported (on, "activation \"%.*s\"", (int) MIN (text->len, 64), (const char *) text->data);
    }
}

static gboolean
read_lstm (LptOnnxNode *on,
           Lstm        *lstm)
{
  const char *direction = lpt_onnx_string (on, "direction", "forward");
  static const char *const numbers[] = { "activation_alpha", "activation_beta" };
  LptValue *r = lpt_onnx_in (on, 2);

  lstm->backwards = strcmp (direction, "reverse") == 0;
  lstm->directions = strcmp (direction, "bidirectional") == 0 ? 2 : 1;
  lstm->clip = lpt_onnx_float (on, "clip", 0);
  read_activations (on, lstm);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      const Onnx__AttributeProto *list = lpt_onnx_attr (on, numbers[i], ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);

      if (list != NULL && list->n_floats > 0)
        lpt_onnx_unsupported (on, "%s", numbers[i]);
    }
  if (lpt_onnx_int (on, "input_forget", 0) != 0)
    lpt_onnx_unsupported (on, "input_forget");
  if (lpt_onnx_rank (on, lpt_onnx_in (on, 0)) != 3 || lpt_onnx_rank (on, lpt_onnx_in (on, 1)) != 3
      || lpt_onnx_rank (on, r) != 3)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "X, W and R need three axes");
  lstm->hidden = lpt_onnx_int (on, "hidden_size", on->error == NULL ? r->shape.dims[1] : 0);
  if (on->error == NULL && (lstm->hidden < 1 || lstm->hidden > G_MAXINT32 / 8))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "hidden_size is %" G_GINT64_FORMAT, lstm->hidden);
  return on->error == NULL;
}

/* --- one direction ------------------------------------------------------------------------ */

/* Input @i [D, ...] of direction @d */
static LptValue *
of_direction (LptOnnxNode *on,
              LptValue    *x,
              gint64       d)
{
  return x != NULL ? lpt_onnx_squeeze (on, lpt_onnx_slice (on, x, 0, d, d + 1), 0) : NULL;
}

/* Codes @i of direction @d less their zero point, as real numbers */
static LptValue *
weights_of (LptOnnxNode *on,
            guint        i,
            guint        zero,
            gint64       d)
{
  LptValue *w = lpt_onnx_convert (on, of_direction (on, lpt_onnx_plain (on, lpt_onnx_in (on, i)), d), LPT_DTYPE_F32);

  if (lpt_onnx_optional (on, zero) == NULL)
    return w;
  return lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, w,
                        lpt_onnx_convert (on, of_direction (on, lpt_onnx_in (on, zero), d), LPT_DTYPE_F32));
}

/* (codes of @x - their zero point) @weights * (the two scales) */
static LptValue *
product (LptOnnxNode    *on,
         LptOnnxDynamic  x,
         LptValue       *weights,
         LptValue       *scale)
{
  LptValue *codes = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_convert (on, x.codes, LPT_DTYPE_F32),
                                   lpt_onnx_convert (on, x.zero_point, LPT_DTYPE_F32));

  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_MATMUL, 2, codes, weights),
                        lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x.scale, scale));
}

/* Quarter @i of the gates: i o f c, with a peephole (NULL = none) of @cell, clipped, through @op */
static LptValue *
gate (LptOnnxNode *on,
      const Lstm  *lstm,
      LptValue    *gates,
      gint64       i,
      LptValue    *cell,
      LptValue    *peepholes,
      gint64       peephole,
      LptOp        op)
{
  LptValue *x = lpt_onnx_slice (on, gates, 1, i * lstm->hidden, (i + 1) * lstm->hidden);

  if (peepholes != NULL)
    {
      LptValue *p = lpt_onnx_slice (on, peepholes, 0, peephole * lstm->hidden, (peephole + 1) * lstm->hidden);

      x = lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, cell, p));
    }
  if (lstm->clip > 0)
    {
      LptNode *node = lpt_onnx_add (on, LPT_OP_CLAMP, 1, x);

      LPT_ATTRS (node, LptClampAttrs)->min = -lstm->clip;
      LPT_ATTRS (node, LptClampAttrs)->max = lstm->clip;
      x = lpt_onnx_done (on, node);
    }
  return lpt_onnx_emit (on, op, 1, x);
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

/* One step: results are the output [1, B, S], the state and the cell [B, S], with lengths also those of the last step
 * of each sequence. */
static void
fill_body (LptOnnxNode  *on,
           LptGraph     *graph,
           const Lstm   *lstm,
           const LptOp  *activation,
           LptValue    **in)
{
  LptValue *h = in[HIDDEN], *c = in[CELL], *gates, *i, *o, *f, *g, *next, *cell, *live = NULL;

  gates = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_squeeze (on, in[STEP], 0),
                         product (on, lpt_onnx_quantize_dynamic (on, h), in[WEIGHTS], in[SCALE]));
  i = gate (on, lstm, gates, 0, c, in[PEEPHOLES], 0, activation[0]);
  f = gate (on, lstm, gates, 2, c, in[PEEPHOLES], 2, activation[0]);
  g = gate (on, lstm, gates, 3, NULL, NULL, 0, activation[1]);
  cell = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, f, c),
                        lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, i, g));
  o = gate (on, lstm, gates, 1, cell, in[PEEPHOLES], 1, activation[0]);
  next = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, o, lpt_onnx_emit (on, activation[2], 1, cell));
  g = next;
  /* Behind the end of a sequence its output is 0, and so is the state that the batch is quantized with. */
  if (in[LENGTHS] != NULL)
    {
      live = lpt_onnx_emit (on, LPT_OP_LESS, 2, in[POSITION], in[LENGTHS]);
      g = lpt_onnx_emit (on, LPT_OP_SELECT, 3, live, next, lpt_onnx_like (on, next, 0));
    }
  add_result (on, graph, lpt_onnx_unsqueeze (on, g, 0));
  add_result (on, graph, g);
  add_result (on, graph, cell);
  if (in[LENGTHS] != NULL)
    {
      add_result (on, graph, lpt_onnx_emit (on, LPT_OP_SELECT, 3, live, next, in[LAST_HIDDEN]));
      add_result (on, graph, lpt_onnx_emit (on, LPT_OP_SELECT, 3, live, cell, in[LAST_CELL]));
    }
}

static gboolean
goes_back (const Lstm *lstm,
           gint64      d)
{
  return lstm->backwards || d == 1;
}

/* The steps of each sequence in reverse order: all begin together, since the state is quantized with its batch. */
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

/* @in of one direction, in the order of the parameters -> output [T, B, S], state, cell */
static void
iterate (LptOnnxNode  *on,
         const Lstm   *lstm,
         gint64        d,
         LptValue    **in,
         LptValue    **out)
{
  LptGraph *graph = lpt_graph_new ("step");
  g_autoptr (LptOnnxScope) scope = lpt_onnx_scope_inside (on->scope, graph);
  LptOnnxNode inner = { .import = on->import, .scope = scope, .proto = on->proto, .name = on->name,
                        .opset = on->opset };
  gboolean backwards = in[LENGTHS] == NULL && goes_back (lstm, d);
  LptBodyMap *map = lpt_body_map_new ();
  LptValue *inside[N_PARAMETERS] = { NULL }, *outside[N_PARAMETERS];
  LptNode *node;
  guint n = 0;

  for (guint i = 0; i < N_PARAMETERS; i++)
    {
      LptParameterAttrs *attrs;

      if (in[i] == NULL)
        continue;
      node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, NULL, 0, NULL);
      attrs = LPT_ATTRS (node, LptParameterAttrs);
      attrs->element_type = in[i]->dtype;
      attrs->shape = in[i]->shape;
      lpt_onnx_add_port (map->inputs, (gint) n, n);
      if (i == STEP || i == POSITION)
        {
          attrs->shape.dims[0] = 1;
          lpt_onnx_slice_port (map->inputs, 0, backwards);
        }
      else if (i >= HIDDEN && i <= LAST_CELL)
        {
          LptBackEdge edge = { .result = 1 + i - HIDDEN, .parameter = n };

          g_array_append_val (map->back_edges, edge);
        }
      inside[i] = lpt_onnx_done (&inner, node);
      outside[n++] = in[i];
    }
  if (inner.error == NULL)
    fill_body (&inner, graph, lstm, lstm->activation + 3 * d, inside);
  for (guint i = 0; i < 3; i++)
    {
      lpt_onnx_add_port (map->outputs, (gint) i, i > 0 && in[LENGTHS] != NULL ? i + 2 : i);
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

/* --- the operator ----------------------------------------------------------------------------- */

/* Zeros of [B, S] where the state is not given */
static LptValue *
state_of (LptOnnxNode *on,
          const Lstm  *lstm,
          guint        i,
          gint64       d)
{
  LptValue *shape[2];

  if (lpt_onnx_optional (on, i) != NULL)
    return of_direction (on, lpt_onnx_in (on, i), d);
  shape[0] = lpt_onnx_dim (on, lpt_onnx_in (on, 0), 1);
  shape[1] = lpt_onnx_i64 (on, 1, &lstm->hidden);
  return lpt_onnx_broadcast (on, lpt_onnx_scalar (on, LPT_DTYPE_F32, 0), lpt_onnx_concat (on, 0, 2, shape));
}

/* 0, 1, ... as [T, 1, 1] */
static LptValue *
positions (LptOnnxNode *on,
           LptValue    *x)
{
  LptValue *length = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, 0), 0);
  gint64 dims[2] = { -1, 1 };
  LptValue *steps = lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), length, lpt_onnx_i64_scalar (on, 1));

  return lpt_onnx_reshape (on, steps, 2, dims);
}

/* Inputs: X, W, R, B, lengths, state, cell, P, then scale and zero point of W and of R */
void
lpt_onnx_map_dynamic_quantize_lstm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *parts[3][2] = { { NULL } }, *lengths = lpt_onnx_optional (on, 4);
  gint64 column[2] = { -1, 1 };
  LptOnnxDynamic codes;
  Lstm lstm;

  if (!read_lstm (on, &lstm))
    return;
  codes = lpt_onnx_quantize_dynamic (on, x);
  if (lengths != NULL)
    lengths = lpt_onnx_reshape (on, lpt_onnx_convert (on, lengths, LPT_DTYPE_I64), 2, column);
  for (gint64 d = 0; d < lstm.directions && on->error == NULL; d++)
    {
      LptValue *in[N_PARAMETERS] = { NULL }, *out[3] = { NULL };
      LptValue *bias = of_direction (on, lpt_onnx_optional (on, 3), d);

      in[STEP] = product (on, codes, weights_of (on, 1, 9, d), of_direction (on, lpt_onnx_in (on, 8), d));
      if (bias != NULL)
        {
          bias = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_slice (on, bias, 0, 0, 4 * lstm.hidden),
                                lpt_onnx_slice (on, bias, 0, 4 * lstm.hidden, 8 * lstm.hidden));
          in[STEP] = lpt_onnx_emit (on, LPT_OP_ADD, 2, in[STEP], bias);
        }
      in[HIDDEN] = state_of (on, &lstm, 5, d);
      in[CELL] = state_of (on, &lstm, 6, d);
      in[LAST_HIDDEN] = lengths != NULL ? in[HIDDEN] : NULL;
      in[LAST_CELL] = lengths != NULL ? in[CELL] : NULL;
      in[WEIGHTS] = weights_of (on, 2, 11, d);
      in[SCALE] = of_direction (on, lpt_onnx_in (on, 10), d);
      in[PEEPHOLES] = of_direction (on, lpt_onnx_optional (on, 7), d);
      in[LENGTHS] = lengths;
      in[POSITION] = lengths != NULL ? positions (on, x) : NULL;
      if (lengths != NULL && goes_back (&lstm, d))
        in[STEP] = reversed (on, in[STEP], lengths);
      if (on->error != NULL)
        return;
      iterate (on, &lstm, d, in, out);
      if (on->error != NULL)
        return;
      if (lengths != NULL && goes_back (&lstm, d))
        out[0] = reversed (on, out[0], lengths);
      parts[0][d] = lpt_onnx_unsqueeze (on, out[0], 1);
      for (guint i = 1; i < 3; i++)
        parts[i][d] = lpt_onnx_unsqueeze (on, out[i], 0);
    }
  for (guint i = 0; i < 3; i++)
    if (lpt_onnx_wants (on, i) && on->error == NULL)
      lpt_onnx_set (on, i, lstm.directions == 2 ? lpt_onnx_concat (on, i == 0 ? 1 : 0, 2, parts[i]) : parts[i][0]);
}
