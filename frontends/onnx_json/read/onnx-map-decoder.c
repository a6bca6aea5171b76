/* onnx-map-decoder.c - com.microsoft's attention of decoders with beams, and biases by position
 *
 * DecoderMaskedMultiHeadAttention has one query and a cache [B, H, M, D] of which P positions are filled. The key and
 * the value are written at P; then
 *
 *     Y = softmax (scale Q K^T + mask + bias) V      over the positions 0 to P
 *
 * Those behind P get -infinity, so that the length of the cache, not that of the data, is the shape of all. With W
 * beams position t < P of row b is that of row b / W * W + cache_indirection [b / W, b % W, t]. Without a cache K and V
 * are given as heads (cross attention).
 *
 * RelativePositionBias: the row of a table for each distance of key and query, exact near 0, by logarithms behind;
 * with is_bidirectional keys ahead have rows of their own. GatedRelativePositionBias: such a bias p, gated for each
 * query and head by its vector:
 *
 *     u, r = sigmoid (sums of the halves of (Q + b) W + c)        Y = (u (r a - 1) + 2) p
 *
 * Refused: packed Q, K and V, a past that does not share the buffer of the cache, qk of a cache,
 * tokens without padding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"

#include <math.h>

/* The only number of input @i, [1] */
static LptValue *
number (LptOnnxNode *on,
        guint        i)
{
  gint64 one = 1;

  return lpt_onnx_reshape (on, lpt_onnx_convert (on, lpt_onnx_in (on, i), LPT_DTYPE_I64), 1, &one);
}

/* --- DecoderMaskedMultiHeadAttention --------------------------------------------------------------- */

/* The last axis of @x filled up with zeros to @length [1] */
static LptValue *
fill_up (LptOnnxNode *on,
         LptValue    *x,
         LptValue    *length)
{
  gint rank = lpt_onnx_rank (on, x);
  gint64 none[LPT_MAX_RANK] = { 0 };
  LptValue *parts[2], *zeros = lpt_onnx_i64 (on, (guint) MAX (rank, 0), none);
  LptNode *node;

  if (rank < 1)
    lpt_onnx_unsupported (on, "mask or bias of rank %d", rank);
  if (on->error != NULL)
    return x;
  parts[0] = lpt_onnx_i64 (on, (guint) rank - 1, none);
  parts[1] = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, length, lpt_onnx_dim (on, x, rank - 1));
  node = lpt_onnx_add (on, LPT_OP_PAD, 4, x, zeros, lpt_onnx_concat (on, 0, 2, parts), lpt_onnx_like (on, x, 0));
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
  return lpt_onnx_done (on, node);
}

/* Inputs 3 and 4 as one bias of keys whose number is @length (NULL: theirs); NULL: none */
static LptValue *
mask_and_bias (LptOnnxNode *on,
               LptValue    *like,
               LptValue    *length)
{
  const double filter = lpt_onnx_float (on, "mask_filter_value", -10000);
  LptValue *mask = lpt_onnx_optional (on, 3), *bias = lpt_onnx_optional (on, 4);
  gint64 axes[2] = { 1, 2 };

  if (mask != NULL && lpt_onnx_rank (on, mask) != 2)
    lpt_onnx_unsupported (on, "mask of rank %d", lpt_onnx_rank (on, mask));
  if (length != NULL)
    {
      mask = mask != NULL ? fill_up (on, mask, length) : NULL;
      bias = bias != NULL ? fill_up (on, bias, length) : NULL;
    }
  if (mask != NULL)
    {
      mask = lpt_onnx_emit (on, LPT_OP_GREATER, 2, mask, lpt_onnx_like (on, mask, 0));
      mask = lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, mask, lpt_onnx_i64 (on, 2, axes));
      mask = lpt_onnx_mask_bias (on, mask, like, filter);
    }
  return lpt_onnx_add_bias (on, mask, bias);
}

/* Rows of the cache that position t of each row is in: [B, M] */
static LptValue *
rows_of_beams (LptOnnxNode *on,
               LptValue    *beams,
               LptValue    *cache,
               LptValue    *filled)
{
  LptValue *own = lpt_onnx_unsqueeze (on, lpt_onnx_count_to (on, lpt_onnx_dim (on, cache, 0)), 1);
  LptValue *width = lpt_onnx_dim (on, beams, 1), *first, *shape[2];

  first = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, own, lpt_onnx_emit (on, LPT_OP_FLOOR_MOD, 2, own, width));
  shape[0] = lpt_onnx_dim (on, cache, 0);
  shape[1] = lpt_onnx_dim (on, cache, 2);
  beams = lpt_onnx_reshape_to (on, lpt_onnx_convert (on, beams, LPT_DTYPE_I64), lpt_onnx_concat (on, 0, 2, shape));
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, filled, lpt_onnx_emit (on, LPT_OP_ADD, 2, first, beams), own);
}

