/* reduce-lines.c - ReduceMean, ReduceSum, ReduceMax and ReduceMin of codes along axes that pools do not have
 *
 * Axes that are neighbours are one: elements before them, in them, behind them. Of others, tables tell where the lines
 * start, and where in a line its rows (or runs of elements, where the last axis is one) do. Extremes are those of the
 * codes; sums end in the epilogue of products where one multiplier makes codes of them, else in the op's own
 * function (pool.c). The channels alone are lines without gaps where they are last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-operators.h"

/* Columns of a unit, rows of one call of a kernel; codes that are worth a task. */
#define BLOCK 256
#define ROWS 64
#define CHUNK 32768
/* Their sum fits 32 bits. */
#define MAX_ELEMENTS (G_MAXINT32 / 256)
/* Entries of a table. */
#define MAX_PLACES (1 << 20)

typedef struct
{
  const LptPoolKernel     *kernel;
  const LptEpilogueKernel *epilogue_kernel;
  LptPoolScaling          *scaling;      /* NULL: the op's own end; of sums times 2^doublings */
  guint                    doublings;
  LptIntSums sums;
  gboolean   adds;
  guint8     flip;             /* 0xff: the least */
  gsize      outer, length, inner;
  gsize      run;              /* where inner is 1: elements of a line that follow each other */
  gsize     *starts, *rows;    /* of the lines, and of the rows or runs from there; NULL: they follow each other */
  gsize      blocks, per_task; /* of the columns; units of a task */
} Lines;

static gsize
start_of (const Lines *l,
          gsize        line)
{
  return l->starts != NULL ? l->starts[line] : line * l->length * l->inner;
}

/* Row @k of a line. */
static gsize
row_of (const Lines *l,
        gsize        k)
{
  return l->rows != NULL ? l->rows[k] : k * l->inner;
}

/* The sums of @n lines, @sums, as codes. */
static void
finish (const Lines *l,
        gsize        n,
        gint32      *sums,
        guint8      *out)
{
  gsize i;

  for (i = 0; l->doublings > 0 && i < n; i++)
    sums[i] <<= l->doublings;
  if (l->scaling != NULL)
    lpt_pool_scale_sums (l->scaling, l->epilogue_kernel, n, sums, out);
  else
    l->sums.finish (&l->sums, (gint64) l->length, (gint64) l->length, n, sums, out);
}

/* @n bytes, eight at a time: two sums of 16 bits for each of four pairs, which 128 steps do not fill. */
static gint32
sum_line (const guint8 *x,
          gsize         n)
{
  const guint64 even = 0x00ff00ff00ff00ff;
  gint32 sum = 0;
  gsize k = 0;

  while (k + 8 <= n)
    {
      const gsize end = MIN (n - 7, k + 8 * 128);
      guint64 pairs = 0, v;

      for (; k < end; k += 8)
        {
          memcpy (&v, x + k, sizeof v);
          pairs += (v & even) + (v >> 8 & even);
        }
      sum += (gint32) ((pairs & 0xffff) + (pairs >> 16 & 0xffff) + (pairs >> 32 & 0xffff) + (pairs >> 48));
    }
  for (; k < n; k++)
    sum += x[k];

  return sum;
}

static guint8
best_of_run (const guint8 *x,
             gsize         n,
             guint8        flip)
{
  guint8 best = 0;
  gsize k;

  for (k = 0; k < n; k++)
    best = MAX (best, x[k] ^ flip);

  return best;
}

/* @n lines of @x from @line on. */
static void
reduce_lines (const Lines  *l,
              const guint8 *x,
              gsize         line,
              gsize         n,
              guint8       *out)
{
  const gsize runs = l->length / l->run;
  gint32 sums[BLOCK];
  gsize i, j, k, m;

  for (i = 0; i < n; i += m)
    {
      m = MIN (BLOCK, n - i);
      for (j = 0; j < m; j++)
        {
          const guint8 *from = x + start_of (l, line + i + j);

          sums[j] = 0;
          for (k = 0; k < runs && l->adds; k++)
            sums[j] += sum_line (from + row_of (l, k), l->run);
          for (; k < runs; k++)
            sums[j] = MAX (sums[j], best_of_run (from + row_of (l, k), l->run, l->flip));
          if (!l->adds)
            out[i + j] = (guint8) sums[j] ^ l->flip;
        }
      if (l->adds)
        finish (l, m, sums, out + i);
    }
}

