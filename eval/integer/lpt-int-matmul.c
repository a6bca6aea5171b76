/* lpt-int-matmul.c - MatMul on integers, batched, zero points on both sides
 *
 *     acc = sum_k (a - Za) (b - Zb[n]) + bias[n]
 *     y   = clamp (rescale (acc, M[n]) + Zy)
 *
 * Za is that of the quantization of a, or input 3, which somebody computes.
 * Operands of rank 1 are a row (left) and a column (right), and the batch axes
 * broadcast. Accumulators are 32-bit and wrap (of 16-bit data 64-bit ones in the modes of TensorFlow Lite, unless the
 * bias has 32 bits, or there is none of 8-bit weights); an i32 output is the accumulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  LptIntOp       op;
  gboolean       transpose_a, transpose_b;
  guint          n;              /* parameters of b: 1, or one per column */
  LptMultiplier *multipliers;    /* NULL: raw accumulators */
  gint32        *zero_b;
  gint32        *zero_y;
  guint          n_y;
  gint32         zero_a;
  gint32         lo, hi;
  LptFloats      rest;             /* of the bias, per column */
  gboolean       wide;             /* accumulators of 64 bits */
} MatMul;

static void
matmul_clear (gpointer data)
{
  MatMul *mm = data;

  g_free (mm->multipliers);
  g_free (mm->zero_b);
  g_free (mm->zero_y);
  lpt_floats_clear (&mm->rest);
}

/* Rows and columns of the last two axes as stored, and the shape of the rest. */
static LptShape
split_matrix (const LptShape *shape,
              gboolean        left,
              gint64         *rows,
              gint64         *columns)
{
  LptShape batch = *shape;

  if (shape->rank == 1)
    {
      *rows = left ? 1 : shape->dims[0];
      *columns = left ? shape->dims[0] : 1;
      batch.rank = 0;
      return batch;
    }

  batch.rank = shape->rank - 2;
  *rows = shape->dims[shape->rank - 2];
  *columns = shape->dims[shape->rank - 1];

  return batch;
}

static void
matmul_run (const LptIntOp           *op,
            const LptIntArray *const *in,
            guint                     n_in,
            const LptIntArray        *out)
{
  const MatMul *mm = (const MatMul *) op;
  const LptIntArray *a = in[0], *b = in[1], *bias = n_in > 2 ? in[2] : NULL;
  const gint32 zero_a = n_in > 3 && in[3] != NULL ? lpt_int_at (in[3], 0) : mm->zero_a;
  const gint64 bias_step = bias != NULL && lpt_int_count (&bias->shape) > 1 ? 1 : 0;
  gint64 a_rows, a_columns, b_rows, b_columns;
  LptShape a_batch = split_matrix (&a->shape, TRUE, &a_rows, &a_columns);
  LptShape b_batch = split_matrix (&b->shape, FALSE, &b_rows, &b_columns);
  const gboolean ta = mm->transpose_a && a->shape.rank > 1, tb = mm->transpose_b && b->shape.rank > 1;
  const gint64 m = ta ? a_columns : a_rows, k = ta ? a_rows : a_columns, n = tb ? b_rows : b_columns;
  LptShape batch;
  LptWalk walk;
  gint64 y = 0;

  g_return_if_fail (lpt_shape_broadcast (&a_batch, &b_batch, &batch));
  lpt_walk_broadcast (&walk, &batch, 2, (const LptShape *const[]) { &a_batch, &b_batch });

  for (gint64 i = 0, batches = lpt_int_count (&batch); i < batches; i++, lpt_walk_next (&walk))
    for (gint64 row = 0; row < m; row++)
      for (gint64 column = 0; column < n; column++)
        {
          const guint c = mm->n == 1 ? 0 : column;
          const LptIntEnd end = lpt_int_matmul_end (op, column);
          guint64 acc = bias != NULL ? (guint64) lpt_int_at64 (bias, column * bias_step) : 0;

          for (gint64 t = 0; t < k; t++)
            {
              const gint64 ia = walk.at[0] * m * k + (ta ? t * m + row : row * k + t);
              const gint64 ib = walk.at[1] * k * n + (tb ? column * k + t : t * n + column);

              acc += (guint64) ((gint64) (lpt_int_at (a, ia) - zero_a) * (lpt_int_at (b, ib) - mm->zero_b[c]));
            }

          lpt_int_end_sums (&end, 1, (const gint64[]) { (gint64) acc }, out, y++, 1);
        }
}

