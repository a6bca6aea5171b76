/* test-explain.c - every op of the source is accounted for
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "explain-case.h"

/* --- names --- */

static GPtrArray *
explain (const char *text)
{
  return explain_for ("native", text);
}

/* The op that made an output passes its name on to the dequantization behind it. */
static void
test_output (void)
{
  g_autoptr (GPtrArray) list = explain ("%x = Parameter : f32[1,2,4,4]\n"
                                        QUANTIZED ("q", "x")
                                        "%w.q = Const {1, 2, 3, 4} : i8[2,2,1,1]\n"
                                        "%w.f = Convert(%w.q) {destination_type=f32}\n"
                                        "%w.s = Const {0.5} : f32[]\n"
                                        "%w = Multiply(%w.f, %w.s)\n"
                                        "%y = Convolution(%q, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}\n"
                                        "Result(%y)\n");

  g_assert_cmpint (find (list, "y")->precision, ==, LPT_DTYPE_I8);
  g_assert_cmpstr (find (list, "y")->inputs, ==, "i8, i8");
  g_assert_cmpint (find (list, "y")->macs, ==, 2 * 2 * 16);
  g_assert_cmpint (find (list, "w")->macs, ==, 0);
  g_assert_true (g_str_has_prefix (find (list, "y")->reason, "runs on the i8 integers"));
}

/* Clones of one op on several branches, arithmetic that becomes part of others. */
static void
test_moved (void)
{
  g_autoptr (GPtrArray) list = explain ("%a = Parameter : f32[1,2,4,4]\n"
                                        "%b = Parameter : f32[1,2,4,4]\n"
                                        "%k = Concat(%a, %b) {axis=1}\n"
                                        "%s = Const {2} : f32[]\n"
                                        "%m = Multiply(%k, %s)\n"
                                        "%r = Relu(%m)\n"
                                        QUANTIZED ("q", "r")
                                        "%e = Exp(%q)\n"
                                        "Result(%e)\n");

  g_assert_cmpstr (find (list, "m")->reason, ==, "part of the interval of \"q\"");
  g_assert_cmpint (find (list, "r")->precision, ==, LPT_DTYPE_F32);
  g_assert_cmpint (find (list, "e")->precision, ==, LPT_DTYPE_F32);
}

static void
test_joined (void)
{
  g_autoptr (GPtrArray) list = explain ("%x = Parameter : f32[1,2,4,4]\n"
                                        "%s = Const {2} : f32[]\n"
                                        "%m = Multiply(%x, %s)\n"
                                        "%t = Const {3} : f32[1,1,1,1]\n"
                                        "%n = Multiply(%m, %t)\n"
                                        QUANTIZED ("q", "n")
                                        "Result(%q)\n");

  g_assert_cmpstr (find (list, "m")->reason, ==, "joined with \"n\"");
  g_assert_cmpstr (find (list, "n")->reason, ==, "part of the interval of \"q\"");
}

#define WEIGHTS "%w.q = Const {1, 2, 3, 4} : i8[2,2,1,1]\n" \
                "%w.f = Convert(%w.q) {destination_type=f32}\n" \
                "%w.s = Const {0.5} : f32[]\n" \
                "%w = Multiply(%w.f, %w.s)\n"
#define CONV(y, x) "%" y " = Convolution(%" x ", %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}\n"

/* What follows the accumulators as real numbers is real, and so is what follows that. */
static void
test_real_end (void)
{
  g_autoptr (GPtrArray) list = explain ("%x = Parameter : f32[1,2,4,4]\n"
                                        QUANTIZED ("q", "x") WEIGHTS CONV ("y", "q")
                                        "%b = Const {0.3012, 0.4013} : f32[1,2,1,1]\n"
                                        "%a = Add(%y, %b)\n"
                                        "%r = Relu(%a)\n"
                                        "%s = Softmax(%r) {axis=1}\n"
                                        "Result(%s)\n");

  g_assert_cmpint (find (list, "y")->precision, ==, LPT_DTYPE_I8);
  g_assert_cmpint (find (list, "a")->precision, ==, LPT_DTYPE_F32);
  g_assert_cmpint (find (list, "r")->precision, ==, LPT_DTYPE_F32);
  g_assert_cmpint (find (list, "s")->precision, ==, LPT_DTYPE_F32);
  g_assert_nonnull (strstr (find (list, "s")->reason,
                            "its data is real from Add \"a\" on: its result is used as a real number"));
}

