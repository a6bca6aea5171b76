/* lpt-resize.h - where Interpolate reads, in single precision as OpenVINO has it, so that positions on a boundary fall on the same side
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

/* The position among @in elements under element @o of @out; @coordinate is an LptInterpolateCoordinate. */
float  lpt_resize_coordinate (int coordinate, gint64 o, float scale, gint64 in, gint64 out);

/* The element that @nearest, an LptInterpolateNearest, takes at position @x, which may lie outside. */
gint64 lpt_resize_nearest    (int nearest, float x, float scale);
