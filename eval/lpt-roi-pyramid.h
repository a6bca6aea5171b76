/* lpt-roi-pyramid.h - regions sampled from the level of a pyramid that fits their size, as Detectron does
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-roi-align.h"

typedef struct
{
  const LptDetectronFeaturesAttrs *attrs;
  LptRoiAlignAttrs                 align;     /* but the scale, which is that of a level */
  LptRoiAlign                     *levels;    /* the caller's */
  guint                            n;
} LptRoiPyramid;

/* @levels: room for @n, which lpt_roi_pyramid_set() fills; results have shape @out. image->x does not count. */
void lpt_roi_pyramid_init   (LptRoiPyramid *p, const LptDetectronFeaturesAttrs *attrs, LptRoiAlign *levels, guint n);
void lpt_roi_pyramid_set    (LptRoiPyramid *p, guint level, const LptRoiImage *image, const LptShape *out);
/* That of the region @box, or any for one without an area. */
guint lpt_roi_pyramid_level (const LptRoiPyramid *p, const float *box);
/* All channels of the region @box of @level, whose data are @x; @taps: room for LPT_ROI_TAPS. */
void lpt_roi_pyramid_region (const LptRoiPyramid *p, guint level, const float *x, const float *box, LptRoiTap *taps,
                             float *y);
