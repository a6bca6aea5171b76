/* lpt-parse-mark.c - reading the marks of passes in the text form: #{types=u8|i8, relaxed, ...}
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/text/lpt-parse.h"
#include "ir/text/lpt-print.h"

static gboolean
parse_types (LptParser   *parser,
             LptTypeList *list)
{
  *list = (LptTypeList) { 0 };
  if (lpt_lexer_is (&parser->lexer, "none"))
    {
      lpt_lexer_next (&parser->lexer);
      return TRUE;
    }
  do
    {
      LptDType dtype = parser->lexer.token.kind == LPT_TOKEN_WORD ? lpt_dtype_from_name (parser->lexer.token.text->str)
                                                                  : LPT_DTYPE_UNDEFINED;

      if (lpt_dtype_bits (dtype) == 0)
        return lpt_parse_expected (parser, "an element type");
      if (list->n == LPT_MAX_TYPES || lpt_type_list_has (list, dtype))
        return lpt_parse_fail (parser, "the list has more than %d types, or one twice", LPT_MAX_TYPES);
      lpt_type_list_add (list, dtype);
      lpt_lexer_next (&parser->lexer);
    }
  while (lpt_parse_accept (parser, "|"));

  return TRUE;
}

static gboolean
parse_interval (LptParser   *parser,
                LptInterval *v)
{
  if (!lpt_parse_expect (parser, "{"))
    return FALSE;
  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      g_autofree char *name = g_strdup (parser->lexer.token.text->str);
      gboolean ok;

      if (parser->lexer.token.kind != LPT_TOKEN_WORD)
        return lpt_parse_expected (parser, "a field of an interval");
      lpt_lexer_next (&parser->lexer);
      if (!lpt_parse_expect (parser, "="))
        return FALSE;
      if (strcmp (name, "preferred") == 0)
        ok = parse_types (parser, &v->preferred);
      else if (strcmp (name, "levels") == 0 || strcmp (name, "min_levels") == 0)
        {
          guint64 *levels = strcmp (name, "levels") == 0 ? &v->levels : &v->min_levels;

          if (!g_ascii_string_to_unsigned (parser->lexer.token.text->str, 10, 0, G_MAXUINT64, levels, NULL))
            return lpt_parse_expected (parser, "a number of levels");
          lpt_lexer_next (&parser->lexer);
          ok = TRUE;
        }
      else
        {
          float *field = strcmp (name, "low") == 0 ? &v->low : strcmp (name, "high") == 0 ? &v->high
                         : strcmp (name, "min_low") == 0 ? &v->min_low : strcmp (name, "min_high") == 0 ? &v->min_high : NULL;
          double value = 0;

          if (field == NULL)
            return lpt_parse_fail (parser, "an interval has no field '%s'", name);
          ok = lpt_parse_double (parser, &value);
          *field = (float) value;
        }
      if (!ok || (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ",")))
        return FALSE;
    }

  return lpt_parse_expect (parser, "}");
}

static gboolean
same_box_value (const LptBoxValue *a,
                const LptBoxValue *b)
{
  switch (a->kind)
    {
    case LPT_BOX_PRECISIONS:
      return lpt_type_list_equal (&a->types, &b->types);
    case LPT_BOX_INTERVAL:
      return memcmp (&a->interval.low, &b->interval.low, 4 * sizeof (float)) == 0 &&
             a->interval.levels == b->interval.levels && a->interval.min_levels == b->interval.min_levels &&
             lpt_type_list_equal (&a->interval.preferred, &b->interval.preferred);
    default:
      return a->flag == b->flag;
    }
}

/* "2", "2:value" or "value" */
static gboolean
parse_box (LptParser     *parser,
           LptParseScope *scope,
           LptBoxKind     kind,
           LptBox        *box)
{
  LptBoxValue value = { .kind = kind };
  gint64 number = 0;
  LptBox known = 0;
  gboolean has_value = TRUE;

  if (parser->lexer.token.kind == LPT_TOKEN_WORD && g_ascii_isdigit (parser->lexer.token.text->str[0]))
    {
      if (!lpt_parse_int (parser, &number))
        return FALSE;
      if (number < 1 || number > G_MAXINT32)
        return lpt_parse_fail (parser, "numbers of shared values begin with 1");
      known = GPOINTER_TO_UINT (g_hash_table_lookup (scope->boxes, GUINT_TO_POINTER ((guint) number)));
      has_value = lpt_parse_accept (parser, ":");
    }
  if (known != 0 && lpt_box (scope->graph, known)->kind != kind)
    return lpt_parse_fail (parser, "shared value %" G_GINT64_FORMAT " is of another kind", number);
  if (!has_value && known == 0)
    return lpt_parse_fail (parser, "shared value %" G_GINT64_FORMAT " is not known yet", number);
  if (has_value && !(kind == LPT_BOX_PRECISIONS ? parse_types (parser, &value.types)
                     : kind == LPT_BOX_INTERVAL ? parse_interval (parser, &value.interval)
                                                : lpt_parse_flag (parser, &value.flag)))
    return FALSE;
  if (known != 0 && has_value && !same_box_value (&value, lpt_box (scope->graph, known)))
    return lpt_parse_fail (parser, "shared value %" G_GINT64_FORMAT " is something else above", number);

  if (known == 0)
    {
      LptBoxValue *made;

      known = lpt_box_new (scope->graph, kind);
      made = lpt_box (scope->graph, known);
      made->types = value.types;
      made->interval = value.interval;
      made->flag = value.flag;
      if (number != 0)
        g_hash_table_insert (scope->boxes, GUINT_TO_POINTER ((guint) number), GUINT_TO_POINTER (known));
    }
  *box = known;

  return TRUE;
}

