/* passes/shuffle-channels.c - move dequantization through ShuffleChannels
 *
 *     ShuffleChannels ((x - z) s)  =>  (ShuffleChannels (x) - z') s'
 *
 * Constants that vary along the axis are shuffled along. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - the axis is dynamic.
 *
 * Golden tests: tests/golden/shuffle-channels/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

typedef struct { gint rank, axis; gint64 group; } Shuffle;

static LptTensor *
shuffle (LptTensor *tensor,
         gpointer   data)
{
  const Shuffle *how = data;
  g_autoptr (LptTensor) wide = NULL;
  g_autofree gint64 *index = NULL;
  gint64 n, i;

  if (lpt_tensor_count (tensor) == 1)
    return lpt_fold_scalar_if_possible (tensor);
  if (!lpt_dequant_varies (tensor, how->rank, how->axis))
    return lpt_tensor_ref (tensor);
  wide = lpt_fold_extend_all (tensor, how->rank);
  n = lpt_tensor_shape (wide)->dims[how->axis];
  if (how->group <= 0 || n % how->group != 0)
    return NULL;
  index = g_new (gint64, (gsize) n);
  for (i = 0; i < n; i++)
    index[i] = i % how->group * (n / how->group) + i / how->group;

  return lpt_fold_take (wide, how->axis, index, n);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  const LptShuffleChannelsAttrs *attrs = node->attrs;
  g_auto (LptChainConstants) constants = { NULL };
  Shuffle how = { .group = attrs->group };
  LptDequant dq;

  if (!lpt_layer_match_spatial (rw, node, &dq))
    return FALSE;
  how.rank = dq.data->shape.rank;
  if (!lpt_axis_normalize (attrs->axis, how.rank, &how.axis))
    return lpt_rewriter_decline (rw, node, "its data has a dynamic rank");
  if (dq.data->shape.dims[how.axis] < 0 && !lpt_dequant_is_scalar_like (&dq))
    return lpt_rewriter_decline (rw, node, "the axis that it shuffles is dynamic");
  if (!lpt_chain_constants_map (&dq, shuffle, &how, &constants))
    return lpt_rewriter_decline (rw, node, "its constants cannot be shuffled");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_shuffle_channels = {
  .name      = "shuffle-channels",
  .doc       = "Move dequantization through ShuffleChannels",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_SHUFFLE_CHANNELS),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
