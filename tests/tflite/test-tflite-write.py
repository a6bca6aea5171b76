#!/usr/bin/python3
"""Models written as .tflite: equal here and in TensorFlow Lite, and to what was read.

test-tflite-write.py LPTC REWRITE SHARED; REWRITE is rewrite-tflite. With $TFLITE_LIB (libtensorflowlite_c.so 2.9) its results are
compared, too. Prints TAP; without numpy or SHARED/models it is skipped.

- A .tflite that nobody changed is written as it is, byte for byte.
- Written from its nodes it gives the same bytes: single operators of cases.py, whole networks, constants behind the FlatBuffer.
- ONNX and OpenVINO IR, float and with Q/DQ: integers bit for bit, floats within 1e-5, no TRANSPOSE between convolutions.

SPDX-License-Identifier: Apache-2.0
"""
import filecmp
import os
import subprocess
import sys
import tempfile

from numpy_or_skip import np
from cases import cases
from peer import describe, difference, load_library, own, peer
from tfl import operators
from window_texts import WINDOWS
from write_texts import TEXTS

# Known to differ: 2.9 finds nothing in 16 bits; UNPACK of booleans becomes a SPLIT, which 2.9 has not for them.
KNOWN = {"WHERE/i16/0", "UNPACK/bool/0"}

NETWORKS = """tflite-audio-model-float tflite-automl-labeler-quant tflite-conformer tflite-coral-head-layers tflite-deeplabv3
tflite-deeplabv3-dm05-quant tflite-dtln tflite-esphome-hey-jarvis-v1 tflite-esphome-okay-nabu tflite-kwt1 tflite-litert-ff
tflite-mcunet-vww tflite-mlperf-tiny tflite-mnist-lenet-300-100 tflite-mobilenet-v1-025-224 tflite-mobilenet-v1-05-160-quant
tflite-mnist-lstm-float tflite-mobilenet-v2-ptq tflite-movie-review tflite-resnet-large-cifar10 tflite-split-concat tflite-str-ww""".split()

# Others as .tflite, and how many TRANSPOSE they may have: at the borders and before a flattening Reshape.
OTHERS = [
    ("onnx-qdq-ultraface-rfb320/model.onnx", 9), ("onnx-qdq-ultraface-rfb320/fp32.onnx", 9), ("onnx-qdq-ultraface-slim320/model.onnx", 9),
    ("onnx-fp32-mnist-cntk/mnist.onnx", 2), ("onnx-qdq-mnist/fp32.onnx", 2), ("ir-open-closed-eye-0001/open-closed-eye.onnx", 2),
    ("ir-fp16-squeezenet1.1/squeezenet1.1_224.onnx", 2), ("onnx-dynquant-mnist-mlp/model.onnx", 0), ("onnx-dynquant-mnist-mlp/model_quantized.onnx", 0),
]

# Operators that the file has.
HAVE = {"data rounded at run time, weights with a scale for each row": {"FULLY_CONNECTED", "MUL"}}

TEXTS.update(WINDOWS)
TEXTS.update({
    "transposed convolutions: more padding than SAME has, computed weights, groups, one axis": """
%x = Parameter : f32[1,2,3,3]
%w = Const {1,2,3,4,5,6,7,8,9,-1,-2,-3,-4,-5,-6,-7,-8,-9} : f32[2,1,3,3]
%a = ConvolutionBackpropData(%x, %w) {strides=[3,2], pads_begin=[1,2], pads_end=[1,2], dilations=[1,1]} : f32[1,1,7,3]
%v = Multiply(%x, %x) : f32[1,2,3,3]
%s = Const {2,1,3,3} : i64[4]
%u = Reshape(%v, %s) {special_zero=false} : f32[2,1,3,3]
%b = ConvolutionBackpropData(%x, %u) {strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} : f32[1,1,5,5]
%g = Const {1,2,3,4,5,6,7,8,9,-1,-2,-3,-4,-5,-6,-7,-8,-9} : f32[2,1,1,3,3]
%c = GroupConvolutionBackpropData(%x, %g) {strides=[2,2], pads_begin=[1,1], pads_end=[0,0], dilations=[1,1]} : f32[1,2,6,6]
%t = Const {1,2,9} : i64[3]
%l = Reshape(%x, %t) {special_zero=false} : f32[1,2,9]
%k = Const {1,2,3,-1,-2,-3} : f32[2,1,3]
%d = ConvolutionBackpropData(%l, %k) {strides=[2], pads_begin=[1], pads_end=[1], dilations=[1]} : f32[1,1,17]
Result(%a) {output="a"}
Result(%b) {output="b"}
Result(%c) {output="c"}
Result(%d) {output="d"}""",
    "computed weights": """
%x = Parameter : f32[1,2,4,4]
%s = Const {2,2,2,4} : i64[4]
%w = Reshape(%x, %s) {special_zero=false} : f32[2,2,2,4]
%a = Convolution(%x, %w) {strides=[1,1], pads_begin=[0,1], pads_end=[1,2], dilations=[1,1]} : f32[1,2,4,4]
%t = Const {2,1,1,4,4} : i64[5]
%g = Reshape(%x, %t) {special_zero=false} : f32[2,1,1,4,4]
%b = GroupConvolution(%x, %g) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,2,1,1]
Result(%a) {output="a"}
Result(%b) {output="b"}""",
    "a batch normalisation with computed numbers, codes of a computed interval, the last of equal ones": """
%x = Parameter : f32[2,3,4,4]
%z = Const {0,2,3} : i64[3]
%m = ReduceMean(%x, %z) : f32[3]
%g = Const {1,2,-1} : f32[3]
%v = Exp(%m) : f32[3]
%n = BatchNormInference(%x, %g, %g, %m, %v) {epsilon=0.001} : f32[2,3,4,4]
%q = DynamicQuantize(%n) : u8[2,3,4,4], f32[], u8[]
%a = ArgMax(%q) {axis=1, last_index=true} : i64[2,1,4,4]
Result(%n) {output="n"}
Result(%q) {output="q"}
Result(%q.1) {output="s"}
Result(%q.2) {output="z"}
Result(%a) {output="a"}""",
})

