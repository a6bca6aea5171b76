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
import forms  # noqa: E402
from build import Build, F32, init  # noqa: E402


def upgrade(model, opset, before=forms.upgrade):
    """From opset 18 on all reductions have their axes as an input, which the forms know of ReduceMean alone."""
    for n in model.graph.node if opset >= 18 else ():
        for a in list(n.attribute):
            if n.op_type.startswith("Reduce") and n.op_type != "ReduceMean" and a.name == "axes":
                n.input.append(n.output[0] + "/axes")
                model.graph.initializer.append(init(n.input[1], np.array(a.ints, np.int64)))
                n.attribute.remove(a)
    return before(model, opset)


forms.upgrade = upgrade


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


def point_neighbours(seed):
    """DGCNN: neighbours by distances and TopK, their features looked up, the maximum over short rows of them."""
    b = Build("point_neighbours", seed)
    n, k = 128, 10
    x = b.input("points", (1, 3, n))
    outs = []
    for c in (32, 64):
        cin = b.shape[x][1]
        rows = b.transpose(x, 0, 2, 1)
        square = b.op("ReduceSum", b.op("Mul", x, x), axes(1), keepdims=1)
        near = b.op("Sub", b.op("Sub", b.op("Mul", b.op("MatMul", rows, x), F32(2)), square), b.transpose(square, 0, 2, 1))
        places = b.op("TopK", near, axes(k), n=2)[1]
        f = b.op("Gather", b.reshape(rows, (n, cin)), b.reshape(places, (n * k,)))
        own = b.op("Expand", b.reshape(rows, (1, n, 1, cin)), axes(1, n, k, cin))
        y = b.transpose(b.concat(b.op("Sub", b.reshape(f, (1, n, k, cin)), own), own, axis=3), 0, 3, 1, 2)
        x = b.op("ReduceMax", b.act(b.conv(b.act(b.conv(y, c, 1), "leaky"), c, 1), "leaky"), axes=[3], keepdims=0)
        outs.append(x)
    y = b.conv(b.concat(*outs), 128, 1, act="leaky")
    b.output(b.gemm(b.op("ReduceMax", y, axes=[2], keepdims=0), 40))
    return b


def regions(seed):
    """Mask R-CNN's heads: RoiAlign of regions of two levels, classes and boxes of each, masks by a transposed convolution."""
    b = Build("regions", seed)
    fine = b.conv(b.conv(b.image("image", 3, 96), 32, 3, s=2, act="relu"), 48, 3, s=2, act="relu")
    coarse = b.conv(b.conv(fine, 48, 3, s=2, act="relu"), 48, 1)
    fine = b.add(b.conv(fine, 48, 1), b.resize(coarse, 2))
    at = b.rng.uniform(0, 60, (12, 2))
    boxes = b.const(np.concatenate([at, at + b.rng.uniform(8, 36, (12, 2))], 1).astype(F32))
    image = b.const(np.zeros(12, np.int64))

    def part(x, size, scale):
        return b.op("RoiAlign", x, boxes, image, output_height=size, output_width=size, sampling_ratio=2, spatial_scale=scale)
    y = b.gemm(b.flatten(b.add(part(fine, 7, 0.25), part(coarse, 7, 0.125))), 128, "relu")
    m = b.conv_transpose(b.conv(part(fine, 14, 0.25), 48, 3, act="relu"), 48, 2, 2, act="relu")
    b.output(b.op("Softmax", b.gemm(y, 21), axis=-1), b.gemm(y, 84), b.act(b.conv(m, 21, 1), "sigmoid"))
    return b


