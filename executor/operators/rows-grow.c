/* rows-grow.c - which ops become one program of rows
 *
 * Backwards from the last one: an op joins when only the program reads its result, and that has the program's shape; or
 * one element for each row, when it comes from a reduction along the rows, whose sums stay in a register:
 *
 *     x - mean x    x / sqrt (mean (x x) + eps)    e^(x - max x) / sum e^(x - max x)
 *
 * A comparison joins as the mask of a Select.
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
lpt_rows_find (const LptRows      *p,
               const LptProgramOp *op)
{
  guint k;

  for (k = 0; k < p->n_runs; k++)
    if (p->runs[k].op == op)
      return (gint) k;

  return -1;
}

static gboolean
only_program_reads (const LptRows         *p,
                    const LptProgramValue *value)
{
  guint uses = 0, k, i;

  for (k = 0; k < p->n_runs; k++)
    {
      const LptProgramOp *step = p->runs[k].op;

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
  for (i = 0; i < run.n && lpt_run_is_elementwise (run.kind); i++)
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
read_step (const LptRows         *p,
           const LptProgramValue *value,
           const LptShape        *shape,
           LptRun                *run)
{
  const LptShape *own = &value->array.shape;
  gint axis = p->axis;
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
  axis = run->axis >= 0 ? row_axis (shape, run->axis) : p->axis;
  run->axis = axis;
  if (axis < 0)
    return TRUE;
  if ((p->axis >= 0 && p->axis != axis) || lpt_dims_product (shape, axis, shape->rank) > LPT_ROWS_MAX_ROW)
    return FALSE;
  for (k = 0; k < p->n_runs && p->axis < 0; k++)
    if (!fits_row (&p->runs[k], shape, axis))
      return FALSE;

  return fits_row (run, shape, axis);
}

/* Puts the step that writes @value into the program, in order; FALSE: it stays outside. */
static gboolean
join (LptRows         *p,
      LptProgramValue *value,
      const LptShape  *shape)
{
  LptRun run;
  guint at;

  if (value->kind != LPT_STORAGE_DYNAMIC || p->n_runs == LPT_ROWS_MAX_RUNS || value->def->fused_into != NULL ||
      !only_program_reads (p, value) || !read_step (p, value, shape, &run) ||
      (p->layout != LPT_ROWS_ANY && run.layout != LPT_ROWS_ANY && p->layout != run.layout))
    return FALSE;
  for (at = 0; at < p->n_runs && p->runs[at].op->index < value->def->index; at++)
    ;
  memmove (&p->runs[at + 1], &p->runs[at], (p->n_runs - at) * sizeof run);
  p->runs[at] = run;
  p->n_runs++;
  p->layout = MAX (p->layout, run.layout);
  p->axis = MAX (p->axis, run.axis);

  return TRUE;
}

/* Other names for codes of the program itself only. */
static void
drop_names (LptRows *p)
{
  guint k;

  for (k = 0; k < p->n_runs; )
    if (p->runs[k].kind == LPT_RUN_RENAME && lpt_rows_find (p, p->runs[k].op->in[0]->def) < 0)
      {
        p->n_runs--;
        memmove (&p->runs[k], &p->runs[k + 1], (p->n_runs - k) * sizeof p->runs[0]);
      }
    else
      k++;
}

static void
grow (LptRows        *p,
      const LptShape *shape)
{
  guint k = 0, i;

  while (k < p->n_runs)
    {
      const LptRun *run = &p->runs[p->n_runs - 1 - k];
      const LptProgramOp *step = run->op;
      gboolean joined = FALSE;

      for (i = 0; i < run->n && !joined; i++)
        joined = lpt_rows_find (p, step->in[i]->def) < 0 && join (p, step->in[i], shape);
      /* A new step may be the missing reader of what others read. */
      k = joined ? 0 : k + 1;
    }
  drop_names (p);
}

gboolean
lpt_rows_grow (LptRows        *p,
               LptProgramOp   *last,
               const LptShape *shape,
               LptRowsLayout   layout)
{
  *p = (LptRows) { .n_runs = 1 };
  if (!lpt_rows_read_op (last, &p->runs[0]) || p->runs[0].kind == LPT_RUN_RENAME || p->runs[0].kind == LPT_RUN_REDUCE ||
      p->runs[0].truth || (layout != LPT_ROWS_ANY && p->runs[0].layout != LPT_ROWS_ANY && p->runs[0].layout != layout))
    return FALSE;
  p->layout = MAX (layout, p->runs[0].layout);
  p->axis = p->runs[0].axis >= 0 ? row_axis (shape, p->runs[0].axis) : -1;
  if (p->axis >= 0 && lpt_dims_product (shape, p->axis, shape->rank) > LPT_ROWS_MAX_ROW)
    return FALSE;
  grow (p, shape);

  return TRUE;
}
