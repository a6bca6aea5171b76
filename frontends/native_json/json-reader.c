/* json-reader.c - native JSON to LptGraph
 *
 * cJSON does the syntax. Nodes are made first and connected then, so their order
 * in the file is free; types and shapes of the file are checked against inference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/native_json/json-flags.h"
#include "frontends/native_json/json-reader.h"
#include "ir/lpt-check.h"
#include "ir/storage/lpt-map-file.h"
#include "ir/lpt-memory.h"
#include "ir/text/lpt-line.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-json.h>

#include <string.h>

#define MAX_BODY_DEPTH 16

/* --- errors ---------------------------------------------------------------- */

/* Lines of the elements of the array "nodes" of the outermost object: a walk over brackets and strings. */
static GArray *
node_lines (const char *text, gsize length)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (guint));
  guint line = 1, depth = 0;
  gboolean in_nodes = FALSE;
  const char *key = NULL;
  for (const char *p = text, *end = text + length; p < end; p++)
    switch (*p)
      {
      case '\n':
        line++;
        break;
      case '"':
        key = p + 1;
        for (p++; p < end && *p != '"'; p++)
          if (*p == '\\')
            p++;
        break;
      case '{':
        if (in_nodes && depth == 2)
          g_array_append_val (lines, line);
        depth++;
        break;
      case '[':
        depth++;
        if (depth == 2)
          in_nodes = key != NULL && end - key > 6 && strncmp (key, "nodes\"", 6) == 0;
        break;
      case '}':
      case ']':
        if (depth > 0)
          depth--;
        if (depth < 2)
          in_nodes = FALSE;
        break;
      default:
        break;
      }
  return lines;
}

