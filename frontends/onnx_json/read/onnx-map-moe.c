/* onnx-map-moe.c - com.microsoft's mixtures of experts: MoE, QMoE
 *
 * A token x takes the k experts of the largest router numbers p, of equal ones the first, each with a weight r:
 *
 *     y = sum over experts e of  r[e] (W2[e] h[e] + b2[e])        h[e] = f (W1[e] x + b1[e]) [* (W3[e] x + b3[e])]
 *
 * r is 0 for experts that are not taken. So it is spelled out, for all experts at once, in products of T tokens each:
 *
 *     h [T, E I] = f (x W1' + b1),  W1 [E I, H]         y = (r h) W2' + r b2,  W2 [H, E I],  b2 [E, H]
 *
 * exact but for the order of sums; E / k times the work of the experts taken. The blocks of r h that belong to others
 * are zeros, which data quantized in blocks keeps. swiglu with fused weights: W1 holds gate and linear rows, which are
 * taken apart.
 *
 *     MoE     r = softmax (p) of the experts taken, over its sum with normalize_routing_weights
 *     QMoE    r = softmax over the p of the experts taken; with router_weights these, over their sum with
 *             normalize_routing_weights
 *
 *     use_sparse_mixer    two experts, the second from what the first leaves; r of each is its softmax among those
 *             whose p is at most 0.02 max (|p|, m) below the largest one m
 *
 * Codes of QMoE stay 2 (as 4), 4 or 8 bits wide. Refused: quant_type that is not "int", codes that are not constant,
 * blocks that do not divide rows, weights [E, in, out] of the first version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"
#include "frontends/onnx_json/read/onnx-blocks.h"

#include <math.h>
#include <string.h>

#define MAX_LENGTH (1 << 24)   /* of experts and features: products of two fit 64 bits */

/* Inputs of a layer; scales and zeros: of QMoE */
typedef struct { guint weights, scales, bias, zeros; } Layer;

static const Layer layers[2][3] = {
  { { 2, 0, 3, 0 }, { 4, 0, 5, 0 }, { 6, 0, 7, 0 } },
  { { 2, 3, 4, 11 }, { 5, 6, 7, 12 }, { 8, 9, 10, 13 } },
};

typedef struct
{
  const Layer *layers;
  gboolean     quantized, real;      /* codes; data that stay real beside them */
  gint64       experts, hidden, inter, bits, block;
  gint64       fusion;               /* 0: gate and linear rows apart, 1: by turns, 2: one behind the other */
} Moe;

/* Rows [E, n_out] of n_in weights as they are wanted: part 0 or 1 of fused ones; turned: [n_out, E n_in] */
typedef struct
{
  gint64   n_out, n_in;
  gint64   part, fusion;
  gboolean turned;
} Rows;

/* --- weights --------------------------------------------------------------------------------- */

/* @x [E, rows of the file, @n] -> [E, n_out, n], or turned [n_out, E, n] */
static LptValue *
arrange (LptOnnxNode *on,
         const Moe   *moe,
         const Rows  *rows,
         LptValue    *x,
         gint64       n)
{
  static const gint64 order[3] = { 1, 0, 2 };
  gint64 dims[3] = { moe->experts, rows->fusion != 0 ? 2 * rows->n_out : rows->n_out, n };

  x = lpt_onnx_convert (on, lpt_onnx_reshape (on, x, 3, dims), LPT_DTYPE_F32);
  if (rows->fusion == 1)
    {
      gint64 pairs[4] = { moe->experts, rows->n_out, 2, n };

      x = lpt_onnx_slice (on, lpt_onnx_reshape (on, x, 4, pairs), 2, rows->part, rows->part + 1);
    }
  else if (rows->fusion == 2)
    x = lpt_onnx_slice (on, x, 1, rows->part * rows->n_out, (rows->part + 1) * rows->n_out);
  dims[1] = rows->n_out;
  x = lpt_onnx_reshape (on, x, 3, dims);
  return rows->turned ? lpt_onnx_transpose (on, x, 3, order) : x;
}

