/* tflite-expand-recurrent.c - LSTM, GRU and Elman networks as products and gates
 *
 * eval/lpt-recurrent.h has the formulas.
 *
 *     cell       x W + b, then a step
 *     sequence   x W + b of all steps at once; a TensorIterator whose body is a step
 *
 * A direction that begins at the end goes backwards through the slices. Declined: activations that are not sigmoid,
 * tanh or ReLU, peepholes that are not 0, sequences of different or unknown lengths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>
#include <math.h>

typedef struct
{
  gint64      gates, hidden;
  guint       states, n_functions;
  gboolean    linear_before_reset;
  double      clip;             /* 0: none */
  LptOp       f[3];
  LptValue   *r, *reset_bias;   /* weights [gates hidden, hidden]; of GRU with linear_before_reset [1, hidden] */
} Net;

/* --- what the node says ------------------------------------------------------ */

static LptOp
function_of (const char *name)
{
  static const struct { const char *name; LptOp op; } list[] = { { "sigmoid", LPT_OP_SIGMOID }, { "tanh", LPT_OP_TANH },
                                                                 { "relu", LPT_OP_RELU } };
  for (guint i = 0; i < G_N_ELEMENTS (list); i++)
    if (g_ascii_strcasecmp (list[i].name, name) == 0)
      return list[i].op;
  return LPT_OP_NONE;
}

static void
read_functions (LptTflExpand *x, Net *net, const char *names, guint direction)
{
  static const char *const own[] = { "tanh", "sigmoid,tanh", "sigmoid,tanh,tanh" };
  g_auto (GStrv) list = g_strsplit (names != NULL && *names != 0 ? names : own[net->n_functions - 1], ",", -1);
  guint n = g_strv_length (list), from = direction * net->n_functions;
  from = n < from + net->n_functions ? 0 : from;
  for (guint i = 0; i < net->n_functions; i++)
    {
      net->f[i] = from + i < n ? function_of (g_strstrip (list[from + i])) : LPT_OP_NONE;
      if (net->f[i] == LPT_OP_NONE)
        lpt_tfl_x_decline (x);
    }
}

static Net
read_net (LptTflExpand *x, guint direction)
{
  Net net = { .gates = lpt_node_recurrent_gates (x->node) };
  gboolean cell = (x->node->info->flags & LPT_OP_F_SEQUENCE) == 0;
  const LptRnnCellAttrs *c = LPT_ATTRS (x->node, LptRnnCellAttrs);
  const LptRnnSequenceAttrs *s = LPT_ATTRS (x->node, LptRnnSequenceAttrs);
  double clip = cell ? c->clip : s->clip;
  net.states = net.gates == 4 ? 2 : 1;
  net.n_functions = net.gates == 4 ? 3 : net.gates == 3 ? 2 : 1;
  net.hidden = cell ? c->hidden_size : s->hidden_size;
  net.linear_before_reset = net.gates == 3 && (cell ? c->linear_before_reset : s->linear_before_reset);
  net.clip = clip > 0 && isfinite (clip) ? clip : 0;
  read_functions (x, &net, cell ? c->activations : s->activations, direction);
  return net;
}

/* --- a step -------------------------------------------------------------------- */

static LptValue *
gate (LptTflExpand *x, const Net *net, guint f, LptValue *sum)
{
  if (net->clip > 0)
    sum = lpt_tfl_x_clamp (x, sum, -net->clip, net->clip);
  return lpt_tfl_x_emit (x, net->f[f], 1, sum);
}

/* Gates [@from, @to) of sums [batch, gates hidden]. */
static LptValue *
part (LptTflExpand *x, const Net *net, LptValue *sums, gint64 from, gint64 to)
{
  return lpt_tfl_x_slice (x, sums, 1, from * net->hidden, to * net->hidden);
}

static LptValue *
product (LptTflExpand *x, const Net *net, LptValue *h, gint64 from, gint64 to)
{
  LptValue *r = lpt_tfl_x_slice (x, net->r, 0, from * net->hidden, to * net->hidden);
  return lpt_tfl_x_matmul (x, h, r, TRUE);
}

#define ADD(a, b) lpt_tfl_x_emit (x, LPT_OP_ADD, 2, (a), (b))
#define MUL(a, b) lpt_tfl_x_emit (x, LPT_OP_MULTIPLY, 2, (a), (b))

/* (1 - z) h' + z h */
static void
gru_step (LptTflExpand *x, const Net *net, LptValue *sums, LptValue **state)
{
  LptValue *h = state[0];
  LptValue *zr = gate (x, net, 0, ADD (part (x, net, sums, 0, 2), product (x, net, h, 0, 2)));
  LptValue *z = part (x, net, zr, 0, 1), *r = part (x, net, zr, 1, 2), *other;
  if (net->linear_before_reset)
    {
      other = product (x, net, h, 2, 3);
      other = MUL (r, net->reset_bias != NULL ? ADD (other, net->reset_bias) : other);
    }
  else
    other = product (x, net, MUL (r, h), 2, 3);
  LptValue *fresh = gate (x, net, 1, ADD (part (x, net, sums, 2, 3), other));
  LptValue *rest = lpt_tfl_x_emit (x, LPT_OP_SUBTRACT, 2, lpt_tfl_x_like (x, z, 1), z);
  state[0] = ADD (MUL (rest, fresh), MUL (z, h));
}

