/* lpt-roi-align.c - ROIAlign of a region
 *
 * A part of a region is the mean or the maximum of samples, which are bilinear and 0 more than one element outside the
 * image. In f64, samples in their order, rounded once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>

#include "eval/lpt-roi-align.h"

#define TAPS  LPT_ROI_TAPS
#define LANES LPT_ROI_LANES

/* A part of a region: @ny rows of @nx samples; (@y, @x) is turned by an angle and then moved by (@cy, @cx). */
typedef struct
{
  double y, x, h, w;
  gint64 ny, nx;
  double cos, sin, cy, cx;
} Part;

/* Where sample (@iy, @ix) of a part lies; FALSE: it is 0. */
static inline gboolean
place (const LptRoiImage *image,
       const Part        *part,
       gint64             iy,
       gint64             ix,
       double            *y,
       double            *x)
{
  const double py = part->y + ((double) iy + 0.5) * part->h / (double) part->ny,
               px = part->x + ((double) ix + 0.5) * part->w / (double) part->nx;

  *y = py * part->cos - px * part->sin + part->cy;
  *x = py * part->sin + px * part->cos + part->cx;
  if (!(*y >= -1 && *y <= (double) image->h && *x >= -1 && *x <= (double) image->w))
    return FALSE;
  *y = CLAMP (*y, 0, (double) (image->h - 1));
  *x = CLAMP (*x, 0, (double) (image->w - 1));

  return TRUE;
}

static float
align_part (const LptRoiImage *image,
            const float       *plane,
            const Part        *part,
            gboolean           max)
{
  double sum = max ? -FLT_MAX : 0;
  gint64 iy, ix;

  for (iy = 0; iy < part->ny; iy++)
    for (ix = 0; ix < part->nx; ix++)
      {
        double y, x, v = place (image, part, iy, ix, &y, &x) ? lpt_roi_sample (image, plane, y, x) : 0;

        sum = max ? MAX (sum, v) : sum + v;
      }

  return (float) (max ? sum : sum / (double) (part->ny * part->nx));
}

/* Part @index of the region whose first one is @first. */
static Part
part_of (const LptRoiAlign *a,
         const Part        *first,
         gint64             index)
{
  Part part = *first;

  part.y += (double) (index / a->cols) * part.h;
  part.x += (double) (index % a->cols) * part.w;

  return part;
}

static void
find_taps (const LptRoiAlign *a,
           const Part        *first,
           LptRoiTap         *tap)
{
  const LptRoiImage *image = &a->image;
  gint64 p, iy, ix;

  for (p = 0; p < a->rows * a->cols; p++)
    {
      const Part part = part_of (a, first, p);

      for (iy = 0; iy < part.ny; iy++)
        for (ix = 0; ix < part.nx; ix++, tap++)
          {
            double y, x;
            gint64 y0, x0, y1, x1;

            *tap = (LptRoiTap) { .at = { -1 } };
            if (!place (image, &part, iy, ix, &y, &x))
              continue;
            y0 = (gint64) y, x0 = (gint64) x, y1 = MIN (y0 + 1, image->h - 1), x1 = MIN (x0 + 1, image->w - 1);
            *tap = (LptRoiTap) { { y0 * image->w + x0, y0 * image->w + x1, y1 * image->w + x0, y1 * image->w + x1 },
                                 y - (double) y0, x - (double) x0 };
          }
    }
}

/* @parts parts of @each samples in @lanes channels that lie side by side in @plane; @lanes is a constant. The
 * arithmetic is that of align_part(). */
static inline void
align_lanes (const LptRoiTap *tap,
             gint64           parts,
             gint64           each,
             gboolean         max,
             gint64           lanes,
             const float     *plane,
             float           *y)
{
  gint64 p, i, j;

  for (p = 0; p < parts; p++)
    {
      double sum[LANES];

      for (j = 0; j < lanes; j++)
        sum[j] = max ? -FLT_MAX : 0;
      for (i = 0; i < each; i++, tap++)
        {
          const double dy = tap->dy, dx = tap->dx;
          const float *v[4];
          double x[LANES] = { 0 };

          for (j = 0; j < 4 && tap->at[0] >= 0; j++)
            v[j] = plane + tap->at[j] * lanes;
          for (j = 0; j < lanes && tap->at[0] >= 0; j++)
            x[j] = (1 - dy) * ((1 - dx) * v[0][j] + dx * v[1][j]) + dy * ((1 - dx) * v[2][j] + dx * v[3][j]);
          for (j = 0; j < lanes; j++)
            sum[j] = max ? MAX (sum[j], x[j]) : sum[j] + x[j];
        }
      for (j = 0; j < lanes; j++)
        y[j * parts + p] = (float) (max ? sum[j] : sum[j] / (double) each);
    }
}