/* The same of bytes. */
static LptTensor *
arrange_bytes (LptOnnxNode *on,
               const Moe   *moe,
               const Rows  *rows,
               LptTensor   *packed)
{
  const gint64 n_file = rows->fusion != 0 ? 2 * rows->n_out : rows->n_out, n_rows = moe->experts * rows->n_out;
  const gint64 length = lpt_tensor_count (packed) / (moe->experts * n_file);
  const gint64 dims[2] = { n_rows, length };
  const LptShape shape = lpt_shape_make (2, dims);
  LptTensor *out = lpt_tensor_new (LPT_DTYPE_U8, &shape, on->error == NULL ? &on->error : NULL);
  guint8 *to = out != NULL ? lpt_tensor_writable (out) : NULL;

  for (gint64 i = 0; to != NULL && i < n_rows; i++, to += length)
    {
      gint64 expert = rows->turned ? i % moe->experts : i / rows->n_out;
      gint64 row = rows->turned ? i / moe->experts : i % rows->n_out;

      if (rows->fusion != 0)
        row = rows->fusion == 1 ? 2 * row + rows->part : rows->part * rows->n_out + row;
      memcpy (to, (const guint8 *) lpt_tensor_data (packed) + (expert * n_file + row) * length, (gsize) length);
    }
  return out;
}

/* Zero points [E, rows of the file, blocks] as numbers: packed along the blocks, or along the rows where a row has one
 * block; NULL is the middle of the codes. */
static LptValue *
zero_points (LptOnnxNode *on,
             const Moe   *moe,
             const Rows  *rows,
             guint        i,
             gint64       blocks)
{
  const gint64 n_file = rows->fusion != 0 ? 2 * rows->n_out : rows->n_out, dims[3] = { moe->experts, n_file, blocks };
  const LptShape shape = lpt_shape_make (3, dims);
  LptValue *zero = lpt_onnx_optional (on, i);
  LptTensor *packed, *codes;

  if (zero == NULL || lpt_dtype_is_real (zero->dtype))
    return zero;
  packed = lpt_onnx_constant_codes (on, i);
  if (packed == NULL)
    return NULL;
  codes = blocks > 1 ? lpt_onnx_unpack (on, packed, moe->bits, moe->experts * n_file, blocks, &shape)
                     : lpt_onnx_unpack (on, packed, moe->bits, moe->experts, n_file, &shape);
  return codes != NULL ? lpt_onnx_tensor_value (on, codes) : NULL;
}

/* Codes of a layer, dequantized: [rows, codes of a row] */
static LptValue *
coded_weights (LptOnnxNode *on,
               const Moe   *moe,
               const Rows  *rows,
               const Layer *layer)
{
  const gint64 block = moe->block > 0 ? moe->block : rows->n_in, blocks = rows->n_in / block;
  gint64 n_rows = rows->turned ? rows->n_out : moe->experts * rows->n_out;
  gint64 dims[3] = { n_rows, rows->turned ? moe->experts * blocks : blocks, block };
  const LptShape shape = lpt_shape_make (3, dims);
  LptTensor *packed = lpt_onnx_constant_codes (on, layer->weights);
  LptValue *scale = lpt_onnx_in (on, layer->scales), *zero, *w;
  g_autoptr (LptTensor) bytes = NULL;
  LptTensor *codes;

  if (rows->n_in % block != 0 || block * moe->bits % 8 != 0)
    lpt_onnx_unsupported (on, "block_size %" G_GINT64_FORMAT " for rows of %" G_GINT64_FORMAT, block, rows->n_in);
  if (on->error != NULL)
    return scale;
  bytes = arrange_bytes (on, moe, rows, packed);
  codes = bytes != NULL ? lpt_onnx_unpack (on, bytes, moe->bits, dims[0] * dims[1], block, &shape) : NULL;
  zero = codes != NULL ? zero_points (on, moe, rows, layer->zeros, blocks) : NULL;
  w = lpt_onnx_decoded (on, lpt_onnx_tensor_value (on, codes));
  dims[2] = 1;
  if (zero != NULL)
    zero = lpt_onnx_reshape (on, arrange (on, moe, rows, zero, blocks), 3, dims);
  else
    zero = lpt_onnx_scalar (on, LPT_DTYPE_F32, 1 << (moe->bits - 1));
  w = lpt_onnx_dequantization (on, LPT_OP_SUBTRACT, w, zero);
  scale = lpt_onnx_reshape (on, arrange (on, moe, rows, scale, blocks), 3, dims);
  w = lpt_onnx_dequantization (on, LPT_OP_MULTIPLY, w, scale);
  dims[1] *= block;
  return lpt_onnx_reshape (on, w, 2, dims);
}

/* @x times the weights of a layer, which stand as rows */
static LptValue *
product (LptOnnxNode *on,
         const Moe   *moe,
         const Rows  *rows,
         const Layer *layer,
         LptValue    *x)
{
  gint64 dims[2] = { rows->n_out, moe->experts * rows->n_in };
  LptValue *w;
  LptNode *node;

  if (!rows->turned)
    {
      dims[0] = moe->experts * rows->n_out;
      dims[1] = rows->n_in;
    }
  if (moe->quantized)
    w = coded_weights (on, moe, rows, layer);
  else
    w = lpt_onnx_reshape (on, arrange (on, moe, rows, lpt_onnx_in (on, layer->weights), rows->n_in), 2, dims);
  node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, x, w);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  LPT_ATTRS (node, LptMatMulAttrs)->real = moe->real;
  return lpt_onnx_done (on, node);
}

