/* lpt-plan-new.c - from a graph to steps over slots
 *
 * One sweep in topological order: infer the node's shapes, and where all its inputs are constants evaluate it at
 * once. Small integer results become Constants of the plan's graph, so that inference sees the shapes that they
 * compute. What is left gets a step; values of known shape share an arena by lifetime.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "eval/integer/lpt-int.h"
#include "executor/lpt-fast.h"
#include "ir/lpt-check.h"
#include "ir/lpt-memory.h"
#include "executor/lpt-plan.h"

#include <string.h>

#include "ir/scalar/lpt-loop.h"

#define MAX_SHAPE_VALUES 4096

/* --- building --- */

typedef struct
{
  LptPlan    *plan;
  LptScratch *scratch;
} Builder;

static guint
slot_of (LptPlan  *plan,
         LptValue *value)
{
  return value != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (plan->slot_of, value)) - 1 : LPT_NO_SLOT;
}

static guint
add_slot (LptPlan    *plan,
          LptValue   *value,
          LptSlotKind kind,
          guint       step)
{
  LptSlot slot = { .value = value, .kind = kind, .first = step, .last = step };

  slot.root = plan->slots->len;
  slot.array.declared = value->dtype;
  slot.array.dtype = lpt_storage_dtype (value->dtype, value->quant);
  slot.array.shape = value->shape;
  slot.array.quant = value->quant;
  g_array_append_val (plan->slots, slot);
  g_hash_table_insert (plan->slot_of, value, GUINT_TO_POINTER (plan->slots->len));

  return plan->slots->len - 1;
}

static gboolean
add_const (LptPlan *plan,
           LptNode *node,
           GError **error)
{
  LptValue *value = lpt_node_out (node);
  guint i = add_slot (plan, value, LPT_SLOT_CONST, 0);

  return lpt_array_from_tensor (&lpt_plan_slot (plan, i)->array, node->data, value->dtype, value->quant, error);
}

static gboolean
can_fold (LptPlan       *plan,
          const LptStep *step)
{
  guint i;

  if ((step->node->info->flags & (LPT_OP_F_RANDOM | LPT_OP_F_SINK)) != 0 || lpt_node_n_bodies (step->node) > 0 ||
      step->node->op == LPT_OP_READ_VALUE || ((step->row->flags & LPT_EXEC_NONE) != 0 && step->integer == NULL))
    return FALSE;
  for (i = 0; i < step->n_in; i++)
    {
      const LptSlot *slot = step->in[i] != LPT_NO_SLOT ? lpt_plan_slot (plan, step->in[i]) : NULL;
      gboolean shape_only = (step->node->info->flags & LPT_OP_F_SHAPE) != 0;

      if (slot != NULL && slot->kind != LPT_SLOT_CONST && !(shape_only && lpt_shape_is_static (&slot->array.shape)))
        return FALSE;
    }

  return step->n_in > 0;
}

/* A Constant in place of a folded value, for inference of what reads it. */
static gboolean
show_constant (LptPlan *plan,
               guint    i,
               GError **error)
{
  const LptArray *array = &lpt_plan_slot (plan, i)->array;
  LptValue *value = lpt_plan_slot (plan, i)->value;
  g_autoptr (LptTensor) tensor = NULL;
  LptNode *node;

  if (array->quant != NULL || lpt_array_count (array) > MAX_SHAPE_VALUES || !lpt_dtype_is_integer (array->declared))
    return TRUE;
  tensor = lpt_array_to_tensor (array, array->declared, error);
  if (tensor == NULL)
    return FALSE;
  node = lpt_graph_add_const (plan->graph, value->producer->name, tensor);
  g_hash_table_insert (plan->slot_of, lpt_node_out (node), GUINT_TO_POINTER (i + 1));
  lpt_value_replace (value, lpt_node_out (node), NULL);

  return TRUE;
}

