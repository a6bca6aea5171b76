/* tflite-state.c - variables: what they hold at each place of the file
 *
 * Outside of bodies a variable is a ReadValue, then what was assigned last. In a body of If or Loop it is a parameter,
 * made where the body names it first, and what the body leaves goes out of it (tflite-map-control.c,
 * tflite-map-while.c) to be assigned outside; a body inside of a body does so with the one around it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include <string.h>

#define MAX_STATE (1 << 28) /* elements of a variable */

void
lpt_tfl_variable_free (gpointer data)
{
  LptTflVariable *variable = data;
  g_clear_pointer (&variable->init, lpt_tensor_unref);
  lpt_quant_unref (variable->quant);
  g_free (variable);
}

LptTflVariable *
lpt_tfl_variable (LptTflImport *import, const char *name)
{
  LptTflVariable *variable = g_hash_table_lookup (import->variables, name);
  if (variable == NULL)
    {
      variable = g_new0 (LptTflVariable, 1);
      g_hash_table_insert (import->variables, g_strdup (name), variable);
    }
  return variable;
}

gboolean
lpt_tfl_check_state (LptTflOp *op, const LptShape *shape)
{
  gint64 count;
  if (!lpt_shape_count (shape, &count) || count <= MAX_STATE)
    return TRUE;
  lpt_tfl_unsupported (op, "state of %" G_GINT64_FORMAT " elements", count);
  return FALSE;
}

static void
local_free (gpointer data)
{
  LptTflLocal *local = data;
  g_free (local->name);
  g_free (local);
}

GPtrArray *
lpt_tfl_locals_new (void)
{
  return g_ptr_array_new_with_free_func (local_free);
}

LptTflLocal *
lpt_tfl_local (LptTflOp *op, const char *name, const LptTflTensor *like)
{
  GPtrArray *locals = op->scope->locals;
  const LptTflVariable *variable = lpt_tfl_variable (op->scope->import, name);
  const LptShape *shape = variable->init != NULL ? lpt_tensor_shape (variable->init) : &like->shape;
  for (guint i = 0; locals != NULL && i < locals->len; i++)
    if (strcmp (((LptTflLocal *) locals->pdata[i])->name, name) == 0)
      return locals->pdata[i];
  if (locals == NULL || !lpt_shape_is_static (shape))
    {
      lpt_tfl_unsupported (op, "state %s", locals == NULL ? "inside of a branch of CASE" : "of unknown shape");
      return NULL;
    }
  LptNode *node = lpt_graph_add (op->scope->graph, LPT_OP_PARAMETER, 0, name, 0, NULL);
  LPT_ATTRS (node, LptParameterAttrs)->element_type = variable->init != NULL ? lpt_tensor_dtype (variable->init)
                                                                             : like->dtype;
  LPT_ATTRS (node, LptParameterAttrs)->shape = *shape;
  lpt_value_set_quant (lpt_node_out (node), like->quant != NULL ? like->quant : variable->quant);
  if (op->error == NULL)
    lpt_node_infer (node, &op->error);
  LptTflLocal *local = g_new0 (LptTflLocal, 1);
  local->name = g_strdup (name);
  local->parameter = local->value = lpt_node_out (node);
  g_ptr_array_add (locals, local);
  return local;
}

LptValue *
lpt_tfl_local_outside (LptTflOp *op, const LptTflLocal *local)
{
  const LptValue *inside = local->parameter;
  const LptTflTensor like = { .dtype = inside->dtype, .shape = inside->shape, .quant = inside->quant };
  LptValue *value = lpt_tfl_variable_read (op, local->name, &like);
  if (value->dtype != inside->dtype || !lpt_shape_equal (&value->shape, &inside->shape))
    lpt_tfl_unsupported (op, "variable \"%s\" of another type or shape in a body", local->name);
  return value;
}

LptValue *
lpt_tfl_local_left (LptTflOp *op, const LptTflLocal *local)
{
  if (local->value->dtype != local->parameter->dtype
      || !lpt_shape_equal (&local->value->shape, &local->parameter->shape))
    lpt_tfl_unsupported (op, "variable \"%s\" that gets another type or shape in a body", local->name);
  return local->value;
}

LptValue *
lpt_tfl_variable_read (LptTflOp *op, const char *name, const LptTflTensor *like)
{
  LptTflVariable *variable = lpt_tfl_variable (op->scope->import, name);
  g_autofree char *read_name = g_strconcat (name, "/ReadValue", NULL);
  if (op->scope->is_body)
    {
      LptTflLocal *local = lpt_tfl_local (op, name, like);
      return local != NULL ? local->value : lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
    }
  if (variable->value != NULL)
    return variable->value;
  LptShape shape = variable->init != NULL ? *lpt_tensor_shape (variable->init) : like->shape;
  LptDType dtype = variable->init != NULL ? lpt_tensor_dtype (variable->init) : like->dtype;
  if (!lpt_tfl_check_state (op, &shape))
    return lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
  g_autoptr (LptTensor) init = variable->init != NULL
                                   ? lpt_tensor_ref (variable->init)
                                   : lpt_tensor_new (dtype, &shape, op->error == NULL ? &op->error : NULL);
  LptQuant *quant = like->quant != NULL ? like->quant : variable->quant;
  LptValue *start = lpt_tfl_tensor_value (op, g_steal_pointer (&init), quant);
  LptNode *node = lpt_graph_add (op->scope->graph, LPT_OP_READ_VALUE, 0, read_name, 1, &start);
  LptVariableAttrs *attrs = LPT_ATTRS (node, LptVariableAttrs);
  g_free (attrs->variable_id);
  attrs->variable_id = g_strdup (name);
  attrs->variable_type = dtype;
  attrs->variable_shape = shape;
  lpt_value_set_quant (lpt_node_out (node), quant);
  variable->read = node;
  if (op->error == NULL)
    lpt_node_infer (node, &op->error);
  variable->value = lpt_node_out (node);
  return variable->value;
}

void
lpt_tfl_variable_write (LptTflOp *op, const char *name, LptValue *value)
{
  LptTflVariable *variable = lpt_tfl_variable (op->scope->import, name);
  if (op->scope->is_body && !op->scope->is_init)
    {
      const LptTflTensor like = { .dtype = value->dtype, .shape = value->shape, .quant = value->quant };
      LptTflLocal *local = lpt_tfl_local (op, name, &like);
      if (local != NULL)
        {
          local->value = value;
          local->assigned = TRUE;
        }
      return;
    }
  if (op->scope->is_init)
    {
      if (value->producer->data == NULL)
        lpt_tfl_unsupported (op, "a first value that is not constant");
      else
        {
          g_clear_pointer (&variable->init, lpt_tensor_unref);
          variable->init = lpt_tensor_ref (value->producer->data);
          lpt_quant_unref (variable->quant);
          variable->quant = lpt_quant_ref (value->quant);
        }
      return;
    }
  variable->value = value;
  variable->assigned = TRUE;
}
