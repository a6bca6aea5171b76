/* onnx-map-blocks.c - com.microsoft's operators on constants that are stored in blocks of a few bits
 *
 * The codes stay as they are stored, 4 or 8 bits each, and the graph says beside them what they mean:
 *
 *     codes [N, blocks, block] -> Convert -> Subtract (zero points) -> Multiply (scales) -> Reshape [N, K]
 *
 * Folding leaves them alone (LPT_NODE_KEEP_CONST), so that a model does not grow in memory when it is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"
#include "frontends/onnx_json/read/onnx-blocks.h"
#include "frontends/onnx_json/read/onnx-quant.h"

#include <string.h>

#define MAX_LENGTH (1 << 30)   /* of N, K and blocks: their products fit 64 bits */

LptTensor *
lpt_onnx_unpack (LptOnnxNode    *on,
                 LptTensor      *packed,
                 gint64          bits,
                 gint64          n_rows,
                 gint64          n,
                 const LptShape *shape)
{
  gint64 per_byte = 8 / bits, stride = (n + per_byte - 1) / per_byte;
  const guint8 *bytes = lpt_tensor_data (packed);
  LptDType dtype = bits == 8 ? LPT_DTYPE_U8 : LPT_DTYPE_U4;
  GError **error = on->error == NULL ? &on->error : NULL;
  LptTensor *codes;
  guint8 *out;

  if (lpt_dtype_bits (lpt_tensor_dtype (packed)) != 8 || lpt_tensor_count (packed) != n_rows * stride)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " bytes of codes where %" G_GINT64_FORMAT " belong",
                     lpt_tensor_count (packed),
                     n_rows * stride);
      return NULL;
    }
  if (bits == 8 || (bits == 4 && n % 2 == 0))
    return lpt_tensor_new_copy (dtype, shape, bytes, error);
  codes = lpt_tensor_new (dtype, shape, error);
  if (codes == NULL)
    return NULL;
  out = lpt_tensor_writable (codes);
  memset (out, 0, lpt_tensor_size (codes));
  for (gint64 row = 0, to = 0; row < n_rows; row++)
    for (gint64 i = 0; i < n; i++, to++)
      {
        guint code = bytes[row * stride + i / per_byte] >> (i % per_byte * bits) & ((1u << bits) - 1);

        out[to / 2] |= (guint8) (code << (to % 2 * 4));
      }
  return codes;
}

LptValue *
lpt_onnx_decoded (LptOnnxNode *on,
                  LptValue    *codes)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_CONVERT, 1, codes);

  LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
  node->flags |= LPT_NODE_KEEP_CONST | LPT_NODE_DEQUANTIZATION;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_dequantization (LptOnnxNode *on,
                         LptOp        op,
                         LptValue    *a,
                         LptValue    *b)
{
  LptNode *node = lpt_onnx_add (on, op, 2, a, b);

  node->flags |= LPT_NODE_DEQUANTIZATION;
  return lpt_onnx_done (on, node);
}

/* --- MatMulNBits ----------------------------------------------------------------------------- */

typedef struct
{
  gint64 n, k, bits, block, blocks;
} Blocks;

static gboolean
read_blocks (LptOnnxNode *on,
             Blocks      *b)
{
  b->n = lpt_onnx_int (on, "N", 0);
  b->k = lpt_onnx_int (on, "K", 0);
  b->bits = lpt_onnx_int (on, "bits", 4);
  b->block = lpt_onnx_int (on, "block_size", 0);
  if (b->n < 1 || b->k < 1 || b->n > MAX_LENGTH || b->k > MAX_LENGTH || b->block < 1 || b->block > MAX_LENGTH)
    lpt_onnx_fail (on, LPT_ERROR_INVALID,
                   "N %" G_GINT64_FORMAT ", K %" G_GINT64_FORMAT ", block_size %" G_GINT64_FORMAT, b->n, b->k,
                     b->block);
  else if ((b->bits != 2 && b->bits != 4 && b->bits != 8) || b->block * b->bits % 8 != 0)
    lpt_onnx_unsupported (on, "bits %" G_GINT64_FORMAT " in blocks of %" G_GINT64_FORMAT, b->bits, b->block);
  if (on->error != NULL)
    return FALSE;
  b->blocks = (b->k + b->block - 1) / b->block;
  return TRUE;
}

