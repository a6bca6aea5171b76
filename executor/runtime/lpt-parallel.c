/* executor/runtime/lpt-parallel.c - lpt_parallel_for over threads that stand by
 *
 * A loop is cut into a share for each thread, which begins with its own, in order, and then helps the others with
 * theirs.
 * Loops over the same rows so find them in the cache of the same core, and uneven tasks are balanced.
 *
 * The thread that opens a loop waits for the tasks that others took, never for a thread that has not come: on a busy
 * machine one may get a processor only milliseconds later, and a loop takes microseconds. That is why these are not the
 * threads of a library that gathers all of them behind each loop. Helpers look for loops for a while and then sleep.
 *
 * What one core wrote and another reads takes 0.1 to 0.3 us, so a loop is opened by one line of the cache for each
 * helper, its share, and closed by one, the count of tasks that helpers have done. Who is late cannot take a task of
 * another loop: a share's word of tasks left carries the loop's number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/runtime/lpt-parallel.h"
#include "executor/runtime/lpt-wait.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* More threads than that share shares. A loop's number and tasks left are one word; more tasks are several loops. */
enum { MAX_SHARES = 64, MAX_THREADS = 1024, TASK_BITS = 24, MAX_TASKS = (1 << TASK_BITS) - 1 };

/* The number that ends helpers. */
#define QUIT (UINT64_MAX >> TASK_BITS)

typedef struct {
  LptParallelFunc  func;     /* or ranges */
  LptParallelRange ranges;
  void            *data;
} Work;

/* All but `left` is written before the loop's number is, and read by who took tasks only. */
typedef struct {
  _Alignas (64) _Atomic uint64_t left;
  size_t                         end;   /* of its tasks, the last of which are left */
  Work                           work;
} Share;

typedef struct {
  LptPool  *pool;
  pthread_t thread;
  unsigned  number;
} Helper;

struct LptPool {
  unsigned                    n_threads, n_shares;
  Helper                     *helpers;   /* n_threads - 1 */
  uint64_t                    number;    /* of the last loop */
  size_t                      before;    /* `done` when it ended */
  pthread_mutex_t             mutex;
  pthread_cond_t              wake;
  size_t                      wakes;     /* under the mutex */
  atomic_size_t               asleep;
  _Alignas (64) atomic_size_t done;      /* tasks, by helpers */
  Share                       shares[MAX_SHARES];
};

static uint64_t
loop_of (uint64_t left)
{
  return left >> TASK_BITS;
}

static void
run_work (const Work *work, size_t task, size_t end, unsigned thread)
{
  if (work->ranges && task < end)
    work->ranges (work->data, task, end, thread);
  for (; work->func && task < end; task++)
    work->func (work->data, task, thread);
}

/* The share's tasks in that loop: three quarters of what is left at a time, so that the last are few and threads end at
 * about the same time. Returns how many they were. */
static size_t
run_share (Share *share, uint64_t loop, unsigned thread)
{
  uint64_t left = atomic_load_explicit (&share->left, memory_order_acquire);
  size_t done = 0;

  while (loop_of (left) == loop && left & MAX_TASKS)
    {
      size_t rest = left & MAX_TASKS, n = (3 * rest + 3) / 4;

      if (!atomic_compare_exchange_weak_explicit (&share->left, &left, left - n, memory_order_acquire,
                                                  memory_order_acquire))
        continue;
      run_work (&share->work, share->end - rest, share->end - rest + n, thread);
      done += n;
      left = atomic_load_explicit (&share->left, memory_order_acquire);
    }
  return done;
}

/* --- waiting --- */

/* Until the share has another loop, or somebody wakes all. */
static void
sleep_on (LptPool *pool, Share *share, uint64_t loop)
{
  pthread_mutex_lock (&pool->mutex);
  atomic_fetch_add (&pool->asleep, 1);
  for (size_t wakes = pool->wakes; pool->wakes == wakes && loop_of (atomic_load (&share->left)) == loop; )
    pthread_cond_wait (&pool->wake, &pool->mutex);
  atomic_fetch_sub (&pool->asleep, 1);
  pthread_mutex_unlock (&pool->mutex);
}

/* A helper that is falling asleep just now may be missed; the next call wakes it. */
void
lpt_pool_wake (LptPool *pool)
{
  if (!pool || atomic_load_explicit (&pool->asleep, memory_order_relaxed) == 0)
    return;
  pthread_mutex_lock (&pool->mutex);
  pool->wakes++;
  pthread_cond_broadcast (&pool->wake);
  pthread_mutex_unlock (&pool->mutex);
}

/* Takes part in every loop that has a share for it and is open when it looks. */
static void *
help (void *data)
{
  Helper *helper = data;
  LptPool *pool = helper->pool;
  const unsigned own = helper->number % pool->n_shares;
  uint64_t last = 0;

  for (unsigned waits = 0;;)
    {
      uint64_t loop = loop_of (atomic_load_explicit (&pool->shares[own].left, memory_order_acquire));

      if (loop == QUIT)
        return NULL;
      if (loop == last)
        {
          if (!lpt_wait_more (&waits))
            {
              sleep_on (pool, &pool->shares[own], last);
              waits = 0;
            }
          continue;
        }
      for (unsigned i = 0; i < pool->n_shares; i++)
        {
          size_t done = run_share (&pool->shares[(own + i) % pool->n_shares], loop, helper->number);

          if (done > 0)
            atomic_fetch_add_explicit (&pool->done, done, memory_order_release);
        }
      last = loop;
      waits = 0;
    }
}

