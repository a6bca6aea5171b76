/* cmd-quantize.c - lptc quantize: from a float model and samples to one that runs on integers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/data-args.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "cli/progress.h"

#include <lpt/lpt-explain.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-quantize.h>
#include <lpt/lpt-work.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  CmdPipelineArgs pipeline;
  CmdDataArgs     data;
  char *out, *ranges, *weights, *preset, *percentile, *io_type, *elementwise, *stats_in, *stats_out, *onnx_form;
  char           *max_drop, *labels, *metric;
  char          **enable, **disable, **eval_data, **wide;
  gint            threads, offset;
  gboolean        strict, quiet, unchecked, two_pass;
} QuantizeArgs;

static void
quantize_args_clear (QuantizeArgs *args)
{
  cmd_pipeline_args_clear (&args->pipeline);
  cmd_data_args_clear (&args->data);
  g_free (args->out);
  g_free (args->ranges);
  g_free (args->weights);
  g_free (args->preset);
  g_free (args->percentile);
  g_free (args->io_type);
  g_free (args->stats_in);
  g_free (args->stats_out);
  g_free (args->elementwise);
  g_free (args->onnx_form);
  g_free (args->max_drop);
  g_free (args->labels);
  g_free (args->metric);
  g_strfreev (args->eval_data);
  g_strfreev (args->enable);
  g_strfreev (args->disable);
  g_strfreev (args->wide);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuantizeArgs, quantize_args_clear)

/* --- options ----------------------------------------------------------------------------- */

/* --enable and --disable: repairs. */
static gboolean
choose_repairs (LptQuantizeOptions *options, char **names, gboolean on, int *code)
{
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      gint repair = lpt_repair_find (names[i]);
      if (repair < 0)
        {
          g_autoptr (GString) known = g_string_new (NULL);
          for (guint k = 0; k < lpt_repair_count (); k++)
            g_string_append_printf (known, "%s%s", k > 0 ? ", " : "", lpt_repair_name (k));
          *code = cmd_usage ("--%s %s: the repairs are %s", on ? "enable" : "disable", names[i], known->str);
          return FALSE;
        }
      options->repairs = on ? options->repairs | 1u << repair : options->repairs & ~(1u << repair);
    }
  return TRUE;
}

static gboolean
bad_option (GError *error, const char *option, int *code)
{
  *code = cmd_usage ("--%s %s", option, error->message);
  g_error_free (error);
  return FALSE;
}

static gboolean
find_io_type (const char *name, LptDType *dtype)
{
  static const struct { const char *name; LptDType dtype;
  } names[] = {
    { "f32", LPT_DTYPE_F32 }, { "i8", LPT_DTYPE_I8 },    { "int8", LPT_DTYPE_I8 },
    { "u8", LPT_DTYPE_U8 },   { "uint8", LPT_DTYPE_U8 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].name, name))
      {
        *dtype = names[i].dtype;
        return TRUE;
      }
  return FALSE;
}

