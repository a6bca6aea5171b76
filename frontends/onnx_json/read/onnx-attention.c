/* onnx-attention.c - steps that the attention operators of ONNX and com.microsoft share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"

static const gint64 swap_heads[4] = { 0, 2, 1, 3 };

LptValue *
lpt_onnx_split_heads (LptOnnxNode *on,
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
  return lpt_onnx_transpose (on, lpt_onnx_reshape_keep (on, x, 4, dims), 4, swap_heads);
}

LptValue *
lpt_onnx_join_heads (LptOnnxNode *on,
                     LptValue    *x)
{
  gint64 dims[3] = { 0, 0, -1 };

  return lpt_onnx_reshape_keep (on, lpt_onnx_transpose (on, x, 4, swap_heads), 3, dims);
}

LptValue *
lpt_onnx_repeat_heads (LptOnnxNode *on,
                       LptValue    *x,
                       gint64       times)
{
  gint64 wide[5] = { 1, 1, times, 1, 1 }, dims[4] = { 0, x->shape.dims[1] * times, -1, x->shape.dims[3] };

  if (times == 1)
    return x;
  if (dims[3] == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "grouped heads of dynamic size");
  x = lpt_onnx_broadcast (on, lpt_onnx_unsqueeze (on, x, 2), lpt_onnx_i64 (on, 5, wide));
  return lpt_onnx_reshape_keep (on, x, 4, dims);
}

LptValue *
lpt_onnx_add_bias (LptOnnxNode *on,
                   LptValue    *bias,
                   LptValue    *more)
{
  if (bias == NULL || more == NULL)
    return bias != NULL ? bias : more;
  return lpt_onnx_emit (on, LPT_OP_ADD, 2, bias, more);
}

LptValue *
lpt_onnx_mask_bias (LptOnnxNode *on,
                    LptValue    *keep,
                    LptValue    *like,
                    double       masked)
{
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, keep, lpt_onnx_like (on, like, 0), lpt_onnx_like (on, like, masked));
}

LptValue *
lpt_onnx_count_to (LptOnnxNode *on,
                   LptValue    *length)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_RANGE, 3, lpt_onnx_i64_scalar (on, 0), lpt_onnx_squeeze (on, length, 0),
                                lpt_onnx_i64_scalar (on, 1));

  LPT_ATTRS (node, LptRangeAttrs)->output_type = LPT_DTYPE_I64;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_behind_past (LptOnnxNode *on,
                      LptValue    *past,
                      LptValue    *x)
{
  LptValue *both[2] = { past, x };

  return past != NULL ? lpt_onnx_concat (on, 2, 2, both) : x;
}

/* --- rotary embedding ------------------------------------------------------------------ */

/* Every second element of the last axis from @first on */
static LptValue *
every_second (LptOnnxNode *on,
              LptValue    *x,
              gint64       first,
              gint64       stop)
{
  gint64 step = 2, axis = 3;

  return lpt_onnx_emit (on, LPT_OP_SLICE, 5, x, lpt_onnx_i64 (on, 1, &first), lpt_onnx_i64 (on, 1, &stop),
                        lpt_onnx_i64 (on, 1, &step), lpt_onnx_i64 (on, 1, &axis));
}

LptValue *
lpt_onnx_rotate (LptOnnxNode *on,
                 LptValue    *x,
                 LptValue    *cosine,
                 LptValue    *sine,
                 gint64       n,
                 gboolean     interleaved)
{
  LptValue *a, *b, *parts[2], *rest = NULL;
  gint64 size = x->shape.rank == 4 ? x->shape.dims[3] : LPT_DYNAMIC;

  if (size == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "shape");
  else if (n < 0 || n > size || n % 2 != 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "rotary_embedding_dim is %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, n, size);
  if (on->error != NULL)
    return x;
  if (n < size)
    {
      rest = lpt_onnx_slice (on, x, 3, n, size);
      x = lpt_onnx_slice (on, x, 3, 0, n);
    }
  a = interleaved ? every_second (on, x, 0, n) : lpt_onnx_slice (on, x, 3, 0, n / 2);
  b = interleaved ? every_second (on, x, 1, n) : lpt_onnx_slice (on, x, 3, n / 2, n);
  parts[0] = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, cosine, a),
                            lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, sine, b));
  parts[1] = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, sine, a),
                            lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, cosine, b));
  if (interleaved)
    for (guint i = 0; i < 2; i++)
      parts[i] = lpt_onnx_unsqueeze (on, parts[i], 4);
  a = lpt_onnx_concat (on, interleaved ? 4 : 3, 2, parts);
  if (interleaved)
    a = lpt_onnx_reshape_to (on, a, lpt_onnx_shape_of (on, x));
  parts[0] = a;
  parts[1] = rest;
  return rest != NULL ? lpt_onnx_concat (on, 3, 2, parts) : a;
}
