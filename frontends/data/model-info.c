/* model-info.c - what a model says of the images that it takes
 *
 * In the graph's meta, whatever file it comes from, under the names of OpenVINO's model_info:
 *
 *   mean_values, scale_values      (x - mean) / scale of levels 0 .. 255; blanks or commas between numbers
 *   reverse_input_channels         YES: RGB, for the samples are taken to be BGR there; NO: BGR
 *   resize_type, pad_value         fit_to_window_letterbox: the aspect is kept, pad_value on both sides
 *   embedded_processing            YES: the graph does all of it, nothing is left to do
 *
 * It holds for what the caller leaves open (LptDataOptions.from_model), and for images alone: arrays are what they are.
 * Pixels of 8 bits for an input of 8-bit codes are the codes. Values that say nothing are as if they were not there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"

static const char *
look_up (const LptGraph *graph, const char *name)
{
  g_autofree char *key = g_strconcat (LPT_META_MODEL_INFO, name, NULL);
  return g_hash_table_lookup (graph->meta, key);
}

static gboolean
says (const LptGraph *graph, const char *name, const char *const *words)
{
  const char *text = look_up (graph, name);
  gboolean found = FALSE;
  for (guint i = 0; text != NULL && words[i] != NULL; i++)
    found = found || g_ascii_strcasecmp (text, words[i]) == 0;
  return found;
}

static const char *const yes[] = { "YES", "TRUE", NULL }, *const no[] = { "NO", "FALSE", NULL };

/* "1 2 3", "1, 2, 3" as "1,2,3"; NULL: nothing. */
static char *
commas (const char *text)
{
  if (text == NULL)
    return NULL;
  g_autoptr (GString) s = g_string_new (NULL);
  g_auto (GStrv) parts = g_strsplit_set (text, " ,[]", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (parts[i][0] != '\0')
      g_string_append_printf (s, "%s%s", s->len > 0 ? "," : "", parts[i]);
  return s->len > 0 ? g_string_free (g_steal_pointer (&s), FALSE) : NULL;
}

static void
take_normal (const LptGraph *graph, LptDataOptions *options)
{
  g_autofree char *mean = commas (look_up (graph, "mean_values")), *scale = commas (look_up (graph, "scale_values"));
  if (mean != NULL && !lpt_data_options_mean (options, mean, NULL))
    options->n_mean = 0;
  if (scale != NULL && !lpt_data_options_scale (options, scale, NULL))
    options->n_scale = 0;
}

static void
take_fit (const LptGraph *graph, LptDataOptions *options)
{
  const char *pad = look_up (graph, "pad_value");
  gint64 level = 0;
  if (!says (graph, "resize_type", (const char *const[]) { "fit_to_window_letterbox", NULL })
      || (pad != NULL && !g_ascii_string_to_signed (pad, 10, 0, 255, &level, NULL)))
    return;
  options->fit = LPT_FIT_PAD;
  options->pad = (double) level;
}

LptDataOptions
data_options_for_images (const LptDataOptions *options, const LptValue *value)
{
  LptDataOptions own = *options;
  const LptGraph *graph = value->producer->graph;
  gboolean codes = value->dtype == LPT_DTYPE_U8 && value->quant != NULL;
  if (options->from_model == 0 || says (graph, "embedded_processing", yes))
    return own;
  if ((options->from_model & LPT_DATA_NORMAL) != 0 && !codes)
    take_normal (graph, &own);
  if ((options->from_model & LPT_DATA_CHANNELS) != 0 && says (graph, "reverse_input_channels", no))
    own.channels = LPT_CHANNELS_BGR;
  if ((options->from_model & LPT_DATA_FIT) != 0)
    take_fit (graph, &own);
  return own;
}

void
data_copy_model_info (const LptGraph *from, LptGraph *to)
{
  GHashTableIter iter;
  gpointer key, text;
  g_hash_table_iter_init (&iter, from->meta);
  while (g_hash_table_iter_next (&iter, &key, &text))
    if (g_str_has_prefix (key, LPT_META_MODEL_INFO))
      g_hash_table_replace (to->meta, g_strdup (key), g_strdup (text));
}

static void
append_numbers (GString *s, const char *name, const double *values, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_printf (s, "%s%g", i > 0 ? "," : name, values[i]);
}

char *
data_options_said (const LptDataOptions *options, const LptDataOptions *own)
{
  g_autoptr (GString) s = g_string_new (NULL);
  if (options->n_mean == 0 && options->n_scale == 0)
    {
      append_numbers (s, " --mean ", own->mean, own->n_mean);
      append_numbers (s, " --scale ", own->scale, own->n_scale);
    }
  if (own->channels != options->channels)
    g_string_append (s, " --channels bgr");
  if (own->fit != options->fit)
    g_string_append_printf (s, " --pad %g", own->pad);
  return s->len > 0 ? g_string_free (g_steal_pointer (&s), FALSE) : NULL;
}