static gboolean
read_options (const QuantizeArgs *args, LptQuantizeOptions *options, int *code)
{
  GError *error = NULL;
  if (!lpt_quantize_options_init (options, args->preset, &error))
    return bad_option (error, "preset", code);
  if (args->ranges != NULL && !lpt_range_method_from_name (args->ranges, &options->ranges, &error))
    return bad_option (error, "ranges", code);
  LptRangeMethod weights;
  if (args->weights != NULL
      && (!lpt_range_method_from_name (args->weights, &weights, &error)
          || (weights != LPT_RANGES_MSE && weights != LPT_RANGES_MIN_MAX)))
    {
      g_clear_error (&error);
      *code = cmd_usage ("--weight-ranges %s: min-max or mse", args->weights);
      return FALSE;
    }
  if (args->weights != NULL)
    options->weights_mse = weights == LPT_RANGES_MSE;
  char *end = NULL;
  if (args->percentile != NULL)
    options->percentile = g_ascii_strtod (args->percentile, &end);
  if (args->percentile != NULL && (*end != '\0' || !(options->percentile > 50.0) || options->percentile > 100.0))
    {
      *code = cmd_usage ("--percentile %s: above 50, at most 100", args->percentile);
      return FALSE;
    }
  static const char *const words[] = { "never", "auto", "always" };
  for (gint i = 0; args->elementwise != NULL && i <= (gint) G_N_ELEMENTS (words); i++)
    {
      if (i == (gint) G_N_ELEMENTS (words))
        {
          *code = cmd_usage ("--elementwise %s: never, auto or always", args->elementwise);
          return FALSE;
        }
      options->elementwise = i - 1;
      if (g_str_equal (args->elementwise, words[i]))
        break;
    }
  if (args->io_type != NULL && !find_io_type (args->io_type, &options->io_type))
    {
      *code = cmd_usage ("--io-type %s: f32, i8 (int8) or u8 (uint8)", args->io_type);
      return FALSE;
    }
  if (args->max_drop != NULL)
    options->max_drop = g_ascii_strtod (args->max_drop, &end);
  if (args->max_drop != NULL && (*end != '\0' || !(options->max_drop >= 0.0)))
    {
      *code = cmd_usage ("--max-drop %s: points, 0 or more", args->max_drop);
      return FALSE;
    }
  if (args->max_drop == NULL && (args->labels != NULL || args->metric != NULL || args->eval_data != NULL))
    {
      *code = cmd_usage ("--labels, --metric and --eval-data say how --max-drop is measured, which is missing");
      return FALSE;
    }
  options->threads = (guint) args->threads;
  options->progress = progress_report;
  options->unchecked = args->unchecked;
  options->two_pass = args->two_pass;
  options->stats_in = args->stats_in;
  options->stats_out = args->stats_out;
  return choose_repairs (options, args->enable, TRUE, code) && choose_repairs (options, args->disable, FALSE, code);
}

static gboolean
check_output (const QuantizeArgs *args, const char *in, int *code)
{
  g_autofree char *forms = lpt_save_forms ();
  *code = CMD_USAGE;
  if (args->out == NULL || !lpt_path_can_save (args->out))
    {
      if (args->out == NULL)
        cmd_usage ("-o OUT is missing: %s", forms);
      else
        cmd_usage ("-o %s: the extension is none of %s", args->out, forms);
      return FALSE;
    }
  g_autofree char *victim = cmd_overwrites (in, args->out);
  if (victim == NULL)
    return TRUE;
  cmd_usage ("%s: is an input, and would be overwritten", victim);
  return FALSE;
}

/* --- what became of it --------------------------------------------------------------------- */

/* Shapes of the first sample where the model leaves them open, so that work can be counted. */
static gboolean
fix_shapes (LptGraph *graph, LptData *data, GError **error)
{
  guint n = graph->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n + 1);
  gboolean ok = lpt_data_get (data, 0, tensors, error);
  for (guint i = 0; i < n && ok; i++)
    {
      ok = lpt_graph_set_input_shape (graph, ((LptNode *) graph->parameters->pdata[i])->name,
                                      lpt_tensor_shape (tensors[i]), error);
      lpt_tensor_unref (tensors[i]);
    }
  return ok && lpt_graph_infer (graph, error);
}

#define FEW 4      /* samples: below, the worst of networks lost 7 dB and more */

