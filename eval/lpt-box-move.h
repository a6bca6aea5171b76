/* lpt-box-move.h - a box moved by what a detector says of it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include "ir/scalar/lpt-box.h"

/* The centre moves by @d[0] widths and @d[1] heights; the sizes grow e^@d[2] and e^@d[3] times, e^@most at most.
 * @extra: 1 where coordinates name pixels, both ends included. */
static inline LptBoxRect
lpt_box_move (LptBoxRect  b,
              const float d[4],
              float       most,
              float       extra)
{
  const float w = b.x1 - b.x0 + extra, h = b.y1 - b.y0 + extra;
  const float cx = d[0] * w + (b.x0 + 0.5f * w), cy = d[1] * h + (b.y0 + 0.5f * h);
  const float half_w = 0.5f * (expf (MIN (d[2], most)) * w), half_h = 0.5f * (expf (MIN (d[3], most)) * h);

  return (LptBoxRect) { cx - half_w, cy - half_h, cx + half_w - extra, cy + half_h - extra };
}
