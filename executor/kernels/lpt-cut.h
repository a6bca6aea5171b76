/* executor/kernels/lpt-cut.h - parts of a range, about equally large
 *
 * A range of whole units (the last may be short) is cut into 1, 2, 4, 8, 12 or 16 parts, so that two or four threads,
 * each with its share of neighbours, have the same to do. Neighbouring parts differ by one unit at most.
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
  /* Most ranges of small networks are one part: no divisions. */
  if (i == 0 || i >= c->cuts)
    return i == 0 ? 0 : c->end;

  size_t at = (c->units / c->cuts * i + c->units % c->cuts * i / c->cuts) * c->unit;

  return at < c->end ? at : c->end;
}

/* Tasks of a grid, all columns of a row behind each other. */
typedef struct {
  size_t i0, i1, j0, j1;   /* rows [i0, i1), columns [j0, j1) */
} LptCutBox;

/* The next tasks of [*task, end) that are one box: whole rows, or parts of one. */
static inline LptCutBox
lpt_cut_box (size_t *task, size_t end, size_t columns)
{
  if (columns == 1)
    {
      const LptCutBox all = { *task, end, 0, 1 };

      *task = end;
      return all;
    }

  size_t i = *task / columns, j = *task % columns, n = end - *task;
  LptCutBox box = j == 0 && n >= columns ? (LptCutBox) { i, i + n / columns, 0, columns }
                                         : (LptCutBox) { i, i + 1, j, n < columns - j ? j + n : columns };

  *task += (box.i1 - box.i0) * (box.j1 - box.j0);
  return box;
}
