"""A FakeQuantize network of convolutions in float64: what the graph means before any float32 rounding.

    Network("net").run ("value", {"data": array})

Two right float32 evaluations of such a graph differ, because a sum next to a tie of a FakeQuantize falls on either side; this
one has no such ties in practice, so it tells how far a stored float32 result is from the graph itself.

SPDX-License-Identifier: Apache-2.0
"""
import xml.etree.ElementTree as ET

import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i64": np.int64}


def ints(data, key):
    return [int(v) for v in data.get(key).split(",") if v]


def fake_quantize(data, x, il, ih, ol, oh):
    steps = int(data.get("levels")) - 1
    return np.rint((np.clip(x, il, ih) - il) / (ih - il) * steps) / steps * (oh - ol) + ol


def windows(x, kernel, stride, dilation=(1, 1)):
    """The image under each tap of the kernel: ((row, column), x[…, height, width])."""
    h, w = (((n - d * (k - 1) - 1) // s + 1) for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilation[0], j * dilation[1]
            yield (i, j), x[:, :, top:top + (h - 1) * stride[0] + 1:stride[0], left:left + (w - 1) * stride[1] + 1:stride[1]]


def convolution(data, x, weights):
    begin, end = ints(data, "pads_begin"), ints(data, "pads_end")
    x = np.pad(x, ((0, 0), (0, 0), (begin[0], end[0]), (begin[1], end[1])))
    taps = windows(x, weights.shape[2:], ints(data, "strides"), ints(data, "dilations"))
    return sum(np.einsum("oc,nchw->nohw", weights[:, :, i, j], tap, optimize=True) for (i, j), tap in taps)


def max_pool(data, x):
    """Without padding; a last window that leaves the image counts where the rounding is up."""
    kernel, stride = ints(data, "kernel"), ints(data, "strides")
    more = [-(n - k) % s if data.get("rounding_type") == "ceil" else 0 for n, k, s in zip(x.shape[2:], kernel, stride)]
    x = np.pad(x, ((0, 0), (0, 0), (0, more[0]), (0, more[1])), constant_values=-np.inf)
    return np.max([tap for _, tap in windows(x, kernel, stride)], 0)


OPS = {
    "Convert": lambda data, x: x,
    "Add": lambda data, a, b: a + b,
    "Multiply": lambda data, a, b: a * b,
    "ReLU": lambda data, x: np.maximum(x, 0),
    "FakeQuantize": fake_quantize,
    "Convolution": convolution,
    "MaxPool": max_pool,
    "Concat": lambda data, *x: np.concatenate(x, int(data.get("axis"))),
    "Transpose": lambda data, x, order: x.transpose(order),
}


class Network:
    def __init__(self, path):
        root = ET.parse(path + ".xml").getroot()
        with open(path + ".bin", "rb") as f:
            self.blob = f.read()
        self.layers = {layer.get("id"): layer for layer in root.find("layers")}
        self.sources = {}
        for edge in root.find("edges"):
            self.sources.setdefault(edge.get("to-layer"), {})[int(edge.get("to-port"))] = edge.get("from-layer")

    def run(self, name, feeds):
        """The value of the layer @name, which a Reshape may have flattened."""
        values = {}

        def value(i):
            if i not in values:
                values[i] = self.evaluate(self.layers[i], [s for _, s in sorted(self.sources.get(i, {}).items())], value, feeds)
            return values[i]

        return value(next(i for i, layer in self.layers.items() if layer.get("name") == name))

    def evaluate(self, layer, sources, value, feeds):
        kind, data = layer.get("type"), layer.find("data")
        if kind == "Parameter":
            return feeds[layer.get("name")].astype(np.float64)
        if kind == "Const":
            dtype = np.dtype(TYPES[data.get("element_type")])
            raw = np.frombuffer(self.blob, dtype, int(data.get("size")) // dtype.itemsize, int(data.get("offset")))
            raw = raw.reshape(ints(data, "shape") if data.get("shape") else [])
            return raw if dtype == np.int64 else raw.astype(np.float64)
        if kind == "Reshape":
            return value(sources[0]).reshape(-1)
        return OPS[kind](data, *(value(s) for s in sources))
