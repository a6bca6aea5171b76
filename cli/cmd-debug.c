/* cmd-debug.c - lptc debug: which layer does the damage, and what would help
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/data-args.h"
#include "cli/debug-print.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "cli/progress.h"

#define ROWS 20

typedef struct
{
  CmdPipelineArgs pipeline;
  CmdDataArgs     data;
  gint            threads, remedies, judged;
  gboolean        json, all, untimed;
} DebugArgs;

static void
debug_args_clear (DebugArgs *args)
{
  cmd_pipeline_args_clear (&args->pipeline);
  cmd_data_args_clear (&args->data);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DebugArgs, debug_args_clear)

static int
debug (const DebugArgs *args, char **paths, guint n)
{
  int code = CMD_OK;
  GError *error = NULL;
  LptGraph *graphs[2] = { NULL };
  const gboolean ok = cmd_load_prepared ((const char *const *) paths, n, &args->pipeline, graphs, &code);
  g_autoptr (LptGraph) model = graphs[0], real = graphs[1];
  if (!ok)
    return code;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args->pipeline, &code);
  if (config == NULL || !cmd_check_names (config, &model, 1, FALSE, &code))
    return code;
  g_autoptr (LptData) data = cmd_data_open (&args->data, real != NULL ? real : model, &code);
  if (data == NULL)
    return code;
  const LptDebugOptions options = { .config = config, .judged = (guint) args->judged, .remedies = (guint) args->remedies, .threads = (guint) args->threads, .timed = !args->untimed,
                                    .progress = progress_report };
  g_autoptr (LptDebug) result = lpt_debug_run (model, real, data, &options, &error);
  progress_end ();
  if (result == NULL)
    {
      cmd_name_file (&error, paths[0]);
      return cmd_fail (error);
    }
  if (args->json)
    cmd_debug_print_json (result);
  else
    cmd_debug_print (result, args->all ? 0 : ROWS);
  return CMD_OK;
}

int
cmd_debug (int argc, char **argv)
{
  g_auto (DebugArgs) args = { .threads = 1, .remedies = 3 };
  int code;
  const GOptionEntry own[] = {
    CMD_DATA_ENTRIES (&args.data),
    { "remedies", 0, 0, G_OPTION_ARG_INT, &args.remedies, "Try what would help the first N layers (default 3)", "N" },
    { "judge", 0, 0, G_OPTION_ARG_INT, &args.judged, "Samples that the output is judged on (default 32)", "N" },
    { "no-time", 0, 0, G_OPTION_ARG_NONE, &args.untimed, "Do not measure what remedies cost", NULL },
    { "all", 0, 0, G_OPTION_ARG_NONE, &args.all, "Every layer, not only the first 20", NULL },
    { "threads", 0, 0, G_OPTION_ARG_INT, &args.threads, "Threads; 0 = one per processor (default 1)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &args.json, "For scripts", NULL },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_pipeline_entries (&args.pipeline, own);
  const CmdLine line = { entries, "MODEL [FLOAT] --data DATA",
                         "Layers in the order of what the output would win if that layer alone were float. FLOAT "
                         "is the model that MODEL was made of; without it MODEL with its\n"
                         "quantizers left out stands in, and damage in what is stored as integers does not show.",
                         1, 2 };
  if (!cmd_parse (&argc, &argv, &line, &code) || !cmd_threads_ok (args.threads, &code))
    return code;
  if (args.remedies < 0 || args.judged < 0)
    return cmd_usage ("--%s %d: a number above 0 is wanted", args.remedies < 0 ? "remedies" : "judge",
                      args.remedies < 0 ? args.remedies : args.judged);
  return debug (&args, argv + 1, (guint) argc - 1);
}
