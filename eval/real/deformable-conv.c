/* deformable-conv.c - DeformableConvolution: taps at fractional positions
 *
 * Inputs X [N,C,H,W], offsets [N, D kh kw 2, OH, OW] (y, x), W [O, C/G, kh, kw], mask [N, D kh kw, OH, OW].
 * Each tap reads X bilinearly at its place plus the offset. Taps outside the plane count as 0; with
 * bilinear_interpolation_pad those less than one element outside still see the border.
 *
 * What the taps read is found for some pixels at a time, once for all output channels; sums are in f64, by channels and
 * then taps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-window.h"

/* Pixels that are done together. */
#define TILE 16

typedef struct
{
  const float *x, *offsets, *weights, *mask;    /* mask: or NULL */
  LptWindow    window;
  gint64       channels, h, w, kw, ow, plane, taps;
  gint64       groups, deformable;              /* groups of channels; of these that have offsets of their own */
  gint64       outputs;
  gboolean     pad;
} Deformable;

/* Where a tap reads: the four elements around it, -1 where there are none, and how far it lies from the first. */
typedef struct
{
  gint64 at[4];
  double dy, dx, mask;
  gboolean outside;
} Tap;

static gint64
element_at (const Deformable *d,
            gint64            y,
            gint64            x)
{
  return y >= 0 && y < d->h && x >= 0 && x < d->w ? y * d->w + x : -1;
}

static Tap
place (const Deformable *d,
       double            y,
       double            x,
       double            mask)
{
  const double low = d->pad ? -1 : 0;
  Tap tap = { .mask = mask };
  gint64 y0, x0, y1, x1;

  tap.outside = !(y > low || (!d->pad && y == 0)) || !(x > low || (!d->pad && x == 0)) || y >= (double) d->h ||
                x >= (double) d->w;
  if (tap.outside)
    return tap;
  y0 = (gint64) floor (y);
  x0 = (gint64) floor (x);
  y1 = d->pad ? y0 + 1 : MIN ((gint64) ceil (y), d->h - 1);
  x1 = d->pad ? x0 + 1 : MIN ((gint64) ceil (x), d->w - 1);
  tap.dy = y - (double) y0;
  tap.dx = x - (double) x0;
  tap.at[0] = element_at (d, y0, x0);
  tap.at[1] = element_at (d, y0, x1);
  tap.at[2] = element_at (d, y1, x0);
  tap.at[3] = element_at (d, y1, x1);

  return tap;
}

static inline double
value_at (const float *plane,
          gint64       at)
{
  return at >= 0 ? (double) plane[at] : 0;
}

static double
read_tap (const Tap   *t,
          const float *plane)
{
  if (t->outside)
    return 0 * t->mask;      /* NaN where the mask is no number */

  return ((1 - t->dy) * ((1 - t->dx) * value_at (plane, t->at[0]) + t->dx * value_at (plane, t->at[1])) +
          t->dy * ((1 - t->dx) * value_at (plane, t->at[2]) + t->dx * value_at (plane, t->at[3]))) * t->mask;
}

/* What all channels and taps read for pixels [@p, @p + @n) of image @image: @columns [channels, taps, TILE]. */
static void
read_columns (const Deformable *d,
              gint64            image,
              gint64            p,
              gint64            n,
              double           *columns)
{
  const gint64 each = d->channels / d->deformable;

  for (gint64 g = 0; g < d->deformable; g++)
    for (gint64 k = 0; k < d->taps; k++)
      {
        const gint64 tap = (image * d->deformable + g) * d->taps + k;

        for (gint64 i = 0; i < n; i++)
          {
            const gint64 at = p + i, oy = at / d->ow, ox = at % d->ow;
            const double y = (double) (oy * d->window.stride[1] - d->window.pad[1] + k / d->kw * d->window.dilation[1]);
            const double x = (double) (ox * d->window.stride[2] - d->window.pad[2] + k % d->kw * d->window.dilation[2]);
            const Tap t = place (d, y + d->offsets[2 * tap * d->plane + at],
                                 x + d->offsets[(2 * tap + 1) * d->plane + at],
                                 d->mask != NULL ? (double) d->mask[tap * d->plane + at] : 1);

            for (gint64 c = g * each; c < (g + 1) * each; c++)
              columns[(c * d->taps + k) * TILE + i] = read_tap (&t, d->x + (image * d->channels + c) * d->h * d->w);
          }
      }
}

