/* lpt-parse-statement.c - one statement of the text form, before it is a node
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/text/lpt-parse.h"

void
lpt_attr_text_clear (LptAttrText *attr)
{
  g_free (attr->name);
  g_free (attr->text);
}

static void
type_clear (LptTypeText *type)
{
  lpt_quant_unref (type->quant);
  g_clear_pointer (&type->names, g_ptr_array_unref);
}

LptStatement *
lpt_statement_new (void)
{
  LptStatement *s = g_new0 (LptStatement, 1);

  s->inputs = g_array_new (FALSE, TRUE, sizeof (LptInput));
  s->attrs = g_array_new (FALSE, TRUE, sizeof (LptAttrText));
  g_array_set_clear_func (s->attrs, (GDestroyNotify) lpt_attr_text_clear);
  s->types = g_array_new (FALSE, TRUE, sizeof (LptTypeText));
  g_array_set_clear_func (s->types, (GDestroyNotify) type_clear);

  return s;
}

void
lpt_statement_free (LptStatement *s)
{
  g_free (s->name);
  g_free (s->requant);
  g_array_unref (s->inputs);
  g_array_unref (s->attrs);
  g_array_unref (s->types);
  g_clear_pointer (&s->controls, g_ptr_array_unref);
  g_clear_pointer (&s->rt_info, g_hash_table_unref);
  g_clear_pointer (&s->data, lpt_tensor_unref);
  g_free (s);
}

/* --- its parts --- */

