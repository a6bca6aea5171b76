/* onnx-map-quant.c - ONNX quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear
 *
 * QuantizeLinear is Quantize, DequantizeLinear is Dequantize; blocked or computed
 * scales are spelled out in real arithmetic, and so are those of DequantizeLinear that are not positive, unless its
 * codes are constants, which are turned round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-quant-in.h"
#include "frontends/onnx_json/read/onnx-scope.h"

#include <math.h>
#include <string.h>

/* --- steps that are not positive ------------------------------------------------------------- */

/* Are all numbers of the constant input @i above 0 and finite, as a quantization has them? */
static gboolean
has_steps (LptOnnxNode *on,
           guint        i)
{
  LptTensor *scale = lpt_onnx_const_in (on, i);

  for (gint64 k = 0; scale != NULL && k < lpt_tensor_count (scale); k++)
    if (!(lpt_tensor_get_f64 (scale, k) > 0) || isinf (lpt_tensor_get_f64 (scale, k)))
      return FALSE;
  return scale != NULL;
}

/* Steps and zero points of input 0 for turned_codes(); FALSE where they are no finite constants that fit it. */
static gboolean
read_steps (LptOnnxNode *on,
            gint         axis,
            gint64      *n,
            double      *steps,
            gint32      *zeros)
{
  const LptValue *x = lpt_onnx_in (on, 0);
  LptTensor *scale = lpt_onnx_const_in (on, 1), *zero = lpt_onnx_const_in (on, 2);

  if ((lpt_onnx_optional (on, 2) != NULL && zero == NULL) || (*n > 1 && *n != x->shape.dims[axis]) ||
      (zero != NULL && lpt_tensor_count (zero) != 1 && lpt_tensor_count (zero) != *n))
    return FALSE;
  for (gint64 k = 0; k < *n; k++)
    {
      steps[k] = lpt_tensor_get_f64 (scale, k);
      zeros[k] = zero != NULL ? (gint32) lpt_tensor_get_i64 (zero, lpt_tensor_count (zero) == 1 ? 0 : k) : 0;
      if (!isfinite (steps[k]))
        return FALSE;
    }
  return TRUE;
}

/* Constant codes whose step is negative are turned round, (q - z) s = ((m - q) - (m - z)) (-s), about their zero point
 * where they stay codes, m = 2 z, else about the middle of the type; where it is 0 they are the zero point. NULL where
 * this is no constant with finite steps. */
static LptValue *
turned_codes (LptOnnxNode *on,
              LptValue    *x,
              gint         axis)
{
  LptTensor *data = x->producer->data, *scale = lpt_onnx_const_in (on, 1);
  gint64 n = scale != NULL ? lpt_tensor_count (scale) : 0, count = data != NULL ? lpt_tensor_count (data) : 0;
  gint64 run = count;
  const double least = lpt_dtype_min (x->dtype), most = lpt_dtype_max (x->dtype);
  g_autofree double *codes = NULL, *steps = g_new (double, n + 1), *turn = g_new (double, n + 1);
  g_autofree gint32 *zeros = g_new (gint32, n + 1);
  g_autoptr (LptQuant) quant = NULL;

  if (n < 1 || count < 1 || lpt_dtype_bits (x->dtype) > 16 || !read_steps (on, axis, &n, steps, zeros) ||
      (codes = lpt_tensor_to_f64 (data, on->error == NULL ? &on->error : NULL)) == NULL)
    return NULL;
  for (gint d = 0; n > 1 && d <= axis; d++)
    run /= x->shape.dims[d];
  for (gint64 k = 0; k < n; k++)
    turn[k] = 2.0 * zeros[k];
  for (gint64 i = 0; i < count; i++)
    if (turn[i / run % n] - codes[i] < least || turn[i / run % n] - codes[i] > most)
      turn[i / run % n] = least + most;
  for (gint64 i = 0; i < count; i++)
    {
      const gint64 k = i / run % n;

      codes[i] = steps[k] < 0 ? turn[k] - codes[i] : steps[k] > 0 ? codes[i] : zeros[k];
    }
  for (gint64 k = 0; k < n; k++)
    {
      zeros[k] = steps[k] < 0 ? (gint32) turn[k] - zeros[k] : zeros[k];
      steps[k] = steps[k] != 0 ? fabs (steps[k]) : 1;
    }
  quant = lpt_quant_new (n == 1 ? LPT_QUANT_PER_TENSOR : axis, (guint) n, steps, zeros);
  return lpt_onnx_quantized (on, lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (x->dtype, &x->shape, codes, NULL)),
                             quant);
}

