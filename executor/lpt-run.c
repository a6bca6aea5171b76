/* lpt-run.c - a run of a plan: ops in order, those with tasks overlapped
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <time.h>

#include "executor/lpt-context.h"
#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-loop.h"

static gint64
clock_ns (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);

  return (gint64) t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Conversions count for the node that they stand beside, under its kernel's name. */
static void
add_profile (LptPlanContext     *context,
             const LptProgramOp *op,
             gint64              wall,
             gint64              cpu)
{
  LptProfileRow *row = &context->profile[op->index];

  if (op->folded)
    return;
  if (!op->converts || *row->kernel == '\0')
    row->kernel = op->has_form ? op->form.kernel : op->kernel;
  op = context->plan->program->nodes->pdata[op->index];
  row->executed = TRUE;
  row->runs_in = lpt_plan_op_ran_in (op, context->arrays);
  row->wall_ns += wall;
  row->cpu_ns += cpu;
  if (op->n_out > 0)
    row->shape = context->arrays[op->out[0]->index].shape;
}

/* Nothing but @op itself touches its output. */
static gboolean
is_unread (const LptProgramOp *op)
{
  return op->out[0]->last == op->out[0]->first && op->out[0]->n_outputs == 0;
}

/* Values of unknown shape go as soon as nobody reads them. */
static void
drop_inputs (LptPlanContext *context,
             guint           i)
{
  const LptProgramOp *op = context->plan->program->ops->pdata[i];
  guint k;

  for (k = 0; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k]->kind == LPT_STORAGE_DYNAMIC && op->in[k]->last == i)
      lpt_array_clear (&context->arrays[op->in[k]->index]);
}

static gboolean
run_reference (LptPlanContext *context,
               guint           i,
               GError        **error)
{
  const LptProgramOp *op = context->plan->program->ops->pdata[i];
  LptCall call = { .node = op->node, .in = context->in, .n_in = op->n_in, .out = context->out, .n_out = op->n_out,
                   .scratch = context->scratch, .twins = context->twins, .pool = context->pool,
                   .integer = op->integer, .run_body = lpt_run_body, .body_data = context,
                   .run_trips = context->plan->program->flags & LPT_PLAN_REFERENCE ? NULL : lpt_run_trips,
                   .trips = context->trips };
  gboolean ok;
  guint k;

  for (k = 0; k < op->n_in; k++)
    if (op->in[k] != NULL)
      context->in[k] = context->arrays[op->in[k]->index];
    else
      context->in[k] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
  for (k = 0; k < op->n_out; k++)
    context->out[k] = context->arrays[op->out[k]->index];

  ok = lpt_call_run (&call, error);
  for (k = 0; k < op->n_out; k++)
    context->arrays[op->out[k]->index] = context->out[k];

  drop_inputs (context, i);

  return ok;
}

/* An op that reads or assigns @state: what was assigned, else its input, which is the first value; an input that others
 * read behind it. */
static gboolean
run_state (LptPlanContext *context,
           guint           i,
           LptState       *state,
           GError        **error)
{
  const LptProgramOp *op = context->plan->program->ops->pdata[i];
  gboolean done;

  if (op->node->op == LPT_OP_READ_VALUE)
    {
      if (!lpt_state_read (state, &context->arrays[op->out[0]->index], &done, error))
        return FALSE;
    }
  else
    {
      if (!lpt_state_write (state, &context->arrays[op->in[0]->index], error))
        return FALSE;
      done = is_unread (op);
    }
  if (!done)
    return run_reference (context, i, error);
  drop_inputs (context, i);

  return TRUE;
}

typedef struct
{
  LptPlanContext   *context;
  guint             i;         /* the op, in program->ops */
  const LptOverlap *overlap;   /* or several */
} TaskRun;

/* Where the operands of the op at @i, which has a form, lie for @thread. */
static LptOpData
data_of (const LptPlanContext *context,
         guint                 i,
         unsigned              thread)
{
  const LptProgram *program = context->plan->program;
  const LptProgramOp *op = program->ops->pdata[i];
  guint8 *const *in = context->addresses + context->first[i];

  return (LptOpData) { .in = in,
                       .out = in[op->form.n_in],
                       .more = in + op->form.n_in + 1,
                       .kept = in[op->form.n_in + 1 + op->form.n_more],
                       .workspace = context->workspace + thread * program->workspace };
}

