/* test-onnx-import.c - the ONNX importer: every model of the corpora, op versions, functions, bad graphs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/onnx-import.h"

#include <lpt/lpt-onnx.h>

#include <string.h>

/* --- whole corpora ------------------------------------------------------------ */

typedef struct { guint read, unsupported; } Count;

/* Every model below @folder reads, or is refused by name; nothing is called invalid. */
static void
read_folder (const char *folder,
             guint       depth,
             Count      *count)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = NULL;

      if (depth > 0 && g_file_test (path, G_FILE_TEST_IS_DIR))
        read_folder (path, depth - 1, count);
      if (!g_str_has_suffix (name, ".onnx"))
        continue;
      graph = lpt_onnx_load (path, &error);
      if (graph != NULL)
        count->read++;
      else
        {
          g_test_message ("%s", error->message);
          if (!g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED) || strstr (error->message, "unsupported") == NULL)
            {
              g_test_fail_printf ("%s", error->message);
              continue;
            }
          count->unsupported++;
        }
    }
}

typedef struct { const char *folder; guint least; } Corpus;

static void
test_corpus (gconstpointer data)
{
  const Corpus *corpus = data;
  g_autofree char *folder = g_build_filename (LPT_SHARED_DIR, corpus->folder, NULL);
  Count count = { 0 };

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("the shared folder is absent");
      return;
    }
  read_folder (folder, 2, &count);
  g_test_message ("%s: %u read, %u unsupported", corpus->folder, count.read, count.unsupported);
  g_assert_cmpuint (count.read, >=, corpus->least);
}

int
main (int   argc,
      char *argv[])
{
  static const Corpus corpora[] = {
    { "corpus/onnx_node", 1255 }, { "corpus/ort_qops", 253 }, { "corpus/qdq_patterns", 231 }, { "models", 41 },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (corpora); i++)
    {
      g_autofree char *name = g_strdup_printf ("/onnx-import/%s", corpora[i].folder);

      g_test_add_data_func (name, &corpora[i], test_corpus);
    }
  return g_test_run ();
}
