/* onnx-map-heads.c - com.microsoft's attention operators, spelled out
 *
 *     Y = softmax (cap (scale Q K^T) + bias) V
 *
 * Attention projects one input to Q, K and V itself (QAttention from 8-bit codes), MultiHeadAttention is given the
 * three, GroupQueryAttention shares K and V heads and keeps them in a cache. A mask adds a large negative number
 * (mask_filter_value), not infinity: a row that is masked as a whole has the softmax of its bare scores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"
#include "frontends/onnx_json/read/onnx-quant.h"

#include <math.h>

#define MAX_HEADS (1 << 20)

/* 1 / sqrt (head size) unless the node says another */
static double
score_scale (LptOnnxNode *on,
             LptValue    *q)
{
  double scale = lpt_onnx_float (on, "scale", 0);

  if (scale != 0 || on->error != NULL)
    return scale;
  if (q->shape.rank != 4 || q->shape.dims[3] < 1)
    {
      lpt_onnx_unsupported (on, "heads of dynamic size");
      return 1;
    }
  return 1 / sqrt ((double) q->shape.dims[3]);
}

LptValue *
lpt_onnx_scores (LptOnnxNode *on,
                 LptValue    *q,
                 LptValue    *k)
{
  double scale = score_scale (on, q);

  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_product (on, q, k, TRUE), lpt_onnx_like (on, q, scale));
}

LptValue *
lpt_onnx_score_softmax (LptOnnxNode *on,
                        LptValue    *x)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, x);

  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = 3;
  return lpt_onnx_done (on, node);
}

/* --- masks ------------------------------------------------------------------------------ */

/* [n] -> [n, 1, 1, 1] */
static LptValue *
per_batch (LptOnnxNode *on,
           LptValue    *x)
{
  gint64 dims[4] = { -1, 1, 1, 1 };

  return lpt_onnx_reshape (on, lpt_onnx_convert (on, x, LPT_DTYPE_I64), 4, dims);
}

/* Ends of the keys [B], or ends and then starts [2 B]: which keys belong to the sequence. */
static LptValue *
keys_between (LptOnnxNode *on,
              LptValue    *mask,
              LptValue    *q,
              LptValue    *k)
{
  gint64 n = mask->shape.dims[0], batch = q->shape.dims[0], none = 0, one = 1;
  LptValue *position = lpt_onnx_count_to (on, lpt_onnx_dim (on, k, 2)), *both[2] = { mask, NULL }, *keep;
  LptValue *length = lpt_onnx_dim (on, q, 0), *axis = lpt_onnx_i64 (on, 1, &none), *step = lpt_onnx_i64 (on, 1, &one);

  if (n != LPT_DYNAMIC && n == batch)
    return lpt_onnx_emit (on, LPT_OP_LESS, 2, position, per_batch (on, mask));
  if (n != LPT_DYNAMIC && batch != LPT_DYNAMIC && n != 2 * batch)
    lpt_onnx_unsupported (on, "mask of %" G_GINT64_FORMAT " numbers for a batch of %" G_GINT64_FORMAT, n, batch);
  /* Where the batch is not known, zeros behind the mask are the starts that it does not have. */
  both[1] = lpt_onnx_broadcast (on, lpt_onnx_like (on, mask, 0), length);
  mask = lpt_onnx_concat (on, 0, 2, both);
  keep = lpt_onnx_emit (on, LPT_OP_SLICE, 5, mask, axis, length, step, axis);
  keep = lpt_onnx_emit (on, LPT_OP_LESS, 2, position, per_batch (on, keep));
  length = lpt_onnx_emit (on, LPT_OP_SLICE, 5, mask, length, lpt_onnx_emit (on, LPT_OP_ADD, 2, length, length), step,
                          axis);
  return lpt_onnx_emit (on, LPT_OP_LOGICAL_AND, 2, keep,
                        lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, position, per_batch (on, length)));
}

