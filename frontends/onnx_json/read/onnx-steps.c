/* onnx-steps.c - frequent single steps of the ONNX importer's mappings; ranks and axes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

LptValue *
lpt_onnx_convert (LptOnnxNode *on,
                  LptValue    *value,
                  LptDType     dtype)
{
  LptNode *node;

  if (value->dtype == dtype)
    return value;
  node = lpt_onnx_add (on, LPT_OP_CONVERT, 1, value);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_to_small_float (LptOnnxNode  *on,
                         LptValue     *value,
                         LptDType      dtype,
                         gboolean      saturate,
                         LptPowerRound round)
{
  LptNode *node;

  value = lpt_onnx_convert (on, value, LPT_DTYPE_F32);
  if (saturate)
    {
      node = lpt_onnx_add (on, LPT_OP_CLAMP, 1, value);
      LPT_ATTRS (node, LptClampAttrs)->min = lpt_dtype_min (dtype);
      LPT_ATTRS (node, LptClampAttrs)->max = lpt_dtype_max (dtype);
      value = lpt_onnx_done (on, node);
    }
  node = lpt_onnx_add (on, LPT_OP_CONVERT, 1, value);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  if (dtype == LPT_DTYPE_F8E8M0)
    LPT_ATTRS (node, LptConvertAttrs)->power_round = (int) round;
  return lpt_onnx_done (on, node);
}

static LptValue *
reshape (LptOnnxNode *on,
         LptValue    *value,
         LptValue    *shape,
         gboolean     keep)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_RESHAPE, 2, value, shape);

  LPT_ATTRS (node, LptReshapeAttrs)->special_zero = keep;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_reshape_to (LptOnnxNode *on,
                     LptValue    *value,
                     LptValue    *shape)
{
  return reshape (on, value, shape, FALSE);
}

LptValue *
lpt_onnx_reshape (LptOnnxNode  *on,
                  LptValue     *value,
                  guint         n,
                  const gint64 *dims)
{
  return lpt_onnx_reshape_to (on, value, lpt_onnx_i64 (on, n, dims));
}

LptValue *
lpt_onnx_reshape_keep (LptOnnxNode  *on,
                       LptValue     *value,
                       guint         n,
                       const gint64 *dims)
{
  return reshape (on, value, lpt_onnx_i64 (on, n, dims), TRUE);
}

LptValue *
lpt_onnx_shape_of (LptOnnxNode *on,
                   LptValue    *value)
{
  return lpt_onnx_emit (on, LPT_OP_SHAPE_OF, 1, value);
}

LptValue *
lpt_onnx_slice (LptOnnxNode *on,
                LptValue    *value,
                gint64       axis,
                gint64       start,
                gint64       stop)
{
  gint64 one = 1;

  return lpt_onnx_emit (on, LPT_OP_SLICE, 5, value, lpt_onnx_i64 (on, 1, &start), lpt_onnx_i64 (on, 1, &stop),
                        lpt_onnx_i64 (on, 1, &one), lpt_onnx_i64 (on, 1, &axis));
}

LptValue *
lpt_onnx_dim (LptOnnxNode *on,
              LptValue    *value,
              gint64       axis)
{
  return lpt_onnx_slice (on, lpt_onnx_shape_of (on, value), 0, axis, axis == -1 ? G_MAXINT64 : axis + 1);
}

LptValue *
lpt_onnx_transpose (LptOnnxNode  *on,
                    LptValue     *value,
                    guint         n,
                    const gint64 *order)
{
  return lpt_onnx_emit (on, LPT_OP_TRANSPOSE, 2, value, lpt_onnx_i64 (on, n, order));
}

LptValue *
lpt_onnx_reduce (LptOnnxNode *on,
                 LptOp        op,
                 LptValue    *value,
                 LptValue    *axes,
                 gboolean     keep_dims)
{
  LptNode *node = lpt_onnx_add (on, op, 2, value, axes);

  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = keep_dims;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_concat (LptOnnxNode     *on,
                 gint64           axis,
                 guint            n,
                 LptValue *const *values)
{
  LptNode *node = lpt_onnx_add_list (on, LPT_OP_CONCAT, 1, n, values);

  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_unsqueeze (LptOnnxNode *on,
                    LptValue    *value,
                    gint64       axis)
{
  return lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, value, lpt_onnx_i64 (on, 1, &axis));
}

LptValue *
lpt_onnx_squeeze (LptOnnxNode *on,
                  LptValue    *value,
                  gint64       axis)
{
  return lpt_onnx_emit (on, LPT_OP_SQUEEZE, 2, value, lpt_onnx_i64 (on, 1, &axis));
}

LptValue *
lpt_onnx_broadcast (LptOnnxNode *on,
                    LptValue    *value,
                    LptValue    *shape)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_BROADCAST, 2, value, shape);

  LPT_ATTRS (node, LptBroadcastAttrs)->mode = LPT_BROADCAST_MODE_BIDIRECTIONAL;
  return lpt_onnx_done (on, node);
}

gint
lpt_onnx_rank (LptOnnxNode *on,
               LptValue    *value)
{
  if (value->shape.rank >= 0)
    return value->shape.rank;
  lpt_onnx_unsupported (on, "input of unknown rank");
  return 0;
}

LptValue *
lpt_onnx_with_rank (LptOnnxNode *on,
                    LptValue    *value,
                    gint         rank)
{
  const gint64 kept[LPT_MAX_RANK] = { 0 };

  return value->shape.rank >= 0 || rank < 0 ? value : lpt_onnx_reshape_keep (on, value, (guint) rank, kept);
}

gint
lpt_onnx_axis (LptOnnxNode *on,
               gint64       axis,
               gint         rank)
{
  gint result;

  if (lpt_axis_normalize (axis, rank, &result))
    return result;
  lpt_onnx_fail (on, LPT_ERROR_INVALID, "axis %" G_GINT64_FORMAT " is outside rank %d", axis, rank);
  return 0;
}

gint
lpt_onnx_axis_of (LptOnnxNode *on,
                  LptValue    *value,
                  gint64       axis)
{
  if (value->shape.rank == LPT_DYNAMIC && axis >= 0 && axis < LPT_MAX_RANK)
    return (gint) axis;
  return lpt_onnx_axis (on, axis, lpt_onnx_rank (on, value));
}

LptValue *
lpt_onnx_clamp (LptOnnxNode *on,
                LptValue    *value,
                double       low,
                double       high)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_CLAMP, 1, value);

  LPT_ATTRS (node, LptClampAttrs)->min = low;
  LPT_ATTRS (node, LptClampAttrs)->max = high;
  return lpt_onnx_done (on, node);
}
