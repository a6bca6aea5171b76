/* tflite-expand-window.c - convolutions of groups that no operator has, one of each group
 *
 *     GroupConvolution               over three axes, or with computed weights and more than one input a group
 *     GroupConvolutionBackpropData   all
 *     ConvolutionBackpropData        over one axis: over two, the first of length 1; over three with a bias: that apart
 *
 * A group has its channels of the data and its weights; the results stand behind each other. Codes become real numbers.
 * Refused: more than 256 groups, a computed output shape.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include "ir/lpt-weighted.h"

#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))
#define MAX_GROUPS 256

static void
copy_window (LptTflExpand *x, LptNode *to)
{
  LptWeightedView view;
  lpt_weighted_view (x->node, &view);
  LptConvAttrs *conv = view.transposed ? NULL : LPT_ATTRS (to, LptConvAttrs);
  LptDeconvAttrs *back = view.transposed ? LPT_ATTRS (to, LptDeconvAttrs) : NULL;
  lpt_ints_set (conv != NULL ? &conv->strides : &back->strides, view.strides->n, view.strides->v);
  lpt_ints_set (conv != NULL ? &conv->dilations : &back->dilations, view.dilations->n, view.dilations->v);
  lpt_ints_set (conv != NULL ? &conv->pads_begin : &back->pads_begin, view.pads_begin->n, view.pads_begin->v);
  lpt_ints_set (conv != NULL ? &conv->pads_end : &back->pads_end, view.pads_end->n, view.pads_end->v);
  if (conv != NULL)
    conv->auto_pad = view.auto_pad;
  else
    {
      lpt_ints_set (&back->output_padding, view.output_padding->n, view.output_padding->v);
      back->auto_pad = view.auto_pad;
    }
}

/* The bias [O] of a lowered node along axis 1 of @v. */
static LptValue *
with_bias (LptTflExpand *x, LptValue *v, LptValue *bias)
{
  LptShape shape = { .rank = v->shape.rank };
  if (bias == NULL)
    return v;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 1 ? -1 : 1;
  return EMIT2 (ADD, v, lpt_tfl_x_reshape (x, bias, (guint) shape.rank, shape.dims));
}

/* Group @g of @groups: its channels of @data, its weights. */
static LptValue *
one_group (LptTflExpand *x, LptValue *data, LptValue *weights, gint64 g, gint64 groups)
{
  gboolean back = (x->node->info->flags & LPT_OP_F_TRANSPOSED) != 0;
  gint64 channels = data->shape.dims[1] / groups;
  LptValue *own = lpt_tfl_x_slice (x, weights, 0, g, g + 1);
  LptValue *in[3] = { lpt_tfl_x_slice (x, data, 1, g * channels, (g + 1) * channels),
                      lpt_tfl_x_reshape (x, own, (guint) weights->shape.rank - 1, weights->shape.dims + 1),
                      back ? lpt_tfl_x_raw (x, 2) : NULL };
  LptNode *node = lpt_tfl_x_add (x, back ? LPT_OP_CONVOLUTION_BACKPROP_DATA : LPT_OP_CONVOLUTION, 1,
                                 in[2] != NULL ? 3 : 2, in);
  copy_window (x, node);
  return lpt_tfl_x_done (x, node);
}

static void
expand_groups (LptTflExpand *x, LptValue *bias)
{
  LptValue *data = lpt_tfl_x_in (x, 0), *weights = lpt_tfl_x_in (x, 1), *parts[MAX_GROUPS];
  LptShape shape = lpt_tfl_x_shape (x, weights);
  gint64 groups = shape.dims[0];
  if (x->declined || groups < 1 || groups > MAX_GROUPS || data->shape.rank != shape.rank - 1
      || data->shape.dims[1] < 1 || data->shape.dims[1] % groups != 0)
    return;
  for (gint64 g = 0; g < groups; g++)
    parts[g] = one_group (x, data, weights, g, groups);
  LptValue *y = groups > 1 ? lpt_tfl_x_concat (x, 1, (guint) groups, parts) : parts[0];
  lpt_tfl_x_set (x, 0, with_bias (x, y, bias));
}

