/* json-writer.c - LptGraph to native JSON
 *
 * One node a line, producers first. Numbers are the shortest that read back;
 * integers beyond 2^53 and reals that JSON lacks are strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/native_json/json-flags.h"
#include "frontends/native_json/json-put.h"
#include "ir/lpt-attrs-private.h"
#include "ir/storage/lpt-blob.h"
#include <lpt/lpt-out-file.h>

#include <lpt/lpt-body.h>
#include <lpt/lpt-json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  GString    *out;
  LptBlob    *blob;        /* NULL: base64 */
  LptGraph   *graph;
  GHashTable *boxes;       /* root -> number in the file, of the graph at hand */
  GPtrArray  *box_roots;
} JsonWriter;

/* --- values ---------------------------------------------------------------- */

/* "name" for output 0, ["name", k] for output k, null for an absent input. */
static void
put_value (GString *out, const LptValue *value)
{
  if (value == NULL)
    g_string_append (out, "null");
  else if (value->index == 0)
    json_put_string (out, value->producer->name);
  else
    {
      g_string_append_c (out, '[');
      json_put_string (out, value->producer->name);
      g_string_append_printf (out, ", %u]", value->index);
    }
}

static void
put_quant (GString *out, const LptQuant *quant)
{
  json_put_key (out, "quantization");
  g_string_append (out, "{\"axis\": ");
  if (quant->axis == LPT_QUANT_PER_TENSOR)
    g_string_append (out, "null");
  else
    g_string_append_printf (out, "%d", quant->axis);
  g_string_append (out, ", \"scale\": [");
  for (guint i = 0; i < quant->n; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      json_put_double (out, quant->scale[i]);
    }
  g_string_append (out, "], \"zero_point\": [");
  for (guint i = 0; i < quant->n; i++)
    g_string_append_printf (out, "%s%d", i > 0 ? ", " : "", quant->zero_point[i]);
  g_string_append (out, "]}");
}

static guint
box_number (JsonWriter *w, LptBox box)
{
  LptBox root = lpt_box_root (w->graph, box);
  gpointer known = g_hash_table_lookup (w->boxes, GUINT_TO_POINTER (root));
  if (known == NULL)
    {
      g_ptr_array_add (w->box_roots, GUINT_TO_POINTER (root));
      known = GUINT_TO_POINTER (w->box_roots->len);
      g_hash_table_insert (w->boxes, GUINT_TO_POINTER (root), known);
    }
  return GPOINTER_TO_UINT (known);
}

static void
put_mark (JsonWriter *w, const LptMark *mark)
{
  gboolean first = TRUE;
  g_string_append_c (w->out, '{');
  for (guint i = 0; i < G_N_ELEMENTS (json_mark_fields); i++)
    {
      LptBox box = *(const LptBox *) ((const char *) mark + json_mark_fields[i].offset);
      if (box == 0)
        continue;
      g_string_append_printf (w->out, "%s\"%s\": %u", first ? "" : ", ", json_mark_fields[i].name, box_number (w, box));
      first = FALSE;
    }
  if (mark->granularity != LPT_GRANULARITY_NONE)
    g_string_append_printf (w->out, "%s\"granularity\": \"%s\"", first ? "" : ", ",
                            json_granularities[mark->granularity]);
  g_string_append_c (w->out, '}');
}

static void
put_types (GString *out, const LptTypeList *types)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < types->n; i++)
    g_string_append_printf (out, "%s\"%s\"", i > 0 ? ", " : "", lpt_dtype_name (types->v[i]));
  g_string_append_c (out, ']');
}

