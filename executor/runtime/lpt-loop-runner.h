/* executor/runtime/lpt-loop-runner.h - loops that follow each other on a pool of threads, without a meeting between
 * them
 *
 * Each unit of a loop says which units of the loop before it needs; a thread that has done its part of a loop goes on
 * with the next one as soon as those are done. What a unit needs of all earlier loops is done anyway: no more than two
 * neighbouring loops are in flight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

#include "executor/runtime/lpt-parallel.h"

/* Units of a loop: bits of a word. */
enum { LPT_TASK_LOOP_UNITS = 64 };

typedef struct {
  unsigned        n_units;   /* 1 to LPT_TASK_LOOP_UNITS */
  const uint64_t *needs;     /* unit -> units of the loop before; of no matter for the first loop */
} LptTaskLoop;

/* Units [unit, end) of the loop; `thread` as for lpt_parallel_for (). */
typedef void (*LptTaskLoopFunc) (void *data, size_t loop, unsigned unit, unsigned end, unsigned thread);

typedef struct LptLoopRunner LptLoopRunner;

/* What the threads of the pool, which is borrowed, tell each other; NULL for NULL or without memory. */
LptLoopRunner *lpt_loop_runner_new  (LptPool *pool);
void      lpt_loop_runner_free (LptLoopRunner *runner);

/* Runs all units of all loops, each once, and returns when they are done. Allocates nothing. Not from a task of the
 * pool; from one thread at a time. */
void      lpt_loop_runner_run  (LptLoopRunner *runner, const LptTaskLoop *loops, size_t n_loops, LptTaskLoopFunc func, void *data);
