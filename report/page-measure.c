/* page-measure.c - errors against the original, and how the integers of each op use their range
 *
 * One run of both models on a sample says all of it: distances, codes, and the answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include "report/compare.h"
#include "report/json.h"

#include <lpt/lpt-debug.h>

#include <math.h>

#define SAMPLES 32
/* A layer alone is the same on few. */
#define ALONE 8

typedef struct
{
  LptPage              *page;
  const LptPageOptions *options;
  LptEvaluator         *evaluator;      /* NULL: there is nothing to say of answers */
} Measure;

/* Samples that codes and distances are taken of; answers are of all. */
static guint
n_looked_at (const LptPageOptions *options)
{
  return MIN (options->data->n, options->limit > 0 ? options->limit : SAMPLES);
}

/* --- codes ----------------------------------------------------------------------- */

static gboolean
has_codes (const LptPageNode *node)
{
  return node->now != NULL && lpt_codes_countable (node->now);
}

static void
watch_codes (const LptPage *page, LptValueRun *run)
{
  for (guint i = 0; i < page->nodes->len; i++)
    if (has_codes (page->nodes->pdata[i]))
      lpt_value_run_watch (run, ((LptPageNode *) page->nodes->pdata[i])->now);
}

static void
count_codes (const LptPage *page, LptValueRun *run)
{
  for (guint i = 0; i < page->nodes->len; i++)
    {
      LptPageNode *node = page->nodes->pdata[i];
      const LptArray *held = has_codes (node) ? lpt_value_run_held (run, node->now) : NULL;
      if (held == NULL || held->data == NULL)
        continue;
      if (node->codes == NULL)
        node->codes = g_new0 (LptCodeCounts, 1);
      lpt_codes_add (node->codes, node->now, held);
    }
}

static gboolean
count_sample (Measure *m, LptValueRun *run, guint i, GError **error)
{
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, m->page->source->parameters->len + 1);
  g_autoptr (GPtrArray) outputs = NULL;
  gboolean ok = lpt_data_get (m->options->data, i, tensors, error) && lpt_value_run_sample (run, tensors, error);
  if (ok)
    count_codes (m->page, run);
  if (ok && m->evaluator != NULL)
    ok = (outputs = lpt_runner_outputs (&run->runner, error)) != NULL &&
         lpt_evaluator_add (m->evaluator, i, tensors, &outputs, error);
  lpt_samples_clear (tensors, m->page->source->parameters->len);
  return ok;
}

static gboolean
look_at_one (Measure *m, GError **error)
{
  LptValueRun run = { .graph = m->page->lowered, .runner = { .threads = m->options->threads } };
  guint n = n_looked_at (m->options);
  gboolean ok = TRUE;
  watch_codes (m->page, &run);
  for (guint i = 0; ok && i < n; i++)
    {
      if (m->options->progress != NULL)
        m->options->progress ("counting", i, n, m->options->progress_data);
      ok = count_sample (m, &run, i, error);
    }
  lpt_value_run_clear (&run);
  return ok;
}

/* --- distances ------------------------------------------------------------------- */

static void
on_watch (LptValueRun *a, LptValueRun *b, gpointer data)
{
  watch_codes (((const Measure *) data)->page, b);
}

static gboolean
on_sample (LptValueRun *a, LptValueRun *b, guint i, LptTensor *const *tensors, gpointer data, GError **error)
{
  const Measure *m = data;
  count_codes (m->page, b);
  g_autoptr (GPtrArray) first = lpt_runner_outputs (&a->runner, error);
  g_autoptr (GPtrArray) second = first != NULL ? lpt_runner_outputs (&b->runner, error) : NULL;
  GPtrArray *outputs[] = { first, second };
  return second != NULL && lpt_evaluator_add (m->evaluator, i, tensors, outputs, error);
}

static gboolean
look_at_both (Measure *m, GError **error)
{
  const LptCompareOptions how = { .threads = m->options->threads,
                                  .limit = n_looked_at (m->options),
                                  .progress = m->options->progress,
                                  .progress_data = m->options->progress_data };
  const LptCompareVisitor visitor = { on_watch, on_sample, m };
  g_autoptr (LptComparison) c = lpt_compare_visited (m->options->original, m->page->lowered, m->options->data, &how,
                                                     &visitor, error);
  for (guint i = 0; c != NULL && i < c->rows->len; i++)
    {
      const LptValueDistance *row = c->rows->pdata[i];
      LptPageNode *node = lpt_page_find (m->page, row->b);
      if (node == NULL || (!isnan (node->sqnr) && node->sqnr <= row->sqnr))
        continue;
      node->sqnr = isfinite (row->sqnr) ? row->sqnr : 999.0;
      node->cosine = row->cosine;
    }
  return c != NULL;
}

