/* executor/lpt-parallel.c - lpt_parallel_for over pthreadpool, or one thread without it
 *
 * Every thread of the pool gets one item of pthreadpool's loop, which gives it a number. It begins with its own share of
 * the tasks, in order, and then helps the others with theirs. Loops over the same rows so find them in the cache of
 * the same core, and uneven tasks are balanced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/lpt-parallel.h"

#ifdef LPT_HAVE_PTHREADPOOL

#include <pthreadpool.h>
#include <stdatomic.h>

/* More threads than that share shares. */
#define MAX_SHARES 64

typedef struct {
  _Alignas (64) atomic_size_t next;
  size_t                      end;
} Share;

typedef struct {
  LptParallelFunc func;
  void           *data;
  size_t          n_shares;
  Share           shares[MAX_SHARES];
} Loop;

/* LptPool is pthreadpool's own object under our name. */

static void
run_worker (void *context, size_t thread)
{
  Loop *loop = context;

  for (size_t i = 0; i < loop->n_shares; i++)
    {
      Share *share = &loop->shares[(thread + i) % loop->n_shares];
      size_t task;

      while ((task = atomic_fetch_add_explicit (&share->next, 1, memory_order_relaxed)) < share->end)
        loop->func (loop->data, task, (unsigned) thread);
    }
}

LptPool *
lpt_pool_new (unsigned n_threads)
{
  return n_threads == 1 ? NULL : (LptPool *) pthreadpool_create (n_threads);
}

void
lpt_pool_free (LptPool *pool)
{
  if (pool)
    pthreadpool_destroy ((pthreadpool_t) pool);
}

unsigned
lpt_pool_n_threads (const LptPool *pool)
{
  return pool ? (unsigned) pthreadpool_get_threads_count ((pthreadpool_t) pool) : 1;
}

void
lpt_parallel_for (LptPool *pool, size_t n_tasks, LptParallelFunc func, void *data)
{
  unsigned n_threads = lpt_pool_n_threads (pool);

  if (n_threads == 1 || n_tasks <= 1)
    {
      for (size_t task = 0; task < n_tasks; task++)
        func (data, task, 0);
      return;
    }

  size_t workers = n_tasks < n_threads ? n_tasks : n_threads, shares = workers < MAX_SHARES ? workers : MAX_SHARES, task = 0;
  Loop loop;

  loop.func = func;
  loop.data = data;
  loop.n_shares = shares;
  for (size_t i = 0; i < shares; i++)
    {
      atomic_init (&loop.shares[i].next, task);
      task += (n_tasks - task) / (shares - i);
      loop.shares[i].end = task;
    }
  pthreadpool_parallelize_1d ((pthreadpool_t) pool, run_worker, &loop, workers, 0);
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
lpt_parallel_for (LptPool *pool, size_t n_tasks, LptParallelFunc func, void *data)
{
  (void) pool;
  for (size_t task = 0; task < n_tasks; task++)
    func (data, task, 0);
}

#endif
