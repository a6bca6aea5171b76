/* options.c - the options of samples from text
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"

#include <math.h>
#include <string.h>

/* The index of @text among @names, which end with NULL; -1 + error. */
static gint
find (const char *text, const char *const *names, GError **error)
{
  for (gint i = 0; names[i] != NULL; i++)
    if (g_ascii_strcasecmp (text, names[i]) == 0)
      return i;
  g_autofree char *known = g_strjoinv (", ", (char **) names);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: one of %s is wanted", text, known);
  return -1;
}

gboolean
lpt_data_options_layout (LptDataOptions *options, const char *text, GError **error)
{
  gint i = find (text, (const char *const[]) { "NCHW", "NHWC", NULL }, error);
  options->layout = i == 1 ? LPT_LAYOUT_NHWC : LPT_LAYOUT_NCHW;
  return i >= 0;
}

gboolean
lpt_data_options_channels (LptDataOptions *options, const char *text, GError **error)
{
  gint i = find (text, (const char *const[]) { "rgb", "bgr", "gray", NULL }, error);
  options->channels = (LptChannels) MAX (i, 0);
  return i >= 0;
}

gboolean
lpt_data_options_resize (LptDataOptions *options, const char *text, GError **error)
{
  gint64 shorter;
  if (g_str_has_prefix (text, "crop:"))
    {
      if (!g_ascii_string_to_signed (text + 5, 10, 1, DATA_MAX_SIDE, &shorter, error))
        return FALSE;
      options->fit = LPT_FIT_CROP;
      options->shorter = shorter;
      return TRUE;
    }
  gint i = find (text, (const char *const[]) { "bilinear", "crop", NULL }, error);
  options->fit = i == 1 ? LPT_FIT_CROP : LPT_FIT_BILINEAR;
  return i >= 0;
}

/* Up to four finite numbers. */
static gboolean
read_numbers (const char *text, double *values, guint *n, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  *n = g_strv_length (parts);
  gboolean ok = *n >= 1 && *n <= 4;
  for (guint i = 0; ok && i < *n; i++)
    {
      char *end;
      values[i] = g_ascii_strtod (parts[i], &end);
      ok = end != parts[i] && *end == '\0' && isfinite (values[i]);
    }
  if (!ok)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: one to four numbers are wanted, such as 103.5,116.3,123.7",
                 text);
  return ok;
}

gboolean
lpt_data_options_mean (LptDataOptions *options, const char *text, GError **error)
{
  return read_numbers (text, options->mean, &options->n_mean, error);
}

gboolean
lpt_data_options_scale (LptDataOptions *options, const char *text, GError **error)
{
  if (!read_numbers (text, options->scale, &options->n_scale, error))
    return FALSE;
  for (guint i = 0; i < options->n_scale; i++)
    if (options->scale[i] == 0.0)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the scale divides, it cannot be 0", text);
        return FALSE;
      }
  return TRUE;
}
