/* compare.c - two models, value by value
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/compare.h"

#include "executor/runtime/lpt-parallel.h"
#include "report/distance.h"
#include "report/fit.h"
#include "report/match.h"
#include "report/trail.h"

#include <math.h>
#include <string.h>

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

/* @n <= LPT_VIEW_BLOCK. */
static void
add_cut (LptDistance *d, const float *x, const float *y, gint64 n)
{
  float a[LPT_VIEW_BLOCK], b[LPT_VIEW_BLOCK];
  for (gint64 i = 0; i < n; i++)
    {
      a[i] = x[i] < 0.0f ? 0.0f : x[i];
      b[i] = y[i] < 0.0f ? 0.0f : y[i];
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
measure_block (const Measure *m, size_t i, const LptValueView *a, const LptValueView *b, gint64 first, gint64 n)
{
  const LptValueMatch *pair = &g_array_index (m->match->pairs, LptValueMatch, i);
  Pair *numbers = &m->pairs[i];
  float own[LPT_VIEW_BLOCK], others[LPT_VIEW_BLOCK];
  const float *x = lpt_value_view_read (a, first, n, own), *y = lpt_value_view_read (b, first, n, others);
  if (m->fitting)
    {
      lpt_fit_add (&numbers->fit, &pair->a->shape, a->n, x, y, first, n);
      return;
    }
  if (pair->bounded)
    add_cut (&numbers->cut, x, y, n);
  if (numbers->fit.chosen >= 0)
    {
      y = memmove (others, y, (gsize) n * sizeof *y);
      lpt_fit_apply (&numbers->fit, others, first, n);
    }
  lpt_distance_add (&numbers->distance, x, y, n);
}

static void
measure_pair (void *data, size_t i, unsigned thread)
{
  const Measure *m = data;
  const LptValueMatch *pair = &g_array_index (m->match->pairs, LptValueMatch, i);
  g_auto (LptValueView) a = { NULL }, b = { NULL };
  if ((m->fitting && !may_be_scaled (pair)) || !lpt_value_run_view (m->a, pair->a, &a, &m->problems[i]) ||
      !lpt_value_run_view (m->b, pair->b, &b, &m->problems[i]) || a.n != b.n)
    return;
  for (gint64 first = 0; first < a.n; first += LPT_VIEW_BLOCK)
    measure_block (m, i, &a, &b, first, MIN (a.n - first, LPT_VIEW_BLOCK));
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

static guint
n_samples (const LptData *data, const LptCompareOptions *options, gboolean fitting)
{
  guint n = options->limit > 0 ? MIN (options->limit, data->n) : data->n;
  return fitting ? MIN (n, FIT_SAMPLES) : n;
}

/* @visitor: (nullable) */
static gboolean
run_sample (Measure *m, LptPool *pool, LptData *data, guint i, const LptCompareVisitor *visitor, GError **error)
{
  guint n_in = m->a->graph->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1),
                       **others = g_new0 (LptTensor *, m->b->graph->parameters->len + 1);
  gboolean ok = lpt_data_get (data, i, tensors, error) &&
                lpt_samples_inputs_for (m->a->graph, tensors, m->b->graph, others, error) &&
                lpt_value_run_sample (m->a, tensors, error) && lpt_value_run_sample (m->b, others, error) &&
                measure (m, pool, error) &&
                (visitor == NULL || visitor->visit (m->a, m->b, i, tensors, visitor->data, error));
  lpt_samples_clear (tensors, n_in);
  lpt_samples_clear (others, m->b->graph->parameters->len);
  return ok;
}

static gboolean
run_samples (Measure *m, LptData *data, const LptCompareOptions *options, const LptCompareVisitor *visitor,
             GError **error)
{
  guint n = n_samples (data, options, m->fitting);
  gboolean ok = TRUE;
  LptPool *pool = lpt_pool_new (options->threads);
  for (guint i = 0; ok && i < n; i++)
    {
      if (options->progress != NULL)
        options->progress ("comparing", i, n, options->progress_data);
      ok = run_sample (m, pool, data, i, visitor, error);
    }
  lpt_pool_free (pool);
  return ok;
}

static void
watch (const Measure *m, const LptCompareVisitor *visitor)
{
  for (guint i = 0; i < m->match->pairs->len; i++)
    {
      const LptValueMatch *pair = &g_array_index (m->match->pairs, LptValueMatch, i);
      lpt_value_run_watch (m->a, pair->a);
      lpt_value_run_watch (m->b, pair->b);
    }
  if (visitor != NULL && visitor->watch != NULL)
    visitor->watch (m->a, m->b, visitor->data);
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
lpt_compare_visited (LptGraph *given_a, LptGraph *given_b, LptData *data, const LptCompareOptions *options,
                     const LptCompareVisitor *visitor, GError **error)
{
  g_autoptr (LptGraph) a = NULL, b = NULL;
  if (!copy_graphs (given_a, given_b, data, &a, &b, error))
    return NULL;
  guint flags = options->reference ? LPT_PLAN_REFERENCE : 0u;
  LptValueRun first = { .graph = given_a, .runner = { .threads = options->threads, .flags = flags } };
  LptValueRun second = { .graph = given_b, .runner = { .threads = options->threads, .flags = flags } };
  g_autoptr (LptMatch) match = lpt_match_new (a, b, error);
  guint n_pairs = match != NULL ? match->pairs->len : 0;
  g_autofree Pair *pairs = g_new0 (Pair, n_pairs + 1);
  Measure m = { match, &first, &second, pairs, .fitting = a->lowered || b->lowered };
  LptComparison *result = NULL;
  if (match != NULL)
    watch (&m, visitor);
  gboolean ok = match != NULL && (!m.fitting || run_samples (&m, data, options, NULL, error));
  for (guint i = 0; i < n_pairs; i++)
    lpt_fit_choose (&pairs[i].fit);
  m.fitting = FALSE;
  if (ok && run_samples (&m, data, options, visitor, error))
    {
      result = make_result (match, pairs);
      result->n_samples = n_samples (data, options, FALSE);
    }
  for (guint i = 0; i < n_pairs; i++)
    lpt_fit_clear (&pairs[i].fit);
  lpt_value_run_clear (&first);
  lpt_value_run_clear (&second);
  return result;
}

LptComparison *
lpt_compare_values (LptGraph *a, LptGraph *b, LptData *data, const LptCompareOptions *options, GError **error)
{
  return lpt_compare_visited (a, b, data, options, NULL, error);
}
