/* test-json.c - the native JSON form: round trips, embedded weights, bad input
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-json.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-text.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static char *folder;

/* print (parse (print (graph))) = print (graph), through memory and through files. */
static void
round_trip (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *first = lpt_json_print (graph, &error);
  g_assert_no_error (error);
  g_autoptr (LptGraph) again = lpt_json_parse (first, strlen (first), NULL, "again", &error);
  g_assert_no_error (error);
  g_autofree char *second = lpt_json_print (again, &error);
  g_assert_cmpstr (first, ==, second);

  g_autofree char *path = g_build_filename (folder, "model.json", NULL), *bin = g_strconcat (path, ".bin", NULL);
  g_assert_true (lpt_json_save (graph, path, FALSE, &error));
  g_assert_no_error (error);
  g_autoptr (LptGraph) loaded = lpt_json_load (path, &error);
  g_assert_no_error (error);
  g_autofree char *third = lpt_json_print (loaded, &error);
  g_assert_cmpstr (first, ==, third);
  g_unlink (path);
  g_unlink (bin);
}

static void
test_models (gconstpointer data)
{
  const char *path = data;
  g_autoptr (GError) error = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip_printf ("%s is absent", path);
      return;
    }
  g_autoptr (LptGraph) graph = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  round_trip (graph);
}

/* Everything that a small graph can hold. */
static LptGraph *
sample (void)
{
  LptGraph *graph = lpt_graph_new ("sample \"quoted\"\n");
  LptNode *x = lpt_graph_add (graph, LPT_OP_PARAMETER, 1, "x", 0, NULL);
  LPT_ATTRS (x, LptParameterAttrs)->shape = lpt_shape_make (2, (gint64[]) { LPT_DYNAMIC, 4 });
  LPT_ATTRS (x, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
  x->out[0].dtype = LPT_DTYPE_F32;
  x->out[0].shape = LPT_ATTRS (x, LptParameterAttrs)->shape;
  lpt_value_add_name (&x->out[0], "x:0");
  LptShape four = lpt_shape_make (1, (gint64[]) { 4 });
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f32 (&four, (float[]) { 1.5f, -0.1f, 3e-38f, 1e30f }, NULL);
  LptNode *c = lpt_graph_add_const (graph, "c", tensor);
  LptNode *add = lpt_graph_add (graph, LPT_OP_ADD, 1, "add", 2, (LptValue *[]) { &x->out[0], &c->out[0] });
  add->out[0].dtype = LPT_DTYPE_F32;
  add->out[0].shape = x->out[0].shape;
  add->flags |= LPT_NODE_DEQUANTIZATION | LPT_NODE_KEEP_CONST;
  add->requant = g_strdup ("onnx");
  LptNode *clamp = lpt_graph_add (graph, LPT_OP_CLAMP, 1, "clamp", 1, (LptValue *[]) { &add->out[0] });
  LPT_ATTRS (clamp, LptClampAttrs)->min = -HUGE_VAL;
  LPT_ATTRS (clamp, LptClampAttrs)->max = 0.1;
  clamp->out[0].dtype = LPT_DTYPE_F32;
  clamp->out[0].shape = x->out[0].shape;
  LptNode *result = lpt_graph_add (graph, LPT_OP_RESULT, 1, "r", 1, (LptValue *[]) { &clamp->out[0] });
  LptResultAttrs *attrs = LPT_ATTRS (result, LptResultAttrs);
  g_free (attrs->output);
  attrs->output = g_strdup ("y");

  LptBox precisions = lpt_box_new (graph, LPT_BOX_PRECISIONS), shared = lpt_box_new (graph, LPT_BOX_PRESERVED);
  lpt_type_list_add (&lpt_box (graph, precisions)->types, LPT_DTYPE_U8);
  lpt_type_list_add (&lpt_box (graph, precisions)->types, LPT_DTYPE_I8);
  lpt_box (graph, shared)->flag = TRUE;
  add->in[0].mark.precisions = precisions;
  add->in[0].mark.granularity = LPT_GRANULARITY_PER_TENSOR;
  clamp->mark.preserved = shared;
  clamp->out[0].mark.precisions = precisions;
  graph->requant = g_strdup ("single");
  return graph;
}

static void
test_sample (void)
{
  g_autoptr (LptGraph) graph = sample ();
  g_autoptr (LptQuant) quant = lpt_quant_new (1, 4, (double[]) { 0.1, 0.2, 1.0 / 3.0, 1e-9 },
                                              (gint32[]) { 0, 128, -3, 255 });
  round_trip (graph);
  g_autoptr (LptGraph) codes = lpt_graph_from_text ("%x = Parameter : u8[2,4]\n%t = Relu(%x)\nResult(%t)\n", -1,
                                                    "codes.lpt", NULL);
  lpt_value_set_quant (&lpt_graph_find (codes, "x")->out[0], quant);
  round_trip (codes);
}

/* What was kept must be kept under its own meaning, too. */
static void
test_content (void)
{
  g_autoptr (LptGraph) graph = sample ();
  g_autofree char *text = lpt_json_print (graph, NULL);
  g_autoptr (LptGraph) again = lpt_json_parse (text, strlen (text), NULL, NULL, NULL);
  LptNode *add = lpt_graph_find (again, "add"), *clamp = lpt_graph_find (again, "clamp");
  g_assert_cmpstr (again->name, ==, "sample \"quoted\"\n");
  g_assert_cmpuint (add->flags, ==, LPT_NODE_DEQUANTIZATION | LPT_NODE_KEEP_CONST);
  g_assert_cmpstr (add->requant, ==, "onnx");
  g_assert_cmpint (add->in[0].mark.granularity, ==, LPT_GRANULARITY_PER_TENSOR);
  g_assert_true (lpt_box_root (again, add->in[0].mark.precisions) ==
                 lpt_box_root (again, clamp->out[0].mark.precisions));
  g_assert_cmpuint (lpt_box (again, add->in[0].mark.precisions)->types.n, ==, 2);
  g_assert_true (lpt_box (again, clamp->mark.preserved)->flag);
  g_assert_true (LPT_ATTRS (clamp, LptClampAttrs)->min == -HUGE_VAL);
  g_assert_true (LPT_ATTRS (clamp, LptClampAttrs)->max == 0.1);
  g_assert_true (lpt_tensor_equal (lpt_graph_find (graph, "c")->data, lpt_graph_find (again, "c")->data));
  g_assert_true (lpt_graph_find (again, "c")->graph == again);
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (again->results, 0)), ==, "y");
}