/* Input @i, a mask [B] or [2 B] of lengths or [B, T] or [B, S, T] of zeros and ones, as a bias; NULL = none. */
static LptValue *
mask_in (LptOnnxNode *on,
         guint        i,
         LptValue    *q,
         LptValue    *k)
{
  double filter = lpt_onnx_float (on, "mask_filter_value", -10000);
  LptValue *mask = lpt_onnx_optional (on, i), *keep;
  gint rank = mask != NULL ? lpt_onnx_rank (on, mask) : 0;
  gint64 axes[2] = { 1, 2 };

  if (mask == NULL || on->error != NULL)
    return NULL;
  if (rank < 1 || rank > 3)
    {
      lpt_onnx_unsupported (on, "mask of rank %d", rank);
      return NULL;
    }
  if (rank == 1)
    return lpt_onnx_mask_bias (on, keys_between (on, mask, q, k), q, filter);
  keep = lpt_onnx_emit (on, LPT_OP_GREATER, 2, mask, lpt_onnx_like (on, mask, 0));
  keep = lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, keep, lpt_onnx_i64 (on, rank == 2 ? 2 : 1, axes));
  return lpt_onnx_mask_bias (on, keep, q, filter);
}

/* Each query sees the keys that are there before it and itself; the queries are the last of the keys. */
static LptValue *
unidirectional (LptOnnxNode *on,
                LptValue    *bias,
                LptValue    *q,
                LptValue    *k)
{
  LptValue *row, *keep, *lowest;

  if (lpt_onnx_int (on, "unidirectional", 0) == 0)
    return bias;
  row = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_dim (on, k, 2), lpt_onnx_dim (on, q, 2));
  row = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_unsqueeze (on, lpt_onnx_count_to (on, lpt_onnx_dim (on, q, 2)), 1),
                       row);
  keep = lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, row, lpt_onnx_count_to (on, lpt_onnx_dim (on, k, 2)));
  lowest = lpt_onnx_like (on, q, lpt_dtype_min (q->dtype));
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, keep, bias != NULL ? bias : lpt_onnx_like (on, q, 0), lowest);
}

/* --- Attention, QAttention ---------------------------------------------------------------- */

/* Half @i of past [2, B, H, P, D] */
static LptValue *
past_half (LptOnnxNode *on,
           LptValue    *past,
           gint64       i)
{
  if (past == NULL)
    return NULL;
  return lpt_onnx_squeeze (on, lpt_onnx_slice (on, past, 0, i, i + 1), 0);
}

/* From the projected [B, S, Q + K + V] on. */
static void
attend_to_itself (LptOnnxNode *on,
                  LptValue    *projected,
                  guint        mask_at,
                  LptValue    *past,
                  LptValue    *bias)
{
  gint64 heads = lpt_onnx_int (on, "num_heads", 0);
  gint64 total = lpt_onnx_rank (on, projected) == 3 ? projected->shape.dims[2] : LPT_DYNAMIC;
  gint64 ends[4] = { 0, total / 3, total / 3 * 2, total };
  LptValue *parts[3], *k, *v, *both[2], *mask, *y;
  LptInts sizes = { 0 };

  if (lpt_onnx_int (on, "do_rotary", 0) != 0)
    lpt_onnx_unsupported (on, "do_rotary");
  if (lpt_onnx_int (on, "past_present_share_buffer", 0) != 0)
    lpt_onnx_unsupported (on, "past_present_share_buffer");
  lpt_onnx_ignore (on, "rotary_embedding_dim");
  if (total == LPT_DYNAMIC || heads < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "projection to %" G_GINT64_FORMAT " numbers for %" G_GINT64_FORMAT " heads",
                   total, heads);
  if (lpt_onnx_ints (on, "qkv_hidden_sizes", &sizes) && sizes.n == 3)
    {
      ends[1] = CLAMP (sizes.v[0], 0, total);
      ends[2] = ends[1] + CLAMP (sizes.v[1], 0, total);
      if (ends[2] + CLAMP (sizes.v[2], 0, total) != total)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "qkv_hidden_sizes do not add up to %" G_GINT64_FORMAT, total);
    }
  lpt_ints_clear (&sizes);
  if (on->error != NULL)
    return;
  for (guint i = 0; i < 3; i++)
    parts[i] = lpt_onnx_split_heads (on, lpt_onnx_slice (on, projected, 2, ends[i], ends[i + 1]), heads);
  k = lpt_onnx_behind_past (on, past_half (on, past, 0), parts[1]);
  v = lpt_onnx_behind_past (on, past_half (on, past, 1), parts[2]);
  mask = unidirectional (on, mask_in (on, mask_at, parts[0], k), parts[0], k);
  y = lpt_onnx_add_bias (on, lpt_onnx_scores (on, parts[0], k), lpt_onnx_add_bias (on, mask, bias));
  lpt_onnx_set (on, 0, lpt_onnx_join_heads (on, lpt_onnx_product (on, lpt_onnx_score_softmax (on, y), v, FALSE)));
  if (lpt_onnx_wants (on, 1))
    {
      both[0] = lpt_onnx_unsqueeze (on, k, 0);
      both[1] = lpt_onnx_unsqueeze (on, v, 0);
      lpt_onnx_set (on, 1, lpt_onnx_concat (on, 0, 2, both));
    }
}

