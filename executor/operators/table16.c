/* table16.c - functions of one 16-bit code, as a table of 65,536 entries
 *
 * What the op's integer form makes of all codes is asked once, so it is exact in every mode; a Relu or Clamp, too. The
 * table has 128 KB, which the second cache holds.
 *
 * So few elements that the table would cost more than they do go through the op's own function.
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

  t->kernel->table (t->table, MIN (end * LPT_CODES16_TASK, t->count) - at,
                    (const guint16 *) (gconstpointer) data->in[0] + at, (guint16 *) (gpointer) data->out + at);
}

/* Few elements, in one task. */
static void
few_run (const LptProgramOp *op,
         const LptOpData    *data,
         gsize               task,
         gsize               end)
{
  LptIntArray x = op->form.in[0].value->array, y = op->form.out->array;

  x.data = data->in[0];
  y.data = data->out;
  lpt_int_op_run (op->integer, (const LptIntArray *const[]) { &x }, 1, &y);
}

static gboolean
has_16_bits (const LptArray *array)
{
  return array->dtype == LPT_DTYPE_I16 || array->dtype == LPT_DTYPE_U16;
}

/* Another operand is one constant, the same for all codes. */
static gboolean
is_function (const LptProgramOp *op)
{
  return op->n_in == 1 ||
         (op->n_in == 2 && op->in[1] != NULL && op->in[1]->kind == LPT_STORAGE_CONST &&
          lpt_program_count (op->in[1]) == 1);
}

/* The op on all codes. */
static Table *
table_new (const LptProgramOp *op)
{
  const LptShape all = { .rank = 1, .dims = { CODES } };
  g_autofree guint16 *codes = g_new (guint16, CODES);
  LptIntArray x = op->in[0]->array, y = op->out[0]->array;
  const LptIntArray *in[2] = { &x, op->n_in > 1 ? &op->in[1]->array : NULL };
  Table *t = g_new0 (Table, 1);
  guint q;

  for (q = 0; q < CODES; q++)
    codes[q] = (guint16) q;
  x.shape = y.shape = all;
  x.data = codes;
  y.data = t->table;
  lpt_int_op_run (op->integer, in, op->n_in, &y);

  return t;
}

gboolean
lpt_prepare_table16 (LptProgram   *program,
                     LptProgramOp *op)
{
  LptOpForm form = { .run = table_run, .tasks = 1, .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }),
                     .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED };
  Table *t;

  if ((op->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 || !has_16_bits (&op->in[0]->array) ||
      !has_16_bits (&op->out[0]->array))
    return FALSE;
  if (!is_function (op))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (!lpt_shape_is_static (&op->in[0]->array.shape) ||
      !lpt_shape_equal (&op->in[0]->array.shape, &op->out[0]->array.shape))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (lpt_program_count (op->out[0]) == 0)
    return FALSE;

  if (lpt_program_count (op->out[0]) < LEAST && op->n_in == 1)
    {
      form.run = few_run;
      form.kernel = "codes16_few";
    }
  else
    {
      form.params = t = table_new (op);
      t->kernel = program->kernels.codes16;
      t->count = lpt_program_count (op->out[0]);
      form.kernel = t->kernel->name;
      form.tasks = (t->count + LPT_CODES16_TASK - 1) / LPT_CODES16_TASK;
    }
  lpt_program_set_form (op, &form);

  return TRUE;
}
