#!/usr/bin/python3
"""Writes small ONNX networks of one op each, for bench/compare: where is a single op behind a peer?

    bench/make_ops.py DIR [--place alone|between|end] [OP...]
    bench/compare --threads 1 --cpu-time DIR/*.onnx

Each op in float (NAME.f.onnx) and with Q/DQ around it (NAME.q.onnx), on data as a network has it:

    alone     the op reads inputs of the network, planes; its result is an output
    between   between two convolutions of 1x1, which read and write channels last
    end       behind a convolution of 1x1; its result is an output

Weights are drawn. Needs the Python package onnx.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
SCALE, ZERO, WEIGHT_SCALE = 0.02, 120, 0.01
TYPES = {"f": TensorProto.FLOAT, "b": TensorProto.BOOL}
IMAGE_RANKS = (3, 5)     # of what a convolution reads
random = np.random.RandomState(0)


def drawn(*shape):
    return (random.randn(*shape) * 0.1).astype(np.float32)


def whole(*values):
    return np.array(values, np.int64)


def scales(*values):
    return np.array((1, 1) + values, np.float32)


class Network:
    """Nodes that are added one by one; @quantized: what real data passes through has a pair."""

    def __init__(self, quantized):
        self.quantized, self.nodes, self.constants, self.inputs = quantized, [], [], []

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def data(self, name, shape, kind):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))
        return self.pair(name) if kind == "f" else name

    def pair(self, name):
        if not self.quantized:
            return name
        if not any(c.name == "scale" for c in self.constants):
            self.constant("scale", np.float32(SCALE))
            self.constant("zero", np.uint8(ZERO))
        self.nodes.append(helper.make_node("QuantizeLinear", [name, "scale", "zero"], [name + "/q"]))
        self.nodes.append(helper.make_node("DequantizeLinear", [name + "/q", "scale", "zero"], [name + "/d"]))
        return name + "/d"

    def weights(self, name, value):
        if not self.quantized:
            return self.constant(name, value)
        codes = np.clip(np.round(value / WEIGHT_SCALE), -127, 127).astype(np.int8)
        self.nodes.append(helper.make_node("DequantizeLinear", [self.constant(name, codes), self.constant(name + "/scale", np.float32(WEIGHT_SCALE)),
                                                                self.constant(name + "/zero", np.int8(0))], [name + "/d"]))
        return name + "/d"

    def pointwise(self, x, name, channels, made, axes):
        """A convolution of 1x1 on so many axes."""
        self.nodes.append(helper.make_node("Conv", [x, self.weights(name + "/w", drawn(made, channels, *(1,) * axes))], [name]))
        return self.pair(name)

    def op(self, op, data, constants, attributes, n_out):
        names = list(data)
        for k, value in enumerate(constants):
            real = value is not None and np.asarray(value).dtype == np.float32 and np.ndim(value) > 1
            names.append("" if value is None else (self.weights if real else self.constant)("c%d" % k, value))
        outputs = ["y%d" % k for k in range(n_out)]
        self.nodes.append(helper.make_node(op, names, outputs, **attributes))
        return outputs

    def model(self, outputs):
        """With the types and, where they are found, the shapes of @outputs."""
        graph = helper.make_graph(self.nodes, "one op", self.inputs, [onnx.ValueInfoProto(name=o) for o in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        inferred = onnx.shape_inference.infer_shapes(model)
        for output in inferred.graph.output:
            if output.type.WhichOneof("value") is None:       # of a function of other ops
                output.type.tensor_type.elem_type = TensorProto.FLOAT
        return inferred


def cases():
    """Op, inputs (shape, or shape and kind), constants behind them, attributes, number of outputs."""
    image, long = (1, 64, 40, 40), (1, 197, 768)
    for mode, at in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners"), ("cubic", "half_pixel")):
        for shape, by in (((1, 64, 28, 28), 2), ((1, 128, 14, 14), 4)):
            yield "Resize", [shape], [None, scales(by, by)], dict(mode=mode, coordinate_transformation_mode=at, nearest_mode="floor"), 1
    for op in ("MaxPool", "AveragePool"):
        for size, stride in ((2, 2), (3, 1), (3, 2), (5, 1), (9, 1), (13, 1)):
            yield op, [image], [], dict(kernel_shape=[size] * 2, strides=[stride] * 2, pads=[(size - 1) // 2] * 4), 1
    for op in ("ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2", "ReduceMin", "ReduceLogSumExp"):
        for shape, axes in ((image, (2, 3)), (image, (1,)), (long, (2,)), (long, (1,))):
            yield op, [shape], [whole(*axes)], {}, 1
    for op in """Relu Sigmoid Tanh Erf Exp Log Sqrt HardSwish HardSigmoid LeakyRelu Elu Selu Softplus Softsign Mish Abs Neg Floor Round Sin Cos
                 Reciprocal Atan Sign Ceil Gelu GlobalAveragePool GlobalMaxPool""".split():
        yield op, [image], [], {}, 1
    for op in ("Add", "Mul", "Sub", "Div", "Max", "Min", "Pow"):
        yield op, [image, image], [], {}, 1
        yield op, [image, (1, 64, 1, 1)], [], {}, 1
        yield op, [image], [np.float32(2)], {}, 1
    for op in ("Less", "Equal"):
        yield op, [image, image], [], {}, 1
    yield "And", [(image, "b"), (image, "b")], [], {}, 1
    for to in ("FLOAT16", "INT32", "UINT8", "INT64", "BOOL"):
        yield "Cast", [image], [], dict(to=getattr(TensorProto, to)), 1
    for op in ("Softmax", "LogSoftmax"):
        for shape, axis in (((1, 12, 128, 128), 3), ((1, 21, 64, 64), 1), ((1, 1000), 1)):
            yield op, [shape], [], dict(axis=axis), 1
    for shape, order in (((1, 64, 56, 56), (0, 2, 3, 1)), ((1, 56, 56, 64), (0, 3, 1, 2)), ((1, 128, 12, 64), (0, 2, 1, 3)), ((512, 3), (1, 0)),
                         ((1, 8, 4, 16, 16, 16), (0, 1, 3, 4, 5, 2))):
        yield "Transpose", [shape], [], dict(perm=order), 1
    for mode in ("constant", "reflect", "edge"):
        yield "Pad", [image], [whole(0, 0, 1, 1, 0, 0, 1, 1)], dict(mode=mode), 1
    yield "DepthToSpace", [image], [], dict(blocksize=2), 1
    yield "SpaceToDepth", [(1, 3, 320, 320)], [], dict(blocksize=2), 1
    yield "Slice", [image], [whole(0, 0), whole(1000, 1000), whole(2, 3), whole(2, 2)], {}, 1
    yield "Concat", [image, image], [], dict(axis=1), 1
    yield "Split", [image], [], dict(axis=1, num_outputs=2), 2
    yield "Tile", [(1, 32, 1, 40)], [whole(1, 1, 40, 1)], {}, 1
    yield "Expand", [(1, 64, 1, 1)], [whole(8, 64, 28, 28)], {}, 1
    yield "ArgMax", [(1, 21, 64, 64)], [], dict(axis=1), 1
    yield "TopK", [(64, 1000)], [whole(5)], {}, 2
    yield "GridSample", [(1, 32, 40, 40), (1, 40, 40, 2)], [], {}, 1
    yield "InstanceNormalization", [image], [drawn(64), drawn(64)], {}, 1
    yield "LayerNormalization", [long], [drawn(768), drawn(768)], {}, 1
    yield "CumSum", [(64, 1000)], [np.array(1, np.int64)], {}, 1
    for size, units in ((64, 64), (40, 32)):
        yield "LSTM", [(50, 1, size)], [drawn(1, 4 * units, size), drawn(1, 4 * units, units), drawn(1, 8 * units)], dict(hidden_size=units), 3
        yield "GRU", [(50, 1, size)], [drawn(1, 3 * units, size), drawn(1, 3 * units, units), drawn(1, 6 * units)], dict(hidden_size=units), 2
    for shape, weights, more in (((1, 64, 28, 28), (64, 64, 3, 3), dict(pads=[1] * 4)), ((1, 64, 28, 28), (64, 1, 3, 3), dict(pads=[1] * 4, group=64)),
                                 ((1, 64, 28, 28), (64, 16, 3, 3), dict(pads=[1] * 4, group=4)), ((1, 3, 224, 224), (16, 3, 3, 3), dict(pads=[1] * 4, strides=[2, 2])),
                                 ((1, 3, 224, 224), (64, 3, 7, 7), dict(pads=[3] * 4, strides=[2, 2])), ((1, 3, 224, 224), (768, 3, 16, 16), dict(strides=[16, 16])),
                                 ((1, 80, 400), (256, 80, 5), dict(pads=[2, 2])), ((1, 16, 16, 32, 32), (32, 16, 3, 3, 3), dict(pads=[1] * 6))):
        yield "Conv", [shape], [drawn(*weights)], more, 1
    yield "ConvTranspose", [(1, 64, 20, 20)], [drawn(64, 32, 4, 4)], dict(strides=[2, 2], pads=[1] * 4), 1
    for left, right in ((long, (768, 768)), ((1, 1, 768), (768, 768)), ((1, 4096), (4096, 512))):
        yield "MatMul", [left], [drawn(*right)], {}, 1
    yield "MatMul", [(1, 8, 128, 64), (1, 8, 64, 128)], [], {}, 1


def build(case, quantized, place):
    """The network, or None: nothing of 1x1 reads what the op gives."""
    op, inputs, constants, attributes, n_out = case
    net = Network(quantized)
    kinds = [x if isinstance(x[0], tuple) else (x, "f") for x in inputs]
    data = [net.data("x%d" % k, *kind) for k, kind in enumerate(kinds)]
    shape = kinds[0][0]
    if place != "alone":
        data[0] = net.pointwise(data[0], "before", shape[1], shape[1], len(shape) - 2)
    outputs = net.op(op, data, constants, attributes, n_out)
    types = [o.type.tensor_type for o in net.model(outputs).graph.output]
    outputs = [net.pair(o) if t.elem_type == TensorProto.FLOAT else o for o, t in zip(outputs, types)]
    if place == "between":
        made = [d.dim_value for d in types[0].shape.dim] if types[0].HasField("shape") else shape
        if types[0].elem_type != TensorProto.FLOAT or not IMAGE_RANKS[0] <= len(made) <= IMAGE_RANKS[1] or 0 in made:
            return None
        outputs = [net.pointwise(outputs[0], "after", made[1], shape[1], len(made) - 2)]
    return net.model(outputs)


def name_of(case, place):
    op, inputs, constants, attributes, _ = case
    shapes = ["x".join(map(str, x[0] if isinstance(x[0], tuple) else x)) for x in inputs]
    shapes += ["w" + "x".join(map(str, c.shape)) for c in constants if c is not None and c.dtype == np.float32 and c.ndim > 1]
    shapes += ["x".join("%g" % v for v in c.flat) for c in constants if c is not None and c.ndim == 1 and c.size < 9]
    more = [str(v) for k, v in sorted(attributes.items()) if k != "nearest_mode"]
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", "-".join([op] + shapes + more + [place])).strip("_")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir")
    parser.add_argument("ops", nargs="*", metavar="OP")
    parser.add_argument("--place", default="alone", choices=("alone", "between", "end"))
    args = parser.parse_intermixed_args()
    os.makedirs(args.dir, exist_ok=True)
    for case in cases():
        shape = case[1][0]
        convolves = not isinstance(shape[0], tuple) and IMAGE_RANKS[0] <= len(shape) <= IMAGE_RANKS[1]
        if (args.ops and case[0] not in args.ops) or (args.place != "alone" and not convolves):
            continue
        for form in "fq":
            model = build(case, form == "q", args.place)
            if model is not None:
                onnx.save(model, os.path.join(args.dir, "%s.%s.onnx" % (name_of(case, args.place), form)))


main()