/* --- operators ------------------------------------------------------------------------------- */

/* The axis along which numbers run, when there are several. */
static gint
quant_axis (LptOnnxNode *on,
            LptValue    *x,
            LptValue    *scale)
{
  gboolean contrib = strcmp (lpt_onnx_domain (on->proto->domain), "com.microsoft") == 0;
  gint64 axis = lpt_onnx_int (on, "axis", contrib ? G_MININT64 : 1);
  gint64 count;

  if (lpt_shape_count (&scale->shape, &count) && count == 1)
    return 0;
  if (axis == G_MININT64)
    {
      lpt_onnx_unsupported (on, "scale of several numbers without an axis");
      return 0;
    }
  return lpt_onnx_axis (on, axis, lpt_onnx_rank (on, x));
}

/* argument: the type of the codes, where the operator says it */
void
lpt_onnx_map_quantize_linear (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1), *zero = lpt_onnx_optional (on, 2);
  LptDType dtype = lpt_onnx_dtype (on, "output_dtype");
  gint axis = quant_axis (on, x, scale);
  gint64 block = lpt_onnx_int (on, "block_size", 0);

  lpt_onnx_ignore (on, "saturate");   /* about 8-bit floats */
  lpt_onnx_ignore (on, "precision");
  if (on->argument != LPT_DTYPE_UNDEFINED)
    dtype = (LptDType) on->argument;
  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = lpt_onnx_zero_type (on, 2);
  if (!lpt_dtype_is_small_float (dtype) && (!lpt_dtype_is_integer (dtype) || lpt_dtype_bits (dtype) > 32))
    lpt_onnx_unsupported (on, "output type %s", lpt_dtype_name (dtype));
  if (on->error != NULL)
    return;
  if (lpt_dtype_is_integer (dtype) && block == 0 && lpt_onnx_const_in (on, 1) != NULL &&
      (zero == NULL || lpt_onnx_const_in (on, 2) != NULL))
    {
      g_autoptr (LptQuant) quant = lpt_onnx_quant_in (on, 1, axis);
      LptNode *node = lpt_onnx_add (on, LPT_OP_QUANTIZE, 1,
                                    lpt_dtype_is_real (x->dtype) ? x : lpt_onnx_convert (on, x, LPT_DTYPE_F32));

      lpt_onnx_check_quant_length (on, x, quant);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
      lpt_value_set_quant (lpt_node_out (node), quant);
      lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
      return;
    }
  scale = lpt_onnx_spread (on, x, scale, axis, block);
  zero = zero != NULL ? lpt_onnx_spread (on, x, lpt_onnx_convert (on, zero, LPT_DTYPE_F32), axis, block) : NULL;
  lpt_onnx_set (on, 0, lpt_onnx_quantize_by_steps (on, x, scale, zero, dtype));
}

static LptValue *
dequantize (LptOnnxNode *on,
            LptValue    *q,
            LptDType     dtype)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_DEQUANTIZE, 1, q);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
  return lpt_onnx_done (on, node);
}