/* The states behind a step with x W + b in @sums. */
static void
step (LptTflExpand *x, const Net *net, LptValue *sums, LptValue **state)
{
  if (net->gates == 3)
    {
      gru_step (x, net, sums, state);
      return;
    }
  sums = ADD (sums, product (x, net, state[0], 0, net->gates));
  if (net->gates == 1)
    {
      state[0] = gate (x, net, 0, sums);
      return;
    }
  LptValue *fi = gate (x, net, 0, part (x, net, sums, 0, 2));
  LptValue *fresh = gate (x, net, 1, part (x, net, sums, 2, 3)), *o = gate (x, net, 0, part (x, net, sums, 3, 4));
  state[1] = ADD (MUL (part (x, net, fi, 0, 1), state[1]), MUL (part (x, net, fi, 1, 2), fresh));
  state[0] = MUL (o, lpt_tfl_x_emit (x, net->f[2], 1, state[1]));
}

/* x W + b of rows [.., inputs]; what linear_before_reset adds apart goes to the net. */
static LptValue *
input_sums (LptTflExpand *x, Net *net, LptValue *data, LptValue *w, LptValue *b)
{
  LptValue *sums = lpt_tfl_x_matmul (x, data, w, TRUE);
  if (b == NULL)
    return sums;
  b = lpt_tfl_x_reshape (x, b, 2, (gint64[]) { 1, -1 });
  if (net->linear_before_reset)
    net->reset_bias = part (x, net, b, 3, 4);
  return ADD (sums, part (x, net, b, 0, net->gates));
}

/* --- cells --------------------------------------------------------------------- */

static gboolean
is_zero (LptValue *value)
{
  LptTensor *data = value != NULL ? value->producer->data : NULL;
  for (gint64 i = 0; data != NULL && i < lpt_tensor_count (data); i++)
    if (lpt_tensor_get_f64 (data, i) != 0)
      return FALSE;
  return value == NULL || data != NULL;
}

void
lpt_tfl_expand_cell (LptTflExpand *x)
{
  Net net = read_net (x, 0);
  LptValue *state[2] = { NULL };
  guint w = net.states + 1;
  if (net.gates == 4 && !is_zero (lpt_node_in (x->node, 6)))
    lpt_tfl_x_decline (x);
  if (x->declined)
    return;
  for (guint i = 0; i < net.states; i++)
    state[i] = lpt_tfl_x_in (x, 1 + i);
  net.r = lpt_tfl_x_in (x, w + 1);
  LptValue *sums = input_sums (x, &net, lpt_tfl_x_in (x, 0), lpt_tfl_x_in (x, w), lpt_tfl_x_in (x, w + 2));
  step (x, &net, sums, state);
  for (guint i = 0; i < net.states; i++)
    lpt_tfl_x_set (x, i, state[i]);
}

/* --- sequences ------------------------------------------------------------------- */

static LptValue *
parameter (LptTflExpand *x, const LptValue *outer, gint axis)
{
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_PARAMETER, 1, 0, NULL);
  LPT_ATTRS (node, LptParameterAttrs)->element_type = outer->dtype;
  LPT_ATTRS (node, LptParameterAttrs)->shape = outer->shape;
  if (axis >= 0)
    LPT_ATTRS (node, LptParameterAttrs)->shape.dims[axis] = 1;
  return lpt_tfl_x_done (x, node);
}

static void
add_result (LptTflExpand *x, LptValue *value)
{
  lpt_tfl_x_done (x, lpt_tfl_x_add (x, LPT_OP_RESULT, 0, 1, &value));
}

static void
add_port (GArray *ports, guint external, guint internal, gboolean sliced, gboolean backwards)
{
  LptBodyPort port = { .external = (gint) external, .internal = internal, .sliced = sliced, .axis = 1, .part_size = 1,
                       .start = backwards ? -1 : 0, .end = backwards ? 0 : -1, .stride = backwards ? -1 : 1 };
  g_array_append_val (ports, port);
}

/* The constant in the body's graph. */
static LptValue *
inside (LptTflExpand *x, LptValue *value)
{
  if (value != NULL && value->producer->data == NULL)
    lpt_tfl_x_decline (x);
  return value != NULL && !x->declined ? lpt_tfl_x_tensor (x, lpt_tensor_ref (value->producer->data)) : NULL;
}