void
lpt_onnx_map_merged_attention (LptOnnxNode *on)
{
  LptValue *y = lpt_onnx_product (on, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1), FALSE);

  if (lpt_onnx_optional (on, 6) != NULL)
    lpt_onnx_unsupported (on, "past_sequence_length");
  y = lpt_onnx_add_bias (on, y, lpt_onnx_optional (on, 2));
  attend_to_itself (on, y, 3, lpt_onnx_optional (on, 4), lpt_onnx_optional (on, 5));
}

/* Inputs: codes, weights, bias, their two scales, mask, their two zero points, past */
void
lpt_onnx_map_qattention (LptOnnxNode *on)
{
  LptValue *scale = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_in (on, 3), lpt_onnx_in (on, 4));
  LptValue *y = lpt_onnx_convert (on, lpt_onnx_matmul_integer (on, 0, 1, 6, 7), scale->dtype);

  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, scale), lpt_onnx_in (on, 2));
  attend_to_itself (on, y, 5, lpt_onnx_optional (on, 8), NULL);
}

/* --- MultiHeadAttention ---------------------------------------------------------------------- */

/* Part @i of [B, S, H, n, D] as [B, H, S, D] */
static LptValue *
packed_part (LptOnnxNode *on,
             LptValue    *x,
             gint64       i)
{
  static const gint64 order[4] = { 0, 2, 1, 3 };

  return lpt_onnx_transpose (on, lpt_onnx_squeeze (on, lpt_onnx_slice (on, x, 3, i, i + 1), 3), 4, order);
}

LptValue *
lpt_onnx_biased_heads (LptOnnxNode *on,
                       LptValue    *x,
                       LptValue    *bias,
                       gint64      *from)
{
  gint64 dims[4] = { 1, x->shape.rank == 4 ? x->shape.dims[1] : LPT_DYNAMIC, 1,
                     x->shape.rank == 4 ? x->shape.dims[3] : LPT_DYNAMIC };
  LptValue *part;

  if (bias == NULL || on->error != NULL)
    return x;
  if (dims[1] == LPT_DYNAMIC || dims[3] == LPT_DYNAMIC)
    {
      lpt_onnx_unsupported (on, "heads of dynamic size");
      return x;
    }
  part = lpt_onnx_slice (on, bias, 0, *from, *from + dims[1] * dims[3]);
  *from += dims[1] * dims[3];
  return lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_reshape (on, part, 4, dims));
}

