/* search.c - which repairs of the float graph, which layers stay real
 *
 * Equalization's bound: quantization without repairs of rounding is tried with 1, 2, 4, 8 and 16; a greater one has to
 * help (trial.h) on up to 32 samples. Smoothing has to help likewise where it changes something.
 *
 * Layers that stay real: with labels the drop is the metric of the float model less that of the quantized one, without
 * it is the share of answers that differ, in points. Where it is too large, every layer is left real by itself in the
 * quantized graph (its weights as they were, nothing else changed) and the SQNR of up to 32 samples taken; layers are
 * sorted by what they bring per share of the MACs, the earlier of equal ones first. Then the least number of them that
 * holds the limit is looked for by bisection, each try being a whole quantization with these kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/search.h"
#include "quantize/samples.h"
#include "quantize/steps.h"
#include "quantize/trial.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-pass.h>

#include <math.h>

#define SAMPLES 32

/* Quantizes a copy of the float graph, with @kept (nullable) real (transfer full); *report gets what was done. NULL +
   error. */
static LptGraph *
quantize (const LptSearch *s, const LptQuantizeOptions *options, GPtrArray *kept, double bound,
          LptQuantizeReport *report, GError **error)
{
  LptQuantizeOptions silent = *options;
  g_autoptr (LptGraph) graph = lpt_graph_copy (s->real);
  silent.stats_out = NULL;
  report->digest = g_strdup (s->report->digest);
  return lpt_quantize_run (graph, s->data, &silent, kept, bound, report, error) ? g_steal_pointer (&graph) : NULL;
}

/* --- repairs of the float graph ----------------------------------------------------------------- */

/* A quantization of @real with these repairs of the float graph and the cheap ones behind; *changed (nullable): norms
   smoothed. */
static LptEvaluation *
try_float (const LptSearch *s, guint repairs, double bound, guint *changed, GError **error)
{
  LptQuantizeOptions cheap = *s->options;
  const LptEvalOptions eval = { .threads = cheap.threads };
  g_autoptr (LptData) some = lpt_data_spread (s->data, SAMPLES, FALSE);
  g_autoptr (LptQuantizeReport) own = lpt_quantize_report_new ();
  cheap.unchecked = TRUE;
  cheap.repairs = repairs;
  for (guint i = 0; i < lpt_repair_count (); i++)
    if (lpt_repair_row (i)->stage == LPT_REPAIR_ROUNDING)
      cheap.repairs &= ~(1u << i);
  g_autoptr (LptGraph) graph = quantize (s, &cheap, NULL, bound, own, error);
  if (changed != NULL)
    *changed = own->n_smoothed;
  return graph != NULL ? lpt_quantize_measure (s->real, graph, some, cheap.config, &eval, error) : NULL;
}

static gboolean
choose_bound (LptSearch *s, GError **error)
{
  static const double bounds[] = { 1, 2, 4, 8, 16 };
  g_autoptr (LptEvaluation) best = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (bounds); i++)
    {
      g_autoptr (LptEvaluation) e = try_float (s, s->options->repairs, bounds[i], NULL, error);
      if (e == NULL)
        return FALSE;
      g_ptr_array_add (s->report->remarks,
                       g_strdup_printf ("equalization with factors up to %g: SQNR %.2f dB", bounds[i], e->sqnr_all));
      if (best != NULL && !lpt_trial_helps (best, e))
        continue;
      s->bound = bounds[i];
      lpt_evaluation_free (best);
      best = g_steal_pointer (&e);
    }
  return TRUE;
}

static gboolean
choose_smoothing (LptSearch *s, GError **error)
{
  guint changed, bit = 1u << lpt_repair_find ("smoothing");
  g_autoptr (LptEvaluation) with = try_float (s, s->options->repairs, s->bound, &changed, error);
  if (with == NULL || changed == 0)
    return with != NULL;
  g_autoptr (LptEvaluation) without = try_float (s, s->options->repairs & ~bit, s->bound, NULL, error);
  if (without == NULL)
    return FALSE;
  gboolean helps = lpt_trial_helps (without, with);
  if (!helps)
    s->options->repairs &= ~bit;
  g_ptr_array_add (s->report->remarks, g_strdup_printf ("smoothing: %s, SQNR %.2f to %.2f dB",
                                                     helps ? "helps" : "left out", without->sqnr_all, with->sqnr_all));
  return TRUE;
}

gboolean
lpt_quantize_choose_float (LptSearch *s, gboolean equalize, GError **error)
{
  gboolean smooth = (s->options->repairs >> lpt_repair_find ("smoothing") & 1) != 0;
  return (!equalize || choose_bound (s, error)) && (!smooth || s->options->unchecked || choose_smoothing (s, error));
}

/* --- layers that stay real ---------------------------------------------------------------------- */

