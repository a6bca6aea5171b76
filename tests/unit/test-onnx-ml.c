/* test-onnx-ml.c - ai.onnx.ml: maps of scores, strings, what is refused by name
 *
 * The numbers of its operators are in tests/onnx/contrib (test-onnx-contrib.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-onnx.h>

#define HEAD "{\"opsetImport\": [{\"version\": 17}, {\"domain\": \"ai.onnx.ml\", \"version\": 3}], \"graph\": {" \
             "\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": {\"elemType\": 1, \"shape\": {\"dim\": [" \
             "{\"dimParam\": \"n\"}, {\"dimValue\": 2}]}}}}], "
#define ML(op, in, out, attributes) "{\"name\": \"" op "\", \"domain\": \"ai.onnx.ml\", \"opType\": \"" op "\", " \
                                    "\"input\": [\"" in "\"], \"output\": [" out "], \"attribute\": [" attributes "]}"
#define LIST(name, kind, type, values) "{\"name\": \"" name "\", \"" kind "\": [" values "], \"type\": \"" type "\"}"
#define CLASSIFIER "{\"name\": \"coefficients\", \"floats\": [1, 2], \"type\": \"FLOATS\"}, " \
                   "{\"name\": \"intercepts\", \"floats\": [0.5], \"type\": \"FLOATS\"}, "
#define SVM LIST ("coefficients", "floats", "FLOATS", "1, 2") ", " \
            LIST ("classlabels_ints", "ints", "INTS", "1, 2, 3") ", " \
            LIST ("vectors_per_class", "ints", "INTS", "1, 1, 0") ", "
/* "no" and "yes" */
#define STRINGS LIST ("classlabels_strings", "strings", "STRINGS", "\"bm8=\", \"eWVz\"")

/* Runs @model on two rows; NULL + error. */
static LptTensor *
run (const char *model,
     const char *cut,
     GError    **error)
{
  static const float rows[] = { 1, -1, -2, 1 };
  const LptShape shape = { .rank = 2, .dims = { 2, 2 } };
  const char *const names[] = { cut, NULL };
  g_autoptr (LptGraph) graph = lpt_onnx_parse (model, strlen (model), NULL, error);
  g_autoptr (LptTensor) x = lpt_tensor_from_f32 (&shape, rows, NULL);
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;

  if (graph == NULL || (cut != NULL && !lpt_graph_cut (graph, names, error)))
    return NULL;
  plan = lpt_plan_new (graph, &shape, 0, error);
  context = plan != NULL ? lpt_plan_context_new (plan, 1, error) : NULL;
  if (context == NULL || !lpt_plan_context_set_input (context, 0, x, error) || !lpt_plan_run (plan, context, error))
    return NULL;
  return lpt_plan_context_output (context, 0, error);
}

/* The map of ZipMap is the row of scores; its output is declared a sequence of maps, as skl2onnx does it. */
static void
test_zip_map (void)
{
  static const char *const model =
    HEAD "\"output\": [{\"name\": \"z\", \"type\": {\"sequenceType\": {\"elemType\": {\"mapType\": {\"keyType\": 8, "
    "\"valueType\": {\"tensorType\": {\"elemType\": 1}}}}}}}, {\"name\": \"l\"}], \"node\": ["
    ML ("LinearClassifier", "x", "\"l\", \"p\"", CLASSIFIER STRINGS) ", " ML ("ZipMap", "p", "\"z\"", STRINGS) "]}}";
  static const double want[] = { 1.5, -0.5, 0.5, 0.5 };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) z = run (model, "z", &error), none = NULL;

  g_assert_no_error (error);
  g_assert_cmpint (lpt_tensor_shape (z)->rank, ==, 2);
  g_assert_cmpint (lpt_tensor_count (z), ==, 4);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (lpt_tensor_get_f64 (z, i), ==, want[i]);
  /* Who asks for the label asks for strings. */
  none = run (model, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "strings are kept, not computed"));
}

static void
refuse (const char *node,
        const char *what)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *model = g_strconcat (HEAD "\"output\": [{\"name\": \"y\"}], \"node\": [", node, "]}}", NULL);
  g_autoptr (LptGraph) graph = lpt_onnx_parse (model, strlen (model), NULL, &error);

  if (graph != NULL || strstr (error->message, what) == NULL)
    g_test_fail_printf ("\"%s\", not \"%s\"", graph == NULL ? error->message : "no error", what);
}

static void
test_refused (void)
{
  refuse (ML ("CategoryMapper", "x", "\"y\"", ""), "unsupported operator");
  refuse (ML ("CastMap", "x", "\"y\"", ""), "unsupported operator");
  refuse (ML ("DictVectorizer", "x", "\"y\"", ""), "unsupported operator");
  refuse (ML ("LabelEncoder", "x", "\"y\"", LIST ("keys_strings", "strings", "STRINGS", "\"bm8=\"")),
          "unsupported keys that are strings");
  refuse (ML ("LabelEncoder", "x", "\"y\"", LIST ("keys_floats", "floats", "FLOATS", "1")),
          "there are no values");
  refuse (ML ("OneHotEncoder", "x", "\"y\"", LIST ("cats_strings", "strings", "STRINGS", "\"bm8=\"")),
          "unsupported categories");
  refuse (ML ("Imputer", "x", "\"y\"", ""), "no imputed values");
  refuse (ML ("Normalizer", "x", "\"y\"", "{\"name\": \"norm\", \"s\": \"TDM=\", \"type\": \"STRING\"}"),
          "unsupported norm \"L3\"");
  refuse (ML ("FeatureVectorizer", "x", "\"y\"", LIST ("inputdimensions", "ints", "INTS", "2, 3")),
          "inputdimensions has 2 elements for 1 inputs");
  refuse (ML ("LinearRegressor", "x", "\"y\"", ""), "0 coefficients for 1 scores");
  refuse (ML ("SVMRegressor", "x", "\"y\"", LIST ("rho", "floats", "FLOATS", "1")), "0 coefficients for 0 support");
  refuse (ML ("SVMClassifier", "x", "\"y\"", SVM LIST ("rho", "floats", "FLOATS", "1")),
          "2 coefficients and 1 rho for 3 labels and 2 support vectors");
  refuse (ML ("SVMClassifier", "x", "\"y\"", SVM LIST ("rho", "floats", "FLOATS", "1,2,3")),
          "2 coefficients and 3 rho");
  refuse (ML ("LinearClassifier", "x", "\"y\"", CLASSIFIER LIST ("classlabels_ints", "ints", "INTS", "")), "0 labels");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-ml/zip-map", test_zip_map);
  g_test_add_func ("/onnx-ml/refused", test_refused);
  return g_test_run ();
}
