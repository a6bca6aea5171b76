/* cmd-transform.c - lptc transform: a model in, its low-precision form out
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "cli/progress.h"
#include "cli/runnable.h"
#include "cli/verify.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt-work.h>

#include <stdio.h>
#include <string.h>

/* --- statistics ------------------------------------------------------------ */

typedef struct { const char *op; guint n[LPT_N_DTYPES]; } Counts;

static void
count_graph (LptGraph *graph, GArray *counts)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        count_graph (lpt_node_body (node, b), counts);
      if (!lpt_node_is_layer (node))
        continue;
      guint k;
      for (k = 0; k < counts->len; k++)
        if (g_array_index (counts, Counts, k).op == node->info->name)
          break;
      if (k == counts->len)
        {
          Counts fresh = { .op = node->info->name };
          g_array_append_val (counts, fresh);
        }
      g_array_index (counts, Counts, k).n[lpt_node_runs_in (node)]++;
    }
}

static gint
compare_counts (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Counts *) a)->op, ((const Counts *) b)->op);
}

/* Layers by op and precision, then what each pass did. */
static void
print_stats (LptGraph *graph, const LptReport *report)
{
  static const LptDType columns[] = { LPT_DTYPE_U8, LPT_DTYPE_I8, LPT_DTYPE_U4, LPT_DTYPE_I4, LPT_DTYPE_U16, LPT_DTYPE_I16, LPT_DTYPE_U32, LPT_DTYPE_I32,
                                      LPT_DTYPE_U64, LPT_DTYPE_I64, LPT_DTYPE_BOOL, LPT_DTYPE_F32, LPT_DTYPE_UNDEFINED };
  g_autoptr (GArray) counts = g_array_new (FALSE, TRUE, sizeof (Counts));
  guint total[LPT_N_DTYPES] = { 0 };
  count_graph (graph, counts);
  g_array_sort (counts, compare_counts);
  for (guint i = 0; i < counts->len; i++)
    for (guint d = 0; d < LPT_N_DTYPES; d++)
      total[d] += g_array_index (counts, Counts, i).n[d];

  printf ("%-32s", "layers");
  for (guint c = 0; c < G_N_ELEMENTS (columns); c++)
    if (total[columns[c]] > 0)
      printf (" %6s", columns[c] == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (columns[c]));
  puts ("");
  for (guint i = 0; i <= counts->len; i++)
    {
      const guint *n = i < counts->len ? g_array_index (counts, Counts, i).n : total;
      printf ("%-32s", i < counts->len ? g_array_index (counts, Counts, i).op : "total");
      for (guint c = 0; c < G_N_ELEMENTS (columns); c++)
        if (total[columns[c]] > 0)
          printf (" %6u", n[columns[c]]);
      puts ("");
    }

  g_autofree char *macs = lpt_graph_macs_line (graph);
  puts (macs);
  printf ("\n%-46s %8s %8s %8s %9s\n", "pass", "tried", "changed", "declined", "ms");
  for (guint i = 0; i < report->stats->len; i++)
    {
      const LptPassStats *p = &g_array_index (report->stats, LptPassStats, i);
      if (p->tried > 0 || p->changed > 0)
        printf ("%-46s %8" G_GUINT64_FORMAT " %8" G_GUINT64_FORMAT " %8" G_GUINT64_FORMAT " %9.3f\n", p->pass->name, p->tried, p->changed, p->declined, (double) p->usec / 1e3);
    }
  printf ("total %.3f ms\n", (double) report->usec / 1e3);
}

static void
print_remarks (const LptReport *report)
{
  for (guint i = 0; i < report->remarks->len; i++)
    {
      const LptRemark *r = g_ptr_array_index (report->remarks, i);
      printf ("node \"%s\" (%s): %s: %s\n", r->source != NULL ? r->source : r->node, lpt_op_info (r->op)->name, r->pass->name, r->reason);
    }
}

/* --- on the way ------------------------------------------------------------ */

