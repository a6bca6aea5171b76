/* lpt-print.c - graphs as text
 *
 * The format is described in lpt-text.h. The order is canonical: parameters,
 * then all others in topological order (the order of creation where
 * dependencies allow), then results; boxes are numbered as they appear, and only
 * those with several holders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/lpt-attrs-private.h"
#include "ir/text/lpt-print.h"

/* --- attributes --- */

/* Opening brace, or comma. */
static void
attr_item (GString    *out,
           gboolean   *open,
           const char *name)
{
  g_string_append_printf (out, "%s%s=", *open ? ", " : " {", name);
  *open = TRUE;
}

static void
append_list (GString    *out,
             const char *text)
{
  g_string_append_c (out, '[');
  for (; *text != '\0'; text++)
    if (*text != ' ')
      g_string_append_c (out, *text);
  g_string_append_c (out, ']');
}

/* What the type of the output says already. */
static gboolean
is_implied (LptNode            *node,
            const LptAttrField *field)
{
  gconstpointer value = LPT_ATTR_PTR (node->attrs, field);

  if (node->n_out == 0 || (node->info->flags & LPT_OP_F_IMPLIED) == 0)
    return FALSE;
  if (field->kind == LPT_ATTR_DTYPE)
    return *(const LptDType *) value == node->out[0].dtype;

  return field->kind == LPT_ATTR_SHAPE && lpt_shape_equal (value, &node->out[0].shape);
}

static gboolean
is_shown (LptNode            *node,
          const LptAttrField *field)
{
  if (is_implied (node, field) || !lpt_attr_field_applies (field, node->opset))
    return FALSE;
  if ((field->flags & LPT_ATTR_F_REQUIRED) != 0 && field->fallback == NULL && field->kind != LPT_ATTR_INTS &&
      field->kind != LPT_ATTR_FLOATS)
    return TRUE;

  return !lpt_attr_is_default (field, node->attrs);
}

/* The name that a Result gets when nothing is said. */
static gboolean
has_own_name (LptPrinter *p,
              LptNode    *result)
{
  LptValue *value = lpt_node_in (result, 0);
  const char *output = LPT_ATTRS (result, LptResultAttrs)->output;
  g_autofree char *plain = NULL;

  if (output == NULL || *output == '\0' || value == NULL ||
      (p->values != NULL && !g_hash_table_contains (p->values, value)))
    return output != NULL && *output != '\0';
  if (value->producer->name == NULL)
    return TRUE;
  plain = value->producer->n_out > 1 ? g_strdup_printf ("%s.%u", value->producer->name, value->index)
                                     : g_strdup (value->producer->name);

  return strcmp (plain, output) != 0;
}

static void
append_attrs (LptPrinter *p,
              LptNode    *node)
{
  gboolean open = FALSE;

  if (node->op == LPT_OP_OPAQUE && node->raw != NULL)
    {
      attr_item (p->out, &open, "xml");
      lpt_print_string (p->out, node->raw);
    }
  for (const LptAttrField *field = node->info->attrs; field->name != NULL && node->attrs != NULL; field++)
    {
      g_autofree char *text = NULL;
      gboolean seen = FALSE;

      if (node->op == LPT_OP_RESULT ? !has_own_name (p, node) : !is_shown (node, field))
        continue;
      /* Another version of a field that is already there. */
      for (const LptAttrField *before = node->info->attrs; before != field; before++)
        seen = seen || before->offset == field->offset;
      if (seen)
        continue;
      attr_item (p->out, &open, field->name);
      text = lpt_attr_format (field, node->attrs);
      if (field->kind == LPT_ATTR_INTS || field->kind == LPT_ATTR_FLOATS || field->kind == LPT_ATTR_SHAPE)
        append_list (p->out, text);
      else if (field->kind == LPT_ATTR_STRING)
        lpt_print_string (p->out, text);
      else
        g_string_append (p->out, text);
    }
  if (open)
    g_string_append_c (p->out, '}');
}