gboolean
lpt_json_fail (GError **error, const LptJsonReader *r, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *node = r->name != NULL ? g_strdup_printf ("node \"%s\": ", r->name) : g_strdup ("");
  g_set_error (error, LPT_ERROR, strstr (what, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID,
               "%s:%u: %s%s", r->file->source, r->line > 0 ? r->line : 1, node, what);
  return FALSE;
}

gboolean
lpt_json_prefix (GError **error, const LptJsonReader *r)
{
  g_prefix_error (error, "%s:%u: node \"%s\": ", r->file->source, r->line, r->name);
  return FALSE;
}

/* --- bodies ---------------------------------------------------------------- */

static LptGraph *read_graph (LptJsonFile *file, cJSON *object, guint line, GError **error);

static gboolean
read_body_ports (LptJsonReader *r, const cJSON *list, guint n_external, guint n_internal, GArray *ports, GError **error)
{
  const cJSON *item;
  cJSON_ArrayForEach (item, list)
    {
      LptBodyPort port = { .external = -1, .end = -1, .stride = 1, .part_size = 1 };
      gint64 external = -1, internal;
      const cJSON *e = lpt_json_member (item, "external"), *purpose = lpt_json_member (item, "purpose");
      port.sliced = lpt_json_member (item, "axis") != NULL;
      gint which = purpose != NULL
                       ? lpt_json_index (cJSON_GetStringValue (purpose), json_purposes, G_N_ELEMENTS (json_purposes))
                       : 0;
      if ((e != NULL && !cJSON_IsNull (e) && !lpt_json_int (e, 0, (gint64) n_external - 1, &external))
          || !lpt_json_int (lpt_json_member (item, "internal"), 0, (gint64) n_internal - 1, &internal) || which < 0
          || (port.sliced && (!lpt_json_int (lpt_json_member (item, "axis"), G_MININT64, G_MAXINT64, &port.axis) || !lpt_json_int (lpt_json_member (item, "start"), G_MININT64, G_MAXINT64, &port.start)
              || !lpt_json_int (lpt_json_member (item, "end"), G_MININT64, G_MAXINT64, &port.end) || !lpt_json_int (lpt_json_member (item, "stride"), G_MININT64, G_MAXINT64, &port.stride)
              || !lpt_json_int (lpt_json_member (item, "part_size"), G_MININT64, G_MAXINT64, &port.part_size) || port.stride == 0)))
        return lpt_json_fail (error, r, "a connection of a body is wrong");
      port.external = (gint) external;
      port.internal = (guint) internal;
      port.purpose = (LptPortPurpose) which;
      g_array_append_val (ports, port);
    }
  return TRUE;
}

static gboolean
read_bodies (LptJsonReader *r, LptNode *node, const cJSON *bodies, GError **error)
{
  guint want = lpt_op_n_bodies (node->info);
  if ((guint) cJSON_GetArraySize (bodies) != want)
    return lpt_json_fail (error, r, "%d bodies where %u belong", cJSON_GetArraySize (bodies), want);
  const cJSON *item;
  cJSON_ArrayForEach (item, bodies)
    {
      if (r->file->depth >= MAX_BODY_DEPTH)
        return lpt_json_fail (error, r, "unsupported: bodies nested deeper than %d", MAX_BODY_DEPTH);
      r->file->depth++;
      g_autoptr (LptGraph) body = read_graph (r->file, lpt_json_member (item, "graph"), r->line, error);
      r->file->depth--;
      if (body == NULL)
        return FALSE;
      LptBodyMap *map = lpt_body_map_new ();
      gboolean ok = read_body_ports (r, lpt_json_member (item, "inputs"), node->n_in, body->parameters->len,
                                     map->inputs, error) &&
                    read_body_ports (r, lpt_json_member (item, "outputs"), node->n_out, body->results->len,
                                     map->outputs, error);
      const cJSON *edge, *edges = lpt_json_member (item, "back_edges");
      for (edge = edges != NULL ? edges->child : NULL; ok && edge != NULL; edge = edge->next)
        {
          gint64 result, parameter;
          ok = (lpt_json_int (lpt_json_member (edge, "result"), 0, (gint64) body->results->len - 1, &result) &&
                lpt_json_int (lpt_json_member (edge, "parameter"), 0, (gint64) body->parameters->len - 1,
                              &parameter)) ||
               lpt_json_fail (error, r, "a back edge of a body is wrong");
          LptBackEdge e = { ok ? (guint) result : 0, ok ? (guint) parameter : 0 };
          if (ok)
            g_array_append_val (map->back_edges, e);
        }
      if (!ok)
        {
          lpt_body_map_free (map);
          return FALSE;
        }
      lpt_node_add_body (node, g_steal_pointer (&body), map);
    }
  return TRUE;
}

/* --- nodes ----------------------------------------------------------------- */

/* Everything of a node but what refers to other nodes. */
static gboolean
read_node (LptJsonReader *r, const cJSON *item, GError **error)
{
  const char *op = lpt_json_text (item, "op");
  const cJSON *outputs = lpt_json_member (item, "outputs"), *inputs = lpt_json_member (item, "inputs");
  gint64 opset = 0;
  if (r->name == NULL)
    return lpt_json_fail (error, r, "a node has no name");
  if (g_hash_table_contains (r->nodes, r->name))
    return lpt_json_fail (error, r, "the name is taken twice");
  const LptOpInfo *info = op == NULL ? NULL : g_str_equal (op, "Opaque") ? lpt_op_info (LPT_OP_OPAQUE) : lpt_op_find (op);
  if (info == NULL)
    return lpt_json_fail (error, r, "unsupported op \"%.40s\"", op != NULL ? op : "");
  if (lpt_json_member (item, "opset") != NULL &&
      !lpt_json_int (lpt_json_member (item, "opset"), 0, LPT_NEWEST_OPSET, &opset))
    return lpt_json_fail (error, r, "\"opset\" is out of range");
  if ((outputs != NULL && !cJSON_IsArray (outputs)) || (inputs != NULL && !cJSON_IsArray (inputs)))
    return lpt_json_fail (error, r, "\"inputs\" and \"outputs\" are lists");
  guint n_out = (guint) cJSON_GetArraySize (outputs), n_in = (guint) cJSON_GetArraySize (inputs);
  if (info->n_out >= 0 ? n_out != (guint) info->n_out : info->op != LPT_OP_OPAQUE && n_out == 0)
    return lpt_json_fail (error, r, "%s with %u outputs", info->name, n_out);
  if (n_in < info->min_in || (info->max_in != LPT_ANY_INPUTS && n_in > info->max_in))
    return lpt_json_fail (error, r, "%s with %u inputs", info->name, n_in);

  LptNode *node = lpt_graph_add_full (r->graph, info, (guint) opset, r->name, n_in, NULL, n_out);
  g_hash_table_insert (r->nodes, (gpointer) r->name, node);
  node->line = r->line;
  node->raw = g_strdup (lpt_json_text (item, "raw"));
  node->requant = g_strdup (lpt_json_text (item, "requant"));
  if (info->op == LPT_OP_OPAQUE && node->raw == NULL)
    node->raw = g_strdup ("");
  const cJSON *flag, *flags = lpt_json_member (item, "flags");
  cJSON_ArrayForEach (flag, flags)
    {
      guint i;
      for (i = 0; i < G_N_ELEMENTS (json_flags); i++)
        if (cJSON_IsString (flag) && g_str_equal (flag->valuestring, json_flags[i].name))
          break;
      if (i == G_N_ELEMENTS (json_flags))
        return lpt_json_fail (error, r, "an unknown flag");
      node->flags |= json_flags[i].flag;
    }
  if (!lpt_json_strings (lpt_json_member (item, "rt_info"), &node->rt_info))
    return lpt_json_fail (error, r, "\"rt_info\" is an object of strings");
  const cJSON *output = outputs != NULL ? outputs->child : NULL;
  for (guint i = 0; i < n_out; i++, output = output->next)
    if (!lpt_json_read_output (r, &node->out[i], output, error))
      return FALSE;
  if (info->op == LPT_OP_CONST)
    {
      node->data = lpt_json_read_data (r, item, node->out[0].dtype, &node->out[0].shape, error);
      if (node->data == NULL)
        return FALSE;
    }
  return lpt_json_read_attributes (r, node, lpt_json_member (item, "attributes"), error) &&
         lpt_json_read_mark (r, lpt_json_member (item, "mark"), &node->mark, error) &&
         read_bodies (r, node, lpt_json_member (item, "bodies"), error);
}

static gboolean
read_links (LptJsonReader *r, const cJSON *item, GError **error)
{
  LptNode *node = g_hash_table_lookup (r->nodes, r->name);
  const cJSON *input = lpt_json_member (item, "inputs"), *compute = lpt_json_member (item, "compute"),
              *marks = lpt_json_member (item, "input_marks");
  if ((compute != NULL && (guint) cJSON_GetArraySize (compute) != node->n_in) ||
      (marks != NULL && (guint) cJSON_GetArraySize (marks) != node->n_in))
    return lpt_json_fail (error, r, "\"compute\" and \"input_marks\" are as long as \"inputs\"");
  input = input != NULL ? input->child : NULL;
  compute = compute != NULL ? compute->child : NULL;
  marks = marks != NULL ? marks->child : NULL;
  for (guint i = 0; i < node->n_in; i++, input = input->next)
    {
      const char *name = cJSON_IsArray (input) ? cJSON_GetStringValue (cJSON_GetArrayItem (input, 0))
                                               : cJSON_GetStringValue (input);
      gint64 index = 0;
      if (cJSON_IsNull (input) && i < node->info->min_in)
        return lpt_json_fail (error, r, "input %u is missing", i);
      if (!cJSON_IsNull (input))
        {
          LptNode *from = name != NULL ? g_hash_table_lookup (r->nodes, name) : NULL;
          if (from == NULL ||
              (cJSON_IsArray (input) && !lpt_json_int (cJSON_GetArrayItem (input, 1), 0, G_MAXINT32, &index)) ||
              index >= (gint64) from->n_out)
            return lpt_json_fail (error, r, "input %u: no value \"%.80s\", output %" G_GINT64_FORMAT, i,
                                  name != NULL ? name : "", index);
          lpt_node_set_input (node, i, &from->out[index]);
        }
      if (compute != NULL)
        {
          node->in[i].compute = cJSON_IsString (compute) ? lpt_dtype_from_name (compute->valuestring)
                                                         : LPT_DTYPE_UNDEFINED;
          if (cJSON_IsString (compute) && node->in[i].compute == LPT_DTYPE_UNDEFINED)
            return lpt_json_fail (error, r, "input %u: unsupported element type \"%.40s\"", i, compute->valuestring);
          compute = compute->next;
        }
      if (marks != NULL)
        {
          if (!lpt_json_read_mark (r, marks, &node->in[i].mark, error))
            return FALSE;
          marks = marks->next;
        }
    }
  const cJSON *control, *controls = lpt_json_member (item, "controls");
  cJSON_ArrayForEach (control, controls)
    {
      LptNode *other = cJSON_IsString (control) ? g_hash_table_lookup (r->nodes, control->valuestring) : NULL;
      if (other == NULL)
        return lpt_json_fail (error, r, "a control dependency names no node");
      if (node->controls == NULL)
        node->controls = g_ptr_array_new ();
      g_ptr_array_add (node->controls, other);
    }
  return TRUE;
}

/* Puts parameters or results in the order that the file lists. */
static gboolean
read_order (LptJsonReader *r, const char *key, GPtrArray *nodes, LptOp op, GError **error)
{
  const cJSON *item, *list = lpt_json_member (r->object, key);
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  if (list == NULL)
    return TRUE;
  cJSON_ArrayForEach (item, list)
    {
      LptNode *node = cJSON_IsString (item) ? g_hash_table_lookup (r->nodes, item->valuestring) : NULL;
      if (node == NULL || node->op != op || g_ptr_array_find (order, node, NULL))
        return lpt_json_fail (error, r, "\"%s\" names something else, or something twice", key);
      g_ptr_array_add (order, node);
    }
  if (order->len != nodes->len)
    return lpt_json_fail (error, r, "\"%s\" has %u names for %u nodes", key, order->len, nodes->len);
  for (guint i = 0; i < order->len; i++)
    nodes->pdata[i] = order->pdata[i];
  return TRUE;
}

/* Types and shapes that inference gives must be those of the file. */
static gboolean
check_types (LptJsonReader *r, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (r->graph, error);
  if (order == NULL)
    {
      g_prefix_error (error, "%s: ", r->file->source);
      return FALSE;
    }
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      g_autofree LptDType *types = g_new0 (LptDType, node->n_out + 1);
      g_autofree LptShape *shapes = g_new0 (LptShape, node->n_out + 1);
      for (guint k = 0; k < node->n_out; k++)
        {
          types[k] = node->out[k].dtype;
          shapes[k] = node->out[k].shape;
        }
      if (!lpt_node_infer (node, error))
        return FALSE;
      for (guint k = 0; k < node->n_out; k++)
        {
          LptValue *value = &node->out[k];
          if (value->dtype == LPT_DTYPE_UNDEFINED || value->dtype == LPT_DTYPE_DYNAMIC)
            value->dtype = types[k];
          if (lpt_node_n_bodies (node) > 0 && lpt_shape_compatible (&shapes[k], &value->shape) &&
              !lpt_node_declare_output (node, k, &shapes[k], error))
            return FALSE;
          if (types[k] == value->dtype && lpt_shape_compatible (&shapes[k], &value->shape))
            continue;
          g_autofree char *says = lpt_shape_to_string (&shapes[k]), *is = lpt_shape_to_string (&value->shape);
          r->name = node->name;
          r->line = node->line;
          return lpt_json_fail (error, r, "output %u is said to be %s[%s], but %s makes %s[%s] here", k,
                                lpt_dtype_name (types[k]), says, node->info->name, lpt_dtype_name (value->dtype), is);
        }
    }
  return TRUE;
}

