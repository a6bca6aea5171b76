/* lpt-context.c - contexts: memory, inputs, outputs, profile
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-work.h>

#include "executor/lpt-context.h"
#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-loop.h"

static LptProfileRow *
profile_new (const LptProgram *program)
{
  LptProfileRow *rows = g_new0 (LptProfileRow, program->n_nodes + 1);
  guint i;

  for (i = 0; i < program->n_nodes; i++)
    {
      const LptProgramOp *op = program->nodes->pdata[i];

      rows[i].name = op->node->name;
      rows[i].type = op->node->info->name;
      rows[i].kernel = "";
      if (op->fused_into != NULL)
        rows[i].fused_into = lpt_program_owner (op)->node->name;
      if (op->n_out > 0)
        rows[i].shape = op->out[0]->array.shape;
      rows[i].macs = lpt_program_op_macs (op);
      rows[i].runs_in = lpt_node_runs_in (op->node);
    }

  return rows;
}

/* Room for the addresses of all operands and, behind them, of what an op keeps. Returns the bytes of all of that. */
static gsize
count_addresses (LptPlanContext *context)
{
  const GPtrArray *ops = context->plan->program->ops;
  gsize kept = 0;
  guint i, n = 0;

  context->first = g_new (guint, ops->len + 1);
  for (i = 0; i < ops->len; i++)
    {
      const LptProgramOp *op = ops->pdata[i];

      context->first[i] = n;
      n += op->has_form ? op->form.n_in + 1 + op->form.n_more + 1 : 0;
      kept += op->has_form ? op->form.kept : 0;
    }
  context->addresses = g_new0 (guint8 *, n + 1);

  return kept;
}

static void
place_kept (LptPlanContext *context,
            guint8         *at)
{
  const GPtrArray *ops = context->plan->program->ops;
  guint i;

  for (i = 0; i < ops->len; i++)
    {
      const LptProgramOp *op = ops->pdata[i];

      if (!op->has_form || op->form.kept == 0)
        continue;
      context->addresses[context->first[i] + op->form.n_in + 1 + op->form.n_more] = at;
      at += op->form.kept;
    }
}

/* What a run goes through, found once: of networks of a few hundred products it is a good part of the time to ask each
 * op again. */
static void
list_steps (LptPlanContext *context)
{
  const GPtrArray *ops = context->plan->program->ops;
  guint i;

  context->steps = g_new (LptRunStep, ops->len + 1);
  for (i = 0; i < ops->len; i++)
    {
      const LptProgramOp *op = ops->pdata[i];
      guint8 *const *in = context->addresses + context->first[i];

      if (op->folded || (op->has_form && (op->form.run == NULL || op->form.tasks == 0)))
        continue;
      context->steps[context->n_steps++] = (LptRunStep) {
        .op = op, .at = i, .run = op->has_form ? op->form.run : NULL, .tasks = op->has_form ? op->form.tasks : 1,
        .data = { .in = in, .more = in + op->form.n_in + 1, .workspace = context->workspace,
                  .kept = op->has_form ? in[op->form.n_in + 1 + op->form.n_more] : NULL } };
    }
}

/* Variables by name, once. */
static void
bind_states (LptPlanContext *context)
{
  const GPtrArray *ops = context->plan->program->ops;
  guint i;

  context->states = lpt_states_new ();
  for (i = 0; i < ops->len; i++)
    {
      const LptProgramOp *op = ops->pdata[i];

      if (op->has_form || op->node == NULL || (op->node->op != LPT_OP_READ_VALUE && op->node->op != LPT_OP_ASSIGN))
        continue;
      if (context->state_of == NULL)
        context->state_of = g_new0 (LptState *, ops->len);
      context->state_of[i] = lpt_states_get (context->states, LPT_ATTRS (op->node, LptVariableAttrs)->variable_id);
    }
}

static guint8 *
address_of (const LptPlanContext  *context,
            const LptProgramValue *value)
{
  const LptProgramValue *storage = value->kind == LPT_STORAGE_VIEW ? value->in : value;
  gsize at = value->kind == LPT_STORAGE_VIEW ? value->offset : 0;

  if (storage->kind == LPT_STORAGE_ARENA)
    return context->arena + storage->offset + at;

  return context->arrays[storage->index].data != NULL ? (guint8 *) context->arrays[storage->index].data + at : NULL;
}

void
lpt_plan_context_bind (LptPlanContext *context)
{
  const LptProgram *program = context->plan->program;
  guint i, k, more;

  for (i = 0; i < program->values->len; i++)
    {
      const LptProgramValue *value = program->values->pdata[i];

      if (value->kind == LPT_STORAGE_ARENA || value->kind == LPT_STORAGE_VIEW)
        context->arrays[i].data = address_of (context, value);
    }
  for (i = 0; i < program->ops->len; i++)
    {
      const LptProgramOp *op = program->ops->pdata[i];
      guint8 **to = context->addresses + context->first[i];

      for (k = 0; op->has_form && k < op->form.n_in; k++)
        to[k] = context->arrays[op->form.in[k].value->index].data;
      if (op->has_form)
        to[k++] = context->arrays[op->form.out->index].data;
      for (more = 0; op->has_form && more < op->form.n_more; more++)
        to[k++] = context->arrays[op->form.more[more]->index].data;
    }
  for (i = 0; i < context->n_steps; i++)
    if (context->steps[i].run != NULL)
      context->steps[i].data.out = context->steps[i].data.in[context->steps[i].op->form.n_in];
  context->bound = TRUE;
}

