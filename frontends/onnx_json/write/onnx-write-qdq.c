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

/* Sums of a product are written as real numbers: those of other scales are as many times as large, those of other zero
 * points the steps between these larger. */
static gboolean
rescale_sums (LptOnnxWriter *w,
              LptNode       *node)
{
  LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node);
  const LptQuant *a = x->quant, *b = y->quant;
  g_autofree double *ratio = NULL, *shift = NULL;
  const char *real;
  gint axis;
  guint n;

  if (a == NULL || b == NULL || x->dtype != LPT_DTYPE_I32 || x->producer->data != NULL ||
      g_hash_table_lookup (w->names, x) != NULL || (a->n > 1 && b->n > 1 && a->axis != b->axis))
    return FALSE;
  n = MAX (a->n, b->n);
  axis = (a->n > 1 ? a : b)->axis;
  ratio = g_new (double, n);
  shift = g_new (double, n);
  for (guint c = 0; c < n; c++)
    {
      const guint i = a->n > 1 ? c : 0, k = b->n > 1 ? c : 0;

      ratio[c] = b->scale[k] / a->scale[i];
      shift[c] = ((double) a->zero_point[i] - b->zero_point[k]) * b->scale[k];
    }
  real = lpt_onnx_w_by_channel (w, "Mul", lpt_onnx_w_real (w, x), ratio, n, axis, x->shape.rank);
  real = lpt_onnx_w_by_channel (w, "Add", real, shift, n, axis, x->shape.rank);
  g_hash_table_insert (w->reals, y, (gpointer) real);

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
