/* tests/kernels/test-loop-runner.c - every unit of every loop runs once, when what it needs has run
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include <stdatomic.h>
#include <time.h>

#include "executor/runtime/lpt-loop-runner.h"

enum { MAX_LOOPS = 40 };

typedef struct {
  LptTaskLoop     loops[MAX_LOOPS];
  uint64_t         needs[MAX_LOOPS][LPT_TASK_LOOP_UNITS];
  size_t           n_loops;
  _Atomic uint64_t begun[MAX_LOOPS], done[MAX_LOOPS];
  unsigned         n_threads, slow;    /* slow: the thread that takes its time, or none */
  atomic_bool      bad;
} Loops;

static uint64_t
all_units (const Loops *l, size_t loop)
{
  return UINT64_MAX >> (LPT_TASK_LOOP_UNITS - l->loops[loop].n_units);
}

static void
run_units (void *data, size_t loop, unsigned unit, unsigned end, unsigned thread)
{
  Loops *l = data;

  if (unit >= end || end > l->loops[loop].n_units || thread >= l->n_threads)
    atomic_store (&l->bad, true);
  if (loop > 1 && atomic_load (&l->done[loop - 2]) != all_units (l, loop - 2))
    atomic_store (&l->bad, true);
  if (thread == l->slow)
    for (volatile int i = 0; i < 3000; i++)
      ;
  for (; unit < end; unit++)
    {
      uint64_t bit = UINT64_C (1) << unit;

      if (loop > 0 && l->needs[loop][unit] & ~atomic_load (&l->done[loop - 1]))
        atomic_store (&l->bad, true);
      if (atomic_fetch_or (&l->begun[loop], bit) & bit)
        atomic_store (&l->bad, true);
      atomic_fetch_or (&l->done[loop], bit);
    }
}

/* Loops of 1 to 64 units; units need none, one, neighbours or all of the loop before. */
static void
draw_loops (Loops *l)
{
  l->n_loops = 1 + random_u32 () % MAX_LOOPS;
  for (size_t i = 0; i < l->n_loops; i++)
    {
      unsigned most = random_u32 () % 3 ? 8 : LPT_TASK_LOOP_UNITS, n = 1 + random_u32 () % most,
               form = random_u32 () % 4;

      for (unsigned u = 0; i > 0 && u < n; u++)
        {
          unsigned before = l->loops[i - 1].n_units, same = u * before / n;
          uint64_t one = UINT64_C (1) << same, all = all_units (l, i - 1);

          l->needs[i][u] = form == 0 ? 0 : form == 1 ? one : form == 2 ? (one | one << 1 | one >> 1) & all : all;
        }
      l->loops[i] = (LptTaskLoop) { n, l->needs[i] };
    }
}

static bool
run_once (LptLoopRunner *runner, Loops *l)
{
  bool ok = true;

  for (size_t i = 0; i < l->n_loops; i++)
    {
      atomic_store (&l->begun[i], 0);
      atomic_store (&l->done[i], 0);
    }
  atomic_store (&l->bad, false);
  lpt_loop_runner_run (runner, l->loops, l->n_loops, run_units, l);
  for (size_t i = 0; i < l->n_loops; i++)
    ok = ok && atomic_load (&l->done[i]) == all_units (l, i);
  return ok && !atomic_load (&l->bad);
}

static void
test_threads (unsigned n_threads)
{
  static Loops l;
  LptPool *pool = lpt_pool_new (n_threads);
  LptLoopRunner *runner = lpt_loop_runner_new (pool);
  bool ok = true;
  int runs;

  l.n_threads = n_threads;
  for (runs = 0; runs < 400 && ok; runs++)
    {
      if (runs % 4 == 0)
        draw_loops (&l);
      /* Long enough for helpers to fall asleep. */
      if (runs % 50 == 49)
        nanosleep (&(struct timespec) { .tv_nsec = 10000000 }, NULL);
      l.slow = random_u32 () % (n_threads + 1);
      ok = run_once (runner, &l);
    }
  test_report (ok, "%u threads, %d runs: units run once, after what they need", n_threads, runs);
  lpt_loop_runner_free (runner);
  lpt_pool_free (pool);
}

int
main (void)
{
  test_threads (2);
  test_threads (3);
  test_threads (5);
  test_threads (70);
  test_report (lpt_loop_runner_new (NULL) == NULL, "one thread needs no runner");
  lpt_loop_runner_free (NULL);
  return test_end ();
}
