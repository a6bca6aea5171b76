/* tflite-map-control.c - state, calls, bodies and IF
 *
 *   CALL, STABLEHLO_COMPOSITE    the subgraph's operators stand where the call stood
 *   CALL_ONCE                    its assignments are the first values of variables
 *   IF                           If with both subgraphs as bodies; a constant condition leaves its branch
 *
 * Variables that a branch names go into it behind the operator's inputs; those that one assigns come out of both, and
 * are assigned behind the If.
 *
 * Refused: resources that come out of bodies, subgraphs with other numbers of inputs and outputs than the operator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-body.h"

#include <string.h>

/* --- state ------------------------------------------------------------------------- */

void
lpt_tfl_map_var_handle (LptTflOp *op)
{
  LptTflTable options = op->options_id == TFLT_VarHandleOptions ? op->options : 0;
  const char *container = lpt_tfl_string (op->flat, options, TFL_VarHandleOptions_container);
  const char *name = lpt_tfl_string (op->flat, options, TFL_VarHandleOptions_shared_name);
  g_autofree char *both = container != NULL && *container != '\0'
                              ? g_strdup_printf ("%s/%s", container, name != NULL ? name : "")
                              : g_strdup (name != NULL ? name : "");
  g_autofree char *valid = g_utf8_make_valid (both, -1);
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  if (out != NULL)
    out->resource = g_string_chunk_insert (op->scope->import->strings, valid);
}

static const char *
resource_in (LptTflOp *op, guint i)
{
  LptTflTensor *t = lpt_tfl_in_tensor (op, i);
  if (t == NULL || t->resource == NULL)
    lpt_tfl_unsupported (op, "resource that no VAR_HANDLE makes");
  return t != NULL && t->resource != NULL ? t->resource : "";
}

void
lpt_tfl_map_read_variable (LptTflOp *op)
{
  const char *name = resource_in (op, 0);
  if (op->error == NULL && op->n_out > 0)
    lpt_tfl_set (op, 0, lpt_tfl_variable_read (op, name, lpt_tfl_out_tensor (op, 0)));
}

void
lpt_tfl_map_assign_variable (LptTflOp *op)
{
  const char *name = resource_in (op, 0);
  LptValue *value = lpt_tfl_in (op, 1);
  if (op->error == NULL)
    lpt_tfl_variable_write (op, name, value);
}

/* --- calls --------------------------------------------------------------------------- */

LptTflTensor *
lpt_tfl_body_port (LptTflOp *op, LptTflScope *scope, LptTflField field, guint k)
{
  LptTflVector list = lpt_tfl_scope_list (scope, field);
  gint64 index = lpt_tfl_item_int (&list, k);
  if (k < list.n && index >= 0 && index < scope->n_tensors)
    return &scope->tensors[index];
  lpt_tfl_invalid (op, "subgraph %u has no %s %u", scope->index, field == TFL_SubGraph_inputs ? "input" : "output", k);
  return NULL;
}

LptValue *
lpt_tfl_body_output (LptTflOp *op, LptTflScope *scope, guint k)
{
  LptTflVector list = lpt_tfl_scope_list (scope, TFL_SubGraph_outputs);
  LptValue *value = lpt_tfl_body_port (op, scope, TFL_SubGraph_outputs, k) != NULL
                        ? lpt_tfl_scope_value (scope, lpt_tfl_item_int (&list, k), &op->error)
                        : NULL;
  return value != NULL ? value : lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
}

static LptTflScope *
open_scope (LptTflOp *op, LptGraph *graph, gint64 index, const char *prefix, guint n_in, guint n_out)
{
  LptTflScope *scope = index >= 0 && index <= G_MAXINT32 ? lpt_tfl_scope_new (
                           op->scope->import, graph, (guint) index, prefix, op->error == NULL ? &op->error : NULL)
                                                         : NULL;
  if (scope == NULL)
    {
      lpt_tfl_invalid (op, "there is no subgraph %" G_GINT64_FORMAT, index);
      return NULL;
    }
  LptTflVector ins = lpt_tfl_scope_list (scope, TFL_SubGraph_inputs);
  LptTflVector outs = lpt_tfl_scope_list (scope, TFL_SubGraph_outputs);
  scope->is_body = op->scope->is_body;
  scope->locals = op->scope->locals != NULL ? g_ptr_array_ref (op->scope->locals) : NULL;
  if (ins.n != n_in || outs.n != n_out)
    lpt_tfl_invalid (op, "subgraph %" G_GINT64_FORMAT " has %u inputs and %u outputs, not %u and %u", index, ins.n,
                     outs.n, n_in, n_out);
  return scope;
}

