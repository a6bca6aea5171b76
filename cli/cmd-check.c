/* cmd-check.c - lptc check: does a transformed model keep the restrictions of a target?
 *
 * A port of a restricted op may be real, or hold an integer type that the restriction lists; a port that needs one
 * scale may hold no quantization per channel. Wide integers (shapes, axes, accumulators) are not judged. Targets
 * with demands on quantization (litert, tpu) are held against those, too; a TensorFlow Lite model also in what only its
 * file shows. Each violation names its rule in brackets.
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
 * equal or fixed parameters, ... where the target has a table of these. */
static guint
check (LptGraph *graph, const LptConfig *config)
{
  g_autoptr (GPtrArray) types = lpt_config_check (config, graph);
  g_autoptr (GPtrArray) quantization = config->quant_rules != LPT_QUANT_RULES_NONE
                                           ? lpt_graph_check (graph, config->quant_rules)
                                           : NULL;
  print_violations (types);
  if (quantization != NULL)
    print_violations (quantization);
  return types->len + (quantization != NULL ? quantization->len : 0);
}

/* What of a TensorFlow Lite model only its file shows; FALSE + error. */
static gboolean
check_file (LptGraph *graph, const LptConfig *config, guint *n, GError **error)
{
  if (config->quant_rules != LPT_QUANT_RULES_LITERT || graph->file == NULL)
    return TRUE;
  g_autoptr (GPtrArray) list = lpt_tflite_check (graph->file, error);
  for (guint i = 0; list != NULL && i < list->len; i++)
    printf ("%s: %s\n", graph->source, (const char *) list->pdata[i]);
  *n += list != NULL ? list->len : 0;
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
  if (!cmd_parse (&argc, &argv, entries, "IN --target NAME", "Prints each violation; exit code 1 when there is any.", 1,
                  1, &code))
    return code;
  if (args.target == NULL && args.config == NULL && args.restrict_ == NULL && args.per_tensor == NULL &&
      args.keep == NULL)
    return cmd_usage ("check: --target NAME (or --config FILE) is missing");
  GError *error = NULL;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args, &code);
  if (config == NULL)
    return code;
  g_autoptr (LptGraph) graph = cmd_load (argv[1], &error);
  if (graph == NULL)
    return cmd_fail (error);
  cmd_check_names (config, graph, TRUE, &code);
  guint n = check (graph, config);
  if (!check_file (graph, config, &n, &error))
    return cmd_fail (error);
  if (n > 0)
    cmd_note ("%s: %u violation%s", argv[1], n, n == 1 ? "" : "s");
  if (!graph->lowered && !lpt_graph_is_quantized (graph))
    cmd_note_float (argv[1], CMD_NOTHING_TO_DO);
  else if (!graph->lowered)
    printf ("the graph is not lowered, lptc transform does that: %s\n",
            n == 0 ? "no violations in what it says so far" : "these are of what it says so far");
  else if (n == 0)
    puts ("no violations");
  return n == 0 ? CMD_OK : CMD_FAILED;
}