/* --- bad input --------------------------------------------------------------- */

static const struct { const char *name, *from, *to, *message; } bad[] = {
  { "syntax", "\"nodes\": [", "\"nodes\": [[", "not well-formed JSON" },
  { "format", "lpt-graph", "lpt-grape", "not the native JSON form" },
  { "version", "\"version\": 1", "\"version\": 7", "unsupported version" },
  { "op", "\"op\": \"Clamp\"", "\"op\": \"Cramp\"", "node \"clamp\": unsupported op \"Cramp\"" },
  { "name-twice", "\"name\": \"clamp\"", "\"name\": \"add\"", "node \"add\": the name is taken twice" },
  { "input", "\"inputs\": [\"add\"]", "\"inputs\": [\"ad\"]", "node \"clamp\": input 0: no value \"ad\"" },
  { "input-index", "\"inputs\": [\"add\"]", "\"inputs\": [[\"add\", 3]]", "node \"clamp\": input 0: no value \"add\", output 3" },
  { "input-null", "\"inputs\": [\"add\"]", "\"inputs\": [null]", "node \"clamp\": input 0 is missing" },
  { "inputs", "\"inputs\": [\"add\"]", "\"inputs\": [\"add\", \"add\"]", "node \"clamp\": Clamp with 2 inputs" },
  { "cycle", "\"inputs\": [\"x\", \"c\"]", "\"inputs\": [\"clamp\", \"c\"]", "cycle" },
  { "attribute", "\"max\": 0.1", "\"maximum\": 0.1", "node \"clamp\": Clamp has no attribute \"maximum\"" },
  { "attribute-kind", "\"max\": 0.1", "\"max\": [1]", "node \"clamp\": attribute \"max\" has the wrong kind" },
  { "base64", "\"base64\": \"", "\"base64\": \"AAAA", "node \"c\": base64 holds" },
  { "offset", "{\"base64\":", "{\"offset\": 0, \"size\": 16, \"x\":", "node \"c\": no weights" },
  { "size", "{\"base64\":", "{\"offset\": 0, \"size\": 15, \"x\":", "node \"c\": size 15, but" },
  { "type", "\"outputs\": [{\"type\": \"f32\", \"shape\": [4]", "\"outputs\": [{\"type\": \"f33\", \"shape\": [4]", "node \"c\": output 0: unsupported element type" },
  { "shape", "\"shape\": [4]", "\"shape\": [-4]", "node \"c\": output 0 has no shape" },
  { "huge", "\"shape\": [4]", "\"shape\": [4000000000, 4000000000, 4000000000]", "node \"c\": a constant needs" },
  { "flag", "\"keep_const\"", "\"keep_constant\"", "node \"add\": an unknown flag" },
  { "box", "\"preserved\": 2", "\"preserved\": 3", "node \"clamp\": mark \"preserved\" names no box" },
  { "box-kind", "\"preserved\": 2", "\"preserved\": 1", "node \"clamp\": mark \"preserved\" names a box of another kind" },
  { "results", "\"results\": [\"r\"]", "\"results\": [\"x\"]", "\"results\" names something else" },
};

