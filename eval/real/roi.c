/* roi.c - ROIPooling, ROIAlign, PSROIPooling: parts of regions of an image
 *
 * X [N,C,H,W]; regions are rows of image index and two corners (ROIAlign has the indices apart).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  const float *x;
  gint64       n, c, h, w;
} Image;

static gboolean
open_image (LptCall *call,
            Image   *image,
            GError **error)
{
  const LptShape *shape = &call->in[0].shape;

  image->x = lpt_call_f32 (call, 0, error);
  if (image->x == NULL)
    return FALSE;
  if (shape->rank != 4 || shape->dims[2] < 1 || shape->dims[3] < 1 || call->out[0].shape.rank != 4)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data must be [N,C,H,W] and not empty");
      return FALSE;
    }
  image->n = shape->dims[0];
  image->c = shape->dims[1];
  image->h = shape->dims[2];
  image->w = shape->dims[3];

  return TRUE;
}

static gboolean
image_index (const Image *image,
             double       index,
             gint64      *out,
             GError     **error)
{
  if (index >= 0 && index < (double) image->n)
    {
      *out = (gint64) index;
      return TRUE;
    }
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a region is of image %g of %" G_GINT64_FORMAT, index, image->n);

  return FALSE;
}

static const float *
plane_of (const Image *image,
          gint64       n,
          gint64       c)
{
  return image->x + (n * image->c + c) * image->h * image->w;
}

/* Bilinear between the neighbours, which are inside. */
static double
sample (const Image *image,
        const float *plane,
        double       y,
        double       x)
{
  gint64 y0 = (gint64) y, x0 = (gint64) x, y1 = MIN (y0 + 1, image->h - 1), x1 = MIN (x0 + 1, image->w - 1);
  double dy = y - (double) y0, dx = x - (double) x0;

  return (1 - dy) * ((1 - dx) * plane[y0 * image->w + x0] + dx * plane[y0 * image->w + x1])
         + dy * ((1 - dx) * plane[y1 * image->w + x0] + dx * plane[y1 * image->w + x1]);
}

/* --- ROIPooling --- */

static float
max_part (const Image *image,
          const float *plane,
          const float *box,
          gint64       py,
          gint64       px,
          gint64       parts_h,
          gint64       parts_w)
{
  gint64 h = MAX ((gint64) (box[3] - box[1]) + 1, 1), w = MAX ((gint64) (box[2] - box[0]) + 1, 1);
  float part_h = (float) h / (float) parts_h, part_w = (float) w / (float) parts_w, max = -FLT_MAX;
  gint64 y0 = CLAMP ((gint64) floorf ((float) py * part_h) + (gint64) box[1], 0, image->h);
  gint64 y1 = CLAMP ((gint64) ceilf ((float) (py + 1) * part_h) + (gint64) box[1], 0, image->h);
  gint64 x0 = CLAMP ((gint64) floorf ((float) px * part_w) + (gint64) box[0], 0, image->w);
  gint64 x1 = CLAMP ((gint64) ceilf ((float) (px + 1) * part_w) + (gint64) box[0], 0, image->w);
  gint64 y, x;

  if (y1 <= y0 || x1 <= x0)
    return 0;
  for (y = y0; y < y1; y++)
    for (x = x0; x < x1; x++)
      max = MAX (max, plane[y * image->w + x]);

  return max;
}

/* The region is given in fractions of the image; one sample per part. */
static float
bilinear_part (const Image *image,
               const float *plane,
               const float *box,
               gint64       py,
               gint64       px,
               gint64       parts_h,
               gint64       parts_w)
{
  double bottom = (double) (image->h - 1), right = (double) (image->w - 1);
  double y = parts_h > 1 ? (double) py * (box[3] - box[1]) * bottom / (double) (parts_h - 1) + box[1] * bottom
                         : 0.5 * (box[1] + box[3]) * bottom;
  double x = parts_w > 1 ? (double) px * (box[2] - box[0]) * right / (double) (parts_w - 1) + box[0] * right
                         : 0.5 * (box[0] + box[2]) * right;

  return y >= 0 && y <= bottom && x >= 0 && x <= right ? (float) sample (image, plane, y, x) : 0;
}

