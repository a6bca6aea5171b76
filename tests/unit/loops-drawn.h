/* loops-drawn.h - overlapped loops on one thread, in an order drawn from all that threads might get to run them in
 *
 * What is wrong with what units wait for so shows without threads, and the same way again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/lpt-plan.h"

/* For tests that count threads: instead of one more than three. */
#define LOOPS_DRAWN 4

/* xorshift32 */
static guint32 loops_drawn = 1;

static inline void
loops_draw_from (guint seed)
{
  loops_drawn = seed | 1;
}

static inline guint
loops_draw (guint n)
{
  loops_drawn ^= loops_drawn << 13;
  loops_drawn ^= loops_drawn >> 17;
  loops_drawn ^= loops_drawn << 5;

  return loops_drawn % n;
}

/* The next unit from @start on that has not run and whose needs have, or n_units. */
static inline guint
loops_next_unit (const LptTaskLoop *loop,
                 guint               start,
                 guint64             done,
                 guint64             before)
{
  guint k;

  for (k = 0; k < loop->n_units; k++)
    {
      guint unit = (start + k) % loop->n_units;

      if ((done & G_GUINT64_CONSTANT (1) << unit) == 0 && (loop->needs[unit] & ~before) == 0)
        return unit;
    }

  return loop->n_units;
}

/* LptRunLoops: some units of a loop, and of the next one whatever does not need the others. */
static inline void
run_loops_drawn (LptLoopRunner           *runner,
                 const LptTaskLoop *loops,
                 size_t              n_loops,
                 LptTaskLoopFunc        func,
                 void               *data)
{
  guint64 done[2] = { 0, 0 };      /* of `loop` and the next one */
  size_t loop = 0;

  while (loop < n_loops)
    {
      gboolean next = loop + 1 < n_loops && loops_draw (3) > 0;
      const LptTaskLoop *l = &loops[loop + next];
      guint unit = loops_next_unit (l, loops_draw (l->n_units), done[next], next ? done[0] : G_MAXUINT64);

      if (unit < l->n_units)
        {
          func (data, loop + next, unit, unit + 1, 0);
          done[next] |= G_GUINT64_CONSTANT (1) << unit;
        }
      if (done[0] == G_MAXUINT64 >> (LPT_TASK_LOOP_UNITS - loops[loop].n_units))
        {
          done[0] = done[1];
          done[1] = 0;
          loop++;
        }
    }
}
