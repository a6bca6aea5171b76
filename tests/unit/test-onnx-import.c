/* test-onnx-import.c - ONNX in and out: every model of the corpora, normalisation, writing, bad graphs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <lpt/lpt-onnx.h>
#include <lpt/lpt-pass.h>

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
          if (!g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED) ||
              strstr (error->message, "unsupported") == NULL)
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

/* --- normalisation -------------------------------------------------------------- */

/* No Quantize or Dequantize is left in a graph of QDQ pairs, and the graph is consistent at every stage. */
static void
normalize (const char *path,
           LptStage    until)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_load (path, &error);
  g_autoptr (LptConfig) config = lpt_config_new ();

  g_assert_no_error (error);
  config->until = until;
  if (!lpt_pipeline_run (graph, config, NULL, NULL, &error) || !lpt_graph_validate (graph, &error))
    g_test_fail_printf ("%s: %s", path, error->message);
  for (guint i = 0; until < LPT_STAGE_LOWER && i < graph->nodes->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (!(node->flags & LPT_NODE_DEAD) && (node->info->flags & LPT_OP_F_LOWERED))
        g_test_fail_printf ("%s: %s \"%s\" is left", path, node->info->name, node->name);
    }
}

static void
test_normalize (void)
{
  g_autofree char *folder = g_build_filename (LPT_SHARED_DIR, "corpus/qdq_patterns", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (dir == NULL)
    {
      g_test_skip ("the shared folder is absent");
      return;
    }
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, "model.onnx", NULL);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        {
          normalize (path, LPT_STAGE_PREPARE);
          normalize (path, LPT_STAGE_LOWER);
        }
    }
}

/* --- writing ------------------------------------------------------------------------ */

/* What the writer writes in either form is read again, with the same inputs and outputs. */
static void
rewrite (const char       *path,
         gboolean          lower,
         LptOnnxSaveFlags  flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_load (path, &error);
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (LptGraph) again = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_assert_no_error (error);
  if (lower && !lpt_pipeline_run (graph, config, NULL, NULL, &error))
    g_error ("%s: %s", path, error->message);
  bytes = lpt_onnx_serialise (graph, flags, &error);
  if (bytes == NULL)
    {
      g_test_fail_printf ("%s: %s", path, error->message);
      return;
    }
  again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  if (again == NULL)
    {
      g_test_fail_printf ("%s, written and read: %s", path, error->message);
      return;
    }
  g_assert_cmpuint (again->parameters->len, ==, graph->parameters->len);
  g_assert_cmpuint (again->results->len, ==, graph->results->len);
  for (guint i = 0; i < graph->results->len; i++)
    {
      LptNode *a = g_ptr_array_index (graph->results, i), *b = g_ptr_array_index (again->results, i);

      g_assert_cmpstr (lpt_result_name (a), ==, lpt_result_name (b));
      g_assert_cmpint (lpt_node_in (a, 0)->dtype, ==, lpt_node_in (b, 0)->dtype);
      g_assert_true (lpt_shape_compatible (&lpt_node_in (a, 0)->shape, &lpt_node_in (b, 0)->shape));
    }
}

static void
test_rewrite (gconstpointer data)
{
  g_autofree char *folder = g_build_filename (LPT_SHARED_DIR, data, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  gboolean qdq = strstr (data, "qdq") != NULL;
  const char *name;

  if (dir == NULL)
    {
      g_test_skip ("the shared folder is absent");
      return;
    }
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, "model.onnx", NULL);

      if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
        continue;
      rewrite (path, FALSE, 0);
      rewrite (path, qdq, LPT_ONNX_JSON);
      rewrite (path, qdq, LPT_ONNX_QOPERATOR);
    }
}

/* --- bad graphs ---------------------------------------------------------------------- */

