/* ov-build.c - OvNet to LptGraph
 *
 * Edges are resolved to layers, what the sinks reach is built in topological order
 * (order of the file where it allows), types and shapes are inferred on the way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-build.h"
#include "frontends/openvino_xml/ov-flags.h"
#include "frontends/openvino_xml/ov-spell.h"

#include <lpt/lpt-attrs.h>
#include <string.h>

static LptGraph *ov_build_net (OvNet *net, const OvFiles *files, GError **error);

gboolean
ov_error (GError **error, const OvBuild *b, const OvLayer *layer, LptError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, LPT_ERROR, code, "%s:%u: node \"%s\": %s", b->files->source, layer->line, layer->name, message);
  return FALSE;
}

gboolean
ov_prefix (GError **error, const OvBuild *b, const OvLayer *layer)
{
  g_prefix_error (error, "%s:%u: node \"%s\": ", b->files->source, layer->line, layer->name);
  return FALSE;
}

/* --- edges ----------------------------------------------------------------- */

/* Position of the port with an id, or -1. Ids usually count up from the first one's. */
static gint
ov_port_index (GArray *ports, guint64 id)
{
  if (ports->len == 0)
    return -1;
  guint64 guess = id - g_array_index (ports, OvPort, 0).id;
  if (guess < ports->len && g_array_index (ports, OvPort, guess).id == id)
    return (gint) guess;
  for (guint i = 0; i < ports->len; i++)
    if (g_array_index (ports, OvPort, i).id == id)
      return (gint) i;
  return -1;
}

static GHashTable *
ov_ids (const OvBuild *b, GError **error)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (g_int64_hash, g_int64_equal);
  for (guint i = 0; i < b->net->layers->len; i++)
    {
      OvLayer *layer = g_ptr_array_index (b->net->layers, i);
      OvLayer *other = g_hash_table_lookup (ids, &layer->id);
      if (other != NULL)
        {
          ov_error (error, b, layer, LPT_ERROR_INVALID, "layer id %" G_GUINT64_FORMAT " is taken by \"%s\" (line %u)",
                    layer->id, other->name, other->line);
          return NULL;
        }
      g_hash_table_insert (ids, &layer->id, layer);
    }
  return g_steal_pointer (&ids);
}

static gboolean
ov_edges (const OvBuild *b, GHashTable *ids, GError **error)
{
  for (guint i = 0; i < b->net->edges->len; i++)
    {
      const OvEdge *e = &g_array_index (b->net->edges, OvEdge, i);
      OvLayer *from = g_hash_table_lookup (ids, &e->from_layer), *to = g_hash_table_lookup (ids, &e->to_layer);
      if (from == NULL || to == NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "%s:%u: edge %s layer %" G_GUINT64_FORMAT ", which does not exist", b->files->source, e->line,
                       from == NULL ? "from" : "to", from == NULL ? e->from_layer : e->to_layer);
          return FALSE;
        }
      gint out = ov_port_index (from->out, e->from_port), in = ov_port_index (to->in, e->to_port);
      if (out < 0 || in < 0)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "%s:%u: node \"%s\": an edge %s its %s port %" G_GUINT64_FORMAT ", which does not exist",
                       b->files->source, e->line, out < 0 ? from->name : to->name, out < 0 ? "leaves" : "enters",
                       out < 0 ? "output" : "input", out < 0 ? e->from_port : e->to_port);
          return FALSE;
        }
      OvPort *port = &g_array_index (to->in, OvPort, in);
      if (port->from != NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "%s:%u: node \"%s\": a second edge enters input port %" G_GUINT64_FORMAT, b->files->source,
                       e->line, to->name, e->to_port);
          return FALSE;
        }
      port->from = from;
      port->from_index = (guint) out;
    }
  return TRUE;
}

/* --- order ----------------------------------------------------------------- */

typedef struct { OvLayer *layer; guint next; } OvStep;

