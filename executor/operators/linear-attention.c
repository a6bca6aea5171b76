/* linear-attention.c - LinearAttention: some columns of a state a task
 *
 * Columns of a state know nothing of each other, so that a task takes LPT_LINEAR_PART of one through all tokens
 * (executor/kernels/linear). Bits are those of the op.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-linear-attention.h"
#include "executor/operators/lpt-operators.h"

typedef struct
{
  LptLinearAttention     sizes;
  const LptLinearKernel *kernel;
  gsize                  parts;                      /* of a state */
  gint8                  operand[LPT_LINEAR_INPUTS]; /* -1: not given */
} Linear;

static void
linear_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Linear *p = op->form.params;
  const float *in[LPT_LINEAR_INPUTS] = { NULL };

  for (guint i = 0; i < LPT_LINEAR_INPUTS; i++)
    if (p->operand[i] >= 0)
      in[i] = (const float *) (gconstpointer) data->in[p->operand[i]];
  for (; task < end; task++)
    {
      const LptLinear state = lpt_linear_attention_state (&p->sizes, task / p->parts, in,
                                                          (float *) (gpointer) data->out,
                                                          (float *) (gpointer) data->more[0]);
      const gsize first = task % p->parts * LPT_LINEAR_PART;

      p->kernel->run (&state, first, MIN (first + LPT_LINEAR_PART, p->sizes.value));
    }
}

gboolean
lpt_prepare_linear_attention (LptProgram   *program,
                              LptProgramOp *op)
{
  const LptShape *shapes[LPT_LINEAR_INPUTS] = { NULL };
  LptOperand in[LPT_LINEAR_INPUTS];
  LptOpForm form = { .run = linear_run, .in = in, .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED, .n_more = 1,
                     .more = { op->out[1] }, .kernel = program->kernels.linear->name };
  Linear *p;

  if (!lpt_program_is_real (op->out[0]) || !lpt_program_is_real (op->out[1]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  for (guint i = 0; i < op->n_in; i++)
    if (op->in[i] != NULL && !lpt_program_is_real (op->in[i]))
      return lpt_refuse (op, LPT_REMARK_TYPES);
  p = g_new (Linear, 1);
  for (guint i = 0; i < LPT_LINEAR_INPUTS; i++)
    {
      p->operand[i] = -1;
      if (i >= op->n_in || op->in[i] == NULL)
        continue;
      shapes[i] = &op->in[i]->array.shape;
      p->operand[i] = (gint8) form.n_in;
      in[form.n_in++] = (LptOperand) { op->in[i], LPT_LAYOUT_TYPED };
    }
  p->sizes = lpt_linear_attention_make (shapes);
  p->kernel = program->kernels.linear;
  p->parts = (p->sizes.value + LPT_LINEAR_PART - 1) / LPT_LINEAR_PART;
  form.params = p;
  form.tasks = p->sizes.batch * p->sizes.states * p->parts;
  lpt_program_set_form (op, &form);

  return TRUE;
}
