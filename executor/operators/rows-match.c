/* rows-match.c - which ops become one program of rows
 *
 * Backwards from the last one: an op joins when only the program reads its result, and that has the program's shape; or
 * one element for each row, when it comes from a reduction along the rows, whose sums stay in a register:
 *
 *     x - mean x    x / sqrt (mean (x x) + eps)    e^(x - max x) / sum e^(x - max x)
 *
 * Comparisons and functions of their truth join what reads them, as numbers 0 and 1; a program that ends with truth
 * makes words of it.
 * A row is the last axis, or the last few where a reduction or MVN goes over those; then only ops join whose operands
 * go on along the whole row as along its last axis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/rows.h"
#include "ir/scalar/lpt-loop.h"

/* Ops between a reduction and the reader of its rows. */
#define FAR 8

gint
lpt_rows_find (const LptRowsMatch *m,
               const LptProgramOp *op)
{
  guint k;

  for (k = 0; k < m->n_runs; k++)
    if (m->runs[k].op == op)
      return (gint) k;

  return -1;
}

static gboolean
only_program_reads (const LptRowsMatch    *m,
                    const LptProgramValue *value)
{
  guint uses = 0, k, i;

  for (k = 0; k < m->n_runs; k++)
    {
      const LptProgramOp *step = m->runs[k].op;

      for (i = 0; i < step->n_in; i++)
        uses += step->in[i] == value;
    }

  return uses == lpt_program_n_uses (value);
}

/* The first of the axes that are a row from @axis on: those of length 1 in front count, too. */
static gint
row_axis (const LptShape *shape,
          gint            axis)
{
  while (axis > 0 && shape->dims[axis - 1] == 1)
    axis--;

  return axis;
}

gboolean
lpt_rows_is_narrow (const LptShape *own,
                    const LptShape *shape,
                    gint            axis)
{
  gint d;

  if (own->rank != shape->rank)
    return FALSE;
  for (d = 0; d < shape->rank; d++)
    if (own->dims[d] != (d < axis ? shape->dims[d] : 1))
      return FALSE;

  return TRUE;
}

/* Does the element for each row come from a reduction of the program's shape? */
static gboolean
leads_to_reduction (const LptProgramValue *value,
                    const LptShape        *shape,
                    gint                   axis,
                    guint                  depth)
{
  LptRun run;
  guint i;

  if (depth == 0 || value->kind != LPT_STORAGE_DYNAMIC || value->def->fused_into != NULL ||
      !lpt_rows_is_narrow (&value->array.shape, shape, axis) || !lpt_rows_read_op (value->def, &run))
    return FALSE;
  if (run.kind == LPT_RUN_REDUCE)
    return lpt_shape_equal (&run.op->in[0]->array.shape, shape) && row_axis (shape, run.axis) == axis;
  for (i = 0; i < run.n && (lpt_run_is_elementwise (run.kind) || run.kind == LPT_RUN_RENAME); i++)
    if (leads_to_reduction (run.op->in[i], shape, axis, depth - 1))
      return TRUE;

  return FALSE;
}

/* Where a row is several axes, does every operand go on along all of them, or stand still? */
static gboolean
fits_row (const LptRun   *run,
          const LptShape *shape,
          gint            axis)
{
  guint i;
  gint d;

  if (lpt_dims_product (shape, axis, shape->rank) == shape->dims[shape->rank - 1])
    return TRUE;
  if (run->by_axis >= axis)
    return FALSE;
  for (i = 0; i < run->n && !run->by_column; i++)
    {
      const LptShape own = lpt_rows_shape (run, i);
      gint64 strides[LPT_MAX_RANK], inner = 1;
      gboolean still = TRUE, dense = TRUE;

      lpt_broadcast_strides (&own, shape, strides);
      for (d = shape->rank - 1; d >= axis; inner *= shape->dims[d], d--)
        if (shape->dims[d] > 1)
          {
            still = still && strides[d] == 0;
            dense = dense && strides[d] == inner;
          }
      if (!still && !dense)
        return FALSE;
    }

  return !run->by_column;
}

/* What the program would do of @value's op, and its row; FALSE: it does not belong to it. */
static gboolean
read_step (const LptRowsMatch    *m,
           const LptProgramValue *value,
           const LptShape        *shape,
           LptRun                *run)
{
  const LptShape *own = &value->array.shape;
  gint axis = m->axis;
  guint k;

  if (!lpt_rows_read_op (value->def, run) ||
      (run->kind == LPT_RUN_REDUCE && !lpt_shape_equal (&run->op->in[0]->array.shape, shape)))
    return FALSE;
  if (!lpt_shape_equal (own, shape))
    {
      if (axis < 0)
        for (axis = own->rank; axis > 0 && own->dims[axis - 1] == 1; axis--)
          ;
      if (!leads_to_reduction (value, shape, axis, FAR))
        return FALSE;
      run->narrow = TRUE;
      run->axis = axis;
      run->layout = LPT_ROWS_PLAIN;
    }
  axis = run->axis >= 0 ? row_axis (shape, run->axis) : m->axis;
  run->axis = axis;
  if (axis < 0)
    return TRUE;
  if ((m->axis >= 0 && m->axis != axis) || lpt_dims_product (shape, axis, shape->rank) > LPT_ROWS_MAX_ROW)
    return FALSE;
  for (k = 0; k < m->n_runs && m->axis < 0; k++)
    if (!fits_row (&m->runs[k], shape, axis))
      return FALSE;

  return fits_row (run, shape, axis);
}