static gboolean
parse_mark_item (LptParser     *parser,
                 LptParseScope *scope,
                 LptMark       *mark,
                 guint32       *flags,
                 char         **requant)
{
  const struct { const char *name; LptBoxKind kind; LptBox *box; } boxes[] =
  {
    { "precisions", LPT_BOX_PRECISIONS, &mark->precisions }, { "preserved", LPT_BOX_PRESERVED, &mark->preserved },
    { "avg_pool", LPT_BOX_PRESERVED, &mark->avg_pool }, { "interval", LPT_BOX_INTERVAL, &mark->interval },
    { "alignment", LPT_BOX_ALIGNMENT, &mark->alignment },
  };
  g_autofree char *name = g_strdup (parser->lexer.token.text->str);

  if (parser->lexer.token.kind != LPT_TOKEN_WORD)
    return lpt_parse_expected (parser, "a mark");
  for (guint i = 0; flags != NULL && lpt_node_flag_names[i] != NULL; i++)
    if (strcmp (name, lpt_node_flag_names[i]) == 0)
      {
        *flags |= 1u << i;
        lpt_lexer_next (&parser->lexer);
        return TRUE;
      }
  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
    if (strcmp (name, boxes[i].name) == 0)
      {
        lpt_lexer_next (&parser->lexer);
        return lpt_parse_expect (parser, "=") && parse_box (parser, scope, boxes[i].kind, boxes[i].box);
      }
  if (strcmp (name, "granularity") == 0)
    {
      lpt_lexer_next (&parser->lexer);
      if (!lpt_parse_expect (parser, "="))
        return FALSE;
      mark->granularity = lpt_lexer_is (&parser->lexer, "per_tensor") ? LPT_GRANULARITY_PER_TENSOR
                          : lpt_lexer_is (&parser->lexer, "per_channel") ? LPT_GRANULARITY_PER_CHANNEL
                                                                         : LPT_GRANULARITY_NONE;
      if (mark->granularity == LPT_GRANULARITY_NONE)
        return lpt_parse_expected (parser, "per_tensor or per_channel");
      lpt_lexer_next (&parser->lexer);
      return TRUE;
    }
  if (requant != NULL && strcmp (name, "requant") == 0)
    {
      lpt_lexer_next (&parser->lexer);
      g_clear_pointer (requant, g_free);
      return lpt_parse_expect (parser, "=") && lpt_parse_string (parser, requant);
    }

  return lpt_parse_fail (parser, "'%s' is not a mark %s", name, flags != NULL ? "of a node" : "of an input or output");
}

gboolean
lpt_parse_mark (LptParser     *parser,
                LptParseScope *scope,
                LptMark       *mark,
                guint32       *flags,
                char         **requant)
{
  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      if (!parse_mark_item (parser, scope, mark, flags, requant))
        return FALSE;
      if (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }

  return lpt_parse_expect (parser, "}");
}