LptPlanContext *
lpt_plan_context_new_on (const LptPlan *plan,
                         LptPool       *pool,
                         GError       **error)
{
  g_autoptr (LptPlanContext) context = g_new0 (LptPlanContext, 1);
  const LptProgram *program = plan->program;
  gsize work = program->workspace * lpt_pool_n_threads (pool), kept;
  guint i;

  context->plan = plan;
  context->trips = &context->own_trips;
  context->pool = pool;
  context->runner = plan->program->overlaps->len > 0 ? lpt_loop_runner_new (pool) : NULL;
  context->run_loops = context->runner != NULL ? lpt_loop_runner_run : NULL;
  context->arrays = g_new0 (LptArray, program->values->len + 1);
  context->inputs = g_new0 (LptTensor *, program->n_inputs + 1);
  context->in = g_new0 (LptArray, program->max_in + 1);
  context->out = g_new0 (LptArray, program->max_out + 1);
  context->scratch = lpt_scratch_new ();
  context->twins = lpt_call_twins_new ();
  context->bodies = lpt_run_bodies_new ();
  bind_states (context);
  if (program->flags & LPT_PLAN_PROFILE)
    context->profile = profile_new (program);
  for (i = 0; i < program->values->len; i++)
    {
      context->arrays[i] = ((const LptProgramValue *) program->values->pdata[i])->array;
      context->arrays[i].owned = FALSE;
      context->dynamic |= ((const LptProgramValue *) program->values->pdata[i])->kind == LPT_STORAGE_DYNAMIC;
    }
  kept = count_addresses (context);
  context->arena = lpt_aligned_alloc (program->arena_size + work + kept, error);
  if (context->arena == NULL)
    return NULL;
  context->workspace = context->arena + program->arena_size;
  memset (context->workspace + work, 0, kept);
  place_kept (context, context->workspace + work);
  list_steps (context);
  lpt_plan_context_bind (context);

  return g_steal_pointer (&context);
}

LptPlanContext *
lpt_plan_context_new (const LptPlan *plan,
                      guint          n_threads,
                      GError       **error)
{
  LptPool *pool = lpt_pool_new (n_threads);
  LptPlanContext *context = lpt_plan_context_new_on (plan, pool, error);

  if (context == NULL)
    lpt_pool_free (pool);
  else
    context->owns_pool = TRUE;

  return context;
}

void
lpt_plan_context_free (LptPlanContext *context)
{
  guint i;

  if (context == NULL)
    return;
  for (i = 0; i < context->plan->program->values->len; i++)
    lpt_array_clear (&context->arrays[i]);
  for (i = 0; i < lpt_plan_n_inputs (context->plan); i++)
    g_clear_pointer (&context->inputs[i], lpt_tensor_unref);
  g_ptr_array_unref (context->bodies);
  lpt_states_free (context->states);
  lpt_scratch_free (context->scratch);
  g_hash_table_unref (context->twins);
  lpt_aligned_free (context->arena);
  lpt_loop_runner_free (context->runner);
  if (context->owns_pool)
    lpt_pool_free (context->pool);
  g_free (context->arrays);
  g_free (context->addresses);
  g_free (context->first);
  g_free (context->steps);
  g_free (context->state_of);
  g_free (context->inputs);
  g_free (context->in);
  g_free (context->out);
  lpt_trace_free (context->trace);
  g_free (context->profile);
  g_free (context);
}

/* --- inputs and outputs --- */

static gboolean
check_input (const LptPlan  *plan,
             guint           i,
             const LptShape *shape,
             GError        **error)
{
  g_autofree char *is = NULL, *wanted = NULL;

  if (lpt_shape_equal (shape, lpt_plan_input_shape (plan, i)))
    return TRUE;
  is = lpt_shape_to_string (shape);
  wanted = lpt_shape_to_string (lpt_plan_input_shape (plan, i));
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" has shape [%s], needs [%s]",
               lpt_plan_input_name (plan, i), is, wanted);

  return FALSE;
}

