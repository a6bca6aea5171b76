/* tflite-model.c - from a .tflite file to a graph: the entry point, its inputs and outputs, state, metadata
 *
 * The entry point is the first subgraph, or that of a signature. Inputs and outputs go by the names of their tensors,
 * one without a name by input_K or output_K, one whose name is taken by NAME_2; names of a signature are accepted too.
 *
 * Variables (is_variable tensors, and resources that VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE name) are state: a
 * ReadValue holds what was there before the run, the last assignment in the file's order becomes an Assign. CALL_ONCE
 * gives first values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "frontends/tflite/tflite-origin.h"
#include "ir/lpt-check.h"
#include "ir/lpt-memory.h"
#include "passes/lower/weight-only.h"
#include "passes/lower/unlower.h"

#include <lpt/lpt-tflite.h>
#include <string.h>

#define MAX_META 4096      /* bytes of metadata that are kept as text */

/* --- state ------------------------------------------------------------------- */

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gboolean
add_assigns (LptTflImport *import, LptGraph *graph, GError **error)
{
  guint n;
  g_autofree const char **names = (const char **) g_hash_table_get_keys_as_array (import->variables, &n);
  qsort (names, n, sizeof *names, by_name);
  for (guint i = 0; i < n; i++)
    {
      LptTflVariable *variable = g_hash_table_lookup (import->variables, names[i]);
      g_autofree char *name = g_strconcat (names[i], "/Assign", NULL);
      if (!variable->assigned)
        continue;
      LptNode *node = lpt_graph_add (graph, LPT_OP_ASSIGN, 0, name, 1, &variable->value);
      LptVariableAttrs *attrs = LPT_ATTRS (node, LptVariableAttrs);
      g_free (attrs->variable_id);
      attrs->variable_id = g_strdup (names[i]);
      attrs->variable_type = variable->value->dtype;
      attrs->variable_shape = variable->value->shape;
      lpt_value_set_quant (lpt_node_out (node), variable->value->quant);
      if (variable->read != NULL)
        {
          node->controls = g_ptr_array_new ();
          g_ptr_array_add (node->controls, variable->read);
        }
      if (!lpt_node_infer (node, error))
        return FALSE;
    }
  return TRUE;
}

/* Does anything keep its content from run to run? */
static gboolean
has_state (const LptTflFile *file)
{
  for (guint s = 0; s < file->subgraphs.n; s++)
    {
      LptTflTable table = lpt_tfl_item (&file->subgraphs, s);
      LptTflVector tensors = lpt_tfl_vector (&file->flat, table, TFL_SubGraph_tensors);
      for (guint i = 0; i < tensors.n; i++)
        {
          LptTflTable t = lpt_tfl_item (&tensors, i);
          if (lpt_tfl_int (&file->flat, t, TFL_Tensor_is_variable) != 0
              || lpt_tfl_int (&file->flat, t, TFL_Tensor_type) == TFL_TYPE_RESOURCE)
            return TRUE;
        }
    }
  return FALSE;
}

/* --- inputs and outputs ------------------------------------------------------ */

/* The name of place @k; the set @taken has those before. */
static char *
port_name (GHashTable *taken, const LptTflTensor *t, const char *kind, guint k)
{
  g_autofree char *wish = *t->name != '\0' ? g_strdup (t->name) : g_strdup_printf ("%s_%u", kind, k);
  char *name = g_strdup (wish);
  for (guint n = 2; g_hash_table_contains (taken, name); n++)
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", wish, n);
    }
  g_hash_table_add (taken, g_strdup (name));
  return name;
}