/* @cols <= BLOCK columns, some rows at a time. */
static void
reduce_columns (const Lines  *l,
                const guint8 *x,
                gsize         cols,
                guint8       *out)
{
  const guint8 *rows[ROWS];
  gint32 sums[BLOCK] = { 0 }, some[BLOCK];
  gsize k, n, i;

  for (k = 0; k < l->length; k += n)
    {
      /* The best of the rows before is one of the next. */
      const gsize first = !l->adds && k > 0;

      n = MIN (l->length - k, ROWS - first);
      rows[0] = out;
      for (i = 0; i < n; i++)
        rows[first + i] = x + row_of (l, k + i);
      if (!l->adds)
        {
          l->kernel->max (first + n, rows, cols, l->flip, out);
          continue;
        }
      l->kernel->sum (n, rows, cols, 0, some);
      for (i = 0; i < cols; i++)
        sums[i] += some[i];
    }
  if (l->adds)
    finish (l, cols, sums, out);
}

static void
lines_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Lines *l = op->form.params;
  gsize unit, last = MIN (end * l->per_task, l->outer * l->blocks);

  for (unit = task * l->per_task; unit < last; unit++)
    {
      const gsize line = unit / l->blocks, column = unit % l->blocks * BLOCK;

      if (l->inner == 1)
        {
          reduce_lines (l, data->in[0], line, last - unit, data->out + line);
          break;
        }
      reduce_columns (l, data->in[0] + start_of (l, line) + column, MIN (BLOCK, l->inner - column),
                      data->out + line * l->inner + column);
    }
}

gboolean
lpt_reduce_lengths (const LptShape *x,
                    const gboolean *set,
                    gsize           length[3])
{
  guint part = 0;
  gint axis;

  length[0] = length[1] = length[2] = 1;
  for (axis = 0; axis < x->rank; axis++)
    {
      if (x->dims[axis] == 1)
        continue;
      if (set[axis] != (part == 1) && ++part > 2)
        return FALSE;
      length[part] *= (gsize) x->dims[axis];
    }

  return TRUE;
}

/* Where each place along the axes before @but lies whose @set is @which. */
static gsize *
places (const LptShape *x,
        const gboolean *set,
        gboolean        which,
        gint            but,
        gsize          *n)
{
  gsize *table = g_new0 (gsize, 1), step = 1;
  gint axis;

  *n = 1;
  for (axis = x->rank - 1; axis >= 0; step *= (gsize) x->dims[axis--])
    {
      const gsize size = (gsize) x->dims[axis];
      gsize i;

      if (set[axis] != which || axis >= but)
        continue;
      table = g_renew (gsize, table, *n * size);
      for (i = *n; i < *n * size; i++)
        table[i] = table[i - *n] + step;
      *n *= size;
    }

  return table;
}

/* Axes that are no neighbours: the last of one kind are the columns or the runs. */
static gboolean
set_places (Lines          *l,
            const LptShape *x,
            const gboolean *set)
{
  gsize last = 1, n[2] = { 1, 1 };
  gint axis, but = x->rank;
  gboolean runs;

  while (x->dims[but - 1] == 1)
    but--;
  runs = set[but - 1];
  while (x->dims[but - 1] == 1 || set[but - 1] == runs)
    last *= (gsize) x->dims[--but];
  for (axis = 0; axis < but; axis++)
    n[set[axis] != 0] *= (gsize) x->dims[axis];
  if (MAX (n[0], n[1]) > MAX_PLACES)
    return FALSE;

  l->starts = places (x, set, FALSE, but, &l->outer);
  l->rows = places (x, set, TRUE, but, &l->length);
  l->inner = runs ? 1 : last;
  l->run = runs ? last : 1;
  l->length *= l->run;

  return TRUE;
}

static void
lines_clear (gpointer params)
{
  Lines *l = params;

  g_free (l->starts);
  g_free (l->rows);
  g_free (l->scaling);
}

/* The end of sums from @op's data to its result. A factor of half and more, which sums of few codes have, is one below
 * of a multiple of the sum: kernels round once by shifts of 32 bits and more. */
