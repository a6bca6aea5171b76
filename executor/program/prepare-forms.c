/* prepare-forms.c - forms for the ops that kernels do
 *
 * Products take as much as they can of what follows them, then what stays real becomes programs of rows, from the last one on; the
 * rest has forms of its own, in order, so that an op sees in which layout its inputs had better be read. What is left is reference ops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/storage/lpt-tensor-pages.h"

typedef struct
{
  LptOp        op;
  LptOpPrepare prepare;
  gboolean     product;      /* comes before all that follows it */
} Row;

static const Row rows[] =
{
  { LPT_OP_CONVOLUTION, lpt_prepare_conv, TRUE },
  { LPT_OP_GROUP_CONVOLUTION, lpt_prepare_conv, TRUE },
  { LPT_OP_MATMUL, lpt_prepare_matmul, TRUE },
  { LPT_OP_MATMUL, lpt_prepare_batch_matmul, TRUE },
  { LPT_OP_MAX_POOL, lpt_prepare_max_pool },
  { LPT_OP_AVG_POOL, lpt_prepare_avg_pool },
  { LPT_OP_REDUCE_MEAN, lpt_prepare_reduce },
  { LPT_OP_REDUCE_SUM, lpt_prepare_reduce },
  { LPT_OP_REDUCE_MAX, lpt_prepare_reduce },
  { LPT_OP_REDUCE_MIN, lpt_prepare_reduce },
  { LPT_OP_ADD, lpt_prepare_binary },
  { LPT_OP_SUBTRACT, lpt_prepare_binary },
  { LPT_OP_MULTIPLY, lpt_prepare_binary },
  { LPT_OP_QUANTIZE, lpt_prepare_quantize },
  { LPT_OP_DEQUANTIZE, lpt_prepare_dequantize },
  { LPT_OP_DEQUANTIZE, lpt_prepare_dequantize_words },
  { LPT_OP_CONCAT, lpt_prepare_concat },
  { LPT_OP_INTERPOLATE, lpt_prepare_resize },
  { LPT_OP_INTERPOLATE, lpt_prepare_resize_lines },
},
real_rows[] =
{
  { LPT_OP_CONVOLUTION, lpt_prepare_float_conv, TRUE },
  { LPT_OP_GROUP_CONVOLUTION, lpt_prepare_float_conv, TRUE },
  { LPT_OP_MATMUL, lpt_prepare_float_matmul, TRUE },
  { LPT_OP_MAX_POOL, lpt_prepare_float_max_pool },
  { LPT_OP_AVG_POOL, lpt_prepare_float_avg_pool },
  { LPT_OP_REDUCE_MEAN, lpt_prepare_float_mean },
  { LPT_OP_CONCAT, lpt_prepare_float_concat },
  { LPT_OP_INTERPOLATE, lpt_prepare_float_move },
  { LPT_OP_INTERPOLATE, lpt_prepare_float_resize },
};

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

/* The first row of @op, or NULL. */
static const Row *
find_row (const Row          *row,
          guint               n,
          const LptProgramOp *op)
{
  guint k;

  for (k = 0; k < n; k++)
    if (row[k].op == op->node->op)
      return &row[k];

  return NULL;
}

static gboolean
is_product (const LptProgramOp *op)
{
  const Row *row = find_row (rows, G_N_ELEMENTS (rows), op);

  return row != NULL && row->product;
}

/* By the rows of an op, which stand together, from @row on. */
static gboolean
prepare_by (const Row    *row,
            const Row    *end,
            LptProgram   *program,
            LptProgramOp *op)
{
  for (; row != NULL && row < end && row->op == op->node->op; row++)
    if (row->prepare (program, op))
      return TRUE;

  return FALSE;
}

static gboolean
prepare (LptProgram   *program,
         LptProgramOp *op)
{
  const gboolean moves = (op->row->flags & LPT_EXEC_MOVES) != 0;
  const Row *row;

  if (op->table != NULL)
    return lpt_prepare_table (program, op);
  if (op->integer == NULL && lpt_program_is_real (op->n_in > 0 ? op->in[0] : NULL))
    {
      row = find_row (real_rows, G_N_ELEMENTS (real_rows), op);
      return row != NULL ? prepare_by (row, real_rows + G_N_ELEMENTS (real_rows), program, op)
                         : moves && lpt_prepare_float_move (program, op);
    }
  if (op->integer == NULL)
    return moves && lpt_prepare_move (program, op);
  if (op->n_out != 1 && (op->node->op != LPT_OP_MAX_POOL || !is_unread (op, 1)))
    return FALSE;

  return prepare_by (find_row (rows, G_N_ELEMENTS (rows), op), rows + G_N_ELEMENTS (rows), program, op);
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

void
lpt_program_prepare_forms (LptProgram *program)
{
  guint n = program->n_nodes, i;

  for (i = 0; i < n; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];

      if (is_open (op) && is_product (op) && prepare (program, op))
        drop_weights (op->node);
    }
  for (i = n; i-- > 0; )
    if (is_open (program->nodes->pdata[i]))
      lpt_prepare_rows (program, program->nodes->pdata[i]);
  for (i = 0; i < n; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];

      if (!is_open (op) || prepare (program, op))
        continue;
      if (op->n_in > 0 && op->in[0] != NULL && lpt_program_renames (op, op->in[0]->layout))
        op->out[0]->layout = op->in[0]->layout;
    }
}