static gboolean
add_parameters (LptTflScope *scope, GError **error)
{
  LptTflVector list = lpt_tfl_scope_list (scope, TFL_SubGraph_inputs);
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint k = 0; k < list.n; k++)
    {
      gint64 index = lpt_tfl_item_int (&list, k);
      LptTflTensor *t = index >= 0 && index < scope->n_tensors ? &scope->tensors[index] : NULL;
      if (t == NULL || t->value != NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "subgraph %u: input %u is tensor %" G_GINT64_FORMAT ", %s",
                       scope->index, k, index, t == NULL ? "which is not there" : "as another one");
          return FALSE;
        }
      g_autofree char *name = port_name (taken, t, "input", k);
      LptNode *node = lpt_graph_add (scope->graph, LPT_OP_PARAMETER, 0, name, 0, NULL);
      LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);
      attrs->element_type = t->dtype;
      attrs->shape = t->shape;
      if (t->dtype == LPT_DTYPE_UNDEFINED)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported type %s of input \"%s\"",
                       lpt_tfl_type_name (t->type), name);
          return FALSE;
        }
      lpt_value_set_quant (lpt_node_out (node), t->quant);
      lpt_value_add_name (lpt_node_out (node), name);
      t->value = lpt_node_out (node);
      if (!lpt_node_infer (node, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_result (LptGraph *graph, LptValue *value, const char *name, GError **error)
{
  g_autofree char *node_name = g_strconcat (name, "/Result", NULL);
  LptNode *node = lpt_graph_add (graph, LPT_OP_RESULT, 0, node_name, 1, &value);
  LptResultAttrs *attrs = LPT_ATTRS (node, LptResultAttrs);
  g_free (attrs->output);
  attrs->output = g_strdup (name);
  return lpt_node_infer (node, error);
}

static gboolean
add_results (LptTflScope *scope, GError **error)
{
  LptTflVector list = lpt_tfl_scope_list (scope, TFL_SubGraph_outputs);
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint k = 0; k < list.n; k++)
    {
      gint64 index = lpt_tfl_item_int (&list, k);
      LptValue *value = lpt_tfl_scope_value (scope, index, error);
      if (value != NULL && scope->tensors[index].dtype == LPT_DTYPE_UNDEFINED && value->producer->op != LPT_OP_OPAQUE)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported type %s",
                       lpt_tfl_type_name (scope->tensors[index].type));
          value = NULL;
        }
      if (value == NULL)
        {
          g_prefix_error (error, "subgraph %u: output %u: ", scope->index, k);
          return FALSE;
        }
      g_autofree char *name = port_name (taken, &scope->tensors[index], "output", k);
      if (!add_result (scope->graph, value, name, error))
        return FALSE;
    }
  return TRUE;
}

/* Every tensor that an operator wrote. */
static gboolean
add_all_results (LptTflScope *scope, GError **error)
{
  for (guint i = 0; i < scope->n_tensors; i++)
    {
      LptValue *value = scope->tensors[i].value;
      g_autofree char *name = g_strdup_printf ("t%03u", i);
      if (value != NULL && value->producer->data == NULL && value->producer->op != LPT_OP_PARAMETER
          && scope->tensors[i].dtype != LPT_DTYPE_UNDEFINED && !add_result (scope->graph, value, name, error))
        return FALSE;
    }
  return TRUE;
}

/* --- signatures and metadata ------------------------------------------------- */

/* The subgraph to run; *signature is 0 where none fits. */
static gboolean
find_entry (const LptTflFile *file, const char *key, guint *subgraph, LptTflTable *signature, GError **error)
{
  LptTflVector list = lpt_tfl_vector (&file->flat, file->model, TFL_Model_signature_defs);
  g_autoptr (GString) known = g_string_new (NULL);
  *subgraph = 0;
  *signature = 0;
  for (guint i = 0; i < list.n; i++)
    {
      LptTflTable item = lpt_tfl_item (&list, i);
      const char *name = lpt_tfl_string (&file->flat, item, TFL_SignatureDef_signature_key);
      gint64 index = lpt_tfl_int (&file->flat, item, TFL_SignatureDef_subgraph_index);
      if (key != NULL ? g_strcmp0 (name, key) == 0 : index == 0 && *signature == 0)
        {
          *signature = item;
          *subgraph = (guint) index;
        }
      g_string_append_printf (known, "%s\"%s\"", i > 0 ? ", " : "", name != NULL ? name : "");
    }
  if (key == NULL || *signature != 0)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "there is no signature \"%s\"%s%s", key,
               list.n > 0 ? "; the file has " : "", known->str);
  return FALSE;
}

