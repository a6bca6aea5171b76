/* debug-faults.c - does lpt_debug_run() find what was planted, and is what it says true?
 *
 *   debug-faults [--trials N] [--seed N] [--samples N] NAME=MODEL[,SAMPLES[,MEAN[,SCALE]]]...
 *
 * Each model is quantized; then one quantizer is harmed: a range times or divided by 4, the scale of one channel of
 * weights likewise, a zero point moved. Harm that costs the output less than 6 dB is drawn again. The layer must be
 * first in the list, and the remedy that is named first the best of those tried on samples that were not seen (within
 * 0.1 dB: two of them may do the same). On the model as it was, keeping the first three layers float must gain 90 % of
 * what the best three of the first eight gain.
 * A model that is quantized loses its quantizers first. Samples become (x - MEAN) / SCALE (MEAN, where it is not
 * given); without SAMPLES numbers are drawn. Prints TAP.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/files.h"

#include <lpt/lpt.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FALL   6.0
#define DRAWS  60
#define NEARBY 8
#define ENOUGH 0.9
#define TIE    0.1

static guint samples_wanted = 64;

/* --- samples ---------------------------------------------------------------------- */

/* Some samples of others, or numbers that are drawn. */
typedef struct { LptData data; LptData *of; LptGraph *graph; guint first; } Samples;

static gboolean
draw_sample (const Samples *samples, guint i, LptTensor **tensors, GError **error)
{
  GRand *rand = g_rand_new_with_seed (1000 + samples->first + i);
  for (guint k = 0; k < samples->graph->parameters->len; k++)
    {
      LptNode *parameter = samples->graph->parameters->pdata[k];
      gint64 n = 0;
      g_assert_true (lpt_shape_count (&parameter->out[0].shape, &n));
      g_autofree float *values = g_new (float, n);
      for (gint64 j = 0; j < n; j++)
        values[j] = (float) (g_rand_double (rand) + g_rand_double (rand) + g_rand_double (rand) - 1.5);
      tensors[k] = lpt_tensor_from_f32 (&parameter->out[0].shape, values, error);
    }
  g_rand_free (rand);
  return TRUE;
}

static gboolean
get_sample (LptData *data, guint i, LptTensor **tensors, GError **error)
{
  const Samples *samples = (Samples *) data;
  return samples->of != NULL ? lpt_data_get (samples->of, samples->first + i, tensors, error)
                             : draw_sample (samples, i, tensors, error);
}

static Samples
some (LptData *of, LptGraph *graph, guint first, guint n)
{
  return (Samples) { { n, get_sample, NULL, NULL }, of, graph, first };
}

/* --- harm --------------------------------------------------------------------------- */

static GPtrArray *
find_quantizers (LptGraph *graph, gboolean of_weights)
{
  GPtrArray *list = g_ptr_array_new ();
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      if (node->op == LPT_OP_FAKE_QUANTIZE && !(node->flags & LPT_NODE_DEAD) &&
          lpt_node_is_const (lpt_node_src (node, 0)) == of_weights)
        g_ptr_array_add (list, node);
    }
  return list;
}

/* Ends of the interval: (low, high) times @factor plus @shift of its width, of channel @channel or of all (-1). */
static void
change_interval (LptNode *fq, gint64 channel, double factor, double shift)
{
  LptTensor *ends[2] = { lpt_node_const_in (fq, 1), lpt_node_const_in (fq, 2) };
  gint64 n = lpt_tensor_count (ends[0]);
  g_autofree float *low = lpt_tensor_to_f32 (ends[0], NULL), *high = lpt_tensor_to_f32 (ends[1], NULL);
  for (gint64 i = 0; i < n; i++)
    {
      double width = (double) high[i] - low[i];
      if (channel >= 0 && i != channel)
        continue;
      low[i] = (float) (factor * low[i] + shift * width);
      high[i] = (float) (factor * high[i] + shift * width);
    }
  for (guint k = 0; k < 2; k++)
    {
      g_autoptr (LptTensor) tensor = lpt_tensor_from_f32 (lpt_tensor_shape (ends[k]), k == 0 ? low : high, NULL);
      LptNode *constant = lpt_graph_add_const (fq->graph, NULL, tensor);
      lpt_node_set_input (fq, 1 + k, &constant->out[0]);
      lpt_node_set_input (fq, 3 + k, &constant->out[0]);
    }
}

/* The name of the quantizer that was harmed, or of the op whose weights were (transfer full); what was done into
 * @what. */
