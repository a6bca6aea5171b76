/* reduce.c - ReduceMax, Min, Mean, Sum, Prod, L1, L2, LogicalAnd, LogicalOr
 *
 * Real sums run in f64. Integers (shape arithmetic) stay integers; their mean truncates. Over no elements: sum 0,
 * product 1, mean NaN, and the ends of the type for maximum and minimum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-axes.h"
#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

static double
first_real (LptOp op)
{
  return op == LPT_OP_REDUCE_MAX ? -INFINITY : op == LPT_OP_REDUCE_MIN ? INFINITY : op == LPT_OP_REDUCE_PROD ? 1 : 0;
}

static inline double
add_real (LptOp  op,
          double sum,
          double x)
{
  switch ((guint) op)
    {
    case LPT_OP_REDUCE_MAX: return x > sum ? x : sum;
    case LPT_OP_REDUCE_MIN: return x < sum ? x : sum;
    case LPT_OP_REDUCE_PROD: return sum * x;
    case LPT_OP_REDUCE_L1: return sum + fabs (x);
    case LPT_OP_REDUCE_L2: return sum + x * x;
    default: return sum + x;
    }
}

static gint64
first_integer (LptOp op)
{
  return op == LPT_OP_REDUCE_MAX ? G_MININT64 : op == LPT_OP_REDUCE_MIN ? G_MAXINT64
         : op == LPT_OP_REDUCE_PROD || op == LPT_OP_REDUCE_LOGICAL_AND ? 1 : 0;
}

static inline gint64
add_integer (LptOp  op,
             gint64 sum,
             gint64 x)
{
  switch ((guint) op)
    {
    case LPT_OP_REDUCE_MAX: return MAX (sum, x);
    case LPT_OP_REDUCE_MIN: return MIN (sum, x);
    case LPT_OP_REDUCE_PROD: return (gint64) ((guint64) sum * (guint64) x);
    case LPT_OP_REDUCE_LOGICAL_AND: return sum && x;
    case LPT_OP_REDUCE_LOGICAL_OR: return sum || x;
    case LPT_OP_REDUCE_L1: return (gint64) ((guint64) sum + (x < 0 ? 0 - (guint64) x : (guint64) x));
    case LPT_OP_REDUCE_L2: return (gint64) ((guint64) sum + (guint64) x * (guint64) x);
    default: return (gint64) ((guint64) sum + (guint64) x);
    }
}

gboolean
lpt_run_reduce (LptCall *call,
                GError **error)
{
  LptOp op = call->node->op;
  const LptShape *shape = &call->in[0].shape;
  gboolean logical = op == LPT_OP_REDUCE_LOGICAL_AND || op == LPT_OP_REDUCE_LOGICAL_OR;
  gboolean integer = logical || (lpt_call_is_i64 (call, 0) && call->out[0].dtype == LPT_DTYPE_I64);
  gboolean set[LPT_MAX_RANK];
  gint64 strides[2][LPT_MAX_RANK], count, each, i;
  gconstpointer x;
  LptLoop loop;

  if (!lpt_call_axis_set (call, 1, shape->rank, set, error))
    return FALSE;
  count = lpt_reduced_count (shape, set, &each);
  if (count != lpt_array_count (&call->out[0]))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the output does not have %" G_GINT64_FORMAT " elements", count);
      return FALSE;
    }
  lpt_shape_strides (shape, strides[0]);
  lpt_reduced_strides (shape, set, strides[1]);
  x = integer ? (gconstpointer) lpt_call_i64 (call, 0, error) : lpt_call_f32 (call, 0, error);
  if (x == NULL)
    return FALSE;

  if (integer)
    {
      gint64 *y = lpt_call_out_i64 (call, 0, error);

      if (y == NULL)
        return FALSE;
      for (i = 0; i < count; i++)
        y[i] = first_integer (op);
      for (lpt_loop_init (&loop, shape, 2, strides); !loop.done; lpt_loop_next (&loop))
        for (i = 0; i < loop.inner; i++)
          {
            gint64 *sum = &y[loop.offset[1] + i * loop.step[1]];

            *sum = add_integer (op, *sum, ((const gint64 *) x)[loop.offset[0] + i * loop.step[0]]);
          }
      for (i = 0; i < count; i++)
        if (op == LPT_OP_REDUCE_MEAN)
          y[i] = each > 0 ? y[i] / each : 0;
        else if (op == LPT_OP_REDUCE_L2)
          y[i] = (gint64) sqrt ((double) y[i]);
    }
  else
    {
      double *sums = lpt_call_scratch (call, (gsize) count, sizeof (double), error);
      float *y = sums != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

      if (y == NULL)
        return FALSE;
      for (i = 0; i < count; i++)
        sums[i] = first_real (op);
      for (lpt_loop_init (&loop, shape, 2, strides); !loop.done; lpt_loop_next (&loop))
        for (i = 0; i < loop.inner; i++)
          {
            double *sum = &sums[loop.offset[1] + i * loop.step[1]];

            *sum = add_real (op, *sum, ((const float *) x)[loop.offset[0] + i * loop.step[0]]);
          }
      for (i = 0; i < count; i++)
        y[i] = (float) (op == LPT_OP_REDUCE_MEAN ? sums[i] / (double) each
                        : op == LPT_OP_REDUCE_L2 ? sqrt (sums[i]) : sums[i]);
    }

  return TRUE;
}
