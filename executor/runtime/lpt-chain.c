/* executor/runtime/lpt-chain.c - loops that follow each other without a meeting between them
 *
 * Every thread goes through all loops. Of each it does its own share, about three quarters of what is left at a time, as far as
 * what that needs is done, and goes on to the next loop without looking what the others have left. Who cannot go on takes units
 * of the others' shares. The first half of the threads begin with the first units of their shares, the others with the last
 * ones: rows where two shares meet, which need something from both, so come last, when the other thread has long made it.
 *
 * A thread enters loop j when loop j - 2 is done. So two words for each share and each thread, for loops with even and odd
 * numbers, are all there is to know. Numbers rise by one from loop to loop and from run to run: a word with an older number
 * says that nobody has touched the share yet, or that the thread has done nothing of the loop; one with a newer number
 * says that the loop is done. A thread's words are written by it alone; who waits reads one line of the cache for each thread.
 *
 * The caller does whatever nobody else does. A helper that finds nothing to do for a while leaves, and so is never
 * waited for while it has no processor, unless it had taken units before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/runtime/lpt-chain.h"
#include "executor/runtime/lpt-wait.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Moments until a thread looks for work of others, and until a helper leaves: about 0.5 and 100 microseconds. Loops that are run
 * before helpers that have left, or were late, are called again. */
enum { EARLY = 8, PATIENCE = 2048, PART = 16 };

/* Units that nobody has taken: number << 16 | first << 8 | end, by parity of the number. */
typedef struct {
  _Alignas (64) _Atomic uint64_t left[2];
} Share;

/* What a thread has done: bits of units, and of which loop. Where the number is new, so are the bits: they are written first. */
typedef struct {
  _Alignas (64) _Atomic uint64_t number[2];
  _Atomic uint64_t               units[2];
} Done;

struct LptChain {
  LptPool            *pool;
  unsigned            n_threads;
  Share              *shares;    /* one for each thread, as of `done` */
  Done               *done;
  uint64_t            number;    /* of the first loop of this run */
  const LptChainLoop *loops;     /* of this part */
  size_t              n_loops, first;
  LptChainFunc        func;
  void               *data;
  bool                finished;  /* of the caller's thread alone */
};

/* A thread's way through the loops. */
typedef struct {
  LptChain *chain;
  unsigned  thread, waits;
  uint64_t  number[2], units[2]; /* by parity: the loops in flight, and which of their units it knows to be done */
} Walk;

typedef enum { RAN, BLOCKED, EMPTY } Outcome;

static uint64_t
all_units (const LptChain *chain, size_t loop)
{
  return UINT64_MAX >> (LPT_CHAIN_UNITS - chain->loops[loop].n_units);
}

