/* resize.c - Interpolate of codes: nearest to another scale, and linear over the last two axes
 *
 * A row of the result is made of one row of the input (nearest: pieces of it), or of two. What follows in the same op,
 * a code of the input's scale to one of the output's, is a table over that row. Positions and weights come from the op
 * itself, in a list for each axis. Nearest without a table is a movement (move.c).
 *
 * Exact. Not: sums that might leave 32 bits (they stay a reference op).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

/* Bytes of the result. */
#define TASK_BYTES 16384
/* Fewer channels had better stay in planes. */
#define MIN_CHANNELS 8

/* Along an axis: where an element comes from. */
typedef struct
{
  guint32 *lower, *upper;
  gint32  *weight;
  float   *real;
} Taps;

typedef struct
{
  const LptResizeKernel *kernel;
  const LptEltwiseKernel *eltwise;
  LptBilinear p;             /* its columns by the pitch of the input */
  gboolean    nearest, maps;
  guint8      table[256];
  gint        n;             /* axes that count rows, the last of them of the result's lines */
  gsize       in[LPT_MAX_RANK], out[LPT_MAX_RANK];
  Taps        taps[LPT_MAX_RANK];
  gsize       rows, per_task, width;       /* rows of the result; width: columns of the input */
  Taps        columns;
} Resize;

static gboolean
taps_alloc (Taps *t,
            gsize n)
{
  t->lower = lpt_program_array (n, sizeof *t->lower);
  t->upper = lpt_program_array (n, sizeof *t->upper);
  t->weight = lpt_program_array (n, sizeof *t->weight);
  t->real = lpt_program_array (n, sizeof *t->real);

  return t->lower != NULL && t->upper != NULL && t->weight != NULL && t->real != NULL;
}

static void
taps_clear (Taps *t)
{
  lpt_aligned_free (t->lower);
  lpt_aligned_free (t->upper);
  lpt_aligned_free (t->weight);
  lpt_aligned_free (t->real);
}

static void
resize_clear (gpointer params)
{
  Resize *r = params;
  gint k;

  for (k = 0; k < r->n; k++)
    taps_clear (&r->taps[k]);
  taps_clear (&r->columns);
  lpt_aligned_free ((gpointer) r->p.lower);
  lpt_aligned_free ((gpointer) r->p.upper);
}

/* The rows of the input that row @row of the result is made of. */
static void
find_rows (const Resize *r,
           gsize         row,
           gsize        *lower,
           gsize        *upper)
{
  gsize step = 1;
  gint k;

  *lower = *upper = 0;
  for (k = r->n; k-- > 0; step *= r->in[k], row /= r->out[k])
    {
      *lower += r->taps[k].lower[row % r->out[k]] * step;
      *upper += r->taps[k].upper[row % r->out[k]] * step;
    }
}

static void
repeat_row (const Resize *r,
            const guint8 *in,
            guint8       *out)
{
  gsize n = r->p.inner, o;

  if (n == 1)
    for (o = 0; o < r->p.columns; o++)
      out[o * r->p.pitch] = in[r->p.lower[o]];
  else
    for (o = 0; o < r->p.columns; o++)
      memcpy (out + o * r->p.pitch, in + r->p.lower[o], n);
}

static void
resize_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Resize *r = op->form.params;
  const LptBilinear *p = &r->p;
  gsize pixel = r->p.inner == 1 ? 1 : op->form.in[0].value->pitch, row = task * r->per_task,
        last = MIN (end * r->per_task, r->rows);

  for (; row < last; row++)
    {
      const Taps *lines = &r->taps[r->n - 1];
      gsize lower, upper, line = row % r->out[r->n - 1];
      guint8 *out = data->out + row * p->columns * p->pitch;

      find_rows (r, row, &lower, &upper);
      if (r->nearest)
        repeat_row (r, data->in[0] + lower * r->width * pixel, out);
      else
        r->kernel->bilinear (p, data->in[0] + lower * r->width * pixel, data->in[0] + upper * r->width * pixel,
                             lines->weight[line], lines->real[line], out);
      if (!r->maps)
        continue;
      if (p->pitch == p->inner)
        r->eltwise->table (r->table, 1, p->columns * p->inner, out, 0, out, 0);
      else
        r->eltwise->table (r->table, p->columns, p->inner, out, p->pitch, out, p->pitch);
    }
}

