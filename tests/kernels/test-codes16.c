/* test-codes16.c - steps on 16-bit codes: every row gives what the definitions give, one number at a time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel-test.h"
#include "rescale-test.h"

#include "executor/kernels/codes16/codes16.h"
#include "executor/kernels/requant/requant-scalar.h"

#define MOST LPT_CODES16_BLOCK

static const LptCodes16Kernel *scalar;

static void
fill (size_t n, int32_t low, int32_t high, int32_t *x)
{
  for (size_t i = 0; i < n; i++)
    x[i] = (int32_t) (random_u32 () % 8 == 0 ? (random_u32 () % 2 ? low : high) : random_range (low, high));
}

static LptRescale
draw_rescale (int32_t *mult, int *shift, bool *once)
{
  *mult = (int32_t) random_range (1 << 30, INT32_MAX);
  *shift = (int) random_range (-20, 0);
  *once = random_u32 () % 2;
  return rescale_of (*mult, *shift, *once);
}

/* By the functions that eval/ has. */
static int32_t
requantized (int32_t x, int32_t mult, int shift, bool once)
{
  return once ? lpt_requant_single (x, mult, shift) : lpt_requant_double (x, mult, shift);
}

static bool
check_codes (const LptCodes16Kernel *k, size_t n)
{
  static const LptCodes16 kinds[] = { { LPT_CODES16_I8, 0, -128, 127 }, { LPT_CODES16_U8, 0, 0, 255 },
                                      { LPT_CODES16_I16, 0, -32768, 32767 }, { LPT_CODES16_U16, 0, 0, 65535 } };
  bool ok = true;

  for (size_t kind = 0; kind < 4; kind++)
    {
      LptCodes16 c = kinds[kind];
      const size_t bytes = kind < 2 ? 1 : 2;
      uint8_t *codes = exact_bytes (n * bytes), *back = exact_bytes (n * bytes);
      int32_t x[MOST];

      c.zero = (int32_t) random_range (c.lo, c.hi);
      for (size_t i = 0; i < n * bytes; i++)
        codes[i] = (uint8_t) random_u32 ();
      k->load (&c, n, codes, x);
      for (size_t i = 0; i < n; i++)
        {
          int32_t q = kind == 0 ? (int8_t) codes[i] : codes[i * bytes];

          if (bytes == 2)
            {
              uint16_t two;

              memcpy (&two, codes + 2 * i, 2);
              q = kind == 2 ? (int16_t) two : two;
            }
          ok = ok && x[i] == q - c.zero;
        }
      k->store (&c, n, x, back);
      ok = ok && memcmp (codes, back, n * bytes) == 0;
      bytes_free (codes);
      bytes_free (back);
    }
  return ok;
}

