/* rows.c - what stays real, in one pass over rows
 *
 * Real element-wise steps, Softmax and MVN along the last axis, and the Quantize and Dequantize at their ends become
 * one program: it runs from first to last on a tile of a few rows, whose values in between live in registers (parts of
 * the workspace, in the first cache), and only what the program begins and ends with is in memory.
 *
 *     Dequantize -> Add mask -> Softmax -> Quantize        Add -> MVN -> Multiply -> Add -> Quantize        Erf -> ...
 *
 * rows-grow.c says which ops are one program. Operands of other shapes broadcast. Tiles depend on the shape only. Where
 * the data comes with its channels last, or a quantization varies along them, rows are pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/rows.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of a tile, whose registers fit the first cache, and of all tiles of a task. */
#define TILE 2048
#define TASK (16 * TILE)
/* Parameters of rows shorter than this are repeated for a whole tile, which is then one row to the kernels. */
#define SHORT_ROW 256

/* --- operands, rows and registers --- */

/* Is the value made with its channels last, as far as one can see before all forms are there? */
static gboolean
comes_last (LptProgramValue *value)
{
  guint depth;

  for (depth = 0; depth < 64 && value != NULL; depth++)
    {
      const LptProgramOp *step;

      if (value->layout == LPT_LAYOUT_CODES_LAST || value->layout == LPT_LAYOUT_WORDS_LAST)
        return TRUE;
      step = value->def;
      if (step == NULL)
        return FALSE;
      if (step->n_in == 0 || (step->integer == NULL && (step->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0))
        return FALSE;
      value = step->in[0];
    }

  return FALSE;
}

/* The axes with the channels last. */
static LptShape
turned (const LptShape *shape)
{
  LptShape result = *shape;

  memmove (&result.dims[1], &result.dims[2], (gsize) (shape->rank - 2) * sizeof result.dims[0]);
  result.dims[shape->rank - 1] = shape->dims[1];

  return result;
}

/* Operands of other shapes must go by one element along the channels, or stand still; masks of words are row-major. */
static gboolean
fits_last (const LptRows  *p,
           const LptShape *shape)
{
  guint k, i;

  for (k = 0; k < p->n_runs && shape->rank > 2; k++)
    for (i = 0; i < p->runs[k].n; i++)
      {
        const LptArray *array = &p->runs[k].op->in[i]->array;
        const LptShape own = lpt_rows_shape (&p->runs[k], i);
        gint64 strides[LPT_MAX_RANK];

        if (array->dtype == LPT_DTYPE_I64 && p->runs[k].op->in[i]->kind != LPT_STORAGE_CONST &&
            lpt_rows_find (p, p->runs[k].op->in[i]->def) < 0)
          return FALSE;
        lpt_broadcast_strides (&own, shape, strides);
        if (strides[1] > 1 && (p->runs[k].op->in[i]->kind == LPT_STORAGE_CONST ||
                               !lpt_shape_equal (&array->shape, shape)))
          return FALSE;
      }

  return shape->rank > 2;
}

/* FALSE: there is none that does for all. */
static gboolean
choose_layout (LptRows        *p,
               const LptShape *shape)
{
  gint votes = 0;
  guint k, i;

  if (p->layout != LPT_ROWS_ANY)
    return p->layout == LPT_ROWS_PLAIN || fits_last (p, shape);
  for (k = 0; k < p->n_runs; k++)
    for (i = 0; i < p->runs[k].n; i++)
      {
        LptProgramValue *value = p->runs[k].op->in[i];

        if (value->kind != LPT_STORAGE_CONST && lpt_shape_equal (&value->array.shape, shape) &&
            lpt_rows_find (p, value->def) < 0)
          votes += comes_last (value) ? 1 : -1;
      }
  p->layout = votes > 0 && fits_last (p, shape) ? LPT_ROWS_LAST : LPT_ROWS_PLAIN;

  return TRUE;
}

static LptValueLayout
layout_of (const LptRows  *p,
           const LptArray *array)
{
  gboolean codes = array->dtype == LPT_DTYPE_U8 || array->dtype == LPT_DTYPE_I8;

  if (p->layout == LPT_ROWS_LAST)
    return codes ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_WORDS_LAST;

  return codes ? LPT_LAYOUT_CODES : LPT_LAYOUT_TYPED;
}

static guint
input_of (LptRows         *p,
          LptProgramValue *value,
          LptValueLayout   layout)
{
  guint i;

  for (i = 0; i < p->n_in; i++)
    if (p->in[i].value == value)
      return i;
  p->in[i] = (LptOperand) { value, layout };
  p->n_in++;

  return i;
}

/* A mask as 0 and 1. */
static void
copy_constant (const LptArray *array,
               gsize           n,
               float          *to)
{
  gsize i;

  if (array->dtype != LPT_DTYPE_I64)
    memcpy (to, array->data, n * sizeof *to);
  else
    for (i = 0; i < n; i++)
      to[i] = ((const gint64 *) array->data)[i] != 0;
}

static void
read_operand (LptRows        *p,
              const LptRun   *run,
              guint           i,
              const LptShape *shape,
              LptRunOperand  *o)
{
  LptProgramValue *s = run->op->in[i];
  const LptShape own = lpt_rows_shape (run, i);
  gint d;

  *o = (LptRunOperand) { .from = LPT_FROM_INPUT };
  if (lpt_rows_find (p, s->def) >= 0)
    {
      gboolean narrow = p->runs[lpt_rows_find (p, s->def)].narrow;

      *o = (LptRunOperand) { .from = LPT_FROM_REGISTER, .whole = !narrow, .narrow = narrow };
      return;
    }
  if (s->kind == LPT_STORAGE_CONST)
    {
      gsize n = lpt_program_count (s);

      o->from = LPT_FROM_CONSTANT;
      o->constant = lpt_program_array (n, sizeof (float));
      if (o->constant != NULL)
        copy_constant (&s->array, n, o->constant);
    }
  else
    {
      o->mask = s->array.dtype == LPT_DTYPE_I64;
      o->whole = lpt_shape_equal (&s->array.shape, shape);
      o->narrow = run->narrow && !o->whole && lpt_rows_is_narrow (&own, shape, p->axis);
      o->index = input_of (p, s, o->whole ? layout_of (p, &s->array) : LPT_LAYOUT_TYPED);
    }
  lpt_broadcast_strides (&own, shape, o->strides);
  for (d = 0; d < shape->rank; d++)
    if (shape->dims[d] == 1)
      o->strides[d] = 0;
  if (p->layout == LPT_ROWS_LAST)
    {
      gint64 channel = o->strides[1];

      memmove (&o->strides[1], &o->strides[2], (gsize) (shape->rank - 2) * sizeof o->strides[0]);
      o->strides[shape->rank - 1] = channel;
    }
}

/* Along the axes from @axis - 1 on, does the operand go on as it does from @axis on: by one element, or not at all? */
static gboolean
goes_on (const LptRunOperand *o,
         const LptShape      *shape,
         gint                 axis)
{
  gint64 inner = 1;
  gboolean still = TRUE, dense = TRUE;
  gint d;

  for (d = shape->rank - 1; d >= axis - 1; d--)
    {
      still = still && o->strides[d] == 0;
      dense = dense && (shape->dims[d] == 1 || o->strides[d] == inner);
      inner *= shape->dims[d];
    }

  return o->whole || still || dense;
}

static void
lay_out (LptRows        *p,
         const LptShape *shape)
{
  gboolean row_op = p->axis >= 0, by_column = FALSE, merge = TRUE;
  gint axis = row_op ? p->axis : MAX (shape->rank - 1, 0), d;
  guint k, i;

  for (k = 0; k < p->n_runs; k++)
    by_column |= p->runs[k].by_column;
  while (axis > 0 && !row_op && !by_column && merge)
    {
      for (k = 0; k < p->n_runs; k++)
        for (i = 0; i < p->runs[k].n; i++)
          merge = merge && goes_on (&p->runs[k].in[i], shape, axis);
      axis -= merge;
    }
  p->row_axes = axis;
  p->rows = p->cols = 1;
  for (d = 0; d < shape->rank; d++)
    {
      p->dims[d] = shape->dims[d];
      *(d < axis ? &p->rows : &p->cols) *= (gsize) shape->dims[d];
    }
  for (k = 0; k < p->n_runs; k++)
    for (i = 0; i < p->runs[k].n; i++)
      for (d = axis; d < shape->rank; d++)
        p->runs[k].in[i].step |= p->runs[k].in[i].strides[d] != 0;

  p->tile_cols = row_op ? p->cols : MIN (p->cols, TILE);
  p->tile_rows = p->tile_cols == p->cols ? MIN (MAX (TILE / p->cols, 1), p->rows) : 1;
  p->column_tiles = (p->cols + p->tile_cols - 1) / p->tile_cols;
  p->tiles = (p->rows + p->tile_rows - 1) / p->tile_rows * p->column_tiles;
  p->tiles_per_task = MAX (TASK / (p->tile_rows * p->tile_cols), 1);
  p->tasks = (p->tiles + p->tiles_per_task - 1) / p->tiles_per_task;
}

/* @n elements of 4 bytes, repeated; frees them. */
static gpointer
repeat (gpointer row,
        gsize    n,
        gsize    times)
{
  guint32 *result = lpt_program_array (n * times, sizeof *result);
  gsize i;

  for (i = 0; i < times && result != NULL && row != NULL; i++)
    memcpy (result + i * n, row, n * sizeof *result);
  lpt_aligned_free (row);

  return result;
}

static void
repeat_rows (LptRows *p)
{
  guint k, i;
  gint d;

  if (p->cols >= SHORT_ROW || p->tile_rows == 1)
    return;
  for (k = 0; k < p->n_runs; k++)
    {
      LptRun *run = &p->runs[k];

      if (run->by_column)
        {
          run->scale = repeat (run->scale, p->cols, p->tile_rows);
          run->zero = repeat (run->zero, p->cols, p->tile_rows);
          run->repeated = TRUE;
        }
      for (i = 0; i < run->n; i++)
        {
          LptRunOperand *o = &run->in[i];

          o->repeated = o->from == LPT_FROM_CONSTANT && o->step == 1;
          for (d = 0; d < p->row_axes; d++)
            o->repeated = o->repeated && o->strides[d] == 0;
          if (o->repeated)
            o->constant = repeat (o->constant, p->cols, p->tile_rows);
        }
    }
}

/* The value whose codes @value is another name for, in the program, or itself. */
static const LptProgramValue *
named (const LptRows         *p,
       const LptProgramValue *value)
{
  guint k;

  for (k = p->n_runs; k-- > 0; )
    if (p->runs[k].kind == LPT_RUN_RENAME && p->runs[k].op->out[0] == value)
      value = p->runs[k].op->in[0];

  return value;
}

/* Does a run behind @after read @value, under any name? */
static gboolean
is_read_later (const LptRows         *p,
               const LptProgramValue *value,
               guint                  after)
{
  guint k, i;

  for (k = after + 1; k < p->n_runs; k++)
    for (i = 0; i < p->runs[k].n && p->runs[k].kind != LPT_RUN_RENAME; i++)
      if (named (p, p->runs[k].op->in[i]) == value)
        return TRUE;

  return FALSE;
}

/* A run may write over what it is the last to read, but not where elements change their size or rows their length. */
static void
place_registers (LptRows *p)
{
  const LptProgramValue *holder[LPT_ROWS_MAX_RUNS + 1];      /* of each register */
  guint k, i, r;

  for (r = 0; r <= LPT_ROWS_MAX_RUNS; r++)
    holder[r] = NULL;
  for (k = 0; k < p->n_runs; k++)
    {
      LptRun *run = &p->runs[k];
      const LptProgramOp *step = run->op;
      gboolean keeps = run->kind == LPT_RUN_QUANTIZE || run->kind == LPT_RUN_DEQUANTIZE || run->kind == LPT_RUN_REDUCE;

      for (i = 0; i < run->n; i++)
        keeps |= run->in[i].narrow && !run->narrow;
      for (i = 0; i < run->n; i++)
        for (r = 0; r < p->n_registers && run->in[i].from == LPT_FROM_REGISTER; r++)
          if (holder[r] == named (p, step->in[i]))
            run->in[i].index = r;
      if (run->kind == LPT_RUN_RENAME)
        {
          run->out = run->in[0].index;
          continue;
        }
      if (k + 1 == p->n_runs)
        {
          run->out = LPT_ROWS_RESULT;
          return;
        }
      for (r = 0; holder[r] != NULL && (keeps || is_read_later (p, holder[r], k)); r++)
        ;
      run->out = r;
      for (i = 0; i < p->n_registers; i++)
        if (holder[i] != NULL && !is_read_later (p, holder[i], k))
          holder[i] = NULL;
      holder[r] = step->out[0];
      p->n_registers = MAX (p->n_registers, r + 1);
    }
}

/* --- making --- */

static void
rows_clear (gpointer params)
{
  LptRows *p = params;
  guint k;

  for (k = 0; k < p->n_runs; k++)
    {
      lpt_aligned_free (p->runs[k].in[0].constant);
      lpt_aligned_free (p->runs[k].in[1].constant);
      lpt_aligned_free (p->runs[k].in[2].constant);
      lpt_aligned_free (p->runs[k].scale);
      lpt_aligned_free (p->runs[k].zero);
    }
}

static void
copy_quant (LptRun *run)
{
  const LptProgramOp *step = run->op;
  const LptArray *array;
  guint c;

  if (run->kind != LPT_RUN_QUANTIZE && run->kind != LPT_RUN_DEQUANTIZE && run->kind != LPT_RUN_WORDS)
    return;
  array = &(run->kind == LPT_RUN_QUANTIZE ? step->out[0] : step->in[0])->array;
  run->scale = lpt_program_array (array->quant->n, sizeof (float));
  run->zero = lpt_program_array (array->quant->n, sizeof (gint32));
  for (c = 0; c < array->quant->n && run->scale != NULL && run->zero != NULL; c++)
    {
      run->scale[c] = (float) array->quant->scale[c];
      run->zero[c] = array->quant->zero_point[c] + lpt_program_offset (array->dtype);
    }
}

static gboolean
reads_masks (const LptRows *p)
{
  guint k;

  for (k = 0; k < p->n_runs; k++)
    if (p->runs[k].in[0].mask)
      return TRUE;

  return FALSE;
}

/* The run by whose name the profile knows the program: the one with the most work. */
static LptProgramOp *
main_op (const LptRows *p)
{
  static const guint8 weights[] = { [LPT_RUN_BINARY] = 2, [LPT_RUN_MAP] = 4, [LPT_RUN_CLAMP] = 2, [LPT_RUN_SOFTMAX] = 5, [LPT_RUN_NORMALIZE] = 5,
                                    [LPT_RUN_QUANTIZE] = 1, [LPT_RUN_DEQUANTIZE] = 1, [LPT_RUN_WORDS] = 1, [LPT_RUN_SELECT] = 2, [LPT_RUN_LEVELS] = 3,
                                    [LPT_RUN_FUNCTION] = 6, [LPT_RUN_REDUCE] = 0, [LPT_RUN_RENAME] = 0 };
  guint best = 0, k;

  for (k = 1; k < p->n_runs; k++)
    if (!p->runs[k].narrow && (p->runs[best].narrow || weights[p->runs[k].kind] > weights[p->runs[best].kind]))
      best = k;

  return p->runs[best].op;
}

/* Input @k is read tile by tile as the result is written, by the last run at the latest, which reads an element where
 * it writes it. */
static gboolean
may_overwrite (const LptRows         *p,
               guint                  k,
               const LptProgramValue *result)
{
  LptRunKind last = p->runs[p->n_runs - 1].kind;

  return (last == LPT_RUN_BINARY || last == LPT_RUN_MAP || last == LPT_RUN_FUNCTION || last == LPT_RUN_CLAMP ||
          last == LPT_RUN_LEVELS) &&
         p->in[k].value->array.dtype == result->array.dtype &&
         lpt_shape_equal (&p->in[k].value->array.shape, &result->array.shape);
}

gboolean
lpt_prepare_rows (LptProgram   *program,
                  LptProgramOp *op)
{
  g_autofree LptRows *p = g_new0 (LptRows, 1);
  LptProgramValue *result;
  LptProgramOp *main;
  LptOpForm form;
  LptShape shape;
  guint k, n;

  if (op->n_out == 0 || !lpt_rows_grow (p, op, &op->out[0]->array.shape, LPT_ROWS_ANY))
    return FALSE;
  result = op->out[0];
  /* Without what needs the channels last, which the others do not have. */
  if (p->layout == LPT_ROWS_LAST && !fits_last (p, &result->array.shape) &&
      !lpt_rows_grow (p, op, &result->array.shape, LPT_ROWS_PLAIN))
    return FALSE;
  if (p->n_runs == 1 && (p->runs[0].kind == LPT_RUN_QUANTIZE || p->runs[0].kind == LPT_RUN_DEQUANTIZE ||
                         p->runs[0].kind == LPT_RUN_WORDS))
    return FALSE;      /* these have forms of their own */
  if (!choose_layout (p, &result->array.shape))
    return FALSE;

  main = main_op (p);
  shape = p->layout == LPT_ROWS_LAST ? turned (&result->array.shape) : result->array.shape;
  for (k = 0; k < p->n_runs; k++)
    {
      LptRun *run = &p->runs[k];

      copy_quant (run);
      for (n = 0; n < run->n; n++)
        read_operand (p, run, n, &result->array.shape, &run->in[n]);
      if (run->op != main)
        lpt_program_fuse (run->op, main, NULL);
    }
  p->kernels = program->kernels;
  p->result_size = lpt_storage_size (result->array.dtype);
  lay_out (p, &shape);
  repeat_rows (p);
  place_registers (p);
  p->n_registers += reads_masks (p);
  form = (LptOpForm) { .run = lpt_rows_run, .clear = rows_clear, .kernel = program->kernels.floats->name, .tasks = p->tasks,
                       .workspace = (p->n_registers * p->tile_rows * p->tile_cols * sizeof (float) + 63) & ~(gsize) 63, .n_in = p->n_in,
                       .out = result, .out_layout = layout_of (p, &result->array), .last = op };
  form.in = p->in;
  for (k = 0; k < p->n_in; k++)
    p->in[k].overwritten = may_overwrite (p, k, result);
  form.params = g_steal_pointer (&p);
  lpt_program_set_form (main, &form);

  return TRUE;
}
