/* cmd-report.c - lptc report: one page about a model
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/data-args.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "cli/progress.h"

#include <lpt/lpt-out-file.h>
#include <lpt/lpt-page.h>

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  CmdPipelineArgs pipeline;
  CmdDataArgs     data;
  char           *out, *against, *labels, *profile, *original_profile;
  gint            threads, offset;
} ReportArgs;

static void
report_args_clear (ReportArgs *args)
{
  cmd_pipeline_args_clear (&args->pipeline);
  cmd_data_args_clear (&args->data);
  g_free (args->out);
  g_free (args->against);
  g_free (args->labels);
  g_free (args->profile);
  g_free (args->original_profile);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ReportArgs, report_args_clear)

/* Bytes of a model's files. */
static guint64
size_of (const char *path)
{
  GStatBuf file;
  g_autofree char *weights = lpt_path_weights_beside (path);
  guint64 size = g_stat (path, &file) == 0 && S_ISREG (file.st_mode) ? (guint64) file.st_size : 0;
  if (size > 0 && weights != NULL && g_stat (weights, &file) == 0)
    size += (guint64) file.st_size;
  return size;
}

/* The text of a profile; NULL without an error where @path is NULL. */
static char *
read_profile (const char *path, GError **error)
{
  char *text = NULL;
  if (path != NULL)
    g_file_get_contents (path, &text, NULL, error);
  return text;
}

static const char *
name_of (const char *path)
{
  const char *slash = strrchr (path, '/');
  return slash != NULL ? slash + 1 : path;
}

static int
make_page (const ReportArgs *args, const char *const paths[3], LptGraph *const graphs[3])
{
  const char *path = paths[0], *original_path = paths[1];
  LptGraph *graph = graphs[0], *original = graphs[1], *against = graphs[2];
  int code = CMD_OK;
  GError *error = NULL;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args->pipeline, &code);
  if (config == NULL || !cmd_check_names (config, &graph, 1, FALSE, &code))
    return code;
  g_autoptr (LptData) data = args->data.data != NULL ? cmd_data_open (&args->data, original != NULL ? original : graph, &code) : NULL;
  if (args->data.data != NULL && data == NULL)
    return code;
  g_autoptr (LptData) labels = args->labels != NULL ? cmd_labels_open (&args->data, args->labels, data, &code) : NULL;
  if (args->labels != NULL && labels == NULL)
    return code;
  g_autofree char *profile = error == NULL ? read_profile (args->profile, &error) : NULL;
  g_autofree char *original_profile = error == NULL ? read_profile (args->original_profile, &error) : NULL;
  if (error != NULL)
    return cmd_fail (error);
  const LptPageOptions options = {
    .config = cmd_pipeline_is_given (&args->pipeline) ? config : NULL, .title = name_of (path),
    .original_title = original_path != NULL ? name_of (original_path) : NULL,
    .against_title = args->against != NULL ? name_of (args->against) : NULL, .original = original, .against = against, .data = data, .labels = labels,
    .label_offset = args->offset, .threads = (guint) args->threads, .profile = profile, .original_profile = original_profile, .file_size = size_of (path),
    .original_size = original_path != NULL ? size_of (original_path) : 0, .against_size = args->against != NULL ? size_of (args->against) : 0, .progress = progress_report };
  g_autofree char *page = lpt_page_make (graph, &options, &error);
  progress_end ();
  if (page != NULL && lpt_out_file_text (args->out, page, strlen (page), &error))
    return CMD_OK;
  if (page == NULL)
    cmd_name_file (&error, path);
  return cmd_fail (error);
}

int
cmd_report (int argc, char **argv)
{
  g_auto (ReportArgs) args = { 0 };
  int code;
  const GOptionEntry own[] = {
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &args.out, "The page", "FILE.html" },
    { "against", 0, 0, G_OPTION_ARG_FILENAME, &args.against, "Show what differs in another model", "MODEL2" },
    { "profile", 0, 0, G_OPTION_ARG_FILENAME, &args.profile, "Times: what bench --profile --json wrote of MODEL",
      "FILE" },
    { "float-profile", 0, 0, G_OPTION_ARG_FILENAME, &args.original_profile, "The same of FLOAT", "FILE" },
    { "labels", 0, 0, G_OPTION_ARG_FILENAME, &args.labels, "What is right, for accuracy (see lptc eval)", "FILE" },
    { "label-offset", 0, 0, G_OPTION_ARG_INT, &args.offset, "Added to labels", "K" },
    CMD_DATA_ENTRIES (&args.data),
    { "threads", 0, 0, G_OPTION_ARG_INT, &args.threads, "Threads; 0 = one per processor (default)", "N" },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_pipeline_entries (&args.pipeline, own);
  const CmdLine line = { entries, "MODEL [FLOAT] -o FILE.html",
                         "One file of HTML that needs nothing else. Times are never measured here; the same input "
                         "makes the same bytes. With FLOAT and --data\n"
                         "it shows the error of each layer.",
                         1, 2 };
  if (!cmd_parse (&argc, &argv, &line, &code) || !cmd_threads_ok (args.threads, &code))
    return code;
  if (args.out == NULL)
    return cmd_usage ("report: -o FILE.html is missing");
  if (lpt_path_can_save (args.out))
    return cmd_usage ("report -o %s: a page is HTML, not a model", args.out);
  if (args.labels != NULL && args.data.data == NULL)
    return cmd_usage ("report: --labels needs --data");
  const char *const paths[] = { argv[1], argc == 3 ? argv[2] : NULL, args.against };
  LptGraph *graphs[3] = { NULL };
  if (cmd_load_prepared (paths, 3, &args.pipeline, graphs, &code))
    code = make_page (&args, paths, graphs);
  for (guint i = 0; i < 3; i++)
    lpt_graph_free (graphs[i]);
  return code;
}
