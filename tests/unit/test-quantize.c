/* test-quantize.c - histograms, lattices, intervals; a small graph quantized in every way
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/range.h"

#include <lpt/lpt-executor.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-quantize.h>
#include <lpt/lpt-text.h>

#include <math.h>
#include <string.h>

static float
draw (GRand *rand)
{
  float x = (float) g_rand_double_range (rand, -1.0, 1.0);
  return x * x * x * (g_rand_int_range (rand, 0, 50) == 0 ? 100.0f : 1.0f);
}

/* Any order and any split of the values give the same counts. */
static void
test_histogram (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  float values[3000];
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = i % 7 == 0 ? 0.0f : ldexpf (draw (rand), (gint) (i / 300) - 5);
  g_autoptr (LptHistogram) whole = lpt_histogram_new (), parts = lpt_histogram_new (), a = lpt_histogram_new (),
                           b = lpt_histogram_new ();
  lpt_histogram_add (whole, values, 3000);
  for (guint i = 0; i < 30; i++)
    lpt_histogram_add (parts, values + 100 * (29 - i), 100);
  lpt_histogram_add (a, values, 10);
  lpt_histogram_add (b, values + 10, 2990);
  lpt_histogram_join (a, b);
  LptHistogram *others[] = { parts, a };
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (others[i]->k, ==, whole->k);
      g_assert_cmpuint (others[i]->zeros, ==, whole->zeros);
      g_assert_cmpuint (others[i]->n, ==, 3000);
      g_assert_true (others[i]->min == whole->min && others[i]->max == whole->max);
      g_assert_cmpmem (others[i]->positive, sizeof whole->positive, whole->positive, sizeof whole->positive);
      g_assert_cmpmem (others[i]->negative, sizeof whole->negative, whole->negative, sizeof whole->negative);
    }
  lpt_histogram_add (a, (const float[]) { NAN, INFINITY, 1.0f }, 3);
  g_assert_cmpuint (a->broken, ==, 2);
  g_assert_cmpuint (a->n, ==, 3001);
}

/* 0 and both ends are on every lattice, in f32, too. */
static void
test_lattice (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  for (guint i = 0; i < 20000; i++)
    {
      double low = draw (rand), high = draw (rand);
      if (i % 5 == 0)
        low = 0.0;
      if (i % 11 == 0)
        high = -1e-6;
      guint levels = i % 3 == 0 ? 256 : i % 3 == 1 ? 16 : 65536;
      LptLattice l = lpt_lattice_make (MIN (low, high), MAX (low, high), levels, i % 2 == 0);
      g_assert_true (l.low <= MIN (MIN (low, high), 0.0) && l.high >= MAX (MAX (low, high), 0.0));
      g_assert_true (l.low / l.step == rint (l.low / l.step) && l.high / l.step == rint (l.high / l.step));
      g_assert_true ((l.high - l.low) / l.step == l.levels - 1);
      g_assert_true ((double) (float) l.step == l.step);
      if (levels <= 256)
        g_assert_true ((double) (float) l.low == l.low && (double) (float) l.high == l.high);
      if (i % 2 == 0)
        g_assert_true (l.low == -l.high && l.levels % 2 == 1);
    }
}

static void
test_ranges (void)
{
  g_autoptr (LptHistogram) h = lpt_histogram_new ();
  g_autofree float *values = g_new (float, 100000);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  for (guint i = 0; i < 100000; i++)
    values[i] = (float) g_rand_double_range (rand, 0.0, 1.0);
  values[77] = 40.0f;                                    /* one outlier */
  lpt_histogram_add (h, values, 100000);
  LptLattice all = lpt_range_find (h, LPT_RANGES_MIN_MAX, 100.0, 256, FALSE),
             most = lpt_range_find (h, LPT_RANGES_PERCENTILE, 99.9, 256, FALSE);
  LptLattice mse = lpt_range_find (h, LPT_RANGES_MSE, 100.0, 256, FALSE),
             kl = lpt_range_find (h, LPT_RANGES_KL, 100.0, 256, FALSE);
  g_assert_true (all.low == 0.0 && all.high >= 40.0 && all.high < 40.1);
  g_assert_true (most.low == 0.0 && most.high >= 0.99 && most.high < 1.1);
  g_assert_true (kl.low == 0.0 && kl.high < 10.0);
  /* Half a step of [0, 40] all over costs more than the outlier's tail does not: (40 - h)^2 against 10^5 (h / 255)^2 /
   * 12. */
  g_assert_true (mse.high < all.high);
  double best = HUGE_VAL, best_high = 0.0;
  for (double high = 4.0; high <= 40.0; high += 0.4)
    {
      double e = (40.0 - high) * (40.0 - high) + 1e5 * high / 255.0 * high / 255.0 / 12.0;
      if (e < best)
        best_high = high;
      best = MIN (best, e);
    }
  g_assert_cmpfloat_with_epsilon (mse.high, best_high, 1.5);
}

