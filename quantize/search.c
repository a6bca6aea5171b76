/* search.c - which repairs of the float graph
 *
 * Equalization's bound: quantization without repairs of rounding is tried with 1, 2, 4, 8 and 16; a greater one has to
 * help (trial.h) on up to 32 samples. Smoothing has to help likewise where it changes something.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/search.h"
#include "quantize/samples.h"
#include "quantize/steps.h"
#include "quantize/trial.h"

#include <lpt/lpt-pass.h>

LptGraph *
lpt_search_quantize (const LptSearch *s, const LptQuantizeOptions *options, GPtrArray *kept, double bound,
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
  g_autoptr (LptData) some = lpt_data_spread (s->data, LPT_SEARCH_SAMPLES, FALSE);
  g_autoptr (LptQuantizeReport) own = lpt_quantize_report_new ();
  cheap.unchecked = TRUE;
  cheap.repairs = repairs;
  for (guint i = 0; i < lpt_repair_count (); i++)
    if (lpt_repair_row (i)->stage == LPT_REPAIR_ROUNDING)
      cheap.repairs &= ~(1u << i);
  g_autoptr (LptGraph) graph = lpt_search_quantize (s, &cheap, NULL, bound, own, error);
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
