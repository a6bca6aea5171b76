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

#include "executor/program/lpt-more-channels.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-memory.h"

typedef struct
{
  LptMoreChannels more;      /* copies: windows of a group */
  gint   axis;               /* the last one */
  gint64 taps, stride;
} Wide;

/* The number of windows that become one; 1: none. */
static gint64
find_group (const Wide *w)
{
  const gint64 line = w->more.node->out[0].shape.dims[w->axis];
  gint64 g;

  for (g = LPT_MORE_LANES / w->more.channels; g > 1; g--)
    if (line % g == 0 &&
        (double) (w->taps + w->stride * (g - 1)) <= LPT_MORE_LEFT * (double) (w->taps * g))
      break;

  return g;
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

  *w = (Wide) { .more = { .graph = graph, .node = node }, .axis = y->rank - 1 };
  if (weights->producer->data == NULL || weights->quant == NULL || lpt_dtype_bits (weights->dtype) != 8 ||
      !lpt_shape_is_static (y) || y->rank < 3 || a->auto_pad != LPT_AUTO_PAD_EXPLICIT ||
      (node->n_in > 2 && !lpt_more_channels_constant (lpt_node_in (node, 2))))
    return FALSE;
  w->more.channels = weights->shape.dims[0];
  w->taps = weights->shape.dims[w->axis];
  w->stride = lpt_ints_get (&a->strides, (guint) w->axis - 2, 1);
  window = lpt_tensor_count (weights->producer->data) / MAX (w->more.channels, 1);
  if (w->more.channels < 1 || w->more.channels > LPT_MORE_LANES / 2 || window < LPT_MORE_WINDOW ||
      !lpt_shape_count (y, &count) || count < LPT_MORE_PRODUCTS / window ||
      lpt_ints_get (&a->dilations, (guint) w->axis - 2, 1) != 1 || !lpt_more_channels_end (&w->more))
    return FALSE;
  w->more.copies = find_group (w);

  return w->more.copies > 1;
}

/* The weights of G windows side by side, or NULL: no memory. */
static LptValue *
wide_weights (const Wide *w)
{
  const LptValue *own = lpt_node_in (w->more.node, 1);
  const LptQuant *quant = own->quant;
  const gint64 wide = w->taps + w->stride * (w->more.copies - 1);
  g_autofree double *v = lpt_tensor_to_f64 (own->producer->data, NULL), *all = NULL;
  LptShape shape = own->shape;
  gint64 lines = lpt_tensor_count (own->producer->data) / w->taps, per_channel = lines / w->more.channels, g, i, t;

  if (v != NULL)
    all = lpt_memory_try ((gsize) (lines * w->more.copies * wide), sizeof *all, NULL);
  if (all == NULL)
    return NULL;
  shape.dims[0] *= w->more.copies;
  shape.dims[w->axis] = wide;
  for (g = 0; g < w->more.copies; g++)
    for (i = 0; i < lines; i++)
      {
        double *to = all + (g * lines + i) * wide;

        for (t = 0; t < wide; t++)
          to[t] = quant->zero_point[quant->n == 1 ? 0 : i / per_channel];
        memcpy (to + w->stride * g, v + i * w->taps, (gsize) w->taps * sizeof *v);
      }

  return lpt_more_channels_like (&w->more, own, &shape, all);
}

/* [N, G O, ..., L / G] to [N, O, ..., L]. */
static LptValue *
in_order (const Wide *w,
          LptValue   *x)
{
  const LptShape *y = &w->more.node->out[0].shape;
  LptShape apart = { .rank = y->rank + 1 }, turned = apart;
  gint64 order[LPT_MAX_RANK];
  gint d;

  apart.dims[0] = y->dims[0];
  apart.dims[1] = w->more.copies;
  for (d = 1; d < y->rank; d++)
    apart.dims[d + 1] = d == w->axis ? y->dims[d] / w->more.copies : y->dims[d];
  order[0] = 0;
  for (d = 1; d < y->rank; d++)
    order[d] = d + 1;
  order[y->rank] = 1;
  for (d = 0; d < turned.rank; d++)
    turned.dims[d] = apart.dims[order[d]];
  x = lpt_more_channels_move (&w->more, LPT_OP_RESHAPE, x, 2, apart.rank, apart.dims, &apart);
  x = lpt_more_channels_move (&w->more, LPT_OP_TRANSPOSE, x, 2, turned.rank, order, &turned);

  return lpt_more_channels_move (&w->more, LPT_OP_RESHAPE, x, 2, y->rank, y->dims, y);
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
  all[w->axis - 2] *= w->more.copies;
  lpt_ints_set (strides, (guint) w->axis - 1, all);
}

static void
widen (const Wide *w)
{
  LptNode *node = w->more.node, *wide;
  LptValue *in[5] = { NULL };
  g_autofree char *name = g_strconcat (node->name, "/wide", NULL);
  g_autoptr (LptQuant) repeated = lpt_more_channels_quant (&w->more, node->out[0].quant, 1);
  guint i;

  for (i = 0; i < node->n_in; i++)
    in[i] = lpt_node_in (node, i);
  in[1] = wide_weights (w);
  if (in[2] != NULL)
    in[2] = lpt_more_channels_bias (&w->more, in[2]);
  if (in[1] == NULL || (in[2] == NULL && node->n_in > 2 && lpt_node_in (node, 2) != NULL))
    return;
  wide = lpt_node_clone (node, name, node->n_in, in);
  set_strides (w, wide);
  lpt_more_channels_rest (&w->more, wide);
  wide->out[0].dtype = node->out[0].dtype;
  wide->out[0].shape = node->out[0].shape;
  wide->out[0].shape.dims[1] *= w->more.copies;
  wide->out[0].shape.dims[w->axis] /= w->more.copies;
  lpt_value_set_quant (&wide->out[0], repeated);
  lpt_value_replace (lpt_node_out (w->more.last),
                     in_order (w, lpt_more_channels_result (&w->more, wide, "/wide")), NULL);
}

static void
visit (LptNode *node)
{
  Wide w;

  if (node->op == LPT_OP_CONVOLUTION && read_wide (&w, node->graph, node))
    widen (&w);
}

gboolean
lpt_program_widen_convolutions (LptProgram *program,
                                GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
