/* fourier.c - DFT, IDFT, RDFT, IRDFT, STFT, ISTFT
 *
 * Computed in f64: lines of even length are split in two, others summed as the definition says. The transform goes axis
 * by axis, each cut or filled up with zeros to its size. IRDFT ends with the last of its axes, where it has half of
 * the line, n / 2 + 1 numbers; the other half is their conjugates. ISTFT adds the frames and divides by the sum of the
 * windows over each sample, 0 where that is 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <complex.h>
#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

/* The C library has it for gcc alone. */
#ifndef CMPLX
#define CMPLX(re, im) ((double complex) { (re), (im) })
#endif

typedef double complex Number;

/* Roots of unity for lines of @n: exp (sign 2 pi i k / n). */
static Number *
make_roots (LptCall *call,
            gint64   n,
            int      sign,
            GError **error)
{
  Number *roots = lpt_call_scratch (call, (gsize) n, sizeof (Number), error);

  for (gint64 k = 0; roots != NULL && k < n; k++)
    {
      double angle = 2 * G_PI * (double) k / (double) n;

      roots[k] = CMPLX (cos (angle), sign * sin (angle));
    }

  return roots;
}

/* By the formula alone: the language's own product looks for infinities. */
static inline Number
times (Number a,
       Number b)
{
  return CMPLX (creal (a) * creal (b) - cimag (a) * cimag (b), creal (a) * cimag (b) + cimag (a) * creal (b));
}

/* y = transform of the @n numbers x[0], x[step], ...; the line that it is part of has @whole. */
static void
transform (const Number *x,
           gint64        step,
           Number       *y,
           gint64        n,
           const Number *roots,
           gint64        whole)
{
  gint64 half = n / 2, turn = whole / n;

  if (n == 1)
    {
      y[0] = x[0];
      return;
    }
  if (n == 2)
    {
      y[0] = x[0] + x[step];
      y[1] = x[0] - x[step];
      return;
    }
  if (n % 2 != 0)
    {
      for (gint64 k = 0; k < n; k++)
        {
          Number sum = 0;

          for (gint64 j = 0, at = 0; j < n; j++, at = (at + k) % n)
            sum += times (x[j * step], roots[at * turn]);
          y[k] = sum;
        }
      return;
    }
  transform (x, 2 * step, y, half, roots, whole);
  transform (x + step, 2 * step, y + half, half, roots, whole);
  for (gint64 k = 0; k < half; k++)
    {
      Number even = y[k], odd = times (y[half + k], roots[k * turn]);

      y[k] = even + odd;
      y[half + k] = even - odd;
    }
}

/* Numbers of a shape, in f64. */
typedef struct
{
  Number  *v;
  LptShape shape;
} Field;

static gboolean
new_field (LptCall        *call,
           const LptShape *shape,
           Field          *field,
           GError        **error)
{
  gint64 count;

  field->shape = *shape;
  if (!lpt_shape_count (shape, &count))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the number of elements overflows");
      return FALSE;
    }
  field->v = lpt_call_scratch (call, (gsize) count, sizeof (Number), error);

  return field->v != NULL;
}

/* The lines along @axis, @size numbers each; with @half they are what a real line of @size has. */
static gboolean
along_axis (LptCall *call,
            Field   *field,
            gint     axis,
            gint64   size,
            int      sign,
            gboolean half,
            GError **error)
{
  gint64 length = field->shape.dims[axis], outer = lpt_dims_product (&field->shape, 0, axis);
  gint64 inner = lpt_dims_product (&field->shape, axis + 1, field->shape.rank),
         filled = MIN (length, half ? size / 2 + 1 : size);
  Number *roots = make_roots (call, size, sign, error);
  Number *line = roots != NULL ? lpt_call_scratch (call, (gsize) size, 2 * sizeof (Number), error) : NULL;
  LptShape shape = field->shape;
  Field to;

  shape.dims[axis] = size;
  if (line == NULL || !new_field (call, &shape, &to, error))
    return FALSE;
  for (gint64 o = 0; o < outer; o++)
    for (gint64 i = 0; i < inner; i++)
      {
        const Number *from = field->v + o * length * inner + i;
        Number *result = line + size;

        for (gint64 k = 0; k < size; k++)
          line[k] = k < filled ? from[k * inner] : 0;
        for (gint64 k = 1; half && 2 * k < size; k++)
          line[size - k] = k < filled ? conj (from[k * inner]) : 0;
        transform (line, 1, result, size, roots, size);
        for (gint64 k = 0; k < size; k++)
          to.v[(o * size + k) * inner + i] = sign > 0 ? result[k] / (double) size : result[k];
      }
  *field = to;

  return TRUE;
}