/* Of parts this long or high; one where it is no number. */
static gint64
samples_of (const LptRoiAlign *a,
            double             length)
{
  if (a->attrs->sampling_ratio > 0)
    return a->attrs->sampling_ratio;

  return length > 1 ? (gint64) MIN (ceil (length), 1 << 16) : 1;
}

static Part
first_part (const LptRoiAlign *a,
            const float       *box)
{
  const LptRoiAlignAttrs *attrs = a->attrs;
  const double scale = attrs->spatial_scale, before = attrs->aligned_mode == LPT_ROI_HALF_PIXEL ? 0.5 : 0,
               after = attrs->aligned_mode == LPT_ROI_ASYMMETRIC ? 0 : -0.5;
  Part part = { .y = (box[1] + before) * scale + after, .x = (box[0] + before) * scale + after, .cos = 1 };

  part.w = (box[2] + before) * scale + after - part.x;
  part.h = (box[3] + before) * scale + after - part.y;
  if (a->rotated)
    part = (Part) { .w = box[2] * scale, .h = box[3] * scale, .y = -box[3] * scale / 2, .x = -box[2] * scale / 2,
                    .cos = cos (box[4]), .sin = sin (a->clockwise ? -box[4] : box[4]),
                    .cy = box[1] * scale - 0.5, .cx = box[0] * scale - 0.5 };
  if (a->not_small)
    {
      part.w = MAX (part.w, 1);
      part.h = MAX (part.h, 1);
    }
  part.w /= (double) a->cols;
  part.h /= (double) a->rows;
  part.nx = samples_of (a, part.w);
  part.ny = samples_of (a, part.h);

  return part;
}

void
lpt_roi_align_region (const LptRoiAlign *a,
                      const float       *box,
                      gint64             n,
                      LptRoiTap         *taps,
                      float             *y)
{
  const LptRoiImage *image = &a->image;
  const gint64 parts = a->rows * a->cols, plane = image->h * image->w, blocks = a->blocks / image->n;
  const gboolean max = a->attrs->mode == LPT_ROI_ALIGN_MAX;
  const Part first = first_part (a, box);
  gint64 c = 0, p;

  if (first.ny > TAPS || first.nx > TAPS || first.ny * first.nx > TAPS / MAX (parts, 1))
    {
      for (; c < image->c; c++)
        for (p = 0; p < parts; p++)
          {
            const Part part = part_of (a, &first, p);

            *y++ = align_part (image, lpt_roi_plane (image, n, c), &part, max);
          }
      return;
    }
  find_taps (a, &first, taps);
  for (; a->woven != NULL && c + LANES <= image->c; c += LANES)
    align_lanes (taps, parts, first.ny * first.nx, max, LANES, a->woven + (n * blocks * LANES + c) * plane,
                 y + c * parts);
  for (; c < image->c; c++)
    align_lanes (taps, parts, first.ny * first.nx, max, 1, lpt_roi_plane (image, n, c), y + c * parts);
}

void
lpt_roi_weave (const LptRoiAlign *a,
               gint64             i,
               float             *woven)
{
  const LptRoiImage *image = &a->image;
  const gint64 plane = image->h * image->w, blocks = a->blocks / image->n;
  gint64 j, k;

  for (j = 0; j < LANES; j++)
    {
      const float *from = lpt_roi_plane (image, i / blocks, i % blocks * LANES + j);
      float *to = woven + i * LANES * plane + j;

      for (k = 0; k < plane; k++)
        to[k * LANES] = from[k];
    }
}

void
lpt_roi_align_init (LptRoiAlign            *a,
                    const LptRoiImage      *image,
                    const LptRoiAlignAttrs *attrs,
                    const LptShape         *out)
{
  *a = (LptRoiAlign) { .image = *image, .attrs = attrs, .rows = out->dims[2], .cols = out->dims[3],
                       .not_small = attrs->aligned_mode == LPT_ROI_ASYMMETRIC };
  if (out->dims[0] * a->rows * a->cols >= image->n * image->h * image->w / 4)
    a->blocks = image->n * (image->c / LANES);
}

void
lpt_roi_align_init_rotated (LptRoiAlign                   *a,
                            const LptRoiImage             *image,
                            const LptRoiAlignRotatedAttrs *attrs,
                            LptRoiAlignAttrs              *align,
                            const LptShape                *out)
{
  *align = (LptRoiAlignAttrs) { .sampling_ratio = attrs->sampling_ratio, .spatial_scale = attrs->spatial_scale,
                                .mode = LPT_ROI_ALIGN_AVG };
  lpt_roi_align_init (a, image, align, out);
  a->rotated = TRUE;
  a->clockwise = attrs->clockwise_mode;
  a->not_small = FALSE;
}
