/* onnx-map-signal.c - ONNX DFT, STFT, windows and mel weights
 *
 *   DFT    [..., 1] one-sided           RDFT
 *          [..., 2] one-sided, inverse  IRDFT: a real signal, [..., 1]
 *          else                         DFT or IDFT of pairs; a real signal gets zeros beside it
 *   STFT   [B, T] or [B, T, 1], one-sided    STFT; no window is one of ones
 *          else                         frames by a Gather, times the window, DFT; one-sided the first n / 2 + 1 of it
 *   windows of N points, n = 0 ... N - 1, t = 2 pi n / N (periodic) or / (N - 1):
 *          c0 - c1 cos t + c2 cos 2 t
 *   MelWeightMatrix   triangles over the bins of a transform, whose corners are floor ((length + 1) f / rate) for
 *          frequencies f that lie evenly on the mel scale 2595 log10 (1 + f / 700); its inputs are constant
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <math.h>

/* --- transforms ------------------------------------------------------------------ */

/* A scalar or a vector of one as a vector of one. */
static LptValue *
vector_of_one (LptOnnxNode *on,
               LptValue    *value)
{
  const gint64 one = 1;

  return lpt_onnx_reshape (on, lpt_onnx_convert (on, value, LPT_DTYPE_I64), 1, &one);
}

/* The axis that is transformed, a vector of one; it counts from the front of a signal that may lose its last axis. */
static LptValue *
transformed_axis (LptOnnxNode *on,
                  gint         rank)
{
  LptInts given = { 0 };
  gint64 axis = -2;

  if (on->since < 20)
    axis = lpt_onnx_int (on, "axis", 1);
  else if (lpt_onnx_ints_in (on, 2, &given) && given.n == 1)
    axis = given.v[0];
  lpt_ints_clear (&given);
  axis = lpt_onnx_axis (on, axis, rank);
  if (axis == rank - 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "the last axis holds the parts of a number");
  return lpt_onnx_i64 (on, 1, &axis);
}

/* A real signal [..., 1] with zeros beside it, [..., 2] */
static LptValue *
as_pairs (LptOnnxNode *on,
          LptValue    *x,
          gint         rank)
{
  LptValue *pair[2] = { x, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_like (on, x, 0)) };

  return lpt_onnx_concat (on, rank - 1, 2, pair);
}

void
lpt_onnx_map_dft (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *size = lpt_onnx_optional (on, 1), *axis;
  gboolean inverse = lpt_onnx_int (on, "inverse", 0) != 0, half = lpt_onnx_int (on, "onesided", 0) != 0;
  gint rank = lpt_onnx_rank (on, x);
  gint64 parts = rank > 1 ? x->shape.dims[rank - 1] : 0;
  LptOp op = inverse ? LPT_OP_IDFT : LPT_OP_DFT;

  if (on->error == NULL && parts != 1 && parts != 2)
    lpt_onnx_unsupported (on, "signal whose last axis is not known to be 1 or 2");
  if (half && (parts == 2) != inverse)
    lpt_onnx_unsupported (on, "onesided of %s", inverse ? "the inverse of a real signal" : "a complex signal");
  axis = transformed_axis (on, rank);
  if (on->error != NULL)
    return;
  if (half)
    op = inverse ? LPT_OP_IRDFT : LPT_OP_RDFT;
  if (op == LPT_OP_RDFT)
    x = lpt_onnx_squeeze (on, x, rank - 1);
  else if (parts == 1)
    x = as_pairs (on, x, rank);
  x = size != NULL ? lpt_onnx_emit (on, op, 3, x, axis, vector_of_one (on, size)) : lpt_onnx_emit (on, op, 2, x, axis);
  lpt_onnx_set (on, 0, op == LPT_OP_IRDFT ? lpt_onnx_unsqueeze (on, x, rank - 1) : x);
}