gboolean
lpt_run_roi_pooling (LptCall *call,
                     GError **error)
{
  const LptRoiPoolingAttrs *a = LPT_ATTRS (call->node, LptRoiPoolingAttrs);
  const LptShape *out = &call->out[0].shape;
  const float *rois = lpt_call_f32 (call, 1, error);
  float *y = rois != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 r, c, py, px, n;
  Image image;
  guint k;

  if (y == NULL || !open_image (call, &image, error))
    return FALSE;
  for (r = 0; r < out->dims[0]; r++, rois += 5)
    {
      float box[4];

      /* Rows after the last region begin with -1. */
      if (rois[0] < 0)
        {
          memset (y, 0, (gsize) (out->dims[0] - r) * (gsize) lpt_dims_product (out, 1, 4) * sizeof (float));
          break;
        }
      if (!image_index (&image, rois[0], &n, error))
        return FALSE;
      for (k = 0; k < 4; k++)
        {
          float v = a->method == LPT_ROI_MAX ? roundf (rois[1 + k] * (float) a->spatial_scale) : rois[1 + k];

          box[k] = isfinite (v) ? CLAMP (v, -1e9f, 1e9f) : 0;
        }
      for (c = 0; c < image.c; c++)
        for (py = 0; py < out->dims[2]; py++)
          for (px = 0; px < out->dims[3]; px++)
            *y++ = (a->method == LPT_ROI_MAX ? max_part : bilinear_part) (&image, plane_of (&image, n, c), box, py, px,
                                                                          out->dims[2], out->dims[3]);
    }

  return TRUE;
}

/* --- ROIAlign --- */

/* A part of a region: @ny rows of @nx samples. */
typedef struct
{
  double y, x, h, w;
  gint64 ny, nx;
} Part;

/* Where sample (@iy, @ix) of a part lies; FALSE: more than one element outside, where samples are 0. */
static inline gboolean
place (const Image *image,
       const Part  *part,
       gint64       iy,
       gint64       ix,
       double      *y,
       double      *x)
{
  *y = part->y + ((double) iy + 0.5) * part->h / (double) part->ny;
  *x = part->x + ((double) ix + 0.5) * part->w / (double) part->nx;
  if (!(*y >= -1 && *y <= (double) image->h && *x >= -1 && *x <= (double) image->w))
    return FALSE;
  *y = CLAMP (*y, 0, (double) (image->h - 1));
  *x = CLAMP (*x, 0, (double) (image->w - 1));

  return TRUE;
}

/* Mean or maximum over the samples of a part. */
static float
align_part (const Image *image,
            const float *plane,
            const Part  *part,
            gboolean     max)
{
  double sum = max ? -FLT_MAX : 0;
  gint64 iy, ix;

  for (iy = 0; iy < part->ny; iy++)
    for (ix = 0; ix < part->nx; ix++)
      {
        double y, x, v = place (image, part, iy, ix, &y, &x) ? sample (image, plane, y, x) : 0;

        sum = max ? MAX (sum, v) : sum + v;
      }

  return (float) (max ? sum : sum / (double) (part->ny * part->nx));
}

/* What a sample reads, the same for all channels: its neighbours, -1 where it is 0. */
typedef struct
{
  gint64 at[4];
  double dy, dx;
} Tap;

/* Taps of a region that are found once; of more samples each channel finds its own. */
#define MAX_TAPS 16384
/* Channels side by side. */
#define LANES 4

typedef struct
{
  const Image *image;
  gboolean     max;
  gint64       rows, cols;       /* parts of a region */
  Part         first;            /* of the region at hand: its corner and the size of a part */
  Tap         *taps;             /* room for MAX_TAPS */
  const float *woven;            /* the image by blocks of LANES channels, which are side by side; or NULL */
} Align;

static Part
part_of (const Align *a,
         gint64       py,
         gint64       px)
{
  Part part = a->first;

  part.y += (double) py * part.h;
  part.x += (double) px * part.w;

  return part;
}

static void
find_taps (const Align *a)
{
  const Image *image = a->image;
  gint64 py, px, iy, ix;
  Tap *tap = a->taps;

  for (py = 0; py < a->rows; py++)
    for (px = 0; px < a->cols; px++)
      {
        const Part part = part_of (a, py, px);

        for (iy = 0; iy < part.ny; iy++)
          for (ix = 0; ix < part.nx; ix++, tap++)
            {
              double y, x;
              gint64 y0, x0, y1, x1;

              *tap = (Tap) { .at = { -1 } };
              if (!place (image, &part, iy, ix, &y, &x))
                continue;
              y0 = (gint64) y, x0 = (gint64) x, y1 = MIN (y0 + 1, image->h - 1), x1 = MIN (x0 + 1, image->w - 1);
              *tap = (Tap) { { y0 * image->w + x0, y0 * image->w + x1, y1 * image->w + x0, y1 * image->w + x1 },
                             y - (double) y0, x - (double) x0 };
            }
      }
}

/* All parts of the region in @lanes channels that lie side by side in @plane; @lanes is a constant. The arithmetic is
 * that of align_part(). */
