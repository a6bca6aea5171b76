/* color.c - NV12 and I420 to RGB and BGR
 *
 * Y of each pixel, U and V of each two by two, of 8 bits (ITU-R BT.601):
 *
 *     r = 1.164 (y - 16) + 1.596 (v - 128)
 *     g = 1.164 (y - 16) - 0.391 (u - 128) - 0.813 (v - 128)
 *     b = 1.164 (y - 16) + 2.018 (u - 128)
 *
 * cut to [0, 255]; integers are rounded, a half away from 0. NV12 has U and V side by side, I420 all U in front of V.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"

typedef struct
{
  const float *y, *u, *v;         /* of an image */
  gint64       h, w, step;        /* from U to U of a row */
} Planes;

static void
convert_pixel (const Planes *p,
               gint64        row,
               gint64        column,
               float        *rgb)
{
  const gint64 chroma = (row / 2 * (p->w / 2) + column / 2) * p->step;
  const float c = 1.164f * (p->y[row * p->w + column] - 16), d = p->u[chroma] - 128, e = p->v[chroma] - 128;

  rgb[0] = c + 1.596f * e;
  rgb[1] = c - 0.391f * d - 0.813f * e;
  rgb[2] = c + 2.018f * d;
  for (guint k = 0; k < 3; k++)
    rgb[k] = MIN (MAX (rgb[k], 0), 255);
}

/* The planes of image @n: in one input, in two or in three. */
static Planes
planes_of (LptCall            *call,
           const float *const *in,
           gint64              n)
{
  const LptShape *out = &call->out[0].shape;
  const gint64 h = out->dims[1], w = out->dims[2], luma = h * w, chroma = luma / 4;
  const gboolean side = call->node->info->max_in == 2;
  Planes p = { .h = h, .w = w, .step = side ? 2 : 1 };

  if (call->n_in == 1)
    {
      p.y = in[0] + n * (luma + 2 * chroma);
      p.u = p.y + luma;
    }
  else
    {
      p.y = in[0] + n * luma;
      p.u = in[1] + n * (side ? 2 : 1) * chroma;
    }
  p.v = side ? p.u + 1 : call->n_in == 1 ? p.u + chroma : in[2] + n * chroma;

  return p;
}

static gboolean
check_sizes (LptCall *call,
             GError **error)
{
  const LptShape *out = &call->out[0].shape;
  const gint64 pixels = lpt_array_count (&call->out[0]) / 3;
  gboolean fits = out->rank == 4 && out->dims[1] % 2 == 0 && out->dims[2] % 2 == 0;

  if (call->n_in == 1)
    fits = fits && lpt_array_count (&call->in[0]) == pixels / 2 * 3;
  else
    fits = fits && lpt_array_count (&call->in[0]) == pixels && lpt_array_count (&call->in[1]) ==
           pixels / 4 * (call->n_in == 2 ? 2 : 1) && lpt_array_count (&call->in[call->n_in - 1]) ==
           pixels / 4 * (call->n_in == 2 ? 2 : 1);
  if (!fits)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "planes do not fit");

  return fits;
}

static gboolean
run (LptCall *call,
     gboolean blue_first,
     GError **error)
{
  const gboolean whole = lpt_dtype_is_integer (call->out[0].declared);
  const float *in[3];
  float *to = NULL, rgb[3];
  gint64 *to_whole = NULL, n, i, j;

  if (!lpt_call_reals (call, call->n_in, in, error) || !check_sizes (call, error) ||
      (whole ? (to_whole = lpt_call_out_i64 (call, 0, error)) == NULL
             : (to = lpt_call_out_f32 (call, 0, error)) == NULL))
    return FALSE;
  for (n = 0; n < call->out[0].shape.dims[0]; n++)
    {
      const Planes p = planes_of (call, in, n);

      for (i = 0; i < p.h; i++)
        for (j = 0; j < p.w; j++)
          {
            convert_pixel (&p, i, j, rgb);
            for (guint k = 0; k < 3; k++)
              {
                const float value = rgb[blue_first ? 2 - k : k];

                if (whole)
                  *to_whole++ = lroundf (value);
                else
                  *to++ = value;
              }
          }
    }

  return TRUE;
}

gboolean
lpt_run_to_rgb (LptCall *call,
                GError **error)
{
  return run (call, FALSE, error);
}

gboolean
lpt_run_to_bgr (LptCall *call,
                GError **error)
{
  return run (call, TRUE, error);
}
