/* ov-write.c - LptGraph to OpenVINO IR v11
 *
 * Plain opsets; element types stand on the ports, relaxed nodes carry a TYPE_RELAXED rt_info. Opaque nodes are written
 * as they were read, with a new id. What an IR cannot say is an error that names the node. Markup is not written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-out.h"
#include "frontends/openvino_xml/ov-spell.h"
#include "frontends/openvino_xml/ov-write-info.h"
#include "ir/storage/lpt-blob.h"
#include <lpt/lpt-out-file.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-work.h>

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  OvOut      *out;
  LptBlob    *blob;
  GHashTable *ids;         /* node -> layer id, of the graph at hand */
  GHashTable *names;       /* value -> tensor name to put first (char *) */
  GHashTable *opaque;      /* node -> its port ids (GArray of guint64): inputs, then outputs */
} OvWriter;

static OvWriter
ov_writer (OvOut *out, LptBlob *blob)
{
  return (OvWriter) { .out = out, .blob = blob,
                      .ids = g_hash_table_new (NULL, NULL),
                      .names = g_hash_table_new_full (NULL, NULL, NULL, g_free),
                      .opaque = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref) };
}

static void
ov_writer_clear (OvWriter *w)
{
  g_hash_table_unref (w->ids);
  g_hash_table_unref (w->names);
  g_hash_table_unref (w->opaque);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OvWriter, ov_writer_clear)

static guint
layer_id (GHashTable *ids, const LptNode *node)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (ids, node));
}

static gboolean G_GNUC_PRINTF (3, 4)
fail (GError **error, const LptNode *node, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported in an OpenVINO IR: %s", node->name,
               message);
  return FALSE;
}

/* --- ports ----------------------------------------------------------------- */