/* x W' + b: [T, E I] */
static LptValue *
first_layer (LptOnnxNode *on,
             const Moe   *moe,
             const Layer *layer,
             gint64       part,
             gint64       fusion,
             LptValue    *x)
{
  const Rows rows = { moe->inter, moe->hidden, part, fusion, FALSE };
  gint64 dims[2] = { 1, moe->experts * moe->inter };
  LptValue *y = product (on, moe, &rows, layer, x), *bias = lpt_onnx_optional (on, layer->bias);

  if (bias == NULL)
    return y;
  return lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_reshape (on, arrange (on, moe, &rows, bias, 1), 2, dims));
}

/* --- router -------------------------------------------------------------------------------------- */

static LptValue *
softmax (LptOnnxNode *on,
         LptValue    *x)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, x);

  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = 1;
  return lpt_onnx_done (on, node);
}

/* Numbers over their sum; 0 where that is 0 */
static LptValue *
normalized (LptOnnxNode *on,
            LptValue    *r)
{
  gint64 axis = 1;
  LptValue *sum = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, r, lpt_onnx_i64 (on, 1, &axis), TRUE);
  LptValue *zero = lpt_onnx_scalar (on, LPT_DTYPE_F32, 0), *none = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, sum, zero);

  sum = lpt_onnx_emit (on, LPT_OP_SELECT, 3, none, lpt_onnx_scalar (on, LPT_DTYPE_F32, 1), sum);
  return lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, r, sum);
}

/* The largest @k of @p [T, E] and where they are */
static LptValue *
largest (LptOnnxNode  *on,
         LptValue     *p,
         gint64        k,
         LptValue    **index)
{
  LptNode *top = lpt_onnx_add (on, LPT_OP_TOP_K, 2, p, lpt_onnx_i64_scalar (on, k));
  LptTopKAttrs *attrs = LPT_ATTRS (top, LptTopKAttrs);

  attrs->axis = 1;
  attrs->mode = LPT_TOPK_MAX;
  attrs->sort = LPT_TOPK_SORT_VALUE;
  attrs->index_element_type = LPT_DTYPE_I64;
  attrs->stable = TRUE;
  lpt_onnx_done (on, top);
  *index = &top->out[1];
  return &top->out[0];
}

static LptValue *
gather (LptOnnxNode *on,
        LptValue    *x,
        LptValue    *index)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_GATHER_ELEMENTS, 2, x, index);

  LPT_ATTRS (node, LptAxisAttrs)->axis = 1;
  return lpt_onnx_done (on, node);
}

static LptValue *
scatter (LptOnnxNode *on,
         LptValue    *x,
         LptValue    *index,
         LptValue    *update)
{
  return lpt_onnx_emit (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, x, index, update, lpt_onnx_i64_scalar (on, 1));
}

/* The expert of the largest p [T, E] and its weight [T, 1] */
static LptValue *
mixed (LptOnnxNode  *on,
       LptValue     *p,
       LptValue    **index)
{
  LptValue *most = largest (on, p, 1, index), *below, *size, *near;

  size = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, lpt_onnx_emit (on, LPT_OP_ABS, 1, p), most);
  below = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, most, p), size);
  near = lpt_onnx_emit (on, LPT_OP_LESS_EQUAL, 2, below, lpt_onnx_scalar (on, LPT_DTYPE_F32, 0.02f));
  p = lpt_onnx_emit (on, LPT_OP_SELECT, 3, near, p, lpt_onnx_scalar (on, LPT_DTYPE_F32, -INFINITY));
  return gather (on, softmax (on, p), *index);
}

/* r [T, E] of use_sparse_mixer */
static LptValue *
sparse_routes (LptOnnxNode *on,
               LptValue    *p,
               LptValue    *zeros)
{
  LptValue *index[2], *r[2], *none = lpt_onnx_scalar (on, LPT_DTYPE_F32, -INFINITY);

  r[0] = mixed (on, p, &index[0]);
  p = scatter (on, p, index[0], lpt_onnx_broadcast (on, none, lpt_onnx_shape_of (on, index[0])));
  r[1] = mixed (on, p, &index[1]);
  for (guint i = 0; i < 2; i++)
    zeros = scatter (on, zeros, index[i], r[i]);
  return zeros;
}