#define X_IN  "\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": {\"elemType\": 1, \"shape\": {\"dim\": [{\"dimValue\": 4}]}}}}]"
#define Y_OUT "\"output\": [{\"name\": \"y\"}]"
#define SPARSE(length, n, indices) \
  "{\"graph\": {\"sparseInitializer\": [{\"dims\": [" length "], " \
  "\"values\": {\"name\": \"s\", \"dataType\": 1, \"dims\": [2], \"floatData\": [1, 2]}, " \
  "\"indices\": {\"dataType\": 7, \"dims\": [" n "], \"int64Data\": " indices "}}]}}"
#define MODEL(nodes) "{\"opsetImport\": [{\"version\": 17}], \"graph\": {" X_IN ", " Y_OUT ", \"node\": [" nodes "]}}"
#define WEIGHT(values) "{\"name\": \"w\", \"dataType\": 1, \"dims\": [2], \"floatData\": " values "}"
#define NODE(op, in, out) "{\"opType\": \"" op "\", \"input\": [" in "], \"output\": [" out "]}"

static void
test_refused (void)
{
  static const struct { const char *text, *message; } cases[] = {
    { "{}", "not an ONNX model: it has no graph" },
    { "{\"graph\": {}}", "the model has no outputs" },
    { MODEL (NODE ("Relu", "\"t\"", "\"y\"") "," NODE ("Relu", "\"y\"", "\"t\"")),
      "the nodes \"t\", \"y\" are a cycle" },
    { MODEL (NODE ("Add", "\"y\", \"x\"", "\"y\"")), "node \"y\" reads its own output" },
    { MODEL (NODE ("Relu", "\"x\"", "\"x\"")), "node \"x\" (Relu, opset 17): \"x\" is defined twice" },
    { MODEL (NODE ("Relu", "", "\"y\"")), "node \"y\" (Relu, opset 17): input 0 is missing" },
    { MODEL (NODE ("Frobnicate", "\"x\"", "\"y\"")), "node \"y\" (Frobnicate, opset 17): unsupported operator" },
    { MODEL ("{\"opType\": \"Relu\", \"domain\": \"elsewhere\", \"input\": [\"x\"], \"output\": [\"y\"]}"),
      "node \"y\" (elsewhere.Relu, opset 1): unsupported operator" },
    { MODEL (NODE ("CumProd", "\"x\"", "\"y\"")),
      "node \"y\" (CumProd, opset 17): unsupported version of the operator: it is known from opset 26 on" },
    { MODEL ("{\"opType\": \"Relu\", \"input\": [\"x\"], \"output\": [\"y\"], \"attribute\": [{\"name\": \"slope\", \"type\": 1, \"f\": 1}]}"),
      "node \"y\" (Relu, opset 17): unsupported attribute \"slope\"" },
    { MODEL ("{\"opType\": \"Elu\", \"input\": [\"x\"], \"output\": [\"y\"], \"attribute\": [{\"name\": \"alpha\", \"type\": 2, \"i\": 1}]}"),
      "node \"y\" (Elu, opset 17): attribute \"alpha\" has the wrong type" },
    { MODEL (NODE ("Relu", "\"x\"", "\"z\", \"y\"")), "output \"y\": unsupported output 1 (\"y\") of Relu" },
    { MODEL (NODE ("Relu", "\"x\"", "\"z\"")), "output \"y\": input \"y\" is not defined" },
    { "{\"graph\": {\"input\": [{\"name\": \"x\", \"type\": {\"sequenceType\": {}}}]}}", "input \"x\": unsupported type: sequence" },
    { "{\"graph\": {\"input\": [{\"name\": \"x\"}]}}", "input \"x\": has no type" },
    { "{\"graph\": {\"initializer\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}}", "initializer 1 \"a\": is defined twice" },
    { "{\"graph\": {\"initializer\": [" WEIGHT ("[1, 2]") ", " WEIGHT ("[1, 3]") "]}}",
      "initializer 1 \"w\": is defined twice, with different content" },
    { "{\"graph\": {\"sparseInitializer\": [{}]}}", "a sparse initializer has no name" },
    { SPARSE ("4", "2", "[0, 4]"), "initializer \"s\": a sparse tensor has an index outside of its shape" },
    { SPARSE ("4", "2", "[1, 1]"), "initializer \"s\": a sparse tensor has indices that do not ascend" },
    { SPARSE ("2147483648, 2147483648, 3, 0", "2, 4", "[2147483647, 2147483647, 2, 0, 0, 0, 0, 0]"),
      "initializer \"s\": a sparse tensor has an index outside of its shape" },
    { SPARSE ("-4", "2", "[0, 1]"), "initializer \"s\": a sparse tensor has a negative length" },
    { SPARSE ("4", "1", "[0]"),
      "initializer \"s\": a sparse tensor has indices that are not one i64, or one row of them, for each value" },
    { SPARSE ("4", "2, 2", "[0, 0, 0, 0]"),
      "initializer \"s\": a sparse tensor has indices that are not one i64, or one row of them, for each value" },
    { "{\"opsetImport\": [{\"version\": 17}, {\"domain\": \"ai.onnx\", \"version\": 0}], \"graph\": {}}", "opsetImport[1]: domain \"\" has no version" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_onnx_parse (cases[i].text, strlen (cases[i].text), NULL, &error);

      g_assert_null (graph);
      g_assert_nonnull (error);
      g_assert_cmpstr (error->message, ==, cases[i].message);
    }
}

/* A function that calls itself is not inlined for ever. */
static void
test_recursive_function (void)
{
  const char *text =
    "{\"opsetImport\": [{\"version\": 17}, {\"domain\": \"own\", \"version\": 1}], \"graph\": {" X_IN ", " Y_OUT
    ", \"node\": [{\"opType\": \"F\", \"domain\": \"own\", \"input\": [\"x\"], \"output\": [\"y\"]}]},"
    "\"functions\": [{\"name\": \"F\", \"domain\": \"own\", \"input\": [\"a\"], \"output\": [\"b\"],"
    "\"node\": [{\"opType\": \"F\", \"domain\": \"own\", \"input\": [\"a\"], \"output\": [\"b\"]}]}]}";
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (text, strlen (text), NULL, &error);

  g_assert_null (graph);
  g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "nested deeper than 32"));
}