/* Each product with the type in which it will run. FALSE: some stay real without being told to. */
static gboolean
print_report (LptGraph *graph, const LptConfig *config, const LptQuantizeReport *report, gboolean quiet, GError **error)
{
  g_autofree char *macs = NULL;
  g_autoptr (GPtrArray) rows = lpt_explain_full (graph, config, &macs, error);
  guint low = 0, unwanted = 0;
  if (rows == NULL)
    return FALSE;
  for (guint i = 0; i < report->layers->len; i++)
    {
      const LptQuantizedLayer *layer = report->layers->pdata[i];
      const LptExplanation *row = lpt_explain_find (rows, layer->name);
      gboolean integer = row != NULL && row->precision != LPT_DTYPE_F32 && row->precision != LPT_DTYPE_UNDEFINED;
      low += integer;
      unwanted += layer->quantized && !integer;
      if (quiet && (integer || !layer->quantized))
        continue;
      printf ("%-40s %-4s", layer->name,
              row != NULL && row->precision != LPT_DTYPE_UNDEFINED ? lpt_dtype_name (row->precision) : "gone");
      if (layer->quantized && isfinite (layer->sqnr) && layer->sqnr != 0.0)
        printf ("  weights %.1f dB", layer->sqnr);
      if (!integer)
        printf ("  %s", layer->reason != NULL ? layer->reason : row != NULL && row->reason != NULL ? row->reason : "");
      putchar ('\n');
    }
  for (guint i = 0; i < report->remarks->len; i++)
    puts (report->remarks->pdata[i]);
  for (guint i = 0; i < report->inputs->len; i++)
    puts (report->inputs->pdata[i]);
  printf ("float against int8 on %u of these samples: same answer %.4f, SQNR %.1f dB\n", report->n_judged,
          report->agree, report->sqnr);
  for (guint i = 0; i < report->kept->len; i++)
    printf ("--keep %s\n", (char *) report->kept->pdata[i]);
  for (guint i = 0; i < report->wide->len; i++)
    printf ("--wide %s\n", (char *) report->wide->pdata[i]);
  printf ("%u of %u products on integers, %u activations quantized by %u samples\n%s\n", low, report->layers->len,
          report->n_values, report->n_samples, macs);
  if (report->n_samples < FEW)
    cmd_note ("samples: %u. Intervals want %u at least, better 32", report->n_samples, FEW);
  if (report->n_judged >= 10 && report->top_share > 0.5)
    cmd_note ("the float model answers %.0f %% of the samples with class %" G_GINT64_FORMAT
              ": are --mean, --scale, --channels and --layout what it was trained with?",
              100.0 * report->top_share, report->top_class);
  if (unwanted > 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                 "unsupported: %u products that were to be quantized stay real", unwanted);
  return unwanted == 0;
}

/* What --max-drop is measured with. */
typedef struct { LptData *data, *labels; const char *metric[2]; } Judge;

