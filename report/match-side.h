/* match-side.h - what matching of two graphs knows while it goes on
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "report/trail.h"

/* One of the two graphs. */
typedef struct
{
  LptGraph   *graph;
  LptTrails  *trails;
  GPtrArray  *roots;      /* LptValue * */
  GHashTable *names;      /* name (char *) -> root, or NULL where several have it */
  GHashTable *readers;    /* root -> GPtrArray of LptUse *: inputs of nodes that begin trails */
  GHashTable *partner;    /* root -> root of the other graph */
  GHashTable *clamped;    /* set of roots whose trails begin with a clamp */
  GHashTable *moved;      /* set of roots that hold elements of a matched value, in an order that the other graph does
                           * not have */
} LptMatchSide;

typedef struct
{
  LptMatchSide a, b;
  GHashTable  *named;      /* set of roots of `a` that nothing but a name pairs */
  gboolean     changed;
} LptMatcher;

gboolean  lpt_match_side_init   (LptMatchSide *side, LptGraph *graph, GError **error);
void      lpt_match_side_clear  (LptMatchSide *side);
/* The names that say what the value of the trail is: of its tensor, and of its node (transfer full). */
GPtrArray *lpt_match_names      (const LptTrail *trail);
LptValue *lpt_match_root_of     (const LptMatchSide *side, const LptValue *value);
gboolean  lpt_match_is_clamp    (LptOp op);
