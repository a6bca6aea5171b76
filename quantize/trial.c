/* trial.c - repairs stay where they help
 *
 * A repair that chooses codes or biases is run, the graph with FakeQuantize is transformed, lowered and run beside the
 * float graph on samples that repairs do not see (held back: every so many of them, up to a quarter and 32; all of them
 * when there are fewer than 8), and what the repair did is undone unless it helps. Repairs of biases move one number of
 * each channel, a mean over all places and samples, and hardly fit anything: they are judged on up to 128 of all
 * samples, for a quarter of them tells too little. A repair helps when
 *
 *     gain = (SQNR after - SQNR before) + 10 log10 (D before / D after) > 0.05 dB
 *
 * with SQNR over all outputs, each by its own size, and D the mean divergence of the classes' distributions
 * (agreement.h), which is about what decides an answer where SQNR is about all elements alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/samples.h"
#include "quantize/trial.h"

#include <lpt/lpt-pass.h>

#include <math.h>

#define LEAST_GAIN 0.05

LptEvaluation *
lpt_quantize_measure (LptGraph *real, LptGraph *quantized, LptData *data, const LptConfig *config,
                      const LptEvalOptions *options, GError **error)
{
  g_autoptr (LptGraph) lowered = lpt_graph_copy (quantized);
  LptEvalOptions both = *options;
  both.sources = (LptGraph *const[]) { real, quantized };
  both.plan_flags = LPT_PLAN_ORDERED;      /* what is decided here depends on no processor */
  if (!lpt_pipeline_run (lowered, config, NULL, NULL, error))
    return NULL;
  return lpt_evaluate ((LptGraph *const[]) { real, lowered }, 2, data, &both, error);
}

double
lpt_trial_gain (const LptEvaluation *before, const LptEvaluation *after)
{
  double gain = after->sqnr_all == before->sqnr_all ? 0.0 : after->sqnr_all - before->sqnr_all;
  if (before->divergence > 0.0 && after->divergence > 0.0)
    gain += 10.0 * log10 (before->divergence / after->divergence);
  return gain;
}

gboolean
lpt_trial_helps (const LptEvaluation *before, const LptEvaluation *after)
{
  return lpt_trial_gain (before, after) > LEAST_GAIN;
}

/* --- what a repair may change ------------------------------------------------------------------ */

typedef struct { float *weights; double *bias; } Kept;

static void
kept_clear (gpointer data)
{
  Kept *kept = data;
  g_free (kept->weights);
  g_free (kept->bias);
}

/* NULL + error. */
static GArray *
save_layers (LptQuantizer *q, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, TRUE, sizeof (Kept));
  g_array_set_clear_func (list, kept_clear);
  for (guint i = 0; i < q->layers->len; i++)
    {
      const LptLayer *layer = g_ptr_array_index (q->layers, i);
      Kept kept = { lpt_layer_weights (layer, error), NULL };
      if (kept.weights != NULL)
        kept.bias = lpt_layer_bias (layer, error);
      g_array_append_val (list, kept);
      if (kept.bias == NULL)
        return NULL;
    }
  return g_steal_pointer (&list);
}

static gboolean
restore_layers (LptQuantizer *q, GArray *list, GError **error)
{
  for (guint i = 0; i < q->layers->len; i++)
    {
      LptLayer *layer = g_ptr_array_index (q->layers, i);
      const Kept *kept = &g_array_index (list, Kept, i);
      if (!lpt_layer_set_weights (layer, kept->weights, error)
          || (layer->bias != NULL && !lpt_layer_set_bias (layer, kept->bias, error)))
        return FALSE;
    }
  return TRUE;
}

/* --- trials ----------------------------------------------------------------------------------- */

#define JUDGED 128      /* samples that repairs of biases are judged on */

/* On @some samples. */
static LptEvaluation *
measure (LptQuantizer *q, LptGraph *real, LptData *some, GError **error)
{
  const LptEvalOptions options = { .threads = q->options->threads };
  g_autoptr (LptGraph) copy = lpt_graph_copy (q->graph);
  if (!lpt_quantize_insert (q, copy, error))
    return NULL;
  return lpt_quantize_measure (real, copy, some, q->options->config, &options, error);
}

/* Runs repair @i; *best is what was measured on @some before, and what is after. */
static gboolean
try_repair (LptQuantizer *q, guint i, LptGraph *real, LptData *some, LptEvaluation **best, GError **error)
{
  const LptRepair *repair = lpt_repair_row (i);
  g_autoptr (GArray) before = *best != NULL ? save_layers (q, error) : NULL;
  if ((*best != NULL && before == NULL) || !repair->run (q, error))
    {
      g_prefix_error (error, "%s: ", repair->name);
      return FALSE;
    }
  if (*best == NULL)
    return TRUE;
  g_autoptr (LptEvaluation) after = measure (q, real, some, error);
  if (after == NULL)
    return FALSE;
  gboolean helps = lpt_trial_helps (*best, after);
  lpt_quantizer_remark (q, "%s: %s, SQNR %.2f to %.2f dB, divergence %.3g to %.3g", repair->name,
                        helps ? "helps" : "left out", (*best)->sqnr_all, after->sqnr_all, (*best)->divergence,
                        after->divergence);
  if (!helps)
    return restore_layers (q, before, error);
  lpt_evaluation_free (*best);
  *best = g_steal_pointer (&after);
  return TRUE;
}

gboolean
lpt_trial_repairs (LptQuantizer *q, GError **error)
{
  g_autoptr (LptGraph) real = lpt_graph_copy (q->graph);
  g_autoptr (LptData) many = lpt_data_spread (q->data, JUDGED, FALSE);
  g_autoptr (LptEvaluation) best = NULL;
  LptData *judged = NULL;
  for (guint i = 0; i < lpt_repair_count (); i++)
    {
      if (lpt_repair_row (i)->stage == LPT_REPAIR_FLOAT || (q->options->repairs >> i & 1) == 0)
        continue;
      lpt_quantizer_step (q, lpt_repair_name (i), 0, 0);
      LptData *some = lpt_repair_row (i)->stage == LPT_REPAIR_BIAS ? many : q->held;
      if (judged != some && !q->options->unchecked)
        {
          judged = some;
          g_clear_pointer (&best, lpt_evaluation_free);
          best = measure (q, real, some, error);
          if (best == NULL)
            return FALSE;
        }
      if (!try_repair (q, i, real, some, &best, error))
        return FALSE;
    }
  return TRUE;
}
