/* rows-step.c - ops as runs of a program of rows
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/rows.h"
#include "eval/lpt-float-reduce.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-unary.h"
#include "ir/lpt-slope.h"
#include "ir/lpt-unary-attrs.h"

static gboolean
find_binary (LptOp           op,
             LptFloatBinary *binary)
{
  static const struct { LptOp op; LptFloatBinary binary; } rows[] =
  {
    { LPT_OP_ADD, LPT_BINARY_ADD }, { LPT_OP_SUBTRACT, LPT_BINARY_SUBTRACT }, { LPT_OP_MULTIPLY, LPT_BINARY_MULTIPLY },
    { LPT_OP_DIVIDE, LPT_BINARY_DIVIDE }, { LPT_OP_MAXIMUM, LPT_BINARY_MAXIMUM }, { LPT_OP_MINIMUM, LPT_BINARY_MINIMUM },
    { LPT_OP_SQUARED_DIFFERENCE, LPT_BINARY_SQUARED_DIFFERENCE }, { LPT_OP_PRELU, LPT_BINARY_PRELU }, { LPT_OP_POWER, LPT_BINARY_POWER },
    { LPT_OP_EQUAL, LPT_BINARY_EQUAL }, { LPT_OP_NOT_EQUAL, LPT_BINARY_NOT_EQUAL }, { LPT_OP_LESS, LPT_BINARY_LESS },
    { LPT_OP_LESS_EQUAL, LPT_BINARY_LESS_EQUAL }, { LPT_OP_GREATER, LPT_BINARY_GREATER },
    { LPT_OP_GREATER_EQUAL, LPT_BINARY_GREATER_EQUAL },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op)
      {
        *binary = rows[i].binary;
        return TRUE;
      }

  return FALSE;
}

/* The first of the axes of @set, which are the last ones; -1: they are none, or others. */
static gint
first_of_last (const gboolean *set,
               gint            rank)
{
  gint axis, first = rank;

  while (first > 0 && set[first - 1])
    first--;
  for (axis = 0; axis < first; axis++)
    if (set[axis])
      return -1;

  return first < rank ? first : -1;
}

gint
lpt_mvn_axis (const LptProgramOp *op,
              gint                rank)
{
  const LptMvnAttrs *a = LPT_ATTRS (op->node, LptMvnAttrs);
  gboolean set[LPT_MAX_RANK] = { FALSE };
  gint axis;
  guint k;

  if (op->n_in > 1 && op->in[1] != NULL)
    return lpt_program_axis_set (op->in[1], rank, set) ? first_of_last (set, rank) : -1;
  if (a->reduction_axes.n == 0)
    return rank > 2 ? (a->across_channels ? 1 : 2) : -1;
  for (k = 0; k < a->reduction_axes.n; k++)
    {
      if (!lpt_axis_normalize (a->reduction_axes.v[k], rank, &axis))
        return -1;
      set[axis] = TRUE;
    }

  return first_of_last (set, rank);
}

/* Along the last axes, which stay as one element. */
static gboolean
reduce_run (const LptProgramOp *op,
            LptRun             *run)
{
  const LptShape *x = &op->in[0]->array.shape;
  gboolean set[LPT_MAX_RANK];

  if (op->n_in < 2 || op->out[0]->array.shape.rank != x->rank || !lpt_shape_is_static (x) ||
      lpt_array_count (&op->in[0]->array) == 0 || op->in[0]->kind == LPT_STORAGE_CONST ||
      !lpt_program_axis_set (op->in[1], x->rank, set))
    return FALSE;
  run->kind = LPT_RUN_REDUCE;
  run->layout = LPT_ROWS_PLAIN;
  run->axis = first_of_last (set, x->rank);

  return run->axis >= 0;
}