static void
put_boxes (JsonWriter *w)
{
  if (w->box_roots->len == 0)
    return;
  g_string_append (w->out, ",\n\"boxes\": [");
  for (guint i = 0; i < w->box_roots->len; i++)
    {
      const LptBoxValue *box = lpt_box (w->graph, GPOINTER_TO_UINT (g_ptr_array_index (w->box_roots, i)));
      g_string_append_printf (w->out, "%s{\"kind\": \"%s\"", i > 0 ? ",\n" : "\n", json_box_kinds[box->kind]);
      if (box->kind == LPT_BOX_PRECISIONS)
        {
          json_put_key (w->out, "types");
          put_types (w->out, &box->types);
        }
      else if (box->kind != LPT_BOX_INTERVAL)
        g_string_append_printf (w->out, ", \"flag\": %s", box->flag ? "true" : "false");
      else
        {
          const struct { const char *name; float value; } reals[] = {
            { "low", box->interval.low }, { "high", box->interval.high },
            { "min_low", box->interval.min_low }, { "min_high", box->interval.min_high } };
          for (guint k = 0; k < G_N_ELEMENTS (reals); k++)
            {
              json_put_key (w->out, reals[k].name);
              json_put_double (w->out, reals[k].value);
            }
          json_put_key (w->out, "levels");
          json_put_int (w->out, (gint64) box->interval.levels);
          json_put_key (w->out, "min_levels");
          json_put_int (w->out, (gint64) box->interval.min_levels);
          json_put_key (w->out, "preferred");
          put_types (w->out, &box->interval.preferred);
        }
      g_string_append_c (w->out, '}');
    }
  g_string_append (w->out, "\n]");
}

/* --- nodes ----------------------------------------------------------------- */

static void
put_attribute (GString *out, const LptAttrField *field, gconstpointer attrs)
{
  gconstpointer p = (const char *) attrs + field->offset;
  switch (field->kind)
    {
    case LPT_ATTR_INT:
      json_put_int (out, *(const gint64 *) p);
      break;
    case LPT_ATTR_FLOAT:
      json_put_double (out, *(const double *) p);
      break;
    case LPT_ATTR_INTS:
      g_string_append_c (out, '[');
      for (guint i = 0; i < ((const LptInts *) p)->n; i++)
        {
          g_string_append (out, i > 0 ? "," : "");
          json_put_int (out, ((const LptInts *) p)->v[i]);
        }
      g_string_append_c (out, ']');
      break;
    case LPT_ATTR_FLOATS:
      g_string_append_c (out, '[');
      for (guint i = 0; i < ((const LptFloats *) p)->n; i++)
        {
          g_string_append (out, i > 0 ? "," : "");
          json_put_double (out, ((const LptFloats *) p)->v[i]);
        }
      g_string_append_c (out, ']');
      break;
    case LPT_ATTR_SHAPE:
      json_put_shape (out, p);
      break;
    case LPT_ATTR_BOOL:
      g_string_append (out, *(const gboolean *) p ? "true" : "false");
      break;
    default:
      {
        g_autofree char *text = lpt_attr_format (field, attrs);
        json_put_string (out, text);
      }
    }
}

static void
put_data (JsonWriter *w, LptTensor *tensor)
{
  json_put_key (w->out, "data");
  if (w->blob != NULL)
    {
      guint64 offset = lpt_blob_add (w->blob, tensor);
      g_string_append_printf (w->out, "{\"offset\": %" G_GUINT64_FORMAT ", \"size\": %" G_GSIZE_FORMAT "}", offset,
                              lpt_tensor_size (tensor));
      return;
    }
  g_autofree char *text = g_base64_encode (lpt_tensor_data (tensor), lpt_tensor_size (tensor));
  g_string_append_printf (w->out, "{\"base64\": \"%s\"}", text);
}

static gboolean put_graph (JsonWriter *w, LptGraph *graph, GError **error);

