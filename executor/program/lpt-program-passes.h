/* lpt-program-passes.h - what makes a program out of a graph: the passes of program-passes.def, in that order
 *
 * A pass reads and changes the program only. FALSE + error: no program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-executor.h>

#include "executor/operators/lpt-program.h"

/* lpt_program_import(), lpt_program_choose_kernels(), ... */
#define LPT_PROGRAM_PASS(name, flags) gboolean lpt_program_##name (LptProgram *program, GError **error);
#include "executor/program/program-passes.def"
#undef LPT_PROGRAM_PASS

/* For passes that change the graph node by node: @visit sees all nodes that it had before, inputs first; then those are
 * gone that no result needs any more. FALSE + error: nodes depend on each other in a circle. */
gboolean lpt_program_visit (LptProgram *program, void (*visit) (LptNode *node), GError **error);

/**
 * lpt_program_run_passes:
 * @options: whose flags, disabled passes and print_after are obeyed
 * Ends with lpt_program_check() after each pass where LPT_PLAN_CHECK is set.
 * Returns: FALSE + error: a pass failed, or there is no such pass
 */
gboolean lpt_program_run_passes (LptProgram *program, const LptPlanOptions *options, GError **error);
