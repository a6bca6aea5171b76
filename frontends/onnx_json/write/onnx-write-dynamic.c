/* onnx-write-dynamic.c - codes whose scale and zero point are computed, and integer products of them, in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

/* Codes and scales of rows that only products by blocks read: those are written on real data. */
static gboolean
is_implied (const LptNode *node)
{
  if (LPT_ATTRS (node, LptDynamicQuantizeAttrs)->block == 0)
    return FALSE;
  for (guint i = 0; i < node->n_out; i++)
    for (guint k = 0; k < node->out[i].uses->len; k++)
      if (g_array_index (node->out[i].uses, LptUse, k).node->op != LPT_OP_BLOCK_MATMUL)
        return FALSE;

  return TRUE;
}

void
lpt_onnx_write_dynamic_quantize (LptOnnxWriter *w,
                                 LptNode       *node,
                                 const char    *onnx)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  const char *out[3], *x = IN (0);
  guint i;

  if (is_implied (node))
    return;
  if (attrs->symmetric || attrs->axis != 0)
    {
      lpt_onnx_w_fail (w, "codes of rows that have an interval each");
      return;
    }
  if (lpt_onnx_w_real_type (node, 0) != LPT_DTYPE_F32)
    x = lpt_onnx_w_cast (w, x, LPT_DTYPE_F32);
  w->bare = TRUE;
  for (i = 0; i < 3; i++)
    out[i] = lpt_onnx_w_out (w, node, i);
  w->bare = FALSE;
  lpt_onnx_w_list (w, onnx, 3, out, 1, &x);
}

/* Cast (Clip (Round ((x - scale (codes - zero point)) (256 / scale)), -128, 127)), the numbers in the op's order */
void
lpt_onnx_write_dynamic_rest (LptOnnxWriter *w,
                             LptNode       *node,
                             const char    *onnx)
{
  const gboolean shifted = node->n_in > 3 && lpt_node_in (node, 3) != NULL;
  const char *scale = IN (2), *codes = shifted ? lpt_onnx_w_step (w, "Sub", 2, IN (1), IN (3)) : IN (1);
  const char *inverse = lpt_onnx_w_step (w, "Div", 2, lpt_onnx_w_scalar (w, "fine", LPT_DTYPE_F32, 256), scale);
  const char *rest = lpt_onnx_w_step (w, "Sub", 2, IN (0), lpt_onnx_w_step (w, "Mul", 2, scale, codes));

  rest = lpt_onnx_w_step (w, "Round", 1, lpt_onnx_w_step (w, "Mul", 2, rest, inverse));
  lpt_onnx_w_node (w, "Clip", lpt_onnx_w_out (w, node, 0), 3, rest, lpt_onnx_w_scalar (w, "low", LPT_DTYPE_F32, -128),
                   lpt_onnx_w_scalar (w, "high", LPT_DTYPE_F32, 127));
}

/* Zero points of constant weights */
static const char *
weight_zeros (LptOnnxWriter *w,
              LptValue      *weights)
{
  guint i;

  for (i = 0; i < weights->quant->n; i++)
    if (weights->quant->scale[i] != 1)
      lpt_onnx_w_fail (w, "weights with a scale in a product of plain integers");
  return lpt_onnx_w_zeros (w, weights);
}

/* A convolution of codes whose zero point @zero is computed, and weights with several: ConvInteger has one for them in
 * ONNX Runtime. Numbers of whole codes are exact in float32 up to 2^24. */
