/* roi.c - ROIPooling, ROIAlign, ROIAlignRotated, PSROIPooling: parts of regions of an image
 *
 * X [N,C,H,W]; regions are rows of image index and two corners (ROIAlign has the indices apart).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-roi-align.h"
#include "ir/scalar/lpt-loop.h"

typedef LptRoiImage Image;

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

  return y >= 0 && y <= bottom && x >= 0 && x <= right ? (float) lpt_roi_sample (image, plane, y, x) : 0;
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
            *y++ = (a->method == LPT_ROI_MAX ? max_part : bilinear_part) (&image, lpt_roi_plane (&image, n, c), box, py, px,
                                                                          out->dims[2], out->dims[3]);
    }

  return TRUE;
}

/* --- ROIAlign --- */

/* Room for taps, and the image woven where there are enough regions for it. */
static gboolean
open_align (LptCall     *call,
            LptRoiAlign *a,
            LptRoiTap  **taps,
            GError     **error)
{
  float *woven;
  gint64 i;

  *taps = lpt_call_scratch (call, LPT_ROI_TAPS, sizeof (LptRoiTap), error);
  if (*taps == NULL || a->blocks == 0)
    return *taps != NULL;
  woven = lpt_call_scratch (call, (gsize) (a->blocks * LPT_ROI_LANES * a->image.h * a->image.w), sizeof (float), error);
  if (woven == NULL)
    return FALSE;
  for (i = 0; i < a->blocks; i++)
    lpt_roi_weave (a, i, woven);
  a->woven = woven;

  return TRUE;
}

/* Regions are rows of @columns numbers. */
static gboolean
run_align (LptCall     *call,
           LptRoiAlign *a,
           gint64       columns,
           GError     **error)
{
  const float *rois = lpt_call_f32 (call, 1, error);
  const gint64 *images = rois != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  float *y = images != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  LptRoiTap *taps;
  gint64 r, n;

  if (y == NULL || !open_align (call, a, &taps, error))
    return FALSE;
  for (r = 0; r < call->out[0].shape.dims[0]; r++)
    {
      if (!image_index (&a->image, (double) images[r], &n, error))
        return FALSE;
      lpt_roi_align_region (a, rois + r * columns, n, taps, y + r * a->image.c * a->rows * a->cols);
    }

  return TRUE;
}

gboolean
lpt_run_roi_align (LptCall *call,
                   GError **error)
{
  LptRoiAlign a;
  Image image;

  if (!open_image (call, &image, error))
    return FALSE;
  lpt_roi_align_init (&a, &image, LPT_ATTRS (call->node, LptRoiAlignAttrs), &call->out[0].shape);

  return run_align (call, &a, 4, error);
}

gboolean
lpt_run_roi_align_rotated (LptCall *call,
                           GError **error)
{
  LptRoiAlignAttrs attrs;
  LptRoiAlign a;
  Image image;

  if (!open_image (call, &image, error))
    return FALSE;
  lpt_roi_align_init_rotated (&a, &image, LPT_ATTRS (call->node, LptRoiAlignRotatedAttrs), &attrs, &call->out[0].shape);

  return run_align (call, &a, 5, error);
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
        const float *plane = lpt_roi_plane (image, n, (by * a->spatial_bins_x + bx) * a->output_dim + c);
        double top = y0 + (double) by * bin_h, left = x0 + (double) bx * bin_w;
        double y = a->group_size > 1 ? (double) py * bin_h * bottom / (double) (a->group_size - 1) + top * bottom
                                     : (top + bin_h / 2) * bottom;
        double x = a->group_size > 1 ? (double) px * bin_w * right / (double) (a->group_size - 1) + left * right
                                     : (left + bin_w / 2) * right;

        if (y >= 0 && y <= bottom && x >= 0 && x <= right)
          sum += lpt_roi_sample (image, plane, y, x);
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
            *y++ = average ? average_bin (&image, lpt_roi_plane (&image, n, (c * group + py) * group + px), rois, a->spatial_scale,
                                          group, py, px)
                           : bilinear_bins (&image, a, rois, n, c, py, px);
    }

  return TRUE;
}
