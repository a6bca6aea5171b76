/* lpt-parse.c - graphs from text
 *
 * The format is described in lpt-text.h. A statement is read whole, then its
 * node is made and inferred; values are known from the line after theirs on.
 * Results are made last, so that their names take nobody's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/lpt-check.h"
#include "ir/lpt-memory.h"
#include "ir/text/lpt-parse.h"

#define MAX_DEPTH 16      /* of bodies */

/* --- the node --- */

static guint
count_outputs (const LptStatement *s)
{
  if (s->info->n_out >= 0)
    return (guint) s->info->n_out;
  if (s->types->len > 0)
    return s->types->len;
  if (s->info->op == LPT_OP_SPLIT)
    for (guint i = 0; i < s->attrs->len; i++)
      {
        const LptAttrText *attr = &g_array_index (s->attrs, LptAttrText, i);

        if (strcmp (attr->name, "num_splits") == 0)
          return (guint) CLAMP (g_ascii_strtoll (attr->text, NULL, 10), 1, G_MAXINT16);
      }

  return 1;
}

static gboolean
set_attr (LptParser       *parser,
          LptNode         *node,
          const LptAttrText  *attr)
{
  const LptAttrField *field = lpt_attrs_find (node->info, node->opset, attr->name);
  g_autoptr (GError) local = NULL;
  gboolean list;

  if (node->op == LPT_OP_OPAQUE && strcmp (attr->name, "xml") == 0)
    {
      g_free (node->raw);
      node->raw = g_strdup (attr->text);
      return TRUE;
    }
  if (field == NULL)
    return lpt_parse_fail_at (parser, attr->line, attr->column, "%s has no attribute '%s'", node->info->name,
                              attr->name);
  list = field->kind == LPT_ATTR_INTS || field->kind == LPT_ATTR_FLOATS || field->kind == LPT_ATTR_SHAPE;
  if (list != attr->is_list)
    return lpt_parse_fail_at (parser, attr->line, attr->column, "attribute '%s' is %s", attr->name,
                              list ? "a list in brackets" : "not a list");
  if (field->kind == LPT_ATTR_BOOL && strcmp (attr->text, "true") != 0 && strcmp (attr->text, "false") != 0)
    return lpt_parse_fail_at (parser, attr->line, attr->column, "attribute '%s' is true or false", attr->name);
  if (!lpt_attr_parse (field, node->attrs, attr->text, &local))
    return lpt_parse_fail_at (parser, attr->line, attr->column, "attribute '%s': %s", attr->name, local->message);

  return TRUE;
}

/* What the printer leaves out because the type says it. */
static void
imply_attrs (LptNode        *node,
             const LptTypeText *type)
{
  const LptAttrField *field;

  if ((node->info->flags & LPT_OP_F_IMPLIED) == 0)
    return;
  for (field = node->info->attrs; field != NULL && field->name != NULL; field++)
    if (field->kind == LPT_ATTR_DTYPE)
      *(LptDType *) LPT_ATTR_PTR (node->attrs, field) = type->dtype;
    else if (field->kind == LPT_ATTR_SHAPE)
      *(LptShape *) LPT_ATTR_PTR (node->attrs, field) = type->shape;
}

static gboolean
set_types (LptParser *parser,
           LptNode   *node,
           LptStatement *s)
{
  if (s->types->len != 0 && s->types->len != node->n_out)
    return lpt_parse_fail_at (parser, s->line, s->column, "%s has %u outputs, not %u", s->info->name, node->n_out,
                              s->types->len);
  if (s->types->len == 0 && (node->op == LPT_OP_PARAMETER || node->op == LPT_OP_OPAQUE))
    return lpt_parse_fail_at (parser, s->line, s->column, "%s needs a type", s->info->name);
  for (guint i = 0; i < s->types->len; i++)
    {
      LptTypeText *type = &g_array_index (s->types, LptTypeText, i);

      node->out[i].dtype = type->dtype;
      node->out[i].shape = type->shape;
      node->out[i].mark = type->mark;
      lpt_value_set_quant (&node->out[i], type->quant);
      for (guint k = 0; type->names != NULL && k < type->names->len; k++)
        lpt_value_add_name (&node->out[i], g_ptr_array_index (type->names, k));
    }

  return TRUE;
}

