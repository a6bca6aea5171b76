/* reduce.c - inference of reductions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

static gboolean
is_logical (LptOp op)
{
  return op == LPT_OP_REDUCE_LOGICAL_AND || op == LPT_OP_REDUCE_LOGICAL_OR;
}

gboolean
lpt_infer_reduce (LptNode *node,
                  GError **error)
{
  gboolean keep = LPT_ATTRS (node, LptReduceAttrs)->keep_dims;
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  LptShape out = LPT_SHAPE_SCALAR;
  gboolean axes[LPT_MAX_RANK];
  gboolean known;

  if (is_logical (node->op) ? dtype != LPT_DTYPE_BOOL && dtype != LPT_DTYPE_UNDEFINED && dtype != LPT_DTYPE_DYNAMIC
                            : dtype == LPT_DTYPE_BOOL)
    return lpt_infer_fail (error, "input 0 has type %s", lpt_dtype_name (dtype));
  if (!lpt_infer_axes_in (node, 1, shape.rank, axes, &known, error))
    return FALSE;
  if (!known)
    return lpt_infer_set_rank (node, 0, dtype, keep || shape.rank == 0 ? shape.rank : LPT_DYNAMIC, error);

  for (gint i = 0; i < shape.rank; i++)
    if (!axes[i])
      out.dims[out.rank++] = shape.dims[i];
    else if (keep)
      out.dims[out.rank++] = 1;

  return lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_arg_reduce (LptNode *node,
                      GError **error)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptShape out = LPT_SHAPE_SCALAR;
  gint axis;

  if (!lpt_infer_want_number (node, 0, error))
    return FALSE;
  if (!lpt_dtype_is_integer (attrs->output_type))
    return lpt_infer_fail (error, "output_type is %s, not an integer type", lpt_dtype_name (attrs->output_type));
  if (shape.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, attrs->output_type, LPT_DYNAMIC, error);
  if (!lpt_infer_axis (attrs->axis, shape.rank, &axis, error))
    return FALSE;
  if (lpt_shape_dim (&shape, axis) == 0)
    return lpt_infer_fail (error, "axis %d has length 0: there is no index", axis);
  for (gint i = 0; i < shape.rank; i++)
    if (i != axis)
      out.dims[out.rank++] = shape.dims[i];
    else if (attrs->keep_dims)
      out.dims[out.rank++] = 1;

  return lpt_infer_set (node, 0, attrs->output_type, &out, error);
}

/* Axes are an input, the shape stays: CumSum, MVN, NormalizeL2, Reverse. */
gboolean
lpt_infer_along_axes (LptNode *node,
                      GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);
  gboolean axes[LPT_MAX_RANK];
  gboolean known;
  gboolean mask = node->op == LPT_OP_REVERSE && LPT_ATTRS (node, LptReverseAttrs)->mode == LPT_REVERSE_MASK;

  if (!mask && lpt_node_in (node, 1) != NULL &&
      !lpt_infer_axes_in (node, 1, shape.rank, axes, &known, error))
    return FALSE;
  if (node->op != LPT_OP_REVERSE && !lpt_infer_want_number (node, 0, error))
    return FALSE;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}