# Bodies.
TEXTS.update({
    "a loop over slices, backwards, with its trip": """
%x = Parameter : f32[6,2,4]
%n = Const {-1} : i64[]
%go = Const {true} : boolean[]
%s = Const {1,2,3,4,5,6,7,8} : f32[1,2,4]
%l = Loop(%n, %go, %x, %s) : f32[3,2,4], f32[1,2,4], f32[6,2,4], f32[2,2,4] {
  body {
    in 2 -> 1 axis=0 start=-1 end=0 stride=-2 part=2
    in _ -> 0 iteration
    in 3 -> 2
    out _ <- 0 condition
    out 0 <- 1 axis=0
    out 1 <- 1
    out 2 <- 2 axis=0 start=-1 end=0 stride=-2 part=2
    out 3 <- 2
    back 1 -> 2
    %i = Parameter : i64[]
    %p = Parameter : f32[2,2,4]
    %h = Parameter : f32[1,2,4]
    %t = Const {true} : boolean[]
    %a = Const {0} : i64[1]
    %m = ReduceMean(%p, %a) {keep_dims=true} : f32[1,2,4]
    %f = Convert(%i) {destination_type=f32} : f32[]
    %g = Multiply(%h, %f) : f32[1,2,4]
    %y = Add(%m, %g) : f32[1,2,4]
    %z = Subtract(%p, %h) : f32[2,2,4]
    Result(%t)
    Result(%y)
    Result(%z)
  }
}
Result(%l) {output="joined"}
Result(%l.1) {output="last"}
Result(%l.2) {output="parts"}
Result(%l.3) {output="part"}""",
    "a loop with a condition, and one whose trips are computed": """
%x = Parameter : f32[2,3]
%m = Const {100} : i64[]
%c = Const {true} : boolean[]
%l = Loop(%m, %c, %x) : f32[2,3] {
  body {
    in 2 -> 0
    out _ <- 1 condition
    out 0 <- 0
    back 0 -> 0
    %a = Parameter : f32[2,3]
    %two = Const {2} : f32[]
    %d = Multiply(%a, %two) : f32[2,3]
    %axes = Const {0,1} : i64[2]
    %top = ReduceMax(%d, %axes) : f32[]
    %end = Const {10} : f32[]
    %b = Less(%top, %end) : boolean[]
    Result(%d)
    Result(%b)
  }
}
%axes = Const {0,1} : i64[2]
%big = Const {20} : f32[]
%up = Add(%x, %big) : f32[2,3]
%mean = ReduceMean(%up, %axes) : f32[]
%trips = Convert(%mean) {destination_type=i64} : i64[]
%k = Loop(%trips, %c, %x, %l) : f32[2,3], f32[2,3] {
  body {
    in 2 -> 0
    in 3 -> 1
    out 0 <- 0
    out 1 <- 1
    back 0 -> 0
    back 1 -> 1
    %a = Parameter : f32[2,3]
    %b = Parameter : f32[2,3]
    Result(%b)
    Result(%a)
  }
}
Result(%l) {output="grown"}
Result(%k) {output="one"}
Result(%k.1) {output="other"}""",
    "branches that hand on what they get": """
%x = Parameter : f32[2,3]
%axes = Const {0,1} : i64[2]
%s = ReduceSum(%x, %axes) : f32[]
%zero = Const {0} : f32[]
%c = Less(%s, %zero) : boolean[]
%y = If(%c, %x, %s) : f32[2,3], f32[] {
  body {
    in 1 -> 0
    in 2 -> 1
    out 0 <- 0
    out 1 <- 1
    %a = Parameter : f32[2,3]
    %b = Parameter : f32[]
    %n = Negative(%a) : f32[2,3]
    Result(%n)
    Result(%b)
  }
  body {
    in 1 -> 0
    out 0 <- 0
    out 1 <- 1
    %a = Parameter : f32[2,3]
    %seven = Const {7} : f32[]
    Result(%a)
    Result(%seven)
  }
}
Result(%y) {output="y"}
Result(%y.1) {output="z"}""",
})



