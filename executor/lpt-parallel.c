/* executor/lpt-parallel.c - lpt_parallel_for over pthreadpool, or one thread without it
 *
 * A loop is cut into a share for each thread, which begins with its own, in order, and then helps the others with theirs.
 * Loops over the same rows so find them in the cache of the same core, and uneven tasks are balanced.
 *
 * pthreadpool wakes and numbers the threads. That takes microseconds, as much as a small loop: inside lpt_pool_run () they
 * stay awake and wait for the loops that the first one opens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/lpt-parallel.h"

typedef struct {
  LptParallelFunc  func;     /* or ranges */
  LptParallelRange ranges;
  void            *data;
} Work;

static void
run_work (const Work *work, size_t task, size_t end, unsigned thread)
{
  if (work->ranges && task < end)
    work->ranges (work->data, task, end, thread);
  for (; work->func && task < end; task++)
    work->func (work->data, task, thread);
}

#ifdef LPT_HAVE_PTHREADPOOL

#include <pthreadpool.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* More threads than that share shares. */
#define MAX_SHARES 64

typedef struct {
  _Alignas (64) atomic_size_t next;
  size_t                      end;
} Share;

typedef struct {
  Work   work;
  size_t n_shares;
  Share  shares[MAX_SHARES];
} Loop;

struct LptPool {
  pthreadpool_t              threads;
  bool                       running;   /* inside lpt_pool_run () */
  LptPoolFunc                func;
  void                      *data;
  /* Odd while a loop is open; LAST: no loop will follow. */
  _Alignas (64) atomic_size_t turn;
  _Alignas (64) atomic_size_t inside;   /* threads that look at the loop; it changes only while there are none */
  Loop                       loop;
};

enum { LAST = 0 };

/* Tasks one by one, ranges of three quarters of what is left: the last ones are short, so that threads end at about the same time. */
static void
run_share (const Work *work, Share *share, unsigned thread)
{
  for (;;)
    {
      size_t task = atomic_load_explicit (&share->next, memory_order_relaxed), n;

      if (task >= share->end)
        return;
      n = work->ranges ? (3 * (share->end - task) + 3) / 4 : 1;
      task = atomic_fetch_add_explicit (&share->next, n, memory_order_relaxed);
      run_work (work, task, task < share->end && share->end - task > n ? task + n : share->end, thread);
    }
}

static void
run_loop (Loop *loop, size_t thread)
{
  for (size_t i = 0; i < loop->n_shares; i++)
    run_share (&loop->work, &loop->shares[(thread + i) % loop->n_shares], (unsigned) thread);
}

static void
set_loop (Loop *loop, Work work, size_t n_tasks, size_t workers)
{
  size_t task = 0;

  loop->work = work;
  loop->n_shares = workers < MAX_SHARES ? workers : MAX_SHARES;
  for (size_t i = 0; i < loop->n_shares; i++)
    {
      atomic_store_explicit (&loop->shares[i].next, task, memory_order_relaxed);
      task += (n_tasks - task) / (loop->n_shares - i);
      loop->shares[i].end = task;
    }
}

static void
relax (void)
{
#if defined (__x86_64__) || defined (__i386__)
  __builtin_ia32_pause ();
#elif defined (__aarch64__)
  __asm__ volatile ("yield");
#endif
}

/* Waits a while, longer from time to time: others may need the processor, and not every step is a loop. */
static void
wait_more (unsigned *waits)
{
  enum { SPINS = 4096, YIELDS = 64 };

  if (*waits < SPINS)
    relax ();
  else if (*waits < SPINS + YIELDS)
    sched_yield ();
  else
    nanosleep (&(struct timespec) { .tv_nsec = 50000 }, NULL);
  ++*waits;
}

/* Takes part in every loop until the last. The order of `inside` and `turn`, here and in lpt_parallel_for (), sees to it that a
 * loop that is being changed is looked at by nobody. */