static void
set_end (Lines              *l,
         const LptProgramOp *op)
{
  const LptArray *y = &op->out[0]->array;
  gint32 bias = -(gint32) l->length * lpt_program_zero (op->in[0]);
  LptMultiplier m;

  lpt_int_reduce_sums (op->integer, &l->sums);
  l->sums.offset_in = lpt_program_offset (op->in[0]->array.dtype);
  l->sums.offset_out = lpt_program_offset (y->dtype);
  if (!l->sums.rescales)
    return;
  m = l->sums.multiplier (l->sums.op, (gint64) l->length);
  if (m.rounding == LPT_REQUANT_SINGLE && m.s >= 0 && m.s < 8 && l->length <= (gsize) MAX_ELEMENTS >> (m.s + 1))
    {
      l->doublings = (guint) m.s + 1;
      bias *= 1 << l->doublings;
      m.s = -1;
    }
  l->scaling = g_new0 (LptPoolScaling, 1);
  l->scaling->e = (LptEpilogue) { .scheme = (LptRequantScheme) m.rounding, .zp = lpt_program_zero (op->out[0]),
                                  .lo = (gint32) lpt_dtype_min (y->dtype) + l->sums.offset_out,
                                  .hi = (gint32) lpt_dtype_max (y->dtype) + l->sums.offset_out };
  lpt_pool_set_scaling (l->scaling, bias, m.m, m.s, m.f);
}

/* The channels of every pixel, which are last. */
static gboolean
are_channels (const LptProgramValue *value,
              const gboolean        *set)
{
  const LptShape *x = &value->array.shape;
  gint axis;

  if (x->rank < 3 || lpt_codes_layout (value) != LPT_LAYOUT_CODES_LAST)
    return FALSE;
  for (axis = 0; axis < x->rank; axis++)
    if (set[axis] != (axis == 1))
      return FALSE;

  return TRUE;
}

gboolean
lpt_prepare_reduce_lines (LptProgram   *program,
                          LptProgramOp *op)
{
  LptProgramValue *in = op->in[0], *out = op->out[0];
  const gboolean *set = lpt_int_reduce_axes (op->integer);
  const gboolean adds = (op->node->info->flags & LPT_OP_F_MONOTONE) == 0;
  LptValueLayout layout = LPT_LAYOUT_CODES;
  Lines l = { .kernel = program->kernels.pool, .epilogue_kernel = program->kernels.epilogue, .adds = adds };
  gsize length[3], units;

  if (in == NULL || !lpt_program_is_codes (in) || !lpt_program_is_codes (out))
    return lpt_refuse (op, lpt_remark_of_codes (in, out));
  if (in->kind == LPT_STORAGE_CONST || lpt_program_count (in) == 0)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!adds && !lpt_array_keeps_codes (&out->array, &in->array))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  if (are_channels (in, set))
    {
      layout = LPT_LAYOUT_CODES_LAST;
      l.length = (gsize) in->array.shape.dims[1];
      l.outer = lpt_program_count (in) / l.length;
      l.inner = 1;
    }
  else if (lpt_reduce_lengths (&in->array.shape, set, length))
    {
      l.outer = length[0];
      l.length = length[1];
      l.inner = length[2];
    }
  else if (!set_places (&l, &in->array.shape, set))
    return lpt_refuse (op, LPT_REMARK_RANGE);
  if (l.length > MAX_ELEMENTS)
    {
      lines_clear (&l);
      return lpt_refuse (op, LPT_REMARK_RANGE);
    }
  l.run = l.rows != NULL ? l.run : l.length;

  if (adds)
    set_end (&l, op);
  l.flip = op->node->op == LPT_OP_REDUCE_MIN ? 0xff : 0;
  l.blocks = (l.inner + BLOCK - 1) / BLOCK;
  l.per_task = MAX (CHUNK / (l.length * MIN (l.inner, BLOCK)), 1);
  units = l.outer * l.blocks;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = lines_run, .clear = lines_clear, .params = g_memdup2 (&l, sizeof l), .kernel = "reduce_u8",
    .tasks = (units + l.per_task - 1) / l.per_task,
    .n_in = 1, .in = LPT_OPERANDS ({ in, layout }), .out = out, .out_layout = LPT_LAYOUT_CODES });

  return TRUE;
}
