/* onnx-map-nchwc.c - com.microsoft.nchwc: convolutions and pools on blocks of channels
 *
 * What ONNX Runtime saves when it has optimized layouts; read back as ops on [N, C, H, W]. In blocks the channels are
 * filled up with zeros. A value stands for its first channels here: those that are left out are zeros, as long as
 * nothing but operators of this domain reads it, which know. For others it gets all of them.
 *
 *     filters of zeros and bias 0, f (0) = 0, no sum: the output channel is zero, left out
 *     an input channel that is left out:               so are the weights that it meets
 *
 * Refused: weights that are not constant, channels of unknown number, a block that does not follow from the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-nchwc.h"

static gint64
channels_of (LptOnnxNode *on,
             LptValue    *x)
{
  gint64 n = lpt_onnx_rank (on, x) == 4 ? x->shape.dims[1] : LPT_DYNAMIC;

  if (n == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "input that is not [N, C, H, W] with C known");
  return MAX (n, 0);
}

/* The first @n channels; behind those that are there, zeros. */
static LptValue *
with_channels (LptOnnxNode *on,
               LptValue    *x,
               gint64       n)
{
  gint64 count = channels_of (on, x);
  gint64 none[4] = { 0 }, more[4] = { 0, n - count, 0, 0 };
  LptNode *node;

  if (on->error != NULL || n == count)
    return x;
  if (n < count)
    return lpt_onnx_slice (on, x, 1, 0, n);
  node = lpt_onnx_add (on, LPT_OP_PAD, 4, x, lpt_onnx_i64 (on, 4, none), lpt_onnx_i64 (on, 4, more),
                       lpt_onnx_like (on, x, 0));
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
  return lpt_onnx_done (on, node);
}

/* Sets output 0, with all channels of its blocks where others read it. */
static void
set_blocked (LptOnnxNode *on,
             LptValue    *y)
{
  if (lpt_onnx_nchwc_shared (on))
    {
      gint64 n = channels_of (on, y), block = n % 16 != 0 ? lpt_onnx_nchwc_block (on) : 16;

      if (on->error == NULL)
        y = with_channels (on, y, (n + block - 1) / block * block);
    }
  lpt_onnx_set (on, 0, y);
}

void
lpt_onnx_map_nchwc_reorder_input (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);

  set_blocked (on, lpt_onnx_int (on, "channels_last", 0) != 0 ? lpt_onnx_move_channels (on, x, TRUE) : x);
}

void
lpt_onnx_map_nchwc_reorder_output (LptOnnxNode *on)
{
  gint64 n = lpt_onnx_int (on, "channels", 0);
  LptValue *y;

  if (n < 1 || n > G_MAXINT32)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "channels %" G_GINT64_FORMAT, n);
  y = with_channels (on, lpt_onnx_in (on, 0), n);
  lpt_onnx_set (on, 0, lpt_onnx_int (on, "channels_last", 0) != 0 ? lpt_onnx_move_channels (on, y, FALSE) : y);
}

/* --- convolutions --------------------------------------------------------------------------------- */

/* Filters and biases, constant and f32 */
static LptTensor *
constant (LptOnnxNode *on,
          guint        i,
          gint         rank)
{
  LptTensor *tensor = lpt_onnx_const_in (on, i);

  if (lpt_onnx_optional (on, i) != NULL
      && (tensor == NULL || lpt_tensor_dtype (tensor) != LPT_DTYPE_F32 || lpt_tensor_shape (tensor)->rank != rank))
    lpt_onnx_unsupported (on, "input %u that is not a constant of float and rank %d", i, rank);
  return tensor;
}

static gboolean
keeps_zero (LptOnnxNode *on)
{
  LptTensor *y = lpt_onnx_activate (on, lpt_onnx_scalar (on, LPT_DTYPE_F32, 0))->producer->data;

  return y != NULL && lpt_tensor_get_f64 (y, 0) == 0;
}

/* How many of the @n output channels are left when those of zeros are left out */
static gint64
output_channels (LptOnnxNode *on,
                 LptTensor   *filters,
                 LptTensor   *bias,
                 gint64       block)
{
  LptValue *sum = lpt_onnx_optional (on, 3);
  gint64 n = lpt_tensor_shape (filters)->dims[0], filled;

  if (lpt_onnx_nchwc_shared (on) || !keeps_zero (on))
    return n;
  filled = lpt_onnx_nchwc_filled (filters, block);
  if (bias != NULL)
    filled = MAX (filled, lpt_onnx_nchwc_filled (bias, block));
  if (sum != NULL)
    filled = MAX (filled, channels_of (on, sum));
  return CLAMP (filled, 1, n);
}

/* The first @n numbers of @bias as [1, n, 1, 1] */
static LptValue *
first_biases (LptOnnxNode *on,
              LptTensor   *bias,
              gint64       n)
{
  gint64 dims[4] = { 1, n, 1, 1 };
  LptShape shape = lpt_shape_make (4, dims);

  return lpt_onnx_tensor_value (on, lpt_tensor_new_copy (LPT_DTYPE_F32, &shape, lpt_tensor_data (bias), NULL));
}