/* The same of tests/fuzz/corpus/json/markup.json. */
static const struct { const char *name, *from, *to, *message; } wrong[] = {
  { "box-kind", "\"kind\": \"preserved\"", "\"kind\": \"kept\"", "a box has no known kind" },
  { "box-types", "[\"u8\", \"i8\"]", "\"u8\"", "a box of kind \"precisions\" is incomplete" },
  { "box-type", "[\"u8\", \"i8\"]", "[\"u8\", 3]", "a box of kind \"precisions\" is incomplete" },
  { "box-type-name", "[\"u8\", \"i8\"]", "[\"u9\"]", "a box of kind \"precisions\" is incomplete" },
#define INTERVAL(text) "{\"kind\": \"preserved\", \"flag\": true}", "{\"kind\": \"interval\"" text "}", \
  "a box of kind \"interval\" is incomplete"
#define ENDS ", \"low\": 0, \"high\": 1, \"min_low\": 0, \"min_high\": \"1e3\""
  { "interval", INTERVAL ("") },
  { "interval-high", INTERVAL (", \"low\": 0, \"high\": \"1x\"") },
  { "interval-low", INTERVAL (", \"low\": \"\", \"high\": 1") },
  { "interval-ends", INTERVAL (", \"low\": 0, \"high\": 1, \"min_low\": []") },
  { "interval-levels", INTERVAL (ENDS ", \"levels\": -1, \"min_levels\": 2, \"preferred\": []") },
  { "interval-half", INTERVAL (ENDS ", \"levels\": 2, \"min_levels\": 2.5, \"preferred\": []") },
  { "interval-huge", INTERVAL (ENDS ", \"levels\": 1e300, \"min_levels\": 2, \"preferred\": []") },
  { "interval-types", INTERVAL (ENDS ", \"levels\": \"2\", \"min_levels\": 2, \"preferred\": 1") },
  { "granularity", "per_tensor", "per_most", "mark: unknown granularity" },
  { "mark", "\"precisions\": 1}", "\"precisions\": 9}", "mark \"precisions\" names no box" },
  { "mark-text", "\"precisions\": 1}", "\"precisions\": \"one\"}", "mark \"precisions\" names no box" },
  { "rt-info", "\"fused_names\": \"a,b\"", "\"fused_names\": 1", "\"rt_info\"" },
  { "meta", "\"MO_version\": \"1\"", "\"MO_version\": 1", "\"meta\"" },
  { "attributes", "{\"levels\": 256, \"auto_broadcast\": \"numpy\"}", "[1]", "\"attributes\" is no object" },
  { "attribute", "\"levels\": 256", "\"levels\": \"many\"", "attribute \"levels\"" },
  { "attribute-list", "\"strides\": [1,1]", "\"strides\": [1,{}]", "attribute \"strides\" has the wrong kind" },
  { "attribute-bare", "\"strides\": [1,1]", "\"strides\": null", "attribute \"strides\" has the wrong kind" },
  { "rank", "\"shape\": [3,2,1,1]", "\"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "output 0 has no shape" },
  { "length", "\"shape\": [3,2,1,1]", "\"shape\": [3,2.5,1,1]", "output 0 has no shape" },
  { "length-text", "\"shape\": [3,2,1,1]", "\"shape\": [3,\"a\",1,1]", "output 0 has no shape" },
  { "shape", "\"shape\": [3,2,1,1]", "\"shape\": 3", "output 0 has no shape" },
#define QUANT(text) "\"shape\": [1,3,4,4]}", "\"shape\": [1,3,4,4], \"quantization\": {" text "}}"
  { "no-scales", QUANT (""), "\"quantization\" needs an axis (or null) and as many scales as zero points" },
  { "scales", QUANT ("\"axis\": null, \"scale\": [1], \"zero_point\": [0,0]"), "as many scales as zero points" },
  { "axis", QUANT ("\"axis\": 99, \"scale\": [1,1,1], \"zero_point\": [0,0,0]"), "needs an axis" },
  { "channels", QUANT ("\"axis\": 1, \"scale\": [1,1], \"zero_point\": [0,0]"), "node \"conv\"" },
  { "scale", QUANT ("\"axis\": null, \"scale\": [\"a\"], \"zero_point\": [0]"), "element 0 is no number" },
  { "zero-point", QUANT ("\"axis\": null, \"scale\": [1], \"zero_point\": [0.5]"), "element 0 is no number" },
};

static void
test_wrong (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autofree char *text = NULL, *broken = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) none = NULL;
  const char *at;

  g_assert_true (g_file_get_contents (LPT_SOURCE_DIR "/tests/fuzz/corpus/json/markup.json", &text, NULL, NULL));
  at = strstr (text, wrong[i].from);
  if (at == NULL)
    g_error ("%s: no %s", wrong[i].name, wrong[i].from);
  broken = g_strdup_printf ("%.*s%s%s", (int) (at - text), text, wrong[i].to, at + strlen (wrong[i].from));
  none = lpt_json_parse (broken, strlen (broken), NULL, "bad.json", &error);
  if (none != NULL || strstr (error->message, wrong[i].message) == NULL)
    g_test_fail_printf ("\"%s\" does not say \"%s\"", none != NULL ? "it is taken" : error->message, wrong[i].message);
}

