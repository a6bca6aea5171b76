/* lpt-reduce.c - dequantization in front of reductions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-reduce.h"

typedef struct { gint rank; gboolean reduced[LPT_MAX_RANK]; gboolean keep_dims; } Reduction;

static LptTensor *
reduce_constant (LptTensor *tensor,
                 gpointer   data)
{
  const Reduction *reduction = data;
  g_autoptr (LptTensor) wide = lpt_fold_extend (tensor, reduction->rank);
  const LptShape *shape = lpt_tensor_shape (wide);
  gint64 dims[LPT_MAX_RANK];
  gint d, n = 0;

  if (lpt_tensor_count (tensor) == 1)
    return lpt_fold_scalar_if_possible (tensor);
  if (reduction->keep_dims || shape->rank != reduction->rank)
    return lpt_tensor_ref (wide);
  for (d = 0; d < shape->rank; d++)
    if (!reduction->reduced[d])
      dims[n++] = shape->dims[d];

  return lpt_fold_reshape (wide, n, dims);
}

gboolean
lpt_reduce_match (LptRewriter       *rw,
                  LptNode           *node,
                  LptDequant        *dq,
                  LptChainConstants *constants,
                  gint64            *size)
{
  Reduction reduction = { .keep_dims = LPT_ATTRS (node, LptReduceAttrs)->keep_dims };
  LptInts axes = { 0 };
  gint64 count = 1;
  gint d;
  guint i;

  if (!lpt_layer_match_spatial (rw, node, dq))
    return FALSE;
  reduction.rank = dq->data->shape.rank;
  if (reduction.rank < 0)
    return lpt_rewriter_decline (rw, node, "its data has a dynamic rank");
  if (!lpt_node_ints_in (node, 1, &axes))
    return lpt_rewriter_decline (rw, node, "its axes are not constant");
  for (i = 0; i < axes.n; i++)
    if (lpt_axis_normalize (axes.v[i], reduction.rank, &d))
      reduction.reduced[d] = TRUE;
  lpt_ints_clear (&axes);
  for (d = 0; d < reduction.rank; d++)
    {
      if (!reduction.reduced[d])
        continue;
      if (lpt_dequant_varies (lpt_dequant_scale (dq), reduction.rank, d) ||
          (dq->subtract != NULL && lpt_dequant_varies (lpt_dequant_zp (dq), reduction.rank, d)))
        return lpt_rewriter_decline (rw, node, "scale or zero point varies along a reduced axis");
      count = count < 0 || dq->data->shape.dims[d] < 0 ? -1 : count * dq->data->shape.dims[d];
    }
  if (size != NULL)
    *size = count;
  if (!lpt_chain_constants_map (dq, reduce_constant, &reduction, constants))
    {
      lpt_chain_constants_clear (constants);
      return lpt_rewriter_decline (rw, node, "its constants cannot be reduced");
    }

  return TRUE;
}
