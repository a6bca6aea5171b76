/* lpt-plan.h - a plan: the program that a run goes through, ready to run
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-executor.h>

#include "executor/operators/lpt-program-edit.h"

struct _LptPlan
{
  LptProgram *program;
};

/* The element type in which @op ran on @arrays, one for each value (lpt-work.h). */
LptDType        lpt_plan_op_ran_in  (const LptProgramOp *op, const LptArray *arrays);
/* The @i-th value of lpt_plan_n_values(). */
LptProgramValue *lpt_plan_value     (const LptPlan *plan, guint i);
/* Input by array instead of tensor (bodies): borrowed until replaced. */
gboolean        lpt_plan_context_set_array (LptPlanContext *context, guint i, const LptArray *array, GError **error);
const LptArray *lpt_plan_context_output_array (LptPlanContext *context, guint i);
/* Overlapped ops are run by @run instead of lpt_loop_runner_run(), @runner being NULL: for tests, in any order that
 * they allow. */
typedef void (*LptRunLoops) (LptLoopRunner *runner, const LptTaskLoop *loops, size_t n_loops, LptTaskLoopFunc func, void *data);
void            lpt_plan_context_set_run_loops (LptPlanContext *context, LptRunLoops run);
/* As lpt_plan_context_new() on somebody else's threads. */
LptPlanContext *lpt_plan_context_new_on    (const LptPlan *plan, LptPool *pool, GError **error);
