/* lpt-program-passes.c - runs the passes of program-passes.def
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-check.h"
#include "executor/program/lpt-program-passes.h"
#include "executor/program/lpt-program-print.h"
#include "ir/lpt-memory.h"

typedef enum { PASS_REQUIRED, PASS_FORMING, PASS_OPTIONAL, PASS_FUSING, PASS_DROPPING } PassFlags;

typedef struct
{
  char      *name;         /* with hyphens */
  PassFlags  flags;
  gboolean (*run) (LptProgram *program, GError **error);
} Pass;

static const Pass *
find_passes (void)
{
  static Pass passes[] =
  {
#define LPT_PROGRAM_PASS(name, flags) { #name, PASS_##flags, lpt_program_##name },
#include "executor/program/program-passes.def"
#undef LPT_PROGRAM_PASS
    { NULL },
  };
  static gsize once = 0;
  guint i;

  if (g_once_init_enter (&once))
    {
      for (i = 0; passes[i].name != NULL; i++)
        passes[i].name = g_strdelimit (g_strdup (passes[i].name), "_", '-');
      g_once_init_leave (&once, 1);
    }

  return passes;
}

static const Pass *
find_pass (const char *name,
           GError    **error)
{
  const Pass *pass;

  for (pass = find_passes (); pass->name != NULL; pass++)
    if (strcmp (pass->name, name) == 0)
      return pass;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no pass \"%s\" makes a plan", name);

  return NULL;
}

const char *
lpt_plan_pass_name (guint     i,
                    gboolean *optional)
{
  const Pass *pass = find_passes ();

  while (i > 0 && pass->name != NULL)
    {
      pass++;
      i--;
    }
  if (optional != NULL)
    *optional = pass->name != NULL && pass->flags >= PASS_OPTIONAL;

  return pass->name;
}

/* All that @options name is there, and may be left out. */
static gboolean
check_options (const LptPlanOptions *options,
               GError              **error)
{
  const char *const *name = options->disabled;

  for (; name != NULL && *name != NULL; name++)
    {
      const Pass *pass = find_pass (*name, error);

      if (pass == NULL)
        return FALSE;
      if (pass->flags < PASS_OPTIONAL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no plan without its pass \"%s\"", *name);
          return FALSE;
        }
    }

  return options->print_after == NULL || find_pass (options->print_after, error) != NULL;
}

static gboolean
is_left_out (const Pass           *pass,
             const LptPlanOptions *options)
{
  const guint plain = options->flags & LPT_PLAN_REFERENCE, keeps = options->flags & LPT_PLAN_KEEP_ALL;

  return ((pass->flags == PASS_FORMING || pass->flags == PASS_FUSING) && (plain || keeps)) ||
         (pass->flags == PASS_DROPPING && keeps) ||
         (pass->flags >= PASS_OPTIONAL && options->disabled != NULL && g_strv_contains (options->disabled, pass->name));
}

gboolean
lpt_program_visit (LptProgram *program,
                   void      (*visit) (LptNode *node),
                   GError    **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (program->graph, error);
  guint i;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    visit (g_ptr_array_index (order, i));
  lpt_graph_sweep (program->graph);

  return TRUE;
}

gboolean
lpt_program_run_passes (LptProgram           *program,
                        const LptPlanOptions *options,
                        GError              **error)
{
  const guint mark = lpt_memory_mark ();
  const Pass *pass;

  if (!check_options (options, error))
    return FALSE;
  for (pass = find_passes (); pass->name != NULL; pass++)
    {
      /* A form that lacks its arrays does not run: the plan says so. */
      if (!is_left_out (pass, options) && (!pass->run (program, error) || !lpt_memory_check (mark, error)))
        return FALSE;
      if ((options->flags & LPT_PLAN_CHECK) != 0 && !lpt_program_check (program, pass->name, error))
        return FALSE;
      if (options->print_after != NULL && strcmp (options->print_after, pass->name) == 0)
        *options->printed = lpt_program_to_text (program, LPT_PLAN_TEXT_OVERLAP);
    }

  return TRUE;
}
