/* onnx-map-norm.c - ONNX normalisations
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

/* Axes @first .. rank - 1 */
static LptValue *
axes_from (LptOnnxNode *on,
           gint         first,
           gint         rank)
{
  gint64 axes[LPT_MAX_RANK];

  for (gint i = first; i < rank; i++)
    axes[i - first] = i;
  return lpt_onnx_i64 (on, (guint) MAX (rank - first, 0), axes);
}

/* A vector per channel as [1, C, 1, ...] */
static LptValue *
per_channel (LptOnnxNode *on,
             LptValue    *vector,
             gint         rank)
{
  gint64 dims[LPT_MAX_RANK] = { 1, -1 };

  for (gint i = 2; i < rank; i++)
    dims[i] = 1;
  return lpt_onnx_reshape (on, vector, (guint) MAX (rank, 2), dims);
}

static LptValue *
mvn (LptOnnxNode *on,
     LptValue    *x,
     LptValue    *axes,
     double       eps,
     int          eps_mode)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_MVN, 2, x, axes);
  LptMvnAttrs *attrs = LPT_ATTRS (node, LptMvnAttrs);

  attrs->eps = eps;
  attrs->normalize_variance = TRUE;
  attrs->eps_mode = eps_mode;
  return lpt_onnx_done (on, node);
}

static LptValue *
scale_and_shift (LptOnnxNode *on,
                 LptValue    *x,
                 LptValue    *scale,
                 LptValue    *shift)
{
  if (scale != NULL)
    x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, scale);
  if (shift != NULL)
    x = lpt_onnx_emit (on, LPT_OP_ADD, 2, x, shift);
  return x;
}

static LptValue *
batch_norm (LptOnnxNode *on,
            LptValue    *x,
            LptValue    *mean,
            LptValue    *variance,
            double       epsilon)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_BATCH_NORM_INFERENCE, 5, x,
                                lpt_onnx_convert (on, lpt_onnx_in (on, 1), x->dtype),
                                lpt_onnx_convert (on, lpt_onnx_in (on, 2), x->dtype),
                                lpt_onnx_convert (on, mean, x->dtype), lpt_onnx_convert (on, variance, x->dtype));

  LPT_ATTRS (node, LptBatchNormAttrs)->epsilon = epsilon;
  return lpt_onnx_done (on, node);
}

/* old * momentum + new * (1 - momentum) */
static LptValue *
running (LptOnnxNode *on,
         LptValue    *old,
         LptValue    *now,
         double       momentum)
{
  return lpt_onnx_emit (on, LPT_OP_ADD, 2,
                        lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, old, lpt_onnx_like (on, old, momentum)),
                        lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, now, lpt_onnx_like (on, now, 1 - momentum)));
}

/* spatial=0, below opset 9: parameters [C, D...] for each element of an item, (x - mean) / sqrt (variance + epsilon)
 * scale + shift. */
static LptValue *
each_element_norm (LptOnnxNode *on,
                   LptValue    *x,
                   LptValue    *mean,
                   LptValue    *variance,
                   double       epsilon)
{
  LptValue *factor = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_inverse_root (on, variance, epsilon),
                                    lpt_onnx_in (on, 1));

  x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, mean);
  return scale_and_shift (on, x, factor, lpt_onnx_in (on, 2));
}

/* With training_mode the statistics are those of the batch, and the running ones are outputs too. */
void
lpt_onnx_map_batch_norm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *mean = lpt_onnx_in (on, 3), *variance = lpt_onnx_in (on, 4);
  LptValue *axes, *batch_mean, *distance, *batch_variance;
  double epsilon = lpt_onnx_float (on, "epsilon", 1e-5f), momentum = lpt_onnx_float (on, "momentum", 0.9f);
  gint rank = lpt_onnx_rank (on, x);
  gint64 all_but_one[LPT_MAX_RANK] = { 0 };

  lpt_onnx_ignore (on, "is_test");   /* below opset 7: outputs 1 to 4, which nothing sets, say that it trains */
  if (lpt_onnx_int (on, "spatial", 1) == 0)
    {
      lpt_onnx_set (on, 0, each_element_norm (on, x, mean, variance, epsilon));
      return;
    }
  if (lpt_onnx_int (on, "training_mode", 0) == 0)
    {
      /* Elements of one channel. */
      if (rank == 1)
        x = lpt_onnx_unsqueeze (on, x, 1);
      x = batch_norm (on, x, mean, variance, epsilon);
      lpt_onnx_set (on, 0, rank == 1 ? lpt_onnx_reshape (on, x, 1, (gint64[]) { -1 }) : x);
      return;
    }
  for (gint i = 2; i < rank; i++)
    all_but_one[i - 1] = i;
  axes = lpt_onnx_i64 (on, (guint) MAX (rank - 1, 1), all_but_one);
  batch_mean = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, x, axes, FALSE);
  distance = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, per_channel (on, batch_mean, rank));
  batch_variance = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, distance, distance),
                                    axes, FALSE);
  lpt_onnx_set (on, 0, batch_norm (on, x, batch_mean, batch_variance, epsilon));
  lpt_onnx_set (on, 1, running (on, mean, lpt_onnx_convert (on, batch_mean, mean->dtype), momentum));
  lpt_onnx_set (on, 2, running (on, variance, lpt_onnx_convert (on, batch_variance, variance->dtype), momentum));
}

