/* data-args.c - from options to samples
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/data-args.h"
#include "cli/cmd.h"
#include "cli/progress.h"

#include <lpt/lpt-eval.h>

void
cmd_data_args_clear (CmdDataArgs *args)
{
  g_strfreev (args->data);
  g_free (args->layout);
  g_free (args->mean);
  g_free (args->scale);
  g_free (args->resize);
  g_free (args->channels);
  g_free (args->pad);
  g_free (args->samples);
}

static void
on_remark (const char *text, gpointer data)
{
  progress_end ();
  cmd_note ("%s", text);
}

gboolean
cmd_data_options (const CmdDataArgs *args, LptDataOptions *options, int *code)
{
  const struct
  {
    const char *name, *text;
    gboolean  (*apply) (LptDataOptions *options, const char *text, GError **error);
  } rows[] = {
    { "layout", args->layout, lpt_data_options_layout },
    { "channels", args->channels, lpt_data_options_channels },
    { "resize", args->resize, lpt_data_options_resize },
    { "mean", args->mean, lpt_data_options_mean },
    { "scale", args->scale, lpt_data_options_scale },
  };
  *options = (LptDataOptions) { .remark = on_remark };
  options->from_model = (args->mean == NULL && args->scale == NULL ? LPT_DATA_NORMAL : 0)
                        | (args->channels == NULL ? LPT_DATA_CHANNELS : 0)
                        | (args->resize == NULL && args->pad == NULL ? LPT_DATA_FIT : 0);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      if (rows[i].text == NULL || rows[i].apply (options, rows[i].text, &error))
        continue;
      *code = cmd_usage ("--%s %s", rows[i].name, error->message);
      return FALSE;
    }
  gint64 level = 0;
  if (args->pad != NULL && (args->resize != NULL || !g_ascii_string_to_signed (args->pad, 10, 0, 255, &level, NULL)))
    {
      *code = args->resize != NULL ? cmd_usage ("--pad %s: excludes --resize", args->pad)
                                   : cmd_usage ("--pad %s: a level of 0 to 255 is wanted", args->pad);
      return FALSE;
    }
  if (args->pad != NULL)
    options->fit = LPT_FIT_PAD;
  options->pad = (double) level;
  if (args->samples == NULL || g_ascii_string_to_signed (args->samples, 10, 1, G_MAXINT, &options->limit, NULL))
    return TRUE;
  *code = cmd_usage ("--samples %s: a number above 0 is wanted", args->samples);
  return FALSE;
}

LptData *
cmd_data_open (const CmdDataArgs *args, LptGraph *graph, int *code)
{
  LptDataOptions options;
  GError *error = NULL;
  if (args->data == NULL)
    {
      *code = cmd_usage ("--data is missing: samples for the model's inputs");
      return NULL;
    }
  if (!cmd_data_options (args, &options, code))
    return NULL;
  LptData *data = lpt_data_open (graph, (const char *const *) args->data, &options, &error);
  if (data == NULL)
    *code = cmd_fail (error);
  return data;
}

void
cmd_data_warn (LptGraph *graph, LptData *data)
{
  g_autoptr (GPtrArray) remarks = g_ptr_array_new_with_free_func (g_free);
  lpt_samples_check (graph, data, remarks, NULL);
  for (guint i = 0; i < remarks->len; i++)
    cmd_note ("%s: are --mean, --scale, --channels and --layout what it was trained with?", (char *) remarks->pdata[i]);
}

LptData *
cmd_labels_open (const CmdDataArgs *args, const char *path, LptData *data, int *code)
{
  GError *error = NULL;
  LptData *labels = lpt_labels_open (path, data, &error);
  if (labels == NULL)
    {
      *code = cmd_fail (error);
      return NULL;
    }
  const guint64 n = lpt_labels_in_order (labels);
  if (n > data->n && args->samples == NULL)
    cmd_note ("%s: %" G_GUINT64_FORMAT " labels for %u samples: the first are taken, in order", path, n, data->n);
  return labels;
}
