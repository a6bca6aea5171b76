/* signal.c - inference of the Fourier transforms: DFT, IDFT, RDFT, IRDFT, STFT, ISTFT
 *
 * Complex numbers are pairs along a last axis of length 2, which the axes of a transform do not count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

static gboolean
want_pairs (const LptShape  *shape,
            GError         **error)
{
  gint64 last = shape->rank > 0 ? shape->dims[shape->rank - 1] : LPT_DYNAMIC;

  if (shape->rank == 0 || (shape->rank > 0 && last != LPT_DYNAMIC && last != 2))
    {
      g_autofree char *text = lpt_infer_text (shape);

      return lpt_infer_fail (error, "the data have shape %s: complex numbers need a last axis of length 2", text);
    }

  return TRUE;
}

/* Output length along the last axis of the transform: a real line of n has n / 2 + 1 complex numbers. */
static gint64
half_length (gint64 length)
{
  return length == LPT_DYNAMIC ? LPT_DYNAMIC : length / 2 + 1;
}

static gint64
whole_length (gint64 length)
{
  return length == LPT_DYNAMIC ? LPT_DYNAMIC : length > 0 ? 2 * (length - 1) : 0;
}

gboolean
lpt_infer_dft (LptNode *node,
               GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0), out;
  gboolean pairs_in = node->op != LPT_OP_RDFT, pairs_out = node->op != LPT_OP_IRDFT;
  gboolean sized = node->n_in > 2 && node->in[2].value != NULL, axes_known, sizes_known = FALSE;
  gboolean taken[LPT_MAX_RANK] = { FALSE };
  g_auto (LptInts) axes = { 0 }, sizes = { 0 };
  gint rank;

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_index (node, 1, "axes", error) ||
      (sized && !lpt_infer_want_index (node, 2, "signal_size", error)) || (pairs_in && !want_pairs (&shape, error)))
    return FALSE;
  if (shape.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, lpt_infer_dtype_in (node, 0), LPT_DYNAMIC, error);
  rank = shape.rank - (pairs_in ? 1 : 0);
  if (rank + (pairs_out ? 1 : 0) > LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank %d", rank + 1);
  axes_known = lpt_infer_ints_in (node, 1, &axes) && lpt_infer_all_known (&axes);
  if (sized)
    sizes_known = lpt_infer_ints_in (node, 2, &sizes);
  if (axes_known && sizes_known && axes.n != sizes.n)
    return lpt_infer_fail (error, "%u axes with %u sizes", axes.n, sizes.n);
  if (axes_known && axes.n == 0)
    return lpt_infer_fail (error, "no axes");

  out = lpt_shape_unknown (rank + (pairs_out ? 1 : 0));
  if (pairs_out)
    out.dims[rank] = 2;
  for (gint i = 0; axes_known && i < rank; i++)
    out.dims[i] = shape.dims[i];
  for (guint i = 0; axes_known && i < axes.n; i++)
    {
      gboolean last = i + 1 == axes.n;
      gint64 length, given = sized ? LPT_UNKNOWN : -1;
      gint axis;

      if (!lpt_infer_axis (axes.v[i], rank, &axis, error))
        return FALSE;
      if (taken[axis])
        return lpt_infer_fail (error, "axis %d stands in the list twice", axis);
      taken[axis] = TRUE;
      if (sizes_known)
        given = sizes.v[i];
      if (given != LPT_UNKNOWN && given < -1)
        return lpt_infer_fail (error, "size %" G_GINT64_FORMAT " for axis %d", given, axis);
      length = given == LPT_UNKNOWN ? LPT_DYNAMIC : given >= 0 ? given
               : node->op == LPT_OP_IRDFT && last ? whole_length (shape.dims[axis]) : shape.dims[axis];
      if (length == 0)
        return lpt_infer_fail (error, "a transform of length 0 along axis %d", axis);
      out.dims[axis] = node->op == LPT_OP_RDFT && last ? half_length (length) : length;
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* The scalars frame_size and frame_step of inputs 2 and 3; LPT_UNKNOWN when not known. */
static gboolean
read_frame (LptNode *node,
            gint64  *size,
            gint64  *step,
            GError **error)
{
  gint64 *out[2] = { size, step };
  static const char *const names[] = { "frame_size", "frame_step" };

  for (guint i = 0; i < 2; i++)
    {
      if (!lpt_infer_want_index (node, i + 2, names[i], error))
        return FALSE;
      if (!lpt_infer_int_in (node, i + 2, out[i]))
        *out[i] = LPT_UNKNOWN;
      else if (*out[i] < 1)
        return lpt_infer_fail (error, "%s is %" G_GINT64_FORMAT ", must be positive", names[i], *out[i]);
    }

  return TRUE;
}

static gboolean
check_window (LptNode *node,
              gint64   size,
              GError **error)
{
  LptShape window = lpt_infer_shape_in (node, 1);
  gint64 length = lpt_shape_dim (&window, 0);
  LptDType dtype;

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_same_types (node, 0, 1, &dtype, error) ||
      !lpt_infer_want_rank (node, 1, 1, 1, error))
    return FALSE;
  if (size != LPT_UNKNOWN && length != LPT_DYNAMIC && length > size)
    return lpt_infer_fail (error, "the window has %" G_GINT64_FORMAT " elements, the frame %" G_GINT64_FORMAT, length,
                           size);

  return TRUE;
}

/* [..., signal] to [..., frames, frame_size / 2 + 1, 2], or the two exchanged. */
gboolean
lpt_infer_stft (LptNode *node,
                GError **error)
{
  gboolean transpose = LPT_ATTRS (node, LptStftAttrs)->transpose_frames;
  LptShape shape = lpt_infer_shape_in (node, 0), out;
  gint64 size, step, length, frames = LPT_DYNAMIC, bins;
  gint n;

  if (!read_frame (node, &size, &step, error) || !check_window (node, size, error) ||
      !lpt_infer_want_rank (node, 0, 1, 2, error))
    return FALSE;
  if (shape.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, lpt_infer_dtype_in (node, 0), LPT_DYNAMIC, error);
  n = shape.rank - 1;
  length = shape.dims[n];
  bins = size == LPT_UNKNOWN ? LPT_DYNAMIC : size / 2 + 1;
  if (length != LPT_DYNAMIC && size != LPT_UNKNOWN && length < size)
    return lpt_infer_fail (error, "the signal has %" G_GINT64_FORMAT " elements, a frame %" G_GINT64_FORMAT, length,
                           size);
  if (length != LPT_DYNAMIC && size != LPT_UNKNOWN && step != LPT_UNKNOWN)
    frames = (length - size) / step + 1;

  out = lpt_shape_unknown (n + 3);
  if (n > 0)
    out.dims[0] = shape.dims[0];
  out.dims[n] = transpose ? bins : frames;
  out.dims[n + 1] = transpose ? frames : bins;
  out.dims[n + 2] = 2;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* [..., frame_size / 2 + 1, frames, 2] to [..., signal] */
gboolean
lpt_infer_istft (LptNode *node,
                 GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0), out;
  gboolean given = node->n_in > 4 && node->in[4].value != NULL;
  gint64 size, step, length, bins, frames;
  gint n;

  if (!read_frame (node, &size, &step, error) || !check_window (node, size, error) || !want_pairs (&shape, error) ||
      !lpt_infer_want_rank (node, 0, 3, 4, error) || (given && !lpt_infer_want_index (node, 4, "signal_length", error)))
    return FALSE;
  if (shape.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, lpt_infer_dtype_in (node, 0), LPT_DYNAMIC, error);
  n = shape.rank - 3;
  bins = shape.dims[n];
  frames = shape.dims[n + 1];
  if (size != LPT_UNKNOWN && bins != LPT_DYNAMIC && bins != size / 2 + 1)
    return lpt_infer_fail (error,
                           "%" G_GINT64_FORMAT " frequencies, a frame of %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT,
                           bins, size, size / 2 + 1);

  out = lpt_shape_unknown (n + 1);
  if (n > 0)
    out.dims[0] = shape.dims[0];
  if (given)
    {
      if (lpt_infer_int_in (node, 4, &length))
        {
          if (length < 0)
            return lpt_infer_fail (error, "signal_length is %" G_GINT64_FORMAT, length);
          out.dims[n] = length;
        }
    }
  else if (frames == 0)
    out.dims[n] = 0;
  else if (frames != LPT_DYNAMIC && step != LPT_UNKNOWN && size != LPT_UNKNOWN)
    {
      if (!lpt_dim_mul (frames - 1, step, &length) ||
          (!LPT_ATTRS (node, LptIstftAttrs)->center && !lpt_dim_add (length, size, &length)))
        return lpt_infer_fail (error, "the signal's length overflows");
      out.dims[n] = length;
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}