/* The first op that is real names why; those behind it name that op. */
static void
test_upstream (void)
{
  g_autoptr (GPtrArray) list = explain ("%x = Parameter : f32[1,2,4,4]\n"
                                        QUANTIZED ("q", "x")
                                        "%s = Softmax(%q) {axis=1}\n"
                                        "%order = Const {0, 1, 3, 2} : i64[4]\n"
                                        "%t = Transpose(%s, %order)\n"
                                        "%y = Add(%t, %q)\n"
                                        "Result(%y)\n");

  g_assert_nonnull (strstr (find (list, "y")->reason, "on: stays real: there is no integer rule for Softmax here"));
}

/* Numbers of the model itself are no real ones; what is real from the start says from which input. */
static void
test_numbers (void)
{
  g_autoptr (GPtrArray) list = explain ("%x = Parameter : f32[1,2,4,4]\n"
                                        "%n = Parameter : i64[4]\n"
                                        "%two = Const {2} : i64[]\n"
                                        "%m = Multiply(%n, %two)\n"
                                        "Result(%m)\n"
                                        "%e = Exp(%x)\n"
                                        "Result(%e)\n");

  g_assert_cmpint (find (list, "m")->precision, ==, LPT_DTYPE_I64);
  g_assert_cmpstr (find (list, "m")->reason, ==, "computes on i64 numbers that stand for themselves");
  g_assert_nonnull (strstr (find (list, "e")->reason,
                            "its data is real from the input \"x\" on, behind which no FakeQuantize stands"));
}

/* Accumulators that nobody rounds: tpu's are always rounded. */
static void
test_target (void)
{
  g_autoptr (GPtrArray) list = explain_for ("tpu", "%x = Parameter : f32[1,2,4,4]\n"
                                                   QUANTIZED ("q", "x") WEIGHTS CONV ("y", "q") "Result(%y)\n");

  g_assert_cmpint (find (list, "y")->precision, ==, LPT_DTYPE_F32);
  g_assert_cmpstr (find (list, "y")->reason, ==, "the target has no integers for what it reads or writes");
}

/* Nothing is left to do for a graph that is lowered. */
static void
test_lowered (void)
{
  g_autoptr (GPtrArray) list = explain ("graph {lowered=true}\n"
                                        "%x = Parameter : f32[2,3]\n"
                                        "%q = Quantize(%x) : u8[2,3] q{scale=0.5, zp=3}\n"
                                        "%d = Dequantize(%q) : f32[2,3]\n"
                                        "%s = Softmax(%d) {axis=1}\n"
                                        "Result(%s)\n");

  g_assert_cmpstr (find (list, "s")->reason, ==, "it is left as it was");
}

/* Integer weights beside data that is coded row by row. */
static void
test_recurrent (void)
{
  g_autoptr (GPtrArray) list = explain ("%x = Parameter : f32[1,3,2]\n"
                                        "%h = Parameter : f32[1,1,2]\n"
                                        "%n = Const {3} : i64[1]\n"
                                        "%b = Const {0, 1, 2, 3, 4, 5} : f32[1,6]\n"
                                        "%w = Const {-9, -6, -2, 1, 4, 8, -7, -4, -4, 3, 7, -9} : i8[1,6,2]\n"
                                        "%w.f = Convert(%w) {destination_type=f32}\n"
                                        "%w.s = Const {0.02} : f32[]\n"
                                        "%w.m = Multiply(%w.f, %w.s)\n"
                                        "%y = GRUSequence(%x, %h, %n, %w.m, %w.m, %b) "
                                        "{hidden_size=2, direction=forward}\n"
                                        "Result(%y.0)\n");

  g_assert_cmpint (find (list, "y")->precision, ==, LPT_DTYPE_I8);
  g_assert_cmpstr (find (list, "y")->reason, ==,
                   "its weights are integers, each row of its data and state becomes 16-bit codes");
}