/* Codes as real numbers; those of constants stay codes, which folding leaves alone. */
static LptValue *
decoded (LptOnnxNode *on,
         LptValue    *codes)
{
  LptNode *node;

  if (codes->producer->data == NULL || !lpt_dtype_holds_codes (codes->dtype))
    return lpt_onnx_convert (on, codes, LPT_DTYPE_F32);
  node = lpt_onnx_add (on, LPT_OP_CONVERT, 1, codes);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
  node->flags |= LPT_NODE_KEEP_CONST | LPT_NODE_DEQUANTIZATION;
  return lpt_onnx_done (on, node);
}

static LptValue *
dequantization (LptOnnxNode *on,
                LptOp        op,
                LptValue    *x,
                LptValue    *numbers)
{
  LptNode *node = lpt_onnx_add (on, op, 2, x, numbers);

  if (x->producer->flags & LPT_NODE_DEQUANTIZATION)
    node->flags |= LPT_NODE_DEQUANTIZATION;
  return lpt_onnx_done (on, node);
}

void
lpt_onnx_map_dequantize_linear (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1), *zero = lpt_onnx_optional (on, 2), *turned;
  LptDType dtype = lpt_onnx_dtype (on, "output_dtype");
  gint axis = quant_axis (on, x, scale);
  gint64 block = lpt_onnx_int (on, "block_size", 0);

  if (dtype == LPT_DTYPE_UNDEFINED)
    dtype = scale->dtype;
  if (!lpt_dtype_is_small_float (x->dtype) && (!lpt_dtype_is_integer (x->dtype) || lpt_dtype_bits (x->dtype) > 32))
    lpt_onnx_unsupported (on, "input type %s", lpt_dtype_name (x->dtype));
  if (on->error != NULL)
    return;
  if (lpt_dtype_is_small_float (x->dtype))
    zero = NULL;      /* must be 0 */
  else if (block == 0 && !has_steps (on, 1) && (turned = turned_codes (on, x, axis)) != NULL)
    {
      lpt_onnx_set (on, 0, dequantize (on, turned, dtype));
      return;
    }
  else if (block == 0 && has_steps (on, 1) && (zero == NULL || lpt_onnx_const_in (on, 2) != NULL))
    {
      g_autoptr (LptQuant) quant = lpt_onnx_quant_in (on, 1, axis);

      lpt_onnx_check_quant_length (on, x, quant);
      lpt_onnx_set (on, 0, dequantize (on, lpt_onnx_quantized (on, x, quant), dtype));
      return;
    }
  x = decoded (on, lpt_onnx_plain (on, x));
  if (zero != NULL)
    {
      zero = lpt_onnx_spread (on, x, lpt_onnx_convert (on, zero, LPT_DTYPE_F32), axis, block);
      x = dequantization (on, LPT_OP_SUBTRACT, x, zero);
    }
  scale = lpt_onnx_convert (on, lpt_onnx_spread (on, x, scale, axis, block), LPT_DTYPE_F32);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, dequantization (on, LPT_OP_MULTIPLY, x, scale), dtype));
}

/* Their scale and zero point are computed: codes and zero point count as plain integers. */
LptOnnxDynamic
lpt_onnx_quantize_dynamic (LptOnnxNode *on,
                           LptValue    *x)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  LptNode *node = lpt_onnx_add (on, LPT_OP_DYNAMIC_QUANTIZE, 1, x);

  lpt_value_set_quant (&node->out[0], unit);
  lpt_value_set_quant (&node->out[2], unit);
  if (on->error == NULL)
    lpt_node_infer (node, &on->error);
  return (LptOnnxDynamic) { &node->out[0], &node->out[1], &node->out[2] };
}

void
lpt_onnx_map_dynamic_quantize_linear (LptOnnxNode *on)
{
  LptOnnxDynamic dynamic = lpt_onnx_quantize_dynamic (on, lpt_onnx_in (on, 0));

  lpt_onnx_set (on, 0, dynamic.codes);
  lpt_onnx_set (on, 1, dynamic.scale);
  lpt_onnx_set (on, 2, dynamic.zero_point);
}
