/* test-openvino.c - the OpenVINO IR reader: real models, names, types, bad input
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-openvino.h>

#include <string.h>

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
  g_test_add_func ("/openvino/models/bundled", test_bundled);
  g_test_add_func ("/openvino/models/shared", test_shared);
  return g_test_run ();
}
