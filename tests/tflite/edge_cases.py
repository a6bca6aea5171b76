"""What single operators do at their edges, by their definition: zero points of other operators, bits of accumulators, rare flags.

SPDX-License-Identifier: Apache-2.0
"""
import math

import numpy as np

from tfl import model, op, tensor

F, I8, U8, I16, I32, I64 = np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64


def one(name, tensors, given, out, options=None, version=1, expected=None):
    """An operator on all @tensors, (array, quantization or None), of which @given are inputs; @out (type, shape, quantization)."""
    rows = [tensor("x%d" % k, a.dtype, a.shape, None if k in given else a, **(q or {})) for k, (a, q) in enumerate(tensors)]
    rows.append(tensor("y", out[0], out[1], **(out[2] or {})))
    data = model(rows, [op(name.split("/")[0], list(range(len(tensors))), [len(tensors)], options, version=version)], given, [len(tensors)])
    return name, data, [("x%d" % k, tensors[k][0]) for k in given], ["y"], expected if isinstance(expected, str) or expected is None else [expected]


def q(scale, zero=0, **more):
    return dict(scale=scale, zero=zero, **more)


def rounded_once(acc, real):
    """acc * real with a multiplier of 31 bits."""
    m, e = math.frexp(real)
    m = int(math.floor(m * 2.0 ** 31 + 0.5))
    return np.array([(int(a) * m + (1 << (30 - e))) >> (31 - e) for a in acc.ravel()]).reshape(acc.shape)


def rounded_twice(acc, real):
    """The same, and a shift that rounds halves away from zero by itself."""
    m, e = math.frexp(real)
    m = int(math.floor(m * 2.0 ** 31 + 0.5))
    high = [(int(a) * m + (1 << 30)) >> 31 for a in acc.ravel()]
    return np.array([int(math.copysign((abs(v) + (1 << (-e - 1))) >> -e, v)) for v in high]).reshape(acc.shape)


def products(r):
    x, w, b = r.randint(-32768, 32768, (9, 64)).astype(I16), r.randint(-127, 128, (5, 64)).astype(I8), r.randint(-9999, 9999, 5).astype(I32)
    sx, sw, sy = F(0.0002), F(0.013), F(0.0017)
    for name, bias in (("plain", None), ("i32", b)):
        acc = x.astype(I64) @ w.T.astype(I64) + (0 if bias is None else bias)
        want = np.clip(rounded_once(acc, float(sx * sw) / float(sy)), -32768, 32767).astype(I16)
        tensors = [(x, q(float(sx))), (w, q(float(sw)))] + ([] if bias is None else [(bias, q(float(sx * sw)))])
        yield one("FULLY_CONNECTED/i16/" + name, tensors, [0], (I16, want.shape, q(float(sy))), ("FullyConnectedOptions", {}), 7, want)
    # Weights of several channels for each of the data, with a scale each, beside real data that quantizes exactly.
    for c, m in ((3, 2), (4, 3)):
        x = r.randint(-127, 128, (1, 2, 3, c)).astype(F)
        x[0, 0, 0, 0], x[0, 0, 1, 0] = -128, 127
        w = r.randint(-127, 128, (1, 1, 1, c * m)).astype(I8)
        s = [float(F(0.01 * (i + 1))) for i in range(c * m)]
        want = np.repeat(x, m, -1) * (w[0, 0, 0] * np.array(s, F))
        yield one("DEPTHWISE_CONV_2D/hybrid/%dx%d" % (c, m), [(x, None), (w, q(s, axis=3)), (np.zeros(c * m, F), None)], [0], (F, want.shape, None),
                  ("DepthwiseConv2DOptions", {"padding": 1, "stride_w": 1, "stride_h": 1, "depth_multiplier": m}), 6, want)


def functions(r):
    flat = np.tile(np.array([7, 8], I8), 2000)[None]
    yield one("SOFTMAX/flat", [(flat, q(0.001))], [0], (I8, flat.shape, q(1 / 256, -128)), ("SoftmaxOptions", {"beta": 1.0}), 2, np.full(flat.shape, -128, I8))
    yield one("TANH/i16/eleven", [(r.randint(-32768, 32768, 3000).astype(I16), q(2.0 ** -11))], [0], (I16, (3000,), q(2.0 ** -15)), None, 3)
    # uint8: the zero point is rounded by itself.
    for seed in range(4):
        x, sx, zx, sy, zy = r.randint(0, 256, (1, 7, 7, 16)).astype(U8), F(0.0636), 145 - seed, F(0.0539), 115 + seed
        scaled = rounded_twice(x.sum((1, 2), dtype=I64), float(sx / (F(49) * sy)))
        want = np.clip(scaled + zy - int(F(zx) * sx / sy + F(0.5)), 0, 255).astype(U8).reshape(1, 1, 1, 16)
        yield one("MEAN/u8/%d" % seed, [(x, q(float(sx), zx)), (np.array([1, 2], I32), None)], [0], (U8, want.shape, q(float(sy), zy)), ("ReducerOptions", {"keep_dims": 1}), 1, want)


def movement(r):
    i = np.array([-1, 0, 3, 4, 1], I32)
    want = np.array([[1 if k == v else 0 for k in range(4)] for v in i], I32)
    yield one("ONE_HOT/negative", [(i, None), (np.array(4, I32), None), (np.array(1, I32), None), (np.array(0, I32), None)], [0], (I32, want.shape, None), ("OneHotOptions", {"axis": -1}), 1, want)


def cases():
    r = np.random.RandomState(4)
    for part in (products, functions, movement):
        yield from part(r)
