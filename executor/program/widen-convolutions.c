/* widen-convolutions.c - convolutions of few output channels write several neighbours along a line as channels
 *
 *     y[o, j G + g] = sum w[o, t] x[s (j G + g) + t]  =  sum w'[g O + o, t] x[s G j + t]
 *     w'[g O + o, s g + t] = w[o, t]
 *
 * Kernels of products hold output channels in their lanes, sixteen at least: of three channels thirteen lanes are idle.
 * G windows that lie next to each other are one of k + s (G - 1) taps, with G times the channels and G times the
 * stride; taps that a window has not are weights of 0. The lanes are full for (k + s (G - 1)) / k times the products of
 * one window. What is written is moved into its order: little, with so few channels. Exact on integers.
 *
 * Left alone: what is real, since 0 times infinity is not 0; groups; dilations along the line; windows of so few
 * elements, or convolutions of so few products, that moving the result costs more; results that other ops than one
 * Dequantize read as sums. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-restrictions.h>

#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-memory.h"

/* Output channels that kernels compute at once, at least. */
#define LANES 16
/* Elements of a window and products that are worth it, and the share of the time that may be left. */
#define LEAST_WINDOW 64
#define LEAST_PRODUCTS (1 << 18)
#define MOST_LEFT 0.56

typedef struct
{
  LptGraph *graph;
  LptNode  *node;
  LptNode  *last;          /* whose result is moved: the convolution, or the Dequantize behind it */
  gint      axis;          /* the last one */
  gint64    channels, taps, stride, group;
} Wide;

/* The number of windows that become one; 1: none. */
static gint64
find_group (const Wide *w)
{
  const gint64 line = w->node->out[0].shape.dims[w->axis];
  gint64 g;

  for (g = LANES / w->channels; g > 1; g--)
    if (line % g == 0 &&
        (double) (w->taps + w->stride * (g - 1)) <= MOST_LEFT * (double) (w->taps * g))
      break;

  return g;
}

static gboolean
is_constant (const LptValue *value)
{
  return value == NULL || value->producer->data != NULL;
}

/* One scale for the codes that are moved; sums are made real first, by the one op that reads them. */
static gboolean
find_last (Wide *w)
{
  const LptValue *y = lpt_node_out (w->node);

  w->last = w->node;
  if (y->quant == NULL)
    return FALSE;
  if (y->dtype != LPT_DTYPE_I32)
    return y->quant->n == 1;
  if (lpt_value_n_uses (y) != 1)
    return FALSE;
  w->last = lpt_value_use (y, 0)->node;

  return w->last->op == LPT_OP_DEQUANTIZE && (y->quant->n == 1 || y->quant->axis == 1);
}

static gboolean
read_wide (Wide     *w,
           LptGraph *graph,
           LptNode  *node)
{
  const LptConvAttrs *a = LPT_ATTRS (node, LptConvAttrs);
  const LptShape *y = &node->out[0].shape;
  const LptValue *weights = lpt_node_in (node, 1);
  gint64 window, count;

  *w = (Wide) { .graph = graph, .node = node, .axis = y->rank - 1 };
  if (weights->producer->data == NULL || weights->quant == NULL || lpt_dtype_bits (weights->dtype) != 8 ||
      !lpt_shape_is_static (y) || y->rank < 3 || a->auto_pad != LPT_AUTO_PAD_EXPLICIT ||
      (node->n_in > 2 && !is_constant (lpt_node_in (node, 2))))
    return FALSE;
  w->channels = weights->shape.dims[0];
  w->taps = weights->shape.dims[w->axis];
  w->stride = lpt_ints_get (&a->strides, (guint) w->axis - 2, 1);
  window = lpt_tensor_count (weights->producer->data) / MAX (w->channels, 1);
  if (w->channels < 1 || w->channels > LANES / 2 || window < LEAST_WINDOW ||
      !lpt_shape_count (y, &count) || count < LEAST_PRODUCTS / window ||
      lpt_ints_get (&a->dilations, (guint) w->axis - 2, 1) != 1 || !find_last (w))
    return FALSE;
  w->group = find_group (w);

  return w->group > 1;
}

