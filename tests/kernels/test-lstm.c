/* test-lstm.c - the step of an LSTM on integers: every row gives the codes of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel-test.h"
#include "rescale-test.h"

#include "executor/kernels/lstm/fixed16.h"
#include "executor/kernels/lstm/lstm.h"

static LptRescale
draw_rescale (int least, int most)
{
  int s = random_range (least, most);
  bool once = s > 0 || random_u32 () % 2;

  return rescale_of (random_range (1 << 30, INT32_MAX), s, once);
}

static int16_t
sat16 (int64_t v)
{
  return (int16_t) within (v, INT16_MIN, INT16_MAX);
}

/* v / 2^e to nearest, ties away from 0. */
static int64_t
divided (int64_t v, int e)
{
  int64_t half = INT64_C (1) << (e - 1);

  return v < 0 ? -floor_shift (-v + half, e) : floor_shift (v + half, e);
}

/* The formula of the header, for one cell. */
static void
expected (const LptLstm *p, const int32_t *x, const int32_t *h, size_t k, const int16_t *before, int16_t *cell,
          uint8_t *hidden)
{
  size_t first = p->coupled ? 1 : 0;
  int16_t v[LPT_LSTM_GATES] = { 0 };

  for (size_t g = first; g < LPT_LSTM_GATES; g++)
    {
      size_t at = (g - first) * p->cells + k;

      v[g] = sat16 (sat16 (rescaled (&p->of_x[g], x[at])) + rescaled (&p->of_h[g], h[at]));
    }

  int16_t f = lpt_fixed16_logistic (v[LPT_LSTM_F], 3), o = lpt_fixed16_logistic (v[LPT_LSTM_O], 3),
          i = p->coupled ? (int16_t) (INT16_MAX - f) : lpt_fixed16_logistic (v[LPT_LSTM_I], 3);
  int16_t next = sat16 (sat16 (divided (f * before[k], 15)) +
                        sat16 (divided (i * lpt_fixed16_tanh (v[LPT_LSTM_C], 3), p->fresh)));

  if (p->clip > 0)
    next = (int16_t) within (next, -p->clip, p->clip);
  *cell = next;
  *hidden = (uint8_t) (128 + within (rescaled (&p->of_hidden, o * lpt_fixed16_tanh (next, p->bits)) - p->zero, -128,
                                     127));
}

/* Every number of 16 bits in gates and cells: multipliers of 1. */
static void
set_every (LptLstm *p, int32_t *x, int32_t *h, int16_t *before)
{
  for (size_t g = 0; g < LPT_LSTM_GATES; g++)
    {
      p->of_x[g] = p->of_h[g] = (LptRescale) { 1 << 30, 0, { 1 << 29, 0 }, { 30, 0 } };
      for (size_t k = 0; k < p->cells; k++)
        {
          x[g * p->cells + k] = g == LPT_LSTM_F && k % 2 ? INT16_MAX : (int32_t) k + INT16_MIN;
          h[g * p->cells + k] = 0;
        }
    }
  for (size_t k = 0; k < p->cells; k++)
    before[k] = (int16_t) ((int32_t) k + INT16_MIN);
}

static bool
check (const LptLstmKernel *kernel, size_t cells, unsigned round)
{
  const size_t all = LPT_LSTM_GATES * cells;
  LptLstm p = { .cells = cells, .coupled = round % 3 == 1, .of_hidden = draw_rescale (-31, -15),
                .bits = (int) (round % 7), .clip = round % 5 == 0 ? random_range (1, INT16_MAX) : 0,
                .zero = random_range (-128, 127) };
  int32_t *x = (int32_t *) exact_bytes (all * 4), *h = (int32_t *) exact_bytes (all * 4),
          *sums = malloc (2 * all * sizeof *sums + 1);
  int16_t *room = (int16_t *) exact_bytes (all * 2), *before = (int16_t *) exact_bytes (cells * 2),
          *cell = (int16_t *) exact_bytes (cells * 2);
  uint8_t *hidden = exact_bytes (cells);
  bool ok = true;

  p.fresh = 15 + p.bits;
  for (size_t g = 0; g < LPT_LSTM_GATES; g++)
    {
      p.of_x[g] = draw_rescale (-31, round % 4 == 0 ? 30 : 0);
      p.of_h[g] = draw_rescale (-31, round % 4 == 0 ? 30 : 0);
    }
  for (size_t k = 0; k < all; k++)
    {
      /* Numbers of which some fill 16 bits, and the ends of 32. */
      x[k] = random_u32 () % 16 == 0 ? INT32_MIN : (int32_t) random_u32 () >> random_range (0, 20);
      h[k] = random_u32 () % 16 == 0 ? INT32_MAX : (int32_t) random_u32 () >> random_range (0, 20);
    }
  for (size_t k = 0; k < cells; k++)
    before[k] = random_u32 () % 8 == 0 ? INT16_MIN : (int16_t) random_u32 ();
  if (cells > UINT16_MAX)
    set_every (&p, x, h, before);
  memcpy (sums, x, all * 4);
  memcpy (sums + all, h, all * 4);

  kernel->step (&p, x, h, room, before, cell, hidden);
  for (size_t k = 0; k < cells && ok; k++)
    {
      int16_t c;
      uint8_t code;

      expected (&p, sums, sums + all, k, before, &c, &code);
      ok = c == cell[k] && code == hidden[k];
    }

  free (sums);
  bytes_free (x);
  bytes_free (h);
  bytes_free (room);
  bytes_free (before);
  bytes_free (cell);
  bytes_free (hidden);
  return ok;
}

int
main (void)
{
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptLstmKernel *kernels = lpt_lstm_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (unsigned round = 0; round < 420 && ok; round++)
        ok = check (&kernels[i], 1 + round % 67, round);
      for (unsigned bits = 0; bits <= LPT_LSTM_MAX_BITS && ok; bits++)
        ok = check (&kernels[i], UINT16_MAX + 1, bits + 7);
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
