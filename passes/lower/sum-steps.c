/* sum-steps.c - products of codes whose biases and sums have the steps in which they count
 *
 *     y = op (x, w, b q{other})        =>  y = op (x, w, b q{step of x * step of w})
 *     y = op (x, w) : i32 q{other}     =>  y = Reinterpret (op (x, w) : i32 q{step of x * step of w})
 *
 * An integer product adds the codes of its bias to its sums, and an i32 output is these sums, whatever scale either of
 * them is given. Who computes with the numbers that they stand for would add, or make, others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/lower/sum-steps.h"

#include "eval/integer/lpt-int.h"
#include "ir/lpt-weighted.h"
#include "passes/lower/fit.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include <math.h>

#define TOLERANCE 1e-5    /* a scale in single precision, twice rounded, is the same */

static LptQuant *
steps_of (guint n, const double *scale, gint axis)
{
  for (guint c = 1; c < n; c++)
    if (scale[c] != scale[0])
      return lpt_quant_new (axis, n, scale, NULL);
  return lpt_quant_new_one (scale[0], 0);
}

/* Steps of the sums of a convolution, along @axis; NULL: they have none that are known. */
static LptQuant *
window_steps (const LptWeightedView *view, const LptValue *x, const LptValue *w, gint axis)
{
  if (!lpt_shape_is_static (&w->shape))
    return NULL;
  const gint64 groups = lpt_weighted_groups (view, &w->shape), per_group = w->shape.dims[view->out],
               in_group = w->shape.dims[view->in], n = groups * per_group;
  if (n < 1 || n > G_MAXUINT16 || (x->quant->n > 1 && (x->quant->axis != 1 || x->quant->n != groups * in_group)))
    return NULL;
  g_autofree double *scale = g_new (double, (gsize) n);
  for (gint64 c = 0; c < n; c++)
    {
      const gint64 k = lpt_int_weight_parameter (w->quant, view->grouped ? 0 : -2, groups, per_group, c);
      if (k < 0)
        return NULL;
      scale[c] = x->quant->scale[x->quant->n == 1 ? 0 : c / per_group * in_group] * w->quant->scale[k];
    }
  return steps_of ((guint) n, scale, axis);
}

static LptQuant *
matrix_steps (const LptNode *node, const LptValue *x, const LptValue *w, gint axis)
{
  const gint columns = w->shape.rank - (LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ? 2 : 1);
  if (x->quant->n > 1 || (w->quant->n > 1 && w->quant->axis != columns))
    return NULL;
  g_autofree double *scale = g_new (double, w->quant->n);
  for (guint c = 0; c < w->quant->n; c++)
    scale[c] = x->quant->scale[0] * w->quant->scale[c];
  return steps_of (w->quant->n, scale, axis);
}

static LptQuant *
sum_steps (LptNode *node, const LptWeightedView *view, gint axis)
{
  const LptValue *x = lpt_node_in (node, 0), *w = lpt_node_in (node, 1);
  if (x == NULL || w == NULL || x->quant == NULL || w->quant == NULL)
    return NULL;
  return view->window ? window_steps (view, x, w, axis) : matrix_steps (node, x, w, axis);
}

static gboolean
are_same (const LptQuant *a, const LptQuant *b)
{
  const guint n = MAX (a->n, b->n);
  gboolean same = (a->n == n || a->n == 1) && (b->n == n || b->n == 1);
  for (guint c = 0; c < n && same; c++)
    {
      const guint i = a->n == 1 ? 0 : c, k = b->n == 1 ? 0 : c;
      same = a->zero_point[i] == b->zero_point[k] && fabs (a->scale[i] - b->scale[k]) <= TOLERANCE * fabs (b->scale[k]);
    }
  return same;
}

static gboolean
settle_bias (LptGraph *graph, LptNode *node, const LptWeightedView *view, gboolean change)
{
  LptValue *bias = view->bias < node->n_in ? lpt_node_in (node, view->bias) : NULL;
  g_autoptr (LptQuant) steps = sum_steps (node, view, 0);
  if (bias == NULL || bias->dtype != LPT_DTYPE_I32 || bias->quant == NULL || steps == NULL
      || are_same (bias->quant, steps) || (steps->n > 1 && (bias->shape.rank != 1 || bias->shape.dims[0] != steps->n)))
    return FALSE;
  if (!change)
    return TRUE;
  if (bias->producer->data == NULL)
    {
      lpt_node_set_input (node, view->bias, lpt_fit_convert (graph, LPT_OP_REINTERPRET, bias, LPT_DTYPE_I32, steps));
      return TRUE;
    }
  LptValue *codes = lpt_node_out (lpt_graph_add_const (graph, bias->producer->name, bias->producer->data));
  lpt_value_set_quant (codes, steps);
  lpt_node_set_input (node, view->bias, codes);
  return TRUE;
}

static gboolean
settle_output (LptGraph *graph, LptNode *node, const LptWeightedView *view, gboolean change)
{
  LptValue *y = lpt_node_out (node);
  g_autoptr (LptQuant) steps = sum_steps (node, view, view->window ? 1 : y->shape.rank - 1);
  if (y->dtype != LPT_DTYPE_I32 || y->quant == NULL || steps == NULL || are_same (y->quant, steps))
    return FALSE;
  if (!change)
    return TRUE;
  g_autoptr (LptQuant) had = lpt_quant_ref (y->quant);
  lpt_value_set_quant (y, steps);
  LptValue *shown = lpt_fit_convert (graph, LPT_OP_REINTERPRET, y, LPT_DTYPE_I32, had);
  lpt_value_replace (y, shown, shown->producer);
  return TRUE;
}

/* What eval/integer has no rule for reads its bias as the numbers that it stands for, as all else. */
static gboolean
adds_codes (LptNode *node)
{
  g_autoptr (GError) why = NULL;
  if (!lpt_node_keeps_codes (node) || !lpt_int_wants (node))
    return FALSE;
  lpt_int_op_free (lpt_int_op_new (node, &why));
  return why == NULL;
}

gboolean
lpt_graph_settle_sums (LptGraph *graph, gboolean change)
{
  gboolean any = FALSE;
  for (guint i = 0, n = graph->nodes->len; i < n; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      LptWeightedView view;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        any |= lpt_graph_settle_sums (lpt_node_body (node, b), change);
      if ((node->flags & LPT_NODE_DEAD) != 0 || !lpt_weighted_view (node, &view) || !adds_codes (node))
        continue;
      any |= settle_bias (graph, node, &view, change);
      any |= settle_output (graph, node, &view, change);
    }
  return any;
}
