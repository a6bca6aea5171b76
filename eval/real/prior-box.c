/* prior-box.c - PriorBox, PriorBoxClustered: anchor boxes of a feature map
 *
 * Inputs: size of the feature map (h, w), size of the image (H, W). Output [2, 4 h w anchors]: row 0 has the corners
 * x0 y0 x1 y1 over the image's size, row 1 the variances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"

typedef struct
{
  gint64 h, w;               /* feature map */
  float  image_h, image_w;
  float *to, *end;
} Boxes;

static gboolean
open_boxes (LptCall *call,
            Boxes   *boxes,
            GError **error)
{
  const gint64 *map = lpt_call_i64 (call, 0, error), *image = map != NULL ? lpt_call_i64 (call, 1, error) : NULL;

  if (image == NULL)
    return FALSE;
  if (lpt_array_count (&call->in[0]) < 2 || lpt_array_count (&call->in[1]) < 2 || call->out[0].shape.rank != 2 ||
      call->out[0].shape.dims[0] != 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the sizes of feature map and image have 2 elements");
      return FALSE;
    }
  boxes->h = map[0];
  boxes->w = map[1];
  boxes->image_h = (float) image[0];
  boxes->image_w = (float) image[1];
  boxes->to = lpt_call_out_f32 (call, 0, error);
  boxes->end = boxes->to != NULL ? boxes->to + call->out[0].shape.dims[1] : NULL;

  return boxes->to != NULL;
}

static void
add_box (Boxes *boxes,
         float  cx,
         float  cy,
         float  half_w,
         float  half_h)
{
  if (boxes->end - boxes->to < 4)
    return;      /* counted by finish_boxes() */
  *boxes->to++ = (cx - half_w) / boxes->image_w;
  *boxes->to++ = (cy - half_h) / boxes->image_h;
  *boxes->to++ = (cx + half_w) / boxes->image_w;
  *boxes->to++ = (cy + half_h) / boxes->image_h;
}

/* Clips, and writes the variances. */
static gboolean
finish_boxes (LptCall         *call,
              Boxes           *boxes,
              gboolean         clip,
              const LptFloats *variance,
              GError         **error)
{
  gint64 n = call->out[0].shape.dims[1], i;
  float *y = boxes->end - n;

  if (boxes->to != boxes->end)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the attributes do not give %" G_GINT64_FORMAT " boxes", n / 4);
      return FALSE;
    }
  if (variance->n != 0 && variance->n != 1 && variance->n != 4)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%u variances, must be 1 or 4", variance->n);
      return FALSE;
    }
  for (i = 0; i < n && clip; i++)
    y[i] = CLAMP (y[i], 0, 1);
  for (i = 0; i < n; i++)
    y[n + i] = variance->n == 0 ? 0.1f : (float) variance->v[variance->n == 1 ? 0 : i % 4];

  return TRUE;
}

/* 1, the ratios and, with flip, their inverses; repeated ones once. */
static GArray *
expand_ratios (const LptPriorBoxAttrs *a)
{
  GArray *ratios = g_array_new (FALSE, FALSE, sizeof (float));
  float one = 1;
  guint i, k, j;

  g_array_append_val (ratios, one);
  for (i = 0; i < a->aspect_ratio.n; i++)
    for (k = 0; k < (a->flip ? 2u : 1u); k++)
      {
        float ratio = k == 0 ? (float) a->aspect_ratio.v[i] : 1 / (float) a->aspect_ratio.v[i];
        gboolean known = FALSE;

        for (j = 0; j < ratios->len; j++)
          known = known || fabsf (ratio - g_array_index (ratios, float, j)) < 1e-6f;
        if (!known)
          g_array_append_val (ratios, ratio);
      }

  return ratios;
}

/* A square of @size cut into density x density boxes; whole numbers, and these boxes are always clipped. */
static void
add_dense (Boxes *boxes,
           float  cx,
           float  cy,
           float  size,
           gint64 density,
           float  half_w,
           float  half_h)
{
  const float half = truncf (truncf (size) / 2), shift = truncf (size / (float) density);
  gint64 r, c;
  float *from = boxes->to;

  for (r = 0; r < density; r++)
    for (c = 0; c < density; c++)
      add_box (boxes, cx - half + shift / 2 + (float) c * shift, cy - half + shift / 2 + (float) r * shift, half_w,
               half_h);
  for (; from < boxes->to; from++)
    *from = CLAMP (*from, 0, 1);
}

static inline float
at (const LptFloats *list,
    guint            i,
    float            fallback)
{
  return i < list->n ? (float) list->v[i] : fallback;
}