static bool
check_numbers (const LptCodes16Kernel *k, size_t n)
{
  int32_t x[MOST] = { 0 }, y[MOST] = { 0 }, z[MOST], mult[3];
  int shift[3];
  bool once[3], ok = true;
  LptScale16 scale = { .form = LPT_SCALE16_FIXED, .low = -32768, .high = 32767 };
  LptSum16 sum = { .form = LPT_SUM16_STEPPED, .left = 15, .sign = random_u32 () % 2 ? 1 : -1, .low = -30000,
                   .high = 32767 };

  scale.fixed = draw_rescale (mult, shift, once);
  for (size_t i = 0; i < n; i++)
    x[i] = random_u32 () % 8 == 0 ? INT32_MIN : (int32_t) random_u32 ();
  memcpy (z, x, sizeof z);
  k->rescale (&scale, n, z);
  for (size_t i = 0; i < n; i++)
    ok = ok && z[i] == within (requantized (x[i], mult[0], shift[0], once[0]), -32768, 32767);

  sum.r1 = draw_rescale (&mult[0], &shift[0], &once[0]);
  sum.r2 = draw_rescale (&mult[1], &shift[1], &once[1]);
  sum.r = draw_rescale (&mult[2], &shift[2], &once[2]);
  fill (n, -65535, 65535, x);
  fill (n, -65535, 65535, y);
  memcpy (z, x, sizeof z);
  k->sum (&sum, n, z, y);
  for (size_t i = 0; i < n; i++)
    {
      const int64_t a = requantized (x[i] * (1 << 15), mult[0], shift[0], once[0]),
                    b = requantized (y[i] * (1 << 15), mult[1], shift[1], once[1]), all = a + sum.sign * b;

      if (all >= INT32_MIN && all <= INT32_MAX)
        ok = ok && z[i] == within (requantized ((int32_t) all, mult[2], shift[2], once[2]), -30000, 32767);
    }

  sum.form = LPT_SUM16_SINGLE;
  sum.m1 = (int32_t) random_range (-(1 << 30), 1 << 30);
  sum.m2 = (int32_t) random_range (-(1 << 30), 1 << 30);
  sum.shift = (int) random_range (1, 40);
  sum.bias = random_range (-(1 << 30), 1 << 30);
  memcpy (z, x, sizeof z);
  k->sum (&sum, n, z, y);
  for (size_t i = 0; i < n; i++)
    ok = ok && z[i] == within (((int64_t) x[i] * sum.m1 + (int64_t) y[i] * sum.m2 + sum.bias) >> sum.shift, -30000,
                               32767);

  memcpy (z, x, sizeof z);
  k->multiply (n, z, y);
  for (size_t i = 0; i < n; i++)
    ok = ok && z[i] == lpt_requant_sat32 ((int64_t) x[i] * y[i]);

  const int32_t by = (int32_t) random_range (1, 8192);

  for (size_t i = 0; i < n; i++)
    x[i] = (int32_t) (random_u32 () % 2 ? random_range (-4, 4) * by + by / 2 + random_range (-1, 1)
                                        : random_range (-65535 * (int64_t) by, 65535 * (int64_t) by));
  memcpy (z, x, sizeof z);
  k->average (by, n, z);
  for (size_t i = 0; i < n; i++)
    ok = ok && z[i] == ((int64_t) x[i] + (x[i] > 0 ? by / 2 : -(by / 2))) / by;
  return ok;
}

/* Sums of 48 bits by a multiplier of 16, and the lowest 32 bits. */
static bool
check_ends (const LptCodes16Kernel *k, size_t n)
{
  LptEnd16 end = { .wide = random_u32 () % 2, .m = (int32_t) random_range (1 << 14, INT16_MAX),
                   .shift = (int) random_range (15, 40),
                   .scale = { .form = LPT_SCALE16_FIXED, .low = -32768, .high = 32767 } };
  int64_t sums[MOST] = { 0 };
  int32_t x[MOST], mult;
  int shift;
  bool once, ok = true;

  end.half = INT64_C (1) << (end.shift - 1);
  end.scale.fixed = draw_rescale (&mult, &shift, &once);
  for (size_t i = 0; i < n; i++)
    sums[i] = random_range (-(1 << 30), 1 << 30) * (INT64_C (1) << random_range (0, 17)) + random_range (-9, 9);
  k->end (&end, n, sums, x);
  for (size_t i = 0; i < n; i++)
    ok = ok && x[i] == (end.wide ? within ((sums[i] * end.m + end.half) >> end.shift, -32768, 32767)
                                 : within (requantized ((int32_t) sums[i], mult, shift, once), -32768, 32767));
  return ok;
}

