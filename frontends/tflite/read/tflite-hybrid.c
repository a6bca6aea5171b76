/* tflite-hybrid.c - dynamic range quantization: real data, 8-bit weights
 *
 *     y = W D (x) + b       D rounds x to 8 bits, with a scale found at run time for each row
 *
 * Weights of 4 bits are those of 8 with few codes; FULLY_CONNECTED may round the data beside them otherwise
 * (tflite-map-product.c), and has weights of 4 or 8 bits with a scale for each block, whose data has a zero point.
 *
 * D is DynamicFakeQuantize, W a Dequantize over the weights. TensorFlow Lite adds up codes and multiplies the sum by
 * both scales; this differs by the rounding of single precision. Weights of type uint8 hold the bytes of int8 ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

gboolean
lpt_tfl_is_hybrid (const LptValue *x, const LptValue *w)
{
  return lpt_dtype_is_real (x->dtype) && x->quant == NULL && w->quant != NULL
         && (w->dtype == LPT_DTYPE_I8 || w->dtype == LPT_DTYPE_U8);
}

LptValue *
lpt_tfl_round_dynamic (LptTflOp *op, LptValue *x, gboolean asymmetric, gint axis)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_DYNAMIC_FAKE_QUANTIZE, 1, x);
  LPT_ATTRS (node, LptDynamicFakeQuantizeAttrs)->axis = axis;
  LPT_ATTRS (node, LptDynamicFakeQuantizeAttrs)->symmetric = !asymmetric;
  return lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_hybrid_weights (LptTflOp *op, LptValue *w)
{
  LptTensor *data = w->producer->data;
  if (w->dtype == LPT_DTYPE_U8 && data != NULL)
    {
      g_autoptr (LptQuant) quant = lpt_quant_new (w->quant->axis, w->quant->n, w->quant->scale, NULL);
      w = lpt_tfl_tensor_value (op,
                                lpt_tensor_new_copy (LPT_DTYPE_I8, lpt_tensor_shape (data), lpt_tensor_data (data),
                                                     op->error == NULL ? &op->error : NULL),
                                quant);
    }
  return lpt_tfl_real_of (op, w);
}
