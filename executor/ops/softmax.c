/* softmax.c - Softmax, LogSoftmax
 *
 *   y = e^(x - max) / sum e^(x - max),   ln y = x - max - ln sum e^(x - max)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/lpt-exec-ops.h"
#include "executor/lpt-loop.h"

gboolean
lpt_run_softmax (LptCall *call,
                 GError **error)
{
  gboolean logarithm = call->node->op == LPT_OP_LOG_SOFTMAX;
  gint64 wish = logarithm ? LPT_ATTRS (call->node, LptLogSoftmaxAttrs)->axis : LPT_ATTRS (call->node, LptSoftMaxAttrs)->axis;
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 outer, length, inner, o, i, k;
  double *e;
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
  e = lpt_call_scratch (call, (gsize) length, sizeof (double), error);
  if (e == NULL)
    return FALSE;

  for (o = 0; o < outer; o++)
    for (i = 0; i < inner; i++)
      {
        gint64 at = o * length * inner + i;
        double max = -INFINITY, sum = 0;

        for (k = 0; k < length; k++)
          max = MAX (max, (double) x[at + k * inner]);
        for (k = 0; k < length; k++)
          {
            e[k] = exp (x[at + k * inner] - max);
            sum += e[k];
          }
        for (k = 0; k < length; k++)
          y[at + k * inner] = (float) (logarithm ? x[at + k * inner] - max - log (sum) : e[k] / sum);
      }

  return TRUE;
}
