/* tflite-map-quant.c - QUANTIZE, DEQUANTIZE, CAST, FAKE_QUANT, BITCAST
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include <math.h>

/* What quantized int32 means, which other operators ignore. */
static LptQuant *
wide_quant (LptTflOp *op, LptTflTensor *t)
{
  LptTflTable q = t != NULL ? lpt_tfl_table (op->flat, t->table, TFL_Tensor_quantization) : 0;
  LptTflVector scales = lpt_tfl_vector (op->flat, q, TFL_QuantizationParameters_scale);
  LptTflVector zeros = lpt_tfl_vector (op->flat, q, TFL_QuantizationParameters_zero_point);
  if (t == NULL || t->quant != NULL || t->dtype != LPT_DTYPE_I32 || scales.n != 1
      || !(lpt_tfl_item_real (&scales, 0) > 0))
    return t != NULL ? lpt_quant_ref (t->quant) : NULL;
  return lpt_quant_new_one (lpt_tfl_item_real (&scales, 0), (gint32) lpt_tfl_item_int (&zeros, 0));
}

/* What nobody read yet and no operator computed may have the scale itself. */
static LptValue *
wide_codes (LptTflOp *op, LptValue *x, LptQuant *quant)
{
  if (lpt_value_n_uses (x) > 0 || x->producer->n_in > 0)
    return lpt_tfl_reinterpret (op, x, quant);
  lpt_value_set_quant (x, quant);
  return x;
}

void
lpt_tfl_map_quantize (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  g_autoptr (LptQuant) quant = wide_quant (op, lpt_tfl_out_tensor (op, 0)),
                       from = wide_quant (op, lpt_tfl_in_tensor (op, 0));
  if (x->quant == NULL && from != NULL && x->dtype == LPT_DTYPE_I32)
    x = wide_codes (op, x, from);
  gboolean front = lpt_tfl_align (op, 1, &x);
  if (quant == NULL)
    {
      lpt_tfl_invalid (op, "its output has no quantization");
      return;
    }
  LptNode *node = lpt_tfl_add (op, x->quant != NULL ? LPT_OP_REQUANTIZE : LPT_OP_QUANTIZE, 1,
                               x->quant != NULL ? x : lpt_tfl_convert (op, x, LPT_DTYPE_F32));
  LPT_ATTRS (node, LptQuantizeAttrs)->type = lpt_tfl_out_dtype (op, 0);
  LptValue *y = lpt_tfl_done_with (op, node, lpt_tfl_out_dtype (op, 0), quant);
  lpt_tfl_set (op, 0, front ? lpt_tfl_back (op, y) : y);
}

void
lpt_tfl_map_dequantize (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptTensor *data = x->producer->data;
  /* Weights kept in half precision. */
  if (data != NULL && x->quant == NULL && lpt_dtype_is_real (x->dtype))
    {
      LptTensor *wide = lpt_tensor_convert (data, lpt_tfl_out_dtype (op, 0), op->error == NULL ? &op->error : NULL);
      lpt_tfl_set (op, 0, lpt_tfl_tensor_value (op, wide, NULL));
      return;
    }
  gboolean front = lpt_tfl_align (op, 1, &x);
  LptValue *y = lpt_tfl_real_of (op, x);
  lpt_tfl_set (op, 0, front ? lpt_tfl_back (op, y) : y);
}

/* Codes count as plain integers: the scale is not looked at, and they wrap in a smaller type. */
void
lpt_tfl_map_cast (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  gboolean front = lpt_tfl_align (op, 1, &x);
  if (op->error != NULL)
    return;
  if (out == NULL || out->dtype == LPT_DTYPE_UNDEFINED || lpt_tfl_in_tensor (op, 0)->dtype == LPT_DTYPE_UNDEFINED)
    {
      lpt_tfl_unsupported (op, "type %s", lpt_tfl_type_name (out != NULL ? out->type : -1));
      return;
    }
  LptValue *codes = lpt_tfl_codes (op, x);
  /* Real numbers are cut to 32 bits, of which the lowest count; a Convert to fewer takes what is nearly an integer. */
  if (lpt_dtype_is_integer (out->dtype) && lpt_dtype_bits (out->dtype) < 32
      && (x->quant != NULL || lpt_dtype_is_real (x->dtype)))
    codes = lpt_tfl_convert (op, codes, LPT_DTYPE_I32);
  LptValue *y = lpt_tfl_convert (op, codes, out->dtype);
  y = y == x ? lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, x) : y;
  lpt_tfl_set (op, 0, front ? lpt_tfl_back (op, y) : y);
}

/* The interval, moved so that 0 lies on the grid. */
void
lpt_tfl_map_fake_quant (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gint64 bits = lpt_tfl_opt_int (op, TFL_FakeQuantOptions_num_bits);
  gint64 low = lpt_tfl_opt_int (op, TFL_FakeQuantOptions_narrow_range) != 0;
  float min = (float) lpt_tfl_opt_real (op, TFL_FakeQuantOptions_min);
  float max = (float) lpt_tfl_opt_real (op, TFL_FakeQuantOptions_max);
  if (bits < 2 || bits > 16 || !(max > min))
    {
      lpt_tfl_invalid (op, "%" G_GINT64_FORMAT " bits from %g to %g", bits, (double) min, (double) max);
      return;
    }
  float q_min = (float) low;
  float q_max = (float) ((1 << bits) - 1);
  float scale = (max - min) / (q_max - q_min);
  float from_min = q_min - min / scale;
  float zero = from_min < q_min ? q_min : from_min > q_max ? q_max : roundf (from_min);
  LptValue *lo = lpt_tfl_scalar (op, LPT_DTYPE_F32, (q_min - zero) * scale);
  LptValue *hi = lpt_tfl_scalar (op, LPT_DTYPE_F32, (q_max - zero) * scale);
  LptNode *node = lpt_tfl_add (op, LPT_OP_FAKE_QUANTIZE, 5, x, lo, hi, lo, hi);
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = (gint64) (q_max - q_min) + 1;
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

void
lpt_tfl_map_identity (LptTflOp *op)
{
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, lpt_tfl_in (op, 0)));
}

/* Of constants, and between types that differ in name alone. */
void
lpt_tfl_map_bitcast (LptTflOp *op)
{
  LptTensor *data = lpt_tfl_const_in (op, 0);
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  if (out != NULL && lpt_tfl_in (op, 0)->dtype == out->dtype)
    lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, lpt_tfl_in (op, 0)));
  else if (data != NULL && out != NULL && lpt_shape_is_static (&out->shape) && out->dtype != LPT_DTYPE_UNDEFINED)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (lpt_tensor_data (data), lpt_tensor_size (data));
      lpt_tfl_set (op, 0,
                   lpt_tfl_tensor_value (
                       op,
                       lpt_tensor_new_bytes (out->dtype, &out->shape, bytes, 0, op->error == NULL ? &op->error : NULL),
                       NULL));
    }
  else
    lpt_tfl_unsupported (op, "other type of computed bits");
}
