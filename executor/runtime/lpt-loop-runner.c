/* executor/runtime/lpt-loop-runner.c - loops that follow each other without a meeting between them
 *
 * Every thread goes through all loops. Of each it does its own share, about three quarters of what is left at a time,
 * as far as what that needs is done, and goes on to the next loop without looking what the others have left. Who cannot
 * go on takes units of the others' shares. The first half of the threads begin with the first units of their shares,
 * the others with the last ones: rows where two shares meet, which need something from both, so come last, when the
 * other thread has long made it.
 *
 * A thread enters loop j when loop j - 2 is done. So two words for each share and each thread, for loops with even and
 * odd numbers, are all there is to know. Numbers rise by one from loop to loop and from run to run: a word with an
 * older number says that nobody has touched the share yet, or that the thread has done nothing of the loop; one with a
 * newer number says that the loop is done. A thread's words are written by it alone; who waits reads one line of the
 * cache for each thread.
 *
 * The caller does whatever nobody else does. A helper that finds nothing to do for a while leaves, and so is never
 * waited for while it has no processor, unless it had taken units before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/runtime/lpt-loop-runner.h"
#include "executor/runtime/lpt-wait.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Moments until a thread looks for work of others, and until a helper leaves: about 0.5 and 100 microseconds. Loops
 * that are run before helpers that have left, or were late, are called again. */
enum { EARLY = 8, PATIENCE = 2048, PART = 16 };

/* Units that nobody has taken: number << 16 | first << 8 | end, by parity of the number. */
typedef struct {
  _Alignas (64) _Atomic uint64_t left[2];
} Share;

/* What a thread has done: bits of units, and of which loop. Where the number is new, so are the bits: they are written
 * first. */
typedef struct {
  _Alignas (64) _Atomic uint64_t number[2];
  _Atomic uint64_t               units[2];
} Done;

struct LptLoopRunner {
  LptPool            *pool;
  unsigned            n_threads;
  Share              *shares;    /* one for each thread, as of `done` */
  Done               *done;
  uint64_t            number;    /* of the first loop of this run */
  const LptTaskLoop *loops;     /* of this part */
  size_t              n_loops, first;
  LptTaskLoopFunc        func;
  void               *data;
  bool                finished;  /* of the caller's thread alone */
};

/* A thread's way through the loops. */
typedef struct {
  LptLoopRunner *runner;
  unsigned  thread, waits;
  uint64_t  number[2], units[2]; /* by parity: the loops in flight, and which of their units it knows to be done */
} Walk;

typedef enum { RAN, BLOCKED, EMPTY } Outcome;

static uint64_t
all_units (const LptLoopRunner *runner, size_t loop)
{
  return UINT64_MAX >> (LPT_TASK_LOOP_UNITS - runner->loops[loop].n_units);
}

/* What all have done by now. */
static void
look (Walk *w)
{
  for (unsigned t = 0; t < w->runner->n_threads; t++)
    for (int p = 0; p < 2; p++)
      {
        Done *done = &w->runner->done[t];
        uint64_t number = atomic_load_explicit (&done->number[p], memory_order_acquire);

        if (number > w->number[p])
          w->units[p] = UINT64_MAX;
        else if (number == w->number[p])
          w->units[p] |= atomic_load_explicit (&done->units[p], memory_order_acquire);
      }
}

static bool
are_done (Walk *w, size_t loop, uint64_t units)
{
  uint64_t number = w->runner->number + loop;
  int p = number & 1;

  if (number < w->number[p] || !(units & ~w->units[p]))
    return true;
  look (w);
  return !(units & ~w->units[p]);
}

static void
set_done (Walk *w, size_t loop, uint64_t units)
{
  uint64_t number = w->runner->number + loop;
  int p = number & 1;
  Done *done = &w->runner->done[w->thread];

  w->units[p] |= units;
  if (atomic_load_explicit (&done->number[p], memory_order_relaxed) == number)
    units |= atomic_load_explicit (&done->units[p], memory_order_relaxed);
  atomic_store_explicit (&done->units[p], units, memory_order_release);
  atomic_store_explicit (&done->number[p], number, memory_order_release);
}

static bool
is_ready (Walk *w, size_t loop, unsigned unit, unsigned end)
{
  uint64_t needs = 0;

  for (; loop > 0 && unit < end; unit++)
    needs |= w->runner->loops[loop].needs[unit];
  return loop == 0 || are_done (w, loop - 1, needs);
}

/* Where a share begins, and the one before it ends. */
static unsigned
share_at (const LptLoopRunner *runner, size_t loop, unsigned share)
{
  return (unsigned) (((uint64_t) runner->loops[loop].n_units * share + runner->n_threads - 1) / runner->n_threads);
}

