/* chain-drawn.h - chains of fast ops on one thread, in an order drawn from all that threads might get to run them in
 *
 * What is wrong with what units wait for so shows without threads, and the same way again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/lpt-plan.h"

/* For tests that count threads: instead of one more than three. */
#define CHAIN_DRAWN 4

/* xorshift32 */
static guint32 chain_drawn = 1;

static inline void
chain_draw_from (guint seed)
{
  chain_drawn = seed | 1;
}

static inline guint
chain_draw (guint n)
{
  chain_drawn ^= chain_drawn << 13;
  chain_drawn ^= chain_drawn >> 17;
  chain_drawn ^= chain_drawn << 5;

  return chain_drawn % n;
}

/* The next unit from @start on that has not run and whose needs have, or n_units. */
static inline guint
chain_next_unit (const LptChainLoop *loop,
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

/* LptChainRun: some units of a loop, and of the next one whatever does not need the others. */
static inline void
chain_run_drawn (LptChain           *chain,
                 const LptChainLoop *loops,
                 size_t              n_loops,
                 LptChainFunc        func,
                 void               *data)
{
  guint64 done[2] = { 0, 0 };      /* of `loop` and the next one */
  size_t loop = 0;

  while (loop < n_loops)
    {
      gboolean next = loop + 1 < n_loops && chain_draw (3) > 0;
      const LptChainLoop *l = &loops[loop + next];
      guint unit = chain_next_unit (l, chain_draw (l->n_units), done[next], next ? done[0] : G_MAXUINT64);

      if (unit < l->n_units)
        {
          func (data, loop + next, unit, unit + 1, 0);
          done[next] |= G_GUINT64_CONSTANT (1) << unit;
        }
      if (done[0] == G_MAXUINT64 >> (LPT_CHAIN_UNITS - loops[loop].n_units))
        {
          done[0] = done[1];
          done[1] = 0;
          loop++;
        }
    }
}