/* @values of the channels, G times (g_free). */
static double *
repeat (const Wide   *w,
        guint         n,
        const double *values)
{
  double *all = g_new (double, n * (gsize) w->group);
  gint64 g;

  for (g = 0; g < w->group; g++)
    memcpy (all + g * n, values, n * sizeof *values);

  return all;
}

static LptQuant *
repeat_quant (const Wide     *w,
              const LptQuant *quant)
{
  g_autofree double *scale = NULL;
  g_autofree gint32 *zero = NULL;
  gsize c;

  if (quant->n == 1)
    return lpt_quant_new_one (quant->scale[0], quant->zero_point[0]);
  scale = repeat (w, quant->n, quant->scale);
  zero = g_new (gint32, quant->n * (gsize) w->group);
  for (c = 0; c < quant->n * (gsize) w->group; c++)
    zero[c] = quant->zero_point[c % quant->n];

  return lpt_quant_new (quant->axis, quant->n * (guint) w->group, scale, zero);
}

/* A constant of @values in the type of @own, with its quantization for G times the channels; NULL: no memory. */
static LptValue *
add_like (const Wide     *w,
          const LptValue *own,
          const LptShape *shape,
          const double   *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (own->dtype, shape, values, NULL);
  g_autoptr (LptQuant) repeated = own->quant != NULL ? repeat_quant (w, own->quant) : NULL;
  LptNode *constant;

  if (tensor == NULL)
    return NULL;
  constant = lpt_graph_add_const (w->graph, NULL, tensor);
  lpt_value_set_quant (lpt_node_out (constant), repeated);

  return lpt_node_out (constant);
}

/* The weights of G windows side by side, or NULL: no memory. */
static LptValue *
wide_weights (const Wide *w)
{
  const LptValue *own = lpt_node_in (w->node, 1);
  const LptQuant *quant = own->quant;
  const gint64 wide = w->taps + w->stride * (w->group - 1);
  g_autofree double *v = lpt_tensor_to_f64 (own->producer->data, NULL), *all = NULL;
  LptShape shape = own->shape;
  gint64 lines = lpt_tensor_count (own->producer->data) / w->taps, per_channel = lines / w->channels, g, i, t;

  if (v != NULL)
    all = lpt_memory_try ((gsize) (lines * w->group * wide), sizeof *all, NULL);
  if (all == NULL)
    return NULL;
  shape.dims[0] *= w->group;
  shape.dims[w->axis] = wide;
  for (g = 0; g < w->group; g++)
    for (i = 0; i < lines; i++)
      {
        double *to = all + (g * lines + i) * wide;

        for (t = 0; t < wide; t++)
          to[t] = quant->zero_point[quant->n == 1 ? 0 : i / per_channel];
        memcpy (to + w->stride * g, v + i * w->taps, (gsize) w->taps * sizeof *v);
      }

  return add_like (w, own, &shape, all);
}

static LptValue *
wide_bias (const Wide     *w,
           const LptValue *bias)
{
  const LptShape shape = lpt_shape_make (1, (gint64[]) { w->channels * w->group });
  g_autofree double *v = lpt_tensor_to_f64 (bias->producer->data, NULL), *all = NULL;

  if (v == NULL)
    return NULL;
  all = repeat (w, (guint) w->channels, v);

  return add_like (w, bias, &shape, all);
}

/* An op that moves @x into @shape, by the numbers @how. */
static LptValue *
move (const Wide     *w,
      LptOp           op,
      LptValue       *x,
      gint            n,
      const gint64   *how,
      const LptShape *shape)
{
  g_autoptr (LptTensor) numbers = lpt_tensor_vector_i64 ((guint) n, how);
  LptValue *in[2] = { x, lpt_node_out (lpt_graph_add_const (w->graph, NULL, numbers)) };
  LptNode *node = lpt_graph_add (w->graph, op, 0, NULL, 2, in);

  node->out[0].dtype = x->dtype;
  node->out[0].shape = *shape;
  lpt_value_set_quant (&node->out[0], x->quant);

  return &node->out[0];
}

