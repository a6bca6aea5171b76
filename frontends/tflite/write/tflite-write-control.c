/* tflite-write-control.c - state; what is refused by name
 *
 *     ReadValue    VAR_HANDLE, READ_VARIABLE; its first value is assigned by a subgraph that CALL_ONCE runs
 *     Assign       VAR_HANDLE, ASSIGN_VARIABLE
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

/* --- state ------------------------------------------------------------------------------- */

static gint
handle (LptTflWriter *w, const char *name)
{
  LptShape scalar = LPT_SHAPE_SCALAR;
  g_autofree char *label = g_strconcat (name, "/handle", NULL);
  gint tensor = lpt_tfl_w_tensor (w, label, LPT_DTYPE_F32, &scalar, NULL);
  lpt_tfl_w_get (w, tensor)->type = TFL_TYPE_RESOURCE;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_VAR_HANDLE, 0, NULL, tensor);
  lpt_tfl_w_set (op, (LptTflSlot) { .field = TFL_VarHandleOptions_shared_name, .text = g_intern_string (name) });
  lpt_tfl_w_set (op, (LptTflSlot) { .field = TFL_VarHandleOptions_container, .text = "" });
  return tensor;
}

void
lpt_tfl_write_read_value (LptTflWriter *w, gint64 code)
{
  if (w->to != g_ptr_array_index (w->graphs, 0))
    lpt_tfl_w_fail (w, "state inside of a body of control flow");
  if (lpt_node_in (w->node, 0) == NULL || lpt_node_const_in (w->node, 0) == NULL)
    lpt_tfl_w_fail (w, "a first value that is not constant");
  if (w->error != NULL)
    return;
  gint variable = handle (w, LPT_ATTRS (w->node, LptVariableAttrs)->variable_id);
  lpt_tfl_w_op (w, code, 1, &variable, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
  g_ptr_array_add (w->first_values, w->node);
}

void
lpt_tfl_write_assign (LptTflWriter *w, gint64 code)
{
  const LptQuant *from = lpt_node_in (w->node, 0)->quant, *to = lpt_node_out (w->node)->quant;
  if (from != to && (from == NULL || to == NULL || !lpt_quant_equal (from, to)))
    lpt_tfl_w_fail (w, "a state that is handed on as other codes");
  gint in[] = { handle (w, LPT_ATTRS (w->node, LptVariableAttrs)->variable_id), lpt_tfl_w_in (w, 0, LPT_TFL_PLAIN) };
  lpt_tfl_w_op (w, code, 2, in, -1);
  /* What the node hands on is what it stores. */
  lpt_tfl_w_alias (w, 0, LPT_TFL_PLAIN, in[1], 1);
}

void
lpt_tfl_w_first_values (LptTflWriter *w)
{
  LptTflWGraph *entry = g_ptr_array_index (w->graphs, 0);
  if (w->first_values->len == 0 || w->error != NULL)
    return;
  guint number = w->graphs->len;
  w->to = lpt_tfl_w_new_graph (w, "first_values");
  for (guint i = 0; i < w->first_values->len; i++)
    {
      LptNode *node = w->first_values->pdata[i];
      LptValue *value = lpt_node_in (node, 0);
      g_autoptr (LptQuant) quant = lpt_tfl_w_scaled (value->quant, 1, 0);
      gint in[] = { handle (w, LPT_ATTRS (node, LptVariableAttrs)->variable_id),
                    lpt_tfl_w_const (w, value->producer->name, lpt_tensor_ref (value->producer->data), quant) };
      lpt_tfl_w_op (w, TFL_ASSIGN_VARIABLE, 2, in, -1);
    }
  w->to = entry;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CALL_ONCE, 0, NULL, -1);
  lpt_tfl_w_set (op, LPT_TFL_INT (CallOnceOptions, init_subgraph_index, number));
  g_ptr_array_steal_index (entry->ops, entry->ops->len - 1);
  g_ptr_array_insert (entry->ops, 0, op);
}

/* --- refused by name ------------------------------------------------------------------------ */

void
lpt_tfl_write_none (LptTflWriter *w, gint64 code)
{
  lpt_tfl_w_fail (w, "no operator does this");
}

void
lpt_tfl_write_opaque (LptTflWriter *w, gint64 code)
{
  lpt_tfl_w_fail (w, "an operator of which only the name was kept, in a model that was changed");
}

/* Operators with weights of 8 bits do this by themselves; others miss the tensor. */
void
lpt_tfl_write_dynamic (LptTflWriter *w, gint64 code)
{
}
