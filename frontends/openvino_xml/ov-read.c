/* ov-read.c - loading an OpenVINO IR: files to bytes, bytes to a graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-net.h"
#include "ir/lpt-check.h"
#include "ir/storage/lpt-map-file.h"
#include "ir/lpt-memory.h"

#include <lpt/lpt-openvino.h>
#include <string.h>

static char *
bin_beside (const char *xml_path)
{
  gboolean xml = g_str_has_suffix (xml_path, ".xml") || g_str_has_suffix (xml_path, ".XML");
  return g_strdup_printf ("%.*s.bin", (int) strlen (xml_path) - (xml ? 4 : 0), xml_path);
}

char *
lpt_openvino_bin_path (const char *xml_path)
{
  g_autofree char *bin = bin_beside (xml_path), *real = lpt_path_behind_links (xml_path);
  gboolean there = g_file_test (bin, G_FILE_TEST_EXISTS) || g_file_test (bin, G_FILE_TEST_IS_SYMLINK);
  return there || real == NULL ? g_steal_pointer (&bin) : bin_beside (real);
}

static LptGraph *
ov_read (const char *xml, gsize length, const OvFiles *files, GError **error)
{
  GError *local = NULL;
  guint mark = lpt_memory_mark ();
  g_autoptr (OvNet) net = ov_net_parse (xml, length, files->source, &local);
  LptGraph *graph = lpt_graph_check_read (net != NULL ? ov_net_build (net, files, &local) : NULL, mark, &local);
  if (local != NULL)
    {
      g_strdelimit (local->message, "\r\n", ' ');      /* names may hold line ends, messages may not */
      g_propagate_error (error, local);
    }
  return graph;
}

LptGraph *
lpt_openvino_parse (const char *xml, gsize length, GBytes *weights, const char *source, GError **error)
{
  OvFiles files = { .source = source != NULL ? source : "model.xml", .weights = weights };
  return ov_read (xml, length, &files, error);
}

LptGraph *
lpt_openvino_load (const char *xml_path, const char *bin_path, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GMappedFile) xml = lpt_map_file (xml_path, error);
  if (xml == NULL)
    return NULL;
  g_autofree char *bin = g_strdup (bin_path);
  if (bin == NULL)
    {
      bin = lpt_openvino_bin_path (xml_path);
      g_autofree char *folder = g_path_get_dirname (bin), *name = g_path_get_basename (bin);
      g_autofree char *beside = lpt_path_beside (folder, name, "the file of weights", &cause);
      if (beside == NULL && g_error_matches (cause, LPT_ERROR, LPT_ERROR_INVALID))
        {
          g_propagate_prefixed_error (error, g_steal_pointer (&cause), "%s: ", xml_path);
          return NULL;
        }
      g_clear_error (&cause);
    }
  g_autoptr (GMappedFile) map = lpt_map_file (bin, &cause);
  g_autoptr (GBytes) weights = map != NULL ? g_mapped_file_get_bytes (map) : NULL;
  OvFiles files = { .source = xml_path, .weights = weights, .mapped = TRUE, .weights_name = bin, .no_weights = cause != NULL ? cause->message : NULL };
  return ov_read (g_mapped_file_get_contents (xml), g_mapped_file_get_length (xml), &files, error);
}
