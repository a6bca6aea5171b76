/* page-measure.c - errors against the original, and how the integers of each op use their range
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include "report/json.h"
#include "report/values.h"

#include <lpt/lpt-debug.h>

#include <math.h>

#define SAMPLES 32
/* A layer alone is the same on few. */
#define ALONE 8

static gboolean
compare (LptPage *page, const LptPageOptions *options, GError **error)
{
  const LptCompareOptions how = { .threads = options->threads,
                                  .limit = options->limit > 0 ? options->limit : SAMPLES,
                                  .progress = options->progress,
                                  .progress_data = options->progress_data };
  g_autoptr (LptComparison) c = lpt_compare_values (options->original, page->lowered, options->data, &how, error);
  for (guint i = 0; c != NULL && i < c->rows->len; i++)
    {
      const LptValueDistance *row = c->rows->pdata[i];
      LptPageNode *node = lpt_page_find (page, row->b);
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

static gboolean
count_sample (LptPage *page, LptValueRun *run, LptTensor *const *tensors, GError **error)
{
  if (!lpt_value_run_sample (run, tensors, error))
    return FALSE;
  for (guint i = 0; i < page->nodes->len; i++)
    {
      LptPageNode *node = page->nodes->pdata[i];
      GError *problem = NULL;
      if (node->now == NULL || !lpt_codes_countable (node->now))
        continue;
      g_autoptr (LptTensor) held = lpt_value_run_held (run, node->now, &problem);
      if (problem != NULL)
        {
          g_propagate_error (error, problem);
          return FALSE;
        }
      if (held == NULL)
        continue;
      if (node->codes == NULL)
        node->codes = g_new0 (LptCodeCounts, 1);
      lpt_codes_add (node->codes, node->now, held);
    }
  return TRUE;
}

static gboolean
count_codes (LptPage *page, const LptPageOptions *options, GError **error)
{
  LptValueRun run = { .graph = page->lowered, .runner = { .threads = options->threads } };
  guint n = MIN (options->data->n, options->limit > 0 ? options->limit : SAMPLES), n_in = page->source->parameters->len;
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < n; i++)
    {
      g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1);
      if (options->progress != NULL)
        options->progress ("counting", i, n, options->progress_data);
      ok = lpt_data_get (options->data, i, tensors, error) && count_sample (page, &run, tensors, error);
      for (guint k = 0; k < n_in; k++)
        g_clear_pointer (&tensors[k], lpt_tensor_unref);
    }
  lpt_value_run_clear (&run);
  return ok;
}

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

/* Accuracy of the model and of the original, and how far they agree; on all samples. */
static gboolean
evaluate (LptPage *page, const LptPageOptions *options, GString *out, GError **error)
{
  LptGraph *graphs[] = { options->original != NULL ? options->original : page->lowered, page->lowered };
  guint n = options->original != NULL ? 2 : 1;
  const LptEvalOptions how = { .labels = options->labels,
                               .offset = options->label_offset,
                               .threads = options->threads,
                               .progress = options->progress,
                               .progress_data = options->progress_data };
  if (options->labels == NULL && n == 1)
    return TRUE;
  g_autoptr (LptEvaluation) e = lpt_evaluate (graphs, n, options->data, &how, error);
  if (e == NULL)
    return FALSE;
  lpt_page_json_int (out, "samples", e->n_samples);
  put_scores (out, "scores", e->scores[n - 1]);
  if (n == 2)
    {
      put_scores (out, "originalScores", e->scores[0]);
      lpt_page_json_number (out, "sqnr", e->sqnr);
      lpt_page_json_number (out, "agree", e->n_agree > 0 ? e->agree : NAN);
    }
  return TRUE;
}

gboolean
lpt_page_measure (LptPage *page, const LptPageOptions *options, GString *out, GError **error)
{
  if (options->data == NULL)
    return TRUE;
  if (options->original != NULL && !compare (page, options, error))
    return FALSE;
  if (options->original != NULL)
    look_alone (page, options, out);
  return count_codes (page, options, error) && evaluate (page, options, out, error);
}
