/* lpt-grid.h - quantizers that are spelled as elementwise operations
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_GRID_H
#define LPT_GRID_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* Operations on either side of the rounding, at most. */
#define LPT_GRID_STEPS 8

/* One operation of such a chain. */
typedef struct
{
  LptNode   *node;
  LptValue  *data;        /* that it reads */
  LptTensor *constant;    /* of Add, Subtract, Multiply, Divide; NULL = none */
  LptTensor *low, *high;  /* of what bounds; NULL = none */
  gboolean   scales;      /* Multiply or Divide of reals */
} LptGridStep;

/* y = down (round (up (x))), low <= round (up (x)) <= high. */
typedef struct
{
  LptGridStep up[LPT_GRID_STEPS], down[LPT_GRID_STEPS];      /* both begin at the rounding */
  guint       n_up, n_down;
  LptNode    *round;
  LptValue   *x, *y;
  double      low, high;
  gboolean    constant;      /* x is one */
  const char *problem;       /* why it is none, where one would expect it; NULL */
} LptGrid;

/* Is @node an operation of such a chain: arithmetic with a constant that rises with its data, a bound, a Convert? */
gboolean   lpt_grid_step_read     (LptNode *node, LptGridStep *step);
void       lpt_grid_step_clear    (LptGridStep *step);
/* @end, a number in front of @step, behind it; and the other way (transfer full, NULL allowed as the result). */
LptTensor *lpt_grid_step_forward  (const LptGridStep *step, LptTensor *end);
LptTensor *lpt_grid_step_backward (const LptGridStep *step, LptTensor *end);
/* Input @index as a constant in double precision; NULL: it is none, or one that makes more of the data @other. */
LptTensor *lpt_grid_constant      (LptNode *node, guint index, guint other);

/* Round or Floor. */
gboolean   lpt_grid_rounds (const LptNode *node);
/* The quantizer around @round (Round, or Floor behind Add of one half); FALSE: it is none. Clear it anyway. */
gboolean   lpt_grid_find  (LptNode *round, LptGrid *grid);
void       lpt_grid_clear (LptGrid *grid);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptGrid, lpt_grid_clear)
/* Does nothing but constants stand between @value and weights, and no FakeQuantize? */
gboolean   lpt_grid_feeds_weights (LptValue *value);
/* What @whole, a number that the rounding gives, is as x, and as y, in single precision (transfer full; NULL where no
 * constant holds it). */
LptTensor *lpt_grid_before (const LptGrid *grid, double whole);
LptTensor *lpt_grid_behind (const LptGrid *grid, double whole);

G_END_DECLS

#endif