static void
judge_clear (Judge *judge)
{
  lpt_data_free (judge->data);
  lpt_data_free (judge->labels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Judge, judge_clear)

static gboolean
open_judge (const QuantizeArgs *args, LptGraph *graph, LptData *data, LptQuantizeOptions *options, Judge *judge,
            int *code)
{
  CmdDataArgs samples = args->data;
  samples.data = args->eval_data;
  samples.samples = NULL;
  if (args->eval_data != NULL && (judge->data = cmd_data_open (&samples, graph, code)) == NULL)
    return FALSE;
  if (args->labels != NULL
      && (judge->labels = cmd_labels_open (judge->data != NULL ? &samples : &args->data, args->labels,
                                           judge->data != NULL ? judge->data : data, code)) == NULL)
    return FALSE;
  judge->metric[0] = args->metric != NULL ? args->metric : "top1";
  if (lpt_metric_doc (judge->metric[0]) == NULL)
    {
      *code = cmd_usage ("--metric %s: see lptc eval --help", args->metric);
      return FALSE;
    }
  options->eval_data = judge->data;
  options->eval.labels = judge->labels;
  options->eval.offset = args->offset;
  options->eval.metrics = judge->labels != NULL ? judge->metric : NULL;
  options->eval.threads = (guint) args->threads;
  return TRUE;
}

/* Forms for integers get what lowering makes of @graph. */
static gboolean
save_result (LptGraph *graph, const LptConfig *config, const char *out, const LptSaveOptions *save, GError **error)
{
  if (lpt_path_save_target (out) == NULL)
    return lpt_graph_save (graph, out, save, error);
  g_autoptr (LptGraph) lowered = lpt_graph_copy (graph);
  return lpt_pipeline_run (lowered, config, NULL, NULL, error) && lpt_graph_save (lowered, out, save, error);
}

static int
quantize (QuantizeArgs *args, const char *in)
{
  int code = CMD_OK;
  GError *error = NULL;
  LptQuantizeOptions options;
  LptSaveOptions save = { .onnx_form = args->onnx_form };
  const CmdPipelineArgs *p = &args->pipeline;
  if (p->until != NULL || p->no_update_precisions || p->deq_precision != NULL)
    return cmd_usage ("quantize: --until, --no-update-precisions and --deq-precision are for lptc transform");
  if (!check_output (args, in, &code) || !read_options (args, &options, &code))
    return code;
  if (p->target == NULL && p->config == NULL)
    args->pipeline.target = g_strdup (lpt_path_save_target (args->out));
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args->pipeline, &code);
  progress ("loading", 0, 0);
  g_autoptr (LptGraph) graph = config != NULL ? cmd_load (in, &error) : NULL;
  progress_end ();
  if (graph == NULL)
    return config != NULL ? cmd_fail (error) : code;
  if (!cmd_check_names (config, &graph, 1, FALSE, &code)
      || !cmd_prepare_graphs (&graph, 1, p->shapes, p->outputs, p->requant, &code))
    return code;
  g_autoptr (LptData) data = cmd_data_open (&args->data, graph, &code);
  if (data == NULL)
    return code;
  if (args->two_pass && args->stats_in != NULL)
    cmd_note ("--two-pass is of no use for what --stats-in holds, whose histograms stay as they are");
  g_autoptr (LptQuantizeReport) report = lpt_quantize_report_new ();
  g_auto (Judge) judge = { NULL };
  options.config = config;
  options.wide = (const char *const *) args->wide;
  for (guint i = 0; args->wide != NULL && args->wide[i] != NULL; i++)
    if (lpt_graph_find (graph, args->wide[i]) == NULL)
      return cmd_usage ("--wide %s: no node has this name", args->wide[i]);
  if (!open_judge (args, graph, data, &options, &judge, &code))
    return code;
  cmd_data_warn (graph, data);
  gboolean ok = lpt_quantize (graph, data, &options, report, &error);
  progress_end ();
  if (!ok)
    {
      if (strstr (error->message, in) == NULL && args->data.data != NULL
          && strstr (error->message, args->data.data[0]) == NULL)
        cmd_name_file (&error, in);
      return cmd_fail (error);
    }
  if (!save_result (graph, config, args->out, &save, &error))
    return cmd_fail (error);
  if (!fix_shapes (graph, data, &error))
    return cmd_fail (error);
  if (print_report (graph, config, report, args->quiet, &error))
    return CMD_OK;
  if (args->strict)
    return cmd_fail (error);
  cmd_note ("%s", error->message);
  g_error_free (error);
  return CMD_OK;
}

static char *
describe (void)
{
  g_autofree char *forms = lpt_save_forms ();
  g_autoptr (GString) s = g_string_new (NULL);
  LptQuantizeOptions fast, accurate;
  lpt_quantize_options_init (&fast, "fast", NULL);
  lpt_quantize_options_init (&accurate, "accurate", NULL);
  g_string_append_printf (s,
                          "OUT is written as %s: FakeQuantize, in ONNX Q/DQ pairs, in .tflite integers of the target "
                          "litert, unless another is named. Inputs and outputs stay real.\n\n"
                          "Repairs (--enable, --disable; f = in --preset fast, the default, a = in accurate):\n",
                          forms);
  for (guint i = 0; i < lpt_repair_count (); i++)
    g_string_append_printf (s, "  %s%s %-16s %s\n", fast.repairs >> i & 1 ? "f" : " ",
                            accurate.repairs >> i & 1 ? "a" : " ", lpt_repair_name (i), lpt_repair_doc (i));
  return g_string_free (g_steal_pointer (&s), FALSE);
}

