/* resize16.c - Interpolate of 16-bit codes: linear over the last two axes
 *
 * Two lines of the input become one between them, and that becomes a line of the result between its elements, in sums
 * of 64 bits; then the code is rescaled where the result has another scale. Exact. Nearest ones are movements (move.c).
 *
 * Not: rules of real numbers, and nearest to another scale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/codes16.h"

typedef struct
{
  const LptCodes16Kernel *kernel;
  LptCodes16   from, to;
  LptScale16   scale;
  gint32       zero;                   /* of the input, which a rescaling takes off */
  LptBetween16 p;
  guint32     *lower, *upper;          /* lines, by the result's */
  gint32      *weight;
  gsize        rows, per_task;         /* lines of the result in all */
  gsize        in[2], out[2];          /* lines, columns */
} Resize;

static void
resize_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Resize *r = op->form.params;
  const gsize width = r->in[1], columns = r->out[1];
  gint32 *line = (gint32 *) (gpointer) data->workspace, *other = line + width, *out = other + width;
  gsize row = task * r->per_task, last = MIN (end * r->per_task, r->rows), i;

  for (; row < last; row++)
    {
      const gsize o = row % r->out[0];
      const gint16 *plane = (const gint16 *) (gconstpointer) data->in[0] + row / r->out[0] * r->in[0] * width;

      r->kernel->load (&r->from, width, plane + r->lower[o] * width, line);
      r->kernel->load (&r->from, width, plane + r->upper[o] * width, other);
      r->kernel->blend (width, line, r->p.one - r->weight[o], other, r->weight[o]);
      r->kernel->between (&r->p, columns, line, out);
      for (i = 0; i < columns && r->zero != 0; i++)
        out[i] -= r->zero;
      if (r->scale.form != LPT_SCALE16_SAME)
        r->kernel->rescale (&r->scale, columns, out);
      r->kernel->store (&r->to, columns, out, (gint16 *) (gpointer) data->out + row * columns);
    }
}

static void
resize_clear (gpointer params)
{
  Resize *r = params;

  lpt_aligned_free (r->lower);
  lpt_aligned_free (r->upper);
  lpt_aligned_free (r->weight);
  lpt_aligned_free ((gpointer) r->p.lower);
  lpt_aligned_free ((gpointer) r->p.upper);
  lpt_aligned_free ((gpointer) r->p.weight);
}

/* Neighbours along an axis and the largest sum of both weights' magnitudes; 0: no memory. */
static gint64
read_axis (const LptIntOp *op,
           gint64          in,
           gint64          out,
           gint64          one,
           guint32       **lower,
           guint32       **upper,
           gint32        **weight)
{
  gint64 i, most = one;

  *lower = lpt_program_array ((gsize) out, sizeof **lower);
  *upper = lpt_program_array ((gsize) out, sizeof **upper);
  *weight = lpt_program_array ((gsize) out, sizeof **weight);
  if (*lower == NULL || *upper == NULL || *weight == NULL)
    return 0;
  for (i = 0; i < out; i++)
    {
      const LptIntResizeTap tap = lpt_int_resize_tap (op, i, in, out);

      (*lower)[i] = (guint32) tap.lower;
      (*upper)[i] = (guint32) tap.upper;
      (*weight)[i] = tap.weight;
      most = MAX (most, ABS (one - tap.weight) + ABS ((gint64) tap.weight));
    }

  return most;
}

static gboolean
set_rule (const LptIntResize *view,
          Resize             *r)
{
  const LptAlgorithm algorithm = view->rule->algorithm;

  if (algorithm == LPT_ALGO_FLOAT || algorithm == LPT_ALGO_FLOAT_AWAY || view->sums_reals ||
      !lpt_scale16_of (view->rescale, &r->to, &r->scale))
    return FALSE;
  r->p = (LptBetween16) { .shift = 2 * view->bits,
                          .one = 1 << view->bits,
                          .away = view->away,
                          .even = view->even,
                          .odd = view->x->zero & 1,
                          .low = view->x->lo,
                          .high = view->x->hi };
  r->from.zero = 0;
  if (r->scale.form == LPT_SCALE16_SAME)
    r->to.zero = 0;
  else
    r->zero = view->x->zero;

  return TRUE;
}

/* Lines and columns; FALSE: no memory, or sums of lines leave 32 bits. */
static gboolean
set_axes (const LptProgramOp *op,
          Resize             *r)
{
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  const gint rank = x->rank;
  guint32 *lower, *upper;
  gint32 *weight;
  gint64 lines, columns;
  guint k;

  for (k = 0; k < 2; k++)
    {
      r->in[k] = (gsize) x->dims[rank - 2 + (gint) k];
      r->out[k] = (gsize) y->dims[rank - 2 + (gint) k];
      if (r->in[k] > G_MAXINT32 || r->out[k] > G_MAXINT32)
        return FALSE;
    }
  lines = read_axis (op->integer, (gint64) r->in[0], (gint64) r->out[0], r->p.one, &r->lower, &r->upper, &r->weight);
  columns = read_axis (op->integer, (gint64) r->in[1], (gint64) r->out[1], r->p.one, &lower, &upper, &weight);
  r->p.lower = lower;
  r->p.upper = upper;
  r->p.weight = weight;

  return lines > 0 && columns > 0 && lines < 32768 && columns < G_MAXINT16 * (gint64) 65536;
}

gboolean
lpt_prepare_resize16 (LptProgram   *program,
                      LptProgramOp *op)
{
  const LptIntResize view = lpt_int_resize_view (op->integer);
  Resize r = { .kernel = program->kernels.codes16 };
  gsize room;

  if (!lpt_codes16_match (op, op->in[0], op->out[0], &r.from, &r.to))
    return FALSE;
  if (op->in[0]->array.dtype != op->out[0]->array.dtype)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (view.nearest || op->in[0]->array.shape.rank < 2)
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  if (!set_rule (&view, &r))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  if (!set_axes (op, &r))
    {
      resize_clear (&r);
      return lpt_refuse (op, LPT_REMARK_RANGE);
    }
  r.rows = lpt_program_count (op->out[0]) / r.out[1];
  r.per_task = MAX (LPT_CODES16_TASK / r.out[1], 1);
  room = (2 * r.in[1] + r.out[1]) * sizeof (gint32);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = resize_run, .clear = resize_clear, .params = g_memdup2 (&r, sizeof r), .kernel = r.kernel->name,
    .tasks = (r.rows + r.per_task - 1) / r.per_task, .workspace = (room + 63) & ~(gsize) 63, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