/* --- a whole graph ------------------------------------------------------------------------------ */

typedef struct { LptData data; } Drawn;

static gboolean
drawn_get (LptData *data, guint i, LptTensor **tensors, GError **error)
{
  LptShape shape = lpt_shape_make (4, (gint64[]) { 1, 4, 6, 6 });
  g_autoptr (GRand) rand = g_rand_new_with_seed (i + 100);
  tensors[0] = lpt_tensor_new (LPT_DTYPE_F32, &shape, error);
  float *v = tensors[0] != NULL ? lpt_tensor_writable (tensors[0]) : NULL;
  for (gint64 k = 0; v != NULL && k < 144; k++)
    v[k] = (float) g_rand_double_range (rand, -1.0, 2.0);
  return v != NULL;
}

static void
drawn_free (LptData *data)
{
}

static void
print_weights (GString *text, const char *name, const char *shape, guint n, guint32 seed, double size)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_string_append_printf (text, "%%%s = Const {", name);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%.6g", i > 0 ? ", " : "",
                            g_rand_double_range (rand, -1.0, 1.0) * size * (i % 9 == 3 ? 8.0 : 1.0));
  g_string_append_printf (text, "} : f32[%s]\n", shape);
}

/* Convolution, norm, cap; depthwise; sum of two branches; pool; product. */
static LptGraph *
network (void)
{
  g_autoptr (GString) text = g_string_new ("%x = Parameter : f32[1,4,6,6]\n");
  print_weights (text, "w1", "8,4,3,3", 288, 1, 0.2);
  print_weights (text, "w2", "8,1,1,3,3", 72, 2, 0.3);
  print_weights (text, "w3", "8,8,1,1", 64, 3, 0.3);
  print_weights (text, "w4", "8,5", 40, 4, 0.5);
  print_weights (text, "gamma", "8", 8, 5, 1.0);
  print_weights (text, "beta", "8", 8, 6, 1.0);
  print_weights (text, "mean", "8", 8, 7, 0.1);
  g_string_append (text,
    "%var = Const {1, 2, 0.5, 1, 1, 3, 1, 0.2} : f32[8]\n"
    "%c1 = Convolution(%x, %w1) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} : f32[1,8,6,6]\n"
    "%n1 = BatchNormInference(%c1, %gamma, %beta, %mean, %var) {epsilon=0.001} : f32[1,8,6,6]\n"
    "%r1 = Clamp(%n1) {min=0, max=6} : f32[1,8,6,6]\n"
    "%c2 = GroupConvolution(%r1, %w2) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} : f32[1,8,6,6]\n"
    "%r2 = Relu(%c2) : f32[1,8,6,6]\n"
    "%c3 = Convolution(%r2, %w3) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,8,6,6]\n"
    "%s = Add(%c3, %r1) : f32[1,8,6,6]\n"
    "%axes = Const {2, 3} : i64[2]\n"
    "%p = ReduceMean(%s, %axes) {keep_dims=false} : f32[1,8]\n"
    "%y = MatMul(%p, %w4) : f32[1,5]\n"
    "Result(%y) {output=\"scores\"}\n");
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text (text->str, (gssize) text->len, "network", &error);
  g_assert_no_error (error);
  return graph;
}

static guint
count_real_products (LptGraph *graph)
{
  guint n = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      gboolean product = node->op == LPT_OP_CONVOLUTION || node->op == LPT_OP_GROUP_CONVOLUTION ||
                         node->op == LPT_OP_MATMUL;
      n += product && lpt_dtype_is_real (node->in[0].value->dtype);
    }
  return n;
}

