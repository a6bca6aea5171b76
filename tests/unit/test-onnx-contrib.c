/* test-onnx-contrib.c - operators of com.microsoft and ai.onnx.ml and rare forms: read, run, written, read again
 *
 * tests/onnx/contrib: models of one operator in ONNX's JSON form, with inputs and outputs. What computed the outputs,
 * ONNX Runtime or the operator's definition, and how far others may be, stands beside them. Each model runs as it is
 * read, in the reference and in the plan, and as it is read back from every form that the program writes, but ONNX
 * where "unwritten" names the op that it cannot express.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-explain.h>
#include <lpt/lpt-json.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

/* Numbers; what JSON has no number for is text. */
static LptTensor *
read_tensor (const cJSON    *data,
             LptDType        dtype,
             const LptShape *shape)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *values = g_new0 (double, cJSON_GetArraySize (data) + 1);
  LptTensor *tensor;
  const cJSON *item;
  guint n = 0;

  cJSON_ArrayForEach (item, data)
    values[n++] = cJSON_IsString (item) ? g_ascii_strtod (item->valuestring, NULL) : item->valuedouble;
  tensor = lpt_tensor_from_f64 (dtype, shape, values, &error);
  g_assert_no_error (error);
  return tensor;
}

/* The largest difference, relative above @floor. */
static double
distance (LptTensor   *got,
          const cJSON *output,
          double       floor)
{
  const cJSON *dims = cJSON_GetObjectItem (output, "dims"), *data = cJSON_GetObjectItem (output, "data"), *item;
  const LptShape *shape = lpt_tensor_shape (got);
  double worst = 0;
  gint64 i = 0;

  if (shape->rank != cJSON_GetArraySize (dims))
    return INFINITY;
  cJSON_ArrayForEach (item, dims)
    if (shape->dims[i++] != (gint64) item->valuedouble)
      return INFINITY;
  i = 0;
  cJSON_ArrayForEach (item, data)
    {
      double wanted = cJSON_IsString (item) ? g_ascii_strtod (item->valuestring, NULL) : item->valuedouble;
      double found = lpt_tensor_get_f64 (got, i++);
      double d = found == wanted ? 0 : fabs (found - wanted) / MAX (floor, fabs (wanted));   /* infinity, too */

      worst = d <= worst ? worst : isnan (d) ? INFINITY : d;
    }
  return worst;
}

/* Data that a product quantizes in blocks has 8 bits of each: what half a step of a 127th of the largest number is in a
 * sum is the same for small results and large ones. */
static gboolean
is_rounded (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    if (((LptNode *) graph->nodes->pdata[i])->op == LPT_OP_BLOCK_MATMUL)
      return TRUE;

  return FALSE;
}

static double
largest (const cJSON *output)
{
  const cJSON *item;
  double most = 1;

  cJSON_ArrayForEach (item, cJSON_GetObjectItem (output, "data"))
    if (!cJSON_IsString (item))
      most = MAX (most, fabs (item->valuedouble));

  return most;
}

static void
run (LptGraph    *graph,
     const cJSON *test,
     const char  *form,
     guint        flags)
{
  const char *name = cJSON_GetObjectItem (test, "name")->valuestring;
  const cJSON *inputs = cJSON_GetObjectItem (test, "inputs"), *output;
  const gboolean rounded = is_rounded (graph);
  const double asked = cJSON_GetObjectItem (test, "bound")->valuedouble, bound = rounded ? MAX (asked, 0.02) : asked;
  g_autoptr (GError) error = NULL;
  g_autofree LptShape *shapes = g_new (LptShape, graph->parameters->len + 1);
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  guint i = 0;

  g_assert_cmpuint (graph->parameters->len, ==, cJSON_GetArraySize (inputs));
  for (i = 0; i < graph->parameters->len; i++)
    shapes[i] = lpt_node_out (g_ptr_array_index (graph->parameters, i))->shape;
  plan = lpt_plan_new (graph, shapes, flags, &error);
  if (plan != NULL)
    context = lpt_plan_context_new (plan, 1, &error);
  for (i = 0; i < graph->parameters->len && error == NULL; i++)
    {
      const LptValue *value = lpt_node_out (g_ptr_array_index (graph->parameters, i));
      g_autoptr (LptTensor) tensor = read_tensor (cJSON_GetObjectItem (cJSON_GetArrayItem (inputs, (int) i), "data"),
                                                  value->dtype, &value->shape);

      lpt_plan_context_set_input (context, i, tensor, &error);
    }
  if (error != NULL || !lpt_plan_run (plan, context, &error))
    {
      g_test_fail_printf ("%s, %s: %s", name, form, error->message);
      return;
    }
  i = 0;
  cJSON_ArrayForEach (output, cJSON_GetObjectItem (test, "outputs"))
    {
      g_autoptr (LptTensor) got = lpt_plan_context_output (context, i, &error);
      double d;

      g_assert_no_error (error);
      d = distance (got, output, rounded ? largest (output) : 1);
      if (!(d <= bound))
        g_test_fail_printf ("%s, %s: output %u is %g off", name, form, i, d);
      i++;
    }
}