/* Puts the step that writes @value into the program, in order; FALSE: it stays outside. */
static gboolean
join (LptRowsMatch    *m,
      LptProgramValue *value,
      const LptShape  *shape)
{
  LptRun run;
  guint at;

  if (value->kind != LPT_STORAGE_DYNAMIC || m->n_runs == LPT_ROWS_MAX_RUNS || value->def->fused_into != NULL ||
      !only_program_reads (m, value) || !read_step (m, value, shape, &run) ||
      (m->layout != LPT_ROWS_ANY && run.layout != LPT_ROWS_ANY && m->layout != run.layout))
    return FALSE;
  for (at = 0; at < m->n_runs && m->runs[at].op->index < value->def->index; at++)
    ;
  memmove (&m->runs[at + 1], &m->runs[at], (m->n_runs - at) * sizeof run);
  m->runs[at] = run;
  m->n_runs++;
  m->layout = MAX (m->layout, run.layout);
  m->axis = MAX (m->axis, run.axis);

  return TRUE;
}

/* Other names for values of the program itself only. */
static void
drop_names (LptRowsMatch *m)
{
  guint k;

  for (k = 0; k < m->n_runs; )
    if (m->runs[k].kind == LPT_RUN_RENAME && lpt_rows_find (m, m->runs[k].op->in[0]->def) < 0)
      {
        m->n_runs--;
        memmove (&m->runs[k], &m->runs[k + 1], (m->n_runs - k) * sizeof m->runs[0]);
      }
    else
      k++;
}

static void
grow (LptRowsMatch   *m,
      const LptShape *shape)
{
  guint k = 0, i;

  while (k < m->n_runs)
    {
      const LptRun *run = &m->runs[m->n_runs - 1 - k];
      const LptProgramOp *step = run->op;
      gboolean joined = FALSE;

      for (i = 0; i < run->n && !joined; i++)
        joined = lpt_rows_find (m, step->in[i]->def) < 0 && join (m, step->in[i], shape);
      /* A new step may be the missing reader of what others read. */
      k = joined ? 0 : k + 1;
    }
  drop_names (m);
}

/* The program that ends with @last, without runs that another @layout (ANY: either) suits; FALSE: there is none. */
static gboolean
begin (LptRowsMatch  *m,
       LptProgramOp  *last,
       LptRowsLayout  layout)
{
  const LptShape *shape = &last->out[0]->array.shape;

  *m = (LptRowsMatch) { .n_runs = 1 };
  if (!lpt_rows_read_op (last, &m->runs[0]) || m->runs[0].kind == LPT_RUN_RENAME || m->runs[0].kind == LPT_RUN_REDUCE)
    return FALSE;
  if (last->out[0]->array.dtype == LPT_DTYPE_I64)
    m->runs[0].layout = LPT_ROWS_PLAIN;      /* words are row-major */
  if (layout != LPT_ROWS_ANY && m->runs[0].layout != LPT_ROWS_ANY && m->runs[0].layout != layout)
    return FALSE;
  m->layout = MAX (layout, m->runs[0].layout);
  m->axis = m->runs[0].axis >= 0 ? row_axis (shape, m->runs[0].axis) : -1;
  if (m->axis >= 0 && lpt_dims_product (shape, m->axis, shape->rank) > LPT_ROWS_MAX_ROW)
    return FALSE;
  grow (m, shape);

  return TRUE;
}

/* --- the layout --- */

/* A constant order that brings the last axis behind the first: what lay row by row has its channels last then. */
static gboolean
turns_last (const LptProgramOp *op)
{
  const LptShape *shape = &op->out[0]->array.shape;
  const LptArray *order = op->n_in > 1 && op->in[1] != NULL && op->in[1]->kind == LPT_STORAGE_CONST ? &op->in[1]->array
                                                                                                    : NULL;
  gint k;

  if (order == NULL || order->dtype != LPT_DTYPE_I64 || lpt_array_count (order) != shape->rank)
    return FALSE;
  for (k = 0; k < shape->rank; k++)
    if (((const gint64 *) order->data)[k] != (k == 0 ? 0 : k == 1 ? shape->rank - 1 : k - 1))
      return FALSE;

  return shape->rank > 2;
}

