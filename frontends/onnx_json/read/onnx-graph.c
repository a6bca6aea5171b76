/* onnx-graph.c - from ONNX messages to a graph
 *
 * Walks the nodes in an order in which each stands behind those that it reads,
 * finds the row of the op table for each and lets it map the node.
 * Initializers become Consts when a node first reads them. Model functions are
 * inlined: a scope of names of their own, attributes taken from the call.
 * Subgraphs are onnx-map-control.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-encodings.h"
#include "frontends/onnx_json/read/onnx-nchwc.h"
#include "ir/lpt-check.h"
#include "ir/lpt-memory.h"

#include <lpt/lpt-onnx.h>

#include <string.h>

#define MAX_NESTING 32
#define MAX_NODES (1u << 20)

static const LptOnnxOp ops[] = {
#define ONNX_OP(domain, name, since, map, argument) { domain, name, since, lpt_onnx_map_##map, argument },
#include "frontends/onnx_json/read/onnx-ops.def"
};

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
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                 "unsupported version of the operator: it is known from opset %" G_GINT64_FORMAT " on", oldest->since);
  return best;
}

/* --- nodes ------------------------------------------------------------------- */

/* Names outputs; the node that computes output 0 gets the name of the ONNX node. An output that nothing computes is an
 * error where it is read: training frameworks leave those of BatchNormalization in files that only infer. */
static gboolean
take_outputs (LptOnnxNode  *on,
              guint         first_id,
              GError      **error)
{
  for (guint i = 0; i < on->n_out; i++)
    {
      const char *name = on->proto->output[i];
      LptValue *value;

      if (*name == '\0')
        continue;
      if (on->out[i] == NULL)
        {
          lpt_onnx_scope_define_unset (on->scope, name, i, on->proto);
          continue;
        }
      value = lpt_onnx_scope_stand_in (on->import, on->scope, name, on->out[i], error);
      if (value == NULL || !lpt_onnx_scope_define (on->scope, name, value, error))
        return FALSE;
      if (on->scope->prefix == NULL)
        lpt_value_add_name (value, name);
      if (i == 0 && !on->inlined && on->out[0]->producer->id >= first_id)
        lpt_node_rename (on->out[0]->producer, on->name);
    }
  return TRUE;
}

/* Quantlab and DORY write beside ONNX's attributes how many bits numbers take, and how a sum was rounded to them. */
static gboolean
is_annotation (const Onnx__NodeProto      *node,
               const Onnx__AttributeProto *attribute)
{
  static const char *const patterns[] = { "*_bits", "in1_*", "in2_*", "out_*" };

  for (guint i = 0; i < G_N_ELEMENTS (patterns) && *lpt_onnx_domain (node->domain) == '\0'; i++)
    if (g_pattern_match_simple (patterns[i], lpt_onnx_text (attribute->name)))
      return TRUE;
  return FALSE;
}

