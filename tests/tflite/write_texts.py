"""TEXTS: graphs that the file has other operators for, or in other shapes; test-tflite-write.py writes and runs them.

SPDX-License-Identifier: Apache-2.0
"""

TEXTS = {
    "batch normalisation behind a convolution": """
%x = Parameter : f32[1,2,5,5]
%w = Const {0.5,-1,2,0.25,1,1,-0.5,3} : f32[4,2,1,1]
%c = Convolution(%x, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,4,5,5]
%g = Const {1,2,0.5,-1} : f32[4]
%b = Const {0,1,-1,0.5} : f32[4]
%m = Const {0.1,0.2,0.3,0.4} : f32[4]
%v = Const {1,2,3,4} : f32[4]
%n = BatchNormInference(%c, %g, %b, %m, %v) {epsilon=0.001} : f32[1,4,5,5]
Result(%n) {output="y"}""",
    "orders of more than five axes": """
%x = Parameter : f32[2,3,2,2,3,2,2]
%o = Const {0,2,4,1,3,5,6} : i64[7]
%p = Const {6,4,2,0,5,3,1} : i64[7]
%q = Const {0,1,3,5,2,4,6} : i64[7]
%a = Transpose(%x, %o) : f32[2,2,3,3,2,2,2]
%b = Transpose(%x, %p) : f32[2,3,2,2,2,2,3]
%c = Transpose(%x, %q) : f32[2,3,2,2,2,3,2]
Result(%a) {output="a"}
Result(%b) {output="b"}
Result(%c) {output="c"}""",
    "products of more than two batch axes": """
%x = Parameter : f32[2,3,2,4,5]
%zero = Const {0} : i64[1]
%one = Const {1} : i64[1]
%two = Const {2} : i64[1]
%all = Const {1,2,2,3,2,4,5} : i64[7]
%c = Slice(%x, %zero, %one, %one, %one) : f32[2,1,2,4,5]
%h = Slice(%x, %zero, %one, %one, %zero) : f32[1,3,2,4,5]
%d = Slice(%h, %one, %two, %one, %two) : f32[1,3,1,4,5]
%e = Broadcast(%x, %all) {mode=bidirectional} : f32[1,2,2,3,2,4,5]
%k = Const {1,-2,0.5,3,-1,2,0.25,1,-0.5,4,-3,0.125,2,1,-1} : f32[1,1,1,5,3]
%q = MatMul(%x, %c) {transpose_b=true} : f32[2,3,2,4,4]
%r = MatMul(%c, %d) {transpose_a=true} : f32[2,3,2,5,5]
%s = MatMul(%e, %c) {transpose_b=true} : f32[1,2,2,3,2,4,4]
%t = MatMul(%x, %k) : f32[2,3,2,4,3]
Result(%q) {output="q"}
Result(%r) {output="r"}
Result(%s) {output="s"}
Result(%t) {output="t"}""",
    "products of codes with more than two batch axes": """ {lowered=true, requant="litert"}
%x = Parameter : f32[1,2,3,4,5]
%xq = Quantize(%x) : i8[1,2,3,4,5] q{scale=0.02, zp=3}
%bq = Quantize(%x) : i8[1,2,3,4,5] q{scale=0.03}
%p = MatMul(%xq, %bq) {transpose_b=true, bias_rest=[0.25,0.5,0,-0.25]} #{relaxed} : i8[1,2,3,4,4] q{scale=0.05, zp=-7}
%y = Dequantize(%p) : f32[1,2,3,4,4]
Result(%y) {output="y"}""",
    "data rounded at run time, weights with a scale for each row": """ {lowered=true, requant="litert"}
%x = Parameter : f32[3,2,4]
%w = Const {1,-127,3,64,100,-5,7,9,-100,50,2,-1} : i8[3,4] q{axis=0, scale=[0.01,0.5,2]}
%r = Dequantize(%w) : f32[3,4]
%a = DynamicFakeQuantize(%x) {symmetric=false} : f32[3,2,4]
%p = MatMul(%a, %r) {transpose_b=true} : f32[3,2,3]
%b = Const {1,-2,0.5} : f32[3]
%s = Add(%p, %b) : f32[3,2,3]
%v = Const {1,-127,3,64,100,-5,7,9} : i8[4,2] q{axis=1, scale=[0.02,3]}
%t = Dequantize(%v) : f32[4,2]
%c = DynamicFakeQuantize(%x) : f32[3,2,4]
%q = MatMul(%c, %t) : f32[3,2,2]
%z = Relu(%q) : f32[3,2,2]
Result(%s) {output="y"}
Result(%z) {output="z"}""",
    "batch normalisation alone": """
%x = Parameter : f32[2,3,4]
%g = Const {1,2,0.5} : f32[3]
%b = Const {0,1,-1} : f32[3]
%m = Const {0.1,0.2,0.3} : f32[3]
%v = Const {1,2,3} : f32[3]
%n = BatchNormInference(%x, %g, %b, %m, %v) {epsilon=0.001} : f32[2,3,4]
Result(%n) {output="y"}""",
    "weights that follow from constants": """
%x = Parameter : f32[1,2,5,5]
%one = Const {0.5} : f32[1]
%shape = Const {4,2,3,3} : i64[4]
%w = Broadcast(%one, %shape) : f32[4,2,3,3]
%c = Convolution(%x, %w) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} : f32[1,4,5,5]
Result(%c) {output="y"}""",
    "groups along one axis": """
%x = Parameter : f32[2,4,6]
%w = Const {1,-2,3,0.5,-1,2,4,1,-3,2,1,0.25,-0.5,3,1,2} : f32[2,2,2,2]
%b = Const {0.5,-1,2,3} : f32[1,4,1]
%c = GroupConvolution(%x, %w) {strides=[2], pads_begin=[1], pads_end=[1], dilations=[1]} : f32[2,4,4]
%a = Add(%c, %b) : f32[2,4,4]
Result(%a) {output="y"}""",
    "indices that count from the end": """
%x = Parameter : f32[2,3,4]
%i = Const {-1,0,-3} : i64[3]
%a = Const {1} : i64[]
%g = Gather@8(%x, %i, %a) : f32[2,3,4]
Result(%g) {output="y"}""",
    "resizing with a padding of nothing": """
%x = Parameter : f32[1,2,3,4]
%s = Const {2,2} : f32[2]
%a = Const {2,3} : i64[2]
%r = Interpolate@11(%x, %s, %a) {mode=nearest, pads_begin=[0,0,0,0], pads_end=[0,0,0,0], shape_calculation_mode=scales, coordinate_transformation_mode=asymmetric, nearest_mode=floor} : f32[1,2,6,8]
Result(%r) {output="y"}""",
    "several open lengths": """
%x = Parameter : f32[?,?,6]
%s = Const {0,0,2,3} : i64[4]
%r = Reshape(%x, %s) {special_zero=true} : f32[?,?,2,3]
%a = Const {1} : i64[1]
%u = Unsqueeze(%r, %a) : f32[?,1,?,2,3]
%q = Squeeze(%u, %a) : f32[?,?,2,3]
Result(%q) {output="y"}""",
    "an average that leaves out padding": """
%x = Parameter : f32[1,3,6,7]
%p = AvgPool(%x) {kernel=[3,3], strides=[2,2], pads_begin=[1,1], pads_end=[0,1], exclude-pad=true} : f32[1,3,3,4]
Result(%p) {output="y"}""",
    "codes under another quantization, whose zero point is none": """ {lowered=true}
%x = Parameter : f32[1,2,3,4]
%q = Quantize(%x) : u8[1,2,3,4] q{scale=0.05, zp=-3}
%r = Reinterpret(%q) : u8[1,2,3,4] q{scale=0.02, zp=3}
%d = Dequantize(%r) : f32[1,2,3,4]
%s = Reinterpret(%r) : u8[1,2,3,4] q{axis=1, scale=[0.5,2], zp=[1,-7]}
%e = Dequantize(%s) : f32[1,2,3,4]
Result(%d) {output="d"}
Result(%e) {output="e"}""",
    "a transposed convolution that is cut, dilated, longer": """
%x = Parameter : f32[1,2,4,5]
%w = Const {1,2,3,4,5,6,7,8,9,-1,-2,-3,-4,-5,-6,-7,-8,-9} : f32[2,1,3,3]
%a = ConvolutionBackpropData(%x, %w) {strides=[2,2], pads_begin=[1,0], pads_end=[1,1], dilations=[1,1]} : f32[1,1,7,10]
%b = ConvolutionBackpropData(%x, %w) {strides=[1,1], pads_begin=[1,1], pads_end=[0,0], dilations=[2,1]} : f32[1,1,7,6]
%c = ConvolutionBackpropData(%x, %w) {strides=[2,2], pads_begin=[1,1], pads_end=[0,0], dilations=[1,1], output_padding=[1,1]} : f32[1,1,9,11]
Result(%a) {output="a"}
Result(%b) {output="b"}
Result(%c) {output="c"}""",
    "ends of intervals that are lost beside the other one, per channel, of five axes": """
%x = Parameter : f32[1,2,3,4]
%a = Const {-900} : f32[]
%b = Const {-800} : f32[]
%l = Const {9e15} : f32[]
%h = Const {2550} : f32[]
%p = FakeQuantize(%x, %a, %b, %l, %h) {levels=512} : f32[1,2,3,4]
%k = Const {9e15,-5} : f32[1,2,1,1]
%q = FakeQuantize(%x, %a, %b, %k, %h) {levels=512} : f32[1,2,3,4]
%s = Const {1,2,3,1,4} : i64[5]
%r = Reshape(%x, %s) {special_zero=false} : f32[1,2,3,1,4]
%f = FakeQuantize(%r, %a, %b, %l, %h) {levels=512} : f32[1,2,3,1,4]
Result(%p) {output="p"}
Result(%q) {output="q"}
Result(%f) {output="f"}""",
}
