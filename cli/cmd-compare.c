/* cmd-compare.c - lptc compare: two models, one model under several requantization modes, or two arrays
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/arrays.h"
#include "cli/cmd.h"
#include "cli/compare-all.h"
#include "cli/data-args.h"
#include "cli/files.h"
#include "cli/layers.h"
#include <lpt/lpt-npy.h>
#include "cli/progress.h"
#include "cli/runnable.h"
#include "cli/run.h"

#include <math.h>
#include <stdio.h>

typedef struct
{
  double   tolerance;      /* NaN: none */
  gint64   seed;           /* of inputs that were drawn; CMD_NO_SEED: none was */
  gboolean json, failed, any;
} Judge;

/* What is compared, and how it runs. */
typedef struct
{
  CmdRunArgs form;
  CmdDataArgs images;
  char     **inputs;
  gint       threads, seed;
  gboolean   reference, all;
} CompareArgs;

static void
compare_args_clear (CompareArgs *args)
{
  cmd_run_args_clear (&args->form);
  cmd_data_args_clear (&args->images);
  g_strfreev (args->inputs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CompareArgs, compare_args_clear)

static void
begin (const Judge *judge)
{
  if (judge->json)
    {
      puts ("[");
      return;
    }
  if (judge->seed != CMD_NO_SEED && !judge->any)
    printf ("inputs that are not given were drawn, seed %" G_GINT64_FORMAT "\n", judge->seed);
  printf ("%-32s %13s %13s %10s %12s\n", "output", "max |diff|", "mean |diff|", "SQNR dB", "cosine");
}

/* A number that JSON has, or null. */
static const char *
json_number (double value, char buffer[G_ASCII_DTOSTR_BUF_SIZE])
{
  return isfinite (value) ? g_ascii_formatd (buffer, G_ASCII_DTOSTR_BUF_SIZE, "%.9g", value) : "null";
}

static void
judge_pair (Judge *judge, const char *name, LptTensor *a, LptTensor *b)
{
  CmdDistance d;
  if (!cmd_distance (a, b, &d))
    {
      g_autofree char *x = lpt_shape_to_string (lpt_tensor_shape (a)), *y = lpt_shape_to_string (lpt_tensor_shape (b));
      cmd_note ("output \"%s\": shapes [%s] and [%s] cannot be compared", name, x, y);
      judge->failed = TRUE;
      return;
    }
  gboolean past = !isnan (judge->tolerance) && !(d.max <= judge->tolerance);
  judge->failed |= past;
  if (judge->json)
    {
      char max[G_ASCII_DTOSTR_BUF_SIZE], mean[G_ASCII_DTOSTR_BUF_SIZE], sqnr[G_ASCII_DTOSTR_BUF_SIZE],
          cosine[G_ASCII_DTOSTR_BUF_SIZE];
      g_autoptr (GString) s = g_string_new (judge->any ? ",\n {\"output\": " : " {\"output\": ");
      cmd_json_string (s, name);
      g_string_append_printf (s, ", \"max\": %s, \"mean\": %s, \"sqnr\": %s, \"cosine\": %s", json_number (d.max, max),
                              json_number (d.mean, mean), json_number (d.sqnr, sqnr), json_number (d.cosine, cosine));
      g_string_append_printf (s,
                              ", \"nan_a\": %" G_GINT64_FORMAT ", \"nan_b\": %" G_GINT64_FORMAT ", \"seed\": ", d.nan_a,
                              d.nan_b);
      if (judge->seed != CMD_NO_SEED)
        g_string_append_printf (s, "%" G_GINT64_FORMAT "}", judge->seed);
      else
        g_string_append (s, "null}");
      fputs (s->str, stdout);
    }
  else
    {
      printf ("%-32s %13.6g %13.6g %10.2f %12.9f%s", name, d.max, d.mean, d.sqnr, d.cosine,
              past ? "  past the tolerance" : "");
      if (d.nan_a + d.nan_b > 0)
        printf ("  NaN: %" G_GINT64_FORMAT " in A, %" G_GINT64_FORMAT " in B", d.nan_a, d.nan_b);
      putchar ('\n');
    }
  judge->any = TRUE;
}

/* Outputs are paired by name; when no name fits and the numbers are equal, by position. */
static void
judge_outputs (Judge *judge, const char *label, const CmdOutputs *a, const CmdOutputs *b)
{
  guint matched = 0;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < a->names->len && (pass == 0 || matched == 0); i++)
      {
        guint k = i;
        if (pass == 0 && !g_ptr_array_find_with_equal_func (b->names, a->names->pdata[i], g_str_equal, &k))
          continue;
        if (k >= b->names->len || (pass == 1 && a->names->len != b->names->len))
          continue;
        g_autofree char *name = label != NULL ? g_strdup_printf ("%s: %s", label, (char *) a->names->pdata[i])
                                              : g_strdup (a->names->pdata[i]);
        judge_pair (judge, name, a->tensors->pdata[i], b->tensors->pdata[k]);
        matched += pass == 0;
      }
  if (matched < a->names->len && matched > 0)
    cmd_note ("%u of %u outputs have no counterpart", a->names->len - matched, a->names->len);
  if (!judge->any)
    {
      cmd_note ("the models have no output in common");
      judge->failed = TRUE;
    }
}

