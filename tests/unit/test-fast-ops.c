/* test-fast-ops.c - small graphs of codes: the fast program gives the bytes of the scalar integer ops
 *
 * Every graph in every requant mode, at every level of the CPU; in mode single with two threads too. What is named as a
 * kernel must have run: a graph that falls back to plain ops proves nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>

#include <lpt/lpt-cpu.h>
#include "eval/requant/lpt-requant-modes.h"

#define X(c, h, w)  "%x = Parameter : u8[2," #c "," #h "," #w "] q{scale=0.02, zp=128}\n"
#define SX(c, h, w) "%x = Parameter : i8[2," #c "," #h "," #w "] q{scale=0.04, zp=-3}\n"

#define Q " q{scale=0.02, zp=128}\n"
/* %p: %x with the channels last. */
#define POOL(c, h, w)  "%p = MaxPool(%x) {kernel=[1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : u8[2," #c "," #h "," #w "] q{scale=0.02, zp=128}\n"
#define POOLS(c, h, w) "%p = MaxPool(%x) {kernel=[1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : i8[2," #c "," #h "," #w "] q{scale=0.04, zp=-3}\n"

typedef struct
{
  const char *name;
  const char *kernel;        /* begins the name of a kernel that runs in mode single; NULL: none does */
  const char *graph;
} Case;