/* Does the op leave the channels where its first input has them? */
static gboolean
keeps_order (const LptProgramOp *op)
{
  const guint flags = op->node->info->flags;

  if (op->n_in == 0 || op->in[0] == NULL)
    return FALSE;

  return op->integer != NULL || (flags & (LPT_OP_F_ELEMENTWISE | LPT_OP_F_SPATIAL)) != 0 ||
         ((flags & LPT_OP_F_PRESERVES) != 0 && op->in[0]->array.shape.rank == op->out[0]->array.shape.rank);
}

/* A Reshape of the axes behind the channels only. */
static gboolean
keeps_channels (const LptProgramOp *op)
{
  const LptShape *x, *y;

  if (op->node->op != LPT_OP_RESHAPE || op->in[0] == NULL)
    return FALSE;
  x = &op->in[0]->array.shape;
  y = &op->out[0]->array.shape;

  return x->rank > 2 && y->rank > 2 && x->dims[0] == y->dims[0] && x->dims[1] == y->dims[1];
}

/* Two axes behind the first change places with each Transpose. */
gboolean
lpt_rows_comes_last (const LptProgramValue *value)
{
  gboolean turned = FALSE;
  guint depth;

  for (depth = 0; depth < 64 && value != NULL; depth++)
    {
      if (value->layout == LPT_LAYOUT_CODES_LAST || value->layout == LPT_LAYOUT_WORDS_LAST)
        return !turned;
      if (value->def == NULL)
        return turned;
      if (value->def->node->op == LPT_OP_TRANSPOSE)
        {
          if (!turns_last (value->def) || (turned && value->array.shape.rank > 3))
            return FALSE;
          turned = !turned;
        }
      else if (!keeps_order (value->def) && !keeps_channels (value->def))
        return turned;
      value = value->def->in[0];
    }

  return turned;
}

/* Operands of other shapes must go by one element along the channels, or stand still; masks of words are row-major.
 * Constants of the whole shape are turned when the program is made. */
static gboolean
fits_last (const LptRowsMatch *m,
           const LptShape     *shape)
{
  guint k, i;

  for (k = 0; k < m->n_runs && shape->rank > 2; k++)
    for (i = 0; i < m->runs[k].n; i++)
      {
        const LptArray *array = &m->runs[k].op->in[i]->array;
        const LptShape own = lpt_rows_shape (&m->runs[k], i);
        gint64 strides[LPT_MAX_RANK];

        if (array->dtype == LPT_DTYPE_I64 && m->runs[k].op->in[i]->kind != LPT_STORAGE_CONST &&
            lpt_rows_find (m, m->runs[k].op->in[i]->def) < 0)
          return FALSE;
        lpt_broadcast_strides (&own, shape, strides);
        if (strides[1] > 1 && !lpt_shape_equal (&own, shape))
          return FALSE;
      }

  return shape->rank > 2;
}

/* FALSE: there is none that does for all. */
static gboolean
choose_layout (LptRowsMatch   *m,
               const LptShape *shape)
{
  gint votes = 0;
  guint k, i;

  if (m->layout != LPT_ROWS_ANY)
    return m->layout == LPT_ROWS_PLAIN || fits_last (m, shape);
  for (k = 0; k < m->n_runs; k++)
    for (i = 0; i < m->runs[k].n; i++)
      {
        LptProgramValue *value = m->runs[k].op->in[i];

        if (value->kind != LPT_STORAGE_CONST && lpt_shape_equal (&value->array.shape, shape) &&
            lpt_rows_find (m, value->def) < 0)
          votes += lpt_rows_comes_last (value) ? 1 : -1;
      }
  m->layout = votes > 0 && fits_last (m, shape) ? LPT_ROWS_LAST : LPT_ROWS_PLAIN;

  return TRUE;
}

/* Alone it is what another operator makes, or takes in. */
static gboolean
is_of_another (const LptRun *run)
{
  return run->whole || run->kind == LPT_RUN_QUANTIZE || run->kind == LPT_RUN_DEQUANTIZE || run->kind == LPT_RUN_WORDS ||
         run->op->node->op == LPT_OP_CONVERT || run->op->node->op == LPT_OP_CONVERT_LIKE;
}

gboolean
lpt_rows_match (LptRowsMatch *m,
                LptProgramOp *last)
{
  const LptShape *shape = last->n_out > 0 ? &last->out[0]->array.shape : NULL;

  if (shape == NULL || !begin (m, last, LPT_ROWS_ANY))
    return FALSE;
  /* Without what needs the channels last, which the others do not have. */
  if (m->layout == LPT_ROWS_LAST && !fits_last (m, shape) && !begin (m, last, LPT_ROWS_PLAIN))
    return FALSE;
  if (m->n_runs == 1 && is_of_another (&m->runs[0]))
    return FALSE;

  return choose_layout (m, shape);
}
