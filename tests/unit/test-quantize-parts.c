/* test-quantize-parts.c - samples spread, the reach of windows, which Concat joins lattices, dynamic rounding left out
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-evaluate-node.h"
#include "passes/support/lpt-absorb.h"
#include "passes/support/lpt-product.h"
#include "quantize/samples.h"
#include "quantize/window.h"

#include <lpt/lpt-pass.h>
#include <lpt/lpt-quantize.h>
#include <lpt/lpt-text.h>

#include <math.h>
#include <string.h>

static LptGraph *
read_graph (const char *text)
{
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text (text, -1, "g", &error);
  g_assert_no_error (error);
  return graph;
}

/* Samples of random numbers; channel 1 is @size times as large. */
typedef struct { LptData data; LptShape shape; double size; } Drawn;

static gboolean
drawn_get (LptData *data, guint i, LptTensor **tensors, GError **error)
{
  const Drawn *drawn = (Drawn *) data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (i);
  gint64 count, inner = 1;
  lpt_shape_count (&drawn->shape, &count);
  for (gint k = 2; k < drawn->shape.rank; k++)
    inner *= drawn->shape.dims[k];
  g_autofree float *v = g_new (float, count);
  for (gint64 k = 0; k < count; k++)
    v[k] = (float) (g_rand_double_range (rand, -1.0, 1.0) *
                    (k / inner % drawn->shape.dims[1] == 1 ? drawn->size : 1.0));
  tensors[0] = lpt_tensor_from_f32 (&drawn->shape, v, error);
  return tensors[0] != NULL;
}

/* Some and the rest are all, each once, in order. */
static void
test_spread (void)
{
  Drawn drawn = { { 10, drawn_get, NULL, NULL }, { 2, { 1, 2 } }, 1.0 };
  for (guint n = 0; n <= 12; n++)
    {
      g_autoptr (LptData) some = lpt_data_spread (&drawn.data, n, FALSE), rest = lpt_data_spread (&drawn.data, n, TRUE);
      g_assert_cmpuint (some->n, ==, MIN (n, 10));
      g_assert_cmpuint (some->n + rest->n, ==, 10);
    }
  g_autoptr (LptData) two = lpt_data_spread (&drawn.data, 2, FALSE);
  g_autoptr (GError) error = NULL;
  LptTensor *a = NULL, *b = NULL;
  g_assert_true (lpt_data_get (two, 1, &a, &error) && lpt_data_get (&drawn.data, 7, &b, &error));
  g_assert_cmpfloat (lpt_tensor_get_f64 (a, 0), ==, lpt_tensor_get_f64 (b, 0));
  lpt_tensor_unref (a);
  lpt_tensor_unref (b);
}

/* How many elements of the result are not zero where data of ones meets a kernel that is one at place @k alone. */
static double
met_by (LptNode *node, gint64 k)
{
  g_autoptr (GError) error = NULL;
  LptTensor *in[3] = { NULL, NULL, node->n_in > 2 ? lpt_node_const_in (node, 2) : NULL }, *y = NULL;
  gint64 n, met = 0;
  for (guint i = 0; i < 2; i++)
    {
      in[i] = lpt_tensor_new (LPT_DTYPE_F32, &lpt_node_in (node, i)->shape, NULL);
      float *v = lpt_tensor_writable (in[i]);
      for (gint64 at = 0; at < lpt_tensor_count (in[i]); at++)
        v[at] = i == 0 || at == k;
    }
  lpt_node_evaluate (node, in, &y, &error);
  g_assert_no_error (error);
  n = lpt_tensor_count (y);
  for (gint64 at = 0; at < n; at++)
    met += lpt_tensor_get_f64 (y, (gsize) at) != 0.0;
  lpt_tensor_unref (in[0]);
  lpt_tensor_unref (in[1]);
  lpt_tensor_unref (y);
  return (double) met / (double) n;
}

/* Padding that is given or chosen, with an odd element, transposed or not, over one to three axes: the share of each
 * place is what the op itself shows. */