/* Arithmetic that no node stands for: of integers that the file has, behind a sum that stays real. */
static void
test_parts (void)
{
  g_autoptr (GPtrArray) scale = explain ("%x = Parameter : u8[1,2,4,4]\n"
                                         "%f = Convert(%x) {destination_type=f32}\n"
                                         "%s = Const {0.01} : f32[]\n"
                                         "%m = Multiply(%f, %s)\n"
                                         "%r = Relu(%m)\n"
                                         "Result(%r)\n");
  g_autoptr (GPtrArray) real = explain ("%x = Parameter : f32[1,2,4,4]\n"
                                        QUANTIZED ("q", "x") QUANTIZED ("p", "x")
                                        "%e = Add(%q, %p)\n"
                                        "%c = Clamp(%e) {min=0.001, max=0.008}\n"
                                        "%s = Const {0.01} : f32[]\n"
                                        "%m = Multiply(%c, %s)\n"
                                        "%t = Clamp(%m) {min=0.001, max=0.006}\n"
                                        "Result(%t)\n");

  g_assert_cmpstr (find (scale, "m")->reason, ==, "part of the scale of \"r\"");
  g_assert_cmpint (find (real, "c")->precision, ==, LPT_DTYPE_F32);
  g_assert_cmpstr (find (real, "c")->reason, ==, "part of the real arithmetic behind \"e\"");
}

static gboolean
infer_as_input (LptNode *node,
                GError **error)
{
  node->out[0].dtype = node->in[0].value->dtype;
  node->out[0].shape = node->in[0].value->shape;

  return TRUE;
}

/* Ops without a rule that can be known: of a newer version of the format, of a program. */
static void
test_foreign (void)
{
  static const LptOpInfo mine = {
    .op = LPT_OP_CUSTOM, .name = "Mine", .min_in = 1, .max_in = 1, .n_out = 1, .flags = LPT_OP_F_COMPUTE,
    .infer = infer_as_input, .openvino = { .versions = "" },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (GPtrArray) custom = NULL, opaque = NULL;
  LptNode *node;
  LptValue *in;

  opaque = explain ("%x = Parameter : f32[1,2]\n"
                    QUANTIZED ("q", "x")
                    "%o = Opaque(%q) {xml=\"<layer type=\\\"Magic\\\"/>\"} : f32[1,2]\n"
                    "Result(%o)\n");
  g_assert_cmpstr (find (opaque, "o")->reason, ==, "an op that is not known here: it is kept as it was read");

  graph = lpt_graph_from_text ("%x = Parameter : f32[1,2]\n" QUANTIZED ("q", "x") "%r = Relu(%q)\nResult(%r)\n", -1,
                               NULL, &error);
  g_assert_no_error (error);
  node = lpt_graph_find (graph, "r");
  in = lpt_node_out (node);
  in = lpt_node_out (lpt_graph_add_full (graph, &mine, 0, "mine", 1, &in, 1));
  g_assert_true (lpt_node_infer (in->producer, &error));
  lpt_node_set_input (graph->results->pdata[0], 0, in);
  custom = lpt_explain (graph, config, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (find (custom, "mine")->reason, "an op of somebody else's: no rule is known for it"));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/explain/output", test_output);
  g_test_add_func ("/explain/moved", test_moved);
  g_test_add_func ("/explain/joined", test_joined);
  g_test_add_func ("/explain/real-end", test_real_end);
  g_test_add_func ("/explain/upstream", test_upstream);
  g_test_add_func ("/explain/numbers", test_numbers);
  g_test_add_func ("/explain/target", test_target);
  g_test_add_func ("/explain/lowered", test_lowered);
  g_test_add_func ("/explain/recurrent", test_recurrent);
  g_test_add_func ("/explain/parts", test_parts);
  g_test_add_func ("/explain/foreign", test_foreign);

  return g_test_run ();
}
