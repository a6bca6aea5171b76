/* test-fast-computed-conv.c - real convolutions, transposed ones, too, whose weights somebody computes
 *
 * The bits of the plain op at every level of the processor and for every number of threads: one to three axes, odd
 * lengths, groups, strides, dilations, phases without taps, several panels of columns, several tiles of rows, what
 * follows the sums; weights that are infinite or no numbers where windows reach beyond the image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/kernels/lpt-kernels.h"
#include "fast-case.h"

#define X(shape) "%x = Parameter : f32" shape "\n"
#define W(shape) "%w = Parameter : f32" shape "\n"
#define OP(op, window, out) "%c = " op "(%x, %w) {" window "} : f32" out "\n"
#define END "Result(%c)\n"
#define PAD_1 "strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]"

static const struct { const char *name, *text; } cases[] = {
  { "dense", X ("[2,13,9,11]") W ("[37,13,3,3]") OP ("Convolution", PAD_1, "[2,37,9,11]") END },
  { "constant data", "%x = Const {#(1170)} : f32[1,13,9,10]\n" W ("[37,13,3,3]")
    OP ("Convolution", PAD_1, "[1,37,9,10]") END },
  { "rows in tiles", X ("[1,5,61,67]") W ("[3,5,3,3]") OP ("Convolution", PAD_1, "[1,3,61,67]") END },
  { "columns in tasks", X ("[1,300,6,5]") W ("[150,300,1,1]")
    OP ("Convolution", "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", "[1,150,6,5]") END },
  { "strides, dilations", X ("[1,7,17,19]") W ("[20,7,3,2]")
    OP ("Convolution", "strides=[2,1], pads_begin=[3,1], pads_end=[2,0], dilations=[2,3]", "[1,20,9,17]") END },
  { "groups", X ("[2,12,8,7]") W ("[3,17,4,3,3]") OP ("GroupConvolution", PAD_1, "[2,51,8,7]") END },
  { "a line", X ("[1,18,70]") W ("[9,18,5]")
    OP ("Convolution", "strides=[2], pads_begin=[2], pads_end=[2], dilations=[1]", "[1,9,35]") END },
  { "volume", X ("[1,4,5,6,7]") W ("[10,4,3,3,3]")
    OP ("Convolution", "strides=[1,1,1], pads_begin=[1,0,1], pads_end=[1,0,1], "
        "dilations=[1,1,1]", "[1,10,5,4,7]") END },
  { "end", X ("[1,12,9,8]") W ("[20,12,3,3]") "%b = Const {#(20)} : f32[1,20,1,1]\n%r = Parameter : f32[1,20,9,8]\n"
    OP ("Convolution", PAD_1, "[1,20,9,8]")
    "%d = Add(%c, %b) : f32[1,20,9,8]\n%e = Add(%d, %r) : f32[1,20,9,8]\n%f = Relu(%e) : f32[1,20,9,8]\nResult(%f)\n" },
  { "transposed", X ("[2,14,7,5]") W ("[14,19,4,3]")
    OP ("ConvolutionBackpropData", "strides=[2,3], pads_begin=[1,0], pads_end=[1,0], "
        "dilations=[1,1]", "[2,19,14,15]") END },
  { "transposed, phases without taps", X ("[1,6,5,9]") W ("[6,8,2,2]")
    OP ("ConvolutionBackpropData", "strides=[3,4], pads_begin=[0,0], pads_end=[0,0], "
        "dilations=[1,1]", "[1,8,14,34]") END },
  { "transposed groups, end", X ("[1,12,6,8]") W ("[2,6,11,3,3]") "%r = Parameter : f32[1,22,12,16]\n"
    OP ("GroupConvolutionBackpropData",
        "strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1], output_padding=[1,1]", "[1,22,12,16]")
    "%d = Add(%c, %r) : f32[1,22,12,16]\n%e = Sigmoid(%d) : f32[1,22,12,16]\nResult(%e)\n" },
  { "transposed, a channel for each group", X ("[1,9,6,8]") W ("[9,1,1,3,3]")
    OP ("GroupConvolutionBackpropData", "strides=[2,2], pads_begin=[1,1], pads_end=[1,1], "
        "dilations=[1,1]", "[1,9,11,15]") END },
  { "not finite", X ("[1,6,9,8]") "%v = Parameter : f32[20,6,3,3]\n"
    "%m = Const {1,inf,2,nan,-inf,3,4,5,6,7,8,9,1,1,1,1,1,1,inf,1} : f32[20,1,1,1]\n"
    "%w = Multiply(%v, %m) : f32[20,6,3,3]\n%r = Parameter : f32[1,20,9,8]\n"
    OP ("Convolution", PAD_1, "[1,20,9,8]") "%d = Add(%c, %r) : f32[1,20,9,8]\nResult(%d)\n" },
  { "transposed, not finite", X ("[1,6,5,4]") "%v = Parameter : f32[6,3,4,4]\n%m = Const {1,inf,nan} : f32[1,3,1,1]\n"
    "%w = Multiply(%v, %m) : f32[6,3,4,4]\n"
    OP ("ConvolutionBackpropData", "strides=[2,2], pads_begin=[1,1], pads_end=[1,1], "
        "dilations=[1,1]", "[1,3,10,8]") END },
};

static void
test_case (gconstpointer data)
{
  g_autoptr (LptGraph) graph = fast_case_graph (data, "computed-conv");
  g_autoptr (LptPlan) plan = fast_plan (graph, LPT_PLAN_CHECK);
  g_autofree char *text = lpt_plan_to_text (plan, 0);

  /* Levels without fused multiply-adds keep the plain op. */
  g_assert_cmpint (strstr (text, "conv_FP32") != NULL, ==,
                   lpt_kernels_for (lpt_cpu_detect ()).fgemm->needs == LPT_CPU_SCALAR);
  fast_case_compare (graph, -2, 2);
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/fast-computed-conv/%s", cases[i].name);

      g_test_add_data_func (path, cases[i].text, test_case);
    }

  return g_test_run ();
}