typedef struct
{
  const LptPass   *print;    /* --print-after: the graph after each change that this pass made; NULL = none */
  CmdVerify       *verify;   /* --verify; NULL = no */
  const LptConfig *config;
} Watch;

/* Under a target's table lower leaves what no integer op runs to fit-restrictions: the graph runs behind that, and both
 * are one change. */
static gboolean
runs_after (const LptConfig *config, const LptPass *pass)
{
  return config->quant_rules == LPT_QUANT_RULES_NONE || g_hash_table_contains (config->disabled, "fit-restrictions") ||
         !g_str_equal (pass->name, "lower");
}

static gboolean
on_change (const LptPass *pass, LptGraph *graph, LptNode *node, gpointer data, GError **error)
{
  const Watch *watch = data;
  if (pass == watch->print)
    {
      g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_ELIDE);
      printf ("# after %s%s%s\n%s\n", pass->name, node != NULL ? " at " : "", node != NULL ? node->name : "", text);
    }
  return watch->verify == NULL || !runs_after (watch->config, pass) ||
         cmd_verify_step (watch->verify, pass, node != NULL ? node->name : NULL, error);
}

/* --- the command ----------------------------------------------------------- */

/* The option words of an output: FALSE + message when they ask for nonsense. */
static gboolean
check_output (const char *in, const char *out, gboolean may_lack)
{
  if (out == NULL && may_lack)
    return TRUE;
  if (out == NULL)
    cmd_usage ("transform: -o OUT is missing");
  else if (!lpt_path_can_save (out))
    {
      g_autofree char *forms = lpt_save_forms ();
      cmd_usage ("%s: unsupported form: the extension says what is written (%s)", out, forms);
    }
  else
    {
      g_autofree char *victim = cmd_overwrites (in, out);
      if (victim == NULL)
        return TRUE;
      cmd_usage ("%s: is an input, and would be overwritten", victim);
    }
  return FALSE;
}

/* Does @graph have an integer op of this kind? */
static gboolean
runs_low (LptGraph *graph, LptOp op)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      LptDType precision = node->op == op ? lpt_node_runs_in (node) : LPT_DTYPE_UNDEFINED;
      if (precision != LPT_DTYPE_UNDEFINED && precision != LPT_DTYPE_F32)
        return TRUE;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (runs_low (lpt_node_body (node, b), op))
          return TRUE;
    }
  return FALSE;
}

/* Leaving out the pass of an op is not what keeps the op real. */
static void
note_disabled (LptGraph *graph, char **disabled)
{
  for (guint i = 0; graph->lowered && disabled != NULL && disabled[i] != NULL; i++)
    {
      const LptPass *pass = lpt_pass_find (disabled[i]);
      if (pass != NULL && pass->stage == LPT_STAGE_PROPAGATE && pass->roots != NULL && pass->roots[1] == LPT_OP_NONE && runs_low (graph, pass->roots[0]))
        cmd_note ("--disable %s leaves out the pass; lowering runs %s on integers all the same: --restrict %s keeps it real",
                  disabled[i], lpt_op_info (pass->roots[0])->name, lpt_op_info (pass->roots[0])->name);
    }
}

/* The model in @file as @args want it; NULL: *code says it. */
static LptGraph *
load_graph (const char *file, LptConfig *config, const CmdPipelineArgs *args, int *code)
{
  GError *error = NULL;
  progress ("loading", 0, 0);
  g_autoptr (LptGraph) graph = cmd_load (file, &error);
  progress_end ();
  if (graph == NULL)
    {
      *code = cmd_fail (error);
      return NULL;
    }
  if (!cmd_check_names (config, &graph, 1, FALSE, code)
      || !cmd_prepare_graphs (&graph, 1, args->shapes, args->outputs, args->requant, code))
    return NULL;
  if (config->until > LPT_STAGE_PREPARE && !lpt_graph_is_quantized (graph) && !args->dynamic)
    cmd_note_float (graph, file, CMD_NOTHING_TO_DO);
  return g_steal_pointer (&graph);
}

