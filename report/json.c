/* json.c - JSON that may stand inside of a page
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/json.h"

#include <math.h>
#include <string.h>

void
lpt_page_json_text (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_string_append_c (out, '"');
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", (char) c);
      else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&' || c == '\'' || c == 0x2028 || c == 0x2029)
        g_string_append_printf (out, "\\u%04x", c);
      else
        g_string_append_unichar (out, c);
    }
  g_string_append_c (out, '"');
}

void
lpt_page_json_next (GString *out)
{
  if (out->len > 0 && strchr ("{[:", out->str[out->len - 1]) == NULL)
    g_string_append_c (out, ',');
}

void
lpt_page_json_key (GString *out, const char *key)
{
  lpt_page_json_next (out);
  g_string_append_printf (out, "\"%s\":", key);
}

void
lpt_page_json_string (GString *out, const char *key, const char *text)
{
  lpt_page_json_key (out, key);
  if (text != NULL)
    lpt_page_json_text (out, text);
  else
    g_string_append (out, "null");
}

void
lpt_page_json_number (GString *out, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  lpt_page_json_key (out, key);
  g_string_append (out, isfinite (value) ? g_ascii_formatd (text, sizeof text, "%.6g", value) : "null");
}

void
lpt_page_json_int (GString *out, const char *key, gint64 value)
{
  lpt_page_json_key (out, key);
  g_string_append_printf (out, "%" G_GINT64_FORMAT, value);
}
