/* json-reader.c - native JSON to LptGraph
 *
 * cJSON does the syntax. Nodes are made first and connected then, so their order
 * in the file is free; types and shapes of the file are checked against inference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/native_json/json-flags.h"
#include "ir/lpt-map-file.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-json.h>

#include <cjson/cJSON.h>
#include <string.h>

#define MAX_BODY_DEPTH 16

typedef struct
{
  const char *source;
  GArray     *lines;         /* of guint: line of each node of the outermost graph */
  GBytes     *weights;
  const char *no_weights;    /* why there are none */
  guint       depth;         /* of bodies */
} JsonFile;

typedef struct
{
  JsonFile   *file;
  LptGraph   *graph;
  cJSON      *object;
  GHashTable *nodes;         /* name -> LptNode */
  GArray     *boxes;         /* of LptBox: number in the file - 1 -> box */
  /* the node at hand, for messages */
  const char *name;
  guint       line;
} JsonReader;

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

static gboolean G_GNUC_PRINTF (3, 4)
fail (GError **error, const JsonReader *r, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *node = r->name != NULL ? g_strdup_printf ("node \"%s\": ", r->name) : g_strdup ("");
  g_set_error (error, LPT_ERROR, strstr (what, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID, "%s:%u: %s%s",
               r->file->source, r->line > 0 ? r->line : 1, node, what);
  return FALSE;
}

static gboolean
prefix (GError **error, const JsonReader *r)
{
  g_prefix_error (error, "%s:%u: node \"%s\": ", r->file->source, r->line, r->name);
  return FALSE;
}

/* --- pieces ---------------------------------------------------------------- */

static cJSON *
member (const cJSON *object, const char *name)
{
  return cJSON_GetObjectItemCaseSensitive (object, name);
}

static const char *
text_of (const cJSON *object, const char *name)
{
  return cJSON_GetStringValue (member (object, name));
}

/* An integer, as number or as text; FALSE when it is none or out of range. */
static gboolean
int_of (const cJSON *item, gint64 low, gint64 high, gint64 *out)
{
  if (cJSON_IsString (item))
    return g_ascii_string_to_signed (item->valuestring, 10, low, high, out, NULL);
  if (!cJSON_IsNumber (item) || !(item->valuedouble >= -9007199254740992.0 && item->valuedouble <= 9007199254740992.0))
    return FALSE;
  *out = (gint64) item->valuedouble;
  return (double) *out == item->valuedouble && *out >= low && *out <= high;
}

static gboolean
double_of (const cJSON *item, double *out)
{
  if (cJSON_IsString (item))
    {
      char *end;
      *out = g_ascii_strtod (item->valuestring, &end);
      return end != item->valuestring && *end == '\0';
    }
  *out = cJSON_IsNumber (item) ? item->valuedouble : 0.0;
  return cJSON_IsNumber (item);
}

static gboolean
shape_of (const cJSON *item, LptShape *out)
{
  *out = LPT_SHAPE_ANY;
  if (cJSON_IsNull (item))
    return TRUE;
  if (!cJSON_IsArray (item))
    return FALSE;
  out->rank = 0;
  const cJSON *dim;
  cJSON_ArrayForEach (dim, item)
    {
      if (out->rank == LPT_MAX_RANK)
        return FALSE;
      if (cJSON_IsNull (dim))
        out->dims[out->rank] = LPT_DYNAMIC;
      else if (!int_of (dim, 0, G_MAXINT64, &out->dims[out->rank]))
        return FALSE;
      out->rank++;
    }
  return TRUE;
}

static gboolean
types_of (const cJSON *item, LptTypeList *out)
{
  *out = (LptTypeList) { 0 };
  const cJSON *type;
  if (!cJSON_IsArray (item))
    return FALSE;
  cJSON_ArrayForEach (type, item)
    {
      LptDType dtype = cJSON_IsString (type) ? lpt_dtype_from_name (type->valuestring) : LPT_DTYPE_UNDEFINED;
      if (dtype == LPT_DTYPE_UNDEFINED || out->n == LPT_MAX_TYPES)
        return FALSE;
      lpt_type_list_add (out, dtype);
    }
  return TRUE;
}

/* Position of @text in @names, or -1. */
static gint
index_of (const char *text, const char *const *names, guint n)
{
  for (guint i = 0; text != NULL && i < n; i++)
    if (g_str_equal (text, names[i]))
      return (gint) i;
  return -1;
}

/* Strings of an object into @table, which is made when there are any. */
static gboolean
strings_of (const cJSON *item, GHashTable **table)
{
  const cJSON *entry;
  if (item == NULL)
    return TRUE;
  if (!cJSON_IsObject (item))
    return FALSE;
  cJSON_ArrayForEach (entry, item)
    {
      if (!cJSON_IsString (entry))
        return FALSE;
      if (*table == NULL)
        *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      g_hash_table_replace (*table, g_strdup (entry->string), g_strdup (entry->valuestring));
    }
  return TRUE;
}

/* --- markup ---------------------------------------------------------------- */

static gboolean
read_boxes (JsonReader *r, GError **error)
{
  const cJSON *boxes = member (r->object, "boxes"), *item;
  cJSON_ArrayForEach (item, boxes)
    {
      gint kind = index_of (text_of (item, "kind"), json_box_kinds, G_N_ELEMENTS (json_box_kinds));
      if (kind < 0)
        return fail (error, r, "a box has no known kind");
      LptBox box = lpt_box_new (r->graph, (LptBoxKind) kind);
      LptBoxValue *value = lpt_box (r->graph, box);
      gboolean ok = TRUE;
      if (kind == LPT_BOX_PRECISIONS)
        ok = types_of (member (item, "types"), &value->types);
      else if (kind != LPT_BOX_INTERVAL)
        value->flag = cJSON_IsTrue (member (item, "flag"));
      else
        {
          double low, high, min_low, min_high;
          gint64 levels, min_levels;
          ok = double_of (member (item, "low"), &low) && double_of (member (item, "high"), &high)
               && double_of (member (item, "min_low"), &min_low) && double_of (member (item, "min_high"), &min_high)
               && int_of (member (item, "levels"), 0, G_MAXINT64, &levels) && int_of (member (item, "min_levels"), 0, G_MAXINT64, &min_levels)
               && types_of (member (item, "preferred"), &value->interval.preferred);
          if (ok)
            {
              value->interval.low = (float) low;
              value->interval.high = (float) high;
              value->interval.min_low = (float) min_low;
              value->interval.min_high = (float) min_high;
              value->interval.levels = (guint64) levels;
              value->interval.min_levels = (guint64) min_levels;
            }
        }
      if (!ok)
        return fail (error, r, "a box of kind \"%s\" is incomplete", json_box_kinds[kind]);
      g_array_append_val (r->boxes, box);
    }
  return TRUE;
}

static gboolean
read_mark (JsonReader *r, const cJSON *item, LptMark *mark, GError **error)
{
  if (item == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (json_mark_fields); i++)
    {
      const cJSON *number = member (item, json_mark_fields[i].name);
      gint64 n;
      if (number == NULL)
        continue;
      if (!int_of (number, 1, r->boxes->len, &n))
        return fail (error, r, "mark \"%s\" names no box", json_mark_fields[i].name);
      LptBox box = g_array_index (r->boxes, LptBox, n - 1);
      if (lpt_box (r->graph, box)->kind != json_mark_fields[i].kind)
        return fail (error, r, "mark \"%s\" names a box of another kind", json_mark_fields[i].name);
      *(LptBox *) ((char *) mark + json_mark_fields[i].offset) = box;
    }
  const cJSON *granularity = member (item, "granularity");
  gint which = granularity != NULL ? index_of (cJSON_GetStringValue (granularity), json_granularities, G_N_ELEMENTS (json_granularities)) : 0;
  if (which < 0)
    return fail (error, r, "mark: unknown granularity");
  mark->granularity = (LptGranularity) which;
  return TRUE;
}

/* --- constants ------------------------------------------------------------- */

static LptTensor *
read_data (JsonReader *r, const cJSON *item, LptDType dtype, const LptShape *shape, GError **error)
{
  const cJSON *data = member (item, "data");
  const char *base64 = text_of (data, "base64");
  gint64 offset, size, count;
  gsize need;
  if (dtype == LPT_DTYPE_UNDEFINED || dtype == LPT_DTYPE_DYNAMIC || !lpt_shape_count (shape, &count) || !lpt_tensor_byte_size (dtype, count, &need))
    {
      fail (error, r, "a constant needs a type and a static shape of sensible size");
      return NULL;
    }
  LptTensor *tensor = NULL;
  if (base64 != NULL)
    {
      gsize length;
      g_autofree guchar *bytes = g_base64_decode (base64, &length);
      if (length != need)
        fail (error, r, "base64 holds %" G_GSIZE_FORMAT " bytes, %s of this shape takes %" G_GSIZE_FORMAT, length, lpt_dtype_name (dtype), need);
      else if ((tensor = lpt_tensor_new_copy (dtype, shape, bytes, error)) == NULL)
        prefix (error, r);
      return tensor;
    }
  if (!int_of (member (data, "offset"), 0, G_MAXINT64, &offset) || !int_of (member (data, "size"), 0, G_MAXINT64, &size))
    fail (error, r, "a constant needs \"data\" with offset and size, or base64");
  else if ((guint64) size != need)
    fail (error, r, "size %" G_GINT64_FORMAT ", but %s of this shape takes %" G_GSIZE_FORMAT " bytes", size, lpt_dtype_name (dtype), need);
  else if (need > 0 && r->file->weights == NULL)
    fail (error, r, "no weights for this constant: %s", r->file->no_weights != NULL ? r->file->no_weights : "the file names none");
  else if (need > 0 && ((guint64) offset > g_bytes_get_size (r->file->weights) || (guint64) size > g_bytes_get_size (r->file->weights) - (guint64) offset))
    fail (error, r, "offset %" G_GINT64_FORMAT " + size %" G_GINT64_FORMAT " is past the end of the weights (%" G_GSIZE_FORMAT " bytes)",
          offset, size, g_bytes_get_size (r->file->weights));
  else
    {
      g_autoptr (GBytes) none = g_bytes_new (NULL, 0);
      tensor = lpt_tensor_new_bytes (dtype, shape, need > 0 ? r->file->weights : none, need > 0 ? (gsize) offset : 0, error);
      if (tensor == NULL)
        prefix (error, r);
    }
  return tensor;
}

/* --- attributes ------------------------------------------------------------ */

/* The JSON value of an attribute as IR text, which lpt_attr_parse() reads; NULL when it can be none. */
static char *
attribute_text (const LptAttrField *field, const cJSON *item)
{
  if (field->kind == LPT_ATTR_SHAPE)
    {
      LptShape shape;
      return shape_of (item, &shape) ? shape.rank == LPT_DYNAMIC ? g_strdup ("...") : lpt_shape_to_string (&shape) : NULL;
    }
  if (field->kind == LPT_ATTR_BOOL)
    return cJSON_IsBool (item) ? g_strdup (cJSON_IsTrue (item) ? "true" : "false") : NULL;
  if (cJSON_IsString (item))
    return g_strdup (item->valuestring);
  if (cJSON_IsNumber (item) && field->kind != LPT_ATTR_STRING)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.17g", item->valuedouble));
    }
  if (!cJSON_IsArray (item) || (field->kind != LPT_ATTR_INTS && field->kind != LPT_ATTR_FLOATS))
    return NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  const cJSON *element;
  cJSON_ArrayForEach (element, item)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      if (!cJSON_IsString (element) && !cJSON_IsNumber (element))
        return NULL;
      g_string_append (text, element != item->child ? "," : "");
      g_string_append (text, cJSON_IsString (element) ? element->valuestring : g_ascii_formatd (buffer, sizeof buffer, "%.17g", element->valuedouble));
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
read_attributes (JsonReader *r, LptNode *node, const cJSON *attributes, GError **error)
{
  const cJSON *item;
  if (attributes != NULL && !cJSON_IsObject (attributes))
    return fail (error, r, "\"attributes\" is no object");
  cJSON_ArrayForEach (item, attributes)
    {
      const LptAttrField *field = lpt_attrs_find (node->info, node->opset, item->string);
      if (field == NULL)
        return fail (error, r, "%s has no attribute \"%.40s\"", node->info->name, item->string);
      g_autofree char *text = attribute_text (field, item);
      if (text == NULL)
        return fail (error, r, "attribute \"%s\" has the wrong kind of value", field->name);
      if (!lpt_attr_parse (field, node->attrs, text, error))
        {
          g_prefix_error (error, "attribute \"%s\": ", field->name);
          return prefix (error, r);
        }
    }
  return TRUE;
}

/* --- values ---------------------------------------------------------------- */

static gboolean
read_quant (JsonReader *r, LptValue *value, const cJSON *item, GError **error)
{
  if (item == NULL)
    return TRUE;
  const cJSON *axis = member (item, "axis"), *scales = member (item, "scale"), *zeros = member (item, "zero_point");
  gint64 a = LPT_QUANT_PER_TENSOR;
  guint n = cJSON_IsArray (scales) ? (guint) cJSON_GetArraySize (scales) : 0;
  if ((axis != NULL && !cJSON_IsNull (axis) && !int_of (axis, 0, LPT_MAX_RANK - 1, &a)) || n == 0
      || !cJSON_IsArray (zeros) || (guint) cJSON_GetArraySize (zeros) != n || (a == LPT_QUANT_PER_TENSOR && n != 1)
      || (a >= 0 && value->shape.rank != LPT_DYNAMIC && (a >= value->shape.rank || (value->shape.dims[a] != LPT_DYNAMIC && value->shape.dims[a] != (gint64) n))))
    return fail (error, r, "\"quantization\" needs an axis (or null) and as many scales as zero points");
  g_autofree double *scale = g_new (double, n);
  g_autofree gint32 *zero = g_new (gint32, n);
  const cJSON *s = scales->child, *z = zeros->child;
  for (guint i = 0; i < n; i++, s = s->next, z = z->next)
    {
      gint64 zp;
      if (!double_of (s, &scale[i]) || !int_of (z, G_MININT32, G_MAXINT32, &zp))
        return fail (error, r, "\"quantization\": element %u is no number", i);
      zero[i] = (gint32) zp;
    }
  g_autoptr (LptQuant) quant = lpt_quant_new ((gint) a, n, scale, zero);
  lpt_value_set_quant (value, quant);
  return TRUE;
}

static gboolean
read_output (JsonReader *r, LptValue *value, const cJSON *item, GError **error)
{
  const char *type = text_of (item, "type");
  const cJSON *names = member (item, "names"), *name;
  value->dtype = type != NULL ? lpt_dtype_from_name (type) : LPT_DTYPE_UNDEFINED;
  if (type == NULL || (value->dtype == LPT_DTYPE_UNDEFINED && !g_str_equal (type, "undefined")))
    return fail (error, r, "output %u: unsupported element type \"%.40s\"", value->index, type != NULL ? type : "");
  if (!shape_of (member (item, "shape"), &value->shape))
    return fail (error, r, "output %u has no shape (a list of at most %d lengths or null, or null)", value->index, LPT_MAX_RANK);
  cJSON_ArrayForEach (name, names)
    if (cJSON_IsString (name))
      lpt_value_add_name (value, name->valuestring);
  return read_quant (r, value, member (item, "quantization"), error) && read_mark (r, member (item, "mark"), &value->mark, error);
}

/* --- bodies ---------------------------------------------------------------- */

static LptGraph *read_graph (JsonFile *file, cJSON *object, guint line, GError **error);

static gboolean
read_body_ports (JsonReader *r, const cJSON *list, guint n_external, guint n_internal, GArray *ports, GError **error)
{
  const cJSON *item;
  cJSON_ArrayForEach (item, list)
    {
      LptBodyPort port = { .external = -1, .end = -1, .stride = 1, .part_size = 1 };
      gint64 external = -1, internal;
      const cJSON *e = member (item, "external"), *purpose = member (item, "purpose");
      port.sliced = member (item, "axis") != NULL;
      gint which = purpose != NULL ? index_of (cJSON_GetStringValue (purpose), json_purposes, G_N_ELEMENTS (json_purposes)) : 0;
      if ((e != NULL && !cJSON_IsNull (e) && !int_of (e, 0, (gint64) n_external - 1, &external))
          || !int_of (member (item, "internal"), 0, (gint64) n_internal - 1, &internal) || which < 0
          || (port.sliced && (!int_of (member (item, "axis"), G_MININT64, G_MAXINT64, &port.axis) || !int_of (member (item, "start"), G_MININT64, G_MAXINT64, &port.start)
              || !int_of (member (item, "end"), G_MININT64, G_MAXINT64, &port.end) || !int_of (member (item, "stride"), G_MININT64, G_MAXINT64, &port.stride)
              || !int_of (member (item, "part_size"), G_MININT64, G_MAXINT64, &port.part_size) || port.stride == 0)))
        return fail (error, r, "a connection of a body is wrong");
      port.external = (gint) external;
      port.internal = (guint) internal;
      port.purpose = (LptPortPurpose) which;
      g_array_append_val (ports, port);
    }
  return TRUE;
}

static gboolean
read_bodies (JsonReader *r, LptNode *node, const cJSON *bodies, GError **error)
{
  guint want = node->op == LPT_OP_IF ? 2 : node->op == LPT_OP_TENSOR_ITERATOR || node->op == LPT_OP_LOOP ? 1 : 0;
  if ((guint) cJSON_GetArraySize (bodies) != want)
    return fail (error, r, "%d bodies where %u belong", cJSON_GetArraySize (bodies), want);
  const cJSON *item;
  cJSON_ArrayForEach (item, bodies)
    {
      if (r->file->depth >= MAX_BODY_DEPTH)
        return fail (error, r, "unsupported: bodies nested deeper than %d", MAX_BODY_DEPTH);
      r->file->depth++;
      g_autoptr (LptGraph) body = read_graph (r->file, member (item, "graph"), r->line, error);
      r->file->depth--;
      if (body == NULL)
        return FALSE;
      LptBodyMap *map = lpt_body_map_new ();
      gboolean ok = read_body_ports (r, member (item, "inputs"), node->n_in, body->parameters->len, map->inputs, error)
                    && read_body_ports (r, member (item, "outputs"), node->n_out, body->results->len, map->outputs, error);
      const cJSON *edge, *edges = member (item, "back_edges");
      for (edge = edges != NULL ? edges->child : NULL; ok && edge != NULL; edge = edge->next)
        {
          gint64 result, parameter;
          ok = (int_of (member (edge, "result"), 0, (gint64) body->results->len - 1, &result)
                && int_of (member (edge, "parameter"), 0, (gint64) body->parameters->len - 1, &parameter))
               || fail (error, r, "a back edge of a body is wrong");
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
read_node (JsonReader *r, const cJSON *item, GError **error)
{
  const char *op = text_of (item, "op");
  const cJSON *outputs = member (item, "outputs"), *inputs = member (item, "inputs");
  gint64 opset = 0;
  if (r->name == NULL)
    return fail (error, r, "a node has no name");
  if (g_hash_table_contains (r->nodes, r->name))
    return fail (error, r, "the name is taken twice");
  const LptOpInfo *info = op == NULL ? NULL : g_str_equal (op, "Opaque") ? lpt_op_info (LPT_OP_OPAQUE) : lpt_op_find (op);
  if (info == NULL)
    return fail (error, r, "unsupported op \"%.40s\"", op != NULL ? op : "");
  if (member (item, "opset") != NULL && !int_of (member (item, "opset"), 0, 255, &opset))
    return fail (error, r, "\"opset\" is out of range");
  if ((outputs != NULL && !cJSON_IsArray (outputs)) || (inputs != NULL && !cJSON_IsArray (inputs)))
    return fail (error, r, "\"inputs\" and \"outputs\" are lists");
  guint n_out = (guint) cJSON_GetArraySize (outputs), n_in = (guint) cJSON_GetArraySize (inputs);
  if (info->n_out >= 0 ? n_out != (guint) info->n_out : info->op != LPT_OP_OPAQUE && n_out == 0)
    return fail (error, r, "%s with %u outputs", info->name, n_out);
  if (n_in < info->min_in || (info->max_in != LPT_ANY_INPUTS && n_in > info->max_in))
    return fail (error, r, "%s with %u inputs", info->name, n_in);

  LptNode *node = lpt_graph_add_full (r->graph, info, (guint) opset, r->name, n_in, NULL, n_out);
  g_hash_table_insert (r->nodes, (gpointer) r->name, node);
  node->line = r->line;
  node->raw = g_strdup (text_of (item, "raw"));
  node->requant = g_strdup (text_of (item, "requant"));
  if (info->op == LPT_OP_OPAQUE && node->raw == NULL)
    node->raw = g_strdup ("");
  const cJSON *flag, *flags = member (item, "flags");
  cJSON_ArrayForEach (flag, flags)
    {
      guint i;
      for (i = 0; i < G_N_ELEMENTS (json_flags); i++)
        if (cJSON_IsString (flag) && g_str_equal (flag->valuestring, json_flags[i].name))
          break;
      if (i == G_N_ELEMENTS (json_flags))
        return fail (error, r, "an unknown flag");
      node->flags |= json_flags[i].flag;
    }
  if (!strings_of (member (item, "rt_info"), &node->rt_info))
    return fail (error, r, "\"rt_info\" is an object of strings");
  const cJSON *output = outputs != NULL ? outputs->child : NULL;
  for (guint i = 0; i < n_out; i++, output = output->next)
    if (!read_output (r, &node->out[i], output, error))
      return FALSE;
  if (info->op == LPT_OP_CONST)
    {
      node->data = read_data (r, item, node->out[0].dtype, &node->out[0].shape, error);
      if (node->data == NULL)
        return FALSE;
    }
  return read_attributes (r, node, member (item, "attributes"), error) && read_mark (r, member (item, "mark"), &node->mark, error)
         && read_bodies (r, node, member (item, "bodies"), error);
}

static gboolean
read_links (JsonReader *r, const cJSON *item, GError **error)
{
  LptNode *node = g_hash_table_lookup (r->nodes, r->name);
  const cJSON *input = member (item, "inputs"), *compute = member (item, "compute"), *marks = member (item, "input_marks");
  if ((compute != NULL && (guint) cJSON_GetArraySize (compute) != node->n_in) || (marks != NULL && (guint) cJSON_GetArraySize (marks) != node->n_in))
    return fail (error, r, "\"compute\" and \"input_marks\" are as long as \"inputs\"");
  input = input != NULL ? input->child : NULL;
  compute = compute != NULL ? compute->child : NULL;
  marks = marks != NULL ? marks->child : NULL;
  for (guint i = 0; i < node->n_in; i++, input = input->next)
    {
      const char *name = cJSON_IsArray (input) ? cJSON_GetStringValue (cJSON_GetArrayItem (input, 0)) : cJSON_GetStringValue (input);
      gint64 index = 0;
      if (cJSON_IsNull (input) && i < node->info->min_in)
        return fail (error, r, "input %u is missing", i);
      if (!cJSON_IsNull (input))
        {
          LptNode *from = name != NULL ? g_hash_table_lookup (r->nodes, name) : NULL;
          if (from == NULL || (cJSON_IsArray (input) && !int_of (cJSON_GetArrayItem (input, 1), 0, G_MAXINT32, &index)) || index >= (gint64) from->n_out)
            return fail (error, r, "input %u: no value \"%.80s\", output %" G_GINT64_FORMAT, i, name != NULL ? name : "", index);
          lpt_node_set_input (node, i, &from->out[index]);
        }
      if (compute != NULL)
        {
          node->in[i].compute = cJSON_IsString (compute) ? lpt_dtype_from_name (compute->valuestring) : LPT_DTYPE_UNDEFINED;
          if (cJSON_IsString (compute) && node->in[i].compute == LPT_DTYPE_UNDEFINED)
            return fail (error, r, "input %u: unsupported element type \"%.40s\"", i, compute->valuestring);
          compute = compute->next;
        }
      if (marks != NULL)
        {
          if (!read_mark (r, marks, &node->in[i].mark, error))
            return FALSE;
          marks = marks->next;
        }
    }
  const cJSON *control, *controls = member (item, "controls");
  cJSON_ArrayForEach (control, controls)
    {
      LptNode *other = cJSON_IsString (control) ? g_hash_table_lookup (r->nodes, control->valuestring) : NULL;
      if (other == NULL)
        return fail (error, r, "a control dependency names no node");
      if (node->controls == NULL)
        node->controls = g_ptr_array_new ();
      g_ptr_array_add (node->controls, other);
    }
  return TRUE;
}

/* Puts parameters or results in the order that the file lists. */
static gboolean
read_order (JsonReader *r, const char *key, GPtrArray *nodes, LptOp op, GError **error)
{
  const cJSON *item, *list = member (r->object, key);
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  if (list == NULL)
    return TRUE;
  cJSON_ArrayForEach (item, list)
    {
      LptNode *node = cJSON_IsString (item) ? g_hash_table_lookup (r->nodes, item->valuestring) : NULL;
      if (node == NULL || node->op != op || g_ptr_array_find (order, node, NULL))
        return fail (error, r, "\"%s\" names something else, or something twice", key);
      g_ptr_array_add (order, node);
    }
  if (order->len != nodes->len)
    return fail (error, r, "\"%s\" has %u names for %u nodes", key, order->len, nodes->len);
  for (guint i = 0; i < order->len; i++)
    nodes->pdata[i] = order->pdata[i];
  return TRUE;
}

/* Types and shapes that inference gives must be those of the file. */
static gboolean
check_types (JsonReader *r, GError **error)
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
          if (types[k] == value->dtype && lpt_shape_compatible (&shapes[k], &value->shape))
            continue;
          g_autofree char *says = lpt_shape_to_string (&shapes[k]), *is = lpt_shape_to_string (&value->shape);
          r->name = node->name;
          r->line = node->line;
          return fail (error, r, "output %u is said to be %s[%s], but %s makes %s[%s] here", k, lpt_dtype_name (types[k]), says,
                       node->info->name, lpt_dtype_name (value->dtype), is);
        }
    }
  return TRUE;
}

static LptGraph *
read_graph (JsonFile *file, cJSON *object, guint line, GError **error)
{
  const char *name = text_of (object, "name");
  g_autoptr (LptGraph) graph = lpt_graph_new (name != NULL ? name : "");
  g_autoptr (GHashTable) nodes = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (LptBox));
  JsonReader r = { .file = file, .graph = graph, .object = object, .nodes = nodes, .boxes = boxes, .line = line };
  const cJSON *list = member (object, "nodes"), *item;
  gint64 ir_version = 0;

  graph->source = g_strdup (file->source);
  graph->lowered = cJSON_IsTrue (member (object, "lowered"));
  graph->requant = g_strdup (text_of (object, "requant"));
  if (!cJSON_IsArray (list))
    {
      fail (error, &r, "\"nodes\" is missing");
      return NULL;
    }
  if ((member (object, "ir_version") != NULL && !int_of (member (object, "ir_version"), 0, 1000, &ir_version))
      || !strings_of (member (object, "op_requant"), &graph->op_requant) || !strings_of (member (object, "meta"), &graph->meta))
    {
      fail (error, &r, "\"ir_version\", \"op_requant\" or \"meta\" is wrong");
      return NULL;
    }
  graph->ir_version = (gint) ir_version;
  if (!read_boxes (&r, error))
    return NULL;
  guint index = 0;
  for (item = list->child; item != NULL; item = item->next, index++)
    {
      r.name = text_of (item, "name");
      r.line = file->depth == 0 && index < file->lines->len ? g_array_index (file->lines, guint, index) : line;
      if (!read_node (&r, item, error))
        return NULL;
    }
  for (item = list->child; item != NULL; item = item->next)
    {
      r.name = text_of (item, "name");
      r.line = ((LptNode *) g_hash_table_lookup (nodes, r.name))->line;
      if (!read_links (&r, item, error))
        return NULL;
    }
  r.name = NULL;
  r.line = line;
  if (!read_order (&r, "parameters", graph->parameters, LPT_OP_PARAMETER, error) || !read_order (&r, "results", graph->results, LPT_OP_RESULT, error)
      || !check_types (&r, error))
    return NULL;
  return g_steal_pointer (&graph);
}

