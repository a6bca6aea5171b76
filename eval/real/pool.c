/* pool.c - MaxPool, AvgPool and the adaptive pools
 *
 * Windows are cut at the borders. A MaxPool over padding alone is the lowest number of the type; a NaN is no maximum,
 * but among elements of which none is more than -infinity the first one is, whatever it is. A mean counts the
 * elements inside, or with exclude-pad off also the padding (but nothing past it: ceil rounding may let a window
 * reach further); the mean of integers is an integer, to even from the middle, but not of those that OpenVINO computes
 * in wider types. Indices of MaxPool are positions in the axes from `axis` on, flattened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-window.h"

/* Kernel offsets [from, to) along @axis that hit the input at output position @o; returns the position of offset 0. */
static inline gint64
cut (const LptWindow *v,
     guint            axis,
     gint64           o,
     gint64          *from,
     gint64          *to)
{
  gint64 start = o * v->stride[axis] - v->pad[axis], d = v->dilation[axis];

  *from = start >= 0 ? 0 : (-start + d - 1) / d;
  *to = start >= v->in[axis] ? 0 : MIN (v->kernel[axis], (v->in[axis] - 1 - start) / d + 1);

  return start;
}

/* How many kernel offsets lie inside input and padding. */
static inline gint64
with_padding (const LptWindow *v,
              guint            axis,
              gint64           start)
{
  gint64 room = v->in[axis] + v->pad_end[axis] - start;

  return room <= 0 ? 0 : MIN (v->kernel[axis], (room - 1) / v->dilation[axis] + 1);
}

gboolean
lpt_run_max_pool (LptCall *call,
                  GError **error)
{
  const LptMaxPoolAttrs *a = LPT_ATTRS (call->node, LptMaxPoolAttrs);
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  float lowest = call->in[0].dtype == LPT_DTYPE_F32 && lpt_dtype_is_real (call->in[0].declared)
                 ? -FLT_MAX : (float) lpt_dtype_min (call->in[0].declared);
  gint64 *indices = NULL, plane, planes, c, oz, oy, ox, kz, ky, kx, period;
  LptWindow v;
  gint axis;

  if (y == NULL || (call->n_out > 1 && (indices = lpt_call_out_i64 (call, 1, error)) == NULL))
    return FALSE;
  if (!lpt_window_init_pool (&v, call->node, in, out, error) ||
      !lpt_call_axis (call, a->axis, in->rank, &axis, error))
    return FALSE;

  plane = lpt_window_size (v.in);
  planes = in->dims[0] * in->dims[1];
  period = MAX (lpt_dims_product (in, axis, in->rank), 1);
  for (c = 0; c < planes; c++, x += plane)
    for (oz = 0; oz < v.out[0]; oz++)
      for (oy = 0; oy < v.out[1]; oy++)
        for (ox = 0; ox < v.out[2]; ox++)
          {
            gint64 z0, z1, y0, y1, x0, x1, best = -1;
            gint64 sz = cut (&v, 0, oz, &z0, &z1), sy = cut (&v, 1, oy, &y0, &y1), sx = cut (&v, 2, ox, &x0, &x1);
            float max = -INFINITY;

            for (kz = z0; kz < z1; kz++)
              for (ky = y0; ky < y1; ky++)
                for (kx = x0; kx < x1; kx++)
                  {
                    gint64 at = ((sz + kz * v.dilation[0]) * v.in[1] + sy + ky * v.dilation[1]) * v.in[2]
                                + sx + kx * v.dilation[2];

                    if (x[at] > max)
                      max = x[at], best = at;
                    else if (best < 0)
                      best = at;
                  }
            *y++ = best < 0 ? lowest : x[best];
            if (indices != NULL)
              *indices++ = (c * plane + MAX (best, 0)) % period;
          }

  return TRUE;
}

