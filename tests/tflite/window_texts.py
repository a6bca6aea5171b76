"""Graphs whose lengths a run computes, and pools with gaps, for test-tflite-write.py.

SPDX-License-Identifier: Apache-2.0
"""

WINDOWS = {
    "computed lengths of an image, a computed order of axes": """
%x = Parameter : f32[1,2,3,4]
%every = Const {0,1,2,3} : i64[4]
%greatest = ReduceMax(%x, %every)
%up = Ceiling(%greatest)
%one = Convert(%up) {destination_type=i64}
%less = Const {5,6} : i64[2]
%n = Add(%less, %one)
%z = Const {2,3} : i64[2]
%l = Interpolate(%x, %n, %z) {mode=linear_onnx, shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel}
%k = Interpolate(%x, %n, %z) {mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=asymmetric, nearest_mode=floor}
%before = Const {-1,1,2,0} : i64[4]
%order = Add(%before, %one)
%t = Transpose(%x, %order)
Result(%l) {output="l"}
Result(%k) {output="k"}
Result(%t) {output="t"}""",
    "pools with gaps": """
%x = Parameter : f32[1,2,7,8]
%q = Quantize(%x) : i8[1,2,7,8] q{scale=0.01}
%c = MaxPool(%q) {kernel=[2,3], strides=[2,1], pads_begin=[1,2], pads_end=[0,1], dilations=[3,2]} #{relaxed} : i8[1,2,3,7] q{scale=0.01}
%a = AvgPool(%x) {kernel=[2,3], strides=[2,1], pads_begin=[1,2], pads_end=[0,1], dilations=[3,2], exclude-pad=true}
Result(%c) {output="c"}
Result(%a) {output="a"}""",
    "half of open lengths": """
%x = Parameter : f32[1,?,3]
%n = ShapeOf(%x)
%two = Const {2} : i64[]
%h = Divide(%n, %two) {m_pythondiv=true}
%t = Divide(%n, %two) {m_pythondiv=false}
Result(%h) {output="h"}
Result(%t) {output="t"}""",
    "rows of the greatest": """
%x = Parameter : f32[1,24]
%k = Const {7} : i64[]
%v = TopK(%x, %k) {axis=1, mode=max, sort=value, index_element_type=i64} : f32[1,7], i64[1,7]
%four = Const {4} : i64[]
%r = Divide(%v.1, %four) {m_pythondiv=false}
Result(%r) {output="r"}""",
}