static gboolean
parse_value (LptParser     *parser,
             LptParseScope *scope,
             LptValue     **out)
{
  const LptToken *token = &parser->lexer.token;
  g_autofree char *shown = NULL;
  LptNode *node;
  gint64 index = MAX (token->index, 0);

  if (token->kind != LPT_TOKEN_VALUE)
    return lpt_parse_expected (parser, "a value (%name)");
  shown = g_utf8_make_valid (token->text->str, (gssize) MIN (token->text->len, 200));
  node = lpt_graph_find (scope->graph, token->text->str);
  if (node == NULL)
    return lpt_parse_fail (parser, "no value is named %%%s above", shown);
  if (index >= node->n_out)
    return lpt_parse_fail (parser, "%%%s has %u outputs, not output %" G_GINT64_FORMAT, shown, node->n_out, index);
  *out = &node->out[index];
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

static gboolean
parse_dtype (LptParser *parser,
             LptDType  *dtype)
{
  const LptToken *token = &parser->lexer.token;

  *dtype = token->kind == LPT_TOKEN_WORD ? lpt_dtype_from_name (token->text->str) : LPT_DTYPE_UNDEFINED;
  if (*dtype == LPT_DTYPE_UNDEFINED && !lpt_lexer_is (&parser->lexer, "undefined"))
    return lpt_parse_expected (parser, "an element type");
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

static gboolean
parse_inputs (LptParser     *parser,
              LptParseScope *scope,
              GArray        *inputs)
{
  if (!lpt_parse_expect (parser, "("))
    return FALSE;
  while (!lpt_lexer_is (&parser->lexer, ")"))
    {
      LptInput input = { NULL };

      if (inputs->len > G_MAXINT16)
        return lpt_parse_fail (parser, "unsupported: more than %d inputs", G_MAXINT16);
      if (lpt_lexer_is (&parser->lexer, "_"))
        lpt_lexer_next (&parser->lexer);
      else if (!parse_value (parser, scope, &input.value))
        return FALSE;
      if (lpt_lexer_is (&parser->lexer, "as"))
        {
          lpt_lexer_next (&parser->lexer);
          if (!parse_dtype (parser, &input.compute))
            return FALSE;
        }
      if (lpt_lexer_is (&parser->lexer, "#{"))
        {
          lpt_lexer_next (&parser->lexer);
          if (!lpt_parse_mark (parser, scope, &input.mark, NULL, NULL))
            return FALSE;
        }
      g_array_append_val (inputs, input);
      if (!lpt_lexer_is (&parser->lexer, ")") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }

  return lpt_parse_expect (parser, ")");
}

/* "[" is current: the words up to "]", joined by commas. */
static gboolean
parse_list_text (LptParser *parser,
                 char     **out)
{
  g_autoptr (GString) text = g_string_new (NULL);

  lpt_lexer_next (&parser->lexer);
  while (!lpt_lexer_is (&parser->lexer, "]"))
    {
      if (parser->lexer.token.kind != LPT_TOKEN_WORD)
        return lpt_parse_expected (parser, "a number");
      if (text->len > 0)
        g_string_append_c (text, ',');
      g_string_append (text, parser->lexer.token.text->str);
      lpt_lexer_next (&parser->lexer);
      if (!lpt_lexer_is (&parser->lexer, "]") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }
  lpt_lexer_next (&parser->lexer);
  *out = g_strdup (text->str);

  return TRUE;
}

/* Behind "{": name=value, ... } */
gboolean
lpt_parse_attrs (LptParser *parser,
                 GArray    *attrs)
{
  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      const LptToken *token = &parser->lexer.token;
      LptAttrText attr = { NULL };

      if (token->kind != LPT_TOKEN_WORD)
        return lpt_parse_expected (parser, "an attribute (name=value)");
      attr.name = g_strdup (token->text->str);
      attr.line = token->line;
      attr.column = token->column;
      g_array_append_val (attrs, attr);
      for (guint i = 0; i + 1 < attrs->len; i++)
        if (strcmp (g_array_index (attrs, LptAttrText, i).name, attr.name) == 0)
          return lpt_parse_fail (parser, "attribute '%s' stands twice", attr.name);
      lpt_lexer_next (&parser->lexer);
      if (!lpt_parse_expect (parser, "="))
        return FALSE;
      if (lpt_lexer_is (&parser->lexer, "["))
        {
          attr.is_list = TRUE;
          if (!parse_list_text (parser, &attr.text))
            return FALSE;
        }
      else if (token->kind == LPT_TOKEN_WORD || token->kind == LPT_TOKEN_STRING)
        {
          attr.text = g_strdup (token->text->str);
          lpt_lexer_next (&parser->lexer);
        }
      else
        return lpt_parse_expected (parser, "the value of the attribute");
      g_array_index (attrs, LptAttrText, attrs->len - 1) = attr;
      if (attrs->len > 64)
        return lpt_parse_fail (parser, "more than 64 attributes");
      if (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }

  return lpt_parse_expect (parser, "}");
}

static gboolean
parse_shape (LptParser *parser,
             LptShape  *shape)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) local = NULL;

  if (!lpt_lexer_is (&parser->lexer, "["))
    return lpt_parse_expect (parser, "[");
  if (!parse_list_text (parser, &text))
    return FALSE;
  if (!lpt_shape_from_string (text, shape, &local))
    return lpt_parse_fail (parser, "%s", local->message);

  return TRUE;
}

static gboolean
parse_type (LptParser     *parser,
            LptParseScope *scope,
            LptTypeText      *type)
{
  if (!parse_dtype (parser, &type->dtype) || !parse_shape (parser, &type->shape))
    return FALSE;
  if (lpt_parse_accept (parser, "q") && !lpt_parse_quant (parser, &type->quant))
    return FALSE;
  if (lpt_parse_accept (parser, "names"))
    {
      if (!lpt_parse_expect (parser, "{"))
        return FALSE;
      type->names = g_ptr_array_new_with_free_func (g_free);
      while (!lpt_lexer_is (&parser->lexer, "}"))
        {
          char *name;

          if (!lpt_parse_string (parser, &name))
            return FALSE;
          g_ptr_array_add (type->names, name);
          if (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ","))
            return FALSE;
        }
      lpt_lexer_next (&parser->lexer);
    }
  if (lpt_parse_accept (parser, "#{") && !lpt_parse_mark (parser, scope, &type->mark, NULL, NULL))
    return FALSE;

  return TRUE;
}

static gboolean
parse_types (LptParser     *parser,
             LptParseScope *scope,
             GArray        *types)
{
  do
    {
      LptTypeText none = { 0 };

      if (types->len >= G_MAXINT16)
        return lpt_parse_fail (parser, "unsupported: more than %d outputs", G_MAXINT16);
      g_array_append_val (types, none);
      if (!parse_type (parser, scope, &g_array_index (types, LptTypeText, types->len - 1)))
        return FALSE;
    }
  while (lpt_parse_accept (parser, ","));

  return TRUE;
}

static gboolean
parse_controls (LptParser     *parser,
                LptParseScope *scope,
                GPtrArray    **controls)
{
  *controls = g_ptr_array_new ();
  if (!lpt_parse_expect (parser, "("))
    return FALSE;
  while (!lpt_lexer_is (&parser->lexer, ")"))
    {
      LptValue *value;

      if (!parse_value (parser, scope, &value))
        return FALSE;
      g_ptr_array_add (*controls, value->producer);
      if (!lpt_lexer_is (&parser->lexer, ")") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }

  return lpt_parse_expect (parser, ")");
}

/* Name and op, up to the inputs. */
static gboolean
parse_head (LptParser *parser,
            LptStatement *s)
{
  const LptToken *token = &parser->lexer.token;
  gint64 version;

  s->line = token->line;
  s->column = token->column;
  if (token->kind == LPT_TOKEN_VALUE)
    {
      if (token->index >= 0)
        return lpt_parse_fail (parser, "a name that ends with .%" G_GINT64_FORMAT " stands in quotes", token->index);
      s->name = g_strdup (token->text->str);
      lpt_lexer_next (&parser->lexer);
      if (!lpt_parse_expect (parser, "="))
        return FALSE;
    }
  if (token->kind != LPT_TOKEN_WORD)
    return lpt_parse_expected (parser, "an op");
  s->info = strcmp (token->text->str, "Opaque") == 0 ? lpt_op_info (LPT_OP_OPAQUE) : lpt_op_find (token->text->str);
  if (s->info == NULL)
    return lpt_parse_fail (parser, "unsupported op '%s'", token->text->str);
  if (s->name == NULL && s->info->op != LPT_OP_RESULT)
    return lpt_parse_fail (parser, "%s needs a name: %%name = %s(...)", s->info->name, s->info->name);
  lpt_lexer_next (&parser->lexer);
  if (lpt_parse_accept (parser, "@"))
    {
      if (!lpt_parse_int (parser, &version))
        return FALSE;
      if (version < 1 || version > LPT_NEWEST_OPSET || lpt_op_version (s->info, (guint) version) == 0)
        return lpt_parse_fail (parser, "%s has no version %" G_GINT64_FORMAT, s->info->name, version);
      s->opset = (guint) version;
    }

  return TRUE;
}

/* "{" of a constant is current: over its elements, which can be read when the type is known. */
static gboolean
skip_data (LptParser     *parser,
           LptLexerPlace *start)
{
  lpt_lexer_next (&parser->lexer);
  *start = lpt_lexer_place (&parser->lexer);
  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      if (parser->lexer.token.kind == LPT_TOKEN_END || parser->lexer.token.kind == LPT_TOKEN_BAD)
        return lpt_parse_expect (parser, "}");
      lpt_lexer_next (&parser->lexer);
    }
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

static gboolean
read_data (LptParser     *parser,
           LptLexerPlace  start,
           LptStatement     *s)
{
  LptLexerPlace behind = lpt_lexer_place (&parser->lexer);
  const LptTypeText *type;

  if (s->types->len != 1)
    return lpt_parse_fail_at (parser, s->line, s->column, "a constant needs one type: Const {1, 2} : i64[2]");
  type = &g_array_index (s->types, LptTypeText, 0);
  if ((lpt_dtype_bits (type->dtype) == 0 && type->dtype != LPT_DTYPE_STRING) || !lpt_shape_is_static (&type->shape))
    return lpt_parse_fail_at (parser, s->line, s->column, "a constant needs a type that is known");
  lpt_lexer_go (&parser->lexer, start);
  if (!lpt_parse_data (parser, type->dtype, &type->shape, &s->data))
    return FALSE;
  lpt_lexer_go (&parser->lexer, behind);

  return TRUE;
}

gboolean
lpt_parse_statement (LptParser     *parser,
                     LptParseScope *scope,
                     LptStatement     *s)
{
  LptLexerPlace data = { NULL };

  if (!parse_head (parser, s))
    return FALSE;
  if (lpt_lexer_is (&parser->lexer, "(") && !parser->lexer.token.first && !parse_inputs (parser, scope, s->inputs))
    return FALSE;
  if (s->info->op == LPT_OP_CONST)
    {
      if (!lpt_lexer_is (&parser->lexer, "{"))
        return lpt_parse_expect (parser, "{");
      if (!skip_data (parser, &data))
        return FALSE;
    }
  if (lpt_parse_accept (parser, "{") && !lpt_parse_attrs (parser, s->attrs))
    return FALSE;
  if (lpt_parse_accept (parser, "#{") && !lpt_parse_mark (parser, scope, &s->mark, &s->flags, &s->requant))
    return FALSE;
  if (lpt_parse_accept (parser, "after") && !parse_controls (parser, scope, &s->controls))
    return FALSE;
  if (lpt_parse_accept (parser, "rt"))
    {
      s->rt_info = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      if (!lpt_parse_strings (parser, s->rt_info))
        return FALSE;
    }
  if (lpt_parse_accept (parser, ":") && !parse_types (parser, scope, s->types))
    return FALSE;

  return s->info->op != LPT_OP_CONST || read_data (parser, data, s);
}
