/* zero-points.c - what rounding a fractional zero point leaves of the sums of a product
 *
 *     sum (qx - z) (qw - zw[o]) = sum (qx - Z) (qw - zw[o]) + (Z - z) sum (qw - zw[o])
 *
 * Exact but for the border of a window, where padding counts as Z - z. Needs constant weights, and windows that are
 * whole everywhere: none for transposed convolutions and for products of two data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-weighted.h"
#include "ir/scalar/lpt-loop.h"
#include "passes/lower/lower.h"

/* A zero point that is whole but for what float32 rounds. */
#define WHOLE 1e-3

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
  gboolean columns;
  guint c;

  for (c = 0; c < x->n; c++)
    {
      rest[c] = x->b[c] + x->a[c] * round (-x->b[c] / x->a[c]);
      if (fabs (rest[c]) < WHOLE * x->a[c])
        rest[c] = 0;
    }
  if (lpt_lower_zero_point_fraction (x) < WHOLE || channels == 0 || !lpt_lower_zero_point_has_sum (node, w))
    return;      /* rounded half away from zero */
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

      sum[o] += rest[from] * ((double) lpt_tensor_get_i64 (tensor, i) - round (-w->b[k] / w->a[k])) * w->a[k];
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
