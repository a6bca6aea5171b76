/* softmax16.c - Softmax of 16-bit codes along any axis
 *
 * Row by row: in 16-bit fixed point, as the modes of TensorFlow Lite have it, by the kernel; in other modes as the
 * plain op does it. Where the axis is not the last one, some rows side by side are turned first and last. Exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/codes16.h"
#include "eval/integer/lpt-int-softmax.h"
#include "ir/scalar/lpt-loop.h"

/* Rows side by side, and elements of them. */
#define ROWS 32
#define BLOCK 16384

typedef struct
{
  const LptCodes16Kernel *kernel;
  const LptIntOp *op;
  gboolean      wide;                /* FALSE: by the plain op */
  LptSoftmax16  rule;
  LptIntArray   x, y;                /* without data */
  gsize         rows, n, inner;      /* rows in all, elements of one, how far these are apart */
  gsize         block, per_task;     /* rows of a block, which does not leave the columns that it is of; of a task */
} Softmax;

/* @rows rows of columns side by side at @x, turned, to @y. */
static void
run_columns (const Softmax *s,
             gsize          rows,
             const gint16  *x,
             gint16        *y,
             guint8        *workspace)
{
  gint32 *e = (gint32 *) (gpointer) workspace;
  gint16 *lines = (gint16 *) (gpointer) (e + s->n);
  gsize i, r;

  for (i = 0; i < s->n; i++)
    for (r = 0; r < rows; r++)
      lines[r * s->n + i] = x[i * s->inner + r];
  for (r = 0; r < rows; r++)
    s->kernel->softmax (&s->rule, s->n, lines + r * s->n, lines + r * s->n, e);
  for (i = 0; i < s->n; i++)
    for (r = 0; r < rows; r++)
      y[i * s->inner + r] = lines[r * s->n + i];
}

static void
softmax_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const Softmax *s = op->form.params;
  const gint16 *x = (const gint16 *) (gconstpointer) data->in[0];
  gint16 *y = (gint16 *) (gpointer) data->out;
  gsize row = task * s->per_task, last = MIN (end * s->per_task, s->rows), n;

  for (; row < last; row += n)
    {
      const gsize column = row % s->inner, at = row / s->inner * s->n * s->inner + column;

      n = MIN (last - row, s->block);
      if (!s->wide)
        {
          LptIntArray from = s->x, to = s->y;

          from.data = data->in[0];
          to.data = data->out;
          lpt_int_softmax_rows (s->op, &from, &to, (gint64) row, (gint64) (row + n));
        }
      else if (s->inner == 1)
        {
          n = 1;
          s->kernel->softmax (&s->rule, s->n, x + at, y + at, (gint32 *) (gpointer) data->workspace);
        }
      else
        {
          n = MIN (n, s->inner - column);
          run_columns (s, n, x + at, y + at, data->workspace);
        }
    }
}

static void
set_lines (const gint16 *table,
           LptLines16   *lines)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (lines->at); i++)
    {
      lines->at[i] = table[i];
      lines->step[i] = i + 1 < G_N_ELEMENTS (lines->at) ? table[i + 1] - table[i] : 0;
    }
}

gboolean
lpt_prepare_softmax16 (LptProgram   *program,
                       LptProgramOp *op)
{
  LptIntSoftmaxRule rule;
  LptCodes16 from, to;
  Softmax *s;
  gint axis;

  if (!lpt_codes16_match (op, op->in[0], op->out[0], &from, &to))
    return FALSE;
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  lpt_int_softmax_rule (op->integer, &rule);
  if (op->in[0]->array.shape.rank == 0 || !lpt_axis_normalize (rule.axis, op->in[0]->array.shape.rank, &axis))
    return lpt_refuse (op, LPT_REMARK_AXES);

  s = g_new0 (Softmax, 1);
  s->kernel = program->kernels.codes16;
  s->op = op->integer;
  s->x = op->in[0]->array;
  s->y = op->out[0]->array;
  s->wide = rule.wide != NULL && lpt_rescale_make (&rule.wide->scale, &s->rule.scale);
  if (s->wide)
    {
      set_lines (rule.wide->exps, &s->rule.exps);
      set_lines (rule.wide->inverses, &s->rule.inverses);
    }
  s->n = (gsize) s->x.shape.dims[axis];
  s->inner = (gsize) lpt_dims_product (&s->x.shape, axis + 1, s->x.shape.rank);
  s->rows = lpt_program_count (op->in[0]) / s->n;
  s->block = MIN (MAX (BLOCK / s->n, 1), ROWS);
  s->per_task = (MAX (LPT_CODES16_TASK / s->n, 1) + s->block - 1) / s->block * s->block;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = softmax_run, .params = s, .kernel = s->wide ? s->kernel->name : "softmax_rows",
    .tasks = (s->rows + s->per_task - 1) / s->per_task,
    .workspace = (s->n * (sizeof (gint32) + s->block * sizeof (gint16)) + 63) & ~(gsize) 63, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