LptTensor *
lpt_onnx_constant_codes (LptOnnxNode *on,
                         guint        i)
{
  LptTensor *tensor = lpt_onnx_const_in (on, i);

  lpt_onnx_in (on, i);
  if (tensor == NULL)
    lpt_onnx_unsupported (on, "input %u that is not constant", i);
  return tensor;
}

/* The zero points [N, blocks, 1] as f32: packed like the codes, or real numbers; NULL is the middle of the codes. */
static LptValue *
zero_points (LptOnnxNode  *on,
             guint         i,
             const Blocks *b)
{
  gint64 dims[3] = { b->n, b->blocks, 1 };
  LptShape shape = lpt_shape_make (3, dims);
  LptValue *zero = lpt_onnx_optional (on, i);
  LptTensor *codes;

  if (zero == NULL)
    return lpt_onnx_scalar (on, LPT_DTYPE_F32, 1 << (b->bits - 1));
  if (lpt_dtype_is_real (zero->dtype))
    return lpt_onnx_convert (on, lpt_onnx_reshape (on, zero, 3, dims), LPT_DTYPE_F32);
  codes = lpt_onnx_constant_codes (on, i);
  codes = codes != NULL ? lpt_onnx_unpack (on, codes, b->bits, b->n, b->blocks, &shape) : NULL;
  if (codes == NULL)
    return lpt_onnx_scalar (on, LPT_DTYPE_F32, 0);
  return lpt_onnx_decoded (on, lpt_onnx_tensor_value (on, codes));
}

/* A group's number for each of the K columns: [N, blocks, 1] -> [N, K] */
static LptValue *
by_group (LptOnnxNode *on,
          LptValue    *x,
          LptValue    *groups)
{
  gint64 flat[2] = { 0, -1 };

  if (x->shape.rank != 3)
    return x;
  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_reshape_keep (on, x, 2, flat), groups,
                        lpt_onnx_i64_scalar (on, 1));
}

/* Inputs: A, codes, scales, zero points, groups of the columns, bias. "accuracy_level" 1 to 3 asks for
 * real data. */
void
lpt_onnx_map_matmul_nbits (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 2), *groups = lpt_onnx_optional (on, 4);
  LptValue *bias = lpt_onnx_optional (on, 5);
  LptDType dtype = a->dtype;
  LptTensor *packed, *codes;
  LptValue *w, *zero, *y;
  LptNode *node;
  LptShape shape;
  gint64 level;
  Blocks b;

  level = lpt_onnx_int (on, "accuracy_level", 0);
  if (lpt_onnx_int (on, "weight_prepacked", 0) != 0)
    lpt_onnx_unsupported (on, "weight_prepacked");
  packed = lpt_onnx_constant_codes (on, 1);
  if (!read_blocks (on, &b) || packed == NULL)
    return;
  {
    gint64 dims[3] = { b.n, b.blocks, b.block }, flat[2] = { b.n, b.blocks * b.block };

    shape = lpt_shape_make (3, dims);
    codes = lpt_onnx_unpack (on, packed, b.bits, b.n * b.blocks, b.block, &shape);
    if (codes == NULL)
      return;
    w = lpt_onnx_decoded (on, lpt_onnx_tensor_value (on, codes));
    zero = zero_points (on, 3, &b);
    dims[2] = 1;
    scale = lpt_onnx_convert (on, lpt_onnx_reshape (on, scale, 3, dims), LPT_DTYPE_F32);
    if (groups == NULL)
      {
        w = lpt_onnx_dequantization (on, LPT_OP_SUBTRACT, w, zero);
        w = lpt_onnx_dequantization (on, LPT_OP_MULTIPLY, w, scale);
      }
    w = lpt_onnx_reshape (on, w, 2, flat);
    if (flat[1] != b.k)
      w = lpt_onnx_slice (on, w, 1, 0, b.k);
    if (groups != NULL)
      {
        w = lpt_onnx_dequantization (on, LPT_OP_SUBTRACT, w, by_group (on, zero, groups));
        w = lpt_onnx_dequantization (on, LPT_OP_MULTIPLY, w, by_group (on, scale, groups));
      }
  }
  node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, lpt_onnx_convert (on, a, LPT_DTYPE_F32), w);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  LPT_ATTRS (node, LptMatMulAttrs)->real = level >= 1 && level <= 3;
  y = lpt_onnx_done (on, node);
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_convert (on, bias, LPT_DTYPE_F32));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, dtype));
}

/* --- MatMulBnb4 --------------------------------------------------------------------------------- */

