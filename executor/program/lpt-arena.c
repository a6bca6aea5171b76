/* lpt-arena.c - placing values with known lifetimes in one block of memory
 *
 * Greedy by size: the largest block first, each at the lowest offset where it fits between the placed ones that
 * live at the same time. Near the bound for the chains that networks are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "executor/program/lpt-arena.h"

static int
by_size (const void *a,
         const void *b)
{
  const LptArenaBlock *x = *(LptArenaBlock *const *) a, *y = *(LptArenaBlock *const *) b;

  if (x->size != y->size)
    return x->size < y->size ? 1 : -1;

  return x->first != y->first ? (x->first < y->first ? -1 : 1) : x < y ? -1 : x > y;
}

gsize
lpt_arena_place (LptArenaBlock *blocks,
                 guint          n)
{
  g_autofree LptArenaBlock **order = g_new (LptArenaBlock *, n + 1);
  g_autofree LptArenaBlock **placed = g_new (LptArenaBlock *, n + 1);   /* by offset */
  gsize total = 0;
  guint i, k, n_placed = 0;

  for (i = 0; i < n; i++)
    order[i] = &blocks[i];
  qsort (order, n, sizeof *order, by_size);

  for (i = 0; i < n; i++)
    {
      LptArenaBlock *block = order[i];
      gsize at = 0;

      for (k = 0; k < n_placed; k++)
        {
          const LptArenaBlock *other = placed[k];

          if (other->first > block->last || block->first > other->last || other->offset + other->size <= at)
            continue;
          if (other->offset >= at + block->size)
            break;
          at = other->offset + other->size;
        }
      block->offset = at;
      total = MAX (total, at + block->size);
      for (k = n_placed; k > 0 && placed[k - 1]->offset > at; k--)
        placed[k] = placed[k - 1];
      placed[k] = block;
      n_placed++;
    }

  return total;
}

typedef struct
{
  guint  when;
  gssize change;
} Event;

static int
by_time (const void *a,
         const void *b)
{
  const Event *x = a, *y = b;

  /* At one time memory is taken before it is given back: `last` counts. */
  if (x->when != y->when)
    return x->when < y->when ? -1 : 1;

  return x->change > y->change ? -1 : x->change < y->change;
}

gsize
lpt_arena_bound (const LptArenaBlock *blocks,
                 guint                n)
{
  g_autofree Event *events = g_new (Event, 2 * (gsize) n + 1);
  gssize alive = 0, most = 0;
  guint i;

  for (i = 0; i < n; i++)
    {
      events[2 * i] = (Event) { blocks[i].first, (gssize) blocks[i].size };
      events[2 * i + 1] = (Event) { blocks[i].last, -(gssize) blocks[i].size };
    }
  qsort (events, 2 * (gsize) n, sizeof *events, by_time);
  for (i = 0; i < 2 * n; i++)
    {
      alive += events[i].change;
      most = MAX (most, alive);
    }

  return (gsize) most;
}
