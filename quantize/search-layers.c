/* search-layers.c - which layers stay real, which get data of 16 bits, so that no more is lost than allowed
 *
 * With labels the drop is the metric of the float model less that of the quantized one, without it is the share of
 * answers that differ, in points. Where it is too large, noise over signal N of the first result on up to 32 samples
 * says what a layer costs: with it alone left real in the quantized graph, and with it alone quantized,
 *
 *     real      1/2 [(N (all) - N (all but it)) + (N (it alone) - N (none))]
 *     16 bits   N (all) - N (all, its data with 65536 levels)
 *
 * (errors of layers may undo each other: the mean of what it adds as the last and as the first one is the better guess
 * of what it adds to any set). Both ways of each layer are sorted by what they bring per time, taken as its share of
 * the MACs times 3 in f32 and times 1 for the second product that 16 bits need, the earlier of equal ones first. Then
 * the least number of them that holds the limit is looked for by bisection, each try being a whole quantization.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/samples.h"
#include "quantize/search.h"
#include "quantize/trial.h"

#include <lpt/lpt-attrs.h>

#include <math.h>
#include <string.h>

#define LEVELS    65536
#define COST_REAL 3.0
#define COST_WIDE 1.0
#define COST_ANY  0.02    /* of any change, however small the layer is */

/* --- graphs ------------------------------------------------------------------------------------- */

/* Its weights and its data without FakeQuantize. */
static void
leave_real (LptGraph *graph, LptGraph *real, const char *name)
{
  LptNode *node = lpt_graph_find (graph, name), *was = lpt_graph_find (real, name);
  for (guint port = 0; node != NULL && was != NULL && port < 2; port++)
    {
      LptNode *fq = lpt_node_src (node, port);
      LptTensor *constant = lpt_node_const_in (was, port);
      if (fq == NULL || fq->op != LPT_OP_FAKE_QUANTIZE)
        continue;
      lpt_node_set_input (node, port,
                          constant != NULL ? lpt_node_out (lpt_graph_add_const (graph, NULL, constant))
                                           : lpt_node_in (fq, 0));
    }
}

/* Its data through a FakeQuantize of its own, with more levels between the same ends. FALSE: none stands there. */
static gboolean
widen (LptGraph *graph, const char *name)
{
  LptNode *node = lpt_graph_find (graph, name);
  gboolean done = FALSE;
  for (guint port = 0; node != NULL && port < 2; port++)
    {
      LptNode *fq = lpt_node_src (node, port);
      if (fq == NULL || fq->op != LPT_OP_FAKE_QUANTIZE || lpt_node_is_const (lpt_node_src (fq, 0)))
        continue;
      LptValue *in[5];
      for (guint i = 0; i < 5; i++)
        in[i] = lpt_node_in (fq, i);
      LptNode *own = lpt_graph_add (graph, LPT_OP_FAKE_QUANTIZE, 0, NULL, 5, in);
      LPT_ATTRS (own, LptFakeQuantizeAttrs)->levels = LEVELS;
      lpt_node_set_input (node, port, lpt_node_out (own));
      done = TRUE;
    }
  return done;
}

/* --- what each brings --------------------------------------------------------------------------- */

typedef struct { const char *name; gboolean wide; double gain; guint index; } Candidate;

typedef struct
{
  const LptSearch         *s;
  const LptQuantizeReport *own;         /* its layers */
  LptGraph                *quantized;
  LptData                 *some;
} Ranking;

/* Noise over signal of @graph, which is swept; < 0 + error. */
static double
noise_of (const Ranking *r, LptGraph *graph, GError **error)
{
  const LptEvalOptions eval = { .threads = r->s->options->threads };
  lpt_graph_sweep (graph);
  g_autoptr (LptEvaluation) e = lpt_graph_infer (graph, error)
    ? lpt_quantize_measure (r->s->real, graph, r->some, r->s->options->config, &eval, error) : NULL;
  return e != NULL ? pow (10.0, -0.1 * e->sqnr) : -1.0;
}

/* Layer @but left real, or all others; G_MAXUINT = none, so all. */
static double
noise_without (const Ranking *r, guint but, gboolean others, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (r->quantized);
  for (guint i = 0; i < r->own->layers->len; i++)
    if ((i == but) != others)
      leave_real (copy, r->s->real, ((LptQuantizedLayer *) g_ptr_array_index (r->own->layers, i))->name);
  return noise_of (r, copy, error);
}

/* *noise stays 0 where nothing can be widened. */
static gboolean
noise_wide (const Ranking *r, const char *name, double *noise, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (r->quantized);
  /* Targets with rules for codes have none of 16 bits beside those of 8. */
  if (r->s->options->config->quant_rules == LPT_QUANT_RULES_NONE && widen (copy, name))
    *noise = noise_of (r, copy, error);
  return *noise >= 0.0;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;
  if (x->gain != y->gain)
    return (x->gain < y->gain) - (x->gain > y->gain);
  return x->index != y->index ? (x->index > y->index) - (x->index < y->index) : (gint) y->wide - (gint) x->wide;
}

static gboolean
rank_layer (const Ranking *r, guint i, double all, double none, double macs, GArray *list, GError **error)
{
  const LptQuantizedLayer *layer = g_ptr_array_index (r->own->layers, i);
  double wide = 0.0, share = (double) layer->macs / macs;
  double without = noise_without (r, i, FALSE, error),
         alone = without >= 0.0 ? noise_without (r, i, TRUE, error) : -1.0;
  if (alone < 0.0 || !noise_wide (r, layer->name, &wide, error))
    return FALSE;
  Candidate real = { layer->name, FALSE, 0.5 * (all - without + alone - none) / (COST_ANY + COST_REAL * share), i };
  Candidate more = { layer->name, TRUE, (all - wide) / (COST_ANY + COST_WIDE * share), i };
  g_array_append_val (list, real);
  if (wide > 0.0 && more.gain > real.gain)
    g_array_append_val (list, more);
  return TRUE;
}

