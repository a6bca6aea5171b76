/* lpt-trace.c - which thread ran which tasks when
 *
 * Each thread writes into a list of its own, whose length is fixed before the run: a run with a trace allocates
 * nothing, and takes no lock.
 * What does not fit is counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <time.h>

#include "executor/lpt-trace.h"

typedef struct
{
  guint  op, thread;        /* place in program->ops */
  gsize  task, end;
  gint64 begin_ns, end_ns;
} Event;

typedef struct
{
  Event *events;
  guint  n;
  guint  dropped;
  char   pad[64];           /* neighbours write often */
} Lane;

struct _LptTrace
{
  guint n_lanes, capacity;
  Lane *lanes;
};

gint64
lpt_trace_now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);

  return (gint64) t.tv_sec * 1000000000 + t.tv_nsec;
}

LptTrace *
lpt_trace_new (guint n_threads,
               guint capacity)
{
  LptTrace *trace = g_new0 (LptTrace, 1);
  guint i;

  trace->n_lanes = n_threads;
  trace->capacity = capacity;
  trace->lanes = g_new0 (Lane, n_threads);
  for (i = 0; i < n_threads; i++)
    trace->lanes[i].events = g_new0 (Event, capacity);

  return trace;
}

void
lpt_trace_free (LptTrace *trace)
{
  guint i;

  if (trace == NULL)
    return;
  for (i = 0; i < trace->n_lanes; i++)
    g_free (trace->lanes[i].events);
  g_free (trace->lanes);
  g_free (trace);
}

void
lpt_trace_add (LptTrace *trace,
               guint     op,
               gsize     task,
               gsize     end,
               guint     thread,
               gint64    begin_ns)
{
  Lane *lane = &trace->lanes[thread];

  if (lane->n < trace->capacity)
    lane->events[lane->n++] = (Event) { op, thread, task, end, begin_ns, lpt_trace_now () };
  else
    lane->dropped++;
}

static gint
compare_events (gconstpointer a,
                gconstpointer b)
{
  const LptTraceEvent *x = a, *y = b;

  if (x->begin_ns != y->begin_ns)
    return x->begin_ns < y->begin_ns ? -1 : 1;

  return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void
append_event (GArray           *list,
              const LptProgram *program,
              const Event      *event,
              gint64            start)
{
  const LptProgramOp *op = program->ops->pdata[event->op];
  const LptProgramOp *of = program->nodes->pdata[op->index];
  LptTraceEvent row = { of->node->name, op->converts ? "Convert" : of->node->info->name, op->has_form ? op->form.kernel : op->kernel, event->thread,
                        event->task, event->end, event->begin_ns - start, event->end_ns - start };

  g_array_append_val (list, row);
}

GArray *
lpt_trace_events (const LptTrace   *trace,
                  const LptProgram *program,
                  guint64          *dropped)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (LptTraceEvent));
  gint64 start = G_MAXINT64;
  guint i, k;

  *dropped = 0;
  for (i = 0; i < trace->n_lanes; i++)
    if (trace->lanes[i].n > 0)
      start = MIN (start, trace->lanes[i].events[0].begin_ns);
  for (i = 0; i < trace->n_lanes; i++)
    {
      *dropped += trace->lanes[i].dropped;
      for (k = 0; k < trace->lanes[i].n; k++)
        append_event (list, program, &trace->lanes[i].events[k], start);
    }
  g_array_sort (list, compare_events);

  return list;
}