/* Some units of the share, as many as are ready. Loop - 2 is done. */
static Outcome
run_some (Walk *w, size_t loop, unsigned share)
{
  LptLoopRunner *runner = w->runner;
  uint64_t number = runner->number + loop, old;
  _Atomic uint64_t *left = &runner->shares[share].left[number & 1];
  bool back = share >= (runner->n_threads + 1) / 2;

  old = atomic_load_explicit (left, memory_order_acquire);
  for (;;)
    {
      unsigned first = old >> 8 & 0xff, end = old & 0xff, n, from;

      if (old >> 16 > number)
        return EMPTY;
      if (old >> 16 < number)
        {
          first = share_at (runner, loop, share);
          end = share_at (runner, loop, share + 1);
        }
      if (first == end)
        return EMPTY;
      for (n = (3 * (end - first) + 3) / 4;
           n > 0 && !is_ready (w, loop, back ? end - n : first, back ? end : first + n);)
        n--;
      if (n == 0)
        return BLOCKED;

      from = back ? end - n : first;
      if (atomic_compare_exchange_weak_explicit (left, &old,
                                                 number << 16 | (back ? first : first + n) << 8 | (back ? from : end),
                                                 memory_order_acq_rel, memory_order_acquire))
        {
          runner->func (runner->data, runner->first + loop, from, from + n, w->thread);
          set_done (w, loop, (UINT64_MAX >> (LPT_TASK_LOOP_UNITS - n)) << from);
          w->waits = 0;
          return RAN;
        }
    }
}

/* Something of another thread's share; not at once, because to look for it costs that thread the line of the cache. */
static bool
help (Walk *w, size_t loop)
{
  if (w->waits < EARLY)
    return false;
  for (unsigned i = 1; loop < w->runner->n_loops && i < w->runner->n_threads; i++)
    if (run_some (w, loop, (w->thread + i) % w->runner->n_threads) == RAN)
      return true;
  return false;
}

/* A moment in `loop`; false: it is time to leave. */
static bool
wait_for_others (Walk *w, size_t loop)
{
  if (w->thread > 0)
    {
      lpt_wait_moment ();
      return loop < w->runner->n_loops && ++w->waits < PATIENCE;
    }
  lpt_wait_on (&w->waits);
  return true;
}

static void
walk (LptLoopRunner *runner, unsigned thread)
{
  Walk w = { .runner = runner, .thread = thread };

  /* Two more loops, of no units: until all are done. */
  for (size_t loop = 0; loop < runner->n_loops + 2; loop++)
    {
      Outcome outcome;

      while (loop >= 2 && !are_done (&w, loop - 2, all_units (runner, loop - 2)))
        if (!help (&w, loop - 2) && !help (&w, loop - 1) && !wait_for_others (&w, loop))
          return;
      w.number[(runner->number + loop) & 1] = runner->number + loop;
      w.units[(runner->number + loop) & 1] = 0;
      w.waits = 0;
      while (loop < runner->n_loops && (outcome = run_some (&w, loop, thread)) != EMPTY)
        if (outcome == BLOCKED && !help (&w, loop - 1) && !wait_for_others (&w, loop))
          return;
    }
  if (thread == 0)
    runner->finished = true;
}

static void
walk_task (void *data, size_t task, unsigned thread)
{
  LptLoopRunner *runner = data;

  if (thread > 0 || !runner->finished)
    walk (runner, thread);
}

/* The func's number of the first loop is `first`. */
static void
run_part (LptLoopRunner *runner, const LptTaskLoop *loops, size_t n_loops, size_t first)
{
  runner->loops = loops;
  runner->n_loops = n_loops;
  runner->first = first;
  runner->finished = false;
  lpt_parallel_for (runner->pool, runner->n_threads, walk_task, runner);
  /* Helpers may have taken all the tasks, and have left. */
  walk_task (runner, 0, 0);
  runner->number += n_loops;
}

void
lpt_loop_runner_run (LptLoopRunner *runner, const LptTaskLoop *loops, size_t n_loops, LptTaskLoopFunc func, void *data)
{
  runner->func = func;
  runner->data = data;
  for (size_t first = 0; first < n_loops; first += PART)
    run_part (runner, loops + first, n_loops - first < PART ? n_loops - first : PART, first);
}

LptLoopRunner *
lpt_loop_runner_new (LptPool *pool)
{
  LptLoopRunner *runner = pool ? malloc (sizeof *runner) : NULL;

  if (!runner)
    return NULL;
  *runner = (LptLoopRunner) { .pool = pool, .n_threads = lpt_pool_n_threads (pool), .number = 1 };
  runner->shares = aligned_alloc (64, runner->n_threads * sizeof *runner->shares);
  runner->done = aligned_alloc (64, runner->n_threads * sizeof *runner->done);
  if (!runner->shares || !runner->done)
    {
      lpt_loop_runner_free (runner);
      return NULL;
    }
  for (unsigned t = 0; t < runner->n_threads; t++)
    {
      runner->shares[t] = (Share) { { 0 } };
      runner->done[t] = (Done) { { 0 }, { 0 } };
    }
  return runner;
}

void
lpt_loop_runner_free (LptLoopRunner *runner)
{
  if (!runner)
    return;
  free (runner->shares);
  free (runner->done);
  free (runner);
}
