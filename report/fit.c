/* fit.c - the unit of a value: b in the numbers of a
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/fit.h"

#include <math.h>

/* Elements of a channel below which a factor of its own would hide errors, unless hardly any are left with it; and
 * below which it would hide all of them. */
#define ENOUGH 32
#define FEWEST 4
/* How much less must be left for a factor, or for more of them. */
#define GAIN 0.25

static void
add_axis (LptFit *fit, gint64 length, gint64 inner)
{
  fit->axes[fit->n_axes++] = (LptFitAxis) { length, inner, g_new0 (LptFitSums, length) };
}

static void
begin (LptFit *fit, const LptShape *shape, gint64 n)
{
  add_axis (fit, 1, n);
  for (gint axis = 1; axis < shape->rank; axis = axis == 1 && shape->rank > 2 ? shape->rank - 1 : shape->rank)
    {
      gint64 inner = 1;
      for (gint k = axis + 1; k < shape->rank; k++)
        inner *= shape->dims[k];
      if (shape->dims[axis] > 1 && shape->dims[axis] <= 65536 && n > 0)
        add_axis (fit, shape->dims[axis], inner);
    }
}

static void
add_run (LptFitSums *s, const float *a, const float *b, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      double x = a[i], y = b[i];
      if (!isfinite (x) || !isfinite (y))
        continue;
      s->n++;
      s->a += x;
      s->b += y;
      s->aa += x * x;
      s->bb += y * y;
      s->ab += x * y;
    }
}

void
lpt_fit_add (LptFit *fit, const LptShape *shape, gint64 total, const float *a, const float *b, gint64 first, gint64 n)
{
  if (fit->n_axes == 0)
    begin (fit, shape, total);
  for (gint64 i = 0; i < n; i++)
    if (isfinite (a[i]) && isfinite (b[i]))
      fit->dd += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
  for (guint k = 0; k < fit->n_axes; k++)
    {
      gint64 inner = MAX (fit->axes[k].inner, 1);
      for (gint64 i = first, end; i < first + n; i = end)
        {
          end = MIN ((i / inner + 1) * inner, first + n);
          add_run (&fit->axes[k].sums[i / inner % fit->axes[k].length], a + i - first, b + i - first, end - i);
        }
    }
}

/* a ~ k b + m. */
static void
line_of (const LptFitSums *s, double *k, double *m)
{
  double vb = s->bb - s->b * s->b / s->n, cov = s->ab - s->a * s->b / s->n;
  *k = s->n > 0 && vb > 0 ? cov / vb : 0.0;
  *m = s->n > 0 ? (s->a - *k * s->b) / s->n : 0.0;
}

/* What is left of the squares, as a multiple of what may be; HUGE_VAL: too few elements to tell. */
static double
left (const LptFitAxis *axis)
{
  double sum = 0.0, fewest = ENOUGH;
  for (gint64 i = 0; i < axis->length; i++)
    {
      const LptFitSums *s = &axis->sums[i];
      double va, vb, cov;
      if (s->n < FEWEST)
        return HUGE_VAL;
      fewest = fmin (fewest, s->n);
      va = s->aa - s->a * s->a / s->n;
      vb = s->bb - s->b * s->b / s->n;
      cov = s->ab - s->a * s->b / s->n;
      sum += fmax (va - (vb > 0 ? cov * cov / vb : 0.0), 0.0) * s->n / (s->n - 2);
    }
  double sure = (fewest - 2.0) / (ENOUGH - 2.0);
  return sum / (sure * sure);
}

void
lpt_fit_choose (LptFit *fit)
{
  /* What a constant would leave, too: numbers that have nothing to do with each other have no unit in common. */
  const LptFitSums *all = fit->n_axes > 0 ? &fit->axes[0].sums[0] : NULL;
  double best = all != NULL && all->n > 0 ? fmin (fit->dd, all->aa - all->a * all->a / all->n) : fit->dd;
  fit->chosen = -1;
  for (guint k = 0; k < fit->n_axes; k++)
    {
      double rest = left (&fit->axes[k]);
      if (!(rest < GAIN * best))
        continue;
      best = rest;
      fit->chosen = (gint) k;
    }
  const LptFitAxis *axis = fit->chosen >= 0 ? &fit->axes[fit->chosen] : NULL;
  fit->lines = axis != NULL ? g_new (double, 2 * axis->length) : NULL;
  for (gint64 i = 0; axis != NULL && i < axis->length; i++)
    line_of (&axis->sums[i], &fit->lines[2 * i], &fit->lines[2 * i + 1]);
}

void
lpt_fit_apply (const LptFit *fit, float *b, gint64 first, gint64 n)
{
  if (fit->chosen < 0)
    return;
  const LptFitAxis *axis = &fit->axes[fit->chosen];
  gint64 inner = MAX (axis->inner, 1);
  for (gint64 i = first, end; i < first + n; i = end)
    {
      const double *line = &fit->lines[2 * (i / inner % axis->length)];
      end = MIN ((i / inner + 1) * inner, first + n);
      for (gint64 at = i - first; at < end - first; at++)
        b[at] = (float) (line[0] * (double) b[at] + line[1]);
    }
}

void
lpt_fit_clear (LptFit *fit)
{
  for (guint k = 0; k < fit->n_axes; k++)
    g_free (fit->axes[k].sums);
  g_free (fit->lines);
}