/* --- pools --- */

/* Processors that this process may use. */
static unsigned
n_processors (void)
{
#ifdef CPU_COUNT
  cpu_set_t set;

  if (sched_getaffinity (0, sizeof set, &set) == 0)
    return (unsigned) CPU_COUNT (&set);
#endif
  long n = sysconf (_SC_NPROCESSORS_ONLN);

  return n > 0 ? (unsigned) n : 1;
}

LptPool *
lpt_pool_new (unsigned n_threads)
{
  LptPool *pool;
  sigset_t all, before;

  n_threads = n_threads == 0 ? n_processors () : n_threads < MAX_THREADS ? n_threads : MAX_THREADS;
  pool = n_threads == 1 ? NULL : aligned_alloc (64, (sizeof *pool + 63) / 64 * 64);
  if (!pool)
    return NULL;
  *pool = (LptPool) { .n_threads = 1, .n_shares = n_threads < MAX_SHARES ? n_threads : MAX_SHARES,
                      .helpers = calloc (n_threads - 1, sizeof (Helper)) };
  pthread_mutex_init (&pool->mutex, NULL);
  pthread_cond_init (&pool->wake, NULL);

  /* Signals are for the program's own threads. */
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  for (; pool->helpers && pool->n_threads < n_threads; pool->n_threads++)
    {
      Helper *helper = &pool->helpers[pool->n_threads - 1];

      *helper = (Helper) { .pool = pool, .number = pool->n_threads };
      if (pthread_create (&helper->thread, NULL, help, helper) != 0)
        break;
    }
  pthread_sigmask (SIG_SETMASK, &before, NULL);

  if (pool->n_threads > 1)
    return pool;
  lpt_pool_free (pool);
  return NULL;
}

void
lpt_pool_free (LptPool *pool)
{
  if (!pool)
    return;
  pthread_mutex_lock (&pool->mutex);
  for (unsigned i = 0; i < pool->n_shares; i++)
    atomic_store (&pool->shares[i].left, QUIT << TASK_BITS);
  pthread_cond_broadcast (&pool->wake);
  pthread_mutex_unlock (&pool->mutex);
  for (unsigned i = 1; i < pool->n_threads; i++)
    pthread_join (pool->helpers[i - 1].thread, NULL);
  pthread_cond_destroy (&pool->wake);
  pthread_mutex_destroy (&pool->mutex);
  free (pool->helpers);
  free (pool);
}

unsigned
lpt_pool_n_threads (const LptPool *pool)
{
  return pool ? pool->n_threads : 1;
}

/* Tasks [first, first + n) of the work, of which there are MAX_TASKS at most. */
static void
run_loop (LptPool *pool, size_t first, size_t n, Work work)
{
  const uint64_t loop = ++pool->number;
  const size_t n_shares = n < pool->n_shares ? n : pool->n_shares;
  size_t done = 0, end = first + n;

  /* The caller's own share, the first one, comes last: the others are waited for. */
  for (size_t i = n_shares; i-- > 0; )
    {
      Share *share = &pool->shares[i];
      size_t tasks = (end - first) / (i + 1);

      share->end = end;
      share->work = work;
      atomic_store_explicit (&share->left, loop << TASK_BITS | tasks, memory_order_release);
      end -= tasks;
    }
  lpt_pool_wake (pool);
  for (size_t i = 0; i < n_shares; i++)
    done += run_share (&pool->shares[i], loop, 0);
  /* What others have taken. */
  for (unsigned waits = 0; atomic_load_explicit (&pool->done, memory_order_acquire) - pool->before != n - done; )
    lpt_wait_on (&waits);
  pool->before += n - done;
}

static void
run_loops (LptPool *pool, size_t n_tasks, const Work *work)
{
  for (size_t first = 0, n; first < n_tasks; first += n)
    {
      n = n_tasks - first < MAX_TASKS ? n_tasks - first : MAX_TASKS;
      run_loop (pool, first, n, *work);
    }
}

/* What the caller does alone costs no more than the call: loops of small networks are shorter than a microsecond. */
void
lpt_parallel_for (LptPool *pool, size_t n_tasks, LptParallelFunc func, void *data)
{
  if (lpt_pool_n_threads (pool) > 1 && n_tasks > 1)
    run_loops (pool, n_tasks, &(Work) { .func = func, .data = data });
  else
    for (size_t task = 0; task < n_tasks; task++)
      func (data, task, 0);
}

void
lpt_parallel_ranges (LptPool *pool, size_t n_tasks, LptParallelRange func, void *data)
{
  if (lpt_pool_n_threads (pool) > 1 && n_tasks > 1)
    run_loops (pool, n_tasks, &(Work) { .ranges = func, .data = data });
  else if (n_tasks > 0)
    func (data, 0, n_tasks, 0);
}