static gint
compare_keys (gconstpointer a,
              gconstpointer b)
{
  return strcmp (a, b);
}

static void
append_strings (LptPrinter *p,
                const char *keyword,
                GHashTable *strings)
{
  g_autoptr (GList) keys = NULL;

  if (strings == NULL || g_hash_table_size (strings) == 0 || (p->flags & LPT_TEXT_RT_INFO) == 0)
    return;
  keys = g_list_sort (g_hash_table_get_keys (strings), compare_keys);
  g_string_append_printf (p->out, " %s{", keyword);
  for (GList *l = keys; l != NULL; l = l->next)
    {
      lpt_print_string (p->out, l->data);
      g_string_append_c (p->out, '=');
      lpt_print_string (p->out, g_hash_table_lookup (strings, l->data));
      if (l->next != NULL)
        g_string_append (p->out, ", ");
    }
  g_string_append_c (p->out, '}');
}

/* --- statements --- */

static void print_graph (LptPrinter *p, LptGraph *graph);

static void
append_line (LptPrinter *p,
             const char *text)
{
  g_string_append_printf (p->out, "%*s%s", (int) (2 * p->indent), "", text);
}

static void
append_port (LptPrinter        *p,
             const char        *keyword,
             const char        *arrow,
             const LptBodyPort *port)
{
  append_line (p, keyword);
  if (port->external < 0)
    g_string_append_printf (p->out, " _ %s %u", arrow, port->internal);
  else
    g_string_append_printf (p->out, " %d %s %u", port->external, arrow, port->internal);
  if (port->purpose != LPT_PORT_PLAIN)
    g_string_append (p->out, port->purpose == LPT_PORT_ITERATION ? " iteration" : " condition");
  if (port->sliced)
    {
      const struct { const char *name; gint64 value, plain;
      } numbers[] = {
        { "start", port->start, 0 },
        { "end", port->end, -1 },
        { "stride", port->stride, 1 },
        { "part", port->part_size, 1 },
      };

      g_string_append_printf (p->out, " axis=%" G_GINT64_FORMAT, port->axis);
      for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
        if (numbers[i].value != numbers[i].plain)
          g_string_append_printf (p->out, " %s=%" G_GINT64_FORMAT, numbers[i].name, numbers[i].value);
    }
  g_string_append_c (p->out, '\n');
}

static void append_graph_attrs (LptPrinter *p, LptGraph *graph);

static void
append_bodies (LptPrinter *p,
               LptNode    *node)
{
  g_string_append (p->out, " {\n");
  p->indent++;
  for (guint b = 0; b < lpt_node_n_bodies (node); b++)
    {
      LptGraph *body = lpt_node_body (node, b);
      LptBodyMap *map = lpt_node_body_map (node, b);
      GHashTable *notes = p->notes;
      LptPrinter inner = { p->out, p->flags, p->indent + 1, body, NULL, NULL, notes, NULL };

      append_line (p, "body");
      if (body->name != NULL && *body->name != '\0')
        {
          g_string_append_c (p->out, ' ');
          lpt_print_string (p->out, body->name);
        }
      append_graph_attrs (p, body);
      g_string_append (p->out, " {\n");
      for (guint i = 0; i < map->inputs->len; i++)
        append_port (&inner, "in", "->", &g_array_index (map->inputs, LptBodyPort, i));
      for (guint i = 0; i < map->outputs->len; i++)
        append_port (&inner, "out", "<-", &g_array_index (map->outputs, LptBodyPort, i));
      for (guint i = 0; i < map->back_edges->len; i++)
        {
          const LptBackEdge *edge = &g_array_index (map->back_edges, LptBackEdge, i);

          append_line (&inner, "back");
          g_string_append_printf (p->out, " %u -> %u\n", edge->result, edge->parameter);
        }
      print_graph (&inner, body);
      append_line (p, "}\n");
    }
  p->indent--;
  append_line (p, "}");
}