/* Appends @sink and everything that it reaches, producers first. Depth first with a stack of our own. */
static gboolean
ov_visit (const OvBuild *b, OvLayer *sink, GPtrArray *order, GError **error)
{
  if (sink->state == 2)
    return TRUE;
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (OvStep));
  OvStep step = { sink, 0 };
  sink->state = 1;
  g_array_append_val (stack, step);
  while (stack->len > 0)
    {
      OvStep *top = &g_array_index (stack, OvStep, stack->len - 1);
      OvLayer *layer = top->layer;
      if (top->next == layer->in->len)
        {
          layer->state = 2;
          g_ptr_array_add (order, layer);
          g_array_set_size (stack, stack->len - 1);
          continue;
        }
      const OvPort *port = &g_array_index (layer->in, OvPort, top->next++);
      if (port->from == NULL)
        return ov_error (error, b, layer, LPT_ERROR_INVALID, "no edge enters input port %" G_GUINT64_FORMAT, port->id);
      if (port->from->state == 1)
        return ov_error (error, b, port->from, LPT_ERROR_INVALID, "is part of a cycle");
      if (port->from->state == 0)
        {
          port->from->state = 1;
          step = (OvStep) { port->from, 0 };
          g_array_append_val (stack, step);
        }
    }
  return TRUE;
}

static const LptOpInfo *
ov_info (const OvLayer *layer, guint *opset, gboolean *relaxed, GError **error)
{
  const LptOpInfo *info = ov_layer_op (layer->type, layer->version, opset, relaxed, error);
  if (info != NULL && *relaxed)
    *opset = ov_relaxed_opset (info, layer);
  return info;
}

static gboolean
ov_is_op (const OvLayer *layer, LptOp op)
{
  const LptOpInfo *info = layer->raw == NULL ? lpt_op_find (layer->type) : NULL;
  return info != NULL && info->op == op;
}

static gboolean
ov_is_sink (const OvLayer *layer)
{
  const LptOpInfo *info = layer->raw == NULL ? lpt_op_find (layer->type) : NULL;
  return info != NULL && (info->flags & LPT_OP_F_SINK) != 0;
}

/* Layers to build: Parameters first, Results last, both in the order of the file. */
static GPtrArray *
ov_order (const OvBuild *b, GError **error)
{
  g_autoptr (GPtrArray) reached = g_ptr_array_new ();
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  GPtrArray *layers = b->net->layers;
  for (guint i = 0; i < layers->len; i++)
    if (ov_is_sink (g_ptr_array_index (layers, i)) && !ov_visit (b, g_ptr_array_index (layers, i), reached, error))
      return NULL;
  /* Again over the reached ones only, so that the file's order holds where it can. */
  for (guint i = 0; i < reached->len; i++)
    ((OvLayer *) g_ptr_array_index (reached, i))->state = 3;
  for (guint i = 0; i < layers->len; i++)
    {
      OvLayer *layer = g_ptr_array_index (layers, i);
      if (ov_is_op (layer, LPT_OP_PARAMETER))
        {
          layer->state = 2;
          g_ptr_array_add (order, layer);
        }
      else
        layer->state = layer->state == 3 && !ov_is_op (layer, LPT_OP_RESULT) ? 0 : 2;
    }
  for (guint i = 0; i < layers->len; i++)
    if (!ov_visit (b, g_ptr_array_index (layers, i), order, error))
      return NULL;
  for (guint i = 0; i < layers->len; i++)
    if (ov_is_op (g_ptr_array_index (layers, i), LPT_OP_RESULT))
      g_ptr_array_add (order, g_ptr_array_index (layers, i));
  return g_steal_pointer (&order);
}

/* --- attributes ------------------------------------------------------------ */

static gboolean
ov_attributes (const OvBuild *b, const OvLayer *layer, LptNode *node, GError **error)
{
  for (guint i = 0; i + 1 < layer->data->len; i += 2)
    {
      const char *name = g_ptr_array_index (layer->data, i), *text = g_ptr_array_index (layer->data, i + 1);
      const LptAttrField *field = lpt_attrs_find (node->info, node->opset, name);
      if (field == NULL || (field->flags & LPT_ATTR_F_INTERNAL))
        continue;
      if (field->kind == LPT_ATTR_SHAPE && g_str_equal (text, "-2"))      /* a rank that is not known */
        text = "...";
      if (!lpt_attr_parse (field, node->attrs, text, error))
        {
          g_prefix_error (error, "%s=\"%.80s\": ", name, text);
          return ov_prefix (error, b, layer);
        }
    }
  for (const LptAttrField *f = node->info->attrs; f->name != NULL; f++)
    if ((f->flags & LPT_ATTR_F_REQUIRED) && f->fallback == NULL && lpt_attr_field_applies (f, node->opset)
        && ov_layer_data (layer, f->name) == NULL)
      return ov_error (error, b, layer, LPT_ERROR_INVALID, "attribute \"%s\" is missing", f->name);
  return TRUE;
}