/* @sign of the exponent; @pairs, @pairs_out: the elements read and written are complex. */
static gboolean
run_transform (LptCall *call,
               int      sign,
               gboolean pairs,
               gboolean pairs_out,
               GError **error)
{
  const float *x = lpt_call_f32 (call, 0, error);
  const gint64 *axes = x != NULL ? lpt_call_i64 (call, 1, error) : NULL, *sizes = NULL;
  LptShape shape = call->in[0].shape, out = call->out[0].shape;
  gint64 n = lpt_array_count (&call->in[1]), count;
  Field field;
  float *y;

  if (axes == NULL || (lpt_call_has (call, 2) && (sizes = lpt_call_i64 (call, 2, error)) == NULL))
    return FALSE;
  shape.rank -= pairs ? 1 : 0;
  if (sizes != NULL && lpt_array_count (&call->in[2]) != n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "axes and sizes differ in number");
      return FALSE;
    }
  if (!new_field (call, &shape, &field, error))
    return FALSE;
  count = lpt_dims_product (&shape, 0, shape.rank);
  for (gint64 i = 0; i < count; i++)
    field.v[i] = pairs ? CMPLX (x[2 * i], x[2 * i + 1]) : x[i];

  for (gint64 i = 0; i < n; i++)
    {
      gboolean half = !pairs_out && i + 1 == n;
      gint64 size;
      gint axis;

      if (!lpt_call_axis (call, axes[i], shape.rank, &axis, error))
        return FALSE;
      size = sizes != NULL && sizes[i] >= 0 ? sizes[i] : half ? 2 * (field.shape.dims[axis] - 1) : field.shape.dims[axis];
      if (size < 1)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a transform of length %" G_GINT64_FORMAT " along axis %d",
                       size, axis);
          return FALSE;
        }
      if (!along_axis (call, &field, axis, size, sign, half, error))
        return FALSE;
    }

  /* RDFT leaves out what follows from the rest. */
  y = lpt_call_out_f32 (call, 0, error);
  if (y == NULL)
    return FALSE;
  out.rank -= pairs_out ? 1 : 0;
  for (gint i = 0; i < out.rank; i++)
    if (out.dims[i] > field.shape.dims[i])
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the output is longer than the transform along axis %d", i);
        return FALSE;
      }
  {
    gint64 index[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK], k = 0;

    if (lpt_dims_product (&out, 0, out.rank) == 0)
      return TRUE;
    lpt_shape_strides (&field.shape, strides);
    do
      {
        gint64 at = 0;

        for (gint i = 0; i < out.rank; i++)
          at += index[i] * strides[i];
        y[k++] = (float) creal (field.v[at]);
        if (pairs_out)
          y[k++] = (float) cimag (field.v[at]);
      }
    while (lpt_index_next (out.rank, out.dims, index));
  }

  return TRUE;
}

gboolean
lpt_run_dft (LptCall *call,
             GError **error)
{
  return run_transform (call, -1, TRUE, TRUE, error);
}

gboolean
lpt_run_idft (LptCall *call,
              GError **error)
{
  return run_transform (call, 1, TRUE, TRUE, error);
}

gboolean
lpt_run_rdft (LptCall *call,
              GError **error)
{
  return run_transform (call, -1, FALSE, TRUE, error);
}

gboolean
lpt_run_irdft (LptCall *call,
               GError **error)
{
  return run_transform (call, 1, TRUE, FALSE, error);
}

/* --- short time --- */

typedef struct
{
  gint64  size, step;
  double *window;      /* size elements: the given one in the middle of zeros */
  Number *roots, *line, *result;
} Frame;

static gboolean
open_frame (LptCall *call,
            Frame   *f,
            int      sign,
            GError **error)
{
  const float *window = lpt_call_f32 (call, 1, error);
  gint64 length = lpt_array_count (&call->in[1]), left;

  if (window == NULL || !lpt_call_int (call, 2, 0, &f->size, error) || !lpt_call_int (call, 3, 0, &f->step, error))
    return FALSE;
  if (f->size < 1 || f->step < 1 || length > f->size)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "frames of %" G_GINT64_FORMAT " every %" G_GINT64_FORMAT ", a window of %" G_GINT64_FORMAT, f->size,
                   f->step, length);
      return FALSE;
    }
  f->window = lpt_call_scratch (call, (gsize) f->size, sizeof (double), error);
  f->roots = f->window != NULL ? make_roots (call, f->size, sign, error) : NULL;
  f->line = f->roots != NULL ? lpt_call_scratch (call, (gsize) f->size, 2 * sizeof (Number), error) : NULL;
  if (f->line == NULL)
    return FALSE;
  f->result = f->line + f->size;
  left = (f->size - length) / 2;
  for (gint64 i = 0; i < f->size; i++)
    f->window[i] = i >= left && i < left + length ? window[i - left] : 0;

  return TRUE;
}