static void
help (LptPool *pool, size_t thread)
{
  size_t done = 0;
  unsigned waits = 0;

  for (;;)
    {
      size_t turn = atomic_load (&pool->turn);

      if (turn == LAST)
        return;
      if (turn == done || turn % 2 == 0)
        {
          wait_more (&waits);
          continue;
        }
      atomic_fetch_add (&pool->inside, 1);
      if (atomic_load (&pool->turn) == turn)
        {
          run_loop (&pool->loop, thread);
          done = turn;
          waits = 0;
        }
      atomic_fetch_sub (&pool->inside, 1);
    }
}

LptPool *
lpt_pool_new (unsigned n_threads)
{
  LptPool *pool = n_threads == 1 ? NULL : aligned_alloc (64, (sizeof *pool + 63) / 64 * 64);

  if (!pool)
    return NULL;
  *pool = (LptPool) { .threads = pthreadpool_create (n_threads) };
  if (pool->threads && pthreadpool_get_threads_count (pool->threads) > 1)
    return pool;
  lpt_pool_free (pool);
  return NULL;
}

void
lpt_pool_free (LptPool *pool)
{
  if (pool && pool->threads)
    pthreadpool_destroy (pool->threads);
  free (pool);
}

unsigned
lpt_pool_n_threads (const LptPool *pool)
{
  return pool ? (unsigned) pthreadpool_get_threads_count (pool->threads) : 1;
}

/* Which thread gets number 0 does not matter. */
static void
run_or_help (void *context, size_t thread)
{
  LptPool *pool = context;

  if (thread > 0)
    help (pool, thread);
  else
    {
      pool->func (pool->data);
      atomic_store (&pool->turn, LAST);
    }
}

void
lpt_pool_run (LptPool *pool, LptPoolFunc func, void *data)
{
  if (!pool || pool->running)
    {
      func (data);
      return;
    }
  pool->running = true;
  pool->func = func;
  pool->data = data;
  atomic_store (&pool->turn, 2);
  pthreadpool_parallelize_1d (pool->threads, run_or_help, pool, lpt_pool_n_threads (pool), 0);
  pool->running = false;
}

static void
take_part (void *context, size_t thread)
{
  LptPool *pool = context;

  run_loop (&pool->loop, thread);
}

static void
run_all (LptPool *pool, size_t n_tasks, Work work)
{
  size_t n_threads = lpt_pool_n_threads (pool), workers = n_tasks < n_threads ? n_tasks : n_threads;

  if (workers <= 1)
    {
      run_work (&work, 0, n_tasks, 0);
      return;
    }
  set_loop (&pool->loop, work, n_tasks, workers);
  if (!pool->running)
    {
      pthreadpool_parallelize_1d (pool->threads, take_part, pool, workers, 0);
      return;
    }
  atomic_fetch_add (&pool->turn, 1);
  run_loop (&pool->loop, 0);
  atomic_fetch_add (&pool->turn, 1);
  /* The others' last tasks. */
  for (unsigned waits = 0; atomic_load (&pool->inside) > 0; )
    wait_more (&waits);
}

#else

LptPool *
lpt_pool_new (unsigned n_threads)
{
  (void) n_threads;
  return NULL;
}

void
lpt_pool_free (LptPool *pool)
{
  (void) pool;
}

unsigned
lpt_pool_n_threads (const LptPool *pool)
{
  (void) pool;
  return 1;
}

void
lpt_pool_run (LptPool *pool, LptPoolFunc func, void *data)
{
  (void) pool;
  func (data);
}

static void
run_all (LptPool *pool, size_t n_tasks, Work work)
{
  (void) pool;
  run_work (&work, 0, n_tasks, 0);
}

#endif

void
lpt_parallel_for (LptPool *pool, size_t n_tasks, LptParallelFunc func, void *data)
{
  run_all (pool, n_tasks, (Work) { .func = func, .data = data });
}

void
lpt_parallel_ranges (LptPool *pool, size_t n_tasks, LptParallelRange func, void *data)
{
  run_all (pool, n_tasks, (Work) { .ranges = func, .data = data });
}