/* What was written, read again; takes @again and @error over. */
static void
run_again (LptGraph    *again,
           GError      *error,
           const cJSON *test,
           const char  *form)
{
  if (again != NULL)
    run (again, test, form, LPT_PLAN_REFERENCE);
  else
    g_test_fail_printf ("%s, %s: %s", cJSON_GetObjectItem (test, "name")->valuestring, form, error->message);
  g_clear_pointer (&again, lpt_graph_free);
  g_clear_error (&error);
}

static void
write_forms (LptGraph    *graph,
             const cJSON *test,
             const char  *stage)
{
  const cJSON *unwritten = cJSON_GetObjectItem (test, "unwritten");
  GError *error = NULL;
  g_autofree char *text = lpt_graph_to_text (graph, 0), *form = g_strconcat (stage, " as text", NULL);
  g_autofree char *json_form = g_strconcat (stage, " as JSON", NULL),
                               *onnx_form = g_strconcat (stage, " as ONNX", NULL);
  g_autofree char *json = NULL;
  g_autoptr (GBytes) bytes = NULL;
  LptGraph *again;

  again = lpt_graph_from_text (text, -1, "text", &error);
  run_again (again, error, test, form);
  error = NULL;
  json = lpt_json_print (graph, &error);
  again = json != NULL ? lpt_json_parse (json, strlen (json), NULL, "JSON", &error) : NULL;
  run_again (again, error, test, json_form);
  error = NULL;
  /* Integer operators where there are any: between pairs real numbers may round to the code beside. */
  bytes = lpt_onnx_serialise (graph, LPT_ONNX_QOPERATOR, &error);
  if (unwritten != NULL)
    {
      if (bytes != NULL || strstr (error->message, unwritten->valuestring) == NULL)
        g_test_fail_printf ("%s, %s: %s", cJSON_GetObjectItem (test, "name")->valuestring, onnx_form,
                            bytes != NULL ? "is written" : error->message);
      g_clear_error (&error);
      return;
    }
  again = bytes != NULL ? lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error)
          : NULL;
  run_again (again, error, test, onnx_form);
}

static void
run_case (const cJSON *test)
{
  g_autofree char *model = cJSON_PrintUnformatted (cJSON_GetObjectItem (test, "model"));
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (model, strlen (model), NULL, &error);
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (GPtrArray) rows = NULL;

  if (graph == NULL)
    {
      g_test_fail_printf ("%s: %s", cJSON_GetObjectItem (test, "name")->valuestring, error->message);
      return;
    }
  run (graph, test, "reference", LPT_PLAN_REFERENCE);
  run (graph, test, "plan", 0);
  write_forms (graph, test, "read");
  if (graph->lowered)
    return;
  rows = lpt_explain (graph, config, &error);
  g_assert_no_error (error);
  if (!lpt_pipeline_run (graph, config, NULL, NULL, &error))
    {
      g_test_fail_printf ("%s: %s", cJSON_GetObjectItem (test, "name")->valuestring, error->message);
      return;
    }
  run (graph, test, "transformed", 0);
  write_forms (graph, test, "transformed");
}

