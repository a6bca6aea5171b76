/* rows.c - what stays real, in one pass over rows
 *
 * Real element-wise steps, Softmax and MVN along the last axis, and the Quantize and Dequantize at their ends become
 * one program: it runs from first to last on a tile of a few rows, whose values in between live in registers (parts of
 * the workspace, in the first cache), and only what the program begins and ends with is in memory.
 *
 *     Dequantize -> Add mask -> Softmax -> Quantize        Add -> MVN -> Multiply -> Add -> Quantize        Erf -> ...
 *
 * rows-match.c says which ops are one program. Operands of other shapes broadcast. Tiles depend on the shape only.
 * Where the data comes with its channels last, or a quantization varies along them, rows are pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-code-loops.h"
#include "executor/operators/rows.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of a tile, whose registers fit the first cache, and of all tiles of a task. */
#define TILE 2048
#define TASK (16 * TILE)
/* Parameters of rows shorter than this are repeated for a whole tile, which is then one row to the kernels. */
#define SHORT_ROW 256
/* Operands that broadcast over rows shorter than this are copied as often, too: a call a row takes longer. */
#define SPREAD_ROW 256

/* --- operands, rows and registers --- */

/* The axes with the channels last. */
static LptShape
turned (const LptShape *shape)
{
  LptShape result = *shape;

  memmove (&result.dims[1], &result.dims[2], (gsize) (shape->rank - 2) * sizeof result.dims[0]);
  result.dims[shape->rank - 1] = shape->dims[1];

  return result;
}

