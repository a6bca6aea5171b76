/* fit.c - from arrays and images to what an input of a model takes
 *
 * An array holds n samples when it has the model's rank and n times its first length (an unknown one counts as 1), one
 * more axis in front, or none of the axes of length 1. Channels last become first, and the other way, where only that
 * fits. Arithmetic is in f64, one rounding to f32; integers round half to even and saturate. What has the type of an
 * input of codes is taken for codes; other samples, and all that are normalized, are what the codes stand for: real
 * numbers of which some lie further than half the width of the codes' interval beyond it are of another scale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"
#include "ir/lpt-quantize-details.h"

#include <math.h>
#include <string.h>

/* --- shapes ------------------------------------------------------------------ */

/* @has with axes of length 1 left out. */
static LptShape
squeeze (const LptShape *has)
{
  LptShape shape = { 0 };
  for (gint i = 0; i < has->rank; i++)
    if (has->dims[i] != 1)
      shape.dims[shape.rank++] = has->dims[i];
  return shape;
}

/* The lengths of @has, where the model leaves them open. */
static gboolean
agree (const LptShape *has, const LptShape *model, LptShape *shape)
{
  if (has->rank != model->rank || !lpt_shape_compatible (has, model))
    return FALSE;
  *shape = *has;
  return TRUE;
}

/* Does the slice of one sample, with the model's rank, fit? */
static gboolean
fit_slice (const LptShape *slice, const LptShape *model, DataFit *fit)
{
  fit->slice = *slice;
  fit->transposed = FALSE;
  if (agree (slice, model, &fit->shape))
    return TRUE;
  if (slice->rank != 4 || model->rank != 4)
    return FALSE;
  const gint64 *d = slice->dims;
  LptShape first = { 4, { d[0], d[3], d[1], d[2] } }, last = { 4, { d[0], d[2], d[3], d[1] } };
  fit->transposed = TRUE;
  return data_layout (model, LPT_LAYOUT_GUESS) == LPT_LAYOUT_NHWC ? agree (&last, model, &fit->shape)
                                                                  : agree (&first, model, &fit->shape);
}

/* The same number of elements, and the same lengths but 1s. */
static gboolean
fit_squeezed (const LptShape *slice, const LptShape *model, DataFit *fit)
{
  LptShape one = *model;
  if (one.rank > 0 && one.dims[0] == LPT_DYNAMIC)
    one.dims[0] = 1;
  LptShape a = squeeze (slice), b = squeeze (&one);
  if (!lpt_shape_is_static (&one) || !lpt_shape_equal (&a, &b))
    return FALSE;
  fit->slice = *slice;
  fit->shape = one;
  fit->transposed = FALSE;
  return TRUE;
}

gboolean
data_fit (const LptShape *has, const LptShape *model, DataFit *fit)
{
  LptShape slice = *has;
  gint64 batch = model->rank > 0 && model->dims[0] != LPT_DYNAMIC ? model->dims[0] : 1;
  if (model->rank == LPT_DYNAMIC)
    {
      fit->n = has->rank > 0 ? has->dims[0] : 1;
      slice.dims[0] = MIN (1, slice.dims[0]);
      fit->slice = fit->shape = slice;
      fit->transposed = FALSE;
      return TRUE;
    }
  fit->n = 1;
  if (has->rank == model->rank && has->rank > 0 && batch > 0 && has->dims[0] % batch == 0)
    {
      fit->n = has->dims[0] / batch;
      slice.dims[0] = batch;
      if (fit_slice (&slice, model, fit))
        return TRUE;
    }
  if (has->rank > 0)
    {
      fit->n = has->dims[0];
      slice = lpt_shape_make (has->rank - 1, has->dims + 1);
      if (fit_slice (&slice, model, fit) || fit_squeezed (&slice, model, fit))
        return TRUE;
    }
  /* One sample without its first axis, or a scalar. */
  fit->n = 1;
  LptShape one = { has->rank + 1, { 1 } };
  if (has->rank < LPT_MAX_RANK)
    memcpy (one.dims + 1, has->dims, sizeof *one.dims * (gsize) has->rank);
  return (has->rank < LPT_MAX_RANK && fit_slice (&one, model, fit)) || fit_squeezed (has, model, fit);
}

