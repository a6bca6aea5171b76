/* test-property-types.c - one truth about element types: explain, statistics, profile and what was called
 *
 * 500 random graphs, LPT_TEST_NIGHTLY=1: 10000; graphs of the corpora and models where ../shared is, those of at most
 * 300 kB and 5 million products, in the night of any size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/property.h"
#include "tests/property/types.h"

#include <lpt/lpt-config.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt-work.h>

#include <glib/gstdio.h>

#include <string.h>

static char *
examine (LptGraph *graph, guint seed)
{
  const char *const *targets = lpt_config_targets ();
  gboolean ran;
  return types_agree (graph, targets[seed % g_strv_length ((char **) targets)], &ran);
}

static void
test_graphs (void)
{
  property_check (500, 10000, &RANDOM_SMALL, examine);
}

/* --- files --- */

static LptGraph *
read_graph (const char *path)
{
  g_autofree char *text = NULL;
  if (g_str_has_suffix (path, ".onnx"))
    return lpt_onnx_load (path, NULL);
  if (g_str_has_suffix (path, ".xml"))
    return lpt_openvino_load (path, NULL, NULL);
  if (g_str_has_suffix (path, ".lpt") && g_file_get_contents (path, &text, NULL, NULL))
    return lpt_graph_from_text (text, -1, path, NULL);
  return NULL;
}

/* Products of the plain run that the usual size has time for. */
static gboolean
is_small (LptGraph *graph)
{
  gint64 macs[LPT_N_DTYPES] = { 0 };
  double sum = 0.0;
  lpt_graph_macs (graph, macs);
  for (guint i = 0; i < LPT_N_DTYPES; i++)
    sum += (double) macs[i];
  return sum <= 5e6;
}

typedef struct { guint read, ran; } Count;

static void
check_folder (const char *path, goffset most, guint depth, Count *count)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      GStatBuf info;
      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        {
          if (depth > 0)
            check_folder (file, most, depth - 1, count);
          continue;
        }
      g_autofree char *weights = g_str_has_suffix (file, ".xml") ? g_strndup (file, strlen (file) - 4) : NULL;
      g_autofree char *big = weights != NULL ? g_strconcat (weights, ".bin", NULL) : g_strdup (file);
      if (g_stat (big, &info) != 0 || info.st_size > most)
        continue;
      g_autoptr (LptGraph) graph = read_graph (file);
      if (graph == NULL || (g_getenv ("LPT_TEST_NIGHTLY") == NULL && !is_small (graph)))
        continue;
      gboolean ran;
      g_autofree char *failure = types_agree (graph, "native", &ran);
      count->read++;
      count->ran += ran;
      if (failure != NULL)
        {
          g_test_message ("%s: %s", file, failure);
          g_test_fail ();
        }
    }
}

static void
test_files (gconstpointer data)
{
  g_autofree char *path = g_build_filename (LPT_SOURCE_DIR, "..", "shared", data, NULL);
  Count count = { 0, 0 };
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("../shared is not there");
      return;
    }
  check_folder (path, g_getenv ("LPT_TEST_NIGHTLY") != NULL ? G_MAXINT64 : 300000, 4, &count);
  g_test_message ("%s: %u graphs read, %u ran", (const char *) data, count.read, count.ran);
  g_assert_cmpuint (count.ran, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/property/types/random", test_graphs);
  g_test_add_data_func ("/property/types/models", "models", test_files);
  g_test_add_data_func ("/property/types/qdq-patterns", "corpus/qdq_patterns", test_files);
  g_test_add_data_func ("/property/types/ort-qops", "corpus/ort_qops", test_files);
  g_test_add_data_func ("/property/types/defects", "corpus/defects", test_files);
  return g_test_run ();
}
