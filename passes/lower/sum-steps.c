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
#include "ir/lpt-sum-steps.h"
#include "passes/lower/fit.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

static LptQuant *
sum_steps (LptNode *node, gint axis)
{
  const LptValue *x = lpt_node_in (node, 0), *w = lpt_node_in (node, 1);
  if (x == NULL || w == NULL || x->quant == NULL || w->quant == NULL)
    return NULL;
  return lpt_weighted_sum_steps (node, x->quant, w->quant, &w->shape, axis);
}

static gboolean
settle_bias (LptGraph *graph, LptNode *node, const LptWeightedView *view, gboolean change)
{
  LptValue *bias = view->bias < node->n_in ? lpt_node_in (node, view->bias) : NULL;
  g_autoptr (LptQuant) steps = sum_steps (node, 0);
  if (bias == NULL || !lpt_dtype_is_integer (bias->dtype) || bias->quant == NULL || steps == NULL
      || lpt_quant_same_numbers (bias->quant, steps)
      || (steps->n > 1 && (bias->shape.rank != 1 || bias->shape.dims[0] != steps->n)))
    return FALSE;
  if (!change)
    return TRUE;
  if (bias->producer->data == NULL)
    {
      lpt_node_set_input (node, view->bias, lpt_fit_convert (graph, LPT_OP_REINTERPRET, bias, bias->dtype, steps));
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
  g_autoptr (LptQuant) steps = sum_steps (node, view->window ? 1 : y->shape.rank - 1);
  if (y->dtype != LPT_DTYPE_I32 || y->quant == NULL || steps == NULL || lpt_quant_same_numbers (y->quant, steps))
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