void
lpt_onnx_map_multi_head_attention (LptOnnxNode *on)
{
  LptValue *query = lpt_onnx_in (on, 0), *key = lpt_onnx_optional (on, 1), *value = lpt_onnx_optional (on, 2);
  LptValue *bias = lpt_onnx_optional (on, 3), *q, *k, *v, *mask, *y;
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), from = 0;
  gint rank = lpt_onnx_rank (on, query), key_rank = key != NULL ? lpt_onnx_rank (on, key) : 0;

  for (guint i = 8; i < 10; i++)
    if (lpt_onnx_optional (on, i) != NULL)
      lpt_onnx_unsupported (on, "input %u", i);
  if (heads < 1 || (rank != 3 && rank != 5) || (rank == 3 && key == NULL))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "query of rank %d with %" G_GINT64_FORMAT " heads", rank, heads);
  if (on->error != NULL)
    return;
  if (rank == 5)
    {
      q = packed_part (on, query, 0);
      k = packed_part (on, query, 1);
      v = packed_part (on, query, 2);
    }
  else
    {
      q = lpt_onnx_split_heads (on, query, heads);
      k = key_rank == 5 ? packed_part (on, key, 0) : lpt_onnx_split_heads (on, key, heads);
      v = key_rank == 5 ? packed_part (on, key, 1) : lpt_onnx_split_heads (on, lpt_onnx_in (on, 2), heads);
    }
  q = lpt_onnx_biased_heads (on, q, bias, &from);
  /* K and V of four axes are a cache, biased when it was written. */
  if (key_rank != 4 || value == NULL || value->shape.rank != 4)
    {
      k = lpt_onnx_biased_heads (on, k, bias, &from);
      v = lpt_onnx_biased_heads (on, v, bias, &from);
    }
  k = lpt_onnx_behind_past (on, lpt_onnx_optional (on, 6), k);
  v = lpt_onnx_behind_past (on, lpt_onnx_optional (on, 7), v);
  lpt_onnx_set (on, 1, k);
  lpt_onnx_set (on, 2, v);
  mask = unidirectional (on, mask_in (on, 4, q, k), q, k);
  y = lpt_onnx_add_bias (on, lpt_onnx_scores (on, q, k), lpt_onnx_add_bias (on, mask, lpt_onnx_optional (on, 5)));
  if (lpt_onnx_wants (on, 3))
    lpt_onnx_set (on, 3, y);
  lpt_onnx_set (on, 0, lpt_onnx_join_heads (on, lpt_onnx_product (on, lpt_onnx_score_softmax (on, y), v, FALSE)));
}

/* --- RotaryEmbedding ------------------------------------------------------------------------------ */

/* Rows of a table at @positions [B, S], with an axis for the heads */
static LptValue *
angles (LptOnnxNode *on,
        LptValue    *table,
        LptValue    *positions,
        gint64       n,
        gint         heads_axis)
{
  LptValue *x = lpt_onnx_emit (on, LPT_OP_GATHER, 3, table, positions, lpt_onnx_i64_scalar (on, 0));

  if (lpt_onnx_rank (on, x) == 3 && x->shape.dims[2] != n)
    x = lpt_onnx_slice (on, x, 2, 0, n);
  return lpt_onnx_unsqueeze (on, x, heads_axis);
}

/* Inputs: x [B, S, H * D] or [B, H, S, D], positions [1] (where they start) or [B, S], cosines, sines */
void
lpt_onnx_map_rotary_positions (LptOnnxNode *on)
{
  LptValue *input = lpt_onnx_in (on, 0), *positions = lpt_onnx_in (on, 1), *x = input, *table = lpt_onnx_in (on, 2);
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), n = lpt_onnx_int (on, "rotary_embedding_dim", 0);
  gboolean interleaved = lpt_onnx_int (on, "interleaved", 0) != 0, flat = lpt_onnx_rank (on, input) == 3;
  gint64 half = lpt_onnx_rank (on, table) == 2 ? table->shape.dims[1] : LPT_DYNAMIC;
  gint heads_axis = flat ? 2 : 1;

  lpt_onnx_ignore (on, "scale");   /* of another kernel's; this one has none */
  if (lpt_onnx_int (on, "is_packed_batching", 0) != 0)
    lpt_onnx_unsupported (on, "is_packed_batching");
  if (half == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "tables of dynamic shape");
  if (n == 0)
    n = 2 * half;
  if (flat)
    {
      gint64 dims[4] = { 0, 0, heads, -1 };

      if (heads == 0)
        {
          dims[2] = -1;
          dims[3] = n;
        }
      x = lpt_onnx_reshape_keep (on, x, 4, dims);
    }
  if (lpt_onnx_rank (on, positions) <= 1)
    {
      LptValue *steps = lpt_onnx_count_to (on, lpt_onnx_dim (on, x, flat ? 1 : 2));

      positions = lpt_onnx_unsqueeze (on,
                                      lpt_onnx_emit (on, LPT_OP_ADD, 2, steps,
                                                     lpt_onnx_convert (on, positions, LPT_DTYPE_I64)), 0);
    }
  x = lpt_onnx_rotate (on, x, angles (on, table, positions, n / 2, heads_axis),
                       angles (on, lpt_onnx_in (on, 3), positions, n / 2, heads_axis),
                       n, interleaved);
  lpt_onnx_set (on, 0, flat ? lpt_onnx_reshape_to (on, x, lpt_onnx_shape_of (on, input)) : x);
}

