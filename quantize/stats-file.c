/* stats-file.c - what was seen of values, as a file
 *
 *     {"lptc-statistics": 1, "samples": SHA-256, "graph": SHA-256, "values": [
 *      {"name": NODE, "output": 0, "k": ..., "unit": ..., "ends": [min, max, and their moving averages],
 *       "counts": [values, zeros, samples], "positive": [bins], "negative": [bins],
 *       "axis": of channels, "averaged": samples, "mean": [per channel], "largest": [per channel]}, ...]}
 *
 * Histograms hold all that the methods for intervals ask for, so that another method needs no run. Numbers are written
 * with 17 digits and read back as they were. The digests are of the samples (types, shapes, bytes) and of the float
 * graph as it was when it was run: statistics of other samples are refused; where the graph is another one (another
 * model, other repairs of the float graph) values are observed anew, with a remark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/stats-file.h"

#include <lpt/lpt-out-file.h>
#include <lpt/lpt-text.h>

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#define MAX_CHANNELS (1 << 24)

/* --- digests -------------------------------------------------------------------------------------- */

char *
lpt_stats_graph_digest (LptGraph *graph)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_ELIDE);
  g_checksum_update (sum, (const guchar *) text, -1);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->nodes, i);
      if (node->data != NULL && !(node->flags & LPT_NODE_DEAD) && lpt_dtype_bits (lpt_tensor_dtype (node->data)) >= 8)
        g_checksum_update (sum, lpt_tensor_data (node->data), (gssize) lpt_tensor_size (node->data));
    }
  return g_strdup (g_checksum_get_string (sum));
}

/* --- writing -------------------------------------------------------------------------------------- */

static void
put_number (GString *s, double x)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append (s, g_ascii_formatd (text, sizeof text, "%.17g", x));
}

static void
put_numbers (GString *s, const char *name, const double *values, gint64 n)
{
  g_string_append_printf (s, ", \"%s\": [", name);
  for (gint64 i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append_c (s, ',');
      put_number (s, values[i]);
    }
  g_string_append_c (s, ']');
}

static void
put_bins (GString *s, const char *name, const guint64 *bins)
{
  guint used = LPT_BINS;
  while (used > 0 && bins[used - 1] == 0)
    used--;
  g_string_append_printf (s, ", \"%s\": [", name);
  for (guint i = 0; i < used; i++)
    g_string_append_printf (s, "%s%" G_GUINT64_FORMAT, i > 0 ? "," : "", bins[i]);
  g_string_append_c (s, ']');
}

static void
put_seen (GString *s, const LptValue *value, const LptSeen *seen)
{
  const LptHistogram *h = seen->histogram;
  cJSON *name = cJSON_CreateString (value->producer->name);
  char *text = cJSON_PrintUnformatted (name);
  g_string_append_printf (s, " {\"name\": %s, \"output\": %u, \"k\": %d, \"unit\": ", text, value->index, h->k);
  cJSON_free (text);
  cJSON_Delete (name);
  put_number (s, h->unit);
  put_numbers (s, "ends", (const double[]) { h->min, h->max, h->average_min, h->average_max }, 4);
  put_numbers (s, "counts", (const double[]) { (double) h->n, (double) h->zeros, h->samples }, 3);
  put_bins (s, "positive", h->positive);
  put_bins (s, "negative", h->negative);
  g_string_append_printf (s, ", \"axis\": %d, \"averaged\": %" G_GUINT64_FORMAT, seen->channels.axis,
                          seen->channels.samples);
  put_numbers (s, "mean", seen->channels.mean, seen->channels.n);
  put_numbers (s, "largest", seen->channels.largest, seen->channels.n);
  g_string_append_c (s, '}');
}

gboolean
lpt_stats_save (LptQuantizer *q, const char *path, const char *graph_digest, GError **error)
{
  g_autoptr (GString) s = g_string_new ("{\"lptc-statistics\": 1,\n");
  gboolean first = TRUE;
  g_string_append_printf (s, " \"samples\": \"%s\",\n \"graph\": \"%s\",\n \"values\": [\n", q->report->digest,
                          graph_digest);
  for (guint i = 0; i < q->graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (q->graph->nodes, i);
      for (guint k = 0; k < node->n_out; k++)
        {
          const LptSeen *seen = lpt_quantizer_seen (q, &node->out[k]);
          if (seen == NULL)
            continue;
          g_string_append (s, first ? "" : ",\n");
          first = FALSE;
          put_seen (s, &node->out[k], seen);
        }
    }
  g_string_append (s, "\n]}\n");
  return lpt_out_file_text (path, s->str, s->len, error);
}

/* --- reading -------------------------------------------------------------------------------------- */

static double
get_number (const cJSON *item, const char *name, double least, double most, gboolean *ok)
{
  const cJSON *value = cJSON_GetObjectItemCaseSensitive (item, name);
  if (cJSON_IsNumber (value) && value->valuedouble >= least && value->valuedouble <= most)
    return value->valuedouble;
  *ok = FALSE;
  return 0.0;
}