static LptGraph *
read_graph (LptJsonFile *file, cJSON *object, guint line, GError **error)
{
  const char *name = lpt_json_text (object, "name");
  g_autoptr (LptGraph) graph = lpt_graph_new (name != NULL ? name : "");
  g_autoptr (GHashTable) nodes = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (LptBox));
  LptJsonReader r = { .file = file, .graph = graph, .object = object, .nodes = nodes, .boxes = boxes, .line = line };
  const cJSON *list = lpt_json_member (object, "nodes"), *item;
  gint64 ir_version = 0;

  graph->source = g_strdup (file->source);
  graph->lowered = cJSON_IsTrue (lpt_json_member (object, "lowered"));
  graph->requant = g_strdup (lpt_json_text (object, "requant"));
  if (!cJSON_IsArray (list))
    {
      lpt_json_fail (error, &r, "\"nodes\" is missing");
      return NULL;
    }
  if ((lpt_json_member (object, "ir_version") != NULL &&
       !lpt_json_int (lpt_json_member (object, "ir_version"), 0, 1000, &ir_version)) ||
      !lpt_json_strings (lpt_json_member (object, "op_requant"), &graph->op_requant) ||
      !lpt_json_strings (lpt_json_member (object, "meta"), &graph->meta))
    {
      lpt_json_fail (error, &r, "\"ir_version\", \"op_requant\" or \"meta\" is wrong");
      return NULL;
    }
  graph->ir_version = (gint) ir_version;
  if (!lpt_json_read_boxes (&r, error))
    return NULL;
  guint index = 0;
  for (item = list->child; item != NULL; item = item->next, index++)
    {
      r.name = lpt_json_text (item, "name");
      r.line = file->depth == 0 && index < file->lines->len ? g_array_index (file->lines, guint, index) : line;
      if (!read_node (&r, item, error))
        return NULL;
    }
  for (item = list->child; item != NULL; item = item->next)
    {
      r.name = lpt_json_text (item, "name");
      r.line = ((LptNode *) g_hash_table_lookup (nodes, r.name))->line;
      if (!read_links (&r, item, error))
        return NULL;
    }
  r.name = NULL;
  r.line = line;
  if (!read_order (&r, "parameters", graph->parameters, LPT_OP_PARAMETER, error) ||
      !read_order (&r, "results", graph->results, LPT_OP_RESULT, error) || !check_types (&r, error))
    return NULL;
  return g_steal_pointer (&graph);
}