/* Parameters that are inputs, Swish's beta among them. */
static gboolean
input_parameters (const LptProgramOp *op,
                  double             *p)
{
  guint n = lpt_unary_n_parameters (op->node->op), i;

  for (i = 0; i < n && i + 1 < op->n_in && op->in[i + 1] != NULL; i++)
    {
      const LptProgramValue *value = op->in[i + 1];

      if (value->kind != LPT_STORAGE_CONST || !lpt_program_is_real (value))
        return FALSE;
      p[i] = ((const float *) value->array.data)[0];
    }

  return i == n || (op->node->op == LPT_OP_SWISH && i == 0);
}

LptFloatLevels
lpt_rows_levels (const LptProgramOp *op,
                 gsize               place)
{
  float ends[4];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ends); i++)
    ends[i] = ((const float *) op->in[i + 1]->array.data)[lpt_program_count (op->in[i + 1]) == 1 ? 0 : place];

  return (LptFloatLevels) { ends[0], ends[1], ends[2], ends[3],
                            (float) (LPT_ATTRS (op->node, LptFakeQuantizeAttrs)->levels - 1) };
}

/* The axis of @shape along which @end of an interval varies, -1 where it is one number. FALSE: along several. */
static gboolean
varies_along (const LptProgramValue *end,
              const LptShape        *shape,
              gint                  *axis)
{
  const LptShape *own = &end->array.shape;
  gint d;

  *axis = -1;
  for (d = 0; d < own->rank; d++)
    if (own->dims[d] != 1)
      {
        if (*axis >= 0 || own->rank > shape->rank || own->dims[d] != shape->dims[d + shape->rank - own->rank])
          return FALSE;
        *axis = d + shape->rank - own->rank;
      }

  return TRUE;
}

/* FakeQuantize of constant intervals, one for all or one for each place of an axis in front of the rows. */
static gboolean
levels_run (const LptProgramOp *op,
            LptRun             *run)
{
  const LptShape *shape = &op->out[0]->array.shape;
  gsize n = 1, i;
  gint axis;

  run->kind = LPT_RUN_LEVELS;
  for (i = 1; i < 5; i++)
    {
      const LptProgramValue *end = op->in[i];

      if (end == NULL || end->kind != LPT_STORAGE_CONST || !lpt_program_is_real (end) || lpt_program_count (end) == 0 ||
          !varies_along (end, shape, &axis) || (axis >= 0 && run->by_axis >= 0 && axis != run->by_axis))
        return FALSE;
      run->by_axis = MAX (run->by_axis, axis);
    }
  if (run->by_axis >= 0)
    {
      run->layout = LPT_ROWS_PLAIN;
      n = (gsize) shape->dims[run->by_axis];
      if (run->by_axis == shape->rank - 1)
        return FALSE;
    }
  for (i = 0; i < n; i++)
    {
      run->levels = lpt_rows_levels (op, i);
      if (!(run->levels.il < run->levels.ih) || !isfinite (run->levels.ih - run->levels.il) ||
          !isfinite (run->levels.oh - run->levels.ol))
        return FALSE;
    }

  return TRUE;
}

static gboolean
fake_quantize_run (const LptProgramOp *op,
                   LptRun             *run)
{
  const gint64 levels = LPT_ATTRS (op->node, LptFakeQuantizeAttrs)->levels;
  guint i;

  if (levels < 2 || levels > 1 << 21)
    return FALSE;
  if (levels_run (op, run))
    return TRUE;
  *run = (LptRun) { .kind = LPT_RUN_INTERVALS, .op = run->op, .n = 5, .axis = -1, .by_axis = -1 };
  run->levels.steps = (float) (levels - 1);
  for (i = 1; i < run->n; i++)
    if (op->in[i] == NULL || !lpt_program_is_real (op->in[i]))
      return FALSE;

  return TRUE;
}

static gboolean
unary_run (const LptProgramOp *op,
           LptRun             *run)
{
  double *p = run->parameters;

  run->kind = LPT_RUN_CLAMP;
  if (op->node->op == LPT_OP_RELU)
    {
      run->hi = INFINITY;
      return TRUE;
    }
  p[0] = 1;
  if (!lpt_unary_attributes (op->node, p) && !input_parameters (op, p))
    return FALSE;
  if (op->node->op == LPT_OP_CLAMP)
    {
      run->lo = (float) p[0];
      run->hi = (float) p[1];
      return TRUE;
    }
  run->function = lpt_unary_func (op->node->op);
  run->line = lpt_unary_line (op->node->op);
  run->kind = lpt_unary_map (op->node->op, p, &run->map) ? LPT_RUN_MAP : LPT_RUN_FUNCTION;

  return run->function != NULL;
}