static void
test_file (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  cJSON *tests, *test;
  guint n = 0;

  g_assert_true (g_file_get_contents (data, &text, NULL, &error));
  tests = cJSON_Parse (text);
  g_assert_nonnull (tests);
  cJSON_ArrayForEach (test, tests)
    {
      run_case (test);
      n++;
    }
  g_test_message ("%u models", n);
  g_assert_cmpuint (n, >, 0);
  cJSON_Delete (tests);
}

/* Without a seed the numbers are the runtime's: two nodes draw different ones, of the distribution asked for. */
static void
test_unseeded (void)
{
  enum { N = 10000 };
  static const struct { const char *op; double mean, deviation; } cases[] = {
    { "RandomUniform", 0.5, 0.288675 }, { "RandomNormal", 0, 1 },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *model = g_strdup_printf (
        "{\"opsetImport\": [{\"version\": 17}], \"graph\": {"
        "\"output\": [{\"name\": \"y\"}, {\"name\": \"z\"}], \"node\": ["
        "{\"name\": \"m\", \"opType\": \"%s\", \"output\": [\"y\"], \"attribute\": "
        "[{\"name\": \"shape\", \"type\": \"INTS\", \"ints\": [100, 100]}]},"
        "{\"name\": \"n\", \"opType\": \"%sLike\", \"input\": [\"y\"], \"output\": [\"z\"]}]}}",
        cases[c].op, cases[c].op);
      g_autoptr (LptGraph) graph = lpt_onnx_parse (model, strlen (model), NULL, &error);
      g_autoptr (LptPlan) plan = graph != NULL ? lpt_plan_new (graph, NULL, 0, &error) : NULL;
      g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, &error) : NULL;
      double sum[2] = { 0 }, squares[2] = { 0 }, product = 0;

      g_assert_no_error (error);
      g_assert_true (lpt_plan_run (plan, context, &error));
      {
        g_autoptr (LptTensor) y = lpt_plan_context_output (context, 0, &error);
        g_autoptr (LptTensor) z = lpt_plan_context_output (context, 1, &error);

        g_assert_cmpint (lpt_tensor_count (z), ==, N);
        for (gint64 i = 0; i < N; i++)
          {
            double a = lpt_tensor_get_f64 (y, i) - cases[c].mean, b = lpt_tensor_get_f64 (z, i) - cases[c].mean;

            sum[0] += a;
            sum[1] += b;
            squares[0] += a * a;
            squares[1] += b * b;
            product += a * b;
          }
      }
      for (guint k = 0; k < 2; k++)
        {
          g_assert_cmpfloat (fabs (sum[k] / N), <, 0.04 * cases[c].deviation);
          g_assert_cmpfloat (fabs (sqrt (squares[k] / N) / cases[c].deviation - 1), <, 0.03);
        }
      g_assert_cmpfloat (fabs (product / N), <, 0.04 * cases[c].deviation * cases[c].deviation);
    }
}