def numbers(n, seed):
    return ",".join("%.3f" % v for v in np.random.RandomState(seed).uniform(-1, 1, n))


def recurrent(kind, gates, directions, way, more="", bias_gates=None, units=4, codes=False):
    """A sequence of five steps of [2, 3], beside the same network's cell on the first step."""
    states = 2 if kind == "LSTM" else 1
    text = "\n%x = Parameter : f32[2,5,3]\n%n = Const {5,5} : i64[2]\n"
    shapes = [("h", [2, directions, units]), ("c", [2, directions, units]), ("w", [directions, gates * units, 3]), ("r", [directions, gates * units, units]), ("b", [directions, (bias_gates or gates) * units])]
    for seed, (name, shape) in enumerate(shapes):
        dims, n = ",".join(map(str, shape)), int(np.prod(shape))
        if codes and name in "wr":
            values = ",".join(map(str, np.random.RandomState(seed).randint(-127, 128, n)))
            text += "%%%s8 = Const {%s} : i8[%s]\n%%%s = Reinterpret(%%%s8) : i8[%s] q{scale=0.0078125}\n" % (name, values, dims, name, name, dims)
        else:
            text += "%%%s = Const {%s} : f32[%s]\n" % (name, numbers(n, seed), dims)
    text = " {lowered=true}" + text if codes else text
    names = "%h, %c" if states == 2 else "%h"
    outs = ["f32[2,%d,5,%d]" % (directions, units)] + ["f32[2,%d,%d]" % (directions, units)] * states
    text += "%%y = %sSequence(%%x, %s, %%n, %%w, %%r, %%b) {hidden_size=%d, direction=%s%s} : %s\n" % (kind, names, units, way, more, ", ".join(outs))
    text += "".join("Result(%%y%s) {output=\"o%d\"}\n" % (".%d" % o if o else "", o) for o in range(1 + states))
    if directions == 1:
        flat = [("hc", "h", [2, units]), ("cc", "c", [2, units]), ("wc", "w", [gates * units, 3]), ("rc", "r", [gates * units, units]), ("bc", "b", [(bias_gates or gates) * units])]
        for name, of, shape in flat:
            text += "%%%ss = Const {%s} : i64[%d]\n%%%s = Reshape(%%%s, %%%ss) {special_zero=false} : f32[%s]\n" % (
                name, ",".join(map(str, shape)), len(shape), name, of, name, ",".join(map(str, shape)))
        text += "%z = Const {0} : i64[]\n%a = Const {1} : i64[]\n%x0 = Gather@8(%x, %z, %a) : f32[2,3]\n"
        text += "%%k = %sCell(%%x0, %s, %%wc, %%rc, %%bc) {hidden_size=%d%s} : %s\n" % (
            kind, "%hc, %cc" if states == 2 else "%hc", units, more, ", ".join(["f32[2,%d]" % units] * states))
        text += "Result(%k)\n"
    return text


TEXTS.update({
    "LSTM": recurrent("LSTM", 4, 1, "forward"), "LSTM backwards, clipped": recurrent("LSTM", 4, 1, "reverse", ", clip=0.4"),
    "LSTM both ways": recurrent("LSTM", 4, 2, "bidirectional"),
    "LSTM both ways, weights of many units": recurrent("LSTM", 4, 2, "bidirectional", units=96),
    "LSTM both ways, weights of 8 bits": recurrent("LSTM", 4, 2, "bidirectional", codes=True),
    "GRU": recurrent("GRU", 3, 1, "forward"),
    "GRU both ways, other functions": recurrent("GRU", 3, 2, "bidirectional", ', activations="sigmoid,tanh,sigmoid,relu"'),
    "GRU, reset behind the product": recurrent("GRU", 3, 1, "reverse", ", linear_before_reset=true", 4),
    "Elman network": recurrent("RNN", 1, 1, "forward", ', activations="relu"'),
})