/* Infers the node and compares with what is written. */
static gboolean
check_types (LptParser *parser,
             LptNode   *node,
             LptStatement *s)
{
  GError *local = NULL;

  if (!lpt_node_infer (node, &local))
    {
      if (parser->filename == NULL)      /* otherwise file and line stand there already */
        g_prefix_error (&local, "%u:%u: ", s->line, s->column);
      g_propagate_error (parser->error, local);
      return FALSE;
    }
  for (guint i = 0; i < s->types->len; i++)
    {
      const LptTypeText *type = &g_array_index (s->types, LptTypeText, i);
      LptValue *value = &node->out[i];
      g_autofree char *have = lpt_shape_to_string (&value->shape);
      g_autofree char *written = lpt_shape_to_string (&type->shape);

      if (value->dtype == LPT_DTYPE_UNDEFINED || value->dtype == LPT_DTYPE_DYNAMIC)
        value->dtype = type->dtype;
      if ((value->dtype != type->dtype && type->dtype != LPT_DTYPE_UNDEFINED && type->dtype != LPT_DTYPE_DYNAMIC) ||
          !lpt_shape_compatible (&value->shape, &type->shape))
        return lpt_parse_fail_at (parser, s->line, s->column, "node \"%s\": output %u is %s[%s], but %s[%s] is written",
                                  node->name, i, lpt_dtype_name (value->dtype), have, lpt_dtype_name (type->dtype),
                                  written);
      if (lpt_node_n_bodies (node) > 0 && !lpt_node_declare_output (node, i, &type->shape, parser->error))
        return FALSE;
    }

  return TRUE;
}

static gboolean parse_bodies (LptParser *parser, LptNode *node);

static gboolean
make_node (LptParser     *parser,
           LptParseScope *scope,
           LptStatement     *s)
{
  g_autofree LptValue **in = g_new0 (LptValue *, s->inputs->len + 1);
  g_autofree char *fallback = NULL;
  const char *name = s->name;
  LptNode *node;

  if (s->inputs->len < s->info->min_in ||
      (s->info->max_in != LPT_ANY_INPUTS && s->inputs->len > s->info->max_in))
    return lpt_parse_fail_at (parser, s->line, s->column, "%s has %u inputs, takes %u to %u", s->info->name,
                              s->inputs->len, s->info->min_in, s->info->max_in);
  for (guint i = 0; i < s->inputs->len; i++)
    in[i] = g_array_index (s->inputs, LptInput, i).value;
  if (name == NULL && in[0] != NULL)
    name = fallback = g_strconcat (in[0]->producer->name, "/result", NULL);
  if (s->info->op != LPT_OP_RESULT && lpt_graph_find (scope->graph, name) != NULL)
    return lpt_parse_fail_at (parser, s->line, s->column, "the name %%%s is taken", name);

  if (s->data != NULL)
    node = lpt_graph_add_const (scope->graph, name, s->data);
  else
    node = lpt_graph_add_full (scope->graph, s->info, s->opset, name, s->inputs->len, in, count_outputs (s));
  node->line = s->line;
  node->flags = s->flags;
  node->mark = s->mark;
  node->requant = g_steal_pointer (&s->requant);
  node->controls = g_steal_pointer (&s->controls);
  node->rt_info = g_steal_pointer (&s->rt_info);
  for (guint i = 0; i < s->inputs->len; i++)
    {
      node->in[i].mark = g_array_index (s->inputs, LptInput, i).mark;
      node->in[i].compute = g_array_index (s->inputs, LptInput, i).compute;
    }
  if (!set_types (parser, node, s))
    return FALSE;
  if (s->types->len > 0)
    imply_attrs (node, &g_array_index (s->types, LptTypeText, 0));
  if (node->op == LPT_OP_OPAQUE)
    node->raw = g_strdup ("");      /* without xml="..." there is none */
  for (guint i = 0; i < s->attrs->len; i++)
    if (!set_attr (parser, node, &g_array_index (s->attrs, LptAttrText, i)))
      return FALSE;
  if (lpt_parse_accept (parser, "{") && !parse_bodies (parser, node))
    return FALSE;

  return check_types (parser, node, s);
}