static void
append_statement (LptPrinter *p,
                  LptNode    *node)
{
  guint version = lpt_op_version (node->info, node->opset);

  append_line (p, "");
  if (node->op != LPT_OP_RESULT)
    {
      lpt_print_name (p->out, node->name);
      g_string_append (p->out, " = ");
    }
  g_string_append (p->out, node->op == LPT_OP_CONST ? "Const" : node->info->name);
  if (node->opset != 0 && node->op != LPT_OP_OPAQUE && version != lpt_op_version (node->info, 0))
    g_string_append_printf (p->out, "@%u", version);
  if (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_CONST)
    {
      g_string_append_c (p->out, '(');
      for (guint i = 0; i < node->n_in; i++)
        {
          if (i > 0)
            g_string_append (p->out, ", ");
          if (node->in[i].value == NULL)
            g_string_append_c (p->out, '_');
          else
            lpt_print_value (p, node->in[i].value);
          if (node->in[i].compute != LPT_DTYPE_UNDEFINED)
            g_string_append_printf (p->out, " as %s", lpt_dtype_name (node->in[i].compute));
          lpt_print_mark (p, &node->in[i].mark);
        }
      g_string_append_c (p->out, ')');
    }
  if (node->data != NULL)
    lpt_print_data (p, node->data);
  append_attrs (p, node);
  lpt_print_node_mark (p, node);
  for (guint i = 0; node->controls != NULL && i < node->controls->len; i++)
    {
      LptNode *control = g_ptr_array_index (node->controls, i);

      g_string_append (p->out, i == 0 ? " after(" : ", ");
      if (p->values != NULL && !g_hash_table_contains (p->values, control))
        g_string_append (p->out, "%\"<not in this graph>\"");
      else
        lpt_print_name (p->out, control->name);
      if (i + 1 == node->controls->len)
        g_string_append_c (p->out, ')');
    }
  append_strings (p, "rt", node->rt_info);
  if (node->op != LPT_OP_RESULT)
    for (guint i = 0; i < node->n_out; i++)
      {
        g_string_append (p->out, i == 0 ? " : " : ", ");
        lpt_print_type (p, &node->out[i]);
      }
  if (lpt_node_n_bodies (node) > 0)
    append_bodies (p, node);
}

static void
append_notes (LptPrinter   *p,
              gconstpointer key)
{
  GString *text = p->notes != NULL ? g_hash_table_lookup (p->notes, key) : NULL;
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text->str, "\n", -1) : NULL;

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    if (*lines[i] != '\0')
      {
        append_line (p, "# ^ ");
        g_string_append_printf (p->out, "%s\n", lines[i]);
      }
}

static void
print_node (LptPrinter *p,
            LptNode    *node)
{
  if ((node->flags & LPT_NODE_DEAD) != 0 && p->notes == NULL)
    return;
  append_statement (p, node);
  g_string_append_c (p->out, '\n');
  append_notes (p, node);
}

static void
append_graph_attrs (LptPrinter *p,
                    LptGraph   *graph)
{
  const gint inherited = p->graph != graph ? p->graph->ir_version : 0;      /* of a body, by lpt_node_add_body() */
  gboolean open = FALSE;

  if (graph->lowered)
    {
      attr_item (p->out, &open, "lowered");
      g_string_append (p->out, "true");
    }
  if (g_hash_table_contains (graph->meta, "raised") && (p->flags & LPT_TEXT_RT_INFO) == 0)
    {
      attr_item (p->out, &open, "raised");
      g_string_append (p->out, "true");
    }
  if (graph->ir_version != inherited)
    {
      attr_item (p->out, &open, "ir_version");
      g_string_append_printf (p->out, "%d", graph->ir_version);
    }
  if (graph->requant != NULL)
    {
      attr_item (p->out, &open, "requant");
      lpt_print_string (p->out, graph->requant);
    }
  if (graph->op_requant != NULL)
    {
      g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (graph->op_requant), compare_keys);

      for (GList *l = keys; l != NULL; l = l->next)
        {
          g_autofree char *name = g_strconcat ("requant.", l->data, NULL);

          attr_item (p->out, &open, name);
          lpt_print_string (p->out, g_hash_table_lookup (graph->op_requant, l->data));
        }
    }
  if (open)
    g_string_append_c (p->out, '}');
  append_strings (p, "rt", graph->meta);
}