static bool
check_reals (const LptCodes16Kernel *k, size_t n)
{
  LptQuantize16 q = { .scale = ldexpf (1.0f + (float) (random_u32 () % 1000) / 1000.0f, (int) random_range (-12, 3)),
                      .low = -32768, .high = 32767 };
  int32_t x[MOST] = { 0 }, want[MOST];
  float in[MOST] = { 0 }, out[MOST];
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    in[i] = random_u32 () % 20 == 0 ? NAN
            : random_u32 () % 2     ? (float) (random_range (-70000, 70000) + 0.5) * q.scale
                                    : (float) random_range (-70000, 70000) * 0.37f;
  k->quantize (&q, n, in, x);
  for (size_t i = 0; i < n; i++)
    ok = ok && x[i] == (isnan (in[i]) ? 0
                                      : within ((int64_t) round ((double) in[i] / (double) q.scale), q.low, q.high));
  for (q.form = LPT_QUANTIZE16_DIVIDE; q.form <= LPT_QUANTIZE16_LINE_AWAY; q.form++)
    {
      k->quantize (&q, n, in, x);
      scalar->quantize (&q, n, in, want);
      for (size_t i = 0; i < n; i++)
        {
          const bool times = q.form == LPT_QUANTIZE16_MULTIPLY || q.form == LPT_QUANTIZE16_LINE_AWAY,
                     away = q.form == LPT_QUANTIZE16_DIVIDE_AWAY || q.form == LPT_QUANTIZE16_LINE_AWAY;
          const float v = times ? in[i] * q.scale : in[i] / q.scale, whole = away ? roundf (v) : rintf (v);

          ok = ok && x[i] == want[i] && (isnan (v) || x[i] == within ((int64_t) whole, q.low, q.high));
        }
    }
  k->reals (q.scale, n, x, out);
  for (size_t i = 0; i < n; i++)
    ok = ok && out[i] == (float) x[i] * q.scale;
  return ok;
}

/* What has its definition in the scalar row. */
static bool
check_lines (const LptCodes16Kernel *k, size_t n)
{
  static LptSoftmax16 softmax;
  const size_t taps = 1 + random_u32 () % 3, apart = 1 + random_u32 () % 2, stride = 1 + random_u32 () % 3,
               width = n > taps * apart ? (n - taps * apart) / stride + 1 : 0;
  uint32_t lower[MOST] = { 0 }, upper[MOST] = { 0 };
  int32_t line[MOST] = { 0 }, out[MOST], want[MOST], weight[MOST] = { 0 }, e[MOST];
  int16_t codes[MOST] = { 0 }, parts[MOST], wanted[MOST];
  LptBetween16 between = { .shift = 20, .one = 1024, .away = random_u32 () % 2, .low = -32768, .high = 32767,
                           .lower = lower, .upper = upper, .weight = weight };
  bool ok = true;

  fill (n, -(1 << 26), 1 << 26, line);
  for (int take = LPT_TAKE16_SUM; take <= LPT_TAKE16_LEAST; take++)
    {
      k->windows ((LptTake16) take, width, taps, stride, apart, line, out);
      scalar->windows ((LptTake16) take, width, taps, stride, apart, line, want);
      ok = ok && memcmp (out, want, width * sizeof *out) == 0 &&
           k->total ((LptTake16) take, n, line) == scalar->total ((LptTake16) take, n, line);
    }
  for (size_t i = 0; i < n; i++)
    {
      lower[i] = random_u32 () % (uint32_t) n;
      upper[i] = random_u32 () % (uint32_t) n;
      weight[i] = (int32_t) random_range (-512, 1024);
      codes[i] = (int16_t) random_range (INT16_MIN, INT16_MAX);
    }
  k->between (&between, n, line, out);
  scalar->between (&between, n, line, want);
  ok = ok && memcmp (out, want, n * sizeof *out) == 0;

  softmax.scale = (LptRescale) { 1 << 30, 1, { 1 << 30, 4 }, { 31, 3 } };
  for (size_t i = 0; i < 513; i++)
    {
      softmax.exps.at[i] = (int32_t) (i * i / 9);
      softmax.exps.step[i] = (int32_t) (random_u32 () % 50);
      softmax.inverses.at[i] = (int32_t) (32767 - 31 * i);
      softmax.inverses.step[i] = -31;
    }
  k->softmax (&softmax, n, codes, parts, e);
  scalar->softmax (&softmax, n, codes, wanted, e);
  return ok && memcmp (parts, wanted, n * sizeof *parts) == 0;
}

int
main (void)
{
  static const size_t lengths[] = { 1, 7, 16, 33, 250, MOST };
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptCodes16Kernel *kernels = lpt_codes16_kernels (&n_kernels);

  scalar = &kernels[n_kernels - 1];
  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (int round = 0; round < 20; round++)
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
          ok = check_codes (&kernels[i], lengths[l]) && check_numbers (&kernels[i], lengths[l]) &&
               check_ends (&kernels[i], lengths[l]) && check_reals (&kernels[i], lengths[l]) &&
               check_lines (&kernels[i], lengths[l]) && ok;
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