/* Where each position [M] of a cache lies in it with one more at its end, which is written at @past [1] */
static LptValue *
with_last_at (LptOnnxNode *on,
              LptValue    *at,
              LptValue    *length,
              LptValue    *past)
{
  LptValue *place = lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_emit (on, LPT_OP_EQUAL, 2, at, past), length, at);

  /* It is known to be inside. */
  place = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, place, lpt_onnx_i64_scalar (on, 0));
  return lpt_onnx_emit (on, LPT_OP_MINIMUM, 2, place, length);
}

/* The cache [B, H, M, D] of input @i with @x [B, H, 1, D] in it, @places of it and @x behind it */
static LptValue *
write_at (LptOnnxNode *on,
          guint        i,
          LptValue    *places,
          LptValue    *x)
{
  LptValue *all[2] = { lpt_onnx_in (on, i), x };

  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_concat (on, 2, 2, all), places, lpt_onnx_i64_scalar (on, 2));
}

/* The cache as beams see it: @rows [B, M] */
static LptValue *
of_beams (LptOnnxNode *on,
          LptValue    *cache,
          LptValue    *rows)
{
  gint64 axes[2] = { 1, 3 };
  LptNode *node;

  if (rows == NULL)
    return cache;
  rows = lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, rows, lpt_onnx_i64 (on, 2, axes));
  node = lpt_onnx_add (on, LPT_OP_GATHER_ELEMENTS, 2, cache,
                       lpt_onnx_broadcast (on, rows, lpt_onnx_shape_of (on, cache)));
  LPT_ATTRS (node, LptAxisAttrs)->axis = 0;
  return lpt_onnx_done (on, node);
}

static void
attend_to_cache (LptOnnxNode *on,
                 LptValue    *q,
                 LptValue    *k,
                 LptValue    *v)
{
  LptValue *length = lpt_onnx_dim (on, lpt_onnx_in (on, 5), 2), *at = lpt_onnx_count_to (on, length), *y, *rows = NULL;
  LptValue *past = number (on, 7), *places, *filled, *behind, *beams = lpt_onnx_optional (on, 9);

  places = with_last_at (on, at, length, past);
  filled = lpt_onnx_emit (on, LPT_OP_LESS, 2, at, past);
  k = write_at (on, 5, places, k);
  v = write_at (on, 6, places, v);
  lpt_onnx_set (on, 1, k);
  lpt_onnx_set (on, 2, v);
  if (lpt_onnx_wants (on, 3))
    lpt_onnx_unsupported (on, "output 3 beside a cache");
  lpt_onnx_ignore_in (on, 8);   /* the number of beams: the shape of the indirection has it */
  if (beams != NULL)
    rows = rows_of_beams (on, beams, k, filled);
  if (on->error != NULL)
    return;
  behind = lpt_onnx_mask_bias (on, lpt_onnx_emit (on, LPT_OP_LESS_EQUAL, 2, at, past), q, -INFINITY);
  y = lpt_onnx_scores (on, q, of_beams (on, k, rows));
  y = lpt_onnx_add_bias (on, y, lpt_onnx_add_bias (on, mask_and_bias (on, q, length), behind));
  y = lpt_onnx_product (on, lpt_onnx_score_softmax (on, y), of_beams (on, v, rows), FALSE);
  lpt_onnx_set (on, 0, lpt_onnx_join_heads (on, y));
}

/* Inputs: Q, K, V, mask, bias of the scores, cache of K, of V, filled positions, beams, indirection, bias of heads */
void
lpt_onnx_map_decoder_attention (LptOnnxNode *on)
{
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), from = 0;
  const gboolean shared = lpt_onnx_int (on, "past_present_share_buffer", 0) != 0;
  LptValue *bias = lpt_onnx_optional (on, 10), *q, *k, *v, *y;

  lpt_onnx_ignore (on, "output_qk");   /* output 3 says it */
  if (lpt_onnx_optional (on, 1) == NULL || lpt_onnx_optional (on, 2) == NULL)
    lpt_onnx_unsupported (on, "packed query, key and value");
  q = lpt_onnx_biased_heads (on, lpt_onnx_split_heads (on, lpt_onnx_in (on, 0), heads), bias, &from);
  k = lpt_onnx_split_heads (on, lpt_onnx_in (on, 1), heads);
  v = lpt_onnx_split_heads (on, lpt_onnx_in (on, 2), heads);
  if (on->error == NULL && lpt_onnx_optional (on, 5) != NULL)
    {
      if (!shared || lpt_onnx_rank (on, lpt_onnx_in (on, 5)) != 4)
        lpt_onnx_unsupported (on, "past without past_present_share_buffer");
      k = lpt_onnx_biased_heads (on, k, bias, &from);
      v = lpt_onnx_biased_heads (on, v, bias, &from);
      if (on->error == NULL)
        attend_to_cache (on, q, k, v);
      return;
    }
  if (on->error != NULL)
    return;
  for (guint i = 7; i < 10; i++)
    lpt_onnx_ignore_in (on, i);   /* positions and beams of a cache */
  y = lpt_onnx_scores (on, q, k);
  y = lpt_onnx_add_bias (on, y, mask_and_bias (on, q, NULL));
  if (lpt_onnx_wants (on, 3))
    lpt_onnx_set (on, 3, y);
  y = lpt_onnx_product (on, lpt_onnx_score_softmax (on, y), v, FALSE);
  lpt_onnx_set (on, 0, lpt_onnx_join_heads (on, y));
}