static gboolean
fold (Builder *builder,
      LptStep *step,
      GError **error)
{
  LptPlan *plan = builder->plan;
  g_autofree LptArray *in = g_new0 (LptArray, step->n_in + 1);
  g_autofree LptArray *out = g_new0 (LptArray, step->n_out + 1);
  LptCall call = { .node = step->node, .in = in, .n_in = step->n_in, .out = out, .n_out = step->n_out,
                   .scratch = builder->scratch, .integer = step->integer };
  gboolean ok;
  guint i;

  for (i = 0; i < step->n_in; i++)
    if (step->in[i] != LPT_NO_SLOT)
      {
        in[i] = lpt_plan_slot (plan, step->in[i])->array;
        in[i].owned = FALSE;
      }
  for (i = 0; i < step->n_out; i++)
    out[i] = lpt_plan_slot (plan, step->out[i])->array;

  ok = lpt_call_run (&call, error);
  step->folded = TRUE;
  for (i = 0; i < step->n_out; i++)
    {
      LptSlot *slot = lpt_plan_slot (plan, step->out[i]);

      slot->kind = LPT_SLOT_CONST;
      slot->array = out[i];
      slot->value->shape = out[i].shape;
    }
  for (i = 0; i < step->n_out && ok; i++)
    ok = show_constant (plan, step->out[i], error);

  return ok;
}

static void
clear_step (LptStep *step)
{
  lpt_int_op_free (step->integer);
  g_free (step->in);
  g_free (step->out);
  g_free (step->kernel);
}

/* What runs, and on which elements: 8-bit codes, other integers, reals. */
static char *
kernel_name (LptPlan       *plan,
             const LptStep *step)
{
  const LptArray *array = step->n_in > 0 && step->in[0] != LPT_NO_SLOT ? &lpt_plan_slot (plan, step->in[0])->array
                          : step->n_out > 0 ? &lpt_plan_slot (plan, step->out[0])->array : NULL;
  LptDType dtype = array != NULL ? array->dtype : LPT_DTYPE_F32;
  const char *suffix = dtype == LPT_DTYPE_F32 ? "FP32" : lpt_dtype_bits (dtype) == 8 && !lpt_dtype_is_real (dtype) ? "I8"
                       : lpt_dtype_ir_name (dtype) != NULL ? lpt_dtype_ir_name (dtype) : lpt_dtype_name (dtype);

  return g_strconcat (step->row->name, "_", suffix, NULL);
}

/* Of an Opaque node what its file calls it (transfer full). */
static char *
op_name (const LptNode *node)
{
  const char *begin = node->op == LPT_OP_OPAQUE && node->raw != NULL ? strstr (node->raw, " type=\"") : NULL;
  const char *end = begin != NULL ? strchr (begin + 7, '"') : NULL;

  return end != NULL ? g_strndup (begin + 7, (gsize) (end - begin) - 7) : g_strdup (node->info->name);
}

static gboolean
add_step (Builder *builder,
          LptNode *node,
          GError **error)
{
  LptPlan *plan = builder->plan;
  guint i, index = plan->steps->len;
  LptStep step = { .node = node, .row = lpt_exec_op (node->op), .n_in = node->n_in, .n_out = node->n_out };

  if (!lpt_node_infer (node, error))
    return FALSE;
  for (i = 0; i < node->n_out + node->n_in; i++)
    if ((i < node->n_out ? &node->out[i] : lpt_node_in (node, i - node->n_out)) != NULL &&
        (i < node->n_out ? node->out[i].dtype : lpt_node_in (node, i - node->n_out)->dtype) == LPT_DTYPE_STRING)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported: strings are kept, not computed", node->name);
        return FALSE;
      }
  if (lpt_int_wants (node))
    step.integer = lpt_int_op_new (node, NULL);
  if ((step.row->flags & LPT_EXEC_NONE) != 0 && step.integer == NULL)
    {
      g_autofree char *type = op_name (node);

      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported: %s cannot be executed", node->name, type);
      return FALSE;
    }

  step.in = g_new (guint, step.n_in + 1);
  step.out = g_new (guint, step.n_out + 1);
  for (i = 0; i < step.n_in; i++)
    step.in[i] = slot_of (plan, node->in[i].value);
  for (i = 0; i < step.n_out; i++)
    step.out[i] = add_slot (plan, &node->out[i], LPT_SLOT_DYNAMIC, index);
  step.kernel = kernel_name (plan, &step);
  g_array_append_val (plan->steps, step);
  plan->max_in = MAX (plan->max_in, step.n_in);
  plan->max_out = MAX (plan->max_out, step.n_out);

  return !can_fold (plan, &step) || fold (builder, lpt_plan_step (plan, index), error);
}