static int
compare_arrays (Judge *judge, const char *a, const char *b)
{
  GError *error = NULL;
  g_autoptr (LptTensor) x = lpt_npy_load (a, &error);
  g_autoptr (LptTensor) y = x != NULL ? lpt_npy_load (b, &error) : NULL;
  if (y == NULL)
    return cmd_fail (error);
  begin (judge);
  judge_pair (judge, "array", x, y);
  return CMD_OK;
}

/* The inputs of B: those of A by name, else by position. */
static GPtrArray *
inputs_for (LptGraph *a, GPtrArray *tensors, LptGraph *b)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < b->parameters->len; i++)
    {
      LptNode *want = b->parameters->pdata[i], *have = lpt_graph_find_parameter (a, want->name);
      guint k = i;
      if (have != NULL)
        g_ptr_array_find (a->parameters, have, &k);
      else if (a->parameters->len != b->parameters->len)
        return NULL;
      g_ptr_array_add (list, lpt_tensor_ref (tensors->pdata[k]));
    }
  return g_steal_pointer (&list);
}

/* Inputs for @graph and, unless it is NULL, @other; what is drawn is said. */
static GPtrArray *
load_inputs (Judge *judge, LptGraph *graph, LptGraph *other, const CompareArgs *args, int *code)
{
  guint drawn = 0;
  LptDataOptions options;
  if (!cmd_data_options (&args->images, &options, code))
    return NULL;
  GPtrArray *tensors = cmd_arrays_load_drawn (graph, other, args->inputs, &options, args->seed, &drawn, code);
  judge->seed = drawn > 0 && args->images.data == NULL ? args->seed : CMD_NO_SEED;
  return tensors;
}

/* --all: the samples of --data, else those of -i, stacked or not. */
static int
compare_all (Judge *judge, LptGraph *a, LptGraph *b, char **paths, GPtrArray *tensors, const CompareArgs *args)
{
  int code = CMD_OK;
  GError *error = NULL;
  const CmdCompareAll how = { args->reference, judge->json, args->threads, judge->seed, judge->tolerance };
  g_autoptr (LptData) data = args->images.data != NULL
                                 ? cmd_data_open (&args->images, a, &code)
                                 : lpt_data_from_arrays (a, (LptTensor *const *) tensors->pdata, &error);
  if (data == NULL)
    return error != NULL ? cmd_fail (error) : code;
  return cmd_compare_all (a, b, paths, data, &how, &judge->failed);
}

static LptGraph *
load (const char *path, const CompareArgs *args, int *code)
{
  g_autoptr (LptGraph) graph = NULL;
  return cmd_load_prepared (&path, 1, &args->form.pipeline, &graph, code) ? g_steal_pointer (&graph) : NULL;
}

/* One side in the form in which it runs. */
static int
run_side (LptGraph *graph, const char *path, const CompareArgs *args, GPtrArray *tensors, CmdOutputs *outputs)
{
  GError *error = NULL;
  progress (path, 0, 0);
  gboolean ok = cmd_run (graph, tensors, args->reference ? LPT_PLAN_REFERENCE : 0u, (guint) args->threads, outputs,
                         &error);
  progress_end ();
  if (ok)
    return CMD_OK;
  cmd_arrays_name_open (graph, &error);
  cmd_name_file (&error, path);
  return cmd_fail (error);
}

