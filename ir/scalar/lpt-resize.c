/* lpt-resize.c - positions of Interpolate
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/scalar/lpt-resize.h"

/* opset1 is what OpenVINO converts it to: nearest_mode simple; asymmetric coordinates, those of the middle for linear
 * modes without padding that do not resize just the two axes of an image; linear up to four axes as linear_onnx. */
static void
set_old_style (const LptNode  *node,
               LptResizeStyle *style)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  const gint rank = node->in[0].value->shape.rank;
  const gboolean linear = attrs->mode == LPT_INTERPOLATE_LINEAR || attrs->mode == LPT_INTERPOLATE_LINEAR_ONNX;
  gboolean image = rank == 4 && attrs->axes.n == 2, padded = FALSE;
  guint i;

  for (i = 0; i < attrs->axes.n; i++)
    image = image && (attrs->axes.v[i] == 2 || attrs->axes.v[i] == 3);
  image = image && attrs->axes.v[0] != attrs->axes.v[1];
  for (i = 0; i < attrs->pads_begin.n; i++)
    padded = padded || attrs->pads_begin.v[i] != 0;
  for (i = 0; i < attrs->pads_end.n; i++)
    padded = padded || attrs->pads_end.v[i] != 0;

  style->nearest = LPT_NEAREST_SIMPLE;
  style->coordinate = attrs->align_corners ? LPT_COORD_ALIGN_CORNERS
                      : linear && !padded && !image ? LPT_COORD_HALF_PIXEL : LPT_COORD_ASYMMETRIC;
  if (style->mode == LPT_INTERPOLATE_LINEAR && rank < 5)
    style->mode = LPT_INTERPOLATE_LINEAR_ONNX;
  style->antialias = style->antialias && style->mode == LPT_INTERPOLATE_LINEAR;
}

LptResizeStyle
lpt_resize_style (const LptNode *node)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  LptResizeStyle style = { attrs->mode, attrs->coordinate_transformation_mode, attrs->nearest_mode, attrs->antialias,
                           attrs->cube_coeff };

  if (node->opset != 0 && node->opset < 4)
    set_old_style (node, &style);

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