gboolean
lpt_plan_context_set_input (LptPlanContext *context,
                            guint           i,
                            LptTensor      *tensor,
                            GError        **error)
{
  const LptPlan *plan = context->plan;
  const LptArray *slot;
  g_autoptr (LptTensor) held = NULL, bits = NULL;
  LptArray array;

  g_return_val_if_fail (i < lpt_plan_n_inputs (plan), FALSE);

  if (!check_input (plan, i, lpt_tensor_shape (tensor), error))
    return FALSE;
  slot = &plan->program->inputs[i]->array;
  /* NumPy has neither bf16 nor smaller floats: u16 and u8 are their bits. */
  if (lpt_dtype_is_bits (slot->declared, lpt_tensor_dtype (tensor)))
    tensor = bits = lpt_tensor_from_bits (tensor, slot->declared, error);
  if (tensor == NULL)
    return FALSE;
  /* Codes from a real array round; everything else converts element by element. */
  held = slot->quant != NULL && lpt_dtype_is_real (lpt_tensor_dtype (tensor))
         ? lpt_tensor_convert_round (tensor, slot->dtype, LPT_ROUND_HALF_EVEN, error) : lpt_tensor_ref (tensor);
  if (held == NULL || !lpt_array_from_tensor (&array, held, slot->declared, slot->quant, error))
    return FALSE;

  lpt_array_clear (&context->arrays[plan->program->inputs[i]->index]);
  context->arrays[plan->program->inputs[i]->index] = array;
  g_clear_pointer (&context->inputs[i], lpt_tensor_unref);
  context->inputs[i] = g_steal_pointer (&held);
  context->bound = FALSE;

  return TRUE;
}

gboolean
lpt_plan_context_set_array (LptPlanContext *context,
                            guint           i,
                            const LptArray *array,
                            GError        **error)
{
  const LptPlan *plan = context->plan;
  LptArray *slot = &context->arrays[plan->program->inputs[i]->index];

  if (!check_input (plan, i, &array->shape, error))
    return FALSE;
  if (array->dtype == slot->dtype)
    {
      lpt_array_clear (slot);
      slot->data = array->data;
      context->bound = FALSE;
      return TRUE;
    }
  else
    {
      g_autoptr (LptTensor) tensor = lpt_array_to_tensor (array, slot->dtype, error);

      return tensor != NULL && lpt_plan_context_set_input (context, i, tensor, error);
    }
}

const LptArray *
lpt_plan_context_output_array (LptPlanContext *context,
                               guint           i)
{
  return &context->arrays[context->plan->program->outputs[i]->index];
}

static LptTensor *
read_array (const LptPlanContext *context,
            const LptArray       *array,
            LptDType              dtype,
            GError              **error)
{
  if (!context->ran || array->data == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the value has not been computed");
      return NULL;
    }

  return lpt_array_to_tensor (array, dtype, error);
}

/* Are all elements, held as f32, values of the declared integer type? */
static gboolean
holds_integers (const LptArray *array)
{
  const float *x = array->data;
  const float low = (float) lpt_dtype_min (array->declared), high = (float) lpt_dtype_max (array->declared);
  gint64 i, count = x != NULL ? lpt_array_count (array) : 0;

  for (i = 0; i < count; i++)
    if (!(x[i] >= low && x[i] <= high && x[i] == nearbyintf (x[i])))
      return FALSE;

  return TRUE;
}

/* As the graph declares it; the reference run of a graph that is not lowered rounds nothing, so its real values are
 * f32, and so are those that their small integer type cannot hold (300 as u8). 4-bit types have a byte each. */
static LptDType
output_dtype (const LptPlan  *plan,
              const LptArray *array)
{
  if ((plan->program->flags & LPT_PLAN_REFERENCE) && !plan->program->graph->lowered &&
      (lpt_dtype_is_real (array->declared) || (array->dtype == LPT_DTYPE_F32 && !holds_integers (array))))
    return LPT_DTYPE_F32;
  if (lpt_dtype_is_integer (array->declared) && lpt_dtype_bits (array->declared) < 8)
    return lpt_dtype_kind (array->declared) == LPT_KIND_SINT ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  return array->declared;
}

LptTensor *
lpt_plan_context_output (LptPlanContext *context,
                         guint           i,
                         GError        **error)
{
  const LptArray *array;

  g_return_val_if_fail (i < lpt_plan_n_outputs (context->plan), NULL);
  array = lpt_plan_context_output_array (context, i);

  return read_array (context, array, output_dtype (context->plan, array), error);
}

LptTensor *
lpt_plan_context_value (LptPlanContext *context,
                        guint           i,
                        GError        **error)
{
  const LptProgramValue *value = lpt_plan_value (context->plan, i);
  const LptArray *array;

  g_return_val_if_fail (value != NULL, NULL);
  array = &context->arrays[value->index];

  return read_array (context, array, array->dtype == LPT_DTYPE_I64 ? array->declared : array->dtype, error);
}

const LptProfileRow *
lpt_plan_context_profile (LptPlanContext *context,
                          guint          *n)
{
  *n = context->profile != NULL ? context->plan->program->n_nodes : 0;

  return context->profile;
}

void
lpt_plan_context_profile_clear (LptPlanContext *context)
{
  guint i;

  for (i = 0; context->profile != NULL && i < context->plan->program->n_nodes; i++)
    context->profile[i].wall_ns = context->profile[i].cpu_ns = 0;
}

void
lpt_plan_context_reset (LptPlanContext *context)
{
  lpt_states_reset (context->states);
}