/* The same form for both, unless one of them is lowered: then the other runs as it is, or as the options say. */
static int
compare_models (Judge *judge, char **paths, CompareArgs *args)
{
  int code;
  g_auto (CmdOutputs) first = { NULL }, second = { NULL };
  LptGraph *graphs[2] = { NULL };
  const gboolean ok = cmd_load_prepared ((const char *const *) paths, 2, &args->form.pipeline, graphs, &code)
                      && cmd_run_check_names (&args->form, graphs, 2, &code);
  g_autoptr (LptGraph) a = graphs[0], b = graphs[1];
  if (!ok)
    return code;
  g_autoptr (GPtrArray) tensors = load_inputs (judge, a, b, args, &code);
  if (tensors == NULL)
    return code;
  g_autoptr (GPtrArray) others = inputs_for (a, tensors, b);
  if (others == NULL)
    return cmd_usage ("compare: the models have different inputs");
  gboolean given = cmd_pipeline_is_given (&args->form.pipeline), alike = a->lowered == b->lowered;
  if (((alike || (given && !a->lowered)) && !cmd_make_runnable (a, paths[0], &args->form, args->reference, &code))
      || ((alike || (given && !b->lowered)) && !cmd_make_runnable (b, paths[1], &args->form, args->reference, &code)))
    return code;
  if (args->all)
    return compare_all (judge, a, b, paths, tensors, args);
  if ((code = run_side (a, paths[0], args, tensors, &first)) != CMD_OK ||
      (code = run_side (b, paths[1], args, others, &second)) != CMD_OK)
    return code;
  begin (judge);
  judge_outputs (judge, NULL, &first, &second);
  return CMD_OK;
}

/* The graph as it is, and what transform makes of it. */
static int
compare_lowered (Judge *judge, const char *path, const CompareArgs *args)
{
  int code;
  g_auto (CmdOutputs) first = { NULL }, second = { NULL };
  g_autoptr (LptGraph) graph = load (path, args, &code);
  if (graph == NULL)
    return code;
  if (graph->lowered || !lpt_graph_is_quantized (graph))
    {
      cmd_note ("%s: %s: a second model is missing (or --requant M,M...)", path,
                graph->lowered ? "is lowered already" : "no FakeQuantize or Q/DQ");
      return CMD_FAILED;
    }
  g_autoptr (GPtrArray) tensors = load_inputs (judge, graph, NULL, args, &code);
  g_autoptr (LptGraph) lowered = tensors != NULL ? lpt_graph_copy (graph) : NULL;
  if (lowered == NULL || !cmd_make_runnable (lowered, path, &args->form, FALSE, &code))
    return code;
  if (args->all)
    return compare_all (judge, graph, lowered, (char *[]) { (char *) path, (char *) "lowered" }, tensors, args);
  if ((code = run_side (graph, path, args, tensors, &first)) != CMD_OK ||
      (code = run_side (lowered, path, args, tensors, &second)) != CMD_OK)
    return code;
  begin (judge);
  judge_outputs (judge, NULL, &first, &second);
  return CMD_OK;
}

/* Where the greatest element stands: what a classifier answers. */
static void
judge_arg_max (Judge *judge, const char *label, const CmdOutputs *a, const CmdOutputs *b)
{
  for (guint i = 0; i < a->names->len && i < b->names->len; i++)
    {
      gint64 rows, same = layers_arg_max (a->tensors->pdata[i], b->tensors->pdata[i], &rows);
      if (!judge->json)
        {
          printf ("%s: %s: arg-max agrees in %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "\n", label,
                  (char *) a->names->pdata[i], same, rows);
          continue;
        }
      g_autoptr (GString) s = g_string_new (",\n {\"modes\": ");
      cmd_json_string (s, label);
      g_string_append (s, ", \"output\": ");
      cmd_json_string (s, a->names->pdata[i]);
      g_string_append_printf (s, ", \"arg_max_same\": %" G_GINT64_FORMAT ", \"arg_max_rows\": %" G_GINT64_FORMAT "}",
                              same, rows);
      fputs (s->str, stdout);
    }
}

/* The first mode is what the others are held against: per layer, then the outputs. */
static int
compare_modes (Judge *judge, const char *path, char **modes, const CompareArgs *args)
{
  GError *error = NULL;
  int code = CMD_OK;
  g_auto (CmdOutputs) first = { NULL }, first_codes = { NULL };
  g_autoptr (LptGraph) graph = load (path, args, &code);
  g_autoptr (GPtrArray) tensors = graph != NULL ? load_inputs (judge, graph, NULL, args, &code) : NULL;
  if (tensors == NULL || !cmd_make_runnable (graph, path, &args->form, FALSE, &code))
    return code;
  for (guint i = 0; modes[i] != NULL; i++)
    {
      g_auto (CmdOutputs) outputs = { NULL }, codes = { NULL };
      char *one[] = { modes[i], NULL };
      g_autofree char *label = g_strdup_printf ("%s, %s", modes[0], modes[i]);
      gboolean none = !judge->any;
      if (!cmd_prepare_graphs (&graph, 1, NULL, NULL, one, &code))
        return code;
      progress (modes[i], 0, 0);
      gboolean ok = layers_run (graph, tensors, args->reference ? LPT_PLAN_REFERENCE : 0u, (guint) args->threads,
                                i == 0 ? &first : &outputs, i == 0 ? &first_codes : &codes, &error);
      progress_end ();
      if (!ok)
        {
          cmd_arrays_name_open (graph, &error);
          cmd_name_file (&error, path);
          return cmd_fail (error);
        }
      if (i == 0)
        {
          if (judge->json)
            begin (judge);
          continue;
        }
      layers_compare (graph, label, &first_codes, &codes, judge->json, &none);
      judge->any |= !none;
      if (!judge->json)
        {
          putchar ('\n');
          begin (judge);
        }
      judge_outputs (judge, label, &first, &outputs);
      judge_arg_max (judge, label, &first, &outputs);
    }
  return CMD_OK;
}

