/* test-fgemm.c - float products: every row gives the bits of the scalar chain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/fgemm/fgemm.h"

/* The formula of the header, for one element. */
static float
expected (const LptFgemmTile *t, const float *b, size_t ldb, size_t r, size_t c)
{
  float sum = 0;

  for (size_t i = 0; i < t->channels; i++)
    for (size_t tap = 0; tap < t->taps; tap++)
      sum = fmaf (t->a[tap * t->a_rows + r][(t->group ? c / t->group * t->channels : 0) + i * t->a_step],
                  b[(i * t->taps + tap) * ldb + c], sum);
  if (t->end.factor)
    sum *= t->end.factor[c];
  if (t->end.bias)
    sum += t->end.bias[c];
  if (t->end.residual)
    sum += t->end.residual[r * t->end.ldr + c];
  if (t->end.clamps)
    sum = sum < t->end.lo ? t->end.lo : t->end.hi < sum ? t->end.hi : sum;
  return sum;
}

/* Rows at random places of memory that ends with the last element; the panels begin at column 16 of a wider matrix, and
 * lie there or packed. Where they lie there are whole panels of them. */
static bool
check (const LptFgemmKernel *kernel, size_t m, size_t n, size_t channels, size_t taps, size_t group, unsigned forms)
{
  size_t k = channels * taps, panels = (n + LPT_FGEMM_PANEL - 1) / LPT_FGEMM_PANEL,
         all = (panels + 1) * LPT_FGEMM_PANEL, ldy = n + 3;
  size_t a_step = forms & 8 && group == 0 ? 3 : 1;
  size_t row = group ? (n + group - 1) / group * channels : (channels - (channels > 0)) * a_step + 1, size = row + 40;
  float *a = random_floats (size), *b = random_floats (k * all), *bias = random_floats (n), *factor = random_floats (n),
        *residual = random_floats (m * (n + 1));
  float *turned = random_floats (k * all), *packed = aligned_bytes (panels * k * LPT_FGEMM_PANEL * sizeof (float));
  const float **rows = (const float **) (void *) region_place (taps * (m + 2) * sizeof *rows, sizeof *rows);
  Buffer y = buffer_new (m * ldy * sizeof (float));
  const bool in_place = taps == 1 && group == 0 && !(forms & 4);
  LptFgemmTile t = { m, n, channels, taps, rows, m + 2, a_step, in_place ? b + LPT_FGEMM_PANEL : packed,
                     in_place ? all : 0,
                     { forms & 1 ? bias : NULL, forms & 2 ? residual : NULL, n + 1, forms & 4, -0.5f, 3.0f,
                       forms % 3 == 1 ? factor : NULL }, (float *) y.data, ldy, forms & 16, group };
  bool ok = true;

  for (size_t i = 0; i < taps * (m + 2); i++)
    rows[i] = a + random_range (0, (int32_t) (size - row));
  for (size_t i = 0; i < k; i++)
    for (size_t c = 0; c < all; c++)
      turned[c * k + i] = b[i * all + c];
  for (size_t p = 0; p < panels; p++)
    lpt_fgemm_pack (k, n + LPT_FGEMM_PANEL, (p + 1) * LPT_FGEMM_PANEL, forms & 1 ? b : turned,
                    forms & 1 ? (ptrdiff_t) all : 1, forms & 1 ? 1 : (ptrdiff_t) k, packed + p * k * LPT_FGEMM_PANEL);
  kernel->run (&t);
  for (size_t r = 0; r < m && ok; r++)
    for (size_t c = 0; c < ldy && ok; c++)
      {
        float want = c < n ? expected (&t, b + LPT_FGEMM_PANEL, all, r, c) : 0;
        uint8_t *got = y.data + (r * ldy + c) * sizeof want;

        if (c < n)
          ok = memcmp (got, &want, sizeof want) == 0;
        else
          for (size_t i = 0; i < sizeof want; i++)
            ok = ok && got[i] == 0xA5;
      }
  ok = ok && buffer_guards_hold (&y);
  buffer_free (&y);
  bytes_free (a);
  bytes_free (b);
  bytes_free (bias);
  bytes_free (factor);
  bytes_free (residual);
  bytes_free (turned);
  bytes_free (packed);
  bytes_free (rows);
  return ok;
}

int
main (void)
{
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptFgemmKernel *kernels = lpt_fgemm_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;
      unsigned forms = 0;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (size_t m = 0; m <= 30 && ok; m++)
        for (size_t n = 1; n <= 67 && ok; n += n < 34 ? 1 : 11)
          for (size_t taps = 1; taps <= 9 && ok; taps += 4, forms++)
            ok = check (&kernels[i], m, n, (m * 7 + n) % 23, taps, 0, forms % 32);
      /* Whole panels, which may lie unpacked. */
      for (size_t m = 1; m <= 16 && ok; m++)
        for (size_t n = 16; n <= 272 && ok; n += 32, forms++)
          ok = check (&kernels[i], m, n, m + n % 5, 1, 0, forms % 32);
      /* Groups of all sizes, with fewer channels than columns, too; the last panel has some of them. */
      for (size_t group = 2; group <= 8 && ok; group *= 2)
        for (size_t channels = 1; channels <= group && ok; channels++)
          for (size_t n = group; n <= 40 && ok; n += group)
            for (size_t m = 1; m <= 17 && ok; m += 2, forms++)
              ok = check (&kernels[i], m, n, channels, 1 + forms % 9, group, forms % 32);
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