void
lpt_tfl_expand_group_conv (LptTflExpand *x)
{
  LptValue *weights = lpt_tfl_x_raw (x, 1);
  LptNode *source = weights->producer;
  gboolean codes = source->op == LPT_OP_DEQUANTIZE && lpt_node_const_in (source, 0) != NULL;
  gboolean constant = source->data != NULL || codes;
  gboolean alone = weights->shape.rank > 2 && weights->shape.dims[2] == 1;      /* depthwise */
  if (weights->shape.rank == 6 || (!constant && !alone))
    expand_groups (x, lpt_tfl_x_in (x, 2));
}

/* A zero point that is computed is left here where it is no number to subtract: the writer refuses it. */
void
lpt_tfl_expand_group_deconv (LptTflExpand *x)
{
  if (lpt_tfl_x_raw (x, 4) != NULL)
    return;
  if (lpt_tfl_x_raw (x, 2) == NULL || lpt_node_const_in (x->node, 2) != NULL)
    expand_groups (x, lpt_tfl_x_in (x, 3));
}

/* Over three axes, the bias apart. */
static void
expand_bias (LptTflExpand *x)
{
  LptValue *in[3] = { lpt_tfl_x_in (x, 0), lpt_tfl_x_in (x, 1), lpt_tfl_x_raw (x, 2) }, *bias = lpt_tfl_x_in (x, 3);
  if (bias == NULL)
    return;
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_CONVOLUTION_BACKPROP_DATA, 1, in[2] != NULL ? 3 : 2, in);
  copy_window (x, node);
  lpt_tfl_x_set (x, 0, with_bias (x, lpt_tfl_x_done (x, node), bias));
}

/* [N, C, W] as [N, C, 1, W]. */
static LptValue *
taller (LptTflExpand *x, LptValue *v)
{
  return EMIT2 (UNSQUEEZE, v, lpt_tfl_x_i64 (x, 1, (gint64[]) { 2 }));
}

void
lpt_tfl_expand_deconv (LptTflExpand *x)
{
  LptValue *data = lpt_tfl_x_raw (x, 0), *given = lpt_tfl_x_raw (x, 2);
  if (data->shape.rank == 5)
    expand_bias (x);
  if (data->shape.rank != 3 || lpt_tfl_x_raw (x, 1)->shape.rank != 3
      || (given != NULL && lpt_node_const_in (x->node, 2) == NULL))
    return;
  LptValue *in[3] = { taller (x, lpt_tfl_x_in (x, 0)), taller (x, lpt_tfl_x_in (x, 1)), NULL };
  if (given != NULL)
    in[2] = lpt_tfl_x_concat (x, 0, 2, (LptValue *[]) {
      lpt_tfl_x_convert (x, lpt_tfl_x_i64 (x, 1, (gint64[]) { 1 }), given->dtype), given });
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_CONVOLUTION_BACKPROP_DATA, 1, in[2] != NULL ? 3 : 2, in);
  LptDeconvAttrs *own = LPT_ATTRS (node, LptDeconvAttrs);
  copy_window (x, node);
  LptInts *lists[] = { &own->strides, &own->dilations, &own->pads_begin, &own->pads_end, &own->output_padding };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (lists[i]->n > 0)
      lpt_ints_set (lists[i], 2, (gint64[]) { i < 2 ? 1 : 0, lists[i]->v[0] });
  LptValue *y = lpt_tfl_x_done (x, node);
  y = EMIT2 (SQUEEZE, y, lpt_tfl_x_i64 (x, 1, (gint64[]) { 2 }));
  lpt_tfl_x_set (x, 0, with_bias (x, y, lpt_tfl_x_in (x, 3)));
}
