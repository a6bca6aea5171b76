/* lpt-roi-pyramid.c - regions sampled from the level of a pyramid that fits their size
 *
 * A region of 224 x 224 belongs to level 2, one of twice its width and height to level 3:
 * floor (2 + log2 (sqrt (area) / 224 + 1e-6)), the first or last level where there is none. Regions without an area are
 * 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-roi-pyramid.h"

#include <math.h>
#include <string.h>

void
lpt_roi_pyramid_init (LptRoiPyramid                   *p,
                      const LptDetectronFeaturesAttrs *attrs,
                      LptRoiAlign                     *levels,
                      guint                            n)
{
  *p = (LptRoiPyramid) { .attrs = attrs, .levels = levels, .n = n };
  p->align.sampling_ratio = attrs->sampling_ratio;
  p->align.mode = LPT_ROI_ALIGN_AVG;
  p->align.aligned_mode = attrs->aligned ? LPT_ROI_HALF_PIXEL_FOR_NN : LPT_ROI_ASYMMETRIC;
}

void
lpt_roi_pyramid_set (LptRoiPyramid     *p,
                     guint              level,
                     const LptRoiImage *image,
                     const LptShape    *out)
{
  LptRoiAlign *a = &p->levels[level];

  lpt_roi_align_init (a, image, &p->align, out);
  a->attrs = NULL;
  a->not_small = TRUE;
  a->blocks = 0;
}

static float
area_of (const float *box)
{
  return (box[2] - box[0]) * (box[3] - box[1]);
}

guint
lpt_roi_pyramid_level (const LptRoiPyramid *p,
                       const float         *box)
{
  const float level = floorf (log2f (sqrtf (area_of (box)) / 224 + 1e-6f) + 2);

  return level > 0 ? (guint) MIN (level, (float) (p->n - 1)) : 0;
}

void
lpt_roi_pyramid_region (const LptRoiPyramid *p,
                        guint                level,
                        const float         *x,
                        const float         *box,
                        LptRoiTap           *taps,
                        float               *y)
{
  LptRoiAlignAttrs attrs = p->align;
  LptRoiAlign a = p->levels[level];

  if (!(area_of (box) > 0))
    {
      memset (y, 0, (gsize) (a.image.c * a.rows * a.cols) * sizeof (float));
      return;
    }
  attrs.spatial_scale = 1.0f / (float) p->attrs->pyramid_scales.v[level];
  a.image.x = x;
  a.attrs = &attrs;
  lpt_roi_align_region (&a, box, 0, taps, y);
}
