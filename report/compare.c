/* compare.c - two models, value by value
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-compare.h>

#include "executor/runtime/lpt-parallel.h"
#include "report/distance.h"
#include "report/fit.h"
#include "report/match.h"
#include "report/trail.h"
#include "report/values.h"

#include <math.h>

/* Numbers less alike than this are not one place where a clamp may stand between. */
#define DOUBT 0.9
/* Enough to know a unit by. */
#define FIT_SAMPLES 4

static void
distance_free (LptValueDistance *row)
{
  g_free (row->a);
  g_free (row->b);
  g_free (row);
}

void
lpt_comparison_free (LptComparison *comparison)
{
  if (comparison == NULL)
    return;
  g_ptr_array_unref (comparison->rows);
  g_ptr_array_unref (comparison->only_a);
  g_ptr_array_unref (comparison->only_b);
  g_free (comparison);
}

guint
lpt_comparison_n_both (const LptComparison *comparison)
{
  return comparison->rows->len + comparison->n_unsure;
}

/* --- running --------------------------------------------------------------------- */

/* What is known of each pair. */
typedef struct
{
  LptFit      fit;
  LptDistance distance, cut;      /* @cut: without what is below 0 */
} Pair;

/* May the integers of one of the two have got another unit on the way? */
static gboolean
may_be_scaled (const LptValueMatch *pair)
{
  return pair->a->producer->graph->lowered || pair->b->producer->graph->lowered;
}

static void
add_cut (LptDistance *d, const float *x, const float *y, gint64 n)
{
  g_autofree float *a = g_new (float, n + 1), *b = g_new (float, n + 1);
  for (gint64 i = 0; i < n; i++)
    {
      a[i] = fmaxf (x[i], 0.0f);
      b[i] = fmaxf (y[i], 0.0f);
    }
  lpt_distance_add (d, a, b, n);
}

/* Is what the two have in common what a clamp leaves of one of them? */
static gboolean
clamp_between (const LptValueMatch *pair, const Pair *numbers)
{
  double unlike = 1.0 - lpt_distance_cosine (&numbers->distance);
  return pair->bounded && unlike > 0.01 && 1.0 - lpt_distance_cosine (&numbers->cut) < 0.5 * unlike;
}

/* What a sample says of all pairs, each a task. */
typedef struct
{
  const LptMatch *match;
  LptValueRun    *a, *b;
  Pair           *pairs;
  gboolean        fitting;      /* the sums that say the unit; distances come when that is chosen */
  GError        **problems;     /* of each pair */
} Measure;

static void
measure_pair (void *data, size_t i, unsigned thread)
{
  const Measure *m = data;
  const LptValueMatch *pair = &g_array_index (m->match->pairs, LptValueMatch, i);
  Pair *numbers = &m->pairs[i];
  gint64 na = 0, nb = 0;
  g_autofree float *x = lpt_value_run_real (m->a, pair->a, &na, &m->problems[i]);
  g_autofree float *y = x != NULL ? lpt_value_run_real (m->b, pair->b, &nb, &m->problems[i]) : NULL;
  if (x == NULL || y == NULL || na != nb)
    return;
  if (m->fitting && may_be_scaled (pair))
    lpt_fit_add (&numbers->fit, &pair->a->shape, x, y, na);
  if (m->fitting)
    return;
  if (pair->bounded)
    add_cut (&numbers->cut, x, y, na);
  lpt_fit_apply (&numbers->fit, y, nb);
  lpt_distance_add (&numbers->distance, x, y, na);
}

static gboolean
measure (Measure *m, LptPool *pool, GError **error)
{
  g_autofree GError **problems = g_new0 (GError *, m->match->pairs->len + 1);
  m->problems = problems;
  lpt_parallel_for (pool, m->match->pairs->len, measure_pair, m);
  return lpt_take_problems (problems, m->match->pairs->len, error);
}

/* --- samples --------------------------------------------------------------------- */

static gboolean
run_samples (const LptMatch *match, LptValueRun *a, LptValueRun *b, LptData *data, const LptCompareOptions *options,
             Pair *pairs, gboolean fitting, guint *done, GError **error)
{
  guint n_in = a->graph->parameters->len, n = options->limit > 0 ? MIN (options->limit, data->n) : data->n;
  n = fitting ? MIN (n, FIT_SAMPLES) : n;
  gboolean ok = TRUE;
  Measure m = { match, a, b, pairs, fitting };
  LptPool *pool = lpt_pool_new (options->threads);
  for (*done = 0; ok && *done < n; ++*done)
    {
      g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1),
                           **others = g_new0 (LptTensor *, b->graph->parameters->len + 1);
      if (options->progress != NULL)
        options->progress ("comparing", *done, n, options->progress_data);
      ok = lpt_data_get (data, *done, tensors, error) &&
           lpt_samples_inputs_for (a->graph, tensors, b->graph, others, error) &&
           lpt_value_run_sample (a, tensors, error) && lpt_value_run_sample (b, others, error) &&
           measure (&m, pool, error);
      lpt_samples_clear (tensors, n_in);
      lpt_samples_clear (others, b->graph->parameters->len);
    }
  lpt_pool_free (pool);
  return ok;
}

