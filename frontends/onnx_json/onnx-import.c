/* onnx-import.c - from ONNX messages to a graph
 *
 * Walks the nodes in the order of the file, which ONNX requires to be
 * topological, finds the row of the op table for each and lets it map the node.
 * Initializers become Consts when a node first reads them. Model functions are
 * inlined: a scope of names of their own, attributes taken from the call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/onnx-scope.h"

#include <lpt/lpt-onnx.h>

#include <string.h>

#define MAX_NESTING 32

static const LptOnnxOp ops[] = {
#define ONNX_OP(domain, name, since, map, argument) { domain, name, since, lpt_onnx_map_##map, argument },
#include "frontends/onnx_json/onnx-ops.def"
};

static const char *
text (const char *string)
{
  return string != NULL ? string : "";
}

/* The two spellings of the default domain are one. */
static const char *
domain_of (const char *domain)
{
  return domain == NULL || strcmp (domain, "ai.onnx") == 0 ? "" : domain;
}

const LptOnnxOp *
lpt_onnx_find_op (const char  *domain,
                  const char  *name,
                  gint64       opset,
                  GError     **error)
{
  const LptOnnxOp *best = NULL, *oldest = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (ops[i].name, name) == 0 && strcmp (ops[i].domain, domain) == 0)
      {
        if (ops[i].since <= opset && (best == NULL || ops[i].since > best->since))
          best = &ops[i];
        if (oldest == NULL || ops[i].since < oldest->since)
          oldest = &ops[i];
      }
  if (best == NULL && oldest == NULL)
    g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported operator");
  else if (best == NULL)
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported version of the operator: it is known from opset %" G_GINT64_FORMAT " on", oldest->since);
  return best;
}

/* --- scopes ------------------------------------------------------------------ */

static LptOnnxScope *
scope_new (LptGraph *graph)
{
  LptOnnxScope *scope = g_new0 (LptOnnxScope, 1);

  scope->graph = graph;
  scope->values = g_hash_table_new (g_str_hash, g_str_equal);
  scope->initializers = g_hash_table_new (g_str_hash, g_str_equal);
  scope->strings = g_string_chunk_new (256);
  return scope;
}

static void
scope_free (LptOnnxScope *scope)
{
  g_hash_table_unref (scope->values);
  g_hash_table_unref (scope->initializers);
  g_clear_pointer (&scope->call_attrs, g_hash_table_unref);
  g_clear_pointer (&scope->opsets, g_hash_table_unref);
  g_string_chunk_free (scope->strings);
  g_free (scope);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptOnnxScope, scope_free)

static gboolean
define (LptOnnxScope  *scope,
        const char    *name,
        LptValue      *value,
        GError       **error)
{
  if (g_hash_table_contains (scope->values, name))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "\"%s\" is defined twice", name);
      return FALSE;
    }
  g_hash_table_insert (scope->values, (gpointer) name, value);
  return TRUE;
}

/* The value of a name; NULL + error. */
static LptValue *
look_up (LptOnnxImport  *import,
         LptOnnxScope   *scope,
         const char     *name,
         GError        **error)
{
  LptValue *value = g_hash_table_lookup (scope->values, name);
  const Onnx__TensorProto *initializer;
  g_autoptr (LptTensor) tensor = NULL;

  if (value != NULL)
    return value;
  initializer = g_hash_table_lookup (scope->initializers, name);
  if (initializer != NULL)
    {
      tensor = lpt_onnx_file_tensor (import->file, initializer, error);
      if (tensor == NULL)
        return NULL;
      value = lpt_node_out (lpt_graph_add_const (scope->graph, name, tensor));
      lpt_value_add_name (value, name);
    }
  else
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" is not defined before its use (the nodes are not in order, or in a cycle)", name);
      return NULL;
    }
  g_hash_table_insert (scope->values, (gpointer) name, value);
  return value;
}

static gboolean
read_opsets (LptOnnxScope                *scope,
             Onnx__OperatorSetIdProto   **imports,
             gsize                        n,
             GError                     **error)
{
  scope->opsets = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  for (gsize i = 0; i < n; i++)
    {
      const char *domain = domain_of (imports[i]->domain);
      gint64 *version = g_new (gint64, 1);

      *version = imports[i]->version;
      if (*version < 1 || g_hash_table_contains (scope->opsets, domain))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "opsetImport[%" G_GSIZE_FORMAT "]: domain \"%s\" has %s",
                       i, domain, *version < 1 ? "no version" : "two versions");
          g_free (version);
          return FALSE;
        }
      g_hash_table_insert (scope->opsets, (gpointer) domain, version);
    }
  return TRUE;
}

