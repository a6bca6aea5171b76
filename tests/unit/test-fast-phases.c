/* test-fast-phases.c - transposed convolutions of real numbers whose phases are joined (join-phases.c)
 *
 * Within two millionths of the largest output of the plain op, at every level of the processor and for every number of
 * threads: one to three axes, pads that cut phases on both sides, output padding, a bias, several images. What has to
 * keep the order of its terms, and phases that lack taps, have the bits of the plain op.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

#define BOUND 2e-6

#define DECONV(window, out) "%c = ConvolutionBackpropData(%x, %w) {" window "} : f32" out "\nResult(%c)\n"
#define X(shape) "%x = Parameter : f32" shape "\n"
#define W(n, shape) "%w = Const {#(" n ")} : f32" shape "\n"

static const struct { const char *name, *text; } cases[] = {
  { "9 by 3, one channel", X ("[1,56,17,13]") W ("56*81", "[56,1,9,9]")
    DECONV ("strides=[3,3], pads_begin=[4,4], pads_end=[4,4], dilations=[1,1], output_padding=[2,2]", "[1,1,51,39]") },
  { "4 by 2, images, bias", X ("[2,33,9,14]") W ("33*3*16", "[33,3,4,4]") "%b = Const {#(3)} : f32[1,3,1,1]\n"
    "%c = ConvolutionBackpropData(%x, %w) {strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]}"
    " : f32[2,3,18,28]\n"
    "%d = Add(%c, %b) : f32[2,3,18,28]\n%e = Relu(%d) : f32[2,3,18,28]\nResult(%e)\n" },
  { "uneven", X ("[1,40,12,15]") W ("40*2*6*8", "[40,2,6,8]")
    DECONV ("strides=[3,2], pads_begin=[5,0], pads_end=[1,3], dilations=[1,1]", "[1,2,33,33]") },
  { "a line", X ("[1,64,900]") W ("64*16", "[64,1,16]")
    DECONV ("strides=[8], pads_begin=[4], pads_end=[4], dilations=[1]", "[1,1,7200]") },
  { "volume", X ("[1,24,5,7,6]") W ("24*2*64", "[24,2,4,4,4]")
    DECONV ("strides=[2,2,2], pads_begin=[1,1,1], pads_end=[1,1,2], dilations=[1,1,1]", "[1,2,10,14,11]") },
};

/* Phases of other numbers of taps. */
static const char others[] = X ("[1,24,5,7,6]") W ("24*2*4*4*5", "[24,2,4,4,5]")
  DECONV ("strides=[2,2,2], pads_begin=[1,1,1], pads_end=[1,1,2], dilations=[1,1,1]", "[1,2,10,14,12]");

static gboolean
has_joined (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  const LptPlanOptions options = { .flags = LPT_PLAN_CHECK, .print_after = "join-phases", .printed = &text };
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, &options, &error);

  g_assert_no_error (error);

  return plan != NULL && strstr (text, "= Convolution(") != NULL;
}

/* Or all taps of a pixel are made at once. */
static gboolean
reorders (LptGraph *graph)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  gboolean any = has_joined (graph);
  guint i;

  for (i = 0; i < plan->program->ops->len; i++)
    any |= ((const LptProgramOp *) plan->program->ops->pdata[i])->form.reorders;

  return any || lpt_kernels_for (lpt_cpu_detect ()).fgemm->needs == LPT_CPU_SCALAR;
}

static void
test_bound (gconstpointer data)
{
  g_autoptr (LptGraph) graph = fast_case_graph (data, "phases");
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, -2, 2);
  g_autoptr (GPtrArray) expected = fast_run (graph, LPT_PLAN_REFERENCE, 1, inputs);
  LptTensor *want = g_ptr_array_index (expected, 0);
  guint k, threads;

  g_assert_true (reorders (graph));
  for (k = 0; lpt_cpu_level_at (k) != NULL; k++)
    for (threads = 1; threads <= LOOPS_DRAWN; threads++)
      {
        g_autoptr (GPtrArray) outputs = NULL;

        g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
        outputs = fast_run (graph, 0, threads, inputs);
        fast_assert_near (g_ptr_array_index (outputs, 0), want, BOUND);
      }
  g_unsetenv ("LPT_CPU");
}

/* The bits of the plain op. */
static void
test_others (void)
{
  g_autoptr (LptGraph) graph = fast_case_graph (others, "phases");
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, -2, 2);

  g_assert_false (has_joined (graph));
  fast_case_compare_inputs (graph, inputs);
}

static void
test_ordered (gconstpointer data)
{
  g_autoptr (LptGraph) graph = fast_case_graph (data, "phases");
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, -2, 2);
  g_autoptr (GPtrArray) expected = fast_run (graph, LPT_PLAN_REFERENCE, 1, inputs),
                        outputs = fast_run (graph, LPT_PLAN_ORDERED, 2, inputs);

  g_assert_true (lpt_tensor_equal (g_ptr_array_index (expected, 0), g_ptr_array_index (outputs, 0)));
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *bound = g_strconcat ("/fast-phases/bound/", cases[i].name, NULL);

      g_test_add_data_func (bound, cases[i].text, test_bound);
    }
  g_test_add_func ("/fast-phases/others", test_others);
  g_test_add_data_func ("/fast-phases/ordered", cases[0].text, test_ordered);

  return g_test_run ();
}