/* --- rt_info --------------------------------------------------------------- */

/* Marks become flags, TYPE_RELAXED is dealt with apart, the rest is kept. */
static void
ov_rt_info (const OvLayer *layer, LptNode *node)
{
  if (layer->rt_info == NULL)
    return;
  GHashTableIter iter;
  gpointer key, value;
  g_hash_table_iter_init (&iter, layer->rt_info);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      gboolean known = g_str_has_prefix (key, "TYPE_RELAXED");
      for (guint i = 0; i < G_N_ELEMENTS (ov_rt_flags); i++)
        {
          gsize n = strlen (ov_rt_flags[i].key);
          if (strncmp (key, ov_rt_flags[i].key, n) != 0 || (((char *) key)[n] != '\0' && ((char *) key)[n] != '@'))
            continue;
          node->flags |= ov_rt_flags[i].flag;
          known = TRUE;
        }
      if (known)
        continue;
      if (node->rt_info == NULL)
        node->rt_info = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      g_hash_table_replace (node->rt_info, g_strdup (key), g_strdup (value));
    }
}

/* --- bodies ---------------------------------------------------------------- */

/* Position of the Parameter or Result that a port map names; -1 when it names none. */
static gint
ov_internal_index (const OvBody *body, LptOp op, guint64 id)
{
  gint n = 0;
  for (guint i = 0; i < body->net->layers->len; i++)
    {
      const OvLayer *layer = g_ptr_array_index (body->net->layers, i);
      if (!ov_is_op (layer, op))
        continue;
      if (layer->id == id)
        return n;
      n++;
    }
  return -1;
}

static gboolean
ov_map_entries (const OvBuild *b, const OvLayer *layer, const OvBody *body, gboolean inputs, GArray *to, GError **error)
{
  GArray *from = inputs ? body->inputs : body->outputs, *ports = inputs ? layer->in : layer->out;
  for (guint i = 0; i < from->len; i++)
    {
      const OvMapEntry *e = &g_array_index (from, OvMapEntry, i);
      gint external = e->external < 0 ? -1 : ov_port_index (ports, (guint64) e->external);
      gint internal = ov_internal_index (body, inputs ? LPT_OP_PARAMETER : LPT_OP_RESULT, (guint64) e->internal);
      if ((e->external >= 0 && external < 0) || internal < 0)
        return ov_error (error, b, layer, LPT_ERROR_INVALID,
                         "line %u: the port map names %s %" G_GINT64_FORMAT ", which does not exist", e->line,
                         internal < 0 ? (inputs ? "Parameter" : "Result") : "port",
                         internal < 0 ? e->internal : e->external);
      if (e->sliced && e->stride == 0)
        return ov_error (error, b, layer, LPT_ERROR_INVALID, "line %u: a stride of 0", e->line);
      LptBodyPort port = { .external = external, .internal = (guint) internal, .sliced = e->sliced, .axis = e->axis, .start = e->start,
                           .end = e->end, .stride = e->stride, .part_size = e->part_size, .purpose = e->purpose };
      g_array_append_val (to, port);
    }
  return TRUE;
}