# Nodes that become others: what each line says of %x and what it ends in, from f32[2,3,4,4].
EXPANSIONS = """
%y = Sign(%x) : f32[2,3,4,4]
%y = Round(%x) {mode=half_away_from_zero} : f32[2,3,4,4]
%y = Elu(%x) {alpha=0.3} : f32[2,3,4,4]
%y = SoftSign(%x) : f32[2,3,4,4]
%y = Tan(%x) : f32[2,3,4,4]
%y = Sinh(%x) : f32[2,3,4,4]
%y = Cosh(%x) : f32[2,3,4,4]
%y = Asinh(%x) : f32[2,3,4,4]
%y = Atanh(%x) : f32[2,3,4,4]
%a = Const {0.5} : f32[]; %b = Const {1.2} : f32[]; %y = Selu(%x, %a, %b) : f32[2,3,4,4]
%a = Const {0.3} : f32[]; %y = Mod(%x, %a) : f32[2,3,4,4]
%a = Const {0.3} : f32[]; %b = Less(%x, %a) : boolean[2,3,4,4]; %c = IsNaN(%x) : boolean[2,3,4,4]; %y = LogicalXor(%b, %c) : boolean[2,3,4,4]
%y = IsInf(%x) : boolean[2,3,4,4]
%y = IsFinite(%x) : boolean[2,3,4,4]
%a = Const {1,2} : i64[2]; %y = ReduceL1(%x, %a) {keep_dims=true} : f32[2,1,1,4]
%a = Const {-1} : i64[1]; %y = ReduceL2(%x, %a) {keep_dims=false} : f32[2,3,4]
%a = Const {1,2,3} : f32[3]; %y = GroupNormalization(%x, %a, %a) {num_groups=3, epsilon=0.001} : f32[2,3,4,4]
%a = Const {0,0,1,2} : i64[4]; %b = Const {0,0,2,1} : i64[4]; %y = Pad(%x, %a, %b) {pad_mode=edge} : f32[2,3,7,7]
%a = Const {0,1,-1,2} : i64[4]; %b = Const {0,0,-1,-1} : i64[4]; %c = Const {7} : f32[]; %y = Pad(%x, %a, %b, %c) {pad_mode=constant} : f32[2,4,2,5]
%a = Const {1,-1} : i64[2]; %b = Const {1,3} : i64[2]; %y = Roll(%x, %a, %b) : f32[2,3,4,4]
%k = Const {2} : i64[]; %y = TopK@11(%x, %k) {axis=1, mode=min, sort=value} : f32[2,2,4,4], i32[2,2,4,4]
%i = Const {0,1,2,1,0,1,2,1,2,0,1,2,0,1,0,1,2,2,2,2,1,1,1,1,0,2,0,2,1,2,1,2} : i64[2,1,4,4]; %y = GatherElements(%x, %i) {axis=1} : f32[2,1,4,4]
%i = Const {2,0} : i64[2,1,1,1]; %u = Const {7,8} : f32[2,1,1,1]; %a = Const {1} : i64[]; %y = ScatterElementsUpdate@12(%x, %i, %u, %a) : f32[2,3,4,4]
%i = Const {3,1} : i64[2]; %a = Const {2} : i64[]; %u = Const {VALUES48} : f32[2,3,2,4]; %y = ScatterUpdate(%x, %i, %u, %a) : f32[2,3,4,4]
%i = Const {0,1,1,2} : i64[2,2]; %u = Const {VALUES32} : f32[2,4,4]; %y = ScatterNDUpdate@15(%x, %i, %u) : f32[2,3,4,4]
%i = Const {0,1,0,1} : i64[2,2]; %u = Const {VALUES32} : f32[2,4,4]; %y = ScatterNDUpdate@15(%x, %i, %u) {reduction=sum} : f32[2,3,4,4]
%ab = Clamp(%x) {min=0, max=0}; %sm = ReduceSum(%ab, %ax) {keep_dims=false} : f32[4]; %q = Convert(%sm) {destination_type=i64} : i64[4]; %sh = Const {2,2} : i64[2]; %z = Reshape(%q, %sh) {special_zero=false} : i64[2,2]; %c = Const {-2,-1,1,2} : i64[2,2]; %i = Add(%c, %z) : i64[2,2]; %u = Const {VALUES32} : f32[2,4,4]; %y = ScatterNDUpdate@15(%x, %i, %u) : f32[2,3,4,4]
%m = ReduceMean(%x, %ax) {keep_dims=false} : f32[4]; %w = Const {VALUES12} : f32[4,3]; %y = MatMul(%m, %w) : f32[3]
%k = Const {VALUES96} : f32[2,3,4,4]; %v = Const {VALUES48} : f32[2,3,4,2]; %y = ScaledDotProductAttention(%x, %k, %v) {causal=true} : f32[2,3,4,2]
%s = Const {1,2,3,4,4} : i64[5]; %r = Reshape(%x, %s) {special_zero=false} : f32[1,2,3,4,4]; %y = MaxPool@1(%r) {kernel=[2,2,3], strides=[1,2,1], pads_begin=[1,0,1], pads_end=[0,0,1]} : f32[1,2,3,2,4]
%s = Const {1,2,3,4,4} : i64[5]; %r = Reshape(%x, %s) {special_zero=false} : f32[1,2,3,4,4]; %y = AvgPool@1(%r) {kernel=[2,2,3], strides=[1,2,1], pads_begin=[1,0,1], pads_end=[0,0,1], exclude-pad=true} : f32[1,2,3,2,4]
%s = Const {1,8,3,4} : i64[4]; %r = Reshape(%x, %s) {special_zero=false} : f32[1,8,3,4]; %y = DepthToSpace(%r) {block_size=2, mode=depth_first} : f32[1,2,6,8]
%s = Const {7,5} : i64[2]; %f = Const {1,1} : f32[2]; %a = Const {2,3} : i64[2]; %y = Interpolate@4(%x, %s, %f, %a) {mode=cubic, shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel} : f32[2,3,7,5]
%s = Const {7,5} : i64[2]; %f = Const {1,1} : f32[2]; %a = Const {2,3} : i64[2]; %y = Interpolate@4(%x, %s, %f, %a) {mode=linear_onnx, shape_calculation_mode=sizes, coordinate_transformation_mode=pytorch_half_pixel} : f32[2,3,7,5]
%s = Const {1,6} : i64[2]; %f = Const {1,1} : f32[2]; %a = Const {3,1} : i64[2]; %y = Interpolate@4(%x, %s, %f, %a) {mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel, nearest_mode=ceil} : f32[2,6,4,1]
%f = Const {1.7,0.4} : f32[2]; %a = Const {2,3} : i64[2]; %y = Interpolate@11(%x, %f, %a) {mode=linear_onnx, shape_calculation_mode=scales, coordinate_transformation_mode=half_pixel} : f32[2,3,6,1]
%s = Const {3,2} : i64[2]; %f = Const {1,1} : f32[2]; %a = Const {2,3} : i64[2]; %y = Interpolate@4(%x, %s, %f, %a) {mode=cubic, antialias=true, pads_begin=[0,0,1,0], pads_end=[0,0,2,0], shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel} : f32[2,3,3,2]
%s = Const {1,2,3,4,4} : i64[5]; %r = Reshape(%x, %s) {special_zero=false} : f32[1,2,3,4,4]; %t = Const {5,3,7} : i64[3]; %a = Const {2,3,4} : i64[3]; %y = Interpolate@11(%r, %t, %a) {mode=linear_onnx, shape_calculation_mode=sizes, coordinate_transformation_mode=align_corners} : f32[1,2,5,3,7]
%s = Const {1,2,3,4,4} : i64[5]; %r = Reshape(%x, %s) {special_zero=false} : f32[1,2,3,4,4]; %a = Const {0.3,1,-0.2} : f32[3,1,1]; %y = SquaredDifference(%r, %a) : f32[1,2,3,4,4]
%s = Const {2,3,2,2,4} : i64[5]; %r = Reshape(%x, %s) {special_zero=false} : f32[2,3,2,2,4]; %a = Const {0.3,1,-0.2,2} : f32[2,1,2,1,1]; %b = Const {0,1,-1,0.5} : f32[1,1,1,1,4]; %c = Less(%r, %a) : boolean[2,3,2,2,4]; %y = Select(%c, %a, %b) : f32[2,3,2,2,4]
%a = Const {0,1,2,3} : i64[4]; %m = ReduceMax(%x, %a) : f32[]; %z = Const {1} : i64[]; %i = Convert(%m) {destination_type=i64} : i64[]; %u = Const {0} : i64[1]; %b = Unsqueeze(%i, %u) : i64[1]; %e = Const {3} : i64[1]; %o = Const {1} : i64[1]; %d = Const {2} : i64[1]; %y = Slice(%x, %b, %e, %o, %d) : f32[2,3,?,4]
%z = Const {0.2} : f32[]; %b = Less(%x, %z) : boolean[2,3,4,4]; %y = NonZero(%b) : i64[4,?]
%l = Const {3,2} : i64[2]; %y = ReverseSequence(%x, %l) {batch_axis=0, seq_axis=1} : f32[2,3,4,4]
%n = Const {2,3,4,4} : i64[4]; %l = Const {-1} : f32[]; %h = Const {3} : f32[]; %r = RandomUniform(%n, %l, %h) {output_type=f32, global_seed=7, op_seed=1} : f32[2,3,4,4]; %y = Add(%x, %r) : f32[2,3,4,4]
%a = Const {3} : i64[1]; %y = RDFT(%x, %a) : f32[2,3,4,3,2]
%a = Const {3} : i64[1]; %n = Const {6} : i64[1]; %y = RDFT(%x, %a, %n) : f32[2,3,4,4,2]
%a = Const {2,3} : i64[2]; %n = Const {8,2} : i64[2]; %y = RDFT(%x, %a, %n) : f32[2,3,8,2,2]
%a = Const {2,3} : i64[2]; %n = Const {1,4} : i64[2]; %y = RDFT(%x, %a, %n) : f32[2,3,1,3,2]
%a = Const {1} : i64[1]; %y = RDFT(%x, %a) : f32[2,2,4,4,2]
%s = Const {2,3,8,2} : i64[4]; %r = Reshape(%x, %s) {special_zero=false} : f32[2,3,8,2]; %a = Const {-1} : i64[1]; %y = DFT(%r, %a) : f32[2,3,8,2]
%s = Const {2,3,8,2} : i64[4]; %r = Reshape(%x, %s) {special_zero=false} : f32[2,3,8,2]; %a = Const {1} : i64[1]; %n = Const {2} : i64[1]; %y = IDFT(%r, %a, %n) : f32[2,2,8,2]
%s = Const {2,3,8,2} : i64[4]; %r = Reshape(%x, %s) {special_zero=false} : f32[2,3,8,2]; %a = Const {2} : i64[1]; %y = IRDFT(%r, %a) : f32[2,3,14]
%s = Const {2,48} : i64[2]; %r = Reshape(%x, %s) {special_zero=false} : f32[2,48]; %w = Const {VALUES12} : f32[12]; %n = Const {12} : i64[]; %t = Const {5} : i64[]; %y = STFT(%r, %w, %n, %t) {transpose_frames=true} : f32[2,7,8,2]
""".strip().splitlines()