static void
printer_begin (LptPrinter *p,
               LptGraph   *graph)
{
  p->graph = graph;
  p->holders = g_hash_table_new (NULL, NULL);
  p->numbers = g_hash_table_new (NULL, NULL);
  if (p->notes != NULL)
    p->values = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (p->values != NULL)
        g_hash_table_add (p->values, node);
      lpt_print_count_mark (p, &node->mark);
      for (guint k = 0; k < node->n_in; k++)
        lpt_print_count_mark (p, &node->in[k].mark);
      for (guint k = 0; k < node->n_out; k++)
        {
          lpt_print_count_mark (p, &node->out[k].mark);
          if (p->values != NULL)
            g_hash_table_add (p->values, &node->out[k]);
        }
    }
}

static void
printer_end (LptPrinter *p)
{
  g_hash_table_unref (p->holders);
  g_hash_table_unref (p->numbers);
  g_clear_pointer (&p->values, g_hash_table_unref);
}

static void
print_graph (LptPrinter *p,
             LptGraph   *graph)
{
  g_autoptr (GPtrArray) order = p->notes == NULL ? lpt_graph_order (graph, NULL) : NULL;
  GPtrArray *nodes = order != NULL ? order : graph->nodes;

  printer_begin (p, graph);
  if (p->notes != NULL)      /* whatever the lists of parameters and results hold */
    for (guint i = 0; i < nodes->len; i++)
      print_node (p, g_ptr_array_index (nodes, i));
  else
    {
      for (guint i = 0; i < graph->parameters->len; i++)
        print_node (p, g_ptr_array_index (graph->parameters, i));
      for (guint i = 0; i < nodes->len; i++)
        {
          LptNode *node = g_ptr_array_index (nodes, i);

          if (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT)
            print_node (p, node);
        }
      for (guint i = 0; i < graph->results->len; i++)
        print_node (p, g_ptr_array_index (graph->results, i));
    }
  append_notes (p, graph);
  printer_end (p);
}

char *
lpt_graph_print (LptGraph     *graph,
                 LptTextFlags  flags,
                 GHashTable   *notes)
{
  LptPrinter p = { g_string_new (NULL), flags, 0, graph, NULL, NULL, notes, NULL };
  gsize before;

  g_string_append (p.out, "graph");
  if (graph->name != NULL && *graph->name != '\0')
    {
      g_string_append_c (p.out, ' ');
      lpt_print_string (p.out, graph->name);
    }
  before = p.out->len;
  append_graph_attrs (&p, graph);
  if (before == p.out->len && before == strlen ("graph"))
    g_string_truncate (p.out, 0);
  else
    g_string_append_c (p.out, '\n');
  print_graph (&p, graph);

  return g_string_free (p.out, FALSE);
}

char *
lpt_graph_to_text (LptGraph     *graph,
                   LptTextFlags  flags)
{
  g_return_val_if_fail (graph != NULL, NULL);

  return lpt_graph_print (graph, flags, NULL);
}

char *
lpt_node_to_text (LptNode      *node,
                  LptTextFlags  flags)
{
  LptPrinter p = { g_string_new (NULL), flags, 0, node->graph, NULL, NULL, NULL, NULL };

  printer_begin (&p, node->graph);
  append_statement (&p, node);
  printer_end (&p);

  return g_string_free (p.out, FALSE);
}
