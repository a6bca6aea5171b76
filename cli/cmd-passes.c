/* cmd-passes.c - lptc passes: the pass table and the targets
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"

#include <lpt/lpt-pass.h>

#include <stdio.h>

static const char *const exactness_names[] = { "exact", "exact in real arithmetic", "rounds", "coarsens",
                                               "departs" };

int
cmd_passes (int argc, char **argv)
{
  gboolean json = FALSE;
  int code;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "For scripts", NULL },
    { NULL },
  };
  const CmdLine line = { entries, "", "Stages run in this order; --disable takes any of the names.", 0, 0 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;

  const LptPass *const *passes = lpt_passes ();
  const char *const *targets = lpt_config_targets ();
  g_autoptr (GString) s = g_string_new (json ? "{\"passes\": [\n" : NULL);
  gboolean first = TRUE;
  for (int stage = 0; stage < LPT_N_STAGES; stage++)
    for (guint i = 0; passes[i] != NULL; i++)
      {
        const LptPass *pass = passes[i];
        if ((int) pass->stage != stage)
          continue;
        if (json)
          {
            g_string_append (s, first ? "  {\"name\": " : ",\n  {\"name\": ");
            cmd_json_string (s, pass->name);
            g_string_append_printf (s, ", \"stage\": \"%s\", \"exactness\": \"%s\", \"doc\": ",
                                    lpt_stage_name (pass->stage), exactness_names[pass->exactness]);
            cmd_json_string (s, pass->doc);
            g_string_append_c (s, '}');
          }
        else
          g_string_append_printf (s, "%-10s %-44s %-9s %s\n", lpt_stage_name (pass->stage), pass->name,
                                  pass->exactness == LPT_EXACT_REAL ? "real" : exactness_names[pass->exactness],
                                  pass->doc);
        first = FALSE;
      }
  g_string_append (s, json ? "\n],\n\"targets\": [" : "targets:");
  for (guint i = 0; targets[i] != NULL; i++)
    g_string_append_printf (s, json ? "%s\"%s\"" : "%s %s", json && i > 0 ? ", " : "", targets[i]);
  g_string_append (s, json ? "]}\n" : "\n");
  fputs (s->str, stdout);
  return CMD_OK;
}