/* --- result ---------------------------------------------------------------------- */

static LptComparison *
make_result (const LptMatch *match, const Pair *pairs)
{
  LptComparison *result = g_new0 (LptComparison, 1);
  result->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) distance_free);
  result->only_a = g_ptr_array_new_with_free_func (g_free);
  result->only_b = g_ptr_array_new_with_free_func (g_free);
  result->n_unsure = match->n_unsure;
  for (guint i = 0; i < match->pairs->len; i++)
    {
      const LptValueMatch *pair = &g_array_index (match->pairs, LptValueMatch, i);
      const LptDistance *d = &pairs[i].distance;
      if (d->n > 0 && clamp_between (pair, &pairs[i]))
        {
          /* The other one is the same place as what stands behind the clamp. */
          gboolean is_a = !(lpt_value_floor (pair->a) >= 0.0);
          g_ptr_array_add (is_a ? result->only_a : result->only_b, lpt_value_name (is_a ? pair->a : pair->b));
          continue;
        }
      if (d->n == 0 || (pair->doubtful && lpt_distance_cosine (d) < DOUBT))
        {
          g_ptr_array_add (result->only_a, lpt_value_name (pair->a));
          g_ptr_array_add (result->only_b, lpt_value_name (pair->b));
          result->n_unsure++;
          continue;
        }
      LptValueDistance *row = g_new0 (LptValueDistance, 1);
      *row = (LptValueDistance) { .a = lpt_value_name (pair->a), .b = lpt_value_name (pair->b), .op = pair->a->producer->info->name, .type_a = pair->a->dtype,
                                  .type_b = pair->b->dtype, .max = d->max, .mean = d->sum / (double) d->n, .sqnr = lpt_distance_sqnr (d),
                                  .cosine = lpt_distance_cosine (d), .count = d->n, .nan_a = d->nan_a, .nan_b = d->nan_b, .fitted = pairs[i].fit.chosen >= 0 };
      g_ptr_array_add (result->rows, row);
    }
  for (guint i = 0; i < match->only_a->len; i++)
    g_ptr_array_add (result->only_a, lpt_value_name (match->only_a->pdata[i]));
  for (guint i = 0; i < match->only_b->len; i++)
    g_ptr_array_add (result->only_b, lpt_value_name (match->only_b->pdata[i]));
  return result;
}

/* Copies of both with the shapes of the first sample: places are told by the number of their elements. */
static gboolean
copy_graphs (LptGraph *a, LptGraph *b, LptData *data, LptGraph **first, LptGraph **second, GError **error)
{
  guint n_in = a->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1);
  *first = lpt_graph_copy (a);
  *second = lpt_graph_copy (b);
  gboolean ok = data->n == 0 ||
                (lpt_data_get (data, 0, tensors, error) && lpt_samples_fix_shapes (*first, a, tensors, error) &&
                 lpt_samples_fix_shapes (*second, a, tensors, error));
  lpt_samples_clear (tensors, n_in);
  return ok;
}

LptComparison *
lpt_compare_values (LptGraph *given_a, LptGraph *given_b, LptData *data, const LptCompareOptions *options,
                    GError **error)
{
  g_autoptr (LptGraph) a = NULL, b = NULL;
  if (!copy_graphs (given_a, given_b, data, &a, &b, error))
    return NULL;
  guint flags = options->reference ? LPT_PLAN_REFERENCE : 0u, n = 0;
  LptValueRun first = { .graph = given_a, .runner = { .threads = options->threads, .flags = flags } };
  LptValueRun second = { .graph = given_b, .runner = { .threads = options->threads, .flags = flags } };
  g_autoptr (LptMatch) match = lpt_match_new (a, b, error);
  guint n_pairs = match != NULL ? match->pairs->len : 0;
  g_autofree Pair *pairs = g_new0 (Pair, n_pairs + 1);
  LptComparison *result = NULL;
  gboolean ok = match != NULL && (!(a->lowered || b->lowered) ||
                                  run_samples (match, &first, &second, data, options, pairs, TRUE, &n, error));
  for (guint i = 0; i < n_pairs; i++)
    lpt_fit_choose (&pairs[i].fit);
  if (ok && run_samples (match, &first, &second, data, options, pairs, FALSE, &n, error))
    {
      result = make_result (match, pairs);
      result->n_samples = n;
    }
  for (guint i = 0; i < n_pairs; i++)
    lpt_fit_clear (&pairs[i].fit);
  lpt_value_run_clear (&first);
  lpt_value_run_clear (&second);
  return result;
}