/* --- GroupQueryAttention ------------------------------------------------------------------------------ */

typedef struct
{
  LptValue *past;        /* [B] how many keys are there before the first query */
  LptValue *length;      /* [B] how many there are with those of the queries; the rest is padding */
  LptValue *total;       /* [1] positions of the cache */
  LptValue *query_at;    /* [B, S] position of each query */
} Cache;

/* @x [B, H, S, D] written at its positions of the cache [B, H, P, D]; what nobody wrote is 0. */
static LptValue *
write_cache (LptOnnxNode  *on,
             const Cache  *cache,
             LptValue     *before,
             LptValue     *x)
{
  const gint64 one = 1;
  LptValue *all[3] = { before, x, NULL }, *held, *at, *begin, *length, *source, *shape[3];
  LptNode *node;

  if (before == NULL)
    return x;
  held = lpt_onnx_dim (on, before, 2);
  length = lpt_onnx_dim (on, x, 2);
  at = lpt_onnx_count_to (on, lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, cache->total, held));
  begin = lpt_onnx_unsqueeze (on, cache->past, 1);
  /* Position p holds key p of the past, or key p - past of x, which lies at p - past + held of all; behind is a 0. */
  source = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, at, begin), held);
  source = lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_emit (on, LPT_OP_LESS, 2, at, begin), at, source);
  source = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, source, lpt_onnx_i64_scalar (on, 0));
  source = lpt_onnx_emit (on, LPT_OP_MINIMUM, 2, source, lpt_onnx_emit (on, LPT_OP_ADD, 2, held, length));
  shape[0] = lpt_onnx_slice (on, lpt_onnx_shape_of (on, x), 0, 0, 2);
  shape[1] = lpt_onnx_i64 (on, 1, &one);
  shape[2] = lpt_onnx_dim (on, x, 3);
  all[2] = lpt_onnx_broadcast (on, lpt_onnx_like (on, x, 0), lpt_onnx_concat (on, 0, 3, shape));
  node = lpt_onnx_add (on, LPT_OP_GATHER, 3, lpt_onnx_concat (on, 2, 3, all), source, lpt_onnx_i64_scalar (on, 2));
  LPT_ATTRS (node, LptGatherAttrs)->batch_dims = 1;
  return lpt_onnx_done (on, node);
}

/* seqlens_k [B] counts the keys of each sequence less one; a prompt is as long as everything there is. */
static Cache
open_cache (LptOnnxNode *on,
            LptValue    *q)
{
  gint64 flat = -1;
  LptValue *length = lpt_onnx_dim (on, q, 2), *prompt;
  Cache cache = { 0 };

  cache.total = lpt_onnx_reshape (on, lpt_onnx_convert (on, lpt_onnx_in (on, 6), LPT_DTYPE_I64), 1, &flat);
  cache.length = lpt_onnx_reshape (on, lpt_onnx_convert (on, lpt_onnx_in (on, 5), LPT_DTYPE_I64), 1, &flat);
  cache.length = lpt_onnx_emit (on, LPT_OP_ADD, 2, cache.length, lpt_onnx_i64_scalar (on, 1));
  cache.past = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, cache.length, length);
  prompt = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, cache.total, length);
  cache.past = lpt_onnx_emit (on, LPT_OP_SELECT, 3, prompt, lpt_onnx_i64_scalar (on, 0), cache.past);
  cache.query_at = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_unsqueeze (on, cache.past, 1),
                                  lpt_onnx_count_to (on, length));
  return cache;
}