static char *
harm (LptGraph *graph, GRand *rand, guint kind, GString *what)
{
  gboolean of_weights = kind == 2;
  g_autoptr (GPtrArray) list = find_quantizers (graph, of_weights);
  LptNode *fq = list->pdata[g_rand_int_range (rand, 0, (gint) list->len)];
  double factor = kind == 0 ? 4.0 : kind == 1 || g_rand_boolean (rand) ? 0.25 : 4.0, shift = (g_rand_boolean (rand) ? 1.0 : -1.0) * g_rand_double_range (rand, 0.1, 0.5);
  gint64 n = lpt_tensor_count (lpt_node_const_in (fq, 1)),
         channel = of_weights ? g_rand_int_range (rand, 0, (gint) n) : -1;
  if (kind == 3)
    change_interval (fq, -1, 1.0, shift);
  else
    change_interval (fq, channel, factor, 0.0);
  g_string_printf (what, kind == 3 ? "zero point of %s moved by %.2f of the range" : of_weights ? "one scale of %s x %.2f" : "range of %s x %.2f", fq->name, kind == 3 ? shift : factor);
  return g_strdup (of_weights ? lpt_value_use (&fq->out[0], 0)->node->name : fq->name);
}

/* Is that the layer at the top of the list? */
static gboolean
is_first (const LptDebug *debug, const char *name)
{
  const LptDebugLayer *first = debug->layers->pdata[0];
  gboolean is = g_str_equal (first->name, name);
  for (guint i = 0; i < first->grids->len; i++)
    is |= g_str_equal (((LptDebugGrid *) first->grids->pdata[i])->name, name);
  return is;
}

/* Is the remedy named first the best on samples that were not seen? */
static gboolean
is_best (const LptDebugLayer *layer)
{
  double best = -HUGE_VAL;
  for (guint i = 0; i < layer->remedies->len; i++)
    best = fmax (best, ((LptDebugRemedy *) layer->remedies->pdata[i])->held);
  return layer->remedies->len > 0 && ((LptDebugRemedy *) layer->remedies->pdata[0])->held >= best - TIE;
}

/* --- networks ----------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  LptGraph   *real, *model;
  LptData    *file;
  Samples     seen, held;
  double      sqnr;
  guint       trials, found, best;
} Network;

static void
die (GError *error)
{
  printf ("Bail out! %s\n", error->message);
  exit (1);
}

static void
leave_out_quantizers (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      if (node->op == LPT_OP_FAKE_QUANTIZE)
        lpt_value_replace (&node->out[0], lpt_node_in (node, 0), NULL);
    }
  lpt_graph_sweep (graph);
}

static void
open_network (Network *n, const char *text)
{
  GError *error = NULL;
  g_auto (GStrv) parts = g_strsplit (strchr (text, '=') + 1, ",", 4);
  g_autoptr (LptConfig) config = lpt_config_new ();
  LptQuantizeOptions options;
  LptDataOptions samples = { .limit = 0 };
  n->real = cmd_load (parts[0], &error);
  if (n->real == NULL)
    die (error);
  leave_out_quantizers (n->real);
  if (parts[1] != NULL && parts[2] != NULL &&
      (!lpt_data_options_mean (&samples, parts[2], &error) ||
       !lpt_data_options_scale (&samples, parts[3] != NULL ? parts[3] : parts[2], &error)))
    die (error);
  if (parts[1] != NULL &&
      (n->file = lpt_data_open (n->real, (const char *[]) { parts[1], NULL }, &samples, &error)) == NULL)
    die (error);
  guint half = n->file != NULL ? MIN (samples_wanted, n->file->n / 2) : samples_wanted;
  n->seen = some (n->file, n->real, 0, half);
  n->held = some (n->file, n->real, half, half);
  n->model = lpt_graph_copy (n->real);
  lpt_quantize_options_init (&options, "fast", NULL);
  options.config = config;
  if (!lpt_quantize (n->model, &n->seen.data, &options, NULL, &error))
    die (error);
}

static double
kept (const Network *n, LptGraph *model, const char *const *names)
{
  GError *error = NULL;
  const LptDebugOptions options = { .threads = 1, .judged = samples_wanted, .limit = samples_wanted };
  double sqnr = lpt_debug_kept (model, n->real, (LptData *) &n->seen.data, names, &options, &error);
  if (isnan (sqnr))
    die (error);
  return sqnr;
}

static LptDebug *
look (const Network *n, LptGraph *model, guint remedies)
{
  GError *error = NULL;
  const LptDebugOptions options = { .threads = 1, .judged = samples_wanted, .limit = samples_wanted, .remedies = remedies, .held = (LptData *) &n->held.data };
  LptDebug *debug = lpt_debug_run (model, n->real, (LptData *) &n->seen.data, &options, &error);
  if (debug == NULL)
    die (error);
  return debug;
}

/* Harms by @kind; FALSE: nothing of that kind costs enough. */
static gboolean
try_harm (Network *n, GRand *rand, guint kind)
{
  g_autoptr (GString) what = g_string_new (NULL);
  for (guint draw = 0; draw < DRAWS; draw++)
    {
      g_autoptr (LptGraph) harmed = lpt_graph_copy (n->model);
      g_autofree char *name = harm (harmed, rand, kind, what);
      double sqnr = kept (n, harmed, NULL);
      if (sqnr > n->sqnr - FALL)
        continue;
      g_autoptr (LptDebug) debug = look (n, harmed, 1);
      const LptDebugLayer *first = debug->layers->pdata[0];
      gboolean found = is_first (debug, name), best = is_best (first);
      n->trials++;
      n->found += found;
      n->best += best;
      printf ("# %s: %s (%.1f to %.1f dB): %s%s%s; named first: %s%s\n", n->name, what->str, n->sqnr, sqnr,
              found ? "first" : "NOT first, but ", found ? "" : first->name, "",
              ((LptDebugRemedy *) first->remedies->pdata[0])->kind, best ? "" : ", NOT the best on other samples");
      for (guint i = 0; !found && i < MIN (4, debug->layers->len); i++)
        printf ("#   %.2f dB: %s\n", ((LptDebugLayer *) debug->layers->pdata[i])->gain,
                ((LptDebugLayer *) debug->layers->pdata[i])->name);
      for (guint i = 0; i < first->remedies->len; i++)
        printf ("#   %.2f dB, %.2f dB on other samples: %s\n", ((LptDebugRemedy *) first->remedies->pdata[i])->sqnr,
                ((LptDebugRemedy *) first->remedies->pdata[i])->held,
                ((LptDebugRemedy *) first->remedies->pdata[i])->text);
      fflush (stdout);
      return TRUE;
    }
  return FALSE;
}

