/* cmd-eval.c - lptc eval: how good a model is on labelled samples
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/data-args.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/runnable.h"

#include <lpt/lpt-eval.h>

#include <math.h>
#include <stdio.h>

typedef struct
{
  CmdRunArgs  form;
  CmdDataArgs data;
  char       *labels, *metric;
  gint        threads, offset;
  gboolean    json;
} EvalArgs;

static void
eval_args_clear (EvalArgs *args)
{
  cmd_run_args_clear (&args->form);
  cmd_data_args_clear (&args->data);
  g_free (args->labels);
  g_free (args->metric);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (EvalArgs, eval_args_clear)

/* --- what is printed --------------------------------------------------------------- */

static void
print_text (const LptEvaluation *e, char **models)
{
  for (guint m = 0; m < e->n_models; m++)
    {
      printf ("%s: %u samples", models[m], e->n_samples);
      for (guint k = 0; k < e->scores[m]->len; k++)
        {
          const LptScore *s = &g_array_index (e->scores[m], LptScore, k);
          printf (", %s %.4f [%.4f, %.4f] of %" G_GINT64_FORMAT, s->metric, s->value, s->low, s->high, s->count);
        }
      printf (", %.1f samples/s\n", e->run_seconds[m] > 0.0 ? e->n_samples / e->run_seconds[m] : 0.0);
    }
  if (e->n_models < 2)
    return;
  if (e->p >= 0.0)
    printf ("lost %" G_GINT64_FORMAT ", won %" G_GINT64_FORMAT ", p %.4f (McNemar)\n", e->lost, e->won, e->p);
  if (e->n_agree > 0)
    printf ("same answer in %.4f [%.4f, %.4f] of %" G_GINT64_FORMAT ", ", e->agree, e->agree_low, e->agree_high,
            e->n_agree);
  if (e->n_agree > 0)
    printf ("divergence %.3g, ", e->divergence);
  printf ("SQNR %.2f dB\n", e->sqnr);
}

static void
add_number (GString *s, const char *name, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (s, ", \"%s\": %s", name,
                          isfinite (value) ? g_ascii_formatd (text, sizeof text, "%.9g", value) : "null");
}

static void
print_json (const LptEvaluation *e, char **models)
{
  g_autoptr (GString) s = g_string_new ("{\"models\": [");
  for (guint m = 0; m < e->n_models; m++)
    {
      g_string_append (s, m > 0 ? ",\n {\"model\": " : "\n {\"model\": ");
      cmd_json_string (s, models[m]);
      g_string_append_printf (s, ", \"samples\": %u", e->n_samples);
      add_number (s, "samples_per_second", e->run_seconds[m] > 0.0 ? e->n_samples / e->run_seconds[m] : 0.0);
      g_string_append (s, ", \"scores\": [");
      for (guint k = 0; k < e->scores[m]->len; k++)
        {
          const LptScore *score = &g_array_index (e->scores[m], LptScore, k);
          g_string_append_printf (s, "%s{\"metric\": \"%s\"", k > 0 ? ", " : "", score->metric);
          add_number (s, "value", score->value);
          add_number (s, "low", score->low);
          add_number (s, "high", score->high);
          g_string_append_printf (s, ", \"count\": %" G_GINT64_FORMAT "}", score->count);
        }
      g_string_append (s, "]}");
    }
  g_string_append (s, "]");
  add_number (s, "data_seconds", e->data_seconds);
  if (e->n_models == 2)
    {
      add_number (s, "sqnr_db", e->sqnr);
      add_number (s, "sqnr_all_db", e->sqnr_all);
      add_number (s, "divergence", e->divergence);
      add_number (s, "agree", e->agree);
      add_number (s, "agree_low", e->agree_low);
      add_number (s, "agree_high", e->agree_high);
      g_string_append_printf (s, ", \"lost\": %" G_GINT64_FORMAT ", \"won\": %" G_GINT64_FORMAT, e->lost, e->won);
      add_number (s, "p", e->p >= 0.0 ? e->p : NAN);
    }
  puts (g_string_append_c (s, '}')->str);
}

/* Answers that are nearly all one class mean wrong samples more often than a bad model. */
static void
warn_about (const LptEvaluation *e, char **models)
{
  for (guint m = 0; m < e->n_models; m++)
    if (e->n_samples >= 10 && e->n_agree == (gint64) e->n_samples && e->top_share[m] >= 0.95)
      cmd_note ("%s answers %.0f %% of the samples with class %" G_GINT64_FORMAT
                ": are --mean, --scale, --channels and --layout what the model was trained with?",
                models[m], 100.0 * e->top_share[m], e->top_class[m]);
}

/* The largest share of labels that are one class, and which; 0: they are no classes. */
static double
find_top_label (LptData *labels, gint64 *class)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  guint most = 0;
  for (guint i = 0; i < labels->n; i++)
    {
      g_autoptr (LptTensor) label = NULL;
      if (!lpt_data_get (labels, i, &label, NULL) || lpt_tensor_count (label) != 1)
        return 0.0;
      gint64 value = (gint64) lpt_tensor_get_f64 (label, 0);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, &value)) + 1;
      g_hash_table_replace (counts, g_memdup2 (&value, sizeof value), GUINT_TO_POINTER (n));
      if (n > most)
        *class = value;
      most = MAX (most, n);
    }
  return labels->n > 0 ? (double) most / labels->n : 0.0;
}

