/* rows-run.c - runs a program of rows, tile by tile
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/rows.h"
#include "ir/scalar/lpt-reduction.h"

/* Rows that are reduced in one call. */
#define ROWS 64

typedef struct
{
  const LptRows     *p;
  const LptOpData *data;
  gsize              row, rows, col, cols;
} Tile;

static guint8 *
register_at (const Tile *t,
             guint       index)
{
  return t->data->workspace + index * t->p->tile_rows * t->p->tile_cols * sizeof (float);
}

/* Where the tile's elements of a whole operand begin. */
static gconstpointer
whole_at (const Tile          *t,
          const LptRunOperand *o,
          gsize                size)
{
  if (o->from == LPT_FROM_REGISTER)
    return register_at (t, o->index);

  return t->data->in[o->index] + (t->row * t->p->cols + t->col) * size;
}

/* The element of @row of an operand that has one for each. */
static const float *
narrow_at (const Tile          *t,
           const LptRunOperand *o,
           gsize                row)
{
  if (o->from == LPT_FROM_REGISTER)
    return (const float *) (gconstpointer) register_at (t, o->index) + (row - t->row);

  return (const float *) (gconstpointer) t->data->in[o->index] + row;
}

/* One row of an operand. */
static const float *
row_at (const Tile          *t,
        const LptRunOperand *o,
        gsize                row)
{
  const LptRows *p = t->p;
  const float *data;
  gsize rest = row;
  gint d;

  if (o->whole)
    return (const float *) whole_at (t, o, sizeof (float)) + (row - t->row) * t->cols;
  if (o->narrow)
    return narrow_at (t, o, row);
  data = o->from == LPT_FROM_CONSTANT ? o->constant : (const float *) (gconstpointer) t->data->in[o->index];
  if (o->repeated)
    return data + (row - t->row) * t->cols;
  for (d = p->row_axes - 1; d >= 0; d--)
    {
      data += (gint64) (rest % (gsize) p->dims[d]) * o->strides[d];
      rest /= (gsize) p->dims[d];
    }

  return data + t->col * o->step;
}

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

static gboolean
is_scalar (const LptRows       *p,
           const LptRunOperand *o)
{
  gint d;

  for (d = 0; d < p->row_axes; d++)
    if (o->strides[d] != 0)
      return FALSE;

  return !o->whole && !o->narrow && o->step == 0;
}

static void
run_binary (const Tile       *t,
            const LptRunForm *run,
            float            *out)
{
  const LptFloatKernel *kernel = t->p->kernels.floats;
  const LptRunOperand *a = &run->in[0], *b = &run->in[1];
  gboolean one_call = (goes_through (run, a) || is_scalar (t->p, a)) && (goes_through (run, b) || is_scalar (t->p, b));
  gsize row, cols = run->run.narrow ? 1 : t->cols, n = one_call ? t->rows * cols : cols;

  for (row = t->row; row < t->row + (one_call ? 1 : t->rows); row++, out += n)
    kernel->binary (run->run.binary, n, row_at (t, a, row), step_of (run, a), row_at (t, b, row), step_of (run, b),
                    out);
}

/* The mask of some rows from @row on, @n elements; those of words are made numbers in the last register. */
static const float *
mask_at (const Tile          *t,
         const LptRunOperand *o,
         gsize                row,
         gsize                n)
{
  const LptRows *p = t->p;
  float *made = (float *) (gpointer) register_at (t, p->n_registers - 1);
  const gint64 *words;
  gsize rest = row, i;
  gint d;

  if (!o->mask)
    return row_at (t, o, row);
  words = (const gint64 *) (gconstpointer) t->data->in[o->index] +
          (o->whole ? row * p->cols + t->col : t->col * o->step);
  for (d = p->row_axes - 1; d >= 0 && !o->whole; d--)
    {
      words += (gint64) (rest % (gsize) p->dims[d]) * o->strides[d];
      rest /= (gsize) p->dims[d];
    }
  if (!o->whole && o->step == 0)
    n = 1;
  for (i = 0; i < n; i++)
    {
      const guint64 word = (guint64) words[i];

      made[i] = (float) (gint32) ((word | (0 - word)) >> 63);      /* != 0, without a branch that depends on data */
    }

  return made;
}

static void
run_select (const Tile       *t,
            const LptRunForm *run,
            float            *out)
{
  const LptRunOperand *m = &run->in[0], *a = &run->in[1], *b = &run->in[2];
  gboolean one_call = TRUE;
  gsize row, n;
  guint i;

  for (i = 0; i < 3; i++)
    one_call = one_call && (goes_through (run, &run->in[i]) || is_scalar (t->p, &run->in[i]));
  n = one_call ? t->rows * t->cols : t->cols;
  for (row = t->row; row < t->row + (one_call ? 1 : t->rows); row++, out += n)
    t->p->kernels.floats->select (n, mask_at (t, m, row, n), m->whole || m->step, row_at (t, a, row),
                                  a->whole || a->step, row_at (t, b, row), b->whole || b->step, out);
}

/* As the plain op does it. */
static void
run_function (const LptRun *run,
              gsize         n,
              const float  *x,
              float        *out)
{
  gsize i;

  for (i = 0; i < n; i++)
    out[i] = (float) run->function (x[i], run->parameters);
}

static void
run_reduce (const Tile       *t,
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
run_levels (const Tile       *t,
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

static void
run_tile (const Tile *t)
{
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
      gpointer out = form->out != LPT_ROWS_RESULT ? register_at (t, form->out)
                                                   : t->data->out + (t->row * p->cols + t->col) * p->result_size;
      const float *real = run->kind == LPT_RUN_BINARY || run->kind == LPT_RUN_SELECT ? NULL
                          : x->narrow ? narrow_at (t, x, t->row) : whole_at (t, x, sizeof (float));
      gsize column = run->by_column ? t->col : 0;
      gsize rows = run->by_column && !form->repeated ? t->rows : 1, cols = n / rows;

      switch (run->kind)
        {
        case LPT_RUN_BINARY:
          run_binary (t, form, out);
          break;
        case LPT_RUN_MAP:
          floats->map (run->map, n, real, out);
          break;
        case LPT_RUN_GELU:
          floats->gelu (&run->gelu, n, real, out);
          break;
        case LPT_RUN_SELECT:
          run_select (t, form, out);
          break;
        case LPT_RUN_FUNCTION:
          run_function (run, n, real, out);
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
                                          rows, cols, whole_at (t, x, 1), cols, out, cols * sizeof (float));
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
      Tile t = { p, data, row, MIN (p->tile_rows, p->rows - row), col,
                 MIN (p->tile_cols, p->cols - col) };

      run_tile (&t);
    }
}