/* --- bodies --- */

/* "in 0 -> 1 iteration axis=0 ...", "out _ <- 1 condition"; the keyword is taken. */
static gboolean
parse_port (LptParser  *parser,
            const char *arrow,
            GArray     *ports)
{
  LptBodyPort port = { .external = -1, .end = -1, .stride = 1, .part_size = 1 };
  const struct { const char *name; gint64 *value;
  } numbers[] = {
    { "axis", &port.axis },     { "start", &port.start },    { "end", &port.end },
    { "stride", &port.stride }, { "part", &port.part_size },
  };
  gint64 value;

  if (!lpt_parse_accept (parser, "_"))
    {
      if (!lpt_parse_int (parser, &value))
        return FALSE;
      if (value < 0 || value > G_MAXINT16)
        return lpt_parse_fail (parser, "port %" G_GINT64_FORMAT " is out of range", value);
      port.external = (gint) value;
    }
  if (!lpt_parse_expect (parser, arrow) || !lpt_parse_int (parser, &value))
    return FALSE;
  if (value < 0 || value > G_MAXINT16)
    return lpt_parse_fail (parser, "port %" G_GINT64_FORMAT " is out of range", value);
  port.internal = (guint) value;

  while (parser->lexer.token.kind == LPT_TOKEN_WORD && !parser->lexer.token.first)
    {
      gboolean found = FALSE;

      if (lpt_parse_accept (parser, "iteration"))
        port.purpose = LPT_PORT_ITERATION;
      else if (lpt_parse_accept (parser, "condition"))
        port.purpose = LPT_PORT_CONDITION;
      else
        {
          for (guint i = 0; i < G_N_ELEMENTS (numbers) && !found; i++)
            if (lpt_parse_accept (parser, numbers[i].name))
              {
                if (!lpt_parse_expect (parser, "=") || !lpt_parse_int (parser, numbers[i].value))
                  return FALSE;
                found = TRUE;
                port.sliced = TRUE;
              }
          if (!found)
            return lpt_parse_fail (parser, "a port has no '%s'", parser->lexer.token.text->str);
        }
    }
  g_array_append_val (ports, port);

  return TRUE;
}

static gboolean
parse_back_edge (LptParser *parser,
                 GArray    *edges)
{
  LptBackEdge edge;
  gint64 result, parameter;

  if (!lpt_parse_int (parser, &result) || !lpt_parse_expect (parser, "->") || !lpt_parse_int (parser, &parameter))
    return FALSE;
  if (result < 0 || result > G_MAXINT16 || parameter < 0 || parameter > G_MAXINT16)
    return lpt_parse_fail (parser, "back edge is out of range");
  edge = (LptBackEdge) { (guint) result, (guint) parameter };
  g_array_append_val (edges, edge);

  return TRUE;
}

static gboolean parse_graph_head (LptParser *parser, LptGraph *graph);
static gboolean parse_graph      (LptParser *parser, LptGraph *graph, LptBodyMap *map);

