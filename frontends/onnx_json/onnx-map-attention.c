/* onnx-map-attention.c - ONNX Attention and RotaryEmbedding, spelled out
 *
 *     Y = softmax (cap (sqrt (s) Q * (sqrt (s) K)^T) + bias) V
 *
 * bias joins the mask, the causal triangle and the padding of K and V; a row that
 * is masked as a whole gives 0. With fewer K and V heads than Q heads each is
 * used by several consecutive Q heads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/onnx-import.h"

#include <math.h>

/* 0 keeps a dimension, -1 takes the rest. */
static LptValue *
reshape_keeping (LptOnnxNode  *on,
                 LptValue     *x,
                 guint         n,
                 const gint64 *dims)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_RESHAPE, 2, x, lpt_onnx_i64 (on, n, dims));

  LPT_ATTRS (node, LptReshapeAttrs)->special_zero = TRUE;
  return lpt_onnx_done (on, node);
}

static const gint64 swap_heads[4] = { 0, 2, 1, 3 };

/* [B, S, H * D] -> [B, H, S, D] */
static LptValue *
split_heads (LptOnnxNode *on,
             LptValue    *x,
             gint64       heads)
{
  gint64 dims[4] = { 0, 0, heads, -1 };

  if (lpt_onnx_rank (on, x) == 4)
    return x;
  if (heads < 1 || x->shape.rank != 3)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "input of rank %d with %" G_GINT64_FORMAT " heads", x->shape.rank, heads);
      return x;
    }
  return lpt_onnx_transpose (on, reshape_keeping (on, x, 4, dims), 4, swap_heads);
}

/* Each head of K or V @times times in a row */
static LptValue *
repeat_heads (LptOnnxNode *on,
              LptValue    *x,
              gint64       times)
{
  gint64 wide[5] = { 1, 1, times, 1, 1 }, dims[4] = { 0, x->shape.dims[1] * times, -1, x->shape.dims[3] };

  if (times == 1)
    return x;
  if (dims[3] == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "grouped heads of dynamic size");
  x = lpt_onnx_broadcast (on, lpt_onnx_unsqueeze (on, x, 2), lpt_onnx_i64 (on, 5, wide));
  return reshape_keeping (on, x, 4, dims);
}

static LptValue *
add_bias (LptOnnxNode *on,
          LptValue    *bias,
          LptValue    *more)
{
  return bias != NULL ? lpt_onnx_emit (on, LPT_OP_ADD, 2, bias, more) : more;
}

/* 0 where @keep, else -infinity */
static LptValue *
mask_bias (LptOnnxNode *on,
           LptValue    *keep,
           LptValue    *like)
{
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, keep, lpt_onnx_like (on, like, 0), lpt_onnx_like (on, like, -INFINITY));
}

static LptValue *
count_to (LptOnnxNode *on,
          LptValue    *length)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_RANGE, 3, lpt_onnx_i64_scalar (on, 0), lpt_onnx_squeeze (on, length, 0), lpt_onnx_i64_scalar (on, 1));

  LPT_ATTRS (node, LptRangeAttrs)->output_type = LPT_DTYPE_I64;
  return lpt_onnx_done (on, node);
}

/* The mask as a bias; a mask shorter than K is masked behind its end. */
static LptValue *
given_mask (LptOnnxNode *on,
            LptValue    *mask,
            LptValue    *q,
            LptValue    *k)
{
  gint rank = lpt_onnx_rank (on, mask);
  gint64 zeros[LPT_MAX_RANK] = { 0 }, ends[LPT_MAX_RANK] = { 0 };
  gint64 length = rank > 0 ? mask->shape.dims[rank - 1] : 1, total = k->shape.dims[2];
  LptNode *node;

  mask = mask->dtype == LPT_DTYPE_BOOL ? mask_bias (on, mask, q) : lpt_onnx_convert (on, mask, q->dtype);
  if (rank == 0 || length == LPT_DYNAMIC || total == LPT_DYNAMIC || length >= total || length == 1)
    return mask;
  ends[rank - 1] = total - length;
  node = lpt_onnx_add (on, LPT_OP_PAD, 4, mask, lpt_onnx_i64 (on, (guint) rank, zeros), lpt_onnx_i64 (on, (guint) rank, ends),
                       lpt_onnx_like (on, mask, -INFINITY));
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
  return lpt_onnx_done (on, node);
}