/* Signal-to-noise ratio of what @graph gives for @data, in dB, against @real. */
static double
sqnr_of (LptGraph *real, LptGraph *graph, LptData *data, const char *what)
{
  LptEvalOptions eval = { .threads = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptEvaluation) e = lpt_evaluate ((LptGraph *const[]) { real, graph }, 2, data, &eval, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %.1f dB", what, e->sqnr);
  return e->sqnr;
}

/* Every method and repair leaves inputs and outputs as they are, makes integers of every product, and stays near. */
static void
test_network (void)
{
  static const struct { LptRangeMethod ranges; const char *repairs[5]; const char *per_tensor; double least; } rows[] = {
    { LPT_RANGES_MIN_MAX, { NULL }, NULL, 25.0 },
    { LPT_RANGES_MSE, { "bias-correction", NULL }, NULL, 25.0 },
    { LPT_RANGES_AVERAGE, { NULL }, NULL, 15.0 },
    { LPT_RANGES_PERCENTILE, { NULL }, NULL, 25.0 },
    { LPT_RANGES_KL, { NULL }, NULL, 10.0 },
    { LPT_RANGES_MSE, { "gptq", "rounding", "bias-correction", NULL }, NULL, 25.0 },
    { LPT_RANGES_MIN_MAX, { "rounding", "sequential-bias", NULL }, NULL, 25.0 },
    { LPT_RANGES_MSE, { "equalization", "gptq", "bias-correction", NULL }, "conv:1", 15.0 },
    { LPT_RANGES_MSE, { "smoothing", NULL }, NULL, 25.0 },
  };
  Drawn drawn = { { 24, drawn_get, NULL, drawn_free } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) real = network (), graph = network ();
      g_autoptr (LptConfig) config = lpt_config_new ();
      LptQuantizeOptions options;
      lpt_quantize_options_init (&options, "fast", &error);
      options.config = config;
      options.ranges = rows[i].ranges;
      options.repairs = 0;
      for (guint k = 0; rows[i].repairs[k] != NULL; k++)
        {
          g_assert_cmpint (lpt_repair_find (rows[i].repairs[k]), >=, 0);
          options.repairs |= 1u << lpt_repair_find (rows[i].repairs[k]);
        }
      if (rows[i].per_tensor != NULL)
        g_assert_true (lpt_config_per_tensor (config, rows[i].per_tensor, &error) &&
                       lpt_config_per_tensor (config, "group_conv:1", &error));
      g_assert_true (lpt_quantize (graph, &drawn.data, &options, NULL, &error));
      g_assert_no_error (error);
      g_assert_true (lpt_graph_validate (graph, &error));
      g_assert_no_error (error);
      g_assert_cmpstr (lpt_result_name (g_ptr_array_index (graph->results, 0)), ==, "scores");
      g_assert_true (lpt_pipeline_run (graph, config, NULL, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (count_real_products (graph), ==, 0);
      g_autofree char *row = g_strdup_printf ("row %u", i);
      g_assert_cmpfloat (sqnr_of (real, graph, &drawn.data, row), >=, rows[i].least);
    }
}

/* All @layers of the graph are quantized and run on integers. */
static void
check_layers (const char *text, const char *name, guint layers)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) real = lpt_graph_from_text (text, -1, name, &error);
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, name, &error);
  g_assert_no_error (error);
  g_autoptr (LptConfig) config = lpt_config_new_target ("native", &error);
  g_autoptr (LptQuantizeReport) report = lpt_quantize_report_new ();
  Drawn drawn = { { 16, drawn_get, NULL, drawn_free } };
  LptQuantizeOptions options;
  lpt_quantize_options_init (&options, NULL, &error);
  options.config = config;
  g_assert_true (lpt_quantize (graph, &drawn.data, &options, report, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (report->layers->len, ==, layers);
  for (guint i = 0; i < report->layers->len; i++)
    g_assert_true (((LptQuantizedLayer *) report->layers->pdata[i])->quantized);
  g_assert_true (lpt_pipeline_run (graph, config, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (count_real_products (graph), ==, 0);
  g_assert_cmpfloat (sqnr_of (real, graph, &drawn.data, name), >, 25.0);
}

/* Constants on the left of a MatMul, and batches of matrices on either side, are weights, too. */
static void
test_matrices (void)
{
  g_autoptr (GString) text = g_string_new ("%x = Parameter : f32[1,4,6,6]\n");
  print_weights (text, "left", "5,6", 30, 1, 0.4);
  print_weights (text, "lefts", "4,3,5", 60, 2, 0.2);
  print_weights (text, "rights", "4,6,2", 48, 3, 0.3);
  g_string_append (text, "%a = MatMul(%left, %x) : f32[1,4,5,6]\n"
                         "%b = MatMul(%lefts, %a) : f32[1,4,3,6]\n"
                         "%c = Relu(%b) : f32[1,4,3,6]\n"
                         "%y = MatMul(%c, %rights) : f32[1,4,3,2]\n"
                         "Result(%y) {output=\"scores\"}\n");
  check_layers (text->str, "matrices", 3);
}

/* Weights that are computed are data, with one scale. */
static void
test_computed_weights (void)
{
  g_autoptr (GString) text = g_string_new ("%x = Parameter : f32[1,4,6,6]\n%ax = Const {2, 3} : i64[2]\n"
                                           "%s = Const {1, 4} : i64[2]\n%t = Const {4, 4, 3, 3} : i64[4]\n");
  print_weights (text, "w", "4,144", 576, 1, 0.2);
  g_string_append (text, "%m = ReduceMean(%x, %ax) {keep_dims=true} : f32[1,4,1,1]\n"
                         "%r = Reshape(%m, %s) {special_zero=false} : f32[1,4]\n"
                         "%k = MatMul(%r, %w) : f32[1,144]\n"
                         "%v = Reshape(%k, %t) {special_zero=false} : f32[4,4,3,3]\n"
                         "%y = Convolution(%x, %v) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]}\n"
                         "Result(%y) {output=\"scores\"}\n");
  check_layers (text->str, "computed-weights", 2);
}

/* What the target keeps real has no FakeQuantize; a quantized graph is refused. */
static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = network ();
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (LptQuantizeReport) report = lpt_quantize_report_new ();
  Drawn drawn = { { 2, drawn_get, NULL, drawn_free } };
  LptQuantizeOptions options;
  lpt_quantize_options_init (&options, NULL, &error);
  options.config = config;
  g_assert_true (lpt_config_keep (config, "c2", &error) && lpt_config_keep (config, "y", &error));
  g_assert_true (lpt_quantize (graph, &drawn.data, &options, report, &error));
  g_assert_true (lpt_graph_find (graph, "w2/fq") == NULL && lpt_graph_find (graph, "w1/fq") != NULL);
  g_assert_false (((LptQuantizedLayer *) report->layers->pdata[1])->quantized);
  g_assert_cmpint (lpt_node_src (lpt_graph_find (graph, "c2"), 1)->op, ==, LPT_OP_CONST);
  g_assert_false (lpt_quantize (graph, &drawn.data, &options, NULL, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (lpt_quantize_options_init (&options, "best", &error));
}

/* Both directions of an LSTM alone: codes in place of all its weights, or none where it is kept. */
static void
test_recurrent (void)
{
  g_autoptr (GString) text = g_string_new ("%x = Parameter : f32[1,4,6,6]\n%s = Const {1, 4, 36} : i64[3]\n"
                                           "%n = Const {4} : i64[1]\n");
  print_weights (text, "h", "1,2,4", 8, 1, 0.2);
  print_weights (text, "c", "1,2,4", 8, 2, 0.2);
  print_weights (text, "w", "2,16,36", 1152, 3, 0.1);
  print_weights (text, "r", "2,16,4", 128, 4, 0.3);
  print_weights (text, "b", "2,16", 32, 5, 0.1);
  g_string_append (text, "%d = Reshape(%x, %s) {special_zero=false} : f32[1,4,36]\n"
                         "%y = LSTMSequence(%d, %h, %c, %n, %w, %r, %b) {hidden_size=4, direction=bidirectional} : "
                         "f32[1,2,4,4], f32[1,2,4], f32[1,2,4]\n"
                         "Result(%y) {output=\"steps\"}\n");
  Drawn drawn = { { 8, drawn_get, NULL, drawn_free } };
  for (guint kept = 0; kept < 2; kept++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) real = lpt_graph_from_text (text->str, -1, "recurrent", &error);
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text->str, -1, "recurrent", &error);
      g_autoptr (LptConfig) config = lpt_config_new ();
      g_autoptr (LptQuantizeReport) report = lpt_quantize_report_new ();
      LptQuantizeOptions options;
      g_assert_no_error (error);
      lpt_quantize_options_init (&options, NULL, &error);
      options.config = config;
      g_assert_true (kept == 0 || lpt_config_keep (config, "y", &error));
      g_assert_true (lpt_quantize (graph, &drawn.data, &options, report, &error) == (kept == 0));
      g_assert_true (((LptQuantizedLayer *) report->layers->pdata[0])->quantized == (kept == 0));
      if (kept > 0)
        {
          g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
          continue;
        }
      g_assert_cmpfloat (((LptQuantizedLayer *) report->layers->pdata[0])->sqnr, >, 30.0);
      g_assert_true (lpt_pipeline_run (graph, config, NULL, NULL, &error));
      g_assert_no_error (error);
      LptNode *lstm = lpt_graph_find (graph, "y");
      g_assert_cmpint (lpt_node_in (lstm, 4)->dtype, ==, LPT_DTYPE_I8);
      g_assert_cmpint (lpt_node_in (lstm, 5)->dtype, ==, LPT_DTYPE_I8);
      g_assert_cmpfloat (sqnr_of (real, graph, &drawn.data, "recurrent"), >, 30.0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/histogram", test_histogram);
  g_test_add_func ("/quantize/lattice", test_lattice);
  g_test_add_func ("/quantize/ranges", test_ranges);
  g_test_add_func ("/quantize/network", test_network);
  g_test_add_func ("/quantize/matrices", test_matrices);
  g_test_add_func ("/quantize/computed-weights", test_computed_weights);
  g_test_add_func ("/quantize/refused", test_refused);
  g_test_add_func ("/quantize/recurrent", test_recurrent);
  return g_test_run ();
}