/* r [T, E] */
static LptValue *
routes (LptOnnxNode *on,
        const Moe   *moe)
{
  const gint64 k = lpt_onnx_int (on, "k", 4);
  const gboolean normalize = lpt_onnx_int (on, "normalize_routing_weights", 0) != 0;
  LptValue *p = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_F32), *r, *zeros;
  LptValue *given = moe->quantized ? lpt_onnx_optional (on, 14) : NULL, *index;
  const gboolean sparse = lpt_onnx_int (on, "use_sparse_mixer", 0) != 0;

  if (k < 1 || k > moe->experts)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "k is %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " experts", k, moe->experts);
  if (lpt_onnx_rank (on, p) != 2 || (p->shape.dims[1] != LPT_DYNAMIC && p->shape.dims[1] != moe->experts))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "router_probs is not [T, %" G_GINT64_FORMAT "]", moe->experts);
  if (sparse && (k != 2 || given != NULL || normalize))
    lpt_onnx_unsupported (on, "use_sparse_mixer of other than two experts, with router_weights or their sum");
  zeros = lpt_onnx_broadcast (on, lpt_onnx_scalar (on, LPT_DTYPE_F32, 0), lpt_onnx_shape_of (on, p));
  if (sparse)
    return sparse_routes (on, p, zeros);
  r = largest (on, moe->quantized ? p : softmax (on, p), k, &index);
  if (given != NULL)
    r = gather (on, lpt_onnx_convert (on, given, LPT_DTYPE_F32), index);
  if (moe->quantized && given == NULL)
    r = softmax (on, r);
  else if (normalize)
    r = normalized (on, r);
  return scatter (on, zeros, index, r);
}

/* --- experts --------------------------------------------------------------------------------------- */

typedef enum { RELU, GELU, SILU, IDENTITY, SWIGLU } Activation;


static LptValue *
activate (LptOnnxNode *on,
          Activation   activation,
          LptValue    *gate,
          double       alpha)
{
  LptNode *node;

  switch (activation)
    {
    case RELU:
      return lpt_onnx_emit (on, LPT_OP_RELU, 1, gate);
    case GELU:
      node = lpt_onnx_add (on, LPT_OP_GELU, 1, gate);
      LPT_ATTRS (node, LptGeluAttrs)->approximation_mode = LPT_GELU_TANH;
      return lpt_onnx_done (on, node);
    case SILU:
    case SWIGLU:
      return lpt_onnx_emit (on, LPT_OP_SWISH, 2, gate, lpt_onnx_scalar (on, LPT_DTYPE_F32, alpha));
    case IDENTITY:
    default:
      return gate;
    }
}

/* h [T, E I]. swiglu: g sigmoid (alpha g) (l + beta), g at most swiglu_limit, l between it and its opposite */
static LptValue *
inner (LptOnnxNode *on,
       const Moe   *moe,
       Activation   activation,
       LptValue    *x)
{
  const gboolean swiglu = activation == SWIGLU, third = lpt_onnx_optional (on, moe->layers[2].weights) != NULL;
  const double alpha = lpt_onnx_float (on, "activation_alpha", 1), beta = lpt_onnx_float (on, "activation_beta", 0);
  const double limit = lpt_onnx_float (on, "swiglu_limit", INFINITY);
  LptValue *gate = first_layer (on, moe, &moe->layers[0], 0, moe->fusion, x), *linear = NULL;

  if (third || moe->fusion != 0)
    linear = first_layer (on, moe, &moe->layers[third ? 2 : 0], 1, moe->fusion, x);
  if (swiglu && limit < INFINITY)
    {
      gate = lpt_onnx_clamp (on, gate, -INFINITY, limit);
      linear = lpt_onnx_clamp (on, linear, -limit, limit);
    }
  gate = activate (on, activation, gate, swiglu ? alpha : 1);
  if (swiglu && beta != 0)
    linear = lpt_onnx_emit (on, LPT_OP_ADD, 2, linear, lpt_onnx_scalar (on, LPT_DTYPE_F32, beta));
  return linear != NULL ? lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, gate, linear) : gate;
}

/* Do the weights of layer @i have the shape [E, out, in]? */
static void
check_layer (LptOnnxNode *on,
             const Moe   *moe,
             guint        i,
             gint64       n_out,
             gint64       n_in)
{
  const LptValue *w = lpt_onnx_optional (on, moe->layers[i].weights);

  if (w != NULL && on->error == NULL
      && (w->shape.rank != 3 || w->shape.dims[0] != moe->experts || w->shape.dims[1] != n_out
          || w->shape.dims[2] * (8 / moe->bits) != n_in))
    lpt_onnx_unsupported (on, "weights of fc%u that are not [experts, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "]",
                          i + 1, n_out, n_in / (8 / moe->bits));
}

