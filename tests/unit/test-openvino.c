/* test-openvino.c - the OpenVINO IR reader: real models, names, types, bad input
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-openvino.h>

#include <lpt/lpt-json.h>

#include <glib/gstdio.h>
#include <string.h>

static char *scratch;

/* --- every model of a folder ------------------------------------------------ */

static void
add_models (GPtrArray *files, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        add_models (files, path);
      else if (g_str_has_suffix (name, ".xml"))
        g_ptr_array_add (files, g_steal_pointer (&path));
    }
}

/* What the writer makes of a graph reads back to the same graph. */
static void
write_and_read (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *xml = g_build_filename (scratch, "model.xml", NULL), *bin = lpt_openvino_bin_path (xml);
  lpt_openvino_save (graph, xml, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LptGraph) again = lpt_openvino_load (xml, NULL, &error);
  g_assert_no_error (error);
  again->ir_version = graph->ir_version;
  g_autofree char *before = lpt_json_print (graph, &error), *after = lpt_json_print (again, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (before, ==, after);
  g_unlink (xml);
  g_unlink (bin);
}

static void
load_all (const char *folder)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  add_models (files, folder);
  if (files->len == 0)
    {
      g_test_skip_printf ("%s is absent", folder);
      return;
    }
  for (guint i = 0; i < files->len; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_openvino_load (g_ptr_array_index (files, i), NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (graph->results->len, >, 0);
      write_and_read (graph);
      for (guint k = 0; k < graph->results->len; k++)
        {
          const LptValue *value = lpt_node_in (g_ptr_array_index (graph->results, k), 0);
          g_assert_cmpuint (value->dtype, !=, LPT_DTYPE_UNDEFINED);
        }
    }
}

static void test_bundled (void) { load_all (LPT_SOURCE_DIR "/models"); }
static void test_shared  (void) { load_all (LPT_SHARED_DIR "/models"); }

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-openvino-XXXXXX", NULL);
  g_test_add_func ("/openvino/models/bundled", test_bundled);
  g_test_add_func ("/openvino/models/shared", test_shared);
  int code = g_test_run ();
  g_rmdir (scratch);
  g_free (scratch);
  return code;
}