static gboolean
add_input (LptPlan        *plan,
           LptNode        *node,
           guint           i,
           const LptShape *shape,
           GError        **error)
{
  if (shape != NULL)
    {
      if (!lpt_graph_set_input_shape (plan->graph, node->name, shape, error))
        return FALSE;
    }
  if (!lpt_node_infer (node, error))
    return FALSE;
  if (!lpt_shape_is_static (&lpt_node_out (node)->shape))
    {
      g_autofree char *text = lpt_shape_to_string (&lpt_node_out (node)->shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\": the shape [%s] of this input must be given",
                   node->name, text);
      return FALSE;
    }
  plan->inputs[i] = add_slot (plan, lpt_node_out (node), LPT_SLOT_INPUT, 0);

  return TRUE;
}

/* Nodes that the results need. */
static void
mark_needed (LptNode    *node,
             GHashTable *needed)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  guint i;

  g_ptr_array_add (stack, node);
  while (stack->len > 0)
    {
      node = g_ptr_array_steal_index_fast (stack, stack->len - 1);
      if (!g_hash_table_add (needed, node))
        continue;
      for (i = 0; i < node->n_in; i++)
        if (lpt_node_src (node, i) != NULL)
          g_ptr_array_add (stack, lpt_node_src (node, i));
    }
}

static gboolean
add_nodes (Builder        *builder,
           const LptShape *shapes,
           GError        **error)
{
  LptPlan *plan = builder->plan;
  LptGraph *graph = plan->graph;
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  g_autoptr (GHashTable) needed = g_hash_table_new (NULL, NULL);
  guint i;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < graph->results->len; i++)
    mark_needed (g_ptr_array_index (graph->results, i), needed);
  /* What is assigned, the next run reads. */
  for (i = 0; i < order->len; i++)
    if (((LptNode *) g_ptr_array_index (order, i))->op == LPT_OP_ASSIGN)
      mark_needed (g_ptr_array_index (order, i), needed);

  plan->inputs = g_new0 (guint, graph->parameters->len + 1);
  plan->outputs = g_new0 (guint, graph->results->len + 1);
  for (i = 0; i < graph->parameters->len; i++)
    if (!add_input (plan, g_ptr_array_index (graph->parameters, i), i, shapes != NULL ? &shapes[i] : NULL, error))
      return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      gboolean ok = TRUE;

      if (!g_hash_table_contains (needed, node))
        continue;
      if (node->op == LPT_OP_CONST)
        ok = add_const (plan, node, error);
      else if (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT)
        ok = add_step (builder, node, error);
      if (!ok)
        return FALSE;
    }
  for (i = 0; i < graph->results->len; i++)
    plan->outputs[i] = slot_of (plan, lpt_node_in (g_ptr_array_index (graph->results, i), 0));

  return TRUE;
}

/* --- lifetimes and memory --- */

static void
set_lifetimes (LptPlan *plan)
{
  guint i, k;

  for (i = 0; i < plan->steps->len; i++)
    {
      const LptStep *step = lpt_plan_step (plan, i);

      for (k = 0; k < step->n_in && !step->folded; k++)
        if (step->in[k] != LPT_NO_SLOT)
          {
            LptSlot *slot = lpt_plan_slot (plan, step->in[k]);

            slot->last = MAX (slot->last, i + 1);
          }
    }
  for (i = 0; i < plan->graph->results->len; i++)
    lpt_plan_slot (plan, plan->outputs[i])->last = G_MAXUINT;
  if (plan->flags & LPT_PLAN_KEEP_ALL)
    for (i = 0; i < plan->slots->len; i++)
      lpt_plan_slot (plan, i)->last = G_MAXUINT;
}

/* Output 0 of @step has the bytes of input 0 under another shape. */
static gboolean
only_renames (const LptStep *step,
              const LptSlot *in,
              const LptSlot *out)
{
  return (step->row->flags & LPT_EXEC_ALIAS) != 0 && step->n_out == 1 && in->array.dtype == out->array.dtype &&
         (step->node->op == LPT_OP_REINTERPRET || lpt_quant_equal (in->array.quant, out->array.quant));
}

