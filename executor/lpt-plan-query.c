/* lpt-plan-query.c - what a plan tells about itself
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "ir/scalar/lpt-loop.h"
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
  if (step->folded || step->n_in < 2 || step->n_out < 1 || step->in[0] == LPT_NO_SLOT || step->in[1] == LPT_NO_SLOT)
    return 0;

  return MAX (0, lpt_node_macs_for (step->node, &lpt_plan_slot (plan, step->in[0])->array.shape,
                                    &lpt_plan_slot (plan, step->in[1])->array.shape, &lpt_plan_slot (plan, step->out[0])->array.shape));
}

/* From what the function of the step is called with: a prepared op on codes, or arrays in the storage of lpt-call.h. */
LptDType
lpt_plan_step_ran_in (const LptPlan  *plan,
                      const LptStep  *step,
                      const LptArray *arrays)
{
  LptDType result = LPT_DTYPE_UNDEFINED;
  guint first = lpt_node_first_operand (step->node), i;

  if (step->row->flags & LPT_EXEC_NONE && step->integer == NULL)
    return LPT_DTYPE_UNDEFINED;
  if ((step->node->info->flags & LPT_OP_F_SHAPE) != 0 && step->n_out > 0)
    return arrays[step->out[0]].declared;
  for (i = first; i < (step->integer != NULL ? first + 1 : lpt_node_n_operands (step->node)); i++)
    if (step->in[i] != LPT_NO_SLOT)
      {
        const LptArray *array = &arrays[step->in[i]];
        LptDType dtype = array->dtype == LPT_DTYPE_I64 ? array->declared : array->dtype;

        if (result == LPT_DTYPE_UNDEFINED || dtype == LPT_DTYPE_F32)
          result = dtype;
      }

  return result;
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

char *
lpt_plan_macs_line (const LptPlan *plan)
{
  return lpt_graph_macs_line (plan->graph);
}

gsize
lpt_plan_arena_size (const LptPlan *plan,
                     gsize         *bound)
{
  if (bound != NULL)
    *bound = plan->arena_bound;

  return plan->arena_size;
}
