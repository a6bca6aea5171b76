/* test-verify.c - what transform --verify accepts and what it stops at: changes made by hand, as a pass might make them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/run.h"
#include "cli/verify.h"

#include <lpt/lpt-text.h>

#include <string.h>

static const LptPass exact = { .name = "exact", .exactness = LPT_EXACT };
static const LptPass real = { .name = "real", .exactness = LPT_EXACT_REAL };
static const LptPass rounds = { .name = "rounds", .exactness = LPT_ROUNDS };

static LptGraph *
graph_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_assert_no_error (error);
  return graph;
}

/* Every value of %t is the middle between two codes of %q, and the sine makes a step something altogether different. */
static char *
ties_text (double factor)
{
  GString *text =
      g_string_new ("%x = Parameter : f32[255]\n%zero = Const {0} : f32[]\n%n = Multiply(%x, %zero)\n%v = Const {");
  for (guint i = 0; i < 255; i++)
    g_string_append_printf (text, "%s%.9g", i > 0 ? ", " : "", (double) (((float) i + 0.5f) * 0.1f));
  g_string_append_printf (text, "} : f32[255]\n%%t = Add(%%n, %%v)\n%%c = Const {%.9g} : f32[]\n%%m = Multiply(%%t, %%c)\n"
                          "%%low = Const {0} : f32[]\n%%high = Const {%.9g} : f32[]\n%%end = Const {25.5} : f32[]\n"
                          "%%q = FakeQuantize(%%m, %%low, %%high, %%low, %%end) {levels=256}\n%%w = Const {1000} : f32[]\n"
                          "%%big = Multiply(%%q, %%w)\n%%y = Sin(%%big)\nResult(%%y)\n", (double) (float) factor, (double) (25.5f * (float) factor));
  return g_string_free (text, FALSE);
}

/* Takes the factor in front of %q into its interval, which ends at @high. */
static void
fuse (LptGraph *graph, float high)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_scalar (LPT_DTYPE_F32, high);
  LptNode *q = lpt_graph_find (graph, "q");
  lpt_node_set_input (q, 0, lpt_graph_find_value (graph, "t"));
  lpt_node_set_input (q, 2, lpt_node_out (lpt_graph_add_const (graph, "fused", tensor)));
}

static double
distance (LptGraph *a, LptGraph *b)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) x = lpt_tensor_new (LPT_DTYPE_F32, &(LptShape) { .rank = 1, .dims = { 255 } }, &error);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_auto (CmdOutputs) first = { NULL }, second = { NULL };
  CmdDistance d;
  g_ptr_array_add (inputs, x);
  g_assert_true (cmd_run (a, inputs, LPT_PLAN_REFERENCE, 1, &first, &error) &&
                 cmd_run (b, inputs, LPT_PLAN_REFERENCE, 1, &second, &error));
  g_assert_true (cmd_distance (first.tensors->pdata[0], second.tensors->pdata[0], &d));
  return d.mean;
}

/* A right change turns ties, and the output is another one: it is accepted. */
static void
test_ties (void)
{
  double most = 0;
  for (guint factor = 3; factor < 40; factor += 3)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = ties_text (factor);
      g_autoptr (LptGraph) graph = graph_of (text), source = graph_of (text);
      g_autoptr (CmdVerify) verify = cmd_verify_new (graph, &error);
      g_assert_no_error (error);
      fuse (graph, 25.5f * (float) factor / (float) factor);
      most = MAX (most, distance (source, graph));
      cmd_verify_step (verify, &real, "q", &error);
      g_assert_no_error (error);
      /* What comes next is held against what the graph computes now. */
      cmd_verify_step (verify, &exact, NULL, &error);
      g_assert_no_error (error);
    }
  g_assert_cmpfloat (most, >, 1e-2);
}

/* The interval is wrong by a third of a step at its end, or the pass says that no bit changes: stopped. */
static void
test_no_ties (void)
{
  for (guint wrong = 0; wrong < 2; wrong++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = ties_text (3);
      g_autoptr (LptGraph) graph = graph_of (text);
      g_autoptr (CmdVerify) verify = cmd_verify_new (graph, &error);
      g_assert_no_error (error);
      fuse (graph, wrong ? 25.53f : 25.5f);
      g_assert_false (cmd_verify_step (verify, wrong ? &real : &exact, "q", &error));
      g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "at \"q\" changed output \"y\""));
    }
}

