/* lpt-plan-query.c - what a plan tells about itself
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "ir/lpt-value-name.h"
#include "ir/scalar/lpt-loop.h"
#include "executor/lpt-plan.h"
#include "executor/program/lpt-program-print.h"

guint
lpt_plan_n_inputs (const LptPlan *plan)
{
  return plan->program->graph->parameters->len;
}

const char *
lpt_plan_input_name (const LptPlan *plan,
                     guint          i)
{
  return ((LptNode *) g_ptr_array_index (plan->program->graph->parameters, i))->name;
}

const LptShape *
lpt_plan_input_shape (const LptPlan *plan,
                      guint          i)
{
  return &plan->program->inputs[i]->array.shape;
}

LptDType
lpt_plan_input_dtype (const LptPlan *plan,
                      guint          i)
{
  return plan->program->inputs[i]->array.declared;
}

guint
lpt_plan_n_outputs (const LptPlan *plan)
{
  return plan->program->graph->results->len;
}

const char *
lpt_plan_output_name (const LptPlan *plan,
                      guint          i)
{
  return lpt_result_name (g_ptr_array_index (plan->program->graph->results, i));
}

static gboolean
is_constant (const LptProgramValue *value)
{
  return value->origin->producer->op == LPT_OP_CONST;
}

guint
lpt_plan_n_values (const LptPlan *plan)
{
  guint i, n = 0;

  for (i = 0; i < plan->program->n_values; i++)
    n += !is_constant (plan->program->values->pdata[i]);

  return n;
}

LptProgramValue *
lpt_plan_value (const LptPlan *plan,
                guint          i)
{
  guint k;

  for (k = 0; k < plan->program->n_values; k++)
    if (!is_constant (plan->program->values->pdata[k]) && i-- == 0)
      return plan->program->values->pdata[k];

  return NULL;
}

char *
lpt_plan_value_name (const LptPlan *plan,
                     guint          i)
{
  const LptProgramValue *value = lpt_plan_value (plan, i);

  g_return_val_if_fail (value != NULL, NULL);

  return lpt_value_name (value->origin);
}

/* From what the function of the node is called with: a prepared op on codes, or arrays in the storage of lpt-call.h. */
LptDType
lpt_plan_op_ran_in (const LptProgramOp *op,
                    const LptArray     *arrays)
{
  LptDType result = LPT_DTYPE_UNDEFINED;
  guint first = lpt_node_first_operand (op->node), i;
  guint weights = lpt_node_coded_weights (op->node);

  if (op->row->flags & LPT_EXEC_NONE && op->integer == NULL)
    return LPT_DTYPE_UNDEFINED;
  if (weights > 0 && weights < op->n_in && op->in[weights] != NULL)
    return arrays[op->in[weights]->index].dtype;
  if ((op->node->info->flags & LPT_OP_F_SHAPE) != 0 && op->n_out > 0)
    return arrays[op->out[0]->index].declared;
  for (i = first; i < (op->integer != NULL ? first + 1 : lpt_node_n_operands (op->node)); i++)
    if (op->in[i] != NULL)
      {
        const LptArray *array = &arrays[op->in[i]->index];
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

  for (i = 0; i < plan->program->n_nodes; i++)
    sum += lpt_program_op_macs (plan->program->nodes->pdata[i]);

  return sum;
}

char *
lpt_plan_to_text (const LptPlan   *plan,
                  LptPlanTextFlags flags)
{
  return lpt_program_to_text (plan->program, flags);
}

void
lpt_plan_print (const LptPlan   *plan,
                LptPlanTextFlags flags)
{
  g_autofree char *text = lpt_plan_to_text (plan, flags);

  g_print ("%s", text);
}

char *
lpt_plan_macs_line (const LptPlan *plan)
{
  return lpt_graph_macs_line (plan->program->graph);
}

gsize
lpt_plan_arena_size (const LptPlan *plan,
                     gsize         *bound)
{
  if (bound != NULL)
    *bound = plan->program->arena_bound;

  return plan->program->arena_size;
}

void
lpt_plan_memory (const LptPlan *plan,
                 LptPlanMemory *memory)
{
  const LptProgram *program = plan->program;
  const char *name;
  gsize size;
  guint i;

  *memory = (LptPlanMemory) { .arena = program->arena_size, .arena_bound = program->arena_bound };
  for (i = 0; i < lpt_pack_n_blocks (program->pack, NULL); i++)
    {
      lpt_pack_block (program->pack, i, &name, &size);
      memory->packed += size;
    }
  for (i = 0; i < program->values->len; i++)
    {
      const LptProgramValue *value = g_ptr_array_index (program->values, i);

      if (value->kind == LPT_STORAGE_CONST && value->array.data != NULL)
        memory->constants += (gsize) lpt_array_count (&value->array) * lpt_storage_size (value->array.dtype);
    }
}