def expansion(line):
    for n in (12, 32, 48, 96):
        line = line.replace("VALUES%d" % n, numbers(n, n))
    axes = "%ax = Const {0,1,2} : i64[3]\n" if "%ax" in line else ""
    ends = ["%y"] + (["%y.1"] if "TopK" in line else [])
    return "\n%x = Parameter : f32[2,3,4,4]\n" + axes + line.replace("; ", "\n") + "\n" + "".join("Result(%s)\n" % e for e in ends)


TEXTS.update(("expansion %d: %s" % (n, line.split("%y = ")[1].split("(")[0]), expansion(line)) for n, line in enumerate(EXPANSIONS))

TEXTS.update({
    "best boxes" + (" with shrinking scores" if soft else ""): """
%%x = Parameter : f32[2,6,4]
%%s = Const {%s} : f32[2,2,6]
%%m = Const {3} : i64[]
%%o = Const {0.3} : f32[]
%%l = Const {-0.5} : f32[]
%%g = Const {%s} : f32[]
%%n = NonMaxSuppression@9(%%x, %%s, %%m, %%o, %%l, %%g) {box_encoding=corner, sort_result_descending=false, output_type=i64} : i64[?,3], f32[?,3], i64[1]
Result(%%n) {output="boxes"}
Result(%%n.1) {output="scores"}
Result(%%n.2) {output="count"}""" % (numbers(24, 5), soft) for soft in (0, 0.4)})

