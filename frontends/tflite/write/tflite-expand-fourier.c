/* tflite-expand-fourier.c - Fourier transforms as products with the roots of unity, spectra of frames
 *
 *     RDFT           along one axis: [.., n] times [n, 2 bins], the cosines and sines; where RFFT2D does it, it stays
 *     DFT, IDFT      along one axis in front of the parts: [.., 2 n] times [2 n, 2 n]
 *     IRDFT          [.., 2 bins] times [2 bins, n], inner bins twice
 *     STFT           Gather of the frames, times the window, RDFT
 *
 * Along one axis of known length at a time, the last one; another goes there and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include <math.h>

#define MAX_PRODUCT (G_GINT64_CONSTANT (1) << 24)

/* Element (j, part p) of the input gives to (k, part q) of the output: complex numbers are [re, im] pairs, real ones
 * have one part; the angle is sign 2 pi j k / n. */
static LptValue *
roots (LptTflExpand *x, gint64 n, gint64 ins, guint in_parts, gint64 outs, guint out_parts)
{
  gboolean inverse = x->node->op == LPT_OP_IDFT || x->node->op == LPT_OP_IRDFT;
  LptShape shape = lpt_shape_make (2, (gint64[]) { ins * in_parts, outs * out_parts });
  if (shape.dims[0] > MAX_PRODUCT / MAX (shape.dims[1], 1))
    {
      lpt_tfl_x_decline (x);
      return NULL;
    }
  LptTensor *matrix = lpt_tensor_new (LPT_DTYPE_F32, &shape, &x->error);
  for (gint64 i = 0; matrix != NULL && i < shape.dims[0] * shape.dims[1]; i++)
    {
      gint64 j = i / shape.dims[1] / in_parts, p = i / shape.dims[1] % in_parts;
      gint64 k = i % shape.dims[1] / out_parts, q = i % out_parts;
      double angle = (inverse ? 2 : -2) * G_PI * (double) (j * k % n) / (double) n;
      double value = p == q ? cos (angle) : p == 0 ? sin (angle) : -sin (angle);
      /* Half of the line stands for all: what has a twin counts twice. */
      if (x->node->op == LPT_OP_IRDFT && j > 0 && 2 * j != n)
        value *= 2;
      ((float *) lpt_tensor_writable (matrix))[i] = (float) (inverse ? value / (double) n : value);
    }
  return lpt_tfl_x_tensor (x, matrix);
}

/* @v [.., n, ..] with axis @at cut or filled up with zeros to @n. */
static LptValue *
fitted (LptTflExpand *x, LptValue *v, gint at, gint64 n)
{
  gint64 none[LPT_MAX_RANK] = { 0 }, behind[LPT_MAX_RANK] = { 0 }, have = v->shape.dims[at];
  guint rank = (guint) v->shape.rank;
  if (have >= n)
    return have > n ? lpt_tfl_x_slice (x, v, at, 0, n) : v;
  behind[at] = n - have;
  LptValue *in[] = { v, lpt_tfl_x_i64 (x, rank, none), lpt_tfl_x_i64 (x, rank, behind), lpt_tfl_x_like (x, v, 0) };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_PAD, 1, 4, in);
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
  return lpt_tfl_x_done (x, node);
}

/* Axes @a and @b exchanged. */
static LptValue *
exchanged (LptTflExpand *x, LptValue *v, gint a, gint b)
{
  gint64 order[LPT_MAX_RANK];
  for (gint i = 0; i < v->shape.rank; i++)
    order[i] = i == a ? b : i == b ? a : i;
  return a == b ? v : lpt_tfl_x_transpose (x, v, (guint) v->shape.rank, order);
}

/* The one axis of the transform, and its length; FALSE: several, or not known. */
static gboolean
read_axis (LptTflExpand *x, gint rank, const LptShape *shape, gint *axis, gint64 *n)
{
  LptInts axes = { 0 }, sizes = { 0 };
  gboolean half = x->node->op == LPT_OP_IRDFT;
  gboolean ok = lpt_tfl_x_ints (x, 1, &axes) && axes.n == 1 && lpt_axis_normalize (axes.v[0], rank, axis)
                && (lpt_node_in (x->node, 2) == NULL || lpt_tfl_x_ints (x, 2, &sizes));
  if (ok)
    {
      gint64 own = half ? 2 * (shape->dims[*axis] - 1) : shape->dims[*axis];
      *n = lpt_ints_get (&sizes, 0, -1) < 0 ? own : sizes.v[0];
    }
  lpt_ints_clear (&axes);
  lpt_ints_clear (&sizes);
  return ok && *n > 0;
}

