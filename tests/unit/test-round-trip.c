/* test-round-trip.c - every graph of the golden files through the JSON form, an OpenVINO IR and ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-json.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-text.h>

#include <glib/gstdio.h>
#include <string.h>

#include "frontends/held-integers.h"

static char *scratch;

static void
through_json (LptGraph *graph, const char *what)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = lpt_json_print (graph, &error);
  g_assert_no_error (error);
  g_autoptr (LptGraph) again = lpt_json_parse (json, strlen (json), NULL, what, &error);
  g_assert_no_error (error);
  g_autofree char *before = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO),
                  *after = lpt_graph_to_text (again, LPT_TEXT_RT_INFO);
  g_assert_cmpstr (before, ==, after);
}

static LptGraph *
write_xml (LptGraph *graph, gboolean *unsupported)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *xml = g_build_filename (scratch, "g.xml", NULL), *bin = lpt_openvino_bin_path (xml);
  *unsupported = !lpt_openvino_save (graph, xml, NULL, &error) && g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
  if (*unsupported)
    return NULL;
  g_assert_no_error (error);
  LptGraph *again = lpt_openvino_load (xml, NULL, &error);
  g_assert_no_error (error);
  g_unlink (xml);
  g_unlink (bin);
  return again;
}

/* Flags that an IR says: that types are relaxed is seen by types that differ. */
static guint32
said_flags (const LptNode *node, const LptNode *source)
{
  gboolean differ = FALSE;
  for (guint k = 0; k < node->n_in; k++)
    differ |= node->in[k].value->dtype != node->out[0].dtype;
  return source->flags & ~(guint32) (LPT_NODE_DEAD | (differ ? 0 : LPT_NODE_RELAXED & ~node->flags));
}

/* Markup is not in an IR, and outputs have names there: the second reading is held against the first, whose nodes are
 * those of the graph. Returns FALSE when an IR cannot say the graph. */
static gboolean
through_xml (LptGraph *graph)
{
  gboolean unsupported;
  g_autoptr (LptGraph) first = write_xml (graph, &unsupported);
  if (unsupported)
    return FALSE;
  /* Ops on small integers that wrap are spelled: others stand for them, and none of the graph for some. */
  gboolean spelled = FALSE;
  for (guint i = 0; graph->ir_version == 0 && i < graph->nodes->len; i++)
    spelled |= lpt_node_is_held (g_ptr_array_index (graph->nodes, i));
  g_autoptr (LptGraph) second = write_xml (first, &unsupported);
  g_assert_false (unsupported);
  g_autofree char *before = lpt_graph_to_text (first, LPT_TEXT_RT_INFO),
                  *after = lpt_graph_to_text (second, LPT_TEXT_RT_INFO);
  g_assert_cmpstr (before, ==, after);
  for (guint i = 0; i < first->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (first->nodes, i), *source = lpt_graph_find (graph, node->name);
      if (node->op == LPT_OP_RESULT || (spelled && (source == NULL || lpt_node_is_held (source))))
        continue;
      g_assert_nonnull (source);
      g_assert_cmpint (node->op, ==, source->op);
      g_assert_cmpuint (node->flags, ==, said_flags (node, source));
      for (guint k = 0; k < node->n_out; k++)
        {
          g_assert_cmpint (node->out[k].dtype, ==, source->out[k].dtype);
          g_assert_true (lpt_shape_equal (&node->out[k].shape, &source->out[k].shape));
        }
      if (node->data != NULL)
        g_assert_true (lpt_tensor_equal (node->data, source->data));
    }
  return TRUE;
}

/* What the reader, which folds constants, finds wrong by itself. */
static const char *const wrong_in_onnx[] = {
  "structure/computed-axis.lpt",        /* the axis that it computes is none */
};

/* ONNX has other operators: what is written is read. */
static void
through_onnx (LptGraph *graph, LptOnnxSaveFlags flags, const char *what)
{
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (wrong_in_onnx); i++)
    if (g_str_has_suffix (what, wrong_in_onnx[i]))
      return;
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, flags, &error);
  if (bytes == NULL)
    {
      g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
      return;
    }
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  g_autoptr (LptGraph) again = lpt_onnx_parse (data, size, NULL, &error);
  if (again == NULL)
    g_test_fail_printf ("ONNX is not read back: %s", error->message);
  else
    g_assert_cmpuint (again->results->len, ==, graph->results->len);
}

static void
test_file (gconstpointer data)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (g_file_get_contents (data, &text, NULL, &error));
  g_auto (GStrv) parts = g_regex_split_simple ("^(?:// )?-----+$", text, G_REGEX_MULTILINE, 0);
  guint n = 0;
  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_autoptr (LptGraph) graph = strstr (parts[i], "Result(") != NULL
                                       ? lpt_graph_from_text (parts[i], -1, data, &error)
                                       : NULL;
      g_clear_error (&error);        /* a file may hold what must not parse */
      if (graph == NULL)
        continue;
      through_json (graph, data);
      through_xml (graph);
      through_onnx (graph, 0, data);
      through_onnx (graph, LPT_ONNX_QOPERATOR, data);
      n++;
    }
  if (n == 0)
    g_test_skip ("no graph in this file");
}

static void
add_files (const char *folder, const char *name)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *entry;
  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, entry, NULL), *test = g_strdup_printf ("%s/%s", name, entry);
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        add_files (path, test);
      else if (g_str_has_suffix (entry, ".lpt"))
        g_test_add_data_func_full (test, g_strdup (path), test_file, g_free);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-round-trip-XXXXXX", NULL);
  add_files (LPT_SOURCE_DIR "/tests/golden", "/round-trip/golden");
  add_files (LPT_SOURCE_DIR "/tests/fuzz/corpus", "/round-trip/corpus");
  int code = g_test_run ();
  g_rmdir (scratch);
  g_free (scratch);
  return code;
}
