/* trail.h - from which value a value comes, and by what it differs
 *
 * A trail begins at a value that computes something new (a convolution, a pool, a sum of two different trails) or at an
 * input, and goes on through what keeps the elements apart and in order: quantization, functions and constants element
 * by element, another shape. Constants that are added or multiplied do not count as steps, so that a folded
 * normalization is the same place as one that is not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

#define LPT_TRAIL_STEPS 12

typedef struct
{
  LptValue *value;
  LptValue *root;                    /* where the trail begins; NULL = a constant */
  guint     n_steps;                 /* may be greater than what `steps` holds */
  LptOp     steps[LPT_TRAIL_STEPS];  /* functions behind the root */
  gboolean  coded;                   /* integers that nothing says the meaning of, or computed from such */
} LptTrail;

typedef struct
{
  GPtrArray  *values;    /* LptTrail *, in topological order, constants left out */
  GHashTable *of;        /* LptValue * -> LptTrail * */
} LptTrails;

LptTrails      *lpt_trails_new  (LptGraph *graph, GError **error);
void            lpt_trails_free (LptTrails *trails);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptTrails, lpt_trails_free)

/* NULL: a constant, or not in the graph. */
const LptTrail *lpt_trail_of    (const LptTrails *trails, const LptValue *value);
/* The same functions behind the root? */
gboolean        lpt_trail_equal (const LptTrail *a, const LptTrail *b);
/* The function that some graphs have as part of another one, in which Multiply follows it? */
gboolean        lpt_trail_may_be_part (LptOp op);
/* Elements, -1 = not known. */
gint64          lpt_value_count (const LptValue *value);
/* The least real number that @value can hold, -HUGE_VAL = no bound is known. */
double          lpt_value_floor (const LptValue *value);
