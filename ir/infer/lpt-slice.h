/* lpt-slice.h - what StridedSlice and Slice take from each axis
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SLICE_H
#define LPT_SLICE_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * LptSlice:
 * Output elements in row-major order are the input elements first + step * i, i < count, of every input axis (an axis
 * that shrinks has count 1); only the shape differs: @out has lost axes that shrink and gained new ones.
 */
typedef struct
{
  gint     rank;                   /* of the input; LPT_DYNAMIC = nothing is known */
  gboolean is_known;               /* every first, step and count is */
  gint64   first[LPT_MAX_RANK];
  gint64   step[LPT_MAX_RANK];
  gint64   count[LPT_MAX_RANK];    /* LPT_DYNAMIC = not known */
  LptShape out;
} LptSlice;

#define LPT_SLICE_INPUTS 5

/* The same from the numbers of inputs 1 to 4, which may be empty (unknown) or hold LPT_UNKNOWN. */
gboolean lpt_slice_plan_lists (LptNode *node, const LptInts lists[LPT_SLICE_INPUTS], LptSlice *slice, GError **error);
/* For a StridedSlice or Slice node; FALSE + error when begin, end, strides, axes do not fit the input. */
gboolean lpt_slice_plan (LptNode *node, LptSlice *slice, GError **error);

G_END_DECLS

#endif