/* Query i sees keys up to i + offset: behind what was there before, or so that the last query sees the last valid key. */
static LptValue *
causal_mask (LptOnnxNode *on,
             LptValue    *q,
             LptValue    *k,
             LptValue    *past,
             LptValue    *valid)
{
  LptValue *rows = lpt_onnx_unsqueeze (on, count_to (on, lpt_onnx_dim (on, q, 2)), 1);
  LptValue *columns = count_to (on, lpt_onnx_dim (on, k, 2));
  gint64 axes[3] = { 1, 2, 3 };

  if (past != NULL)
    rows = lpt_onnx_emit (on, LPT_OP_ADD, 2, rows, lpt_onnx_dim (on, past, 2));
  else if (valid != NULL)
    {
      LptValue *offset = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, valid, lpt_onnx_dim (on, q, 2));

      rows = lpt_onnx_emit (on, LPT_OP_ADD, 2, rows, lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, offset, lpt_onnx_i64 (on, 3, axes)));
    }
  return mask_bias (on, lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, rows, columns), q);
}

/* Keys from valid[batch] on are padding. */
static LptValue *
padding_mask (LptOnnxNode *on,
              LptValue    *q,
              LptValue    *k,
              LptValue    *valid)
{
  gint64 axes[3] = { 1, 2, 3 };
  LptValue *ends = lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, valid, lpt_onnx_i64 (on, 3, axes));

  return mask_bias (on, lpt_onnx_emit (on, LPT_OP_LESS, 2, count_to (on, lpt_onnx_dim (on, k, 2)), ends), q);
}

static LptValue *
softmax (LptOnnxNode *on,
         LptValue    *x,
         LptValue    *bias)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, x);
  gint64 last = -1;
  LptValue *y, *highest;

  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = 3;
  y = lpt_onnx_done (on, node);
  if (bias == NULL)
    return y;
  highest = lpt_onnx_reduce (on, LPT_OP_REDUCE_MAX, bias, lpt_onnx_i64 (on, 1, &last), TRUE);
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_emit (on, LPT_OP_EQUAL, 2, highest, lpt_onnx_like (on, highest, -INFINITY)),
                        lpt_onnx_like (on, y, 0), y);
}

static LptValue *
matmul (LptOnnxNode *on,
        LptValue    *a,
        LptValue    *b,
        gboolean     transpose_b)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, a, b);

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transpose_b;
  return lpt_onnx_done (on, node);
}

static LptValue *
behind (LptOnnxNode *on,
        LptValue    *past,
        LptValue    *x)
{
  LptValue *both[2] = { past, x };

  return past != NULL ? lpt_onnx_concat (on, 2, 2, both) : x;
}

void
lpt_onnx_map_attention (LptOnnxNode *on)
{
  gboolean flat = lpt_onnx_rank (on, lpt_onnx_in (on, 0)) == 3;
  gint64 q_heads = lpt_onnx_int (on, "q_num_heads", 0), kv_heads = lpt_onnx_int (on, "kv_num_heads", 0);
  gint64 mode = lpt_onnx_int (on, "qk_matmul_output_mode", 0);
  LptValue *q = split_heads (on, lpt_onnx_in (on, 0), q_heads), *k, *v, *y, *stages[4], *bias = NULL;
  LptValue *mask = lpt_onnx_optional (on, 3), *past = lpt_onnx_optional (on, 4), *valid = lpt_onnx_optional (on, 6);
  double softcap = lpt_onnx_float (on, "softcap", 0), scale = lpt_onnx_float (on, "scale", 0);
  gboolean causal = lpt_onnx_int (on, "is_causal", 0) != 0;
  LptDType precision = lpt_onnx_dtype (on, "softmax_precision");
  gint64 dims[3] = { 0, 0, -1 }, times;

  k = behind (on, past, split_heads (on, lpt_onnx_in (on, 1), kv_heads));
  v = behind (on, lpt_onnx_optional (on, 5), split_heads (on, lpt_onnx_in (on, 2), kv_heads));
  lpt_onnx_set (on, 1, k);
  lpt_onnx_set (on, 2, v);
  if (on->error != NULL)
    return;
  if (q->shape.rank != 4 || k->shape.rank != 4 || v->shape.rank != 4 || q->shape.dims[1] < 1 || k->shape.dims[1] < 1
      || v->shape.dims[1] != k->shape.dims[1] || q->shape.dims[1] % k->shape.dims[1] != 0 || mode < 0 || mode > 3)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "the heads of Q, K and V do not fit");
      return;
    }
  times = q->shape.dims[1] / k->shape.dims[1];
  if (scale == 0)
    {
      if (q->shape.dims[3] < 1)
        lpt_onnx_unsupported (on, "heads of dynamic size");
      scale = 1 / sqrt ((double) MAX (q->shape.dims[3], 1));
    }

  if (mask != NULL)
    bias = given_mask (on, mask, q, k);
  if (causal)
    bias = add_bias (on, bias, causal_mask (on, q, k, past, valid));
  if (valid != NULL)
    bias = add_bias (on, bias, padding_mask (on, q, k, valid));

  k = repeat_heads (on, k, times);
  v = repeat_heads (on, v, times);
  stages[0] = matmul (on, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, q, lpt_onnx_like (on, q, sqrt (scale))),
                      lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, k, lpt_onnx_like (on, k, sqrt (scale))), TRUE);
  stages[1] = stages[0];
  if (softcap != 0)
    {
      LptValue *cap = lpt_onnx_like (on, q, softcap);

      y = lpt_onnx_emit (on, LPT_OP_TANH, 1, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, stages[0], cap));
      stages[1] = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, cap);
    }
  stages[2] = bias != NULL ? lpt_onnx_emit (on, LPT_OP_ADD, 2, stages[1], bias) : stages[1];
  y = precision != LPT_DTYPE_UNDEFINED ? lpt_onnx_convert (on, stages[2], precision) : stages[2];
  stages[3] = lpt_onnx_convert (on, softmax (on, y, bias), q->dtype);
  y = matmul (on, stages[3], lpt_onnx_convert (on, v, q->dtype), FALSE);
  if (flat)
    y = reshape_keeping (on, lpt_onnx_transpose (on, y, 4, swap_heads), 3, dims);
  lpt_onnx_set (on, 0, y);
  lpt_onnx_set (on, 3, stages[mode]);
}

