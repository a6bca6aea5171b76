/* float-reduce.c - reductions of real numbers along any axes
 *
 * Where there are more units than threads need, some of them are a task (eval/lpt-float-reduce.h). What lies channels
 * last is reduced as it lies where images, channels and the innermost axis stay: each sum has the order that it has in
 * the plain layout.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "eval/lpt-float-reduce.h"

/* Elements of a task. */
#define TASK 32768

typedef struct
{
  const LptFloatKernel *floats;
  LptFloatReduction reduction;
  gsize             per_task;
} Reduce;

static void
reduce_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Reduce *p = op->form.params;

  lpt_float_reduction_run (&p->reduction, p->floats, (const float *) (gconstpointer) data->in[0],
                           (float *) (gpointer) data->out, task * p->per_task,
                           MIN (end * p->per_task, p->reduction.units));
}

gboolean
lpt_program_axis_set (const LptProgramValue *axes,
                      gint                   rank,
                      gboolean              *set)
{
  gsize k;
  gint axis;

  if (axes == NULL || axes->kind != LPT_STORAGE_CONST || axes->array.dtype != LPT_DTYPE_I64)
    return FALSE;
  for (axis = 0; axis < rank; axis++)
    set[axis] = FALSE;
  for (k = 0; k < lpt_program_count (axes); k++)
    {
      if (!lpt_axis_normalize (((const gint64 *) axes->array.data)[k], rank, &axis))
        return FALSE;
      set[axis] = TRUE;
    }

  return TRUE;
}

/* The reduction of @shape with its channels last; FALSE: sums would have another order, or no such layout. */
static gboolean
turn_reduction (LptFloatReduction *reduction,
                LptOp              op,
                const LptShape    *shape,
                const gboolean    *set)
{
  const gint last = shape->rank - 1;
  LptShape turned = *shape;
  gboolean turned_set[LPT_MAX_RANK];
  gint axis;

  if (shape->rank < 3 || set[0] || set[1] || set[last] || reduction->lines)
    return FALSE;
  turned_set[0] = turned_set[last] = FALSE;
  turned.dims[last] = shape->dims[1];
  for (axis = 1; axis < last; axis++)
    {
      turned.dims[axis] = shape->dims[axis + 1];
      turned_set[axis] = set[axis + 1];
    }

  return lpt_float_reduction_init (reduction, op, &turned, turned_set);
}

gboolean
lpt_prepare_float_reduce (LptProgram   *program,
                          LptProgramOp *op)
{
  const LptShape *shape = &op->in[0]->array.shape;
  gboolean set[LPT_MAX_RANK];
  LptValueLayout layout = LPT_LAYOUT_TYPED;
  LptFloatReduction reduction;
  Reduce *p;

  if (op->n_in < 2 || !lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]) ||
      !lpt_shape_is_static (shape) || !lpt_program_axis_set (op->in[1], shape->rank, set) ||
      !lpt_float_reduction_init (&reduction, op->node->op, shape, set))
    return FALSE;
  if (op->in[0]->layout == LPT_LAYOUT_WORDS_LAST && turn_reduction (&reduction, op->node->op, shape, set))
    layout = LPT_LAYOUT_WORDS_LAST;
  p = g_new0 (Reduce, 1);
  p->floats = program->kernels.floats;
  p->reduction = reduction;
  p->per_task = MAX (TASK * reduction.units / MAX (lpt_program_count (op->in[0]), 1), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = reduce_run, .params = p, .kernel = program->kernels.floats->name, .tasks = (reduction.units + p->per_task - 1) / p->per_task,
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], layout }), .out = op->out[0], .out_layout = layout });

  return TRUE;
}