int
cmd_quantize (int argc, char **argv)
{
  g_auto (QuantizeArgs) args = { .threads = 1 };
  int code;
  const GOptionEntry own[] = {
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &args.out, "Where to write; the extension says which form", "OUT" },
    CMD_DATA_ENTRIES (&args.data),
    { "ranges", 0, 0, G_OPTION_ARG_STRING, &args.ranges,
      "Of activations: min-max, average, percentile, mse (default), kl", "METHOD" },
    { "percentile", 0, 0, G_OPTION_ARG_STRING, &args.percentile,
      "Of values that --ranges percentile keeps (default 99.99)", "P" },
    { "weight-ranges", 0, 0, G_OPTION_ARG_STRING, &args.weights, "Of weights: min-max, mse (default)", "METHOD" },
    { "preset", 0, 0, G_OPTION_ARG_STRING, &args.preset, "Repairs: fast (default) or accurate", "NAME" },
    { "enable", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.enable, "Run a repair", "REPAIR" },
    { "disable", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.disable, "Leave a repair out", "REPAIR" },
    { "until", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &args.pipeline.until, NULL, NULL },
    { "no-update-precisions", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &args.pipeline.no_update_precisions, NULL,
      NULL },
    { "deq-precision", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &args.pipeline.deq_precision, NULL, NULL },
    { "two-pass", 0, 0, G_OPTION_ARG_NONE, &args.two_pass, "Run the samples twice, for histograms with finer bins",
      NULL },
    { "stats-out", 0, 0, G_OPTION_ARG_FILENAME, &args.stats_out, "Keep what was seen of the samples", "FILE" },
    { "stats-in", 0, 0, G_OPTION_ARG_FILENAME, &args.stats_in, "Kept by --stats-out for the same samples and model",
      "FILE" },
    { "unchecked", 0, 0, G_OPTION_ARG_NONE, &args.unchecked,
      "Keep repairs even where they do not help on samples held back", NULL },
    { "elementwise", 0, 0, G_OPTION_ARG_STRING, &args.elementwise,
      "Sums, products, means on integers: auto (default) = in networks without attention and norms",
      "never|auto|always" },
    { "max-drop", 0, 0, G_OPTION_ARG_STRING, &args.max_drop,
      "Give layers data of 16 bits or keep them real until no more than this is lost", "POINTS" },
    { "labels", 0, 0, G_OPTION_ARG_FILENAME, &args.labels,
      "For --max-drop: what is right (else: answers that differ from the float model's)", "FILE" },
    { "label-offset", 0, 0, G_OPTION_ARG_INT, &args.offset, "Added to labels", "K" },
    { "metric", 0, 0, G_OPTION_ARG_STRING, &args.metric, "For --max-drop: top1 (default) or another of lptc eval",
      "M" },
    { "eval-data", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &args.eval_data, "For --max-drop: samples (default: --data)",
      "[NAME=]PATH" },
    { "wide", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.wide, "Data of this product in 16 bits, its weights in 8",
      "NAME" },
    { "io-type", 0, 0, G_OPTION_ARG_STRING, &args.io_type, "Of real inputs and outputs: f32 (default), or codes",
      "f32|i8|u8" },
    { "onnx-form", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &args.onnx_form, "", "FORM" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &args.threads, "Threads; 0 = one per processor (default 1)", "N" },
    { "strict", 0, 0, G_OPTION_ARG_NONE, &args.strict, "Fail when a product that was to be quantized stays real",
      NULL },
    { "quiet", 0, 0, G_OPTION_ARG_NONE, &args.quiet, "List only products that stay real against the wish", NULL },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_pipeline_entries (&args.pipeline, own);
  g_autofree char *text = describe ();
  const CmdLine line = { entries, "IN --data DATA -o OUT", text, 1, 1 };
  if (!cmd_parse (&argc, &argv, &line, &code) || !cmd_threads_ok (args.threads, &code))
    return code;
  return quantize (&args, argv[1]);
}
