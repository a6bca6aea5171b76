/* test-svdf.c - the step of an SVDF: every row gives the codes of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel-test.h"
#include "rescale-test.h"

#include "executor/kernels/svdf/svdf.h"

typedef struct {
  size_t   filters, rank, memory;
  unsigned round;
} Case;

static LptRescale
draw_rescale (unsigned round)
{
  int s = random_range (-31, 30);
  int32_t m = random_range (1 << 30, INT32_MAX);

  return rescale_of (round % 7 == 0 ? -m : m, s, s > 0 || round % 2);
}

/* Weights of any 16 bits, of few bits, and those whose sums fit 32 bits by a hair or not. */
static void
draw_weights (const Case *c, int16_t *w, int16_t *low, int16_t *high, uint8_t *narrow)
{
  const size_t length = c->rank * c->memory;

  for (size_t u = 0; u < c->filters / c->rank; u++)
    {
      const int limit = random_u32 () % 2 ? 32768 : random_u32 () % 2 ? 127 : (int) (65535 / length);
      int64_t reach = 0;

      for (size_t k = u * length; k < (u + 1) * length; k++)
        {
          w[k] = (int16_t) (limit == 32768 && random_u32 () % 3 == 0 ? INT16_MIN : random_range (-limit, limit - 1));
          reach += (int64_t) abs (w[k]) << 15;
        }
      narrow[u] = reach <= INT32_MAX;
      for (size_t k = u * length; k < (u + 1) * length; k++)
        {
          low[k] = (int16_t) (narrow[u] ? w[k] : (int8_t) (w[k] & 0xff));
          high[k] = (int16_t) ((w[k] - low[k]) / 256);
        }
    }
}

static bool
check (const LptSvdfKernel *kernel, const Case *c)
{
  const size_t units = c->filters / c->rank, length = c->rank * c->memory, all = units * length;
  int16_t *w = malloc (all * sizeof *w), *low = (int16_t *) exact_bytes (all * 2),
          *high = (int16_t *) exact_bytes (all * 2), *next = (int16_t *) exact_bytes (all * 2),
          *memories = malloc (all * sizeof *memories);
  uint8_t *narrow = exact_bytes (units), *y = exact_bytes (units);
  int64_t *bias = (int64_t *) exact_bytes (units * 8);
  int32_t *sums = (int32_t *) exact_bytes (c->filters * 4);
  LptSvdf p = { c->filters, c->rank, c->memory, draw_rescale (c->round), draw_rescale (c->round / 2), low, high, narrow,
                bias, random_range (0, 255) };
  bool ok = true;

  draw_weights (c, w, low, high, narrow);
  for (size_t k = 0; k < all; k++)
    next[k] = random_u32 () % 4 == 0 ? INT16_MIN : next[k];
  for (size_t u = 0; u < units; u++)
    bias[u] = random_range (INT32_MIN / 2, INT32_MAX / 2);
  memcpy (memories, next, all * 2);
  for (size_t f = 0; f < c->filters; f++)
    memories[(f + 1) * c->memory - 1] = (int16_t) within (rescaled (&p.newest, sums[f]), INT16_MIN, INT16_MAX);

  kernel->step (&p, sums, next, y);
  ok = memcmp (memories, next, all * 2) == 0;
  for (size_t u = 0; u < units; u++)
    {
      int64_t sum = bias[u];

      for (size_t k = u * length; k < (u + 1) * length; k++)
        sum += (int64_t) memories[k] * w[k];
      sum = rescaled (&p.result, within (sum, INT32_MIN, INT32_MAX));
      ok = ok && y[u] == within (sum, -p.zero, 255 - p.zero) + p.zero;
    }

  free (w);
  free (memories);
  bytes_free (low);
  bytes_free (high);
  bytes_free (next);
  bytes_free (narrow);
  bytes_free (y);
  bytes_free (bias);
  bytes_free (sums);
  return ok;
}

int
main (void)
{
  static const size_t memories[] = { 1, 2, 7, 8, 9, 16, 23, 32, 40, 256, 300, 600 };
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptSvdfKernel *kernels = lpt_svdf_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;
      unsigned round = 0;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (size_t m = 0; m < sizeof memories / sizeof memories[0]; m++)
        for (size_t rank = 1; rank <= 3; rank++)
          for (size_t units = 1; units <= 19; units += 1 + units / 6, round++)
            ok = check (&kernels[i], &(Case) { units * rank, rank, memories[m], round }) && ok;
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