/* Names of a signature, where they are not those of other tensors. */
static void
add_aliases (LptTflScope *scope, LptTflTable signature, LptTflField field)
{
  const LptTflFlat *flat = &scope->import->file->flat;
  LptTflVector list = lpt_tfl_vector (flat, signature, field);
  for (guint i = 0; i < list.n; i++)
    {
      LptTflTable item = lpt_tfl_item (&list, i);
      const char *name = lpt_tfl_string (flat, item, TFL_TensorMap_name);
      gint64 index = lpt_tfl_int (flat, item, TFL_TensorMap_tensor_index);
      if (name != NULL && *name != '\0' && index < scope->n_tensors && scope->tensors[index].value != NULL
          && g_utf8_validate (name, -1, NULL) && lpt_graph_find_value (scope->graph, name) == NULL)
        lpt_value_add_name (scope->tensors[index].value, name);
    }
}

static void
keep (LptGraph *graph, const char *kind, const char *name, const char *text)
{
  g_hash_table_insert (graph->meta, g_strconcat ("tflite.", kind, name != NULL ? "." : NULL, name, NULL),
                       g_strdup (text));
}

/* What the file says of itself, for people and for writers. */
static void
keep_metadata (const LptTflFile *file, LptGraph *graph)
{
  const LptTflFlat *flat = &file->flat;
  LptTflVector list = lpt_tfl_vector (flat, file->model, TFL_Model_metadata);
  const char *description = lpt_tfl_string (flat, file->model, TFL_Model_description);
  if (description != NULL && *description != '\0' && g_utf8_validate (description, -1, NULL))
    keep (graph, "description", NULL, description);
  for (guint i = 0; i < list.n; i++)
    {
      LptTflTable item = lpt_tfl_item (&list, i);
      const char *name = lpt_tfl_string (flat, item, TFL_Metadata_name);
      gsize offset, size, length = 0;
      gboolean given;
      if (name == NULL || !g_utf8_validate (name, -1, NULL)
          || !lpt_tfl_file_buffer (file, lpt_tfl_int (flat, item, TFL_Metadata_buffer), &offset, &size, &given, NULL))
        continue;
      const char *data = (const char *) flat->data + offset;
      if (g_str_equal (name, "TFLITE_METADATA"))
        lpt_tfl_keep_normalization (&(LptTflFlat) { (const guint8 *) data, size }, graph);
      while (length < size && data[length] != '\0')
        length++;
      g_autofree char *text = g_strndup (data, MIN (length, MAX_META));
      if (g_str_has_prefix (name, LPT_META_MODEL_INFO) && g_utf8_validate (text, -1, NULL))
        g_hash_table_replace (graph->meta, g_strdup (name), g_strdup (text));
      g_autofree char *bytes = g_strdup_printf ("%" G_GSIZE_FORMAT " bytes", size);
      keep (graph, "metadata", name,
            length <= MAX_META && g_utf8_validate (text, -1, NULL) && length + 16 >= size ? text : bytes);
    }
}

/* "key: inputs a, b; outputs c; subgraph 1" for each signature. */
static void
keep_signatures (const LptTflFile *file, LptGraph *graph)
{
  static const struct { const char *label; LptTflField field; } sides[] = {
    { "inputs", TFL_SignatureDef_inputs }, { "outputs", TFL_SignatureDef_outputs },
  };
  LptTflVector list = lpt_tfl_vector (&file->flat, file->model, TFL_Model_signature_defs);
  for (guint i = 0; i < list.n; i++)
    {
      LptTflTable item = lpt_tfl_item (&list, i);
      const char *key = lpt_tfl_string (&file->flat, item, TFL_SignatureDef_signature_key);
      g_autoptr (GString) text = g_string_new (NULL);
      g_string_printf (text, "subgraph %" G_GINT64_FORMAT,
                       lpt_tfl_int (&file->flat, item, TFL_SignatureDef_subgraph_index));
      for (guint s = 0; s < 2; s++)
        {
          LptTflVector maps = lpt_tfl_vector (&file->flat, item, sides[s].field);
          g_string_append_printf (text, "; %s", sides[s].label);
          for (guint k = 0; k < maps.n; k++)
            {
              const char *name = lpt_tfl_string (&file->flat, lpt_tfl_item (&maps, k), TFL_TensorMap_name);
              g_string_append_printf (text, "%s %s", k > 0 ? "," : "", name != NULL ? name : "?");
            }
        }
      if (g_utf8_validate (text->str, -1, NULL) && (key == NULL || g_utf8_validate (key, -1, NULL)))
        keep (graph, "signature", key != NULL ? key : "", text->str);
    }
}