static const Case cases[] =
{
  /* Sums over spatial axes. */
  { "mean", "pool", X (67, 7, 9) "%a = Const {2, 3} : i64[2]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=true} : u8[2,67,1,1] q{scale=0.02, zp=128}\nResult(%y)\n" },
  { "mean-requantized", "pool", SX (5, 3, 1) "%a = Const {-1, -2} : i64[2]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=false} : u8[2,5] q{scale=0.013, zp=77}\nResult(%y)\n" },
  { "mean-rows", "pool", SX (19, 5, 4) "%a = Const {2} : i64[1]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=true} : i8[2,19,1,4] q{scale=0.05, zp=9}\nResult(%y)\n" },
  { "mean-columns", "pool", SX (19, 5, 4) "%a = Const {3} : i64[1]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=false} : i8[2,19,5] q{scale=0.05, zp=9}\nResult(%y)\n" },
  { "mean-volume", "pool", "%x = Parameter : u8[1,33,3,4,5] q{scale=0.02, zp=10}\n%a = Const {3, 4} : i64[2]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=true} : u8[1,33,3,1,1] q{scale=0.011, zp=2}\nResult(%y)\n" },
  { "mean-outer-axes", NULL, "%x = Parameter : u8[1,33,3,4,5] q{scale=0.02, zp=10}\n%a = Const {2, 4} : i64[2]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=true} : u8[1,33,1,4,1] q{scale=0.011, zp=2}\nResult(%y)\n" },
  { "mean-channels", NULL, X (5, 3, 3) "%a = Const {1} : i64[1]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=true} : u8[2,1,3,3] q{scale=0.02, zp=128}\nResult(%y)\n" },
  { "mean-large", "pool", "%x = Parameter : i8[1,300,23,29] q{scale=0.02, zp=-128}\n%a = Const {2, 3} : i64[2]\n"
    "%y = ReduceMean(%x, %a) {keep_dims=true} : i8[1,300,1,1] q{scale=0.009, zp=-128}\nResult(%y)\n" },
  { "sum", "pool", X (67, 7, 9) "%a = Const {2, 3} : i64[2]\n"
    "%y = ReduceSum(%x, %a) {keep_dims=true} : i8[2,67,1,1] q{scale=1.1, zp=-5}\nResult(%y)\n" },
  { "maximum", "pool", SX (67, 7, 9) "%a = Const {2, 3} : i64[2]\n"
    "%y = ReduceMax(%x, %a) {keep_dims=true} : i8[2,67,1,1] q{scale=0.04, zp=-3}\nResult(%y)\n" },
  { "minimum", "pool", SX (67, 7, 9) "%a = Const {2, 3} : i64[2]\n"
    "%y = ReduceMin(%x, %a) {keep_dims=true} : i8[2,67,1,1] q{scale=0.04, zp=-3}\nResult(%y)\n" },

  /* Windows. */
  { "average", "pool", X (35, 8, 7) "%y = AvgPool(%x) {kernel=[3,2], strides=[2,1], pads_begin=[1,0], pads_end=[1,1], exclude-pad=true}"
    " : u8[2,35,4,7] q{scale=0.02, zp=128}\nResult(%y)\n" },
  { "average-padding", "pool", SX (35, 8, 7) "%y = AvgPool(%x) {kernel=[3,3], strides=[2,2], pads_begin=[1,1], pads_end=[0,1],"
    " exclude-pad=false, rounding_type=\"ceil\"} : i8[2,35,4,4] q{scale=0.03, zp=4}\nResult(%y)\n" },
  { "average-same", "pool", SX (35, 8, 7) "%y = AvgPool(%x) {kernel=[3,3], strides=[1,1], pads_begin=[0,0], pads_end=[0,0], auto_pad=\"same_upper\","
    " exclude-pad=false} : i8[2,35,8,7] q{scale=0.04, zp=-3}\nResult(%y)\n" },
  { "average-line", "pool", "%x = Parameter : u8[1,18,11] q{scale=0.02, zp=10}\n%y = AvgPool(%x) {kernel=[4], strides=[3], pads_begin=[2],"
    " pads_end=[2], exclude-pad=true} : u8[1,18,4] q{scale=0.02, zp=10}\nResult(%y)\n" },
  { "max-line", "pool", "%x = Parameter : i8[1,18,11] q{scale=0.02, zp=10}\n%y = MaxPool(%x) {kernel=[4], strides=[3], pads_begin=[2],"
    " pads_end=[2], dilations=[1]} : i8[1,18,4] q{scale=0.02, zp=10}\nResult(%y)\n" },

  /* Sums and products; a pool before them gives its output with the channels last. */
  { "mul", "mul", X (3, 7, 9) "%z = Parameter : i8[2,3,7,9] q{scale=0.03, zp=-20}\n"
    "%y = Multiply(%x, %z) : u8[2,3,7,9] q{scale=0.05, zp=101}\nResult(%y)\n" },
  { "mul-large", "mul", X (33, 29, 41) POOL (33, 29, 41)
    "%y = Multiply(%p, %x) : u8[2,33,29,41] q{scale=0.05, zp=101}\nResult(%y)\n" },
  { "mul-excite", "mul", X (70, 9, 5) POOL (70, 9, 5) "%z = Parameter : u8[2,70,1,1] q{scale=0.004, zp=0}\n"
    "%y = Multiply(%z, %p) : i8[2,70,9,5] q{scale=0.02, zp=-1}\nResult(%y)\n" },
  { "mul-excite-plain", "mul", X (70, 9, 5) "%z = Parameter : u8[1,70,1,1] q{scale=0.004, zp=0}\n"
    "%y = Multiply(%z, %x) : i8[2,70,9,5] q{scale=0.02, zp=-1}\nResult(%y)\n" },
  { "mul-pixels", "mul", X (70, 9, 5) POOL (70, 9, 5) "%z = Parameter : i8[2,1,9,5] q{scale=0.004, zp=3}\n"
    "%y = Multiply(%p, %z) : i8[2,70,9,5] q{scale=0.02, zp=-1}\nResult(%y)\n" },
  { "mul-row", "mul", X (70, 9, 5) POOL (70, 9, 5) "%z = Parameter : i8[5] q{scale=0.004, zp=3}\n"
    "%y = Multiply(%p, %z) : i8[2,70,9,5] q{scale=0.02, zp=-1}\nResult(%y)\n" },
  { "mul-both", "mul", "%x = Parameter : u8[3,1,7,1] q{scale=0.02, zp=128}\n%z = Parameter : i8[5,1,6] q{scale=0.03, zp=3}\n"
    "%y = Multiply(%x, %z) : u8[3,5,7,6] q{scale=0.02, zp=9}\nResult(%y)\n" },
  { "mul-scalar", "mul", SX (70, 9, 5) POOLS (70, 9, 5) "%z = Parameter : u8[] q{scale=0.004, zp=3}\n"
    "%y = Multiply(%p, %z) : i8[2,70,9,5] q{scale=0.02, zp=-1}\nResult(%y)\n" },
  { "mul-shift", NULL, X (3, 7, 9) "%y = Multiply(%x, %x) {shift=[0.3]} : u8[2,3,7,9] q{scale=0.05, zp=101}\nResult(%y)\n" },
  { "add-columns", "add", SX (70, 9, 5) POOLS (70, 9, 5) "%z = Parameter : i8[1,70,1,5] q{scale=0.01, zp=3}\n"
    "%y = Add(%z, %p) : i8[2,70,9,5] q{scale=0.05, zp=-1}\nResult(%y)\n" },
  { "subtract", "add", SX (7, 9, 5) "%z = Parameter : u8[7,1,1] q{scale=0.01, zp=3}\n"
    "%y = Subtract(%z, %x) : i8[2,7,9,5] q{scale=0.05, zp=-1}\nResult(%y)\n" },
  { "table-plain", "table", SX (7, 9, 5) "%y = Sigmoid(%x) : u8[2,7,9,5] q{scale=0.00390625}\nResult(%y)\n" },

  /* Codes and floats: one scale or several, long rows and short ones, planes from channels that are last. */
  { "quantize-short", "quantize", "%x = Parameter : f32[50,7,4]\n%y = Quantize(%x) : u8[50,7,4] q{axis=1, scale=[0.01,0.02,0.03,0.04,0.05,0.06,0.07],"
    " zp=[1,2,30,4,50,6,7]}\nResult(%y)\n" },
  { "quantize-columns", "quantize", "%x = Parameter : f32[3,3,37,5]\n%y = Quantize(%x) : i8[3,3,37,5] q{axis=3, scale=[0.01,0.02,0.03,0.04,0.05],"
    " zp=[1,-2,30,4,-50]}\nResult(%y)\n" },
  { "quantize-planes", "quantize", "%x = Parameter : f32[2,3,83,101]\n%y = Quantize(%x) : i8[2,3,83,101] q{scale=0.02, zp=3}\nResult(%y)\n" },
  { "quantize-planes-channels", "quantize", "%x = Parameter : f32[2,3,83,101]\n%y = Quantize(%x) : u8[2,3,83,101] q{axis=1,"
    " scale=[0.01,0.02,0.03], zp=[100,20,3]}\nResult(%y)\n" },
  { "quantize-planes-images", "quantize", "%x = Parameter : f32[3,1,83,101]\n%y = Quantize(%x) : u8[3,1,83,101] q{axis=0,"
    " scale=[0.01,0.02,0.03], zp=[100,20,3]}\nResult(%y)\n" },
  { "quantize-planes-rows", "quantize", "%x = Parameter : f32[2,3,3,1300]\n%y = Quantize(%x) : u8[2,3,3,1300] q{axis=2,"
    " scale=[0.01,0.02,0.03], zp=[100,20,3]}\nResult(%y)\n" },
  { "dequantize-short", "dequantize", "%x = Parameter : i8[3,5,31] q{axis=1, scale=[0.01,0.02,0.03,0.04,0.05], zp=[1,-2,30,4,-50]}\n"
    "%y = Dequantize(%x) : f32[3,5,31]\nResult(%y)\n" },
  { "dequantize-rows", "dequantize", "%x = Parameter : i8[3,5,33] q{axis=1, scale=[0.01,0.02,0.03,0.04,0.05], zp=[1,-2,30,4,-50]}\n"
    "%y = Dequantize(%x) : f32[3,5,33]\nResult(%y)\n" },
  { "dequantize-planes", "dequantize", X (75, 19, 23) POOL (75, 19, 23) "%y = Dequantize(%p) : f32[2,75,19,23]\nResult(%y)\n" },
  { "dequantize-planes-signed", "dequantize", SX (5, 2, 3) POOLS (5, 2, 3) "%y = Dequantize(%p) : f32[2,5,2,3]\nResult(%y)\nResult(%p)\n" },
  { "dequantize-planes-short", "dequantize", SX (5, 2, 3) POOLS (5, 2, 3) "%r = Reinterpret(%p) : i8[2,5,2,3] q{axis=1,"
    " scale=[0.01,0.02,0.03,0.04,0.05], zp=[1,-2,30,4,-50]}\n%y = Dequantize(%r) : f32[2,5,2,3]\nResult(%y)\n" },
  { "dequantize-planes-channels", "dequantize", SX (5, 8, 9) POOLS (5, 8, 9) "%r = Reinterpret(%p) : i8[2,5,8,9] q{axis=1,"
    " scale=[0.01,0.02,0.03,0.04,0.05], zp=[1,-2,30,4,-50]}\n%y = Dequantize(%r) : f32[2,5,8,9]\nResult(%y)\n" },
  { "dequantize-planes-rows", "dequantize", SX (5, 3, 9) POOLS (5, 3, 9) "%r = Reinterpret(%p) : i8[2,5,3,9] q{axis=2,"
    " scale=[0.01,0.02,0.03], zp=[1,-2,30]}\n%y = Dequantize(%r) : f32[2,5,3,9]\nResult(%y)\n" },

  /* Movements, in order and with the channels last. */
  { "nhwc", "move", X (6, 7, 5) POOL (6, 7, 5) "%o = Const {0, 2, 3, 1} : i64[4]\n%t = Transpose(%p, %o) : u8[2,7,5,6]" Q
    "%s = Const {2, 210} : i64[2]\n%y = Reshape(%t, %s) {special_zero=false} : u8[2,210]" Q "Result(%y)\nResult(%p)\n" },
  { "nchw", "move", "%x = Parameter : i8[2,7,5,6]" Q "%o = Const {0, 3, 1, 2} : i64[4]\n%t = Transpose(%x, %o) : i8[2,6,7,5]" Q
    "%y = MaxPool(%t) {kernel=[2,2], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : i8[2,6,6,4]" Q "Result(%y)\n" },
  { "transpose", "move", X (6, 17, 35) POOL (6, 17, 35) "%o = Const {3, 1, 0, 2} : i64[4]\n%y = Transpose(%p, %o) : u8[35,6,2,17]" Q
    "Result(%y)\n" },
  { "transpose-flat", "move", X (6, 17, 35) "%o = Const {0, 2, 1, 3} : i64[4]\n%s = Const {2, -1} : i64[2]\n"
    "%t = Transpose(%x, %o) : u8[2,17,6,35]" Q "%y = Reshape(%t, %s) {special_zero=false} : u8[2,3570]" Q "Result(%y)\n" },
  { "flatten", NULL, X (6, 17, 35) POOL (6, 17, 35) "%s = Const {2, -1} : i64[2]\n%y = Reshape(%p, %s) {special_zero=false} : u8[2,3570]" Q
    "%z = Sigmoid(%y) : u8[2,3570] q{scale=0.00390625}\nResult(%z)\n" },
  { "transpose-plain", "move", SX (6, 17, 35) "%o = Const {1, 3, 2, 0} : i64[4]\n%y = Transpose(%x, %o) : i8[6,35,17,2] q{scale=0.04, zp=-3}\n"
    "Result(%y)\n" },
  { "shuffle", "move", X (12, 7, 5) POOL (12, 7, 5) "%y = ShuffleChannels(%p) {axis=1, group=3} : u8[2,12,7,5]" Q "Result(%y)\n" },
  { "shuffle-steps", "move", X (12, 7, 5) POOL (12, 7, 5) "%a = Const {2, 3, 4, 7, 5} : i64[5]\n%b = Const {2, 12, 7, 5} : i64[4]\n"
    "%o = Const {0, 2, 1, 3, 4} : i64[5]\n%r = Reshape(%p, %a) {special_zero=false} : u8[2,3,4,7,5]" Q
    "%t = Transpose(%r, %o) : u8[2,4,3,7,5]" Q "%u = Reshape(%t, %b) {special_zero=false} : u8[2,12,7,5]" Q
    "%y = MaxPool(%u) {kernel=[2,2], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : u8[2,12,6,4]" Q "Result(%y)\n" },
  { "depth-to-space", "move", X (12, 7, 5) POOL (12, 7, 5) "%y = DepthToSpace(%p) {block_size=2, mode=depth_first} : u8[2,3,14,10]" Q
    "Result(%y)\n" },
  { "depth-to-space-blocks", "move", X (32, 7, 5) POOL (32, 7, 5) "%y = DepthToSpace(%p) {block_size=2, mode=blocks_first} : u8[2,8,14,10]" Q
    "Result(%y)\n" },
  { "space-to-depth", "move", X (3, 8, 6) POOL (3, 8, 6) "%y = SpaceToDepth(%p) {block_size=2, mode=blocks_first} : u8[2,12,4,3]" Q
    "Result(%y)\n" },
  { "pad", "move", SX (12, 7, 5) POOLS (12, 7, 5) "%b = Const {0, 0, 1, 2} : i64[4]\n%e = Const {0, 0, 3, 0} : i64[4]\n%v = Const {-3} : i8[]"
    " q{scale=0.04, zp=-3}\n%y = Pad(%p, %b, %e, %v) {pad_mode=constant} : i8[2,12,11,7] q{scale=0.04, zp=-3}\nResult(%y)\n" },
  { "pad-channels", "move", SX (12, 7, 5) POOLS (12, 7, 5) "%b = Const {0, 3, 0, 0} : i64[4]\n%e = Const {1, 1, 0, 0} : i64[4]\n%v = Const {9} : i8[]"
    " q{scale=0.04, zp=-3}\n%u = Pad(%p, %b, %e, %v) {pad_mode=constant} : i8[3,16,7,5] q{scale=0.04, zp=-3}\n"
    "%z = Const {-7} : i8[] q{scale=0.04, zp=-3}\n%y = Pad(%u, %b, %e, %z) {pad_mode=constant} : i8[4,20,7,5] q{scale=0.04, zp=-3}\nResult(%y)\n" },
  { "pad-reflect", "move", X (12, 7, 5) "%b = Const {0, 0, 1, 2} : i64[4]\n%e = Const {0, 0, 3, 0} : i64[4]\n"
    "%y = Pad(%x, %b, %e) {pad_mode=reflect} : u8[2,12,11,7]" Q "Result(%y)\n" },
  { "split", "move", X (12, 7, 5) POOL (12, 7, 5) "%a = Const {1} : i64[]\n%l = Const {5, -1, 3} : i64[3]\n"
    "%s = VariadicSplit(%p, %a, %l) : u8[2,5,7,5] q{scale=0.02, zp=128}, u8[2,4,7,5] q{scale=0.02, zp=128}, u8[2,3,7,5]" Q
    "%y = Multiply(%s.0, %s.0) : u8[2,5,7,5] q{scale=0.05, zp=101}\nResult(%s.2)\nResult(%y)\n" },
  { "split-rows", "move", "%x = Parameter : i8[1,6,8,5]" Q "%a = Const {2} : i64[]\n%s = Split(%x, %a) {num_splits=2}"
    " : i8[1,6,4,5] q{scale=0.02, zp=128}, i8[1,6,4,5]" Q "%y = Add(%s.1, %s.0) : i8[1,6,4,5] q{scale=0.05, zp=1}\nResult(%y)\nResult(%s.0)\n" },
  { "slice", "move", X (12, 7, 5) POOL (12, 7, 5) "%b = Const {6, 1} : i64[2]\n%e = Const {0, 11} : i64[2]\n%st = Const {-2, 3} : i64[2]\n%a = Const {2, 1} : i64[2]\n"
    "%y = Slice(%p, %b, %e, %st, %a) : u8[2,4,3,5]" Q "Result(%y)\n" },
  { "scatter", NULL, X (2, 3, 2) "%i = Const {3} : i64[1]\n%a = Const {0} : i64[]\n%v = Const {1, 2, 3, 4, 5, 6} : u8[1,6]" Q
    "%s = Const {-1, 6} : i64[2]\n%r = Reshape(%x, %s) {special_zero=false} : u8[4,6]" Q
    "%y = ScatterUpdate(%r, %i, %v, %a) : u8[4,6]" Q "Result(%y)\n" },
  { "nearest", "resize", X (12, 7, 5) POOL (12, 7, 5) "%s = Const {14, 10} : i64[2]\n%a = Const {2, 3} : i64[2]\n%y = Interpolate(%p, %s, %a)"
    " {mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=asymmetric, nearest_mode=floor} : u8[2,12,14,10]" Q "Result(%y)\n" },
  { "nearest-odd", "resize", "%x = Parameter : i8[1,70,7,5]" Q "%s = Const {17, 3} : i64[2]\n%a = Const {2, 3} : i64[2]\n%y = Interpolate(%x, %s, %a)"
    " {mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel} : i8[1,70,17,3]" Q "Result(%y)\n" },
  { "concat", "concat", X (5, 7, 9) POOL (5, 7, 9) "%z = Parameter : u8[2,40,7,9]" Q
    "%y = Concat(%p, %z, %p) {axis=1} : u8[2,50,7,9]" Q "Result(%y)\nResult(%p)\n" },
  { "concat-many", "concat", X (5, 7, 9) POOL (5, 7, 9)
    "%y = Concat(%p, %x, %p, %x, %p, %x, %p, %x, %p, %x, %p, %x, %p) {axis=1} : u8[2,65,7,9]" Q "Result(%y)\nResult(%p)\n" },
  { "concat-rows", "concat", "%x = Parameter : u8[1,5,7,9]" Q "%p = MaxPool(%x) {kernel=[2,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]}"
    " : u8[1,5,6,9]" Q "%q = MaxPool(%x) {kernel=[3,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : u8[1,5,5,9]" Q
    "%y = Concat(%q, %p, %q) {axis=2} : u8[1,5,16,9]" Q "%z = Concat(%y, %x) {axis=2} : u8[1,5,23,9]" Q
    "%d = Dequantize(%q) : f32[1,5,5,9]\nResult(%z)\nResult(%d)\n" },
  { "concat-heads", "concat", "%x = Parameter : u8[1,6,7,9]" Q "%p = MaxPool(%x) {kernel=[2,1], strides=[2,2], pads_begin=[0,0], pads_end=[0,0]}"
    " : u8[1,6,3,5]" Q "%q = MaxPool(%x) {kernel=[1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : u8[1,6,7,9]" Q
    "%o = Const {0, 2, 3, 1} : i64[4]\n%s = Const {1, -1, 2} : i64[3]\n%t = Transpose(%p, %o) : u8[1,3,5,6]" Q
    "%u = Transpose(%q, %o) : u8[1,7,9,6]" Q "%v = Reshape(%t, %s) {special_zero=false} : u8[1,45,2]" Q
    "%w = Reshape(%u, %s) {special_zero=false} : u8[1,189,2]" Q "%y = Concat(%v, %w) {axis=1} : u8[1,234,2]" Q
    "%d = Dequantize(%y) : f32[1,234,2]\nResult(%d)\n" },
};

