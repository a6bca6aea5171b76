/* onnx-write-qdq.c - the ops of lowered graphs that say what codes mean, in the QDQ form
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

/* Quantize, Requantize: QuantizeLinear of the numbers follows by itself. Its scale is f32, and so is what it reads. */
void
lpt_onnx_write_requantize (LptOnnxWriter *w,
                           LptNode       *node,
                           const char    *onnx)
{
  const LptDType dtype = lpt_onnx_w_real_type (node, 0);
  const char *real = IN (0);

  if (lpt_node_out (node)->quant == NULL)
    {
      lpt_onnx_w_fail (w, "no scale");
      return;
    }
  if (lpt_dtype_is_real (dtype) && lpt_dtype_bits (dtype) < 32)
    {
      const char *wide = lpt_onnx_w_temp (w, "wide");

      lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", wide, 1, real), "to", lpt_onnx_type_from_dtype (LPT_DTYPE_F32));
      real = wide;
    }
  g_hash_table_insert (w->reals, lpt_node_out (node), (gpointer) real);
}

void
lpt_onnx_write_dequantize (LptOnnxWriter *w,
                           LptNode       *node,
                           const char    *onnx)
{
  if (lpt_node_out (node)->dtype == lpt_onnx_w_real_type (node, 0))
    lpt_onnx_w_alias (w, lpt_node_out (node), IN (0));
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, IN (0)), "to",
                    lpt_onnx_type_from_dtype (lpt_node_out (node)->dtype));
}

/* Sums of a product are written as real numbers: those of other scales, without zero points, are as many times as
 * large. */
static gboolean
rescale_sums (LptOnnxWriter *w,
              LptNode       *node)
{
  LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node);
  const LptQuant *a = x->quant, *b = y->quant;
  g_autofree double *ratio = NULL;
  LptTensor *factors;
  LptShape shape = { .rank = x->shape.rank };
  guint n;

  if (a == NULL || b == NULL || x->dtype != LPT_DTYPE_I32 || x->producer->data != NULL ||
      g_hash_table_lookup (w->names, x) != NULL || (a->n > 1 && b->n > 1 && a->axis != b->axis))
    return FALSE;
  n = MAX (a->n, b->n);
  ratio = g_new (double, n);
  for (guint c = 0; c < n; c++)
    {
      const guint i = a->n > 1 ? c : 0, k = b->n > 1 ? c : 0;

      if (a->zero_point[i] != 0 || b->zero_point[k] != 0)
        return FALSE;
      ratio[c] = b->scale[k] / a->scale[i];
    }
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = n > 1 && i == (a->n > 1 ? a : b)->axis ? n : 1;
  factors = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, ratio, NULL);
  g_hash_table_insert (w->reals, y,
                       (gpointer) lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_real (w, x),
                                                   lpt_onnx_w_tensor (w, "ratio", factors)));

  return TRUE;
}

void
lpt_onnx_write_reinterpret (LptOnnxWriter *w,
                            LptNode       *node,
                            const char    *onnx)
{
  if (rescale_sums (w, node))
    return;
  lpt_onnx_w_alias (w, lpt_node_out (node), lpt_onnx_w_codes (w, lpt_node_in (node, 0)));
}
