/* passes/unsqueeze.c - move dequantization through Unsqueeze
 *
 *     Unsqueeze ((x - z) s, axes)  =>  (Unsqueeze (x, axes) - z') s'
 *
 * The constants get the same axes of length 1. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - the axes are not constant.
 *
 * Golden tests: tests/golden/unsqueeze/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

typedef struct { gint rank, out_rank; gboolean inserted[LPT_MAX_RANK]; } Axes;

static LptTensor *
unsqueeze (LptTensor *tensor,
           gpointer   data)
{
  const Axes *axes = data;
  g_autoptr (LptTensor) wide = lpt_fold_extend (tensor, axes->rank);
  const LptShape *shape = lpt_tensor_shape (wide);
  gint64 dims[LPT_MAX_RANK];
  gint d, n = 0;

  if (shape->rank != axes->rank)
    return lpt_tensor_ref (wide);
  for (d = 0; d < axes->out_rank; d++)
    dims[d] = axes->inserted[d] ? 1 : shape->dims[n++];

  return lpt_fold_reshape (wide, axes->out_rank, dims);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  Axes axes = { 0 };
  LptInts list = { 0 };
  LptDequant dq;
  gint d;
  guint i;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (!lpt_node_ints_in (node, 1, &list))
    return lpt_rewriter_decline (rw, node, "its axes are not constant");
  axes.rank = dq.data->shape.rank;
  axes.out_rank = node->out[0].shape.rank;
  for (i = 0; i < list.n; i++)
    if (lpt_axis_normalize (list.v[i], axes.out_rank, &d))
      axes.inserted[d] = TRUE;
  lpt_ints_clear (&list);
  if (axes.rank < 0 || !lpt_chain_constants_map (&dq, unsqueeze, &axes, &constants))
    return lpt_rewriter_decline (rw, node, "its constants cannot get the new axes");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_unsqueeze = {
  .name      = "unsqueeze",
  .doc       = "Move dequantization through Unsqueeze",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_UNSQUEEZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