/* What can be done, what brings most first; its end is that all are real. */
static GArray *
rank_layers (const Ranking *r, GError **error)
{
  const LptQuantizeOptions *options = r->s->options;
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (Candidate));
  double all = noise_without (r, G_MAXUINT, FALSE, error),
         none = all >= 0.0 ? noise_without (r, G_MAXUINT, TRUE, error) : -1.0;
  double macs = 1.0;
  if (none < 0.0)
    return NULL;
  for (guint i = 0; i < r->own->layers->len; i++)
    macs += (double) ((LptQuantizedLayer *) g_ptr_array_index (r->own->layers, i))->macs;
  for (guint i = 0; i < r->own->layers->len; i++)
    {
      const LptQuantizedLayer *layer = g_ptr_array_index (r->own->layers, i);
      if (options->progress != NULL)
        options->progress ("ranking layers", i, r->own->layers->len, options->progress_data);
      if (layer->quantized && !rank_layer (r, i, all, none, macs, list, error))
        return NULL;
    }
  g_array_sort (list, compare);
  return g_steal_pointer (&list);
}

/* --- how many of them --------------------------------------------------------------------------- */

/* The first @n of @list: names that stay real, and those with wide data that do not. */
static void
take (GArray *list, guint n, GPtrArray *kept, GPtrArray *wide)
{
  for (guint i = 0; i < n; i++)
    {
      const Candidate *candidate = &g_array_index (list, Candidate, i);
      gboolean later = FALSE;
      for (guint k = 0; candidate->wide && k < n; k++)
        later |= !g_array_index (list, Candidate, k).wide &&
                 g_array_index (list, Candidate, k).index == candidate->index;
      if (!later)
        g_ptr_array_add (candidate->wide ? wide : kept, g_strdup (candidate->name));
    }
}

/* Points lost with the first @n of @list done; < -1000 + error. */
static double
try_first (const LptSearch *s, GArray *list, guint n, GError **error)
{
  LptQuantizeOptions options = *s->options;
  g_autoptr (LptQuantizeReport) own = lpt_quantize_report_new ();
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free), wide = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; options.wide != NULL && options.wide[i] != NULL; i++)
    g_ptr_array_add (wide, g_strdup (options.wide[i]));
  take (list, n, kept, wide);
  g_ptr_array_add (wide, NULL);
  options.wide = (const char *const *) wide->pdata;
  g_autoptr (LptGraph) graph = lpt_search_quantize (s, &options, kept, s->bound, own, error);
  LptData *judged = options.eval_data != NULL ? options.eval_data : s->data;
  g_autoptr (LptEvaluation) e = graph != NULL
    ? lpt_quantize_measure (s->real, graph, judged, options.config, &options.eval, error) : NULL;
  if (e == NULL)
    return -2000.0;
  if (options.eval.labels == NULL)
    return 100.0 * (1.0 - e->agree);
  const LptScore *a = &g_array_index (e->scores[0], LptScore, 0), *b = &g_array_index (e->scores[1], LptScore, 0);
  return 100.0 * (a->value - b->value);
}

/* 3 of 60 answers are 5 points, not 5.000000000000004. */
static gboolean
holds (const LptSearch *s, double drop)
{
  return drop <= s->options->max_drop + 1e-6;
}

/* The least number that holds the limit; G_MAXUINT + error. */
static guint
bisect (const LptSearch *s, GArray *list, GError **error)
{
  /* The first @high hold the limit, or nothing does. */
  guint low = 0, high = list->len;
  while (high - low > 1)
    {
      guint middle = (low + high) / 2;
      double drop = try_first (s, list, middle, error);
      g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free),
                            wide = g_ptr_array_new_with_free_func (g_free);
      if (drop < -1000.0)
        return G_MAXUINT;
      take (list, middle, kept, wide);
      g_ptr_array_add (s->report->remarks,
                       g_strdup_printf ("%u layers kept real, %u with data of 16 bits: %.2f points lost", kept->len,
                                        wide->len, drop));
      if (holds (s, drop))
        high = middle;
      else
        low = middle;
    }
  if (high < list->len)
    return high;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no choice of layers that stay real keeps within %.2f points",
               s->options->max_drop);
  return G_MAXUINT;
}

gboolean
lpt_quantize_choose_layers (LptSearch *s, GError **error)
{
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (Candidate));
  double drop = try_first (s, none, 0, error);
  if (drop < -1000.0)
    return FALSE;
  g_ptr_array_add (s->report->remarks, g_strdup_printf ("all quantized: %.2f points lost", drop));
  if (holds (s, drop))
    return TRUE;
  g_autoptr (LptQuantizeReport) own = lpt_quantize_report_new ();
  g_autoptr (LptGraph) quantized = lpt_search_quantize (s, s->options, NULL, s->bound, own, error);
  g_autoptr (LptData) some = lpt_data_spread (s->data, LPT_SEARCH_SAMPLES, FALSE);
  const Ranking ranking = { s, own, quantized, some };
  g_autoptr (GArray) list = quantized != NULL ? rank_layers (&ranking, error) : NULL;
  guint n = list != NULL ? bisect (s, list, error) : G_MAXUINT;
  if (n != G_MAXUINT)
    take (list, n, s->report->kept, s->report->wide);
  return n != G_MAXUINT;
}
