/* prepare-forms.c - forms for the ops that kernels do, by the rows of operators.def
 *
 * Kernels take data that somebody computes. Where they are constant and another input is not (the first layer of a
 * generator, whose weights a style scales), they are copied when the program runs, in front of the op.
 *
 * Two passes that read the same rows: prepare-products, so that fuse-epilogues finds them; behind fuse-rows the rest,
 * in order, so that an op sees in which layout its inputs had better be read. What is left is reference ops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-operators.h"
#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/storage/lpt-tensor-pages.h"

typedef enum { ROW_CODES, ROW_REAL, ROW_OTHER } RowArithmetic;
typedef enum { ROW_REST, ROW_ANY, ROW_PRODUCT } RowFlags;

typedef struct
{
  RowArithmetic arithmetic;
  LptOp         op;
  LptOpPrepare  prepare;
  RowFlags      flags;
} Row;

static const Row rows[] =
{
#define LPT_OPERATOR(arithmetic, op, prepare, flags) { ROW_##arithmetic, LPT_OP_##op, prepare, ROW_##flags },
#include "executor/operators/operators.def"
#undef LPT_OPERATOR
};

static RowArithmetic
arithmetic_of (const LptProgramOp *op)
{
  if (op->integer != NULL)
    return ROW_CODES;

  return lpt_program_is_real (op->n_in > 0 ? op->in[0] : NULL) ? ROW_REAL : ROW_OTHER;
}

static gboolean
is_row_of (const Row          *row,
           const LptProgramOp *op)
{
  return row->op == op->node->op && row->arithmetic == arithmetic_of (op);
}

static gboolean
is_product (const LptProgramOp *op)
{
  guint k;

  for (k = 0; k < G_N_ELEMENTS (rows); k++)
    if (is_row_of (&rows[k], op))
      return rows[k].flags == ROW_PRODUCT;

  return FALSE;
}

/* By the first row that takes it, of those with @flags at least. */
static gboolean
prepare_by_row (LptProgram   *program,
                LptProgramOp *op,
                RowFlags      flags)
{
  guint k;

  for (k = 0; k < G_N_ELEMENTS (rows); k++)
    if (rows[k].flags >= flags && is_row_of (&rows[k], op) && rows[k].prepare (program, op))
      return TRUE;

  return FALSE;
}

/* Nobody reads its outputs from @from on. */
static gboolean
is_unread (const LptProgramOp *op,
           guint               from)
{
  for (; from < op->n_out; from++)
    if (lpt_program_n_uses (op->out[from]) > 0)
      return FALSE;

  return TRUE;
}

static gboolean
prepare (LptProgram   *program,
         LptProgramOp *op)
{
  const gboolean moves = (op->row->flags & LPT_EXEC_MOVES) != 0;

  if (op->table != NULL)
    return lpt_prepare_table (program, op);
  if (op->integer == NULL)
    return prepare_by_row (program, op, ROW_ANY) || lpt_prepare_words (program, op) ||
           (moves && ((arithmetic_of (op) == ROW_REAL && lpt_prepare_float_move (program, op)) ||
                      lpt_prepare_move (program, op))) ||
           (moves && prepare_by_row (program, op, ROW_REST));
  if (op->n_out != 1 && (op->node->op != LPT_OP_MAX_POOL || !is_unread (op, 1)))
    return lpt_refuse (op, LPT_REMARK_OUTPUTS);

  return prepare_by_row (program, op, ROW_ANY) || lpt_prepare_table16 (program, op) ||
         lpt_prepare_pairs (program, op) || lpt_prepare_code_rows (program, op);
}

/* --- constant data --- */

static void
copy_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  memcpy (data->out, data->in[0], *(const gsize *) op->form.params);
}

/* Was it refused for its constant data, and does it wait for another input anyway? */
static gboolean
waits_for_copy (const LptProgramOp *op)
{
  if ((op->remarks & (1u << LPT_REMARK_CONSTANT)) == 0 || op->n_in == 0 || op->in[0] == NULL ||
      op->in[0]->kind != LPT_STORAGE_CONST)
    return FALSE;
  for (guint k = 1; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k]->kind != LPT_STORAGE_CONST)
      return TRUE;

  return FALSE;
}

static void
read_instead (LptProgramOp    *op,
              LptProgramValue *from,
              LptProgramValue *value)
{
  g_ptr_array_remove (from->uses, op);
  g_ptr_array_add (value->uses, op);
  op->in[0] = value;
}

static gboolean
prepare_copied (LptProgram   *program,
                LptProgramOp *op)
{
  LptProgramValue *constant = op->in[0], *copy;
  const gsize size = lpt_program_count (constant) * lpt_storage_size (constant->array.dtype);
  LptProgramOp *first;

  copy = lpt_program_copy_value (program, constant, LPT_LAYOUT_TYPED);
  first = lpt_program_add_op (program, op->node, op->index);
  first->leads = TRUE;
  copy->def = first;
  g_ptr_array_add (constant->uses, first);
  lpt_program_set_form (first, &(LptOpForm) {
    .run = copy_run, .params = g_memdup2 (&size, sizeof size), .kernel = "copy", .tasks = 1, .n_in = 1,
    .in = LPT_OPERANDS ({ constant, LPT_LAYOUT_TYPED }), .out = copy, .out_layout = LPT_LAYOUT_TYPED });
  read_instead (op, constant, copy);
  if (prepare (program, op))
    {
      op->remarks = 0;
      return TRUE;
    }
  read_instead (op, copy, constant);
  g_ptr_array_remove (constant->uses, first);
  g_ptr_array_remove (program->nodes, first);
  g_ptr_array_remove (program->values, copy);

  return FALSE;
}

static gboolean
prepare_or_copy (LptProgram   *program,
                 LptProgramOp *op)
{
  return prepare (program, op) || (waits_for_copy (op) && prepare_copied (program, op));
}

/* Weights that lie in a mapped file are hardly read again once they are packed. */
static void
drop_weights (LptNode *product)
{
  const LptTensor *weights = lpt_node_const_in (product, 1);

  if (weights != NULL)
    lpt_tensor_drop_pages (weights);
}

static gboolean
is_open (const LptProgramOp *op)
{
  return !op->folded && lpt_program_is_free (op);
}

gboolean
lpt_program_prepare_products (LptProgram *program,
                              GError    **error)
{
  guint i;

  for (i = 0; i < program->n_nodes; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];
      const gboolean moves = (op->row->flags & LPT_EXEC_MOVES) != 0;

      /* Plain copies wait until it is known in which layout their inputs had better be read. */
      if (is_open (op) && is_product (op) &&
          (moves ? prepare_by_row (program, op, ROW_PRODUCT) : prepare_or_copy (program, op)))
        drop_weights (op->node);
    }

  return TRUE;
}

gboolean
lpt_program_prepare_forms (LptProgram *program,
                           GError    **error)
{
  guint i;

  for (i = 0; i < program->n_nodes; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];

      if (!is_open (op) || prepare_or_copy (program, op))
        continue;
      if (op->n_in > 0 && op->in[0] != NULL && lpt_program_renames (op, op->in[0]->layout))
        op->out[0]->layout = op->in[0]->layout;
    }

  return TRUE;
}