LptLayout
data_layout (const LptShape *model, LptLayout said)
{
  if (said != LPT_LAYOUT_GUESS)
    return said;
  gint first = model->rank == 4 ? 1 : 0;
  gint64 a = model->rank >= 3 ? model->dims[first] : 0, b = model->rank >= 3 ? model->dims[model->rank - 1] : 0;
  gboolean last = (b == 1 || b == 3 || b == 4) && !(a == 1 || a == 3 || a == 4);
  return last ? LPT_LAYOUT_NHWC : LPT_LAYOUT_NCHW;
}

/* --- elements ---------------------------------------------------------------- */

LptTensor *
data_transpose (LptTensor *tensor, const LptShape *shape, GError **error)
{
  const LptShape *from = lpt_tensor_shape (tensor);
  gboolean to_first =
    shape->dims[1] == from->dims[3] && shape->dims[2] == from->dims[1] && shape->dims[3] == from->dims[2];
  g_autoptr (LptTensor) result = lpt_tensor_new (lpt_tensor_dtype (tensor), shape, error);
  if (result == NULL)
    return NULL;
  gsize width = lpt_dtype_bits (lpt_tensor_dtype (tensor)) / 8;
  const guint8 *in = lpt_tensor_data (tensor);
  guint8 *out = lpt_tensor_writable (result);
  gint64 n = from->dims[0], c = to_first ? from->dims[3] : from->dims[1],
         pixels = lpt_tensor_count (tensor) / MAX (n * c, 1);
  for (gint64 b = 0; b < n; b++)
    for (gint64 p = 0; p < pixels; p++)
      for (gint64 k = 0; k < c; k++)
        {
          gsize last = (gsize) ((b * pixels + p) * c + k) * width, first = (gsize) ((b * c + k) * pixels + p) * width;
          memcpy (out + (to_first ? first : last), in + (to_first ? last : first), width);
        }
  return g_steal_pointer (&result);
}

/* One mean and scale per channel, and the codes that the model's input has. */
typedef struct
{
  gint64 channels, run;
  double mean[4], scale[4], step, zero;
} Normal;

static gboolean
find_normal (const LptShape *shape, const LptValue *value, const LptDataOptions *options, Normal *n, GError **error)
{
  const LptQuant *quant = value->quant;
  gboolean last = data_layout (shape, options->layout) == LPT_LAYOUT_NHWC, codes = quant != NULL && quant->n == 1;
  gint axis = shape->rank < 3 ? -1 : last ? shape->rank - 1 : shape->rank - 3;
  gint64 channels = axis < 0 ? 1 : shape->dims[axis];
  gboolean several = options->n_mean > 1 || options->n_scale > 1;
  *n = (Normal) { several ? channels : 1, 1 };
  n->step = codes ? quant->scale[0] : 1.0;
  n->zero = codes ? quant->zero_point[0] : 0.0;
  for (gint i = several ? axis + 1 : 0; i < shape->rank; i++)
    n->run *= shape->dims[i];
  if ((options->n_mean > 1 && options->n_mean != channels) || (options->n_scale > 1 && options->n_scale != channels))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "--mean or --scale has %u values, the input has %" G_GINT64_FORMAT " channels",
                   MAX (options->n_mean, options->n_scale), channels);
      return FALSE;
    }
  for (guint c = 0; c < 4; c++)
    {
      n->mean[c] = options->n_mean > 0 ? options->mean[options->n_mean > 1 ? c : 0] : 0.0;
      n->scale[c] = options->n_scale > 0 ? options->scale[options->n_scale > 1 ? c : 0] : 1.0;
    }
  return TRUE;
}