static LptOpSpan
resize_access (const LptProgramOp *op,
               gsize               task,
               guint               k)
{
  const Resize *r = op->form.params;
  gsize row = task * r->per_task, end = MIN (row + r->per_task, r->rows), from = G_MAXSIZE, to = 0, lower, upper;
  gsize n = r->p.inner, pixel = n == 1 ? 1 : op->form.in[0].value->pitch;

  if (k == op->form.n_in)
    return lpt_span_columns (row * r->p.columns, end * r->p.columns, 0, n, r->p.pitch);
  for (; row < end; row++)
    {
      find_rows (r, row, &lower, &upper);
      from = MIN (from, MIN (lower, upper));
      to = MAX (to, MAX (lower, upper) + 1);
    }

  return lpt_span_columns (from * r->width, to * r->width, 0, n, pixel);
}

static void
resize_bind (LptProgramOp *op)
{
  Resize *r = op->form.params;
  gsize pixel = r->p.inner == 1 ? 1 : op->form.in[0].value->pitch, o;
  guint32 *lower = (guint32 *) r->p.lower, *upper = (guint32 *) r->p.upper;

  r->p.pitch = r->p.inner == 1 ? 1 : op->form.out->pitch;
  for (o = 0; o < r->p.columns; o++)
    {
      lower[o] = (guint32) (r->columns.lower[o] * pixel);
      upper[o] = (guint32) (r->columns.upper[o] * pixel);
    }
}

/* --- prepare --- */

/* The list of @axis; FALSE: no memory, or too long. */
static gboolean
read_axis (const LptProgramOp *op,
           gint                axis,
           gboolean            linear,
           Taps               *t)
{
  const gint64 in = op->in[0]->array.shape.dims[axis], out = op->out[0]->array.shape.dims[axis];
  gint64 i;

  if (in > G_MAXINT32 || out > G_MAXINT32 || !taps_alloc (t, (gsize) out))
    return FALSE;
  for (i = 0; i < out; i++)
    if (linear)
      {
        LptIntResizeTap tap = lpt_int_resize_tap (op->integer, i, in, out);

        t->lower[i] = (guint32) tap.lower;
        t->upper[i] = (guint32) tap.upper;
        t->weight[i] = tap.weight;
        t->real[i] = tap.real;
      }
    else if (lpt_int_resize_is_nearest (op->integer))
      t->lower[i] = t->upper[i] = (guint32) lpt_int_resize_source (op->integer, axis, i, in, out);
    else
      t->lower[i] = t->upper[i] = (guint32) i;

  return TRUE;
}

/* Magnitudes of both weights of an element, in the worst case. */
static gint64
largest (const Taps *t,
         gsize       n,
         gint64      one)
{
  gint64 most = 0;
  gsize i;

  for (i = 0; i < n; i++)
    most = MAX (most, ABS (one - t->weight[i]) + ABS ((gint64) t->weight[i]));

  return most;
}

/* FALSE: sums may leave 32 bits. */
static gboolean
set_rule (const LptProgramOp *op,
          const LptIntResize *view,
          Resize             *r)
{
  const LptIntScale *to = &view->rescale->to;
  const gint32 in = lpt_program_offset (op->in[0]->array.dtype), out = lpt_program_offset (op->out[0]->array.dtype);
  const LptAlgorithm algorithm = view->rule->algorithm;
  gboolean reals = algorithm == LPT_ALGO_FLOAT || algorithm == LPT_ALGO_FLOAT_AWAY;
  guint c;

  r->nearest = view->nearest;
  r->p.offset = in;
  r->p.one = 1 << view->bits;
  r->p.shift = 2 * view->bits;
  r->p.lo = view->x->lo + in;
  r->p.hi = view->x->hi + in;
  r->p.form = view->sums_reals ? LPT_BILINEAR_SUM
              : view->even ? LPT_BILINEAR_EVEN : view->away ? LPT_BILINEAR_DIVIDE : LPT_BILINEAR_ROUND;
  if (reals && !view->sums_reals)
    {
      r->p.form = algorithm == LPT_ALGO_FLOAT_AWAY ? LPT_BILINEAR_REALS_AWAY : LPT_BILINEAR_REALS;
      r->p.lo = to->lo + out;
      r->p.hi = to->hi + out;
    }
  r->p.zero = view->x->zero + in;
  r->p.to_zero = to->zero + out;
  r->p.scale = (float) view->x->scale;
  r->p.to_scale = (float) to->scale;
  if (r->nearest || view->sums_reals || !reals)
    for (c = 0; c < 256; c++)
      {
        r->table[c] = (guint8) (lpt_int_rescale (view->rescale, (gint32) c - in) + out);
        r->maps |= r->table[c] != c;
      }

  return r->nearest || reals || view->sums_reals ||
         largest (&r->taps[r->n - 1], r->out[r->n - 1], r->p.one) * largest (&r->columns, r->p.columns, r->p.one) *
                 256 <
             G_MAXINT32;
}