/* All frames of @x [B, T, parts], each of @size elements, transformed: [B, frames, size, 2], or its first half. */
static LptValue *
transform_frames (LptOnnxNode *on,
                  LptValue    *x,
                  LptValue    *window,
                  LptValue    *size,
                  LptValue    *step,
                  gboolean     half)
{
  const gint64 zero = 0, one = 1, axis = 2;
  LptValue *start, *at, *none = lpt_onnx_i64_scalar (on, 0), *next = lpt_onnx_i64_scalar (on, 1);

  /* Where frames start: 0, step, ... while a whole frame is left. */
  start = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, 1), 0), size);
  start = lpt_onnx_range (on, none, lpt_onnx_emit (on, LPT_OP_ADD, 2, start, next), step);
  at = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_unsqueeze (on, start, 1), lpt_onnx_range (on, none, size, next));
  x = lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, at, next);
  if (window != NULL)
    x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_unsqueeze (on, window, 1));
  if (x->shape.rank == 4 && x->shape.dims[3] == 1)
    x = as_pairs (on, x, 4);
  x = lpt_onnx_emit (on, LPT_OP_DFT, 2, x, lpt_onnx_i64 (on, 1, &axis));
  if (!half)
    return x;
  size = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, size, lpt_onnx_i64_scalar (on, 2));
  size = lpt_onnx_unsqueeze (on, lpt_onnx_emit (on, LPT_OP_ADD, 2, size, next), 0);
  return lpt_onnx_emit (on, LPT_OP_SLICE, 5, x, lpt_onnx_i64 (on, 1, &zero), size, lpt_onnx_i64 (on, 1, &one),
                        lpt_onnx_i64 (on, 1, &axis));
}

void
lpt_onnx_map_stft (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *step = lpt_onnx_in (on, 1), *window = lpt_onnx_optional (on, 2);
  LptValue *size = lpt_onnx_optional (on, 3);
  gboolean half = lpt_onnx_int (on, "onesided", 1) != 0;
  gint rank = lpt_onnx_rank (on, x);
  gint64 parts = rank == 3 ? x->shape.dims[2] : 1;
  LptNode *node;

  if (on->error == NULL && (rank < 2 || rank > 3))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "signal of rank %d", rank);
  if (on->error == NULL && parts != 1 && parts != 2)
    lpt_onnx_unsupported (on, "signal whose last axis is not known to be 1 or 2");
  if (size == NULL && window == NULL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "neither a window nor a frame's length");
  if (on->error != NULL)
    return;
  size = vector_of_one (on, size != NULL ? size : lpt_onnx_dim (on, window, 0));
  step = lpt_onnx_squeeze (on, vector_of_one (on, step), 0);
  if (!half || parts == 2)
    {
      x = rank == 2 ? lpt_onnx_unsqueeze (on, x, 2) : x;
      lpt_onnx_set (on, 0, transform_frames (on, x, window, lpt_onnx_squeeze (on, size, 0), step, half));
      return;
    }
  if (rank == 3)
    x = lpt_onnx_squeeze (on, x, 2);
  if (window == NULL)
    window = lpt_onnx_broadcast (on, lpt_onnx_like (on, x, 1), size);
  node = lpt_onnx_add (on, LPT_OP_STFT, 4, x, window, lpt_onnx_squeeze (on, size, 0), step);
  LPT_ATTRS (node, LptStftAttrs)->transpose_frames = FALSE;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* --- windows ----------------------------------------------------------------------- */

static LptValue *
cosine (LptOnnxNode *on,
        LptValue    *t,
        double       times,
        double       factor)
{
  LptValue *y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, t, lpt_onnx_like (on, t, times));

  y = lpt_onnx_emit (on, LPT_OP_COS, 1, y);
  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, factor));
}

/* Argument: 0 Hann, 1 Hamming, 2 Blackman. */
void
lpt_onnx_map_window_function (LptOnnxNode *on)
{
  static const double factors[][3] = { { 0.5, 0.5, 0 }, { 25.0 / 46, 21.0 / 46, 0 }, { 0.42, 0.5, 0.08 } };
  const double *c = factors[on->argument];
  const gboolean periodic = lpt_onnx_int (on, "periodic", 1) != 0;
  LptDType dtype = lpt_onnx_dtype (on, "output_datatype");
  LptValue *size = lpt_onnx_squeeze (on, vector_of_one (on, lpt_onnx_in (on, 0)), 0), *n, *t, *y;

  n = lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), size, lpt_onnx_i64_scalar (on, 1));
  if (!periodic)
    size = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, size, lpt_onnx_i64_scalar (on, 1));
  n = lpt_onnx_convert (on, n, LPT_DTYPE_F64);
  t = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, n, lpt_onnx_like (on, n, 2 * G_PI));
  t = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, t, lpt_onnx_convert (on, size, LPT_DTYPE_F64));
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, cosine (on, t, 1, -c[1]), lpt_onnx_like (on, t, c[0]));
  if (c[2] != 0)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, cosine (on, t, 2, c[2]));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, dtype != LPT_DTYPE_UNDEFINED ? dtype : LPT_DTYPE_F32));
}