void
lpt_tfl_expand_dft (LptTflExpand *x)
{
  gboolean real_in = x->node->op == LPT_OP_RDFT, real_out = x->node->op == LPT_OP_IRDFT;
  LptValue *v = lpt_tfl_x_in (x, 0);
  LptShape shape = lpt_tfl_x_shape (x, v);
  gint rank = shape.rank - !real_in, axis;
  gint64 n, dims[LPT_MAX_RANK];
  if (x->declined || rank < 1 || !read_axis (x, rank, &shape, &axis, &n))
    return;
  if (real_in && axis == rank - 1 && n > 1 && (n & (n - 1)) == 0)
    return;
  gint64 ins = real_out ? n / 2 + 1 : n, outs = real_in ? n / 2 + 1 : n;
  v = exchanged (x, fitted (x, v, axis, ins), axis, rank - 1);
  LptValue *matrix = roots (x, n, ins, real_in ? 1 : 2, outs, real_out ? 1 : 2);
  if (x->declined || x->error != NULL)
    return;
  for (gint i = 0; i < rank; i++)
    dims[i] = v->shape.dims[i];
  dims[rank - 1] = ins * (real_in ? 1 : 2);
  v = lpt_tfl_x_matmul (x, lpt_tfl_x_reshape (x, v, (guint) rank, dims), matrix, FALSE);
  dims[rank - 1] = outs;
  dims[rank] = 2;
  if (!real_out)
    v = lpt_tfl_x_reshape (x, v, (guint) rank + 1, dims);
  lpt_tfl_x_set (x, 0, exchanged (x, v, axis, rank - 1));
}

/* Inputs: signal [.., samples], window, frame size, step. A shorter window stands in the middle of the frame. */
void
lpt_tfl_expand_stft (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0), *window = lpt_tfl_x_in (x, 1);
  LptShape shape = lpt_tfl_x_shape (x, v), own = lpt_tfl_x_shape (x, window);
  LptInts size = { 0 }, step = { 0 };
  if (!x->declined && own.rank == 1 && lpt_tfl_x_ints (x, 2, &size) && lpt_tfl_x_ints (x, 3, &step) && size.n == 1
      && step.n == 1 && size.v[0] > 0 && step.v[0] > 0 && own.dims[0] == size.v[0])
    {
      gint64 samples = shape.dims[shape.rank - 1];
      gint64 frames = samples >= size.v[0] ? (samples - size.v[0]) / step.v[0] + 1 : 0;
      LptShape square = lpt_shape_make (2, (gint64[]) { frames, size.v[0] });
      LptTensor *places = NULL;
      if (frames > 0 && frames < MAX_PRODUCT / size.v[0])
        places = lpt_tensor_new (LPT_DTYPE_I64, &square, &x->error);
      for (gint64 i = 0; places != NULL && i < frames * size.v[0]; i++)
        ((gint64 *) lpt_tensor_writable (places))[i] = i / size.v[0] * step.v[0] + i % size.v[0];
      if (places != NULL)
        {
          LptValue *parts = lpt_tfl_x_gather (x, v, lpt_tfl_x_tensor (x, places), shape.rank - 1);
          parts = lpt_tfl_x_emit (x, LPT_OP_MULTIPLY, 2, parts, window);
          LptValue *y = lpt_tfl_x_emit (x, LPT_OP_RDFT, 2, parts, lpt_tfl_x_i64 (x, 1, (gint64[]) { shape.rank }));
          if (LPT_ATTRS (x->node, LptStftAttrs)->transpose_frames)
            y = exchanged (x, y, shape.rank - 1, shape.rank);
          lpt_tfl_x_set (x, 0, y);
        }
    }
  lpt_ints_clear (&size);
  lpt_ints_clear (&step);
}
