/* onnx-body.c - subgraphs of ONNX nodes as bodies
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-body.h"
#include "frontends/onnx_json/read/onnx-quant.h"

void
lpt_onnx_body_clear (LptOnnxBody *body)
{
  g_clear_pointer (&body->scope, lpt_onnx_scope_free);
  g_clear_pointer (&body->graph, lpt_graph_free);
  g_clear_error (&body->inner.error);
}

const Onnx__GraphProto *
lpt_onnx_subgraph (LptOnnxNode *on,
                   const char  *name)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);

  if (attr != NULL && attr->g != NULL)
    return attr->g;
  lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" is missing", name);
  return NULL;
}

void
lpt_onnx_body_open (LptOnnxBody            *body,
                    LptOnnxNode            *on,
                    const Onnx__GraphProto *proto)
{
  const char *name = lpt_onnx_text (proto->name);

  body->proto = proto;
  body->graph = lpt_graph_new (*name != '\0' ? name : "body");
  body->scope = lpt_onnx_scope_inside (on->scope, body->graph);
  body->inner = (LptOnnxNode) { .import = on->import, .scope = body->scope, .proto = on->proto, .name = on->name, .opset = on->opset };
  lpt_onnx_scope_initializers (body->inner.import, body->scope, proto, &body->inner.error);
}

LptValue *
lpt_onnx_body_parameter (LptOnnxBody    *body,
                         guint           i,
                         LptDType        dtype,
                         const LptShape *shape)
{
  const Onnx__ValueInfoProto *info = body->proto->input[i];
  LptNode *node = lpt_graph_add (body->graph, LPT_OP_PARAMETER, 0, lpt_onnx_text (info->name), 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);
  LptDType declared = dtype;
  LptShape known = LPT_SHAPE_ANY;

  if (body->inner.error == NULL && info->type != NULL &&
      lpt_onnx_read_type (info->type, &declared, &known, &body->inner.error) && declared != dtype)
    lpt_onnx_fail (&body->inner, LPT_ERROR_INVALID, "input \"%s\" is %s, the value is %s", lpt_onnx_text (info->name),
                   lpt_dtype_name (declared), lpt_dtype_name (dtype));
  attrs->element_type = dtype;
  attrs->shape = shape->rank >= 0 ? *shape : known;
  return lpt_onnx_done (&body->inner, node);
}

void
lpt_onnx_body_define (LptOnnxBody *body,
                      guint        i,
                      LptValue    *value)
{
  if (body->inner.error == NULL)
    lpt_onnx_scope_define (body->scope, lpt_onnx_text (body->proto->input[i]->name), value, &body->inner.error);
}

void
lpt_onnx_body_nodes (LptOnnxBody *body)
{
  if (body->inner.error == NULL)
    lpt_onnx_import_nodes (body->inner.import, body->scope, body->proto->node, body->proto->n_node, &body->inner.error);
}

LptValue *
lpt_onnx_body_output (LptOnnxBody *body,
                      guint        i)
{
  LptValue *value = NULL;

  if (body->inner.error == NULL)
    value = lpt_onnx_scope_find_tensor (body->inner.import, body->scope,
                                        lpt_onnx_text (body->proto->output[i]->name), &body->inner.error);
  return value != NULL ? lpt_onnx_plain (&body->inner, value) : NULL;
}

void
lpt_onnx_body_result (LptOnnxBody *body,
                      LptValue    *value)
{
  LptNode *node = lpt_graph_add (body->graph, LPT_OP_RESULT, 0, NULL, 1, &value);

  if (body->inner.error == NULL)
    lpt_node_infer (node, &body->inner.error);
}

gboolean
lpt_onnx_body_is_right (LptOnnxBody *body,
                        LptOnnxNode *on,
                        const char  *attribute)
{
  if (body->inner.error == NULL)
    return TRUE;
  if (on->error == NULL)
    g_propagate_prefixed_error (&on->error, g_steal_pointer (&body->inner.error), "%s: ", attribute);
  return FALSE;
}

void
lpt_onnx_add_port (GArray *ports,
                   gint    external,
                   guint   internal)
{
  LptBodyPort port = { .external = external, .internal = internal, .end = -1, .stride = 1, .part_size = 1 };

  g_array_append_val (ports, port);
}

LptBodyPort *
lpt_onnx_last_port (GArray *ports)
{
  return &g_array_index (ports, LptBodyPort, ports->len - 1);
}

void
lpt_onnx_slice_port (GArray   *ports,
                     gint64    axis,
                     gboolean  backwards)
{
  LptBodyPort *port = lpt_onnx_last_port (ports);

  port->sliced = TRUE;
  port->axis = axis;
  port->start = backwards ? -1 : 0;
  port->end = backwards ? 0 : -1;
  port->stride = backwards ? -1 : 1;
}

void
lpt_onnx_body_connect (const LptOnnxBody *body,
                       LptBodyMap        *map,
                       GPtrArray         *inputs,
                       guint              first)
{
  for (guint i = 0; i < body->scope->captures->len; i++)
    {
      const LptOnnxCapture *capture = &g_array_index (body->scope->captures, LptOnnxCapture, i);
      guint at = first, internal;

      while (at < inputs->len && g_ptr_array_index (inputs, at) != capture->outside)
        at++;
      if (at == inputs->len)
        g_ptr_array_add (inputs, capture->outside);
      g_ptr_array_find (body->graph->parameters, capture->parameter, &internal);
      lpt_onnx_add_port (map->inputs, (gint) at, internal);
    }
}

void
lpt_onnx_body_finish (LptOnnxNode        *on,
                      LptOp               op,
                      GPtrArray          *inputs,
                      guint               n,
                      LptOnnxBody *const *bodies,
                      LptBodyMap        **maps)
{
  LptNode *node;

  if (inputs->len > lpt_op_info (op)->max_in)
    lpt_onnx_unsupported (on, "number of values from outside: %u", inputs->len);
  node = lpt_onnx_add_list (on, op, on->n_out, inputs->len, (LptValue *const *) inputs->pdata);
  for (guint i = 0; i < n; i++)
    {
      lpt_graph_sweep (bodies[i]->graph);
      lpt_node_add_body (node, g_steal_pointer (&bodies[i]->graph), maps[i]);
    }
  lpt_onnx_done (on, node);
  for (guint i = 0; i < on->n_out; i++)
    lpt_onnx_set (on, i, &node->out[i]);
}
