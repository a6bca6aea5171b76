/* cmd-print.c - lptc print: a model as text
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/files.h"

#include <lpt/lpt-json.h>
#include <lpt/lpt-text.h>

#include <stdio.h>

int
cmd_print (int argc, char **argv)
{
  gboolean json = FALSE, dot = FALSE, full = FALSE, rt_info = FALSE;
  int code;
  const GOptionEntry entries[] = {
    { "full", 0, 0, G_OPTION_ARG_NONE, &full, "Constants of any length, so that it reads back", NULL },
    { "rt-info", 0, 0, G_OPTION_ARG_NONE, &rt_info, "With the strings that the file kept", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Native JSON with its weights, for scripts", NULL },
    { "dot", 0, 0, G_OPTION_ARG_NONE, &dot, "Graphviz", NULL },
    { NULL },
  };
  const CmdLine line = { entries, "MODEL", NULL, 1, 1 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;
  if (json + dot + (full || rt_info) > 1)
    return cmd_usage ("print: --json, --dot and the options of text exclude each other");
  GError *error = NULL;
  g_autoptr (LptGraph) graph = cmd_load (argv[1], &error);
  if (graph == NULL)
    return cmd_fail (error);
  g_autofree char *text = json ? lpt_json_print (graph, &error) : dot ? lpt_graph_to_dot (graph)
                          : lpt_graph_to_text (graph, (full ? 0u : LPT_TEXT_ELIDE) | (rt_info ? LPT_TEXT_RT_INFO : 0u));
  if (text == NULL)
    {
      cmd_name_file (&error, argv[1]);
      return cmd_fail (error);
    }
  fputs (text, stdout);
  return CMD_OK;
}