/* Tensor names: commas escaped, the one that names a model output first. */
static char *
tensor_names (const OvWriter *w, const LptValue *value)
{
  g_autoptr (GString) text = g_string_new (g_hash_table_lookup (w->names, value));
  for (gsize i = 0; i < text->len; i++)
    if (text->str[i] == ',')
      g_string_insert_c (text, (gssize) i++, '\\');
  for (guint i = 0; value->names != NULL && i < value->names->len; i++)
    {
      if (text->len > 0)
        g_string_append_c (text, ',');
      for (const char *p = g_ptr_array_index (value->names, i); *p != '\0'; p++)
        {
          if (*p == ',')
            g_string_append_c (text, '\\');
          g_string_append_c (text, *p);
        }
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
put_port (OvWriter *w, LptNode *node, const LptValue *value, guint id, gboolean output, guint index, GError **error)
{
  g_autofree char *prefix = g_strdup_printf ("%s%u/", output ? "out" : "in", index);
  if (value->dtype == LPT_DTYPE_UNDEFINED)
    return fail (error, node, "%s %u has no element type", output ? "output" : "input", index);
  if (lpt_dtype_ir_name (value->dtype) == NULL)
    return fail (error, node, "element type %s", lpt_dtype_name (value->dtype));
  ov_out_begin (w->out, "port");
  ov_out_number (w->out, "id", id);
  ov_out_attr (w->out, "precision", value->dtype == LPT_DTYPE_DYNAMIC ? "dynamic" : lpt_dtype_ir_name (value->dtype));
  if (output)
    {
      g_autofree char *names = tensor_names (w, value);
      if (!ov_is_text (names))
        return fail (error, node, "a tensor name with control characters");
      if (*names != '\0')
        ov_out_attr (w->out, "names", names);
    }
  if (value->shape.rank == LPT_DYNAMIC)
    ov_out_attr (w->out, "rank", "-1");
  for (gint i = 0; i < value->shape.rank; i++)
    ov_out_item (w->out, "dim", value->shape.dims[i]);
  ov_put_rt_info (w->out, node, prefix);
  ov_out_end (w->out);
  return TRUE;
}

/* <input> or <output> with @n ports. */
static gboolean
put_ports (OvWriter *w, LptNode *node, gboolean output, guint n, guint first, GError **error)
{
  if (n == 0)
    return TRUE;
  ov_out_begin (w->out, output ? "output" : "input");
  for (guint i = 0; i < n; i++)
    if (!put_port (w, node, output ? &node->out[i] : node->in[i].value, first + i, output, i, error))
      return FALSE;
  ov_out_end (w->out);
  return TRUE;
}

/* --- opaque layers --------------------------------------------------------- */

static xmlNodePtr
xml_child (xmlNodePtr node, const char *name)
{
  for (xmlNodePtr c = node->children; c != NULL; c = c->next)
    if (c->type == XML_ELEMENT_NODE && g_str_equal ((const char *) c->name, name))
      return c;
  return NULL;
}

/* Ids of the <port>s of <input> or <output>. */
static gboolean
xml_port_ids (xmlNodePtr layer, const char *direction, GArray *ids)
{
  xmlNodePtr list = xml_child (layer, direction);
  for (xmlNodePtr c = list != NULL ? list->children : NULL; c != NULL; c = c->next)
    {
      if (c->type != XML_ELEMENT_NODE || !g_str_equal ((const char *) c->name, "port"))
        continue;
      xmlChar *text = xmlGetProp (c, (const xmlChar *) "id");
      guint64 id;
      gboolean ok = text != NULL && g_ascii_string_to_unsigned ((const char *) text, 10, 0, G_MAXUINT64, &id, NULL);
      xmlFree (text);
      if (!ok)
        return FALSE;
      g_array_append_val (ids, id);
    }
  return TRUE;
}

/* A <port> says the type, names and lengths that @value has now. */
static void
set_port (const OvWriter *w, xmlNodePtr port, const LptValue *value)
{
  g_autofree char *names = tensor_names (w, value);
  const LptShape *shape = &value->shape;
  for (xmlNodePtr c = port->children, next; c != NULL; c = next)
    {
      next = c->next;
      if (c->type == XML_ELEMENT_NODE && g_str_equal ((const char *) c->name, "dim"))
        {
          xmlUnlinkNode (c);
          xmlFreeNode (c);
        }
    }
  for (gint i = 0; i < shape->rank; i++)
    {
      g_autofree char *length = g_strdup_printf ("%" G_GINT64_FORMAT, shape->dims[i]);
      xmlNewChild (port, NULL, (const xmlChar *) "dim", (const xmlChar *) length);
    }
  if (shape->rank == LPT_DYNAMIC)
    xmlSetProp (port, (const xmlChar *) "rank", (const xmlChar *) "-1");
  if (value->dtype != LPT_DTYPE_DYNAMIC)
    xmlSetProp (port, (const xmlChar *) "precision", (const xmlChar *) lpt_dtype_ir_name (value->dtype));
  if (*names != '\0' && ov_is_text (names))
    xmlSetProp (port, (const xmlChar *) "names", (const xmlChar *) names);
}

static gboolean
set_outputs (const OvWriter *w, xmlNodePtr layer, LptNode *node, GError **error)
{
  xmlNodePtr list = xml_child (layer, "output");
  guint i = 0;
  for (xmlNodePtr c = list != NULL ? list->children : NULL; c != NULL && i < node->n_out; c = c->next)
    {
      if (c->type != XML_ELEMENT_NODE)
        continue;
      if (node->out[i].dtype == LPT_DTYPE_UNDEFINED || lpt_dtype_ir_name (node->out[i].dtype) == NULL)
        return fail (error, node, "element type %s", lpt_dtype_name (node->out[i].dtype));
      set_port (w, c, &node->out[i++]);
    }
  return TRUE;
}

static void
ignore_xml_error (void *data, const char *format, ...)
{
}

static gboolean
put_opaque (OvWriter *w, LptNode *node, guint id, GError **error)
{
  g_autoptr (GArray) ports = g_array_new (FALSE, FALSE, sizeof (guint64));
  xmlSetGenericErrorFunc (NULL, ignore_xml_error);
  xmlDocPtr doc = node->raw != NULL ? xmlReadMemory (node->raw, (int) strlen (node->raw), NULL, "UTF-8",
                                                     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
                                    : NULL;
  xmlSetGenericErrorFunc (NULL, NULL);
  xmlNodePtr layer = doc != NULL ? xmlDocGetRootElement (doc) : NULL;
  gboolean ok = layer != NULL && g_str_equal ((const char *) layer->name, "layer") &&
                xml_port_ids (layer, "input", ports) && ports->len == node->n_in &&
                xml_port_ids (layer, "output", ports) && ports->len == node->n_in + node->n_out;
  const gboolean typed = !ok || set_outputs (w, layer, node, error);
  if (ok && typed)
    {
      g_autofree char *number = g_strdup_printf ("%u", id);
      xmlSetProp (layer, (const xmlChar *) "id", (const xmlChar *) number);
      xmlSetProp (layer, (const xmlChar *) "name", (const xmlChar *) node->name);
      xmlBufferPtr buffer = xmlBufferCreate ();
      xmlNodeDump (buffer, doc, layer, 0, 0);
      ov_out_raw (w->out, (const char *) xmlBufferContent (buffer));
      ov_out_raw (w->out, "\n");
      xmlBufferFree (buffer);
      g_hash_table_insert (w->opaque, node, g_steal_pointer (&ports));
    }
  if (doc != NULL)
    xmlFreeDoc (doc);
  return typed && (ok || fail (error, node, "an opaque op without the XML that it was read from"));
}

/* Port id of input @i or output @i of a node. */
static guint64
port_id (const OvWriter *w, LptNode *node, gboolean output, guint i)
{
  const GArray *ids = g_hash_table_lookup (w->opaque, node);
  guint k = output ? node->n_in + i : i;
  return ids != NULL ? g_array_index (ids, guint64, k) : k;
}

/* --- layers ---------------------------------------------------------------- */

static GPtrArray *number_layers (OvWriter *w, LptGraph *graph, GError **error);
static gboolean   put_net       (OvWriter *w, const GPtrArray *layers, GError **error);

static gboolean
put_data (OvWriter *w, LptNode *node, GError **error)
{
  if (node->data != NULL)
    {
      guint64 offset = lpt_blob_add (w->blob, node->data);
      g_autofree char *shape = lpt_shape_to_string (lpt_tensor_shape (node->data));
      ov_out_begin (w->out, "data");
      ov_out_attr (w->out, "element_type", lpt_dtype_name (lpt_tensor_dtype (node->data)));
      ov_out_attr (w->out, "shape", shape);
      ov_out_number (w->out, "offset", (gint64) offset);
      ov_out_number (w->out, "size", (gint64) lpt_tensor_size (node->data));
      ov_out_end (w->out);
      return TRUE;
    }
  gpointer fresh = lpt_attrs_new (node->info, node->opset);
  gboolean ok = TRUE, any = FALSE;
  for (const LptAttrField *f = node->info->attrs; ok && f->name != NULL; f++)
    {
      gboolean internal = (f->flags & LPT_ATTR_F_INTERNAL) != 0;
      if (internal || !lpt_attr_field_applies (f, node->opset))
        {
          /* The name of an output is said by the names of its value. */
          if (node->op != LPT_OP_RESULT && !lpt_attr_equal (f, node->attrs, fresh))
            ok = fail (error, node, "attribute \"%s\" of %s in opset%u", f->name, node->info->name, node->opset);
          continue;
        }
      g_autofree char *text = lpt_attr_format (f, node->attrs);
      gboolean unsaid = *text == '\0' || (f->kind == LPT_ATTR_DTYPE && g_str_equal (text, "undefined"));
      if (unsaid && !(f->flags & LPT_ATTR_F_REQUIRED) && f->kind != LPT_ATTR_SHAPE)
        continue;
      if (!ov_is_text (text))
        {
          ok = fail (error, node, "attribute \"%s\" with control characters", f->name);
          continue;
        }
      if (!any)
        ov_out_begin (w->out, "data");
      any = TRUE;
      ov_out_attr (w->out, f->name, text);
    }
  if (any)
    ov_out_end (w->out);
  lpt_attrs_free (node->info, fresh);
  return ok;
}

static void
put_map_entries (OvWriter *w, LptNode *node, GArray *ports, gboolean inputs, GPtrArray *internal, GHashTable *ids)
{
  for (guint i = 0; i < ports->len; i++)
    {
      const LptBodyPort *p = &g_array_index (ports, LptBodyPort, i);
      ov_out_begin (w->out, inputs ? "input" : "output");
      ov_out_number (w->out, "external_port_id",
                     p->external < 0 ? -1 : (gint64) port_id (w, node, !inputs, (guint) p->external));
      ov_out_number (w->out, "internal_layer_id", layer_id (ids, g_ptr_array_index (internal, p->internal)));
      if (p->sliced)
        {
          ov_out_number (w->out, "axis", p->axis);
          ov_out_number (w->out, "start", p->start);
          ov_out_number (w->out, "end", p->end);
          ov_out_number (w->out, "stride", p->stride);
          ov_out_number (w->out, "part_size", p->part_size);
        }
      if (p->purpose != LPT_PORT_PLAIN)
        ov_out_attr (w->out, "purpose",
                     p->purpose == LPT_PORT_ITERATION ? "current_iteration" : "execution_condition");
      ov_out_end (w->out);
    }
}

static void
put_back_edges (OvWriter *w, const LptBodyMap *map, LptGraph *body, GHashTable *ids)
{
  if (map->back_edges->len == 0)
    return;
  ov_out_begin (w->out, "back_edges");
  for (guint k = 0; k < map->back_edges->len; k++)
    {
      const LptBackEdge *e = &g_array_index (map->back_edges, LptBackEdge, k);
      ov_out_begin (w->out, "edge");
      ov_out_number (w->out, "from-layer", layer_id (ids, g_ptr_array_index (body->results, e->result)));
      ov_out_number (w->out, "to-layer", layer_id (ids, g_ptr_array_index (body->parameters, e->parameter)));
      ov_out_end (w->out);
    }
  ov_out_end (w->out);
}

static gboolean
put_bodies (OvWriter *w, LptNode *node, GError **error)
{
  static const char *const plain[] = { "body", "port_map" },
                    *const branches[] = { "then_body", "then_port_map", "else_body", "else_port_map" };
  for (guint i = 0; i < lpt_node_n_bodies (node); i++)
    {
      const char *const *tags = node->op == LPT_OP_IF ? branches + 2 * MIN (i, 1) : plain;
      const LptBodyMap *map = lpt_node_body_map (node, i);
      LptGraph *body = lpt_node_body (node, i);
      g_auto (OvWriter) inner = ov_writer (w->out, w->blob);
      g_autoptr (GPtrArray) layers = number_layers (&inner, body, error);
      if (layers == NULL)
        return FALSE;
      ov_out_begin (w->out, tags[1]);
      put_map_entries (w, node, map->inputs, TRUE, body->parameters, inner.ids);
      put_map_entries (w, node, map->outputs, FALSE, body->results, inner.ids);
      ov_out_end (w->out);
      put_back_edges (w, map, body, inner.ids);
      ov_out_begin (w->out, tags[0]);
      if (!put_net (&inner, layers, error))
        return FALSE;
      ov_out_end (w->out);
    }
  return TRUE;
}

/* Can an IR say this node, whatever its op? @n_in: its inputs without those at the end that are absent. */
static gboolean
is_sayable (const LptNode *node, guint version, guint *n_in, GError **error)
{
  if (node->op == LPT_OP_CUSTOM || version == 0)
    return fail (error, node, "%s is no operation of OpenVINO%s", node->info->name,
                 (node->info->flags & LPT_OP_F_QUANTIZES) == 0 ? "" : "; --until prepare makes FakeQuantize of it");
  if (node->requant != NULL)
    return fail (error, node, "a requantization mode");
  if (!ov_is_text (node->name))
    return fail (error, node, "a name with control characters");
  for (*n_in = node->n_in; *n_in > 0 && node->in[*n_in - 1].value == NULL; )
    --*n_in;
  if (*n_in < node->n_in && node->n_out > 0)
    return fail (error, node, "an input that is listed, but absent");
  for (guint i = 0; i < *n_in; i++)
    if (node->in[i].value == NULL)
      return fail (error, node, "input %u is absent, later ones are given", i);
  for (guint i = 0; i < node->n_out; i++)
    if (node->out[i].quant != NULL)
      return lpt_dtype_bits (node->out[i].dtype) > 8
               ? fail (error, node, "%s codes with quantization", lpt_dtype_name (node->out[i].dtype))
               : fail (error, node, "quantization of a value%s",
                       lpt_graph_is_raised (node->graph) ? "; --until prepare makes FakeQuantize of it" : "");
  return TRUE;
}

static gboolean
put_layer (OvWriter *w, LptNode *node, guint id, GError **error)
{
  static const struct { LptOp op; const char *type; } spelled[] = {
    { LPT_OP_CONST, "Const" }, { LPT_OP_RELU, "ReLU" }, { LPT_OP_PRELU, "PReLU" }, { LPT_OP_SOFTMAX, "SoftMax" } };
  if (node->op == LPT_OP_OPAQUE)
    return put_opaque (w, node, id, error);
  guint version = lpt_op_version (node->info, node->opset), n_in = 0;
  if (!is_sayable (node, version, &n_in, error))
    return FALSE;
  const char *type = node->info->name;
  for (guint i = 0; i < G_N_ELEMENTS (spelled); i++)
    if (spelled[i].op == node->op)
      type = spelled[i].type;
  g_autofree char *opset = g_strdup_printf ("opset%u", node->opset > 0 ? node->opset : version);
  ov_out_begin (w->out, "layer");
  ov_out_number (w->out, "id", id);
  ov_out_attr (w->out, "name", node->name);
  ov_out_attr (w->out, "type", type);
  ov_out_attr (w->out, "version", opset);
  if (!put_data (w, node, error))
    return FALSE;
  ov_put_rt_info (w->out, node, "");
  if (!put_ports (w, node, FALSE, n_in, 0, error) || !put_ports (w, node, TRUE, node->n_out, n_in, error) ||
      !put_bodies (w, node, error))
    return FALSE;
  ov_out_end (w->out);
  return TRUE;
}

/* --- names of outputs ------------------------------------------------------ */

/* A reader names output i after the first tensor name of its value, else after its producer (ov_output_names ()
 * of the reader). Where that is not the graph's name, the name is put first among the tensor names. */
static gboolean
plan_output_names (OvWriter *w, LptGraph *graph, GError **error)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      LptValue *value = lpt_node_in (result, 0);
      const char *wish = lpt_result_name (result), *first = g_hash_table_lookup (w->names, value);
      if (value == NULL)
        return fail (error, result, "a Result of nothing");
      g_autofree char *base = first != NULL ? g_strdup (first)
                              : value->names != NULL && value->names->len > 0
                              ? g_strdup (g_ptr_array_index (value->names, 0))
                              : value->producer->n_out > 1
                              ? g_strdup_printf ("%s.%u", value->producer->name, value->index)
                              : g_strdup (value->producer->name);
      g_autofree char *natural = g_strdup (base);
      for (guint n = 2; g_hash_table_contains (taken, natural); n++)
        {
          g_free (natural);
          natural = g_strdup_printf ("%s_%u", base, n);
        }
      if (wish != NULL && *wish != '\0' && !g_str_equal (natural, wish))
        {
          if (g_hash_table_contains (seen, value) || g_hash_table_contains (taken, wish))
            return fail (error, result, "the output name \"%s\" beside that of another output of the same value", wish);
          g_hash_table_insert (w->names, value, g_strdup (wish));
          g_free (natural);
          natural = g_strdup (wish);
        }
      g_hash_table_add (seen, value);
      g_hash_table_add (taken, g_steal_pointer (&natural));
    }
  return TRUE;
}

/* --- the net --------------------------------------------------------------- */

/* The nodes that become layers (transfer container), each with its id: its place. */
static GPtrArray *
number_layers (OvWriter *w, LptGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error), layers = g_ptr_array_new ();
  if (order == NULL || !plan_output_names (w, graph, error))
    return NULL;
  g_ptr_array_extend (layers, graph->parameters, NULL, NULL);
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      if (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT && !(node->flags & LPT_NODE_DEAD))
        g_ptr_array_add (layers, node);
    }
  g_ptr_array_extend (layers, graph->results, NULL, NULL);
  for (guint i = 0; i < layers->len; i++)
    g_hash_table_insert (w->ids, g_ptr_array_index (layers, i), GUINT_TO_POINTER (i));
  return g_steal_pointer (&layers);
}