static gint64
opset_of (LptOnnxScope *scope,
          const char   *domain)
{
  const gint64 *version = g_hash_table_lookup (scope->opsets, domain);

  return version != NULL ? *version : 0;
}

/* --- nodes ------------------------------------------------------------------- */

static gboolean import_nodes (LptOnnxImport *import, LptOnnxScope *scope, Onnx__NodeProto **nodes, gsize n, GError **error);

/* Names outputs; the node that computes output 0 gets the name of the ONNX node. */
static gboolean
take_outputs (LptOnnxNode  *on,
              guint         first_id,
              GError      **error)
{
  for (guint i = 0; i < on->n_out; i++)
    {
      const char *name = on->proto->output[i];

      if (*name == '\0')
        continue;
      if (on->out[i] == NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported output %u (\"%s\")", i, name);
          return FALSE;
        }
      if (!define (on->scope, name, on->out[i], error))
        return FALSE;
      if (on->scope->prefix == NULL)
        lpt_value_add_name (on->out[i], name);
      if (i == 0 && on->out[0]->producer->id >= first_id)
        lpt_node_rename (on->out[0]->producer, on->name);
    }
  return TRUE;
}

static gboolean
find_unread_attribute (LptOnnxNode  *on,
                       GError      **error)
{
  for (gsize i = 0; i < MIN (on->proto->n_attribute, 64); i++)
    if ((on->attrs_read & (G_GUINT64_CONSTANT (1) << i)) == 0)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported attribute \"%s\"", text (on->proto->attribute[i]->name));
        return TRUE;
      }
  return FALSE;
}

static gboolean
map_node (LptOnnxNode  *on,
          const char   *domain,
          GError      **error)
{
  guint first_id = on->scope->graph->next_id;
  const LptOnnxOp *op;

  op = lpt_onnx_find_op (domain, text (on->proto->op_type), on->opset, error);
  if (op == NULL)
    return FALSE;
  on->since = op->since;
  on->argument = op->argument;
  op->map (on);
  if (on->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&on->error));
      return FALSE;
    }
  return !find_unread_attribute (on, error) && take_outputs (on, first_id, error);
}

static const Onnx__FunctionProto *
find_function (LptOnnxImport         *import,
               const Onnx__NodeProto *node,
               const char            *domain)
{
  const Onnx__ModelProto *model = import->file->model;

  for (gsize i = 0; i < model->n_functions; i++)
    {
      const Onnx__FunctionProto *function = model->functions[i];

      if (strcmp (text (function->name), text (node->op_type)) == 0 && strcmp (domain_of (function->domain), domain) == 0
          && strcmp (text (function->overload), text (node->overload)) == 0)
        return function;
    }
  return NULL;
}

/* A call: the function's nodes, in a scope where its inputs are the call's. */
static gboolean
inline_function (LptOnnxNode                *on,
                 const Onnx__FunctionProto  *function,
                 GError                    **error)
{
  g_autoptr (LptOnnxScope) scope = scope_new (on->scope->graph);

  scope->prefix = on->name;
  scope->call_attrs = g_hash_table_new (g_str_hash, g_str_equal);
  for (gsize i = 0; i < function->n_attribute_proto; i++)
    if (function->attribute_proto[i]->name != NULL)
      g_hash_table_insert (scope->call_attrs, function->attribute_proto[i]->name, function->attribute_proto[i]);
  for (gsize i = 0; i < on->proto->n_attribute; i++)
    {
      Onnx__AttributeProto *attr = on->proto->attribute[i];

      /* A reference of the call is resolved where the call stands. */
      if (attr->name != NULL && attr->ref_attr_name != NULL && *attr->ref_attr_name != '\0')
        {
          gpointer outer = on->scope->call_attrs != NULL ? g_hash_table_lookup (on->scope->call_attrs, attr->ref_attr_name) : NULL;

          if (outer != NULL)
            g_hash_table_insert (scope->call_attrs, attr->name, outer);
        }
      else if (attr->name != NULL)
        g_hash_table_insert (scope->call_attrs, attr->name, attr);
    }
  if (!read_opsets (scope, function->opset_import, function->n_opset_import, error))
    return FALSE;
  if (on->n_in > function->n_input || on->n_out > function->n_output)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "more inputs or outputs than the function has");
      return FALSE;
    }
  for (guint i = 0; i < on->n_in; i++)
    if (on->in[i] != NULL && !define (scope, function->input[i], on->in[i], error))
      return FALSE;
  if (!import_nodes (on->import, scope, function->node, function->n_node, error))
    return FALSE;
  for (guint i = 0; i < on->n_out; i++)
    if (*on->proto->output[i] != '\0')
      {
        on->out[i] = look_up (on->import, scope, function->output[i], error);
        if (on->out[i] == NULL)
          return FALSE;
      }
  return take_outputs (on, G_MAXUINT, error);
}

