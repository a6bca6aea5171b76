/* lpt-parse-parts.c - reading marks, quantization and constants of the text form
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/text/lpt-parse.h"
#include "ir/text/lpt-print.h"

/* --- small things --- */

static void
set_error (LptParser  *parser,
           guint       line,
           guint       column,
           const char *format,
           va_list     args)
{
  g_autofree char *text = g_strdup_vprintf (format, args);

  if (parser->error == NULL || *parser->error != NULL)
    return;
  g_set_error (parser->error, LPT_ERROR, strstr (text, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID,
               "%s%s%u:%u: %s", parser->filename != NULL ? parser->filename : "", parser->filename != NULL ? ":" : "",
               line, column, text);
}

gboolean
lpt_parse_fail (LptParser  *parser,
                const char *format,
                ...)
{
  const LptToken *token = &parser->lexer.token;
  va_list args;

  va_start (args, format);
  set_error (parser, token->line, token->column, format, args);
  va_end (args);

  return FALSE;
}

gboolean
lpt_parse_fail_at (LptParser  *parser,
                   guint       line,
                   guint       column,
                   const char *format,
                   ...)
{
  va_list args;

  va_start (args, format);
  set_error (parser, line, column, format, args);
  va_end (args);

  return FALSE;
}

/* "... is expected, not ..." */
gboolean
lpt_parse_expected (LptParser  *parser,
                    const char *what)
{
  const LptToken *token = &parser->lexer.token;
  g_autofree char *shown = NULL;

  switch (token->kind)
    {
    case LPT_TOKEN_END:
      return lpt_parse_fail (parser, "%s is expected, not the end of the text", what);
    case LPT_TOKEN_BAD:
      return lpt_parse_fail (parser, "%s", token->text->str);
    default:
      shown = g_utf8_make_valid (token->text->str, (gssize) MIN (token->text->len, 40));
      return lpt_parse_fail (parser, "%s is expected, not %s%s%s", what, token->kind == LPT_TOKEN_VALUE ? "%" : "'", shown,
                             token->kind == LPT_TOKEN_VALUE ? "" : "'");
    }
}

gboolean
lpt_parse_expect (LptParser  *parser,
                  const char *text)
{
  if (!lpt_lexer_is (&parser->lexer, text))
    {
      g_autofree char *quoted = g_strdup_printf ("'%s'", text);

      return lpt_parse_expected (parser, quoted);
    }
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

gboolean
lpt_parse_accept (LptParser  *parser,
                  const char *text)
{
  if (parser->lexer.token.first || !lpt_lexer_is (&parser->lexer, text))
    return FALSE;
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

gboolean
lpt_parse_string (LptParser  *parser,
                  char      **out)
{
  if (parser->lexer.token.kind != LPT_TOKEN_STRING)
    return lpt_parse_expected (parser, "a string in quotes");
  *out = g_strdup (parser->lexer.token.text->str);
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

gboolean
lpt_parse_int (LptParser *parser,
               gint64    *out)
{
  if (parser->lexer.token.kind != LPT_TOKEN_WORD ||
      !g_ascii_string_to_signed (parser->lexer.token.text->str, 10, G_MININT64, G_MAXINT64, out, NULL))
    return lpt_parse_expected (parser, "an integer");
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

gboolean
lpt_parse_double (LptParser *parser,
                  double    *out)
{
  char *end = NULL;

  if (parser->lexer.token.kind == LPT_TOKEN_WORD)
    *out = g_ascii_strtod (parser->lexer.token.text->str, &end);
  if (end == NULL || end == parser->lexer.token.text->str || *end != '\0')
    return lpt_parse_expected (parser, "a number");
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

gboolean
lpt_parse_strings (LptParser  *parser,
                   GHashTable *into)
{
  if (!lpt_parse_expect (parser, "{"))
    return FALSE;
  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      g_autofree char *key = NULL;
      char *value = NULL;

      if (!lpt_parse_string (parser, &key) || !lpt_parse_expect (parser, "=") || !lpt_parse_string (parser, &value))
        return FALSE;
      g_hash_table_replace (into, g_steal_pointer (&key), value);
      if (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }

  return lpt_parse_expect (parser, "}");
}

/* --- marks --- */

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
parse_flag (LptParser *parser,
            gboolean  *flag)
{
  *flag = lpt_lexer_is (&parser->lexer, "true");
  if (!*flag && !lpt_lexer_is (&parser->lexer, "false"))
    return lpt_parse_expected (parser, "true or false");
  lpt_lexer_next (&parser->lexer);

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
      return memcmp (&a->interval.low, &b->interval.low, 4 * sizeof (float)) == 0 && a->interval.levels == b->interval.levels &&
             a->interval.min_levels == b->interval.min_levels &&
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
                                                : parse_flag (parser, &value.flag)))
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

/* --- quantization --- */

/* One number, or a list of them in brackets. */
static gboolean
parse_numbers (LptParser *parser,
               GArray    *list)
{
  double value;

  g_array_set_size (list, 0);
  if (!lpt_parse_accept (parser, "["))
    {
      if (!lpt_parse_double (parser, &value))
        return FALSE;
      g_array_append_val (list, value);
      return TRUE;
    }
  while (!lpt_lexer_is (&parser->lexer, "]"))
    {
      if (!lpt_parse_double (parser, &value))
        return FALSE;
      g_array_append_val (list, value);
      if (!lpt_lexer_is (&parser->lexer, "]") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }

  return lpt_parse_expect (parser, "]");
}

gboolean
lpt_parse_quant (LptParser *parser,
                 LptQuant **out)
{
  g_autoptr (GArray) scale = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) zp = g_array_new (FALSE, FALSE, sizeof (double));
  g_autofree gint32 *points = NULL;
  gint64 axis = LPT_QUANT_PER_TENSOR;

  if (!lpt_parse_expect (parser, "{"))
    return FALSE;
  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      gboolean ok;

      if (lpt_parse_accept (parser, "axis"))
        ok = lpt_parse_expect (parser, "=") && lpt_parse_int (parser, &axis);
      else if (lpt_parse_accept (parser, "scale"))
        ok = lpt_parse_expect (parser, "=") && parse_numbers (parser, scale);
      else if (lpt_parse_accept (parser, "zp"))
        ok = lpt_parse_expect (parser, "=") && parse_numbers (parser, zp);
      else
        return lpt_parse_expected (parser, "axis, scale or zp");
      if (!ok || (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ",")))
        return FALSE;
    }
  if (scale->len == 0)
    return lpt_parse_fail (parser, "quantization without scale");
  if (axis < LPT_QUANT_PER_TENSOR || axis >= LPT_MAX_RANK)
    return lpt_parse_fail (parser, "axis %" G_GINT64_FORMAT " is out of range", axis);
  if (zp->len != 0 && zp->len != scale->len)
    return lpt_parse_fail (parser, "%u scales and %u zero points", scale->len, zp->len);
  if (axis == LPT_QUANT_PER_TENSOR && scale->len != 1)
    return lpt_parse_fail (parser, "%u scales without an axis", scale->len);
  if (zp->len > 0)
    {
      points = g_new (gint32, zp->len);
      for (guint i = 0; i < zp->len; i++)
        {
          double value = g_array_index (zp, double, i);

          if (!(value >= G_MININT32 && value <= G_MAXINT32) || value != floor (value))
            return lpt_parse_fail (parser, "zero point %g is not a 32-bit integer", value);
          points[i] = (gint32) value;
        }
    }
  *out = lpt_quant_new ((gint) axis, scale->len, (const double *) (gpointer) scale->data, points);

  return lpt_parse_expect (parser, "}");
}

/* --- constants --- */

static gboolean
parse_element (LptParser *parser,
               LptDType   dtype,
               double    *real,
               gint64    *integer)
{
  const char *text = parser->lexer.token.text->str;

  if (lpt_dtype_is_real (dtype))
    return lpt_parse_double (parser, real);
  if (dtype == LPT_DTYPE_BOOL)
    {
      gboolean flag;

      if (!parse_flag (parser, &flag))
        return FALSE;
      *integer = flag;
      return TRUE;
    }
  if (parser->lexer.token.kind != LPT_TOKEN_WORD)
    return lpt_parse_expected (parser, "a number");
  if (dtype == LPT_DTYPE_U64)
    {
      guint64 value;

      if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, &value, NULL))
        return lpt_parse_expected (parser, "a number of type u64");
      *integer = (gint64) value;
    }
  else
    {
      guint bits = lpt_dtype_bits (dtype);
      gboolean sign = lpt_dtype_kind (dtype) == LPT_KIND_SINT;
      gint64 high = bits == 64 ? G_MAXINT64 : (G_GINT64_CONSTANT (1) << (sign ? bits - 1 : bits)) - 1;

      if (!g_ascii_string_to_signed (text, 10, sign ? -high - 1 : 0, high, integer, NULL))
        {
          g_autofree char *what = g_strdup_printf ("a number of type %s", lpt_dtype_name (dtype));

          return lpt_parse_expected (parser, what);
        }
    }
  lpt_lexer_next (&parser->lexer);

  return TRUE;
}

static gboolean
parse_base64 (LptParser       *parser,
              LptDType         dtype,
              const LptShape  *shape,
              LptTensor      **out)
{
  g_autofree char *text = NULL;
  g_autofree guchar *data = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) local = NULL;
  gint64 count;
  gsize size, needed;

  if (!lpt_parse_string (parser, &text))
    return FALSE;
  data = g_base64_decode (text, &size);
  if (!lpt_shape_count (shape, &count) || !lpt_tensor_stated_size (dtype, count, size, &needed) || size != needed)
    return lpt_parse_fail (parser, "base64 of %" G_GSIZE_FORMAT " bytes does not fit the type", size);
  bytes = g_bytes_new_take (g_steal_pointer (&data), size);
  *out = lpt_tensor_new_bytes (dtype, shape, bytes, 0, &local);

  return *out != NULL || lpt_parse_fail (parser, "%s", local->message);
}