/* Axes in the order of the layout; FALSE: no memory. */
static gboolean
set_axes (const LptProgramOp *op,
          gboolean            last,
          gboolean            linear,
          Resize             *r)
{
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  gint rank = x->rank, axis;

  r->rows = 1;
  for (axis = 0; axis < rank - 1; axis++)
    {
      if (last && axis == 1)
        continue;
      r->in[r->n] = (gsize) x->dims[axis];
      r->out[r->n] = (gsize) y->dims[axis];
      r->rows *= (gsize) y->dims[axis];
      if (!read_axis (op, axis, linear && axis == rank - 2, &r->taps[r->n++]))
        return FALSE;
    }
  r->width = (gsize) x->dims[rank - 1];
  r->p.columns = (gsize) y->dims[rank - 1];
  r->p.inner = last ? (gsize) y->dims[1] : 1;
  if (!read_axis (op, rank - 1, linear, &r->columns))
    return FALSE;
  r->p.lower = lpt_program_array (r->p.columns, sizeof (guint32));
  r->p.upper = lpt_program_array (r->p.columns, sizeof (guint32));
  r->p.weight = r->columns.weight;
  r->p.real = r->columns.real;

  return r->p.lower != NULL && r->p.upper != NULL;
}

gboolean
lpt_prepare_resize_lines (LptProgram   *program,
                          LptProgramOp *op)
{
  const LptShape *x, *y;
  LptIntResize view;
  LptValueLayout layout;
  gboolean last;
  Resize *r;

  if (!lpt_program_is_codes (op->in[0]) || !lpt_program_is_codes (op->out[0]))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->out[0]));
  if (op->in[0]->kind == LPT_STORAGE_CONST || lpt_program_count (op->in[0]) == 0 || lpt_program_count (op->out[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  view = lpt_int_resize_view (op->integer);
  x = &op->in[0]->array.shape;
  y = &op->out[0]->array.shape;
  if (x->rank < 2)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (lpt_program_count (op->in[0]) > G_MAXINT32)
    return lpt_refuse (op, LPT_REMARK_RANGE);
  layout = lpt_program_channels (op->in[0]) >= MIN_CHANNELS || op->in[0]->layout == LPT_LAYOUT_CODES_LAST
               ? LPT_LAYOUT_CODES_LAST
               : LPT_LAYOUT_CODES;
  last = layout == LPT_LAYOUT_CODES_LAST && x->rank > (view.nearest ? 2 : 3) && x->dims[1] == y->dims[1] &&
         x->dims[1] > 1;
  r = g_new0 (Resize, 1);
  r->kernel = program->kernels.resize;
  r->eltwise = program->kernels.eltwise;
  if (!set_axes (op, last, !view.nearest, r) || !set_rule (op, &view, r))
    {
      resize_clear (r);
      g_free (r);
      return lpt_refuse (op, LPT_REMARK_RANGE);
    }
  r->per_task = MAX (TASK_BYTES / (r->p.columns * r->p.inner), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = resize_run, .access = resize_access, .bind = resize_bind, .clear = resize_clear, .params = r, .kernel = r->kernel->name,
    .tasks = (r->rows + r->per_task - 1) / r->per_task, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], last ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES, .pitched = last }),
    .out = op->out[0], .out_layout = last ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES, .out_pitched = last });

  return TRUE;
}
