/* tflite-map-audio.c - the audio operators of TensorFlow: AudioSpectrogram and Mfcc
 *
 *   AudioSpectrogram   [samples, channels] -> [channels, slices, bins]: slices of window_size samples, a stride apart,
 *                      times the Hann window 1/2 - cos (2 pi i / n) / 2, filled up to a power of two,
 *                      |Fourier transform|^2 or its root
 *   Mfcc               the root of these, summed by triangles that are equally wide on the mel scale,
 *                      1127 ln (1 + f / 700); the logarithm of what is at least 1e-12; the first coefficients of its
 *                      cosine transform
 *
 * The window, the triangles and the cosines are constants: the number of samples and the sample rate are known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "frontends/tflite/tflite-flex.h"

#include <math.h>

#define MAX_LENGTH (1 << 20)

static double
option (LptTflOp *op, const char *key, double fallback)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  return bytes.n > 0 ? lpt_tfl_flex_number (op->flat->data + bytes.at, bytes.n, key, fallback) : fallback;
}

static gint64
length_option (LptTflOp *op, const char *key, double fallback)
{
  double value = option (op, key, fallback);
  if (!(value >= 1 && value <= MAX_LENGTH))
    lpt_tfl_invalid (op, "%s is %g", key, value);
  return value >= 1 && value <= MAX_LENGTH ? (gint64) value : 1;
}

static LptTensor *
new_matrix (LptTflOp *op, gint64 rows, gint64 columns, LptDType dtype)
{
  LptShape shape = lpt_shape_make (2, (gint64[]) { rows, columns });
  LptTensor *tensor = op->error == NULL ? lpt_tensor_new (dtype, &shape, &op->error) : NULL;
  return tensor;
}

/* --- AudioSpectrogram ---------------------------------------------------------------- */

/* Which samples each slice has. */
static LptValue *
slice_places (LptTflOp *op, gint64 slices, gint64 window, gint64 stride)
{
  LptTensor *places = new_matrix (op, slices, window, LPT_DTYPE_I64);
  for (gint64 i = 0; places != NULL && i < slices * window; i++)
    ((gint64 *) lpt_tensor_writable (places))[i] = i / window * stride + i % window;
  return lpt_tfl_tensor_value (op, places, NULL);
}

static LptValue *
hann (LptTflOp *op, gint64 n)
{
  LptTensor *window = new_matrix (op, 1, n, LPT_DTYPE_F32);
  for (gint64 i = 0; window != NULL && i < n; i++)
    ((float *) lpt_tensor_writable (window))[i] = (float) (0.5 - 0.5 * cos (2 * G_PI * (double) i / (double) n));
  return lpt_tfl_tensor_value (op, window, NULL);
}

static LptValue *
squared_part (LptTflOp *op, LptValue *x, gint64 which)
{
  LptValue *part = lpt_tfl_squeeze (op, lpt_tfl_slice (op, x, 3, which, which + 1), 3);
  return lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, part, part);
}

void
lpt_tfl_map_audio_spectrogram (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gint64 window = length_option (op, "window_size", 0), stride = length_option (op, "stride", 0), size = 1;
  if (lpt_tfl_rank (op, x) != 2 || x->dtype != LPT_DTYPE_F32)
    lpt_tfl_invalid (op, "%s samples of rank %d, not f32 of rank 2", lpt_dtype_name (x->dtype), x->shape.rank);
  else if (x->shape.dims[0] == LPT_DYNAMIC)
    lpt_tfl_unsupported (op, "an unknown number of samples");
  if (op->error == NULL && window < 2)
    lpt_tfl_invalid (op, "window_size is %" G_GINT64_FORMAT, window);
  if (op->error != NULL)
    return;
  gint64 samples = x->shape.dims[0], slices = samples < window ? 0 : (samples - window) / stride + 1;
  if (slices > MAX_LENGTH || slices * window > ((gint64) 1 << 28))
    lpt_tfl_unsupported (op, "%" G_GINT64_FORMAT " slices of %" G_GINT64_FORMAT " samples", slices, window);
  while (size < window)
    size *= 2;
  if (op->error != NULL)
    return;
  LptNode *node = lpt_tfl_add (op, LPT_OP_GATHER, 3, lpt_tfl_transpose (op, x, 2, (gint64[]) { 1, 0 }),
                               slice_places (op, slices, window, stride), lpt_tfl_i64_scalar (op, 1));
  node->opset = 8;
  LptValue *frames = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, lpt_tfl_done (op, node), hann (op, window));
  LptValue *bins = lpt_tfl_emit (op, LPT_OP_RDFT, 3, frames, lpt_tfl_i64_one (op, 2), lpt_tfl_i64_one (op, size));
  LptValue *y = lpt_tfl_emit (op, LPT_OP_ADD, 2, squared_part (op, bins, 0), squared_part (op, bins, 1));
  lpt_tfl_set (op, 0, option (op, "magnitude_squared", 0) != 0 ? y : lpt_tfl_emit (op, LPT_OP_SQRT, 1, y));
}