/* Output channel @o of the same pixels. */
static void
sum_columns (const Deformable *d,
             gint64            o,
             gint64            n,
             const double     *columns,
             float            *y)
{
  const gint64 rows = d->channels / d->groups * d->taps;
  const float *weights = d->weights + o * rows;
  const double *from = columns + o / (d->outputs / d->groups) * rows * TILE;
  double sums[TILE] = { 0 };

  for (gint64 k = 0; k < rows; k++, from += TILE)
    for (gint64 i = 0; i < TILE; i++)
      sums[i] += from[i] * (double) weights[k];
  for (gint64 i = 0; i < n; i++)
    y[i] = (float) sums[i];
}

gboolean
lpt_run_deformable_conv (LptCall *call,
                         GError **error)
{
  const LptDeformableConvAttrs *a = LPT_ATTRS (call->node, LptDeformableConvAttrs);
  LptWindowAttrs attrs = { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
  const LptShape *xs = &call->in[0].shape, *ws = &call->in[2].shape, *out = &call->out[0].shape;
  Deformable d = { .x = lpt_call_f32 (call, 0, error), .groups = a->group, .deformable = a->deformable_group,
                   .pad = a->bilinear_interpolation_pad };
  double *columns;
  float *y;

  if (d.x == NULL)
    return FALSE;
  if (xs->rank != 4 || ws->rank != 4 || call->in[1].shape.rank != 4)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: %d axes, only images are", xs->rank);
      return FALSE;
    }
  d.offsets = lpt_call_f32 (call, 1, error);
  d.weights = d.offsets != NULL ? lpt_call_f32 (call, 2, error) : NULL;
  y = d.weights != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (y == NULL || !lpt_window_init (&d.window, 2, xs->dims + 2, out->dims + 2, ws->dims + 2, &attrs, error))
    return FALSE;
  if (lpt_call_has (call, 3) && (d.mask = lpt_call_f32 (call, 3, error)) == NULL)
    return FALSE;

  d.channels = xs->dims[1], d.outputs = ws->dims[0];
  d.h = xs->dims[2], d.w = xs->dims[3], d.kw = ws->dims[3];
  d.ow = out->dims[3], d.plane = out->dims[2] * out->dims[3];
  d.taps = ws->dims[2] * d.kw;
  if (a->group < 1 || a->deformable_group < 1 || d.channels % a->deformable_group != 0 ||
      d.outputs % a->group != 0 || d.channels != ws->dims[1] * a->group ||
      call->in[1].shape.dims[1] != a->deformable_group * d.taps * 2 ||
      lpt_array_count (&call->in[1]) != out->dims[0] * a->deformable_group * d.taps * 2 * d.plane ||
      (d.mask != NULL && lpt_array_count (&call->in[3]) != out->dims[0] * a->deformable_group * d.taps * d.plane))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "channels, groups and offsets do not fit");
      return FALSE;
    }
  columns = lpt_call_scratch (call, (gsize) (d.channels * d.taps) * TILE, sizeof *columns, error);
  if (columns == NULL)
    return FALSE;
  memset (columns, 0, (gsize) (d.channels * d.taps) * TILE * sizeof *columns);
  for (gint64 image = 0; image < out->dims[0]; image++)
    for (gint64 p = 0; p < d.plane; p += TILE)
      {
        const gint64 n = MIN (TILE, d.plane - p);

        read_columns (&d, image, p, n, columns);
        for (gint64 o = 0; o < d.outputs; o++)
          sum_columns (&d, o, n, columns, y + (image * d.outputs + o) * d.plane + p);
      }

  return TRUE;
}
