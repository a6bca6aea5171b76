/* moves.h - values that are elements of one earlier value in another order
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "report/trail.h"

/* Element i of @value is element order[i] - 1 of what stands on @from; 0: none of them. */
typedef struct
{
  LptValue       *value;
  const LptTrail *from;     /* what the first of the ops that move reads */
  LptTensor      *order;    /* f32 */
} LptMoved;

/* LptValue * -> LptMoved * of each of @roots (LptValue *) that only ops that move elements stand in front of, up to a
 * trail that is none of them; NULL for the others. */
GHashTable *lpt_moves_new   (const LptTrails *trails, GPtrArray *roots);
/* The same elements in the same order, if what they are of is the same? */
gboolean    lpt_moved_alike (const LptMoved *a, const LptMoved *b);