/* What the mapping did not ask for may mean something. */
static gboolean
find_unread (LptOnnxNode  *on,
             GError      **error)
{
  for (guint i = 0; i < MIN (on->n_in, 64); i++)
    if (on->in[i] != NULL && (on->in_read & (G_GUINT64_CONSTANT (1) << i)) == 0)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported input %u", i);
        return TRUE;
      }
  for (gsize i = 0; i < MIN (on->proto->n_attribute, 64); i++)
    if ((on->attrs_read & (G_GUINT64_CONSTANT (1) << i)) == 0 &&
        !is_annotation (on->proto, on->proto->attribute[i]))
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported attribute \"%s\"",
                     lpt_onnx_text (on->proto->attribute[i]->name));
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

  op = lpt_onnx_find_op (domain, lpt_onnx_text (on->proto->op_type), on->opset, error);
  if (op == NULL)
    return FALSE;
  for (guint i = 0; i < on->n_in && !lpt_onnx_takes_sequence (op); i++)
    if (lpt_onnx_is_sequence (on->import, on->in[i]))
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported input %u: a sequence", i);
        return FALSE;
      }
  on->since = op->since;
  on->argument = op->argument;
  if (on->opset < 6)
    lpt_onnx_ignore (on, "consumed_inputs");   /* which inputs may be overwritten */
  op->map (on);
  if (on->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&on->error));
      return FALSE;
    }
  return !find_unread (on, error) && take_outputs (on, first_id, error);
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

      if (strcmp (lpt_onnx_text (function->name), lpt_onnx_text (node->op_type)) == 0
          && strcmp (lpt_onnx_domain (function->domain), domain) == 0
          && strcmp (lpt_onnx_text (function->overload), lpt_onnx_text (node->overload)) == 0)
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
  g_autoptr (LptOnnxScope) scope = lpt_onnx_scope_new (on->scope->graph);

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
          gpointer outer = on->scope->call_attrs != NULL
                               ? g_hash_table_lookup (on->scope->call_attrs, attr->ref_attr_name)
                               : NULL;

          if (outer != NULL)
            g_hash_table_insert (scope->call_attrs, attr->name, outer);
        }
      else if (attr->name != NULL)
        g_hash_table_insert (scope->call_attrs, attr->name, attr);
    }
  if (!lpt_onnx_scope_opsets (scope, function->opset_import, function->n_opset_import, error))
    return FALSE;
  if (on->n_in > function->n_input || on->n_out > function->n_output)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "more inputs or outputs than the function has");
      return FALSE;
    }
  for (guint i = 0; i < function->n_input; i++)
    if (i >= on->n_in || on->in[i] == NULL)
      g_hash_table_insert (scope->values, function->input[i], NULL);
    else if (!lpt_onnx_scope_define (scope, function->input[i], on->in[i], error))
      return FALSE;
  if (!lpt_onnx_import_nodes (on->import, scope, function->node, function->n_node, error))
    return FALSE;
  for (guint i = 0; i < on->n_out; i++)
    if (*on->proto->output[i] != '\0')
      {
        on->out[i] = lpt_onnx_scope_find (on->import, scope, function->output[i], error);
        if (on->out[i] == NULL)
          return FALSE;
      }
  on->inlined = TRUE;
  return take_outputs (on, 0, error);
}

static gboolean
import_node (LptOnnxImport          *import,
             LptOnnxScope           *scope,
             const Onnx__NodeProto  *proto,
             GError                **error)
{
  const char *domain = lpt_onnx_domain (proto->domain);
  g_autofree LptValue **in = g_new0 (LptValue *, proto->n_input + 1);
  g_autofree LptValue **out = g_new0 (LptValue *, proto->n_output + 1);
  g_autofree char *name = NULL;
  const char *own = lpt_onnx_text (proto->name);
  const Onnx__FunctionProto *function;
  LptOnnxNode on = { .import = import, .scope = scope, .proto = proto, .in = in, .out = out };
  gboolean ok = TRUE;

  if (*own == '\0' && proto->n_output > 0)
    own = proto->output[0];
  name = scope->prefix != NULL ? g_strconcat (scope->prefix, "/", own, NULL) : g_strdup (own);
  on.name = name;
  on.n_in = (guint) proto->n_input;
  on.n_out = (guint) proto->n_output;
  on.opset = lpt_onnx_scope_opset (scope, domain);

  for (gsize i = 0; ok && i < proto->n_input; i++)
    if (*proto->input[i] != '\0' && !lpt_onnx_scope_is_absent (scope, proto->input[i]))
      {
        in[i] = lpt_onnx_scope_find (import, scope, proto->input[i], error);
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
    g_prefix_error (error, "node \"%s\" (%s%s%s, opset %" G_GINT64_FORMAT "): ", name, domain,
                    *domain != '\0' ? "." : "", lpt_onnx_text (proto->op_type), on.opset);
  return ok;
}

gboolean
lpt_onnx_import_nodes (LptOnnxImport    *import,
                       LptOnnxScope     *scope,
                       Onnx__NodeProto **nodes,
                       gsize             n,
                       GError          **error)
{
  g_autofree guint *order = NULL;
  gboolean ok;

  if (import->depth >= MAX_NESTING)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "unsupported: functions and subgraphs nested deeper than %d", MAX_NESTING);
      return FALSE;
    }
  /* A chain of functions that call the next one twice each doubles with every link. */
  if (n > MAX_NODES - import->nodes)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: more than %u nodes", MAX_NODES);
      return FALSE;
    }
  import->nodes += (guint) n;
  import->depth++;
  ok = lpt_onnx_order (scope, nodes, (guint) n, &order, error);
  for (gsize i = 0; ok && i < n; i++)
    ok = import_node (import, scope, nodes[order != NULL ? order[i] : i], error);
  import->depth--;
  return ok;
}