static gboolean
parse_bodies (LptParser *parser,
              LptNode   *node)
{
  gboolean ok = TRUE;

  if (lpt_op_n_bodies (node->info) == 0)
    return lpt_parse_fail (parser, "%s has no body", node->info->name);
  if (parser->depth == MAX_DEPTH)
    return lpt_parse_fail (parser, "unsupported: bodies nested deeper than %d", MAX_DEPTH);
  parser->depth++;
  while (ok && !lpt_lexer_is (&parser->lexer, "}"))
    {
      LptGraph *body;
      LptBodyMap *map;

      if (!lpt_parse_expect (parser, "body"))
        return FALSE;
      body = lpt_graph_new (NULL);
      map = lpt_body_map_new ();
      body->source = g_strdup (parser->filename);
      lpt_node_add_body (node, body, map);
      ok = parse_graph_head (parser, body);
      body->ir_version = node->graph->ir_version;        /* whatever its head says */
      ok = ok && lpt_parse_expect (parser, "{") && parse_graph (parser, body, map) && lpt_parse_expect (parser, "}");
    }
  parser->depth--;

  return ok && lpt_parse_expect (parser, "}");
}

/* --- graphs --- */

static gboolean
set_graph_attr (LptParser      *parser,
                LptGraph       *graph,
                const LptAttrText *attr)
{
  gint64 version;

  if (attr->is_list)
    return lpt_parse_fail_at (parser, attr->line, attr->column, "attribute '%s' is not a list", attr->name);
  if (strcmp (attr->name, "lowered") == 0 && (strcmp (attr->text, "true") == 0 || strcmp (attr->text, "false") == 0))
    graph->lowered = attr->text[0] == 't';
  else if (strcmp (attr->name, "raised") == 0 && strcmp (attr->text, "true") == 0)
    g_hash_table_replace (graph->meta, g_strdup (attr->name), g_strdup (attr->text));
  else if (strcmp (attr->name, "requant") == 0)
    {
      g_free (graph->requant);
      graph->requant = g_strdup (attr->text);
    }
  else if (g_str_has_prefix (attr->name, "requant."))
    {
      if (graph->op_requant == NULL)
        graph->op_requant = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      g_hash_table_replace (graph->op_requant, g_strdup (attr->name + strlen ("requant.")), g_strdup (attr->text));
    }
  else if (strcmp (attr->name, "ir_version") == 0 && g_ascii_string_to_signed (attr->text, 10, 0, 1000, &version, NULL))
    graph->ir_version = (gint) version;
  else
    return lpt_parse_fail_at (parser, attr->line, attr->column, "a graph has no attribute %s=%s", attr->name,
                              attr->text);

  return TRUE;
}

/* Behind "graph" or "body": ["name"] [{attributes}] [rt{...}]; the brace of a body's content is the last. */
static gboolean
parse_graph_head (LptParser *parser,
                  LptGraph  *graph)
{
  g_autoptr (GArray) attrs = g_array_new (FALSE, TRUE, sizeof (LptAttrText));
  LptLexer *lexer = &parser->lexer;

  g_array_set_clear_func (attrs, (GDestroyNotify) lpt_attr_text_clear);
  if (lexer->token.kind == LPT_TOKEN_STRING && !lexer->token.first)
    {
      g_free (graph->name);
      graph->name = g_strdup (lexer->token.text->str);
      lpt_lexer_next (lexer);
    }
  if (lpt_lexer_is (lexer, "{") && !lexer->token.first)
    {
      LptLexerPlace brace = lpt_lexer_place (lexer);

      /* Content begins on a line of its own, attributes do not. */
      lpt_lexer_next (lexer);
      if (lexer->token.first)
        {
          lpt_lexer_go (lexer, brace);
          return TRUE;
        }
      if (!lpt_parse_attrs (parser, attrs))
        return FALSE;
    }
  for (guint i = 0; i < attrs->len; i++)
    if (!set_graph_attr (parser, graph, &g_array_index (attrs, LptAttrText, i)))
      return FALSE;

  return !lpt_parse_accept (parser, "rt") || lpt_parse_strings (parser, graph->meta);
}