/* Bernoulli and Multinomial draw by their probabilities; with a seed they are refused. */
static void
test_draws (void)
{
  enum { N = 10000 };
  static const struct { const char *op, *shape, *size; double ones; } cases[] = {
    { "Bernoulli", "[{\"dimValue\": 10000}, {\"dimValue\": 1}]", "", 0.7 },
    { "Multinomial", "[{\"dimValue\": 1}, {\"dimValue\": 2}]",
      "{\"name\": \"sample_size\", \"type\": \"INT\", \"i\": 10000}", 0.377541 },
  };

  for (guint c = 0; c < 2 * G_N_ELEMENTS (cases); c++)
    {
      gboolean seeded = c >= G_N_ELEMENTS (cases);
      guint k = c % G_N_ELEMENTS (cases);
      const char *seed = seeded ? "{\"name\": \"seed\", \"type\": \"FLOAT\", \"f\": 3}" : "";
      g_autoptr (GError) error = NULL;
      g_autofree char *model = g_strdup_printf (
        "{\"opsetImport\": [{\"version\": 17}], \"graph\": {\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": "
        "{\"elemType\": 1, \"shape\": {\"dim\": %s}}}}], \"output\": [{\"name\": \"y\"}], \"node\": ["
        "{\"name\": \"n\", \"opType\": \"%s\", \"input\": [\"x\"], \"output\": [\"y\"], \"attribute\": [%s%s%s]}]}}",
        cases[k].shape, cases[k].op, cases[k].size, *cases[k].size != '\0' && seeded ? "," : "", seed);
      g_autoptr (LptGraph) graph = lpt_onnx_parse (model, strlen (model), NULL, &error);
      g_autofree double *values = g_new0 (double, N);
      g_autoptr (LptPlan) plan = NULL;
      g_autoptr (LptPlanContext) context = NULL;
      g_autoptr (LptTensor) x = NULL, y = NULL;
      double ones = 0;

      if (seeded)
        {
          g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
          g_assert_nonnull (strstr (error->message, "seed"));
          continue;
        }
      g_assert_no_error (error);
      /* The probability 0.7 of each; scores 0.5 and 0, of which the second has the probability 0.3775. */
      for (guint i = 0; i < N; i++)
        values[i] = k == 0 ? 0.7 : i == 0 ? 0.5 : 0;
      x = lpt_tensor_from_f64 (LPT_DTYPE_F32, &lpt_node_out (g_ptr_array_index (graph->parameters, 0))->shape, values,
                               &error);
      plan = lpt_plan_new (graph, NULL, 0, &error);
      g_assert_no_error (error);
      context = lpt_plan_context_new (plan, 1, &error);
      lpt_plan_context_set_input (context, 0, x, &error);
      g_assert_true (lpt_plan_run (plan, context, &error));
      y = lpt_plan_context_output (context, 0, &error);
      g_assert_cmpint (lpt_tensor_count (y), ==, N);
      for (guint i = 0; i < N; i++)
        {
          double v = lpt_tensor_get_f64 (y, i);

          g_assert_true (v == 0 || v == 1);
          ones += v;
        }
      g_assert_cmpfloat (fabs (ones / N - cases[k].ones), <, 0.02);
    }
}

/* What has no row is refused with its name and domain. */
static void
test_refused (void)
{
  static const char *const names[] = {
    "PackedAttention", "PackedMultiHeadAttention", "PagedAttention",
    "SparseAttention", "LongformerAttention", "QOrderedMatMul", "QuantizeBFP", "GemmFloat8",
    "EPContext", "BeamSearch",
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *model = g_strdup_printf (
        "{\"opsetImport\": [{\"version\": 17}, {\"domain\": \"com.microsoft\", \"version\": 1}], \"graph\": {"
        "\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": {\"elemType\": 1, "
        "\"shape\": {\"dim\": [{\"dimValue\": 4}]}}}}], \"output\": [{\"name\": \"y\"}], "
        "\"node\": [{\"name\": \"n\", \"domain\": \"com.microsoft\", \"opType\": \"%s\", "
        "\"input\": [\"x\"], \"output\": [\"y\"]}]}}", names[i]);
      g_autofree char *named = g_strconcat ("com.microsoft.", names[i], NULL);
      LptGraph *graph = lpt_onnx_parse (model, strlen (model), NULL, &error);

      g_assert_null (graph);
      g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, named));
      g_assert_nonnull (strstr (error->message, "unsupported operator"));
    }
}

/* An input that no reader asks for is refused: it may mean something. */
static void
test_unread (void)
{
  static const struct { const char *inputs; gboolean read; } cases[] = {
    { "\"x\"", TRUE }, { "\"x\", \"\"", TRUE }, { "\"x\", \"x\"", FALSE }, { "\"x\", \"\", \"x\"", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *model = g_strdup_printf (
        "{\"opsetImport\": [{\"version\": 17}], \"graph\": {\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": "
        "{\"elemType\": 1, \"shape\": {\"dim\": [{\"dimValue\": 4}]}}}}], \"output\": [{\"name\": \"y\"}], "
        "\"node\": [{\"name\": \"n\", \"opType\": \"Relu\", \"input\": [%s], \"output\": [\"y\"]}]}}", cases[i].inputs);
      LptGraph *graph = lpt_onnx_parse (model, strlen (model), NULL, &error);

      if (cases[i].read)
        {
          g_assert_no_error (error);
          lpt_graph_free (graph);
          continue;
        }
      g_assert_null (graph);
      g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "unsupported input"));
    }
}

