/* integer-softmax.c - Softmax and LogSoftmax of 8-bit codes along any axis
 *
 * In float32: exponentials come from a table by the distance to the greatest code; several rows side by side, each
 * summed from its first element to its last as the plain op does it. Where the axis is not the last one, a block of
 * rows is neighbours in memory.
 * In fixed point what is computed is each element of a row, or each distance and a table from codes to results,
 * whichever is less. Rows of two (yes and no, figure and ground) have one distance, and both results come from a table
 * by it. Other rules run row by row as the plain op does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/lpt-operators.h"
#include "eval/integer/lpt-int-softmax.h"
#include "ir/scalar/lpt-loop.h"

/* Rows side by side: along the last axis, and along others. */
#define LINES 8
#define COLUMNS 64
/* Elements of a block, and of all blocks of a task. */
#define BLOCK 16384
#define TASK 32768

typedef struct
{
  LptIntSoftmaxRule rule;
  LptKernels   kernels;
  LptIntArray  x, y;                 /* without data */
  const LptIntOp *op;
  gsize        outer, n, inner;
  gsize        block;                /* rows side by side */
  gsize        blocks, blocks_per_task;
  guint8       flip;                 /* from the type to the u8 form */
  float        scale;                /* of the results */
  gboolean     is_pairs;
  guint8       pairs[2][256];        /* of rows of two: results of the greater and the lesser, by their distance */
} Softmax;

/* Where element 0 of a row begins; rows lie @line apart, elements of one @step apart. */
typedef struct
{
  gsize at, rows, line, step;
} Block;

static Block
block_at (const Softmax *p,
          gsize          index)
{
  gsize per_outer, column;

  if (p->inner == 1)
    return (Block) { index * p->block * p->n, MIN (p->block, p->outer - index * p->block), p->n, 1 };
  per_outer = (p->inner + p->block - 1) / p->block;
  column = index % per_outer * p->block;

  return (Block) { index / per_outer * p->n * p->inner + column, MIN (p->block, p->inner - column), 1, p->inner };
}

/* Exponentials into @values, row by row or element by element as they lie in memory, and what rows share: their sums, a
 * factor, or what is subtracted from logarithms. */
static void
gather (const Softmax *p,
        const Block   *b,
        const guint8  *x,
        float         *values,
        float         *shared)
{
  const float *exps = p->rule.exps, *scaled = p->rule.scaled;
  gsize line = b->line == 1 ? 1 : p->n, step = b->line == 1 ? b->rows : 1, i, r;
  guint8 greatest[COLUMNS];

  for (r = 0; r < b->rows; r++)
    {
      greatest[r] = 0;
      shared[r] = 0;
    }
  for (i = 0; i < p->n; i++)
    for (r = 0; r < b->rows; r++)
      greatest[r] = MAX (greatest[r], x[r * b->line + i * b->step] ^ p->flip);
  for (i = 0; i < p->n; i++)
    for (r = 0; r < b->rows; r++)
      {
        guint8 q = x[r * b->line + i * b->step] ^ p->flip;
        float e = exps[greatest[r] - q];

        shared[r] += e;
        values[r * line + i * step] = p->rule.logarithm ? scaled[q] : e;
      }
  for (r = 0; r < b->rows && p->rule.logarithm; r++)
    shared[r] = scaled[greatest[r]] + logf (shared[r]);
  for (r = 0; r < b->rows && p->rule.litert; r++)
    shared[r] = 1.0f / (shared[r] * (float) p->rule.y.scale);
}

static void
run_block (const Softmax *p,
           const Block   *b,
           const guint8  *x,
           guint8        *y,
           float         *values)
{
  const LptFloatBinary ends = p->rule.logarithm ? LPT_BINARY_SUBTRACT : p->rule.litert ? LPT_BINARY_MULTIPLY
                                                                                       : LPT_BINARY_DIVIDE;
  const LptFloatKernel *floats = p->kernels.floats;
  const gint32 zero = p->rule.y.zero;
  LptQuantize quantize = { .form = p->rule.litert ? LPT_QUANTIZE_AWAY : LPT_QUANTIZE_DIVIDE, .lo = p->rule.y.lo,
                           .hi = p->rule.y.hi, .scale = &p->scale, .zp = &zero };
  gboolean neighbours = b->line == 1;
  gsize rows = neighbours ? p->n : b->rows, cols = neighbours ? b->rows : p->n, i;
  float shared[COLUMNS];

  gather (p, b, x + b->at, values, shared);
  for (i = 0; i < rows; i++)
    floats->binary (ends, cols, values + i * cols, 1, neighbours ? shared : &shared[i], neighbours, values + i * cols);
  p->kernels.eltwise->quantize (&quantize, rows, cols, values, cols * sizeof (float), y + b->at,
                                neighbours ? b->step : b->line);
}