/* --- files ----------------------------------------------------------------- */

/* The line where objects and lists are nested deeper than cJSON follows, or 0. */
static guint
too_deep (const char *text, gsize length)
{
  guint line = 1, depth = 0;
  gboolean quoted = FALSE;
  for (gsize i = 0; i < length; i++)
    {
      line += text[i] == '\n';
      if (quoted && text[i] == '\\')
        i++;
      else if (text[i] == '"')
        quoted = !quoted;
      else if (!quoted && (text[i] == '{' || text[i] == '[') && ++depth > CJSON_NESTING_LIMIT)
        return line;
      else if (!quoted && (text[i] == '}' || text[i] == ']') && depth > 0)
        depth--;
    }
  return 0;
}

static cJSON *
parse_text (const char *text, gsize length, const char *source, GError **error)
{
  const char *end = NULL;
  guint deep = too_deep (text, length);
  if (deep > 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s:%u: unsupported: nested deeper than %d", source, deep,
                   CJSON_NESTING_LIMIT);
      return NULL;
    }
  cJSON *root = cJSON_ParseWithLengthOpts (text, length, &end, FALSE);
  if (root == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:%u: not well-formed JSON", source,
                   lpt_line_of (text, length, end));
      return NULL;
    }
  const char *format = lpt_json_text (root, "format");
  gint64 version = 0;
  if (g_strcmp0 (format, LPT_JSON_FORMAT) != 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                 "%s:1: not the native JSON form: \"format\" is not \"" LPT_JSON_FORMAT "\"", source);
  else if (!lpt_json_int (lpt_json_member (root, "version"), 1, LPT_JSON_VERSION, &version))
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                 "%s:1: unsupported version of the native JSON form (%d is known)", source, LPT_JSON_VERSION);
  else
    return root;
  cJSON_Delete (root);
  return NULL;
}

