/* executor/lpt-parallel.c - lpt_parallel_for over threads that stand by
 *
 * A loop is cut into a share for each thread, which begins with its own, in order, and then helps the others with theirs.
 * Loops over the same rows so find them in the cache of the same core, and uneven tasks are balanced.
 *
 * The thread that opens a loop waits for those that took tasks of it, never for one that has not come: on a busy machine a
 * thread may get a processor only milliseconds later, and a loop takes microseconds. That is why these are not the threads
 * of a library that gathers all of them behind each loop. Helpers look for loops for a while and then sleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/lpt-parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* More threads than that share shares. */
enum { MAX_SHARES = 64, MAX_THREADS = 1024 };

typedef struct {
  LptParallelFunc  func;     /* or ranges */
  LptParallelRange ranges;
  void            *data;
} Work;

typedef struct {
  _Alignas (64) atomic_size_t next;
  size_t                      end;
} Share;

typedef struct {
  Work   work;
  size_t n_shares;
  Share  shares[MAX_SHARES];
} Loop;

typedef struct {
  LptPool  *pool;
  pthread_t thread;
  unsigned  number;
} Helper;

struct LptPool {
  unsigned                    n_threads;
  Helper                     *helpers;   /* n_threads - 1 */
  pthread_mutex_t             mutex;
  pthread_cond_t              wake;
  /* Odd while a loop is open; QUIT: no loop will follow. */
  _Alignas (64) atomic_size_t turn;
  atomic_size_t               asleep;
  _Alignas (64) atomic_size_t inside;    /* helpers that look at the loop; it changes only while there are none */
  Loop                        loop;
};

enum { QUIT = 0, FIRST = 2 };

static void
run_work (const Work *work, size_t task, size_t end, unsigned thread)
{
  if (work->ranges && task < end)
    work->ranges (work->data, task, end, thread);
  for (; work->func && task < end; task++)
    work->func (work->data, task, thread);
}

/* Tasks one by one, ranges of three quarters of what is left: the last ones are short, so that threads end at about the
 * same time. */
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
run_loop (Loop *loop, unsigned thread)
{
  for (size_t i = 0; i < loop->n_shares; i++)
    run_share (&loop->work, &loop->shares[(thread + i) % loop->n_shares], thread);
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

/* --- waiting --- */

/* Whether it is worth to wait on without sleep. Others soon get the processor: the thread that is waited for may need this one. */
static bool
wait_more (unsigned *waits)
{
  enum { SPINS = 512, YIELDS = 2048 };

  if (*waits >= SPINS + YIELDS)
    return false;
  if (++*waits > SPINS)
    sched_yield ();
  else
    {
#if defined (__x86_64__) || defined (__i386__)
      __builtin_ia32_pause ();
#elif defined (__aarch64__)
      __asm__ volatile ("yield");
#endif
    }
  return true;
}

/* Until the turn is another than `turn`. Who changes it looks at `asleep` afterwards, and this looks at it after `asleep`:
 * one of them sees the other. */
static void
sleep_on (LptPool *pool, size_t turn)
{
  pthread_mutex_lock (&pool->mutex);
  atomic_fetch_add (&pool->asleep, 1);
  while (atomic_load (&pool->turn) == turn)
    pthread_cond_wait (&pool->wake, &pool->mutex);
  atomic_fetch_sub (&pool->asleep, 1);
  pthread_mutex_unlock (&pool->mutex);
}

static void
set_turn (LptPool *pool, size_t turn)
{
  atomic_store (&pool->turn, turn);
  if (atomic_load (&pool->asleep) > 0)
    {
      pthread_mutex_lock (&pool->mutex);
      pthread_cond_broadcast (&pool->wake);
      pthread_mutex_unlock (&pool->mutex);
    }
}

/* Takes part in every loop that is open when it looks. The order of `inside` and `turn`, here and in run_all (), sees to it that a
 * loop that is being changed is looked at by nobody. */
static void *
help (void *data)
{
  Helper *helper = data;
  LptPool *pool = helper->pool;
  size_t done = FIRST;
  unsigned waits = 0;

  for (;;)
    {
      size_t turn = atomic_load (&pool->turn);

      if (turn == QUIT)
        return NULL;
      if (turn == done || turn % 2 == 0)
        {
          if (!wait_more (&waits))
            {
              sleep_on (pool, turn);
              waits = 0;
            }
          continue;
        }
      atomic_fetch_add (&pool->inside, 1);
      if (atomic_load (&pool->turn) == turn)
        {
          run_loop (&pool->loop, helper->number);
          done = turn;
          waits = 0;
        }
      atomic_fetch_sub (&pool->inside, 1);
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
  *pool = (LptPool) { .n_threads = 1, .helpers = calloc (n_threads - 1, sizeof (Helper)), .turn = FIRST };
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
  set_turn (pool, QUIT);
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

void
lpt_pool_wake (LptPool *pool)
{
  /* A turn without a loop. */
  if (pool && atomic_load (&pool->asleep) > 0)
    set_turn (pool, atomic_load (&pool->turn) + 2);
}

static void
run_all (LptPool *pool, size_t n_tasks, Work work)
{
  size_t n_threads = lpt_pool_n_threads (pool), workers = n_tasks < n_threads ? n_tasks : n_threads, turn;

  if (workers <= 1)
    {
      run_work (&work, 0, n_tasks, 0);
      return;
    }
  set_loop (&pool->loop, work, n_tasks, workers);
  turn = atomic_load (&pool->turn) + 1;
  set_turn (pool, turn);
  run_loop (&pool->loop, 0);
  atomic_store (&pool->turn, turn + 1);
  /* The others' last tasks. */
  for (unsigned waits = 0; atomic_load (&pool->inside) > 0; )
    if (!wait_more (&waits))
      nanosleep (&(struct timespec) { .tv_nsec = 50000 }, NULL);
}

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
