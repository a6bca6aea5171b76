/* reuse-inputs.c - results that are written over an input which nobody reads later
 *
 * What tasks do says its form: an element is read where it is written, just before. A reference op may where element i
 * of the output depends on element i of the first input alone, of the same type, and no other input is a part of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/scalar/lpt-loop.h"

/* A value of the arena with a storage of its own. */
static gboolean
is_placed (const LptProgramValue *value)
{
  return value->kind == LPT_STORAGE_DYNAMIC && lpt_shape_is_static (&value->array.shape);
}

static void
lie_over (LptProgramValue *out,
          LptProgramValue *in)
{
  out->kind = LPT_STORAGE_VIEW;
  out->in = in;
  out->offset = 0;
  in->last = MAX (in->last, out->last);
}

static gsize
size_of (const LptProgramValue *value)
{
  return lpt_program_count (value) * lpt_storage_size (value->array.dtype);
}

/* Operand @k of the op at @i is the whole of a storage which no other operand has, and which ends here. */
static gboolean
ends_here (const LptProgramOp *op,
           guint               i,
           guint               k)
{
  gsize offset, other;
  LptProgramValue *in = lpt_program_storage (op->form.in[k].value, &offset);
  guint n;

  if (!is_placed (in) || offset != 0 || in->last != i || op->form.in[k].value->layout != op->form.out->layout ||
      ((size_of (in) + 63) & ~(gsize) 63) != ((size_of (op->form.out) + 63) & ~(gsize) 63))
    return FALSE;
  for (n = 0; n < op->form.n_in; n++)
    if (n != k && lpt_program_storage (op->form.in[n].value, &other) == in)
      return FALSE;

  return TRUE;
}

static void
reuse_operand (LptProgramOp *op,
               guint         i)
{
  guint k;

  for (k = 0; k < op->form.n_in && is_placed (op->form.out) && op->form.out->first == i; k++)
    if (op->form.in[k].overwritten && ends_here (op, i, k))
      {
        gsize offset;

        lie_over (op->form.out, lpt_program_storage (op->form.in[k].value, &offset));
      }
}

static gboolean
runs_in_place (const LptProgramOp *op,
               guint               i)
{
  const LptProgramValue *in = op->n_in > 0 ? op->in[0] : NULL, *out = op->n_out == 1 ? op->out[0] : NULL, *storage;
  gsize offset, other;

  if (in == NULL || out == NULL || (op->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 || op->integer != NULL ||
      in->array.quant != NULL || out->array.quant != NULL || in->array.dtype != out->array.dtype ||
      !lpt_shape_equal (&in->array.shape, &out->array.shape) || !is_placed (out))
    return FALSE;
  storage = lpt_program_storage (op->in[0], &offset);
  /* Another part of it would be written before it is read. */
  for (guint k = 1; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k] != in && lpt_program_storage (op->in[k], &other) == storage)
      return FALSE;

  return is_placed (storage) && offset == 0 && storage->last == i;
}

gboolean
lpt_program_reuse_inputs (LptProgram *program,
                          GError    **error)
{
  guint i;

  for (i = 0; i < program->ops->len; i++)
    {
      LptProgramOp *op = program->ops->pdata[i];
      gsize offset;

      if (op->has_form)
        reuse_operand (op, i);
      else if (!op->folded && runs_in_place (op, i))
        lie_over (op->out[0], lpt_program_storage (op->in[0], &offset));
    }

  return TRUE;
}
