/* rows-run.c - runs a program of rows, tile by tile
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/rows.h"
#include "ir/scalar/lpt-reduction.h"

/* Rows that are reduced in one call. */
#define ROWS 64

/* One row follows the other, as those of the run do. */
static gboolean
goes_through (const LptRunForm    *run,
              const LptRunOperand *o)
{
  return run->run.narrow ? o->narrow : o->whole || o->repeated;
}

/* From one element to the next. */
static gsize
step_of (const LptRunForm    *run,
         const LptRunOperand *o)
{
  return run->run.narrow ? o->narrow : o->whole || o->step;
}

/* Of two integers, or of one. */
static void
run_integers (const LptRowsTile *t,
              const LptRun      *run,
              gsize              n,
              const float *const *x,
              const gsize       *step,
              float             *out)
{
  const LptWholeKernel *kernel = t->p->kernels.whole;
  const gint32 *a = (const gint32 *) (gconstpointer) x[0], *b = (const gint32 *) (gconstpointer) x[1];
  gint32 *made = (gint32 *) (gpointer) out;

  if (run->truth)
    kernel->compare (run->integer, n, a, step[0], b, step[1], out);
  else if (run->n > 1)
    kernel->binary (run->integer, n, a, step[0], b, step[1], made);
  else if (run->bounded)
    {
      kernel->binary (LPT_WHOLE_MAXIMUM, n, a, 1, &run->bounds[0], 0, made);
      kernel->binary (LPT_WHOLE_MINIMUM, n, made, 1, &run->bounds[1], 0, made);
    }
  else if (run->magnitude)
    kernel->magnitude (n, a, made);
  else
    kernel->negative (n, a, made);
}

/* Runs of several operands. */
static void
run_several (const LptRowsTile *t,
             const LptRunForm  *run,
             float             *out)
{
  const LptFloatKernel *kernel = t->p->kernels.floats;
  const float *x[LPT_ROWS_OPERANDS] = { NULL };
  gsize step[LPT_ROWS_OPERANDS] = { 0 }, row, n;
  gboolean one_call = TRUE;
  guint i;

  for (i = 0; i < run->run.n; i++)
    one_call = one_call && (run->in[i].spread || run->in[i].scalar || goes_through (run, &run->in[i]));
  n = (run->run.narrow ? 1 : t->cols) * (one_call ? t->rows : 1);
  for (row = t->row; row < t->row + (one_call ? 1 : t->rows); row++, out += n)
    {
      for (i = 0; i < run->run.n; i++)
        {
          const LptRunOperand *o = &run->in[i];

          step[i] = o->spread ? 1 : step_of (run, o);
          x[i] = o->spread ? lpt_rows_spread (t, run, i) : lpt_rows_mask_at (t, run, i, row, n);
        }
      if (run->run.kind == LPT_RUN_BINARY)
        kernel->binary (run->run.binary, n, x[0], step[0], x[1], step[1], out);
      else if (run->run.kind == LPT_RUN_WHOLE)
        run_integers (t, &run->run, n, x, step, out);
      else if (run->run.kind == LPT_RUN_INTERVALS)
        kernel->intervals (run->run.levels.steps, n, x, step, out);
      else
        kernel->select (n, x[0], step[0], x[1], step[1], x[2], step[2], out);
    }
}

/* As the plain op does it. */
static void
run_function (const LptRun         *run,
              const LptFloatKernel *floats,
              gsize                 n,
              const float          *x,
              float                *out)
{
  gsize i;

  if (run->line != NULL)
    {
      run->line (floats, run->parameters, n, x, out);
      return;
    }
  for (i = 0; i < n; i++)
    out[i] = (float) run->function (x[i], run->parameters);
}

static void
run_reduce (const LptRowsTile       *t,
            const LptRunForm *run,
            const float      *x,
            float            *out)
{
  double sums[ROWS];
  gsize row, rows;

  for (row = 0; row < t->rows; row += rows)
    {
      rows = MIN (ROWS, t->rows - row);
      t->p->kernels.floats->reduce_lines (run->run.reduce, rows, t->cols, x + row * t->cols, t->cols, sums);
      lpt_reduction_end_all (run->run.op->node->op, rows, sums, (gint64) t->cols, out + row);
    }
}

static void
run_levels (const LptRowsTile       *t,
            const LptRunForm *form,
            gsize             n,
            const float      *x,
            float            *out)
{
  const gsize cols = n / t->rows;
  gsize row;

  if (form->levels == NULL)
    t->p->kernels.floats->levels (&form->run.levels, n, x, out);
  for (row = t->row; row < t->row + t->rows && form->levels != NULL; row++, x += cols, out += cols)
    t->p->kernels.floats->levels (&form->levels[row / form->level_rows % form->n_levels], cols, x, out);
}