/* What the 16 codes of bitsandbytes stand for: FP4 (quant_type 0), NF4 (1) */
static const float bnb4_tables[2][16] = {
  { 0, 0.00520833333f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f,
    -0.0f, -0.00520833333f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f },
  { -1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f, -0.18477343022823334f,
    -0.09105003625154495f, 0, 0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
    0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1 },
};

/* Inputs: A, codes (the first of a byte in its high bits, in blocks of the flattened weights), the largest of each
 * block */
void
lpt_onnx_map_matmul_bnb4 (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_in (on, 0), *largest = lpt_onnx_in (on, 2), *w, *y;
  gint64 n = lpt_onnx_int (on, "N", 0), k = lpt_onnx_int (on, "K", 0), block = lpt_onnx_int (on, "block_size", 0);
  gint64 type = lpt_onnx_int (on, "quant_type", 0), dims[2], sixteen = 16, count;
  LptTensor *packed = lpt_onnx_constant_codes (on, 1), *codes;
  LptShape shape;
  guint8 *bytes;
  LptNode *node;

  lpt_onnx_ignore (on, "training_mode");
  if (lpt_onnx_int (on, "transB", 1) != 1)
    lpt_onnx_unsupported (on, "transB 0");
  if (type != 0 && type != 1)
    lpt_onnx_unsupported (on, "quant_type %" G_GINT64_FORMAT, type);
  if (n < 1 || k < 1 || n > MAX_LENGTH || k > MAX_LENGTH || block < 1 || block > MAX_LENGTH)
    lpt_onnx_fail (on, LPT_ERROR_INVALID,
                   "N %" G_GINT64_FORMAT ", K %" G_GINT64_FORMAT ", block_size %" G_GINT64_FORMAT, n, k, block);
  if (on->error != NULL)
    return;
  count = (n * k + block - 1) / block * block;
  if (lpt_dtype_bits (lpt_tensor_dtype (packed)) != 8 || lpt_tensor_count (packed) != (n * k + 1) / 2)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " bytes of codes where %" G_GINT64_FORMAT " belong",
                     lpt_tensor_count (packed), (n * k + 1) / 2);
      return;
    }
  dims[0] = count / block;
  dims[1] = block;
  shape = lpt_shape_make (2, dims);
  codes = lpt_tensor_new (LPT_DTYPE_U4, &shape, &on->error);
  if (codes == NULL)
    return;
  bytes = lpt_tensor_writable (codes);
  memset (bytes, 0, lpt_tensor_size (codes));
  for (gint64 i = 0; i < lpt_tensor_count (packed); i++)
    {
      guint8 byte = ((const guint8 *) lpt_tensor_data (packed))[i];

      bytes[i] = (guint8) (byte << 4 | byte >> 4);
    }
  node = lpt_onnx_add (on, LPT_OP_CONVERT, 1, lpt_onnx_tensor_value (on, codes));
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_I32;
  node->flags |= LPT_NODE_KEEP_CONST;
  w = lpt_onnx_done (on, node);
  shape = lpt_shape_make (1, &sixteen);
  w = lpt_onnx_emit (on, LPT_OP_GATHER, 3,
                     lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, bnb4_tables[type], NULL)), w,
                     lpt_onnx_i64_scalar (on, 0));
  dims[1] = 1;
  largest = lpt_onnx_convert (on, lpt_onnx_reshape (on, largest, 2, dims), LPT_DTYPE_F32);
  w = lpt_onnx_dequantization (on, LPT_OP_MULTIPLY, w, largest);
  dims[0] = n;
  dims[1] = k;
  if (count != n * k)
    {
      w = lpt_onnx_reshape (on, w, 1, &count);
      w = lpt_onnx_slice (on, w, 0, 0, n * k);
    }
  y = lpt_onnx_product (on, lpt_onnx_convert (on, a, LPT_DTYPE_F32), lpt_onnx_reshape (on, w, 2, dims), TRUE);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, a->dtype));
}

/* --- GatherBlockQuantized ---------------------------------------------------------------------------- */

static LptValue *
gather (LptOnnxNode *on,
        LptValue    *x,
        LptValue    *index,
        gint64       axis)
{
  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, index, lpt_onnx_i64_scalar (on, axis));
}