LptTensor *
data_normalize (LptTensor *tensor, const LptValue *value, const LptDataOptions *options, GError **error)
{
  LptDType dtype = value->dtype, want = lpt_dtype_is_real (dtype) ? LPT_DTYPE_F32 : dtype;
  const LptShape *shape = lpt_tensor_shape (tensor);
  gboolean plain = options->n_mean == 0 && options->n_scale == 0;
  Normal n;
  if (plain && lpt_tensor_dtype (tensor) == want)
    return lpt_tensor_ref (tensor);
  if (plain && value->quant == NULL && lpt_dtype_is_integer (lpt_tensor_dtype (tensor)) && lpt_dtype_is_integer (want))
    return lpt_tensor_convert (tensor, want, error);
  if (!find_normal (shape, value, options, &n, error))
    return NULL;
  g_autoptr (LptTensor) real = lpt_tensor_new (LPT_DTYPE_F32, shape, error);
  g_autofree float *from = real != NULL ? lpt_tensor_to_f32 (tensor, error) : NULL;
  if (from == NULL)
    return NULL;
  float *out = lpt_tensor_writable (real);
  for (gint64 i = 0, k = 0, count = lpt_tensor_count (tensor); i < count; i += n.run, k = (k + 1) % n.channels)
    for (gint64 j = i; j < i + n.run; j++)
      out[j] = (float) (((double) from[j] - n.mean[k]) / n.scale[k] / n.step + n.zero);
  return want == LPT_DTYPE_F32 ? g_steal_pointer (&real)
                               : lpt_tensor_convert_round (real, want, LPT_ROUND_HALF_EVEN, error);
}

gboolean
data_misses_codes (LptTensor *raw, const LptValue *value, const LptDataOptions *options, double *low, double *high)
{
  const LptQuant *quant = value->quant;
  guint n = MAX (MAX (options->n_mean, options->n_scale), 1);
  double least = HUGE_VAL, most = -HUGE_VAL, is_low = HUGE_VAL, is_high = -HUGE_VAL, first, last;
  if (quant == NULL || quant->n != 1 || lpt_dtype_bits (value->dtype) != 8
      || (options->n_mean + options->n_scale == 0 && lpt_tensor_dtype (raw) == value->dtype))
    return FALSE;
  for (gint64 i = 0, count = lpt_tensor_count (raw); i < count; i++)
    {
      double x = lpt_tensor_get_f64 (raw, i);
      least = MIN (least, x);
      most = MAX (most, x);
    }
  for (guint c = 0; c < n; c++)
    {
      double mean = options->n_mean > 0 ? options->mean[options->n_mean > 1 ? c : 0] : 0.0,
             scale = options->n_scale > 0 ? options->scale[options->n_scale > 1 ? c : 0] : 1.0;
      double a = (least - mean) / scale, b = (most - mean) / scale;
      is_low = MIN (is_low, MIN (a, b));
      is_high = MAX (is_high, MAX (a, b));
    }
  lpt_quant_interval (quant, value->dtype, &first, &last);
  const double half = (last - first) / 2.0;
  *low = is_low;
  *high = is_high;
  return is_low < first - half || is_high > last + half;
}

/* --- images ------------------------------------------------------------------ */

/* [y, y + height) x [x, x + width) of @image; what lies outside is @pad. */
static LptTensor *
cut (LptTensor *image, gint64 y, gint64 x, gint64 height, gint64 width, guint8 pad, GError **error)
{
  const LptShape *has = lpt_tensor_shape (image);
  LptShape shape = { 3, { height, width, has->dims[2] } };
  LptTensor *result = lpt_tensor_new (LPT_DTYPE_U8, &shape, error);
  if (result == NULL)
    return NULL;
  const guint8 *in = lpt_tensor_data (image);
  guint8 *out = lpt_tensor_writable (result);
  gint64 c = has->dims[2];
  memset (out, pad, lpt_tensor_size (result));
  for (gint64 row = 0; row < height; row++)
    {
      gint64 from = MAX (0, -x), to = MIN (width, has->dims[1] - x);
      if (row + y >= 0 && row + y < has->dims[0] && from < to)
        memcpy (out + (row * width + from) * c, in + ((row + y) * has->dims[1] + from + x) * c,
                (gsize) ((to - from) * c));
    }
  return result;
}

/* Half to even, as offsets of crops are rounded. */
static gint64
half (gint64 x)
{
  return (gint64) rint ((double) x / 2.0);
}