/* --- models ------------------------------------------------------------------ */

static gboolean
import_entry (LptTflImport *import, LptGraph *graph, guint index, LptTflTable signature, GError **error)
{
  g_autoptr (LptTflScope) scope = lpt_tfl_scope_new (import, graph, index, NULL, error);
  if (scope == NULL || !add_parameters (scope, error) || !lpt_tfl_scope_run (scope, error))
    return FALSE;
  if (!((import->flags & LPT_TFLITE_ALL_TENSORS) != 0 ? add_all_results (scope, error) : add_results (scope, error)))
    return FALSE;
  if (!add_assigns (import, graph, error))
    return FALSE;
  if (signature != 0)
    {
      add_aliases (scope, signature, TFL_SignatureDef_inputs);
      add_aliases (scope, signature, TFL_SignatureDef_outputs);
    }
  return TRUE;
}

/* Are there quantized integers? */
static gboolean
has_codes (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint o = 0; o < node->n_out; o++)
        if (node->out[o].quant != NULL)
          return TRUE;
    }
  return FALSE;
}

static LptGraph *
import_file (LptTflFile *file, const char *key, guint flags, GError **error)
{
  g_autoptr (GHashTable) variables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, lpt_tfl_variable_free);
  LptTflImport import = { .file = file, .variables = variables, .flags = flags, .stateful = has_state (file) };
  LptTflTable signature;
  guint index;
  if (file->subgraphs.n == 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "the model has no subgraphs");
      return NULL;
    }
  if (!find_entry (file, key, &index, &signature, error))
    return NULL;
  LptTflTable table = index < file->subgraphs.n ? lpt_tfl_item (&file->subgraphs, index) : 0;
  const char *name = lpt_tfl_string (&file->flat, table, TFL_SubGraph_name);
  g_autoptr (LptGraph) graph = lpt_graph_new (
      name != NULL && *name != '\0' && g_utf8_validate (name, -1, NULL) ? name : "main");
  import.strings = g_string_chunk_new (1024);
  gboolean ok = import_entry (&import, graph, index, signature, error);
  g_string_chunk_free (import.strings);
  if (!ok)
    return NULL;
  keep_metadata (file, graph);
  keep_signatures (file, graph);
  lpt_graph_sweep (graph);
  if (!lpt_graph_lower_rounded (graph, error))
    return NULL;
  if (import.quantized || has_codes (graph))
    {
      graph->lowered = TRUE;
      graph->requant = g_strdup ("litert");
      if (!lpt_graph_unlower_refused (graph, error))
        return NULL;
    }
  /* The other subgraphs are other graphs: what is written from them begins elsewhere. */
  if (index == 0 && flags == 0)
    lpt_tfl_keep_origin (graph, file->bytes);
  return g_steal_pointer (&graph);
}

LptGraph *
lpt_tflite_parse (GBytes *bytes, const char *folder, const char *signature, guint flags, GError **error)
{
  guint mark = lpt_memory_mark ();
  g_autoptr (LptTflFile) file = lpt_tfl_file_new (bytes, folder, error);
  return file != NULL ? lpt_graph_check_read (import_file (file, signature, flags, error), mark, error) : NULL;
}

LptGraph *
lpt_tflite_load (const char *path, const char *signature, guint flags, GError **error)
{
  guint mark = lpt_memory_mark ();
  g_autoptr (LptTflFile) file = lpt_tfl_file_load (path, error);
  LptGraph *graph = file != NULL ? lpt_graph_check_read (import_file (file, signature, flags, error), mark, error)
                                 : NULL;
  if (graph != NULL)
    graph->source = g_strdup (path);
  else if (error != NULL && *error != NULL && strstr ((*error)->message, path) == NULL)
    g_prefix_error (error, "%s: ", path);
  return graph;
}
