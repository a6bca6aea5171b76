/* range.c - from a histogram to an interval
 *
 * percentile p   (100 - p) / 2 of the values at each end are cut off; an end at 0 stays; zeros are not counted.
 * mse            the ends that minimize sum n (x - Q(x))^2 over the bins: from min and max each end is tried at 100 %,
 * 99 %, ...
 *                10 %, low and high in turn, three rounds; the first of equal ones. Values lie at the middle of their
 *                bin, inside the lattice the mean error of a bin is known: (x - Q(x))^2 of its middle + width^2 / 12,
 *                the same for all.
 * kl             of magnitudes, in 2048 bins: for T = 128, 144, ... bins P is their counts, what lies beyond on the
 * last; Q the same
 *                without that, merged into 128 groups of equal width and spread over the bins of a group that are not
 *                empty. The T of the least sum P ln (P / Q). Bin 0 gets the count of bin 1, so that zeros of a Relu do
 *                not decide.
 * average        of the ends of each sample, 0.9 of the old and 0.1 of the new.
 * Nothing is wider than what was seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/range.h"

#include <math.h>
#include <string.h>

static const char *const names[] = { "min-max", "average", "percentile", "mse", "kl" };

gboolean
lpt_range_method_from_name (const char *name, LptRangeMethod *method, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (name, names[i]))
      {
        *method = (LptRangeMethod) i;
        return TRUE;
      }
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the methods are min-max, average, percentile, mse, kl", name);
  return FALSE;
}

const char *
lpt_range_method_name (LptRangeMethod method)
{
  return names[method];
}

/* --- lattices ----------------------------------------------------------------------- */

double
lpt_lattice_step (double step)
{
  int exponent;
  double mantissa = frexp (step, &exponent);
  return ldexp (ceil (ldexp (mantissa, 16)), exponent - 16);
}

LptLattice
lpt_lattice_make (double low, double high, guint levels, gboolean symmetric)
{
  LptLattice lattice = { .levels = levels };
  low = MIN (low, 0.0);
  high = MAX (high, 0.0);
  if (symmetric)
    {
      double half = MAX (-low, high);
      lattice.levels = levels - 1 + levels % 2;
      lattice.step = lpt_lattice_step (MAX (2.0 * half / (lattice.levels - 1), 1e-30));
      lattice.high = lattice.step * ((lattice.levels - 1) / 2);
      lattice.low = -lattice.high;
      return lattice;
    }
  /* Wide enough for both ends when 0 is on the lattice. */
  double n = levels - 1, step = MAX ((high - low) / n, 1e-30),
         zero = CLAMP (rint (-low / step), low < 0.0 ? 1.0 : 0.0, high > 0.0 ? n - 1.0 : n);
  step = MAX (zero > 0.0 ? -low / zero : 0.0, zero < n ? high / (n - zero) : 0.0);
  lattice.step = lpt_lattice_step (MAX (step, 1e-30));
  lattice.low = -zero * lattice.step;
  lattice.high = (n - zero) * lattice.step;
  return lattice;
}

/* --- least squares ------------------------------------------------------------------ */

/* Error of the bins of one side, which reaches to @end in @lattice's steps. */
static double
side_error (const guint64 *bins, double width, double step, double end, guint used, double best)
{
  double sum = 0.0;
  for (guint i = 0; i < used; i++)
    {
      if (bins[i] == 0)
        continue;
      double x = (i + 0.5) * width, q = rint (x / step) * step, d = x - MIN (q, end);
      sum += (double) bins[i] * d * d;
      if (sum >= best)
        break;
    }
  return sum;
}

static guint
count_used (const guint64 *bins)
{
  guint used = LPT_BINS;
  while (used > 0 && bins[used - 1] == 0)
    used--;
  return used;
}

typedef struct { const LptHistogram *h; double width; guint positive, negative, levels; gboolean symmetric; } Search;

static double
error_of (const Search *s, double low, double high, double best)
{
  LptLattice lattice = lpt_lattice_make (low, high, s->levels, s->symmetric);
  double sum = side_error (s->h->positive, s->width, lattice.step, lattice.high, s->positive, best);
  return sum >= best ? sum
                     : sum + side_error (s->h->negative, s->width, lattice.step, -lattice.low, s->negative, best - sum);
}

