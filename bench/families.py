#!/usr/bin/python3
"""Further networks of many architectures, beside those of tools/archgen, with its builder, forms and options:

    bench/families.py NAME...|all --out DIR [--seed N] [--forms LIST|all|default] [--list]
    bench/compare --archgen --more bench/families.py

Each is here because it found what no other had: a kernel, a fusion or a rule that was missing. Small: a few milliseconds at most.

SPDX-License-Identifier: Apache-2.0
"""
import math
import os
import sys
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/tools/archgen"))
import archgen  # noqa: E402
from build import Build, F32  # noqa: E402


def axes(*values):
    return np.array(values, np.int64)


def rnnt(seed):
    """RNN-T: encoder and predictor, the joint of all pairs, LogSoftmax of many long rows."""
    b = Build("rnnt", seed)
    e = b.recurrent(b.input("mel", (32, 1, 80)), 192, both=False)
    p = b.transpose(b.embed(b.ids("ids", (1, 12), 500), 500, 128), 1, 0, 2)
    p = b.recurrent(p, 192, kind="GRU", both=False)
    e = b.op("Unsqueeze", b.transpose(b.linear(e, 256), 1, 0, 2), axes(2))
    p = b.op("Unsqueeze", b.transpose(b.linear(p, 256), 1, 0, 2), axes(1))
    y = b.op("Tanh", b.op("Add", e, p))
    b.output(b.op("LogSoftmax", b.linear(y, 500), axis=-1))
    return b


