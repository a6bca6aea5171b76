/* tflite-recurrent.c - steps of recurrent operators, sequences as TensorIterator
 *
 * A sequence of one step is that step; of a longer one the step is the body of a TensorIterator. State is kept in
 * tensors that the file marks as variables; others start at what they hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-recurrent.h"

#include <lpt/lpt-body.h>
#include <string.h>

LptValue *
lpt_tfl_cell_const (LptTflOp *op, LptValue *outer)
{
  if (outer == NULL)
    return NULL;
  if (outer->producer->data == NULL)
    {
      lpt_tfl_unsupported (op, "weights that are not constant");
      return lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
    }
  LptValue *value = outer->producer->graph == op->scope->graph
                        ? outer
                        : lpt_tfl_tensor_value (op, lpt_tensor_ref (outer->producer->data), outer->quant);
  return outer->quant != NULL ? lpt_tfl_hybrid_weights (op, value) : value;
}

LptValue *
lpt_tfl_cell_product (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *w)
{
  if (w == NULL)
    return NULL;
  if (w->quant != NULL)
    x = lpt_tfl_round_dynamic (op, x, cell->asymmetric, -1);
  LptNode *node = lpt_tfl_add (op, LPT_OP_MATMUL, 2, x, lpt_tfl_cell_const (op, w));
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  return lpt_tfl_done (op, node);
}

/* --- state ----------------------------------------------------------------------- */

static char *
state_name (LptTflOp *op, guint i)
{
  const LptTflTensor *t = &op->scope->tensors[op->in[i]];
  return *t->name != '\0' ? g_strdup (t->name) : g_strdup_printf ("state_%d", op->in[i]);
}

LptValue *
lpt_tfl_state_in (LptTflOp *op, guint i)
{
  LptTflTensor *t = lpt_tfl_in_tensor (op, i);
  if (t == NULL || !t->is_variable)
    return lpt_tfl_in (op, i);
  g_autofree char *name = state_name (op, i);
  LptTflVariable *variable = lpt_tfl_variable (op->scope->import, name);
  /* Variables of int8 start at their zero point, others at bytes of 0. */
  if (variable->init == NULL && lpt_tfl_check_state (op, &t->shape) && t->quant != NULL && t->dtype == LPT_DTYPE_I8)
    {
      g_autoptr (LptTensor) zero = lpt_tensor_new (t->dtype, &t->shape, op->error == NULL ? &op->error : NULL);
      if (zero != NULL)
        memset (lpt_tensor_writable (zero), t->quant->zero_point[0], lpt_tensor_size (zero));
      variable->init = g_steal_pointer (&zero);
    }
  return lpt_tfl_variable_read (op, name, t);
}

void
lpt_tfl_state_out (LptTflOp *op, guint i, LptValue *value)
{
  LptTflTensor *t = lpt_tfl_in_tensor (op, i);
  if (t == NULL || !t->is_variable)
    return;
  g_autofree char *name = state_name (op, i);
  lpt_tfl_variable_write (op, name, value);
}

/* --- sequences --------------------------------------------------------------------- */

static LptValue *
body_parameter (LptTflOp *op, const LptValue *outer, gint axis)
{
  LptNode *node = lpt_graph_add (op->scope->graph, LPT_OP_PARAMETER, 0, "input", 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);
  attrs->element_type = outer->dtype;
  attrs->shape = outer->shape;
  if (axis >= 0)
    attrs->shape.dims[axis] = 1;
  lpt_value_set_quant (lpt_node_out (node), outer->quant);
  if (op->error == NULL)
    lpt_node_infer (node, &op->error);
  return lpt_node_out (node);
}

static void
body_result (LptTflOp *op, LptValue *value)
{
  LptNode *node = lpt_graph_add (op->scope->graph, LPT_OP_RESULT, 0, NULL, 1, &value);
  if (op->error == NULL)
    lpt_node_infer (node, &op->error);
}

