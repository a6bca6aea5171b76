/* lpt-sum-steps.c - the steps in which the sums of a product of codes count
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-sum-steps.h"

#include <math.h>

/* What single precision leaves of a step: both scales, their product, and that as it is read, rounded. */
#define ROUNDED (4.0 / (1 << 24))

gint64
lpt_weighted_parameter (const LptQuant *quant, gint group_axis, gint64 groups, gint64 per_group, gint64 channel)
{
  if (quant->n == groups * per_group)
    return channel;
  if (quant->n == groups && quant->axis == group_axis)
    return channel / per_group;
  if (quant->n == per_group && quant->axis != group_axis)
    return channel % per_group;
  return quant->n == 1 ? 0 : -1;
}

static LptQuant *
steps_of (guint n, const double *scale, gint axis)
{
  for (guint c = 1; c < n; c++)
    if (scale[c] != scale[0])
      return lpt_quant_new (axis, n, scale, NULL);
  return lpt_quant_new_one (scale[0], 0);
}

static LptQuant *
window_steps (const LptWeightedView *view, const LptQuant *x, const LptQuant *w, const LptShape *weights, gint axis)
{
  if (!lpt_shape_is_static (weights))
    return NULL;
  const gint64 groups = lpt_weighted_groups (view, weights), per_group = weights->dims[view->out],
               in_group = weights->dims[view->in], n = groups * per_group;
  if (n < 1 || n > G_MAXUINT16 || (x->n > 1 && (x->axis != 1 || x->n != groups * in_group)))
    return NULL;
  g_autofree double *scale = g_new (double, (gsize) n);
  for (gint64 c = 0; c < n; c++)
    {
      const gint64 k = lpt_weighted_parameter (w, view->grouped ? 0 : -2, groups, per_group, c);
      if (k < 0)
        return NULL;
      scale[c] = x->scale[x->n == 1 ? 0 : c / per_group * in_group] * w->scale[k];
    }
  return steps_of ((guint) n, scale, axis);
}

static LptQuant *
matrix_steps (const LptNode *node, const LptQuant *x, const LptQuant *w, const LptShape *weights, gint axis)
{
  const gint columns = weights->rank - (LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ? 2 : 1);
  if (x->n > 1 || (w->n > 1 && w->axis != columns))
    return NULL;
  g_autofree double *scale = g_new (double, w->n);
  for (guint c = 0; c < w->n; c++)
    scale[c] = x->scale[0] * w->scale[c];
  return steps_of (w->n, scale, axis);
}

LptQuant *
lpt_weighted_sum_steps (const LptNode *node, const LptQuant *x, const LptQuant *w, const LptShape *weights, gint axis)
{
  LptWeightedView view;
  if (!lpt_weighted_view (node, &view))
    return NULL;
  return view.window ? window_steps (&view, x, w, weights, axis) : matrix_steps (node, x, w, weights, axis);
}

gboolean
lpt_quant_same_numbers (const LptQuant *a, const LptQuant *b)
{
  const guint n = MAX (a->n, b->n);
  gboolean same = (a->n == n || a->n == 1) && (b->n == n || b->n == 1);
  for (guint c = 0; c < n && same; c++)
    {
      const guint i = a->n == 1 ? 0 : c, k = b->n == 1 ? 0 : c;
      same = a->zero_point[i] == b->zero_point[k] && fabs (a->scale[i] - b->scale[k]) <= ROUNDED * fabs (b->scale[k]);
    }
  return same;
}

/* Sums of another scale are made of these where they are read as codes (sum-steps.c in passes/lower). */
static gboolean
sums_leave_steps (LptNode *node, const LptValue *value)
{
  const LptValue *x = lpt_node_in (node, 0), *w = lpt_node_in (node, 1);
  if (x == NULL || w == NULL || x->quant == NULL || w->quant == NULL)
    return TRUE;
  g_autoptr (LptQuant) steps = lpt_weighted_sum_steps (node, x->quant, w->quant, &w->shape, 1);
  return steps == NULL || !lpt_quant_same_numbers (value->quant, steps);
}

gboolean
lpt_node_leaves_steps (LptNode *node, const LptValue *value)
{
  const gboolean computes = (node->info->flags & LPT_OP_F_COMPUTE) != 0;
  gboolean leaves = FALSE;
  if (node->op == LPT_OP_REINTERPRET)
    return FALSE;
  if ((node->info->flags & LPT_OP_F_QUANTIZES) != 0 || (computes && value->dtype != LPT_DTYPE_I32))
    return TRUE;
  if ((node->info->flags & LPT_OP_F_WEIGHTED) != 0)
    return sums_leave_steps (node, value);
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *in = lpt_node_in (node, i);
      if (in != NULL && (in->quant != NULL || lpt_dtype_is_real (in->dtype)))
        leaves = leaves || in->quant == NULL || !lpt_quant_equal (in->quant, value->quant);
    }
  return leaves;
}
