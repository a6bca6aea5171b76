/* lpt-resize.h - how and where Interpolate reads
 *
 * Positions are computed in single precision as OpenVINO has it, so that those on a boundary fall on the same side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* An LptInterpolateMode, LptInterpolateCoordinate, LptInterpolateNearest, and what modes need besides. */
typedef struct
{
  int      mode, coordinate, nearest;
  gboolean antialias;
  double   cube;
} LptResizeStyle;

/* Of an Interpolate of any opset. */
LptResizeStyle lpt_resize_style      (const LptNode *node);

/* The position among @in elements under element @o of @out. */
float          lpt_resize_coordinate (int coordinate, gint64 o, float scale, gint64 in, gint64 out);

/* The element at position @x, which may lie outside. */
gint64         lpt_resize_nearest    (int nearest, float x, float scale);
