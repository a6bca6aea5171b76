/* lpt-parse-parts.c - reading quantization and constants of the text form
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
  g_set_error (parser->error, LPT_ERROR,
               strstr (text, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID, "%s%s%u:%u: %s",
               parser->filename != NULL ? parser->filename : "", parser->filename != NULL ? ":" : "", line, column,
               text);
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
      return lpt_parse_fail (parser, "%s is expected, not %s%s%s", what, token->kind == LPT_TOKEN_VALUE ? "%" : "'",
                             shown, token->kind == LPT_TOKEN_VALUE ? "" : "'");
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

gboolean
lpt_parse_flag (LptParser *parser,
                gboolean  *flag)
{
  *flag = lpt_lexer_is (&parser->lexer, "true");
  if (!*flag && !lpt_lexer_is (&parser->lexer, "false"))
    return lpt_parse_expected (parser, "true or false");
  lpt_lexer_next (&parser->lexer);

  return TRUE;
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

      if (!lpt_parse_flag (parser, &flag))
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
      char *text = NULL;

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
