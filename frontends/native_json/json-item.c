/* json-item.c - single items of the native JSON: numbers, texts, shapes, type lists
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/native_json/json-reader.h"

#include <string.h>

cJSON *
lpt_json_member (const cJSON *object, const char *name)
{
  return cJSON_GetObjectItemCaseSensitive (object, name);
}

const char *
lpt_json_text (const cJSON *object, const char *name)
{
  return cJSON_GetStringValue (lpt_json_member (object, name));
}

/* An integer, as number or as text; FALSE when it is none or out of range. */
gboolean
lpt_json_int (const cJSON *item, gint64 low, gint64 high, gint64 *out)
{
  if (cJSON_IsString (item))
    return g_ascii_string_to_signed (item->valuestring, 10, low, high, out, NULL);
  if (!cJSON_IsNumber (item) || !(item->valuedouble >= -9007199254740992.0 && item->valuedouble <= 9007199254740992.0))
    return FALSE;
  *out = (gint64) item->valuedouble;
  return (double) *out == item->valuedouble && *out >= low && *out <= high;
}

gboolean
lpt_json_double (const cJSON *item, double *out)
{
  if (cJSON_IsString (item))
    {
      char *end;
      *out = g_ascii_strtod (item->valuestring, &end);
      return end != item->valuestring && *end == '\0';
    }
  *out = cJSON_IsNumber (item) ? item->valuedouble : 0.0;
  return cJSON_IsNumber (item);
}

gboolean
lpt_json_shape (const cJSON *item, LptShape *out)
{
  *out = LPT_SHAPE_ANY;
  if (cJSON_IsNull (item))
    return TRUE;
  if (!cJSON_IsArray (item))
    return FALSE;
  out->rank = 0;
  const cJSON *dim;
  cJSON_ArrayForEach (dim, item)
    {
      if (out->rank == LPT_MAX_RANK)
        return FALSE;
      if (cJSON_IsNull (dim))
        out->dims[out->rank] = LPT_DYNAMIC;
      else if (!lpt_json_int (dim, 0, G_MAXINT64, &out->dims[out->rank]))
        return FALSE;
      out->rank++;
    }
  return TRUE;
}

gboolean
lpt_json_types (const cJSON *item, LptTypeList *out)
{
  *out = (LptTypeList) { 0 };
  const cJSON *type;
  if (!cJSON_IsArray (item))
    return FALSE;
  cJSON_ArrayForEach (type, item)
    {
      LptDType dtype = cJSON_IsString (type) ? lpt_dtype_from_name (type->valuestring) : LPT_DTYPE_UNDEFINED;
      if (dtype == LPT_DTYPE_UNDEFINED || out->n == LPT_MAX_TYPES)
        return FALSE;
      lpt_type_list_add (out, dtype);
    }
  return TRUE;
}

/* Position of @text in @names, or -1. */
gint
lpt_json_index (const char *text, const char *const *names, guint n)
{
  for (guint i = 0; text != NULL && i < n; i++)
    if (g_str_equal (text, names[i]))
      return (gint) i;
  return -1;
}

/* Strings of an object into @table, which is made when there are any. */
gboolean
lpt_json_strings (const cJSON *item, GHashTable **table)
{
  const cJSON *entry;
  if (item == NULL)
    return TRUE;
  if (!cJSON_IsObject (item))
    return FALSE;
  cJSON_ArrayForEach (entry, item)
    {
      if (!cJSON_IsString (entry))
        return FALSE;
      if (*table == NULL)
        *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      g_hash_table_replace (*table, g_strdup (entry->string), g_strdup (entry->valuestring));
    }
  return TRUE;
}