static gboolean
read_sizes (LptOnnxNode *on,
            Moe         *moe,
            Activation   activation)
{
  const LptValue *second = lpt_onnx_in (on, moe->layers[1].weights);
  const gboolean third = lpt_onnx_optional (on, moe->layers[2].weights) != NULL;

  moe->bits = moe->quantized ? lpt_onnx_int (on, "expert_weight_bits", 4) : 8;
  moe->block = moe->quantized ? lpt_onnx_int (on, "block_size", 0) : 0;
  moe->fusion = activation == SWIGLU && !third ? lpt_onnx_int (on, "swiglu_fusion", 0) : 0;
  lpt_onnx_ignore (on, "swiglu_fusion");   /* of other activations, and where fc3 is there */
  if (activation == SWIGLU && !third && moe->fusion != 1 && moe->fusion != 2)
    lpt_onnx_unsupported (on, "swiglu_fusion %" G_GINT64_FORMAT " without fc3", moe->fusion);
  if ((moe->bits != 2 && moe->bits != 4 && moe->bits != 8) || moe->block < 0 || moe->block > MAX_LENGTH)
    lpt_onnx_unsupported (on, "expert_weight_bits %" G_GINT64_FORMAT " in blocks of %" G_GINT64_FORMAT, moe->bits,
                          moe->block);
  if (on->error == NULL && (second->shape.rank != 3 || !lpt_shape_is_static (&second->shape)))
    lpt_onnx_unsupported (on, "weights of unknown shape");
  for (guint i = 0; i < 3 && on->error == NULL; i++)
    if (second->shape.dims[i] < 1 || second->shape.dims[i] > MAX_LENGTH)
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "weights of fc2 of length %" G_GINT64_FORMAT, second->shape.dims[i]);
  if (on->error != NULL)
    return FALSE;
  moe->experts = second->shape.dims[0];
  moe->hidden = second->shape.dims[1];
  moe->inter = second->shape.dims[2] * (8 / moe->bits);
  lpt_onnx_in (on, moe->layers[0].weights);
  check_layer (on, moe, 0, moe->fusion != 0 ? 2 * moe->inter : moe->inter, moe->hidden);
  check_layer (on, moe, 2, moe->inter, moe->hidden);
  return on->error == NULL;
}

/* Argument 1: QMoE */
void
lpt_onnx_map_moe (LptOnnxNode *on)
{
  static const LptOnnxChoice choices[] = {
    { "relu", RELU }, { "gelu", GELU }, { "silu", SILU }, { "identity", IDENTITY }, { "swiglu", SWIGLU },
  };
  Moe moe = { .layers = layers[on->argument], .quantized = on->argument == 1 };
  LptValue *x = lpt_onnx_in (on, 0), *rows, *r, *h, *y, *bias;
  Activation activation = (Activation) lpt_onnx_choose (on, "activation_type", "relu", choices,
                                                        G_N_ELEMENTS (choices));
  gint64 level = moe.quantized ? lpt_onnx_int (on, "accuracy_level", 0) : 0, dims[3];

  moe.real = level >= 1 && level <= 3;
  if (moe.quantized && strcmp (lpt_onnx_string (on, "quant_type", "int"), "int") != 0)
    lpt_onnx_unsupported (on, "quant_type \"%s\"", lpt_onnx_string (on, "quant_type", "int"));
  if (!read_sizes (on, &moe, activation))
    return;
  bias = lpt_onnx_optional (on, moe.layers[1].bias);
  dims[0] = -1;
  dims[1] = moe.hidden;
  rows = lpt_onnx_reshape (on, lpt_onnx_convert (on, x, LPT_DTYPE_F32), 2, dims);
  r = routes (on, &moe);
  h = inner (on, &moe, activation, rows);
  dims[1] = moe.experts;
  dims[2] = moe.inter;
  h = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_reshape (on, h, 3, dims), lpt_onnx_unsqueeze (on, r, 2));
  dims[1] = moe.experts * moe.inter;
  y = product (on, &moe, &(Rows) { moe.hidden, moe.inter, 0, 0, TRUE }, &moe.layers[1],
               lpt_onnx_reshape (on, h, 2, dims));
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_product (on, r, lpt_onnx_convert (on, bias, LPT_DTYPE_F32),
                                                              FALSE));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_reshape_to (on, y, lpt_onnx_shape_of (on, x)), x->dtype));
}
