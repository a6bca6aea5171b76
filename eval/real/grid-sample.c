/* grid-sample.c - GridSample: reads images at normalised coordinates
 *
 * X [N,C,H,W], grid [N,OH,OW,2] with (x, y) in [-1, 1]; align_corners: the ends are centres of elements, else their
 * outer edges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-grid.h"

typedef struct
{
  const float *plane;
  gint64       h, w;
  int          padding;
  gboolean     corners;
} Image;

/* Reflects between @low and @high. */
static double
reflect (double x,
         double low,
         double high)
{
  double span = high - low, d;

  if (span <= 0)
    return 0;
  d = fmod (fabs (x - low), 2 * span);

  return low + (d > span ? 2 * span - d : d);
}

static gint64
reflect_index (gint64   i,
               gint64   n,
               gboolean corners)
{
  double at = corners ? reflect ((double) i, 0, (double) (n - 1)) : reflect ((double) i, -0.5, (double) n - 0.5);

  return CLAMP ((gint64) nearbyint (at), 0, n - 1);
}

static double
get (const Image *image,
     gint64       y,
     gint64       x)
{
  gboolean inside = y >= 0 && y < image->h && x >= 0 && x < image->w;

  if (!inside && image->padding == LPT_GRID_ZEROS)
    return 0;
  if (image->padding == LPT_GRID_REFLECTION)
    {
      y = reflect_index (y, image->h, image->corners);
      x = reflect_index (x, image->w, image->corners);
    }
  else
    {
      y = CLAMP (y, 0, image->h - 1);
      x = CLAMP (x, 0, image->w - 1);
    }

  return image->plane[y * image->w + x];
}

static void
cubic (double  f,
       double *w)
{
  const double a = -0.75;

  w[0] = ((a * (f + 1) - 5 * a) * (f + 1) + 8 * a) * (f + 1) - 4 * a;
  w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
  w[2] = ((a + 2) * (1 - f) - (a + 3)) * (1 - f) * (1 - f) + 1;
  w[3] = ((a * (2 - f) - 5 * a) * (2 - f) + 8 * a) * (2 - f) - 4 * a;
}

static double
sample (const Image *image,
        int          mode,
        double       y,
        double       x)
{
  gint64 y0 = (gint64) floor (y), x0 = (gint64) floor (x), k;
  double dy = y - (double) y0, dx = x - (double) x0, wy[4], wx[4], sum = 0;

  if (mode == LPT_GRID_NEAREST)
    return get (image, (gint64) nearbyint (y), (gint64) nearbyint (x));
  if (mode == LPT_GRID_BILINEAR)
    return (1 - dy) * ((1 - dx) * get (image, y0, x0) + dx * get (image, y0, x0 + 1))
           + dy * ((1 - dx) * get (image, y0 + 1, x0) + dx * get (image, y0 + 1, x0 + 1));

  cubic (dy, wy);
  cubic (dx, wx);
  for (k = 0; k < 16; k++)
    sum += wy[k / 4] * wx[k % 4] * get (image, y0 - 1 + k / 4, x0 - 1 + k % 4);

  return sum;
}

gboolean
lpt_run_grid_sample (LptCall *call,
                     GError **error)
{
  const LptGridSampleAttrs *attrs = LPT_ATTRS (call->node, LptGridSampleAttrs);
  const LptShape *in = &call->in[0].shape, *grid_shape = &call->in[1].shape;
  const float *x = lpt_call_f32 (call, 0, error), *grid = x != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  float *to = grid != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 n, c, i, places;

  if (to == NULL)
    return FALSE;
  if (in->rank != 4 || grid_shape->rank != 4 || grid_shape->dims[0] != in->dims[0] || grid_shape->dims[3] != 2 ||
      in->dims[2] < 1 || in->dims[3] < 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data and grid must be [N,C,H,W] and [N,OH,OW,2]");
      return FALSE;
    }
  places = grid_shape->dims[1] * grid_shape->dims[2];
  for (n = 0; n < in->dims[0]; n++)
    for (c = 0; c < in->dims[1]; c++)
      {
        Image image = { x + (n * in->dims[1] + c) * in->dims[2] * in->dims[3], in->dims[2], in->dims[3],
                        attrs->padding_mode, attrs->align_corners };
        const float *at = grid + n * places * 2;

        for (i = 0; i < places; i++, at += 2)
          *to++ = (float) sample (&image, attrs->mode, lpt_grid_place (at[1], image.h, image.corners),
                                  lpt_grid_place (at[0], image.w, image.corners));
      }

  return TRUE;
}
