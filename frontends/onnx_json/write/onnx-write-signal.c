/* onnx-write-signal.c - Fourier transforms in ONNX
 *
 * ONNX's DFT has one axis, and a signal a last axis of one or two parts: a transform over several axes is one DFT after
 * the other. The half of a real signal's numbers belongs to the last axis of the list, which RDFT transforms first and
 * IRDFT last. STFT is onesided; a window in the middle of a longer frame, and IRDFT of other lengths than n numbers
 * have, are not written: runtimes differ about the latter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

/* One axis of @x; @length -1 = as long as it is. From opset 20 on the axis is an input. */
static const char *
transform (LptOnnxWriter *w,
           const char    *x,
           gint64         axis,
           gint64         length,
           gboolean       inverse,
           gboolean       half)
{
  const char *output = lpt_onnx_w_temp (w, "DFT");
  const char *size = length >= 0 ? lpt_onnx_w_scalar (w, "length", LPT_DTYPE_I64, (double) length) : "";
  const gboolean given = w->opset >= 20;
  const char *along = given ? lpt_onnx_w_scalar (w, "axis", LPT_DTYPE_I64, (double) axis) : "";
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "DFT", output, given ? 3 : length >= 0 ? 2 : 1, x, size, along);

  if (!given)
    lpt_onnx_w_int (w, y, "axis", axis);
  lpt_onnx_w_int (w, y, "inverse", inverse);
  lpt_onnx_w_int (w, y, "onesided", half);
  return output;
}

/* Does a real line of @length have @n numbers? */
static gboolean
fits (gint64 length,
      gint64 n)
{
  return length < 0 || n < 0 || length / 2 + 1 == n;
}

/* @x along all axes; @length of each or none. */
static const char *
transform_all (LptOnnxWriter  *w,
               const LptShape *shape,
               const char     *x,
               const LptInts  *axes,
               const LptInts  *lengths,
               gboolean        inverse,
               gboolean        real)
{
  gint rank = shape->rank - (real && !inverse ? 0 : 1), axis = 0;

  for (guint k = 0; k < axes->n; k++)
    {
      guint i = real && !inverse ? axes->n - 1 - k : k;
      gboolean half = real && i == axes->n - 1;
      gint64 length = i < lengths->n ? lengths->v[i] : -1;

      if (!lpt_axis_normalize (axes->v[i], rank, &axis))
        lpt_onnx_w_fail (w, "axis %" G_GINT64_FORMAT, axes->v[i]);
      else if (half && inverse && !fits (length, shape->dims[axis]))
        lpt_onnx_w_fail (w, "length %" G_GINT64_FORMAT " of the inverse", length);
      else
        x = transform (w, x, axis, length, inverse, half);
    }
  return x;
}

static void
write_transform (LptOnnxWriter *w,
                 LptNode       *node,
                 gboolean       inverse,
                 gboolean       real)
{
  const LptShape *shape = &lpt_node_in (node, 0)->shape;
  LptInts axes = { 0 }, lengths = { 0 };
  const gint64 last = -1;
  const char *x = IN (0);

  if (shape->rank == LPT_DYNAMIC)
    lpt_onnx_w_fail (w, "unknown rank");
  else if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes)
           && (lpt_node_in (node, 2) == NULL || lpt_onnx_w_const_ints (w, node, 2, "lengths", &lengths)))
    {
      if (real && !inverse)
        x = lpt_onnx_w_step (w, "Unsqueeze", 2, x, lpt_onnx_w_i64s (w, "axis", 1, &last));
      x = transform_all (w, shape, x, &axes, &lengths, inverse, real);
      if (real && inverse)
        lpt_onnx_w_node (w, "Squeeze", OUT (0), 2, x, lpt_onnx_w_i64s (w, "axis", 1, &last));
      else
        lpt_onnx_w_node (w, "Identity", OUT (0), 1, x);
    }
  lpt_ints_clear (&axes);
  lpt_ints_clear (&lengths);
}

/* DFT and IDFT; "inverse" or NULL. */
void
lpt_onnx_write_dft (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  write_transform (w, node, onnx != NULL, FALSE);
}

/* RDFT and IRDFT */
void
lpt_onnx_write_real_dft (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  write_transform (w, node, onnx != NULL, TRUE);
}

void
lpt_onnx_write_stft (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  const LptShape *signal = &lpt_node_in (node, 0)->shape, *window = &lpt_node_in (node, 1)->shape;
  const gint64 last = 2, first = 0, bins_first[] = { 0, 2, 1, 3 };
  gint64 size = lpt_onnx_w_const_int (w, node, 2, "frame length");
  const char *x = IN (0), *output = lpt_onnx_w_temp (w, "STFT");
  gboolean single = signal->rank == 1, turned = LPT_ATTRS (node, LptStftAttrs)->transpose_frames;

  if (signal->rank == LPT_DYNAMIC || window->rank != 1 || window->dims[0] != size)
    lpt_onnx_w_fail (w, "a window that is not known to be as long as the frames");
  if (single)
    x = lpt_onnx_w_step (w, "Unsqueeze", 2, x, lpt_onnx_w_i64s (w, "axis", 1, &first));
  x = lpt_onnx_w_step (w, "Unsqueeze", 2, x, lpt_onnx_w_i64s (w, "axis", 1, &last));
  lpt_onnx_w_node (w, "STFT", turned || single ? output : OUT (0), 4, x, I64 (3), IN (1), I64 (2));
  if (turned && single)
    output = lpt_onnx_w_transposed (w, output, 4, bins_first);
  else if (turned)
    lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", OUT (0), 1, output), "perm", 4, bins_first);
  if (single)
    lpt_onnx_w_node (w, "Squeeze", OUT (0), 2, output, lpt_onnx_w_i64s (w, "axis", 1, &first));
}
