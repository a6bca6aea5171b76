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

/* One side is real or both are integers. The type is the attribute, else what the output has, else f32 where it is real
 * and the input's where it is not. */
static gboolean
infer_codes (LptNode *node,
             gboolean real_in,
             gboolean real_out,
             GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptDType in = lpt_infer_dtype_in (node, 0);
  LptDType dtype = LPT_ATTRS (node, LptQuantizeAttrs)->type;

  if (is_known (in) && !(real_in ? lpt_dtype_is_real (in) : lpt_dtype_is_integer (in)))
    return lpt_infer_fail (error, "the input has type %s, not %s type", lpt_dtype_name (in),
                           real_in ? "a real" : "an integer");
  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = node->out[0].dtype;
  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = real_out ? LPT_DTYPE_F32 : in;
  if (is_known (dtype) && !(real_out ? lpt_dtype_is_real (dtype) : lpt_dtype_is_integer (dtype)))
    return lpt_infer_fail (error, "the output has type %s, not %s type", lpt_dtype_name (dtype),
                           real_out ? "a real" : "an integer");

  return lpt_infer_set (node, 0, dtype, &shape, error);
}

gboolean
lpt_infer_quantize (LptNode *node,
                    GError **error)
{
  return infer_codes (node, TRUE, FALSE, error);
}

gboolean
lpt_infer_dequantize (LptNode *node,
                      GError **error)
{
  return infer_codes (node, FALSE, TRUE, error);
}

gboolean
lpt_infer_requantize (LptNode *node,
                      GError **error)
{
  return infer_codes (node, FALSE, FALSE, error);
}

gboolean
lpt_infer_reinterpret (LptNode *node,
                       GError **error)
{
  LptDType in = lpt_infer_dtype_in (node, 0);

  if (!infer_codes (node, FALSE, FALSE, error))
    return FALSE;
  if (in != LPT_DTYPE_UNDEFINED && node->out[0].dtype != in)
    return lpt_infer_fail (error, "the same bytes cannot be %s and %s", lpt_dtype_name (in),
                           lpt_dtype_name (node->out[0].dtype));

  return TRUE;
}

/* Codes, and a scale and a zero point for each row, in as many axes; for all of the data a scalar. */
gboolean
lpt_infer_dynamic_quantize (LptNode *node,
                            GError **error)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  const LptDType dtype = attrs->bits == 16 ? LPT_DTYPE_I16 : attrs->symmetric ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  LptShape shape = lpt_infer_shape_in (node, 0), rows = shape;
  gint axis = 0;

  if (!lpt_infer_want_real (node, 0, error))
    return FALSE;
  if (attrs->bits != 8 && (attrs->bits != 16 || !attrs->symmetric || attrs->litert))
    return lpt_infer_fail (error, "codes of %" G_GINT64_FORMAT " bits: there are 8, and 16 of symmetric intervals",
                           (gint64) attrs->bits);
  if (shape.rank != LPT_DYNAMIC && attrs->axis != 0 && !lpt_infer_axis (attrs->axis, shape.rank, &axis, error))
    return FALSE;
  if (attrs->axis == 0 || (shape.rank != LPT_DYNAMIC && axis == 0))
    rows.rank = 0;
  if (attrs->block < 0 || (attrs->block > 0 && shape.rank != LPT_DYNAMIC && axis != shape.rank - 1))
    return lpt_infer_fail (error, "blocks of %" G_GINT64_FORMAT " in rows that are not the last axis", attrs->block);
  for (gint i = axis; i < rows.rank; i++)
    rows.dims[i] = attrs->block == 0 || rows.dims[i] == LPT_DYNAMIC ? (attrs->block == 0 ? 1 : LPT_DYNAMIC)
                                                                    : (rows.dims[i] + attrs->block - 1) / attrs->block;

  return lpt_infer_set (node, 0, dtype, &shape, error) && lpt_infer_set (node, 1, LPT_DTYPE_F32, &rows, error) &&
         lpt_infer_set (node, 2, dtype, &rows, error);
}

/* Data, its codes, their scale and zero point (absent: 0): codes of their type, numbers where they are such. */
gboolean
lpt_infer_dynamic_rest (LptNode *node,
                        GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0), codes = lpt_infer_shape_in (node, 1), shape;
  guint i;

  if (!lpt_infer_want_real (node, 0, error))
    return FALSE;
  if (!lpt_shape_merge (&x, &codes, &shape))
    return lpt_infer_fail (error, "the codes have another shape than the data");
  for (i = 2; i < node->n_in && lpt_node_in (node, i) != NULL; i++)
    {
      LptShape one = lpt_infer_shape_in (node, i);
      gint64 count;

      if (lpt_shape_count (&one, &count) && count != 1)
        return lpt_infer_fail (error, "input %u has %" G_GINT64_FORMAT " elements, not one", i, count);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 1), &shape, error);
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
