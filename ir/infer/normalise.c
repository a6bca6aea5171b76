/* normalise.c - inference of Softmax, GRN, BatchNormInference, GroupNormalization
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

gboolean
lpt_infer_softmax (LptNode *node,
                   GError **error)
{
  gint64 wanted = node->op == LPT_OP_SOFTMAX ? LPT_ATTRS (node, LptSoftMaxAttrs)->axis
                                             : LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis;
  LptShape shape = lpt_infer_shape_in (node, 0);
  gint axis;

  if (!lpt_infer_want_number (node, 0, error) ||
      (shape.rank != LPT_DYNAMIC && !lpt_infer_axis (wanted, shape.rank, &axis, error)))
    return FALSE;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

/* Channels are axis 1. */
gboolean
lpt_infer_grn (LptNode *node,
               GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);

  return lpt_infer_want_real (node, 0, error) && lpt_infer_want_rank (node, 0, 2, LPT_MAX_RANK, error) &&
         lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

/* One value per channel in inputs @first to @last. */
static gboolean
check_per_channel (LptNode   *node,
                   guint      first,
                   guint      last,
                   LptShape  *x,
                   GError   **error)
{
  for (guint i = first; i <= last; i++)
    {
      LptShape shape = lpt_infer_shape_in (node, i);

      if (shape.rank != LPT_DYNAMIC && shape.rank != 1)
        return lpt_infer_fail (error, "input %u has rank %d, not 1", i, shape.rank);
      if (x->rank == LPT_DYNAMIC || shape.rank == LPT_DYNAMIC)
        continue;
      if (!lpt_dim_merge (x->dims[1], shape.dims[0], &x->dims[1]))
        return lpt_infer_fail (error, "input %u has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " channels",
                               i, shape.dims[0], x->dims[1]);
    }

  return TRUE;
}

/* opset5: x, gamma, beta, mean, variance; opset1: gamma, beta, x, mean, variance */
gboolean
lpt_infer_batch_norm (LptNode *node,
                      GError **error)
{
  guint data = lpt_op_version (node->info, node->opset) >= 5 ? 0 : 2;
  LptShape x = lpt_infer_shape_in (node, data);
  LptDType dtype;

  if (!lpt_infer_same_types (node, 0, 4, &dtype, error) || !lpt_infer_want_real (node, data, error) ||
      !lpt_infer_want_rank (node, data, 2, LPT_MAX_RANK, error))
    return FALSE;
  for (guint i = 0; i < 5; i++)
    if (i != data && !check_per_channel (node, i, i, &x, error))
      return FALSE;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, data), &x, error);
}

gboolean
lpt_infer_lrn (LptNode *node,
               GError **error)
{
  const gint64 size = LPT_ATTRS (node, LptLrnAttrs)->size;
  LptShape x = lpt_infer_shape_in (node, 0);

  if (size < 1)
    return lpt_infer_fail (error, "size is %" G_GINT64_FORMAT ", must be at least 1", size);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &x, error);
}

gboolean
lpt_infer_group_normalization (LptNode *node,
                               GError **error)
{
  gint64 groups = LPT_ATTRS (node, LptGroupNormalizationAttrs)->num_groups;
  LptShape x = lpt_infer_shape_in (node, 0);
  LptDType dtype;

  if (!lpt_infer_same_types (node, 0, 2, &dtype, error) || !lpt_infer_want_rank (node, 0, 2, LPT_MAX_RANK, error) ||
      !check_per_channel (node, 1, 2, &x, error))
    return FALSE;
  if (groups < 1 || (lpt_shape_dim (&x, 1) != LPT_DYNAMIC && lpt_shape_dim (&x, 1) % groups != 0))
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " groups do not divide %" G_GINT64_FORMAT " channels", groups,
                           lpt_shape_dim (&x, 1));

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &x, error);
}