int
cmd_transform (int argc, char **argv)
{
  g_auto (CmdPipelineArgs) args = { NULL };
  g_autofree char *out = NULL, *print_after = NULL, *onnx_form = NULL;
  gboolean remarks = FALSE, stats = FALSE, verify = FALSE;
  LptSaveOptions save = { 0 };
  int code;
  const GOptionEntry own[] = {
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &out, "Where to write; the extension says which form", "OUT" },
    { "embed-weights", 0, 0, G_OPTION_ARG_NONE, &save.embed_weights, "Weights inside a .json", NULL },
    { "onnx-form", 0, 0, G_OPTION_ARG_STRING, &onnx_form, "Form of an .onnx: qdq (default) or qoperator", "FORM" },
    { "verify", 0, 0, G_OPTION_ARG_NONE, &verify, "Run the model before and after every change, and stop where a pass changes what it must not", NULL },
    { "print-after", 0, 0, G_OPTION_ARG_STRING, &print_after, "Print the graph after each change of a pass", "PASS" },
    { "remarks", 0, 0, G_OPTION_ARG_NONE, &remarks, "Print why passes left nodes alone", NULL },
    { "stats", 0, 0, G_OPTION_ARG_NONE, &stats, "Print layers by element type, and what each pass did", NULL },
    { NULL },
  };
  g_autofree char *forms = lpt_save_forms ();
  g_autofree char *description = g_strdup_printf ("OUT is written as %s.", forms);
  g_autofree GOptionEntry *entries = cmd_pipeline_entries (&args, own);
  const CmdLine line = { entries, "IN -o OUT", description, 1, 1 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;
  if (!check_output (argv[1], out, stats || remarks || verify))
    return CMD_USAGE;
  GError *error = NULL;
  const gboolean plain = !cmd_pipeline_is_given (&args);
  if (args.target == NULL && args.config == NULL)
    args.target = g_strdup (lpt_path_save_target (out));
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args, &code);
  if (config == NULL)
    return code;
  save.onnx_form = onnx_form;
  if (save.onnx_form != NULL && !g_str_equal (save.onnx_form, "qdq") && !g_str_equal (save.onnx_form, "qoperator"))
    return cmd_usage ("--onnx-form %s: qdq or qoperator", save.onnx_form);
  Watch watch = { .print = print_after != NULL ? lpt_pass_find (print_after) : NULL, .config = config };
  const LptObserver observer = { on_change, &watch };
  if (print_after != NULL && watch.print == NULL)
    return cmd_usage ("--print-after %s: no such pass (see lptc passes)", print_after);
  g_autoptr (LptGraph) graph = load_graph (argv[1], config, &args, &code);
  if (graph == NULL)
    return code;

  g_autoptr (CmdVerify) checker = NULL;
  if (verify)
    {
      checker = watch.verify = cmd_verify_new (graph, &error);
      if (checker == NULL)
        {
          cmd_name_file (&error, argv[1]);
          return cmd_fail (error);
        }
    }
  progress ("transforming", 0, 0);
  g_autoptr (LptReport) report = lpt_report_new ();
  /* A graph that only changes its form: what exec runs and explain explains as it is, and TensorFlow Lite's own files. */
  gboolean ok = (plain && (graph->lowered || (graph->file != NULL && lpt_path_save_target (out) != NULL)))
                || lpt_pipeline_run (graph, config, report, print_after != NULL || verify ? &observer : NULL, &error);
  progress_end ();
  if (ok && out != NULL)
    {
      progress ("writing", 0, 0);
      ok = lpt_graph_save (graph, out, &save, &error);
      progress_end ();
    }
  if (!ok)
    {
      if (out == NULL || strstr (error->message, out) == NULL)
        cmd_name_file (&error, argv[1]);
      return cmd_fail (error);
    }
  if (!remarks)
    note_disabled (graph, args.disable);
  if (verify)
    cmd_verify_print (checker);
  if (remarks)
    print_remarks (report);
  if (stats)
    print_stats (graph, report);
  return CMD_OK;
}
