/* test-fast-conv16.c - products of 16-bit data, convolutions too, have kernels, which give the bytes of the plain op
 *
 * Taps of more than one pass, strides, borders, groups, depthwise ones, one axis, few pixels; sums of 32 and 64 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

static void
compare (const char *text,
         const char *mode)
{
  g_autoptr (LptGraph) graph = fast_case_graph_for (text, "conv16", mode);

  fast_case_assert_kernels (graph);
  fast_case_compare (graph, 0, 1);
}

static void
test_windows (void)
{
  static const char *const texts[] =
  {
    "%x = Parameter : i16[2,40,9,11] q{scale=0.001}\n%k = Const {$(6*40*3*3)} : i8[6,40,3,3] q{scale=0.01}\n"
    "%b = Const {$(6)} : i64[6] q{scale=0.00001}\n%y = Convolution(%x, %k, %b) {strides=[1,1], dilations=[1,1], "
    "pads_begin=[1,1], pads_end=[1,1]} : i16[2,6,9,11] q{scale=0.9}\nResult(%y)\n",
    "%x = Parameter : i16[1,3,20,31] q{scale=0.001}\n"
    "%k = Const {$(5*3*3*2)} : i8[5,3,3,2] q{axis=0, scale=[0.01,0.02,0.03,0.04,0.05]}\n"
    "%y = Convolution(%x, %k) {strides=[2,3], dilations=[2,1], pads_begin=[1,0], pads_end=[0,2], "
    "auto_pad=same_upper} : i16[1,5,10,11] q{scale=0.05}\nResult(%y)\n",
    "%x = Parameter : i16[2,8,7,9] q{scale=0.001}\n%k = Const {$(8*3*3)} : i8[8,1,1,3,3] q{scale=0.01}\n"
    "%b = Const {$(8)} : i64[8] q{scale=0.00001}\n%y = GroupConvolution(%x, %k, %b) {strides=[1,2], dilations=[1,1], "
    "pads_begin=[1,1], pads_end=[1,1]} : i16[2,8,7,5] q{scale=0.02}\nResult(%y)\n",
    "%x = Parameter : i16[1,12,70] q{scale=0.001}\n%k = Const {$(2*5*6*4)} : i8[2,5,6,4] q{scale=0.01}\n"
    "%b = Const {$(10)} : i32[10] q{scale=0.00001}\n%y = GroupConvolution(%x, %k, %b) {strides=[1], dilations=[1], "
    "pads_begin=[0], pads_end=[0]} : i8[1,10,67] q{scale=2, zp=5}\nResult(%y)\n",
    "%x = Parameter : i16[3,600,1,1] q{scale=0.001}\n%k = Const {$(17*600)} : i8[17,600,1,1] q{scale=0.01}\n"
    "%y = Convolution(%x, %k) {strides=[1,1], dilations=[1,1], pads_begin=[0,0], pads_end=[0,0]} : "
    "i16[3,17,1,1] q{scale=1.5}\nResult(%y)\n",
  };
  static const char *const modes[] = { "litert", "single", "onnx" };
  guint k, m;

  for (k = 0; k < G_N_ELEMENTS (texts); k++)
    for (m = 0; m < G_N_ELEMENTS (modes); m++)
      compare (texts[k], modes[m]);
}

/* With weights and with computed codes of 16 bits, whose ends are among them; turned, and with batches that repeat. */
static void
test_matrices (void)
{
  static const char *const texts[] =
  {
    "%x = Parameter : i16[70,300] q{scale=0.001}\n%k = Const {$(300*45)} : i8[300,45] q{scale=0.01}\n"
    "%b = Const {$(45)} : i64[45] q{scale=0.00001}\n%y = MatMul(%x, %k, %b) : i16[70,45] q{scale=0.3}\nResult(%y)\n",
    "%x = Parameter : i16[1,300] q{scale=0.001}\n%k = Const {$(300*5)} : i8[5,300] q{scale=0.01}\n"
    "%y = MatMul(%x, %k) {transpose_b=true} : i16[1,5] q{scale=0.3}\nResult(%y)\n",
    "%x = Parameter : i16[2,3,40,19] q{scale=0.001}\n%k = Parameter : i16[3,33,40] q{scale=0.0002}\n"
    "%y = MatMul(%x, %k) {transpose_a=true, transpose_b=true} : i16[2,3,19,33] q{scale=0.01}\nResult(%y)\n",
    "%x = Parameter : i16[5,600] q{scale=0.001}\n%k = Parameter : i16[4,600,33] q{scale=0.0002}\n"
    "%y = MatMul(%x, %k) : i16[4,5,33] q{scale=0.05}\nResult(%y)\n",
  };
  static const char *const modes[] = { "litert", "single", "onnx" };
  guint k, m;

  for (k = 0; k < G_N_ELEMENTS (texts); k++)
    for (m = 0; m < G_N_ELEMENTS (modes); m++)
      compare (texts[k], modes[m]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/conv16/windows", test_windows);
  g_test_add_func ("/fast/conv16/matrices", test_matrices);

  return g_test_run ();
}
