/* lpt-roi-align.h - ROIAlign of a region, as the plain op and its form do it; of a rotated one, and of a level of a
 * pyramid
 *
 * Where samples lie is found once for all channels; four channels woven side by side go together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-types.h>

/* X [N,C,H,W], none of H and W is 0. */
typedef struct
{
  const float *x;
  gint64       n, c, h, w;
} LptRoiImage;

/* What a sample reads, the same for all channels: its neighbours, -1 where it is 0. */
typedef struct
{
  gint64 at[4];
  double dy, dx;
} LptRoiTap;

/* Taps of a region that are found once; of more samples each channel finds its own. */
#define LPT_ROI_TAPS 8192
/* Channels side by side. */
#define LPT_ROI_LANES 4

typedef struct
{
  LptRoiImage             image;
  const LptRoiAlignAttrs *attrs;
  gint64                  rows, cols;      /* parts of a region */
  gboolean                rotated;         /* a region is its centre, width, height and angle */
  gboolean                clockwise;       /* so the angle counts */
  gboolean                not_small;       /* a region is one element high and wide at least */
  gint64                  blocks;          /* of LANES channels, of all images, that are worth weaving: all or none */
  const float            *woven;           /* block after block; or NULL */
} LptRoiAlign;

static inline const float *
lpt_roi_plane (const LptRoiImage *image,
               gint64             n,
               gint64             c)
{
  return image->x + (n * image->c + c) * image->h * image->w;
}

/* Bilinear between the neighbours, which are inside. */
static inline double
lpt_roi_sample (const LptRoiImage *image,
                const float       *plane,
                double             y,
                double             x)
{
  gint64 y0 = (gint64) y, x0 = (gint64) x, y1 = MIN (y0 + 1, image->h - 1), x1 = MIN (x0 + 1, image->w - 1);
  double dy = y - (double) y0, dx = x - (double) x0;

  return (1 - dy) * ((1 - dx) * plane[y0 * image->w + x0] + dx * plane[y0 * image->w + x1])
         + dy * ((1 - dx) * plane[y1 * image->w + x0] + dx * plane[y1 * image->w + x1]);
}

/* For results of shape @out; @attrs stays the caller's. */
void lpt_roi_align_init   (LptRoiAlign *a, const LptRoiImage *image, const LptRoiAlignAttrs *attrs,
                           const LptShape *out);
/* ROIAlignRotated; @align: the caller's, which is filled */
void lpt_roi_align_init_rotated (LptRoiAlign *a, const LptRoiImage *image, const LptRoiAlignRotatedAttrs *attrs,
                                 LptRoiAlignAttrs *align, const LptShape *out);
/* Block @i of all to its place in @woven. */
void lpt_roi_weave        (const LptRoiAlign *a, gint64 i, float *woven);
/* All channels of the region @box (4 numbers, 5 where it is rotated) of image @n; @taps: room for LPT_ROI_TAPS. */
void lpt_roi_align_region (const LptRoiAlign *a, const float *box, gint64 n, LptRoiTap *taps, float *y);