static void
add_port (GArray *ports, guint external, guint internal, gint axis, gboolean backwards)
{
  LptBodyPort port = { .external = (gint) external,
                       .internal = internal,
                       .sliced = axis >= 0,
                       .axis = axis,
                       .start = backwards ? -1 : 0,
                       .end = backwards ? 0 : -1,
                       .stride = backwards ? -1 : 1,
                       .part_size = 1 };
  g_array_append_val (ports, port);
}

/* The step on slices of x and aux, in a graph of its own: parameters slices, states; results the slice, states. */
static LptGraph *
step_body (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, gint axis, LptValue *const *states)
{
  g_autoptr (LptGraph) body = lpt_graph_new ("body");
  LptTflScope scope = *op->scope;
  LptTflOp inner = *op;
  LptValue *in[LPT_TFL_MAX_STATES], *slice, *second = NULL;
  scope.graph = body;
  inner.scope = &scope;
  slice = lpt_tfl_squeeze (&inner, body_parameter (&inner, x, axis), axis);
  if (aux != NULL)
    second = lpt_tfl_squeeze (&inner, body_parameter (&inner, aux, axis), axis);
  for (guint k = 0; k < cell->n_states; k++)
    in[k] = body_parameter (&inner, states[k], -1);
  LptValue *y = lpt_tfl_unsqueeze (&inner, cell->step (&inner, cell, slice, second, in), axis);
  body_result (&inner, y);
  for (guint k = 0; k < cell->n_states; k++)
    body_result (&inner, in[k]);
  op->error = inner.error;
  return op->error == NULL ? g_steal_pointer (&body) : NULL;
}

LptValue *
lpt_tfl_cell_sequence (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, gint axis,
                       gboolean backwards, LptValue **states)
{
  LptValue *in[2 + LPT_TFL_MAX_STATES] = { x };
  guint n = 1;
  if (lpt_tfl_rank (op, x) != 3 || (aux != NULL && aux->shape.rank != 3))
    lpt_tfl_invalid (op, "a sequence of rank %d", x->shape.rank);
  if (op->error != NULL)
    return x;
  if (x->shape.dims[axis] == 1)
    return lpt_tfl_unsqueeze (op,
                              cell->step (op, cell, lpt_tfl_squeeze (op, x, axis),
                                          aux != NULL ? lpt_tfl_squeeze (op, aux, axis) : NULL, states),
                              axis);
  LptGraph *body = step_body (op, cell, x, aux, axis, states);
  if (body == NULL)
    return x;
  LptBodyMap *map = lpt_body_map_new ();
  add_port (map->inputs, 0, 0, axis, backwards);
  if (aux != NULL)
    {
      in[n] = aux;
      add_port (map->inputs, n, n, axis, backwards);
      n++;
    }
  add_port (map->outputs, 0, 0, axis, backwards);
  for (guint k = 0; k < cell->n_states; k++, n++)
    {
      LptBackEdge edge = { .result = k + 1, .parameter = n };
      in[n] = states[k];
      add_port (map->inputs, n, n, -1, FALSE);
      add_port (map->outputs, k + 1, k + 1, -1, FALSE);
      g_array_append_val (map->back_edges, edge);
    }
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_TENSOR_ITERATOR, 1 + cell->n_states, n, in);
  lpt_node_add_body (node, body, map);
  if (!lpt_node_infer (node, &op->error))
    return x;
  /* What is joined has the quantization of its parts: without, its integers would be numbers, and quantized anew. */
  LptNode *result = g_ptr_array_index (body->results, 0);
  lpt_value_set_quant (&node->out[0], lpt_node_in (result, 0)->quant);
  for (guint k = 0; k < cell->n_states; k++)
    {
      lpt_value_set_quant (&node->out[k + 1], states[k]->quant);
      states[k] = &node->out[k + 1];
    }
  return lpt_node_out (node);
}
