/* join-phases.c - transposed convolutions of few output channels as ordinary ones, whose channels are the phases
 *
 *     y[o, s J + r - pad] = sum x[c, J - t] w[c, o, s t + r]  =  y'[r O + o, J]     t = 0 ... T - 1, T = ceil (k / s)
 *     y' = Convolution (x, w'),  w'[r O + o, c, T - 1 - t] = w[c, o, s t + r]
 *
 * along each axis, stride s and phases r = 0 ... s - 1. By phases (phases.h) each is a product of O columns, and of the
 * sixteen lanes or more that kernels have 16 - O are idle; here all phases are one product of s O columns over the same
 * elements of the data, and what it makes is moved into its order and cut: little, with so few channels. Taps that a
 * phase has not are weights of 0. Exact on integers. Sums of reals have their terms in another order than the reference
 * has, so it is no part of plans that show the graph as it is or keep that order.
 *
 * Left alone: groups; dilations; reals of one or two axes, all of whose taps are made at once
 * (operators/float-deconv-taps.c), and those whose phases have not all T taps, since 0 times infinity is not 0; windows
 * of so few elements, or convolutions of so few products, that moving the result costs more, or where the lanes are no
 * better used; padding of more than a window; modes of requantization that round transposed convolutions in their own
 * way; results that other ops than one Dequantize read as sums. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>

#include "eval/lpt-window.h"
#include "eval/requant/lpt-requant-modes.h"
#include "executor/program/lpt-more-channels.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-memory.h"

/* Elements of a window that are worth it: fewer than elsewhere, as a phase alone has rows of its own to find. */
#define WINDOW (LPT_MORE_WINDOW / 4)

typedef struct
{
  LptMoreChannels more;          /* copies: phases */
  LptWeightedView view;
  gint      n;                   /* spatial axes */
  gint64    in;                  /* channels */
  /* J from first on, count of them; cut: elements of the first that are left out. */
  struct { gint64 length, kernel, stride, taps, first, count, cut; } axis[3];
} Joined;

/* The geometry; FALSE: another than the formula has. */
static gboolean
read_axes (Joined *w)
{
  const LptShape *x = &lpt_node_in (w->more.node, 0)->shape, *y = &w->more.node->out[0].shape,
                 *k = &lpt_node_in (w->more.node, 1)->shape;
  const gboolean real = y->dims[1] > 0 && lpt_dtype_is_real (w->more.node->out[0].dtype);
  LptWindow window;
  gint d;

  if (!lpt_window_init_weighted (&window, &w->view, x, k, y, NULL))
    return FALSE;
  w->more.copies = 1;
  for (d = 0; d < w->n; d++)
    {
      const gint at = 3 - w->n + d;
      const gint64 stride = window.stride[at], pad = window.pad[at], kernel = window.kernel[at];

      if (window.dilation[at] != 1 || stride > LPT_MORE_LANES || kernel < stride || pad < 0 ||
          y->dims[d + 2] < 1 || x->dims[d + 2] < 1 || (real && kernel % stride != 0))
        return FALSE;
      w->axis[d].length = y->dims[d + 2];
      w->axis[d].kernel = kernel;
      w->axis[d].stride = stride;
      w->axis[d].taps = (kernel + stride - 1) / stride;
      w->axis[d].first = pad / stride;
      w->axis[d].count = (pad + y->dims[d + 2] - 1) / stride - w->axis[d].first + 1;
      w->axis[d].cut = pad - w->axis[d].first * stride;
      w->more.copies *= stride;
      if (w->axis[d].first >= w->axis[d].taps || w->axis[d].first + w->axis[d].count < x->dims[d + 2])
        return FALSE;
    }

  return w->more.copies > 1;
}

static gint64
lanes_of (gint64 channels)
{
  return (channels + LPT_MORE_LANES - 1) / LPT_MORE_LANES * LPT_MORE_LANES;
}

/* Is it less work, and enough of it? */
static gboolean
pays (const Joined *w)
{
  const LptShape *y = &w->more.node->out[0].shape;
  gint64 taps = 1, kernel = 1, count;
  gint d;

  for (d = 0; d < w->n; d++)
    {
      taps *= w->axis[d].taps;
      kernel *= w->axis[d].kernel;
    }

  return taps * w->in >= WINDOW && lpt_shape_count (y, &count) &&
         count / w->more.copies * kernel >= LPT_MORE_PRODUCTS / w->in &&
         (double) (taps * lanes_of (w->more.copies * w->more.channels)) <=
           LPT_MORE_LEFT * (double) (kernel * lanes_of (w->more.channels));
}

