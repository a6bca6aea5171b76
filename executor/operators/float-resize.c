/* float-resize.c - Interpolate of reals, all modes
 *
 * The axes are resized one after the other in double precision, the first one first, as the op itself does it: for a
 * line of the result the lines of the input that it is made of are mixed over all axes but the last resized one, then
 * its columns are. Which elements, and with what weights, is asked of the op when the plan is made. Bits are those of
 * the op. A Convert that rounds the result, and alone reads it, is done line by line.
 *
 * Not: sizes or scales that are computed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-resize-taps.h"
#include "executor/operators/copy-box.h"
#include "executor/operators/rows.h"

/* Bytes of the result. */
#define TASK_BYTES 32768

typedef struct
{
  const LptResizeKernel *kernel;
  gint       n;                        /* axes before the columns, in the order of the layout */
  gsize      in[LPT_MAX_RANK], out[LPT_MAX_RANK], stride[LPT_MAX_RANK];     /* stride: of the input, in elements */
  gboolean   resized[LPT_MAX_RANK];
  LptMixTaps taps[LPT_MAX_RANK], columns;
  gsize      width, n_columns, inner;  /* columns of the input and of the result, elements of one */
  gsize      line;                     /* of the input */
  gsize      most;                     /* taps of one position */
  gsize      rows, per_task;
  const LptFloatKernel *rounds;        /* NULL, or what rounds the result */
  LptFloatMap           map;
} Resize;

static void
taps_clear (LptMixTaps *t)
{
  g_free (t->start);
  g_free (t->index);
  g_free (t->weight);
}

static void
resize_clear (gpointer params)
{
  Resize *r = params;
  gint k;

  for (k = 0; k < r->n; k++)
    taps_clear (&r->taps[k]);
  taps_clear (&r->columns);
}

/* What a thread has: a line for each level, and the lines that one is mixed of. */
typedef struct
{
  const Resize *r;
  const float  *in;
  gsize         at[LPT_MAX_RANK];      /* the row of the result */
  const float **lines;
  double       *mixed;
} Row;

/* Mixes over axes up to @axis; @offset: of the elements along the others. Returns where it is. */
static double *
mix (const Row *row,
     gint       axis,
     gsize      offset)
{
  const Resize *r = row->r;
  static const double one = 1;
  const LptMixTaps *t = &r->taps[MAX (axis, 0)];
  double *result;
  gint below;
  gsize k, first, end;

  while (axis >= 0 && !r->resized[axis])
    axis--;
  if (axis < 0)
    {
      row->lines[0] = row->in + offset;
      r->kernel->mix (1, &one, row->lines, r->line, row->mixed);
      return row->mixed;
    }
  t = &r->taps[axis];
  first = t->start[row->at[axis]];
  end = t->start[row->at[axis] + 1];
  for (below = axis - 1; below >= 0 && !r->resized[below]; below--)
    ;
  result = row->mixed + (gsize) axis * r->line;
  if (below < 0)
    {
      for (k = first; k < end; k++)
        row->lines[k - first] = t->index[k] >= 0 ? row->in + offset + (gsize) t->index[k] * r->stride[axis] : NULL;
      r->kernel->mix (end - first, t->weight + first, row->lines, r->line, result);
      return result;
    }
  if (first == end)
    r->kernel->mix (0, &one, row->lines, r->line, result);
  for (k = first; k < end; k++)
    r->kernel->add (t->weight[k],
                    t->index[k] >= 0 ? mix (row, below, offset + (gsize) t->index[k] * r->stride[axis]) : NULL, r->line,
                    k == first, result);

  return result;
}

static void
resize_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Resize *r = op->form.params;
  Row row = { .r = r,
              .in = (const float *) (gconstpointer) data->in[0],
              .lines = (const float **) (gpointer) data->workspace };
  gsize i = task * r->per_task, last = MIN (end * r->per_task, r->rows);

  row.mixed = (double *) (gpointer) (data->workspace + ((r->most * sizeof (float *) + 63) & ~(gsize) 63));
  for (; i < last; i++)
    {
      gsize rest = i, offset = 0;
      float *out;
      gint k;

      for (k = r->n; k-- > 0; rest /= r->out[k])
        {
          row.at[k] = rest % r->out[k];
          offset += r->resized[k] ? 0 : row.at[k] * r->stride[k];
        }
      out = (float *) (gpointer) data->out + i * r->n_columns * r->inner;
      r->kernel->columns (&r->columns, 0, r->n_columns, r->inner, mix (&row, r->n - 1, offset), out);
      if (r->rounds != NULL)
        r->rounds->map (r->map, r->n_columns * r->inner, out, out);
    }
}

/* --- prepare --- */

