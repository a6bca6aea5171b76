/* onnx-map-skip-norm.c - com.microsoft's normalisations: of a sum, of embeddings, of groups
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"

#include <string.h>

/* Sums and statistics are f32 where the numbers are shorter. */
static LptValue *
widened (LptOnnxNode *on,
         LptValue    *x)
{
  return lpt_dtype_bits (x->dtype) < 32 ? lpt_onnx_convert (on, x, LPT_DTYPE_F32) : x;
}

/* (x - mean) / sqrt (variance + eps) over the last axis, times gamma, plus beta */
static LptValue *
layer_norm (LptOnnxNode *on,
            LptValue    *x,
            LptValue    *gamma,
            LptValue    *beta,
            double       epsilon)
{
  gint64 last = MAX (lpt_onnx_rank (on, x) - 1, 0);
  LptNode *node = lpt_onnx_add (on, LPT_OP_MVN, 2, x, lpt_onnx_i64 (on, 1, &last));
  LptMvnAttrs *attrs = LPT_ATTRS (node, LptMvnAttrs);

  attrs->eps = epsilon;
  attrs->normalize_variance = TRUE;
  attrs->eps_mode = LPT_EPS_INSIDE_SQRT;
  x = lpt_onnx_done (on, node);
  x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_convert (on, gamma, x->dtype));
  return beta != NULL ? lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_convert (on, beta, x->dtype)) : x;
}

static LptValue *
mean_of_squares (LptOnnxNode *on,
                 LptValue    *x)
{
  gint64 last = -1;

  return lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, x),
                          lpt_onnx_i64 (on, 1, &last), TRUE);
}

/* Inputs: x, skip, gamma, beta, bias; argument 1 (no mean is taken): x, skip, gamma, bias. Output 3 is the sum. */
void
lpt_onnx_map_skip_layer_norm (LptOnnxNode *on)
{
  gboolean simplified = on->argument != 0;
  double epsilon = lpt_onnx_float (on, "epsilon", 1e-12f);
  LptValue *x = lpt_onnx_in (on, 0), *gamma = lpt_onnx_in (on, 2);
  LptValue *beta = simplified ? NULL : lpt_onnx_optional (on, 3);
  LptValue *bias = lpt_onnx_optional (on, simplified ? 3 : 4), *sum, *y, *root = NULL;
  LptDType dtype = x->dtype;
  gint64 last = -1;

  sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, widened (on, x), widened (on, lpt_onnx_in (on, 1)));
  if (bias != NULL)
    sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, widened (on, bias));
  if (simplified)
    {
      root = lpt_onnx_inverse_root (on, mean_of_squares (on, sum), epsilon);
      y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, sum, root);
      y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_convert (on, gamma, sum->dtype));
    }
  else
    y = layer_norm (on, sum, gamma, beta, epsilon);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, dtype));
  if (lpt_onnx_wants (on, 3))
    lpt_onnx_set (on, 3, lpt_onnx_convert (on, sum, dtype));
  if (!lpt_onnx_wants (on, 1) && !lpt_onnx_wants (on, 2))
    return;
  if (!simplified)
    {
      LptValue *mean = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, sum, lpt_onnx_i64 (on, 1, &last), TRUE);

      root = lpt_onnx_inverse_root (on, mean_of_squares (on, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, sum, mean)),
                                    epsilon);
      lpt_onnx_set (on, 1, mean);
    }
  lpt_onnx_set (on, 2, root);
}

/* --- embeddings ------------------------------------------------------------------------------ */

static LptValue *
dequantized (LptOnnxNode *on,
             LptValue    *x,
             LptValue    *scale,
             LptValue    *zero)
{
  x = lpt_onnx_convert (on, x, LPT_DTYPE_F32);
  if (zero != NULL)
    x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, lpt_onnx_convert (on, zero, LPT_DTYPE_F32));
  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, scale);
}

/* Row @ids of a table; with @scale, (codes - zero point) * scale of its rows */
static LptValue *
rows (LptOnnxNode *on,
      LptValue    *table,
      LptValue    *ids,
      LptValue    *scale,
      LptValue    *zero)
{
  LptValue *x = lpt_onnx_emit (on, LPT_OP_GATHER, 3, table, ids, lpt_onnx_i64_scalar (on, 0));

  return scale != NULL ? dequantized (on, x, scale, zero) : widened (on, x);
}

/* A vector of 8-bit codes, or the numbers themselves */
static LptValue *
vector (LptOnnxNode *on,
        LptValue    *x,
        LptValue    *scale,
        LptValue    *zero)
{
  return scale != NULL ? dequantized (on, x, scale, zero) : x;
}

/* How many ones each row of the mask has; zeros without a mask */
static LptValue *
mask_index (LptOnnxNode *on,
            LptValue    *mask,
            LptValue    *ids)
{
  gint64 one = 1;

  if (mask == NULL)
    return lpt_onnx_broadcast (on, lpt_onnx_scalar (on, LPT_DTYPE_I32, 0), lpt_onnx_dim (on, ids, 0));
  mask = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, mask, lpt_onnx_like (on, mask, 1));
  return lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, lpt_onnx_convert (on, mask, LPT_DTYPE_I32),
                          lpt_onnx_i64 (on, 1, &one), FALSE);
}