/* <layers> and <edges>. */
static gboolean
put_net (OvWriter *w, const GPtrArray *layers, GError **error)
{
  ov_out_begin (w->out, "layers");
  for (guint i = 0; i < layers->len; i++)
    if (!put_layer (w, g_ptr_array_index (layers, i), i, error))
      return FALSE;
  ov_out_end (w->out);
  ov_out_begin (w->out, "edges");
  for (guint i = 0; i < layers->len; i++)
    {
      LptNode *node = g_ptr_array_index (layers, i);
      for (guint k = 0; k < node->n_in; k++)
        {
          const LptValue *value = node->in[k].value;
          if (value == NULL)
            continue;
          ov_out_begin (w->out, "edge");
          ov_out_number (w->out, "from-layer", layer_id (w->ids, value->producer));
          ov_out_number (w->out, "from-port", (gint64) port_id (w, value->producer, TRUE, value->index));
          ov_out_number (w->out, "to-layer", i);
          ov_out_number (w->out, "to-port", (gint64) port_id (w, node, FALSE, k));
          ov_out_end (w->out);
        }
    }
  ov_out_end (w->out);
  return TRUE;
}

static gboolean
write_xml (LptGraph *graph, FILE *stream, LptBlob *blob, GError **error)
{
  g_auto (OvOut) out = { NULL };
  g_auto (OvWriter) w = ov_writer (&out, blob);
  g_autoptr (GPtrArray) layers = number_layers (&w, graph, error);
  if (layers == NULL)
    return FALSE;
  ov_out_open (&out, stream);
  ov_out_begin (&out, "net");
  if (graph->name != NULL && ov_is_text (graph->name))
    ov_out_attr (&out, "name", graph->name);
  ov_out_attr (&out, "version", "11");
  if (!put_net (&w, layers, error))
    return FALSE;
  ov_put_meta (&out, graph->meta);
  if (!ov_out_finish (&out))
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_MEMORY, "out of memory while an OpenVINO IR is written");
      return FALSE;
    }
  return TRUE;
}

