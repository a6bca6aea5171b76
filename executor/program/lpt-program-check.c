/* lpt-program-check.c - what holds for every program, whatever passes have made of it
 *
 * From the first pass on:
 *   - each node of the graph is folded, an op, or the work of one that is not itself the work of another;
 *   - who reads a value stands among its uses, and is not folded.
 *
 * When the list of ops is there (choose-layouts), until views of views are none (place):
 *   - a value is written by one op, before all that read it; parts of a value before the op that joins them;
 *   - operands lie in the layout that the form reads.
 *
 * When values have their places (place):
 *   - a view lies inside its storage, and in no view;
 *   - bytes of the arena in use at the same time do not meet;
 *   - tasks stay inside their operands, and write each byte of the result once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-check.h"

/* Larger results are not looked at byte by byte. */
#define MAX_BYTES (1 << 22)

typedef struct
{
  const LptProgram *program;
  const char       *after;
  GError          **error;
} Check;

G_GNUC_PRINTF (3, 4) static gboolean
fail (const Check  *c,
      const LptNode *node,
      const char   *format,
      ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (c->error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\": after pass %s of the plan %s", node->name,
               c->after, text);

  return FALSE;
}

/* --- ops and nodes --- */

static gboolean
check_node (const Check        *c,
            const LptProgramOp *op)
{
  const LptProgramOp *owner = lpt_program_owner (op);
  guint k;

  if (op->fused_into != NULL && op->has_form)
    return fail (c, op->node, "it has a form although \"%s\" does its work", op->fused_into->node->name);
  if (owner != op && owner->folded)
    return fail (c, op->node, "\"%s\" does its work, which does not run", owner->node->name);
  for (k = 0; k < op->n_in && lpt_program_is_free (op) && !op->folded; k++)
    if (op->in[k] != NULL && op->in[k]->kind == LPT_STORAGE_NONE)
      return fail (c, op->node, "it reads input %u, which nobody makes", k);

  return TRUE;
}

/* --- the list --- */

/* From which op on @value is there: 0, inputs and constants, or the place of its op plus one. */
static gboolean
is_there (const guint           *written,
          const LptProgramValue *value,
          guint                  at)
{
  for (; value->kind == LPT_STORAGE_VIEW && written[value->index] == 0; value = value->in)
    ;

  return value->kind == LPT_STORAGE_INPUT || value->kind == LPT_STORAGE_CONST ||
         (written[value->index] > 0 && written[value->index] <= at);
}

static gboolean
check_operands (const Check        *c,
                const LptProgramOp *op,
                const guint        *written,
                guint               at)
{
  guint k;

  for (k = 0; op->has_form && k < op->form.n_in; k++)
    {
      const LptOperand *in = &op->form.in[k];

      if (in->value->layout != in->layout)
        return fail (c, op->node, "operand %u lies in another layout than it is read in", k);
      if (!is_there (written, in->value, at))
        return fail (c, op->node, "operand %u is read before it is written", k);
    }
  for (k = 0; !op->has_form && !op->folded && k < op->n_in; k++)
    if (op->in[k] != NULL && (op->in[k]->layout != LPT_LAYOUT_TYPED || !is_there (written, op->in[k], at)))
      return fail (c, op->node, "input %u is not there, or not in its type", k);

  return TRUE;
}

static gboolean
write_value (const Check           *c,
             const LptProgramOp    *op,
             guint                 *written,
             const LptProgramValue *value,
             guint                  at)
{
  if (written[value->index] > 0)
    return fail (c, op->node, "its result has been written before");
  written[value->index] = at + 1;

  return TRUE;
}

static gboolean
check_list (const Check *c)
{
  g_autofree guint *written = g_new0 (guint, c->program->values->len + 1);
  guint i, k;

  for (i = 0; i < c->program->ops->len; i++)
    {
      const LptProgramOp *op = c->program->ops->pdata[i];

      if (!check_operands (c, op, written, i))
        return FALSE;
      if (op->has_form && !write_value (c, op, written, op->form.out, i))
        return FALSE;
      for (k = 0; op->has_form && k < op->form.n_more; k++)
        if (!write_value (c, op, written, op->form.more[k], i))
          return FALSE;
      for (k = 0; !op->has_form && k < op->n_out; k++)
        if (!op->folded && !write_value (c, op, written, op->out[k], i))
          return FALSE;
    }
  for (i = 0; i < c->program->n_outputs; i++)
    if (!is_there (written, c->program->outputs[i], c->program->ops->len))
      return fail (c, c->program->outputs[i]->origin->producer, "the output is not written");

  return TRUE;
}

/* --- places --- */

/* Bytes from its place on that a value of known shape has. */
static gsize
extent (const LptProgramValue *value)
{
  gsize count = lpt_program_count (value), channels = lpt_program_channels (value);

  if (value->layout == LPT_LAYOUT_CODES_PITCHED && count > 0)
    return (count / channels - 1) * value->pitch + channels;

  return count * lpt_storage_size (value->array.dtype);
}