static LptGraph *
read_root (cJSON *root, LptJsonFile *file, GError **error)
{
  GError *local = NULL;
  guint mark = lpt_memory_mark ();
  LptGraph *graph = lpt_graph_check_read (read_graph (file, root, 1, &local), mark, &local);
  cJSON_Delete (root);
  if (local != NULL)
    {
      g_strdelimit (local->message, "\r\n", ' ');      /* names may hold line ends, messages may not */
      g_propagate_error (error, local);
    }
  return graph;
}

LptGraph *
lpt_json_parse (const char *text, gsize length, GBytes *weights, const char *source, GError **error)
{
  g_autoptr (GArray) lines = node_lines (text, length);
  LptJsonFile file = { .source = source != NULL ? source : "model.json", .lines = lines, .weights = weights };
  cJSON *root = parse_text (text, length, file.source, error);
  return root != NULL ? read_root (root, &file, error) : NULL;
}

/* Where the file of weights is looked for: beside @path, or where none lies there beside what that leads to. */
static char *
folder_of (const char *path, const char *name)
{
  g_autofree char *folder = g_path_get_dirname (path), *real = lpt_path_behind_links (path);
  g_autofree char *beside = g_build_filename (folder, name, NULL);
  gboolean there = real == NULL || g_file_test (beside, G_FILE_TEST_EXISTS);
  return there ? g_steal_pointer (&folder) : g_path_get_dirname (real);
}