static gboolean
ov_bodies (const OvBuild *b, const OvLayer *layer, LptNode *node, GError **error)
{
  guint want = lpt_op_n_bodies (node->info);
  guint have = layer->bodies != NULL ? layer->bodies->len : 0;
  if (have != want)
    return ov_error (error, b, layer, LPT_ERROR_INVALID, "%u bodies where %u belong", have, want);
  for (guint i = 0; i < want; i++)
    {
      const OvBody *body = g_ptr_array_index (layer->bodies, i);
      if (body->net == NULL)
        return ov_error (error, b, layer, LPT_ERROR_INVALID, "a body is missing");
      g_autoptr (LptGraph) graph = ov_build_net (body->net, b->files, error);
      if (graph == NULL)
        return FALSE;
      LptBodyMap *map = lpt_body_map_new ();
      gboolean ok = ov_map_entries (b, layer, body, TRUE, map->inputs, error) &&
                    ov_map_entries (b, layer, body, FALSE, map->outputs, error);
      for (guint k = 0; ok && k < body->back_edges->len; k++)
        {
          const OvBackEdge *e = &g_array_index (body->back_edges, OvBackEdge, k);
          gint result = ov_internal_index (body, LPT_OP_RESULT, e->from),
               parameter = ov_internal_index (body, LPT_OP_PARAMETER, e->to);
          LptBackEdge edge = { (guint) result, (guint) parameter };
          ok = result >= 0 && parameter >= 0;
          if (ok)
            g_array_append_val (map->back_edges, edge);
          else
            ov_error (error, b, layer, LPT_ERROR_INVALID,
                      "line %u: a back edge names layer %" G_GUINT64_FORMAT ", which is no %s of the body", e->line,
                      result < 0 ? e->from : e->to, result < 0 ? "Result" : "Parameter");
        }
      if (!ok)
        {
          lpt_body_map_free (map);
          return FALSE;
        }
      lpt_node_add_body (node, g_steal_pointer (&graph), map);
    }
  return TRUE;
}

/* --- nodes ----------------------------------------------------------------- */

/* Tensor names of a port: separated by commas, "\," is a comma of a name. */
static void
ov_tensor_names (LptValue *value, const char *names)
{
  g_autoptr (GString) name = g_string_new (NULL);
  for (const char *p = names; p != NULL; p++)
    {
      if (*p == ',' || *p == '\0')
        {
          if (name->len > 0)
            lpt_value_add_name (value, name->str);
          g_string_truncate (name, 0);
          if (*p == '\0')
            break;
        }
      else
        {
          if (*p == '\\' && p[1] == ',')
            p++;
          g_string_append_c (name, *p);
        }
    }
}

static gboolean
ov_node (OvBuild *b, OvLayer *layer, GError **error)
{
  guint opset = 0;
  gboolean relaxed = FALSE;
  g_autoptr (GError) reason = NULL;
  const LptOpInfo *info = ov_info (layer, &opset, &relaxed, &reason);
  if (reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return ov_prefix (error, b, layer);
    }
  if (info == NULL)
    {
      if (layer->bodies != NULL)
        return ov_error (error, b, layer, LPT_ERROR_UNSUPPORTED, "unsupported: an unknown op (%s of %s) with a body",
                         layer->type, layer->version);
      info = lpt_op_info (LPT_OP_OPAQUE);
    }
  else if (layer->in->len < info->min_in || (info->max_in != LPT_ANY_INPUTS && layer->in->len > info->max_in))
    return ov_error (error, b, layer, LPT_ERROR_INVALID, "%s has %u inputs, takes %u%s", info->name, layer->in->len, info->min_in,
                     info->max_in == LPT_ANY_INPUTS ? " or more" : info->max_in > info->min_in ? " or some more" : "");
  if (info->n_out > 0 && layer->out->len > (guint) info->n_out)
    return ov_error (error, b, layer, LPT_ERROR_INVALID, "%s has %u outputs, makes %d", info->name, layer->out->len,
                     info->n_out);

  if (info->op == LPT_OP_CONST)
    {
      g_autoptr (LptTensor) tensor = ov_constant (b, layer, error);
      if (tensor == NULL)
        return FALSE;
      layer->node = lpt_graph_add_const (b->graph, layer->name, tensor);
      layer->node->opset = opset;
    }
  else
    {
      g_autofree LptValue **in = g_new0 (LptValue *, layer->in->len + 1);
      for (guint i = 0; i < layer->in->len; i++)
        {
          const OvPort *port = &g_array_index (layer->in, OvPort, i);
          /* Results are made behind everything else: whatever a file says, nothing reads them. */
          if (port->from->node == NULL || port->from_index >= port->from->node->n_out)
            return ov_error (error, b, port->from, LPT_ERROR_INVALID, "%s has no output port %" G_GUINT64_FORMAT,
                             port->from->type, g_array_index (port->from->out, OvPort, port->from_index).id);
          in[i] = &port->from->node->out[port->from_index];
        }
      guint n_out = info->op == LPT_OP_OPAQUE ? layer->out->len : info->n_out < 0 ? MAX (layer->out->len, 1) : (guint) info->n_out;
      layer->node = lpt_graph_add_full (b->graph, info, opset, layer->name, layer->in->len, in, n_out);
    }
  LptNode *node = layer->node;
  node->line = layer->line;
  ov_rt_info (layer, node);
  if (info->op == LPT_OP_OPAQUE)
    node->raw = g_strdup (layer->raw);
  else if (info->op != LPT_OP_CONST && !ov_attributes (b, layer, node, error))
    return FALSE;
  if (info->op != LPT_OP_OPAQUE && !ov_bodies (b, layer, node, error))
    return FALSE;
  for (guint i = 0; i < MIN (node->n_out, layer->out->len); i++)
    ov_tensor_names (&node->out[i], g_array_index (layer->out, OvPort, i).names);
  return ov_infer (b, layer, node, relaxed, error);
}