static void
put_body_ports (GString *out, const char *key, GArray *ports)
{
  json_put_key (out, key);
  g_string_append_c (out, '[');
  for (guint i = 0; i < ports->len; i++)
    {
      const LptBodyPort *p = &g_array_index (ports, LptBodyPort, i);
      g_string_append (out, i > 0 ? ", {\"external\": " : "{\"external\": ");
      if (p->external < 0)
        g_string_append (out, "null");
      else
        g_string_append_printf (out, "%d", p->external);
      g_string_append_printf (out, ", \"internal\": %u", p->internal);
      if (p->sliced)
        {
          const struct { const char *name; gint64 value; } ints[] = {
            { "axis", p->axis }, { "start", p->start }, { "end", p->end }, { "stride", p->stride }, { "part_size", p->part_size } };
          for (guint k = 0; k < G_N_ELEMENTS (ints); k++)
            {
              json_put_key (out, ints[k].name);
              json_put_int (out, ints[k].value);
            }
        }
      if (p->purpose != LPT_PORT_PLAIN)
        g_string_append_printf (out, ", \"purpose\": \"%s\"", json_purposes[p->purpose]);
      g_string_append_c (out, '}');
    }
  g_string_append_c (out, ']');
}

static gboolean
put_bodies (JsonWriter *w, LptNode *node, GError **error)
{
  if (lpt_node_n_bodies (node) == 0)
    return TRUE;
  json_put_key (w->out, "bodies");
  g_string_append_c (w->out, '[');
  for (guint i = 0; i < lpt_node_n_bodies (node); i++)
    {
      const LptBodyMap *map = lpt_node_body_map (node, i);
      g_string_append (w->out, i > 0 ? ",\n{\"graph\": " : "\n{\"graph\": ");
      if (!put_graph (w, lpt_node_body (node, i), error))
        return FALSE;
      put_body_ports (w->out, "inputs", map->inputs);
      put_body_ports (w->out, "outputs", map->outputs);
      json_put_key (w->out, "back_edges");
      g_string_append_c (w->out, '[');
      for (guint k = 0; k < map->back_edges->len; k++)
        {
          const LptBackEdge *e = &g_array_index (map->back_edges, LptBackEdge, k);
          g_string_append_printf (w->out, "%s{\"result\": %u, \"parameter\": %u}", k > 0 ? ", " : "", e->result,
                                  e->parameter);
        }
      g_string_append (w->out, "]}");
    }
  g_string_append_c (w->out, ']');
  return TRUE;
}

static void
put_inputs (JsonWriter *w, LptNode *node)
{
  if (node->n_in == 0)
    return;
  gboolean compute = FALSE, marks = FALSE;
  json_put_key (w->out, "inputs");
  for (guint i = 0; i < node->n_in; i++)
    {
      g_string_append (w->out, i == 0 ? "[" : ", ");
      put_value (w->out, node->in[i].value);
      compute |= node->in[i].compute != LPT_DTYPE_UNDEFINED;
      marks |= !lpt_mark_is_empty (&node->in[i].mark);
    }
  g_string_append_c (w->out, ']');
  if (compute)
    {
      json_put_key (w->out, "compute");
      for (guint i = 0; i < node->n_in; i++)
        {
          LptDType dtype = node->in[i].compute;
          g_string_append (w->out, i == 0 ? "[" : ", ");
          if (dtype == LPT_DTYPE_UNDEFINED)
            g_string_append (w->out, "null");
          else
            json_put_string (w->out, lpt_dtype_name (dtype));
        }
      g_string_append_c (w->out, ']');
    }
  if (marks)
    {
      json_put_key (w->out, "input_marks");
      for (guint i = 0; i < node->n_in; i++)
        {
          g_string_append (w->out, i == 0 ? "[" : ", ");
          put_mark (w, &node->in[i].mark);
        }
      g_string_append_c (w->out, ']');
    }
}

static void
put_outputs (JsonWriter *w, LptNode *node)
{
  if (node->n_out == 0)
    return;
  json_put_key (w->out, "outputs");
  for (guint i = 0; i < node->n_out; i++)
    {
      const LptValue *value = &node->out[i];
      g_string_append_printf (w->out, "%s{\"type\": \"%s\", \"shape\": ", i == 0 ? "[" : ", ",
                              lpt_dtype_name (value->dtype));
      json_put_shape (w->out, &value->shape);
      if (value->names != NULL && value->names->len > 0)
        {
          json_put_key (w->out, "names");
          for (guint k = 0; k < value->names->len; k++)
            {
              g_string_append (w->out, k == 0 ? "[" : ", ");
              json_put_string (w->out, g_ptr_array_index (value->names, k));
            }
          g_string_append_c (w->out, ']');
        }
      if (value->quant != NULL)
        put_quant (w->out, value->quant);
      if (!lpt_mark_is_empty (&value->mark))
        {
          json_put_key (w->out, "mark");
          put_mark (w, &value->mark);
        }
      g_string_append_c (w->out, '}');
    }
  g_string_append_c (w->out, ']');
}