/* Blocks of channels are read where the numbers of channels say how many they hold, 8 or 16. */
static void
test_blocks (void)
{
  static const struct { guint filters; const char *channels, *block; LptError error; const char *message; } cases[] = {
    { 16, "16", "", LPT_ERROR_UNSUPPORTED, "8 or 16 channels" },
    { 16, "16", "8", 0, NULL },
    { 16, "16", "16", 0, NULL },
    { 16, "5", "", 0, NULL },     /* 16 were filled up from 5: blocks of 16 */
    { 16, "5", "8", LPT_ERROR_INVALID, "neither blocks of 8 nor of 16" },
    { 8, "5", "", 0, NULL },
    { 12, "12", "", LPT_ERROR_INVALID, "neither blocks of 8 nor of 16" },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) numbers = g_string_new ("1");
      g_autofree char *model = NULL;
      LptGraph *graph;

      for (guint i = 1; i < cases[c].filters; i++)
        g_string_append (numbers, ", 1");
      model = g_strdup_printf (
        "{\"opsetImport\": [{\"version\": 17}, {\"domain\": \"com.microsoft.nchwc\", \"version\": 1}], "
        "\"metadataProps\": [{\"key\": \"%s\", \"value\": \"%s\"}], \"graph\": {"
        "\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": {\"elemType\": 1, \"shape\": {\"dim\": "
        "[{\"dimValue\": 1}, {\"dimValue\": 1}, {\"dimValue\": 2}, {\"dimValue\": 2}]}}}}], "
        "\"initializer\": [{\"name\": \"w\", \"dataType\": 1, \"dims\": [%u, 1, 1, 1], \"floatData\": [%s]}], "
        "\"output\": [{\"name\": \"y\"}], \"node\": [{\"name\": \"n\", \"domain\": \"com.microsoft.nchwc\", "
        "\"opType\": \"Conv\", \"input\": [\"x\", \"w\"], \"output\": [\"c\"]}, "
        "{\"name\": \"m\", \"domain\": \"com.microsoft.nchwc\", \"opType\": \"ReorderOutput\", \"input\": [\"c\"], "
        "\"output\": [\"y\"], \"attribute\": [{\"name\": \"channels\", \"type\": \"INT\", \"i\": %s}]}]}}",
        *cases[c].block != '\0' ? "nchwc_block_size" : "none", cases[c].block, cases[c].filters, numbers->str,
        cases[c].channels);
      graph = lpt_onnx_parse (model, strlen (model), NULL, &error);
      if (cases[c].message == NULL)
        {
          g_assert_no_error (error);
          lpt_graph_free (graph);
          continue;
        }
      g_assert_null (graph);
      g_assert_error (error, LPT_ERROR, (gint) cases[c].error);
      g_assert_nonnull (strstr (error->message, cases[c].message));
    }
}

int
main (int    argc,
      char **argv)
{
  static const char *const files[] = { "activation-norm-product", "attention", "cache", "quantized", "recurrent",
                                       "recurrent-forms", "selections", "placements", "algebra", "samples", "signals",
                                       "random", "features", "svm", "trees", "sequences", "sparse", "whole-numbers",
                                       "pulp", "few-bits", "qonnx", "detections", "cut-windows", "nchwc", "experts",
                                       "hybrid", "decoder" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *name = g_strconcat ("/onnx-contrib/", files[i], NULL);
      char *path = g_strdup_printf ("%s/tests/onnx/contrib/%s.json", LPT_SOURCE_DIR, files[i]);

      g_test_add_data_func_full (name, path, test_file, g_free);
    }
  g_test_add_func ("/onnx-contrib/unseeded", test_unseeded);
  g_test_add_func ("/onnx-contrib/draws", test_draws);
  g_test_add_func ("/onnx-contrib/refused", test_refused);
  g_test_add_func ("/onnx-contrib/unread", test_unread);
  g_test_add_func ("/onnx-contrib/blocks", test_blocks);
  return g_test_run ();
}
