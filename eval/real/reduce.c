/* reduce.c - ReduceMax, Min, Mean, Sum, Prod, L1, L2, LogicalAnd, LogicalOr
 *
 * Real sums run in f64. Integers stay integers of their type, as sums and products wrap; their mean truncates. Over no
 * elements: sum 0, product 1, mean NaN, and the ends of the type for maximum and minimum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-axes.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-float-reduce.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-reduction.h"

gboolean
lpt_run_reduce (LptCall *call,
                GError **error)
{
  LptOp op = call->node->op;
  const LptShape *shape = &call->in[0].shape;
  gboolean logical = op == LPT_OP_REDUCE_LOGICAL_AND || op == LPT_OP_REDUCE_LOGICAL_OR;
  gboolean wraps = lpt_call_wraps (call) && !lpt_call_is_wide (call);
  gboolean integer = logical || wraps || (lpt_call_is_i64 (call, 0) && call->out[0].dtype == LPT_DTYPE_I64);
  gboolean set[LPT_MAX_RANK];
  gint64 strides[2][LPT_MAX_RANK], count, each, i;
  gconstpointer x;
  LptLoop loop;

  if (!lpt_call_axis_set (call, 1, shape->rank, set, error))
    return FALSE;
  count = lpt_reduced_count (shape, set, &each);
  if (count != lpt_array_count (&call->out[0]))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the output does not have %" G_GINT64_FORMAT " elements",
                   count);
      return FALSE;
    }
  lpt_shape_strides (shape, strides[0]);
  lpt_reduced_strides (shape, set, strides[1]);
  x = integer ? (gconstpointer) lpt_call_whole (call, 0, error) : lpt_call_f32 (call, 0, error);
  if (x == NULL)
    return FALSE;

  if (integer)
    {
      gint64 *y = lpt_call_out_i64 (call, 0, error);

      if (y == NULL)
        return FALSE;
      for (i = 0; i < count; i++)
        y[i] = lpt_reduction_first_i64 (op);
      for (lpt_loop_init (&loop, shape, 2, strides); !loop.done; lpt_loop_next (&loop))
        for (i = 0; i < loop.inner; i++)
          {
            gint64 *sum = &y[loop.offset[1] + i * loop.step[1]];

            *sum = lpt_reduction_next_i64 (op, *sum, ((const gint64 *) x)[loop.offset[0] + i * loop.step[0]]);
          }
      for (i = 0; i < count; i++)
        y[i] = lpt_reduction_end_i64 (op, y[i], each);
      if (!logical)
        lpt_call_wrap (call, y, count);
    }
  else
    {
      LptFloatReduction reduction;
      float *y = lpt_call_out_f32 (call, 0, error);

      if (y == NULL || !lpt_float_reduction_init (&reduction, op, shape, set))
        return FALSE;
      lpt_float_reduction_run (&reduction, lpt_float_scalar (), x, y, 0, reduction.units);
    }

  return TRUE;
}
