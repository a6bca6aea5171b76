/* onnx-map-old.c - forms that ONNX has given up
 *
 *   opset                 form                                    becomes
 *   1, 6                  b lies along the axes of a from `axis`   b with axes of length 1 behind its own
 *   below 5, 9, 10, ...   an attribute                             the constant input that took its place
 *   1                     a type by its name                       its number
 *   removed               ImageScaler, Affine, ScaledTanh, ParametricSoftplus, Crop: what they are made of
 *
 * A node is read as its newer form is, once its inputs are those.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <string.h>

/* --- broadcasting along a named axis --------------------------------------------- */

static void
align (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_in (on, 0), *b = lpt_onnx_in (on, 1);
  gint64 behind[LPT_MAX_RANK];
  gint n;

  lpt_onnx_ignore (on, "broadcast");
  if (lpt_onnx_attr (on, "axis", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT) == NULL || lpt_onnx_rank (on, b) == 0)
    return;
  n = lpt_onnx_rank (on, a) - b->shape.rank;
  n -= lpt_onnx_axis (on, lpt_onnx_int (on, "axis", 0), a->shape.rank);
  if (n < 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input 1 of rank %d does not fit behind the axis", b->shape.rank);
  if (on->error != NULL || n == 0)
    return;
  for (gint i = 0; i < n; i++)
    behind[i] = b->shape.rank + i;
  on->in[1] = lpt_onnx_emit (on, LPT_OP_UNSQUEEZE, 2, b, lpt_onnx_i64 (on, (guint) n, behind));
}

/* Argument: the op. */
void
lpt_onnx_map_aligned_binary (LptOnnxNode *on)
{
  align (on);
  lpt_onnx_map_binary (on);
}

void
lpt_onnx_map_aligned_divide (LptOnnxNode *on)
{
  align (on);
  lpt_onnx_map_divide (on);
}

void
lpt_onnx_map_aligned_power (LptOnnxNode *on)
{
  align (on);
  lpt_onnx_map_power (on);
}

/* The slope lies along the channels, or is one number. */
void
lpt_onnx_map_channel_prelu (LptOnnxNode *on)
{
  const gint64 all = -1;

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_PRELU, 2, lpt_onnx_in (on, 0),
                                      lpt_onnx_reshape (on, lpt_onnx_in (on, 1), 1, &all)));
}

/* --- attributes that became inputs ------------------------------------------------- */

/* The array of inputs has a place more than the node has inputs. */
static void
give_input_1 (LptOnnxNode *on,
              LptValue    *value)
{
  if (on->n_in > 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u inputs instead of 1", on->n_in);
  else if (on->n_in == 1)
    {
      on->in[1] = value;
      on->n_in = 2;
    }
}

void
lpt_onnx_map_top_k_attribute (LptOnnxNode *on)
{
  gint64 k = lpt_onnx_int (on, "k", 0);

  give_input_1 (on, lpt_onnx_i64 (on, 1, &k));
  lpt_onnx_map_top_k (on);
}

void
lpt_onnx_map_reshape_attribute (LptOnnxNode *on)
{
  LptInts shape = { 0 };

  lpt_onnx_ints (on, "shape", &shape);
  give_input_1 (on, lpt_onnx_i64_list (on, &shape));
  lpt_ints_clear (&shape);
  lpt_onnx_map_reshape (on);
}

void
lpt_onnx_map_upsample_attribute (LptOnnxNode *on)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, "scales", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  gsize n = attr != NULL ? attr->n_floats : 0;
  LptShape shape = { .rank = 1, .dims = { (gint64) n } };

  if (n == 0 || n > LPT_MAX_RANK)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " scales", n);
  else
    give_input_1 (on, lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, attr->floats, NULL)));
  if (on->error == NULL)
    lpt_onnx_map_resize_scales (on);
}

/* Opset 1: two scales of [N, C, H, W], "bilinear" for "linear". */
void
lpt_onnx_map_upsample_sides (LptOnnxNode *on)
{
  const float scales[] = { 1, 1, (float) lpt_onnx_float (on, "height_scale", 1),
                           (float) lpt_onnx_float (on, "width_scale", 1) };
  const LptShape shape = { .rank = 1, .dims = { G_N_ELEMENTS (scales) } };

  give_input_1 (on, lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, scales, NULL)));
  if (on->error == NULL)
    lpt_onnx_map_resize_scales (on);
}