def frame_states(seed):
    """ConvLSTM: frame by frame one convolution of data and state, which begins with zeros; then what was learnt by an embedding
    that is repeated for each frame."""
    b = Build("frame_states", seed)
    frames, side, c = 3, 24, 16
    x = b.input("frames", (1, frames, 1, side, side))
    w, bias = b.const(b.normal((4 * c, 1 + c, 3, 3), 1 / math.sqrt(9 + 9 * c))), b.const(b.normal((4 * c,), 0.1))
    h = cell = b.const(np.zeros((1, c, side, side), F32))
    outs = []
    for i in range(frames):
        joined = b.concat(b.op("Squeeze", b.cut(x, i, i + 1, 1), axes(1)), h)
        keep, let, give, new = b.split(b.op("Conv", joined, w, bias, kernel_shape=[3, 3], pads=[1] * 4), 4)
        cell = b.add(b.op("Mul", b.act(keep, "sigmoid"), cell), b.op("Mul", b.act(let, "sigmoid"), b.act(new, "tanh")))
        h = b.op("Mul", b.act(give, "sigmoid"), b.act(cell, "tanh"))
        outs.append(b.op("Unsqueeze", b.mean(h, [2, 3]), axes(1)))
    y = b.concat(*outs, axis=1)
    place = b.op("Expand", b.op("Unsqueeze", b.embed(b.ids("place", (1,), 200), 200, c), axes(1)), axes(1, frames, c))
    y = b.concat(y, place, b.op("Sub", y, place), b.op("Mul", y, place), axis=2)
    b.output(b.linear(b.linear(y, 64, "relu"), 10), b.conv(h, 1, 1, act="sigmoid"))
    return b


def splines(seed):
    """KAN: bases of splines by comparisons and the recursion of Cox and de Boor in short rows, one product for all."""
    b = Build("splines", seed)
    x, order = b.input("x", (256, 16)), 3
    for n in (32, 10):
        k = b.shape[x][1]
        g = np.tile((np.arange(-order, 6 + order) * 0.8 - 2).astype(F32), (k, 1))
        at = b.op("Unsqueeze", x, axes(2))
        inside = b.op("And", b.op("GreaterOrEqual", at, g[None, :, :-1]), b.op("Less", at, g[None, :, 1:]))
        y = b.op("Cast", inside, to=1)
        for p in range(1, order + 1):
            m = g.shape[1]
            up = b.op("Div", b.op("Sub", at, g[None, :, :m - p - 1], real=True), (g[:, p:m - 1] - g[:, :m - p - 1])[None], real=True)
            down = b.op("Div", b.op("Sub", g[None, :, p + 1:], at, real=True), (g[:, p + 1:] - g[:, 1:m - p])[None], real=True)
            y = b.op("Add", b.op("Mul", up, b.cut(y, 0, m - p - 1, 2), real=True),
                     b.op("Mul", down, b.cut(y, 1, m - p, 2), real=True), real=True)
        y = b.reshape(y, (256, k * b.shape[y][2]))
        y = b.op("MatMul", y, b.normal((b.shape[y][1], n), 1 / math.sqrt(1.5 * k)))
        x = b.op("Add", b.op("MatMul", b.act(x, "silu"), b.normal((k, n), 1 / math.sqrt(k))), y)
    b.output(x)
    return b


def guided_filter(seed):
    """Matting: a small encoder, its matte refined by means over windows of one channel, classes resized in 12 channels."""
    b = Build("guided_filter", seed)
    image = b.image("image", 3, 96)
    x = b.conv(b.conv(image, 16, 3, s=2, act="hswish"), 32, 3, s=2, act="hswish")
    y = b.resize(b.conv(b.conv(x, 32, 3, act="relu"), 12, 1), 4, "linear")
    matte = b.conv(b.concat(y, image), 1, 3)
    grey = b.mean(image, [1], 1)

    def box(x):
        return b.pool(x, 3, 1, 1, kind="AveragePool")
    mean, other = box(grey), box(matte)
    both = b.op("Sub", box(b.op("Mul", grey, matte)), b.op("Mul", mean, other))
    spread = b.op("Sub", box(b.op("Mul", grey, grey)), b.op("Mul", mean, mean))
    slope = b.op("Div", both, b.op("Add", spread, F32(0.1)))
    level = b.op("Sub", other, b.op("Mul", slope, mean))
    b.output(y, b.op("Clip", b.op("Add", b.op("Mul", box(slope), grey), box(level)), F32(0), F32(1)))
    return b