/* --- files ----------------------------------------------------------------- */

static cJSON *
parse_text (const char *text, gsize length, const char *source, GError **error)
{
  const char *end = NULL;
  cJSON *root = cJSON_ParseWithLengthOpts (text, length, &end, FALSE);
  if (root == NULL)
    {
      guint line = 1;
      for (const char *p = text; end != NULL && p < end && p < text + length; p++)
        line += *p == '\n';
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:%u: not well-formed JSON", source, line);
      return NULL;
    }
  const char *format = text_of (root, "format");
  gint64 version = 0;
  if (g_strcmp0 (format, LPT_JSON_FORMAT) != 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:1: not the native JSON form: \"format\" is not \"" LPT_JSON_FORMAT "\"", source);
  else if (!int_of (member (root, "version"), 1, LPT_JSON_VERSION, &version))
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s:1: unsupported version of the native JSON form (%d is known)", source, LPT_JSON_VERSION);
  else
    return root;
  cJSON_Delete (root);
  return NULL;
}

static LptGraph *
read_root (cJSON *root, JsonFile *file, GError **error)
{
  GError *local = NULL;
  LptGraph *graph = read_graph (file, root, 1, &local);
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
  JsonFile file = { .source = source != NULL ? source : "model.json", .lines = lines, .weights = weights };
  cJSON *root = parse_text (text, length, file.source, error);
  return root != NULL ? read_root (root, &file, error) : NULL;
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
  JsonFile file = { .source = path };
  cJSON *root = parse_text (text != NULL ? text : "", length, path, error);
  if (root == NULL)
    return NULL;
  const cJSON *weights = member (root, "weights");
  const char *name = text_of (weights, "file");
  g_autoptr (GBytes) bytes = NULL;
  if (name != NULL)
    {
      gint64 size;
      g_autofree char *folder = g_path_get_dirname (path), *full = g_build_filename (folder, name, NULL);
      if (g_path_is_absolute (name) || !int_of (member (weights, "size"), 0, G_MAXINT64, &size))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:1: \"weights\" needs a relative file name and a size", path);
          cJSON_Delete (root);
          return NULL;
        }
      bin = lpt_map_file (full, &cause);
      if (bin != NULL && g_mapped_file_get_length (bin) != (gsize) size)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: has %" G_GSIZE_FORMAT " bytes, %s says %" G_GINT64_FORMAT,
                       full, g_mapped_file_get_length (bin), path, size);
          cJSON_Delete (root);
          return NULL;
        }
      file.weights = bytes = bin != NULL ? g_mapped_file_get_bytes (bin) : NULL;
      file.no_weights = cause != NULL ? cause->message : NULL;
    }
  g_autoptr (GArray) lines = file.lines = node_lines (text, length);
  return read_root (root, &file, error);
}
