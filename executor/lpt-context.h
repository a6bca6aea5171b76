/* lpt-context.h - what a run of a plan has of its own
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/lpt-plan.h"
#include "executor/lpt-state.h"
#include "executor/lpt-trace.h"

struct _LptPlanContext
{
  const LptPlan *plan;
  LptArray      *arrays;      /* one for each value of the program */
  guint8       **addresses;   /* of the operands of each op with a form, its output behind them: where it begins says `first` */
  guint         *first;       /* by place in program->ops */
  LptTensor    **inputs;      /* what keeps input arrays alive */
  guint8        *arena;       /* the plan's, then workspace for each thread */
  guint8        *workspace;
  LptArray      *in, *out;    /* of the running call */
  LptScratch    *scratch;
  LptPool       *pool;
  gboolean       owns_pool;
  LptLoopRunner *runner;      /* NULL: one thread, or nothing runs overlapped */
  LptRunLoops    run_loops;   /* NULL: ops run one by one */
  GPtrArray     *bodies;      /* plans of bodies, with contexts: see lpt-run-body.c */
  LptStates     *states;
  gint64         own_trips;   /* of loops, that are left to the run that goes on */
  gint64        *trips;       /* that one, or of the context whose body this runs */
  LptProfileRow *profile;     /* one for each node, or NULL */
  LptTrace      *trace;       /* NULL = nobody asked */
  gboolean       bound;       /* addresses are those of the inputs that are set */
  gboolean       ran;         /* the last run went well: outputs can be read */
};

/* Addresses of what lies in the arena, in constants and, once they are set, in inputs. */
void       lpt_plan_context_bind (LptPlanContext *context);

/* --- lpt-run-body.c --- */

GPtrArray *lpt_run_bodies_new    (void);
/* LptRunBody of calls whose body_data is the context. */
gboolean   lpt_run_body          (LptCall *call, guint body, const LptArray *in, guint n_in, const LptArray **out, GError **error);
