/* bench/peers/runner.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/peers/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RUNS 100000

/* Runs that take less than that are timed several together: to read the process's clock takes 0.5 us and more. */
#define SAMPLE_MS 0.05

static double
clock_ms (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);
  return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

RunnerTime
runner_now (void)
{
  return (RunnerTime) { clock_ms (CLOCK_MONOTONIC), clock_ms (CLOCK_PROCESS_CPUTIME_ID) };
}

/* getrusage() would also count what the process was before exec(). */
static double
peak_rss_mb (void)
{
  FILE *f = fopen ("/proc/self/status", "r");
  char line[256];
  double kb = 0;

  while (f && fgets (line, sizeof line, f))
    if (strncmp (line, "VmHWM:", 6) == 0)
      kb = strtod (line + 6, NULL);
  if (f)
    fclose (f);
  return kb / 1024;
}

static void
print_times (const char *name, const double *times, long n)
{
  printf ("\"%s\": [", name);
  for (long i = 0; i < n; i++)
    printf (i > 0 ? ", %.6f" : "%.6f", times[i]);
  printf ("], ");
}

/* Runs that one sample holds where one takes so long, in ms; 0: nobody knows. */
static int
sample_runs (double fastest)
{
  return fastest <= 0 || fastest >= SAMPLE_MS ? 1 : fastest < SAMPLE_MS / 100 ? 100 : (int) (SAMPLE_MS / fastest) + 1;
}

int
runner_serve (const char *version, RunnerTime start, RunnerTime ready, bool (*run) (void *data), void *data)
{
  static double wall[MAX_RUNS], cpu[MAX_RUNS];
  double fastest = 0;
  char line[64];

  printf ("{\"version\": \"%s\", \"load_ms\": %.3f, \"load_cpu_ms\": %.3f, \"peak_rss_mb\": %.1f}\n", version,
          ready.wall - start.wall, ready.cpu - start.cpu, peak_rss_mb ());
  fflush (stdout);
  while (fgets (line, sizeof line, stdin))
    {
      long n = strtol (line, NULL, 10);
      const int several = sample_runs (fastest);

      if (n < 1 || n > MAX_RUNS || !run (data))
        return 1;
      for (long i = 0; i < n; i++)
        {
          RunnerTime a = runner_now (), b;

          for (int k = 0; k < several; k++)
            if (!run (data))
              return 1;
          b = runner_now ();
          wall[i] = (b.wall - a.wall) / several;
          cpu[i] = (b.cpu - a.cpu) / several;
          fastest = fastest > 0 && fastest < wall[i] ? fastest : wall[i];
        }
      printf ("{");
      print_times ("wall", wall, n);
      print_times ("cpu", cpu, n);
      printf ("\"peak_rss_mb\": %.1f}\n", peak_rss_mb ());
      fflush (stdout);
    }
  return 0;
}
