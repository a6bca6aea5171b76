/* passes/transpose.c - move dequantization through Transpose
 *
 *     Transpose ((x - z) s, order)  =>  (Transpose (x, order) - Transpose (z, order)) Transpose (s, order)
 *
 * Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - the order is not constant;
 *   - scale or zero point differs between channels and the order does not start with 0, 1: the channels would leave
 *     the channel axis.
 *
 * Golden tests: tests/golden/transpose/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

typedef struct { gint rank; gint64 order[LPT_MAX_RANK]; } Order;

static LptTensor *
transpose (LptTensor *tensor,
           gpointer   data)
{
  const Order *order = data;
  g_autoptr (LptTensor) wide = NULL;

  if (lpt_tensor_count (tensor) == 1)
    return lpt_fold_scalar_if_possible (tensor);
  wide = lpt_fold_extend_all (tensor, order->rank);

  return lpt_tensor_shape (wide)->rank == order->rank ? lpt_fold_transpose (wide, order->order) : NULL;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  Order order = { 0 };
  LptInts list = { 0 };
  LptDequant dq;
  guint i;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (!lpt_node_ints_in (node, 1, &list))
    return lpt_rewriter_decline (rw, node, "its order is not constant");
  order.rank = dq.data->shape.rank;
  for (i = 0; i < LPT_MAX_RANK; i++)
    order.order[i] = i < list.n ? list.v[i] : order.rank - 1 - (gint) i;
  lpt_ints_clear (&list);
  if (!lpt_dequant_is_scalar_like (&dq) && (order.order[0] != 0 || order.order[1] != 1))
    return lpt_rewriter_decline (rw, node, "scale or zero point differs between channels, and the order moves them");
  if (!lpt_chain_constants_map (&dq, transpose, &order, &constants))
    return lpt_rewriter_decline (rw, node, "its constants have another rank than the data");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_transpose = {
  .name      = "transpose",
  .doc       = "Move dequantization through Transpose",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_TRANSPOSE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