static inline void
align_lanes (const Align *a,
             gint64       lanes,
             const float *plane,
             float       *y)
{
  const gint64 parts = a->rows * a->cols, each = a->first.ny * a->first.nx;
  const Tap *tap = a->taps;
  gint64 p, i, j;

  for (p = 0; p < parts; p++)
    {
      double sum[LANES];

      for (j = 0; j < lanes; j++)
        sum[j] = a->max ? -FLT_MAX : 0;
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
            sum[j] = a->max ? MAX (sum[j], x[j]) : sum[j] + x[j];
        }
      for (j = 0; j < lanes; j++)
        y[j * parts + p] = (float) (a->max ? sum[j] : sum[j] / (double) each);
    }
}

/* The region of image @n, all channels. */
static void
align_region (const Align *a,
              gint64       n,
              float       *y)
{
  const Image *image = a->image;
  const gint64 parts = a->rows * a->cols, plane = image->h * image->w, blocks = (image->c + LANES - 1) / LANES;
  gint64 c = 0, p;

  if (a->first.ny > MAX_TAPS || a->first.nx > MAX_TAPS || a->first.ny * a->first.nx > MAX_TAPS / parts)
    {
      for (; c < image->c; c++)
        for (p = 0; p < parts; p++)
          {
            const Part part = part_of (a, p / a->cols, p % a->cols);

            *y++ = align_part (image, plane_of (image, n, c), &part, a->max);
          }
      return;
    }
  find_taps (a);
  for (; a->woven != NULL && c + LANES <= image->c; c += LANES)
    align_lanes (a, LANES, a->woven + (n * blocks * LANES + c) * plane, y + c * parts);
  for (; c < image->c; c++)
    align_lanes (a, 1, plane_of (image, n, c), y + c * parts);
}

/* Blocks of LANES channels, whole ones only. */
static void
weave (const Image *image,
       float       *to)
{
  const gint64 plane = image->h * image->w, blocks = (image->c + LANES - 1) / LANES;
  gint64 n, c, i;

  for (n = 0; n < image->n; n++)
    for (c = 0; c < image->c; c++)
      {
        const float *from = plane_of (image, n, c);
        float *block = to + (n * blocks + c / LANES) * LANES * plane + c % LANES;

        for (i = 0; i < plane; i++)
          block[i * LANES] = from[i];
      }
}

/* Room for taps, and the image woven where there are enough regions for it. */
static gboolean
open_align (LptCall     *call,
            const Image *image,
            Align       *a,
            GError     **error)
{
  const LptShape *out = &call->out[0].shape;
  const gint64 plane = image->h * image->w, all = image->n * ((image->c + LANES - 1) / LANES) * LANES * plane;
  float *woven;

  *a = (Align) { .image = image, .rows = out->dims[2], .cols = out->dims[3],
                 .taps = lpt_call_scratch (call, MAX_TAPS, sizeof (Tap), error) };
  if (a->taps == NULL || image->c < LANES || out->dims[0] * out->dims[2] * out->dims[3] < image->n * plane / 4)
    return a->taps != NULL;
  woven = lpt_call_scratch (call, (gsize) all, sizeof (float), error);
  if (woven == NULL)
    return FALSE;
  weave (image, woven);
  a->woven = woven;

  return TRUE;
}

gboolean
lpt_run_roi_align (LptCall *call,
                   GError **error)
{
  const LptRoiAlignAttrs *a = LPT_ATTRS (call->node, LptRoiAlignAttrs);
  const LptShape *out = &call->out[0].shape;
  const float *rois = lpt_call_f32 (call, 1, error);
  const gint64 *images = rois != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  float *y = images != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  double before = a->aligned_mode == LPT_ROI_HALF_PIXEL ? 0.5 : 0,
         after = a->aligned_mode == LPT_ROI_ASYMMETRIC ? 0 : -0.5;
  Image image;
  Align align;
  gint64 r, n;

  if (y == NULL || !open_image (call, &image, error) || !open_align (call, &image, &align, error))
    return FALSE;
  align.max = a->mode == LPT_ROI_ALIGN_MAX;
  if (align.rows * align.cols == 0)
    return TRUE;
  for (r = 0; r < out->dims[0]; r++, rois += 4, y += image.c * align.rows * align.cols)
    {
      double x0 = (rois[0] + before) * a->spatial_scale + after, y0 = (rois[1] + before) * a->spatial_scale + after;
      double w = (rois[2] + before) * a->spatial_scale + after - x0,
             h = (rois[3] + before) * a->spatial_scale + after - y0;

      if (!image_index (&image, (double) images[r], &n, error))
        return FALSE;
      if (a->aligned_mode == LPT_ROI_ASYMMETRIC)
        {
          w = MAX (w, 1);
          h = MAX (h, 1);
        }
      w /= (double) out->dims[3];
      h /= (double) out->dims[2];
      align.first = (Part) { y0, x0, h, w,
                             a->sampling_ratio > 0 ? a->sampling_ratio : (gint64) CLAMP (ceil (h), 1, 1 << 16),
                             a->sampling_ratio > 0 ? a->sampling_ratio : (gint64) CLAMP (ceil (w), 1, 1 << 16) };
      align_region (&align, n, y);
    }

  return TRUE;
}

