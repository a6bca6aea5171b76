/* ov-parse.c - XML of an OpenVINO IR to OvNet
 *
 * Elements and attributes that are not known are passed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-net.h"

#include "frontends/openvino_xml/ov-xml.h"

#include <string.h>

#define MAX_BODY_DEPTH 16

/* --- attributes ------------------------------------------------------------ */

/* A required unsigned attribute. */
static gboolean
ov_attr_uint (OvXml *x, const char *name, guint64 *out)
{
  char *text = ov_attr (x, name);
  if (text == NULL)
    return ov_fail (x, ov_line (x), "<%s> lacks the attribute \"%s\"", ov_name (x), name);
  if (!g_ascii_string_to_unsigned (g_strstrip (text), 10, 0, G_MAXUINT64, out, NULL))
    return ov_fail (x, ov_line (x), "<%s>: %s=\"%.40s\" is not a number", ov_name (x), name, text);
  return TRUE;
}

/* An optional signed attribute; @out keeps its value when it is absent. */
static gboolean
ov_attr_int (OvXml *x, const char *name, gint64 *out, gboolean *found)
{
  char *text = ov_attr (x, name);
  if (found != NULL)
    *found = text != NULL;
  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (g_strstrip (text), 10, G_MININT64, G_MAXINT64, out, NULL))
    return ov_fail (x, ov_line (x), "<%s>: %s=\"%.40s\" is not a number", ov_name (x), name, text);
  return TRUE;
}

/* --- rt_info --------------------------------------------------------------- */

/* <attribute name="N" version="0" value="V" k="W"/> is kept as "N" -> V and "N@k" -> W; on ports the key
 * begins with "in0/" or "out0/". What LPT wrote for itself is dropped. */
static void
ov_rt_info (OvXml *x, OvLayer *layer, const char *prefix)
{
  OvScope scope;
  if (!ov_enter (x, &scope))
    return;
  while (ov_next (x, &scope))
    {
      if (!ov_is (x, "attribute"))
        continue;
      const char *name = ov_attr (x, "name"), *k, *v;
      if (name == NULL || g_str_has_prefix (name, "LowPrecision::"))
        continue;
      if (layer->rt_info == NULL)
        layer->rt_info = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      g_autofree char *key = g_strconcat (prefix, name, NULL);
      g_hash_table_replace (layer->rt_info, g_strdup (key), g_strdup (""));
      for (guint i = 0; ov_attr_at (x, i, &k, &v); i++)
        {
          if (g_str_equal (k, "value"))
            g_hash_table_replace (layer->rt_info, g_strdup (key), g_strdup (v));
          else if (!g_str_equal (k, "name") && !(g_str_equal (k, "version") && g_str_equal (v, "0")))
            g_hash_table_replace (layer->rt_info, g_strconcat (key, "@", k, NULL), g_strdup (v));
        }
    }
}

/* Model-level tree: <a><b value="v"/></a> is kept as "a/b" -> v. */
static void
ov_meta (OvXml *x, OvNet *net, const char *path)
{
  OvScope scope;
  if (!ov_enter (x, &scope))
    return;
  while (ov_next (x, &scope))
    {
      g_autofree char *key = path != NULL ? g_strconcat (path, "/", ov_name (x), NULL) : g_strdup (ov_name (x));
      const char *value = ov_attr (x, "value");
      if (value != NULL)
        {
          if (net->meta == NULL)
            net->meta = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
          g_hash_table_replace (net->meta, g_strdup (key), g_strdup (value));
        }
      ov_meta (x, net, key);
    }
}

/* --- ports ----------------------------------------------------------------- */

static void
ov_port_clear (gpointer data)
{
  OvPort *port = data;
  g_free (port->precision);
  g_free (port->names);
}

