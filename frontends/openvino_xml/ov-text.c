/* ov-text.c - text of attributes in XML that is written
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-text.h"

gboolean
ov_is_text (const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    if ((guchar) *p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r')
      return FALSE;
  return g_utf8_validate (text, -1, NULL);
}

void
ov_put_attr (GString *out, const char *name, const char *text)
{
  g_string_append_printf (out, " %s=\"", name);
  for (const char *p = text; *p != '\0'; p++)
    switch (*p)
      {
      case '&':  g_string_append (out, "&amp;"); break;
      case '<':  g_string_append (out, "&lt;"); break;
      case '>':  g_string_append (out, "&gt;"); break;
      case '"':  g_string_append (out, "&quot;"); break;
      case '\t': case '\n': case '\r':
        g_string_append_printf (out, "&#%d;", *p);
        break;
      default:
        g_string_append_c (out, *p);
      }
  g_string_append_c (out, '"');
}