/* --- PSROIPooling --- */

/* Mean of the part's own channel over its elements. */
static float
average_bin (const Image *image,
             const float *plane,
             const float *roi,
             double       scale,
             gint64       group,
             gint64       py,
             gint64       px)
{
  double x0 = round (roi[1]) * scale, y0 = round (roi[2]) * scale;
  double w = MAX ((round (roi[3]) + 1) * scale - x0, 0.1) / (double) group;
  double h = MAX ((round (roi[4]) + 1) * scale - y0, 0.1) / (double) group, sum = 0;
  gint64 ya = (gint64) CLAMP (floor ((double) py * h + y0), 0, (double) image->h);
  gint64 yb = (gint64) CLAMP (ceil ((double) (py + 1) * h + y0), 0, (double) image->h);
  gint64 xa = (gint64) CLAMP (floor ((double) px * w + x0), 0, (double) image->w);
  gint64 xb = (gint64) CLAMP (ceil ((double) (px + 1) * w + x0), 0, (double) image->w);
  gint64 y, x;

  if (yb <= ya || xb <= xa)
    return 0;
  for (y = ya; y < yb; y++)
    for (x = xa; x < xb; x++)
      sum += plane[y * image->w + x];

  return (float) (sum / (double) ((yb - ya) * (xb - xa)));
}

/* Each bin of the region has channels of its own; one sample per bin and part, mean over the bins. */
static float
bilinear_bins (const Image              *image,
               const LptPsRoiPoolingAttrs *a,
               const float              *roi,
               gint64                    n,
               gint64                    c,
               gint64                    py,
               gint64                    px)
{
  double x0 = roi[1] * a->spatial_scale, y0 = roi[2] * a->spatial_scale;
  double bin_w = (roi[3] * a->spatial_scale - x0) / (double) a->spatial_bins_x;
  double bin_h = (roi[4] * a->spatial_scale - y0) / (double) a->spatial_bins_y;
  double bottom = (double) (image->h - 1), right = (double) (image->w - 1), sum = 0;
  gint64 by, bx;

  for (by = 0; by < a->spatial_bins_y; by++)
    for (bx = 0; bx < a->spatial_bins_x; bx++)
      {
        const float *plane = plane_of (image, n, (by * a->spatial_bins_x + bx) * a->output_dim + c);
        double top = y0 + (double) by * bin_h, left = x0 + (double) bx * bin_w;
        double y = a->group_size > 1 ? (double) py * bin_h * bottom / (double) (a->group_size - 1) + top * bottom
                                     : (top + bin_h / 2) * bottom;
        double x = a->group_size > 1 ? (double) px * bin_w * right / (double) (a->group_size - 1) + left * right
                                     : (left + bin_w / 2) * right;

        if (y >= 0 && y <= bottom && x >= 0 && x <= right)
          sum += sample (image, plane, y, x);
      }

  return (float) (sum / (double) (a->spatial_bins_x * a->spatial_bins_y));
}

gboolean
lpt_run_psroi_pooling (LptCall *call,
                       GError **error)
{
  const LptPsRoiPoolingAttrs *a = LPT_ATTRS (call->node, LptPsRoiPoolingAttrs);
  gboolean average = a->mode == LPT_PSROI_AVERAGE;
  const LptShape *out = &call->out[0].shape;
  const float *rois = lpt_call_f32 (call, 1, error);
  float *y = rois != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 group = a->group_size, r, c, py, px, n;
  Image image;

  if (y == NULL || !open_image (call, &image, error))
    return FALSE;
  if (image.c != a->output_dim * (average ? group * group : a->spatial_bins_x * a->spatial_bins_y))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " channels do not fit output_dim and bins",
                   image.c);
      return FALSE;
    }
  for (r = 0; r < out->dims[0]; r++, rois += 5)
    {
      if (!image_index (&image, rois[0], &n, error))
        return FALSE;
      for (c = 0; c < a->output_dim; c++)
        for (py = 0; py < group; py++)
          for (px = 0; px < group; px++)
            *y++ = average ? average_bin (&image, plane_of (&image, n, (c * group + py) * group + px), rois, a->spatial_scale,
                                          group, py, px)
                           : bilinear_bins (&image, a, rois, n, c, py, px);
    }

  return TRUE;
}