static void
test_window (void)
{
  static const char *const pads[] = { "", ", auto_pad=same_upper", ", auto_pad=same_lower", ", auto_pad=valid" };
  static const struct { const char *shapes, *op, *window; } rows[] = {
    { "f32[1,1,5,6] f32[1,1,3,3]", "Convolution(%x, %w)",
      "strides=[1,2], pads_begin=[1,0], pads_end=[1,1], dilations=[1,1]" },
    { "f32[1,1,9] f32[1,1,4]", "Convolution(%x, %w)", "strides=[3], pads_begin=[1], pads_end=[2], dilations=[2]" },
    { "f32[1,1,3,4,3] f32[1,1,1,2,3]", "Convolution(%x, %w)",
      "strides=[1,1,1], pads_begin=[0,1,1], pads_end=[0,0,1], dilations=[1,2,1]" },
    { "f32[1,1,3,4] f32[1,1,3,4]", "ConvolutionBackpropData(%x, %w)",
      "strides=[2,3], pads_begin=[1,0], pads_end=[0,2], dilations=[1,1]" },
    { "f32[1,1,4] f32[1,1,3]", "ConvolutionBackpropData(%x, %w)",
      "strides=[2], pads_begin=[1], pads_end=[1], dilations=[2], output_padding=[1]" },
    { "f32[1,1,3,4] f32[1,1,4,5]", "ConvolutionBackpropData(%x, %w, %l)",
      "strides=[2,1], pads_begin=[0,1], pads_end=[0,0], dilations=[1,1]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (pads); i++)
    {
      const guint row = i / G_N_ELEMENTS (pads);
      g_auto (GStrv) shapes = g_strsplit (rows[row].shapes, " ", 2);
      g_autofree char *text = g_strdup_printf (
        "%%x = Parameter : %s\n%%w = Parameter : %s\n%%l = Const {5, 5} : i64[2]\n%%y = %s {%s%s}\nResult(%%y)\n",
        shapes[0], shapes[1], rows[row].op, rows[row].window, pads[i % G_N_ELEMENTS (pads)]);
      g_autoptr (LptGraph) graph = read_graph (text);
      LptNode *node = lpt_graph_find (graph, "y");
      const LptShape *data = &lpt_node_in (node, 0)->shape, *result = &node->out[0].shape;
      LptWindow window;
      LptLayer layer;
      gint64 places;
      g_autoptr (LptTensor) zeros = lpt_tensor_new (LPT_DTYPE_F32, &lpt_node_in (node, 1)->shape, NULL);
      places = lpt_tensor_count (zeros);
      lpt_node_set_input (node, 1, lpt_node_out (lpt_graph_add_const (graph, "v", zeros)));
      g_assert_true (lpt_layer_view (node, &layer));
      g_assert_true (lpt_layer_window (&layer, data, result, &window));
      for (gint64 k = 0; k < places; k++)
        g_assert_cmpfloat_with_epsilon (lpt_window_coverage (&window, result, k), met_by (node, k), 1e-12);
    }
}

/* %d is read by a product, too: it keeps its own lattice when what it is joined with is far wider. */
static void
test_concat (void)
{
  static const struct { double size; gboolean split; } rows[] = { { 1.5, FALSE }, { 10.0, TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = read_graph (
          "%x = Parameter : f32[1,2,4,4]\n%axis = Const {1} : i64[]\n"
          "%s = Split(%x, %axis) {num_splits=2} : f32[1,1,4,4], f32[1,1,4,4]\n"
          "%b = Abs(%s.1) : f32[1,1,4,4]\n%w = Const {1, -2} : f32[2,1,1,1]\n"
          "%v = Const {1, 2, 3, 4} : f32[2,2,1,1]\n%d = Abs(%s) : f32[1,1,4,4]\n%j = Concat(%d, %b) {axis=1} : "
          "f32[1,2,4,4]\n"
          "%c = Convolution(%d, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,2,4,4]\n"
          "%e = Convolution(%j, %v) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,2,4,4]\n"
          "Result(%c)\nResult(%e)\n");
      g_autoptr (LptConfig) config = lpt_config_new ();
      Drawn drawn = { { 4, drawn_get, NULL, NULL }, { 4, { 1, 2, 4, 4 } }, rows[i].size };
      LptQuantizeOptions options;
      lpt_quantize_options_init (&options, "fast", &error);
      options.config = config;
      lpt_quantize (graph, &drawn.data, &options, NULL, &error);
      g_assert_no_error (error);
      LptNode *own = lpt_node_src (lpt_graph_find (graph, "c"), 0);
      g_assert_cmpint (own->op, ==, LPT_OP_FAKE_QUANTIZE);
      double high = lpt_tensor_get_f64 (lpt_node_const_in (own, 2), 0);
      g_assert_true (rows[i].split ? high < 1.1 : high > 1.1);
      g_assert_true ((lpt_node_src (lpt_graph_find (graph, "e"), 0)->op == LPT_OP_FAKE_QUANTIZE) == rows[i].split);
    }
}

/* Rounding by intervals that a run finds gives way to known ones; a repair that does not help is left out. */
static void
test_dynamic (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph =
      read_graph ("graph {lowered=true, requant=\"litert\"}\n%x = Parameter : f32[1,3]\n%r = DynamicFakeQuantize(%x) "
                  "{axis=-1} : f32[1,3]\n"
                  "%w = Const {127, -127, 64, 32, 16, 1} : i8[3,2] q{scale=0.25}\n%d = Dequantize(%w) : f32[3,2]\n"
                  "%y = MatMul(%r, %d) : f32[1,2]\nResult(%y)\n");
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (LptQuantizeReport) report = lpt_quantize_report_new ();
  Drawn drawn = { { 9, drawn_get, NULL, NULL }, { 2, { 1, 3 } }, 1.0 };
  LptQuantizeOptions options;
  lpt_quantize_options_init (&options, "accurate", &error);
  options.config = config;
  lpt_quantize (graph, &drawn.data, &options, report, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lpt_node_src (lpt_graph_find (graph, "y"), 0)->op, ==, LPT_OP_FAKE_QUANTIZE);
  g_assert_cmpint (lpt_node_src (lpt_node_src (lpt_graph_find (graph, "y"), 0), 0)->op, ==, LPT_OP_PARAMETER);
  guint judged = 0;
  for (guint i = 0; i < report->remarks->len; i++)
    judged += g_pattern_match_simple ("*: left out, SQNR *", report->remarks->pdata[i])
              || g_pattern_match_simple ("*: helps, SQNR *", report->remarks->pdata[i]);
  g_assert_cmpuint (judged, ==, 3);
}

/* Runs lpt_absorb() and compares what is printed. */
static void
absorbs (const char *before, LptAbsorb what, const char *after)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = read_graph (before);
  g_assert_true (lpt_absorb (graph, what, &error));
  g_assert_no_error (error);
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_assert_cmpstr (text, ==, after);
}

#define PLACE "{strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}"

/* Factors of channels go into weights and bias, shifts into the bias. */
static void
test_absorb (void)
{
  absorbs ("%x = Parameter : f32[1,2,2,2]\n"
           "%w = Const {1, 2, 3, 4, 5, 6} : f32[3,2,1,1]\n"
           "%v = Convolution(%x, %w) " PLACE "\n"
           "%b = Const {1, 2, 3} : f32[1,3,1,1]\n"
           "%a = Add(%v, %b)\n"
           "%f = Const {2, 3, 4} : f32[3,1,1]\n"
           "%m = Multiply(%a, %f)\n"
           "%y = Relu(%m)\n"
           "%c = Parameter : f32[2,3]\n"
           "%d = Const {1, 2, 3, 4, 5, 6} : f32[3,2]\n"
           "%e = MatMul(%c, %d)\n"
           "%g = Const {1} : f32[]\n"
           "%h = Add(%e, %g)\n"
           "%o = Const {10, 20} : f32[2]\n"
           "%z = Add(%h, %o)\n"
           "Result(%y)\n"
           "Result(%z)\n",
           LPT_ABSORB_ALL,
           "%x = Parameter : f32[1,2,2,2]\n"
           "%c = Parameter : f32[2,3]\n"
           "%w = Const {2, 4, 9, 12, 20, 24} : f32[3,2,1,1]\n"
           "%v = Convolution(%x, %w) " PLACE " : f32[1,3,2,2]\n"
           "%v/bias = Const {2, 6, 12} : f32[1,3,1,1]\n"
           "%m = Add(%v, %v/bias) : f32[1,3,2,2]\n"
           "%y = Relu(%m) : f32[1,3,2,2]\n"
           "%d = Const {1, 2, 3, 4, 5, 6} : f32[3,2]\n"
           "%e = MatMul(%c, %d) : f32[2,2]\n"
           "%e/bias = Const {11, 21} : f32[1,2]\n"
           "%z = Add(%e, %e/bias) : f32[2,2]\n"
           "Result(%y)\n"
           "Result(%z)\n");
}

/* One after the other: ((w x + b) f + s) g = f g w x + (b f + s) g, the constant on either side. */
static void
test_absorb_chain (void)
{
  absorbs ("%c = Parameter : f32[2,3]\n"
           "%d = Const {1, 2, 3, 4, 5, 6} : f32[3,2]\n"
           "%e = MatMul(%c, %d)\n"
           "%f = Const {2, 3} : f32[2]\n"
           "%m = Multiply(%f, %e)\n"
           "%s = Const {10, 20} : f32[2]\n"
           "%a = Add(%s, %m)\n"
           "%g = Const {0.5} : f32[]\n"
           "%z = Multiply(%a, %g)\n"
           "Result(%z)\n",
           LPT_ABSORB_ALL,
           "%c = Parameter : f32[2,3]\n"
           "%d = Const {1, 3, 3, 6, 5, 9} : f32[3,2]\n"
           "%e = MatMul(%c, %d) : f32[2,2]\n"
           "%e/bias_2 = Const {5, 10} : f32[1,2]\n"
           "%z = Add(%e, %e/bias_2) : f32[2,2]\n"
           "Result(%z)\n");
}

/* Which value is a bias: one for each channel, along their axis whatever its rank, or one for all. */
static void
test_absorb_bias (void)
{
  static const struct { const char *value, *bias; } rows[] = {
    { "{10, 20} : f32[2]", "{20, 60} : f32[1,2]" },
    { "{10, 20} : f32[1,2]", "{20, 60} : f32[1,2]" },
    { "{10} : f32[]", "{20, 30} : f32[1,2]" },
    { "{10} : f32[1,1]", "{20, 30} : f32[1,2]" },
    { "{10, 20} : f32[2,1]", NULL },
    { "{10, 20, 30, 40} : f32[2,2]", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint side = 0; side < 2; side++)
      {
        g_autoptr (GError) error = NULL;
        g_autofree char *before = g_strdup_printf ("%%c = Parameter : f32[2,2]\n%%d = Const {1, 2, 3, 4} : f32[2,2]\n"
                                                   "%%e = MatMul(%%c, %%d)\n%%b = Const %s\n%%a = Add(%%%c, %%%c)\n"
                                                   "%%f = Const {2, 3} : f32[2]\n%%m = Multiply(%%a, %%f)\n"
                                                   "Result(%%m)\n",
                                                   rows[i].value, side == 0 ? 'e' : 'b', side == 0 ? 'b' : 'e');
        g_autoptr (LptGraph) graph = read_graph (before);
        g_assert_true (lpt_absorb (graph, LPT_ABSORB_ALL, &error));
        g_autofree char *after = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
        g_autofree char *bias = g_strdup_printf ("/bias = Const %s\n", rows[i].bias);
        g_test_message ("%s", after);
        g_assert_true ((strstr (after, "%d = Const {2, 6, 6, 12} : f32[2,2]\n") != NULL) == (rows[i].bias != NULL));
        g_assert_true (rows[i].bias == NULL || strstr (after, bias) != NULL);
      }
}

/* Products are these of all ops. */
static void
test_products (void)
{
  static const LptOp products[] = { LPT_OP_CONVOLUTION, LPT_OP_GROUP_CONVOLUTION, LPT_OP_CONVOLUTION_BACKPROP_DATA,
                                    LPT_OP_MATMUL };
  for (guint op = 1; op < LPT_N_OPS; op++)
    {
      LptNode node = { .op = (LptOp) op, .info = lpt_op_info ((LptOp) op) };
      gboolean listed = FALSE;
      for (guint i = 0; i < G_N_ELEMENTS (products); i++)
        listed |= products[i] == (LptOp) op;
      if (lpt_layer_is_product (&node) != listed)
        g_error ("%s is %s product", node.info->name, listed ? "no" : "a");
    }
}

/* gamma 2 and 6, variance 3 and 8 with eps 1, mean 1 and 2, beta 5 and 7: factors 1 and 2, terms 4 and 3. */
static void
test_absorb_norm (void)
{
#define NORM "%x = Parameter : f32[1,1,2,2]\n%w = Const {3, 4} : f32[2,1,1,1]\n%v = Convolution(%x, %w) " PLACE "\n" \
             "%gamma = Const {2, 6} : f32[2]\n%beta = Const {5, 7} : f32[2]\n%mean = Const {1, 2} : f32[2]\n" \
             "%var = Const {3, 8} : f32[2]\n%n = BatchNormInference(%v, %gamma, %beta, %mean, %var) {epsilon=1}\n"
#define TAKEN "%x = Parameter : f32[1,1,2,2]\n%w = Const {3, 8} : f32[2,1,1,1]\n" \
              "%v = Convolution(%x, %w) " PLACE " : f32[1,2,2,2]\n"
#define BIAS "%v/bias = Const {4, 3} : f32[1,2,1,1]\n%n = Add(%v, %v/bias) : f32[1,2,2,2]\n"
  absorbs (NORM "Result(%n)\n", LPT_ABSORB_NORMS, TAKEN BIAS "Result(%n)\n");
  /* The normalization alone: what stands behind it stays. */
  absorbs (NORM "%f = Const {2} : f32[]\n%m = Multiply(%n, %f)\nResult(%m)\n", LPT_ABSORB_NORMS,
           TAKEN "%f = Const {2} : f32[]\n" BIAS
           "%m = Multiply(%n, %f) : f32[1,2,2,2]\nResult(%m)\n");
}

/* What stays as it is, and why. */
static void
test_absorb_refused (void)
{
  static const char *const rows[] = {
    /* another reader of the product */
    "%f = Const {2} : f32[]\n%m = Multiply(%e, %f) : f32[2,2]\nResult(%m)\nResult(%e)\n",
    /* the factor is not constant */
    "%m = Multiply(%e, %c) : f32[2,2]\nResult(%m)\n",
    /* it varies along the rows, which are no channels */
    "%f = Const {2, 3} : f32[2,1]\n%m = Multiply(%e, %f) : f32[2,2]\nResult(%m)\n",
    /* one value for each element */
    "%f = Const {2, 3, 4, 5} : f32[2,2]\n%m = Multiply(%e, %f) : f32[2,2]\nResult(%m)\n",
    /* it makes the result larger */
    "%f = Const {2, 3} : f32[2,1,1]\n%m = Multiply(%e, %f) : f32[2,2,2]\nResult(%m)\n",
    "%f = Const {2} : f32[1,1,1]\n%m = Multiply(%e, %f) : f32[1,2,2]\nResult(%m)\n",
    /* another op */
    "%f = Const {2} : f32[]\n%m = Divide(%e, %f) : f32[2,2]\nResult(%m)\n",
    /* both inputs are the product */
    "%m = Multiply(%e, %e) : f32[2,2]\nResult(%m)\n",
    /* two outputs */
    "%m = TopK(%e, %k) {axis=1, mode=max, sort=value} : f32[2,1], i32[2,1]\nResult(%m)\nResult(%m.1)\n",
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *source = g_strconcat ("%c = Parameter : f32[2,2]\n%k = Const {1} : i64[]\n"
                                             "%d = Const {1, 2, 3, 4} : f32[2,2]\n%e = MatMul(%c, %d) : f32[2,2]\n",
                                             rows[i], NULL);
      g_autoptr (LptGraph) graph = read_graph (source), same = read_graph (source);
      lpt_graph_sweep (same);
      g_assert_true (lpt_absorb (graph, LPT_ABSORB_ALL, &error));
      g_autofree char *before = lpt_graph_to_text (same, LPT_TEXT_DEFAULT),
                      *after = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
      g_assert_cmpstr (before, ==, after);
    }
}

/* Weights that are codes keep their scales, and with them what stands behind. */
static void
test_absorb_codes (void)
{
  const char *text = "%c = Parameter : f32[2,2]\n%d = Const {1, 2, 3, 4} : i8[2,2] q{scale=0.5}\n"
                     "%e = MatMul(%c, %d) #{relaxed} : f32[2,2]\n%f = Const {2} : f32[]\n"
                     "%m = Multiply(%e, %f) : f32[2,2]\nResult(%m)\n";
  absorbs (text, LPT_ABSORB_ALL, text);
  /* So do codes that the product writes itself. */
  text = "%c = Parameter : f32[2,2]\n%d = Const {1, 2, 3, 4} : f32[2,2]\n"
         "%e = MatMul(%c, %d) #{relaxed} : u8[2,2] q{scale=0.5}\n%f = Const {2} : f32[]\n"
         "%m = Multiply(%e as f32, %f) #{relaxed} : f32[2,2]\nResult(%m)\n";
  absorbs (text, LPT_ABSORB_ALL, text);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize-parts/spread", test_spread);
  g_test_add_func ("/quantize-parts/window", test_window);
  g_test_add_func ("/quantize-parts/concat", test_concat);
  g_test_add_func ("/quantize-parts/dynamic", test_dynamic);
  g_test_add_func ("/quantize-parts/absorb", test_absorb);
  g_test_add_func ("/quantize-parts/absorb/chain", test_absorb_chain);
  g_test_add_func ("/quantize-parts/absorb/bias", test_absorb_bias);
  g_test_add_func ("/quantize-parts/products", test_products);
  g_test_add_func ("/quantize-parts/absorb/norm", test_absorb_norm);
  g_test_add_func ("/quantize-parts/absorb/refused", test_absorb_refused);
  g_test_add_func ("/quantize-parts/absorb/codes", test_absorb_codes);
  return g_test_run ();
}