def shufflenet(seed):
    """ShuffleNet V2: halves of the channels that are shuffled; 96 x 96."""
    b = Build("shufflenet", seed)
    x = b.pool(b.conv(b.image("image", 3, 96), 24, 3, s=2, act="relu"), 3, 2, 1)

    def shuffle(x):
        n, c, h, w = b.shape[x]
        return b.reshape(b.transpose(b.reshape(x, (n, 2, c // 2, h, w)), 0, 2, 1, 3, 4), (n, c, h, w))

    def branch(x, c, s):
        cin = b.shape[x][1]
        y = b.conv(x, c, 1, act="relu")
        return b.conv(b.conv(y, c, 3, s=s, g=c), cin if s == 1 else c, 1, act="relu")
    for c, depth in ((116, 2), (232, 2)):
        cin = b.shape[x][1]
        short = b.conv(b.conv(x, cin, 3, s=2, g=cin), c // 2, 1, act="relu")
        x = shuffle(b.concat(short, branch(x, c // 2, 2)))
        for _ in range(depth):
            left, right = b.split(x, 2)
            x = shuffle(b.concat(left, branch(right, c // 2, 1)))
    b.output(b.gemm(b.mean(b.conv(x, 256, 1, act="relu"), [2, 3]), 100))
    return b


def siamese(seed):
    """A tracker: one backbone on two images, the features of one are the depthwise weights on those of the other."""
    b = Build("siamese", seed)
    weights = [(b.const(b.normal((c, k, n, n), math.sqrt(2 / (k * n * n)))), b.const(b.normal((c,), 0.1)))
               for c, k, n in ((32, 3, 5), (64, 32, 3), (96, 64, 3))]

    def features(x):
        for i, (w, bias) in enumerate(weights):
            n, s = b.shape[w][2], 1 if i else 2
            x = b.op("Conv", x, w, bias, kernel_shape=[n, n], strides=[s, s])
            x = b.act(x, "relu") if i < 2 else x
            x = x if i else b.pool(x, 3, 2)
        return b.conv(x, 96, 3, p=0)
    z, x = features(b.image("template", 3, 59)), features(b.image("search", 3, 99))
    n, c, h, w = b.shape[z]
    y = b.op("Conv", x, b.reshape(z, (c, 1, h, w)), kernel_shape=[h, w], group=c)
    b.output(b.conv(b.conv(y, 96, 1, act="relu"), 4, 1))
    return b


def seq2seq(seed):
    """GRU encoder of both directions and decoder, attention between them; codes of the encoder go through Transpose and Reshape."""
    b = Build("seq2seq", seed)
    e = b.recurrent(b.transpose(b.embed(b.ids("source", (1, 24), 500), 500, 128), 1, 0, 2), 128, kind="GRU")
    d = b.recurrent(b.transpose(b.embed(b.ids("target", (1, 20), 500), 500, 128), 1, 0, 2), 256, kind="GRU", both=False)
    e, d = b.transpose(e, 1, 0, 2), b.transpose(d, 1, 0, 2)
    s = b.op("MatMul", b.linear(d, 256, bias=False), b.transpose(e, 0, 2, 1))
    y = b.op("MatMul", b.op("Softmax", s, axis=-1), e)
    y = b.op("Tanh", b.linear(b.concat(y, d, axis=2), 256))
    b.output(b.linear(b.op("Mul", b.layer_norm(y), F32(0.5)), 500))
    return b


def graph_network(seed):
    """Messages along constant edges: Gather of both ends, a perceptron, a product with the adjacency that three ops read."""
    b = Build("graph_network", seed)
    nodes, edges, c = 128, 512, 64
    x = b.gemm(b.input("nodes", (nodes, 32)), c, "relu")
    ends = b.rng.randint(0, nodes, (2, edges)).astype(np.int64)
    adjacency = (b.rng.rand(nodes, nodes) < 0.1).astype(F32) / 12
    incidence = np.zeros((nodes, edges), F32)
    incidence[ends[1], np.arange(edges)] = 0.25
    for _ in range(2):
        m = b.concat(b.op("Gather", x, ends[0]), b.op("Gather", x, ends[1]))
        m = b.op("MatMul", incidence, b.gemm(b.gemm(m, c, "relu"), c))
        x = b.layer_norm(b.add(x, b.gemm(b.concat(x, m), c, "relu")))
        x = b.act(b.op("MatMul", adjacency, b.linear(x, c)), "relu")
    b.output(b.gemm(b.mean(x, [0], 1), 10))
    return b


def fsrcnn(seed):
    """FSRCNN: a transposed convolution of 9x9 taps and stride 3 to one channel at the end; 64 x 64."""
    b = Build("fsrcnn", seed)

    def layer(x, c, k):
        return b.op("PRelu", b.conv(x, c, k), b.rng.uniform(0.05, 0.3, (c, 1, 1)).astype(F32))
    x = layer(layer(b.image("image", 1, 64), 56, 5), 12, 1)
    for _ in range(4):
        x = layer(x, 12, 3)
    x = layer(x, 56, 1)
    w = b.normal((56, 1, 9, 9), math.sqrt(18 / (56 * 81)))
    b.output(b.op("ConvTranspose", x, w, b.normal((1,), 0.1), kernel_shape=[9, 9], strides=[3, 3], pads=[4] * 4, output_padding=[2, 2]))
    return b


def nerf(seed):
    """NeRF: sines and cosines of places, a perceptron with its input again in the middle, densities along rays by CumSum."""
    b = Build("nerf", seed)
    x = b.input("points", (1024, 3))
    waves = [b.op(kind, b.op("Mul", x, F32(2.0 ** i))) for i in range(6) for kind in ("Sin", "Cos")]
    places = b.concat(x, *waves)
    y = places
    for i in range(4):
        y = b.gemm(b.concat(y, places) if i == 2 else y, 128, "relu")
    thick = b.op("Softplus", b.gemm(y, 1))
    alpha = b.op("Sub", F32(1), b.op("Exp", b.op("Neg", b.reshape(thick, (32, 32)))))
    left = b.op("Log", b.op("Add", b.op("Sub", F32(1), alpha), F32(1e-6)))
    seen = b.op("Mul", alpha, b.op("Exp", b.op("CumSum", left, np.array(1, np.int64), exclusive=1)))
    colour = b.reshape(b.op("Sigmoid", b.gemm(y, 3)), (32, 32, 3))
    b.output(b.op("ReduceSum", b.op("Mul", b.op("Unsqueeze", seen, axes(2)), colour), axes(1), keepdims=0))
    return b


def styles(seed):
    """StyleGAN2's synthesis: weights of dense, transposed and grouped convolutions that a style scales."""
    b = Build("styles", seed)
    z = b.input("style", (1, 64))
    x = b.op("Mul", b.const(b.normal((1, 64, 16, 16), 1)), b.op("Unsqueeze", b.op("ReduceMean", z, axes=[1], keepdims=1), axes(2, 3)))

    def scaled(shape, axis):
        s = [shape[axis] if i == axis else 1 for i in range(4)]
        return b.op("Mul", b.const(b.normal(shape, 1 / math.sqrt(9 * shape[axis]))), b.reshape(b.gemm(z, shape[axis]), s))
    for c in (64, 32):
        w = scaled((c, b.shape[x][1], 3, 3), 1)
        norm = b.op("Sqrt", b.op("Add", b.op("ReduceSum", b.op("Mul", w, w), axes(1, 2, 3), keepdims=1), F32(1e-6)))
        x = b.act(b.op("Conv", x, b.op("Div", w, norm), kernel_shape=[3, 3], pads=[1] * 4), "leaky")
    x = b.op("ConvTranspose", x, scaled((32, 16, 3, 3), 0), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])
    x = b.op("Conv", x, scaled((16, 8, 3, 3), 1), kernel_shape=[3, 3], pads=[1] * 4, group=2)
    b.output(b.conv(x, 3, 1))
    return b


if __name__ == "__main__":
    archgen.main([rnnt, shufflenet, siamese, seq2seq, graph_network, fsrcnn, nerf, styles])
