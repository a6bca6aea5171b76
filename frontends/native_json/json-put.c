/* json-put.c - pieces of JSON text: strings, numbers, shapes, members
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/native_json/json-put.h"

#include "ir/lpt-attrs-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
json_put_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        {
          g_string_append_c (out, '\\');
          g_string_append_c (out, *p);
        }
      else if ((guchar) *p < 0x20)
        g_string_append_printf (out, "\\u%04x", (guchar) *p);
      else
        g_string_append_c (out, *p);
    }
  g_string_append_c (out, '"');
}

void
json_put_int (GString *out, gint64 value)
{
  gboolean exact = value >= -(G_GINT64_CONSTANT (1) << 53) && value <= G_GINT64_CONSTANT (1) << 53;
  g_string_append_printf (out, exact ? "%" G_GINT64_FORMAT : "\"%" G_GINT64_FORMAT "\"", value);
}

void
json_put_double (GString *out, double value)
{
  if (!isfinite (value))
    g_string_append_c (out, '"');
  lpt_append_double (out, value);
  if (!isfinite (value))
    g_string_append_c (out, '"');
}

void
json_put_shape (GString *out, const LptShape *shape)
{
  if (shape->rank == LPT_DYNAMIC)
    {
      g_string_append (out, "null");
      return;
    }
  g_string_append_c (out, '[');
  for (gint i = 0; i < shape->rank; i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      if (shape->dims[i] == LPT_DYNAMIC)
        g_string_append (out, "null");
      else
        json_put_int (out, shape->dims[i]);
    }
  g_string_append_c (out, ']');
}

/* Begins a member of an object that already holds something. */
void
json_put_key (GString *out, const char *key)
{
  g_string_append (out, ", ");
  json_put_string (out, key);
  g_string_append (out, ": ");
}

static int
compare_strings (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

void
json_put_strings (GString *out, const char *key, GHashTable *table)
{
  if (table == NULL || g_hash_table_size (table) == 0)
    return;
  guint n;
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array (table, &n);
  qsort (keys, n, sizeof *keys, compare_strings);
  json_put_key (out, key);
  for (guint i = 0; i < n; i++)
    {
      const char *name = keys[i];
      g_string_append (out, i == 0 ? "{" : ", ");
      json_put_string (out, name);
      g_string_append (out, ": ");
      json_put_string (out, g_hash_table_lookup (table, name));
    }
  g_string_append_c (out, '}');
}