static LptValue *
turned (LptOnnxNode *on,
        const Cache *cache,
        LptValue    *x,
        gboolean     interleaved)
{
  LptValue *table = lpt_onnx_in (on, 7), *positions = lpt_onnx_optional (on, 9), *zero = lpt_onnx_i64_scalar (on, 0);
  gint64 half = lpt_onnx_rank (on, table) == 2 ? table->shape.dims[1] : LPT_DYNAMIC;

  if (half == LPT_DYNAMIC)
    {
      lpt_onnx_unsupported (on, "tables of dynamic shape");
      return x;
    }
  if (positions == NULL)
    positions = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, cache->query_at, zero);
  return lpt_onnx_rotate (on, x, angles (on, table, positions, half, 1),
                          angles (on, lpt_onnx_in (on, 8), positions, half, 1),
                          2 * half, interleaved);
}

/* Softmax with one more number in the denominator: e^sink, which no value belongs to */
static LptValue *
softmax_with_sink (LptOnnxNode *on,
                   LptValue    *x,
                   LptValue    *sink)
{
  gint64 dims[4] = { 1, -1, 1, 1 };
  LptValue *shape[2], *both[2] = { x, NULL };
  gint64 one = 1;

  sink = sink != NULL ? lpt_onnx_reshape (on, sink, 4, dims) : lpt_onnx_like (on, x, 0);
  shape[0] = lpt_onnx_slice (on, lpt_onnx_shape_of (on, x), 0, 0, 3);
  shape[1] = lpt_onnx_i64 (on, 1, &one);
  both[1] = lpt_onnx_broadcast (on, lpt_onnx_convert (on, sink, x->dtype), lpt_onnx_concat (on, 0, 2, shape));
  x = lpt_onnx_score_softmax (on, lpt_onnx_concat (on, 3, 2, both));
  return lpt_onnx_slice (on, x, 3, 0, -1);
}

static void
refuse_quantized_cache (LptOnnxNode *on)
{
  static const char *const names[] = { "k_quant_type", "v_quant_type" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const char *type = lpt_onnx_string (on, names[i], "NONE");

      if (g_strcmp0 (type, "NONE") != 0)
        lpt_onnx_unsupported (on, "%s \"%s\"", names[i], type);
    }
  lpt_onnx_ignore (on, "kv_cache_bit_width");
  if (lpt_onnx_int (on, "qk_output", 0) != 0)
    lpt_onnx_unsupported (on, "qk_output");
}

/* Heads [B, H, S, D] over their root mean square, times input @i */
static LptValue *
normalized_heads (LptOnnxNode *on,
                  LptValue    *x,
                  guint        i)
{
  gint64 axis = 3;
  LptValue *weight = lpt_onnx_optional (on, i), *wide = lpt_onnx_convert (on, x, LPT_DTYPE_F32), *square;
  double epsilon = lpt_onnx_float (on, "qk_norm_epsilon", 1e-6f);

  if (weight == NULL)
    return x;
  square = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, wide, wide),
                            lpt_onnx_i64 (on, 1, &axis), TRUE);
  wide = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, wide, lpt_onnx_inverse_root (on, square, epsilon));
  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_convert (on, wide, x->dtype),
                        lpt_onnx_convert (on, weight, x->dtype));
}