/* "one", "two" up to the brace. */
static gboolean
parse_string_data (LptParser       *parser,
                   const LptShape  *shape,
                   LptTensor      **out)
{
  g_autoptr (GPtrArray) strings = g_ptr_array_new_with_free_func (g_free);
  g_autofree gsize *lengths = NULL;
  gint64 count;
  guint i;

  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      char *text;

      if (!lpt_parse_string (parser, &text))
        return FALSE;
      g_ptr_array_add (strings, text);
      if (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }
  if (!lpt_shape_count (shape, &count) || count != strings->len)
    {
      g_autofree char *text = lpt_shape_to_string (shape);

      return lpt_parse_fail (parser, "%u strings for the shape [%s]", strings->len, text);
    }
  lengths = g_new (gsize, strings->len + 1);
  for (i = 0; i < strings->len; i++)
    lengths[i] = strlen (g_ptr_array_index (strings, i));
  *out = lpt_tensor_new_strings (shape, (const char *const *) strings->pdata, lengths, parser->error);

  return *out != NULL && lpt_parse_expect (parser, "}");
}

gboolean
lpt_parse_data (LptParser       *parser,
                LptDType         dtype,
                const LptShape  *shape,
                LptTensor      **out)
{
  gboolean is_real = lpt_dtype_is_real (dtype);
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 count;
  gpointer data;

  G_STATIC_ASSERT (sizeof (gint64) == sizeof (double));
  if (lpt_lexer_is (&parser->lexer, "..."))
    return lpt_parse_fail (parser, "this constant was left out when it was printed");
  if (lpt_parse_accept (parser, "base64"))
    return parse_base64 (parser, dtype, shape, out) && lpt_parse_expect (parser, "}");
  if (dtype == LPT_DTYPE_STRING)
    return parse_string_data (parser, shape, out);

  while (!lpt_lexer_is (&parser->lexer, "}"))
    {
      double real = 0;
      gint64 integer = 0;

      if (!parse_element (parser, dtype, &real, &integer))
        return FALSE;
      if (is_real)
        memcpy (&integer, &real, sizeof real);
      g_array_append_val (values, integer);
      if (!lpt_lexer_is (&parser->lexer, "}") && !lpt_parse_expect (parser, ","))
        return FALSE;
    }
  if (!lpt_shape_count (shape, &count) || count != values->len)
    {
      g_autofree char *text = lpt_shape_to_string (shape);

      return lpt_parse_fail (parser, "%u values for the shape [%s]", values->len, text);
    }
  data = values->data != NULL ? (gpointer) values->data : (gpointer) &count;      /* no elements: any address */
  if (is_real)
    *out = lpt_tensor_from_f64 (dtype, shape, data, parser->error);
  else
    {
      g_autoptr (LptTensor) wide = lpt_tensor_new_copy (LPT_DTYPE_I64, shape, data, parser->error);

      *out = wide != NULL ? lpt_tensor_convert (wide, dtype, parser->error) : NULL;
    }

  return *out != NULL && lpt_parse_expect (parser, "}");
}