TEXTS["Softmax within seven axes"] = "\n%x = Parameter : f32[1,2,9,2,3,4,4]\n%y = Softmax(%x) {axis=2} : f32[1,2,9,2,3,4,4]\nResult(%y)"
HAVE["Softmax within seven axes"] = ["RESHAPE"]     # TRANSPOSE has five axes at most


# Refused, with a part of the line.
def in_blocks(symmetric, scale):
    """A product of data rounded at run time with codes that have a scale for each 16 of a row."""
    return """ {lowered=true, requant="litert"}
%%x = Parameter : f32[1,32]
%%d = DynamicFakeQuantize(%%x) {symmetric=%s} : f32[1,32]
%%c = Const {%s} : i8[1,2,16]
%%r = Convert(%%c) {destination_type=f32} : f32[1,2,16]
%%s = Const {%s,2} : f32[1,2,1]
%%m = Multiply(%%r, %%s) : f32[1,2,16]
%%n = Const {1,32} : i64[2]
%%w = Reshape(%%m, %%n) {special_zero=false} : f32[1,32]
%%y = MatMul(%%d, %%w) {transpose_b=true} : f32[1,1]
Result(%%y)""" % (symmetric, ",".join(str(i % 15 - 7) for i in range(32)), scale)


def rounded_window(kind, weights, symmetric, scales):
    """A window of 1 x 1 over data of 4 channels rounded at run time, with a scale or several along axis 0."""
    outputs, quant = weights[0] * (weights[1] if kind[0] == "G" else 1), "scale=%s" % scales if scales[0] != "[" else "axis=0, scale=%s" % scales
    count = int(np.prod(weights))
    return """ {lowered=true, requant="litert"}
%%x = Parameter : f32[1,4,3,3]
%%d = DynamicFakeQuantize(%%x) {axis=1, symmetric=%s} : f32[1,4,3,3]
%%c = Const {%s} : i8[%s] q{%s}
%%r = Dequantize(%%c) : f32[%s]
%%y = %s(%%d, %%r) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,%d,3,3]
Result(%%y)""" % (symmetric, ",".join(map(str, range(count))), str(weights)[1:-1], quant, str(weights)[1:-1], kind, outputs)