/* May the tasks of the op at @i run? */
static gboolean
passes_check (const LptPlanContext *context,
              guint                 i,
              GError              **error)
{
  const LptProgramOp *op = context->plan->program->ops->pdata[i];
  LptOpData data;

  if (op->form.check == NULL)
    return TRUE;
  data = data_of (context, i, 0);
  if (op->form.check (op, &data, error))
    return TRUE;
  g_prefix_error (error, "node \"%s\": ", op->node->name);

  return FALSE;
}

/* Tasks [@task, @end) of the op at @i. */
static void
run_tasks_of (LptPlanContext *context,
              guint           i,
              gsize           task,
              gsize           end,
              unsigned        thread)
{
  const LptProgramOp *op = context->plan->program->ops->pdata[i];
  const LptOpData data = data_of (context, i, thread);
  const gint64 begin = context->trace != NULL ? lpt_trace_now () : 0;

  op->form.run (op, &data, task, end);
  if (context->trace != NULL)
    lpt_trace_add (context->trace, i, task, end, thread, begin);
}

static void
run_tasks (void    *data,
           size_t   task,
           size_t   end,
           unsigned thread)
{
  const TaskRun *run = data;

  run_tasks_of (run->context, run->i, task, end, thread);
}

static void
run_units (void    *data,
           size_t   loop,
           unsigned unit,
           unsigned end,
           unsigned thread)
{
  const TaskRun *run = data;
  const LptProgramOp *op = run->overlap->ops[loop];

  run_tasks_of (run->context, run->overlap->at[loop], lpt_op_unit_task (op, unit), lpt_op_unit_task (op, end), thread);
}

void
lpt_plan_context_set_run_loops (LptPlanContext *context,
                                LptRunLoops     run)
{
  context->run_loops = run;
}

/* The overlapped ops that begin with the one at @i, if the context runs such. */
static const LptOverlap *
overlap_at (const LptPlanContext *context,
            guint                 i,
            guint                *next)
{
  const GArray *overlaps = context->plan->program->overlaps;
  const LptOverlap *overlap = context->run_loops != NULL && context->profile == NULL && *next < overlaps->len
                              ? &g_array_index (overlaps, LptOverlap, *next) : NULL;

  if (overlap == NULL || overlap->first != i)
    return NULL;
  (*next)++;

  return overlap;
}

/* Its output is made, or is its input's bytes. */
static gboolean
is_idle (const LptProgramOp *op)
{
  return op->folded || (op->has_form && op->form.run == NULL);
}

static gboolean
run_op (LptPlanContext *context,
        guint           i,
        GError        **error)
{
  const LptProgramOp *op = context->plan->program->ops->pdata[i];

  if (is_idle (op))
    return TRUE;
  if (!op->has_form)
    {
      const gint64 begin = context->trace != NULL ? lpt_trace_now () : 0;
      LptState *state = context->state_of != NULL ? context->state_of[i] : NULL;
      const gboolean ok = state != NULL ? run_state (context, i, state, error) : run_reference (context, i, error);

      if (context->trace != NULL)
        lpt_trace_add (context->trace, i, 0, 1, 0, begin);
      return ok;
    }
  if (!passes_check (context, i, error))
    return FALSE;
  lpt_parallel_ranges (context->pool, op->form.tasks, run_tasks, &(TaskRun) { context, i, NULL });

  return TRUE;
}

static gboolean
run_steps (LptPlanContext *context,
           GError        **error)
{
  const LptRunStep *step = context->steps, *end = step + context->n_steps;
  const gboolean alone = lpt_pool_n_threads (context->pool) == 1;

  for (; step < end; step++)
    {
      if (!lpt_limits_go_on (error))
        return FALSE;
      if (step->run != NULL && (alone || step->tasks == 1))
        {
          if (!passes_check (context, step->at, error))
            return FALSE;
          step->run (step->op, &step->data, 0, step->tasks);
        }
      else if (!run_op (context, step->at, error))
        return FALSE;
    }

  return TRUE;
}