static void
test_bad (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (LptGraph) graph = sample ();
  g_autofree char *text = lpt_json_print (graph, NULL);
  const char *at = strstr (text, bad[i].from);
  if (at == NULL)
    g_error ("%s: no %s in %s", bad[i].name, bad[i].from, text);
  g_autofree char *broken = g_strdup_printf ("%.*s%s%s", (int) (at - text), text, bad[i].to, at + strlen (bad[i].from));
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) none = lpt_json_parse (broken, strlen (broken), NULL, "bad.json", &error);
  g_assert_null (none);
  g_assert_nonnull (error);
  if (strstr (error->message, bad[i].message) == NULL)
    g_error ("%s: \"%s\" does not say \"%s\"", bad[i].name, error->message, bad[i].message);
  g_assert_true (g_str_has_prefix (error->message, "bad.json:"));
  g_assert_null (strchr (error->message, '\n'));
}

/* Every prefix of a file is refused, and none of them crashes. */
static void
test_truncated (void)
{
  g_autoptr (LptGraph) graph = sample ();
  g_autofree char *text = lpt_json_print (graph, NULL);
  for (gsize n = 0; n + 2 < strlen (text); n += 7)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *part = g_strndup (text, n);
      g_autoptr (LptGraph) none = lpt_json_parse (part, n, NULL, "part.json", &error);
      g_assert_null (none);
      g_assert_nonnull (error);
    }
}

/* A weights file that is too short, or absent. */
static void
test_weights (void)
{
  g_autoptr (LptGraph) graph = sample ();
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (folder, "short.json", NULL), *bin = g_strconcat (path, ".bin", NULL);
  g_assert_true (lpt_json_save (graph, path, FALSE, &error));
  g_assert_true (g_file_set_contents (bin, "abc", 3, NULL));
  g_autoptr (LptGraph) none = lpt_json_load (path, &error);
  g_assert_null (none);
  g_assert_nonnull (strstr (error->message, "has 3 bytes"));
  g_clear_error (&error);
  g_unlink (bin);
  none = lpt_json_load (path, &error);
  g_assert_null (none);
  g_assert_nonnull (strstr (error->message, "node \"c\": no weights"));
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("lpt-json-XXXXXX", NULL);
  g_test_add_func ("/json/sample", test_sample);
  g_test_add_func ("/json/content", test_content);
  g_test_add_func ("/json/truncated", test_truncated);
  g_test_add_func ("/json/weights", test_weights);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = g_strdup_printf ("/json/bad/%s", bad[i].name);
      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_bad);
    }
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autofree char *path = g_strdup_printf ("/json/wrong/%s", wrong[i].name);
      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_wrong);
    }
  g_test_add_data_func ("/json/models/digits", LPT_SOURCE_DIR "/models/digits.xml", test_models);
  g_test_add_data_func ("/json/models/head-pose",
                        LPT_SHARED_DIR
                        "/models/ir-head-pose-estimation-adas-0001/FP16-INT8/head-pose-estimation-adas-0001.xml",
                        test_models);
  int code = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return code;
}
