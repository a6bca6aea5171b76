/* float-softmax.c - Softmax along axes that rows.c does not take, LogSoftmax along any
 *
 * Along an axis that is not the last one, columns side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "eval/lpt-softmax.h"
#include "ir/scalar/lpt-loop.h"

/* Columns of a task, and its elements. */
#define COLUMNS LPT_LOG_SOFTMAX_COLUMNS
#define TASK 32768

typedef struct
{
  const LptFloatKernel *floats;
  gboolean logarithm;
  gsize    outer, n, inner;
  gsize    units, columns, per_task;  /* units: rows, or blocks of columns */
} Softmax;

static void
run_unit (const Softmax *p,
          const float   *x,
          float         *y,
          gsize          unit)
{
  gsize blocks = (p->inner + p->columns - 1) / p->columns, column = unit % blocks * p->columns;
  gsize at = unit / blocks * p->n * p->inner + column, columns = MIN (p->columns, p->inner - column);

  if (p->logarithm)
    lpt_log_softmax_columns (p->floats, p->n, columns, p->inner, x + at, y + at);
  else if (p->inner == 1)
    p->floats->softmax (1, p->n, x + at, p->n, y + at, p->n);
  else
    p->floats->softmax_columns (p->n, columns, x + at, p->inner, y + at);
}

static void
softmax_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const Softmax *p = op->form.params;
  gsize unit, last = MIN (end * p->per_task, p->units);

  if (p->logarithm && p->inner == 1)
    {
      const gsize first = task * p->per_task;

      lpt_log_softmax_rows (p->floats, last - first, p->n, (const float *) (gconstpointer) data->in[0] + first * p->n,
                            (float *) (gpointer) data->out + first * p->n);
      return;
    }
  for (unit = task * p->per_task; unit < last; unit++)
    run_unit (p, (const float *) (gconstpointer) data->in[0], (float *) (gpointer) data->out, unit);
}

gboolean
lpt_prepare_float_softmax (LptProgram   *program,
                           LptProgramOp *op)
{
  gboolean logarithm = op->node->op == LPT_OP_LOG_SOFTMAX;
  gint64 wish = logarithm ? LPT_ATTRS (op->node, LptLogSoftmaxAttrs)->axis
                          : LPT_ATTRS (op->node, LptSoftMaxAttrs)->axis;
  const LptShape *shape = &op->in[0]->array.shape;
  Softmax *p;
  gint axis;

  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]) || shape->rank == 0 ||
      !lpt_axis_normalize (wish, shape->rank, &axis))
    return FALSE;
  p = g_new0 (Softmax, 1);
  p->floats = program->kernels.floats;
  p->logarithm = logarithm;
  p->outer = (gsize) lpt_dims_product (shape, 0, axis);
  p->n = (gsize) shape->dims[axis];
  p->inner = (gsize) lpt_dims_product (shape, axis + 1, shape->rank);
  p->columns = MIN (p->inner, COLUMNS);
  p->units = p->outer * ((p->inner + p->columns - 1) / p->columns);
  p->per_task = MAX (TASK / (p->n * p->columns), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = softmax_run, .params = p, .kernel = program->kernels.floats->name, .tasks = (p->units + p->per_task - 1) / p->per_task, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
