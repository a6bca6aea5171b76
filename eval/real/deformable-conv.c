/* deformable-conv.c - DeformableConvolution: taps at fractional positions
 *
 * Inputs X [N,C,H,W], offsets [N, D kh kw 2, OH, OW] (y, x), W [O, C/G, kh, kw], mask [N, D kh kw, OH, OW].
 * Each tap reads X bilinearly at its place plus the offset. Taps outside the plane count as 0; with
 * bilinear_interpolation_pad those less than one element outside still see the border.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-window.h"

static double
at (const float *plane,
    gint64       h,
    gint64       w,
    gint64       y,
    gint64       x)
{
  return y >= 0 && y < h && x >= 0 && x < w ? plane[y * w + x] : 0;
}

static double
sample (const float *plane,
        gint64       h,
        gint64       w,
        double       y,
        double       x,
        gboolean     pad)
{
  gint64 y0, x0, y1, x1;
  double dy, dx, low = pad ? -1 : 0;

  if (!(y > low || (!pad && y == 0)) || !(x > low || (!pad && x == 0)) || y >= h || x >= w)
    return 0;
  y0 = (gint64) floor (y);
  x0 = (gint64) floor (x);
  y1 = pad ? y0 + 1 : MIN ((gint64) ceil (y), h - 1);
  x1 = pad ? x0 + 1 : MIN ((gint64) ceil (x), w - 1);
  dy = y - (double) y0;
  dx = x - (double) x0;

  return (1 - dy) * ((1 - dx) * at (plane, h, w, y0, x0) + dx * at (plane, h, w, y0, x1))
         + dy * ((1 - dx) * at (plane, h, w, y1, x0) + dx * at (plane, h, w, y1, x1));
}

gboolean
lpt_run_deformable_conv (LptCall *call,
                         GError **error)
{
  const LptDeformableConvAttrs *a = LPT_ATTRS (call->node, LptDeformableConvAttrs);
  LptWindowAttrs attrs = { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
  const LptShape *xs = &call->in[0].shape, *ws = &call->in[2].shape, *out = &call->out[0].shape;
  const float *x = lpt_call_f32 (call, 0, error), *offsets, *weights, *mask = NULL;
  gint64 n, o, c, oy, ox, ky, kx, h, w, kh, kw, plane, per_group, per_deformable, taps;
  LptWindow v;
  float *y;

  if (x == NULL)
    return FALSE;
  if (xs->rank != 4 || ws->rank != 4 || call->in[1].shape.rank != 4)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: %d axes, only images are", xs->rank);
      return FALSE;
    }
  offsets = lpt_call_f32 (call, 1, error);
  weights = offsets != NULL ? lpt_call_f32 (call, 2, error) : NULL;
  y = weights != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (y == NULL || !lpt_window_init (&v, 2, xs->dims + 2, out->dims + 2, ws->dims + 2, &attrs, error))
    return FALSE;
  if (lpt_call_has (call, 3) && (mask = lpt_call_f32 (call, 3, error)) == NULL)
    return FALSE;

  h = xs->dims[2], w = xs->dims[3], kh = ws->dims[2], kw = ws->dims[3];
  plane = out->dims[2] * out->dims[3];
  taps = kh * kw;
  if (a->group < 1 || a->deformable_group < 1 || xs->dims[1] % a->deformable_group != 0 ||
      ws->dims[0] % a->group != 0 || xs->dims[1] != ws->dims[1] * a->group ||
      call->in[1].shape.dims[1] != a->deformable_group * taps * 2 ||
      lpt_array_count (&call->in[1]) != out->dims[0] * a->deformable_group * taps * 2 * plane ||
      (mask != NULL && lpt_array_count (&call->in[3]) != out->dims[0] * a->deformable_group * taps * plane))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "channels, groups and offsets do not fit");
      return FALSE;
    }
  per_group = ws->dims[0] / a->group;
  per_deformable = xs->dims[1] / a->deformable_group;

  for (n = 0; n < out->dims[0]; n++)
    for (o = 0; o < ws->dims[0]; o++)
      for (oy = 0; oy < out->dims[2]; oy++)
        for (ox = 0; ox < out->dims[3]; ox++)
          {
            double sum = 0;

            for (c = 0; c < ws->dims[1]; c++)
              {
                gint64 channel = o / per_group * ws->dims[1] + c;
                gint64 deformable = n * a->deformable_group + channel / per_deformable;
                const float *from = x + (n * xs->dims[1] + channel) * h * w;

                for (ky = 0; ky < kh; ky++)
                  for (kx = 0; kx < kw; kx++)
                    {
                      gint64 tap = deformable * taps + ky * kw + kx, p = oy * out->dims[3] + ox;
                      double iy = (double) (oy * v.stride[1] - v.pad[1] + ky * v.dilation[1]) +
                                  offsets[2 * tap * plane + p];
                      double ix = (double) (ox * v.stride[2] - v.pad[2] + kx * v.dilation[2]) +
                                  offsets[(2 * tap + 1) * plane + p];
                      double value = sample (from, h, w, iy, ix, a->bilinear_interpolation_pad);

                      if (mask != NULL)
                        value *= mask[tap * plane + p];
                      sum += value * weights[((o * ws->dims[1] + c) * kh + ky) * kw + kx];
                    }
              }
            *y++ = (float) sum;
          }

  return TRUE;
}