/* The sum of @values by @greatest less the code. */
static inline gint64
sum_row (const guint8 *x,
         gsize         n,
         guint8        flip,
         const gint32 *values,
         guint8        greatest)
{
  gint64 sum[4] = { 0 };
  gsize i;

  for (i = 0; i + 4 <= n; i += 4)
    {
      sum[0] += values[greatest - (x[i] ^ flip)];
      sum[1] += values[greatest - (x[i + 1] ^ flip)];
      sum[2] += values[greatest - (x[i + 2] ^ flip)];
      sum[3] += values[greatest - (x[i + 3] ^ flip)];
    }
  for (; i < n; i++)
    sum[0] += values[greatest - (x[i] ^ flip)];

  return sum[0] + sum[1] + sum[2] + sum[3];
}

/* A row of fewer elements than distances: @codes of each. */
static void
run_few (const Softmax   *p,
         const LptShares *shares,
         const guint8    *from,
         guint8           greatest,
         guint8          *codes)
{
  gint32 exps[256];
  gsize i;

  for (i = 0; i < p->n; i++)
    exps[i] = p->rule.fixed[greatest - (from[i] ^ p->flip)];
  p->kernels.eltwise->shares (shares, p->n, exps, codes);
}

/* Results by codes of a row that lie within @reach below @greatest. */
static void
fill_table (const Softmax   *p,
            const LptShares *shares,
            gint64           sum,
            guint8           greatest,
            gint             reach,
            guint8          *table)
{
  guint8 codes[256];
  gint d;

  if (shares != NULL)
    p->kernels.eltwise->shares (shares, (gsize) reach + 1, p->rule.fixed, codes);
  else
    lpt_int_softmax_codes (p->op, sum, reach, codes);
  for (d = 0; d <= reach; d++)
    table[(guint8) (greatest - d) ^ p->flip] = codes[d];
}

/* In fixed point, one row after the other; @row has room for one. */
static void
run_fixed (const Softmax *p,
           const Block   *b,
           const guint8  *x,
           guint8        *y,
           guint8        *row)
{
  const gboolean apart = b->step != 1;
  guint8 table[256];
  gsize r, i;

  for (r = 0; r < b->rows; r++)
    {
      const guint8 *from = x + b->at + r * b->line;
      guint8 *to = y + b->at + r * b->line, *codes = apart ? row : to, greatest, least;
      LptShares shares;
      gboolean plain;
      gint64 sum;

      for (i = 0; i < p->n && apart; i++)
        row[i] = from[i * b->step];
      from = apart ? row : from;
      p->kernels.eltwise->ends (p->n, from, p->flip, &least, &greatest);
      sum = sum_row (from, p->n, p->flip, p->rule.rounded, greatest);
      plain = lpt_int_softmax_shares (p->op, sum, &shares);
      if (plain && p->n <= (gsize) (greatest - least))
        run_few (p, &shares, from, greatest, codes);
      else
        {
          fill_table (p, plain ? &shares : NULL, sum, greatest, greatest - least, table);
          p->kernels.eltwise->table (table, 1, p->n, from, 0, codes, 0);
        }
      for (i = 0; i < p->n && apart; i++)
        to[i * b->step] = row[i];
    }
}

/* Results of rows of two for each distance. */
static void
make_pairs (Softmax *p)
{
  Softmax one = *p;
  guint8 x[512], y[512];
  float values[2 * LINES];
  guint d;

  one.inner = 1;
  for (d = 0; d < 256; d++)
    {
      x[2 * d] = 255 ^ p->flip;
      x[2 * d + 1] = (guint8) (255 - d) ^ p->flip;
    }
  for (d = 0; d < 256; d += LINES)
    {
      const Block b = { 2 * d, LINES, 2, 1 };

      if (p->rule.exps != NULL)
        run_block (&one, &b, x, y, values);
      else
        run_fixed (&one, &b, x, y, NULL);
    }
  for (d = 0; d < 256; d++)
    {
      p->pairs[0][d] = y[2 * d];
      p->pairs[1][d] = y[2 * d + 1];
    }
  p->is_pairs = TRUE;
}

