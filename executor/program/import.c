/* import.c - from a graph to a program of reference ops
 *
 * One sweep in topological order: infers the node's shapes, and where all its inputs are constants evaluates it at
 * once. Small integer results become Constants of the program's graph, so that inference sees the shapes that they
 * compute. What is left is an op each. Fails: shapes that do not fit or stay dynamic, ops that cannot run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/scalar/lpt-loop.h"

#define MAX_SHAPE_VALUES 4096

static LptProgramValue *
value_of (const LptProgram *program,
          LptValue         *value)
{
  return value != NULL ? g_hash_table_lookup (program->value_of, value) : NULL;
}

static LptProgramValue *
add_value (LptProgram    *program,
           LptValue      *origin,
           LptStorageKind kind,
           LptProgramOp  *def)
{
  LptProgramValue *value = lpt_program_add_value (program, origin, kind, def);

  g_hash_table_insert (program->value_of, origin, value);

  return value;
}

static gboolean
add_const (LptProgram *program,
           LptNode    *node,
           GError    **error)
{
  LptValue *origin = lpt_node_out (node);
  LptProgramValue *value = add_value (program, origin, LPT_STORAGE_CONST, NULL);

  return lpt_array_from_tensor (&value->array, node->data, origin->dtype, origin->quant, error);
}

static gboolean
can_fold (const LptProgramOp *op)
{
  gboolean shape_only = (op->node->info->flags & LPT_OP_F_SHAPE) != 0;
  guint i;

  if ((op->node->info->flags & (LPT_OP_F_RANDOM | LPT_OP_F_SINK)) != 0 || lpt_node_n_bodies (op->node) > 0 ||
      op->node->op == LPT_OP_READ_VALUE || ((op->row->flags & LPT_EXEC_NONE) != 0 && op->integer == NULL))
    return FALSE;
  for (i = 0; i < op->n_in; i++)
    if (op->in[i] != NULL && op->in[i]->kind != LPT_STORAGE_CONST &&
        !(shape_only && lpt_shape_is_static (&op->in[i]->array.shape)))
      return FALSE;

  return op->n_in > 0;
}

/* A Constant in place of a folded value, for inference of what reads it. */
static gboolean
show_constant (LptProgram      *program,
               LptProgramValue *value,
               GError         **error)
{
  const LptArray *array = &value->array;
  g_autoptr (LptTensor) tensor = NULL;
  LptNode *node;

  if (array->quant != NULL || lpt_array_count (array) > MAX_SHAPE_VALUES || !lpt_dtype_is_integer (array->declared))
    return TRUE;
  tensor = lpt_array_to_tensor (array, array->declared, error);
  if (tensor == NULL)
    return FALSE;
  node = lpt_graph_add_const (program->graph, value->origin->producer->name, tensor);
  g_hash_table_insert (program->value_of, lpt_node_out (node), value);
  lpt_value_replace (value->origin, lpt_node_out (node), NULL);

  return TRUE;
}

static gboolean
fold (LptProgram   *program,
      LptProgramOp *op,
      LptScratch   *scratch,
      GError      **error)
{
  g_autofree LptArray *in = g_new0 (LptArray, op->n_in + 1);
  g_autofree LptArray *out = g_new0 (LptArray, op->n_out + 1);
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = out, .n_out = op->n_out, .scratch = scratch,
                   .integer = op->integer };
  gboolean by_shape = FALSE, ok;
  guint i;

  for (i = 0; i < op->n_in; i++)
    if (op->in[i] != NULL)
      {
        in[i] = op->in[i]->array;
        in[i].owned = FALSE;
        by_shape |= op->in[i]->by_shape || op->in[i]->kind != LPT_STORAGE_CONST;
      }
  for (i = 0; i < op->n_out; i++)
    out[i] = op->out[i]->array;

  ok = lpt_call_run (&call, error);
  op->folded = TRUE;
  for (i = 0; i < op->n_out; i++)
    {
      op->out[i]->kind = LPT_STORAGE_CONST;
      op->out[i]->by_shape = by_shape;
      op->out[i]->def = NULL;
      op->out[i]->array = out[i];
      op->out[i]->origin->shape = out[i].shape;
    }
  for (i = 0; i < op->n_out && ok; i++)
    ok = show_constant (program, op->out[i], error);

  return ok;
}

/* What runs, and on which elements: 8-bit codes, other integers, reals. */
static char *
kernel_name (const LptProgramOp *op)
{
  const LptArray *array = op->n_in > 0 && op->in[0] != NULL ? &op->in[0]->array
                          : op->n_out > 0                   ? &op->out[0]->array
                                                            : NULL;
  LptDType dtype = array != NULL ? array->dtype : LPT_DTYPE_F32;
  const char *suffix = lpt_dtype_ir_name (dtype);

  if (dtype == LPT_DTYPE_F32)
    suffix = "FP32";
  else if (lpt_dtype_bits (dtype) == 8 && !lpt_dtype_is_real (dtype))
    suffix = "I8";
  else if (suffix == NULL)
    suffix = lpt_dtype_name (dtype);

  return g_strconcat (op->row->name, "_", suffix, NULL);
}

