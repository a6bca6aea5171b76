/* onnx-scope.c - names of values while a model is read
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-scope.h"

#include <string.h>

const char *
lpt_onnx_domain (const char *domain)
{
  return domain == NULL || strcmp (domain, "ai.onnx") == 0 ? "" : domain;
}

LptOnnxScope *
lpt_onnx_scope_new (LptGraph *graph)
{
  LptOnnxScope *scope = g_new0 (LptOnnxScope, 1);

  scope->graph = graph;
  scope->values = g_hash_table_new (g_str_hash, g_str_equal);
  scope->initializers = g_hash_table_new (g_str_hash, g_str_equal);
  scope->strings = g_string_chunk_new (256);
  return scope;
}

LptOnnxScope *
lpt_onnx_scope_inside (LptOnnxScope *outer,
                       LptGraph     *graph)
{
  LptOnnxScope *scope = lpt_onnx_scope_new (graph != NULL ? graph : outer->graph);

  scope->outer = outer;
  if (graph != NULL)
    scope->captures = g_array_new (FALSE, FALSE, sizeof (LptOnnxCapture));
  scope->call_attrs = outer->call_attrs != NULL ? g_hash_table_ref (outer->call_attrs) : NULL;
  scope->opsets = g_hash_table_ref (outer->opsets);
  scope->prefix = outer->prefix;
  return scope;
}

void
lpt_onnx_scope_free (LptOnnxScope *scope)
{
  g_hash_table_unref (scope->values);
  g_hash_table_unref (scope->initializers);
  g_clear_pointer (&scope->unset, g_hash_table_unref);
  g_clear_pointer (&scope->captures, g_array_unref);
  g_clear_pointer (&scope->call_attrs, g_hash_table_unref);
  g_clear_pointer (&scope->opsets, g_hash_table_unref);
  g_string_chunk_free (scope->strings);
  g_free (scope);
}

/* Converters of training write a domain again, with another version: the last one counts, as for ONNX Runtime. */
static void
remark_versions (LptOnnxScope *scope,
                 const char   *domain,
                 gint64        before,
                 gint64        version)
{
  g_hash_table_replace (scope->graph->meta, g_strdup (LPT_META_REMARK),
                        g_strdup_printf ("domain \"%s\" is imported in versions %" G_GINT64_FORMAT " and %"
                                         G_GINT64_FORMAT ": the last one, %" G_GINT64_FORMAT ", counts", domain,
                                         before, version, version));
}

gboolean
lpt_onnx_scope_opsets (LptOnnxScope              *scope,
                       Onnx__OperatorSetIdProto **imports,
                       gsize                      n,
                       GError                   **error)
{
  scope->opsets = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  for (gsize i = 0; i < n; i++)
    {
      const char *domain = lpt_onnx_domain (imports[i]->domain);
      const gint64 *before = g_hash_table_lookup (scope->opsets, domain);
      gint64 *version;

      if (before != NULL && *before > 0 && *before != imports[i]->version)
        remark_versions (scope, domain, *before, imports[i]->version);
      version = g_new (gint64, 1);
      *version = imports[i]->version;
      g_hash_table_replace (scope->opsets, (gpointer) domain, version);
    }
  for (gsize i = n; i-- > 0; )
    if (lpt_onnx_scope_opset (scope, lpt_onnx_domain (imports[i]->domain)) < 1)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                     "opsetImport[%" G_GSIZE_FORMAT "]: domain \"%s\" has no version", i,
                     lpt_onnx_domain (imports[i]->domain));
        return FALSE;
      }
  return TRUE;
}

gint64
lpt_onnx_scope_opset (const LptOnnxScope *scope,
                      const char         *domain)
{
  const gint64 *version = g_hash_table_lookup (scope->opsets, domain);

  return version != NULL ? *version : 1;   /* not imported: as in files that are older than imports */
}