gboolean
lpt_openvino_save (LptGraph *graph, const char *xml_path, const char *bin_path, GError **error)
{
  g_auto (LptOutFile) xml = { NULL }, bin = { NULL };
  g_auto (LptBlob) blob = { NULL };
  g_autofree char *bin_name = bin_path != NULL ? g_strdup (bin_path) : lpt_openvino_bin_path (xml_path);

  /* What was raised says by its numbers what it needs to be lowered again. */
  const gboolean modes = !lpt_graph_is_raised (graph) && (graph->requant != NULL || graph->op_requant != NULL);
  const gboolean lowered = graph->lowered && ov_has_codes (graph);

  if (lowered || lpt_graph_has_integer_ops (graph) || (modes && !graph->lowered))
    {
      /* What is not lowered has these for all stages in front of it. */
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s: unsupported in an OpenVINO IR: %s; write .json%s",
                   xml_path,
                   lowered ? "a lowered graph, whose values carry quantization"
                   : lpt_graph_has_integer_ops (graph) ? "integer ops, whose values carry quantization"
                   : "requantization modes",
                   lowered && !lpt_graph_is_raised (graph) ? ", or stop before with --until cleanup" : "");
      return FALSE;
    }
  if (!ov_has_sink (graph))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "%s: unsupported in an OpenVINO IR: a graph without outputs", xml_path);
      return FALSE;
    }
  if (!ov_check_types (graph, error))
    return FALSE;
  g_autoptr (LptGraph) spelled = ov_needs_spelling (graph) ? lpt_graph_copy (graph) : NULL;
  if (spelled != NULL && !ov_spell (spelled, error))
    return FALSE;
  if (!lpt_out_file_open (&xml, xml_path, error) || !lpt_out_file_open (&bin, bin_name, error))
    return FALSE;
  lpt_blob_init (&blob, bin.stream, 64);
  if (!write_xml (spelled != NULL ? spelled : graph, xml.stream, &blob, error))
    return FALSE;
  return lpt_out_file_finish (&xml, error) && lpt_out_file_finish (&bin, error)
         && lpt_out_file_commit (&bin, error) && lpt_out_file_commit (&xml, error);
}