LptValue *
lpt_tfl_body_in (LptTflOp *op, guint i, const char **resource)
{
  LptTflTensor *t = lpt_tfl_in_tensor (op, i);
  *resource = t != NULL ? t->resource : NULL;
  return *resource != NULL ? NULL : lpt_tfl_in (op, i);
}

void
lpt_tfl_inline (LptTflOp *op, gint64 index, const LptTflBodyInputs *in, guint n_out, LptValue **out)
{
  g_autoptr (LptTflScope) scope = open_scope (op, op->scope->graph, index, op->name, in->n, n_out);
  for (guint k = 0; k < in->n && op->error == NULL; k++)
    {
      LptTflTensor *t = lpt_tfl_body_port (op, scope, TFL_SubGraph_inputs, k);
      if (t != NULL)
        t->value = in->values[k];
      if (t != NULL && in->resources != NULL)
        t->resource = in->resources[k];
    }
  if (op->error == NULL)
    lpt_tfl_scope_run (scope, &op->error);
  for (guint k = 0; k < n_out; k++)
    out[k] = op->error == NULL ? lpt_tfl_body_output (op, scope, k) : NULL;
}

void
lpt_tfl_map_call (LptTflOp *op)
{
  gint64 index = lpt_tfl_opt_int (op, op->argument != 0 ? TFL_StableHLOCompositeOptions_decomposition_subgraph_index
                                                        : TFL_CallOptions_subgraph);
  g_autofree LptValue **in = g_new0 (LptValue *, op->n_in + 1);
  g_autofree LptValue **out = g_new0 (LptValue *, op->n_out + 1);
  g_autofree const char **resources = g_new0 (const char *, op->n_in + 1);
  for (guint i = 0; i < op->n_in; i++)
    in[i] = lpt_tfl_body_in (op, i, &resources[i]);
  lpt_tfl_inline (op, index, &(LptTflBodyInputs) { op->n_in, in, resources }, op->n_out, out);
  for (guint o = 0; o < op->n_out && op->error == NULL; o++)
    lpt_tfl_set (op, o, out[o]);
}

void
lpt_tfl_map_call_once (LptTflOp *op)
{
  g_autoptr (LptTflScope) scope = open_scope (
      op, op->scope->graph, lpt_tfl_opt_int (op, TFL_CallOnceOptions_init_subgraph_index), op->name, 0, 0);
  if (op->error != NULL)
    return;
  scope->is_init = TRUE;
  lpt_tfl_scope_run (scope, &op->error);
}

/* --- bodies ---------------------------------------------------------------------------- */

LptValue *
lpt_tfl_body_parameter (LptTflOp *op, LptGraph *body, const char *name, const LptValue *value, const LptShape *shape)
{
  LptNode *node = lpt_graph_add (body, LPT_OP_PARAMETER, 0, name, 0, NULL);
  LPT_ATTRS (node, LptParameterAttrs)->element_type = value->dtype;
  LPT_ATTRS (node, LptParameterAttrs)->shape = *shape;
  lpt_value_set_quant (lpt_node_out (node), value->quant);
  if (op->error == NULL)
    lpt_node_infer (node, &op->error);
  return lpt_node_out (node);
}

LptGraph *
lpt_tfl_body_new (LptTflOp *op, gint64 index, const LptTflBodyInputs *in, const LptShape *shapes, guint n_out,
                  LptTflScope **scope_out)
{
  g_autoptr (LptGraph) body = lpt_graph_new ("body");
  g_autoptr (LptTflScope) scope = open_scope (op, body, index, NULL, in->n, n_out);
  if (op->error != NULL)
    return NULL;
  scope->is_body = TRUE;
  g_clear_pointer (&scope->locals, g_ptr_array_unref);
  scope->locals = lpt_tfl_locals_new ();
  for (guint k = 0; k < in->n && op->error == NULL; k++)
    {
      LptTflTensor *t = lpt_tfl_body_port (op, scope, TFL_SubGraph_inputs, k);
      if (t == NULL)
        return NULL;
      t->resource = in->resources != NULL ? in->resources[k] : NULL;
      t->is_filled = in->values[k] == NULL && t->resource == NULL;
      if (in->values[k] == NULL)
        continue;
      /* A tensor that stands for two inputs, or an input that the subgraph does not know: the first one wins. */
      t->value = lpt_tfl_body_parameter (op, body, *t->name != '\0' ? t->name : "input", in->values[k],
                                         shapes != NULL ? &shapes[k] : &in->values[k]->shape);
    }
  if (op->error != NULL || !lpt_tfl_scope_run (scope, &op->error))
    return NULL;
  *scope_out = g_steal_pointer (&scope);
  return g_steal_pointer (&body);
}