/* Training frameworks leave them in files that only infer: the statistics that BatchNormalization would write. */
static void
test_unread_outputs (void)
{
  const char *text =
    "{\"graph\": {\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": {\"elemType\": 1, \"shape\": {\"dim\": "
    "[{\"dimValue\": 2}, {\"dimValue\": 2}]}}}}], " Y_OUT ", \"initializer\": [" WEIGHT ("[1, 2]") "], \"node\": ["
    NODE ("BatchNormalization", "\"x\", \"w\", \"w\", \"w\", \"w\"", "\"y\", \"m\", \"v\", \"sm\", \"sv\"") "]}}";
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (text, strlen (text), NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (graph->results->len, ==, 1);
}

int
main (int   argc,
      char *argv[])
{
  static const Corpus corpora[] = {
    { "corpus/onnx_node", 1264 }, { "corpus/ort_qops", 253 }, { "corpus/qdq_patterns", 231 }, { "models", 41 },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (corpora); i++)
    {
      g_autofree char *name = g_strdup_printf ("/onnx-import/%s", corpora[i].folder);

      g_test_add_data_func (name, &corpora[i], test_corpus);
    }
  g_test_add_func ("/onnx-import/normalize", test_normalize);
  g_test_add_data_func ("/onnx-import/rewrite/qops", "corpus/ort_qops", test_rewrite);
  g_test_add_data_func ("/onnx-import/rewrite/patterns", "corpus/qdq_patterns", test_rewrite);
  g_test_add_func ("/onnx-import/refused", test_refused);
  g_test_add_func ("/onnx-import/recursive-function", test_recursive_function);
  g_test_add_func ("/onnx-import/unread-outputs", test_unread_outputs);
  return g_test_run ();
}
