/* lpt-float-reduce.c - reductions of real numbers along any axes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-float-reduce.h"

#include "ir/scalar/lpt-reduction.h"

#define PIECE LPT_REDUCTION_PIECE

gboolean
lpt_float_reduction_of (LptOp           op,
                        LptFloatReduce *reduce)
{
  switch ((guint) op)
    {
#define LPT_FLOAT_REDUCTION(op, kernel) case LPT_OP_REDUCE_##op: *reduce = LPT_REDUCE_##kernel; return TRUE;
#include "eval/float-reductions.def"
#undef LPT_FLOAT_REDUCTION
    default: return FALSE;
    }
}

static void
add_axis (gint   *n,
          gint64 *dims,
          gint64 *strides,
          gint64  dim,
          gint64  stride)
{
  dims[*n] = dim;
  strides[*n] = stride;
  ++*n;
}

gboolean
lpt_float_reduction_init (LptFloatReduction *r,
                          LptOp              op,
                          const LptShape    *shape,
                          const gboolean    *set)
{
  gint64 dims[LPT_MAX_RANK], strides[LPT_MAX_RANK], stride = 1;
  gboolean reduced[LPT_MAX_RANK];
  gint n = 0, d, k;

  *r = (LptFloatReduction) { .op = op, .each = 1, .length = 1, .pieces = 1, .units = 1, .times = 1 };
  if (!lpt_float_reduction_of (op, &r->reduce))
    return FALSE;
  for (d = shape->rank - 1; d >= 0; stride *= shape->dims[d], d--)
    {
      if (set[d])
        r->each *= shape->dims[d];
      if (shape->dims[d] == 1)
        continue;
      if (n > 0 && reduced[n - 1] == set[d])
        {
          dims[n - 1] *= shape->dims[d];
          continue;
        }
      reduced[n] = set[d];
      add_axis (&n, dims, strides, shape->dims[d], stride);
    }
  r->lines = n > 0 && reduced[0];
  r->length = n > 0 ? (gsize) dims[0] : 1;
  /* They stand from the last one to the first. */
  for (k = n - 1; k > 0; k--)
    if (reduced[k])
      add_axis (&r->n_reduced, r->reduced, r->reduced_strides, dims[k], strides[k]);
    else
      add_axis (&r->n_kept, r->kept, r->kept_strides, dims[k], strides[k]);
  r->pieces = r->lines ? 1 : (r->length + PIECE - 1) / PIECE;
  r->units = r->pieces;
  for (k = 0; k < r->n_kept; k++)
    r->units *= (gsize) r->kept[k];
  for (k = 0; k < r->n_reduced; k++)
    r->times *= (gsize) r->reduced[k];

  return TRUE;
}

/* Where element @index of axes begins. */
static gint64
offset_of (gint          n,
           const gint64 *dims,
           const gint64 *strides,
           gsize         index)
{
  gint64 at = 0;

  while (n-- > 0)
    {
      at += (gint64) (index % (gsize) dims[n]) * strides[n];
      index /= (gsize) dims[n];
    }

  return at;
}

static double
join (LptFloatReduce reduce,
      double         a,
      double         b)
{
  switch (reduce)
    {
    case LPT_REDUCE_PRODUCT: return a * b;
    case LPT_REDUCE_MAXIMUM: return b > a ? b : a;
    case LPT_REDUCE_MINIMUM: return b < a ? b : a;
    default:                 return a + b;
    }
}

gint64
lpt_float_reduction_line (const LptFloatReduction *r,
                          gsize                    i)
{
  return offset_of (r->n_reduced, r->reduced, r->reduced_strides, i);
}

gsize
lpt_float_reduction_sums (const LptFloatReduction *r,
                          const LptFloatKernel    *kernel,
                          const float             *x,
                          gsize                    unit,
                          gint64                  *at,
                          double                  *sums)
{
  gsize column = unit % r->pieces * PIECE, cols = r->lines ? 1 : MIN (PIECE, r->length - column), i, c;
  const gsize rows = r->n_reduced > 0 ? (gsize) r->reduced[r->n_reduced - 1] : 1,
              apart = r->n_reduced > 0 ? (gsize) r->reduced_strides[r->n_reduced - 1] : 0;
  const double first = lpt_reduction_first (r->op);

  *at = offset_of (r->n_kept, r->kept, r->kept_strides, unit / r->pieces) + (gint64) column;
  for (c = 0; c < cols; c++)
    sums[c] = first;
  for (i = 0; i < r->times; i += r->lines ? 1 : rows)
    {
      const float *line = x + *at + lpt_float_reduction_line (r, i);

      if (r->lines)
        {
          double sum;

          kernel->reduce_lines (r->reduce, 1, r->length, line, r->length, &sum);
          sums[0] = join (r->reduce, sums[0], sum);
        }
      else
        kernel->reduce_columns (r->reduce, rows, cols, line, apart, sums);
    }

  return cols;
}

/* Lines that follow each other in memory, a block of them at a time. */
static void
run_lines (const LptFloatReduction *r,
           const LptFloatKernel    *kernel,
           const float             *x,
           float                   *y,
           gsize                    from,
           gsize                    to)
{
  const double first = lpt_reduction_first (r->op);
  double sums[PIECE];
  gsize n, i;

  for (; from < to; from += n)
    {
      n = MIN (PIECE, to - from);
      kernel->reduce_lines (r->reduce, n, r->length, x + from * r->length, r->length, sums);
      for (i = 0; i < n; i++)
        sums[i] = join (r->reduce, first, sums[i]);
      lpt_reduction_end_all (r->op, n, sums, r->each, y + from);
    }
}

void
lpt_float_reduction_run (const LptFloatReduction *r,
                         const LptFloatKernel    *kernel,
                         const float             *x,
                         float                   *y,
                         gsize                    from,
                         gsize                    to)
{
  double sums[PIECE];
  gsize unit, cols;
  gint64 at;

  if (r->lines && r->times == 1 && (r->n_kept == 0 || (r->n_kept == 1 && r->kept_strides[0] == (gint64) r->length)))
    {
      run_lines (r, kernel, x, y, from, to);
      return;
    }
  for (unit = from; unit < to; unit++)
    {
      cols = lpt_float_reduction_sums (r, kernel, x, unit, &at, sums);
      lpt_reduction_end_all (r->op, cols, sums, r->each,
                             y + (r->lines ? unit : unit / r->pieces * r->length + unit % r->pieces * PIECE));
    }
}