gboolean
lpt_run_stft (LptCall *call,
              GError **error)
{
  gboolean exchanged = LPT_ATTRS (call->node, LptStftAttrs)->transpose_frames;
  const LptShape *shape = &call->in[0].shape, *out = &call->out[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 length = shape->dims[shape->rank - 1], batch = lpt_dims_product (shape, 0, shape->rank - 1), frames, bins;
  Frame f;

  if (y == NULL || !open_frame (call, &f, -1, error))
    return FALSE;
  bins = f.size / 2 + 1;
  frames = length >= f.size ? (length - f.size) / f.step + 1 : 0;
  if (lpt_dims_product (out, 0, out->rank) != batch * frames * bins * 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the output does not fit %" G_GINT64_FORMAT " frames", frames);
      return FALSE;
    }
  for (gint64 b = 0; b < batch; b++)
    for (gint64 t = 0; t < frames; t++)
      {
        for (gint64 i = 0; i < f.size; i++)
          f.line[i] = f.window[i] * (double) x[b * length + t * f.step + i];
        transform (f.line, 1, f.result, f.size, f.roots, f.size);
        for (gint64 k = 0; k < bins; k++)
          {
            float *to = y + 2 * (b * frames * bins + (exchanged ? k * frames + t : t * bins + k));

            to[0] = (float) creal (f.result[k]);
            to[1] = (float) cimag (f.result[k]);
          }
      }

  return TRUE;
}

/* The signal of one batch before its ends are cut, in @sum; @weight is the sum of the windows. */
static void
add_frames (const Frame *f,
            const float *x,
            gint64       frames,
            double      *sum,
            double      *weight)
{
  gint64 bins = f->size / 2 + 1;

  for (gint64 t = 0; t < frames; t++)
    {
      for (gint64 k = 0; k < bins; k++)
        {
          const float *from = x + 2 * (k * frames + t);

          f->line[k] = CMPLX (from[0], from[1]);
          if (k > 0 && 2 * k < f->size)
            f->line[f->size - k] = conj (f->line[k]);
        }
      transform (f->line, 1, f->result, f->size, f->roots, f->size);
      for (gint64 i = 0; i < f->size; i++)
        {
          sum[t * f->step + i] += creal (f->result[i]) / (double) f->size;
          weight[t * f->step + i] += f->window[i];
        }
    }
}

gboolean
lpt_run_istft (LptCall *call,
               GError **error)
{
  const LptIstftAttrs *attrs = LPT_ATTRS (call->node, LptIstftAttrs);
  const LptShape *shape = &call->in[0].shape, *out = &call->out[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 frames = shape->dims[shape->rank - 2], batch = lpt_dims_product (shape, 0, shape->rank - 3);
  gint64 length = out->dims[out->rank - 1], whole, margin;
  double *sum, *weight, scale;
  Frame f;

  if (y == NULL || !open_frame (call, &f, 1, error))
    return FALSE;
  if (shape->dims[shape->rank - 3] != f.size / 2 + 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%" G_GINT64_FORMAT " frequencies do not fit frames of %" G_GINT64_FORMAT,
                   shape->dims[shape->rank - 3], f.size);
      return FALSE;
    }
  if (__builtin_mul_overflow (MAX (frames - 1, 0), f.step, &whole) || __builtin_add_overflow (whole, f.size, &whole))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the signal's length overflows");
      return FALSE;
    }
  sum = lpt_call_scratch (call, (gsize) whole, 2 * sizeof (double), error);
  if (sum == NULL)
    return FALSE;
  weight = sum + whole;
  margin = attrs->center ? f.size / 2 : 0;
  scale = attrs->normalized ? sqrt ((double) f.size) : 1;
  for (gint64 b = 0; b < batch; b++)
    {
      memset (sum, 0, (gsize) whole * 2 * sizeof (double));
      add_frames (&f, x + 2 * b * (f.size / 2 + 1) * frames, frames, sum, weight);
      for (gint64 i = 0; i < length; i++)
        {
          gint64 at = i + margin;

          y[b * length + i] = at < whole && weight[at] != 0 ? (float) (sum[at] * scale / weight[at]) : 0;
        }
    }

  return TRUE;
}