LptGraph *
lpt_json_load (const char *path, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GMappedFile) map = lpt_map_file (path, error), bin = NULL;
  if (map == NULL)
    return NULL;
  const char *text = g_mapped_file_get_contents (map);
  gsize length = g_mapped_file_get_length (map);
  LptJsonFile file = { .source = path };
  cJSON *root = parse_text (text != NULL ? text : "", length, path, error);
  if (root == NULL)
    return NULL;
  const cJSON *weights = lpt_json_member (root, "weights");
  const char *name = lpt_json_text (weights, "file");
  g_autoptr (GBytes) bytes = NULL;
  if (name != NULL)
    {
      gint64 size;
      g_autofree char *folder = folder_of (path, name), *full = NULL;
      if (!lpt_json_int (lpt_json_member (weights, "size"), 0, G_MAXINT64, &size))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:1: \"weights\" needs a file name and a size", path);
          cJSON_Delete (root);
          return NULL;
        }
      full = lpt_path_beside (folder, name, "the file of weights", &cause);
      if (g_error_matches (cause, LPT_ERROR, LPT_ERROR_INVALID))
        {
          g_propagate_prefixed_error (error, g_steal_pointer (&cause), "%s:1: ", path);
          cJSON_Delete (root);
          return NULL;
        }
      bin = full != NULL ? lpt_map_file (full, &cause) : NULL;
      if (bin != NULL && g_mapped_file_get_length (bin) != (gsize) size)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "%s: has %" G_GSIZE_FORMAT " bytes, %s says %" G_GINT64_FORMAT, full,
                       g_mapped_file_get_length (bin), path, size);
          cJSON_Delete (root);
          return NULL;
        }
      file.weights = bytes = bin != NULL ? g_mapped_file_get_bytes (bin) : NULL;
      file.no_weights = cause != NULL ? cause->message : NULL;
    }
  g_autoptr (GArray) lines = node_lines (text, length);
  file.lines = lines;
  return read_root (root, &file, error);
}