gboolean
lpt_onnx_scope_define (LptOnnxScope  *scope,
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

void
lpt_onnx_scope_define_unset (LptOnnxScope          *scope,
                             const char            *name,
                             guint                  output,
                             const Onnx__NodeProto *node)
{
  if (scope->unset == NULL)
    scope->unset = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_hash_table_insert (scope->unset, (gpointer) name,
                       g_strdup_printf ("unsupported output %u (\"%s\") of %s", output, name,
                                        lpt_onnx_text (node->op_type)));
}

/* Exporters and graph tools write a tensor that two nodes read twice; runtimes take either. */
static gboolean
check_twice (LptOnnxImport            *import,
             gsize                     i,
             const Onnx__TensorProto  *first,
             const Onnx__TensorProto  *second,
             GError                  **error)
{
  g_autoptr (LptTensor) a = lpt_onnx_file_tensor (import->file, first, NULL);
  g_autoptr (LptTensor) b = a != NULL ? lpt_onnx_file_tensor (import->file, second, NULL) : NULL;

  if (b != NULL && lpt_tensor_dtype (a) == lpt_tensor_dtype (b)
      && lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b))
      && memcmp (lpt_tensor_data (a), lpt_tensor_data (b), lpt_tensor_size (a)) == 0)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "initializer %" G_GSIZE_FORMAT " \"%s\": is defined twice%s",
               i, second->name, b != NULL ? ", with different content" : "");
  return FALSE;
}

LptValue *
lpt_onnx_scope_stand_in (LptOnnxImport  *import,
                         LptOnnxScope   *scope,
                         const char     *name,
                         LptValue       *value,
                         GError        **error)
{
  return import->stand_in != NULL ? import->stand_in (import, scope, name, value, error) : value;
}

/* Made at once: nothing tells what of them is read. */
static gboolean
take_sparse (LptOnnxImport                  *import,
             LptOnnxScope                   *scope,
             const Onnx__SparseTensorProto  *sparse,
             GError                        **error)
{
  const char *name = sparse->values != NULL ? lpt_onnx_text (sparse->values->name) : "";
  g_autoptr (LptTensor) tensor = NULL;
  LptValue *value;

  if (*name == '\0')
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "a sparse initializer has no name");
      return FALSE;
    }
  tensor = lpt_onnx_file_sparse (import->file, sparse, error);
  if (tensor == NULL)
    {
      g_prefix_error (error, "initializer \"%s\": ", name);
      return FALSE;
    }
  value = lpt_node_out (lpt_graph_add_const (scope->graph, name, tensor));
  lpt_value_add_name (value, name);
  value = lpt_onnx_scope_stand_in (import, scope, name, value, error);
  return value != NULL && lpt_onnx_scope_define (scope, name, value, error);
}

gboolean
lpt_onnx_scope_initializers (LptOnnxImport           *import,
                             LptOnnxScope            *scope,
                             const Onnx__GraphProto  *graph,
                             GError                 **error)
{
  for (gsize i = 0; i < graph->n_sparse_initializer; i++)
    if (!take_sparse (import, scope, graph->sparse_initializer[i], error))
      return FALSE;
  for (gsize i = 0; i < graph->n_initializer; i++)
    {
      Onnx__TensorProto *tensor = graph->initializer[i], *first;

      if (tensor->name == NULL || *tensor->name == '\0')
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "initializer %" G_GSIZE_FORMAT " \"\": has no name", i);
          return FALSE;
        }
      first = g_hash_table_lookup (scope->initializers, tensor->name);
      if (first == NULL)
        g_hash_table_insert (scope->initializers, tensor->name, tensor);
      else if (!check_twice (import, i, first, tensor, error))
        return FALSE;
    }
  return TRUE;
}

static LptValue *
take_initializer (LptOnnxImport            *import,
                  LptOnnxScope             *scope,
                  const char               *name,
                  const Onnx__TensorProto  *initializer,
                  GError                  **error)
{
  g_autoptr (LptTensor) tensor = lpt_onnx_file_tensor (import->file, initializer, error);
  LptValue *value;

  if (tensor == NULL)
    return NULL;
  value = lpt_node_out (lpt_graph_add_const (scope->graph, name, tensor));
  lpt_value_add_name (value, name);
  return lpt_onnx_scope_stand_in (import, scope, name, value, error);
}

/* Moves and dequantizations behind each other that are done again in a body. */
#define MAX_COPIED 8

/* Is @value a constant, or made of such by moves and dequantizations? */
static gboolean
is_constant (const LptValue *value,
             guint           depth)
{
  LptNode *node = value->producer;

  if (node->data != NULL)
    return TRUE;
  if (depth == 0 || (node->info->flags & (LPT_OP_F_QUANTIZES | LPT_OP_F_PRESERVES)) == 0 || node->n_in == 0 ||
      node->n_out != 1)
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && !is_constant (lpt_node_in (node, i), depth - 1))
      return FALSE;

  return TRUE;
}