gboolean
lpt_tfl_body_result (LptTflOp *op, LptGraph *body, LptValue *value)
{
  LptNode *node = lpt_graph_add (body, LPT_OP_RESULT, 0, NULL, 1, &value);
  return op->error == NULL && lpt_node_infer (node, &op->error);
}

void
lpt_tfl_body_connect (GArray *ports, gint external, guint internal, LptPortPurpose purpose)
{
  LptBodyPort port = { .external = external, .internal = internal, .purpose = purpose };
  g_array_append_val (ports, port);
}

void
lpt_tfl_body_outputs (LptTflOp *op, LptNode *node, LptGraph *body, guint lead, guint n, LptValue **out)
{
  if (op->error != NULL || !lpt_node_infer (node, &op->error))
    return;
  for (guint o = 0; o < n; o++)
    {
      LptValue *inner = lpt_node_in (g_ptr_array_index (body->results, o + lead), 0);
      if (inner->dtype == node->out[o].dtype)
        lpt_value_set_quant (&node->out[o], inner->quant);
      out[o] = &node->out[o];
    }
}

/* --- IF ----------------------------------------------------------------------------------- */

typedef struct
{
  LptTflOp    *op;
  LptTflBodyInputs in;      /* of the branches */
  LptGraph    *body[2];
  LptTflScope *scope[2];
  GPtrArray   *names;       /* of variables, behind the inputs */
} Branches;

/* Variables that one branch assigns are in both; all that are in one, in the order in which they go in. */
static void
share_variables (Branches *b)
{
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < b->scope[k]->locals->len; i++)
      {
        const LptTflLocal *local = b->scope[k]->locals->pdata[i];
        LptTflOp other = *b->op;
        other.scope = b->scope[1 - k];
        const LptTflTensor like = { .dtype = local->parameter->dtype, .shape = local->parameter->shape,
                                    .quant = local->parameter->quant };
        if (local->assigned)
          lpt_tfl_local (&other, local->name, &like);
        b->op->error = other.error;
        if (!g_ptr_array_find_with_equal_func (b->names, local->name, g_str_equal, NULL))
          g_ptr_array_add (b->names, local->name);
      }
}

static LptTflLocal *
local_of (const Branches *b, guint k, const char *name)
{
  GPtrArray *locals = b->scope[k]->locals;
  for (guint i = 0; i < locals->len; i++)
    if (strcmp (((LptTflLocal *) locals->pdata[i])->name, name) == 0)
      return locals->pdata[i];
  return NULL;
}

static gboolean
is_assigned (const Branches *b, const char *name)
{
  const LptTflLocal *one = local_of (b, 0, name), *other = local_of (b, 1, name);
  return (one != NULL && one->assigned) || (other != NULL && other->assigned);
}

/* Results of branch @k, and where everything goes in and out; @plain: inputs of the If before the variables. */
static LptBodyMap *
connect_branch (Branches *b, guint k, guint plain)
{
  LptTflOp *op = b->op;
  LptBodyMap *map = lpt_body_map_new ();
  guint parameter = 0, result = 0;
  for (guint o = 0; o < op->n_out; o++, result++)
    {
      lpt_tfl_body_result (op, b->body[k], lpt_tfl_body_output (op, b->scope[k], o));
      lpt_tfl_body_connect (map->outputs, (gint) result, result, LPT_PORT_PLAIN);
    }
  for (; parameter < plain - 1; parameter++)
    lpt_tfl_body_connect (map->inputs, (gint) parameter + 1, parameter, LPT_PORT_PLAIN);
  for (guint i = 0; i < b->scope[k]->locals->len; i++)
    {
      const LptTflLocal *local = b->scope[k]->locals->pdata[i];
      guint at = 0;
      g_ptr_array_find_with_equal_func (b->names, local->name, g_str_equal, &at);
      lpt_tfl_body_connect (map->inputs, (gint) (plain + at), parameter++, LPT_PORT_PLAIN);
    }
  for (guint i = 0; i < b->names->len && op->error == NULL; i++)
    if (is_assigned (b, b->names->pdata[i]))
      {
        lpt_tfl_body_result (op, b->body[k], lpt_tfl_local_left (op, local_of (b, k, b->names->pdata[i])));
        lpt_tfl_body_connect (map->outputs, (gint) result, result, LPT_PORT_PLAIN);
        result++;
      }
  return map;
}

