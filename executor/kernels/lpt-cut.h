/* executor/kernels/lpt-cut.h - parts of a range, about equally large
 *
 * A range of whole units (the last may be short) is cut into 1, 2, 4, 8, 12 or 16 parts, so that two or four threads, each with
 * its share of neighbours, have the same to do. Neighbouring parts differ by one unit at most.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

typedef struct {
  size_t end, unit, units, cuts;
} LptCut;

/* [0, end) in about `want` parts, but no more than there are units. */
static inline LptCut
lpt_cut_make (size_t end, size_t unit, double want)
{
  LptCut c = { end, unit, (end + unit - 1) / unit, 1 };

  while (c.cuts < 16 && (double) c.cuts < 0.75 * want)
    c.cuts += c.cuts < 4 ? c.cuts : 4;
  if (c.cuts > c.units)
    c.cuts = c.units > 0 ? c.units : 1;
  return c;
}

/* Where part i begins, and part i - 1 ends; i = cuts: the end. */
static inline size_t
lpt_cut_at (const LptCut *c, size_t i)
{
  size_t at = (c->units / c->cuts * i + c->units % c->cuts * i / c->cuts) * c->unit;

  return at < c->end ? at : c->end;
}
