/* test-written.c - a graph that is written and read again computes the same
 *
 * tests/written/<case>.lpt, through ONNX, its JSON form and TensorFlow Lite. What a format cannot say is named, with a
 * part of what the writer says about it:
 *
 *     # What the case shows.
 *     # not: tflite: batch dimensions
 *     <graph of f32 inputs>
 *     -----
 *     <another one>
 *
 * Outputs are held within 1e-5 of their size: formats say a few ops as several, whose sums have another order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-onnx.h>
#include <lpt/lpt-tflite.h>

#include "exec-case.h"

#define TOLERANCE 1e-5

static LptGraph *
through (const char *format,
         LptGraph   *graph,
         GError    **error)
{
  g_autoptr (GBytes) bytes = NULL;
  gconstpointer data;
  gsize size;

  if (strcmp (format, "tflite") == 0)
    bytes = lpt_tflite_serialise (graph, 0, error);
  else
    bytes = lpt_onnx_serialise (graph, strcmp (format, "json") == 0 ? LPT_ONNX_JSON : 0, error);
  if (bytes == NULL)
    return NULL;
  if (strcmp (format, "tflite") == 0)
    return lpt_tflite_parse (bytes, NULL, NULL, 0, error);
  data = g_bytes_get_data (bytes, &size);

  return lpt_onnx_parse (data, size, NULL, error);
}

/* Open lengths of inputs become 3. */
static void
close_lengths (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->parameters, i);
      LptShape shape = node->out[0].shape;

      for (gint d = 0; d < shape.rank; d++)
        shape.dims[d] = shape.dims[d] < 0 ? 3 : shape.dims[d];
      lpt_graph_set_input_shape (graph, node->name, &shape, &error);
      g_assert_no_error (error);
    }
  lpt_graph_infer (graph, &error);
  g_assert_no_error (error);
}

/* What every input holds: numbers of both signs without a pattern of the sizes that tests have. */
static GPtrArray *
inputs_of (LptGraph *graph)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);

  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const LptValue *value = lpt_node_out (g_ptr_array_index (graph->parameters, i));
      LptTensor *tensor = lpt_tensor_new (LPT_DTYPE_F32, &value->shape, NULL);
      float *numbers = lpt_tensor_writable (tensor);

      g_assert_cmpint (value->dtype, ==, LPT_DTYPE_F32);
      for (gint64 k = 0; k < lpt_tensor_count (tensor); k++)
        numbers[k] = sinf ((float) (k * 37 % 101) + (float) i);
      g_ptr_array_add (list, tensor);
    }

  return list;
}

static void
compare (LptTensor  *have,
         LptTensor  *want,
         const char *format,
         guint       output)
{
  if (lpt_tensor_count (have) != lpt_tensor_count (want))
    g_error ("%s, output %u: %" G_GINT64_FORMAT " elements instead of %" G_GINT64_FORMAT, format, output,
             lpt_tensor_count (have), lpt_tensor_count (want));
  for (gint64 k = 0; k < lpt_tensor_count (want); k++)
    {
      const double a = lpt_tensor_get_f64 (have, k), b = lpt_tensor_get_f64 (want, k);

      if (!(fabs (a - b) <= TOLERANCE * (1 + fabs (b))))
        g_error ("%s, output %u: element %" G_GINT64_FORMAT " is %g instead of %g", format, output, k, a, b);
    }
}

/* What the writer of @format shall say of this graph: the rest of the line "# not: FORMAT: ...", "" where there is no
 * more of it, NULL where it shall write the graph (transfer full). */
static char *
refusal (const char *text,
         const char *format)
{
  const char *start = strcmp (format, "tflite") == 0 ? "# not: tflite" : "# not: onnx";
  const char *at = strstr (text, start);

  if (at == NULL)
    return NULL;
  at += strlen (start);
  at += strspn (at, ": ");

  return g_strndup (at, strcspn (at, "\n"));
}

static void
fail (const char *path,
      guint       graph_index,
      const char *format,
      const char *message,
      const char *wanted)
{
  g_test_message ("%s, graph %u, %s: \"%s\"%s%s", path, graph_index + 1, format, message,
                  wanted != NULL ? " instead of " : "", wanted != NULL ? wanted : "");
  g_test_fail ();
}

static void
test_graph (const char *text,
            const char *path,
            guint       graph_index)
{
  static const char *const formats[] = { "onnx", "json", "tflite" };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, path, &error);
  g_autoptr (LptGraph) closed = graph != NULL ? lpt_graph_copy (graph) : NULL;
  g_autoptr (GPtrArray) inputs = NULL;

  if (error != NULL)
    {
      fail (path, graph_index, "text", error->message, NULL);
      return;
    }
  close_lengths (closed);
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    {
      g_autofree char *message = refusal (text, formats[f]);
      g_autoptr (LptGraph) again = through (formats[f], graph, &error);

      if (message != NULL)
        {
          if (!g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED) || strstr (error->message, message) == NULL)
            fail (path, graph_index, formats[f], error != NULL ? error->message : "it is written", message);
          g_clear_error (&error);
          continue;
        }
      if (error != NULL)
        {
          fail (path, graph_index, formats[f], error->message, NULL);
          g_clear_error (&error);
          continue;
        }
      close_lengths (again);
      inputs = inputs != NULL ? inputs : inputs_of (closed);
      for (guint o = 0; o < graph->results->len; o++)
        {
          g_autoptr (LptTensor) want = exec_case_run (closed, (LptTensor *const *) inputs->pdata, o);
          g_autoptr (LptTensor) have = exec_case_run (again, (LptTensor *const *) inputs->pdata, o);

          compare (have, want, formats[f], o);
        }
    }
}

static void
test_file (gconstpointer path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) graphs = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  graphs = g_strsplit (text, "\n-----\n", -1);
  for (guint i = 0; graphs[i] != NULL; i++)
    test_graph (graphs[i], path, i);
}

int
main (int    argc,
      char **argv)
{
  const char *folder = LPT_SOURCE_DIR "/tests/written", *entry;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);

  g_test_init (&argc, &argv, NULL);
  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *test = g_strdup_printf ("/written/%s", entry);

      g_test_add_data_func_full (test, g_build_filename (folder, entry, NULL), test_file, g_free);
    }

  return g_test_run ();
}
