/* bench/peers/runner.h - a loaded model that runs on request
 *
 * The same process for each runtime that bench/compare measures: load, say so, then for every line `N` on standard
 * input make one run that is not counted and N that are, and print their times. All answers are lines of JSON:
 *
 *   {"version": "1.2", "load_ms": 9.5, "load_cpu_ms": 9.1, "peak_rss_mb": 34.2}
 *   {"wall": [1.25, …], "cpu": [1.24, …], "peak_rss_mb": 35.0}
 *
 * Milliseconds; cpu is that of all threads. Short runs are timed several together, of which a time is the mean. The end
 * of input ends the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

typedef struct
{
  double wall, cpu;      /* ms */
} RunnerTime;

RunnerTime runner_now (void);

/* @start, @ready: when loading began and ended. @run: false ends the process with 1 (it has said why). Returns the exit
 * code. */
int runner_serve (const char *version, RunnerTime start, RunnerTime ready, bool (*run) (void *data), void *data);