def mixed_weights(seed):
    """Convolutions whose weights and bias are mixed from four by an attention on their image; 96 x 96."""
    b = Build("mixed_weights", seed)
    x = b.conv(b.image("image", 3, 96), 24, 3, s=2, act="relu")
    for c, s in ((32, 1), (48, 2), (64, 2)):
        cin = b.shape[x][1]
        a = b.op("Softmax", b.gemm(b.gemm(b.flatten(b.gap(x)), 16, "relu"), 4), axis=1)
        w = b.reshape(b.op("MatMul", a, b.normal((4, c * cin * 9), math.sqrt(2 / (cin * 9)))), (c, cin, 3, 3))
        bias = b.reshape(b.op("MatMul", a, b.normal((4, c), 0.1)), (c,))
        x = b.act(b.op("Conv", x, w, bias, kernel_shape=[3, 3], strides=[s, s], pads=[1] * 4), "relu")
    b.output(b.gemm(b.flatten(b.gap(x)), 100))
    return b


def conditioned_layers(seed):
    """DiT: transformer layers whose scales and shifts a step of time and a label give, GELU by tanh in its parts."""
    b = Build("conditioned_layers", seed)
    n, c = 256, 128
    x = b.transpose(b.reshape(b.conv(b.image("latent", 4, 32), c, 2, s=2, p=0), (1, c, n)), 0, 2, 1)
    x = b.op("Add", x, b.normal((1, n, c), 0.1))
    time = b.linear(b.linear(b.input("time", (1, 64)), c, "silu"), c)
    given = b.act(b.op("Add", time, b.reshape(b.embed(b.ids("label", (1, 1), 100), 100, c), (1, c))), "silu")

    def norm(x, scale, shift):
        y = b.op("LayerNormalization", x, np.ones(c, F32), axis=-1, epsilon=1e-6)
        return b.op("Add", b.op("Mul", y, b.op("Add", scale, F32(1))), shift)
    for _ in range(2):
        shift, scale, gate, shift2, scale2, gate2 = b.split(b.op("Unsqueeze", b.linear(given, 6 * c), axes(1)), 6, axis=2)
        x = b.op("Add", x, b.op("Mul", gate, b.attention(norm(x, scale, shift), 4, fused=True)))
        x = b.op("Add", x, b.op("Mul", gate2, b.linear(b.linear(norm(x, scale2, shift2), 4 * c, "gelu_tanh"), c)))
    y = b.reshape(b.linear(x, 16), (1, 16, 16, 2, 2, 4))
    b.output(b.reshape(b.transpose(y, 0, 5, 1, 3, 2, 4), (1, 4, 32, 32)))
    return b


def forests(seed):
    """Forests of trees, spelled twice: nodes looked up level by level, and products whose sums are compared."""
    b = Build("forests", seed)
    rows, features, trees, nodes, leaves = 96, 24, 16, 31, 16
    x = b.op("Div", b.input("x", (rows, features)), b.rng.uniform(0.5, 2, (1, features)).astype(F32))
    first = (np.arange(trees) * nodes).astype(np.int64)
    child = np.minimum(2 * np.arange(nodes) + 1, nodes - 2)
    left, right = (b.const((first[:, None] + child + i).reshape(-1).astype(np.int64)) for i in (0, 1))
    feature = b.const(b.rng.randint(0, features, trees * nodes).astype(np.int64))
    threshold, value = b.const(b.normal((trees * nodes,), 0.8)), b.const(b.normal((trees * nodes,), 0.3))
    at = b.op("Expand", first[None], axes(rows, trees))
    flat, own = b.reshape(x, (rows * features,)), (np.arange(rows) * features).astype(np.int64)[:, None]
    for _ in range(4):
        seen = b.op("Gather", flat, b.op("Add", b.op("Gather", feature, at), own))
        at = b.op("Where", b.op("LessOrEqual", seen, b.op("Gather", threshold, at)), b.op("Gather", left, at), b.op("Gather", right, at))
    chosen = np.zeros((features, trees * (leaves - 1)), F32)
    chosen[b.rng.randint(0, features, chosen.shape[1]), np.arange(chosen.shape[1])] = 1
    below = b.op("Less", b.op("MatMul", x, chosen), b.normal((chosen.shape[1],), 0.7))
    paths = np.zeros((chosen.shape[1], leaves), F32)
    for leaf in range(leaves):
        paths[b.rng.choice(len(paths), 3, False), leaf] = 1, -1, 1
    leaf = b.op("Equal", b.op("MatMul", b.op("Cast", below, to=1), paths), F32(2))
    b.output(b.op("Gather", value, at), b.op("MatMul", b.op("Cast", leaf, to=1), b.normal((leaves, 5), 1)))
    return b