/* What of the filters meets the channels of @x that are there; FALSE + error where counts do not fit. */
static gboolean
match (LptOnnxNode  *on,
       LptTensor    *filters,
       LptTensor    *bias,
       LptValue    **x,
       gint64       *groups,
       LptNchwcForm *form)
{
  const gint64 *dims = lpt_tensor_shape (filters)->dims;
  gint64 n = channels_of (on, *x), all;

  form->inputs = *groups > 1 ? dims[1] != 1 : lpt_onnx_nchwc_blocked (on, 0);
  form->block = lpt_onnx_nchwc_block (on);
  if (on->error != NULL)
    return FALSE;
  if (*groups < 1 || *groups > dims[0] || dims[0] % form->block != 0 || dims[1] < 1
      || (form->inputs && dims[1] % form->block != 0) || n > *groups * dims[1]
      || (*groups == 1 && !form->inputs && n != dims[1])
      || (bias != NULL && lpt_tensor_count (bias) != dims[0]))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "filters and channels do not fit each other");
      return FALSE;
    }
  all = *groups * dims[1];
  form->n_out = output_channels (on, filters, bias, form->block);
  form->n_in = *groups == 1 ? n : dims[1];
  if (*groups == 1)
    return TRUE;
  if (dims[1] == 1 && *groups == dims[0] && form->n_out < all)
    *groups = all = form->n_out;
  else
    form->n_out = dims[0];
  *x = with_channels (on, *x, all);
  return on->error == NULL;
}

/* act (conv (X, W) + B + sum) */
void
lpt_onnx_map_nchwc_conv (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *sum = lpt_onnx_optional (on, 3), *y, *weights;
  LptTensor *filters = constant (on, 1, 4), *bias = constant (on, 2, 1);
  gint64 groups = lpt_onnx_int (on, "group", 1);
  LptNchwcForm form = { 0 };

  lpt_onnx_in (on, 1);
  if (on->error != NULL || !match (on, filters, bias, &x, &groups, &form))
    return;
  weights = lpt_onnx_tensor_value (on, lpt_onnx_nchwc_filters (filters, &form, NULL));
  y = lpt_onnx_done (on, lpt_onnx_conv_groups (on, x, weights, NULL, groups));
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, first_biases (on, bias, form.n_out));
  if (sum != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, with_channels (on, sum, form.n_out));
  set_blocked (on, lpt_onnx_activate (on, y));
}

/* --- pools: of zeros they make zeros ---------------------------------------------------------------- */

void
lpt_onnx_map_nchwc_max_pool (LptOnnxNode *on)
{
  lpt_onnx_map_max_pool (on);
  if (on->out[0] != NULL)
    set_blocked (on, on->out[0]);
}

void
lpt_onnx_map_nchwc_average_pool (LptOnnxNode *on)
{
  lpt_onnx_map_average_pool (on);
  if (on->out[0] != NULL)
    set_blocked (on, on->out[0]);
}

void
lpt_onnx_map_nchwc_global_pool (LptOnnxNode *on)
{
  lpt_onnx_map_global_pool (on);
  if (on->out[0] != NULL)
    set_blocked (on, on->out[0]);
}

/* Whole scales; nearest repeats. */
void
lpt_onnx_map_nchwc_upsample (LptOnnxNode *on)
{
  static const LptOnnxChoice modes[] = {
    { "nearest", LPT_INTERPOLATE_NEAREST }, { "linear", LPT_INTERPOLATE_LINEAR_ONNX },
  };
  static const LptOnnxChoice coordinates[] = {
    { "asymmetric", LPT_COORD_ASYMMETRIC }, { "half_pixel", LPT_COORD_HALF_PIXEL },
    { "align_corners", LPT_COORD_ALIGN_CORNERS },
  };
  LptValue *x = lpt_onnx_in (on, 0);
  gint64 axes[2] = { 2, 3 }, one[1] = { 2 };
  LptShape shape = lpt_shape_make (1, one);
  LptInts scales = { 0 };
  LptInterpolateAttrs *attrs;
  float factors[2] = { 1, 1 };
  LptNode *node;
  int mode = lpt_onnx_choose (on, "mode", "nearest", modes, G_N_ELEMENTS (modes));
  int coordinate = lpt_onnx_choose (on, "coordinate_transformation_mode", "asymmetric", coordinates,
                                    G_N_ELEMENTS (coordinates));

  if (!lpt_onnx_ints (on, "scales", &scales) || scales.n != 4 || scales.v[0] != 1 || scales.v[1] != 1
      || scales.v[2] < 1 || scales.v[3] < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "scales are not [1, 1, h, w]");
  for (guint i = 0; i < 2 && on->error == NULL; i++)
    factors[i] = (float) scales.v[2 + i];
  lpt_ints_clear (&scales);
  node = lpt_onnx_add (on, LPT_OP_INTERPOLATE, 3, x,
                       lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, factors, NULL)),
                       lpt_onnx_i64 (on, 2, axes));
  attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  attrs->shape_calculation_mode = LPT_INTERPOLATE_SCALES;
  attrs->mode = mode;
  attrs->coordinate_transformation_mode = mode == LPT_INTERPOLATE_NEAREST ? LPT_COORD_ASYMMETRIC : coordinate;
  attrs->nearest_mode = LPT_NEAREST_FLOOR;
  set_blocked (on, lpt_onnx_done (on, node));
}