static void
run_pairs (const Softmax *p,
           const Block   *b,
           const guint8  *x,
           guint8        *y)
{
  gsize r, at = b->at;

  for (r = 0; r < b->rows; r++, at += b->line)
    {
      const guint8 u = x[at] ^ p->flip, v = x[at + b->step] ^ p->flip;
      const guint8 distance = u > v ? u - v : v - u;

      y[at] = p->pairs[u < v][distance];
      y[at + b->step] = p->pairs[u > v][distance];
    }
}

static void
softmax_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const Softmax *p = op->form.params;
  gsize index, last = MIN (end * p->blocks_per_task, p->blocks);

  for (index = task * p->blocks_per_task; index < last; index++)
    {
      Block b = block_at (p, index);

      if (p->is_pairs)
        run_pairs (p, &b, data->in[0], data->out);
      else if (p->rule.exps != NULL)
        run_block (p, &b, data->in[0], data->out, (float *) (gpointer) data->workspace);
      else if (p->rule.rounded != NULL)
        run_fixed (p, &b, data->in[0], data->out, (guint8 *) data->workspace);
      else
        {
          LptIntArray x = p->x, y = p->y;
          gsize row = p->inner == 1 ? index * p->block : b.at / p->inner / p->n * p->inner + b.at % p->inner;

          x.data = data->in[0];
          y.data = data->out;
          lpt_int_softmax_rows (p->op, &x, &y, (gint64) row, (gint64) (row + b.rows));
        }
    }
}

gboolean
lpt_prepare_integer_softmax (LptProgram   *program,
                             LptProgramOp *op)
{
  gsize per_outer, room;
  Softmax *p;
  gint axis;

  if (!lpt_program_is_codes (op->in[0]) || !lpt_program_is_codes (op->out[0]) || op->in[0]->kind == LPT_STORAGE_CONST ||
      lpt_program_count (op->in[0]) == 0)
    return FALSE;
  p = g_new0 (Softmax, 1);
  lpt_int_softmax_rule (op->integer, &p->rule);
  if (op->in[0]->array.shape.rank == 0 ||
      !lpt_axis_normalize (p->rule.axis, op->in[0]->array.shape.rank, &axis))
    {
      g_free (p);
      return FALSE;
    }
  if (p->rule.logarithm)
    p->rule.rounded = NULL;
  p->op = op->integer;
  p->kernels = program->kernels;
  p->x = op->in[0]->array;
  p->y = op->out[0]->array;
  p->outer = (gsize) lpt_dims_product (&p->x.shape, 0, axis);
  p->n = (gsize) p->x.shape.dims[axis];
  p->inner = (gsize) lpt_dims_product (&p->x.shape, axis + 1, p->x.shape.rank);
  p->flip = p->x.dtype == LPT_DTYPE_I8 ? 0x80 : 0;
  p->scale = p->rule.litert ? 1.0f : (float) p->rule.y.scale;
  p->block = MIN (MAX (BLOCK / p->n, 1), p->inner == 1 ? LINES : COLUMNS);
  if (p->n == 2 && !p->rule.logarithm && (p->rule.exps != NULL || p->rule.rounded != NULL))
    make_pairs (p);
  per_outer = (p->inner + p->block - 1) / p->block;
  p->blocks = p->inner == 1 ? (p->outer + p->block - 1) / p->block : p->outer * per_outer;
  p->blocks_per_task = MAX (TASK / (p->block * p->n), 1);
  room = p->rule.exps != NULL ? p->block * p->n * sizeof (float) : p->rule.rounded != NULL && p->inner > 1 ? p->n : 0;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = softmax_run, .params = p, .kernel = p->rule.exps != NULL ? program->kernels.floats->name : "softmax_q31",
    .tasks = (p->blocks + p->blocks_per_task - 1) / p->blocks_per_task,
    .workspace = (room + 63) & ~(gsize) 63, .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