/* Parameters: x W + b of a step [batch, 1, gates hidden], states; results: the step [batch, 1, hidden], states. */
static LptGraph *
step_body (LptTflExpand *x, const Net *net, LptValue *sums, LptValue *const *state)
{
  LptGraph *body = lpt_graph_new ("step");
  LptTflExpand inner = { .graph = body, .node = x->node };
  Net own = *net;
  LptValue *now[2] = { NULL };
  LptValue *row = parameter (&inner, sums, 1);
  row = lpt_tfl_x_reshape (&inner, row, 2, (gint64[]) { -1, net->gates * net->hidden });
  for (guint i = 0; i < net->states; i++)
    now[i] = parameter (&inner, state[i], -1);
  own.r = inside (&inner, net->r);
  own.reset_bias = inside (&inner, net->reset_bias);
  if (!inner.declined)
    {
      step (&inner, &own, row, now);
      add_result (&inner, lpt_tfl_x_reshape (&inner, now[0], 3, (gint64[]) { -1, 1, net->hidden }));
      for (guint i = 0; i < net->states; i++)
        add_result (&inner, now[i]);
    }
  x->declined = x->declined || inner.declined;
  x->error = x->error != NULL ? x->error : inner.error;
  if (!x->declined && x->error == NULL)
    return body;
  lpt_graph_free (body);
  return NULL;
}

/* All steps: [batch, steps, hidden]. The states behind them are in @state. */
static LptValue *
iterate (LptTflExpand *x, const Net *net, LptValue *sums, LptValue **state, gboolean backwards)
{
  LptGraph *body = step_body (x, net, sums, state);
  LptValue *in[3] = { sums, state[0], state[1] };
  if (body == NULL)
    return sums;
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_TENSOR_ITERATOR, 1 + net->states, 1 + net->states, in);
  LptBodyMap *map = lpt_body_map_new ();
  for (guint i = 0; i <= net->states; i++)
    {
      LptBackEdge edge = { .result = i, .parameter = i };
      add_port (map->inputs, i, i, i == 0, backwards);
      add_port (map->outputs, i, i, i == 0, backwards);
      if (i > 0)
        g_array_append_val (map->back_edges, edge);
    }
  lpt_node_add_body (node, body, map);
  if (lpt_node_infer (node, &x->error))
    for (guint i = 0; i < net->states; i++)
      state[i] = &node->out[1 + i];
  return lpt_node_out (node);
}

/* Direction @d of [batch or 1, directions, ...] tensors: without this axis. */
static LptValue *
direction_of (LptTflExpand *x, LptValue *value, gint64 axis, gint64 d)
{
  gint64 dims[LPT_MAX_RANK];
  guint n = 0;
  if (value == NULL)
    return NULL;
  LptShape shape = lpt_tfl_x_shape (x, value);
  for (gint i = 0; i < shape.rank; i++)
    if (i != axis)
      dims[n++] = shape.dims[i];
  if (shape.rank > axis && shape.dims[axis] > 1)
    value = lpt_tfl_x_slice (x, value, axis, d, d + 1);
  return x->declined ? value : lpt_tfl_x_reshape (x, value, n, dims);
}

/* Are all sequences as long as the axis? */
static gboolean
is_full (LptTensor *lengths, gint64 steps)
{
  for (gint64 i = 0; lengths != NULL && i < lpt_tensor_count (lengths); i++)
    if (lpt_tensor_get_i64 (lengths, i) != steps)
      return FALSE;
  return lengths != NULL;
}

/* [batch, ..] with an axis for the direction, or both directions along it. */
static LptValue *
joined (LptTflExpand *x, guint n, LptValue **parts)
{
  for (guint d = 0; d < n; d++)
    parts[d] = lpt_tfl_x_emit (x, LPT_OP_UNSQUEEZE, 2, parts[d], lpt_tfl_x_i64 (x, 1, (gint64[]) { 1 }));
  return n > 1 ? lpt_tfl_x_concat (x, 1, n, parts) : parts[0];
}

void
lpt_tfl_expand_sequence (LptTflExpand *x)
{
  gint way = LPT_ATTRS (x->node, LptRnnSequenceAttrs)->direction;
  guint n = way == LPT_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  LptValue *data = lpt_tfl_x_in (x, 0), *outs[3][2];
  LptShape shape = lpt_tfl_x_shape (x, data);
  for (guint d = 0; d < n && !x->declined; d++)
    {
      Net net = read_net (x, d);
      guint w = net.states + 2;
      LptValue *state[2] = { NULL };
      if (x->declined || !is_full (lpt_node_const_in (x->node, net.states + 1), shape.dims[1]))
        {
          lpt_tfl_x_decline (x);
          return;
        }
      for (guint i = 0; i < net.states; i++)
        state[i] = direction_of (x, lpt_tfl_x_in (x, 1 + i), 1, d);
      net.r = direction_of (x, lpt_tfl_x_in (x, w + 1), 0, d);
      LptValue *sums = input_sums (x, &net, data, direction_of (x, lpt_tfl_x_in (x, w), 0, d),
                                   direction_of (x, lpt_tfl_x_in (x, w + 2), 0, d));
      outs[0][d] = iterate (x, &net, sums, state, way == LPT_DIRECTION_REVERSE || d == 1);
      outs[1][d] = state[0];
      outs[2][d] = state[1];
    }
  for (guint o = 0; o < x->node->n_out && !x->declined && x->error == NULL; o++)
    lpt_tfl_x_set (x, o, joined (x, n, outs[o]));
}