/* Convert between real types: another name, or rounding to those that have fewer numbers. */
static gboolean
real_run (const LptProgramOp *op,
          LptRun             *run)
{
  if (op->node->op != LPT_OP_CONVERT && op->node->op != LPT_OP_CONVERT_LIKE)
    return FALSE;
  run->kind = lpt_program_keeps_reals (op) ? LPT_RUN_RENAME : LPT_RUN_MAP;

  return run->kind == LPT_RUN_RENAME || lpt_rounding_map (op->out[0]->array.declared, &run->map);
}

/* Maximum and Minimum with a constant number are one bound. */
static gboolean
bound_run (const LptProgramOp *op,
           LptRun             *run)
{
  const LptProgramValue *bound = op->n_in == 2 ? op->in[1] : NULL;
  float value;

  if ((op->node->op != LPT_OP_MAXIMUM && op->node->op != LPT_OP_MINIMUM) || bound == NULL ||
      bound->kind != LPT_STORAGE_CONST || !lpt_program_is_real (bound) || lpt_program_count (bound) != 1 ||
      op->in[0]->kind == LPT_STORAGE_CONST || !lpt_shape_equal (&op->in[0]->array.shape, &op->out[0]->array.shape))
    return FALSE;
  value = ((const float *) bound->array.data)[0];
  run->kind = LPT_RUN_CLAMP;
  run->lo = op->node->op == LPT_OP_MAXIMUM ? value : -INFINITY;
  run->hi = op->node->op == LPT_OP_MINIMUM ? value : INFINITY;

  return !isnan (value);
}

/* A comparison of real values, whose result are words where the program does not hold it. Not so arithmetic whose
 * results become codes of 64 bits. */
static gboolean
compare_run (const LptProgramOp *op,
             LptRun             *run)
{
  run->kind = LPT_RUN_BINARY;
  run->n = 2;
  run->truth = op->n_in == 2 && op->out[0]->array.dtype == LPT_DTYPE_I64 &&
               op->out[0]->array.declared == LPT_DTYPE_BOOL && lpt_program_is_real (op->in[0]) &&
               lpt_program_is_real (op->in[1]) && find_binary (op->node->op, &run->binary);

  return run->truth;
}

/* A function of truth, as one of 0 and 1. */
static gboolean
logical_run (const LptProgramOp *op,
             LptRun             *run)
{
  static const struct { LptOp op; LptFloatBinary binary; } rows[] =
  {
    { LPT_OP_LOGICAL_AND, LPT_BINARY_MINIMUM }, { LPT_OP_LOGICAL_OR, LPT_BINARY_MAXIMUM },
    { LPT_OP_LOGICAL_XOR, LPT_BINARY_NOT_EQUAL }, { LPT_OP_LOGICAL_NOT, LPT_BINARY_EQUAL },
  };
  guint i;

  run->n = op->n_in;
  run->layout = LPT_ROWS_PLAIN;
  run->truth = TRUE;
  for (i = 0; i < op->n_in; i++)
    if (op->in[i] == NULL || op->in[i]->array.dtype != LPT_DTYPE_I64 ||
        !lpt_shape_is_static (&op->in[i]->array.shape) || lpt_program_count (op->in[i]) == 0)
      return FALSE;
  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op->node->op)
      {
        run->binary = rows[i].binary;
        run->kind = op->n_in == 1 ? LPT_RUN_NOT : LPT_RUN_BINARY;
        return op->n_in > 1 || op->in[0]->kind != LPT_STORAGE_CONST;
      }

  return FALSE;
}

