/* lpt-run.c - running a plan: contexts, steps, bodies
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>
#include <time.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include "executor/lpt-fast.h"
#include "ir/scalar/lpt-loop.h"
#include "executor/lpt-plan.h"
#include "executor/lpt-state.h"
#include "ir/lpt-memory.h"

/* Plans of bodies that a context keeps: a loop whose values grow needs a new one each time. */
#define MAX_BODIES 16

/* A body graph planned for the shapes of its inputs. */
typedef struct
{
  LptPlan        *plan;
  LptPlanContext *context;
  const LptNode  *node;
  guint           body;
  const LptArray **out;
} BodyRun;

struct _LptPlanContext
{
  const LptPlan *plan;
  LptArray      *arrays;      /* one per slot */
  LptTensor    **inputs;      /* what keeps input arrays alive */
  guint8        *arena;       /* the plan's, then workspace for each thread */
  guint8        *workspace;
  LptArray      *in, *out;    /* of the running call */
  LptScratch    *scratch;
  LptPool       *pool;
  gboolean       owns_pool;
  LptChain      *chain;       /* NULL: one thread, or no fast program */
  LptChainRun    run_chain;   /* NULL: entries run one by one */
  GPtrArray     *bodies;      /* BodyRun */
  LptStates     *states;
  gint64         own_trips;   /* of loops, that are left to the run that goes on */
  gint64        *trips;       /* that one, or of the context whose body this runs */
  LptProfileRow *profile;     /* one per step, or NULL */
  gboolean       ran;         /* the last run went well: outputs can be read */
};

static void
body_run_free (BodyRun *run)
{
  lpt_plan_context_free (run->context);
  lpt_plan_free (run->plan);
  g_free (run->out);
  g_free (run);
}

LptPlanContext *
lpt_plan_context_new_on (const LptPlan *plan,
                         LptPool       *pool,
                         GError       **error)
{
  g_autoptr (LptPlanContext) context = g_new0 (LptPlanContext, 1);
  gsize work = plan->fast != NULL ? plan->fast->workspace * lpt_pool_n_threads (pool) : 0;
  guint i;

  context->plan = plan;
  context->trips = &context->own_trips;
  context->pool = pool;
  context->chain = plan->fast != NULL ? lpt_chain_new (pool) : NULL;
  context->run_chain = context->chain != NULL ? lpt_chain_run : NULL;
  context->arrays = g_new0 (LptArray, plan->slots->len + 1);
  context->inputs = g_new0 (LptTensor *, lpt_plan_n_inputs (plan) + 1);
  context->in = g_new0 (LptArray, plan->max_in + 1);
  context->out = g_new0 (LptArray, plan->max_out + 1);
  context->scratch = lpt_scratch_new ();
  context->bodies = g_ptr_array_new_with_free_func ((GDestroyNotify) body_run_free);
  context->states = lpt_states_new ();
  if (plan->flags & LPT_PLAN_PROFILE)
    {
      context->profile = g_new0 (LptProfileRow, plan->steps->len + 1);
      for (i = 0; i < plan->steps->len; i++)
        {
          context->profile[i].name = lpt_plan_step (plan, i)->node->name;
          context->profile[i].type = lpt_plan_step (plan, i)->node->info->name;
          context->profile[i].kernel = "";
          if (plan->fast != NULL && plan->fast->covered[i] != LPT_NO_SLOT && plan->fast->covered[i] != i)
            context->profile[i].fused_into = lpt_plan_step (plan, plan->fast->covered[i])->node->name;
          if (lpt_plan_step (plan, i)->n_out > 0)
            context->profile[i].shape = lpt_plan_slot (plan, lpt_plan_step (plan, i)->out[0])->array.shape;
          context->profile[i].macs = lpt_plan_step_macs (plan, lpt_plan_step (plan, i));
          context->profile[i].runs_in = lpt_node_runs_in (lpt_plan_step (plan, i)->node);
        }
    }
  context->arena = lpt_aligned_alloc (plan->arena_size + work, error);
  if (context->arena == NULL)
    return NULL;
  context->workspace = context->arena + plan->arena_size;

  for (i = 0; i < plan->slots->len; i++)
    {
      const LptSlot *slot = lpt_plan_slot (plan, i);

      context->arrays[i] = slot->array;
      context->arrays[i].owned = FALSE;
      if (slot->kind == LPT_SLOT_ARENA)
        context->arrays[i].data = context->arena + slot->offset;
    }

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
  for (i = 0; i < context->plan->slots->len; i++)
    lpt_array_clear (&context->arrays[i]);
  for (i = 0; i < lpt_plan_n_inputs (context->plan); i++)
    g_clear_pointer (&context->inputs[i], lpt_tensor_unref);
  g_ptr_array_unref (context->bodies);
  lpt_states_free (context->states);
  lpt_scratch_free (context->scratch);
  lpt_aligned_free (context->arena);
  lpt_chain_free (context->chain);
  if (context->owns_pool)
    lpt_pool_free (context->pool);
  g_free (context->arrays);
  g_free (context->inputs);
  g_free (context->in);
  g_free (context->out);
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
  slot = &lpt_plan_slot (plan, plan->inputs[i])->array;
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

  lpt_array_clear (&context->arrays[plan->inputs[i]]);
  context->arrays[plan->inputs[i]] = array;
  g_clear_pointer (&context->inputs[i], lpt_tensor_unref);
  context->inputs[i] = g_steal_pointer (&held);

  return TRUE;
}

