/* lpt-plan-new.c - from a graph to a program that is ready to run
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-check.h"

static gboolean
make_program (LptProgram           *program,
              const LptPlanOptions *options,
              GError              **error)
{
  gboolean ok;

  program->shapes = options->shapes;
  program->level = options->level;
  /* Readers have asked; graphs are built by programs, too. */
  ok = lpt_graph_check_codes (program->graph, error) && lpt_program_run_passes (program, options, error);
  program->shapes = NULL;
  program->level = NULL;

  return ok;
}

LptPlan *
lpt_plan_new_full (LptGraph             *graph,
                   const LptPlanOptions *options,
                   GError              **error)
{
  g_autoptr (LptPlan) plan = g_new0 (LptPlan, 1);
  LptPlanOptions own = *options;
  LptPack *pack = options->pack != NULL ? lpt_pack_ref (options->pack) : lpt_pack_new ();

  if (g_strcmp0 (g_getenv ("LPT_PLAN_CHECK"), "1") == 0)
    own.flags |= LPT_PLAN_CHECK;
  plan->program = lpt_program_new (lpt_graph_copy (graph), own.flags, pack);
  lpt_pack_unref (pack);

  return make_program (plan->program, &own, error) ? g_steal_pointer (&plan) : NULL;
}

LptPlan *
lpt_plan_new (LptGraph       *graph,
              const LptShape *shapes,
              guint           flags,
              GError        **error)
{
  return lpt_plan_new_full (graph, &(LptPlanOptions) { .flags = flags, .shapes = shapes }, error);
}

void
lpt_plan_free (LptPlan *plan)
{
  if (plan == NULL)
    return;
  lpt_program_free (plan->program);
  g_free (plan);
}
