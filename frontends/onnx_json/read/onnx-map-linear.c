/* onnx-map-linear.c - small dense linear algebra: Det, com.microsoft's Inverse and CDist
 *
 * Det and Inverse eliminate column after column, with the row as pivot whose element has the largest magnitude, in as
 * many steps as a matrix has rows. Of more than MOST_ROWS rows, or of a number that is not known, Det is refused and
 * Inverse an op.
 *
 *     Det       d = the product of the pivots, with a change of sign for each exchange of rows
 *     Inverse   [A | I] to [I | A^-1]
 *     CDist     sqrt (sum (a[i, k] - b[j, k])^2), with metric sqeuclidean without the root
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <string.h>

#define MOST_ROWS 16

static LptValue *
binary (LptOnnxNode *on,
        LptOp        op,
        LptValue    *a,
        LptValue    *b)
{
  return lpt_onnx_emit (on, op, 2, a, b);
}

static LptValue *
choose (LptOnnxNode *on,
        LptValue    *where,
        LptValue    *a,
        LptValue    *b)
{
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, where, a, b);
}

/* Is row i of @n row @at (a scalar or [B])? [B, n, 1] or [1, n, 1] */
static LptValue *
is_row (LptOnnxNode *on,
        LptValue    *at,
        gint64       n)
{
  const gint64 rows[] = { 1, n, 1 }, each[] = { -1, 1, 1 };
  gint64 numbers[MOST_ROWS];

  for (gint64 i = 0; i < n; i++)
    numbers[i] = i;
  return binary (on, LPT_OP_EQUAL, lpt_onnx_reshape (on, lpt_onnx_i64 (on, (guint) n, numbers), 3, rows),
                 lpt_onnx_reshape (on, at, 3, each));
}

/* Row @where of each matrix, [B, 1, n] */
static LptValue *
pick_row (LptOnnxNode *on,
          LptValue    *a,
          LptValue    *where)
{
  const gint64 rows = 1;

  a = choose (on, where, a, lpt_onnx_like (on, a, 0));
  return lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, a, lpt_onnx_i64 (on, 1, &rows), TRUE);
}

/* The row of @column [B, n, 1] with the largest magnitude, [B] */
static LptValue *
largest (LptOnnxNode *on,
         LptValue    *column)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_ARG_MAX, 1, lpt_onnx_squeeze (on, column, 2));

  LPT_ATTRS (node, LptArgReduceAttrs)->axis = 1;
  LPT_ATTRS (node, LptArgReduceAttrs)->keep_dims = FALSE;
  LPT_ATTRS (node, LptArgReduceAttrs)->output_type = LPT_DTYPE_I64;
  return lpt_onnx_done (on, node);
}

static LptValue *
magnitude (LptOnnxNode *on,
           LptValue    *x)
{
  return lpt_onnx_emit (on, LPT_OP_ABS, 1, x);
}

/* Input 0 as [B, n, n]; 0 and an error where n is not known or too large. */
static gint64
open_matrices (LptOnnxNode *on,
               LptValue   **a)
{
  gint rank = lpt_onnx_rank (on, *a);
  gint64 dims[3] = { -1 }, n = rank >= 2 ? (*a)->shape.dims[rank - 1] : 0;

  if (on->error == NULL && (rank < 2 || n != (*a)->shape.dims[rank - 2]))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input that is not known to be square matrices");
  else if (on->error == NULL && (n < 1 || n > MOST_ROWS))
    lpt_onnx_unsupported (on, "matrices that are not known to have 1 to %d rows", MOST_ROWS);
  if (on->error != NULL)
    return 0;
  dims[1] = dims[2] = n;
  *a = rank == 3 ? *a : lpt_onnx_reshape (on, *a, 3, dims);
  return n;
}

