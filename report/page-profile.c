/* page-profile.c - the times that `bench --profile --json` wrote, on the ops that they are of
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include "report/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static double
number (const cJSON *object, const char *key)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive (object, key);
  return cJSON_IsNumber (item) ? item->valuedouble : NAN;
}

static const char *
string (const cJSON *object, const char *key)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive (object, key);
  return cJSON_IsString (item) ? item->valuestring : NULL;
}

/* One row; what stands for no op of the source is summed up. */
static void
take_row (LptPage *page, const cJSON *row, gboolean original, double *elsewhere)
{
  const char *name = string (row, "layerName"), *status = string (row, "execStatus"),
             *kernel = string (row, "execType");
  double ms = number (row, "realTime");
  if (name == NULL || isnan (ms) || g_strcmp0 (status, "EXECUTED") != 0)
    return;
  LptPageNode *node = lpt_page_find (page, name);
  if (node == NULL)
    {
      *elsewhere += ms;
      return;
    }
  double *sum = original ? &node->original_ms : &node->ms;
  *sum = MAX (*sum, 0.0) + ms;
  if (!original && kernel != NULL && (node->kernel == NULL || node->row != NULL))
    {
      g_free (node->kernel);
      node->kernel = g_strdup (kernel);
    }
}

gboolean
lpt_page_profile (LptPage *page, const char *text, gboolean original, GString *out, GError **error)
{
  static const char *const numbers[] = { "min_ms",      "median_ms",   "mean_ms",          "threads",
                                         "macs",        "gmacs_per_s", "peak_gmacs_per_s", "core_gbytes_per_s",
                                         "arena_bytes", "peak_rss_mb" };
  cJSON *json = cJSON_Parse (text);
  const cJSON *rows = cJSON_GetObjectItemCaseSensitive (json, "profile"), *row;
  double elsewhere = 0.0;
  if (!cJSON_IsArray (rows))
    {
      cJSON_Delete (json);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no list \"profile\": lptc bench --profile --json writes one");
      return FALSE;
    }
  cJSON_ArrayForEach (row, rows)
    take_row (page, row, original, &elsewhere);
  lpt_page_json_key (out, original ? "originalProfile" : "profile");
  g_string_append_c (out, '{');
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    lpt_page_json_number (out, numbers[i], number (json, numbers[i]));
  lpt_page_json_string (out, "cpu", string (json, "cpu_model"));
  lpt_page_json_string (out, "level", string (json, "cpu"));
  lpt_page_json_number (out, "elsewhere", elsewhere);
  g_string_append_c (out, '}');
  cJSON_Delete (json);
  return TRUE;
}
