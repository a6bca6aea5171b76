/* page.c - a template, a style, a script and the numbers of a model, as one file of HTML
 *
 * Names of a model stand in the numbers (JSON in which no "<" and no "&" is) and in the title, escaped; the script
 * writes them as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include "report/json.h"

#include <math.h>
#include <string.h>

static const struct { const char *name, *text; } resources[] = {
#include "report/lpt-page-resources.inc"
};

static const char *
resource (const char *name)
{
  for (guint i = 0; resources[i].name != NULL; i++)
    if (g_str_equal (resources[i].name, name))
      return resources[i].text;
  g_assert_not_reached ();
}

static gint64
weight_bytes (LptGraph *graph)
{
  gint64 sum = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = graph->nodes->pdata[i];
      if (node->data != NULL && node->out[0].uses->len > 0)
        sum += (gint64) lpt_tensor_size (node->data);
    }
  return sum;
}

static void
put_size (GString *out, const char *key, guint64 bytes)
{
  if (bytes > 0)
    lpt_page_json_int (out, key, (gint64) bytes);
}

/* The other model: its types and what differs. */
static gboolean
put_against (const LptPage *page, const LptPageOptions *options, GString *out, GError **error)
{
  if (options->against == NULL)
    return TRUE;
  g_autoptr (LptPage) other = lpt_page_new (options->against, options->config, NULL, NULL, error);
  if (other == NULL)
    return FALSE;
  lpt_page_json_key (out, "against");
  g_string_append_c (out, '{');
  lpt_page_json_string (out, "title", options->against_title);
  put_size (out, "size", options->against_size);
  lpt_page_json_int (out, "weights", weight_bytes (other->lowered));
  lpt_page_put_types (other, out);
  if (!lpt_page_memory (other, out, error))
    return FALSE;
  lpt_page_put_against (page, other, out);
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
put_data (LptPage *page, const LptPageOptions *options, GString *out, GError **error)
{
  g_string_append_c (out, '{');
  lpt_page_json_string (out, "title", options->title);
  lpt_page_json_string (out, "version", LPT_VERSION);
  lpt_page_json_string (out, "original", options->original != NULL ? options->original_title : NULL);
  put_size (out, "size", options->file_size);
  put_size (out, "originalSize", options->original_size);
  lpt_page_json_int (out, "weights", weight_bytes (page->lowered));
  lpt_page_json_int (out, "sourceWeights", weight_bytes (options->original != NULL ? options->original : page->source));
  if (!lpt_page_measure (page, options, out, error) ||
      (options->profile != NULL && !lpt_page_profile (page, options->profile, FALSE, out, error)) ||
      (options->original_profile != NULL && !lpt_page_profile (page, options->original_profile, TRUE, out, error)) ||
      !lpt_page_memory (page, out, error) || !put_against (page, options, out, error))
    return FALSE;
  lpt_page_put_types (page, out);
  lpt_page_put_reasons (page, out);
  lpt_page_put_passes (page, out);
  lpt_page_put_nodes (page, out);
  g_string_append_c (out, '}');
  return TRUE;
}

/* The template with "@NAME@" filled in. */
static char *
fill (const char *data, const char *title)
{
  g_autofree char *safe = g_utf8_make_valid (title, -1), *escaped = g_markup_escape_text (safe, -1);
  const struct { const char *mark, *text; } parts[] = {
    { "@TITLE@", escaped }, { "@STYLE@", resource ("page.css") }, { "@LAYOUT@", resource ("layout.js") }, { "@TABLES@", resource ("tables.js") },
    { "@PLOTS@", resource ("plots.js") }, { "@FINDINGS@", resource ("findings.js") }, { "@SCRIPT@", resource ("page.js") }, { "@DATA@", data } };
  GString *out = g_string_new (NULL);
  const char *from = resource ("page.html");
  while (*from != '\0')
    {
      guint k = 0;
      while (k < G_N_ELEMENTS (parts) && !g_str_has_prefix (from, parts[k].mark))
        k++;
      if (k == G_N_ELEMENTS (parts))
        g_string_append_c (out, *from++);
      else
        {
          g_string_append (out, parts[k].text);
          from += strlen (parts[k].mark);
        }
    }
  return g_string_free (out, FALSE);
}

char *
lpt_page_make (LptGraph *graph, const LptPageOptions *options, GError **error)
{
  g_autoptr (LptPage) page = lpt_page_new (graph, options->config, options->original, options->data, error);
  g_autoptr (GString) data = g_string_new (NULL);
  if (page == NULL || !put_data (page, options, data, error))
    return NULL;
  return fill (data->str, options->title);
}