LptIntEnd
lpt_int_matmul_end (const LptIntOp *op,
                    gint64          channel)
{
  const MatMul *mm = (const MatMul *) op;

  if (mm->multipliers == NULL)
    return (LptIntEnd) { .lo = mm->lo, .hi = mm->hi };

  return (LptIntEnd) { mm->wide, &mm->multipliers[mm->n == 1 ? 0 : channel],
                       mm->rest.n == 0 ? 0 : mm->rest.v[mm->rest.n == 1 ? 0 : channel],
                       mm->zero_y[mm->n_y == 1 ? 0 : channel], mm->lo, mm->hi };
}

LptIntOp *
lpt_int_matmul_new (LptNode              *node,
                    const LptRequantRule *rule,
                    GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  const LptMatMulAttrs *attrs = LPT_ATTRS (node, LptMatMulAttrs);
  LptValue *b = lpt_node_in (node, 1);
  LptValue *y = lpt_node_out (node);
  LptIntScale a;
  MatMul *mm = g_new0 (MatMul, 1);

  op = &mm->op;
  op->run = matmul_run;
  op->clear = matmul_clear;
  if (!lpt_int_check_zero_in (node, 3, FALSE, error))
    return NULL;
  mm->transpose_a = attrs->transpose_a;
  mm->transpose_b = attrs->transpose_b;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the left side", &a, error))
    return NULL;
  if (y->quant == NULL || (!lpt_int_is_code (y->dtype) && y->dtype != LPT_DTYPE_I32) ||
      (y->quant->n > 1 && (y->quant->axis != y->shape.rank - 1 || y->shape.dims[y->quant->axis] != y->quant->n)))
    {
      lpt_int_refuse (error, "the output is not quantized, or not per column");
      return NULL;
    }
  if (b == NULL || b->quant == NULL || !lpt_int_is_code (b->dtype))
    {
      lpt_int_refuse (error, "the right side has no quantization");
      return NULL;
    }
  if (b->quant->n > 1)
    {
      const gint column_axis = b->shape.rank - (attrs->transpose_b ? 2 : 1);

      if (b->shape.rank < 2 || b->quant->axis != column_axis || b->shape.dims[column_axis] != b->quant->n)
        {
          lpt_int_refuse (error, "the right side is not quantized per column");
          return NULL;
        }
    }

  if (attrs->bias_rest.n > 1 && y->shape.dims[y->shape.rank - 1] != attrs->bias_rest.n)
    {
      lpt_int_refuse (error, "a bias_rest of %u values", attrs->bias_rest.n);
      return NULL;
    }
  lpt_floats_set (&mm->rest, attrs->bias_rest.n, attrs->bias_rest.v);
  mm->zero_a = a.zero;
  /* Weights of 8 bits without a bias add up as with one of 32 bits. */
  mm->wide = lpt_int_is_wide (rule, lpt_node_in (node, 0), lpt_node_in (node, 2))
             && !(lpt_node_in (node, 2) == NULL && lpt_dtype_bits (b->dtype) == 8);
  mm->n = MAX (b->quant->n, y->quant->n);
  mm->n_y = y->quant->n;
  if (b->quant->n > 1 && y->quant->n > 1 && b->quant->n != y->quant->n)
    {
      lpt_int_refuse (error, "%u scales of the right side for %u of the output", b->quant->n, y->quant->n);
      return NULL;
    }
  mm->lo = (gint32) lpt_dtype_min (y->dtype);
  mm->hi = (gint32) lpt_dtype_max (y->dtype);
  mm->zero_y = g_memdup2 (y->quant->zero_point, mm->n_y * sizeof (gint32));
  mm->zero_b = g_new (gint32, mm->n);
  if (y->dtype != LPT_DTYPE_I32)
    mm->multipliers = g_new0 (LptMultiplier, mm->n);
  for (guint c = 0; c < mm->n; c++)
    {
      const guint cb = b->quant->n == 1 ? 0 : c, cy = y->quant->n == 1 ? 0 : c;

      mm->zero_b[c] = b->quant->zero_point[cb];
      if (mm->multipliers == NULL)
        continue;
      mm->multipliers[c] = lpt_requant_rule_multiplier (rule, a.scale, b->quant->scale[cb], y->quant->scale[cy]);
      if (!mm->wide)
        lpt_int_round_narrow (rule, lpt_node_in (node, 0), &mm->multipliers[c]);
    }

  return g_steal_pointer (&op);
}
