/* lpt-plan-query.c - what a plan tells about itself
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/lpt-loop.h"
#include "executor/lpt-plan.h"

guint
lpt_plan_n_inputs (const LptPlan *plan)
{
  return plan->graph->parameters->len;
}

const char *
lpt_plan_input_name (const LptPlan *plan,
                     guint          i)
{
  return ((LptNode *) g_ptr_array_index (plan->graph->parameters, i))->name;
}

const LptShape *
lpt_plan_input_shape (const LptPlan *plan,
                      guint          i)
{
  return &lpt_plan_slot (plan, plan->inputs[i])->array.shape;
}

LptDType
lpt_plan_input_dtype (const LptPlan *plan,
                      guint          i)
{
  return lpt_plan_slot (plan, plan->inputs[i])->array.declared;
}

guint
lpt_plan_n_outputs (const LptPlan *plan)
{
  return plan->graph->results->len;
}

const char *
lpt_plan_output_name (const LptPlan *plan,
                      guint          i)
{
  return lpt_result_name (g_ptr_array_index (plan->graph->results, i));
}

guint
lpt_plan_n_values (const LptPlan *plan)
{
  guint i, n = 0;

  for (i = 0; i < plan->slots->len; i++)
    n += lpt_plan_slot (plan, i)->value->producer->op != LPT_OP_CONST;

  return n;
}

/* Slot of the @i-th value that is no Constant of the graph. */
static guint
nth_value (const LptPlan *plan,
           guint          i)
{
  guint k;

  for (k = 0; k < plan->slots->len; k++)
    if (lpt_plan_slot (plan, k)->value->producer->op != LPT_OP_CONST && i-- == 0)
      return k;

  return LPT_NO_SLOT;
}

guint
lpt_plan_value_slot (const LptPlan *plan,
                     guint          i)
{
  return nth_value (plan, i);
}

char *
lpt_plan_value_name (const LptPlan *plan,
                     guint          i)
{
  guint k = nth_value (plan, i);
  const LptValue *value;

  g_return_val_if_fail (k != LPT_NO_SLOT, NULL);
  value = lpt_plan_slot (plan, k)->value;

  return value->index == 0 ? g_strdup (value->producer->name)
                           : g_strdup_printf ("%s.%u", value->producer->name, value->index);
}

gint64
lpt_plan_step_macs (const LptPlan *plan,
                    const LptStep *step)
{
  const LptShape *x, *w, *y;
  gboolean back = step->node->op == LPT_OP_CONVOLUTION_BACKPROP_DATA || step->node->op == LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA;
  gboolean grouped = step->node->op == LPT_OP_GROUP_CONVOLUTION || step->node->op == LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA;

  if (step->folded || step->n_in < 2 || step->n_out < 1 || step->in[0] == LPT_NO_SLOT || step->in[1] == LPT_NO_SLOT)
    return 0;
  x = &lpt_plan_slot (plan, step->in[0])->array.shape;
  w = &lpt_plan_slot (plan, step->in[1])->array.shape;
  y = &lpt_plan_slot (plan, step->out[0])->array.shape;
  if (!lpt_shape_is_static (x) || !lpt_shape_is_static (w) || !lpt_shape_is_static (y))
    return 0;
  if (step->node->op == LPT_OP_MATMUL)
    {
      gboolean transposed = LPT_ATTRS (step->node, LptMatMulAttrs)->transpose_a && x->rank > 1;

      return x->rank < 1 ? 0 : lpt_dims_product (y, 0, y->rank) * x->dims[x->rank - (transposed ? 2 : 1)];
    }
  /* Each output (transposed: each input) meets the weights of its channel. */
  if (step->node->op == LPT_OP_CONVOLUTION || back || grouped)
    return lpt_dims_product (back ? x : y, 0, (back ? x : y)->rank) * lpt_dims_product (w, grouped ? 2 : 1, w->rank);

  return 0;
}

gint64
lpt_plan_macs (const LptPlan *plan)
{
  gint64 sum = 0;
  guint i;

  for (i = 0; i < plan->steps->len; i++)
    sum += lpt_plan_step_macs (plan, lpt_plan_step (plan, i));

  return sum;
}

gsize
lpt_plan_arena_size (const LptPlan *plan,
                     gsize         *bound)
{
  if (bound != NULL)
    *bound = plan->arena_bound;

  return plan->arena_size;
}