REFUSED_TEXTS = {
    "data rounded with a zero point before weights with one scale": rounded_window("Convolution", [2, 4, 1, 1], "false", "0.5"),
    "(Convolution): unsupported in TensorFlow Lite: data rounded around 0 before weights by channels": rounded_window("Convolution", [2, 4, 1, 1], "true", "[0.5,0.25]"),
    "(GroupConvolution): unsupported in TensorFlow Lite: data rounded around 0 before weights by channels": rounded_window("GroupConvolution", [4, 1, 1, 1, 1], "true", "0.5"),
    "data rounded at run time before groups of several channels": rounded_window("GroupConvolution", [2, 1, 2, 1, 1], "false", "0.5"),
    "scales of blocks that are no half floats": in_blocks("false", 0.1),
    "data rounded around 0 before weights in blocks": in_blocks("true", 0.5),
    "the last of equal ones": "\n%x = Parameter : f32[1,?]\n%y = ArgMax(%x) {axis=1, last_index=true} : i64[1,1]\nResult(%y)",
    "i8 numbers made of codes": " {lowered=true}\n%x = Parameter : i8[1,4] q{scale=0.5}\n%a = Const {1} : i64[1]\n%y = ReduceMean(%x, %a) {keep_dims=true} : i8[1,1]\nResult(%y)",
    "sums of nothing": "\n%x = Parameter : f32[4,4]\n%a = Const {} : f32[4,0]\n%b = Const {} : f32[0,4]\n%m = MatMul(%x, %a) : f32[4,0]\n%n = MatMul(%m, %b) : f32[4,4]\nResult(%n)",
    "updates that do not add up in zeros": expansion("%i = Const {0,1,0,1} : i64[2,2]; %u = Const {VALUES32} : f32[2,4,4]; %y = ScatterNDUpdate@15(%x, %i, %u) : f32[2,3,4,4]"),
    "an output of a loop whose shape is not known": """
%x = Parameter : f32[1]
%m = Const {100} : i64[]
%c = Const {true} : boolean[]
%l = Loop(%m, %c, %x) : f32[?] {
  body {
    in 2 -> 0
    out _ <- 1 condition
    out 0 <- 0 axis=0
    back 0 -> 0
    %a = Parameter : f32[1]
    %d = Add(%a, %a) : f32[1]
    %t = Const {10} : f32[1]
    %b = Less(%d, %t) : boolean[1]
    Result(%d)
    Result(%b)
  }
}
Result(%l) {output="y"}""",
    "slices of an axis of unknown length": """
%x = Parameter : f32[?,2]
%t = TensorIterator(%x) : f32[?,2] {
  body {
    in 0 -> 0 axis=0
    out 0 <- 0 axis=0
    %a = Parameter : f32[1,2]
    %b = Negative(%a) : f32[1,2]
    Result(%b)
  }
}
Result(%t) {output="y"}""",
}

# Refused by name.
REFUSED = [("ir-face-detection-retail-0004/FP32/face-detection-retail-0004.xml", "DetectionOutput")]


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def say(self, name, problem):
        self.n += 1
        self.bad += problem is not None
        print("%s %d %s%s" % ("not ok" if problem else "ok", self.n, name, " # " + problem if problem else ""), flush=True)


def worst(got, want):
    if got is None or isinstance(got, str):
        return got or "TensorFlow Lite refuses it"
    return next((d for d in (difference(g, w) for g, w in zip(got, want)) if d), None)


def run_both(lptc, lib, before, after):
    """Drawn inputs through the model, and through what was made of it."""
    inputs, outputs = describe(lptc, after)
    arrays = draw(inputs)
    names = [i[0] for i in inputs]
    with open(after, "rb") as f:
        data = f.read()
    got = own(lptc, data, arrays, names, outputs, [])
    if isinstance(got, str):
        return got
    if before is not None:
        with open(before, "rb") as f:
            problem = worst(own(lptc, f.read(), arrays, names, outputs, []), got)
        if problem:
            return "not as before: " + problem
    problem = worst(peer(lib, data, arrays), got) if lib is not None else None
    return "TensorFlow Lite: " + problem if problem else None


def draw(inputs):
    rng = np.random.default_rng(0)
    arrays = []
    for _, dtype, shape in inputs:
        if dtype.kind == "f":
            arrays.append(rng.uniform(-1, 1, shape).astype(dtype))
        elif dtype.itemsize > 2:
            arrays.append(rng.integers(0, 3, shape).astype(dtype))
        else:
            arrays.append(rng.integers(*((0, 2) if dtype.kind == "b" else (0, 127)), shape).astype(dtype))
    return arrays