/* Truth and integers become words, which are not placed before as a run reads them. */
static void
store_words (const LptRowsTile *t)
{
  const float *made = (const float *) (gconstpointer) lpt_rows_register (t, t->p->made);
  gint64 *out = (gint64 *) (gpointer) t->data->out + t->row * t->p->cols + t->col;
  gsize i;

  if (t->p->whole)
    t->p->kernels.whole->widen (t->rows * t->cols, (const gint32 *) (gconstpointer) made, out);
  for (i = 0; i < t->rows * t->cols && t->p->truth; i++)
    out[i] = (gint64) made[i];
}

static void
run_tile (const LptRowsTile *t)
{
  static const float zero = 0;
  const LptRows *p = t->p;
  const LptFloatKernel *floats = p->kernels.floats;
  gsize i;
  guint k;

  for (k = 0; k < p->n_runs; k++)
    {
      const LptRunForm *form = &p->runs[k];
      const LptRun *run = &form->run;
      gsize n = run->narrow && run->kind != LPT_RUN_REDUCE ? t->rows : t->rows * t->cols;
      const LptRunOperand *x = &form->in[0];
      gpointer out = form->out != LPT_ROWS_RESULT ? lpt_rows_register (t, form->out)
                                                   : t->data->out + (t->row * p->cols + t->col) * p->result_size;
      const float *real = lpt_run_is_several (run->kind) ? NULL
                          : x->mask || x->words ? lpt_rows_mask_at (t, form, 0, t->row, n)
                          : x->narrow ? lpt_rows_narrow_at (t, x, t->row) : lpt_rows_whole_at (t, x, sizeof (float));
      gsize column = run->by_column ? t->col : 0;
      gsize rows = run->by_column && !form->repeated ? t->rows : 1, cols = n / rows;

      switch (run->kind)
        {
        case LPT_RUN_BINARY:
        case LPT_RUN_SELECT:
        case LPT_RUN_WHOLE:
        case LPT_RUN_INTERVALS:
          run_several (t, form, out);
          break;
        case LPT_RUN_NOT:
          floats->binary (run->binary, n, real, 1, &zero, 0, out);
          break;
        case LPT_RUN_MAP:
          floats->map (run->map, n, real, out);
          break;
        case LPT_RUN_GELU:
          floats->gelu (&run->gelu, n, real, out);
          break;
        case LPT_RUN_FUNCTION:
          run_function (run, floats, n, real, out);
          break;
        case LPT_RUN_REDUCE:
          run_reduce (t, form, real, out);
          break;
        case LPT_RUN_CLAMP:
          floats->clamp (n, real, run->lo, run->hi, out);
          break;
        case LPT_RUN_LEVELS:
          run_levels (t, form, n, real, out);
          break;
        case LPT_RUN_SOFTMAX:
          floats->softmax (t->rows, t->cols, real, t->cols, out, t->cols);
          break;
        case LPT_RUN_NORMALIZE:
          floats->normalize (t->rows, t->cols, real, t->cols, run->eps, run->eps_outside, run->variance, out, t->cols);
          break;
        case LPT_RUN_QUANTIZE:
          p->kernels.eltwise->quantize (&(LptQuantize) { .form = LPT_QUANTIZE_DIVIDE, .lo = run->qmin, .hi = run->qmax,
                                                         .scale = form->scale + column, .zp = form->zero + column,
                                                         .step = run->by_column },
                                        rows, cols, real, cols * sizeof (float), out, cols);
          break;
        case LPT_RUN_DEQUANTIZE:
          p->kernels.eltwise->dequantize (&(LptDequantize) { .scale = form->scale + column, .zp = form->zero + column,
                                                             .step = run->by_column },
                                          rows, cols, lpt_rows_whole_at (t, x, 1), cols, out, cols * sizeof (float));
          break;
        case LPT_RUN_WORDS:
          for (i = 0; i < rows; i++)
            floats->words (cols, (const gint32 *) (gconstpointer) real + i * cols, form->scale + column, run->by_column,
                           (float *) out + i * cols);
          break;
        default:
          break;
        }
    }
}

void
lpt_rows_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  const LptRows *p = op->form.params;
  gsize tile, last = MIN (end * p->tiles_per_task, p->tiles);

  for (tile = task * p->tiles_per_task; tile < last; tile++)
    {
      gsize row = tile / p->column_tiles * p->tile_rows, col = tile % p->column_tiles * p->tile_cols;
      LptRowsTile t = { p, data, row, MIN (p->tile_rows, p->rows - row), col,
                        MIN (p->tile_cols, p->cols - col) };

      run_tile (&t);
      if (p->truth || p->whole)
        store_words (&t);
    }
}
