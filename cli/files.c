/* files.c - models in and out, with what the options of the command line say of files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/files.h"

#include "cli/cmd.h"
#include "cli/limits.h"
#include "cli/progress.h"

#include <glib/gstdio.h>
#include <string.h>

/* The next of @files (nullable), of which models have taken @n. */
static const char *
next_file (char **files, guint n)
{
  return files != NULL && n < g_strv_length (files) ? files[n] : NULL;
}

LptGraph *
cmd_load (const char *path, GError **error)
{
  static guint n_weights, n_encodings;     /* files of --weights and --encodings that models have taken */
  const LptLoadOptions options = {
    .weights = next_file (cmd_limits_weights (), n_weights),
    .signature = cmd_limits_signature (),
    .encodings = next_file (cmd_limits_encodings (), n_encodings),
  };
  LptGraph *graph = lpt_graph_load (path, &options, error);
  n_weights += graph != NULL && options.weights != NULL;
  n_encodings += graph != NULL && options.encodings != NULL;
  const char *remark = graph != NULL ? g_hash_table_lookup (graph->meta, LPT_META_REMARK) : NULL;
  if (remark != NULL)
    {
      progress_end ();
      cmd_note ("%s: %s", path, remark);
      g_hash_table_remove (graph->meta, LPT_META_REMARK);
    }
  if (graph != NULL && cmd_limits_stateless () && !lpt_graph_make_stateless (graph, error))
    {
      g_prefix_error (error, "%s: --stateless: ", path);
      lpt_graph_free (graph);
      return NULL;
    }
  return graph;
}

/* --- paths ----------------------------------------------------------------- */

static gboolean
same_file (const char *a, const char *b)
{
  GStatBuf x, y;
  if (g_stat (a, &x) != 0 || g_stat (b, &y) != 0 || !S_ISREG (x.st_mode))
    return FALSE;
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

char *
cmd_overwrites (const char *in, const char *out)
{
  g_autofree char *in_weights = lpt_path_weights_beside (in), *out_weights = lpt_path_weights_beside (out);
  char **given = cmd_limits_weights ();
  const char *ins[] = { in, in_weights }, *outs[] = { out, out_weights };
  for (guint i = 0; i < G_N_ELEMENTS (ins); i++)
    for (guint o = 0; o < G_N_ELEMENTS (outs); o++)
      if (ins[i] != NULL && outs[o] != NULL && same_file (ins[i], outs[o]))
        return g_strdup (outs[o]);
  for (guint i = 0; given != NULL && given[i] != NULL; i++)
    for (guint o = 0; o < G_N_ELEMENTS (outs); o++)
      if (outs[o] != NULL && same_file (given[i], outs[o]))
        return g_strdup (outs[o]);
  return NULL;
}

/* File systems take names of 255 bytes; the rest is for endings. */
#define LONGEST_NAME 200
#define KEPT         160

char *
cmd_file_name (const char *value_name)
{
  char *name = g_strdup (*value_name != '\0' ? value_name : "_");
  for (char *p = name; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("_.-", *p) == NULL)
      *p = '_';
  if (g_str_equal (name, ".") || g_str_equal (name, ".."))
    name[0] = '_';
  if (strlen (name) <= LONGEST_NAME)
    return name;

  /* Converters join the names of all that they fused: the beginning, and a number of the whole. */
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, value_name, -1), *whole = name;
  return g_strdup_printf ("%.*s_%.12s", KEPT, whole, sum);
}