static const char chain[] = "%x = Parameter : f32[1,2,4,4]\n%s = Const {-1.5, 0.25} : f32[1,2,1,1]\n%m = Multiply(%x, "
                            "%s)\n%r = Relu(%m)\n%y = Tanh(%r)\nResult(%y)\n";

/* Relu in front of a factor that may be negative: wrong where it is made, and hidden by nothing. */
static void
swap_relu (LptGraph *graph)
{
  LptNode *relu = lpt_graph_find (graph, "r");
  lpt_node_set_input (relu, 0, lpt_graph_find_value (graph, "x"));
  LptNode *behind = lpt_graph_add (graph, LPT_OP_MULTIPLY, 1, "behind", 2,
                                   (LptValue *[]) { &relu->out[0], lpt_graph_find_value (graph, "s") });
  g_assert_true (lpt_node_infer (behind, NULL));
  lpt_value_replace (&relu->out[0], &behind->out[0], behind);
}

/* Passes that are exact are stopped there, others measured. */
static void
test_wrong (void)
{
  const LptPass *passes[] = { &exact, &real, &rounds };
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = graph_of (chain);
      g_autoptr (CmdVerify) verify = cmd_verify_new (graph, &error);
      g_assert_no_error (error);
      swap_relu (graph);
      gboolean ok = cmd_verify_step (verify, passes[i], "r", &error);
      g_assert_cmpint (ok, ==, passes[i] == &rounds);
      g_assert_true (ok || strstr (error->message, "changed output \"y\"") != NULL);
    }
}

/* A chain of right changes, bit by bit and by rounding; what is behind them is not computed again. */
static void
test_right (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = graph_of ("%x = Parameter : f32[1,2,4,4]\n%s = Const {1.5, 0.3} : f32[1,2,1,1]\n%m = Multiply(%x, %s)\n%r = Relu(%m)\n"
                                         "%t = Const {0.7} : f32[]\n%z = Multiply(%r, %t)\n%y = Tanh(%z)\nResult(%y)\n");
  g_autoptr (CmdVerify) verify = cmd_verify_new (graph, &error);
  LptNode *relu = lpt_graph_find (graph, "r"), *y = lpt_graph_find (graph, "y");
  g_assert_no_error (error);
  swap_relu (graph);
  cmd_verify_step (verify, &exact, "r", &error);
  g_assert_no_error (error);
  LptNode *both = lpt_graph_add (graph, LPT_OP_MULTIPLY, 1, "both", 2,
                                 (LptValue *[]) { lpt_graph_find_value (graph, "s"),
                                                  lpt_graph_find_value (graph, "t") });
  g_assert_true (lpt_node_infer (both, NULL));
  LptNode *one = lpt_graph_add (graph, LPT_OP_MULTIPLY, 1, "one", 2, (LptValue *[]) { &relu->out[0], &both->out[0] });
  g_assert_true (lpt_node_infer (one, NULL));
  lpt_node_set_input (y, 0, &one->out[0]);
  cmd_verify_step (verify, &real, "z", &error);
  g_assert_no_error (error);
  cmd_verify_step (verify, &exact, "z", &error);
  g_assert_no_error (error);
}

/* A reference run keeps the fractions of an AvgPool of u8; a FakeQuantize that only rounds them is nothing to its
 * type. */
static void
test_integers (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = graph_of ("%x = Parameter : u8[1,1,6,6]\n%p = AvgPool@1(%x) {kernel=[3,3], strides=[1,1]} : u8[1,1,4,4]\n%l = Const {0} : f32[]\n"
                                         "%h = Const {255} : f32[]\n%q = FakeQuantize(%p, %l, %h, %l, %h) {levels=256} #{relaxed} : u8[1,1,4,4]\n"
                                         "%y = MaxPool@1(%q) {kernel=[2,2], strides=[1,1]} : u8[1,1,3,3]\nResult(%y)\n");
  g_autoptr (CmdVerify) verify = cmd_verify_new (graph, &error);
  g_assert_no_error (error);
  lpt_value_replace (lpt_graph_find_value (graph, "q"), lpt_graph_find_value (graph, "p"), NULL);
  cmd_verify_step (verify, &exact, "q", &error);
  g_assert_no_error (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify/ties", test_ties);
  g_test_add_func ("/verify/no-ties", test_no_ties);
  g_test_add_func ("/verify/wrong", test_wrong);
  g_test_add_func ("/verify/right", test_right);
  g_test_add_func ("/verify/integers", test_integers);
  return g_test_run ();
}
