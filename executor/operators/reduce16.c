/* reduce16.c - means, sums and extremes of 16-bit codes along neighbouring axes
 *
 * Lines of a column are added up or compared, or a line by itself; ends of sums are the op's own function, those of
 * extremes its rescaling. Exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/codes16.h"

#define BLOCK LPT_CODES16_BLOCK
/* Lines of a column whose sum fits 32 bits. */
#define MAX_LINES 32768

typedef struct
{
  const LptCodes16Kernel *kernel;
  const LptIntOp *op;
  LptTake16  take;
  LptIntSums sums;
  LptScale16 scale;                    /* of extremes */
  LptCodes16 from, to;
  LptIntArray out;                     /* without data */
  gsize      outer, length, inner;
  gsize      blocks, per_task;         /* of the columns; units of a task */
} Reduce;

/* A line without gaps. */
static gint64
reduce_line (const Reduce *r,
             const gint16 *x,
             gint32       *block)
{
  gint64 all = 0;
  gsize k, n;

  for (k = 0; k < r->length; k += n)
    {
      gint32 some;

      n = MIN (r->length - k, BLOCK);
      r->kernel->load (&r->from, n, x + k, block);
      some = r->kernel->total (r->take, n, block);
      if (r->take == LPT_TAKE16_SUM)
        all += some;
      else
        all = k == 0 || (r->take == LPT_TAKE16_MOST) == (some > all) ? some : all;
    }

  return all;
}

/* @n columns. */
static void
reduce_columns (const Reduce *r,
                const gint16 *x,
                gsize         n,
                gint32       *block,
                gint32       *other)
{
  gsize k;

  r->kernel->load (&r->from, n, x, block);
  for (k = 1; k < r->length; k++)
    {
      r->kernel->load (&r->from, n, x + k * r->inner, other);
      r->kernel->take (r->take, n, block, other);
    }
}

/* @n results of @block, from element @at of the output on. */
static void
end_block (const Reduce *r,
           gsize         n,
           gint32       *block,
           guint8       *data,
           gsize         at)
{
  LptIntArray out = r->out;
  gint64 sums[64];
  gsize i, k, m;

  if (r->take != LPT_TAKE16_SUM)
    {
      r->kernel->rescale (&r->scale, n, block);
      r->kernel->store (&r->to, n, block, data + at * sizeof (gint16));
      return;
    }
  out.data = data;
  for (i = 0; i < n; i += m)
    {
      m = MIN (n - i, G_N_ELEMENTS (sums));
      for (k = 0; k < m; k++)
        sums[k] = block[i + k];
      r->sums.finish_wide (&r->sums, (gint64) r->length, m, sums, &out, (gint64) (at + i));
    }
}

static void
reduce_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Reduce *r = op->form.params;
  gint32 *block = (gint32 *) (gpointer) data->workspace;
  gsize unit, last = MIN (end * r->per_task, r->outer * r->blocks);
  LptIntArray out = r->out;

  out.data = data->out;
  for (unit = task * r->per_task; unit < last; unit++)
    {
      const gsize line = unit / r->blocks, column = unit % r->blocks * BLOCK, n = MIN (BLOCK, r->inner - column);
      const gint16 *x = (const gint16 *) (gconstpointer) data->in[0] + line * r->length * r->inner + column;
      gint64 sum;

      if (r->inner > 1)
        {
          reduce_columns (r, x, n, block, block + BLOCK);
          end_block (r, n, block, data->out, line * r->inner + column);
          continue;
        }
      sum = reduce_line (r, x, block);
      block[0] = (gint32) sum;
      if (r->take == LPT_TAKE16_SUM)
        r->sums.finish_wide (&r->sums, (gint64) r->length, 1, &sum, &out, (gint64) line);
      else
        end_block (r, 1, block, data->out, line);
    }
}

gboolean
lpt_prepare_reduce16 (LptProgram   *program,
                      LptProgramOp *op)
{
  const gboolean adds = (op->node->info->flags & LPT_OP_F_MONOTONE) == 0;
  Reduce r = { .kernel = program->kernels.codes16, .op = op->integer, .take = LPT_TAKE16_SUM };
  gsize length[3], units;

  if (!lpt_codes16_match (op, op->in[0], op->out[0], &r.from, &r.to))
    return FALSE;
  if (op->in[0]->array.dtype != op->out[0]->array.dtype)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!lpt_reduce_lengths (&op->in[0]->array.shape, lpt_int_reduce_axes (op->integer), length))
    return lpt_refuse (op, LPT_REMARK_AXES);
  if (length[2] > 1 && length[1] > MAX_LINES)
    return lpt_refuse (op, LPT_REMARK_RANGE);
  if (adds)
    {
      lpt_int_reduce_sums (op->integer, &r.sums);
      r.from.zero = 0;          /* sums are those of the codes */
    }
  else if (!lpt_scale16_of (lpt_int_reduce_rescale (op->integer), &r.to, &r.scale))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  else
    r.take = op->node->op == LPT_OP_REDUCE_MIN ? LPT_TAKE16_LEAST : LPT_TAKE16_MOST;

  r.out = op->out[0]->array;
  r.outer = length[0];
  r.length = length[1];
  r.inner = length[2];
  r.blocks = (r.inner + BLOCK - 1) / BLOCK;
  r.per_task = MAX (LPT_CODES16_TASK / (r.length * MIN (r.inner, BLOCK)), 1);
  units = r.outer * r.blocks;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = reduce_run, .params = g_memdup2 (&r, sizeof r), .kernel = r.kernel->name,
    .tasks = (units + r.per_task - 1) / r.per_task, .workspace = 2 * BLOCK * sizeof (gint32), .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
