/* reduce-lines.c - ReduceMean, ReduceSum, ReduceMax and ReduceMin of codes along axes that pools do not have
 *
 * Axes that are neighbours are one: elements before them, in them, behind them. Extremes are those of the codes; sums
 * end in the op's own function (pool.c). The channels alone are lines without gaps where they are last.
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

typedef struct
{
  const LptPoolKernel *kernel;
  LptIntSums sums;
  gboolean   adds;
  guint8     flip;             /* 0xff: the least */
  gsize      outer, length, inner;
  gsize      blocks, per_task; /* of the columns; units of a task */
} Lines;

/* The sums of @n lines, @sums, as codes. */
static void
finish (const Lines  *l,
        gsize         n,
        const gint32 *sums,
        guint8       *out)
{
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
best_of_line (const guint8 *x,
              gsize         n,
              guint8        flip)
{
  guint8 best = 0;
  gsize k;

  for (k = 0; k < n; k++)
    best = MAX (best, x[k] ^ flip);

  return best ^ flip;
}

/* @n lines that follow each other. */
static void
reduce_lines (const Lines  *l,
              const guint8 *x,
              gsize         n,
              guint8       *out)
{
  gint32 sums[BLOCK];
  gsize i, k, m;

  for (i = 0; i < n && !l->adds; i++)
    out[i] = best_of_line (x + i * l->length, l->length, l->flip);
  for (i = 0; i < n && l->adds; i += m)
    {
      m = MIN (BLOCK, n - i);
      for (k = 0; k < m; k++)
        sums[k] = sum_line (x + (i + k) * l->length, l->length);
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
        rows[first + i] = x + (k + i) * l->inner;
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
      const guint8 *x = data->in[0] + line * l->length * l->inner + column;

      if (l->inner == 1)
        {
          reduce_lines (l, x, last - unit, data->out + line);
          break;
        }
      reduce_columns (l, x, MIN (BLOCK, l->inner - column), data->out + line * l->inner + column);
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
  Lines l = { .kernel = program->kernels.pool, .adds = adds };
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
  else if (!lpt_reduce_lengths (&in->array.shape, set, length))
    return lpt_refuse (op, LPT_REMARK_AXES);
  else
    {
      l.outer = length[0];
      l.length = length[1];
      l.inner = length[2];
    }
  if (l.length > MAX_ELEMENTS)
    return lpt_refuse (op, LPT_REMARK_RANGE);

  if (adds)
    lpt_int_reduce_sums (op->integer, &l.sums);
  l.flip = op->node->op == LPT_OP_REDUCE_MIN ? 0xff : 0;
  l.sums.offset_in = lpt_program_offset (in->array.dtype);
  l.sums.offset_out = lpt_program_offset (out->array.dtype);
  l.blocks = (l.inner + BLOCK - 1) / BLOCK;
  l.per_task = MAX (CHUNK / (l.length * MIN (l.inner, BLOCK)), 1);
  units = l.outer * l.blocks;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = lines_run, .params = g_memdup2 (&l, sizeof l), .kernel = "reduce_u8", .tasks = (units + l.per_task - 1) / l.per_task,
    .n_in = 1, .in = LPT_OPERANDS ({ in, layout }), .out = out, .out_layout = LPT_LAYOUT_CODES });

  return TRUE;
}
