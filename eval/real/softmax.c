/* softmax.c - Softmax, LogSoftmax
 *
 *   y = e^(x - max) / sum e^(x - max),   ln y = x - max - ln sum e^(x - max)
 *
 * Softmax is the kernel family's scalar row (executor/kernels/float), by columns where the axis is not the last one;
 * LogSoftmax computes in f64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/kernels/float/float.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-softmax.h"
#include "ir/scalar/lpt-loop.h"

void
lpt_log_softmax_row (gint64       length,
                     gint64       step,
                     const float *x,
                     float       *y)
{
  double max = -INFINITY, sum = 0;
  gint64 k;

  for (k = 0; k < length; k++)
    max = MAX (max, (double) x[k * step]);
  for (k = 0; k < length; k++)
    sum += exp (x[k * step] - max);
  for (k = 0; k < length; k++)
    y[k * step] = (float) (x[k * step] - max - log (sum));
}

gboolean
lpt_run_softmax (LptCall *call,
                 GError **error)
{
  gboolean logarithm = call->node->op == LPT_OP_LOG_SOFTMAX;
  gint64 wish = logarithm ? LPT_ATTRS (call->node, LptLogSoftmaxAttrs)->axis
                          : LPT_ATTRS (call->node, LptSoftMaxAttrs)->axis;
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 outer, length, inner, o, i;
  gint axis;

  if (y == NULL)
    return FALSE;
  if (shape->rank == 0)
    {
      y[0] = logarithm ? 0 : 1;
      return TRUE;
    }
  if (!lpt_call_axis (call, wish, shape->rank, &axis, error))
    return FALSE;
  outer = lpt_dims_product (shape, 0, axis);
  length = shape->dims[axis];
  inner = lpt_dims_product (shape, axis + 1, shape->rank);
  if (inner == 1 && !logarithm)
    {
      lpt_float_scalar ()->softmax ((gsize) outer, (gsize) length, x, (gsize) length, y, (gsize) length);
      return TRUE;
    }
  for (o = 0; o < outer; o++, x += length * inner, y += length * inner)
    if (!logarithm)
      lpt_float_scalar ()->softmax_columns ((gsize) length, (gsize) inner, x, (gsize) inner, y);
    else
      for (i = 0; i < inner; i++)
        lpt_log_softmax_row (length, inner, x + i, y + i);

  return TRUE;
}