/* What all have done by now. */
static void
look (Walk *w)
{
  for (unsigned t = 0; t < w->chain->n_threads; t++)
    for (int p = 0; p < 2; p++)
      {
        Done *done = &w->chain->done[t];
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
  uint64_t number = w->chain->number + loop;
  int p = number & 1;

  if (number < w->number[p] || !(units & ~w->units[p]))
    return true;
  look (w);
  return !(units & ~w->units[p]);
}

static void
set_done (Walk *w, size_t loop, uint64_t units)
{
  uint64_t number = w->chain->number + loop;
  int p = number & 1;
  Done *done = &w->chain->done[w->thread];

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
    needs |= w->chain->loops[loop].needs[unit];
  return loop == 0 || are_done (w, loop - 1, needs);
}

/* Where a share begins, and the one before it ends. */
static unsigned
share_at (const LptChain *chain, size_t loop, unsigned share)
{
  return (unsigned) (((uint64_t) chain->loops[loop].n_units * share + chain->n_threads - 1) / chain->n_threads);
}

/* Some units of the share, as many as are ready. Loop - 2 is done. */
static Outcome
run_some (Walk *w, size_t loop, unsigned share)
{
  LptChain *chain = w->chain;
  uint64_t number = chain->number + loop, old;
  _Atomic uint64_t *left = &chain->shares[share].left[number & 1];
  bool back = share >= (chain->n_threads + 1) / 2;

  old = atomic_load_explicit (left, memory_order_acquire);
  for (;;)
    {
      unsigned first = old >> 8 & 0xff, end = old & 0xff, n, from;

      if (old >> 16 > number)
        return EMPTY;
      if (old >> 16 < number)
        {
          first = share_at (chain, loop, share);
          end = share_at (chain, loop, share + 1);
        }
      if (first == end)
        return EMPTY;
      for (n = (3 * (end - first) + 3) / 4; n > 0 && !is_ready (w, loop, back ? end - n : first, back ? end : first + n); )
        n--;
      if (n == 0)
        return BLOCKED;

      from = back ? end - n : first;
      if (atomic_compare_exchange_weak_explicit (left, &old, number << 16 | (back ? first : first + n) << 8 | (back ? from : end),
                                                 memory_order_acq_rel, memory_order_acquire))
        {
          chain->func (chain->data, chain->first + loop, from, from + n, w->thread);
          set_done (w, loop, (UINT64_MAX >> (LPT_CHAIN_UNITS - n)) << from);
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
  for (unsigned i = 1; loop < w->chain->n_loops && i < w->chain->n_threads; i++)
    if (run_some (w, loop, (w->thread + i) % w->chain->n_threads) == RAN)
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
      return loop < w->chain->n_loops && ++w->waits < PATIENCE;
    }
  lpt_wait_on (&w->waits);
  return true;
}

static void
walk (LptChain *chain, unsigned thread)
{
  Walk w = { .chain = chain, .thread = thread };

  /* Two more loops, of no units: until all are done. */
  for (size_t loop = 0; loop < chain->n_loops + 2; loop++)
    {
      Outcome outcome;

      while (loop >= 2 && !are_done (&w, loop - 2, all_units (chain, loop - 2)))
        if (!help (&w, loop - 2) && !help (&w, loop - 1) && !wait_for_others (&w, loop))
          return;
      w.number[(chain->number + loop) & 1] = chain->number + loop;
      w.units[(chain->number + loop) & 1] = 0;
      w.waits = 0;
      while (loop < chain->n_loops && (outcome = run_some (&w, loop, thread)) != EMPTY)
        if (outcome == BLOCKED && !help (&w, loop - 1) && !wait_for_others (&w, loop))
          return;
    }
  if (thread == 0)
    chain->finished = true;
}

static void
walk_task (void *data, size_t task, unsigned thread)
{
  LptChain *chain = data;

  if (thread > 0 || !chain->finished)
    walk (chain, thread);
}

/* The func's number of the first loop is `first`. */
static void
run_part (LptChain *chain, const LptChainLoop *loops, size_t n_loops, size_t first)
{
  chain->loops = loops;
  chain->n_loops = n_loops;
  chain->first = first;
  chain->finished = false;
  lpt_parallel_for (chain->pool, chain->n_threads, walk_task, chain);
  /* Helpers may have taken all the tasks, and have left. */
  walk_task (chain, 0, 0);
  chain->number += n_loops;
}

void
lpt_chain_run (LptChain *chain, const LptChainLoop *loops, size_t n_loops, LptChainFunc func, void *data)
{
  chain->func = func;
  chain->data = data;
  for (size_t first = 0; first < n_loops; first += PART)
    run_part (chain, loops + first, n_loops - first < PART ? n_loops - first : PART, first);
}

LptChain *
lpt_chain_new (LptPool *pool)
{
  LptChain *chain = pool ? malloc (sizeof *chain) : NULL;

  if (!chain)
    return NULL;
  *chain = (LptChain) { .pool = pool, .n_threads = lpt_pool_n_threads (pool), .number = 1 };
  chain->shares = aligned_alloc (64, chain->n_threads * sizeof *chain->shares);
  chain->done = aligned_alloc (64, chain->n_threads * sizeof *chain->done);
  if (!chain->shares || !chain->done)
    {
      lpt_chain_free (chain);
      return NULL;
    }
  for (unsigned t = 0; t < chain->n_threads; t++)
    {
      chain->shares[t] = (Share) { { 0 } };
      chain->done[t] = (Done) { { 0 }, { 0 } };
    }
  return chain;
}

void
lpt_chain_free (LptChain *chain)
{
  if (!chain)
    return;
  free (chain->shares);
  free (chain->done);
  free (chain);
}