/* What the first three gain, as a share of what the best three gain. */
static double
share_of_best (const Network *n)
{
  g_autoptr (LptDebug) debug = look (n, n->model, 0);
  guint m = MIN (NEARBY, debug->layers->len);
  double first = 0.0, best = -HUGE_VAL;
  for (guint i = 0; i < m; i++)
    for (guint j = i + 1; j < m; j++)
      for (guint k = j + 1; k < m; k++)
        {
          const char *names[] = { ((LptDebugLayer *) debug->layers->pdata[i])->name,
                                  ((LptDebugLayer *) debug->layers->pdata[j])->name,
                                  ((LptDebugLayer *) debug->layers->pdata[k])->name, NULL };
          double gain = kept (n, n->model, names) - debug->sqnr;
          first = i + j + k == 3 ? gain : first;
          best = MAX (best, gain);
        }
  return isfinite (first) && best > 0.0 ? first / best : 1.0;
}

static gboolean
run_network (const char *text, guint trials, guint seed, guint number)
{
  g_autofree char *name = g_strndup (text, (gsize) (strchr (text, '=') - text));
  Network n = { .name = name };
  GRand *rand = g_rand_new_with_seed (seed);
  open_network (&n, text);
  n.sqnr = kept (&n, n.model, NULL);
  for (guint kind = 0, missed = 0; n.trials < trials && missed < 4; kind++)
    missed = try_harm (&n, rand, kind % 4) ? 0 : missed + 1;
  double share = share_of_best (&n);
  gboolean found = n.trials > 0 && n.found == n.trials, best = n.best * 10 >= n.trials * 8, three = share >= ENOUGH;
  printf ("%s %u - %s: found %u of %u\n", found ? "ok" : "not ok", 3 * number + 1, name, n.found, n.trials);
  printf ("%s %u - %s: the remedy named first is the best in %u of %u\n", best ? "ok" : "not ok", 3 * number + 2, name,
          n.best, n.trials);
  printf ("%s %u - %s: the first three layers gain %.0f %% of what the best three do\n", three ? "ok" : "not ok",
          3 * number + 3, name, 100.0 * share);
  fflush (stdout);
  g_rand_free (rand);
  lpt_graph_free (n.model);
  lpt_graph_free (n.real);
  lpt_data_free (n.file);
  return found && best && three;
}

int
main (int argc, char **argv)
{
  guint trials = 20, seed = 1, n = 0;
  gboolean fine = TRUE;
  for (int i = 1; i < argc; i++)
    if (g_str_equal (argv[i], "--trials") && i + 1 < argc)
      trials = (guint) g_ascii_strtoull (argv[++i], NULL, 10);
    else if (g_str_equal (argv[i], "--samples") && i + 1 < argc)
      samples_wanted = (guint) g_ascii_strtoull (argv[++i], NULL, 10);
    else if (g_str_equal (argv[i], "--seed") && i + 1 < argc)
      seed = (guint) g_ascii_strtoull (argv[++i], NULL, 10);
    else if (strchr (argv[i], '=') != NULL)
      fine &= run_network (argv[i], trials, seed, n++);
    else
      return fprintf (stderr,
                      "debug-faults [--trials N] [--seed N] [--samples N] NAME=MODEL[,SAMPLES[,MEAN[,SCALE]]]...\n"),
             2;
  printf ("1..%u\n", 3 * n);
  return fine ? 0 : 1;
}
