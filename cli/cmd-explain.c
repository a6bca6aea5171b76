/* cmd-explain.c - lptc explain: what becomes of each op, and why
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "cli/progress.h"
#include "cli/runnable.h"

#include <lpt/lpt-explain.h>

#include <stdio.h>

static const char *
precision_name (const LptExplanation *e)
{
  return e->precision == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (e->precision);
}

static void
print_json (GPtrArray *list)
{
  g_autoptr (GString) s = g_string_new ("[");
  for (guint i = 0; i < list->len; i++)
    {
      const LptExplanation *e = g_ptr_array_index (list, i);
      const struct { const char *key, *value; } members[] = {
        { "name", e->name }, { "op", lpt_op_info (e->op)->name }, { "precision", precision_name (e) },
        { "inputs", e->inputs }, { "decided_by", e->decided_by }, { "reason", e->reason } };
      g_string_append (s, i > 0 ? ",\n {" : "\n {");
      for (guint k = 0; k < G_N_ELEMENTS (members); k++)
        {
          g_string_append_printf (s, "%s\"%s\": ", k > 0 ? ", " : "", members[k].key);
          if (members[k].value != NULL)
            cmd_json_string (s, members[k].value);
          else
            g_string_append (s, "null");
        }
      g_string_append_c (s, '}');
    }
  g_string_append (s, "\n]\n");
  fputs (s->str, stdout);
}

int
cmd_explain (int argc, char **argv)
{
  g_auto (CmdPipelineArgs) args = { NULL };
  gboolean json = FALSE;
  int code;
  const GOptionEntry own[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "A list of {name, op, precision, inputs, decided_by, reason}", NULL },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_pipeline_entries (&args, own);
  if (!cmd_parse (&argc, &argv, entries, "IN", "Every op that computes: the element type in which it runs and the reason.", 1, 1, &code))
    return code;
  GError *error = NULL;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args, &code);
  if (config == NULL)
    return code;
  progress ("loading", 0, 0);
  g_autoptr (LptGraph) graph = cmd_load (argv[1], &error);
  progress_end ();
  if (graph == NULL)
    return cmd_fail (error);
  if (!cmd_check_names (config, graph, FALSE, &code))
    return code;
  if (!cmd_prepare_graph (graph, args.shapes, args.outputs, args.requant, &code))
    return code;
  if (!lpt_graph_is_quantized (graph))
    cmd_note_float (argv[1], CMD_NOTHING_TO_DO);
  progress ("transforming", 0, 0);
  g_autofree char *macs = NULL;
  g_autoptr (GPtrArray) list = lpt_explain_full (graph, config, &macs, &error);
  progress_end ();
  if (list == NULL)
    return cmd_fail (error);
  if (json)
    {
      print_json (list);
      return CMD_OK;
    }
  for (guint i = 0; i < list->len; i++)
    {
      const LptExplanation *e = g_ptr_array_index (list, i);
      printf ("%-4s %-24s %s  (%s)", precision_name (e), lpt_op_info (e->op)->name, e->name, e->inputs != NULL ? e->inputs : "");
      if (e->decided_by != NULL)
        printf ("  by %s", e->decided_by);
      printf ("%s%s\n", e->reason != NULL && *e->reason != '\0' ? ": " : "", e->reason != NULL ? e->reason : "");
    }
  puts (macs);
  return CMD_OK;
}
