/* test-whole.c - plain integers: every row gives what the operators of C give for each element
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel-test.h"

#include "executor/kernels/whole/whole.h"

static int64_t
expected (LptWholeBinary op, int64_t a, int64_t b)
{
  switch (op)
    {
    case LPT_WHOLE_ADD:           return (int64_t) ((uint64_t) a + (uint64_t) b);
    case LPT_WHOLE_SUBTRACT:      return (int64_t) ((uint64_t) a - (uint64_t) b);
    case LPT_WHOLE_MULTIPLY:      return (int64_t) ((uint64_t) a * (uint64_t) b);
    case LPT_WHOLE_MAXIMUM:       return a > b ? a : b;
    case LPT_WHOLE_MINIMUM:       return a < b ? a : b;
    case LPT_WHOLE_AND:           return a & b;
    case LPT_WHOLE_OR:            return a | b;
    case LPT_WHOLE_XOR:           return a ^ b;
    case LPT_WHOLE_EQUAL:         return a == b;
    case LPT_WHOLE_NOT_EQUAL:     return a != b;
    case LPT_WHOLE_LESS:          return a < b;
    case LPT_WHOLE_LESS_EQUAL:    return a <= b;
    case LPT_WHOLE_GREATER:       return a > b;
    case LPT_WHOLE_GREATER_EQUAL: return a >= b;
    default:                      return 0;
    }
}

static bool
check_words (const LptWholeKernel *kernel, LptWholeBinary op, size_t n, size_t a_step, size_t b_step)
{
  int64_t *a = (int64_t *) exact_bytes (n * 8), *b = (int64_t *) exact_bytes (n * 8),
          *c = (int64_t *) exact_bytes (n * 8), *out = (int64_t *) exact_bytes (n * 8);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    {
      b[i] = random_u32 () % 3 == 0 ? a[i] : b[i];
      c[i] = random_u32 () % 2 ? 0 : c[i];
    }
  kernel->binary_words (op, n, a, a_step, b, b_step, out);
  for (size_t i = 0; i < n; i++)
    ok = ok && out[i] == expected (op, a[i * a_step], b[i * b_step]);
  kernel->select_words (n, c, op % 2, a, a_step, b, b_step, out);
  for (size_t i = 0; i < n; i++)
    ok = ok && out[i] == (c[i * (op % 2)] != 0 ? a[i * a_step] : b[i * b_step]);

  bytes_free (a);
  bytes_free (b);
  bytes_free (c);
  bytes_free (out);
  return ok;
}

static bool
check_32 (const LptWholeKernel *kernel, LptWholeBinary op, size_t n, size_t a_step, size_t b_step)
{
  int32_t *a = (int32_t *) exact_bytes (n * 4), *b = (int32_t *) exact_bytes (n * 4),
          *out = (int32_t *) exact_bytes (n * 4);
  float *truth = (float *) exact_bytes (n * 4);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    {
      b[i] = random_u32 () % 3 == 0 ? a[i] : b[i];
      a[i] = random_u32 () % 50 == 0 ? INT32_MIN : a[i];
    }
  if (op >= LPT_WHOLE_EQUAL)
    kernel->compare (op, n, a, a_step, b, b_step, truth);
  else
    kernel->binary (op, n, a, a_step, b, b_step, out);
  for (size_t i = 0; i < n; i++)
    {
      const int64_t want = expected (op, a[i * a_step], b[i * b_step]);

      ok = ok && (op >= LPT_WHOLE_EQUAL ? truth[i] == (float) want : out[i] == (int32_t) (uint32_t) (uint64_t) want);
    }
  kernel->negative (n, a, out);
  for (size_t i = 0; i < n; i++)
    ok = ok && out[i] == (int32_t) (0 - (uint32_t) a[i]);
  kernel->magnitude (n, a, out);
  for (size_t i = 0; i < n; i++)
    ok = ok && (uint32_t) out[i] == (a[i] < 0 ? 0 - (uint32_t) a[i] : (uint32_t) a[i]);
  /* In place. */
  memcpy (out, a, n * 4);
  if (op < LPT_WHOLE_EQUAL && a_step == 1)
    {
      kernel->binary (op, n, out, 1, b, b_step, out);
      for (size_t i = 0; i < n; i++)
        ok = ok && out[i] == (int32_t) (uint32_t) (uint64_t) expected (op, a[i], b[i * b_step]);
    }

  bytes_free (a);
  bytes_free (b);
  bytes_free (out);
  bytes_free (truth);
  return ok;
}