/* [N, G O, ..., L / G] to [N, O, ..., L]. */
static LptValue *
in_order (const Wide *w,
          LptValue   *x)
{
  const LptShape *y = &w->node->out[0].shape;
  LptShape apart = { .rank = y->rank + 1 }, turned = apart;
  gint64 order[LPT_MAX_RANK];
  gint d;

  apart.dims[0] = y->dims[0];
  apart.dims[1] = w->group;
  for (d = 1; d < y->rank; d++)
    apart.dims[d + 1] = d == w->axis ? y->dims[d] / w->group : y->dims[d];
  order[0] = 0;
  for (d = 1; d < y->rank; d++)
    order[d] = d + 1;
  order[y->rank] = 1;
  for (d = 0; d < turned.rank; d++)
    turned.dims[d] = apart.dims[order[d]];
  x = move (w, LPT_OP_RESHAPE, x, apart.rank, apart.dims, &apart);
  x = move (w, LPT_OP_TRANSPOSE, x, turned.rank, order, &turned);

  return move (w, LPT_OP_RESHAPE, x, y->rank, y->dims, y);
}

/* Strides may be given for fewer axes than there are: 1 for the others. */
static void
set_strides (const Wide *w,
             LptNode    *wide)
{
  LptInts *strides = &LPT_ATTRS (wide, LptConvAttrs)->strides;
  gint64 all[LPT_MAX_RANK];
  gint k;

  for (k = 0; k < w->axis - 1; k++)
    all[k] = lpt_ints_get (strides, (guint) k, 1);
  all[w->axis - 2] *= w->group;
  lpt_ints_set (strides, (guint) w->axis - 1, all);
}

static void
widen (const Wide *w)
{
  LptNode *node = w->node, *wide, *end;
  const LptFloats *rest = lpt_node_bias_rest (node);
  LptValue *in[5] = { NULL }, *y = lpt_node_out (w->last);
  g_autofree char *name = g_strconcat (node->name, "/wide", NULL);
  g_autofree char *end_name = g_strconcat (w->last->name, "/wide", NULL);
  g_autoptr (LptQuant) repeated = repeat_quant (w, node->out[0].quant);
  g_autofree double *rests = rest != NULL && rest->n > 1 ? repeat (w, rest->n, rest->v) : NULL;
  guint i;

  for (i = 0; i < node->n_in; i++)
    in[i] = lpt_node_in (node, i);
  in[1] = wide_weights (w);
  if (in[2] != NULL)
    in[2] = wide_bias (w, in[2]);
  if (in[1] == NULL || (in[2] == NULL && node->n_in > 2 && lpt_node_in (node, 2) != NULL))
    return;
  wide = lpt_node_clone (node, name, node->n_in, in);
  set_strides (w, wide);
  if (rests != NULL)
    lpt_floats_set (lpt_node_bias_rest (wide), rest->n * (guint) w->group, rests);
  wide->out[0].dtype = node->out[0].dtype;
  wide->out[0].shape = node->out[0].shape;
  wide->out[0].shape.dims[1] *= w->group;
  wide->out[0].shape.dims[w->axis] /= w->group;
  lpt_value_set_quant (&wide->out[0], repeated);
  end = wide;
  if (w->last != node)
    {
      end = lpt_node_clone (w->last, end_name, 1, (LptValue *[]) { &wide->out[0] });
      end->out[0].dtype = y->dtype;
      end->out[0].shape = wide->out[0].shape;
    }
  lpt_value_replace (y, in_order (w, lpt_node_out (end)), NULL);
}

gboolean
lpt_program_widen_convolutions (LptProgram *program,
                                GError    **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (program->graph, error);
  guint i;
  Wide w;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (node->op == LPT_OP_CONVOLUTION && read_wide (&w, program->graph, node))
        widen (&w);
    }

  return TRUE;
}