void
lpt_onnx_map_instance_norm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1), *shift = lpt_onnx_in (on, 2);
  gint rank = lpt_onnx_rank (on, x);

  x = mvn (on, x, axes_from (on, 2, rank), lpt_onnx_float (on, "epsilon", 1e-5f), LPT_EPS_INSIDE_SQRT);
  lpt_onnx_set (on, 0, scale_and_shift (on, x, per_channel (on, scale, rank), per_channel (on, shift, rank)));
}

/* [G] -> [C], each element C / G times */
static LptValue *
spread_groups (LptOnnxNode *on,
               LptValue    *vector,
               gint64       groups,
               gint64       channels)
{
  gint64 column[2] = { groups, 1 }, matrix[2] = { groups, channels / groups }, flat = channels;

  vector = lpt_onnx_broadcast (on, lpt_onnx_reshape (on, vector, 2, column), lpt_onnx_i64 (on, 2, matrix));
  return lpt_onnx_reshape (on, vector, 1, &flat);
}

/* Argument 0: scale and bias per group (opset 18); 1: per channel. */
void
lpt_onnx_map_group_norm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1), *shift = lpt_onnx_in (on, 2);
  gint64 groups = lpt_onnx_int (on, "num_groups", 0);
  gint64 channels = lpt_onnx_rank (on, x) > 1 ? x->shape.dims[1] : LPT_DYNAMIC;
  LptGroupNormalizationAttrs *attrs;
  LptNode *node;

  lpt_onnx_ignore (on, "stash_type");
  if (groups < 1 || (channels != LPT_DYNAMIC && channels % groups != 0))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "num_groups is %" G_GINT64_FORMAT, groups);
      return;
    }
  if (on->argument == 0)
    {
      if (channels == LPT_DYNAMIC)
        lpt_onnx_unsupported (on, "dynamic channels");
      scale = spread_groups (on, scale, groups, channels);
      shift = spread_groups (on, shift, groups, channels);
    }
  node = lpt_onnx_add (on, LPT_OP_GROUP_NORMALIZATION, 3, x, scale, shift);
  attrs = LPT_ATTRS (node, LptGroupNormalizationAttrs);
  attrs->num_groups = groups;
  attrs->epsilon = lpt_onnx_float (on, "epsilon", 1e-5f);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* Statistics are computed in the stash type, which is f32 unless the file says otherwise. */
static LptValue *
to_stash_type (LptOnnxNode *on,
               LptValue    *x)
{
  gint64 type = lpt_onnx_int (on, "stash_type", 1);

  if (type == 0 || type == 1)
    return lpt_dtype_bits (x->dtype) < 32 ? lpt_onnx_convert (on, x, LPT_DTYPE_F32) : x;
  return lpt_onnx_convert (on, x, lpt_onnx_dtype (on, "stash_type"));
}

LptValue *
lpt_onnx_inverse_root (LptOnnxNode *on,
                       LptValue    *x,
                       double       epsilon)
{
  x = lpt_onnx_emit (on, LPT_OP_SQRT, 1, lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_like (on, x, epsilon)));
  return lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_like (on, x, 1), x);
}

