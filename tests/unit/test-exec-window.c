/* test-exec-window.c - convolutions, matrix products, pools in the reference executor
 *
 * Expected numbers: sums written out (weights 1, 10, 100 show which element went where).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

static const ExecCase cases[] =
{
  { "convolution",
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} : f32[1,2,2,3]\n%w = Const {-3, -2, -1, 0, 1, 2, 3, 4} : f32[1,2,2,2]\n"
    "%y = Convolution(%x, %w) {strides=[1,2], pads_begin=[1,0], pads_end=[0,1], dilations=[1,1]} : f32[1,1,2,2]\nResult(%y)\n",
    "52, 24, 86, 30" },
  { "convolution-same-upper-dilated",
    "%x = Const {1, 2, 3, 4, 5, 6, 7} : f32[1,1,7]\n%w = Const {1, 10, 100} : f32[1,1,3]\n"
    "%y = Convolution(%x, %w) {strides=[2], pads_begin=[0], pads_end=[0], dilations=[2], auto_pad=same_upper} : f32[1,1,4]\nResult(%y)\n",
    "310, 531, 753, 75" },
  { "convolution-same-lower",      /* one element of padding, in front */
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[1,1,6]\n%w = Const {1, 10} : f32[1,1,2]\n"
    "%y = Convolution(%x, %w) {strides=[1], pads_begin=[9], pads_end=[9], dilations=[1], auto_pad=same_lower} : f32[1,1,6]\nResult(%y)\n",
    "10, 21, 32, 43, 54, 65" },
  { "convolution-3d",
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8} : f32[1,1,2,2,2]\n%w = Const {1, 1, 1, 1, 1, 1, 1, 1} : f32[1,1,2,2,2]\n"
    "%y = Convolution(%x, %w) {strides=[1,1,1], pads_begin=[1,0,0], pads_end=[0,0,0], dilations=[1,1,1]} : f32[1,1,2,1,1]\nResult(%y)\n",
    "10, 36" },
  { "group-convolution",
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8} : f32[1,4,2]\n%w = Const {1, -1, 2, 3} : f32[2,1,2,1]\n"
    "%y = GroupConvolution(%x, %w) {strides=[1], pads_begin=[0], pads_end=[0], dilations=[1]} : f32[1,2,2]\nResult(%y)\n",
    "-2, -2, 31, 36" },
  { "convolution-of-integers-is-exact",    /* 2^24 + 1 does not exist in f32 sums: 16777217 - 16777216 */
    "%x = Const {255, 255, 1} : u8[1,3,1]\n%w = Const {127, -127, 1} : i8[1,3,1]\n"
    "%y = Convolution(%x as f32, %w as f32) {strides=[1], pads_begin=[0], pads_end=[0], dilations=[1]} #{relaxed} : f32[1,1,1]\nResult(%y)\n",
    "1" },
  { "deconvolution",
    "%x = Const {1, 2, 3} : f32[1,1,3]\n%w = Const {1, 10, 100} : f32[1,1,3]\n"
    "%a = ConvolutionBackpropData(%x, %w) {strides=[2], pads_begin=[0], pads_end=[0], dilations=[1]} : f32[1,1,7]\n"
    "%b = ConvolutionBackpropData(%x, %w) {strides=[2], pads_begin=[1], pads_end=[1], dilations=[1], output_padding=[1]} : f32[1,1,6]\n"
    "Result(%a)\nResult(%b)\n",
    "1, 10, 102, 20, 203, 30, 300; 10, 102, 20, 203, 30, 300" },
  { "deconvolution-to-a-given-length",
    "%x = Const {1, 2, 3} : f32[1,1,3]\n%w = Const {1, 10, 100} : f32[1,1,3]\n%n = Const {6} : i64[1]\n"
    "%u = ConvolutionBackpropData(%x, %w, %n) {strides=[2], dilations=[1], auto_pad=same_upper} : f32[1,1,6]\n"
    "%l = ConvolutionBackpropData(%x, %w, %n) {strides=[2], dilations=[1], auto_pad=same_lower} : f32[1,1,6]\n"
    "Result(%u)\nResult(%l)\n",
    "10, 102, 20, 203, 30, 300; 1, 10, 102, 20, 203, 30" },
  { "group-deconvolution",
    "%x = Const {1, 2, 3, 4} : f32[1,2,2]\n%w = Const {1, 10, 100, 1000} : f32[2,1,1,2]\n"
    "%y = GroupConvolutionBackpropData(%x, %w) {strides=[1], pads_begin=[0], pads_end=[0], dilations=[1]} : f32[1,2,3]\nResult(%y)\n",
    "1, 12, 20, 300, 3400, 4000" },
  { "deformable-convolution",      /* one tap moved by (0.5, 0): the mean of two rows */
    "%x = Const {1, 2, 3, 4} : f32[1,1,2,2]\n%o = Const {0.5, 0, 0, 0, 0, 0, 0, 0} : f32[1,2,2,2]\n%w = Const {2} : f32[1,1,1,1]\n"
    "%y = DeformableConvolution(%x, %o, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,1,2,2]\nResult(%y)\n",
    "4, 4, 6, 8" },
  { "binary-convolution",          /* signs 1 -1 1 -1 by 1 1; what is padded is -1, or 1 */
    "%x = Const {1, 0, 3, -4} : f32[1,1,4]\n%w = Const {1, 1} : u8[1,1,2]\n%v = Const {-1, 1} : i8[1,1,2]\n"
    "%y = BinaryConvolution(%x, %w) {strides=[1], pads_begin=[1], pads_end=[0], dilations=[1], pad_value=0} "
    ": f32[1,1,4]\n"
    "%z = BinaryConvolution(%x, %v) {strides=[1], pads_begin=[0], pads_end=[1], dilations=[1], pad_value=1} "
    ": f32[1,1,4]\n"
    "%u = BinaryConvolution(%x, %w) {strides=[3], pads_begin=[0], pads_end=[0], dilations=[1], auto_pad=same_lower, "
    "pad_value=-1} : f32[1,1,2]\n"
    "Result(%y)\nResult(%z)\nResult(%u)\n",
    "0, 0, 0, 0; -2, 2, -2, 2; 0, 0" },
  { "matmul-batch",
    "%a = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%b = Const {-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7} : f32[2,3,2]\n"
    "%y = MatMul(%a, %b) : f32[2,2,2]\nResult(%y)\n",
    "-8, -2, -26, -11, 28, 34, 64, 79" },
  { "matmul-transposed",
    "%a = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%b = Const {1, 3, 2, 4} : f32[2,2]\n"
    "%y = MatMul(%a, %b) {transpose_a=true, transpose_b=true} : f32[3,2]\nResult(%y)\n",
    "13, 18, 17, 24, 21, 30" },
  { "matmul-vectors",
    "%a = Const {1, 2, 3} : f32[3]\n%b = Const {-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7} : f32[2,3,2]\n"
    "%m = MatMul(%a, %b) : f32[2,2]\n%d = MatMul(%a, %a) {transpose_a=true, transpose_b=true} : f32[]\nResult(%m)\nResult(%d)\n",
    "-8, -2, 28, 34; 14" },
  { "einsum",
    "%b = Const {-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7} : f32[2,3,2]\n%q = Const {0, 1, 2, 3, 4, 5, 6, 7, 8} : f32[3,3]\n"
    "%g = Einsum(%b, %b) {equation=\"...ij,...kj->...ik\"} : f32[2,3,3]\n%d = Einsum(%q) {equation=\"ii->i\"} : f32[3]\n"
    "%t = Einsum(%q) {equation=\"ii->\"} : f32[]\nResult(%g)\nResult(%d)\nResult(%t)\n",
    "25, 11, -3, 11, 5, -1, -3, -1, 1, 13, 23, 33, 23, 41, 59, 33, 59, 85; 0, 4, 8; 12" },

  /* --- pools --- */
  { "max-pool-indices",            /* the first of equal elements; positions within one image */
    "%x = Const {1, 5, 5, 2, -1, -2, -3, -4} : f32[2,1,4]\n"
    "%y = MaxPool(%x) {kernel=[2], strides=[2], pads_begin=[0], pads_end=[0], axis=1} : f32[2,1,2], i64[2,1,2]\nResult(%y)\nResult(%y.1)\n",
    "5, 5, -1, -3; 1, 2, 0, 2" },
  { "max-pool-padding-does-not-win",
    "%x = Const {-3, -2, -1} : f32[1,1,3]\n"
    "%y = MaxPool@1(%x) {kernel=[2], strides=[2], pads_begin=[1], pads_end=[0]} : f32[1,1,2]\nResult(%y)\n",
    "-3, -1" },
  { "max-pool-dilated",
    "%x = Const {1, 9, 2, 8, 3} : f32[1,1,5]\n"
    "%y = MaxPool(%x) {kernel=[2], strides=[1], pads_begin=[0], pads_end=[0], dilations=[2]} : f32[1,1,3], i64[1,1,3]\nResult(%y)\n",
    "2, 9, 3" },
  { "avg-pool-padding",
    "%x = Const {2, 4, 6} : f32[1,1,3]\n"
    "%i = AvgPool(%x) {kernel=[2], strides=[1], pads_begin=[1], pads_end=[1], exclude-pad=false} : f32[1,1,4]\n"
    "%e = AvgPool(%x) {kernel=[2], strides=[1], pads_begin=[1], pads_end=[1], exclude-pad=true} : f32[1,1,4]\n"
    "Result(%i)\nResult(%e)\n",
    "1, 3, 5, 3; 2, 3, 5, 6" },
  { "avg-pool-ceil",               /* the last window has one element inside; what is past the padding does not count */
    "%x = Const {1, 2, 3, 4, 5} : f32[1,1,5]\n"
    "%y = AvgPool(%x) {kernel=[2], strides=[2], pads_begin=[0], pads_end=[0], exclude-pad=false, rounding_type=ceil} : f32[1,1,3]\nResult(%y)\n",
    "1.5, 3.5, 5" },
  { "pools-over-the-end",          /* as ONNX and PyTorch round up: the one window has half of its elements */
    "%x = Const {5} : f32[1,1,1]\n"
    "%a = MaxPool(%x) {kernel=[2], strides=[2], pads_begin=[0], pads_end=[0], rounding_type=ceil_torch} : f32[1,1,1]\n"
    "%b = AvgPool@14(%x) {kernel=[2], strides=[2], exclude-pad=true, rounding_type=ceil_torch} : f32[1,1,1]\n"
    "%c = AvgPool@14(%x) {kernel=[2], strides=[2], exclude-pad=false, rounding_type=ceil_torch} : f32[1,1,1]\n"
    "%y = Concat(%a, %b, %c) {axis=0} : f32[3,1,1]\nResult(%y)\n",
    "5, 5, 5" },
  { "adaptive-pools",              /* parts [0,2) [1,4) [3,5) of 5 */
    "%x = Const {1, 2, 3, 4, 9} : f32[1,1,5]\n%n = Const {3} : i64[1]\n%a = AdaptiveAvgPool(%x, %n) : f32[1,1,3]\n"
    "%m = AdaptiveMaxPool(%x, %n) : f32[1,1,3], i64[1,1,3]\nResult(%a)\nResult(%m)\nResult(%m.1)\n",
    "1.5, 3, 6.5; 2, 4, 9; 1, 3, 4" },
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  exec_cases_add ("window", cases, G_N_ELEMENTS (cases));

  return g_test_run ();
}