gboolean
lpt_run_avg_pool (LptCall *call,
                  GError **error)
{
  const LptAvgPoolAttrs *a = LPT_ATTRS (call->node, LptAvgPoolAttrs);
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  const gboolean rounds = lpt_call_wraps (call) && !lpt_call_is_wide (call);    /* the mean of integers, as one */
  gint64 plane, planes, c, oz, oy, ox, kz, ky, kx;
  LptWindow v;

  if (y == NULL)
    return FALSE;
  if (!lpt_window_init_pool (&v, call->node, in, out, error))
    return FALSE;

  plane = lpt_window_size (v.in);
  planes = in->dims[0] * in->dims[1];
  for (c = 0; c < planes; c++, x += plane)
    for (oz = 0; oz < v.out[0]; oz++)
      for (oy = 0; oy < v.out[1]; oy++)
        for (ox = 0; ox < v.out[2]; ox++)
          {
            gint64 z0, z1, y0, y1, x0, x1, count;
            gint64 sz = cut (&v, 0, oz, &z0, &z1), sy = cut (&v, 1, oy, &y0, &y1), sx = cut (&v, 2, ox, &x0, &x1);
            double sum = 0;

            for (kz = z0; kz < z1; kz++)
              for (ky = y0; ky < y1; ky++)
                for (kx = x0; kx < x1; kx++)
                  sum += x[((sz + kz * v.dilation[0]) * v.in[1] + sy + ky * v.dilation[1]) * v.in[2]
                           + sx + kx * v.dilation[2]];
            count = a->exclude_pad ? MAX (z1 - z0, 0) * MAX (y1 - y0, 0) * MAX (x1 - x0, 0)
                    : with_padding (&v, 0, sz) * with_padding (&v, 1, sy) * with_padding (&v, 2, sx);
            sum = count > 0 ? sum / (double) count : 0;
            *y++ = (float) (rounds ? nearbyint (sum) : sum);
          }

  return TRUE;
}

/* Part @i of @n equal parts of @length, overlapping where it does not divide. */
static inline gint64
part (gint64  i,
      gint64  n,
      gint64  length,
      gint64 *end)
{
  *end = ((i + 1) * length + n - 1) / n;

  return i * length / n;
}

gboolean
lpt_run_adaptive_pool (LptCall *call,
                       GError **error)
{
  gboolean max = call->node->op == LPT_OP_ADAPTIVE_MAX_POOL;
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 *indices = NULL, plane, planes, c, oz, oy, ox, iz, iy, ix;
  LptInts none = { 0, NULL };
  LptWindowAttrs attrs = { &none, NULL, &none, &none, LPT_AUTO_PAD_VALID };
  gint64 ones[3] = { 1, 1, 1 };
  LptWindow v;

  if (y == NULL || (max && call->n_out > 1 && (indices = lpt_call_out_i64 (call, 1, error)) == NULL) ||
      !lpt_window_init (&v, in->rank - 2, in->dims + 2, out->dims + 2, ones, &attrs, error))
    return FALSE;

  plane = lpt_window_size (v.in);
  planes = in->dims[0] * in->dims[1];
  for (c = 0; c < planes; c++, x += plane)
    for (oz = 0; oz < v.out[0]; oz++)
      for (oy = 0; oy < v.out[1]; oy++)
        for (ox = 0; ox < v.out[2]; ox++)
          {
            gint64 z1, y1, x1, best = -1, count;
            gint64 z0 = part (oz, v.out[0], v.in[0], &z1), y0 = part (oy, v.out[1], v.in[1], &y1);
            gint64 x0 = part (ox, v.out[2], v.in[2], &x1);
            double sum = 0;

            for (iz = z0; iz < z1; iz++)
              for (iy = y0; iy < y1; iy++)
                for (ix = x0; ix < x1; ix++)
                  {
                    gint64 at = (iz * v.in[1] + iy) * v.in[2] + ix;

                    sum += x[at];
                    if (best < 0 || x[at] > x[best])
                      best = at;
                  }
            count = (z1 - z0) * (y1 - y0) * (x1 - x0);
            *y++ = best < 0 ? 0 : max ? x[best] : (float) (sum / (double) count);
            if (indices != NULL)
              *indices++ = MAX (best, 0);
          }

  return TRUE;
}
