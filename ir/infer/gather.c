/* gather.c - inference of ops that pick or replace elements by index
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/infer/lpt-infer-util.h"

static gboolean
append (LptShape       *out,
        const LptShape *from,
        gint            first,
        gint            last)
{
  for (gint i = first; i < last; i++)
    {
      if (out->rank == LPT_MAX_RANK)
        return FALSE;
      out->dims[out->rank++] = from->dims[i];
    }

  return TRUE;
}

/* data[:axis] + indices[batch:] + data[axis + 1:] */
gboolean
lpt_infer_gather (LptNode *node,
                  GError **error)
{
  LptShape data = lpt_infer_shape_in (node, 0);
  LptShape indices = lpt_infer_shape_in (node, 1);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gint64 batch_dims = lpt_op_version (node->info, node->opset) >= 7 ? LPT_ATTRS (node, LptGatherAttrs)->batch_dims : 0;
  LptShape out = LPT_SHAPE_SCALAR;
  gint64 wanted;
  gint axis, batch = 0;

  if (!lpt_infer_want_integer (node, 1, "indices", error) || !lpt_infer_want_index (node, 2, "axis", error))
    return FALSE;
  if (data.rank == 0)
    return lpt_infer_fail (error, "data is a scalar");
  if (data.rank == LPT_DYNAMIC || indices.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  if (batch_dims < -indices.rank || batch_dims > indices.rank)
    return lpt_infer_fail (error, "batch_dims %" G_GINT64_FORMAT " is out of range for indices of rank %d", batch_dims,
                           indices.rank);
  batch = (gint) (batch_dims < 0 ? batch_dims + indices.rank : batch_dims);
  if (!lpt_infer_int_in (node, 2, &wanted))
    return lpt_infer_set_rank (node, 0, dtype, data.rank - 1 + indices.rank - batch, error);
  if (!lpt_infer_axis (wanted, data.rank, &axis, error))
    return FALSE;
  if (batch > axis)
    return lpt_infer_fail (error, "batch_dims %d is greater than axis %d", batch, axis);
  for (gint i = 0; i < batch; i++)
    if (!lpt_dim_merge (data.dims[i], indices.dims[i], &data.dims[i]))
      return lpt_infer_fail (error, "batch axis %d has lengths %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, i,
                             data.dims[i], indices.dims[i]);
  if (!append (&out, &data, 0, axis) || !append (&out, &indices, batch, indices.rank) ||
      !append (&out, &data, axis + 1, data.rank))
    return lpt_infer_unsupported (error, "unsupported rank of the output: more than %d", LPT_MAX_RANK);

  return lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_gather_elements (LptNode *node,
                           GError **error)
{
  LptShape data = lpt_infer_shape_in (node, 0);
  LptShape indices = lpt_infer_shape_in (node, 1);
  gint axis;

  if (!lpt_infer_want_integer (node, 1, "indices", error))
    return FALSE;
  if (data.rank != LPT_DYNAMIC && indices.rank != LPT_DYNAMIC)
    {
      if (data.rank != indices.rank)
        return lpt_infer_fail (error, "data of rank %d and indices of rank %d", data.rank, indices.rank);
      if (!lpt_infer_axis (LPT_ATTRS (node, LptAxisAttrs)->axis, data.rank, &axis, error))
        return FALSE;
      for (gint i = 0; i < data.rank; i++)
        if (i != axis && !lpt_dim_merge (data.dims[i], indices.dims[i], &indices.dims[i]))
          return lpt_infer_fail (error, "axis %d has lengths %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, i,
                                 data.dims[i], indices.dims[i]);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &indices, error);
}

/* indices[:-1] + data[batch + indices[-1]:]; opset5 joins the batch axes into one */
gboolean
lpt_infer_gather_nd (LptNode *node,
                     GError **error)
{
  gint64 batch_dims = LPT_ATTRS (node, LptGatherNDAttrs)->batch_dims;
  LptShape data = lpt_infer_shape_in (node, 0);
  LptShape indices = lpt_infer_shape_in (node, 1);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  LptShape out = LPT_SHAPE_SCALAR;
  gint batch;
  gint64 tuple;

  if (!lpt_infer_want_integer (node, 1, "indices", error))
    return FALSE;
  if (data.rank == 0 || indices.rank == 0)
    return lpt_infer_fail (error, "input %d is a scalar", data.rank == 0 ? 0 : 1);
  if (batch_dims < 0 || (indices.rank != LPT_DYNAMIC && batch_dims >= indices.rank) ||
      (data.rank != LPT_DYNAMIC && batch_dims >= data.rank) || batch_dims >= LPT_MAX_RANK)
    return lpt_infer_fail (error, "batch_dims %" G_GINT64_FORMAT " is out of range", batch_dims);
  batch = (gint) batch_dims;
  if (data.rank == LPT_DYNAMIC || indices.rank == LPT_DYNAMIC || indices.dims[indices.rank - 1] == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  tuple = indices.dims[indices.rank - 1];
  if (tuple < 1 || tuple > data.rank - batch)
    return lpt_infer_fail (error, "tuples of %" G_GINT64_FORMAT " indices for %d axes", tuple, data.rank - batch);
  for (gint i = 0; i < batch; i++)
    if (!lpt_dim_merge (data.dims[i], indices.dims[i], &indices.dims[i]))
      return lpt_infer_fail (error, "batch axis %d has lengths %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, i,
                             data.dims[i], indices.dims[i]);
  if (batch > 1 && lpt_op_version (node->info, node->opset) < 8)
    {
      gint64 joined = 1;

      for (gint i = 0; i < batch; i++)
        if (!lpt_dim_mul (joined, indices.dims[i], &joined))
          return lpt_infer_fail (error, "length of the batch overflows");
      out = (LptShape) { 1, { joined } };
    }
  else if (!append (&out, &indices, 0, batch))
    return FALSE;
  if (!append (&out, &indices, batch, indices.rank - 1) || !append (&out, &data, batch + (gint) tuple, data.rank))
    return lpt_infer_unsupported (error, "unsupported rank of the output: more than %d", LPT_MAX_RANK);

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* ScatterUpdate, ScatterElementsUpdate (data, indices, updates, axis), ScatterNDUpdate (data, indices, updates) */
gboolean
lpt_infer_scatter (LptNode *node,
                   GError **error)
{
  LptShape data = lpt_infer_shape_in (node, 0);
  LptShape indices = lpt_infer_shape_in (node, 1);
  LptShape updates = lpt_infer_shape_in (node, 2);
  LptDType updates_type = lpt_infer_dtype_in (node, 2);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gint64 wanted;
  gint axis;

  if (!lpt_infer_want_integer (node, 1, "indices", error))
    return FALSE;
  if (dtype != updates_type && dtype != LPT_DTYPE_UNDEFINED && updates_type != LPT_DTYPE_UNDEFINED &&
      dtype != LPT_DTYPE_DYNAMIC && updates_type != LPT_DTYPE_DYNAMIC && !lpt_infer_is_relaxed (node))
    return lpt_infer_fail (error, "inputs 0 and 2 have different element types: %s and %s", lpt_dtype_name (dtype),
                           lpt_dtype_name (updates_type));
  if (node->op == LPT_OP_SCATTER_ND_UPDATE)
    {
      gint64 tuple = indices.rank > 0 ? indices.dims[indices.rank - 1] : LPT_DYNAMIC;

      if (indices.rank == 0)
        return lpt_infer_fail (error, "indices are a scalar");
      if (data.rank != LPT_DYNAMIC && tuple > data.rank)
        return lpt_infer_fail (error, "tuples of %" G_GINT64_FORMAT " indices for %d axes", tuple, data.rank);
      if (data.rank != LPT_DYNAMIC && tuple != LPT_DYNAMIC && updates.rank != LPT_DYNAMIC &&
          updates.rank != indices.rank - 1 + data.rank - tuple)
        return lpt_infer_fail (error, "updates have rank %d, not %" G_GINT64_FORMAT, updates.rank,
                               indices.rank - 1 + data.rank - tuple);
    }
  else
    {
      if (!lpt_infer_want_index (node, 3, "axis", error) ||
          (data.rank != LPT_DYNAMIC && lpt_infer_int_in (node, 3, &wanted) &&
           !lpt_infer_axis (wanted, data.rank, &axis, error)))
        return FALSE;
      if (node->op == LPT_OP_SCATTER_ELEMENTS_UPDATE && !lpt_shape_compatible (&indices, &updates))
        {
          g_autofree char *a = lpt_infer_text (&indices);
          g_autofree char *b = lpt_infer_text (&updates);

          return lpt_infer_fail (error, "indices %s and updates %s differ", a, b);
        }
    }

  return lpt_infer_set (node, 0, dtype, &data, error);
}
