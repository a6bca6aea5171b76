/* float-norm.c - NormalizeL2, GroupNormalization, BatchNormInference and LRN along one axis that stay real, and MVN of
 *                rows that are longer than a walk over rows takes (rows.c)
 *
 * What a unit is, eval/lpt-float-norm.h says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "eval/lpt-float-norm.h"

/* Elements of a task. */
#define TASK 32768
#define MAX_IN 5

typedef struct
{
  const LptFloatKernel *floats;
  LptFloatNorm norm;
  gsize        per_task;
} Norm;

static void
norm_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Norm *p = op->form.params;
  gsize unit, last = MIN (end * p->per_task, p->norm.units);
  const float *in[MAX_IN];
  guint i;

  for (i = 0; i < p->norm.n_in; i++)
    in[i] = (const float *) (gconstpointer) data->in[i];
  for (unit = task * p->per_task; unit < last; unit++)
    p->norm.run (&p->norm, p->floats, in, (float *) (gpointer) data->out, unit);
}

/* Real numbers @from on, one for each channel. */
static gboolean
has_parameters (const LptProgramOp *op,
                const LptFloatNorm *norm)
{
  guint i;

  for (i = 1; i < norm->n_in; i++)
    if (i >= op->n_in || op->in[i] == NULL || !lpt_program_is_real (op->in[i]) ||
        lpt_program_count (op->in[i]) != norm->channels)
      return FALSE;

  return TRUE;
}

static gboolean
read_norm (const LptProgramOp *op,
           LptFloatNorm       *norm)
{
  const LptShape *shape = &op->in[0]->array.shape;
  gboolean set[LPT_MAX_RANK];

  if (op->node->op == LPT_OP_NORMALIZE_L2)
    {
      const LptNormalizeL2Attrs *a = LPT_ATTRS (op->node, LptNormalizeL2Attrs);

      if (op->n_in < 2 || !lpt_program_axis_set (op->in[1], shape->rank, set))
        return FALSE;
      lpt_float_norm_l2 (norm, shape, set, a->eps, a->eps_mode == LPT_L2_EPS_ADD);
      return TRUE;
    }
  if (op->node->op == LPT_OP_GROUP_NORMALIZATION)
    {
      const LptGroupNormalizationAttrs *a = LPT_ATTRS (op->node, LptGroupNormalizationAttrs);

      return lpt_float_norm_group (norm, shape, a->num_groups, a->epsilon) && has_parameters (op, norm);
    }

  /* Older ones have the data third. */
  return (op->node->opset == 0 || op->node->opset >= 5) &&
         lpt_float_norm_batch (norm, shape, LPT_ATTRS (op->node, LptBatchNormAttrs)->epsilon) &&
         has_parameters (op, norm);
}

static gboolean
is_real_norm (const LptProgramOp *op)
{
  return lpt_program_is_real (op->in[0]) && lpt_program_is_real (op->out[0]) &&
         lpt_shape_is_static (&op->in[0]->array.shape) && lpt_program_count (op->in[0]) > 0;
}

static void
set_norm (LptProgram         *program,
          LptProgramOp       *op,
          const LptFloatNorm *norm)
{
  LptOperand operands[MAX_IN];
  Norm *p = g_new0 (Norm, 1);
  guint i;

  p->floats = program->kernels.floats;
  p->norm = *norm;
  p->per_task = MAX (TASK * norm->units / lpt_program_count (op->in[0]), 1);
  for (i = 0; i < norm->n_in; i++)
    operands[i] = (LptOperand) { op->in[i], LPT_LAYOUT_TYPED };
  lpt_program_set_form (op, &(LptOpForm) {
    .run = norm_run, .params = p, .kernel = program->kernels.floats->name, .tasks = (norm->units + p->per_task - 1) / p->per_task,
    .n_in = norm->n_in, .in = operands, .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });
}

gboolean
lpt_prepare_float_norm (LptProgram   *program,
                        LptProgramOp *op)
{
  LptFloatNorm norm;

  if (!is_real_norm (op) || !read_norm (op, &norm))
    return FALSE;
  set_norm (program, op, &norm);

  return TRUE;
}

gboolean
lpt_prepare_float_mvn (LptProgram   *program,
                       LptProgramOp *op)
{
  const LptMvnAttrs *a = LPT_ATTRS (op->node, LptMvnAttrs);
  const LptShape *shape = &op->in[0]->array.shape;
  const gboolean listed = op->n_in > 1 && op->in[1] != NULL;
  LptFloatNorm norm;
  gint axis;

  if (!is_real_norm (op))
    return FALSE;
  axis = lpt_mvn_axis (op, shape->rank);
  if (axis < 0)
    return lpt_refuse (op, LPT_REMARK_AXES);
  lpt_float_norm_rows (&norm, shape, axis, a->eps, listed && a->eps_mode == LPT_EPS_OUTSIDE_SQRT,
                       a->normalize_variance);
  set_norm (program, op, &norm);

  return TRUE;
}

gboolean
lpt_prepare_float_lrn (LptProgram   *program,
                       LptProgramOp *op)
{
  const LptLrnAttrs *a = LPT_ATTRS (op->node, LptLrnAttrs);
  gboolean set[LPT_MAX_RANK];
  LptFloatNorm norm;
  gint axis, only = -1;

  if (!is_real_norm (op) || op->n_in < 2 || !lpt_program_axis_set (op->in[1], op->in[0]->array.shape.rank, set))
    return FALSE;
  for (axis = 0; axis < op->in[0]->array.shape.rank; axis++)
    {
      if (set[axis] && only >= 0)
        return lpt_refuse (op, LPT_REMARK_AXES);
      only = set[axis] ? axis : only;
    }
  if (!lpt_float_norm_lrn (&norm, &op->in[0]->array.shape, only, a->size, a->alpha, a->beta, a->bias))
    return lpt_refuse (op, LPT_REMARK_AXES);
  set_norm (program, op, &norm);

  return TRUE;
}