static gboolean
check_place (const Check           *c,
             const LptProgramValue *value)
{
  const LptProgramValue *storage = value->in;

  if (value->kind != LPT_STORAGE_VIEW)
    return TRUE;
  if (storage->kind == LPT_STORAGE_VIEW)
    return fail (c, value->origin->producer, "its result is a view of a view");
  if (lpt_shape_is_static (&value->array.shape) && lpt_shape_is_static (&storage->array.shape) &&
      value->offset + extent (value) > extent (storage))
    return fail (c, value->origin->producer,
                 "its result ends at byte %" G_GSIZE_FORMAT " of storage of %" G_GSIZE_FORMAT " bytes, that of \"%s\"",
                 value->offset + extent (value), extent (storage), storage->origin->producer->name);

  return TRUE;
}

static int
by_first (const void *a,
          const void *b)
{
  const LptProgramValue *x = *(LptProgramValue *const *) a, *y = *(LptProgramValue *const *) b;

  return x->first < y->first ? -1 : x->first > y->first;
}

static gboolean
check_arena (const Check *c)
{
  g_autoptr (GPtrArray) placed = g_ptr_array_new ();
  guint i, k;

  for (i = 0; i < c->program->values->len; i++)
    {
      LptProgramValue *value = c->program->values->pdata[i];

      if (value->kind != LPT_STORAGE_ARENA || value->first > value->last)
        continue;
      if (value->offset + value->size > c->program->arena_size)
        return fail (c, value->origin->producer, "its result lies outside of the arena");
      g_ptr_array_add (placed, value);
    }
  g_ptr_array_sort (placed, by_first);
  for (i = 0; i < placed->len; i++)
    {
      const LptProgramValue *a = placed->pdata[i];

      for (k = i + 1; k < placed->len && ((LptProgramValue *) placed->pdata[k])->first <= a->last; k++)
        {
          const LptProgramValue *b = placed->pdata[k];

          if (a->offset < b->offset + b->size && b->offset < a->offset + a->size)
            return fail (c, a->origin->producer, "its result shares bytes with that of \"%s\"",
                         b->origin->producer->name);
        }
    }

  return TRUE;
}

/* --- tasks --- */

/* Counts the bytes of @span in @bytes; FALSE: outside of @n, or twice. */
static gboolean
mark_span (LptOpSpan span,
           guint8   *bytes,
           gsize     n)
{
  gsize from, to, at;

  if (span.pitch == 0)
    span.first = span.width = 0;
  for (from = span.from; from < span.to; from = to)
    {
      gsize in_row = span.pitch > 0 ? from % span.pitch : 0;

      to = span.pitch > 0 ? MIN (span.to, from - in_row + span.pitch) : span.to;
      for (at = from; at < to; at++)
        if (span.pitch == 0 || (at % span.pitch >= span.first && at % span.pitch < span.first + span.width))
          if (at >= n || bytes[at]++ > 0)
            return FALSE;
    }

  return TRUE;
}

static gboolean
check_tasks (const Check        *c,
             const LptProgramOp *op)
{
  const LptOpForm *form = &op->form;
  gsize n, task, at;
  guint8 *bytes;
  gboolean ok = TRUE, all = TRUE;

  if (form->run == NULL || form->access == NULL || !lpt_shape_is_static (&form->out->array.shape))
    return TRUE;
  n = extent (form->out);
  if (n > MAX_BYTES)
    return TRUE;
  bytes = g_malloc0 (n + 1);
  for (task = 0; task < form->tasks && ok; task++)
    ok = mark_span (form->access (op, task, form->n_in), bytes, n);
  for (at = 0; at < n && form->out->layout != LPT_LAYOUT_CODES_PITCHED && form->part == NULL; at++)
    all = all && bytes[at] == 1;
  g_free (bytes);

  return ok && all ? TRUE
                   : fail (c, op->node,
                           ok ? "its tasks leave bytes of the result out"
                              : "its tasks write a byte twice, or outside of the result");
}

static gboolean
check_places (const Check *c)
{
  guint i;

  for (i = 0; i < c->program->values->len; i++)
    if (!check_place (c, c->program->values->pdata[i]))
      return FALSE;
  for (i = 0; i < c->program->ops->len; i++)
    {
      const LptProgramOp *op = c->program->ops->pdata[i];

      if (op->has_form && !check_tasks (c, op))
        return FALSE;
    }

  return check_arena (c);
}

/* --- the whole --- */

gboolean
lpt_program_check (const LptProgram *program,
                   const char       *after,
                   GError          **error)
{
  const Check c = { program, after, error };
  guint i;

  for (i = 0; i < program->n_nodes; i++)
    if (!check_node (&c, program->nodes->pdata[i]))
      return FALSE;

  return program->ops->len == 0 || (program->placed ? check_places (&c) : check_list (&c));
}
