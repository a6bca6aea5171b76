/* lpt-fused.c - chains of fused multiply-adds of floats, with the same bits on every processor
 *
 * Where the processor has the instruction it is used. Elsewhere the product of two floats is a double without rounding,
 * its sum with a third one is rounded to a double and then to a float. That gives another float than one rounding only
 * where the double lies half between two floats; below the normal floats, which have fewer bits, the halves lie
 * elsewhere. There fmaf () is asked, which is slow without an instruction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/scalar/lpt-fused.h"

#define BLOCK 32
#define LANES 4

/* --- by way of doubles ---------------------------------------------------------- */

/* Negative as a gint64 where rounding @sum to a float may give another float than rounding once. */
static inline guint64
doubt (double sum)
{
  guint64 bits, size;

  memcpy (&bits, &sum, sizeof bits);
  size = bits & G_GUINT64_CONSTANT (0x7fffffffffffffff);

  return (((bits & 0x1fffffff) ^ 0x10000000) - 1) |
         ((size - G_GUINT64_CONSTANT (0x3810000000000000)) & ~(size - 1));      /* from 2^-126 on they are normal */
}

static inline float
fused (float  x,
       float  y,
       double sum)
{
  const double wide = sum + (double) x * y;

  return (gint64) doubt (wide) >= 0 ? (float) wide : fmaf (x, y, (float) sum);
}

static void
row_of_doubles (double      *sum,
                gint64       step,
                const float *x,
                gint64       x_step,
                gint64       n,
                float        w)
{
  for (gint64 from = 0; from < n; from += BLOCK, sum += BLOCK * step, x += BLOCK * x_step)
    {
      const gint64 count = MIN (BLOCK, n - from);
      double wide[BLOCK];
      guint64 any = 0;

      for (gint64 i = 0; i < count; i++)
        {
          wide[i] = sum[i * step] + (double) w * x[i * x_step];
          any |= doubt (wide[i]);
        }
      for (gint64 i = 0; i < count; i++)
        sum[i * step] = (gint64) any >= 0 ? (float) wide[i] : fused (w, x[i * x_step], sum[i * step]);
    }
}

static void
dots_of_doubles (const float *a,
                 gint64       a_step,
                 const float *b,
                 gint64       k,
                 gint64       n,
                 double      *sum)
{
  for (gint64 j = 0; j < n; j++)
    sum[j] = 0;
  for (gint64 i = 0; i < k; i++)
    for (gint64 j = 0; j < n; j++)
      sum[j] = fused (a[i * a_step], b[j * k + i], sum[j]);
}

/* --- by the instruction ---------------------------------------------------------- */

#if defined (__x86_64__) && defined (__GNUC__)
#define FUSES __attribute__ ((target ("avx2,fma")))
#else
#define FUSES
#endif

static FUSES void
row_of_instructions (double      *sum,
                     gint64       step,
                     const float *x,
                     gint64       x_step,
                     gint64       n,
                     float        w)
{
  if (step == 1 && x_step == 1)
    for (gint64 i = 0; i < n; i++)
      sum[i] = fmaf (w, x[i], (float) sum[i]);
  else
    for (gint64 i = 0; i < n; i++)
      sum[i * step] = fmaf (w, x[i * x_step], (float) sum[i * step]);
}

static FUSES void
dots_of_instructions (const float *a,
                      gint64       a_step,
                      const float *b,
                      gint64       k,
                      gint64       n,
                      double      *sum)
{
  float acc[LANES] = { 0 };

  for (gint64 i = 0; i < k; i++)
    for (gint64 j = 0; j < n; j++)
      acc[j] = fmaf (a[i * a_step], b[j * k + i], acc[j]);
  for (gint64 j = 0; j < n; j++)
    sum[j] = acc[j];
}

static gboolean
has_instruction (void)
{
#if defined (__x86_64__) && defined (__GNUC__)
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
#elif defined (FP_FAST_FMAF)
  return TRUE;
#else
  return FALSE;
#endif
}

/* --- either ---------------------------------------------------------------------- */

void
lpt_fused_row (double      *sum,
               gint64       step,
               const float *x,
               gint64       x_step,
               gint64       n,
               float        w)
{
  if (has_instruction ())
    row_of_instructions (sum, step, x, x_step, n, w);
  else
    row_of_doubles (sum, step, x, x_step, n, w);
}

void
lpt_fused_dots (const float *a,
                gint64       a_step,
                const float *b,
                gint64       k,
                gint64       n,
                double      *sum)
{
  if (has_instruction ())
    dots_of_instructions (a, a_step, b, k, n, sum);
  else
    dots_of_doubles (a, a_step, b, k, n, sum);
}