static void
add_fixed (Boxes                  *boxes,
           const LptPriorBoxAttrs *a,
           const GArray           *ratios,
           float                   cx,
           float                   cy)
{
  guint s, r;

  for (s = 0; s < a->fixed_size.n; s++)
    {
      float size = (float) a->fixed_size.v[s];
      gint64 density = MAX ((gint64) at (&a->density, s, 1), 1);

      for (r = 0; r < a->fixed_ratio.n; r++)
        {
          float root = sqrtf ((float) a->fixed_ratio.v[r]);

          add_dense (boxes, cx, cy, size, density, size / 2 * root, size / 2 / root);
        }
      if (a->fixed_ratio.n > 0)
        continue;
      add_dense (boxes, cx, cy, size, density, truncf (size) / 2, truncf (size) / 2);
      for (r = 0; r < ratios->len; r++)
        {
          float ratio = g_array_index (ratios, float, r), root = sqrtf (ratio);

          if (fabsf (ratio - 1) >= 1e-6f)
            add_dense (boxes, cx, cy, size, density, size / 2 * root, size / 2 / root);
        }
    }
}

static void
add_ratio_boxes (Boxes        *boxes,
                 const GArray *ratios,
                 float         cx,
                 float         cy,
                 float         size)
{
  guint r;

  for (r = 0; r < ratios->len; r++)
    {
      float ratio = g_array_index (ratios, float, r), root = sqrtf (ratio);

      if (fabsf (ratio - 1) >= 1e-6f)
        add_box (boxes, cx, cy, size * root / 2, size / root / 2);
    }
}

/* @scale: what min_size is given in, 1 = elements. */
static void
add_sized (Boxes                  *boxes,
           const LptPriorBoxAttrs *a,
           const GArray           *ratios,
           float                   cx,
           float                   cy,
           float                   scale)
{
  guint s;

  for (s = 0; s < a->min_size.n; s++)
    {
      float size = (float) a->min_size.v[s] * scale, side = sqrtf (size * at (&a->max_size, s, 0)) / 2;
      gboolean with_ratios = a->scale_all_sizes || s == a->min_size.n - 1;
      float ratio_size = (float) a->min_size.v[a->scale_all_sizes ? s : 0] * scale;

      add_box (boxes, cx, cy, size / 2, size / 2);
      if (with_ratios && !a->min_max_aspect_ratios_order)
        add_ratio_boxes (boxes, ratios, cx, cy, ratio_size);
      if (s < a->max_size.n)
        add_box (boxes, cx, cy, side, side);
      if (with_ratios && a->min_max_aspect_ratios_order)
        add_ratio_boxes (boxes, ratios, cx, cy, ratio_size);
    }
}

gboolean
lpt_run_prior_box (LptCall *call,
                   GError **error)
{
  const LptPriorBoxAttrs *a = LPT_ATTRS (call->node, LptPriorBoxAttrs);
  g_autoptr (GArray) ratios = expand_ratios (a);
  float step = (float) a->step, scale = 1;
  gint64 x, y;
  Boxes boxes;

  if (!open_boxes (call, &boxes, error))
    return FALSE;
  if (!a->scale_all_sizes)
    {
      /* MXNet's anchors: step and sizes are fractions of the image's height. */
      step = step == -1 ? boxes.image_h / (float) boxes.h : step * boxes.image_h;
      scale = boxes.image_h;
    }
  for (y = 0; y < boxes.h; y++)
    for (x = 0; x < boxes.w; x++)
      {
        float cx = step == 0 ? ((float) x + 0.5f) * (boxes.image_w / (float) boxes.w)
                             : ((float) x + (float) a->offset) * step;
        float cy = step == 0 ? ((float) y + 0.5f) * (boxes.image_h / (float) boxes.h)
                             : ((float) y + (float) a->offset) * step;

        add_fixed (&boxes, a, ratios, cx, cy);
        add_sized (&boxes, a, ratios, cx, cy, scale);
      }

  return finish_boxes (call, &boxes, a->clip, &a->variance, error);
}

gboolean
lpt_run_prior_box_clustered (LptCall *call,
                             GError **error)
{
  const LptPriorBoxClusteredAttrs *a = LPT_ATTRS (call->node, LptPriorBoxClusteredAttrs);
  float step_w, step_h;
  gint64 x, y;
  Boxes boxes;
  guint k;

  if (!open_boxes (call, &boxes, error))
    return FALSE;
  if (a->width.n != a->height.n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%u widths but %u heights", a->width.n, a->height.n);
      return FALSE;
    }
  step_w = (float) (a->step_w != 0 ? a->step_w : a->step);
  step_h = (float) (a->step_h != 0 ? a->step_h : a->step);
  if (step_w == 0)
    step_w = boxes.image_w / (float) boxes.w;
  if (step_h == 0)
    step_h = boxes.image_h / (float) boxes.h;
  for (y = 0; y < boxes.h; y++)
    for (x = 0; x < boxes.w; x++)
      for (k = 0; k < a->width.n; k++)
        add_box (&boxes, ((float) x + (float) a->offset) * step_w, ((float) y + (float) a->offset) * step_h,
                 (float) a->width.v[k] / 2, (float) a->height.v[k] / 2);

  return finish_boxes (call, &boxes, a->clip, &a->variance, error);
}