/* --- mel weights --------------------------------------------------------------------- */

/* Constant input @i, one number. */
static double
constant_number (LptOnnxNode *on,
                 guint        i)
{
  LptTensor *tensor = lpt_onnx_const_in (on, i);
  double number = tensor != NULL && lpt_tensor_count (tensor) == 1 ? lpt_tensor_get_f64 (tensor, 0) : NAN;

  lpt_onnx_in (on, i);
  if (on->error == NULL && !(fabs (number) <= G_MAXINT32))
    lpt_onnx_unsupported (on, "input %u that is not one constant number", i);
  return on->error == NULL ? number : 1;
}

/* Weights of one triangle, column @column of @columns. */
static void
fill_triangle (double *weights,
               gint64  column,
               gint64  columns,
               gint64  low,
               gint64  centre,
               gint64  high)
{
  for (gint64 bin = low; bin <= centre; bin++)
    weights[bin * columns + column] = centre > low ? (double) (bin - low) / (double) (centre - low) : 1;
  for (gint64 bin = centre; bin < high; bin++)
    weights[bin * columns + column] = (double) (high - bin) / (double) (high - centre);
}

/* A few numbers may ask for gigabytes; 512 triangles over a transform of 65,536 are as many. */
#define MAX_WEIGHTS (1 << 24)

/* Inputs: number of triangles, length of the transform, samples in a second, lowest and highest frequency */
void
lpt_onnx_map_mel_weight_matrix (LptOnnxNode *on)
{
  double columns = constant_number (on, 0), length = constant_number (on, 1), rate = constant_number (on, 2);
  double low = 2595 * log10 (1 + constant_number (on, 3) / 700);
  double high = 2595 * log10 (1 + constant_number (on, 4) / 700);
  LptDType dtype = lpt_onnx_dtype (on, "output_datatype");
  gint64 rows = (gint64) length / 2 + 1, n = (gint64) columns, corners[3] = { 0 };
  LptShape shape = { .rank = 2, .dims = { rows, n } };
  g_autofree double *weights = NULL;

  if (on->error == NULL && (n < 1 || length < 1 || rate < 1 || !(low >= 0 && high >= low)))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%g triangles over %g samples at %g per second", columns, length, rate);
  if (on->error == NULL && rows > MAX_WEIGHTS / n)
    lpt_onnx_unsupported (on, "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " weights", rows, n);
  weights = on->error == NULL ? g_try_new0 (double, (gsize) (rows * n)) : NULL;
  for (gint64 i = 0; i < n + 2 && weights != NULL; i++)
    {
      double f = 700 * (pow (10, (low + (double) i * ((high - low) / (double) (n + 2))) / 2595) - 1);
      double bin = floor ((length + 1) * f / rate);

      if (!(bin >= 0 && bin < (double) rows))
        {
          lpt_onnx_fail (on, LPT_ERROR_INVALID, "%g Hz lies above half of the sampling rate", f);
          return;
        }
      corners[0] = corners[1];
      corners[1] = corners[2];
      corners[2] = (gint64) bin;
      if (i >= 2)
        fill_triangle (weights, i - 2, n, corners[0], corners[1], corners[2]);
    }
  if (weights != NULL)
    {
      dtype = dtype != LPT_DTYPE_UNDEFINED ? dtype : LPT_DTYPE_F32;
      lpt_onnx_set (on, 0, lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (dtype, &shape, weights, NULL)));
    }
  else if (on->error == NULL)
    lpt_onnx_fail (on, LPT_ERROR_MEMORY, "no memory for the weights");
}
