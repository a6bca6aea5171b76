/* lpt-resize-taps.h - what each position along an axis of an Interpolate on real values reads
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

/* Position o of @out reads index[o * n + k] of @in with weight[o * n + k]; an index < 0 counts as 0, a weight of 0 as
 * nothing. */
typedef struct
{
  gint64  in, out, n;
  gint64 *index;
  double *weight;
} LptResizeTaps;

/* Of all axes of input 0, in scratch memory of the call, whose shapes are known; n = 0: the axis stays as it is. Axes
 * are resized one after the other, the first one first, in double precision. */
gboolean lpt_interpolate_taps (LptCall *call, LptResizeTaps *taps, GError **error);
