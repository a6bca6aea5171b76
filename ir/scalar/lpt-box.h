/* lpt-box.h - boxes of detection ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

typedef struct
{
  float x0, y0, x1, y1;
} LptBoxRect;

/* A candidate: its score and who it is. */
typedef struct
{
  float score;
  gint  label;
  gint  index;
} LptCandidate;

/* 0 for an inverted box; @extra: 1 where coordinates name pixels, both ends included. */
static inline float
lpt_box_area (const LptBoxRect *b,
              float             extra)
{
  if (b->x1 < b->x0 || b->y1 < b->y0)
    return 0;

  return (b->x1 - b->x0 + extra) * (b->y1 - b->y0 + extra);
}

/* Have they no point in common, pixels counting as points? */
static inline gboolean
lpt_box_are_apart (const LptBoxRect *a,
                   const LptBoxRect *b)
{
  return b->x0 > a->x1 || b->x1 < a->x0 || b->y0 > a->y1 || b->y1 < a->y0;
}

/* Intersection over union. */
static inline float
lpt_box_overlap (const LptBoxRect *a,
                 const LptBoxRect *b,
                 float             extra)
{
  LptBoxRect i = { MAX (a->x0, b->x0), MAX (a->y0, b->y0), MIN (a->x1, b->x1), MIN (a->y1, b->y1) };
  float common = i.x1 - i.x0 + extra > 0 && i.y1 - i.y0 + extra > 0 ? (i.x1 - i.x0 + extra) * (i.y1 - i.y0 + extra) : 0;
  float both = lpt_box_area (a, extra) + lpt_box_area (b, extra) - common;

  return both > 0 ? common / both : 0;
}

/* By falling score; equal scores in the order of label and index. */
void lpt_candidates_sort (LptCandidate *candidates, gsize n);