/* --- the graph ------------------------------------------------------------- */

/* Model outputs: first tensor name, else the producer's name (".k" for output k of several); repeats get "_2", ... */
static void
ov_output_names (LptGraph *graph)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      LptValue *value = lpt_node_in (result, 0);
      g_autofree char *wish = value->names != NULL && value->names->len > 0
                                  ? g_strdup (g_ptr_array_index (value->names, 0))
                              : value->producer->n_out > 1
                                  ? g_strdup_printf ("%s.%u", value->producer->name, value->index)
                                  : g_strdup (value->producer->name);
      char *name = g_strdup (wish);
      for (guint n = 2; g_hash_table_contains (taken, name); n++)
        {
          g_free (name);
          name = g_strdup_printf ("%s_%u", wish, n);
        }
      LptResultAttrs *attrs = LPT_ATTRS (result, LptResultAttrs);
      g_free (attrs->output);
      attrs->output = g_strdup (name);
      g_hash_table_add (taken, name);
    }
}

/* An Assign happens after the ReadValue of its variable. */
static void
ov_variables (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *assign = g_ptr_array_index (graph->nodes, i);
      if (assign->op != LPT_OP_ASSIGN)
        continue;
      for (guint k = 0; k < graph->nodes->len; k++)
        {
          LptNode *read = g_ptr_array_index (graph->nodes, k);
          if (read->op != LPT_OP_READ_VALUE || !g_str_equal (LPT_ATTRS (read, LptVariableAttrs)->variable_id,
                                                             LPT_ATTRS (assign, LptVariableAttrs)->variable_id))
            continue;
          if (assign->controls == NULL)
            assign->controls = g_ptr_array_new ();
          g_ptr_array_add (assign->controls, read);
        }
    }
}

static LptGraph *
ov_build_net (OvNet *net, const OvFiles *files, GError **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_new (net->name != NULL ? net->name : "");
  OvBuild b = { .files = files, .net = net, .graph = graph };
  graph->source = g_strdup (files->source);
  graph->ir_version = (gint) net->version;
  g_autoptr (GHashTable) ids = ov_ids (&b, error);
  if (ids == NULL || !ov_edges (&b, ids, error))
    return NULL;
  g_autoptr (GPtrArray) order = ov_order (&b, error);
  if (order == NULL)
    return NULL;
  for (guint i = 0; i < order->len; i++)
    if (!ov_node (&b, g_ptr_array_index (order, i), error))
      return NULL;
  ov_output_names (graph);
  ov_variables (graph);
  return g_steal_pointer (&graph);
}

LptGraph *
ov_net_build (OvNet *net, const OvFiles *files, GError **error)
{
  g_autoptr (LptGraph) graph = ov_build_net (net, files, error);
  if (graph == NULL)
    return NULL;
  if (!ov_has_sink (graph))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the model has no Result", files->source);
      return NULL;
    }
  if (net->meta != NULL && graph->meta != NULL)
    {
      GHashTableIter iter;
      gpointer key, value;
      g_hash_table_iter_init (&iter, net->meta);
      while (g_hash_table_iter_next (&iter, &key, &value))
        g_hash_table_replace (graph->meta, g_strdup (key), g_strdup (value));
    }
  return g_steal_pointer (&graph);
}