static void
ov_ports (OvXml *x, OvLayer *layer, GArray *ports, const char *direction)
{
  OvScope scope;
  if (!ov_enter (x, &scope))
    return;
  while (ov_next (x, &scope))
    {
      if (!ov_is (x, "port"))
        continue;
      OvPort port = { .shape = LPT_SHAPE_SCALAR };
      guint line = ov_line (x);
      gint64 rank = 0;
      if (!ov_attr_uint (x, "id", &port.id) || !ov_attr_int (x, "rank", &rank, NULL))
        return;
      for (guint i = 0; i < ports->len; i++)
        if (ports->len < 4096 && g_array_index (ports, OvPort, i).id == port.id)
          {
            ov_fail (x, line, "node \"%s\": two %s ports have the id %" G_GUINT64_FORMAT, layer->name, direction,
                     port.id);
            return;
          }
      if (rank < 0)
        port.shape = LPT_SHAPE_ANY;
      port.precision = g_strdup (ov_attr (x, "precision"));
      port.names = g_strdup (ov_attr (x, "names"));
      if (port.precision != NULL)
        port.dtype = ov_dtype (port.precision);
      g_array_append_val (ports, port);
      OvPort *p = &g_array_index (ports, OvPort, ports->len - 1);

      OvScope dims;
      if (!ov_enter (x, &dims))
        continue;
      while (ov_next (x, &dims))
        {
          if (ov_is (x, "rt_info"))
            {
              g_autofree char *prefix = g_strdup_printf ("%s%u/", direction, ports->len - 1);
              ov_rt_info (x, layer, prefix);
            }
          if (!ov_is (x, "dim"))
            continue;
          char *text = g_strstrip (ov_text (x));
          gint64 dim;
          gboolean good = g_ascii_string_to_signed (text, 10, -1, G_MAXINT64, &dim, NULL);
          if (!good)
            ov_fail (x, ov_line (x), "node \"%s\": \"%.40s\" is not a dimension", layer->name, text);
          else if (p->shape.rank >= LPT_MAX_RANK)
            good = ov_fail (x, ov_line (x), "node \"%s\": unsupported: more than %d dimensions", layer->name,
                            LPT_MAX_RANK);
          if (!good)
            return;
          if (p->shape.rank != LPT_DYNAMIC)
            p->shape.dims[p->shape.rank++] = dim;
        }
    }
}

/* --- bodies ---------------------------------------------------------------- */

static void
ov_body_free (gpointer data)
{
  OvBody *body = data;
  ov_net_free (body->net);
  g_array_unref (body->inputs);
  g_array_unref (body->outputs);
  g_array_unref (body->back_edges);
  g_free (body);
}

/* Body @index of a layer, made when it is first named. */
static OvBody *
ov_body (OvLayer *layer, guint index)
{
  if (layer->bodies == NULL)
    layer->bodies = g_ptr_array_new_with_free_func (ov_body_free);
  while (layer->bodies->len <= index)
    {
      OvBody *body = g_new0 (OvBody, 1);
      body->inputs = g_array_new (FALSE, TRUE, sizeof (OvMapEntry));
      body->outputs = g_array_new (FALSE, TRUE, sizeof (OvMapEntry));
      body->back_edges = g_array_new (FALSE, TRUE, sizeof (OvBackEdge));
      g_ptr_array_add (layer->bodies, body);
    }
  return g_ptr_array_index (layer->bodies, index);
}

static void
ov_port_map (OvXml *x, OvLayer *layer, OvBody *body)
{
  OvScope scope;
  if (!ov_enter (x, &scope))
    return;
  while (ov_next (x, &scope))
    {
      gboolean input = ov_is (x, "input");
      if (!input && !ov_is (x, "output"))
        continue;
      OvMapEntry e = { .external = -1, .internal = -1, .start = 0, .end = -1, .stride = 1, .part_size = 1, .line = ov_line (x) };
      gboolean found;
      if (!ov_attr_int (x, "external_port_id", &e.external, NULL) ||
          !ov_attr_int (x, "internal_layer_id", &e.internal, &found) || !ov_attr_int (x, "axis", &e.axis, &e.sliced) ||
          !ov_attr_int (x, "start", &e.start, NULL) || !ov_attr_int (x, "end", &e.end, NULL) ||
          !ov_attr_int (x, "stride", &e.stride, NULL) || !ov_attr_int (x, "part_size", &e.part_size, NULL))
        return;
      if (!found)
        {
          ov_fail (x, e.line, "node \"%s\": a port map entry lacks internal_layer_id", layer->name);
          return;
        }
      const char *purpose = ov_attr (x, "purpose");
      if (g_strcmp0 (purpose, "current_iteration") == 0)
        e.purpose = LPT_PORT_ITERATION;
      else if (g_strcmp0 (purpose, "execution_condition") == 0)
        e.purpose = LPT_PORT_CONDITION;
      g_array_append_val (input ? body->inputs : body->outputs, e);
    }
}