static void
real_convolution (LptOnnxWriter *w,
                  LptNode       *node,
                  LptValue      *zero)
{
  LptValue *weights = lpt_node_in (node, 1);
  const gboolean bare = lpt_node_out (node)->quant == NULL;
  const char *x = lpt_onnx_w_cast (w, lpt_onnx_w_codes (w, lpt_node_in (node, 0)), LPT_DTYPE_F32);
  const char *centred = lpt_onnx_w_step (w, "Sub", 2, x,
                                         lpt_onnx_w_cast (w, lpt_onnx_w_codes (w, zero), LPT_DTYPE_F32));
  const char *real = lpt_onnx_w_dequantized (w, lpt_onnx_w_weight_codes (w, node), weights->quant, weights->dtype,
                                             lpt_node_out (node)->shape.rank);
  const char *sum = bare ? lpt_onnx_w_temp (w, "sum") : OUT (0);

  lpt_onnx_w_conv_attributes (w, lpt_onnx_w_node (w, "Conv", sum, 2, centred, real), node);
  if (bare)
    lpt_onnx_w_cast_out (w, node, sum, LPT_DTYPE_F32);
}

gboolean
lpt_onnx_w_integer_product (LptOnnxWriter *w,
                            LptNode       *node)
{
  LptValue *weights = lpt_node_in (node, 1), *bias = lpt_node_in (node, 2),
           *zero = node->n_in > 3 ? lpt_node_in (node, 3) : NULL;
  const gboolean matmul = node->op == LPT_OP_MATMUL;
  const gboolean bare = lpt_node_out (node)->quant == NULL;
  const char *codes, *sum;
  Onnx__NodeProto *y;

  if (zero == NULL && bare && lpt_onnx_w_sums_integers (node))
    {
      lpt_onnx_w_sums (w, node);
      return TRUE;
    }
  if (zero == NULL)
    return FALSE;
  if (bias != NULL || weights->quant == NULL || lpt_node_out (node)->dtype != LPT_DTYPE_I32 ||
      (matmul && (LPT_ATTRS (node, LptMatMulAttrs)->transpose_a || LPT_ATTRS (node, LptMatMulAttrs)->transpose_b)))
    {
      lpt_onnx_w_fail (w, "a product with a computed zero point and a bias, or transposed");
      return TRUE;
    }
  if (!matmul && !lpt_onnx_w_one_zero (weights->quant))
    {
      real_convolution (w, node, zero);
      return TRUE;
    }
  codes = lpt_onnx_w_weight_codes (w, node);
  sum = bare ? OUT (0) : lpt_onnx_w_temp (w, "sum");
  y = lpt_onnx_w_node (w, matmul ? "MatMulInteger" : "ConvInteger", sum, 4, lpt_onnx_w_codes (w, lpt_node_in (node, 0)),
                       codes, lpt_onnx_w_codes (w, zero), weight_zeros (w, weights));
  if (!matmul)
    lpt_onnx_w_conv_attributes (w, y, node);
  /* Sums with a quantization count as real numbers. */
  if (!bare)
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, sum), "to", lpt_onnx_type_from_dtype (LPT_DTYPE_F32));
  return TRUE;
}

/* --- products by blocks --- */

/* Numbers of the blocks of rows, of the weights' type where they are zero points; a vector where a row has one; NULL:
 * they are between codes. */
static const char *
block_zeros (LptOnnxWriter *w,
             LptNode       *node)
{
  const LptDType dtype = lpt_node_in (node, 1)->dtype;
  LptTensor *real = lpt_node_const_in (node, 4);
  g_autoptr (LptTensor) codes = lpt_tensor_convert (real, dtype, NULL);
  LptShape shape = *lpt_tensor_shape (real);

  if (codes == NULL)
    lpt_onnx_w_fail (w, "no memory for its zero points");
  for (gint64 k = 0; codes != NULL && k < lpt_tensor_count (codes); k++)
    if (lpt_tensor_get_f64 (codes, k) != lpt_tensor_get_f64 (real, k))
      return NULL;
  if (shape.dims[1] == 1)
    shape.rank = 1;

  return codes != NULL ? lpt_onnx_w_tensor (w, "zeros", lpt_tensor_reshape (codes, &shape, NULL)) : "";
}