/* It neither reads nor makes strings. */
static gboolean
check_strings (LptNode *node,
               GError **error)
{
  gboolean any = FALSE;
  guint i;

  if (node->op == LPT_OP_OPAQUE)
    return TRUE;      /* refused by its name */
  for (i = 0; i < node->n_out; i++)
    any |= node->out[i].dtype == LPT_DTYPE_STRING;
  for (i = 0; i < node->n_in; i++)
    any |= lpt_node_in (node, i) != NULL && lpt_node_in (node, i)->dtype == LPT_DTYPE_STRING;
  if (any)
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported: strings are kept, not computed",
                 node->name);

  return !any;
}

/* Of an Opaque node what its file calls it (transfer full), which is not what that name means elsewhere. */
static char *
op_name (const LptNode *node)
{
  const char *begin = node->op == LPT_OP_OPAQUE && node->raw != NULL ? strstr (node->raw, " type=\"") : NULL;
  const char *end = begin != NULL ? strchr (begin + 7, '"') : NULL;
  g_autofree char *type = end != NULL ? g_strndup (begin + 7, (gsize) (end - begin) - 7) : NULL;

  if (type == NULL)
    return g_strdup (node->info->name);

  return lpt_op_find_short (type) != NULL ? g_strdup_printf ("a custom operator that is called %s", type)
                                          : g_steal_pointer (&type);
}

static gboolean
add_op (LptProgram *program,
        LptNode    *node,
        LptScratch *scratch,
        GError    **error)
{
  LptProgramOp *op;
  guint i;

  if (!lpt_node_infer (node, error) || !check_strings (node, error))
    return FALSE;
  op = lpt_program_add_op (program, node, program->nodes->len);
  op->n_in = node->n_in;
  op->n_out = node->n_out;
  if (!lpt_int_op_of (node, &op->integer, error))
    return FALSE;
  if ((op->row->flags & LPT_EXEC_NONE) != 0 && op->integer == NULL)
    {
      g_autofree char *type = op_name (node);

      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported: %s cannot be executed",
                   node->name, type);
      return FALSE;
    }

  op->in = g_new0 (LptProgramValue *, op->n_in + 1);
  op->out = g_new0 (LptProgramValue *, op->n_out + 1);
  for (i = 0; i < op->n_in; i++)
    op->in[i] = value_of (program, node->in[i].value);
  for (i = 0; i < op->n_out; i++)
    op->out[i] = add_value (program, &node->out[i], LPT_STORAGE_DYNAMIC, op);
  op->kernel = kernel_name (op);
  program->max_in = MAX (program->max_in, op->n_in);
  program->max_out = MAX (program->max_out, op->n_out);

  return !can_fold (op) || fold (program, op, scratch, error);
}

static gboolean
add_input (LptProgram     *program,
           LptNode        *node,
           guint           i,
           const LptShape *shape,
           GError        **error)
{
  if (shape != NULL && !lpt_graph_set_input_shape (program->graph, node->name, shape, error))
    return FALSE;
  if (!lpt_node_infer (node, error))
    return FALSE;
  if (!lpt_shape_is_static (&lpt_node_out (node)->shape))
    {
      g_autofree char *text = lpt_shape_to_string (&lpt_node_out (node)->shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\": the shape [%s] of this input must be given",
                   node->name, text);
      return FALSE;
    }
  program->inputs[i] = add_value (program, lpt_node_out (node), LPT_STORAGE_INPUT, NULL);

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

static void
find_uses (LptProgram *program)
{
  guint i, k;

  for (i = 0; i < program->nodes->len; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];

      for (k = 0; k < op->n_in && !op->folded; k++)
        if (op->in[k] != NULL)
          g_ptr_array_add (op->in[k]->uses, op);
    }
  for (i = 0; i < program->n_outputs; i++)
    program->outputs[i]->n_outputs++;
}

gboolean
lpt_program_import (LptProgram *program,
                    GError    **error)
{
  LptGraph *graph = program->graph;
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  g_autoptr (GHashTable) needed = g_hash_table_new (NULL, NULL);
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  guint i;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < program->n_outputs; i++)
    mark_needed (g_ptr_array_index (graph->results, i), needed);
  /* What is assigned, the next run reads. */
  for (i = 0; i < order->len; i++)
    if (((LptNode *) g_ptr_array_index (order, i))->op == LPT_OP_ASSIGN)
      mark_needed (g_ptr_array_index (order, i), needed);
  for (i = 0; i < program->n_inputs; i++)
    if (!add_input (program, g_ptr_array_index (graph->parameters, i), i,
                    program->shapes != NULL ? &program->shapes[i] : NULL, error))
      return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      gboolean ok = TRUE;

      if (!g_hash_table_contains (needed, node))
        continue;
      if (node->op == LPT_OP_CONST)
        ok = add_const (program, node, error);
      else if (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT)
        ok = add_op (program, node, scratch, error);
      if (!ok)
        return FALSE;
    }
  for (i = 0; i < program->n_outputs; i++)
    program->outputs[i] = value_of (program, lpt_node_in (g_ptr_array_index (graph->results, i), 0));
  program->n_nodes = program->nodes->len;
  program->n_values = program->values->len;
  find_uses (program);

  return TRUE;
}