/* What each layer does alone, as `lptc debug` measures it. A model that debug cannot take has a page without: the
 * reason goes into the page. */
static void
look_alone (LptPage *page, const LptPageOptions *options, GString *out)
{
  const LptDebugOptions how = { .config = options->config, .limit = MIN (options->limit > 0 ? options->limit : ALONE, ALONE), .threads = options->threads, .unranked = TRUE,
                                .progress = options->progress, .progress_data = options->progress_data };
  g_autoptr (GError) problem = NULL;
  g_autoptr (LptDebug) debug = lpt_debug_run (page->source, options->original, options->data, &how, &problem);
  if (debug == NULL)
    lpt_page_json_string (out, "noAlone", problem->message);
  for (guint i = 0; debug != NULL && i < debug->layers->len; i++)
    {
      const LptDebugLayer *layer = debug->layers->pdata[i];
      LptPageNode *node = lpt_page_find (page, layer->name);
      if (node == NULL)
        continue;
      node->alone = isfinite (layer->isolated) ? layer->isolated : isnan (layer->isolated) ? NAN : 999.0;
      for (guint k = 0; k < layer->grids->len; k++)
        node->clipped = fmax (node->clipped, ((LptDebugGrid *) layer->grids->pdata[k])->clipped);
    }
}

/* --- answers --------------------------------------------------------------------- */

static void
put_scores (GString *out, const char *key, const GArray *scores)
{
  lpt_page_json_key (out, key);
  g_string_append_c (out, '[');
  for (guint i = 0; i < scores->len; i++)
    {
      const LptScore *score = &g_array_index (scores, LptScore, i);
      lpt_page_json_next (out);
      g_string_append_c (out, '{');
      lpt_page_json_string (out, "metric", score->metric);
      lpt_page_json_number (out, "value", score->value);
      lpt_page_json_number (out, "low", score->low);
      lpt_page_json_number (out, "high", score->high);
      g_string_append_c (out, '}');
    }
  g_string_append_c (out, ']');
}

/* Accuracy of the model and of the original, and how far they agree; FALSE + error. */
static gboolean
begin_answers (Measure *m, GError **error)
{
  const LptPageOptions *options = m->options;
  LptGraph *graphs[] = { options->original != NULL ? options->original : m->page->lowered, m->page->lowered };
  const LptEvalOptions how = { .labels = options->labels,
                               .offset = options->label_offset,
                               .threads = options->threads };
  if (options->labels == NULL && options->original == NULL)
    return TRUE;
  m->evaluator = lpt_evaluator_new (graphs, options->original != NULL ? 2 : 1, options->data->n, &how, error);
  return m->evaluator != NULL;
}

/* Of the samples that nobody looked at. */
static gboolean
answer_rest (Measure *m, GError **error)
{
  guint n_in = (m->options->original != NULL ? m->options->original : m->page->source)->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1);
  gboolean ok = TRUE;
  for (guint i = n_looked_at (m->options), n = m->options->data->n; ok && m->evaluator != NULL && i < n; i++)
    {
      if (m->options->progress != NULL)
        m->options->progress ("evaluating", i, n, m->options->progress_data);
      ok = lpt_data_get (m->options->data, i, tensors, error) &&
           lpt_evaluator_add (m->evaluator, i, tensors, NULL, error);
      lpt_samples_clear (tensors, n_in);
    }
  return ok;
}

static void
put_answers (const Measure *m, GString *out)
{
  g_autoptr (LptEvaluation) e = lpt_evaluator_finish (m->evaluator);
  lpt_page_json_int (out, "samples", e->n_samples);
  put_scores (out, "scores", e->scores[e->n_models - 1]);
  if (e->n_models < 2)
    return;
  put_scores (out, "originalScores", e->scores[0]);
  lpt_page_json_number (out, "sqnr", e->sqnr);
  lpt_page_json_number (out, "agree", e->n_agree > 0 ? e->agree : NAN);
}

gboolean
lpt_page_measure (LptPage *page, const LptPageOptions *options, GString *out, GError **error)
{
  Measure m = { page, options, NULL };
  if (options->data == NULL)
    return TRUE;
  gboolean ok = begin_answers (&m, error) &&
                (options->original != NULL ? look_at_both (&m, error) : look_at_one (&m, error)) &&
                answer_rest (&m, error);
  if (ok && options->original != NULL)
    look_alone (page, options, out);
  if (ok && m.evaluator != NULL)
    put_answers (&m, out);
  lpt_evaluator_free (m.evaluator);
  return ok;
}
