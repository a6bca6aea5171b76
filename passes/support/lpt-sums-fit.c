/* lpt-sums-fit.c - are integers exact as real numbers of single precision?
 *
 *     sum (x - z) (w - y) + b        where  max |x - z| sum |w - y| + |b| < 2^24  for each output
 *
 * All sums on the way are such, too, in whatever order they are added. Other ops of codes of 16 bits or less are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-sums-fit.h"

#include <math.h>

#include "ir/lpt-weighted.h"

/* The greatest magnitude of what codes of @value stand for, in steps; with a zero point that is one of them, if
 * @open. */
static double
reach (const LptValue *value,
       gboolean        open)
{
  const double zero = value->quant->zero_point[0], low = lpt_dtype_min (value->dtype);
  const double high = lpt_dtype_max (value->dtype);

  return open ? high - low : MAX (high - zero, zero - low);
}

static double
greatest (const double *values,
          gint64        n)
{
  double most = 0;

  for (gint64 i = 0; i < n; i++)
    most = MAX (most, fabs (values[i]));

  return most;
}

/* The axis of the weights along which outputs lie. */
static gint
axis_of_outputs (const LptNode         *node,
                 const LptWeightedView *view,
                 gint                   rank)
{
  if (view->window)
    return view->out;
  return rank - (LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ? 2 : 1);
}

/* The greatest sum of magnitudes of the weights of one output, in steps: of constants, else what their type and number
 * allow. Of matrices behind each other it is that of all of them. */
static double
reach_of_weights (LptNode               *node,
                  const LptWeightedView *view)
{
  const LptValue *value = lpt_node_in (node, 1);
  const LptShape *shape = &value->shape;
  const gint axis = axis_of_outputs (node, view, shape->rank);
  LptTensor *data = value->producer->data;
  g_autofree double *codes = data != NULL ? lpt_tensor_to_f64 (data, NULL) : NULL;
  g_autofree double *sum = NULL;
  gint64 n, outs, groups, behind = 1, run;

  if (axis < 0 || !lpt_shape_count (shape, &n) || n == 0)
    return INFINITY;
  outs = shape->dims[axis];
  groups = lpt_weighted_groups (view, shape);
  if (codes == NULL)
    return data == NULL && value->quant->n == 1 ? reach (value, FALSE) * (double) (n / outs / groups) : INFINITY;
  run = MAX (lpt_quant_run (value->quant, shape), 1);
  for (gint i = axis + 1; i < shape->rank; i++)
    behind *= shape->dims[i];
  sum = g_new0 (double, (gsize) (outs * groups) + 1);
  for (gint64 i = 0; i < n; i++)
    sum[i / behind % outs + i / (n / groups) * outs] += fabs (codes[i] - value->quant->zero_point[i / run %
                                                                                                   value->quant->n]);

  return greatest (sum, outs * groups);
}

gboolean
lpt_node_sums_fit (LptNode *node)
{
  const double limit = 1 << 24;
  LptWeightedView view;
  LptValue *x, *bias;
  g_autofree double *added = NULL;
  double most;

  if (!lpt_weighted_view (node, &view))
    {
      for (guint i = 0; i < node->n_in; i++)
        if (lpt_node_in (node, i) != NULL && lpt_node_in (node, i)->quant != NULL &&
            lpt_dtype_bits (lpt_node_in (node, i)->dtype) > 16)
          return FALSE;
      return TRUE;
    }
  x = lpt_node_in (node, 0);
  bias = lpt_node_in (node, view.bias);
  if (x->quant == NULL || x->quant->n > 1 || lpt_node_in (node, 1)->quant == NULL ||
      (bias != NULL && bias->producer->data == NULL))
    return FALSE;
  most = reach (x, lpt_node_in (node, view.zero) != NULL) * reach_of_weights (node, &view);
  if (bias == NULL || !(most < limit))
    return most < limit;
  added = lpt_tensor_to_f64 (bias->producer->data, NULL);

  return added != NULL && most + greatest (added, lpt_tensor_count (bias->producer->data)) < limit;
}