/* @outside, which is such, once more in the body: so its weights are codes where they are dequantized outside of it. */
static LptValue *
copy_constant (LptOnnxScope  *scope,
               const char    *name,
               LptValue      *outside,
               GError       **error)
{
  LptNode *node = outside->producer, *copy;
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in);

  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL)
      {
        LptValue *value = lpt_node_in (node, i);

        in[i] = copy_constant (scope, value->producer->name, value, error);
        if (in[i] == NULL)
          return NULL;
      }
  copy = node->data != NULL ? lpt_graph_add_const (scope->graph, name, node->data)
                            : lpt_node_clone_into (scope->graph, node, name, node->n_in, in);
  lpt_value_set_quant (lpt_node_out (copy), outside->quant);

  return node->data != NULL || lpt_node_infer (copy, error) ? lpt_node_out (copy) : NULL;
}

/* What stands for @outside in the body. */
static LptValue *
capture (LptOnnxScope  *scope,
         const char    *name,
         LptValue      *outside,
         GError       **error)
{
  LptOnnxCapture taken = { .outside = outside };
  LptParameterAttrs *attrs;

  if (is_constant (outside, MAX_COPIED))
    return copy_constant (scope, name, outside, error);
  /* Two names of one value are one capture. */
  for (guint i = 0; i < scope->captures->len; i++)
    if (g_array_index (scope->captures, LptOnnxCapture, i).outside == outside)
      return lpt_node_out (g_array_index (scope->captures, LptOnnxCapture, i).parameter);
  taken.parameter = lpt_graph_add (scope->graph, LPT_OP_PARAMETER, 0, name, 0, NULL);
  attrs = LPT_ATTRS (taken.parameter, LptParameterAttrs);
  attrs->element_type = outside->dtype;
  attrs->shape = outside->shape;
  for (gint d = 0; scope->open_lengths && d < attrs->shape.rank; d++)
    attrs->shape.dims[d] = LPT_DYNAMIC;
  if (!lpt_node_infer (taken.parameter, error))
    return NULL;
  g_array_append_val (scope->captures, taken);
  return lpt_node_out (taken.parameter);
}

LptValue *
lpt_onnx_scope_find (LptOnnxImport  *import,
                     LptOnnxScope   *scope,
                     const char     *name,
                     GError        **error)
{
  LptValue *value = g_hash_table_lookup (scope->values, name);
  const Onnx__TensorProto *initializer;

  if (value != NULL)
    return value;
  if (scope->unset != NULL && g_hash_table_contains (scope->unset, name))
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, g_hash_table_lookup (scope->unset, name));
      return NULL;
    }
  initializer = g_hash_table_lookup (scope->initializers, name);
  if (initializer != NULL)
    value = take_initializer (import, scope, name, initializer, error);
  else if (scope->outer != NULL)
    {
      value = lpt_onnx_scope_find (import, scope->outer, name, error);
      if (value != NULL && scope->captures != NULL && lpt_onnx_is_sequence (import, value))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: sequence \"%s\" inside of a body", name);
          return NULL;
        }
      if (value != NULL && scope->captures != NULL)
        value = capture (scope, name, value, error);
    }
  else
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" is not defined", name);
  if (value != NULL)
    g_hash_table_insert (scope->values, (gpointer) name, value);
  return value;
}

gboolean
lpt_onnx_scope_is_absent (const LptOnnxScope *scope,
                          const char         *name)
{
  gpointer value;

  for (; scope != NULL; scope = scope->outer)
    if (g_hash_table_lookup_extended (scope->values, name, NULL, &value))
      return value == NULL;

  return FALSE;
}

LptValue *
lpt_onnx_scope_find_tensor (LptOnnxImport  *import,
                            LptOnnxScope   *scope,
                            const char     *name,
                            GError        **error)
{
  LptValue *value = lpt_onnx_scope_find (import, scope, name, error);

  if (value == NULL || !lpt_onnx_is_sequence (import, value))
    return value;
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: \"%s\" is a sequence", name);
  return NULL;
}
