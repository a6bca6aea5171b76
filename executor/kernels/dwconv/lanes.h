/* executor/kernels/dwconv/lanes.h - where sixteen channels of the output find theirs of the input
 *
 * Sixteen bytes are read at once wherever the channels that a call may read leave room for them, in front or behind,
 * and put in order: of the last channels, fewer than sixteen, and of those that several output channels share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/dwconv/dwconv.h"

/* Sixteen bytes as they are; in another order; fewer bytes may be read. */
enum { LPT_LANES_WHOLE, LPT_LANES_ORDERED, LPT_LANES_FEW };

/* Output channels [c, c + n): channel c + j reads byte order[j] of those from input channel `first` on, sixteen but for
 * LPT_LANES_FEW, which has `count`; lanes behind n have 0x80. */
typedef struct {
  int     mode;
  size_t  c, n, first, count;
  uint8_t order[16];
} LptDwconvLanes;

static inline LptDwconvLanes
lpt_dwconv_lanes (const LptDwconvRun *r, size_t c)
{
  size_t n = r->c1 - c < 16 ? r->c1 - c : 16, start = r->c0 / r->multiplier, end = (r->c1 - 1) / r->multiplier + 1;
  size_t first = c / r->multiplier, last = (c + n - 1) / r->multiplier + 1;
  LptDwconvLanes lanes = { .mode = LPT_LANES_ORDERED, .c = c, .n = n, .first = first, .count = last - first };

  if (n == 16 && r->multiplier == 1)
    lanes.mode = LPT_LANES_WHOLE;
  else if (first + 16 > end && last < start + 16)
    lanes.mode = LPT_LANES_FEW;
  else if (first + 16 > end)
    lanes.first = last - 16;
  for (size_t j = 0; j < 16; j++)
    lanes.order[j] = j < n ? (uint8_t) ((c + j) / r->multiplier - lanes.first) : 0x80;
  return lanes;
}