/* Exactly @n numbers, or up to @n with @some, into @out (nullable); how many. */
static gint64
get_numbers (const cJSON *item, const char *name, gint64 n, gboolean some, double *out, gboolean *ok)
{
  const cJSON *list = cJSON_GetObjectItemCaseSensitive (item, name), *value;
  gint64 count = 0;
  *ok = *ok && cJSON_IsArray (list);
  cJSON_ArrayForEach (value, list)
    {
      *ok = *ok && cJSON_IsNumber (value) && isfinite (value->valuedouble) && count < n;
      if (*ok && out != NULL)
        out[count] = value->valuedouble;
      count++;
    }
  *ok = *ok && (some || count == n);
  return count;
}

static void
get_bins (const cJSON *item, const char *name, guint64 *bins, gboolean *ok)
{
  g_autofree double *v = g_new0 (double, LPT_BINS);
  get_numbers (item, name, LPT_BINS, TRUE, v, ok);
  for (guint i = 0; i < LPT_BINS; i++)
    if (v[i] >= 0.0 && v[i] <= 9007199254740992.0)
      bins[i] = (guint64) v[i];
    else
      *ok = FALSE;
}

static gboolean
get_seen (const cJSON *item, LptSeen *seen)
{
  LptHistogram *h = seen->histogram;
  gboolean ok = TRUE;
  double ends[4] = { 0 }, counts[3] = { 0 };
  h->k = (gint) get_number (item, "k", -200, 200, &ok);
  h->unit = (float) get_number (item, "unit", 0.25, 1.0, &ok);
  get_numbers (item, "ends", 4, FALSE, ends, &ok);
  get_numbers (item, "counts", 3, FALSE, counts, &ok);
  h->min = (float) ends[0];
  h->max = (float) ends[1];
  h->average_min = ends[2];
  h->average_max = ends[3];
  ok = ok && counts[0] >= 0.0 && counts[0] < 1e18 && counts[1] >= 0.0 && counts[1] <= counts[0] && counts[2] >= 0.0
       && counts[2] < G_MAXUINT && h->min <= h->max;
  get_bins (item, "positive", h->positive, &ok);
  get_bins (item, "negative", h->negative, &ok);
  seen->channels.axis = (gint) get_number (item, "axis", -1, LPT_MAX_RANK - 1, &ok);
  seen->channels.samples = (guint64) get_number (item, "averaged", 0, G_MAXUINT, &ok);
  gint64 n = get_numbers (item, "mean", MAX_CHANNELS, TRUE, NULL, &ok);
  get_numbers (item, "largest", n, FALSE, NULL, &ok);
  if (!ok)
    return FALSE;
  h->n = (guint64) counts[0];
  h->zeros = (guint64) counts[1];
  h->samples = (guint) counts[2];
  if (n == 0)
    return TRUE;
  seen->channels.n = n;
  seen->channels.mean = g_new (double, n);
  seen->channels.largest = g_new (double, n);
  get_numbers (item, "mean", n, FALSE, seen->channels.mean, &ok);
  get_numbers (item, "largest", n, FALSE, seen->channels.largest, &ok);
  return ok;
}

static gboolean
read_values (LptQuantizer *q, const cJSON *root)
{
  const cJSON *values = cJSON_GetObjectItemCaseSensitive (root, "values"), *item;
  gboolean ok = cJSON_IsArray (values);
  cJSON_ArrayForEach (item, values)
    {
      const cJSON *name = cJSON_GetObjectItemCaseSensitive (item, "name");
      guint output = (guint) get_number (item, "output", 0, G_MAXINT, &ok);
      LptNode *node = cJSON_IsString (name) ? lpt_graph_find (q->graph, name->valuestring) : NULL;
      if (node == NULL || output >= node->n_out || lpt_quantizer_seen (q, &node->out[output]) != NULL
          || !get_seen (item, lpt_quantizer_add_seen (q, &node->out[output])))
        return FALSE;
    }
  return ok;
}

gboolean
lpt_stats_load (LptQuantizer *q, const char *path, const char *graph_digest, GError **error)
{
  g_autofree char *text = NULL;
  gsize length;
  g_autoptr (GError) cause = NULL;
  if (!g_file_get_contents (path, &text, &length, &cause))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, cause->message);
      return FALSE;
    }
  cJSON *root = cJSON_ParseWithLength (text, length);
  const cJSON *version = cJSON_GetObjectItemCaseSensitive (root, "lptc-statistics");
  const cJSON *samples = cJSON_GetObjectItemCaseSensitive (root, "samples");
  const cJSON *graph = cJSON_GetObjectItemCaseSensitive (root, "graph");
  gboolean ok = FALSE;
  if (!cJSON_IsNumber (version) || version->valuedouble != 1.0 || !cJSON_IsString (samples) || !cJSON_IsString (graph))
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: no statistics of lptc quantize", path);
  else if (strcmp (samples->valuestring, q->report->digest) != 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the statistics are of other samples", path);
  else if (strcmp (graph->valuestring, graph_digest) != 0)
    {
      lpt_quantizer_remark (
        q, "%s: the statistics are of another graph, or of other repairs of it; values are observed", path);
      ok = TRUE;
    }
  else if (!(ok = read_values (q, root)))
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the statistics are damaged", path);
  cJSON_Delete (root);
  return ok;
}