/* Truth as real numbers, which it is within the program. */
static gboolean
number_run (const LptProgramOp *op,
            LptRun             *run)
{
  const LptProgramOp *made = op->in[0]->def;
  LptRun before = { .op = NULL };

  run->kind = LPT_RUN_CLAMP;
  run->lo = -INFINITY;
  run->hi = INFINITY;

  return op->node->op == LPT_OP_CONVERT && lpt_program_is_real (op->out[0]) && made != NULL && made->n_in > 0 &&
         lpt_rows_read_op (op->in[0]->def, &before) && before.truth;
}

gboolean
lpt_rows_is_compared (const LptProgramValue *mask,
             const LptShape        *shape)
{
  LptRun run = { .n = 0 };

  return mask->kind == LPT_STORAGE_DYNAMIC && mask->def != NULL && mask->def->fused_into == NULL &&
         lpt_program_n_uses (mask) == 1 && lpt_shape_equal (&mask->array.shape, shape) &&
         (lpt_rows_read_whole (mask->def, &run) ? run.truth : compare_run (mask->def, &run));
}

/* A mask, constant or 64-bit words, between real values. */
static gboolean
select_run (const LptProgramOp *op,
            LptRun             *run)
{
  const LptProgramValue *mask = op->in[0];

  run->kind = LPT_RUN_SELECT;
  run->n = 3;
  if (mask->kind != LPT_STORAGE_CONST && !lpt_rows_is_compared (mask, &op->out[0]->array.shape))
    run->layout = LPT_ROWS_PLAIN;

  return op->n_in == 3 && mask->array.dtype == LPT_DTYPE_I64 && lpt_shape_is_static (&mask->array.shape) &&
         lpt_program_count (mask) > 0 && lpt_program_is_real (op->in[1]) && lpt_program_is_real (op->in[2]) &&
         lpt_program_is_real (op->out[0]);
}

LptShape
lpt_rows_shape (const LptRun *run,
                guint         i)
{
  const LptShape *x = &run->op->out[0]->array.shape, *own = &lpt_run_operand (run, i)->array.shape;
  LptShape shape = *own;
  gint d;

  if (run->op->node->op != LPT_OP_PRELU || i != 1 || !lpt_slope_is_by_channel (x, own))
    return shape;
  shape.rank = x->rank;
  for (d = 0; d < x->rank; d++)
    shape.dims[d] = d == 1 ? own->dims[0] : 1;

  return shape;
}

/* The quantization of @codes, one for all or one per column: of the last axis, or of the channels when they are
 * last. */
static gboolean
quant_run (const LptProgramValue *codes,
           LptRun                *run)
{
  const LptArray *array = &codes->array;
  const LptQuant *quant = array->quant;
  gint rank = array->shape.rank, axis = rank - 1;
  guint c;

  if (quant == NULL ||
      (array->dtype != LPT_DTYPE_U8 && array->dtype != LPT_DTYPE_I8 && array->dtype != LPT_DTYPE_I32) ||
      (quant->n > 1 && (!lpt_axis_normalize (quant->axis, rank, &axis) || (axis != rank - 1 && axis != 1) ||
                        array->shape.dims[axis] != (gint64) quant->n)))
    return FALSE;
  for (c = 0; c < quant->n && array->dtype == LPT_DTYPE_I32; c++)
    if (quant->zero_point[c] != 0)
      return FALSE;
  run->by_column = quant->n > 1;
  if (run->by_column)
    run->layout = axis == rank - 1 ? LPT_ROWS_PLAIN : LPT_ROWS_LAST;
  run->qmin = (gint32) lpt_dtype_min (array->dtype) + lpt_program_offset (array->dtype);
  run->qmax = (gint32) lpt_dtype_max (array->dtype) + lpt_program_offset (array->dtype);

  return TRUE;
}