void
lpt_onnx_map_layer_norm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_optional (on, 1), *shift = lpt_onnx_optional (on, 2);
  LptDType dtype = scale != NULL ? scale->dtype : x->dtype;   /* of older models another one than that of the data */
  gint rank = lpt_onnx_rank (on, x);
  LptValue *axes = axes_from (on, lpt_onnx_axis (on, lpt_onnx_int (on, "axis", -1), rank), rank);
  double epsilon = lpt_onnx_float (on, "epsilon", 1e-5f);
  LptValue *wide = to_stash_type (on, x), *y;

  y = mvn (on, wide, axes, epsilon, LPT_EPS_INSIDE_SQRT);
  lpt_onnx_set (on, 0, scale_and_shift (on, lpt_onnx_convert (on, y, dtype), scale, shift));
  if (lpt_onnx_wants (on, 1) || lpt_onnx_wants (on, 2))
    {
      LptValue *mean = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, wide, axes, TRUE);
      LptValue *distance = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, wide, mean);
      LptValue *variance = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN,
                                            lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, distance, distance), axes, TRUE);

      lpt_onnx_set (on, 1, mean);
      lpt_onnx_set (on, 2, lpt_onnx_inverse_root (on, variance, epsilon));
    }
}

void
lpt_onnx_map_rms_norm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1);
  LptDType dtype = x->dtype;
  gint rank = lpt_onnx_rank (on, x);
  LptValue *axes = axes_from (on, lpt_onnx_axis (on, lpt_onnx_int (on, "axis", -1), rank), rank);
  LptValue *wide = to_stash_type (on, x);
  LptValue *square = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, wide, wide), axes,
                                      TRUE);
  LptValue *y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, wide,
                               lpt_onnx_inverse_root (on, square, lpt_onnx_float (on, "epsilon", 1e-5f)));

  lpt_onnx_set (on, 0,
                lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_convert (on, y, dtype),
                               lpt_onnx_convert (on, scale, dtype)));
}

/* x / norm; 0 where the norm is 0 */
void
lpt_onnx_map_lp_norm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *norm, *zero;
  gint64 axis = lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", -1));
  gint64 p = lpt_onnx_int (on, "p", 2);

  if (p != 1 && p != 2)
    lpt_onnx_unsupported (on, "p=%" G_GINT64_FORMAT, p);
  norm = lpt_onnx_reduce (on, p == 1 ? LPT_OP_REDUCE_L1 : LPT_OP_REDUCE_L2, x, lpt_onnx_i64 (on, 1, &axis), TRUE);
  zero = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, norm, lpt_onnx_like (on, norm, 0));
  norm = lpt_onnx_emit (on, LPT_OP_SELECT, 3, zero, lpt_onnx_like (on, norm, 1), norm);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, x, norm));
}

void
lpt_onnx_map_mean_variance_norm (LptOnnxNode *on)
{
  static const gint64 standard[] = { 0, 2, 3 };
  LptInts axes = { 0 };

  if (!lpt_onnx_ints (on, "axes", &axes))
    lpt_ints_set (&axes, G_N_ELEMENTS (standard), standard);
  lpt_onnx_set (on, 0, mvn (on, lpt_onnx_in (on, 0), lpt_onnx_i64_list (on, &axes), 1e-9, LPT_EPS_OUTSIDE_SQRT));
  lpt_ints_clear (&axes);
}

/* Below opset 9: over items and places, and over channels too where the node says so; perhaps without the deviation. */
void
lpt_onnx_map_mean_variance_norm_channels (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *axes;
  gboolean channels = lpt_onnx_int (on, "across_channels", 0) != 0;
  gint64 all[LPT_MAX_RANK] = { 0 };
  gint rank = lpt_onnx_rank (on, x), n = 0;

  for (gint i = 0; i < rank; i++)
    if (i != 1 || channels)
      all[n++] = i;
  axes = lpt_onnx_i64 (on, (guint) n, all);
  if (lpt_onnx_int (on, "normalize_variance", 1) != 0)
    lpt_onnx_set (on, 0, mvn (on, x, axes, 1e-9, LPT_EPS_OUTSIDE_SQRT));
  else
    lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x,
                                        lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, x, axes, TRUE)));
}

void
lpt_onnx_map_lrn (LptOnnxNode *on)
{
  gint64 channel = 1;
  LptNode *node = lpt_onnx_add (on, LPT_OP_LRN, 2, lpt_onnx_in (on, 0), lpt_onnx_i64 (on, 1, &channel));
  LptLrnAttrs *attrs = LPT_ATTRS (node, LptLrnAttrs);

  attrs->alpha = lpt_onnx_float (on, "alpha", 1e-4f);
  attrs->beta = lpt_onnx_float (on, "beta", 0.75);
  attrs->bias = lpt_onnx_float (on, "bias", 1);
  attrs->size = lpt_onnx_int (on, "size", 0);
  if (attrs->size < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "size is %" G_GINT64_FORMAT, attrs->size);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}