static bool
check_quotients (const LptWholeKernel *kernel, size_t n)
{
  static const int32_t divisors[] = { 1, 2, 3, 7, 16, 65536, 1000003, INT32_MAX, -2, -3, -16, -1000003, INT32_MIN };
  int64_t *x = (int64_t *) exact_bytes (n * 8), *out = (int64_t *) exact_bytes (n * 8);
  bool ok = true;

  for (size_t d = 0; d < sizeof divisors / sizeof divisors[0]; d++)
    for (unsigned form = 0; form < 4; form++)
      {
        const int64_t by = divisors[d];

        for (size_t i = 0; i < n; i++)
          x[i] = random_u32 () % 2 ? (int32_t) random_u32 ()
                 : random_u32 () % 8 ? (int32_t) (uint32_t) (by * random_range (-40, 40) + random_range (-1, 1))
                                     : random_u32 () % 2 ? INT32_MIN : INT32_MAX;
        kernel->divide_words (form & 1, form >> 1, n, x, divisors[d], out);
        for (size_t i = 0; i < n; i++)
          {
            const bool down = form >> 1 && x[i] % by != 0 && (x[i] < 0) != (by < 0);

            ok = ok && out[i] == (form & 1 ? x[i] % by + (down ? by : 0) : x[i] / by - down);
          }
      }

  bytes_free (x);
  bytes_free (out);
  return ok;
}

static bool
check_widths (const LptWholeKernel *kernel, size_t n)
{
  int64_t *words = (int64_t *) exact_bytes (n * 8), *back = (int64_t *) exact_bytes (n * 8);
  int32_t *out = (int32_t *) exact_bytes (n * 4);
  bool ok = true;

  kernel->narrow (n, words, out);
  kernel->widen (n, out, back);
  for (size_t i = 0; i < n; i++)
    ok = ok && out[i] == (int32_t) (uint32_t) (uint64_t) words[i] && back[i] == out[i];

  bytes_free (words);
  bytes_free (back);
  bytes_free (out);
  return ok;
}

static bool
check_cuts (const LptWholeKernel *kernel, size_t n, double lo, double hi, double slack, double share)
{
  static const float ends[] =
  {
    0, -0.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.5f, 128, 254.5f, 255.5f, 256, -128.5f, -129, 32767.5f, -32768.5f,
    65535.5f, 65536, 2147483520.0f, 2147483648.0f, -2147483648.0f, 3e9f, -3e9f, 1e30f, -1e30f, INFINITY, -INFINITY,
    NAN, -NAN, 1e-40f,
  };
  float *x = (float *) exact_bytes (n * 4), *few = (float *) exact_bytes (n * 4);
  int64_t *out = (int64_t *) exact_bytes (n * 8);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    x[i] = random_u32 () % 2 ? ends[random_u32 () % (sizeof ends / sizeof ends[0])]
           : random_u32 () % 2 ? (float) random_range (-40000, 80000) / 128
                                : (float) random_range (-300, 300) * 1.0000001f;
  kernel->cut (n, x, out);
  kernel->cut_near (n, x, (float) lo, (float) hi, (float) slack, (float) share, few);
  for (size_t i = 0; i < n; i++)
    {
      const double v = isnan (x[i]) ? 0 : x[i], near = nearbyint (v);
      const double whole = fabs (v - near) <= slack + share * fabs (v) ? near : trunc (v);

      ok = ok && out[i] == (int64_t) (v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
      ok = ok && few[i] == (float) (whole < lo ? lo : whole > hi ? hi : whole);
    }

  bytes_free (x);
  bytes_free (few);
  bytes_free (out);
  return ok;
}

int
main (void)
{
  static const size_t lengths[] = { 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 255, 256, 257, 600 };
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptWholeKernel *kernels = lpt_whole_kernels (&n_kernels);

  for (size_t k = 0; k < n_kernels; k++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, kernels[k].needs))
        {
          test_skip (kernels[k].name);
          continue;
        }
      for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        {
          for (unsigned op = 0; op < LPT_N_WHOLES; op++)
            for (unsigned steps = 0; steps < 4; steps++)
              {
                ok = check_words (&kernels[k], op, lengths[i], steps & 1, steps >> 1) && ok;
                ok = check_32 (&kernels[k], op, lengths[i], steps & 1, steps >> 1) && ok;
              }
          ok = check_quotients (&kernels[k], lengths[i]) && ok;
          ok = check_widths (&kernels[k], lengths[i]) && ok;
          ok = check_cuts (&kernels[k], lengths[i], 0, 255, 0, 1.0 / (1 << 22)) && ok;
          ok = check_cuts (&kernels[k], lengths[i], -128, 127, 0.5, 0) && ok;
          ok = check_cuts (&kernels[k], lengths[i], -32768, 32767, 0, 1.0 / (1 << 22)) && ok;
          ok = check_cuts (&kernels[k], lengths[i], 0, 65535, 0, 0) && ok;
        }
      test_report (ok, "%s", kernels[k].name);
    }

  return test_end ();
}