/* --- Mfcc ------------------------------------------------------------------------------ */

static double
mel_of (double frequency)
{
  return 1127 * log1p (frequency / 700);
}

/* What each bin gives to each of @channels triangles: the two whose centres are around its frequency share it. */
static LptValue *
triangles (LptTflOp *op, gint64 bins, gint64 channels, double rate)
{
  double lower = option (op, "lower_frequency_limit", 20), upper = option (op, "upper_frequency_limit", 4000);
  double step = 0.5 * rate / (double) MAX (bins - 1, 1), low = mel_of (lower);
  double spacing = (mel_of (upper) - low) / (double) (channels + 1);
  LptTensor *tensor = new_matrix (op, bins, channels, LPT_DTYPE_F32);
  if (!(lower >= 0 && upper > lower && step > 0) || bins < 2)
    lpt_tfl_invalid (op, "frequencies from %g to %g of %" G_GINT64_FORMAT " bins at %g", lower, upper, bins, rate);
  if (tensor == NULL || op->error != NULL)
    {
      g_clear_pointer (&tensor, lpt_tensor_unref);
      return lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
    }
  float *to = lpt_tensor_writable (tensor);
  gint64 first = (gint64) MIN (1.5 + lower / step, (double) bins);
  gint64 last = (gint64) MIN (upper / step, (double) bins - 1);
  for (gint64 i = 0; i < bins * channels; i++)
    to[i] = 0;
  for (gint64 i = first; i <= last; i++)
    {
      double at = (mel_of ((double) i * step) - low) / spacing;      /* in triangles; the centre of c is at c + 1 */
      gint64 below = (gint64) MIN (ceil (at), (double) channels + 1) - 2;
      double weight = (double) below + 2 - at;                      /* of the one whose centre is below */
      if (below >= 0 && below < channels)
        to[i * channels + below] = (float) weight;
      if (below + 1 >= 0 && below + 1 < channels)
        to[i * channels + below + 1] = (float) (1 - weight);
    }
  return lpt_tfl_tensor_value (op, tensor, NULL);
}

/* [channels, n]: sqrt (2 / channels) cos (pi / channels i (j + 1/2)) */
static LptValue *
cosines (LptTflOp *op, gint64 channels, gint64 n)
{
  LptTensor *tensor = new_matrix (op, channels, n, LPT_DTYPE_F32);
  for (gint64 k = 0; tensor != NULL && k < channels * n; k++)
    {
      double angle = G_PI / (double) channels * (double) (k % n) * ((double) (k / n) + 0.5);
      ((float *) lpt_tensor_writable (tensor))[k] = (float) (sqrt (2.0 / (double) channels) * cos (angle));
    }
  return lpt_tfl_tensor_value (op, tensor, NULL);
}

void
lpt_tfl_map_mfcc (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptTensor *rate = lpt_tfl_const_in (op, 1);
  gint64 channels = length_option (op, "filterbank_channel_count", 40);
  gint64 n = length_option (op, "dct_coefficient_count", 13);
  if (lpt_tfl_rank (op, x) != 3 || x->dtype != LPT_DTYPE_F32)
    lpt_tfl_invalid (op, "a spectrogram of rank %d of %s, not f32 of rank 3", x->shape.rank, lpt_dtype_name (x->dtype));
  else if (rate == NULL)
    lpt_tfl_unsupported (op, "a sample rate that is not constant: its filters would be another matrix for each");
  else if (x->shape.dims[2] == LPT_DYNAMIC)
    lpt_tfl_unsupported (op, "an unknown number of bins");
  else if (lpt_tensor_count (rate) != 1)
    lpt_tfl_invalid (op, "%" G_GINT64_FORMAT " sample rates", lpt_tensor_count (rate));
  if (op->error == NULL && (n > channels || channels > x->shape.dims[2]))
    lpt_tfl_invalid (op, "%d coefficients of %d channels of %d bins", (int) n, (int) channels, (int) x->shape.dims[2]);
  if (op->error != NULL)
    return;
  LptValue *bank = triangles (op, x->shape.dims[2], channels, lpt_tensor_get_f64 (rate, 0));
  LptValue *y = lpt_tfl_emit (op, LPT_OP_MATMUL, 2, lpt_tfl_emit (op, LPT_OP_SQRT, 1, x), bank);
  y = lpt_tfl_emit (op, LPT_OP_MAXIMUM, 2, y, lpt_tfl_scalar (op, LPT_DTYPE_F32, 1e-12));
  y = lpt_tfl_emit (op, LPT_OP_MATMUL, 2, lpt_tfl_emit (op, LPT_OP_LOG, 1, y), cosines (op, channels, n));
  lpt_tfl_set (op, 0, y);
}
