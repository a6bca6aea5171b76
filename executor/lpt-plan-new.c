/* lpt-plan-new.c - from a graph to a program that is ready to run
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "executor/lpt-plan.h"
#include "executor/operators/lpt-operators.h"
#include "executor/program/lpt-import.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-check.h"
#include "ir/lpt-memory.h"

/* Constants that only folded nodes read. */
static void
drop_constants (LptProgram *program)
{
  guint i;

  for (i = 0; i < program->values->len; i++)
    {
      LptProgramValue *value = program->values->pdata[i];

      if (value->kind == LPT_STORAGE_CONST && lpt_program_n_uses (value) == 0)
        lpt_array_clear (&value->array);
    }
}

static void
choose_kernels (LptProgram *program)
{
  LptCpu cpu = lpt_cpu_detect ();
  const char *level = getenv ("LPT_CPU");

  if (level != NULL)
    lpt_cpu_limit (&cpu, level);
  program->kernels = lpt_kernels_for (cpu);
}

static gboolean
make_program (LptProgram     *program,
              const LptShape *shapes,
              GError        **error)
{
  const gboolean plain = (program->flags & LPT_PLAN_REFERENCE) != 0, keeps = (program->flags & LPT_PLAN_KEEP_ALL) != 0;
  guint mark = lpt_memory_mark ();

  /* Readers have asked; graphs are built by programs, too. */
  if (!lpt_graph_check_codes (program->graph, error) || !lpt_program_import (program, shapes, error))
    return FALSE;
  if (!plain && !keeps)
    {
      choose_kernels (program);
      lpt_program_fuse_tables (program);
      lpt_program_prepare_forms (program);
      /* What lacks its arrays does not run: the plan says so. */
      if (!lpt_memory_check (mark, error))
        return FALSE;
    }
  lpt_program_choose_layouts (program);
  lpt_program_find_lifetimes (program);
  if (!keeps)
    {
      lpt_program_reuse_inputs (program);
      drop_constants (program);
    }

  return lpt_program_place (program, error) && lpt_memory_check (mark, error);
}

LptPlan *
lpt_plan_new (LptGraph       *graph,
              const LptShape *shapes,
              guint           flags,
              GError        **error)
{
  return lpt_plan_new_packed (graph, shapes, flags, NULL, error);
}

LptPlan *
lpt_plan_new_packed (LptGraph       *graph,
                     const LptShape *shapes,
                     guint           flags,
                     LptPack        *pack,
                     GError        **error)
{
  g_autoptr (LptPlan) plan = g_new0 (LptPlan, 1);
  LptPack *own = pack != NULL ? lpt_pack_ref (pack) : lpt_pack_new ();

  plan->program = lpt_program_new (lpt_graph_copy (graph), flags, own);
  lpt_pack_unref (own);
  if (!make_program (plan->program, shapes, error))
    return NULL;
  plan->overlaps = lpt_program_find_overlaps (plan->program);

  return g_steal_pointer (&plan);
}

void
lpt_plan_free (LptPlan *plan)
{
  if (plan == NULL)
    return;
  g_clear_pointer (&plan->overlaps, g_array_unref);
  lpt_program_free (plan->program);
  g_free (plan);
}
