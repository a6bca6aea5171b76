/* test-gelu.c - GELU in one pass gives the bits of its parts, at every level
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "executor/kernels/float/float.h"
#include "tests/kernels/kernel-test.h"

#define N 3001

static void
parts (const LptFloatKernel *row, const LptFloatGelu *g, const float *x, float *out)
{
  static float t[N], y[N];
  const float one = 1, three = 3;

  if (g->by_tanh)
    {
      row->binary (LPT_BINARY_POWER, N, x, 1, &three, 0, t);
      row->binary (LPT_BINARY_MULTIPLY, N, t, 1, &g->cubic, 0, t);
      row->binary (LPT_BINARY_ADD, N, x, 1, t, 1, t);
    }
  else
    memcpy (t, x, sizeof t);
  row->binary (g->divides ? LPT_BINARY_DIVIDE : LPT_BINARY_MULTIPLY, N, t, 1, &g->factor, 0, t);
  row->map (g->by_tanh ? LPT_MAP_TANH : LPT_MAP_ERF, N, t, t);
  row->binary (LPT_BINARY_ADD, N, t, 1, &one, 0, t);
  row->binary (LPT_BINARY_MULTIPLY, N, t, 1, &g->between, 0, t);
  row->binary (LPT_BINARY_MULTIPLY, N, x, 1, &g->before, 0, y);
  row->binary (LPT_BINARY_MULTIPLY, N, y, 1, t, 1, t);
  row->binary (LPT_BINARY_MULTIPLY, N, t, 1, &g->after, 0, out);
}

static bool
run (const LptFloatKernel *row, const LptFloatKernel *scalar, const LptFloatGelu *g)
{
  static float x[N], want[N], got[N];
  bool ok = true;

  for (int i = 0; i < N; i++)
    x[i] = i < 64 ? ldexpf (i % 2 ? -1.3f : 1.7f, i * 4 - 128) : (float) (i - N / 2) * 0.00713f;
  x[0] = INFINITY;
  x[1] = -INFINITY;
  x[2] = NAN;
  x[3] = -0.0f;
  parts (scalar, g, x, want);
  memset (got, 0xA5, sizeof got);
  row->gelu (g, N - 5, x, got);
  row->gelu (g, 5, x + N - 5, got + N - 5);
  for (int i = 0; i < N; i++)
    ok = ok && (isnan (want[i]) ? isnan (got[i]) : memcmp (&want[i], &got[i], sizeof want[i]) == 0);
  return ok;
}

int
main (void)
{
  static const LptFloatGelu forms[] = {
    { .divides = true, .factor = 1.41421354f, .before = 1, .between = 1, .after = 0.5f },
    { .factor = 0.707106769f, .before = 0.5f, .between = 1, .after = 1 },
    { .by_tanh = true, .factor = 0.797884583f, .cubic = 0.044715f, .before = 1, .between = 0.5f, .after = 3 },
  };
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptFloatKernel *rows = lpt_float_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, rows[i].needs))
        {
          test_skip (rows[i].name);
          continue;
        }
      for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
        ok = run (&rows[i], &rows[n - 1], &forms[k]) && ok;
      test_report (ok, "%s gelu", rows[i].name);
    }
  return test_end ();
}
