/* zero-points.c - what rounding a fractional zero point leaves of the sums of a product
 *
 *     sum (qx - z) (qw - zw[o]) = sum (qx - Z) (qw - zw[o]) + (Z - z) sum (qw - zw[o])
 *
 * Exact but for the border of a window, where padding counts as Z - z: data of 16 codes or fewer has none of that.
 * Needs constant weights, and windows that are whole everywhere: none for transposed convolutions and for products of
 * two data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-quantize-details.h"
#include "ir/lpt-weighted.h"
#include "ir/scalar/lpt-loop.h"
#include "passes/lower/lower.h"
#include "passes/support/lpt-same-code.h"

/* Steps between the ends of 16 codes, and what float32 rounds. */
#define FEW_CODES 15.5

/* By how much of a step rounding moves the zero point that is farthest from a whole number. */
double
lpt_lower_zero_point_fraction (const LptForm *form)
{
  double most = 0;

  for (guint c = 0; c < form->n; c++)
    most = MAX (most, fabs (form->b[c] / form->a[c] - round (form->b[c] / form->a[c])));

  return most;
}

/* Do the zero points of the data reach the bias (add_zero_point_rest())? */
gboolean
lpt_lower_zero_point_has_sum (LptNode       *node,
                              const LptForm *w)
{
  LptWeightedView view;

  if (!lpt_weighted_view (node, &view) || w->q->producer->data == NULL || view.transposed)
    return FALSE;

  return view.window || LPT_ATTRS (node, LptMatMulAttrs)->transpose_b || w->q->shape.rank == 2;
}

/* How many steps lie between the ends of the codes, at most. */
static double
steps_of (const LptForm *form)
{
  double steps = (form->hi - form->lo) / form->a[0];
  LptNode *node = form->q != NULL ? form->q->producer : NULL;

  for (guint c = 1; c < form->n; c++)
    steps = MAX (steps, (form->hi - form->lo) / form->a[c]);
  while (node != NULL && node->op == LPT_OP_REINTERPRET)
    node = lpt_node_src (node, 0);
  if (node != NULL && node->op == LPT_OP_CLAMP && node->out[0].quant != NULL && node->out[0].quant->n == 1)
    steps = MIN (steps, (LPT_ATTRS (node, LptClampAttrs)->max - LPT_ATTRS (node, LptClampAttrs)->min) /
                            node->out[0].quant->scale[0]);

  return steps;
}

/* Has the border of a window more of a step than data of so few codes can lose: half of one in 15? */
gboolean
lpt_lower_zero_point_shows (LptNode       *node,
                            const LptForm *form)
{
  LptWeightedView view;
  gboolean padded;
  guint d;

  if (!lpt_weighted_view (node, &view) || !view.window || lpt_lower_zero_point_fraction (form) <= LPT_ZERO_POINT_COARSE)
    return FALSE;
  padded = view.auto_pad == LPT_AUTO_PAD_SAME_UPPER || view.auto_pad == LPT_AUTO_PAD_SAME_LOWER;
  for (d = 0; d < view.pads_begin->n && view.auto_pad != LPT_AUTO_PAD_VALID; d++)
    padded |= view.pads_begin->v[d] > 0;
  for (d = 0; d < view.pads_end->n && view.auto_pad != LPT_AUTO_PAD_VALID; d++)
    padded |= view.pads_end->v[d] > 0;

  return padded && steps_of (form) < FEW_CODES;
}

/* For each output channel the sum over the weights of (qw - zw) times what rounding the zero point of their input
 * channel leaves, in real numbers of the input: added to @real[o], which has @n values, times sw[o]. */
void
lpt_lower_zero_point_rest (LptNode       *node,
                           const LptForm *x,
                           const LptForm *w,
                           gint64         channels,
                           double       **real,
                           guint         *n)
{
  LptTensor *tensor = w->q->producer->data;
  g_autofree double *rest = g_new0 (double, x->n);
  g_autofree double *sum = NULL;
  const LptShape *shape = &w->q->shape;
  LptWeightedView view;
  gint64 total, outer, inner, groups, window, i;
  gboolean columns, any = FALSE;
  guint c;

  for (c = 0; c < x->n; c++)
    {
      rest[c] = x->b[c] + x->a[c] * lpt_form_zero (x, c);
      if (lpt_same_code (-x->b[c] / x->a[c], lpt_form_zero (x, c), x->q->dtype))
        rest[c] = 0;
      any |= rest[c] != 0;
    }
  if (!any || channels == 0 || !lpt_lower_zero_point_has_sum (node, w))
    return;
  lpt_weighted_view (node, &view);
  columns = !view.window && !LPT_ATTRS (node, LptMatMulAttrs)->transpose_b;
  total = lpt_tensor_count (tensor);
  outer = channels;
  inner = total / outer;
  groups = lpt_weighted_groups (&view, shape);
  window = view.window ? lpt_dims_product (shape, view.kernel, shape->rank) : 1;
  sum = g_new0 (double, outer);
  for (i = 0; i < total; i++)
    {
      gint64 o = columns ? i % outer : i / inner;
      gint64 in_group = view.window ? i % inner / window : 0;
      gint64 per_group = inner / window;
      guint from = x->n == 1 ? 0 : (guint) (o / (outer / groups) * per_group + in_group);
      guint k = w->n == 1 ? 0 : (guint) o;

      sum[o] += rest[from] * ((double) lpt_tensor_get_i64 (tensor, i) - lpt_form_zero (w, k)) * w->a[k];
    }
  if (*n == 1)
    {
      double *spread = g_new (double, outer);

      for (i = 0; i < outer; i++)
        spread[i] = **real;
      g_free (*real);
      *real = spread;
      *n = (guint) outer;
    }
  for (i = 0; i < outer; i++)
    (*real)[i] += sum[i];
}