void
lpt_onnx_map_det (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_in (on, 0), *det = NULL, *first = lpt_onnx_i64_scalar (on, 0), *shape = NULL;
  gint rank = lpt_onnx_rank (on, a);

  if (rank > 3)
    shape = lpt_onnx_slice (on, lpt_onnx_shape_of (on, a), 0, 0, rank - 2);
  for (gint64 m = open_matrices (on, &a); m > 0 && on->error == NULL; m--)
    {
      LptValue *column = lpt_onnx_slice (on, a, 2, 0, 1), *at = largest (on, magnitude (on, column));
      LptValue *one = lpt_onnx_like (on, a, 1), *zero = lpt_onnx_like (on, a, 0), *where = is_row (on, at, m);
      LptValue *sign, *pivot, *row;

      row = pick_row (on, a, where);
      pivot = lpt_onnx_slice (on, row, 2, 0, 1);
      sign = choose (on, binary (on, LPT_OP_EQUAL, at, first), one, lpt_onnx_like (on, a, -1));
      sign = lpt_onnx_unsqueeze (on, lpt_onnx_unsqueeze (on, sign, 1), 2);
      sign = binary (on, LPT_OP_MULTIPLY, pivot, sign);
      det = det != NULL ? binary (on, LPT_OP_MULTIPLY, det, sign) : sign;
      if (m == 1)
        break;
      a = choose (on, where, lpt_onnx_slice (on, a, 1, 0, 1), a);
      a = lpt_onnx_slice (on, a, 1, 1, m);
      pivot = choose (on, binary (on, LPT_OP_EQUAL, pivot, zero), one, pivot);
      column = binary (on, LPT_OP_DIVIDE, lpt_onnx_slice (on, a, 2, 0, 1), pivot);
      a = binary (on, LPT_OP_SUBTRACT, lpt_onnx_slice (on, a, 2, 1, m),
                  binary (on, LPT_OP_MULTIPLY, column, lpt_onnx_slice (on, row, 2, 1, m)));
    }
  if (on->error != NULL)
    return;
  det = lpt_onnx_squeeze (on, lpt_onnx_squeeze (on, det, 2), 1);
  if (rank != 3)
    det = rank == 2 ? lpt_onnx_squeeze (on, det, 0) : lpt_onnx_reshape_to (on, det, shape);
  lpt_onnx_set (on, 0, det);
}

/* Matrices of few rows? What is none is small: open_matrices() says so. */
static gboolean
is_small (const LptValue *x)
{
  const LptShape *shape = &x->shape;
  const gint64 rows = shape->rank >= 2 ? shape->dims[shape->rank - 2] : 0;
  const gint64 columns = shape->rank >= 2 ? shape->dims[shape->rank - 1] : 0;

  return shape->rank != LPT_DYNAMIC && rows != LPT_DYNAMIC && columns != LPT_DYNAMIC &&
         MAX (rows, columns) <= MOST_ROWS;
}

void
lpt_onnx_map_inverse (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *a = x, *parts[2];
  double unit[MOST_ROWS * MOST_ROWS] = { 0 };
  LptShape shape = { .rank = 2 };
  gint64 n;

  if (on->error != NULL)
    return;
  if (!is_small (x))
    {
      lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_INVERSE, 1, x));
      return;
    }
  n = open_matrices (on, &a);
  if (on->error != NULL)
    return;
  shape.dims[0] = shape.dims[1] = n;
  for (gint64 i = 0; i < n; i++)
    unit[i * n + i] = 1;
  parts[0] = a;
  parts[1] = lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (a->dtype, &shape, unit, NULL));
  parts[1] = lpt_onnx_broadcast (on, parts[1], lpt_onnx_shape_of (on, a));
  a = lpt_onnx_concat (on, 2, 2, parts);
  for (gint64 k = 0; k < n && on->error == NULL; k++)
    {
      /* Rows in front have had their turn. */
      LptValue *column = lpt_onnx_slice (on, lpt_onnx_slice (on, a, 2, k, k + 1), 1, k, n), *at, *row, *here, *kth;

      at = binary (on, LPT_OP_ADD, largest (on, magnitude (on, column)), lpt_onnx_i64_scalar (on, k));
      here = is_row (on, lpt_onnx_i64_scalar (on, k), n);
      row = pick_row (on, a, is_row (on, at, n));
      kth = lpt_onnx_slice (on, a, 1, k, k + 1);
      a = choose (on, is_row (on, at, n), kth, a);
      row = binary (on, LPT_OP_DIVIDE, row, lpt_onnx_slice (on, row, 2, k, k + 1));
      a = binary (on, LPT_OP_SUBTRACT, a, binary (on, LPT_OP_MULTIPLY, lpt_onnx_slice (on, a, 2, k, k + 1), row));
      a = choose (on, here, row, a);
    }
  a = lpt_onnx_slice (on, a, 2, n, 2 * n);
  lpt_onnx_set (on, 0, lpt_onnx_rank (on, x) == 3 ? a : lpt_onnx_reshape_to (on, a, lpt_onnx_shape_of (on, x)));
}

void
lpt_onnx_map_cdist (LptOnnxNode *on)
{
  static const LptOnnxChoice metrics[] = { { "sqeuclidean", FALSE }, { "euclidean", TRUE } };
  LptValue *a = lpt_onnx_unsqueeze (on, lpt_onnx_in (on, 0), 1), *b = lpt_onnx_unsqueeze (on, lpt_onnx_in (on, 1), 0);
  gboolean root = lpt_onnx_choose (on, "metric", "sqeuclidean", metrics, G_N_ELEMENTS (metrics));
  const gint64 last = 2;

  a = binary (on, LPT_OP_SQUARED_DIFFERENCE, a, b);
  a = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, a, lpt_onnx_i64 (on, 1, &last), FALSE);
  lpt_onnx_set (on, 0, root ? lpt_onnx_emit (on, LPT_OP_SQRT, 1, a) : a);
}
