/* table.c - a function of codes by itself, as a table of 256 entries
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

/* Elements of a task. */
#define CHUNK 65536

typedef struct
{
  const LptEltwiseKernel *kernel;
  gsize  rows, cols;         /* one row, or pixels where there is a pitch */
  gsize  channels;
  guint8 table[256];
} Table;

static void
table_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Table *t = op->form.params;
  gsize at = task * CHUNK, row = at / t->cols;

  if (t->rows == 1)
    t->kernel->table (t->table, 1, MIN (end * CHUNK, t->cols) - at, data->in[0] + at, 0, data->out + at, 0);
  else
    t->kernel->table (t->table, MIN (end * CHUNK / t->cols, t->rows) - row, t->cols,
                      data->in[0] + row * op->form.in[0].value->pitch, op->form.in[0].value->pitch,
                      data->out + row * op->form.out->pitch, op->form.out->pitch);
}

static LptOpSpan
table_access (const LptProgramOp *op,
              gsize               task,
              guint               k)
{
  const Table *t = op->form.params;
  gsize at = task * CHUNK, row = at / t->cols;

  if (t->rows == 1)
    return lpt_span (at, MIN (at + CHUNK, t->cols), 1);

  return lpt_span_columns (row, MIN ((at + CHUNK) / t->cols, t->rows), 0, t->cols,
                           k == 0 ? op->form.in[0].value->pitch : op->form.out->pitch);
}

static void
table_bind (LptProgramOp *op)
{
  Table *t = op->form.params;

  if (op->form.in[0].layout != LPT_LAYOUT_CODES_PITCHED && op->form.out_layout != LPT_LAYOUT_CODES_PITCHED)
    return;
  t->rows = t->cols / t->channels;
  t->cols = t->channels;
}

gboolean
lpt_prepare_table (LptProgram   *program,
                   LptProgramOp *op)
{
  LptValueLayout layout = lpt_codes_layout (op->table->root);
  LptProgramOp *last = op;
  LptProgramValue *out;
  guint8 behind[256];
  guint k;
  Table *t;

  if (op->table->n_nodes == 1 && op->node->op == LPT_OP_REINTERPRET)
    return FALSE;      /* no more than another name */
  t = g_new0 (Table, 1);
  out = lpt_fused_tables (program, op, op->out[0], behind, &last);
  for (k = 0; k < 256; k++)
    t->table[k] = behind[op->table->codes[k]];
  t->kernel = program->kernels.eltwise;
  t->rows = 1;
  t->cols = lpt_program_count (out);
  t->channels = layout == LPT_LAYOUT_CODES_LAST ? (gsize) out->array.shape.dims[1] : 1;
  lpt_program_set_form (op, &(LptOpForm) { .run = table_run, .access = table_access, .bind = table_bind, .params = t,
                                             .kernel = "table_u8", .tasks = (lpt_program_count (out) + CHUNK - 1) / CHUNK, .n_in = 1,
                                             .in = LPT_OPERANDS ({ op->table->root, layout, .pitched = TRUE, .overwritten = TRUE }),
                                             .out = out, .out_layout = layout,
                                             .out_pitched = layout == LPT_LAYOUT_CODES_LAST, .last = last });

  return TRUE;
}