static LptTensor *
random_tensor (LptValue *value,
               GRand    *rand)
{
  g_autofree double *values = NULL;
  gint64 count, i;

  g_assert_true (lpt_shape_count (&value->shape, &count));
  values = g_new (double, MAX (count, 1));
  for (i = 0; i < count; i++)
    values[i] = lpt_dtype_is_real (value->dtype) ? g_rand_double_range (rand, -3, 3)
                : g_rand_int_range (rand, (gint32) lpt_dtype_min (value->dtype), (gint32) lpt_dtype_max (value->dtype) + 1);

  return lpt_tensor_from_f64 (value->dtype, &value->shape, values, NULL);
}

/* Outputs of two runs: the second finds the memory of the first. @kernel: whether one whose name begins so ran. */
static GPtrArray *
run (LptGraph   *graph,
     guint       flags,
     guint       threads,
     GPtrArray  *inputs,
     const char *kernel,
     gboolean   *found)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags | (kernel != NULL ? LPT_PLAN_PROFILE : 0), &error);
  g_autoptr (LptPlanContext) context = NULL;
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  const LptProfileRow *rows;
  guint i, n, round;

  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, threads, &error);
  g_assert_no_error (error);
  for (i = 0; i < inputs->len; i++)
    g_assert_true (lpt_plan_context_set_input (context, i, g_ptr_array_index (inputs, i), &error));
  for (round = 0; round < 2; round++)
    g_assert_true (lpt_plan_run (plan, context, &error));
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    g_ptr_array_add (outputs, lpt_plan_context_output (context, i, &error));
  rows = lpt_plan_context_profile (context, &n);
  for (i = 0; i < n && kernel != NULL; i++)
    *found |= rows[i].kernel != NULL && g_str_has_prefix (rows[i].kernel, kernel);

  return outputs;
}