def hash_grid(seed):
    """Instant NGP: integer hashes of corners by Mul, sums and Mod, features looked up with trilinear weights, a small perceptron."""
    b = Build("hash_grid", seed)
    p, outs = b.op("Sigmoid", b.input("points", (128, 3))), []
    corners = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], np.int64)[None]
    for level in range(3):
        s = b.op("Mul", p, F32(4 * 2 ** level))
        low = b.op("Floor", s)
        at = b.op("Mul", b.op("Add", b.op("Unsqueeze", b.op("Cast", low, to=7), axes(1)), corners), axes(1, 2654435761, 805459861)[None, None])
        v = b.op("Gather", b.normal((512, 2), 0.5), b.op("Mod", b.op("ReduceSum", at, axes(2), keepdims=0), np.array(512, np.int64)))
        part, c = b.op("Unsqueeze", b.op("Sub", s, low), axes(1)), corners.astype(F32)
        w = b.op("Add", b.op("Mul", c, part), b.op("Mul", 1 - c, b.op("Sub", F32(1), part)))
        outs.append(b.op("ReduceSum", b.op("Mul", v, b.op("ReduceProd", w, axes=[2], keepdims=1)), axes(1), keepdims=0))
    b.output(b.act(b.gemm(b.gemm(b.concat(*outs), 64, "relu"), 4), "sigmoid"))
    return b


def mixture(seed):
    """scikit-learn's converters: a scaler, kernels of support vectors, votes, a Gaussian mixture by ReduceLogSumExp."""
    b = Build("mixture", seed)
    rows, features = 64, 20
    x = b.op("Div", b.op("Sub", b.input("x", (rows, features)), b.normal((features,), 0.3)), b.rng.uniform(0.5, 2, features).astype(F32))
    vectors = b.normal((100, features), 1)
    near = b.op("Sub", b.op("ReduceSumSquare", x, axes=[1], keepdims=1), b.op("Mul", b.op("MatMul", x, vectors.T.copy()), F32(2)))
    kernel = b.op("Exp", b.op("Mul", b.op("Add", near, (vectors ** 2).sum(1)[None]), F32(-0.05)))
    choice = b.op("Add", b.op("MatMul", kernel, b.normal((100, 6), 0.3)), b.normal((6,), 0.1))
    votes = b.op("MatMul", b.op("Cast", b.op("Greater", choice, F32(0)), to=1), np.sign(b.normal((6, 4), 1)))
    parts = [b.op("ReduceSumSquare", b.op("Sub", b.op("Gemm", x, b.normal((features, features), 0.3)), b.normal((1, features), 0.3)),
                  axes=[1], keepdims=1) for _ in range(4)]
    scores = b.op("Add", b.op("Mul", b.concat(*parts), F32(-0.5)), b.normal((1, 4), 1))
    b.output(votes, b.op("Exp", b.op("Sub", scores, b.op("ReduceLogSumExp", scores, axes=[1], keepdims=1))))
    return b


def unpooled(seed):
    """SegNet: maxima with their places, which scatter them again on the way up, as MaxUnpool does; figure and ground by Softmax."""
    b = Build("unpooled", seed)
    x, places = b.image("image", 3, 64), []
    for c in (16, 32):
        x = b.conv(x, c, 3, act="relu")
        x, at = b.op("MaxPool", x, n=2, kernel_shape=[2, 2], strides=[2, 2])
        places.append(at)
    for c in (16, 2):
        n, channels, h, w = b.shape[x]
        size = 4 * n * channels * h * w
        flat = b.op("ScatterElements", np.zeros(size, F32), b.reshape(places.pop(), (-1,)), b.reshape(x, (-1,)), axis=0)
        x = b.conv(b.reshape(flat, (n, channels, 2 * h, 2 * w)), c, 3, act="relu" if c > 2 else None)
    b.output(b.op("Softmax", x, axis=1))
    return b


if __name__ == "__main__":
    archgen.main([rnnt, shufflenet, siamese, seq2seq, graph_network, fsrcnn, nerf, styles, point_neighbours, regions, frame_states,
                  splines, guided_filter, mixed_weights, conditioned_layers, forests, hash_grid, mixture, unpooled])