/* Inputs: ids, segments, three tables (words, positions, segments), gamma, beta, mask; then positions, or with
 * argument 1 (everything 8 bit) five scales and five zero points in the order of the tables, gamma, beta. */
void
lpt_onnx_map_embed_layer_norm (LptOnnxNode *on)
{
  gboolean quantized = on->argument != 0;
  LptValue *ids = lpt_onnx_in (on, 0), *segments = lpt_onnx_optional (on, 1);
  LptValue *positions = quantized ? NULL : lpt_onnx_optional (on, 8);
  LptValue *scales[5] = { NULL }, *zeros[5] = { NULL }, *gamma, *beta, *sum, *y;
  LptDType dtype = quantized ? LPT_DTYPE_F32 : lpt_onnx_in (on, 2)->dtype;
  double epsilon = lpt_onnx_float (on, "epsilon", 1e-12f);

  if (lpt_onnx_int (on, "mask_index_type", 1) != 0)
    lpt_onnx_ignore (on, "mask_index_type");
  if (lpt_onnx_rank (on, ids) != 2)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "ids of rank %d", ids->shape.rank);
  /* The mask is for output 1; without segments their table and its scale may be there. */
  lpt_onnx_ignore_in (on, 7);
  if (segments == NULL)
    {
      lpt_onnx_ignore_in (on, 4);
      if (quantized)
        lpt_onnx_ignore_in (on, 10);
    }
  for (guint i = 0; quantized && i < 5; i++)
    {
      /* The segments' may be absent with the segments. */
      scales[i] = i == 2 && segments == NULL ? NULL : lpt_onnx_in (on, 8 + i);
      zeros[i] = lpt_onnx_optional (on, 13 + i);
    }
  if (positions == NULL)
    positions = lpt_onnx_count_to (on, lpt_onnx_dim (on, ids, 1));
  sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, rows (on, lpt_onnx_in (on, 2), ids, scales[0], zeros[0]),
                       rows (on, lpt_onnx_in (on, 3), positions, scales[1], zeros[1]));
  if (segments != NULL)
    sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, rows (on, lpt_onnx_in (on, 4), segments, scales[2], zeros[2]));
  gamma = vector (on, lpt_onnx_in (on, 5), scales[3], zeros[3]);
  beta = vector (on, lpt_onnx_in (on, 6), scales[4], zeros[4]);
  y = layer_norm (on, sum, gamma, beta, epsilon);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, dtype));
  if (lpt_onnx_wants (on, 1))
    lpt_onnx_set (on, 1, mask_index (on, lpt_onnx_optional (on, 7), ids));
  if (lpt_onnx_wants (on, 2))
    lpt_onnx_set (on, 2, lpt_onnx_convert (on, sum, dtype));
}

/* --- groups ------------------------------------------------------------------------------------- */

/* GroupNorm; argument 1: SkipGroupNorm, of x + skip [+ bias]. The channels are last unless the node says otherwise. */
void
lpt_onnx_map_group_norm_activation (LptOnnxNode *on)
{
  gboolean last = lpt_onnx_int (on, "channels_last", 1) != 0;
  LptValue *x = lpt_onnx_in (on, 0), *gamma = lpt_onnx_in (on, 1), *beta = lpt_onnx_in (on, 2), *sum, *y;
  LptGroupNormalizationAttrs *attrs;
  LptDType dtype = x->dtype;
  LptNode *node;
  gint64 groups = lpt_onnx_int (on, "groups", 0), activation = lpt_onnx_int (on, "activation", 0);

  sum = widened (on, x);
  if (on->argument != 0)
    {
      LptValue *skip = widened (on, lpt_onnx_in (on, 3)), *bias = lpt_onnx_optional (on, 4);
      gint64 dims[4] = { 0, 1, 1, 0 };

      /* A skip of [N, C] is one number for each plane. */
      if (lpt_onnx_rank (on, skip) == 2)
        {
          dims[3] = skip->shape.dims[1];
          skip = lpt_onnx_reshape_keep (on, skip, 4, dims);
        }
      sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, skip);
      if (bias != NULL)
        sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, widened (on, bias));
      lpt_onnx_set (on, 1, lpt_onnx_convert (on, sum, dtype));
    }
  if (groups < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "groups is %" G_GINT64_FORMAT, groups);
  if (activation < 0 || activation > 1)
    lpt_onnx_unsupported (on, "activation %" G_GINT64_FORMAT, activation);
  y = last ? lpt_onnx_move_channels (on, sum, TRUE) : sum;
  node = lpt_onnx_add (on, LPT_OP_GROUP_NORMALIZATION, 3, y, lpt_onnx_convert (on, gamma, y->dtype),
                       lpt_onnx_convert (on, beta, y->dtype));
  attrs = LPT_ATTRS (node, LptGroupNormalizationAttrs);
  attrs->num_groups = groups;
  attrs->epsilon = lpt_onnx_float (on, "epsilon", 1e-5f);
  y = lpt_onnx_done (on, node);
  if (activation == 1)
    y = lpt_onnx_emit (on, LPT_OP_SWISH, 1, y);
  y = last ? lpt_onnx_move_channels (on, y, FALSE) : y;
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, dtype));
}