static void
test_graph (gconstpointer data)
{
  const Case *c = data;
  LptMode mode;
  guint i, k, threads;

  for (mode = 0; mode < LPT_N_MODES; mode++)
    {
      g_autofree char *text = g_strconcat ("graph {lowered=true, requant=\"", lpt_mode_name (mode), "\"}\n", c->graph, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, c->name, &error);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
      g_autoptr (GPtrArray) expected = NULL;
      g_autoptr (GRand) rand = g_rand_new_with_seed (7 + mode);

      g_assert_no_error (error);
      for (i = 0; i < graph->parameters->len; i++)
        g_ptr_array_add (inputs, random_tensor (lpt_node_out (g_ptr_array_index (graph->parameters, i)), rand));
      expected = run (graph, LPT_PLAN_REFERENCE, 1, inputs, NULL, NULL);
      for (k = 0; lpt_cpu_level_at (k) != NULL; k++)
        for (threads = 1; threads <= (mode == LPT_MODE_SINGLE ? 2 : 1); threads++)
          {
            gboolean found = FALSE;
            g_autoptr (GPtrArray) outputs = NULL;

            g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
            outputs = run (graph, 0, threads, inputs, mode == LPT_MODE_SINGLE ? c->kernel : NULL, &found);
            g_assert_true (found || mode != LPT_MODE_SINGLE || c->kernel == NULL);
            for (i = 0; i < outputs->len; i++)
              if (!lpt_tensor_equal (g_ptr_array_index (outputs, i), g_ptr_array_index (expected, i)))
                g_error ("output %u differs in mode %s at level %s with %u threads", i, lpt_mode_name (mode), lpt_cpu_level_at (k), threads);
          }
    }
  g_unsetenv ("LPT_CPU");
}

int
main (int argc, char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat ("/fast-ops/", cases[i].name, NULL);

      g_test_add_data_func (name, &cases[i], test_graph);
    }

  return g_test_run ();
}