static gboolean
put_node (JsonWriter *w, LptNode *node, GError **error)
{
  GString *out = w->out;
  if (node->op == LPT_OP_CUSTOM)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "node \"%s\": unsupported: the JSON form holds no op of a plugin (%s)", node->name,
                   node->info->name);
      return FALSE;
    }
  g_string_append (out, "{\"name\": ");
  json_put_string (out, node->name);
  json_put_key (out, "op");
  json_put_string (out, node->info->name);
  if (node->opset != 0)
    g_string_append_printf (out, ", \"opset\": %u", node->opset);
  put_inputs (w, node);
  gboolean any = FALSE;
  for (const LptAttrField *f = node->info->attrs; f->name != NULL; f++)
    {
      if (!lpt_attr_field_applies (f, node->opset))
        continue;
      if (!any)
        json_put_key (out, "attributes");
      g_string_append (out, any ? ", " : "{");
      any = TRUE;
      json_put_string (out, f->name);
      g_string_append (out, ": ");
      put_attribute (out, f, node->attrs);
    }
  if (any)
    g_string_append_c (out, '}');
  put_outputs (w, node);
  if (node->data != NULL)
    put_data (w, node->data);
  any = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (json_flags); i++)
    if (node->flags & json_flags[i].flag)
      {
        if (!any)
          json_put_key (out, "flags");
        g_string_append_printf (out, "%s\"%s\"", any ? ", " : "[", json_flags[i].name);
        any = TRUE;
      }
  if (any)
    g_string_append_c (out, ']');
  if (!lpt_mark_is_empty (&node->mark))
    {
      json_put_key (out, "mark");
      put_mark (w, &node->mark);
    }
  json_put_strings (out, "rt_info", node->rt_info);
  if (node->requant != NULL)
    {
      json_put_key (out, "requant");
      json_put_string (out, node->requant);
    }
  if (node->controls != NULL && node->controls->len > 0)
    {
      json_put_key (out, "controls");
      for (guint i = 0; i < node->controls->len; i++)
        {
          g_string_append (out, i == 0 ? "[" : ", ");
          json_put_string (out, ((LptNode *) g_ptr_array_index (node->controls, i))->name);
        }
      g_string_append_c (out, ']');
    }
  if (node->raw != NULL)
    {
      json_put_key (out, "raw");
      json_put_string (out, node->raw);
    }
  if (!put_bodies (w, node, error))
    return FALSE;
  g_string_append_c (out, '}');
  return TRUE;
}

static void
put_node_names (GString *out, const char *key, GPtrArray *nodes)
{
  g_string_append_printf (out, ",\n\"%s\": [", key);
  for (guint i = 0; i < nodes->len; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      json_put_string (out, ((LptNode *) g_ptr_array_index (nodes, i))->name);
    }
  g_string_append_c (out, ']');
}