static void
ov_back_edges (OvXml *x, OvBody *body)
{
  OvScope scope;
  if (!ov_enter (x, &scope))
    return;
  while (ov_next (x, &scope))
    if (ov_is (x, "edge"))
      {
        OvBackEdge e = { .line = ov_line (x) };
        if (!ov_attr_uint (x, "from-layer", &e.from) || !ov_attr_uint (x, "to-layer", &e.to))
          return;
        g_array_append_val (body->back_edges, e);
      }
}

/* --- layers ---------------------------------------------------------------- */

static void ov_net_content (OvXml *x, OvNet *net);

static void
ov_layer_free (gpointer data)
{
  OvLayer *layer = data;
  g_free (layer->name);
  g_free (layer->type);
  g_free (layer->version);
  g_free (layer->raw);
  g_ptr_array_unref (layer->data);
  g_array_unref (layer->in);
  g_array_unref (layer->out);
  g_clear_pointer (&layer->rt_info, g_hash_table_unref);
  g_clear_pointer (&layer->bodies, g_ptr_array_unref);
  g_free (layer);
}

static OvNet *
ov_net_new (guint version)
{
  OvNet *net = g_new0 (OvNet, 1);
  net->version = version;
  net->layers = g_ptr_array_new_with_free_func (ov_layer_free);
  net->edges = g_array_new (FALSE, FALSE, sizeof (OvEdge));
  return net;
}

void
ov_net_free (OvNet *net)
{
  if (net == NULL)
    return;
  g_free (net->name);
  g_ptr_array_unref (net->layers);
  g_array_unref (net->edges);
  g_clear_pointer (&net->meta, g_hash_table_unref);
  g_free (net);
}

const char *
ov_layer_data (const OvLayer *layer, const char *name)
{
  for (guint i = 0; i + 1 < layer->data->len; i += 2)
    if (g_str_equal (g_ptr_array_index (layer->data, i), name))
      return g_ptr_array_index (layer->data, i + 1);
  return NULL;
}

static void
ov_layer_body (OvXml *x, OvNet *net, OvLayer *layer, guint index)
{
  if (net->depth >= MAX_BODY_DEPTH)
    {
      ov_fail (x, ov_line (x), "node \"%s\": unsupported: bodies nested deeper than %d", layer->name, MAX_BODY_DEPTH);
      return;
    }
  OvBody *body = ov_body (layer, index);
  if (body->net != NULL)
    {
      ov_fail (x, ov_line (x), "node \"%s\": two bodies where one belongs", layer->name);
      return;
    }
  body->net = ov_net_new (net->version);
  body->net->depth = net->depth + 1;
  ov_net_content (x, body->net);
}