def test_operators(tap, lptc, rewrite, lib, tmp):
    refused = []
    for name, data, inputs, outputs, expected in cases():
        if isinstance(expected, str):
            continue
        arrays, names = [i[1] for i in inputs], [i[0] for i in inputs]
        before, after = tmp + "/a.tflite", tmp + "/b.tflite"
        with open(before, "wb") as f:
            f.write(data)
        run = subprocess.run([rewrite, before, after], capture_output=True, text=True)
        if run.returncode == 1 and "unsupported" in run.stderr:
            refused.append(name)
            continue
        if run.returncode:
            tap.say(name, run.stderr.strip() or "exit %d" % run.returncode)
            continue
        want = own(lptc, data, arrays, names, outputs, [])
        with open(after, "rb") as f:
            new = f.read()
        problem = want if isinstance(want, str) else worst(own(lptc, new, arrays, names, outputs, []), want)
        if problem is None and lib is not None and expected is None and peer(lib, data, arrays) is not None:
            problem = worst(peer(lib, new, arrays), peer(lib, data, arrays))
        if name not in KNOWN:
            tap.say(name, problem)
    print("# refused by name: %s" % " ".join(refused))


def test_texts(tap, lptc, lib, tmp):
    for name, text in TEXTS.items():
        before, after = tmp + "/a.lpt", tmp + "/b.tflite"
        with open(before, "w") as f:
            f.write('graph "t"' + text + "\n")
        run = subprocess.run([lptc, "transform", before, "-o", after], capture_output=True, text=True)
        if run.returncode:
            tap.say(name, run.stderr.strip())
            continue
        inputs, outputs = describe(lptc, after)
        inputs = [(n, d, [2 if k == 1 and "open" in name else v for k, v in enumerate(s)]) for n, d, s in inputs]
        arrays = draw(inputs)
        np.save(tmp + "/x.npy", arrays[0])
        subprocess.run([lptc, "exec", before, "--reference", "-i", "x=" + tmp + "/x.npy", "-o", tmp + "/want.npz"], check=True, capture_output=True)
        with open(after, "rb") as f:
            data = f.read()
        want = [np.load(tmp + "/want.npz")[n] for n in outputs]
        problem = worst(own(lptc, data, arrays, [i[0] for i in inputs], outputs, []), want)
        if not set(HAVE.get(name, ())) <= operators(data):
            problem = "no %s" % " ".join(sorted(set(HAVE[name]) - operators(data)))
        if problem is None and lib is not None and "open" not in name:
            problem = worst(peer(lib, data, arrays), want)
        tap.say(name, problem)
    for message, text in REFUSED_TEXTS.items():
        with open(tmp + "/a.lpt", "w") as f:
            f.write('graph "t"' + text + "\n")
        run = subprocess.run([lptc, "transform", tmp + "/a.lpt", "-o", tmp + "/b.tflite"], capture_output=True, text=True)
        right = run.returncode == 1 and message in run.stderr
        tap.say("refused: " + message, None if right else run.stderr.strip() or "written")


def main():
    lptc, rewrite, shared = sys.argv[1:4]
    models = os.path.join(shared, "models")
    lib = load_library()
    if not os.path.isdir(models):
        print("1..0 # SKIP %s is not there" % models)
        sys.exit(77)
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp:
        test_texts(tap, lptc, lib, tmp)
        test_operators(tap, lptc, rewrite, lib, tmp)
        out = tmp + "/out.tflite"
        for folder in NETWORKS:
            for name in sorted(f for f in os.listdir(os.path.join(models, folder)) if f.endswith(".tflite")):
                path = os.path.join(models, folder, name)
                run = subprocess.run([lptc, "transform", path, "-o", out], capture_output=True, text=True)
                same = run.returncode == 0 and filecmp.cmp(path, out, shallow=False)
                tap.say("%s/%s kept" % (folder, name), None if same else run.stderr.strip() or "other bytes")
                for flags in ([], ["--behind"]):
                    run = subprocess.run([rewrite, path, out] + flags, capture_output=True, text=True)
                    # 2.9 does not know of buffers behind the FlatBuffer.
                    problem = run.stderr.strip() if run.returncode else run_both(lptc, None if flags else lib, path, out)
                    tap.say(" ".join(["%s/%s anew" % (folder, name)] + flags), problem)
        for name, transposes in OTHERS:
            run = subprocess.run([lptc, "transform", os.path.join(models, name), "-o", out], capture_output=True, text=True)
            problem = run.stderr.strip() if run.returncode else run_both(lptc, lib, None, out)
            if problem is None:
                text = subprocess.run([lptc, "print", out], capture_output=True, text=True).stdout
                n = sum(1 for line in text.splitlines() if "/transposed = Transpose(" in line)
                problem = "%d TRANSPOSE, not at most %d" % (n, transposes) if n > transposes else None
            tap.say(name, problem)
        for name, what in REFUSED:
            run = subprocess.run([lptc, "transform", os.path.join(models, name), "-o", out], capture_output=True, text=True)
            tap.say("%s refused" % name, None if run.returncode == 1 and "(%s): unsupported" % what in run.stderr else run.stderr.strip() or "written")
    print("1..%d" % tap.n)
    sys.exit(tap.bad > 0)


main()
