/* test-fwindow.c - float windows: every row gives the bits of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/fwindow/fwindow.h"

#define MAX_TAPS 9

typedef enum { DWCONV, MAX, MEAN } Form;

/* Numbers with some that compare in no order, or equal with other bits. */
static void
fill (float *p, size_t n, bool odd)
{
  static const float values[] = { NAN, INFINITY, -INFINITY, -0.0f, 0.0f, FLT_MAX };

  for (size_t i = 0; i < n; i++)
    p[i] = odd && random_range (0, 9) == 0 ? values[random_range (0, 5)] : (float) random_range (-1000, 1000) / 333.0f;
}

static float
expected (Form form, const LptFwindowTile *t, const float *const *w, const LptFgemmEnd *end, double divisor, size_t p,
          size_t c)
{
  float result = form == MAX ? -FLT_MAX : 0;
  double sum = 0;

  for (size_t tap = 0; tap < t->taps; tap++)
    {
      float x = t->x[tap][p * t->step + c];

      if (form == DWCONV)
        result = fmaf (x, w[tap][c], result);
      else if (form == MAX)
        result = tap == 0 || x > result ? x : result;
      else
        sum += x;
    }
  if (form == MEAN)
    return divisor > 0 ? (float) (sum / divisor) : 0;
  if (form == MAX)
    return result;
  if (end->factor)
    result *= end->factor[c];
  if (end->bias)
    result += end->bias[c];
  if (end->residual)
    result += end->residual[p * end->ldr + c];
  return end->clamps ? (result < end->lo ? end->lo : end->hi < result ? end->hi : result) : result;
}

static bool
check (const LptFwindowKernel *kernel, Form form, size_t n, size_t channels, size_t taps, unsigned forms)
{
  size_t step = channels + forms % 3, ldy = channels + 2, size = (n - 1) * step + channels;
  float *x[MAX_TAPS], *w[MAX_TAPS], *bias = (float *) exact_bytes (channels * sizeof (float));
  float *residual = (float *) exact_bytes (n * channels * sizeof (float));
  Buffer y = buffer_new (n * ldy * sizeof (float));
  LptFwindowTile t = { n, step, taps, channels, (const float *const *) x, (float *) y.data, ldy };
  LptFgemmEnd end = { forms & 1 ? bias : NULL, forms & 2 ? residual : NULL, channels, forms & 4, -1.0f, 2.5f,
                      forms & 8 ? residual : NULL };
  double divisor = forms % 5 == 4 ? 0 : (double) taps + forms % 2;
  bool ok = true;

  fill (bias, channels, false);
  fill (residual, n * channels, false);
  for (size_t tap = 0; tap < MAX_TAPS; tap++)
    {
      x[tap] = (float *) exact_bytes (size * sizeof (float));
      w[tap] = (float *) exact_bytes (channels * sizeof (float));
      fill (x[tap], size, form != DWCONV);
      fill (w[tap], channels, false);
    }
  if (form == DWCONV)
    kernel->dwconv (&t, (const float *const *) w, &end);
  else if (form == MAX)
    kernel->max (&t);
  else
    kernel->mean (&t, divisor);
  for (size_t p = 0; p < n && ok; p++)
    for (size_t c = 0; c < ldy && ok; c++)
      {
        float want = c < channels ? expected (form, &t, (const float *const *) w, &end, divisor, p, c) : 0, got;

        memcpy (&got, y.data + (p * ldy + c) * sizeof got, sizeof got);
        if (c < channels)
          ok = memcmp (&got, &want, sizeof got) == 0 || (isnan (got) && isnan (want));
        else
          ok = memcmp (&got, (uint8_t[]) { 0xA5, 0xA5, 0xA5, 0xA5 }, sizeof got) == 0;
      }
  ok = ok && buffer_guards_hold (&y);
  for (size_t tap = 0; tap < MAX_TAPS; tap++)
    {
      bytes_free (x[tap]);
      bytes_free (w[tap]);
    }
  bytes_free (bias);
  bytes_free (residual);
  buffer_free (&y);
  return ok;
}

int
main (void)
{
  static const char *const names[] = { "dwconv", "max", "mean" };
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptFwindowKernel *kernels = lpt_fwindow_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    for (Form form = DWCONV; form <= MEAN; form++)
      {
        bool ok = true;
        unsigned forms = 0;

        if (!lpt_cpu_has (cpu, kernels[i].needs))
          {
            test_skip (kernels[i].name);
            continue;
          }
        for (size_t n = 1; n <= 21 && ok; n++)
          for (size_t channels = 1; channels <= 50 && ok; channels += channels < 18 ? 1 : 5)
            for (size_t taps = 0; taps <= MAX_TAPS && ok; taps += 3, forms++)
              ok = check (&kernels[i], form, n, channels, taps, forms);
        test_report (ok, "%s %s", kernels[i].name, names[form]);
      }

  return test_end ();
}