/* 0 0 ... 1 1 ...: the block of each of @n elements */
static LptValue *
block_numbers (LptOnnxNode *on,
               gint64       n,
               gint64       block)
{
  LptShape shape = { .rank = 1, .dims = { n } };
  LptTensor *tensor = lpt_tensor_new (LPT_DTYPE_I64, &shape, on->error == NULL ? &on->error : NULL);

  if (tensor != NULL)
    for (gint64 i = 0; i < n; i++)
      ((gint64 *) lpt_tensor_writable (tensor))[i] = i / block;
  return tensor != NULL ? lpt_onnx_tensor_value (on, tensor) : lpt_onnx_i64_scalar (on, 0);
}

/* Codes of fewer than 8 bits that a file keeps in bytes, along the last axis: their own type. */
static LptValue *
codes_in_bytes (LptOnnxNode *on,
                guint        i,
                gint64       bits,
                gint64       n)
{
  LptTensor *packed = lpt_onnx_constant_codes (on, i), *codes;
  LptShape shape;
  gint64 n_rows;
  gint last;

  if (packed == NULL || n < 0)
    return lpt_onnx_scalar (on, LPT_DTYPE_U8, 0);
  shape = *lpt_tensor_shape (packed);
  last = MAX (shape.rank - 1, 0);
  n_rows = shape.rank > 0 && shape.dims[last] > 0 ? lpt_tensor_count (packed) / shape.dims[last] : 0;
  shape.dims[last] = n;
  codes = lpt_onnx_unpack (on, packed, bits, n_rows, n, &shape);
  return codes != NULL ? lpt_onnx_tensor_value (on, codes) : lpt_onnx_scalar (on, LPT_DTYPE_U8, 0);
}

/* Codes, scales and zero points are gathered; then (code - zero point) * scale, whose block runs along
 * quantize_axis. */
void
lpt_onnx_map_gather_block_quantized (LptOnnxNode *on)
{
  LptValue *data = lpt_onnx_in (on, 0), *index = lpt_onnx_in (on, 1), *scale = lpt_onnx_in (on, 2);
  LptValue *zero = lpt_onnx_optional (on, 3);
  gint rank = lpt_onnx_rank (on, data), gather_axis, axis;
  gint64 block = lpt_onnx_int (on, "block_size", 128), bits = lpt_onnx_int (on, "bits", 4), length;
  gboolean bytes = data->dtype == LPT_DTYPE_U8;
  LptDType dtype = scale->dtype;
  LptValue *x, *number;

  gather_axis = lpt_onnx_axis (on, lpt_onnx_int (on, "gather_axis", 0), rank);
  axis = lpt_onnx_axis (on, lpt_onnx_int (on, "quantize_axis", bytes ? -1 : 1), rank);
  if (block < 1 || lpt_onnx_rank (on, scale) != rank || (bits != 2 && bits != 4 && bits != 8))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "blocks of %" G_GINT64_FORMAT " codes of %" G_GINT64_FORMAT " bits", block,
                   bits);
  if (gather_axis == axis || (bytes && (bits != 8 && axis != rank - 1)))
    lpt_onnx_unsupported (on, "gather_axis %d with quantize_axis %d", gather_axis, axis);
  if (on->error != NULL)
    return;
  if (bytes && bits < 8)
    {
      length = data->shape.dims[axis] * (8 / bits);
      data = codes_in_bytes (on, 0, bits, length);
      zero = zero != NULL ? codes_in_bytes (on, 3, bits, scale->shape.dims[axis]) : NULL;
    }
  if (on->error != NULL || !lpt_shape_is_static (&data->shape))
    {
      lpt_onnx_unsupported (on, "codes of dynamic shape");
      return;
    }
  length = data->shape.dims[axis];
  x = lpt_onnx_convert (on, gather (on, data, index, gather_axis), LPT_DTYPE_F32);
  /* The indices' axes stand where gather_axis was. */
  if (gather_axis < axis)
    axis += lpt_onnx_rank (on, index) - 1;
  number = block_numbers (on, length, block);
  if (zero != NULL)
    zero = gather (on, lpt_onnx_convert (on, gather (on, zero, index, gather_axis), LPT_DTYPE_F32), number, axis);
  else if (bytes)
    zero = lpt_onnx_scalar (on, LPT_DTYPE_F32, 1 << (bits - 1));
  if (zero != NULL)
    x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, zero);
  scale = gather (on, lpt_onnx_convert (on, gather (on, scale, index, gather_axis), LPT_DTYPE_F32), number, axis);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, scale), dtype));
}