/* The middle of unsigned codes, for each scale */
static const char *
middles (LptOnnxWriter  *w,
         LptDType        dtype,
         const LptShape *shape)
{
  g_autoptr (LptTensor) real = lpt_tensor_new (LPT_DTYPE_F32, shape, NULL);

  for (gint64 k = 0; real != NULL && k < lpt_tensor_count (real); k++)
    ((float *) lpt_tensor_writable (real))[k] = (float) (1 << (lpt_dtype_bits (dtype) - 1));

  return lpt_onnx_w_tensor (w, "zeros", real != NULL ? lpt_tensor_convert (real, dtype, NULL) : NULL);
}

/* Weights whose zero points are between codes: Mul (Sub (Cast (codes))) in blocks. */
static const char *
spread_weights (LptOnnxWriter *w,
                LptNode       *node,
                LptShape       scales)
{
  const LptShape codes = lpt_node_in (node, 1)->shape;
  const char *x = lpt_onnx_w_codes (w, lpt_node_in (node, 1)), *numbers[2];

  if (codes.dims[1] % scales.dims[1] != 0)
    {
      lpt_onnx_w_fail (w, "zero points that are between codes, of blocks that do not divide a row");
      return "";
    }
  scales.rank = 3;
  scales.dims[2] = 1;
  for (guint i = 0; i < 2; i++)
    numbers[i] = lpt_onnx_w_tensor (w, i == 0 ? "zeros" : "scales",
                                    lpt_tensor_reshape (lpt_node_const_in (node, 4 - i), &scales, NULL));
  x = lpt_onnx_w_step (w, "Reshape", 2, x,
                       lpt_onnx_w_i64s (w, "blocks", 3,
                                        (const gint64[]) { codes.dims[0], scales.dims[1],
                                                           codes.dims[1] / scales.dims[1] }));
  x = lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Sub", 2, lpt_onnx_w_cast (w, x, LPT_DTYPE_F32), numbers[0]),
                       numbers[1]);

  return lpt_onnx_w_step (w, "Reshape", 2, x, lpt_onnx_w_i64s (w, "rows", 2, codes.dims));
}

static const char *
block_weights (LptOnnxWriter *w,
               LptNode       *node)
{
  LptValue *codes = lpt_node_in (node, 1);
  LptShape shape = lpt_node_in (node, 3)->shape;
  const gboolean zeros = node->n_in > 4 && lpt_node_in (node, 4) != NULL;
  const char *zero = zeros ? block_zeros (w, node) : NULL, *scales, *real;
  Onnx__NodeProto *dq;

  if (zeros && zero == NULL)
    return spread_weights (w, node, shape);
  if (shape.dims[1] == 1)
    shape.rank = 1;
  if (!zeros && lpt_dtype_min (codes->dtype) == 0)
    zero = middles (w, codes->dtype, &shape);
  scales = lpt_onnx_w_tensor (w, "scales", lpt_tensor_reshape (lpt_node_const_in (node, 3), &shape, NULL));
  real = lpt_onnx_w_temp (w, "weights");
  dq = lpt_onnx_w_node (w, "DequantizeLinear", real, zero != NULL ? 3 : 2, lpt_onnx_w_codes (w, codes), scales, zero);
  lpt_onnx_w_int (w, dq, "axis", shape.rank == 1 ? 0 : 1);
  if (shape.rank == 2)
    lpt_onnx_w_int (w, dq, "block_size", LPT_ATTRS (node, LptBlockMatMulAttrs)->block);

  return real;
}

/* The one scale of all rows and blocks of the data, or NULL. */
static LptTensor *
one_scale (LptNode *node)
{
  LptNode *source = lpt_node_src (node, 2);
  LptTensor *scales = source->op == LPT_OP_BROADCAST ? lpt_node_const_in (source, 0) : source->data;

  return scales != NULL && lpt_tensor_is_scalar_like (scales)
             ? lpt_tensor_scalar (LPT_DTYPE_F32, lpt_tensor_get_f64 (scales, 0))
             : NULL;
}

