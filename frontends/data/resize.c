/* resize.c - images of other sizes, as Pillow's BILINEAR makes them
 *
 * Output pixel x lies at c = (x + 1/2) f in the input, f = in / out. Its weights are a triangle of half width s = max
 * (f, 1) around c, over the input pixels [c - s + 1/2], ..., [c + s + 1/2] - 1 inside the image: 1 - |i - c + 1/2| / s,
 * divided by their sum. First along rows, then along columns, each in integers: weights are rounded to 22 bits, sums
 * start at a half, results are 8 bits. A direction whose size stays is left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"

#include <math.h>
#include <string.h>

#define WEIGHT_BITS 22

/* Weights of one direction: for output i the inputs first[i] .. first[i] + n[i], at w + i * width. */
typedef struct
{
  gint64  width;
  gint64 *first, *n;
  gint32 *w;
} Weights;

static void
weights_clear (Weights *weights)
{
  g_free (weights->first);
  g_free (weights->n);
  g_free (weights->w);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Weights, weights_clear)

static void
make_weights (gint64 in, gint64 out, Weights *weights)
{
  double factor = (double) in / (double) out, half = MAX (factor, 1.0);
  weights->width = (gint64) ceil (half) * 2 + 1;
  weights->first = g_new (gint64, out);
  weights->n = g_new (gint64, out);
  weights->w = g_new0 (gint32, out * weights->width);
  g_autofree double *real = g_new (double, weights->width);
  for (gint64 i = 0; i < out; i++)
    {
      double centre = ((double) i + 0.5) * factor, sum = 0.0;
      gint64 first = MAX ((gint64) (centre - half + 0.5), 0), last = MIN ((gint64) (centre + half + 0.5), in);
      for (gint64 k = first; k < last; k++)
        {
          double distance = fabs (((double) k - centre + 0.5) * (1.0 / half));
          sum += real[k - first] = distance < 1.0 ? 1.0 - distance : 0.0;
        }
      weights->first[i] = first;
      weights->n[i] = last - first;
      for (gint64 k = 0; k < last - first; k++)
        weights->w[i * weights->width + k] = (gint32) (0.5 + real[k] / sum * (double) (1 << WEIGHT_BITS));
    }
}

/* One direction of [outer, in, inner] -> [outer, out, inner]. */
static void
resample (const guint8 *from, guint8 *to, gint64 outer, gint64 in, gint64 out, gint64 inner)
{
  g_auto (Weights) weights = { 0 };
  make_weights (in, out, &weights);
  for (gint64 o = 0; o < outer; o++)
    for (gint64 i = 0; i < out; i++)
      {
        const gint32 *w = weights.w + i * weights.width;
        const guint8 *source = from + (o * in + weights.first[i]) * inner;
        guint8 *dest = to + (o * out + i) * inner;
        for (gint64 c = 0; c < inner; c++)
          {
            gint64 sum = (gint64) 1 << (WEIGHT_BITS - 1);
            for (gint64 k = 0; k < weights.n[i]; k++)
              sum += (gint64) source[k * inner + c] * w[k];
            dest[c] = (guint8) CLAMP (sum >> WEIGHT_BITS, 0, 255);
          }
      }
}

LptTensor *
lpt_image_resize (LptTensor *image, gint64 height, gint64 width, GError **error)
{
  const LptShape *has = lpt_tensor_shape (image);
  g_return_val_if_fail (has->rank == 3 && lpt_tensor_dtype (image) == LPT_DTYPE_U8, NULL);
  gint64 h = has->dims[0], w = has->dims[1], c = has->dims[2];
  if (MIN (MIN (h, w), MIN (height, width)) < 1 || MAX (MAX (h, w), MAX (height, width)) > DATA_MAX_SIDE)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "unsupported: an image of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                   " x %" G_GINT64_FORMAT,
                   w, h, width, height);
      return NULL;
    }
  g_autoptr (LptTensor) rows = lpt_tensor_ref (image);
  if (width != w)
    {
      LptShape shape = { 3, { h, width, c } };
      g_autoptr (LptTensor) wide = lpt_tensor_new (LPT_DTYPE_U8, &shape, error);
      if (wide == NULL)
        return NULL;
      resample (lpt_tensor_data (rows), lpt_tensor_writable (wide), h, w, width, c);
      lpt_tensor_unref (rows);
      rows = g_steal_pointer (&wide);
    }
  if (height == h)
    return g_steal_pointer (&rows);
  LptShape shape = { 3, { height, width, c } };
  g_autoptr (LptTensor) result = lpt_tensor_new (LPT_DTYPE_U8, &shape, error);
  if (result == NULL)
    return NULL;
  resample (lpt_tensor_data (rows), lpt_tensor_writable (result), 1, h, height, width * c);
  return g_steal_pointer (&result);
}
