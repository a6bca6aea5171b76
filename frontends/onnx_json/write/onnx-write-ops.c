/* onnx-write-ops.c - what the op writers share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

gboolean
lpt_onnx_w_const_ints (LptOnnxWriter *w,
                       LptNode       *node,
                       guint          i,
                       const char    *what,
                       LptInts       *list)
{
  if (lpt_node_ints_in (node, i, list))
    return TRUE;
  lpt_onnx_w_fail (w, "%s that is not constant", what);
  return FALSE;
}

gint64
lpt_onnx_w_const_int (LptOnnxWriter *w,
                      LptNode       *node,
                      guint          i,
                      const char    *what)
{
  LptInts list = { 0 };
  gint64 value = 0;

  if (lpt_onnx_w_const_ints (w, node, i, what, &list))
    {
      if (list.n == 1)
        value = list.v[0];
      else
        lpt_onnx_w_fail (w, "%u numbers as %s", list.n, what);
    }
  lpt_ints_clear (&list);
  return value;
}

gboolean
lpt_onnx_w_static (LptOnnxWriter *w,
                   LptNode       *node,
                   guint          i,
                   LptShape      *shape)
{
  *shape = lpt_node_in (node, i)->shape;
  if (lpt_shape_is_static (shape))
    return TRUE;
  lpt_onnx_w_fail (w, "a dynamic shape; --shape gives the inputs one");
  return FALSE;
}

LptDType
lpt_onnx_w_real_type (LptNode *node,
                      guint    i)
{
  const LptValue *value = lpt_node_in (node, i);

  LptDType dtype = node->in[i].compute != LPT_DTYPE_UNDEFINED ? node->in[i].compute : value->dtype;

  if (value->quant != NULL && (node->info->flags & LPT_OP_F_BITS) == 0)
    return LPT_DTYPE_F32;
  if (lpt_onnx_w_takes (node, dtype))
    return dtype;
  return lpt_dtype_is_real (dtype) ? LPT_DTYPE_F32 : lpt_dtype_min (dtype) < 0 ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
}

const char *
lpt_onnx_w_number (LptOnnxWriter *w,
                   LptNode       *node,
                   double         value)
{
  return lpt_onnx_w_scalar (w, "number", lpt_onnx_w_real_type (node, 0), value);
}

const char *
lpt_onnx_w_transposed (LptOnnxWriter *w,
                       const char    *x,
                       guint          n,
                       const gint64  *order)
{
  const char *output = lpt_onnx_w_temp (w, "Transpose");

  lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", output, 1, x), "perm", n, order);
  return output;
}

const char *
lpt_onnx_w_reshape (LptOnnxWriter *w,
                    const char    *output,
                    const char    *x,
                    guint          n,
                    const gint64  *dims)
{
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "Reshape", output, 2, x, lpt_onnx_w_i64s (w, "shape", n, dims));
  gboolean zero = FALSE, rest = FALSE;

  for (guint i = 0; i < n; i++)
    {
      zero = zero || dims[i] == 0;
      rest = rest || dims[i] < 0;
    }
  if (zero && !rest)
    lpt_onnx_w_int (w, y, "allowzero", 1);
  return output;
}

const char *
lpt_onnx_w_reshaped (LptOnnxWriter *w,
                     const char    *x,
                     guint          n,
                     const gint64  *dims)
{
  return lpt_onnx_w_reshape (w, lpt_onnx_w_temp (w, "Reshape"), x, n, dims);
}

const char *
lpt_onnx_w_sliced (LptOnnxWriter *w,
                   const char    *x,
                   gint64         axis,
                   gint64         start,
                   gint64         stop,
                   gint64         step)
{
  return lpt_onnx_w_step (w, "Slice", 5, x, lpt_onnx_w_i64s (w, "start", 1, &start),
                          lpt_onnx_w_i64s (w, "stop", 1, &stop), lpt_onnx_w_i64s (w, "axis", 1, &axis),
                          lpt_onnx_w_i64s (w, "step", 1, &step));
}

const char *
lpt_onnx_w_joined (LptOnnxWriter     *w,
                   gint64             axis,
                   guint              n,
                   const char *const *parts)
{
  const char *output = lpt_onnx_w_temp (w, "Concat");

  lpt_onnx_w_int (w, lpt_onnx_w_list (w, "Concat", 1, &output, n, parts), "axis", axis);
  return output;
}

void
lpt_onnx_w_cast_out (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *x,
                     LptDType       from)
{
  /* Codes are made of real numbers, behind. */
  const LptDType to = lpt_onnx_w_is_quantized (&node->out[0]) ? LPT_DTYPE_F32 : node->out[0].dtype;

  if (to == from)
    lpt_onnx_w_node (w, "Identity", OUT (0), 1, x);
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, x), "to", lpt_onnx_type_from_dtype (to));
}
