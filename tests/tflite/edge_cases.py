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


def blocks(a):
    """[rows, columns] in blocks of @rows or 4 and 16, one behind the other, codes of 128 as 0."""
    n = min(len(a), 4)
    return (a.reshape(-1, n, a.shape[1] // 16, 16).transpose(0, 2, 1, 3) ^ 0x80).reshape(a.shape)


def shuffled(r):
    for rows in (1, 4):
        x, w, b = r.randint(0, 256, (rows, 48)).astype(U8), r.randint(0, 256, (8, 48)).astype(U8), r.randint(-999, 999, 8).astype(I32)
        tensors = [tensor("x0", U8, x.shape, scale=0.0078125, zero=128), tensor("w", U8, w.shape, blocks(w), scale=0.01, zero=128),
                   tensor("b", I32, b.shape, b, scale=0.0078125 * 0.01), tensor("y", I16, (rows, 8), scale=2.0 ** -12), tensor("s", U8, x.shape)]
        acc = (x.astype(I64) - 128) @ (w.astype(I64) - 128).T + b
        want = np.clip(rounded_twice(acc, float(F(0.01)) * 0.0078125 * 4096), -32768, 32767).astype(I16)
        options = ("FullyConnectedOptions", {"weights_format": 1})
        data = model(tensors, [op("FULLY_CONNECTED", [0, 1, 2], [3, 4], options, version=2)], [0], [3, 4])
        yield "FULLY_CONNECTED/shuffled/%d" % rows, data, [("x0", x)], ["y", "s"], [want, blocks(x)]
        yield "FULLY_CONNECTED/shuffled/peer/%d" % rows, data, [("x0", x)], ["y", "s"], None
    for name, message, x, w, more in (("rows", "shuffled weights with 2 rows of u8", x[:2], w, {}), ("blocks", "in blocks of 4 rows and 16 columns", x, w[:6], {}),
                                      ("activation", "shuffled weights and an activation", x, w, {"fused_activation_function": 1}), ("format", "weights in format 2", x, w, {"weights_format": 2})):
        yield one("FULLY_CONNECTED/shuffled/" + name, [(x, q(0.0078125, 128)), (w, q(0.01, 128))], [0], (I16, (len(x), len(w)), q(2.0 ** -12)),
                  ("FullyConnectedOptions", {"weights_format": 1, **more}), 2, message)


def products(r):
    x, w, b = r.randint(-32768, 32768, (9, 64)).astype(I16), r.randint(-127, 128, (5, 64)).astype(I8), r.randint(-9999, 9999, 5).astype(I32)
    sx, sw, sy = F(0.0002), F(0.013), F(0.0017)
    for name, bias in (("plain", None), ("i32", b)):
        acc = x.astype(I64) @ w.T.astype(I64) + (0 if bias is None else bias)
        want = np.clip(rounded_once(acc, float(sx * sw) / float(sy)), -32768, 32767).astype(I16)
        tensors = [(x, q(float(sx))), (w, q(float(sw)))] + ([] if bias is None else [(bias, q(float(sx * sw)))])
        yield one("FULLY_CONNECTED/i16/" + name, tensors, [0], (I16, want.shape, q(float(sy))), ("FullyConnectedOptions", {}), 7, want)
    # A scale for each output, enough numbers that a multiplier of 16 bits would round some of them elsewhere.
    x, s = r.randint(-32768, 32768, (3000, 64)).astype(I16), [float(F(0.011 + 0.0013 * k)) for k in range(5)]
    acc = x.astype(I64) @ w.T.astype(I64)
    want = np.stack([np.clip(rounded_once(acc[:, k], float(sx) * s[k] / float(sy)), -32768, 32767) for k in range(5)], 1).astype(I16)
    yield one("FULLY_CONNECTED/i16/scales", [(x, q(float(sx))), (w, q(s))], [0], (I16, want.shape, q(float(sy))), ("FullyConnectedOptions", {}), 7, want)
    yield from shuffled(r)
    # Weights of several channels for each of the data, with a scale each, beside real data that quantizes exactly.
    for c, m in ((3, 2), (4, 3)):
        x = r.randint(-127, 128, (1, 2, 3, c)).astype(F)
        x[0, 0, 0, 0], x[0, 0, 1, 0] = -128, 127
        w = r.randint(-127, 128, (1, 1, 1, c * m)).astype(I8)
        s = [float(F(0.01 * (i + 1))) for i in range(c * m)]
        want = np.repeat(x, m, -1) * (w[0, 0, 0] * np.array(s, F))
        yield one("DEPTHWISE_CONV_2D/hybrid/%dx%d" % (c, m), [(x, None), (w, q(s, axis=3)), (np.zeros(c * m, F), None)], [0], (F, want.shape, None),
                  ("DepthwiseConv2DOptions", {"padding": 1, "stride_w": 1, "stride_h": 1, "depth_multiplier": m}), 6, want)
    x, w = r.randint(-127, 128, (8, 3)).astype(F), r.randint(-127, 128, (8, 5)).astype(I8)
    x[2] = [127, -127, 127]
    yield one("BATCH_MATMUL/hybrid/turned", [(x, None), (w, q(0.5))], [0], (F, (3, 5), None), ("BatchMatMulOptions", {"adj_x": 1}), 1, x.T @ (w * F(0.5)))


def functions(r):
    flat = np.tile(np.array([7, 8], I8), 2000)[None]
    yield one("SOFTMAX/flat", [(flat, q(0.001))], [0], (I8, flat.shape, q(1 / 256, -128)), ("SoftmaxOptions", {"beta": 1.0}), 2, np.full(flat.shape, -128, I8))
    yield one("TANH/i16/eleven", [(r.randint(-32768, 32768, 3000).astype(I16), q(2.0 ** -11))], [0], (I16, (3000,), q(2.0 ** -15)), None, 3)
    yield one("LEAKY_RELU/scalar", [(np.array(-2, F), None)], [0], (F, (), None), ("LeakyReluOptions", {"alpha": 0.5}), 1, np.array(-1, F))
    x = r.uniform(-1, 4, 200).astype(F)
    for low, high in ((0.5, 3.0), (-3.0, -0.5)):
        step = F(high - low) / 255
        least = 0 if low > 0 else -255
        yield one("FAKE_QUANT/%g" % low, [(x if low > 0 else -x, None)], [0], (F, x.shape, None), ("FakeQuantOptions", {"min": low, "max": high, "num_bits": 8}), 1,
                  (np.clip(np.floor((x if low > 0 else -x) / step + F(0.5)), least, least + 255) * step).astype(F))
    # uint8: the zero point is rounded by itself.
    for seed in range(4):
        x, sx, zx, sy, zy = r.randint(0, 256, (1, 7, 7, 16)).astype(U8), F(0.0636), 145 - seed, F(0.0539), 115 + seed
        scaled = rounded_twice(x.sum((1, 2), dtype=I64), float(sx / (F(49) * sy)))
        want = np.clip(scaled + zy - int(F(zx) * sx / sy + F(0.5)), 0, 255).astype(U8).reshape(1, 1, 1, 16)
        yield one("MEAN/u8/%d" % seed, [(x, q(float(sx), zx)), (np.array([1, 2], I32), None)], [0], (U8, want.shape, q(float(sy), zy)), ("ReducerOptions", {"keep_dims": 1}), 1, want)


def marks(r):
    """Axes that count from the end ask for the general mean; integers have no fused tanh or sign."""
    x = r.randint(-128, 128, (2, 3, 4, 5)).astype(I8)
    want = np.trunc(x.sum((1, 2), keepdims=True) / 12).astype(I8)
    yield one("MEAN/i8/end", [(x, q(0.1, 5)), (np.array([-2, -3], I32), None)], [0], (I8, want.shape, q(0.1, 5)), ("ReducerOptions", {"keep_dims": 1}), 2, want)
    for act in (4, 5):
        yield one("ADD/i8/act%d" % act, [(x, q(0.1, 5)), (np.full((1,), 5, I8), q(0.1, 5))], [0], (I8, x.shape, q(0.1, 5)),
                  ("AddOptions", {"fused_activation_function": act}), 2, x)


def nearest(n, out):
    scale = F(n - 1) / F(out - 1) if out > 1 else F(n)
    return [min(int(math.floor((i + 0.5) * scale + F(0.5))), n - 1) for i in range(out)]


def scales(r):
    """Kernels that compute on codes, whatever the output says that they mean: that is 2.9's."""
    flag = np.array([[True, False, True, True], [False, True, False, False], [True, True, False, True]])
    for kind, low in ((I8, -128), (U8, 0)):
        x, size, other = r.randint(low, low + 256, (1, 5, 4, 3)).astype(kind), np.array([7, 9], I32), q(0.25, low + 40)
        name = "/%s/scales" % ("i8" if kind is I8 else "u8")
        for op_, table in (("RESIZE_BILINEAR", "ResizeBilinearOptions"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")):
            yield one(op_ + name, [(x, q(0.1, low + 7)), (size, None)], [0], (kind, (1, 7, 9, 3), other), (table, {}), 3)
        pool = {"padding": 0, "stride_w": 1, "stride_h": 1, "filter_width": 3, "filter_height": 2}
        for op_ in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            yield one(op_ + name, [(x, q(0.1, low + 7))], [0], (kind, (1, 5, 4, 3), q(0.1 + 9e-7, low + 7)), ("Pool2DOptions", pool), 2)
        a, b = x[0, :3, :, 0].copy(), x[0, 1:4, :, 1].copy()
        yield one("SELECT_V2" + name, [(flag, None), (a, q(0.1, low + 7)), (b, q(0.2, low + 9))], [0, 1, 2], (kind, a.shape, other))
        yield one("MATRIX_DIAG" + name, [(a, q(0.1, low + 7))], [0], (kind, (3, 4, 4), other), ("MatrixDiagOptions", {}))
        yield one("MATRIX_SET_DIAG" + name, [(a, q(0.1, low + 7)), (b[0, :3].copy(), q(0.2, low + 9))], [0, 1], (kind, a.shape, other), ("MatrixSetDiagOptions", {}))
        if kind is U8:
            yield one("CONCATENATION" + name, [(a, q(0.1, low + 7)), (b, q(0.2, low + 9))], [0, 1], (kind, (6, 4), other), ("ConcatenationOptions", {"axis": 0}), 2)
        yield one("MAXIMUM" + name, [(a, q(0.1, low + 7)), (b, q(0.2, low + 9))], [0, 1], (kind, a.shape, other), ("MaximumMinimumOptions", {}), 2)
        for op_, more in (("REVERSE_V2", [(np.array([0], I32), None)]), ("GATHER", [(np.array([2, 0, 1], I32), None)]), ("TILE", [(np.array([1, 1], I32), None)]),
                          ("TRANSPOSE", [(np.array([0, 1], I32), None)]), ("PAD", [(np.array([[0, 0], [0, 0]], I32), None)]), ("SLICE", [(np.array([0, 0], I32), None), (np.array([3, 4], I32), None)]),
                          ("BROADCAST_TO", [(np.array([3, 4], I32), None)])):
            yield one(op_ + name, [(a, q(0.1, low + 7))] + more, [0], (kind, a.shape, other), None, 2)


def movement(r):
    x = r.randint(-128, 128, (1, 5, 4, 3)).astype(I8)
    for h, w in ((7, 9), (3, 1)):
        yield one("RESIZE_NEAREST_NEIGHBOR/both/%d" % h, [(x, q(0.1, 3)), (np.array([h, w], I32), None)], [0], (I8, (1, h, w, 3), q(0.1, 3)),
                  ("ResizeNearestNeighborOptions", {"align_corners": 1, "half_pixel_centers": 1}), 3, x[:, nearest(5, h)][:, :, nearest(4, w)])
    x = r.randn(5, 4).astype(F)
    yield one("STRIDED_SLICE/shrunk", [(x, None)] + [(np.array(v, I32), None) for v in ([2, 1], [3, 3], [1, 1])], [0], (F, (2,), None),
              ("StridedSliceOptions", {"begin_mask": 1, "shrink_axis_mask": 1}), 1, x[0, 1:3])
    i = np.array([-1, 0, 3, 4, 1], I32)
    want = np.array([[1 if k == v else 0 for k in range(4)] for v in i], I32)
    yield one("ONE_HOT/negative", [(i, None), (np.array(4, I32), None), (np.array(1, I32), None), (np.array(0, I32), None)], [0], (I32, want.shape, None), ("OneHotOptions", {"axis": -1}), 1, want)
    # Codes stay codes, and what is not written is the code 0.
    x, codes = r.randint(-128, 128, (3, 4)).astype(I8), q(0.05, 7)
    want = np.zeros((5, 4), I8)
    for k, row in zip((1, 4, 1), x):
        want[k] += row
    yield one("SCATTER_ND/codes", [(np.array([[1], [4], [1]], I32), None), (x, codes), (np.array([5, 4], I32), None)], [1], (I8, want.shape, codes), ("ScatterNdOptions", {}), 1, want)
    want = np.full((6,), x[0, 3], I8)
    want[[0, 2, 5]] = x[0, :3]
    yield one("SPARSE_TO_DENSE/codes", [(np.array([0, 2, 5], I32), None), (np.array([6], I32), None), (x[0, :3].copy(), codes), (x[0, 3], codes)], [2, 3], (I8, want.shape, codes),
              ("SparseToDenseOptions", {}), 3, want)
    yield one("MATRIX_DIAG/codes", [(x, codes)], [0], (I8, (3, 4, 4), codes), ("MatrixDiagOptions", {}), 1, np.stack([np.diag(row) for row in x]))
    want = x.copy()
    want[[0, 1, 2], [0, 1, 2]] = x[2, :3]
    yield one("MATRIX_SET_DIAG/codes", [(x, codes), (x[2, :3].copy(), codes)], [0, 1], (I8, want.shape, codes), ("MatrixSetDiagOptions", {}), 1, want)


def cases():
    r = np.random.RandomState(4)
    for part in (products, functions, marks, movement, scales):
        yield from part(r)