gboolean
lpt_plan_context_set_array (LptPlanContext *context,
                            guint           i,
                            const LptArray *array,
                            GError        **error)
{
  const LptPlan *plan = context->plan;
  LptArray *slot = &context->arrays[plan->inputs[i]];

  if (!check_input (plan, i, &array->shape, error))
    return FALSE;
  if (array->dtype == slot->dtype)
    {
      lpt_array_clear (slot);
      slot->data = array->data;
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
  return &context->arrays[context->plan->outputs[i]];
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

/* As the graph declares it; the reference run of a graph that is not lowered rounds nothing, so its real values are f32,
 * and so are those that their small integer type cannot hold (300 as u8). 4-bit types have a byte each. */
static LptDType
output_dtype (const LptPlan  *plan,
              const LptArray *array)
{
  if ((plan->flags & LPT_PLAN_REFERENCE) && !plan->graph->lowered &&
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
  guint slot = lpt_plan_value_slot (context->plan, i);
  const LptArray *array;

  g_return_val_if_fail (slot != LPT_NO_SLOT, NULL);
  array = &context->arrays[slot];

  return read_array (context, array, array->dtype == LPT_DTYPE_I64 ? array->declared : array->dtype, error);
}

const LptProfileRow *
lpt_plan_context_profile (LptPlanContext *context,
                          guint          *n)
{
  *n = context->profile != NULL ? context->plan->steps->len : 0;

  return context->profile;
}

void
lpt_plan_context_profile_clear (LptPlanContext *context)
{
  guint i;

  for (i = 0; context->profile != NULL && i < context->plan->steps->len; i++)
    context->profile[i].wall_ns = context->profile[i].cpu_ns = 0;
}

/* --- bodies --- */

static BodyRun *
find_body (LptPlanContext *context,
           const LptNode  *node,
           guint           body,
           const LptArray *in,
           guint           n_in)
{
  guint i, k;

  for (i = 0; i < context->bodies->len; i++)
    {
      BodyRun *run = g_ptr_array_index (context->bodies, i);
      gboolean fits = run->node == node && run->body == body;

      for (k = 0; k < n_in && fits; k++)
        fits = lpt_shape_equal (&in[k].shape, lpt_plan_input_shape (run->plan, k));
      if (fits)
        return run;
    }

  return NULL;
}

static BodyRun *
plan_body (LptPlanContext *context,
           LptNode        *node,
           guint           body,
           const LptArray *in,
           guint           n_in,
           GError        **error)
{
  g_autofree LptShape *shapes = g_new (LptShape, n_in + 1);
  BodyRun *run = g_new0 (BodyRun, 1);
  guint k;

  for (k = 0; k < n_in; k++)
    shapes[k] = in[k].shape;
  run->node = node;
  run->body = body;
  run->plan = lpt_plan_new (lpt_node_body (node, body), shapes, context->plan->flags & LPT_PLAN_REFERENCE, error);
  if (run->plan != NULL)
    run->context = lpt_plan_context_new_on (run->plan, context->pool, error);
  if (run->context == NULL)
    {
      body_run_free (run);
      return NULL;
    }
  run->context->trips = context->trips;
  run->out = g_new0 (const LptArray *, lpt_plan_n_outputs (run->plan) + 1);
  if (context->bodies->len >= MAX_BODIES)
    g_ptr_array_remove_index (context->bodies, 0);
  g_ptr_array_add (context->bodies, run);

  return run;
}

static gboolean
run_body (LptCall         *call,
          guint            body,
          const LptArray  *in,
          guint            n_in,
          const LptArray **out,
          GError         **error)
{
  LptPlanContext *context = call->body_data;
  BodyRun *run = find_body (context, call->node, body, in, n_in);
  guint i;

  if (run == NULL)
    run = plan_body (context, call->node, body, in, n_in, error);
  if (run == NULL)
    return FALSE;
  for (i = 0; i < n_in; i++)
    if (!lpt_plan_context_set_array (run->context, i, &in[i], error))
      return FALSE;
  if (!lpt_plan_run (run->plan, run->context, error))
    return FALSE;
  for (i = 0; i < lpt_plan_n_outputs (run->plan); i++)
    out[i] = lpt_plan_context_output_array (run->context, i);

  return TRUE;
}

/* --- running --- */

static gint64
clock_ns (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);

  return (gint64) t.tv_sec * 1000000000 + t.tv_nsec;
}

/* @op: or NULL for the step itself. Conversions count for the step that they stand beside, under its kernel's name. */
static void
add_profile (LptPlanContext *context,
             guint           index,
             LptFastOp      *op,
             gint64          wall,
             gint64          cpu)
{
  const LptStep *step = lpt_plan_step (context->plan, index);
  LptProfileRow *row = &context->profile[index];

  if (step->folded)
    return;
  if (op == NULL || op->first != LPT_NO_SLOT || *row->kernel == '\0')
    row->kernel = op != NULL ? op->kernel : step->kernel;
  row->executed = TRUE;
  row->runs_in = lpt_plan_step_ran_in (context->plan, step, context->arrays);
  row->wall_ns += wall;
  row->cpu_ns += cpu;
  if (step->n_out > 0)
    row->shape = context->arrays[step->out[0]].shape;
}

/* An op, or a variable that holds something. */
static gboolean
run_call (LptPlanContext *context,
          LptCall        *call,
          GError        **error)
{
  gboolean found;

  if (call->node->op != LPT_OP_READ_VALUE && call->node->op != LPT_OP_ASSIGN)
    return lpt_call_run (call, error);
  if (call->node->op == LPT_OP_ASSIGN)
    return lpt_states_write (context->states, LPT_ATTRS (call->node, LptVariableAttrs)->variable_id, &call->in[0], error) &&
           lpt_call_run (call, error);

  return lpt_states_read (context->states, LPT_ATTRS (call->node, LptVariableAttrs)->variable_id, &call->out[0], &found, error) &&
         (found || lpt_call_run (call, error));
}

static gboolean
run_step (LptPlanContext *context,
          guint           index,
          GError        **error)
{
  const LptStep *step = lpt_plan_step (context->plan, index);
  LptCall call = { .node = step->node, .in = context->in, .n_in = step->n_in, .out = context->out, .n_out = step->n_out,
                   .scratch = context->scratch, .pool = context->pool, .integer = step->integer,
                   .run_body = run_body, .body_data = context, .trips = context->trips };
  gboolean ok;
  guint k;

  for (k = 0; k < step->n_in; k++)
    if (step->in[k] != LPT_NO_SLOT)
      context->in[k] = context->arrays[step->in[k]];
    else
      context->in[k] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
  for (k = 0; k < step->n_out; k++)
    context->out[k] = context->arrays[step->out[k]];

  ok = run_call (context, &call, error);
  for (k = 0; k < step->n_out; k++)
    context->arrays[step->out[k]] = context->out[k];

  /* Values of unknown shape go as soon as nobody reads them. */
  for (k = 0; k < step->n_in; k++)
    if (step->in[k] != LPT_NO_SLOT)
      {
        const LptSlot *slot = lpt_plan_slot (context->plan, step->in[k]);

        if (slot->kind == LPT_SLOT_DYNAMIC && slot->last == index + 1)
          lpt_array_clear (&context->arrays[step->in[k]]);
      }

  return ok;
}

static guint8 *
buffer_data (LptPlanContext *context,
             guint           i)
{
  const LptFastBuffer *buffer = &g_array_index (context->plan->fast->buffers, LptFastBuffer, i);

  if (buffer->parent != LPT_NO_SLOT)
    return buffer_data (context, buffer->parent) + buffer->offset;

  return buffer->outside ? context->arrays[buffer->slot].data : context->arena + buffer->offset;
}

/* Tasks of an entry that has an op. */
static void
run_entry (LptPlanContext     *context,
           const LptFastEntry *entry,
           gsize               task,
           gsize               end,
           unsigned            thread)
{
  const LptFastOp *op = entry->op;
  LptFastData data = { .out = buffer_data (context, entry->out),
                       .workspace = context->workspace + thread * context->plan->fast->workspace };
  guint k;

  for (k = 0; k < op->n_in; k++)
    data.in[k] = buffer_data (context, entry->in[k]);
  op->run (op, &data, task, end);
}

typedef struct
{
  LptPlanContext     *context;
  const LptFastEntry *entry;
} EntryRun;

static void
run_tasks (void    *data,
           size_t   task,
           size_t   end,
           unsigned thread)
{
  const EntryRun *run = data;

  run_entry (run->context, run->entry, task, end, thread);
}

static void
run_fast (LptPlanContext     *context,
          const LptFastEntry *entry)
{
  if (entry->op->run != NULL)
    lpt_parallel_ranges (context->pool, entry->op->tasks, run_tasks, &(EntryRun) { context, entry });
}

typedef struct
{
  LptPlanContext     *context;
  const LptFastChain *chain;
} ChainRun;

static void
run_units (void    *data,
           size_t   loop,
           unsigned unit,
           unsigned end,
           unsigned thread)
{
  const ChainRun *run = data;
  const LptFastEntry *entry = &g_array_index (run->context->plan->fast->entries, LptFastEntry, run->chain->entries[loop]);

  run_entry (run->context, entry, lpt_fast_unit_task (entry->op, unit), lpt_fast_unit_task (entry->op, end), thread);
}

void
lpt_plan_context_set_chain_run (LptPlanContext *context,
                                LptChainRun     run)
{
  context->run_chain = run;
}

/* The chain that begins with entry @i, if the context runs chains. */
static const LptFastChain *
chain_at (const LptPlanContext *context,
          guint                 i,
          guint                *next)
{
  const GArray *chains = context->run_chain != NULL && context->profile == NULL && context->plan->fast != NULL
                         ? context->plan->fast->chains : NULL;
  const LptFastChain *chain = chains != NULL && *next < chains->len ? &g_array_index (chains, LptFastChain, *next) : NULL;

  if (chain == NULL || chain->first != i)
    return NULL;
  (*next)++;

  return chain;
}

/* The fast program, or the steps one by one. */
static gboolean
run_all (const LptPlan  *plan,
         LptPlanContext *context,
         GError        **error)
{
  guint n = plan->fast != NULL ? plan->fast->entries->len : plan->steps->len;
  guint i, next = 0;

  for (i = 0; i < n; i++)
    {
      const LptFastChain *chain = chain_at (context, i, &next);
      const LptFastEntry *entry = plan->fast != NULL ? &g_array_index (plan->fast->entries, LptFastEntry, i) : NULL;
      guint step = entry != NULL ? entry->step : i;
      gint64 wall = 0, cpu = 0;

      if (!lpt_limits_go_on (error))
        return FALSE;
      if (chain != NULL)
        {
          context->run_chain (context->chain, chain->loops, chain->n, run_units, &(ChainRun) { context, chain });
          i = chain->end - 1;
          continue;
        }
      if (context->profile != NULL)
        {
          wall = clock_ns (CLOCK_MONOTONIC);
          cpu = clock_ns (CLOCK_PROCESS_CPUTIME_ID);
        }
      if (entry != NULL && entry->op != NULL)
        run_fast (context, entry);
      else if (!lpt_plan_step (plan, step)->folded && !run_step (context, step, error))
        return FALSE;
      if (context->profile != NULL)
        add_profile (context, step, entry != NULL ? entry->op : NULL, clock_ns (CLOCK_MONOTONIC) - wall,
                     clock_ns (CLOCK_PROCESS_CPUTIME_ID) - cpu);
    }

  return TRUE;
}

gboolean
lpt_plan_run (const LptPlan  *plan,
              LptPlanContext *context,
              GError        **error)
{
  guint i, mark;

  g_return_val_if_fail (context->plan == plan, FALSE);

  context->ran = FALSE;
  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    if (context->arrays[plan->inputs[i]].data == NULL)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" is not set", lpt_plan_input_name (plan, i));
        return FALSE;
      }
  for (i = 0; i < plan->slots->len; i++)
    if (lpt_plan_slot (plan, i)->kind == LPT_SLOT_DYNAMIC)
      {
        lpt_array_clear (&context->arrays[i]);
        context->arrays[i].shape = lpt_plan_slot (plan, i)->array.shape;
      }
    else if (lpt_plan_slot (plan, i)->kind == LPT_SLOT_ALIAS)
      context->arrays[i].data = context->arrays[lpt_plan_slot (plan, i)->root].data;

  /* A program is short loops; steps that take long leave the other threads alone. */
  if (plan->fast != NULL)
    lpt_pool_wake (context->pool);
  if (context->trips == &context->own_trips)
    context->own_trips = lpt_limits_trips ();
  mark = lpt_memory_mark ();
  context->ran = run_all (plan, context, error) && lpt_memory_check (mark, error);
  lpt_states_commit (context->states, context->ran);

  return context->ran;
}

void
lpt_plan_context_reset (LptPlanContext *context)
{
  lpt_states_reset (context->states);
}
