/* histogram.c - how often which values were seen, in fixed memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/histogram.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SMALLEST (-126 - 12)      /* narrower bins would not hold 2^-126, the smallest normal float */

LptHistogram *
lpt_histogram_new (void)
{
  LptHistogram *h = g_new0 (LptHistogram, 1);
  h->k = SMALLEST;
  h->unit = 1.0f;
  return h;
}

LptHistogram *
lpt_histogram_new_for (float largest)
{
  LptHistogram *h = lpt_histogram_new ();
  int exponent;
  float mantissa = frexpf (largest, &exponent);
  if (mantissa >= 0.5f && exponent > -100)
    h->unit = fminf (mantissa * (1.0f + ldexpf (1.0f, -20)), 1.0f);
  return h;
}

double
lpt_histogram_width (const LptHistogram *h)
{
  return ldexp (h->unit, h->k);
}

void
lpt_histogram_free (LptHistogram *h)
{
  g_free (h);
}

static void
halve (guint64 *bins, guint shift)
{
  guint width = shift < 31 ? 1u << shift : 0;
  for (guint i = 0; i < LPT_BINS; i++)
    {
      guint64 sum = 0;
      for (guint j = 0; width != 0 && j < width && (guint64) i * width + j < LPT_BINS; j++)
        sum += bins[i * width + j];
      bins[i] = sum;
    }
}

/* Bins of width 2^k: wider than they are. */
static void
widen (LptHistogram *h, gint k)
{
  guint shift = (guint) (k - h->k);
  if (k <= h->k)
    return;
  if (shift > 12)                       /* everything falls into the first bin */
    {
      guint64 *sides[] = { h->positive, h->negative };
      for (guint s = 0; s < 2; s++)
        {
          guint64 sum = 0;
          for (guint i = 0; i < LPT_BINS; i++)
            sum += sides[s][i];
          memset (sides[s], 0, sizeof h->positive);
          sides[s][0] = sum;
        }
    }
  else
    {
      halve (h->positive, shift);
      halve (h->negative, shift);
    }
  h->k = k;
}

/* The least k with |x| < LPT_BINS 2^k. */
static gint
width_for (float x)
{
  int exponent;
  frexpf (x, &exponent);
  return MAX (exponent - 12, SMALLEST);
}

void
lpt_histogram_add (LptHistogram *h, const float *values, gint64 n)
{
  float low = FLT_MAX, high = -FLT_MAX;
  guint64 broken = 0;
  for (gint64 i = 0; i < n; i++)
    {
      float x = values[i];
      gboolean ok = fabsf (x) <= FLT_MAX;
      broken += !ok;
      low = ok && x < low ? x : low;
      high = ok && x > high ? x : high;
    }
  h->broken += broken;
  if (broken == (guint64) n)
    return;
  low += 0.0f;                          /* no -0 */
  high += 0.0f;
  h->min = h->n > 0 ? fminf (h->min, low) : low;
  h->max = h->n > 0 ? fmaxf (h->max, high) : high;
  h->average_min = h->samples > 0 ? 0.9 * h->average_min + 0.1 * low : low;
  h->average_max = h->samples > 0 ? 0.9 * h->average_max + 0.1 * high : high;
  h->samples++;
  widen (h, width_for (fmaxf (fabsf (low), fabsf (high)) / h->unit));
  float to_bins = ldexpf (1.0f / h->unit, MIN (-h->k, 126));
  float more = ldexpf (1.0f, -h->k - MIN (-h->k, 126));
  for (gint64 i = 0; i < n; i++)
    {
      float x = values[i];
      if (x == 0.0f)
        h->zeros++;
      else if (broken == 0 || fabsf (x) <= FLT_MAX)
        {
          gint bin = (gint) (fabsf (x) * to_bins * more);
          (x > 0.0f ? h->positive : h->negative)[MIN (bin, LPT_BINS - 1)]++;
        }
    }
  h->n += (guint64) n - broken;
}

/* Bins of width 2^k: each count goes to where the middle of its bin lies. */
static void
make_plain (LptHistogram *h)
{
  guint64 *sides[] = { h->positive, h->negative };
  for (guint s = 0; s < 2 && h->unit != 1.0f; s++)
    {
      g_autofree guint64 *old = g_memdup2 (sides[s], sizeof h->positive);
      memset (sides[s], 0, sizeof h->positive);
      for (guint i = 0; i < LPT_BINS; i++)
        sides[s][(guint) ((i + 0.5) * h->unit)] += old[i];
    }
  h->unit = 1.0f;
}

void
lpt_histogram_join (LptHistogram *h, const LptHistogram *from)
{
  g_autoptr (LptHistogram) other = g_memdup2 (from, sizeof *from);
  if (other->n == 0)
    {
      h->broken += other->broken;
      return;
    }
  if (h->unit != other->unit)
    {
      make_plain (h);
      make_plain (other);
    }
  widen (h, other->k);
  widen (other, h->k);
  h->min = h->n > 0 ? fminf (h->min, other->min) : other->min;
  h->max = h->n > 0 ? fmaxf (h->max, other->max) : other->max;
  h->average_min = h->n > 0 ? fmin (h->average_min, other->average_min) : other->average_min;
  h->average_max = h->n > 0 ? fmax (h->average_max, other->average_max) : other->average_max;
  h->samples = MAX (h->samples, other->samples);
  h->n += other->n;
  h->zeros += other->zeros;
  h->broken += other->broken;
  for (guint i = 0; i < LPT_BINS; i++)
    {
      h->positive[i] += other->positive[i];
      h->negative[i] += other->negative[i];
    }
}
