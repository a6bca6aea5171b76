/* matrix-view.h - operands and results of a matrix product, seen through strides
 *
 * So a Transpose that only the product reads, or that alone reads the product, costs nothing: heads of attention stay
 * where they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program-edit.h"

/* A tensor of codes or results as matrices: strides in elements, of the batch axes (aligned at the right), rows,
 * columns. */
typedef struct
{
  LptProgramValue *value;
  gint   rank;                        /* batch axes */
  gint64 dims[LPT_MAX_RANK], strides[LPT_MAX_RANK];
  gint64 rows, columns, row, column;  /* numbers and strides */
} LptMatrixView;

/* Operand @k of @op, behind a Transpose (and Reinterprets) that only @op reads where that is possible; what the view
 * stands for goes to the end of @covered. The left one has rows or columns of bytes; the right one may lie in any
 * way. */
LptMatrixView lpt_matrix_view_operand (LptProgramOp *op, guint k, gboolean transposed, GPtrArray *covered);
/* The result of @owner, @value, of @shape with its matrices. Where rows of columns stay such it is seen behind the
 * Transpose that alone reads it, which then is fused, and *@last. */
LptMatrixView lpt_matrix_view_result  (const LptShape *shape, LptProgramValue *value, LptProgramOp *owner,
                                       LptProgramOp **last);