/* --- RelativePositionBias ------------------------------------------------------------------------------ */

/* The bucket of distances @d >= 0 among @n: their own below n / 2, else by logarithms up to @most */
static LptValue *
buckets (LptOnnxNode *on,
         LptValue    *d,
         gint64       n,
         gint64       most)
{
  const gint64 exact = n / 2;
  LptValue *x = lpt_onnx_convert (on, d, LPT_DTYPE_F32), *large;

  x = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, x, lpt_onnx_scalar (on, LPT_DTYPE_F32, (double) exact));
  x = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, x, lpt_onnx_scalar (on, LPT_DTYPE_F32, 1));
  x = lpt_onnx_emit (on, LPT_OP_LOG, 1, x);
  x = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, x,
                     lpt_onnx_scalar (on, LPT_DTYPE_F32, logf ((float) most / (float) exact)));
  x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_scalar (on, LPT_DTYPE_F32, (double) (n - exact)));
  large = lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_FLOOR, 1, x), LPT_DTYPE_I64);
  large = lpt_onnx_emit (on, LPT_OP_ADD, 2, large, lpt_onnx_i64_scalar (on, exact));
  large = lpt_onnx_emit (on, LPT_OP_MINIMUM, 2, large, lpt_onnx_i64_scalar (on, n - 1));
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_emit (on, LPT_OP_LESS, 2, d, lpt_onnx_i64_scalar (on, exact)),
                        d, large);
}

/* Inputs: table [buckets, H], lengths of queries and of keys; [1, H, queries, keys] */
void
lpt_onnx_map_relative_position_bias (LptOnnxNode *on)
{
  static const gint64 order[3] = { 2, 0, 1 };
  const gint64 most = lpt_onnx_int (on, "max_distance", 0);
  const gboolean both = lpt_onnx_int (on, "is_bidirectional", 0) != 0;
  LptValue *table = lpt_onnx_in (on, 0), *row, *column, *d, *zero, *y;
  gint64 n = lpt_onnx_rank (on, table) == 2 ? table->shape.dims[0] : LPT_DYNAMIC;

  if (n == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "table of dynamic shape");
  n = both ? n / 2 : n;
  if (n < 2 || most <= n / 2 || most > G_MAXINT32)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "max_distance %" G_GINT64_FORMAT " for %" G_GINT64_FORMAT " buckets", most,
                   n);
  if (on->error != NULL)
    return;
  row = lpt_onnx_unsqueeze (on, lpt_onnx_count_to (on, number (on, 1)), 1);
  column = lpt_onnx_count_to (on, number (on, 2));
  d = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, column, row);
  zero = lpt_onnx_i64_scalar (on, 0);
  y = buckets (on, lpt_onnx_emit (on, LPT_OP_ABS, 1, d), n, most);
  if (both)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y,
                       lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_emit (on, LPT_OP_GREATER, 2, d, zero),
                                      lpt_onnx_i64_scalar (on, n), zero));
  y = lpt_onnx_emit (on, LPT_OP_GATHER, 3, table, y, zero);
  lpt_onnx_set (on, 0, lpt_onnx_unsqueeze (on, lpt_onnx_transpose (on, y, 3, order), 0));
}

/* Inputs: Q [B, S, H * D], b [H * D], p [1, H, S, S], W [D, n], c [n], a [1, H, 1, 1] */
void
lpt_onnx_map_gated_position_bias (LptOnnxNode *on)
{
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), from = 0, axis = 4;
  LptValue *weights = lpt_onnx_in (on, 3), *a = lpt_onnx_in (on, 5), *y, *u, *r;
  gint64 n = lpt_onnx_rank (on, weights) == 2 ? weights->shape.dims[1] : LPT_DYNAMIC, dims[5] = { 0, 0, 0, 2, n / 2 };

  if (lpt_onnx_optional (on, 6) != NULL)
    lpt_onnx_unsupported (on, "token_offset");
  if (n < 2 || n % 2 != 0)
    lpt_onnx_unsupported (on, "weights whose columns have no halves");
  if (on->error != NULL)
    return;
  y = lpt_onnx_biased_heads (on, lpt_onnx_split_heads (on, lpt_onnx_in (on, 0), heads), lpt_onnx_in (on, 1), &from);
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_product (on, y, weights, FALSE), lpt_onnx_in (on, 4));
  y = lpt_onnx_reshape_keep (on, y, 5, dims);
  y = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, y, lpt_onnx_i64 (on, 1, &axis), FALSE);
  y = lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, y);
  u = lpt_onnx_slice (on, y, 3, 0, 1);
  r = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_slice (on, y, 3, 1, 2), a);
  r = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, r, lpt_onnx_like (on, r, 1));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, u, r);
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_like (on, y, 2));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_in (on, 2)));
}
