/* code-rows.c - elementwise ops on two values of codes of any integer types, by the rows of the op itself
 *
 * What kernels and tables do not have: int32 sums beside codes of bytes, 16-bit codes in other roundings, operands that
 * repeat along some axes. Tasks share the pieces of the op's own loop (eval/integer/lpt-int-pairs.h), so it is exact in
 * every requantization mode.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-pairs.h"
#include "executor/operators/lpt-operators.h"

/* Elements of a task. */
#define TASK 16384

typedef struct
{
  LptIntPairs pairs;
  gint64      per_task;
} Rows;

static void
rows_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Rows *r = op->form.params;
  const gint64 last = MIN ((gint64) end * r->per_task, r->pairs.count);
  LptIntArray in[2] = { op->in[0]->array, op->in[1]->array }, out = op->out[0]->array;
  gint64 piece;

  in[0].data = data->in[0];
  in[1].data = data->in[1];
  out.data = data->out;
  for (piece = (gint64) task * r->per_task; piece < last; piece++)
    lpt_int_pairs_piece (&r->pairs, op->integer, (const LptIntArray *const[]) { &in[0], &in[1] }, &out, piece);
}

gboolean
lpt_prepare_code_rows (LptProgram   *program,
                       LptProgramOp *op)
{
  Rows r;

  if (op->integer->row == NULL || op->n_in != 2)
    return FALSE;
  if (!lpt_shape_is_static (&op->out[0]->array.shape) ||
      !lpt_int_pairs_init (&r.pairs, LPT_INT_PIECE, &op->in[0]->array.shape, &op->in[1]->array.shape,
                           &op->out[0]->array.shape) ||
      r.pairs.count == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  r.per_task = MAX (TASK / MIN (r.pairs.loop.inner, LPT_INT_PIECE), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = rows_run, .params = g_memdup2 (&r, sizeof r), .kernel = "code_rows",
    .tasks = (gsize) ((r.pairs.count + r.per_task - 1) / r.per_task), .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }, { op->in[1], LPT_LAYOUT_TYPED }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
