/* reduce-lines.c - ReduceMean, ReduceSum, ReduceMax and ReduceMin of codes along axes that pools do not have
 *
 * Axes that are neighbours are one: elements before them, in them, behind them. Extremes are those of the codes; sums
 * end in the op's own function (pool.c). The channels alone are lines without gaps where they are last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

/* Columns of a unit; codes that are worth a task. */
#define BLOCK 256
#define CHUNK 32768
/* Their sum fits 32 bits. */
#define MAX_ELEMENTS (G_MAXINT32 / 256)

typedef struct
{
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

static void
reduce_line (const Lines  *l,
             const guint8 *x,
             guint8       *out)
{
  guint8 best = 0;
  gint32 sum = 0;
  gsize k;

  if (l->adds)
    {
      for (k = 0; k < l->length; k++)
        sum += x[k];
      finish (l, 1, &sum, out);
      return;
    }
  for (k = 0; k < l->length; k++)
    best = MAX (best, x[k] ^ l->flip);
  *out = best ^ l->flip;
}

static void
reduce_columns (const Lines  *l,
                const guint8 *x,
                gsize         cols,
                guint8       *out)
{
  gint32 sums[BLOCK];
  guint8 best[BLOCK];
  gsize k, c;

  for (c = 0; c < cols; c++)
    {
      sums[c] = 0;
      best[c] = 0;
    }
  for (k = 0; k < l->length; k++, x += l->inner)
    if (l->adds)
      for (c = 0; c < cols; c++)
        sums[c] += x[c];
    else
      for (c = 0; c < cols; c++)
        best[c] = MAX (best[c], x[c] ^ l->flip);
  if (l->adds)
    finish (l, cols, sums, out);
  else
    for (c = 0; c < cols; c++)
      out[c] = best[c] ^ l->flip;
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
        reduce_line (l, x, data->out + line);
      else
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
  Lines l = { .adds = adds };
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
