/* passes/gather.c - move dequantization through Gather
 *
 *     Gather ((x - z) s, indices, axis)  =>  (Gather (x, indices, axis) - z') s'
 *
 * Constants that vary along the axis are gathered along; the others get the axes that the indices bring. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point differs between channels and the axis is not constant;
 *   - they vary along the axis and the indices are not constant, or have a rank above 1.
 *
 * Golden tests: tests/golden/gather/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

typedef struct { gint rank, axis, index_rank; gint64 batch_dims; LptInts indices; gboolean have_indices; } Where;

/* The axis is replaced by as many ones as the indices have axes. */
static LptTensor *
adapt_rank (LptTensor   *tensor,
            const Where *where)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  gint64 dims[LPT_MAX_RANK];
  gint d, k, n = 0;

  for (d = 0; d < shape->rank; d++)
    {
      if (d != where->axis)
        dims[n++] = shape->dims[d];
      else
        for (k = (gint) where->batch_dims; k < where->index_rank && n < LPT_MAX_RANK; k++)
          dims[n++] = k == (gint) where->batch_dims ? shape->dims[d] : 1;
    }

  return lpt_fold_reshape (tensor, n, dims);
}

static LptTensor *
gather (LptTensor *tensor,
        gpointer   data)
{
  const Where *where = data;
  g_autoptr (LptTensor) wide = NULL;
  g_autoptr (LptTensor) taken = NULL;
  g_autofree gint64 *index = NULL;
  gint64 n;
  guint i;

  if (lpt_tensor_is_scalar_like (tensor))
    return lpt_fold_scalar_if_possible (tensor);
  wide = lpt_fold_extend_all (tensor, where->rank);
  if (wide == NULL)
    return NULL;
  n = lpt_tensor_shape (wide)->dims[where->axis];
  if (n == 1)
    return adapt_rank (wide, where);
  if (!where->have_indices || where->index_rank > 1 || where->batch_dims != 0)
    return NULL;
  index = g_new (gint64, where->indices.n + 1);
  for (i = 0; i < where->indices.n; i++)
    {
      index[i] = where->indices.v[i] < 0 ? where->indices.v[i] + n : where->indices.v[i];
      if (index[i] < 0 || index[i] >= n)
        return NULL;
    }
  taken = lpt_fold_take (wide, where->axis, index, where->indices.n);
  if (taken != NULL && where->index_rank == 0)
    {
      LptTensor *flat = adapt_rank (taken, where);

      lpt_tensor_unref (taken);
      taken = flat;
    }

  return taken != NULL ? lpt_fold_scalar_if_possible (taken) : NULL;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  Where where = { .batch_dims = LPT_ATTRS (node, LptGatherAttrs)->batch_dims };
  LptInts axis = { 0 };
  LptDequant dq;
  gboolean ok;

  if (!lpt_layer_match_spatial (rw, node, &dq))
    return FALSE;
  where.rank = dq.data->shape.rank;
  if (!lpt_dequant_is_scalar_like (&dq))
    {
      ok = where.rank >= 0 && lpt_node_in (node, 1)->shape.rank >= 0 && lpt_node_ints_in (node, 2, &axis) &&
           axis.n == 1 && lpt_axis_normalize (axis.v[0], where.rank, &where.axis);
      lpt_ints_clear (&axis);
      if (!ok)
        return lpt_rewriter_decline (rw, node,
                                     "scale or zero point differs between channels, and the axis is not constant");
      where.index_rank = lpt_node_in (node, 1)->shape.rank;
      if (where.batch_dims < 0)
        where.batch_dims += where.index_rank;
      where.have_indices = lpt_node_ints_in (node, 1, &where.indices);
    }
  ok = lpt_chain_constants_map (&dq, gather, &where, &constants);
  lpt_ints_clear (&where.indices);
  if (!ok)
    return lpt_rewriter_decline (rw, node,
                                 "scale or zero point varies along the axis, and the indices are no constant list");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_gather = {
  .name      = "gather",
  .doc       = "Move dequantization through Gather",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_GATHER),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