static void
find_mse (const Search *s, double *low, double *high)
{
  double full_low = *low, full_high = *high, best = error_of (s, *low, *high, HUGE_VAL);
  for (guint round = 0; round < 3; round++)
    {
      double before = best;
      for (guint end = 0; end < 2; end++)
        for (guint percent = 100; percent >= 10; percent--)
          {
            double a = end == 0 ? full_low * percent / 100.0 : *low, b = end == 1 ? full_high * percent / 100.0 : *high;
            if (s->symmetric)
              {
                a = full_low * percent / 100.0;
                b = full_high * percent / 100.0;
              }
            double e = error_of (s, a, b, best);
            if (e >= best)
              continue;
            best = e;
            *low = a;
            *high = b;
          }
      if (best >= before || s->symmetric)
        break;
    }
}

/* --- percentiles --------------------------------------------------------------------- */

/* Where @count values lie beyond, from the far end of a side. */
static double
cut_side (const guint64 *bins, double width, double count, double end)
{
  double sum = 0.0;
  for (guint i = LPT_BINS; i-- > 0;)
    {
      sum += (double) bins[i];
      if (sum > count)
        return MIN (end, (i + 1) * width);
    }
  return 0.0;
}

/* --- divergence ----------------------------------------------------------------------- */

#define KL_BINS   2048
#define KL_LEVELS 128

static double
divergence (const double *p, guint n, double beyond)
{
  g_autofree double *q = g_new0 (double, n);
  double total = beyond, total_q = 0.0, sum = 0.0;
  for (guint g = 0; g < KL_LEVELS; g++)
    {
      guint from = g * n / KL_LEVELS, to = (g + 1) * n / KL_LEVELS, used = 0;
      double mass = 0.0;
      for (guint i = from; i < to; i++)
        {
          mass += p[i];
          used += p[i] > 0.0;
        }
      for (guint i = from; i < to; i++)
        q[i] = p[i] > 0.0 ? mass / used : 0.0;
      total += mass;
      total_q += mass;
    }
  for (guint i = 0; i < n; i++)
    {
      double a = (p[i] + (i == n - 1 ? beyond : 0.0)) / total, b = q[i] / total_q;
      if (a > 0.0)
        sum += b > 0.0 ? a * log (a / b) : a * 40.0;
    }
  return sum;
}

static void
find_kl (const LptHistogram *h, double width, double *low, double *high)
{
  g_autofree double *p = g_new0 (double, KL_BINS);
  guint merge = LPT_BINS / KL_BINS, last = 0, best = 0;
  double beyond = 0.0, least = HUGE_VAL;
  for (guint i = 0; i < LPT_BINS; i++)
    p[i / merge] += (double) (h->positive[i] + h->negative[i]);
  p[0] = MIN (p[0], p[1]);
  for (guint i = 0; i < KL_BINS; i++)
    last = p[i] > 0.0 ? i + 1 : last;
  for (guint n = (last - MIN (last, KL_LEVELS)) / 16 * 16 + KL_LEVELS, counted = last; n >= KL_LEVELS; n -= 16)
    {
      for (; counted > n; counted--)
        beyond += p[counted - 1];
      double d = divergence (p, n, beyond);
      if (d <= least)
        {
          least = d;
          best = n;
        }
    }
  double end = best * merge * width;
  if (best == 0 || best >= last)
    return;
  *low = MAX (*low, -end);
  *high = MIN (*high, end);
}

LptLattice
lpt_range_find (const LptHistogram *h, LptRangeMethod method, double percentile, guint levels, gboolean symmetric)
{
  double low = MIN (h->min, 0.0f), high = MAX (h->max, 0.0f), width = lpt_histogram_width (h), cut;
  Search search = { h, width, count_used (h->positive), count_used (h->negative), levels, symmetric };
  switch (method)
    {
    case LPT_RANGES_MIN_MAX:
      break;
    case LPT_RANGES_AVERAGE:
      low = CLAMP (h->average_min, low, 0.0);
      high = CLAMP (h->average_max, 0.0, high);
      break;
    case LPT_RANGES_PERCENTILE:
      cut = (double) (h->n - h->zeros) * (100.0 - percentile) / 200.0;
      low = MAX (low, -cut_side (h->negative, width, cut, -low));
      high = MIN (high, cut_side (h->positive, width, cut, high));
      break;
    case LPT_RANGES_MSE:
      find_mse (&search, &low, &high);
      break;
    case LPT_RANGES_KL:
      find_kl (h, width, &low, &high);
      break;
    }
  return lpt_lattice_make (low, high, levels, symmetric);
}
