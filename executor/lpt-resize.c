/* lpt-resize.c - positions of Interpolate
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "executor/lpt-resize.h"

LptResizeStyle
lpt_resize_style (const LptNode *node)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  LptResizeStyle style = { attrs->mode, attrs->coordinate_transformation_mode, attrs->nearest_mode, attrs->antialias, attrs->cube_coeff };

  if (node->opset != 0 && node->opset < 4)
    {
      style.coordinate = attrs->align_corners ? LPT_COORD_ALIGN_CORNERS : LPT_COORD_ASYMMETRIC;
      style.nearest = LPT_NEAREST_FLOOR;
      style.cube = -0.75;
      if (style.mode == LPT_INTERPOLATE_LINEAR && !style.antialias)
        style.mode = LPT_INTERPOLATE_LINEAR_ONNX;
    }

  return style;
}

float
lpt_resize_coordinate (int    coordinate,
                       gint64 o,
                       float  scale,
                       gint64 in,
                       gint64 out)
{
  if (scale == 1.0f || in == out)
    return (float) o;
  switch (coordinate)
    {
    case LPT_COORD_PYTORCH_HALF_PIXEL:
      return out > 1 ? ((float) o + 0.5f) / scale - 0.5f : 0;
    case LPT_COORD_ASYMMETRIC:
      return (float) o / scale;
    case LPT_COORD_TF_HALF_PIXEL_FOR_NN:
      return ((float) o + 0.5f) / scale;
    case LPT_COORD_ALIGN_CORNERS:
      return out == 1 ? 0 : (float) o * (float) (in - 1) / (float) (out - 1);
    default:
      return ((float) o + 0.5f) / scale - 0.5f;
    }
}

gint64
lpt_resize_nearest (int   nearest,
                    float x,
                    float scale)
{
  switch (nearest)
    {
    case LPT_NEAREST_ROUND_PREFER_FLOOR:
      return (gint64) (x == floorf (x) + 0.5f ? floorf (x) : roundf (x));
    case LPT_NEAREST_ROUND_PREFER_CEIL:
      return (gint64) (x == floorf (x) + 0.5f ? ceilf (x) : roundf (x));
    case LPT_NEAREST_FLOOR:
      return (gint64) floorf (x);
    case LPT_NEAREST_CEIL:
      return (gint64) ceilf (x);
    default:
      return (gint64) (scale < 1 ? ceilf (x) : truncf (x));
    }
}
