/* table16.c - functions of one 16-bit code, as a table of 65,536 entries
 *
 * What the op's integer form makes of all codes is asked once, so it is exact in every mode; a Relu or Clamp, too. The
 * table has 128 KB, which the second cache holds.
 *
 * Not: so few elements that the table would cost more than they do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/codes16.h"

#define CODES 65536
/* The fewest elements that are worth a table. */
#define LEAST 1024

typedef struct
{
  const LptCodes16Kernel *kernel;
  gsize   count;
  guint16 table[CODES];      /* by the bits of a code */
} Table;

static void
table_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Table *t = op->form.params;
  const gsize at = task * LPT_CODES16_TASK;

  t->kernel->table (t->table, MIN (end * LPT_CODES16_TASK, t->count) - at, (const guint16 *) (gconstpointer) data->in[0] + at,
                    (guint16 *) (gpointer) data->out + at);
}

static gboolean
has_16_bits (const LptArray *array)
{
  return array->dtype == LPT_DTYPE_I16 || array->dtype == LPT_DTYPE_U16;
}

/* Other operands are one constant each, the same for all codes. */
static gboolean
is_function (const LptProgramOp *op)
{
  guint k;

  for (k = 1; k < op->n_in; k++)
    if (op->in[k] != NULL && (op->in[k]->kind != LPT_STORAGE_CONST || lpt_program_count (op->in[k]) != 1))
      return FALSE;

  return TRUE;
}

gboolean
lpt_prepare_table16 (LptProgram   *program,
                     LptProgramOp *op)
{
  const LptShape all = { .rank = 1, .dims = { CODES } };
  g_autofree const LptIntArray **in = g_new0 (const LptIntArray *, op->n_in + 1);
  g_autofree guint16 *codes = NULL;
  LptIntArray x, y;
  Table *t;
  guint k, q;

  if ((op->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 || op->in[0] == NULL || !has_16_bits (&op->in[0]->array) ||
      !has_16_bits (&op->out[0]->array))
    return FALSE;
  if (!is_function (op))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (!lpt_shape_is_static (&op->in[0]->array.shape) ||
      !lpt_shape_equal (&op->in[0]->array.shape, &op->out[0]->array.shape))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (lpt_program_count (op->out[0]) < LEAST)
    return FALSE;

  codes = g_new (guint16, CODES);
  for (q = 0; q < CODES; q++)
    codes[q] = (guint16) q;
  t = g_new0 (Table, 1);
  x = op->in[0]->array;
  y = op->out[0]->array;
  x.shape = y.shape = all;
  x.data = codes;
  y.data = t->table;
  in[0] = &x;
  for (k = 1; k < op->n_in; k++)
    in[k] = op->in[k] != NULL ? &op->in[k]->array : NULL;
  lpt_int_op_run (op->integer, in, op->n_in, &y);
  t->kernel = program->kernels.codes16;
  t->count = lpt_program_count (op->out[0]);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = table_run, .params = t, .kernel = t->kernel->name,
    .tasks = (t->count + LPT_CODES16_TASK - 1) / LPT_CODES16_TASK, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