void
lpt_onnx_map_group_query_attention (LptOnnxNode *on)
{
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), kv_heads = lpt_onnx_int (on, "kv_num_heads", 0);
  gint64 window = lpt_onnx_int (on, "local_window_size", -1);
  double softcap = lpt_onnx_float (on, "softcap", 0);
  gboolean rotary = lpt_onnx_int (on, "do_rotary", 0) != 0;
  gboolean interleaved = lpt_onnx_int (on, "rotary_interleaved", 0) != 0;
  gboolean smooth = lpt_onnx_int (on, "smooth_softmax", 0) > 0;
  LptValue *query = lpt_onnx_in (on, 0), *q, *k, *v, *y, *row, *column, *keep, *sink = lpt_onnx_optional (on, 11);
  Cache cache;

  refuse_quantized_cache (on);
  if (lpt_onnx_rank (on, query) != 3 || heads < 1 || kv_heads < 1 || heads > MAX_HEADS
      || heads % kv_heads != 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " heads of Q and %" G_GINT64_FORMAT " of K and V", heads,
                   kv_heads);
  if (on->error != NULL)
    return;
  if (lpt_onnx_optional (on, 1) == NULL)
    {
      gint64 size = query->shape.dims[2] / (heads + 2 * kv_heads);

      if (query->shape.dims[2] == LPT_DYNAMIC || size < 1)
        lpt_onnx_unsupported (on, "packed heads of dynamic size");
      k = lpt_onnx_slice (on, query, 2, heads * size, (heads + kv_heads) * size);
      v = lpt_onnx_slice (on, query, 2, (heads + kv_heads) * size, (heads + 2 * kv_heads) * size);
      q = lpt_onnx_slice (on, query, 2, 0, heads * size);
    }
  else
    {
      q = query;
      k = lpt_onnx_in (on, 1);
      v = lpt_onnx_in (on, 2);
    }
  q = normalized_heads (on, lpt_onnx_split_heads (on, q, heads), 14);
  k = normalized_heads (on, lpt_onnx_split_heads (on, k, kv_heads), 15);
  v = lpt_onnx_split_heads (on, v, kv_heads);
  cache = open_cache (on, q);
  if (rotary)
    {
      q = turned (on, &cache, q, interleaved);
      k = turned (on, &cache, k, interleaved);
    }
  if (on->error != NULL)
    return;
  k = write_cache (on, &cache, lpt_onnx_optional (on, 3), k);
  v = write_cache (on, &cache, lpt_onnx_optional (on, 4), v);
  lpt_onnx_set (on, 1, k);
  lpt_onnx_set (on, 2, v);
  if (on->error != NULL)
    return;

  /* [B, 1, S, 1] against [T] */
  row = lpt_onnx_unsqueeze (on, lpt_onnx_unsqueeze (on, cache.query_at, 1), 3);
  column = lpt_onnx_count_to (on, lpt_onnx_dim (on, k, 2));
  keep = lpt_onnx_emit (on, LPT_OP_LOGICAL_AND, 2, lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, row, column),
                        lpt_onnx_emit (on, LPT_OP_LESS, 2, column, per_batch (on, cache.length)));
  if (window > 0)
    {
      LptValue *first = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, row, lpt_onnx_i64_scalar (on, MIN (window, G_MAXINT32)));

      keep = lpt_onnx_emit (on, LPT_OP_LOGICAL_AND, 2, keep, lpt_onnx_emit (on, LPT_OP_GREATER, 2, column, first));
    }
  y = lpt_onnx_scores (on, q, lpt_onnx_repeat_heads (on, k, heads / kv_heads));
  if (softcap != 0)
    {
      y = lpt_onnx_emit (on, LPT_OP_TANH, 1, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, y, lpt_onnx_like (on, y, softcap)));
      y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, softcap));
    }
  y = lpt_onnx_add_bias (on, y, lpt_onnx_optional (on, 10));
  y = lpt_onnx_add_bias (on, y, lpt_onnx_mask_bias (on, keep, q, -INFINITY));
  y = sink != NULL || smooth ? softmax_with_sink (on, y, sink) : lpt_onnx_score_softmax (on, y);
  y = lpt_onnx_product (on, y, lpt_onnx_repeat_heads (on, v, heads / kv_heads), FALSE);
  lpt_onnx_set (on, 0, lpt_onnx_join_heads (on, y));
}