static LptTensor *
resize (LptTensor *image, gint64 height, gint64 width, const LptDataOptions *options, GError **error)
{
  gint64 h = lpt_tensor_shape (image)->dims[0], w = lpt_tensor_shape (image)->dims[1];
  if (options->fit == LPT_FIT_BILINEAR)
    return lpt_image_resize (image, height, width, error);
  double factor = MIN ((double) height / (double) h, (double) width / (double) w);
  gint64 nh, nw;
  if (options->fit == LPT_FIT_CROP)
    {
      gint64 shorter =
        options->shorter > 0 ? options->shorter : (gint64) rint ((double) MIN (height, width) * 256.0 / 224.0);
      nh = h <= w ? shorter : shorter * h / w;
      nw = h <= w ? shorter * w / h : shorter;
    }
  else
    {
      nh = MAX (1, (gint64) rint ((double) h * factor));
      nw = MAX (1, (gint64) rint ((double) w * factor));
    }
  g_autoptr (LptTensor) scaled = lpt_image_resize (image, nh, nw, error);
  return scaled == NULL
           ? NULL
           : cut (scaled, half (nh - height), half (nw - width), height, width, (guint8) options->pad, error);
}

/* One channel: (19595 R + 38470 G + 7471 B) / 65536, rounded. Else RGB or BGR. */
static LptTensor *
pick_channels (LptTensor *image, LptChannels channels, GError **error)
{
  LptShape shape = *lpt_tensor_shape (image);
  if (channels == LPT_CHANNELS_RGB)
    return lpt_tensor_ref (image);
  gint64 pixels = shape.dims[0] * shape.dims[1];
  shape.dims[2] = channels == LPT_CHANNELS_GRAY ? 1 : 3;
  LptTensor *result = lpt_tensor_new (LPT_DTYPE_U8, &shape, error);
  if (result == NULL)
    return NULL;
  const guint8 *in = lpt_tensor_data (image);
  guint8 *out = lpt_tensor_writable (result);
  for (gint64 i = 0; i < pixels; i++, in += 3)
    if (channels == LPT_CHANNELS_GRAY)
      *out++ = (guint8) ((in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 0x8000u) >> 16);
    else
      for (gint c = 2; c >= 0; c--)
        *out++ = in[c];
  return result;
}

LptTensor *
data_fit_image (LptTensor *image, const LptValue *value, const LptDataOptions *options, GError **error)
{
  const LptShape *model = &value->shape;
  if (model->rank != 4 && model->rank != 3)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the input \"%s\" takes no image: its rank is %d",
                   value->producer->name, model->rank);
      return NULL;
    }
  gint at = model->rank - 3;
  gboolean last = data_layout (model, options->layout) == LPT_LAYOUT_NHWC;
  gint64 c = model->dims[last ? at + 2 : at], h = model->dims[last ? at : at + 1],
         w = model->dims[last ? at + 1 : at + 2];
  LptChannels channels = c == 1 ? LPT_CHANNELS_GRAY : options->channels;
  g_autoptr (LptTensor) picked = pick_channels (image, channels, error);
  if (picked == NULL)
    return NULL;
  const LptShape *has = lpt_tensor_shape (picked);
  if (c != LPT_DYNAMIC && c != has->dims[2])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "the image has %" G_GINT64_FORMAT " channels, the input \"%s\" %" G_GINT64_FORMAT
                   " (--layout, --channels)",
                   has->dims[2], value->producer->name, c);
      return NULL;
    }
  g_autoptr (LptTensor) fitted =
    resize (picked, h != LPT_DYNAMIC ? h : has->dims[0], w != LPT_DYNAMIC ? w : has->dims[1], options, error);
  if (fitted == NULL)
    return NULL;
  has = lpt_tensor_shape (fitted);
  LptShape four = { 4, { 1, has->dims[0], has->dims[1], has->dims[2] } };
  LptShape first = { 4, { 1, has->dims[2], has->dims[0], has->dims[1] } };
  g_autoptr (LptTensor) placed = lpt_tensor_reshape (fitted, &four, error);
  g_autoptr (LptTensor) ordered = placed == NULL ? NULL
                                  : last         ? lpt_tensor_ref (placed)
                                                 : data_transpose (placed, &first, error);
  if (ordered == NULL || model->rank == 4)
    return g_steal_pointer (&ordered);
  LptShape three = lpt_shape_make (3, lpt_tensor_shape (ordered)->dims + 1);
  return lpt_tensor_reshape (ordered, &three, error);
}