/* Ops that somebody looks at, or that overlap. */
static gboolean
run_watched (LptPlanContext *context,
             GError        **error)
{
  const GPtrArray *ops = context->plan->program->ops;
  guint i, next = 0;

  for (i = 0; i < ops->len; i++)
    {
      const LptOverlap *overlap = overlap_at (context, i, &next);
      gint64 wall = 0, cpu = 0;

      if (overlap == NULL && context->profile == NULL && is_idle (ops->pdata[i]))
        continue;
      if (!lpt_limits_go_on (error))
        return FALSE;
      if (overlap != NULL)
        {
          context->run_loops (context->runner, overlap->loops, overlap->n, run_units,
                              &(TaskRun) { context, i, overlap });
          i = overlap->end - 1;
          continue;
        }
      if (context->profile != NULL)
        {
          wall = clock_ns (CLOCK_MONOTONIC);
          cpu = clock_ns (CLOCK_PROCESS_CPUTIME_ID);
        }
      if (!run_op (context, i, error))
        return FALSE;
      if (context->profile != NULL)
        add_profile (context, ops->pdata[i], clock_ns (CLOCK_MONOTONIC) - wall,
                     clock_ns (CLOCK_PROCESS_CPUTIME_ID) - cpu);
    }

  return TRUE;
}

/* Values of the run before, whose shapes may have been others. */
static void
clear_dynamic (LptPlanContext *context)
{
  const GPtrArray *values = context->plan->program->values;
  guint i;

  for (i = 0; i < values->len; i++)
    {
      const LptProgramValue *value = values->pdata[i];

      if (value->kind != LPT_STORAGE_DYNAMIC)
        continue;
      lpt_array_clear (&context->arrays[i]);
      context->arrays[i].shape = value->array.shape;
    }
}

gboolean
lpt_plan_run_bound (LptPlanContext *context,
                    GError        **error)
{
  const guint mark = lpt_memory_mark ();
  gboolean plain;

  context->ran = FALSE;
  if (context->dynamic)
    clear_dynamic (context);
  /* A program is short loops; reference ops that take long leave the other threads alone. */
  if (context->plan->program->overlaps->len > 0)
    lpt_pool_wake (context->pool);
  plain = context->run_loops == NULL && context->profile == NULL && context->trace == NULL;
  context->ran = (plain ? run_steps (context, error) : run_watched (context, error)) && lpt_memory_check (mark, error);
  lpt_states_commit (context->states, context->ran);

  return context->ran;
}

gboolean
lpt_plan_run (const LptPlan  *plan,
              LptPlanContext *context,
              GError        **error)
{
  const LptProgram *program = plan->program;
  guint i;

  g_return_val_if_fail (context->plan == plan, FALSE);

  context->ran = FALSE;
  for (i = 0; i < program->n_inputs; i++)
    if (context->arrays[program->inputs[i]->index].data == NULL)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" is not set", lpt_plan_input_name (plan, i));
        return FALSE;
      }
  if (!context->bound)
    lpt_plan_context_bind (context);
  if (context->trips == &context->own_trips)
    context->own_trips = lpt_limits_trips ();

  return lpt_plan_run_bound (context, error);
}

void
lpt_plan_context_trace_start (LptPlanContext *context,
                              guint           capacity)
{
  g_return_if_fail (capacity > 0);

  lpt_trace_free (context->trace);
  context->trace = lpt_trace_new (MAX (lpt_pool_n_threads (context->pool), 1), capacity);
}

GArray *
lpt_plan_context_trace_stop (LptPlanContext *context,
                             guint64        *dropped)
{
  GArray *events;

  g_return_val_if_fail (context->trace != NULL, NULL);

  events = lpt_trace_events (context->trace, context->plan->program, dropped);
  g_clear_pointer (&context->trace, lpt_trace_free);

  return events;
}
