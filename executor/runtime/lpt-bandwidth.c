/* executor/runtime/lpt-bandwidth.c - bytes that a core reads from memory in a second
 *
 * A buffer larger than the caches is summed several times; the best of them counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-cpu.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 64 << 20, ROUNDS = 5 };

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

double
lpt_cpu_bandwidth (void)
{
  uint64_t *words = malloc (BYTES);
  volatile uint64_t sink;
  double best = 0.0;
  if (!words)
    return 0.0;
  memset (words, 1, BYTES);
  for (int round = 0; round < ROUNDS; round++)
    {
      uint64_t sum[8] = { 0 };
      double start = now (), seconds;
      for (size_t i = 0; i < BYTES / sizeof *words; i += 8)
        for (size_t k = 0; k < 8; k++)
          sum[k] += words[i + k];
      sink = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
      seconds = now () - start;
      if (seconds > 0.0 && BYTES / seconds / 1e9 > best)
        best = BYTES / seconds / 1e9;
    }
  (void) sink;
  free (words);
  return best;
}