/* Its weights without FakeQuantize, as they were; its data real where nobody else reads the FakeQuantize. */
static gboolean
leave_real (LptGraph *graph, LptGraph *real, const char *name, GError **error)
{
  LptNode *node = lpt_graph_find (graph, name), *was = lpt_graph_find (real, name);
  for (guint port = 0; node != NULL && was != NULL && port < 2; port++)
    {
      LptNode *fq = lpt_node_src (node, port);
      LptTensor *constant = lpt_node_const_in (was, port);
      if (fq == NULL || fq->op != LPT_OP_FAKE_QUANTIZE)
        continue;
      if (constant != NULL)
        {
          LptNode *copy = lpt_graph_add_const (graph, NULL, constant);
          lpt_node_set_input (node, port, lpt_node_out (copy));
        }
      else if (fq->out[0].uses->len == 1)
        lpt_node_set_input (node, port, lpt_node_in (fq, 0));
    }
  lpt_graph_sweep (graph);
  return lpt_graph_infer (graph, error);
}

typedef struct { const char *name; double gain; guint index; } Candidate;

static gint
compare (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;
  return x->gain != y->gain ? (x->gain < y->gain) - (x->gain > y->gain) : (x->index > y->index) - (x->index < y->index);
}

/* The layers, the one that brings most first. */
static GArray *
rank_layers (const LptSearch *s, LptGraph *quantized, const LptQuantizeReport *report, GError **error)
{
  const LptQuantizeOptions *options = s->options;
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_autoptr (LptData) head = lpt_data_spread (s->data, SAMPLES, FALSE);
  const LptEvalOptions eval = { .threads = options->threads };
  g_autoptr (LptEvaluation) base = lpt_quantize_measure (s->real, quantized, head, options->config, &eval, error);
  double macs = 1.0;
  if (base == NULL)
    return NULL;
  for (guint i = 0; i < report->layers->len; i++)
    macs += (double) ((LptQuantizedLayer *) g_ptr_array_index (report->layers, i))->macs;
  for (guint i = 0; i < report->layers->len; i++)
    {
      const LptQuantizedLayer *layer = g_ptr_array_index (report->layers, i);
      g_autoptr (LptGraph) copy = lpt_graph_copy (quantized);
      if (options->progress != NULL)
        options->progress ("ranking layers", i, report->layers->len, options->progress_data);
      if (!layer->quantized)
        continue;
      if (!leave_real (copy, s->real, layer->name, error))
        return NULL;
      g_autoptr (LptEvaluation) e = lpt_quantize_measure (s->real, copy, head, options->config, &eval, error);
      if (e == NULL)
        return NULL;
      Candidate candidate = { layer->name, (e->sqnr - base->sqnr) / (0.02 + (double) layer->macs / macs), i };
      g_array_append_val (list, candidate);
    }
  g_array_sort (list, compare);
  return g_steal_pointer (&list);
}

/* Points lost by a quantization that keeps the first @n of @list; < -1000 + error. */
static double
try_kept (const LptSearch *s, GArray *list, guint n, GError **error)
{
  const LptQuantizeOptions *options = s->options;
  g_autoptr (LptQuantizeReport) own = lpt_quantize_report_new ();
  g_autoptr (GPtrArray) kept = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (kept, (gpointer) g_array_index (list, Candidate, i).name);
  g_autoptr (LptGraph) graph = quantize (s, options, kept, s->bound, own, error);
  if (graph == NULL)
    return -2000.0;
  LptData *judged = options->eval_data != NULL ? options->eval_data : s->data;
  g_autoptr (LptEvaluation) e = lpt_quantize_measure (s->real, graph, judged, options->config, &options->eval, error);
  if (e == NULL)
    return -2000.0;
  if (options->eval.labels == NULL)
    return 100.0 * (1.0 - e->agree);
  const LptScore *a = &g_array_index (e->scores[0], LptScore, 0), *b = &g_array_index (e->scores[1], LptScore, 0);
  return 100.0 * (a->value - b->value);
}

static GPtrArray *
take (GArray *list, guint n)
{
  GPtrArray *kept = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (kept, g_strdup (g_array_index (list, Candidate, i).name));
  return kept;
}

GPtrArray *
lpt_quantize_find_kept (LptSearch *s, GError **error)
{
  const LptQuantizeOptions *options = s->options;
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (Candidate));
  double drop = try_kept (s, none, 0, error);
  if (drop < -1000.0)
    return NULL;
  g_ptr_array_add (s->report->remarks, g_strdup_printf ("all quantized: %.2f points lost", drop));
  if (drop <= options->max_drop)
    return take (none, 0);
  g_autoptr (LptQuantizeReport) own = lpt_quantize_report_new ();
  g_autoptr (LptGraph) quantized = quantize (s, options, NULL, s->bound, own, error);
  if (quantized == NULL)
    return NULL;
  g_autoptr (GArray) list = rank_layers (s, quantized, own, error);
  if (list == NULL)
    return NULL;
  /* The first @high always holds the limit, or nothing does. */
  guint low = 0, high = list->len;
  while (high - low > 1)
    {
      guint middle = (low + high) / 2;
      drop = middle < list->len ? try_kept (s, list, middle, error) : 0.0;
      if (drop < -1000.0)
        return NULL;
      g_ptr_array_add (s->report->remarks, g_strdup_printf ("%u layers kept real: %.2f points lost", middle, drop));
      if (drop <= options->max_drop)
        high = middle;
      else
        low = middle;
    }
  if (high == list->len)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no choice of layers that stay real keeps within %.2f points",
                   options->max_drop);
      return NULL;
    }
  return take (list, high);
}