static LptValueLayout
layout_of (const LptRowsMatch *m,
           const LptArray     *array)
{
  gboolean codes = array->dtype == LPT_DTYPE_U8 || array->dtype == LPT_DTYPE_I8;

  if (m->layout == LPT_ROWS_LAST)
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

/* Its numbers with the channels last, in the place of those as they lie. */
static void
turn_constant (const LptShape *shape,
               float         **constant)
{
  const gint64 outer = shape->dims[0], channels = shape->dims[1], inner = lpt_dims_product (shape, 2, shape->rank);
  float *made = lpt_program_array ((gsize) (outer * channels * inner), sizeof *made);
  gint64 o, c, i;

  for (o = 0; o < outer && made != NULL; o++)
    for (c = 0; c < channels; c++)
      for (i = 0; i < inner; i++)
        made[(o * inner + i) * channels + c] = (*constant)[(o * channels + c) * inner + i];
  lpt_aligned_free (*constant);
  *constant = made;
}

/* A mask as 0 and 1; integers as those of 32 bits. */
static void
copy_constant (const LptArray *array,
               gsize           n,
               gboolean        words,
               float          *to)
{
  gsize i;

  if (words)
    lpt_words_to_codes (array->data, (gint64) n, LPT_DTYPE_I32, to);
  else if (array->dtype != LPT_DTYPE_I64)
    memcpy (to, array->data, n * sizeof *to);
  else
    for (i = 0; i < n; i++)
      to[i] = ((const gint64 *) array->data)[i] != 0;
}

static void
read_operand (LptRows            *p,
              const LptRowsMatch *m,
              const LptRun       *run,
              guint               i,
              const LptShape     *shape,
              LptRunOperand      *o)
{
  LptProgramValue *s = lpt_run_operand (run, i);
  const LptShape own = lpt_rows_shape (run, i);
  const gboolean words = run->whole && s->array.dtype == LPT_DTYPE_I64 && s->array.declared == LPT_DTYPE_I32;
  gint d;

  *o = (LptRunOperand) { .from = LPT_FROM_INPUT };
  if (lpt_rows_find (m, s->def) >= 0)
    {
      gboolean narrow = m->runs[lpt_rows_find (m, s->def)].narrow;

      *o = (LptRunOperand) { .from = LPT_FROM_REGISTER, .whole = !narrow, .narrow = narrow };
      return;
    }
  if (s->kind == LPT_STORAGE_CONST)
    {
      gsize n = lpt_program_count (s);

      o->from = LPT_FROM_CONSTANT;
      o->whole = lpt_shape_equal (&own, shape);
      o->constant = lpt_program_array (n, sizeof (float));
      if (o->constant != NULL)
        copy_constant (&s->array, n, words, o->constant);
      if (o->whole && o->constant != NULL && m->layout == LPT_ROWS_LAST)
        turn_constant (shape, &o->constant);
    }
  else
    {
      o->words = words;
      o->mask = !words && s->array.dtype == LPT_DTYPE_I64;
      o->whole = lpt_shape_equal (&s->array.shape, shape);
      o->narrow = run->narrow && !o->whole && lpt_rows_is_narrow (&own, shape, m->axis);
      o->index = input_of (p, s, o->whole ? layout_of (m, &s->array) : LPT_LAYOUT_TYPED);
    }
  lpt_broadcast_strides (&own, shape, o->strides);
  for (d = 0; d < shape->rank; d++)
    if (shape->dims[d] == 1)
      o->strides[d] = 0;
  if (m->layout == LPT_ROWS_LAST)
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
lay_out (LptRows            *p,
         const LptRowsMatch *m,
         const LptShape     *shape)
{
  gboolean row_op = m->axis >= 0, by_column = FALSE, merge = TRUE;
  gint axis = row_op ? m->axis : MAX (shape->rank - 1, 0), least = 0, d;
  guint k, i;

  for (k = 0; k < m->n_runs; k++)
    {
      by_column |= m->runs[k].by_column;
      least = MAX (least, m->runs[k].by_axis + 1);
    }
  while (axis > least && !row_op && !by_column && merge)
    {
      for (k = 0; k < p->n_runs; k++)
        for (i = 0; i < m->runs[k].n; i++)
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
    for (i = 0; i < m->runs[k].n; i++)
      for (d = axis; d < shape->rank; d++)
        p->runs[k].in[i].step |= p->runs[k].in[i].strides[d] != 0;

  p->tile_cols = row_op ? p->cols : MIN (p->cols, TILE);
  p->tile_rows = p->tile_cols == p->cols ? MIN (MAX (TILE / p->cols, 1), p->rows) : 1;
  p->column_tiles = (p->cols + p->tile_cols - 1) / p->tile_cols;
  p->tiles = (p->rows + p->tile_rows - 1) / p->tile_rows * p->column_tiles;
  p->tiles_per_task = MAX (TASK / (p->tile_rows * p->tile_cols), 1);
  p->tasks = (p->tiles + p->tiles_per_task - 1) / p->tiles_per_task;
}

/* Intervals that vary along an axis in front of the rows. */
static void
copy_levels (LptRows        *p,
             const LptShape *shape)
{
  guint k;
  gsize i;

  for (k = 0; k < p->n_runs; k++)
    {
      LptRunForm *form = &p->runs[k];
      const gint axis = form->run.by_axis;

      if (form->run.kind != LPT_RUN_LEVELS || axis < 0)
        continue;
      form->n_levels = (gsize) shape->dims[axis];
      form->level_rows = (gsize) lpt_dims_product (shape, axis + 1, p->row_axes);
      form->levels = lpt_program_array (form->n_levels, sizeof *form->levels);
      for (i = 0; i < form->n_levels && form->levels != NULL; i++)
        form->levels[i] = lpt_rows_levels (form->run.op, i);
    }
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
      LptRunForm *run = &p->runs[k];

      if (run->run.by_column)
        {
          run->scale = repeat (run->scale, p->cols, p->tile_rows);
          run->zero = repeat (run->zero, p->cols, p->tile_rows);
          run->repeated = TRUE;
        }
      for (i = 0; i < run->run.n; i++)
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
named (const LptRowsMatch    *m,
       const LptProgramValue *value)
{
  guint k;

  for (k = m->n_runs; k-- > 0; )
    if (m->runs[k].kind == LPT_RUN_RENAME && m->runs[k].op->out[0] == value)
      value = m->runs[k].op->in[0];

  return value;
}

/* Does a run behind @after read @value, under any name? */
static gboolean
is_read_later (const LptRowsMatch    *m,
               const LptProgramValue *value,
               guint                  after)
{
  guint k, i;

  for (k = after + 1; k < m->n_runs; k++)
    for (i = 0; i < m->runs[k].n && m->runs[k].kind != LPT_RUN_RENAME; i++)
      if (named (m, lpt_run_operand (&m->runs[k], i)) == value)
        return TRUE;

  return FALSE;
}

/* A run may write over what it is the last to read, but not where elements change their size or rows their length. */
static void
place_registers (LptRows            *p,
                 const LptRowsMatch *m)
{
  const LptProgramValue *holder[LPT_ROWS_MAX_RUNS + 1];      /* of each register */
  guint k, i, r;

  for (r = 0; r <= LPT_ROWS_MAX_RUNS; r++)
    holder[r] = NULL;
  for (k = 0; k < p->n_runs; k++)
    {
      LptRunForm *form = &p->runs[k];
      const LptRun *run = &form->run;
      const LptProgramOp *step = run->op;
      gboolean keeps = run->kind == LPT_RUN_QUANTIZE || run->kind == LPT_RUN_DEQUANTIZE || run->kind == LPT_RUN_REDUCE;

      for (i = 0; i < run->n; i++)
        keeps |= form->in[i].narrow && !run->narrow;
      for (i = 0; i < run->n; i++)
        for (r = 0; r < p->n_registers && form->in[i].from == LPT_FROM_REGISTER; r++)
          if (holder[r] == named (m, lpt_run_operand (run, i)))
            form->in[i].index = r;
      if (run->kind == LPT_RUN_RENAME)
        {
          form->out = form->in[0].index;
          continue;
        }
      if (k + 1 == p->n_runs)
        {
          p->truth = run->truth;
          p->whole = !run->truth && step->out[0]->array.dtype == LPT_DTYPE_I64;
          p->made = p->n_registers;
          p->n_registers += p->truth || p->whole;
          form->out = p->truth || p->whole ? p->made : LPT_ROWS_RESULT;
          return;
        }
      for (r = 0; holder[r] != NULL && (keeps || is_read_later (m, holder[r], k)); r++)
        ;
      form->out = r;
      for (i = 0; i < p->n_registers; i++)
        if (holder[i] != NULL && !is_read_later (m, holder[i], k))
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
  guint k, i;

  for (k = 0; k < p->n_runs; k++)
    {
      for (i = 0; i < LPT_ROWS_OPERANDS; i++)
        lpt_aligned_free (p->runs[k].in[i].constant);
      lpt_aligned_free (p->runs[k].scale);
      lpt_aligned_free (p->runs[k].zero);
      lpt_aligned_free (p->runs[k].levels);
    }
}

static void
copy_quant (LptRunForm *run)
{
  const LptRunKind kind = run->run.kind;
  const LptProgramOp *step = run->run.op;
  const LptArray *array;
  guint c;

  if (kind != LPT_RUN_QUANTIZE && kind != LPT_RUN_DEQUANTIZE && kind != LPT_RUN_WORDS)
    return;
  array = &(kind == LPT_RUN_QUANTIZE ? step->out[0] : step->in[0])->array;
  if (run->run.whole)
    {
      run->scale = lpt_program_array (1, sizeof (float));
      if (run->scale != NULL)
        run->scale[0] = 1;
      return;
    }
  run->scale = lpt_program_array (array->quant->n, sizeof (float));
  run->zero = lpt_program_array (array->quant->n, sizeof (gint32));
  for (c = 0; c < array->quant->n && run->scale != NULL && run->zero != NULL; c++)
    {
      run->scale[c] = (float) array->quant->scale[c];
      run->zero[c] = array->quant->zero_point[c] + lpt_program_offset (array->dtype);
    }
}

/* One element for all of the program. */
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

/* Which operands are copied for a tile of short rows; and registers for these and for masks. */
static void
place_copies (LptRows *p)
{
  guint n = 0, k, i;

  p->scratch = p->n_registers;
  for (k = 0; k < p->n_runs; k++)
    {
      const LptRun *run = &p->runs[k].run;
      const gboolean may = p->cols < SPREAD_ROW && p->tile_rows > 1 && !run->narrow &&
                           lpt_run_is_several (run->kind) && run->n > 1;

      for (i = 0; i < run->n; i++)
        {
          LptRunOperand *o = &p->runs[k].in[i];

          o->scalar = is_scalar (p, o);
          o->spread = may && !o->whole && !o->repeated && !o->scalar;
          n = o->spread || o->mask || o->words ? MAX (n, i + 1) : n;
        }
    }
  p->n_registers += n;
}

/* The run by whose name the profile knows the program: the one with the most work. */
static LptProgramOp *
main_op (const LptRowsMatch *m)
{
  static const guint8 weights[] = {
    [LPT_RUN_BINARY] = 2, [LPT_RUN_MAP] = 4, [LPT_RUN_CLAMP] = 2, [LPT_RUN_SOFTMAX] = 5, [LPT_RUN_NORMALIZE] = 5,
    [LPT_RUN_QUANTIZE] = 1, [LPT_RUN_DEQUANTIZE] = 1, [LPT_RUN_WORDS] = 1, [LPT_RUN_SELECT] = 2, [LPT_RUN_NOT] = 1,
    [LPT_RUN_LEVELS] = 3, [LPT_RUN_INTERVALS] = 4, [LPT_RUN_FUNCTION] = 6, [LPT_RUN_REDUCE] = 0, [LPT_RUN_GELU] = 6, [LPT_RUN_RENAME] = 0,
    [LPT_RUN_WHOLE] = 2 };
  guint best = 0, most = 0, k;

  for (k = 0; k < m->n_runs; k++)
    {
      const LptRun *run = &m->runs[k];
      const guint weight = run->narrow ? 0 : run->op->node->op == LPT_OP_CONVERT ? 1 : weights[run->kind];

      if (weight > most)
        {
          best = k;
          most = weight;
        }
    }

  return m->runs[best].op;
}

/* Input @k is read tile by tile as the result is written, by the last run at the latest, which reads an element where
 * it writes it. */
static gboolean
may_overwrite (const LptRows         *p,
               guint                  k,
               const LptProgramValue *result)
{
  LptRunKind last = p->runs[p->n_runs - 1].run.kind;

  return (last == LPT_RUN_BINARY || last == LPT_RUN_MAP || last == LPT_RUN_FUNCTION || last == LPT_RUN_CLAMP ||
          last == LPT_RUN_LEVELS || last == LPT_RUN_GELU) &&
         lpt_storage_size (p->in[k].value->array.dtype) == lpt_storage_size (result->array.dtype) &&
         lpt_shape_equal (&p->in[k].value->array.shape, &result->array.shape);
}

void
lpt_prepare_rows (LptProgram         *program,
                  const LptRowsMatch *match)
{
  LptRows *p = g_new0 (LptRows, 1);
  g_autofree LptRowsMatch *m = g_new (LptRowsMatch, 1);
  LptProgramOp *last = match->runs[match->n_runs - 1].op, *main = main_op (match);
  LptProgramValue *result = last->out[0];
  const LptShape *own = &result->array.shape;
  const LptShape shape = match->layout == LPT_ROWS_LAST ? turned (own) : *own;
  LptOpForm form;
  guint k, n;

  for (k = 0; k < match->n_runs; k++)
    if (match->runs[k].op != main)
      lpt_program_fuse (match->runs[k].op, main, NULL);
  *m = *match;
  lpt_rows_join_gelus (m);
  p->kernels = program->kernels;
  p->result_size = lpt_storage_size (result->array.dtype);
  p->n_runs = m->n_runs;
  for (k = 0; k < m->n_runs; k++)
    {
      LptRunForm *run = &p->runs[k];

      run->run = m->runs[k];
      copy_quant (run);
      for (n = 0; n < run->run.n; n++)
        read_operand (p, m, &run->run, n, own, &run->in[n]);
    }
  lay_out (p, m, &shape);
  copy_levels (p, &shape);
  repeat_rows (p);
  place_registers (p, m);
  place_copies (p);
  for (k = 0; k < p->n_in; k++)
    p->in[k].overwritten = may_overwrite (p, k, result);
  form = (LptOpForm) { .run = lpt_rows_run, .clear = rows_clear, .params = p, .kernel = program->kernels.floats->name,
                       .tasks = p->tasks,
                       .workspace = (p->n_registers * p->tile_rows * p->tile_cols * sizeof (float) + 63) & ~(gsize) 63,
                       .n_in = p->n_in, .in = p->in, .out = result, .out_layout = layout_of (m, &result->array),
                       .last = last };
  lpt_program_set_form (main, &form);
}
