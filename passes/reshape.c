/* passes/reshape.c - move dequantization through Reshape
 *
 *     Reshape ((x - z) s, shape)  =>  (Reshape (x, shape) - z') s'
 *
 * One scale and zero point for all elements (scalar-like): always. Per channel: the channel axis must stay where it
 * is, or be split up (or joined with the axes behind it) so that every new channel lies in one old channel; z' and s'
 * repeat the old values for the new channels. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - it stands on constants: what reads the weights sees through it;
 *   - the target shape is not constant, or its channel axis dynamic, and the constants differ between channels;
 *   - the output has a rank above 5, or the batch axis changes, or a new channel would hold elements of several old
 *   ones.
 *
 * Golden tests: tests/golden/reshape/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "passes/support/lpt-layer.h"

typedef struct { gint in_rank, out_rank; gint64 channels; } Change;

/* Each channel's value once for every new channel that it becomes: [1, new channels, 1, ...]. */
static LptTensor *
repeat_channels (LptTensor *tensor,
                 gpointer   data)
{
  const Change *change = data;
  g_autoptr (LptTensor) wide = NULL;
  g_autoptr (LptTensor) repeated = NULL;
  g_autofree gint64 *index = NULL;
  gint64 dims[LPT_MAX_RANK];
  gint64 old, i;
  gint d;

  /* One element in brackets stays so. */
  if (lpt_tensor_count (tensor) == 1 && lpt_tensor_shape (tensor)->rank <= 1)
    return lpt_tensor_ref (tensor);
  if (lpt_tensor_count (tensor) == 1 && lpt_tensor_shape (tensor)->rank > 1 && change->out_rank > 0)
    {
      for (d = 0; d < change->out_rank; d++)
        dims[d] = 1;
      return lpt_fold_reshape (tensor, change->out_rank, dims);
    }
  if (lpt_tensor_is_scalar_like (tensor))
    return lpt_fold_scalar_if_possible (tensor);
  wide = lpt_fold_extend_all (tensor, change->in_rank);
  if (wide == NULL)
    return NULL;
  old = lpt_tensor_shape (wide)->dims[1];
  if (change->channels % old != 0)
    return NULL;
  index = lpt_memory_try ((gsize) change->channels, sizeof *index, NULL);
  if (index == NULL)
    return NULL;
  for (i = 0; i < change->channels; i++)
    index[i] = i / (change->channels / old);
  repeated = lpt_fold_take (wide, 1, index, change->channels);
  for (d = 0; d < change->out_rank; d++)
    dims[d] = d == 1 ? change->channels : 1;

  return repeated != NULL ? lpt_fold_reshape (repeated, change->out_rank, dims) : NULL;
}

/* NULL, or why the channels do not survive. */
static const char *
channel_problem (LptNode          *node,
                 const LptDequant *dq)
{
  const LptShape *in = &dq->data->shape, *out = &node->out[0].shape;
  LptTensor *constants[] = { lpt_dequant_zp (dq), lpt_dequant_scale (dq) };
  gboolean channels = FALSE;
  gint d;
  guint i;

  if (out->rank > 5)
    return "its output has a rank above 5, where no constant per channel can follow";
  if (out->rank < 2 || out->dims[1] < 0)
    return "the channel axis of its output is missing or dynamic";
  if (in->rank < 2 || in->dims[0] != out->dims[0])
    return "it changes the batch axis";
  for (i = 0; i < G_N_ELEMENTS (constants); i++)
    for (d = 0; constants[i] != NULL && d < in->rank; d++)
      if (lpt_dequant_varies (constants[i], in->rank, d))
        {
          if (d != 1)
            return "scale or zero point varies along another axis than the second";
          channels = TRUE;
        }
  if (channels && (out->dims[1] < in->dims[1] || out->dims[1] % in->dims[1] != 0))
    return "its channels are not whole parts of the old ones";

  return NULL;
}

static gboolean
only_reader_is_matmul (LptNode *node)
{
  return lpt_value_n_uses (&node->out[0]) == 1 && lpt_value_use (&node->out[0], 0)->node->op == LPT_OP_MATMUL;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  Change change;
  LptDequant dq;
  const char *problem;

  if (lpt_value_is_constant_path (lpt_node_in (node, 0)))
    return FALSE;
  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (lpt_node_const_in (node, 1) == NULL && lpt_tensor_count (lpt_dequant_scale (&dq)) != 1)
    return lpt_rewriter_decline (rw, node, "its target shape is not constant and the scale differs between channels");
  if (!lpt_dequant_is_scalar_like (&dq) ||
      (lpt_rewriter_config (rw)->reshape_ignores_per_tensor && only_reader_is_matmul (node)))
    {
      problem = channel_problem (node, &dq);
      if (problem != NULL)
        return lpt_rewriter_decline (rw, node, "%s", problem);
    }
  change = (Change) { dq.data->shape.rank, node->out[0].shape.rank,
                      node->out[0].shape.rank > 1 ? node->out[0].shape.dims[1] : 1 };
  if (!lpt_chain_constants_map (&dq, repeat_channels, &change, &constants))
    return lpt_rewriter_decline (rw, node, "its channels are not whole parts of the old ones");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_reshape = {
  .name      = "reshape",
  .doc       = "Move dequantization through Reshape",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_RESHAPE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