/* --- rotary embedding ------------------------------------------------------------------ */

/* cos or sin of each position, [B, S, n] with an axis for the heads */
static LptValue *
angles (LptOnnxNode *on,
        guint        cache,
        gint         heads_axis,
        gint64       n)
{
  LptValue *x = lpt_onnx_in (on, cache), *positions = lpt_onnx_optional (on, 3);

  if (positions != NULL)
    x = lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, positions, lpt_onnx_i64_scalar (on, 0));
  if (lpt_onnx_rank (on, x) == 3 && x->shape.dims[2] != n)
    x = lpt_onnx_slice (on, x, 2, 0, n);
  return lpt_onnx_unsqueeze (on, x, heads_axis);
}

/* Every second element of the last axis from @first on */
static LptValue *
every_second (LptOnnxNode *on,
              LptValue    *x,
              gint64       first,
              gint64       stop)
{
  gint64 step = 2, axis = 3;

  return lpt_onnx_emit (on, LPT_OP_SLICE, 5, x, lpt_onnx_i64 (on, 1, &first), lpt_onnx_i64 (on, 1, &stop), lpt_onnx_i64 (on, 1, &step),
                        lpt_onnx_i64 (on, 1, &axis));
}

void
lpt_onnx_map_rotary_embedding (LptOnnxNode *on)
{
  LptValue *input = lpt_onnx_in (on, 0), *x = input, *a, *b, *cosine, *sine, *parts[2], *rest = NULL;
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), n = lpt_onnx_int (on, "rotary_embedding_dim", 0), size;
  gboolean interleaved = lpt_onnx_int (on, "interleaved", 0) != 0;
  gint heads_axis = 1;

  if (lpt_onnx_rank (on, input) == 3)
    {
      gint64 dims[4] = { 0, 0, heads, -1 };

      if (heads < 1)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "num_heads is %" G_GINT64_FORMAT, heads);
      x = reshape_keeping (on, x, 4, dims);
      heads_axis = 2;
    }
  size = x->shape.rank == 4 ? x->shape.dims[3] : LPT_DYNAMIC;
  if (size == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "shape");
  n = n == 0 ? size : n;
  if (n < 0 || n > size || n % 2 != 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "rotary_embedding_dim is %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, n, size);
  if (on->error != NULL)
    return;
  if (n < size)
    {
      rest = lpt_onnx_slice (on, x, 3, n, size);
      x = lpt_onnx_slice (on, x, 3, 0, n);
    }
  cosine = angles (on, 1, heads_axis, n / 2);
  sine = angles (on, 2, heads_axis, n / 2);
  a = interleaved ? every_second (on, x, 0, n) : lpt_onnx_slice (on, x, 3, 0, n / 2);
  b = interleaved ? every_second (on, x, 1, n) : lpt_onnx_slice (on, x, 3, n / 2, n);
  parts[0] = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, cosine, a), lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, sine, b));
  parts[1] = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, sine, a), lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, cosine, b));
  if (interleaved)
    for (guint i = 0; i < 2; i++)
      parts[i] = lpt_onnx_unsqueeze (on, parts[i], 4);
  a = lpt_onnx_concat (on, interleaved ? 4 : 3, 2, parts);
  if (interleaved)
    a = lpt_onnx_reshape_to (on, a, lpt_onnx_shape_of (on, x));
  if (rest != NULL)
    {
      parts[0] = a;
      parts[1] = rest;
      a = lpt_onnx_concat (on, 3, 2, parts);
    }
  lpt_onnx_set (on, 0, input->shape.rank == 3 ? lpt_onnx_reshape_to (on, a, lpt_onnx_shape_of (on, input)) : a);
}
