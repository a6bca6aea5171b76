/* executor/runtime/lpt-parallel.h - loops over tasks on a pool of threads
 *
 * The caller cuts its work into tasks without looking at the number of threads; each task is run
 * once by one thread, in any order. So results cannot depend on the pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

typedef struct LptPool LptPool;

/* `task` < n_tasks; `thread` < lpt_pool_n_threads () tells workspaces apart. */
typedef void (*LptParallelFunc) (void *data, size_t task, unsigned thread);

/* A pool of n_threads (the caller's thread included), 0 = one per processor. NULL where one thread is all
 * there is to have; every function takes NULL as "one thread". */
LptPool  *lpt_pool_new       (unsigned n_threads);
void      lpt_pool_free      (LptPool *pool);
unsigned  lpt_pool_n_threads (const LptPool *pool);

/* Runs all tasks and returns when they are done. Allocates nothing. Not from a task; from one thread at a time. */
void      lpt_parallel_for   (LptPool *pool, size_t n_tasks, LptParallelFunc func, void *data);

/* The same for tasks that cost less together: a call has tasks [task, end), the more the more are left. */
typedef void (*LptParallelRange) (void *data, size_t task, size_t end, unsigned thread);
void      lpt_parallel_ranges (LptPool *pool, size_t n_tasks, LptParallelRange func, void *data);

/* Wakes the other threads for loops that follow soon: they look for the next one for about a millisecond, then
 * sleep. */
void      lpt_pool_wake      (LptPool *pool);