static gboolean
read_joined (Joined   *w,
             LptGraph *graph,
             LptNode  *node)
{
  const LptShape *y = &node->out[0].shape;
  const LptValue *weights = lpt_node_in (node, 1);
  gboolean real;

  *w = (Joined) { .more = { .graph = graph, .node = node, .last = node }, .n = y->rank - 2 };
  if (!lpt_weighted_view (node, &w->view) || w->n < 1 || w->n > 3 || weights->producer->data == NULL ||
      !lpt_shape_is_static (y) || !lpt_shape_is_static (&lpt_node_in (node, 0)->shape) ||
      weights->shape.rank != y->rank ||
      (node->n_in > w->view.bias && !lpt_more_channels_constant (lpt_node_in (node, w->view.bias))))
    return FALSE;
  real = lpt_dtype_is_real (weights->dtype) && lpt_dtype_is_real (lpt_node_in (node, 0)->dtype) &&
         node->n_in <= w->view.bias;
  if (real ? w->n < 3 : weights->quant == NULL || lpt_dtype_bits (weights->dtype) != 8)
    return FALSE;
  w->in = weights->shape.dims[0];
  w->more.channels = weights->shape.dims[1];

  return w->in > 0 && w->more.channels > 0 && w->more.channels <= LPT_MORE_LANES / 2 && read_axes (w) && pays (w) &&
         (lpt_dtype_is_real (node->out[0].dtype) || lpt_more_channels_end (&w->more));
}

/* Taps of output channel @o and input channel @c in @from, each to its phase and place in @all. */
static void
spread (const Joined *w,
        gint64        o,
        gint64        c,
        const double *from,
        double       *all)
{
  gint64 at[3] = { 0, 0, 0 }, size = 1, i;
  gint d;

  for (d = 0; d < w->n; d++)
    size *= w->axis[d].kernel;
  for (i = 0; i < size; i++)
    {
      gint64 phase = 0, place = 0, taps = 1;

      for (d = 0; d < w->n; d++)
        {
          phase = phase * w->axis[d].stride + at[d] % w->axis[d].stride;
          place = place * w->axis[d].taps + w->axis[d].taps - 1 - at[d] / w->axis[d].stride;
          taps *= w->axis[d].taps;
        }
      all[((phase * w->more.channels + o) * w->in + c) * taps + place] = from[i];
      for (d = w->n; d-- > 0 && ++at[d] == w->axis[d].kernel; )
        at[d] = 0;
    }
}

/* The weights [in, out, kernel] as those of the joined phases, or NULL: no memory, or some are not finite. */
static LptValue *
joined_weights (const Joined *w)
{
  const LptValue *own = lpt_node_in (w->more.node, 1);
  const LptQuant *quant = own->quant;
  g_autofree double *v = lpt_tensor_to_f64 (own->producer->data, NULL), *all = NULL;
  LptShape shape = own->shape;
  const gint64 own_count = lpt_tensor_count (own->producer->data), size = own_count / (w->in * w->more.channels);
  gint64 per_channel, count, c, o;
  gint d;

  shape.dims[0] = w->more.channels * w->more.copies;
  shape.dims[1] = w->in;
  for (d = 0; d < w->n; d++)
    shape.dims[d + 2] = w->axis[d].taps;
  if (v != NULL && lpt_shape_count (&shape, &count))
    all = lpt_memory_try ((gsize) count, sizeof *all, NULL);
  if (all == NULL)
    return NULL;
  for (c = 0; c < own_count; c++)
    if (!isfinite (v[c]))
      return NULL;
  per_channel = count / shape.dims[0];
  for (c = 0; c < count; c++)
    all[c] = quant == NULL ? 0 : quant->zero_point[quant->n == 1 ? 0 : c / per_channel % w->more.channels];
  for (c = 0; c < w->in; c++)
    for (o = 0; o < w->more.channels; o++)
      spread (w, o, c, v + (c * w->more.channels + o) * size, all);

  return lpt_more_channels_like (&w->more, own, &shape, all);
}

/* --- the result --- */

/* [N, r O, J...] to [N, O, s J...], and of that what the op gives. */
static LptValue *
in_order (const Joined *w,
          LptValue     *x)
{
  const LptShape *y = &w->more.node->out[0].shape;
  LptShape apart = { .rank = 2 * w->n + 2 }, turned = apart, whole = *y;
  gint64 order[LPT_MAX_RANK], cut[4][LPT_MAX_RANK];
  gint d;

  apart.dims[0] = y->dims[0];
  apart.dims[w->n + 1] = w->more.channels;
  order[0] = 0;
  order[1] = w->n + 1;
  for (d = 0; d < w->n; d++)
    {
      apart.dims[d + 1] = w->axis[d].stride;
      apart.dims[w->n + 2 + d] = w->axis[d].count;
      order[2 * d + 2] = w->n + 2 + d;
      order[2 * d + 3] = d + 1;
      whole.dims[d + 2] = w->axis[d].count * w->axis[d].stride;
      cut[0][d] = w->axis[d].cut;
      cut[1][d] = w->axis[d].cut + w->axis[d].length;
      cut[2][d] = 1;
      cut[3][d] = d + 2;
    }
  for (d = 0; d < turned.rank; d++)
    turned.dims[d] = apart.dims[order[d]];
  x = lpt_more_channels_move (&w->more, LPT_OP_RESHAPE, x, 2, apart.rank, apart.dims, &apart);
  x = lpt_more_channels_move (&w->more, LPT_OP_TRANSPOSE, x, 2, turned.rank, order, &turned);
  x = lpt_more_channels_move (&w->more, LPT_OP_RESHAPE, x, 2, y->rank, whole.dims, &whole);

  return lpt_shape_equal (&whole, y) ? x : lpt_more_channels_move (&w->more, LPT_OP_SLICE, x, 5, w->n, cut[0], y);
}