static gboolean
import_node (LptOnnxImport          *import,
             LptOnnxScope           *scope,
             const Onnx__NodeProto  *proto,
             GError                **error)
{
  const char *domain = domain_of (proto->domain);
  g_autofree LptValue **in = g_new0 (LptValue *, proto->n_input + 1);
  g_autofree LptValue **out = g_new0 (LptValue *, proto->n_output + 1);
  g_autofree char *name = NULL;
  const char *own = text (proto->name);
  const Onnx__FunctionProto *function;
  LptOnnxNode on = { .import = import, .scope = scope, .proto = proto, .in = in, .out = out };
  gboolean ok = TRUE;

  if (*own == '\0' && proto->n_output > 0)
    own = proto->output[0];
  name = scope->prefix != NULL ? g_strconcat (scope->prefix, "/", own, NULL) : g_strdup (own);
  on.name = name;
  on.n_in = (guint) proto->n_input;
  on.n_out = (guint) proto->n_output;
  on.opset = opset_of (scope, domain);

  for (gsize i = 0; ok && i < proto->n_input; i++)
    if (*proto->input[i] != '\0')
      {
        in[i] = look_up (import, scope, proto->input[i], error);
        ok = in[i] != NULL;
      }
  /* Trailing inputs that are not given are as if they were not there. */
  while (on.n_in > 0 && in[on.n_in - 1] == NULL)
    on.n_in--;
  if (ok)
    {
      function = find_function (import, proto, domain);
      ok = function != NULL ? inline_function (&on, function, error) : map_node (&on, domain, error);
    }
  if (!ok)
    g_prefix_error (error, "node \"%s\" (%s%s%s, opset %" G_GINT64_FORMAT "): ", name, domain, *domain != '\0' ? "." : "",
                    text (proto->op_type), on.opset);
  return ok;
}

static gboolean
import_nodes (LptOnnxImport    *import,
              LptOnnxScope     *scope,
              Onnx__NodeProto **nodes,
              gsize             n,
              GError          **error)
{
  gboolean ok = TRUE;

  if (import->depth >= MAX_NESTING)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: functions nested deeper than %d", MAX_NESTING);
      return FALSE;
    }
  import->depth++;
  for (gsize i = 0; ok && i < n; i++)
    ok = import_node (import, scope, nodes[i], error);
  import->depth--;
  return ok;
}

/* --- graphs ------------------------------------------------------------------ */

static gboolean
read_type (const Onnx__TypeProto  *type,
           LptDType               *dtype,
           LptShape               *shape,
           GError                **error)
{
  const Onnx__TensorShapeProto *dims;

  *shape = LPT_SHAPE_ANY;
  *dtype = LPT_DTYPE_UNDEFINED;
  if (type == NULL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "has no type");
      return FALSE;
    }
  if (type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    {
      static const struct { Onnx__TypeProto__ValueCase which; const char *name; } kinds[] = {
        { ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE, "sequence" }, { ONNX__TYPE_PROTO__VALUE_MAP_TYPE, "map" },
        { ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE, "opaque" }, { ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE, "sparse tensor" },
        { ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE, "optional" },
      };

      for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
        if (kinds[i].which == type->value_case)
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported type: %s", kinds[i].name);
            return FALSE;
          }
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "has no type");
      return FALSE;
    }

  *dtype = lpt_onnx_type_to_dtype (type->tensor_type->elem_type, error);
  if (*dtype == LPT_DTYPE_UNDEFINED)
    return FALSE;
  dims = type->tensor_type->shape;
  if (dims == NULL)
    return TRUE;
  if (dims->n_dim > LPT_MAX_RANK)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported rank %" G_GSIZE_FORMAT, dims->n_dim);
      return FALSE;
    }
  shape->rank = (gint) dims->n_dim;
  for (gsize i = 0; i < dims->n_dim; i++)
    {
      const Onnx__TensorShapeProto__Dimension *dim = dims->dim[i];
      gboolean known = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;

      /* Some exporters write -1 or 0 for "not known". */
      shape->dims[i] = known && dim->dim_value >= 0 ? dim->dim_value : LPT_DYNAMIC;
    }
  return TRUE;
}

