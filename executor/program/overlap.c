/* overlap.c - which ops run overlapped, and what their units wait for
 *
 * Ops with tasks that follow each other are loops that run as one (lpt-loop-runner.h). A unit, some neighbouring tasks,
 * waits for those of the op before that write what it reads or overwrites, or read what it overwrites: that is asked of
 * the ops in bytes of their operands (access), and compared where these lie, in the arena or outside. So neither parts
 * of other values nor memory that is used again need rules of their own. Reference ops run by themselves, and so do ops
 * none of which has two tasks: there is nothing that another thread could do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

/* Of the arena (0), or of the storage of a value (its number + 1). */
typedef struct
{
  guint       space;
  LptOpSpan bytes;
} Place;

/* What the units of an op touch. */
typedef struct
{
  guint  n_in, n;
  Place *places;             /* of each unit in turn: n_in inputs, the output */
} Loop;

static Place
value_place (LptProgramValue *value)
{
  gsize at;
  const LptProgramValue *storage = lpt_program_storage (value, &at);

  if (storage->kind == LPT_STORAGE_ARENA)
    return (Place) { 0, { .from = storage->offset + at, .to = storage->offset + storage->size } };

  return (Place) { storage->index + 1, { .from = at, .to = G_MAXSIZE } };
}

/* What tasks [@task, @end) touch of operand @k (op->form.n_in: the output), which is @whole. */
static Place
tasks_place (const LptProgramOp *op,
             gsize               task,
             gsize               end,
             guint               k,
             Place               whole)
{
  LptOpSpan all = { .from = G_MAXSIZE };

  if (op->form.access == NULL)
    return whole;
  for (; task < end; task++)
    {
      LptOpSpan span = op->form.access (op, task, k);

      if (all.to > 0 && (span.pitch != all.pitch || span.first != all.first || span.width != all.width))
        span.pitch = all.pitch = 0;
      all.pitch = span.pitch;
      all.first = span.first;
      all.width = span.width;
      all.from = MIN (all.from, span.from);
      all.to = MAX (all.to, span.to);
    }
  if (all.pitch > 0)
    all.first = (whole.bytes.from + all.first) % all.pitch;
  all.to = MIN (all.to, whole.bytes.to - whole.bytes.from) + whole.bytes.from;
  all.from = MIN (all.from + whole.bytes.from, all.to);

  return (Place) { whole.space, all };
}

static const Place *
places_of (const Loop *loop,
           guint       u)
{
  return loop->places + u * (loop->n_in + 1);
}

static void
read_loop (const LptProgramOp *op,
           Loop               *loop)
{
  guint k, u;

  loop->n_in = op->form.n_in;
  loop->n = lpt_op_n_units (op);
  g_free (loop->places);
  loop->places = g_new (Place, loop->n * (loop->n_in + 1));
  for (k = 0; k <= loop->n_in; k++)
    {
      Place whole = value_place (k < loop->n_in ? op->form.in[k].value : op->form.out);

      for (u = 0; u < loop->n; u++)
        loop->places[u * (loop->n_in + 1) + k] = tasks_place (op, lpt_op_unit_task (op, u),
                                                              lpt_op_unit_task (op, u + 1), k, whole);
    }
}

static gboolean
overlap (const Place *x,
         const Place *y)
{
  const LptOpSpan *a = &x->bytes, *b = &y->bytes;
  gsize between;

  if (x->space != y->space || a->from >= b->to || b->from >= a->to)
    return FALSE;
  if (a->pitch == 0 || a->pitch != b->pitch)
    return TRUE;
  between = (b->first + a->pitch - a->first) % a->pitch;

  return between < a->width || between + b->width > a->pitch;
}

static guint64
needs_of (const Loop *loop,
          guint       u,
          const Loop *before)
{
  const Place *own = places_of (loop, u), *out = own + loop->n_in;
  guint64 needs = 0;
  guint i, k;

  for (i = 0; i < before->n; i++)
    {
      const Place *other = places_of (before, i);
      gboolean any = overlap (out, other + before->n_in);

      for (k = 0; k < loop->n_in && !any; k++)
        any = overlap (own + k, other + before->n_in);
      for (k = 0; k < before->n_in && !any; k++)
        any = overlap (out, other + k);
      needs |= (guint64) any << i;
    }

  return needs;
}

/* Ops with tasks; others are names and views, or of no elements. */
static gboolean
is_loop (const LptProgramOp *op)
{
  return op->has_form && op->form.run != NULL && op->form.tasks > 0;
}

/* A reference op is run by the caller, and so is what may end the run; what else an op writes besides its output is not
 * compared. */
static gboolean
runs_alone (const LptProgramOp *op)
{
  return op->has_form ? op->form.n_more > 0 || op->form.check != NULL : !op->folded;
}

static void
add_overlap (const LptProgram *program,
             GArray           *overlaps,
             guint             first,
             guint             end,
             guint             n)
{
  LptOverlap o = { first, end, 0, g_new (LptProgramOp *, n), g_new (guint, n), g_new (LptTaskLoop, n),
                   g_new (guint64, n * LPT_TASK_LOOP_UNITS) };
  Loop loops[2] = { { 0 } };
  guint i, u;

  for (i = first; i < end; i++)
    {
      LptProgramOp *op = program->ops->pdata[i];
      guint64 *needs = o.needs + o.n * LPT_TASK_LOOP_UNITS;
      Loop *loop = &loops[o.n % 2], *before = &loops[(o.n + 1) % 2];

      if (!is_loop (op))
        continue;
      read_loop (op, loop);
      for (u = 0; u < loop->n; u++)
        needs[u] = o.n > 0 ? needs_of (loop, u, before) : 0;
      o.ops[o.n] = op;
      o.at[o.n] = i;
      o.loops[o.n++] = (LptTaskLoop) { loop->n, needs };
    }
  g_free (loops[0].places);
  g_free (loops[1].places);
  g_array_append_val (overlaps, o);
}

static void
clear_overlap (gpointer data)
{
  LptOverlap *o = data;

  g_free (o->ops);
  g_free (o->at);
  g_free (o->loops);
  g_free (o->needs);
}

gboolean
lpt_program_overlap (LptProgram *program,
                     GError    **error)
{
  GArray *overlaps = program->overlaps;
  guint i, n = 0, first = 0;
  gboolean shared = FALSE;       /* one of them has several tasks */

  g_array_set_clear_func (overlaps, clear_overlap);
  for (i = 0; i <= program->ops->len; i++)
    {
      const LptProgramOp *op = i < program->ops->len ? program->ops->pdata[i] : NULL;

      if (op != NULL && !runs_alone (op))
        {
          n += is_loop (op);
          shared |= is_loop (op) && op->form.tasks > 1;
          continue;
        }
      if (n > 1 && shared)
        add_overlap (program, overlaps, first, i, n);
      first = i + 1;
      n = 0;
      shared = FALSE;
    }

  return TRUE;
}
