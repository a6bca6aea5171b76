/* onnx-map-attention.c - ONNX Attention and RotaryEmbedding, spelled out
 *
 *     Y = softmax (cap (s Q K^T) + bias) V
 *
 * bias joins the mask, the causal triangle and the padding of K and V; a row that
 * is masked as a whole gives 0. With fewer K and V heads than Q heads each is
 * used by several consecutive Q heads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"

#include <math.h>

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

  mask = mask->dtype == LPT_DTYPE_BOOL ? lpt_onnx_mask_bias (on, mask, q, -INFINITY)
                                       : lpt_onnx_convert (on, mask, q->dtype);
  if (rank == 0 || length == LPT_DYNAMIC || total == LPT_DYNAMIC || length >= total || length == 1)
    return mask;
  ends[rank - 1] = total - length;
  node = lpt_onnx_add (on, LPT_OP_PAD, 4, mask, lpt_onnx_i64 (on, (guint) rank, zeros),
                       lpt_onnx_i64 (on, (guint) rank, ends), lpt_onnx_like (on, mask, -INFINITY));
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
  return lpt_onnx_done (on, node);
}

/* Query i sees keys up to i + offset: behind what was there before, or so that the last query sees the last valid
 * key. */
static LptValue *
causal_mask (LptOnnxNode *on,
             LptValue    *q,
             LptValue    *k,
             LptValue    *past,
             LptValue    *valid)
{
  LptValue *rows = lpt_onnx_unsqueeze (on, lpt_onnx_count_to (on, lpt_onnx_dim (on, q, 2)), 1);
  LptValue *columns = lpt_onnx_count_to (on, lpt_onnx_dim (on, k, 2));
  gint64 axes[3] = { 1, 2, 3 };

  if (past != NULL)
    rows = lpt_onnx_emit (on, LPT_OP_ADD, 2, rows, lpt_onnx_dim (on, past, 2));
  else if (valid != NULL)
    {
      LptValue *offset = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, valid, lpt_onnx_dim (on, q, 2));

      rows = lpt_onnx_emit (on, LPT_OP_ADD, 2, rows,
                            lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, offset, lpt_onnx_i64 (on, 3, axes)));
    }
  return lpt_onnx_mask_bias (on, lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, rows, columns), q, -INFINITY);
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

  return lpt_onnx_mask_bias (on,
                             lpt_onnx_emit (on, LPT_OP_LESS, 2, lpt_onnx_count_to (on, lpt_onnx_dim (on, k, 2)), ends),
                             q, -INFINITY);
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
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3,
                        lpt_onnx_emit (on, LPT_OP_EQUAL, 2, highest, lpt_onnx_like (on, highest, -INFINITY)),
                        lpt_onnx_like (on, y, 0), y);
}

/* Q bears a scale that makes it smaller alone: K may be a long cache. */
static LptValue *
scaled_product (LptOnnxNode *on,
                LptValue    *q,
                LptValue    *k,
                double       scale)
{
  const double share = scale > 1 ? sqrt (scale) : scale;

  q = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, q, lpt_onnx_like (on, q, share));
  if (scale > 1)
    k = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, k, lpt_onnx_like (on, k, share));
  return lpt_onnx_product (on, q, k, TRUE);
}

void
lpt_onnx_map_attention (LptOnnxNode *on)
{
  gboolean flat = lpt_onnx_rank (on, lpt_onnx_in (on, 0)) == 3;
  gint64 q_heads = lpt_onnx_int (on, "q_num_heads", 0), kv_heads = lpt_onnx_int (on, "kv_num_heads", 0);
  gint64 mode = lpt_onnx_int (on, "qk_matmul_output_mode", 0);
  LptValue *q = lpt_onnx_split_heads (on, lpt_onnx_in (on, 0), q_heads), *k, *v, *y, *stages[4], *bias = NULL;
  LptValue *mask = lpt_onnx_optional (on, 3), *past = lpt_onnx_optional (on, 4), *valid = lpt_onnx_optional (on, 6);
  double softcap = lpt_onnx_float (on, "softcap", 0), scale = lpt_onnx_float (on, "scale", 0);
  gboolean causal = lpt_onnx_int (on, "is_causal", 0) != 0;
  LptDType precision = lpt_onnx_dtype (on, "softmax_precision");
  gint64 times;

  k = lpt_onnx_behind_past (on, past, lpt_onnx_split_heads (on, lpt_onnx_in (on, 1), kv_heads));
  v = lpt_onnx_behind_past (on, lpt_onnx_optional (on, 5), lpt_onnx_split_heads (on, lpt_onnx_in (on, 2), kv_heads));
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
    bias = lpt_onnx_add_bias (on, bias, causal_mask (on, q, k, past, valid));
  if (valid != NULL)
    bias = lpt_onnx_add_bias (on, bias, padding_mask (on, q, k, valid));

  k = lpt_onnx_repeat_heads (on, k, times);
  v = lpt_onnx_repeat_heads (on, v, times);
  stages[0] = scaled_product (on, q, k, scale);
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
  y = lpt_onnx_product (on, stages[3], lpt_onnx_convert (on, v, q->dtype), FALSE);
  if (flat)
    y = lpt_onnx_join_heads (on, y);
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

void
lpt_onnx_map_rotary_embedding (LptOnnxNode *on)
{
  LptValue *input = lpt_onnx_in (on, 0), *x = input;
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), n = lpt_onnx_int (on, "rotary_embedding_dim", 0);
  gboolean interleaved = lpt_onnx_int (on, "interleaved", 0) != 0;
  gint heads_axis = 1;

  if (lpt_onnx_rank (on, input) == 3)
    {
      gint64 dims[4] = { 0, 0, heads, -1 };

      if (heads < 1)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "num_heads is %" G_GINT64_FORMAT, heads);
      x = lpt_onnx_reshape_keep (on, x, 4, dims);
      heads_axis = 2;
    }
  if (n == 0 && x->shape.rank == 4)
    n = x->shape.dims[3];
  if (n == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "shape");
  x = lpt_onnx_rotate (on, x, angles (on, 1, heads_axis, n / 2), angles (on, 2, heads_axis, n / 2), n, interleaved);
  lpt_onnx_set (on, 0, input->shape.rank == 3 ? lpt_onnx_reshape_to (on, x, lpt_onnx_shape_of (on, input)) : x);
}