static gboolean
convert_run (const LptProgramOp *op,
             LptRun             *run)
{
  const LptRequantRule *rule = lpt_requant_node_rule (op->node);

  switch ((guint) op->node->op)
    {
    case LPT_OP_QUANTIZE:
      run->kind = LPT_RUN_QUANTIZE;
      return rule != NULL && rule->algorithm == LPT_ALGO_FLOAT && lpt_program_is_real (op->in[0]) &&
             op->out[0]->array.dtype != LPT_DTYPE_I32 && quant_run (op->out[0], run);
    case LPT_OP_DEQUANTIZE:
      run->kind = op->in[0]->array.dtype == LPT_DTYPE_I32 ? LPT_RUN_WORDS : LPT_RUN_DEQUANTIZE;
      return lpt_program_is_real (op->out[0]) && quant_run (op->in[0], run);
    case LPT_OP_REINTERPRET:
      run->kind = LPT_RUN_RENAME;
      return lpt_program_is_codes (op->in[0]) && lpt_program_is_codes (op->out[0]);
    default:
      return FALSE;
    }
}

gboolean
lpt_rows_read_op (LptProgramOp *op,
                  LptRun       *run)
{
  const LptShape *shape = op->n_out == 1 ? &op->out[0]->array.shape : NULL;

  *run = (LptRun) { .op = op, .n = 1, .axis = -1, .by_axis = -1 };
  if (op->folded || shape == NULL || !lpt_shape_is_static (shape) || op->n_in == 0 || op->in[0] == NULL ||
      lpt_array_count (&op->out[0]->array) == 0 ||
      (op->table != NULL && op->table->n_nodes > 1))
    return FALSE;
  if (op->integer != NULL || op->node->op == LPT_OP_REINTERPRET)
    return op->in[0]->kind != LPT_STORAGE_CONST && convert_run (op, run);
  if (lpt_rows_read_whole (op, run))
    return TRUE;
  if (op->node->op == LPT_OP_SELECT)
    return select_run (op, run);
  if (op->out[0]->array.dtype == LPT_DTYPE_I64)
    return compare_run (op, run) || logical_run (op, run);
  if (op->in[0]->array.dtype == LPT_DTYPE_I64)
    return number_run (op, run);
  if (!lpt_program_is_real (op->out[0]) || !lpt_program_is_real (op->in[0]))
    return FALSE;
  if (bound_run (op, run))
    return TRUE;
  if (find_binary (op->node->op, &run->binary))
    {
      run->kind = LPT_RUN_BINARY;
      run->n = 2;
      return lpt_program_is_real (op->in[1]);
    }
  if (lpt_float_reduction_of (op->node->op, &run->reduce))
    return reduce_run (op, run);
  if (!lpt_shape_equal (shape, &op->in[0]->array.shape) ||
      op->in[0]->kind == LPT_STORAGE_CONST)
    return FALSE;
  switch ((guint) op->node->op)
    {
    case LPT_OP_SOFTMAX:
      {
        gint axis;

        run->kind = LPT_RUN_SOFTMAX;
        run->layout = LPT_ROWS_PLAIN;
        run->axis = shape->rank - 1;
        return shape->rank > 0 &&
               lpt_axis_normalize (LPT_ATTRS (op->node, LptSoftMaxAttrs)->axis, shape->rank, &axis) &&
               axis == run->axis && shape->dims[axis] <= LPT_ROWS_MAX_ROW;
      }
    case LPT_OP_MVN:
      {
        const LptMvnAttrs *a = LPT_ATTRS (op->node, LptMvnAttrs);

        run->kind = LPT_RUN_NORMALIZE;
        run->layout = LPT_ROWS_PLAIN;
        run->eps = a->eps;
        run->eps_outside = op->n_in > 1 && op->in[1] != NULL && a->eps_mode == LPT_EPS_OUTSIDE_SQRT;
        run->variance = a->normalize_variance;
        run->axis = lpt_mvn_axis (op, shape->rank);
        return run->axis >= 0 && lpt_dims_product (shape, run->axis, shape->rank) <= LPT_ROWS_MAX_ROW;
      }
    case LPT_OP_FAKE_QUANTIZE:
      return fake_quantize_run (op, run);
    default:
      return real_run (op, run) || unary_run (op, run);
    }
}