/* Opset 1: repeats along one axis. */
void
lpt_onnx_map_tile_axis (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptTensor *repeats = lpt_onnx_const_in (on, 1), *axis = lpt_onnx_const_in (on, 2);
  gint64 counts[LPT_MAX_RANK];
  gint rank = lpt_onnx_rank (on, x);
  double times, along;

  if (repeats == NULL || axis == NULL || lpt_tensor_count (repeats) != 1 || lpt_tensor_count (axis) != 1)
    {
      lpt_onnx_unsupported (on, "tiles or axis that is not a constant number");
      return;
    }
  times = lpt_tensor_get_f64 (repeats, 0);
  along = lpt_tensor_get_f64 (axis, 0);
  if (!(times >= 0 && times <= G_MAXINT32) || !(along >= -LPT_MAX_RANK && along <= LPT_MAX_RANK))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "tiles is %g, axis %g", times, along);
  for (gint i = 0; i < rank; i++)
    counts[i] = 1;
  if (on->error == NULL)
    counts[lpt_onnx_axis (on, (gint64) along, rank)] = (gint64) times;
  if (on->error == NULL)
    lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_TILE, 2, x, lpt_onnx_i64 (on, (guint) rank, counts)));
}

/* Cast whose type is a name of TensorProto.DataType. */
void
lpt_onnx_map_cast_name (LptOnnxNode *on)
{
  static const LptOnnxChoice types[] = {
    { "FLOAT", LPT_DTYPE_F32 },   { "UINT8", LPT_DTYPE_U8 },   { "INT8", LPT_DTYPE_I8 },
    { "UINT16", LPT_DTYPE_U16 },  { "INT16", LPT_DTYPE_I16 },  { "INT32", LPT_DTYPE_I32 },
    { "INT64", LPT_DTYPE_I64 },   { "BOOL", LPT_DTYPE_BOOL },  { "FLOAT16", LPT_DTYPE_F16 },
    { "DOUBLE", LPT_DTYPE_F64 },  { "UINT32", LPT_DTYPE_U32 }, { "UINT64", LPT_DTYPE_U64 },
  };
  int to = lpt_onnx_choose (on, "to", "", types, G_N_ELEMENTS (types));

  lpt_onnx_set (on, 0, on->error == NULL ? lpt_onnx_convert (on, lpt_onnx_in (on, 0), (LptDType) to) : NULL);
}

/* --- operators that are no more ----------------------------------------------------- */

/* a x + b */
static LptValue *
affine (LptOnnxNode *on,
        LptValue    *x,
        double       a,
        double       b)
{
  if (a != 1)
    x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_like (on, x, a));
  return b != 0 ? lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_like (on, x, b)) : x;
}

void
lpt_onnx_map_affine (LptOnnxNode *on)
{
  double alpha = lpt_onnx_float (on, "alpha", 1), beta = lpt_onnx_float (on, "beta", 0);

  lpt_onnx_set (on, 0, affine (on, lpt_onnx_in (on, 0), alpha, beta));
}

/* alpha f (beta x); argument: f */
void
lpt_onnx_map_scaled_function (LptOnnxNode *on)
{
  LptValue *x = affine (on, lpt_onnx_in (on, 0), lpt_onnx_float (on, "beta", 1), 0);

  lpt_onnx_set (on, 0, affine (on, lpt_onnx_emit (on, (LptOp) on->argument, 1, x), lpt_onnx_float (on, "alpha", 1), 0));
}

/* scale x + bias[channel] */
void
lpt_onnx_map_image_scaler (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *y = affine (on, x, lpt_onnx_float (on, "scale", 1), 0);
  const Onnx__AttributeProto *bias = lpt_onnx_attr (on, "bias", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  LptShape shape = { .rank = 3, .dims = { bias != NULL ? (gint64) bias->n_floats : 0, 1, 1 } };

  if (bias != NULL && bias->n_floats > 0)
    {
      LptValue *c = lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, bias->floats, NULL));

      y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_convert (on, c, x->dtype));
    }
  lpt_onnx_set (on, 0, y);
}

/* border: left, top, right, bottom; scale: height and width of what is kept behind left and top, in place of right and
 * bottom. */
void
lpt_onnx_map_crop (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptInts border = { 0 }, kept = { 0 };

  lpt_onnx_ints (on, "border", &border);
  lpt_onnx_ints (on, "scale", &kept);
  if (border.n != 4 || (kept.n != 0 && kept.n != 2) || (on->error == NULL && lpt_onnx_rank (on, x) != 4))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "a border of %u numbers, a scale of %u", border.n, kept.n);
  for (gint i = 0; on->error == NULL && i < 2; i++)
    {
      gint64 first = border.v[1 - i], length = x->shape.dims[2 + i];

      if (kept.n == 0 && length == LPT_DYNAMIC)
        lpt_onnx_unsupported (on, "dynamic shape");
      else if (first < 0 || border.v[3 - i] < 0 || (kept.n == 2 && kept.v[i] < 0))
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "a border below 0");
      else
        x = lpt_onnx_slice (on, x, 2 + i, first, kept.n == 2 ? first + kept.v[i] : length - border.v[3 - i]);
    }
  lpt_ints_clear (&border);
  lpt_ints_clear (&kept);
  lpt_onnx_set (on, 0, x);
}
