/* find-lifetimes.c - from which op to which the storage of each value is in use
 *
 * Who reads a view reads its storage. Outputs are kept, with LPT_PLAN_KEEP_ALL all values. What a conversion reads as
 * it came is kept until the op for which it stands is done: that op could not overlap with it if it wrote there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

static void
touch (LptProgramValue *value,
       guint            at)
{
  LptProgramValue *storage;
  gsize offset;

  if (value == NULL)
    return;
  storage = lpt_program_storage (value, &offset);
  storage->first = MIN (storage->first, at);
  storage->last = MAX (storage->last, at);
}

gboolean
lpt_program_find_lifetimes (LptProgram *program,
                            GError    **error)
{
  gboolean keep = (program->flags & LPT_PLAN_KEEP_ALL) != 0;
  gsize offset;
  guint i, k;

  for (i = 0; i < program->values->len; i++)
    {
      LptProgramValue *value = program->values->pdata[i];

      value->first = G_MAXUINT;
      value->last = 0;
    }
  for (i = 0; i < program->ops->len; i++)
    {
      LptProgramOp *op = program->ops->pdata[i];

      for (k = 0; op->has_form && k < op->form.n_in; k++)
        touch (op->form.in[k].value,
               i + (op->converts && op->form.in[k].layout == LPT_LAYOUT_TYPED && i + 1 < program->ops->len));
      if (op->has_form)
        touch (op->form.out, i);
      for (k = 0; op->has_form && k < op->form.n_more; k++)
        touch (op->form.more[k], i);
      for (k = 0; !op->has_form && !op->folded && k < op->n_in; k++)
        touch (op->in[k], i);
      for (k = 0; !op->has_form && !op->folded && k < op->n_out; k++)
        touch (op->out[k], i);
    }
  for (i = 0; i < program->n_outputs; i++)
    lpt_program_storage (program->outputs[i], &offset)->last = G_MAXUINT;
  for (i = 0; i < program->values->len && keep; i++)
    ((LptProgramValue *) program->values->pdata[i])->last = G_MAXUINT;

  return TRUE;
}