/* Every model output has a name: the one that is written, else its producer's; "_2" and so on when that is taken. */
static void
name_outputs (LptGraph *graph)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      const char *output = LPT_ATTRS (result, LptResultAttrs)->output;

      if (*output != '\0')
        g_hash_table_add (taken, g_strdup (output));
    }
  for (guint i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      LptResultAttrs *attrs = LPT_ATTRS (result, LptResultAttrs);
      LptValue *value = lpt_node_in (result, 0);
      char *plain;
      char *name;
      guint n;

      if (*attrs->output != '\0' || value == NULL)
        continue;
      plain = value->producer->n_out > 1 ? g_strdup_printf ("%s.%u", value->producer->name, value->index)
                                         : g_strdup (value->producer->name);
      name = g_strdup (plain);
      n = MAX (GPOINTER_TO_UINT (g_hash_table_lookup (counts, plain)), 1);
      while (g_hash_table_contains (taken, name))
        {
          g_free (name);
          name = g_strdup_printf ("%s_%u", plain, ++n);
        }
      g_hash_table_replace (counts, plain, GUINT_TO_POINTER (n));
      g_hash_table_add (taken, g_strdup (name));
      g_free (attrs->output);
      attrs->output = name;
    }
}

/* Statements up to the end of the text, or the brace that closes a body. */
static gboolean
parse_statements (LptParser     *parser,
                  LptParseScope *scope,
                  LptBodyMap    *map)
{
  LptLexer *lexer = &parser->lexer;

  while (lexer->token.kind != LPT_TOKEN_END && !(map != NULL && lpt_lexer_is (lexer, "}")))
    {
      g_autoptr (LptStatement) s = NULL;
      gboolean ok;

      if (!lexer->token.first)
        return lpt_parse_expected (parser, "the end of the line");
      if (map != NULL && lexer->token.kind == LPT_TOKEN_WORD &&
          (lpt_lexer_is (lexer, "in") || lpt_lexer_is (lexer, "out") || lpt_lexer_is (lexer, "back")))
        {
          char kind = lexer->token.text->str[0];

          lpt_lexer_next (lexer);
          if (!(kind == 'i' ? parse_port (parser, "->", map->inputs) : kind == 'o' ? parse_port (parser, "<-", map->outputs)
                                                                                    : parse_back_edge (parser, map->back_edges)))
            return FALSE;
          continue;
        }
      s = lpt_statement_new ();
      ok = lpt_parse_statement (parser, scope, s);
      if (ok && s->info->op == LPT_OP_RESULT)
        g_ptr_array_add (scope->results, g_steal_pointer (&s));
      else if (ok)
        ok = make_node (parser, scope, s);
      if (!ok)
        return FALSE;
    }

  return TRUE;
}

static gboolean
parse_graph (LptParser  *parser,
             LptGraph   *graph,
             LptBodyMap *map)
{
  g_autoptr (GHashTable) boxes = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_statement_free);
  LptParseScope scope = { graph, boxes, results };

  if (!parse_statements (parser, &scope, map))
    return FALSE;
  for (guint i = 0; i < results->len; i++)
    if (!make_node (parser, &scope, g_ptr_array_index (results, i)))
      return FALSE;
  name_outputs (graph);

  return TRUE;
}

LptGraph *
lpt_graph_from_text (const char  *text,
                     gssize       len,
                     const char  *filename,
                     GError     **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_new (NULL);
  g_autoptr (GError) local = NULL;
  LptParser parser = { .filename = filename, .error = &local };
  guint mark = lpt_memory_mark ();
  gboolean ok;

  g_return_val_if_fail (text != NULL, NULL);

  graph->source = g_strdup (filename);
  lpt_lexer_init (&parser.lexer, text, len < 0 ? strlen (text) : (gsize) len);
  ok = TRUE;
  if (lpt_lexer_is (&parser.lexer, "graph"))
    {
      lpt_lexer_next (&parser.lexer);
      ok = parse_graph_head (&parser, graph);
    }
  ok = ok && parse_graph (&parser, graph, NULL);
  lpt_lexer_clear (&parser.lexer);
  if (!ok)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }

  return lpt_graph_check_read (g_steal_pointer (&graph), mark, error);
}