static gboolean
add_parameter (LptOnnxScope               *scope,
               const Onnx__ValueInfoProto *info,
               GError                    **error)
{
  LptNode *node = lpt_graph_add (scope->graph, LPT_OP_PARAMETER, 0, text (info->name), 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);

  lpt_value_add_name (lpt_node_out (node), text (info->name));
  if (read_type (info->type, &attrs->element_type, &attrs->shape, error) && lpt_node_infer (node, error)
      && define (scope, text (info->name), lpt_node_out (node), error))
    return TRUE;
  g_prefix_error (error, "input \"%s\": ", text (info->name));
  return FALSE;
}

static gboolean
add_result (LptOnnxImport  *import,
            LptOnnxScope   *scope,
            const char     *name,
            GError        **error)
{
  LptValue *value = look_up (import, scope, name, error);
  g_autofree char *node_name = g_strconcat (name, "/Result", NULL);
  LptResultAttrs *attrs;
  LptNode *node;

  if (value == NULL)
    {
      g_prefix_error (error, "output \"%s\": ", name);
      return FALSE;
    }
  node = lpt_graph_add (scope->graph, LPT_OP_RESULT, 0, node_name, 1, &value);
  attrs = LPT_ATTRS (node, LptResultAttrs);
  g_free (attrs->output);
  attrs->output = g_strdup (name);
  return lpt_node_infer (node, error);
}

static gboolean
import_graph (LptOnnxImport           *import,
              LptOnnxScope            *scope,
              const Onnx__GraphProto  *graph,
              GError                 **error)
{
  if (graph->n_sparse_initializer > 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: sparse initializers");
      return FALSE;
    }
  for (gsize i = 0; i < graph->n_initializer; i++)
    {
      char *name = graph->initializer[i]->name;

      if (name == NULL || *name == '\0' || !g_hash_table_insert (scope->initializers, name, graph->initializer[i]))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "initializer %" G_GSIZE_FORMAT " \"%s\": %s", i, text (name),
                       name == NULL || *name == '\0' ? "has no name" : "is defined twice");
          return FALSE;
        }
    }
  for (gsize i = 0; i < graph->n_input; i++)
    if (!g_hash_table_contains (scope->initializers, text (graph->input[i]->name))
        && !add_parameter (scope, graph->input[i], error))
      return FALSE;
  if (!import_nodes (import, scope, graph->node, graph->n_node, error))
    return FALSE;
  for (gsize i = 0; i < graph->n_output; i++)
    if (!add_result (import, scope, text (graph->output[i]->name), error))
      return FALSE;
  return TRUE;
}

LptGraph *
lpt_onnx_import (LptOnnxFile  *file,
                 GError      **error)
{
  const Onnx__ModelProto *model = file->model;
  LptOnnxImport import = { .file = file };
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (LptOnnxScope) scope = NULL;

  if (model->graph == NULL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "not an ONNX model: it has no graph");
      return NULL;
    }
  graph = lpt_graph_new (model->graph->name != NULL && *model->graph->name != '\0' ? model->graph->name : "model");
  scope = scope_new (graph);
  if (!read_opsets (scope, model->opset_import, model->n_opset_import, error)
      || !import_graph (&import, scope, model->graph, error))
    return NULL;
  if (graph->results->len == 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "the model has no outputs");
      return NULL;
    }
  lpt_graph_sweep (graph);
  return g_steal_pointer (&graph);
}

LptGraph *
lpt_onnx_parse (gconstpointer   data,
                gsize           size,
                const char     *folder,
                GError        **error)
{
  g_autoptr (LptOnnxFile) file = lpt_onnx_file_from_data (data, size, folder, error);

  return file != NULL ? lpt_onnx_import (file, error) : NULL;
}

LptGraph *
lpt_onnx_load (const char  *path,
               GError     **error)
{
  g_autoptr (LptOnnxFile) file = lpt_onnx_file_load (path, error);
  LptGraph *graph;

  if (file == NULL)
    return NULL;
  graph = lpt_onnx_import (file, error);
  if (graph == NULL)
    g_prefix_error (error, "%s: ", path);
  else
    graph->source = g_strdup (path);
  return graph;
}