/* @value, one number for each row, or the one number that is broadcast so. */
static LptValue *
of_rows (LptValue *value)
{
  LptValue *from = value->producer->op == LPT_OP_BROADCAST ? lpt_node_in (value->producer, 0) : value;
  gint64 count;

  return lpt_shape_count (&from->shape, &count) && count == 1 ? from : value;
}

/* (codes - zero points) * scales of rows, in f32 */
static const char *
spelled_data (LptOnnxWriter *w,
              LptNode       *node)
{
  LptValue *zero = node->n_in > 6 ? lpt_node_in (node, 6) : NULL, *scale = of_rows (lpt_node_in (node, 2));
  const char *x = lpt_onnx_w_cast (w, lpt_onnx_w_codes (w, lpt_node_in (node, 0)), LPT_DTYPE_F32);

  if (zero != NULL)
    x = lpt_onnx_w_step (w, "Sub", 2, x, lpt_onnx_w_cast (w, lpt_onnx_w_codes (w, of_rows (zero)), LPT_DTYPE_F32));

  return lpt_onnx_w_step (w, "Mul", 2, x, lpt_onnx_w_real (w, scale));
}

/* The data as real numbers: what was quantized, or codes of one scale for all or for each row, there with zero points.
 * NULL: it is something else. */
static const char *
block_data (LptOnnxWriter *w,
            LptNode       *node)
{
  LptNode *data = lpt_node_src (node, 0);
  const LptValue *scales = lpt_node_in (node, 2);
  const gboolean zeros = node->n_in > 6 && lpt_node_in (node, 6) != NULL;
  const char *real;
  LptTensor *scale;

  if (data->op == LPT_OP_DYNAMIC_QUANTIZE && LPT_ATTRS (data, LptDynamicQuantizeAttrs)->block > 0)
    return lpt_onnx_w_in (w, data, 0);
  scale = data->op == LPT_OP_REINTERPRET && !zeros ? one_scale (node) : NULL;
  if (scale == NULL)
    return scales->shape.dims[scales->shape.rank - 1] == 1 ? spelled_data (w, node) : NULL;
  real = lpt_onnx_w_temp (w, "data");
  lpt_onnx_w_node (w, "DequantizeLinear", real, 2, lpt_onnx_w_codes (w, lpt_node_in (node, 0)),
                   lpt_onnx_w_tensor (w, "scale", scale));
  return real;
}

/* MatMul (x, Transpose (weights)) of the data that were quantized. */
void
lpt_onnx_write_block_matmul (LptOnnxWriter *w,
                             LptNode       *node,
                             const char    *onnx)
{
  const gint64 block = LPT_ATTRS (node, LptBlockMatMulAttrs)->block, k = lpt_node_in (node, 1)->shape.dims[1];
  const LptShape *scale = &lpt_node_in (node, 3)->shape;
  const gboolean zeros = node->n_in > 4 && lpt_node_in (node, 4) != NULL,
                 bias = node->n_in > 5 && lpt_node_in (node, 5) != NULL;
  const char *product, *data = block_data (w, node);
  Onnx__NodeProto *turned;

  if (data == NULL || lpt_node_const_in (node, 1) == NULL ||
      lpt_node_const_in (node, 3) == NULL || (zeros && lpt_node_const_in (node, 4) == NULL) ||
      (scale->dims[1] != 1 && scale->dims[1] != (k + block - 1) / block))
    {
      lpt_onnx_w_fail (w, "a product by blocks of data of several scales, or with other scales than one for each");
      return;
    }
  turned = lpt_onnx_w_node (w, "Transpose", lpt_onnx_w_temp (w, "columns"), 1, block_weights (w, node));
  lpt_onnx_w_ints (w, turned, "perm", 2, (const gint64[]) { 1, 0 });
  product = bias ? lpt_onnx_w_temp (w, "product") : OUT (0);
  lpt_onnx_w_node (w, "MatMul", product, 2, data, turned->output[0]);
  if (bias)
    lpt_onnx_w_node (w, "Add", OUT (0), 2, product, IN (5));
}
