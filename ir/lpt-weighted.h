/* lpt-weighted.h - convolutions and matrix products, seen the same way
 *
 *                                    weights            inputs behind them
 *   Convolution                      [O, C, k...]       bias, zero point
 *   GroupConvolution                 [G, O, C, k...]    bias, zero point
 *   ConvolutionBackpropData          [C, O, k...]       output shape, bias, zero point
 *   GroupConvolutionBackpropData     [G, C, O, k...]    output shape, bias, zero point
 *   MatMul                           a matrix           bias, zero point
 *
 * C: channels of the data, O: of the result, both of one group. Lowered ops have a bias and a computed zero point of
 * the data. Which axes a MatMul sums is a matter of its attributes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

typedef struct
{
  gboolean grouped, transposed;
  guint    bias, zero;               /* inputs */
  const LptFloats *rest;             /* of the bias */
  /* Of a convolution; a MatMul has no window. */
  gboolean window;
  gint     out, in, kernel;          /* axes of the weights: O, C, the first of k... */
  const LptInts *strides, *dilations, *pads_begin, *pads_end;
  const LptInts *output_padding;     /* transposed, else NULL */
  gint     auto_pad;                 /* LptAutoPad */
} LptWeightedView;

/* FALSE: @node sums no products with weights (LPT_OP_F_WEIGHTED). */
gboolean lpt_weighted_view (const LptNode *node, LptWeightedView *view);

/* Groups of weights of this shape. */
static inline gint64
lpt_weighted_groups (const LptWeightedView *view,
                     const LptShape        *weights)
{
  return view->grouped ? weights->dims[0] : 1;
}