/* --- graphs ------------------------------------------------------------------ */

gboolean
lpt_onnx_read_type (const Onnx__TypeProto  *type,
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
      static const struct { Onnx__TypeProto__ValueCase which; const char *name;
      } kinds[] = {
        { ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE, "sequence" },
        { ONNX__TYPE_PROTO__VALUE_MAP_TYPE, "map" },
        { ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE, "opaque" },
        { ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE, "sparse tensor" },
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
add_parameter (LptOnnxImport              *import,
               LptOnnxScope               *scope,
               const Onnx__ValueInfoProto *info,
               GError                    **error)
{
  const char *name = lpt_onnx_text (info->name);
  LptNode *node = lpt_graph_add (scope->graph, LPT_OP_PARAMETER, 0, name, 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);
  LptValue *value = NULL;

  lpt_value_add_name (lpt_node_out (node), name);
  if (lpt_onnx_read_type (info->type, &attrs->element_type, &attrs->shape, error) && lpt_node_infer (node, error))
    value = lpt_onnx_scope_stand_in (import, scope, name, lpt_node_out (node), error);
  if (value != NULL && lpt_onnx_scope_define (scope, name, value, error))
    return TRUE;
  g_prefix_error (error, "input \"%s\": ", name);
  return FALSE;
}

static gboolean
add_result (LptOnnxImport  *import,
            LptOnnxScope   *scope,
            const char     *name,
            GError        **error)
{
  LptValue *value = lpt_onnx_scope_find_tensor (import, scope, name, error);
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

/* Is @name an initializer of @graph? Such an input is only what could be given instead. */
static gboolean
is_initializer (const LptOnnxScope     *scope,
                const Onnx__GraphProto *graph,
                const char             *name)
{
  if (g_hash_table_contains (scope->initializers, name))
    return TRUE;
  for (gsize i = 0; i < graph->n_sparse_initializer; i++)
    if (strcmp (lpt_onnx_text (graph->sparse_initializer[i]->values->name), name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
import_graph (LptOnnxImport           *import,
              LptOnnxScope            *scope,
              const Onnx__GraphProto  *graph,
              GError                 **error)
{
  if (!lpt_onnx_scope_initializers (import, scope, graph, error))
    return FALSE;
  for (gsize i = 0; i < graph->n_input; i++)
    if (!is_initializer (scope, graph, lpt_onnx_text (graph->input[i]->name))
        && !add_parameter (import, scope, graph->input[i], error))
      return FALSE;
  if (!lpt_onnx_import_nodes (import, scope, graph->node, graph->n_node, error))
    return FALSE;
  for (gsize i = 0; i < graph->n_output; i++)
    if (!add_result (import, scope, lpt_onnx_text (graph->output[i]->name), error))
      return FALSE;
  return TRUE;
}

/* Of the images that a model takes: what ONNX's standard keys mean under the names of frontends/data/model-info.c. */
static void
keep_image_property (LptGraph                           *graph,
                     const Onnx__StringStringEntryProto *entry)
{
  static const struct
  {
    const char *key, *value, *name, *text;
  } rows[] = {
    { "Image.BitmapPixelFormat", "Bgr8", "reverse_input_channels", "NO" },
    { "Image.BitmapPixelFormat", "Rgb8", "reverse_input_channels", "YES" },
    { "Image.NominalPixelRange", "Normalized_0_1", "scale_values", "255" },
    { "Image.NominalPixelRange", "Normalized_1_1", "mean_values", "127.5" },
    { "Image.NominalPixelRange", "Normalized_1_1", "scale_values", "127.5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (entry->key, rows[i].key) && g_str_equal (entry->value, rows[i].value))
      g_hash_table_replace (graph->meta, g_strconcat (LPT_META_MODEL_INFO, rows[i].name, NULL),
                            g_strdup (rows[i].text));
}

static void
keep_metadata (const Onnx__ModelProto *model,
               LptGraph               *graph)
{
  for (gsize i = 0; i < model->n_metadata_props; i++)
    {
      const Onnx__StringStringEntryProto *entry = model->metadata_props[i];

      if (entry->key == NULL || entry->value == NULL || !g_utf8_validate (entry->value, -1, NULL))
        continue;
      if (g_str_equal (entry->key, LPT_META_QUANTIZED_BY) || g_str_has_prefix (entry->key, LPT_META_MODEL_INFO))
        g_hash_table_replace (graph->meta, g_strdup (entry->key), g_strdup (entry->value));
      keep_image_property (graph, entry);
    }
}

static LptGraph *
import_model (LptOnnxImport  *import,
              GError        **error)
{
  const Onnx__ModelProto *model = import->file->model;
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (LptOnnxScope) scope = NULL;

  if (model->graph == NULL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "not an ONNX model: it has no graph");
      return NULL;
    }
  graph = lpt_graph_new (model->graph->name != NULL && *model->graph->name != '\0' ? model->graph->name : "model");
  scope = lpt_onnx_scope_new (graph);
  if (!lpt_onnx_scope_opsets (scope, model->opset_import, model->n_opset_import, error)
      || !import_graph (import, scope, model->graph, error))
    return NULL;
  if (graph->results->len == 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "the model has no outputs");
      return NULL;
    }
  keep_metadata (model, graph);
  lpt_graph_sweep (graph);
  return g_steal_pointer (&graph);
}

static LptGraph *
import_file (LptOnnxFile       *file,
             LptOnnxEncodings  *encodings,
             GError           **error)
{
  g_autoptr (GHashTable) sequences = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) lpt_tensor_unref,
                                                                 (GDestroyNotify) g_ptr_array_unref);
  LptOnnxImport import = { .file = file, .sequences = sequences, .encodings = encodings,
                           .stand_in = encodings != NULL ? lpt_onnx_encoded : NULL };
  LptGraph *graph;

  if (encodings != NULL && file->model->graph != NULL)
    lpt_onnx_encodings_find_axes (encodings, file->model->graph);
  graph = import_model (&import, error);
  if (encodings != NULL && graph != NULL)
    lpt_onnx_encodings_remark (encodings, graph);
  lpt_onnx_nchwc_free (import.nchwc);
  return graph;
}

static LptGraph *
import_checked (LptOnnxFile       *file,
                LptOnnxEncodings  *encodings,
                GError           **error)
{
  guint mark = lpt_memory_mark ();

  return lpt_graph_check_read (import_file (file, encodings, error), mark, error);
}

LptGraph *
lpt_onnx_parse (gconstpointer   data,
                gsize           size,
                const char     *folder,
                GError        **error)
{
  g_autoptr (LptOnnxFile) file = lpt_onnx_file_from_data (data, size, folder, error);

  return file != NULL ? import_checked (file, NULL, error) : NULL;
}

LptGraph *
lpt_onnx_load (const char  *path,
               GError     **error)
{
  return lpt_onnx_load_encoded (path, NULL, error);
}

LptGraph *
lpt_onnx_load_encoded (const char  *path,
                       const char  *encodings_path,
                       GError     **error)
{
  g_autoptr (LptOnnxEncodings) encodings = NULL;
  g_autoptr (LptOnnxFile) file = NULL;
  LptGraph *graph;

  if (encodings_path != NULL && (encodings = lpt_onnx_encodings_load (encodings_path, error)) == NULL)
    return NULL;
  file = lpt_onnx_file_load (path, error);
  if (file == NULL)
    return NULL;
  graph = import_checked (file, encodings, error);
  if (graph == NULL)
    g_prefix_error (error, "%s: ", path);
  else
    graph->source = g_strdup (path);
  return graph;
}