/* The members that a body and the whole file have in common. */
static gboolean
put_graph_members (JsonWriter *w, LptGraph *graph, GError **error)
{
  JsonWriter inner = { .out = w->out, .blob = w->blob, .graph = graph };
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  if (order == NULL)
    return FALSE;
  g_autoptr (GHashTable) boxes = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  inner.boxes = boxes;
  inner.box_roots = roots;
  g_string_append (w->out, "\"name\": ");
  json_put_string (w->out, graph->name != NULL ? graph->name : "");
  if (graph->ir_version != (w->graph != NULL ? w->graph->ir_version : 0))      /* a body inherits it */
    g_string_append_printf (w->out, ", \"ir_version\": %d", graph->ir_version);
  g_string_append_printf (w->out, ", \"lowered\": %s", graph->lowered ? "true" : "false");
  if (graph->requant != NULL)
    {
      json_put_key (w->out, "requant");
      json_put_string (w->out, graph->requant);
    }
  json_put_strings (w->out, "op_requant", graph->op_requant);
  json_put_strings (w->out, "meta", graph->meta);
  put_node_names (w->out, "parameters", graph->parameters);
  put_node_names (w->out, "results", graph->results);
  g_string_append (w->out, ",\n\"nodes\": [");
  gboolean first = TRUE;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      if (node->flags & LPT_NODE_DEAD)
        continue;
      g_string_append (w->out, first ? "\n" : ",\n");
      first = FALSE;
      if (!put_node (&inner, node, error))
        return FALSE;
    }
  g_string_append (w->out, "\n]");
  put_boxes (&inner);
  return TRUE;
}

static gboolean
put_graph (JsonWriter *w, LptGraph *graph, GError **error)
{
  g_string_append_c (w->out, '{');
  if (!put_graph_members (w, graph, error))
    return FALSE;
  g_string_append_c (w->out, '}');
  return TRUE;
}

/* --- files ----------------------------------------------------------------- */

/* The whole text; constants go to @blob when there is one, whose file is called @weights. */
static GString *
json_text (LptGraph *graph, LptBlob *blob, const char *weights, GError **error)
{
  JsonWriter w = { .out = g_string_new (NULL), .blob = blob };
  g_string_append_printf (w.out, "{\"format\": \"" LPT_JSON_FORMAT "\", \"version\": %d,\n", LPT_JSON_VERSION);
  if (!put_graph_members (&w, graph, error))
    {
      g_string_free (w.out, TRUE);
      return NULL;
    }
  if (blob != NULL && blob->size > 0)
    {
      g_string_append (w.out, ",\n\"weights\": {\"file\": ");
      json_put_string (w.out, weights);
      g_string_append_printf (w.out, ", \"size\": %" G_GUINT64_FORMAT "}", blob->size);
    }
  g_string_append (w.out, "\n}\n");
  return w.out;
}

char *
lpt_json_print (LptGraph *graph, GError **error)
{
  GString *text = json_text (graph, NULL, NULL, error);
  return text != NULL ? g_string_free (text, FALSE) : NULL;
}

char *
lpt_json_print_apart (LptGraph *graph, gpointer weights, guint64 *size, GError **error)
{
  g_auto (LptBlob) blob = { NULL };
  lpt_blob_init (&blob, weights, 64);
  GString *text = json_text (graph, &blob, "", error);
  *size = blob.size;
  return text != NULL ? g_string_free (text, FALSE) : NULL;
}

gboolean
lpt_json_save (LptGraph *graph, const char *path, gboolean embed_weights, GError **error)
{
  g_auto (LptOutFile) json = { NULL }, bin = { NULL };
  g_auto (LptBlob) blob = { NULL };

  if (!lpt_out_file_open (&json, path, error))
    return FALSE;
  /* Beside the file itself, not beside a link to it. */
  g_autofree char *bin_path = g_strconcat (json.real, ".bin", NULL), *bin_name = g_path_get_basename (bin_path);
  if (!embed_weights && !lpt_out_file_open (&bin, bin_path, error))
    return FALSE;
  if (!embed_weights)
    lpt_blob_init (&blob, bin.stream, 64);
  g_autoptr (GString) text = json_text (graph, embed_weights ? NULL : &blob, bin_name, error);
  if (text == NULL)
    return FALSE;
  fwrite (text->str, 1, text->len, json.stream);
  if (!lpt_out_file_finish (&json, error) || (!embed_weights && !lpt_out_file_finish (&bin, error)))
    return FALSE;
  if (!embed_weights && blob.size > 0 && !lpt_out_file_commit (&bin, error))
    return FALSE;
  return lpt_out_file_commit (&json, error);
}
