/* matrix-view.c - operands and results of a matrix product, seen through strides
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/matrix-view.h"

/* The strides of a dense tensor whose axis i is @order[i] of one that is stored (NULL: itself). */
static void
ordered_strides (const LptShape *stored,
                 const gint64   *order,
                 gint64         *strides)
{
  gint64 own[LPT_MAX_RANK];
  gint i;

  lpt_shape_strides (stored, own);
  for (i = 0; i < stored->rank; i++)
    strides[i] = own[order != NULL ? order[i] : i];
}

/* The last two of @shape's axes are the matrix; a vector is a row (@left) or a column. */
static void
view_init (LptMatrixView   *v,
           LptProgramValue *value,
           const LptShape  *shape,
           const gint64    *strides,
           gboolean         left,
           gboolean         transposed)
{
  gint i;

  *v = (LptMatrixView) { .value = value, .rows = 1, .columns = 1 };
  if (shape->rank == 1)
    {
      *(left ? &v->columns : &v->rows) = shape->dims[0];
      *(left ? &v->column : &v->row) = strides[0];
      return;
    }
  v->rank = shape->rank - 2;
  for (i = 0; i < v->rank; i++)
    {
      v->dims[i] = shape->dims[i];
      v->strides[i] = strides[i];
    }
  v->rows = shape->dims[v->rank + transposed];
  v->row = strides[v->rank + transposed];
  v->columns = shape->dims[v->rank + !transposed];
  v->column = strides[v->rank + !transposed];
}

/* The order of a Transpose that no other op stands for; FALSE: @op is none, or it is not constant. */
static gboolean
transpose_order (const LptProgramOp *op,
                 gint64             *order)
{
  const LptArray *own;
  gint rank, i, axis;
  guint seen = 0;

  if (op->node->op != LPT_OP_TRANSPOSE || op->n_in != 2 || op->in[0] == NULL || op->in[1] == NULL ||
      op->fused_into != NULL || op->in[1]->kind != LPT_STORAGE_CONST)
    return FALSE;
  rank = op->in[0]->array.shape.rank;
  own = &op->in[1]->array;
  if (own->dtype != LPT_DTYPE_I64 || lpt_array_count (own) != rank)
    return FALSE;
  for (i = 0; i < rank; i++)
    {
      if (!lpt_axis_normalize ((gint) ((const gint64 *) own->data)[i], rank, &axis))
        return FALSE;
      order[i] = axis;
      seen |= 1u << axis;
    }

  return seen == (1u << rank) - 1;
}

/* Kernels can read it: rows of bytes, or for the left side columns. The right side may lie in any way. */
static gboolean
is_readable (const LptMatrixView *v,
             gboolean             left)
{
  return !left || v->column == 1 || v->columns == 1 || v->row == 1 || v->rows == 1;
}

LptMatrixView
lpt_matrix_view_operand (LptProgramOp *op,
                         guint         k,
                         gboolean      transposed,
                         GPtrArray    *covered)
{
  LptProgramValue *value = op->in[k];
  LptProgramOp *reader = op;
  guint before = covered->len;
  const LptShape *shape = &value->array.shape;
  gint64 order[LPT_MAX_RANK], strides[LPT_MAX_RANK];
  LptMatrixView direct, v;

  ordered_strides (shape, NULL, strides);
  view_init (&direct, value, shape, strides, k == 0, transposed);
  while (value->kind == LPT_STORAGE_DYNAMIC && lpt_program_reader (value) == reader)
    {
      const LptArray *y = &value->array, *x;

      reader = value->def;
      if (reader->folded || reader->n_in == 0 || reader->in[0] == NULL || reader->fused_into != NULL)
        break;
      value = reader->in[0];
      x = &value->array;
      if (x->dtype != y->dtype || value->kind == LPT_STORAGE_CONST)
        break;
      g_ptr_array_add (covered, reader);
      if (transpose_order (reader, order))
        {
          ordered_strides (&x->shape, order, strides);
          view_init (&v, value, shape, strides, k == 0, transposed);
          if (!is_readable (&v, k == 0))
            break;
          return v;
        }
      if (reader->node->op != LPT_OP_REINTERPRET)
        break;
    }
  g_ptr_array_set_size (covered, (gint) before);

  return direct;
}

LptMatrixView
lpt_matrix_view_result (const LptShape  *shape,
                        LptProgramValue *value,
                        LptProgramOp    *owner,
                        LptProgramOp   **last)
{
  LptProgramOp *reader = lpt_program_reader (value);
  gint64 order[LPT_MAX_RANK], own[LPT_MAX_RANK], strides[LPT_MAX_RANK];
  LptMatrixView direct, v;
  gint i;

  ordered_strides (shape, NULL, strides);
  view_init (&direct, value, shape, strides, TRUE, FALSE);
  if (reader == NULL || value->array.shape.rank != shape->rank || !transpose_order (reader, order))
    return direct;
  lpt_shape_strides (&reader->out[0]->array.shape, own);
  for (i = 0; i < shape->rank; i++)
    strides[order[i]] = own[i];
  view_init (&v, reader->out[0], shape, strides, TRUE, FALSE);
  if (v.column != 1 && v.columns != 1)
    return direct;
  lpt_program_fuse (reader, owner, last);

  return v;
}