/* Element i of the output depends on element i of input 0, which nobody reads later: the result takes its place. */
static gboolean
runs_in_place (const LptPlan *plan,
               const LptStep *step,
               guint          index,
               const LptSlot *in,
               const LptSlot *out)
{
  const LptSlot *root = lpt_plan_slot (plan, in->root);

  return (plan->flags & LPT_PLAN_KEEP_ALL) == 0 && (step->node->info->flags & LPT_OP_F_ELEMENTWISE) != 0 &&
         step->integer == NULL && step->n_out == 1 && in->array.quant == NULL && out->array.quant == NULL &&
         in->array.dtype == out->array.dtype && lpt_shape_equal (&in->array.shape, &out->array.shape) &&
         root->kind == LPT_SLOT_DYNAMIC && root->last == index + 1;
}

/* Values that share memory with an earlier one. */
static void
share_memory (LptPlan *plan)
{
  guint i;

  for (i = 0; i < plan->steps->len; i++)
    {
      LptStep *step = lpt_plan_step (plan, i);
      LptSlot *in, *out, *root;
      gboolean renames;

      if (step->folded || step->n_in == 0 || step->n_out == 0 || step->in[0] == LPT_NO_SLOT)
        continue;
      in = lpt_plan_slot (plan, step->in[0]);
      out = lpt_plan_slot (plan, step->out[0]);
      root = lpt_plan_slot (plan, in->root);
      renames = only_renames (step, in, out);
      if (root->kind == LPT_SLOT_NONE || out->kind == LPT_SLOT_NONE ||
          !lpt_shape_is_static (&in->array.shape) || !lpt_shape_is_static (&out->array.shape) ||
          (!renames && !runs_in_place (plan, step, i, in, out)))
        continue;
      out->kind = LPT_SLOT_ALIAS;
      out->root = in->root;
      root->last = MAX (root->last, out->last);
      step->folded = renames;
    }
}

/* Constants that only folded nodes read. `last` of a constant counts steps from 1: 0 = none. */
static void
drop_constants (LptPlan *plan)
{
  guint i;

  for (i = 0; i < plan->slots->len; i++)
    {
      LptSlot *slot = lpt_plan_slot (plan, i);

      if (slot->kind == LPT_SLOT_CONST && slot->last <= slot->first)
        lpt_array_clear (&slot->array);
    }
}

/* The time of a step: its place, or that of its first entry in the fast program. */
static guint
time_of (const LptPlan *plan,
         guint          step)
{
  return plan->fast != NULL ? plan->fast->entry_of[MIN (step, plan->steps->len)] : step;
}

static gboolean
add_block (LptPlan *plan,
           LptSlot *slot,
           GArray  *blocks,
           GError **error)
{
  LptArenaBlock block = { .first = time_of (plan, slot->first), .last = G_MAXUINT };
  gint64 count;
  gsize size;

  if (!lpt_shape_count (&slot->array.shape, &count) ||
      !g_size_checked_mul (&size, (gsize) count, lpt_storage_size (slot->array.dtype)) || size > G_MAXSSIZE / 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY, "node \"%s\": the output is too large for memory",
                   slot->value->producer->name);
      return FALSE;
    }
  if (slot->last != G_MAXUINT)
    {
      guint end = time_of (plan, slot->last);

      block.last = MAX (end, block.first + 1) - 1;
    }
  block.size = (MAX (size, 1) + 63) & ~(gsize) 63;
  slot->kind = LPT_SLOT_ARENA;
  slot->size = block.size;
  g_array_append_val (blocks, block);

  return TRUE;
}

/* The buffer has memory of its own. */
static gboolean
has_block (const LptFastBuffer *buffer)
{
  return !buffer->outside && buffer->parent == LPT_NO_SLOT;
}

