/* onnx-map-trt.c - TensorRT's quantization to 8-bit and 4-bit numbers, as Model Optimizer writes it (domain trt)
 *
 *   TRT_FP8QuantizeLinear, TRT_INT4QuantizeLinear, TRT_MXFP8QuantizeLinear   QuantizeLinear to that type
 *   TRT_FP8DequantizeLinear, ...                                           DequantizeLinear from it
 *   TRT_MXFP8DynamicQuantize   s = 2^ceil (log2 (m / 448)), m the largest magnitude of a block; f8e4m3 (x / s), s
 *   TRT_FP4DynamicQuantize     t = f8e4m3 (m / 6 / g), g the scale of all blocks; f4e2m1 (x / (t g)), t; 0 where t is 0
 *
 * The last two have blocks of the last axis. Numbers above the largest one of a type become that. Files have codes of
 * these types in bytes, and exponents of MX in bytes too: constants are taken as what they stand for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#define FP8_MAX 448.0
#define FP4_MAX 6.0

/* --- steps that the file has ----------------------------------------------------------------- */

/* The constant bytes of input @i as @dtype, which has 8 bits. */
static void
retype (LptOnnxNode *on,
        guint        i,
        LptDType     dtype)
{
  LptValue *value = lpt_onnx_in (on, i);
  LptTensor *bytes = value->producer->data, *tensor;

  if (value->dtype != LPT_DTYPE_U8 || on->error != NULL || i >= on->n_in)
    return;
  if (bytes == NULL)
    {
      lpt_onnx_unsupported (on, "input %u: computed bytes as %s", i, lpt_dtype_name (dtype));
      return;
    }
  tensor = lpt_tensor_new_copy (dtype, lpt_tensor_shape (bytes), lpt_tensor_data (bytes), &on->error);
  if (tensor != NULL)
    on->in[i] = lpt_onnx_tensor_value (on, tensor);
}

/* Scales as real numbers: powers of two where they are bytes. */
static void
read_scale (LptOnnxNode *on)
{
  retype (on, 1, LPT_DTYPE_F8E8M0);
  if (on->error == NULL && on->n_in > 1 && lpt_dtype_is_small_float (lpt_onnx_in (on, 1)->dtype))
    on->in[1] = lpt_onnx_convert (on, on->in[1], LPT_DTYPE_F32);
}

/* argument: the type of the codes */
void
lpt_onnx_map_trt_quantize (LptOnnxNode *on)
{
  read_scale (on);
  lpt_onnx_map_quantize_linear (on);
}

void
lpt_onnx_map_trt_dequantize (LptOnnxNode *on)
{
  if ((LptDType) on->argument == LPT_DTYPE_F8E4M3)
    retype (on, 0, LPT_DTYPE_F8E4M3);
  read_scale (on);
  lpt_onnx_map_dequantize_linear (on);
}

/* --- steps of the data ----------------------------------------------------------------------- */

typedef struct
{
  LptValue *x;         /* [..., blocks, block] in f32 */
  LptValue *largest;   /* the largest magnitude of each block, [..., blocks, 1] */
  LptValue *shape;     /* of the data */
  gint      rank;      /* of the data */
} Blocks;

static void
read_blocks (LptOnnxNode *on,
             Blocks      *b)
{
  const gint64 block = lpt_onnx_int (on, "block_size", 0);
  LptValue *x = lpt_onnx_in (on, 0);
  gint64 dims[LPT_MAX_RANK + 1] = { 0 }, last;

  b->rank = lpt_onnx_rank (on, x);
  last = b->rank - 1;
  if (b->rank < 1 || b->rank >= LPT_MAX_RANK || lpt_onnx_axis (on, lpt_onnx_int (on, "axis", -1), b->rank) != last ||
      block < 1 || x->shape.dims[last] < 1 || x->shape.dims[last] % block != 0)
    {
      lpt_onnx_unsupported (on, "blocks of %" G_GINT64_FORMAT " that are not of the last axis", block);
      b->x = b->largest = b->shape = x;
      return;
    }
  b->shape = lpt_onnx_shape_of (on, x);
  dims[last] = x->shape.dims[last] / block;
  dims[last + 1] = block;
  b->x = lpt_onnx_reshape_keep (on, lpt_onnx_convert (on, x, LPT_DTYPE_F32), (guint) b->rank + 1, dims);
  last = b->rank;
  b->largest = lpt_onnx_reduce (on, LPT_OP_REDUCE_MAX, lpt_onnx_emit (on, LPT_OP_ABS, 1, b->x),
                                lpt_onnx_i64 (on, 1, &last), TRUE);
}

static void
set_outputs (LptOnnxNode  *on,
             const Blocks *b,
             LptValue     *codes,
             LptValue     *scales)
{
  lpt_onnx_set (on, 0, lpt_onnx_reshape_to (on, codes, b->shape));
  lpt_onnx_set (on, 1, lpt_onnx_squeeze (on, scales, b->rank));
}

void
lpt_onnx_map_trt_mxfp8_dynamic (LptOnnxNode *on)
{
  const LptDType dtype = lpt_onnx_dtype (on, "output_dtype");
  LptValue *scale, *codes;
  Blocks b;

  if (dtype != LPT_DTYPE_UNDEFINED && dtype != LPT_DTYPE_F8E4M3)
    lpt_onnx_unsupported (on, "output type %s", lpt_dtype_name (dtype));
  read_blocks (on, &b);
  if (on->error != NULL)
    return;
  scale = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, b.largest, lpt_onnx_like (on, b.largest, FP8_MAX));
  scale = lpt_onnx_to_small_float (on, scale, LPT_DTYPE_F8E8M0, TRUE, LPT_POWER_ROUND_UP);
  codes = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, b.x, lpt_onnx_convert (on, scale, LPT_DTYPE_F32));
  set_outputs (on, &b, lpt_onnx_to_small_float (on, codes, LPT_DTYPE_F8E4M3, TRUE, LPT_POWER_ROUND_EVEN), scale);
}

void
lpt_onnx_map_trt_fp4_dynamic (LptOnnxNode *on)
{
  LptValue *global = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_F32), *scale, *step, *codes;
  const LptDType type = lpt_onnx_dtype (on, "scale_type");
  Blocks b;

  if (type != LPT_DTYPE_UNDEFINED && type != LPT_DTYPE_F8E4M3)
    lpt_onnx_unsupported (on, "scale_type %s", lpt_dtype_name (type));
  read_blocks (on, &b);
  if (on->error != NULL)
    return;
  scale = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, b.largest, lpt_onnx_like (on, b.largest, FP4_MAX));
  scale = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, scale, global);
  scale = lpt_onnx_to_small_float (on, scale, LPT_DTYPE_F8E4M3, TRUE, LPT_POWER_ROUND_EVEN);
  step = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_convert (on, scale, LPT_DTYPE_F32), global);
  codes = lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_emit (on, LPT_OP_GREATER, 2, step, lpt_onnx_like (on, step, 0)),
                         lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, b.x, step), lpt_onnx_like (on, step, 0));
  set_outputs (on, &b, lpt_onnx_to_small_float (on, codes, LPT_DTYPE_F4E2M1, TRUE, LPT_POWER_ROUND_EVEN), scale);
}
