/* agreement.c - how far apart the results of two models are
 *
 * Over the places of the first output: the class with the greatest element, and the divergence of the second model's
 * distribution q from the first one's p,
 *
 *     D = sum p (ln p - ln q),      p = softmax (x), or x itself where no x is negative and they add up to 1
 *
 * Over all elements of each output SQNR = 10 log10 (sum a^2 / sum (a - b)^2). Sums are in f64, in the order of samples,
 * then of elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/agreement.h"
#include "quantize/metric.h"

#include <math.h>

#define LEAST 1e-12      /* of a probability */

void
lpt_agreement_init (LptAgreement *agreement)
{
  *agreement = (LptAgreement) { .sums = g_array_new (FALSE, TRUE, 2 * sizeof (double)) };
  for (guint m = 0; m < 2; m++)
    agreement->counts[m] = g_array_new (FALSE, TRUE, sizeof (gint64));
}

void
lpt_agreement_clear (LptAgreement *agreement)
{
  for (guint m = 0; m < 2; m++)
    g_clear_pointer (&agreement->counts[m], g_array_unref);
  g_clear_pointer (&agreement->sums, g_array_unref);
}

static void
count_answer (GArray *counts, gint64 class)
{
  if (class >= (gint64) counts->len)
    g_array_set_size (counts, (guint) class + 1);
  g_array_index (counts, gint64, class)++;
}

/* ln of the distribution at @place into @out. */
static void
find_logs (const LptClasses *classes, const float *v, gint64 place, double *out)
{
  double sum = 0.0, least = HUGE_VAL, top = v[lpt_classes_at (classes, place, lpt_classes_top (classes, v, place))];
  for (gint64 k = 0; k < classes->classes; k++)
    {
      out[k] = v[lpt_classes_at (classes, place, k)];
      sum += out[k];
      least = MIN (least, out[k]);
    }
  if (least >= 0.0 && fabs (sum - 1.0) < 0.01)
    {
      for (gint64 k = 0; k < classes->classes; k++)
        out[k] = log (MAX (out[k] / sum, LEAST));
      return;
    }
  sum = 0.0;
  for (gint64 k = 0; k < classes->classes; k++)
    sum += exp (out[k] - top);
  for (gint64 k = 0; k < classes->classes; k++)
    out[k] -= top + log (sum);
}

static double
find_divergence (const LptClasses *classes, const float *first, const float *second, gint64 place, double *work)
{
  double *p = work, *q = work + classes->classes, sum = 0.0;
  find_logs (classes, first, place, p);
  find_logs (classes, second, place, q);
  for (gint64 k = 0; k < classes->classes; k++)
    sum += exp (p[k]) * (p[k] - q[k]);
  return sum;
}

/* The classes of the first outputs; @second: nullable. */
static void
add_answers (LptAgreement *a, const LptShape *shape, const float *first, const float *second)
{
  LptClasses classes;
  if (!lpt_classes_find (shape, 0, &classes) || classes.classes < 2)
    return;
  g_autofree double *work = g_new (double, 2 * classes.classes);
  for (gint64 i = 0; i < classes.places; i++)
    {
      gint64 one = lpt_classes_top (&classes, first, i);
      count_answer (a->counts[0], one);
      if (second == NULL)
        continue;
      gint64 two = lpt_classes_top (&classes, second, i);
      count_answer (a->counts[1], two);
      a->agreeing += one == two;
      a->divergence += find_divergence (&classes, first, second, i, work);
    }
  a->n_answers += classes.places;
}

static void
add_sums (LptAgreement *a, guint output, const float *x, const float *y, gint64 n)
{
  if (output >= a->sums->len)
    g_array_set_size (a->sums, output + 1);
  double *sums = &g_array_index (a->sums, double, 2 * output);
  for (gint64 i = 0; i < n; i++)
    {
      double d = (double) x[i] - y[i];
      sums[0] += (double) x[i] * x[i];
      sums[1] += d * d;
    }
}

gboolean
lpt_agreement_add (LptAgreement *a, GPtrArray *first, GPtrArray *second, GError **error)
{
  guint n = second != NULL ? MIN (first->len, second->len) : MIN (first->len, 1);
  for (guint i = 0; i < n; i++)
    {
      LptTensor *one = g_ptr_array_index (first, i), *two = second != NULL ? g_ptr_array_index (second, i) : NULL;
      g_autofree float *x = lpt_tensor_to_f32 (one, error), *y = NULL;
      if (x == NULL || (two != NULL && (y = lpt_tensor_to_f32 (two, error)) == NULL))
        return FALSE;
      gboolean alike = two != NULL && lpt_tensor_count (one) == lpt_tensor_count (two);
      if (alike)
        add_sums (a, i, x, y, lpt_tensor_count (one));
      if (i == 0)
        add_answers (a, lpt_tensor_shape (one), x, alike ? y : NULL);
    }
  return TRUE;
}

static double
to_db (double signal, double noise)
{
  return noise > 0.0 ? 10.0 * log10 (signal / noise) : HUGE_VAL;
}

void
lpt_agreement_finish (const LptAgreement *a, LptEvaluation *r)
{
  double noise = 0.0;
  for (guint m = 0; m < r->n_models; m++)
    {
      gint64 most = 0;
      for (guint k = 0; k < a->counts[m]->len; k++)
        if (g_array_index (a->counts[m], gint64, k) > most)
          {
            most = g_array_index (a->counts[m], gint64, k);
            r->top_class[m] = k;
          }
      r->top_share[m] = a->n_answers > 0 ? (double) most / (double) a->n_answers : 0.0;
    }
  r->n_agree = a->n_answers;
  r->agree = a->n_answers > 0 ? (double) a->agreeing / (double) a->n_answers : 1.0;
  lpt_stat_wilson (a->agreeing, a->n_answers, &r->agree_low, &r->agree_high);
  r->divergence = a->n_answers > 0 ? MAX (a->divergence, 0.0) / (double) a->n_answers : 0.0;
  const double *sums = (const double *) (gconstpointer) a->sums->data;
  r->sqnr = a->sums->len > 0 ? to_db (sums[0], sums[1]) : HUGE_VAL;
  for (guint i = 0; i < a->sums->len; i++)
    noise += sums[2 * i] > 0.0 ? sums[2 * i + 1] / sums[2 * i] : 0.0;
  r->sqnr_all = a->sums->len > 0 ? to_db (a->sums->len, noise) : HUGE_VAL;
}
