/* cmd-check.c - lptc check: does a transformed model keep the restrictions of a target?
 *
 * A port of a restricted op may be real, or hold an integer type that the restriction lists; a port that needs one
 * scale may hold no quantization per channel. Wide integers (shapes, axes, accumulators) are not judged. Targets
 * with demands on quantization (litert, tpu) are held against those, too; for litert the operators of a TensorFlow Lite
 * model as its file has them. Each violation names its rule in brackets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/runnable.h"

#include <lpt/lpt-tflite.h>

#include <stdio.h>

static void
print_violations (GPtrArray *list)
{
  for (guint i = 0; i < list->len; i++)
    {
      const LptViolation *v = list->pdata[i];
      const LptGraph *graph = v->node->graph;
      if (v->node->line > 0 && graph->source != NULL)
        printf ("%s:%u: ", graph->source, v->node->line);
      printf ("node \"%s\": %s: %s [%s]\n", v->node->name, v->node->info->name, v->what, v->rule);
    }
}

/* What is broken in all, printed: types and granularity of the inputs of restricted ops; types and ranges of codes,
 * equal or fixed parameters, ... where the target has a table of these and no file was asked. */
static guint
check (LptGraph *graph, const LptConfig *config, gboolean has_file)
{
  g_autoptr (GPtrArray) types = lpt_config_check (config, graph);
  g_autoptr (GPtrArray) quantization = config->quant_rules != LPT_QUANT_RULES_NONE && !has_file
                                           ? lpt_graph_check (graph, config->quant_rules)
                                           : NULL;
  print_violations (types);
  if (quantization != NULL)
    print_violations (quantization);
  return types->len + (quantization != NULL ? quantization->len : 0);
}

/* The operators of a TensorFlow Lite model as they stand in its file: reading makes others of them. FALSE: it is none,
 * or broken, which reading says. */
static gboolean
check_file (const char *path, const LptConfig *config, guint *n)
{
  g_autoptr (GMappedFile) map = config->quant_rules == LPT_QUANT_RULES_LITERT ? g_mapped_file_new (path, FALSE, NULL)
                                                                              : NULL;
  g_autoptr (GBytes) bytes = map != NULL ? g_mapped_file_get_bytes (map) : NULL;
  g_autoptr (GPtrArray) list = bytes != NULL ? lpt_tflite_check (bytes, NULL) : NULL;
  for (guint i = 0; list != NULL && i < list->len; i++)
    printf ("%s: %s\n", path, (const char *) list->pdata[i]);
  *n = list != NULL ? list->len : 0;
  return list != NULL;
}

int
cmd_check (int argc, char **argv)
{
  g_auto (CmdPipelineArgs) args = { NULL };
  int code;
  const GOptionEntry entries[] = {
    { "target", 0, 0, G_OPTION_ARG_STRING, &args.target, "Built-in target", "NAME" },
    { "config", 0, 0, G_OPTION_ARG_FILENAME, &args.config, "Target from a file", "FILE" },
    CMD_RESTRICTION_ENTRIES (&args),
    { NULL },
  };
  const CmdLine line = { entries, "IN --target NAME", "Prints each violation; exit code 1 when there is any.", 1, 1 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;
  if (!cmd_target_is_given (&args))
    return cmd_usage ("check: --target NAME (or --config FILE) is missing");
  GError *error = NULL;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args, &code);
  if (config == NULL)
    return code;
  guint n;
  gboolean has_file = check_file (argv[1], config, &n);
  g_autoptr (LptGraph) graph = cmd_load (argv[1], &error);
  if (graph == NULL)
    return cmd_fail (error);
  cmd_check_names (config, &graph, 1, TRUE, &code);
  n += check (graph, config, has_file);
  if (n > 0)
    cmd_note ("%s: %u violation%s", argv[1], n, n == 1 ? "" : "s");
  if (!graph->lowered && !lpt_graph_is_quantized (graph))
    cmd_note_float (graph, argv[1], CMD_NOTHING_TO_DO);
  else if (!graph->lowered)
    printf ("the graph is not lowered, lptc transform does that: %s\n",
            n == 0 ? "no violations in what it says so far" : "these are of what it says so far");
  else if (n == 0)
    puts ("no violations");
  return n == 0 ? CMD_OK : CMD_FAILED;
}