/* Taps with a weight. */
static void
set_taps (LptMixTaps          *t,
          const LptResizeTaps *from)
{
  gsize o, k, n = 0, out = (gsize) from->out, taps = (gsize) from->n;

  t->start = g_new (gsize, out + 1);
  t->index = g_new (ptrdiff_t, out * taps);
  t->weight = g_new (double, out * taps);
  for (o = 0; o < out; o++)
    {
      t->start[o] = n;
      for (k = 0; k < taps; k++)
        if (from->weight[o * taps + k] != 0)
          {
            t->index[n] = (ptrdiff_t) from->index[o * taps + k];
            t->weight[n++] = from->weight[o * taps + k];
          }
    }
  t->start[out] = n;
}

/* The layout in which the input comes, unless its channels or images are resized. */
static LptValueLayout
layout_of (const LptProgramOp  *op,
           const LptResizeTaps *taps)
{
  return op->in[0]->layout == LPT_LAYOUT_WORDS_LAST && taps[0].n == 0 && taps[1].n == 0 ? LPT_LAYOUT_WORDS_LAST
                                                                                        : LPT_LAYOUT_TYPED;
}

static void
set_axes (Resize              *r,
          const LptProgramOp  *op,
          const LptResizeTaps *taps,
          LptValueLayout       layout)
{
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  gint order[LPT_MAX_RANK], rank = x->rank, column = -1, k;
  gsize step = 1;

  for (k = 0; k < rank; k++)
    order[k] = layout != LPT_LAYOUT_WORDS_LAST || k == 0 ? k : k == rank - 1 ? 1 : k + 1;
  for (k = 0; k < rank; k++)
    if (taps[order[k]].n > 0)
      column = k;
  r->inner = r->rows = r->most = 1;
  for (k = rank; k-- > 0; step *= (gsize) x->dims[order[k]])
    {
      const gint axis = order[k];

      if (k > column)
        r->inner *= (gsize) x->dims[axis];
      if (k >= column)
        continue;
      r->in[k] = (gsize) x->dims[axis];
      r->out[k] = (gsize) y->dims[axis];
      r->stride[k] = step;
      r->rows *= r->out[k];
      r->resized[k] = taps[axis].n > 0;
      if (r->resized[k])
        set_taps (&r->taps[k], &taps[axis]);
      r->most = MAX (r->most, (gsize) taps[axis].n);
    }
  r->n = column;
  r->width = (gsize) x->dims[order[column]];
  r->n_columns = (gsize) y->dims[order[column]];
  r->line = r->width * r->inner;
  set_taps (&r->columns, &taps[order[column]]);
}

/* The Convert behind @op that alone reads the result and rounds it is done with it; the last op that is. */
static LptProgramOp *
take_rounding (LptProgram   *program,
               LptProgramOp *op,
               Resize       *r)
{
  LptProgramOp *reader = lpt_program_reader (op->out[0]), *last = op;
  LptRun run;

  if (reader == NULL || !lpt_program_is_free (reader) || !lpt_rows_read_op (reader, &run) ||
      run.kind != LPT_RUN_MAP || reader->in[0] != op->out[0] || !lpt_map_rounds (run.map))
    return op;
  r->map = run.map;
  r->rounds = program->kernels.floats;
  lpt_program_fuse (reader, op, &last);

  return last;
}

gboolean
lpt_prepare_float_resize (LptProgram   *program,
                          LptProgramOp *op)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = NULL;
  LptResizeTaps taps[LPT_MAX_RANK] = { { 0 } };
  LptArray out;
  LptCall call;
  LptValueLayout layout;
  LptProgramOp *last;
  gboolean any = FALSE;
  gsize element;
  Resize *r;
  guint k;

  if (op->n_in == 0 || op->n_out != 1 || !lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  for (k = 1; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k]->kind != LPT_STORAGE_CONST)
      return lpt_refuse (op, LPT_REMARK_COMPUTED);
  in = lpt_copy_inputs (op);
  out = op->out[0]->array;
  call = (LptCall) { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  if (!lpt_interpolate_taps (&call, taps, NULL))
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);
  for (k = 0; k < (guint) op->in[0]->array.shape.rank; k++)
    any |= taps[k].n > 0;
  if (!any)
    return lpt_refuse (op, LPT_REMARK_AXES);

  layout = layout_of (op, taps);
  r = g_new0 (Resize, 1);
  r->kernel = program->kernels.resize;
  set_axes (r, op, taps, layout);
  last = take_rounding (program, op, r);
  element = r->n_columns * r->inner * sizeof (float);
  r->per_task = MAX (TASK_BYTES / element, 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = resize_run, .clear = resize_clear, .params = r, .kernel = r->kernel->name, .tasks = (r->rows + r->per_task - 1) / r->per_task,
    .workspace = (((r->most * sizeof (float *) + 63) & ~(gsize) 63) + (gsize) MAX (r->n, 1) * r->line * sizeof (double) + 63) & ~(gsize) 63,
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], layout }), .out = last->out[0], .out_layout = layout, .last = last });

  return TRUE;
}