/* The ordinary convolution of @n_in inputs; its attributes are those of the formula. */
static LptNode *
add_convolution (const Joined *w,
                 guint         n_in,
                 LptValue    **in)
{
  g_autofree char *name = g_strconcat (w->more.node->name, "/phases", NULL);
  LptNode *node = lpt_graph_add (w->more.graph, LPT_OP_CONVOLUTION, 0, name, n_in, in);
  LptConvAttrs *a = LPT_ATTRS (node, LptConvAttrs);
  gint64 ones[3] = { 1, 1, 1 }, begin[3], end[3];
  gint d;

  node->out[0].dtype = w->more.node->out[0].dtype;
  node->out[0].shape = w->more.node->out[0].shape;
  node->out[0].shape.dims[1] = w->more.channels * w->more.copies;
  for (d = 0; d < w->n; d++)
    {
      begin[d] = w->axis[d].taps - 1 - w->axis[d].first;
      end[d] = w->axis[d].first + w->axis[d].count - lpt_node_in (w->more.node, 0)->shape.dims[d + 2];
      node->out[0].shape.dims[d + 2] = w->axis[d].count;
    }
  lpt_ints_set (&a->strides, (guint) w->n, ones);
  lpt_ints_set (&a->dilations, (guint) w->n, ones);
  lpt_ints_set (&a->pads_begin, (guint) w->n, begin);
  lpt_ints_set (&a->pads_end, (guint) w->n, end);
  a->auto_pad = LPT_AUTO_PAD_EXPLICIT;
  if (w->more.node->requant != NULL || w->more.graph->op_requant != NULL)
    node->requant = g_strdup (lpt_mode_name (lpt_requant_node_mode (w->more.node)));
  lpt_more_channels_rest (&w->more, node);

  return node;
}

/* Modes may round what transposed convolutions give in a way of their own. */
static gboolean
rounds_alike (LptNode *a,
              LptNode *b)
{
  const LptRequantRule *x = lpt_requant_node_rule (a), *y = lpt_requant_node_rule (b);

  return x != NULL && y != NULL && x->arith == y->arith && x->form == y->form && x->rounding == y->rounding &&
         x->algorithm == y->algorithm;
}

static void
join (const Joined *w)
{
  LptNode *node = w->more.node, *joined;
  LptValue *in[4] = { lpt_node_in (node, 0) };
  LptValue *bias = node->n_in > w->view.bias ? lpt_node_in (node, w->view.bias) : NULL;
  const gboolean computed = node->n_in > w->view.zero && lpt_node_in (node, w->view.zero) != NULL;
  g_autoptr (LptQuant) repeated = NULL;

  in[1] = joined_weights (w);
  if (bias != NULL)
    in[2] = lpt_more_channels_bias (&w->more, bias);
  if (in[1] == NULL || (bias != NULL && in[2] == NULL))
    return;
  if (computed)
    in[3] = lpt_node_in (node, w->view.zero);
  joined = add_convolution (w, computed ? 4 : bias != NULL ? 3 : 2, in);
  if (node->out[0].quant != NULL)
    repeated = lpt_more_channels_quant (&w->more, node->out[0].quant, 1);
  lpt_value_set_quant (&joined->out[0], repeated);
  if (lpt_dtype_bits (joined->out[0].dtype) == 8 && !rounds_alike (node, joined))
    return;
  lpt_value_replace (lpt_node_out (w->more.last),
                     in_order (w, lpt_more_channels_result (&w->more, joined, "/phases")), NULL);
}

static void
visit (LptNode *node)
{
  Joined w;

  if (node->op == LPT_OP_CONVOLUTION_BACKPROP_DATA && read_joined (&w, node->graph, node))
    join (&w);
}

gboolean
lpt_program_join_phases (LptProgram *program,
                         GError    **error)
{
  return (program->flags & LPT_PLAN_ORDERED) != 0 || lpt_program_visit (program, visit, error);
}
