/* quantize.c - inference of FakeQuantize and of the ops of lowered graphs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

gboolean
lpt_infer_fake_quantize (LptNode *node,
                         GError **error)
{
  const LptFakeQuantizeAttrs *attrs = LPT_ATTRS (node, LptFakeQuantizeAttrs);
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptDType dtype;

  if (attrs->levels < 2)
    return lpt_infer_fail (error, "levels is %" G_GINT64_FORMAT ", less than 2", attrs->levels);
  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_same_types (node, 0, 4, &dtype, error))
    return FALSE;
  for (guint i = 1; i < 5; i++)
    {
      LptShape limit = lpt_infer_shape_in (node, i);
      LptShape merged;

      if ((attrs->auto_broadcast == LPT_BROADCAST_NONE && !lpt_shape_compatible (&shape, &limit)) ||
          !lpt_shape_broadcast (&shape, &limit, &merged))
        {
          g_autofree char *a = lpt_infer_text (&shape);
          g_autofree char *b = lpt_infer_text (&limit);

          return lpt_infer_fail (error, "interval %s (input %u) does not broadcast to %s", b, i, a);
        }
      /* What is not known of the input's shape stays so: the limits say nothing of it. */
      if (shape.rank == LPT_DYNAMIC || limit.rank == LPT_DYNAMIC)
        continue;
      for (gint k = 0, at = merged.rank - shape.rank; k < shape.rank; k++)
        if (shape.dims[k] == LPT_DYNAMIC)
          merged.dims[at + k] = LPT_DYNAMIC;
      shape = merged;
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

static gboolean
is_known (LptDType dtype)
{
  return dtype != LPT_DTYPE_UNDEFINED && dtype != LPT_DTYPE_DYNAMIC;
}

/* Quantize, Dequantize, Requantize, Reinterpret: the type is the attribute, else what the output has, else real for
 * Dequantize and the input's for the others. */
gboolean
lpt_infer_quantize (LptNode *node,
                    GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptDType in = lpt_infer_dtype_in (node, 0);
  LptDType dtype = LPT_ATTRS (node, LptQuantizeAttrs)->type;

  if (node->op == LPT_OP_QUANTIZE && is_known (in) && !lpt_dtype_is_real (in))
    return lpt_infer_fail (error, "the input has type %s, not a real type", lpt_dtype_name (in));
  if (node->op != LPT_OP_QUANTIZE && is_known (in) && !lpt_dtype_is_integer (in))
    return lpt_infer_fail (error, "the input has type %s, not an integer type", lpt_dtype_name (in));
  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = node->out[0].dtype;
  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = node->op == LPT_OP_DEQUANTIZE ? LPT_DTYPE_F32 : in;
  if (node->op == LPT_OP_DEQUANTIZE && is_known (dtype) && !lpt_dtype_is_real (dtype))
    return lpt_infer_fail (error, "the output has type %s, not a real type", lpt_dtype_name (dtype));
  if (node->op != LPT_OP_DEQUANTIZE && is_known (dtype) && !lpt_dtype_is_integer (dtype))
    return lpt_infer_fail (error, "the output has type %s, not an integer type", lpt_dtype_name (dtype));
  if (node->op == LPT_OP_REINTERPRET && in != LPT_DTYPE_UNDEFINED && dtype != in)
    return lpt_infer_fail (error, "the same bytes cannot be %s and %s", lpt_dtype_name (in), lpt_dtype_name (dtype));

  return lpt_infer_set (node, 0, dtype, &shape, error);
}

/* Codes, and a scale and a zero point for each row, in as many axes; for all of the data a scalar. */
gboolean
lpt_infer_dynamic_quantize (LptNode *node,
                            GError **error)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  const LptDType dtype = attrs->symmetric ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  LptShape shape = lpt_infer_shape_in (node, 0), rows = shape;
  gint axis = 0;

  if (!lpt_infer_want_real (node, 0, error))
    return FALSE;
  if (shape.rank != LPT_DYNAMIC && attrs->axis != 0 && !lpt_infer_axis (attrs->axis, shape.rank, &axis, error))
    return FALSE;
  if (attrs->axis == 0 || (shape.rank != LPT_DYNAMIC && axis == 0))
    rows.rank = 0;
  for (gint i = axis; i < rows.rank; i++)
    rows.dims[i] = 1;

  return lpt_infer_set (node, 0, dtype, &shape, error) && lpt_infer_set (node, 1, LPT_DTYPE_F32, &rows, error) &&
         lpt_infer_set (node, 2, dtype, &rows, error);
}

gboolean
lpt_infer_table (LptNode *node,
                 GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptDType in = lpt_infer_dtype_in (node, 0);
  LptDType dtype = node->out[0].dtype;

  if (is_known (in) && (!lpt_dtype_is_integer (in) || lpt_dtype_bits (in) != 8))
    return lpt_infer_fail (error, "the input has type %s, not an 8-bit type", lpt_dtype_name (in));

  return lpt_infer_set (node, 0, dtype != LPT_DTYPE_UNDEFINED ? dtype : in, &shape, error);
}