/* A model that knows no more than which label is the most frequent one. */
static void
warn_of_chance (const LptEvaluation *e, LptData *labels, char **models)
{
  gint64 class = 0;
  gboolean many = labels != NULL && e->n_samples >= 10 && e->n_samples == labels->n;
  double share = many ? find_top_label (labels, &class) : 0.0;
  for (guint m = 0; share > 0.0 && m < e->n_models; m++)
    for (guint k = 0; k < e->scores[m]->len; k++)
      {
        const LptScore *s = &g_array_index (e->scores[m], LptScore, k);
        if (g_str_equal (s->metric, "top1") && s->value <= share)
          cmd_note ("%s is right no more often than label %" G_GINT64_FORMAT " alone, which is %.0f %% of them: are "
                    "--mean, --scale, --channels, --layout and --label-offset right?",
                    models[m], class, 100.0 * share);
      }
}

/* --- running ------------------------------------------------------------------------- */

/* Ready to run; @sources are the graphs as they were before lowering. */
static gboolean
load (char **paths, guint n, EvalArgs *args, LptGraph **graphs, LptGraph **sources, int *code)
{
  gboolean ok = cmd_load_prepared ((const char *const *) paths, n, &args->form.pipeline, graphs, code)
                && cmd_run_check_names (&args->form, graphs, n, code);
  for (guint i = 0; ok && i < n; i++)
    {
      sources[i] = lpt_graph_copy (graphs[i]);
      ok = cmd_make_runnable (graphs[i], paths[i], &args->form, FALSE, code);
    }
  return ok;
}

static int
evaluate (EvalArgs *args, char **models, guint n)
{
  int code = CMD_OK;
  GError *error = NULL;
  LptGraph *graphs[2] = { NULL }, *sources[2] = { NULL };
  const gboolean ok = load (models, n, args, graphs, sources, &code);
  g_autoptr (LptGraph) first = graphs[0], second = graphs[1], source = sources[0], second_source = sources[1];
  if (!ok)
    return code;
  g_autoptr (LptData) data = cmd_data_open (&args->data, source, &code);
  if (data == NULL)
    return code;
  g_autoptr (LptData) labels = args->labels != NULL ? cmd_labels_open (&args->data, args->labels, data, &code) : NULL;
  if (args->labels != NULL && labels == NULL)
    return code;
  cmd_data_warn (source, data);
  g_auto (GStrv) metrics = args->metric != NULL ? g_strsplit (args->metric, ",", -1) : NULL;
  LptEvalOptions options = {
    labels, args->offset, (const char *const *) metrics, (guint) args->threads, progress_report, NULL,
    (LptGraph *const[]) { source, second_source }
  };
  g_autoptr (LptEvaluation) e = lpt_evaluate ((LptGraph *const[]) { first, second }, n, data, &options, &error);
  progress_end ();
  if (e == NULL)
    return cmd_fail (error);
  warn_about (e, models);
  warn_of_chance (e, labels, models);
  if (args->json)
    print_json (e, models);
  else
    print_text (e, models);
  return CMD_OK;
}

static char *
describe (void)
{
  g_autoptr (GString) s = g_string_new ("A model that carries quantization is transformed and lowered first, unless it "
                                        "is already. Two models get the same samples.\n"
                                        "Intervals are of 95 %.\n\nMetrics:\n");
  const char *const *names = lpt_metric_names ();
  for (guint i = 0; names[i] != NULL; i++)
    g_string_append_printf (s, "  %-14s %s\n", names[i], lpt_metric_doc (names[i]));
  return g_string_free (g_steal_pointer (&s), FALSE);
}

int
cmd_eval (int argc, char **argv)
{
  g_auto (EvalArgs) args = { .threads = 1 };
  int code;
  const GOptionEntry own[] = {
    CMD_DATA_ENTRIES (&args.data),
    { "labels", 0, 0, G_OPTION_ARG_FILENAME, &args.labels,
      "What is right: .npy, .csv with file and label, a folder of masks, COCO's JSON", "FILE" },
    { "label-offset", 0, 0, G_OPTION_ARG_INT, &args.offset,
      "Added to labels: 1 where the model has a class more in front", "K" },
    { "metric", 0, 0, G_OPTION_ARG_STRING, &args.metric, "What to measure (default: top1 with labels)", "M[,M...]" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &args.threads, "Threads; 0 = one per processor (default 1)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &args.json, "For scripts", NULL },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_run_entries (&args.form, own);
  g_autofree char *text = describe ();
  const CmdLine line = { entries, "MODEL [MODEL2] --data DATA [--labels FILE]", text, 1, 2 };
  if (!cmd_parse (&argc, &argv, &line, &code) ||
      !cmd_run_check (&args.form, &code) ||
      !cmd_threads_ok (args.threads, &code))
    return code;
  g_auto (GStrv) metrics = args.metric != NULL ? g_strsplit (args.metric, ",", -1) : NULL;
  for (guint i = 0; metrics != NULL && metrics[i] != NULL; i++)
    if (lpt_metric_doc (metrics[i]) == NULL)
      {
        g_autofree char *known = g_strjoinv (", ", (char **) lpt_metric_names ());
        return cmd_usage ("--metric %s: the metrics are %s", metrics[i], known);
      }
  if (args.labels == NULL && args.metric == NULL && argc < 3)
    return cmd_usage ("eval: --labels, a second model or a --metric that needs no labels is wanted");
  return evaluate (&args, argv + 1, (guint) argc - 1);
}
