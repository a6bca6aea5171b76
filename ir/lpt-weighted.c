/* lpt-weighted.c - the view of convolutions and matrix products
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-weighted.h"

gboolean
lpt_weighted_view (const LptNode   *node,
                   LptWeightedView *view)
{
  const guint32 flags = node->info->flags;
  const gboolean transposed = (flags & LPT_OP_F_TRANSPOSED) != 0;
  const gint groups = (flags & LPT_OP_F_GROUPED) != 0 ? 1 : 0;

  if ((flags & LPT_OP_F_WEIGHTED) == 0)
    return FALSE;
  *view = (LptWeightedView) { .grouped = groups == 1, .transposed = transposed, .bias = transposed ? 3 : 2,
                              .zero = transposed ? 4 : 3 };
  if (node->op == LPT_OP_MATMUL)
    {
      view->rest = &LPT_ATTRS (node, LptMatMulAttrs)->bias_rest;
      return TRUE;
    }
  view->window = TRUE;
  view->out = transposed ? groups + 1 : groups;
  view->in = transposed ? groups : groups + 1;
  view->kernel = groups + 2;
#define TAKE(a) \
  (view->rest = &(a)->bias_rest, view->strides = &(a)->strides, view->dilations = &(a)->dilations, \
   view->pads_begin = &(a)->pads_begin, view->pads_end = &(a)->pads_end, view->auto_pad = (a)->auto_pad)
  if (transposed)
    {
      TAKE (LPT_ATTRS (node, LptDeconvAttrs));
      view->output_padding = &LPT_ATTRS (node, LptDeconvAttrs)->output_padding;
    }
  else
    TAKE (LPT_ATTRS (node, LptConvAttrs));
#undef TAKE

  return TRUE;
}
