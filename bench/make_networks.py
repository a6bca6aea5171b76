#!/usr/bin/python3
"""Writes benchmark networks: real topologies with drawn weights, as QDQ ONNX and as OpenVINO IR with FakeQuantize.

    bench/make_networks.py [--out build/models] [--lptc build/lptc] [--shapes FILE] [resnet50] [mobilenetv2] [bert4]

NET/{fp32,qdq_u8,qdq_i8a,qdq_i8}.onnx and NET/{ir_fp32,ir_u8}.xml with .bin. He-normal weights from a fixed seed, batch 1; weights
are int8, symmetric, per output channel; activations
    u8   asymmetric, scale (max - min) / 255         i8a  the same grid with zero point - 128
    i8   symmetric, scale max |x| / 127, zero point 0
with ranges from one float run of lptc on a drawn input. Convolutional networks quantise what convolutions and sums give, bert4
(four encoder layers behind the embeddings, 128 x 768) the inputs of its matrix products. --shapes writes the products and
convolutions as bench/kernels reads them instead. Needs numpy.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile
import xml.sax.saxutils

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


# --- networks

class Node:
    def __init__(self, op, name, ins, shape, **more):
        self.op, self.name, self.ins, self.shape, self.quantized = op, name, ins, shape, False
        self.__dict__.update(more)


class Net:
    """Nodes in order; a node is its value."""

    def __init__(self, name, shape):
        self.name, self.rng, self.nodes = name, np.random.default_rng(7), []
        self.input = self.add("input", [], shape)

    def add(self, op, ins, shape, **more):
        node = Node(op, "%s_%d" % (op, len(self.nodes)), ins, tuple(shape), **more)
        self.nodes.append(node)
        return node

    def draw(self, shape, fan_in):
        return (self.rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)

    def conv(self, x, channels, kernel, stride=1, groups=1, act=None, gain=1.0):
        n, c, h, w = x.shape
        pad = (kernel - 1) // 2
        weights = self.draw((channels, c // groups, kernel, kernel), c // groups * kernel * kernel) * np.float32(gain)
        size = [(s + 2 * pad - kernel) // stride + 1 for s in (h, w)]
        y = self.add("conv", [x], (n, channels, *size), weights=weights, bias=self.draw((channels,), 400), stride=stride, pad=pad, groups=groups)
        return self.add(act, [y], y.shape) if act else y

    def linear(self, x, channels):
        k = x.shape[-1]
        return self.add("linear", [x], (*x.shape[:-1], channels), weights=self.draw((channels, k), 2 * k), bias=self.draw((channels,), 400))

    def sum(self, a, b):
        return self.add("add", [a, b], a.shape)

    def reshape(self, x, *shape):
        return self.add("reshape", [x], shape)

    def transpose(self, x, *perm):
        return self.add("transpose", [x], [x.shape[p] for p in perm], perm=perm)


def quantize_cnn(net):
    """What convolutions, sums and means give, behind their activation."""
    readers = {}
    for node in net.nodes:
        for x in node.ins:
            readers.setdefault(x, []).append(node)
    for node in net.nodes:
        last = not any(r.op in ("relu", "relu6") for r in readers.get(node, []))
        node.quantized = node.op in ("input", "relu", "relu6") or (node.op in ("conv", "linear", "add", "mean") and last)
    return net


def resnet50():
    net = Net("resnet50", (1, 3, 224, 224))
    x = net.conv(net.input, 64, 7, 2, act="relu")
    x = net.add("maxpool", [x], (1, 64, 56, 56))
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = net.conv(x, width, 1, act="relu")
            y = net.conv(y, width, 3, stride, act="relu")
            y = net.conv(y, 4 * width, 1, gain=0.3)
            x = net.sum(y, x if block else net.conv(x, 4 * width, 1, stride, gain=0.7))
            x = net.add("relu", [x], x.shape)
    x = net.add("mean", [x], (1, 2048, 1, 1))
    net.linear(net.reshape(x, 1, 2048), 1000)
    return quantize_cnn(net)


def mobilenetv2():
    net = Net("mobilenetv2", (1, 3, 224, 224))
    x = net.conv(net.input, 32, 3, 2, act="relu6")
    for expand, channels, n, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(n):
            y = net.conv(x, x.shape[1] * expand, 1, act="relu6") if expand > 1 else x
            y = net.conv(y, y.shape[1], 3, stride if not block else 1, y.shape[1], act="relu6")
            y = net.conv(y, channels, 1)
            x = net.sum(y, x) if block else y
    x = net.conv(x, 1280, 1, act="relu6")
    x = net.add("mean", [x], (1, 1280, 1, 1))
    net.linear(net.reshape(x, 1, 1280), 1000)
    return quantize_cnn(net)


def bert4():
    tokens, width, heads = 128, 768, 12
    net = Net("bert4", (1, tokens, width))

    def norm(x):
        return net.add("norm", [x], x.shape, gamma=np.ones(width, np.float32), beta=net.draw((width,), 400))

    def split(x):
        return net.transpose(net.reshape(x, 1, tokens, heads, width // heads), 0, 2, 1, 3)

    x = norm(net.input)
    for _ in range(4):
        q, k, v = (split(net.linear(x, width)) for _ in range(3))
        s = net.add("matmul", [q, net.transpose(k, 0, 1, 3, 2)], (1, heads, tokens, tokens))
        s = net.add("softmax", [net.add("scale", [s], s.shape, factor=(width // heads) ** -0.5)], s.shape)
        y = net.transpose(net.add("matmul", [s, v], (1, heads, tokens, width // heads)), 0, 2, 1, 3)
        x = norm(net.sum(net.linear(net.reshape(y, 1, tokens, width), width), x))
        y = net.linear(x, 4 * width)
        x = norm(net.sum(net.linear(net.add("gelu", [y], y.shape), width), x))
    for node in net.nodes:
        if node.op in ("linear", "matmul"):
            for value in node.ins:
                value.quantized = True
    return net


NETWORKS = {"resnet50": resnet50, "mobilenetv2": mobilenetv2, "bert4": bert4}


# --- OpenVINO IR

class Ir:
    """One .xml and .bin; @ranges: of the values that get a FakeQuantize, None = float."""

    def __init__(self, net, ranges):
        self.layers, self.edges, self.data, self.out, self.quantized = [], [], bytearray(), {}, ranges is not None
        for node in net.nodes:
            y = getattr(self, node.op)(node, *[self.out[x] for x in node.ins])
            if self.quantized and node.quantized:
                low, high = ranges[node]
                y = self.fake_quantize(node.name, y, np.float32([low]), np.float32([high]), 256)
            self.out[node] = y
        self.layer("Result", "result", [y], None)

    def layer(self, kind, name, ins, dims, element="f32", opset=1, **attrs):
        i = len(self.layers)
        text = ['<layer id="%d" name=%s type="%s" version="opset%d">' % (i, xml.sax.saxutils.quoteattr(name), kind, opset)]
        if attrs:
            text.append("<data %s/>" % " ".join('%s="%s"' % (k, ",".join(map(str, v)) if isinstance(v, (list, tuple)) else v) for k, v in attrs.items()))
        port = lambda n, s, e: '<port id="%d" precision="%s">%s</port>' % (n, {"f32": "FP32", "i64": "I64"}[e], "".join("<dim>%d</dim>" % d for d in s))
        if ins:
            text.append("<input>%s</input>" % "".join(port(n, s, e) for n, (_, _, s, e) in enumerate(ins)))
        if dims is not None:
            text.append("<output>%s</output>" % port(len(ins), dims, element))
        self.layers.append("".join(text) + "</layer>")
        self.edges += ['<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>' % (j, p, i, n) for n, (j, p, _, _) in enumerate(ins)]
        return i, len(ins), dims, element

    def const(self, name, array):
        array = np.ascontiguousarray(array)
        self.data += b"\0" * (-len(self.data) % 64)
        element = {"float32": "f32", "int64": "i64"}[str(array.dtype)]
        at = len(self.data)
        self.data += array.tobytes()
        return self.layer("Const", name, [], array.shape, element, element_type=element, shape=array.shape, offset=at, size=array.nbytes)

    def fake_quantize(self, name, x, low, high, levels):
        ends = [self.const("%s/fq%d" % (name, k), a) for k, a in enumerate((low, high, low, high))]
        return self.layer("FakeQuantize", name + "/fq", [x] + ends, x[2], levels=levels, auto_broadcast="numpy")

    def weights(self, node, array):
        w = self.const(node.name + "/weights", array)
        if self.quantized:
            top = np.abs(node.weights).reshape(len(node.weights), -1).max(1).astype(np.float32)
            top = top.reshape([array.shape[0], array.shape[1]] + [1] * (array.ndim - 2) if array.ndim == 5 else [-1] + [1] * (array.ndim - 1))
            w = self.fake_quantize(node.name + "/weights", w, -top, top, 255)
        return w

    def input(self, node):
        return self.layer("Parameter", node.name, [], node.shape, element_type="f32", shape=node.shape)

    def conv(self, node, x):
        w, g = node.weights, node.groups
        two = lambda v: (v, v)
        attrs = dict(strides=two(node.stride), dilations=two(1), pads_begin=two(node.pad), pads_end=two(node.pad), auto_pad="explicit")
        w = self.weights(node, w.reshape((g, len(w) // g) + w.shape[1:]) if g > 1 else w)
        y = self.layer("GroupConvolution" if g > 1 else "Convolution", node.name + "/product", [x, w], node.shape, **attrs)
        return self.layer("Add", node.name, [y, self.const(node.name + "/bias", node.bias.reshape(1, -1, 1, 1))], node.shape, auto_broadcast="numpy")

    def linear(self, node, x):
        w = self.weights(node, node.weights)
        y = self.layer("MatMul", node.name + "/product", [x, w], node.shape, transpose_a="false", transpose_b="true")
        bias = self.const(node.name + "/bias", node.bias.reshape([1] * (len(node.shape) - 1) + [-1]))
        return self.layer("Add", node.name, [y, bias], node.shape, auto_broadcast="numpy")

    def matmul(self, node, a, b):
        return self.layer("MatMul", node.name, [a, b], node.shape, transpose_a="false", transpose_b="false")

    def add(self, node, a, b):
        return self.layer("Add", node.name, [a, b], node.shape, auto_broadcast="numpy")

    def scale(self, node, x):
        return self.layer("Multiply", node.name, [x, self.const(node.name + "/factor", np.float32([node.factor]))], node.shape, auto_broadcast="numpy")

    def relu(self, node, x):
        return self.layer("ReLU", node.name, [x], node.shape)

    def relu6(self, node, x):
        return self.layer("Clamp", node.name, [x], node.shape, min=0, max=6)

    def gelu(self, node, x):
        return self.layer("Gelu", node.name, [x], node.shape, opset=7, approximation_mode="ERF")

    def softmax(self, node, x):
        return self.layer("SoftMax", node.name, [x], node.shape, axis=len(node.shape) - 1)

    def maxpool(self, node, x):
        return self.layer("MaxPool", node.name, [x], node.shape, strides=(2, 2), pads_begin=(1, 1), pads_end=(1, 1), kernel=(3, 3),
                          rounding_type="floor", auto_pad="explicit")

    def mean(self, node, x):
        return self.layer("ReduceMean", node.name, [x, self.const(node.name + "/axes", np.int64([2, 3]))], node.shape, keep_dims="true")

    def norm(self, node, x):
        y = self.layer("MVN", node.name + "/mvn", [x, self.const(node.name + "/axes", np.int64([-1]))], node.shape, opset=6, eps=1e-5,
                       eps_mode="inside_sqrt", normalize_variance="true")
        y = self.layer("Multiply", node.name + "/gamma", [y, self.const(node.name + "/g", node.gamma)], node.shape, auto_broadcast="numpy")
        return self.layer("Add", node.name, [y, self.const(node.name + "/b", node.beta)], node.shape, auto_broadcast="numpy")

    def reshape(self, node, x):
        return self.layer("Reshape", node.name, [x, self.const(node.name + "/shape", np.int64(node.shape))], node.shape, special_zero="false")

    def transpose(self, node, x):
        return self.layer("Transpose", node.name, [x, self.const(node.name + "/perm", np.int64(node.perm))], node.shape)

    def save(self, stem, name):
        with open(stem + ".bin", "wb") as f:
            f.write(self.data)
        with open(stem + ".xml", "w") as f:
            f.write('<?xml version="1.0"?>\n<net name="%s" version="11">\n<layers>\n%s\n</layers>\n<edges>\n%s\n</edges>\n</net>\n'
                    % (name, "\n".join(self.layers), "\n".join(self.edges)))


# --- ONNX: protobuf by hand

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name, shape):
    dims = b"".join(field(1, field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


class Onnx:
    """@scheme: u8, i8a, i8, or None = float."""

    def __init__(self, net, ranges, scheme):
        self.graph, self.scheme, self.ranges, self.out, self.scales = bytearray(), scheme, ranges, {}, {}
        for node in net.nodes:
            y = getattr(self, node.op)(node, *[self.out[x] for x in node.ins])
            if scheme and node.quantized:
                y = self.pair(node, y)
            self.out[node] = y
        head = field(2, net.name) + field(11, value_info("input_0", net.input.shape)) + field(12, value_info(y, net.nodes[-1].shape))
        self.model = field(1, 8) + field(8, field(2, 17)) + field(7, bytes(self.graph) + head)

    def node(self, op, name, ins, **attrs):
        text = b"".join(field(1, x) for x in ins) + field(2, name) + field(3, name) + field(4, op)
        for key, value in attrs.items():
            if isinstance(value, float):
                body = field(2, value) + field(20, 1)
            elif isinstance(value, int):
                body = field(3, value) + field(20, 2)
            else:
                body = b"".join(field(8, v) for v in value) + field(20, 7)
            text += field(5, field(1, key) + body)
        self.graph += field(1, text)
        return name

    def const(self, name, array):
        array = np.asarray(array)
        kind = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}[str(array.dtype)]
        self.graph += field(5, b"".join(field(1, d) for d in array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes()))
        return name

    def pair(self, node, x):
        low, high = self.ranges[node]
        if self.scheme == "i8":
            scale, zero, kind = max(-low, high) / 127, 0, np.int8
        else:
            scale = (high - low) / 255
            zero, kind = int(np.clip(np.rint(-low / scale), 0, 255)), np.uint8
            if self.scheme == "i8a":
                zero, kind = zero - 128, np.int8
        self.scales[node] = np.float32(scale)
        with_ = [self.const(node.name + "/scale", np.float32(scale)), self.const(node.name + "/zero", kind(zero))]
        q = self.node("QuantizeLinear", node.name + "/q", [x] + with_)
        return self.node("DequantizeLinear", node.name + "/dq", [q] + with_)

    def weights(self, node, transposed):
        w = node.weights
        if not self.scheme:
            return self.const(node.name + "/weights", w.T.copy() if transposed else w), None
        scale = (np.abs(w).reshape(len(w), -1).max(1) / 127).astype(np.float32)
        q = np.rint(w / scale.reshape([-1] + [1] * (w.ndim - 1))).astype(np.int8)
        ins = [self.const(node.name + "/weights", q.T.copy() if transposed else q), self.const(node.name + "/wscale", scale),
               self.const(node.name + "/wzero", np.zeros(len(w), np.int8))]
        return self.node("DequantizeLinear", node.name + "/wdq", ins, axis=1 if transposed else 0), scale

    def bias(self, node, scale):
        if scale is None:
            return self.const(node.name + "/bias", node.bias)
        scale = scale * self.scales[self.source(node.ins[0])]
        q = np.rint(node.bias.astype(np.float64) / scale).astype(np.int32)
        ins = [self.const(node.name + "/bias", q), self.const(node.name + "/bscale", scale.astype(np.float32)),
               self.const(node.name + "/bzero", np.zeros(len(q), np.int32))]
        return self.node("DequantizeLinear", node.name + "/bdq", ins, axis=0)

    def source(self, node):
        """Whose scale the value has."""
        while node not in self.scales:
            node = node.ins[0]
        return node

    def input(self, node):
        return "input_0"

    def conv(self, node, x):
        w, scale = self.weights(node, False)
        return self.node("Conv", node.name, [x, w, self.bias(node, scale)], strides=(node.stride,) * 2, pads=(node.pad,) * 4, group=node.groups,
                         kernel_shape=node.weights.shape[2:])

    def linear(self, node, x):
        if len(node.shape) == 2:
            w, scale = self.weights(node, False)
            return self.node("Gemm", node.name, [x, w, self.bias(node, scale)], transB=1)
        y = self.node("MatMul", node.name + "/product", [x, self.weights(node, True)[0]])
        return self.node("Add", node.name, [y, self.const(node.name + "/bias", node.bias)])

    def matmul(self, node, a, b):
        return self.node("MatMul", node.name, [a, b])

    def add(self, node, a, b):
        return self.node("Add", node.name, [a, b])

    def scale(self, node, x):
        return self.node("Mul", node.name, [x, self.const(node.name + "/factor", np.float32(node.factor))])

    def relu(self, node, x):
        return self.node("Relu", node.name, [x])

    def relu6(self, node, x):
        return self.node("Clip", node.name, [x, self.const(node.name + "/min", np.float32(0)), self.const(node.name + "/max", np.float32(6))])

    def gelu(self, node, x):
        y = self.node("Div", node.name + "/div", [x, self.const(node.name + "/root", np.float32(2 ** 0.5))])
        y = self.node("Erf", node.name + "/erf", [y])
        y = self.node("Add", node.name + "/add", [y, self.const(node.name + "/one", np.float32(1))])
        y = self.node("Mul", node.name + "/mul", [x, y])
        return self.node("Mul", node.name, [y, self.const(node.name + "/half", np.float32(0.5))])

    def softmax(self, node, x):
        return self.node("Softmax", node.name, [x], axis=-1)

    def maxpool(self, node, x):
        return self.node("MaxPool", node.name, [x], kernel_shape=(3, 3), strides=(2, 2), pads=(1,) * 4)

    def mean(self, node, x):
        return self.node("GlobalAveragePool", node.name, [x])

    def norm(self, node, x):
        return self.node("LayerNormalization", node.name, [x, self.const(node.name + "/g", node.gamma), self.const(node.name + "/b", node.beta)],
                         axis=-1, epsilon=1e-5)

    def reshape(self, node, x):
        return self.node("Reshape", node.name, [x, self.const(node.name + "/shape", np.int64(node.shape))])

    def transpose(self, node, x):
        return self.node("Transpose", node.name, [x], perm=node.perm)


# --- files

def measure_ranges(net, folder, lptc):
    """Minimum and maximum of each quantised value in a float run."""
    x = net.rng.standard_normal(net.input.shape).astype(np.float32)
    np.save(os.path.join(folder, "input_0.npy"), x)
    with tempfile.TemporaryDirectory() as dump:
        subprocess.run([lptc, "exec", "--float", os.path.join(folder, "ir_fp32.xml"), "-i", "%s=%s" % (net.input.name, os.path.join(folder, "input_0.npy")),
                        "--dump-all", dump, "-o", dump], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        ranges = {}
        for node in net.nodes:
            if node.quantized:
                y = x if node is net.input else np.load(os.path.join(dump, node.name + ".npy"), mmap_mode="r")
                ranges[node] = min(float(y.min()), 0.0), max(float(y.max()), 1e-6)
    return ranges


def write(net, out, lptc):
    folder = os.path.join(out, net.name)
    os.makedirs(folder, exist_ok=True)
    stem = lambda name: os.path.join(folder, name)
    Ir(net, None).save(stem("ir_fp32"), net.name)
    ranges = measure_ranges(net, folder, lptc)
    Ir(net, ranges).save(stem("ir_u8"), net.name)
    for scheme in None, "u8", "i8a", "i8":
        with open(stem("qdq_%s.onnx" % scheme if scheme else "fp32.onnx"), "wb") as f:
            f.write(Onnx(net, ranges, scheme).model)
    print("%s: %s" % (net.name, folder))


def shape_lines(net):
    """Each product or convolution once: the lines of bench/shapes.txt."""
    seen = {}
    for node in net.nodes:
        if node.op == "conv":
            _, c, size, _ = node.ins[0].shape
            k = node.weights.shape[2]
            kind = "dw%d" % k if node.groups > 1 else "%dx%d" % (k, k)
            name = "%s_%d_%d_%d_%s%s" % (net.name, size, c, node.shape[1], kind, "s%d" % node.stride if node.stride > 1 else "")
            seen.setdefault("conv %s 1 %d %d %d %d %d %d %d" % (name, c, size, node.shape[1], k, node.stride, node.pad, node.groups))
        elif node.op == "linear":
            m, (n, k) = int(np.prod(node.shape[:-1])), node.weights.shape
            seen.setdefault("mm %s_%d_%d_%d 1 %d %d %d" % (net.name, m, k, n, m, k, n))
        elif node.op == "matmul":
            _, b, m, n = node.shape
            k = node.ins[0].shape[-1]
            seen.setdefault("bmm %s_%dx%dx%dx%d %d %d %d %d" % (net.name, b, m, k, n, b, m, k, n))
    return list(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default=os.path.join(ROOT, "build/models"))
    parser.add_argument("--lptc", default=os.path.join(ROOT, "build/lptc"))
    parser.add_argument("--shapes", metavar="FILE", help="write the shapes of the layers instead")
    parser.add_argument("network", nargs="*", help="of: " + ", ".join(NETWORKS))
    args = parser.parse_args()
    for name in args.network:
        if name not in NETWORKS:
            parser.error("no network \"%s\"" % name)
    if args.shapes:
        with open(args.shapes, "w") as f:
            f.write("# written by bench/make_networks.py --shapes\n# conv NAME batch channels size outputs kernel stride pad groups\n"
                    "# mm, bmm NAME batch m k n\n")
            for name in args.network or NETWORKS:
                f.write("".join(line + "\n" for line in shape_lines(NETWORKS[name]())))
        return
    if not os.path.exists(args.lptc):
        sys.exit("make_networks: %s is not built" % args.lptc)
    for name in args.network or NETWORKS:
        write(NETWORKS[name](), args.out, args.lptc)


if __name__ == "__main__":
    main()