int
cmd_compare (int argc, char **argv)
{
  g_auto (CompareArgs) args = { .threads = 1, .seed = 1 };
  g_auto (GStrv) modes = NULL;
  g_autofree char *requant = NULL, *tolerance = NULL;
  Judge judge = { .tolerance = NAN, .seed = CMD_NO_SEED };
  int code;
  const GOptionEntry own[] = {
    { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &args.inputs, "Array or image of an input; FILE.npz for all",
      "NAME=FILE" },
    CMD_DATA_ENTRIES (&args.images),
    { "tolerance", 0, 0, G_OPTION_ARG_STRING, &tolerance, "Exit with 1 where a difference is greater", "T" },
    { "requant", 0, 0, G_OPTION_ARG_STRING, &requant, "Compare one model under these modes; the first counts as right",
      "M,M..." },
    { "random", 0, 0, G_OPTION_ARG_INT, &args.seed, "Seed of inputs that are not given (default 1)", "SEED" },
    { "reference", 0, 0, G_OPTION_ARG_NONE, &args.reference, "Graphs as they are, scalar and unfused", NULL },
    { "threads", 0, 0, G_OPTION_ARG_INT, &args.threads, "Threads; 0 = one per processor (default 1)", "N" },
    { "all", 0, 0, G_OPTION_ARG_NONE, &args.all, "Every value that both models have, the worst first", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &judge.json, "For scripts", NULL },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_run_entries (&args.form, own);
  const CmdLine line = { entries, "A [B]",
                         "A and B: two models, or two .npy files. Models that carry quantization are transformed "
                         "and lowered first; where one of\n"
                         "them is lowered already the other runs as it is. A alone is set against what transform "
                         "makes of it.",
                         1, 2 };
  if (!cmd_parse (&argc, &argv, &line, &code) || !cmd_run_check (&args.form, &code))
    return code;
  if (tolerance != NULL)
    {
      char *end;
      judge.tolerance = g_ascii_strtod (tolerance, &end);
      if (end == tolerance || *end != '\0' || !(judge.tolerance >= 0.0))
        return cmd_usage ("--tolerance %s: not a number >= 0", tolerance);
    }
  if (!cmd_threads_ok (args.threads, &code))
    return code;
  if (args.seed < 0)
    return cmd_usage ("--random %d: 0 to %d", args.seed, G_MAXINT);
  if (argc == 3 && requant != NULL)
    return cmd_usage ("compare: --requant takes one model");
  if (args.images.data != NULL && (!args.all || args.inputs != NULL))
    return cmd_usage (args.all ? "compare: --data or -i, not both"
                               : "compare: --data is for --all; -i gives one sample");
  if (args.all && (requant != NULL || (argc == 3 && g_str_has_suffix (argv[1], ".npy"))))
    return cmd_usage ("compare: --all compares models");
  if (argc == 2 && requant == NULL && args.form.real)
    return cmd_usage ("compare: with --float a second file is missing (or --requant M,M...)");

  if (requant != NULL)
    {
      modes = g_strsplit (requant, ",", -1);
      if (g_strv_length (modes) < 2)
        return cmd_usage ("--requant %s: at least two modes, separated by commas", requant);
      code = compare_modes (&judge, argv[1], modes, &args);
    }
  else if (argc == 2)
    code = compare_lowered (&judge, argv[1], &args);
  else if (g_str_has_suffix (argv[1], ".npy") && g_str_has_suffix (argv[2], ".npy"))
    code = compare_arrays (&judge, argv[1], argv[2]);
  else
    code = compare_models (&judge, argv + 1, &args);
  if (code == CMD_OK && judge.json && !args.all)
    puts ("\n]");
  return code != CMD_OK ? code : judge.failed ? CMD_FAILED : CMD_OK;
}
