/* test-winograd.c - transforms of 3x3 convolutions: every row gives the bits of the formula, which sums windows
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/winograd/winograd.h"

#define SIDE   LPT_WINOGRAD_SIDE
#define OUT    LPT_WINOGRAD_OUT
#define POINTS LPT_WINOGRAD_POINTS

static void
in_points (const float *d, size_t step, float *to)
{
  to[0] = d[0] - d[2 * step];
  to[step] = d[step] + d[2 * step];
  to[2 * step] = d[2 * step] - d[step];
  to[3 * step] = d[step] - d[3 * step];
}

static void
out_pair (const float *m, size_t step, float *to, size_t to_step)
{
  to[0] = m[0] + m[step];
  to[0] += m[2 * step];
  to[to_step] = m[step] - m[2 * step];
  to[to_step] -= m[3 * step];
}

static void
transform_in (const float d[POINTS], float v[POINTS])
{
  float t[POINTS];

  for (size_t j = 0; j < SIDE; j++)
    in_points (d + j, SIDE, t + j);
  for (size_t i = 0; i < SIDE; i++)
    in_points (t + i * SIDE, 1, v + i * SIDE);
}

static void
transform_out (const float m[POINTS], float y[OUT * OUT])
{
  float t[OUT * SIDE];

  for (size_t j = 0; j < SIDE; j++)
    out_pair (m + j, SIDE, t + j, SIDE);
  for (size_t i = 0; i < OUT; i++)
    out_pair (t + i * SIDE, 1, y + i * OUT, 1);
}

/* Pixels at random places of memory that ends with the last channel. */
static bool
check_in (const LptWinogradKernel *kernel, size_t n, size_t channels)
{
  size_t size = channels + 40, ldv = channels + 3, point = n * ldv + 5;
  float *a = random_floats (size);
  const float **x = (const float **) (void *) region_place (n * POINTS * sizeof *x, sizeof *x);
  Buffer v = buffer_new (POINTS * point * sizeof (float));
  bool ok = true;

  for (size_t i = 0; i < n * POINTS; i++)
    x[i] = a + random_range (0, 40);
  kernel->in (&(LptWinogradIn) { n, channels, x, (float *) v.data, ldv, point });
  for (size_t tile = 0; tile < n && ok; tile++)
    for (size_t c = 0; c < ldv && ok; c++)
      {
        float d[POINTS] = { 0 }, want[POINTS];

        for (size_t i = 0; i < POINTS && c < channels; i++)
          d[i] = x[tile * POINTS + i][c];
        transform_in (d, want);
        if (c >= channels)
          memset (want, POISON, sizeof want);
        for (size_t i = 0; i < POINTS; i++)
          ok = ok && memcmp (v.data + (i * point + tile * ldv + c) * sizeof *want, &want[i], sizeof *want) == 0;
      }
  ok = ok && buffer_guards_hold (&v);
  buffer_free (&v);
  bytes_free (a);
  bytes_free (x);
  return ok;
}

static bool
check_out (const LptWinogradKernel *kernel, size_t n, size_t columns, unsigned forms)
{
  size_t ldm = columns + 2, point = n * ldm, ldy = columns + 3, rows = n * OUT * OUT;
  float *m = random_floats (POINTS * point), *bias = random_floats (columns),
        *residual = random_floats (rows * (columns + 1));
  size_t *pixels = (size_t *) (void *) region_place (rows * sizeof *pixels, sizeof *pixels);
  Buffer y = buffer_new (rows * ldy * sizeof (float));
  LptFgemmEnd end = { forms & 1 ? bias : NULL, forms & 2 ? residual : NULL, columns + 1, forms & 4, -0.5f, 3.0f,
                      forms % 3 == 1 ? residual : NULL };
  bool ok = true;

  for (size_t i = 0; i < rows; i++)
    pixels[i] = forms & 8 && random_range (0, 2) == 0 ? LPT_WINOGRAD_NONE : rows - 1 - i;
  kernel->out (&(LptWinogradOut) { n, columns, m, ldm, point, pixels, end, (float *) y.data, ldy });
  for (size_t i = 0; i < rows && ok; i++)
    for (size_t c = 0; c < ldy && ok; c++)
      {
        const uint8_t *got = y.data + ((rows - 1 - i) * ldy + c) * sizeof (float);
        float d[POINTS] = { 0 }, sums[OUT * OUT], want;

        if (c >= columns || pixels[i] == LPT_WINOGRAD_NONE)
          {
            memset (&want, POISON, sizeof want);
            ok = memcmp (got, &want, sizeof want) == 0;
            continue;
          }
        for (size_t p = 0; p < POINTS; p++)
          d[p] = m[p * point + i / (OUT * OUT) * ldm + c];
        transform_out (d, sums);
        want = sums[i % (OUT * OUT)];
        if (end.factor)
          want *= residual[c];
        if (end.bias)
          want += bias[c];
        if (end.residual)
          want += residual[pixels[i] * end.ldr + c];
        if (end.clamps)
          want = want < end.lo ? end.lo : end.hi < want ? end.hi : want;
        ok = memcmp (got, &want, sizeof want) == 0;
      }
  ok = ok && buffer_guards_hold (&y);
  buffer_free (&y);
  bytes_free (m);
  bytes_free (bias);
  bytes_free (residual);
  bytes_free (pixels);
  return ok;
}

/* The formula gives the sums of the windows; small integers and halves are exact. */
static bool
check_formula (void)
{
  float d[POINTS], g[9], v[POINTS], u[POINTS * 2], y[OUT * OUT];

  for (size_t i = 0; i < POINTS; i++)
    d[i] = (float) random_range (-50, 50);
  for (size_t i = 0; i < 9; i++)
    g[i] = (float) random_range (-50, 50);
  transform_in (d, v);
  lpt_winograd_weights (g, u, 2);
  for (size_t i = 0; i < POINTS; i++)
    v[i] *= u[2 * i];
  transform_out (v, y);
  for (size_t i = 0; i < OUT * OUT; i++)
    {
      float sum = 0;

      for (size_t t = 0; t < 9; t++)
        sum += d[(i / OUT + t / 3) * SIDE + i % OUT + t % 3] * g[t];
      if (sum != y[i])
        return false;
    }
  return true;
}

int
main (void)
{
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptWinogradKernel *kernels = lpt_winograd_kernels (&n_kernels);
  bool exact = true;

  for (unsigned i = 0; i < 100; i++)
    exact = exact && check_formula ();
  test_report (exact, "the formula");
  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;
      unsigned forms = 0;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (size_t n = 0; n <= 3 && ok; n++)
        for (size_t channels = 1; channels <= 67 && ok; channels++, forms++)
          ok = check_in (&kernels[i], n, channels) && check_out (&kernels[i], n, channels, forms % 16);
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
