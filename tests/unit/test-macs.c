/* test-macs.c - multiply-accumulates against what the weights say: each of them is used once for every position that it
 * meets
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt-work.h>

/* Text of a node whose inputs are %x, a Parameter, and constants of these types. */
typedef struct { const char *name, *x, *constants[7], *call; gint64 macs; } Case;

static const Case cases[] =
{
  /* Every weight for each of 3 rows. */
  { "lstm-cell", "[3,5]", { "[3,2]", "[3,2]", "[8,5]", "[8,2]", "[8]" }, "LSTMCell(%x, %c0, %c1, %c2, %c3, %c4) {hidden_size=2}", 3 * (8 * 5 + 8 * 2) },
  { "gru-cell", "[3,5]", { "[3,2]", "[6,5]", "[6,2]", "[6]" }, "GRUCell(%x, %c0, %c1, %c2, %c3) {hidden_size=2}", 3 * (6 * 5 + 6 * 2) },
  { "gru-cell-reset", "[3,5]", { "[3,2]", "[6,5]", "[6,2]", "[8]" }, "GRUCell(%x, %c0, %c1, %c2, %c3) {hidden_size=2, linear_before_reset=true}", 3 * (6 * 5 + 6 * 2) },
  { "rnn-cell", "[3,5]", { "[3,2]", "[2,5]", "[2,2]", "[2]" }, "RNNCell(%x, %c0, %c1, %c2, %c3) {hidden_size=2}", 3 * (2 * 5 + 2 * 2) },
  /* 3 rows, 7 steps, 2 directions. */
  { "lstm", "[3,7,5]", { "[3,2,4]", "[3,2,4]", "i[3]", "[2,16,5]", "[2,16,4]", "[2,16]" },
    "LSTMSequence(%x, %c0, %c1, %c2, %c3, %c4, %c5) {hidden_size=4, direction=bidirectional}", 3 * 7 * (2 * 16 * 5 + 2 * 16 * 4) },
  { "gru", "[3,7,5]", { "[3,1,4]", "i[3]", "[1,12,5]", "[1,12,4]", "[1,12]" },
    "GRUSequence(%x, %c0, %c1, %c2, %c3, %c4) {hidden_size=4, direction=forward}", 3 * 7 * (12 * 5 + 12 * 4) },
  { "rnn", "[3,7,5]", { "[3,1,4]", "i[3]", "[1,4,5]", "[1,4,4]", "[1,4]" },
    "RNNSequence(%x, %c0, %c1, %c2, %c3, %c4) {hidden_size=4, direction=reverse}", 3 * 7 * (4 * 5 + 4 * 4) },
  { "convolution", "[2,3,6,6]", { "[4,3,3,3]" }, "Convolution(%x, %c0) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}", 2 * 4 * 4 * (4 * 3 * 3 * 3) },
  { "group-convolution", "[2,4,6,6]", { "[2,3,2,3,3]" }, "GroupConvolution(%x, %c0) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}",
    2 * 4 * 4 * (2 * 3 * 2 * 3 * 3) },
  { "deconvolution", "[2,3,6,6]", { "[3,4,2,2]" }, "ConvolutionBackpropData(%x, %c0) {strides=[2,2], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}",
    2 * 6 * 6 * (3 * 4 * 2 * 2) },
  { "matmul", "[2,6,5]", { "[5,4]" }, "MatMul(%x, %c0)", 2 * 6 * (5 * 4) },
  { "matmul-transposed", "[2,5,6]", { "[4,5]" }, "MatMul(%x, %c0) {transpose_a=true, transpose_b=true}", 2 * 6 * (5 * 4) },
  { "attention", "[2,3,6,5]", { "[2,3,7,5]", "[2,3,7,4]" }, "ScaledDotProductAttention(%x, %c0, %c1) {causal=false}", 2 * 3 * (6 * 7 * 5 + 6 * 7 * 4) },
  { "relu", "[2,3]", { NULL }, "Relu(%x)", 0 },
};

static char *
text_of (const Case *c, const char *x)
{
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%%x = Parameter : f32%s\n", x);
  for (guint i = 0; i < G_N_ELEMENTS (c->constants) && c->constants[i] != NULL; i++)
    {
      gboolean lengths = c->constants[i][0] == 'i';
      g_auto (GStrv) dims = g_strsplit_set (c->constants[i], "[],", -1);
      gint64 n = 1;
      for (guint k = 1; dims[k] != NULL; k++)
        n *= dims[k][0] != '\0' ? g_ascii_strtoll (dims[k], NULL, 10) : 1;
      g_string_append_printf (text, "%%c%u = Const {", i);
      for (gint64 k = 0; k < n; k++)
        g_string_append_printf (text, "%s%s", k > 0 ? ", " : "", lengths ? "7" : "0.5");
      g_string_append_printf (text, "} : %s%s\n", lengths ? "i64" : "f32", c->constants[i] + lengths);
    }
  g_string_append_printf (text, "%%y = %s\nResult(%%y)\n", c->call);
  return g_string_free (text, FALSE);
}

static void
test_counts (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = text_of (c, c->x);
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  gint64 macs[LPT_N_DTYPES] = { 0 };
  g_assert_no_error (error);
  g_assert_cmpuint (lpt_graph_macs (graph, macs), ==, 0);
  g_assert_cmpint (macs[LPT_DTYPE_F32], ==, c->macs);
  for (guint flags = 0; flags < 2; flags++)
    {
      g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags ? LPT_PLAN_REFERENCE : 0, &error);
      g_assert_no_error (error);
      g_assert_cmpint (lpt_plan_macs (plan), ==, c->macs);
    }
}

/* An open first axis counts as one sample, another is not guessed. */
static void
test_unknown (void)
{
  static const Case product = { "matmul", NULL, { "[5,4]" }, "MatMul(%x, %c0)", 0 };
  static const struct { const char *x; guint unknown; gint64 rows; } open[] =
    { { "[?,5]", 0, 1 }, { "[2,?,5]", 1, 0 }, { "[?,?,5]", 1, 0 }, { "[?,3,5]", 0, 3 } };
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (open); i++)
    {
      g_autofree char *text = text_of (&product, open[i].x);
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
      gint64 macs[LPT_N_DTYPES] = { 0 };
      g_assert_no_error (error);
      g_assert_cmpuint (lpt_graph_macs (graph, macs), ==, open[i].unknown);
      g_assert_cmpint (macs[LPT_DTYPE_F32], ==, open[i].rows * 5 * 4);
      g_assert_true (lpt_graph_counts_samples (graph) == (open[i].unknown == 0));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/macs/", cases[i].name, NULL);
      g_test_add_data_func (path, &cases[i], test_counts);
    }
  g_test_add_func ("/macs/unknown", test_unknown);
  return g_test_run ();
}