static void
ov_layer (OvXml *x, OvNet *net)
{
  OvLayer *layer = g_new0 (OvLayer, 1);
  layer->line = ov_line (x);
  layer->data = g_ptr_array_new_with_free_func (g_free);
  layer->in = g_array_new (FALSE, TRUE, sizeof (OvPort));
  layer->out = g_array_new (FALSE, TRUE, sizeof (OvPort));
  g_array_set_clear_func (layer->in, ov_port_clear);
  g_array_set_clear_func (layer->out, ov_port_clear);
  g_ptr_array_add (net->layers, layer);

  layer->name = g_strdup (ov_attr (x, "name"));
  layer->type = g_strdup (ov_attr (x, "type"));
  layer->version = g_strdup (ov_attr (x, "version"));
  if (!ov_attr_uint (x, "id", &layer->id))
    return;
  if (layer->name == NULL || layer->type == NULL)
    {
      ov_fail (x, layer->line, "layer %" G_GUINT64_FORMAT " has no %s", layer->id,
               layer->type == NULL ? "type" : "name");
      return;
    }
  guint opset;
  gboolean relaxed;
  g_autoptr (GError) error = NULL;
  if (ov_layer_op (layer->type, layer->version, &opset, &relaxed, &error) == NULL && error == NULL)
    layer->raw = ov_outer_xml (x);

  OvScope scope;
  if (!ov_enter (x, &scope))
    return;
  while (ov_next (x, &scope))
    {
      if (ov_is (x, "data"))
        {
          const char *name, *value;
          for (guint i = 0; ov_attr_at (x, i, &name, &value); i++)
            {
              g_ptr_array_add (layer->data, g_strdup (name));
              g_ptr_array_add (layer->data, g_strdup (value));
            }
        }
      else if (ov_is (x, "input"))
        ov_ports (x, layer, layer->in, "in");
      else if (ov_is (x, "output"))
        ov_ports (x, layer, layer->out, "out");
      else if (ov_is (x, "rt_info"))
        ov_rt_info (x, layer, "");
      else if (ov_is (x, "body") || ov_is (x, "then_body"))
        ov_layer_body (x, net, layer, 0);
      else if (ov_is (x, "else_body"))
        ov_layer_body (x, net, layer, 1);
      else if (ov_is (x, "port_map") || ov_is (x, "then_port_map"))
        ov_port_map (x, layer, ov_body (layer, 0));
      else if (ov_is (x, "else_port_map"))
        ov_port_map (x, layer, ov_body (layer, 1));
      else if (ov_is (x, "back_edges"))
        ov_back_edges (x, ov_body (layer, 0));
    }
}

/* Content of <net> or of a body. */
static void
ov_net_content (OvXml *x, OvNet *net)
{
  OvScope scope, list;
  if (!ov_enter (x, &scope))
    return;
  while (ov_next (x, &scope))
    {
      if (ov_is (x, "rt_info") && net->depth == 0)
        ov_meta (x, net, NULL);
      gboolean layers = ov_is (x, "layers");
      if ((!layers && !ov_is (x, "edges")) || !ov_enter (x, &list))
        continue;
      while (ov_next (x, &list))
        {
          if (layers && ov_is (x, "layer"))
            ov_layer (x, net);
          else if (!layers && ov_is (x, "edge"))
            {
              OvEdge e = { .line = ov_line (x) };
              if (ov_attr_uint (x, "from-layer", &e.from_layer) && ov_attr_uint (x, "from-port", &e.from_port)
                  && ov_attr_uint (x, "to-layer", &e.to_layer) && ov_attr_uint (x, "to-port", &e.to_port))
                g_array_append_val (net->edges, e);
            }
        }
    }
}

static OvNet *
ov_net_root (OvXml *x)
{
  if (!ov_root (x))
    return NULL;
  guint64 version;
  if (!ov_is (x, "net"))
    {
      ov_fail (x, ov_line (x), "not an OpenVINO IR: the root element is <%.40s>, not <net>", ov_name (x));
      return NULL;
    }
  if (!ov_attr_uint (x, "version", &version))
    return NULL;
  if (version != 10 && version != 11)
    {
      ov_fail (x, ov_line (x),
               version < 10
                   ? "unsupported IR version %" G_GUINT64_FORMAT
                     ": a layer-based format from before operation sets; convert the model anew to version 10 or 11"
                   : "unsupported IR version %" G_GUINT64_FORMAT ": versions 10 and 11 are read",
               version);
      return NULL;
    }
  OvNet *net = ov_net_new ((guint) version);
  net->name = g_strdup (ov_attr (x, "name"));
  ov_net_content (x, net);
  return net;
}

OvNet *
ov_net_parse (const char *xml, gsize length, const char *source, GError **error)
{
  if (length > G_MAXINT)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s: unsupported: more than 2 GB of XML", source);
      return NULL;
    }
  g_autoptr (OvXml) x = ov_xml_new (xml, length, source, "dim");
  g_autoptr (OvNet) net = ov_net_root (x);
  return ov_xml_check (x, error) ? g_steal_pointer (&net) : NULL;
}
