/* cmd-plan.c - lptc plan: what a run of a model goes through, op by op
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/arrays.h"
#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/runnable.h"

#include <lpt/lpt-executor.h>

#include <stdio.h>

typedef struct
{
  CmdRunArgs form;
  gboolean   reference, overlap, remarks;
  char      *print_after;
} PlanArgs;

static void
plan_args_clear (PlanArgs *args)
{
  cmd_run_args_clear (&args->form);
  g_free (args->print_after);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlanArgs, plan_args_clear)

/* Those of the graph, dynamic dimensions being 1, as inputs are drawn; an input of any rank has its own. */
static LptShape *
input_shapes (LptGraph *graph)
{
  LptShape *shapes = g_new0 (LptShape, graph->parameters->len + 1);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      shapes[i] = lpt_node_out (g_ptr_array_index (graph->parameters, i))->shape;
      for (gint k = 0; k < shapes[i].rank; k++)
        if (shapes[i].dims[k] == LPT_DYNAMIC)
          shapes[i].dims[k] = 1;
    }
  return shapes;
}

int
cmd_plan (int argc, char **argv)
{
  g_auto (PlanArgs) args = { .reference = FALSE };
  int code;
  const GOptionEntry own[] = {
    { "reference", 0, 0, G_OPTION_ARG_NONE, &args.reference, "The graph as it is, scalar and unfused", NULL },
    { "overlap", 0, 0, G_OPTION_ARG_NONE, &args.overlap, "With what units of overlapped ops wait for", NULL },
    { "remarks", 0, 0, G_OPTION_ARG_NONE, &args.remarks,
      "With a line for each reason why ops have no kernel, after the first line", NULL },
    { "print-after", 0, 0, G_OPTION_ARG_STRING, &args.print_after,
      "The program as it is after this pass, in place of the whole plan", "PASS" },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_run_entries (&args.form, own);
  const CmdLine line = { entries, "MODEL",
                         "One line for each op, in the order of a run: its value, type, place in memory, kernel "
                         "and the nodes that it\n"
                         "stands for. Dynamic dimensions of inputs are 1, unless --shape gives them. LPT_CPU=LEVEL "
                         "shows the plan for\n"
                         "another level of the processor.",
                         1, 1, .data = &args };
  if (!cmd_parse (&argc, &argv, &line, &code) || !cmd_run_check (&args.form, &code) || !cmd_cpu_ok (&code))
    return code;
  GError *error = NULL;
  g_autoptr (LptGraph) graph = NULL;
  if (!cmd_load_prepared ((const char *const[]) { argv[1] }, 1, &args.form.pipeline, &graph, &code))
    return code;
  g_autofree LptShape *shapes = input_shapes (graph);
  if (!cmd_make_runnable (graph, argv[1], &args.form, args.reference, &code))
    return code;
  g_autofree char *printed = NULL;
  const LptPlanOptions options = { .flags = args.reference ? LPT_PLAN_REFERENCE : 0u,
                                   .shapes = shapes,
                                   .disabled = (const char *const *) args.form.left_out,
                                   .print_after = args.print_after,
                                   .printed = &printed };
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, &options, &error);
  if (plan == NULL)
    {
      cmd_arrays_name_open (graph, &error);
      cmd_name_file (&error, argv[1]);
      return cmd_fail (error);
    }
  g_autofree char *text = lpt_plan_to_text (plan, (args.overlap ? LPT_PLAN_TEXT_OVERLAP : 0u) |
                                                       (args.remarks ? LPT_PLAN_TEXT_REMARKS : 0u));
  fputs (printed != NULL ? printed : text, stdout);
  return CMD_OK;
}
