/* test-exec-move.c - movement, indexing and generated values in the reference executor
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

static const ExecCase cases[] =
{
  { "reshape-special-zero",
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%s = Const {0, -1, 1} : i64[3]\n%y = Reshape(%x, %s) {special_zero=true} : f32[2,3,1]\nResult(%y)\n",
    "1, 2, 3, 4, 5, 6" },
  { "transpose",
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[1,2,3]\n%o = Const {2, 0, 1} : i64[3]\n%e = Const {} : i64[0]\n"
    "%y = Transpose(%x, %o) : f32[3,1,2]\n%r = Transpose(%x, %e) : f32[3,2,1]\nResult(%y)\nResult(%r)\n",
    "1, 4, 2, 5, 3, 6; 1, 4, 2, 5, 3, 6" },
  { "concat-split",
    "%x = Const {1, 2, 3, 4} : f32[2,2]\n%u = Const {7, 8} : f32[2,1]\n%a = Const {-1} : i64[]\n%l = Const {1, -1} : i64[2]\n"
    "%c = Concat(%x, %u) {axis=1} : f32[2,3]\n%s = VariadicSplit(%c, %a, %l) : f32[2,1], f32[2,2]\n"
    "%p = Split(%c, %a) {num_splits=3} : f32[2,1], f32[2,1], f32[2,1]\nResult(%c)\nResult(%s)\nResult(%s.1)\nResult(%p.2)\n",
    "1, 2, 7, 3, 4, 8; 1, 3; 2, 7, 4, 8; 7, 8" },
  { "strided-slice",               /* x[..., 2:0:-1], x[1], x[newaxis, :, 0] */
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%b = Const {0, 2} : i64[2]\n%e = Const {0, 0} : i64[2]\n%s = Const {1, -1} : i64[2]\n"
    "%r = StridedSlice(%x, %b, %e, %s) {begin_mask=[1,0], end_mask=[1,0]} : f32[2,2]\n"
    "%b1 = Const {-1} : i64[1]\n%e1 = Const {0} : i64[1]\n"
    "%k = StridedSlice(%x, %b1, %e1) {begin_mask=[0], end_mask=[0], shrink_axis_mask=[1]} : f32[3]\n"
    "%b3 = Const {0, 0, 0} : i64[3]\n%e3 = Const {0, 0, 1} : i64[3]\n"
    "%n = StridedSlice(%x, %b3, %e3) {begin_mask=[0,1,0], end_mask=[0,1,0], new_axis_mask=[1,0,0], shrink_axis_mask=[0,0,1]} : f32[1,2]\n"
    "%el = StridedSlice(%x, %b1, %e1) {begin_mask=[1], end_mask=[1], ellipsis_mask=[1]} : f32[2,3]\n"
    "Result(%r)\nResult(%k)\nResult(%n)\nResult(%el)\n",
    "3, 2, 6, 5; 4, 5, 6; 1, 4; 1, 2, 3, 4, 5, 6" },
  { "slice-out-of-range",
    "%x = Const {1, 2, 3, 4} : f32[4]\n%b = Const {-100} : i64[1]\n%e = Const {100} : i64[1]\n%s = Const {3} : i64[1]\n%a = Const {0} : i64[1]\n"
    "%y = Slice(%x, %b, %e, %s, %a) : f32[2]\nResult(%y)\n",
    "1, 4" },
  { "pad-modes",
    "%x = Const {1, 2, 3} : f32[3]\n%b = Const {2} : i64[1]\n%e = Const {1} : i64[1]\n%v = Const {9} : f32[]\n%m = Const {-1} : i64[1]\n"
    "%c = Pad(%x, %b, %e, %v) {pad_mode=constant} : f32[6]\n%d = Pad(%x, %b, %e) {pad_mode=edge} : f32[6]\n"
    "%r = Pad(%x, %b, %e) {pad_mode=reflect} : f32[6]\n%s = Pad(%x, %b, %e) {pad_mode=symmetric} : f32[6]\n"
    "%n = Pad(%x, %m, %e, %v) {pad_mode=constant} : f32[3]\n"
    "Result(%c)\nResult(%d)\nResult(%r)\nResult(%s)\nResult(%n)\n",
    "9, 9, 1, 2, 3, 9; 1, 1, 1, 2, 3, 3; 3, 2, 1, 2, 3, 2; 2, 1, 1, 2, 3, 3; 2, 3, 9" },
  { "broadcast-tile",
    "%x = Const {1, 2} : f32[2]\n%s = Const {2, 2} : i64[2]\n%m = Const {0} : i64[1]\n%r = Const {2, 2} : i64[2]\n"
    "%n = Broadcast(%x, %s) : f32[2,2]\n%e = Broadcast(%x, %s, %m) {mode=explicit} : f32[2,2]\n%t = Tile(%x, %r) : f32[2,4]\n"
    "Result(%n)\nResult(%e)\nResult(%t)\n",
    "1, 2, 1, 2; 1, 1, 2, 2; 1, 2, 1, 2, 1, 2, 1, 2" },
  { "gather",
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%i = Const {-1, 0, 1, 1} : i64[2,2]\n%a = Const {1} : i64[]\n"
    "%g = Gather(%x, %i, %a) : f32[2,2,2]\n%b = Gather(%x, %i, %a) {batch_dims=1} : f32[2,2]\n"
    "%e = GatherElements(%x, %i) {axis=1} : f32[2,2]\n%n = Const {1, 2, 0, 0} : i64[2,2]\n%d = GatherND(%x, %n) : f32[2]\n"
    "Result(%g)\nResult(%b)\nResult(%e)\nResult(%d)\n",
    "3, 1, 2, 2, 6, 4, 5, 5; 3, 1, 5, 5; 3, 1, 5, 5; 6, 1" },
  { "gather-lines",                /* repeated along a line and not, of one to eight bytes; a line along the axis */
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%i = Const {1, 1, 1, -2, -2, 0} : i64[2,3]\n%j = Const {2, 0, -1, 1} : i64[2,2]\n"
    "%k = Const {1, 1, 0, 0, 1, 0} : i64[2,3]\n%b = Convert(%x) {destination_type=u8} : u8[2,3]\n"
    "%h = Convert(%x) {destination_type=i16} : i16[2,3]\n"
    "%l = Convert(%x) {destination_type=i64} : i64[2,3]\n%p = GatherElements(%x, %i) {axis=0} : f32[2,3]\n"
    "%q = GatherElements(%x, %j) {axis=1} : f32[2,2]\n%r = GatherElements(%b, %i) {axis=0} : u8[2,3]\n"
    "%s = GatherElements(%h, %k) {axis=0} : i16[2,3]\n%t = GatherElements(%l, %j) {axis=1} : i64[2,2]\n"
    "%c = Convert(%r) {destination_type=f32} : f32[2,3]\n%d = Convert(%s) {destination_type=f32} : f32[2,3]\n"
    "%e = Convert(%t) {destination_type=f32} : f32[2,2]\nResult(%p)\nResult(%q)\nResult(%c)\nResult(%d)\nResult(%e)\n",
    "4, 5, 6, 1, 2, 3; 3, 1, 6, 5; 4, 5, 6, 1, 2, 3; 4, 5, 3, 1, 5, 3; 3, 1, 6, 5" },
  { "scatter",
    "%x = Const {0, 0, 0, 0} : f32[4]\n%i = Const {1, 1, -1} : i64[3]\n%u = Const {5, 6, 7} : f32[3]\n%a = Const {0} : i64[]\n"
    "%s = ScatterUpdate(%x, %i, %u, %a) : f32[4]\n%e = ScatterElementsUpdate(%x, %i, %u, %a) {reduction=sum} : f32[4]\n"
    "%m = ScatterElementsUpdate(%x, %i, %u, %a) {reduction=mean, use_init_val=false} : f32[4]\n"
    "%j = Const {1, 1, 3} : i64[3,1]\n%n = ScatterNDUpdate(%x, %j, %u) {reduction=max} : f32[4]\n"
    "Result(%s)\nResult(%e)\nResult(%m)\nResult(%n)\n",
    "0, 6, 0, 7; 0, 11, 0, 7; 0, 5.5, 0, 7; 0, 6, 0, 7" },
  { "scatter-sums",                /* rows, of which two fall on one; a column of fewer rows, along both axes */
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[3,2]\n%i = Const {2, 0, -1, 2, 0, 2} : i64[3,2]\n"
    "%u = Const {10, 20, 30, 40, 50, 60} : f32[3,2]\n%a = Const {0} : i64[]\n"
    "%r = ScatterElementsUpdate(%x, %i, %u, %a) {reduction=sum} : f32[3,2]\n"
    "%n = ScatterElementsUpdate(%x, %i, %u, %a) {reduction=sum, use_init_val=false} : f32[3,2]\n"
    "%j = Const {1, 0} : i64[2,1]\n%v = Const {7, 8} : f32[2,1]\n%b = Const {1} : i64[]\n"
    "%c = ScatterElementsUpdate(%x, %j, %v, %b) {reduction=sum} : f32[3,2]\n"
    "%d = ScatterElementsUpdate(%x, %j, %v, %a) {reduction=sum} : f32[3,2]\n"
    "Result(%r)\nResult(%n)\nResult(%c)\nResult(%d)\n",
    "51, 22, 3, 4, 45, 106; 50, 20, 3, 4, 40, 100; 1, 9, 11, 4, 5, 6; 9, 2, 10, 4, 5, 6" },
  { "depth-and-space",
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8} : f32[1,8,1,1]\n"
    "%b = DepthToSpace(%x) {block_size=2, mode=blocks_first} : f32[1,2,2,2]\n"
    "%d = DepthToSpace(%x) {block_size=2, mode=depth_first} : f32[1,2,2,2]\n"
    "%r = SpaceToDepth(%b) {block_size=2, mode=blocks_first} : f32[1,8,1,1]\n%s = ShuffleChannels(%x) {axis=1, group=2} : f32[1,8,1,1]\n"
    "Result(%b)\nResult(%d)\nResult(%r)\nResult(%s)\n",
    "1, 3, 5, 7, 2, 4, 6, 8; 1, 2, 3, 4, 5, 6, 7, 8; 1, 2, 3, 4, 5, 6, 7, 8; 1, 5, 2, 6, 3, 7, 4, 8" },
  { "batch-and-space",
    "%x = Const {1, 2, 3, 4} : f32[1,1,4]\n%k = Const {1, 1, 2} : i64[3]\n%p = Const {0, 0, 1} : i64[3]\n"
    "%b = SpaceToBatch(%x, %k, %p, %p) : f32[2,1,3]\n%s = BatchToSpace(%b, %k, %p, %p) : f32[1,1,4]\nResult(%b)\nResult(%s)\n",
    "0, 2, 4, 1, 3, 0; 1, 2, 3, 4" },
  { "reverse-and-roll",
    "%x = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%a = Const {1} : i64[1]\n%l = Const {2, 3} : i64[2]\n%n = Const {-4} : i64[1]\n"
    "%r = Reverse(%x, %a) {mode=index} : f32[2,3]\n%s = ReverseSequence(%x, %l) {batch_axis=0, seq_axis=1} : f32[2,3]\n"
    "%o = Roll(%x, %n, %a) : f32[2,3]\nResult(%r)\nResult(%s)\nResult(%o)\n",
    "3, 2, 1, 6, 5, 4; 2, 1, 3, 6, 5, 4; 2, 3, 1, 5, 6, 4" },
  { "gather-tree",                 /* beams followed back from step 3 of 4 */
    "%s = Const {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -1, -1} : i32[4,1,3]\n%p = Const {0, 0, 0, 0, 1, 1, 2, 1, 2, -1, -1, -1} : i32[4,1,3]\n"
    "%l = Const {3} : i32[1]\n%e = Const {10} : i32[]\n%y = GatherTree(%s, %p, %l, %e) : i32[4,1,3]\nResult(%y)\n",
    "2, 2, 2, 6, 5, 6, 7, 8, 9, 10, 10, 10" },
  { "image-patches",
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9} : f32[1,1,3,3]\n"
    "%y = ExtractImagePatches(%x) {sizes=[2,2], strides=[1,1], rates=[1,1], auto_pad=valid} : f32[1,4,2,2]\nResult(%y)\n",
    "1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9" },
  { "random-numbers-repeat",       /* two nodes with one seed agree; all lie in the interval */
    "%n = Const {1000} : i64[1]\n%l = Const {-1} : f32[]\n%h = Const {3} : f32[]\n"
    "%a = RandomUniform(%n, %l, %h) {output_type=f32, global_seed=7, op_seed=1} : f32[1000]\n"
    "%b = RandomUniform(%n, %l, %h) {output_type=f32, global_seed=7, op_seed=1} : f32[1000]\n"
    "%c = RandomUniform(%n, %l, %h) {output_type=f32, global_seed=7, op_seed=2} : f32[1000]\n%z = Const {0} : i64[1]\n"
    "%e = Equal(%a, %b) : boolean[1000]\n%d = NotEqual(%a, %c) : boolean[1000]\n%el = ReduceLogicalAnd(%e, %z) : boolean[]\n"
    "%dl = ReduceLogicalOr(%d, %z) : boolean[]\n%i = Clamp(%a) {min=-1, max=3} : f32[1000]\n%s = Equal(%i, %a) : boolean[1000]\n"
    "%sl = ReduceLogicalAnd(%s, %z) : boolean[]\n%m = ReduceMean(%a, %z) : f32[]\n%r = Round(%m) : f32[]\n"
    "Result(%el)\nResult(%dl)\nResult(%sl)\nResult(%r)\n",
    "1; 1; 1; 1" },
  { "random-words",                /* Philox of 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8, the lower 23 bits */
    "%n = Const {4} : i64[1]\n%l = Const {0} : f32[]\n%h = Const {8388608} : f32[]\n"
    "%a = RandomUniform(%n, %l, %h) {output_type=f32} : f32[4]\nResult(%a)\n",
    "2615509, 6931853, 5745740, 56280" },
  { "data-decides-the-shape",      /* NonZero, then ops that learn the length as they run */
    "%x = Const {0, 3, 0, 5} : f32[2,2]\n%z = NonZero(%x) : i64[2,?]\n%t = Const {1, 0} : i64[2]\n%i = Transpose(%z, %t) : i64[?,2]\n"
    "%g = GatherND(%x, %i) : f32[?]\n%s = ShapeOf(%g) : i64[1]\n%o = Const {2} : f32[]\n%m = Multiply(%g, %o) : f32[?]\n"
    "Result(%z)\nResult(%m)\nResult(%s)\n",
    "0, 1, 1, 1; 6, 10; 2" },
  { "range-one-hot-eye-bucketize",
    "%b = Const {5} : i64[]\n%e = Const {0} : i64[]\n%s = Const {-2} : i64[]\n%r = Range(%b, %e, %s) {output_type=i64} : i64[3]\n"
    "%d = Const {3} : i64[]\n%on = Const {1} : f32[]\n%off = Const {-1} : f32[]\n%i = Const {2, 0} : i64[2]\n"
    "%h = OneHot(%i, %d, %on, %off) {axis=-1} : f32[2,3]\n%one = Const {1} : i64[]\n%y = Eye(%d, %d, %one) {output_type=f32} : f32[3,3]\n"
    "%v = Const {1, 2, 9} : f32[3]\n%k = Const {1, 2} : f32[2]\n%u = Bucketize(%v, %k) : i64[3]\n"
    "%w = Bucketize(%v, %k) {with_right_bound=false} : i64[3]\nResult(%r)\nResult(%h)\nResult(%y)\nResult(%u)\nResult(%w)\n",
    "5, 3, 1; -1, -1, 1, 1, -1, -1; 0, 1, 0, 0, 0, 1, 0, 0, 0; 0, 1, 2; 1, 2, 2" },
  { "bucketize-any-order",         /* how many bounds are below, whatever their order; none is below NaN */
    "%v = Const {-2, 0, 2, nan} : f32[4]\n%k = Const {1, 0, -1} : f32[3]\n%u = Bucketize(%v, %k) : i64[4]\n"
    "%w = Bucketize(%v, %k) {with_right_bound=false} : i64[4]\n%n = Const {-1, nan, 1} : f32[3]\n"
    "%x = Bucketize(%v, %n) : i64[4]\nResult(%u)\nResult(%w)\nResult(%x)\n",
    "0, 1, 3, 0; 0, 2, 3, 0; 0, 1, 2, 0" },

  /* --- sampling --- */
  { "interpolate-nearest",         /* centres at -0.25, 0.25, 0.75, 1.25; at 0.5, 2.5 the modes differ */
    "%x = Const {1, 2} : f32[1,1,2]\n%s = Const {4} : i64[1]\n%a = Const {2} : i64[1]\n"
    "%h = Interpolate(%x, %s, %a) {mode=nearest, shape_calculation_mode=sizes} : f32[1,1,4]\n"
    "%u = Const {1, 2, 3, 4} : f32[1,1,4]\n%t = Const {2} : i64[1]\n"
    "%f = Interpolate(%u, %t, %a) {mode=nearest, shape_calculation_mode=sizes, nearest_mode=round_prefer_floor} : f32[1,1,2]\n"
    "%c = Interpolate(%u, %t, %a) {mode=nearest, shape_calculation_mode=sizes, nearest_mode=round_prefer_ceil} : f32[1,1,2]\n"
    "Result(%h)\nResult(%f)\nResult(%c)\n",
    "1, 1, 2, 2; 1, 3; 2, 4" },
  { "interpolate-linear",
    "%x = Const {0, 4} : f32[1,1,2]\n%s = Const {4} : i64[1]\n%a = Const {2} : i64[1]\n"
    "%h = Interpolate(%x, %s, %a) {mode=linear_onnx, shape_calculation_mode=sizes} : f32[1,1,4]\n"
    "%s3 = Const {3} : i64[1]\n"
    "%c = Interpolate(%x, %s3, %a) {mode=linear_onnx, shape_calculation_mode=sizes, coordinate_transformation_mode=align_corners} : f32[1,1,3]\n"
    "%u = Const {0, 1, 2, 3} : f32[1,1,4]\n%t = Const {2} : i64[1]\n"
    "%l = Interpolate(%u, %t, %a) {mode=linear, shape_calculation_mode=sizes, antialias=true} : f32[1,1,2]\n"
    "Result(%h)\nResult(%c)\nResult(%l)\n",
    "0, 1, 3, 4; 0, 2, 4; 0.714285714, 2.28571429", 1e-6 },   /* weights 3/4 3/4 1/4 of 0, 1, 2, over 7/4 */
  { "interpolate-cubic",
    "%x = Const {1, 2, 4, 8} : f32[1,1,4]\n%s = Const {8} : i64[1]\n%a = Const {2} : i64[1]\n"
    "%y = Interpolate(%x, %s, %a) {mode=cubic, shape_calculation_mode=sizes} : f32[1,1,8]\nResult(%y)\n",
    "0.89453125, 1.15625, 1.5625, 2.41796875, 3.16015625, 5.1171875, 7.1640625, 8.421875", 1e-6 },
  { "interpolate-opset1-and-pads",
    "%x = Const {1, 3} : f32[1,1,2]\n%s = Const {4} : i64[1]\n"
    "%y = Interpolate@1(%x, %s) {mode=linear, axes=[2], align_corners=false} : f32[1,1,4]\n"
    "%n = Interpolate@1(%x, %s) {mode=nearest, axes=[2], align_corners=false} : f32[1,1,4]\n"
    "%f = Const {1} : f32[1]\n%a = Const {2} : i64[1]\n%z = Const {4} : i64[1]\n"
    "%p = Interpolate@4(%x, %z, %f, %a) {mode=nearest, shape_calculation_mode=sizes, pads_begin=[0,0,1], pads_end=[0,0,1]} : f32[1,1,4]\n"
    "Result(%y)\nResult(%n)\nResult(%p)\n",
    "1, 1.5, 2.5, 3; 1, 1, 3, 3; 0, 1, 3, 0" },
  { "grid-sample",
    "%x = Const {1, 2, 3, 4} : f32[1,1,2,2]\n%g = Const {0, 0, -1, -1, 2, 0} : f32[1,1,3,2]\n"
    "%z = GridSample(%x, %g) {align_corners=true} : f32[1,1,1,3]\n%b = GridSample(%x, %g) {align_corners=true, padding_mode=border} : f32[1,1,1,3]\n"
    "Result(%z)\nResult(%b)\n",
    "2.5, 1, 1.5; 2.5, 1, 3" },    /* x = 1.5: half of the mean of 2 and 4 is outside */
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  exec_cases_add ("move", cases, G_N_ELEMENTS (cases));

  return g_test_run ();
}
