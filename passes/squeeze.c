/* passes/squeeze.c - move dequantization through Squeeze
 *
 *     Squeeze ((x - z) s, axes)  =>  (Squeeze (x, axes) - z') s'
 *
 * The constants lose the same axes, which have length 1; others that are named stay, in the data too. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - the axes are not constant.
 *
 * Golden tests: tests/golden/squeeze/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

typedef struct { gint rank; gboolean removed[LPT_MAX_RANK]; } Axes;

static LptTensor *
squeeze (LptTensor *tensor,
         gpointer   data)
{
  const Axes *axes = data;
  g_autoptr (LptTensor) wide = lpt_fold_extend (tensor, axes->rank);
  const LptShape *shape = lpt_tensor_shape (wide);
  gint64 dims[LPT_MAX_RANK];
  gint d, n = 0;

  if (shape->rank != axes->rank)
    return lpt_tensor_ref (wide);
  for (d = 0; d < shape->rank; d++)
    if (!axes->removed[d])
      dims[n++] = shape->dims[d];

  return lpt_fold_reshape (wide, n, dims);
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
  for (i = 0; i < list.n; i++)
    if (lpt_axis_normalize (list.v[i], axes.rank, &d))
      axes.removed[d] = dq.data->shape.dims[d] == 1 || dq.data->shape.dims[d] < 0;
  lpt_ints_clear (&list);
  if (!lpt_chain_constants_map (&dq, squeeze, &axes, &constants))
    return lpt_rewriter_decline (rw, node, "scale or zero point varies along an axis that it removes");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_squeeze = {
  .name      = "squeeze",
  .doc       = "Move dequantization through Squeeze",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_SQUEEZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