/* The If of both branches, whose inputs are @inputs, room for all. */
static void
add_if (Branches *b, LptValue *condition)
{
  LptTflOp *op = b->op;
  share_variables (b);
  g_autofree LptValue **inputs = g_new0 (LptValue *, b->in.n + b->names->len + 1);
  guint n = 0, plain, n_out = op->n_out;
  inputs[n++] = condition;
  for (guint i = 0; i < b->in.n; i++)
    if (b->in.values[i] != NULL)
      inputs[n++] = b->in.values[i];
  plain = n;
  for (guint i = 0; i < b->names->len && op->error == NULL; i++)
    {
      const char *name = b->names->pdata[i];
      const LptTflLocal *one = local_of (b, 0, name), *other = local_of (b, 1, name);
      inputs[n++] = lpt_tfl_local_outside (op, one != NULL ? one : other);
      if (one != NULL && other != NULL)
        lpt_tfl_local_outside (op, other);
      n_out += is_assigned (b, name);
    }
  if (op->error != NULL)
    return;
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_IF, n_out, n, inputs);
  for (guint k = 0; k < 2; k++)
    {
      LptBodyMap *map = connect_branch (b, k, plain);
      lpt_node_add_body (node, g_steal_pointer (&b->body[k]), map);
    }
  g_autofree LptValue **out = g_new0 (LptValue *, n_out + 1);
  lpt_tfl_body_outputs (op, node, lpt_node_body (node, 1), 0, n_out, out);
  for (guint o = 0; o < op->n_out && op->error == NULL; o++)
    lpt_tfl_set (op, o, out[o]);
  for (guint i = 0, o = op->n_out; i < b->names->len && op->error == NULL; i++)
    if (is_assigned (b, b->names->pdata[i]))
      lpt_tfl_variable_write (op, b->names->pdata[i], out[o++]);
}

void
lpt_tfl_map_if (LptTflOp *op)
{
  static const LptTflField fields[] = { TFL_IfOptions_then_subgraph_index, TFL_IfOptions_else_subgraph_index };
  LptTensor *known = lpt_tfl_const_in (op, 0);
  g_autofree LptValue **in = g_new0 (LptValue *, op->n_in + 1);
  g_autofree const char **resources = g_new0 (const char *, op->n_in + 1);
  g_autofree LptValue **out = g_new0 (LptValue *, op->n_out + 1);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < op->n_in; i++)
    in[i] = lpt_tfl_body_in (op, i, &resources[i]);
  if (op->n_in == 0 || in[0] == NULL || in[0]->dtype != LPT_DTYPE_BOOL)
    lpt_tfl_invalid (op, "the condition is not one boolean");
  if (op->error != NULL)
    return;
  Branches b = { .op = op, .in = { op->n_in - 1, in + 1, resources + 1 }, .names = names };
  if (known != NULL)
    {
      guint taken = lpt_tensor_count (known) == 1 && lpt_tensor_get_i64 (known, 0) != 0 ? 0 : 1;
      lpt_tfl_inline (op, lpt_tfl_opt_int (op, fields[taken]), &b.in, op->n_out, out);
      for (guint o = 0; o < op->n_out && op->error == NULL; o++)
        lpt_tfl_set (op, o, out[o]);
      return;
    }
  for (guint k = 0; k < 2 && op->error == NULL; k++)
    b.body[k] = lpt_tfl_body_new (op, lpt_tfl_opt_int (op, fields[k]), &b.in, NULL, op->n_out, &b.scope[k]);
  if (b.body[0] != NULL && b.body[1] != NULL)
    add_if (&b, in[0]->shape.rank > 0 ? lpt_tfl_reshape (op, in[0], 0, NULL) : in[0]);
  for (guint k = 0; k < 2; k++)
    {
      g_clear_pointer (&b.body[k], lpt_graph_free);
      g_clear_pointer (&b.scope[k], lpt_tfl_scope_free);
    }
}
