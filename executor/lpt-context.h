/* lpt-context.h - what a run of a plan has of its own
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/lpt-plan.h"
#include "executor/lpt-state.h"
#include "executor/lpt-trace.h"

/* An op that runs: others are folded, are their input's bytes, or have no tasks. */
typedef struct
{
  const LptProgramOp *op;
  guint               at;     /* its place in program->ops */
  LptFormRun          run;    /* NULL: a reference op */
  gsize               tasks;
  LptOpData           data;   /* of the thread that calls */
} LptRunStep;

struct _LptPlanContext
{
  const LptPlan *plan;
  LptArray      *arrays;      /* one for each value of the program */
  guint8       **addresses;   /* of the operands of each op with a form, its outputs behind them, then of what it keeps: where it begins says
                               * `first` */
  guint         *first;       /* by place in program->ops */
  LptRunStep    *steps;       /* n_steps, in order */
  guint          n_steps;
  LptTensor    **inputs;      /* what keeps input arrays alive */
  guint8        *arena;       /* the plan's, then workspace for each thread, then what ops keep */
  guint8        *workspace;
  LptArray      *in, *out;    /* of the running call */
  LptScratch    *scratch;
  GHashTable    *twins;       /* of calls */
  LptPool       *pool;
  gboolean       owns_pool;
  LptLoopRunner *runner;      /* NULL: one thread, or nothing runs overlapped */
  LptRunLoops    run_loops;   /* NULL: ops run one by one */
  GPtrArray     *bodies;      /* plans of bodies, with contexts: see lpt-run-body.c */
  LptStates     *states;
  LptState     **state_of;    /* that an op reads or assigns, by place in program->ops; NULL: none does */
  gint64         own_trips;   /* of loops, that are left to the run that goes on */
  gint64        *trips;       /* that one, or of the context whose body this runs */
  LptProfileRow *profile;     /* one for each node, or NULL */
  LptTrace      *trace;       /* NULL = nobody asked */
  gboolean       dynamic;     /* there are values whose shapes depend on data */
  gboolean       bound;       /* addresses are those of the inputs that are set */
  gboolean       ran;         /* the last run went well: outputs can be read */
};

/* Addresses of what lies in the arena, in constants and, once they are set, in inputs. */
void       lpt_plan_context_bind (LptPlanContext *context);

/* --- lpt-run-body.c --- */

GPtrArray *lpt_run_bodies_new    (void);
/* A body graph planned for the shapes of its inputs. */
typedef struct
{
  LptPlan        *plan;
  LptPlanContext *context;
  const LptNode  *node;
  guint           body;
  const LptArray **out;
  /* Of a loop, or NULL: its parameters where they lie in memory of its own, and room for results that wait until all
   * have been read. */
  LptArray       *own;
  guint8         *held;
} LptBodyRun;

/* Body @body of @node for inputs of the shapes of @in; NULL + error: it cannot be planned. */
LptBodyRun *lpt_body_run_get     (LptPlanContext *context, LptNode *node, guint body, const LptArray *in, guint n_in,
                                  GError **error);
/* LptBodyFunc of calls whose body_data is the context. */
gboolean   lpt_run_body          (LptCall *call, guint body, const LptArray *in, guint n_in, const LptArray **out, GError **error);

/* --- lpt-run-loop.c --- */

/* LptTripsFunc of the same calls. */
gboolean   lpt_run_trips         (LptCall *call, gint64 limit, gboolean *taken, GError **error);

/* --- lpt-run.c --- */

/* A run of a context whose inputs are set and bound. */
gboolean   lpt_plan_run_bound    (LptPlanContext *context, GError **error);