/* One arena for the values of steps and the buffers of the fast program. */
static gboolean
place (LptPlan *plan,
       GError **error)
{
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (LptArenaBlock));
  GArray *buffers = plan->fast != NULL ? plan->fast->buffers : NULL;
  guint i, k = 0;
  gsize sum = 0;

  for (i = 0; i < plan->slots->len; i++)
    {
      LptSlot *slot = lpt_plan_slot (plan, i);

      if (slot->kind == LPT_SLOT_DYNAMIC && lpt_shape_is_static (&slot->array.shape) && !add_block (plan, slot, blocks, error))
        return FALSE;
    }
  for (i = 0; buffers != NULL && i < buffers->len; i++)
    {
      const LptFastBuffer *buffer = &g_array_index (buffers, LptFastBuffer, i);

      if (has_block (buffer))
        g_array_append_val (blocks, ((LptArenaBlock) { MAX (buffer->size, 64), buffer->first, buffer->last, 0 }));
    }

  for (i = 0; i < blocks->len; i++)
    if (!g_size_checked_add (&sum, sum, g_array_index (blocks, LptArenaBlock, i).size) || sum > G_MAXSSIZE)
      {
        lpt_memory_fail (G_MAXSSIZE, "an arena", error);
        return FALSE;
      }
  plan->arena_size = lpt_arena_place ((LptArenaBlock *) blocks->data, blocks->len);
  plan->arena_bound = lpt_arena_bound ((const LptArenaBlock *) blocks->data, blocks->len);
  for (i = 0; i < plan->slots->len; i++)
    if (lpt_plan_slot (plan, i)->kind == LPT_SLOT_ARENA)
      lpt_plan_slot (plan, i)->offset = g_array_index (blocks, LptArenaBlock, k++).offset;
  for (i = 0; buffers != NULL && i < buffers->len; i++)
    if (has_block (&g_array_index (buffers, LptFastBuffer, i)))
      g_array_index (buffers, LptFastBuffer, i).offset = g_array_index (blocks, LptArenaBlock, k++).offset;

  return TRUE;
}

LptPlan *
lpt_plan_new (LptGraph       *graph,
              const LptShape *shapes,
              guint           flags,
              GError        **error)
{
  return lpt_plan_new_packed (graph, shapes, flags, NULL, error);
}

LptPlan *
lpt_plan_new_packed (LptGraph       *graph,
                     const LptShape *shapes,
                     guint           flags,
                     LptPack        *pack,
                     GError        **error)
{
  g_autoptr (LptPlan) plan = g_new0 (LptPlan, 1);
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  Builder builder = { plan, scratch };
  guint mark = lpt_memory_mark ();

  plan->graph = lpt_graph_copy (graph);
  plan->flags = flags;
  plan->pack = pack != NULL ? lpt_pack_ref (pack) : lpt_pack_new ();
  plan->slots = g_array_new (FALSE, TRUE, sizeof (LptSlot));
  plan->steps = g_array_new (FALSE, TRUE, sizeof (LptStep));
  g_array_set_clear_func (plan->steps, (GDestroyNotify) clear_step);
  plan->slot_of = g_hash_table_new (NULL, NULL);

  /* Readers have asked; graphs are built by programs, too. */
  if (!lpt_graph_check_codes (plan->graph, error) || !add_nodes (&builder, shapes, error))
    return NULL;
  set_lifetimes (plan);
  if ((flags & (LPT_PLAN_REFERENCE | LPT_PLAN_KEEP_ALL)) == 0)
    plan->fast = lpt_fast_new (plan);
  share_memory (plan);
  drop_constants (plan);
  if (!place (plan, error))
    return NULL;
  if (plan->fast != NULL)
    lpt_fast_find_chains (plan);
  if (!lpt_memory_check (mark, error))
    return NULL;

  return g_steal_pointer (&plan);
}

void
lpt_plan_free (LptPlan *plan)
{
  guint i;

  if (plan == NULL)
    return;
  for (i = 0; i < plan->slots->len; i++)
    lpt_array_clear (&lpt_plan_slot (plan, i)->array);
  lpt_fast_free (plan->fast);
  lpt_pack_unref (plan->pack);
  g_array_unref (plan->slots);
  g_array_unref (plan->steps);
  g_hash_table_unref (plan->slot_of);
  g_free (plan->inputs);
  g_free (plan->outputs);
  lpt_graph_free (plan->graph);
  g_free (plan);
}
