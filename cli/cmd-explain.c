/* cmd-explain.c - lptc explain: what becomes of each op, and why
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/explain-print.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "cli/progress.h"
#include "cli/runnable.h"

#include <lpt/lpt-explain.h>

/* Is @only a type that an op may run in, as the tables name it? */
static gboolean
is_type (const char *only)
{
  return g_ascii_strcasecmp (only, "none") == 0 || lpt_dtype_from_name (only) != LPT_DTYPE_UNDEFINED;
}

static int
print_one (GPtrArray *list, const char *path, const char *name)
{
  const LptExplanation *e = lpt_explain_find (list, name);
  if (e != NULL)
    {
      cmd_explain_one (e);
      return CMD_OK;
    }
  cmd_note ("%s: no op \"%s\" that computes (--all lists them)", path, name);
  return CMD_FAILED;
}

int
cmd_explain (int argc, char **argv)
{
  g_auto (CmdPipelineArgs) args = { NULL };
  g_autofree char *only = NULL;
  gboolean json = FALSE, all = FALSE;
  int code;
  const GOptionEntry own[] = {
    { "all", 0, 0, G_OPTION_ARG_NONE, &all, "One line for each op", NULL },
    { "only", 0, 0, G_OPTION_ARG_STRING, &only, "Ops that run in this type: f32, u8 ... none = gone", "TYPE" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json,
      "A list of {name, op, precision, inputs, decided_by, reason, code, group, real_from, macs}", NULL },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_pipeline_entries (&args, own);
  const CmdLine line = { entries, "IN [NAME]",
                         "In which element types a model computes, and why: the ops of one reason together, or all "
                         "that is known of\n"
                         "the op NAME.",
                         1, 2 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;
  if (only != NULL && !is_type (only))
    return cmd_usage ("--only %s: no element type", only);
  if (argc == 3 && (all || json || only != NULL))
    return cmd_usage ("explain: NAME excludes --all, --only and --json");
  GError *error = NULL;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args, &code);
  if (config == NULL)
    return code;
  progress ("loading", 0, 0);
  g_autoptr (LptGraph) graph = cmd_load (argv[1], &error);
  progress_end ();
  if (graph == NULL)
    return cmd_fail (error);
  if (!cmd_check_names (config, &graph, 1, FALSE, &code))
    return code;
  if (!cmd_prepare_graphs (&graph, 1, args.shapes, args.outputs, args.requant, &code))
    return code;
  if (!lpt_graph_is_quantized (graph) && !args.dynamic)
    cmd_note_float (graph, argv[1], CMD_NOTHING_TO_DO);
  progress ("transforming", 0, 0);
  g_autofree char *macs = NULL;
  g_autoptr (GPtrArray) list = lpt_explain_full (graph, cmd_pipeline_is_given (&args) ? config : NULL, &macs, &error);
  progress_end ();
  if (list == NULL)
    return cmd_fail (error);
  if (argc == 3)
    return print_one (list, argv[1], argv[2]);
  if (json)
    cmd_explain_json (list, only);
  else if (all)
    cmd_explain_all (list, only, macs);
  else
    cmd_explain_summary (list, only, macs);
  return CMD_OK;
}
