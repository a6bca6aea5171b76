"""Single operators for test-litert2.py: (name, file, inputs), drawn from fixed seeds.

Scales, zero points and data are drawn anew for each seed; what a rule of mode litert2 depends on is in the name.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from tfl import model, op, tensor

F, I8, U8, I16, I32, I64 = np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64
KINDS = {"i8": I8, "u8": U8, "i16": I16}


def codes(r, kind, shape):
    ends = np.iinfo(KINDS[kind])
    return r.randint(ends.min, ends.max + 1, shape).astype(KINDS[kind])


def step(r, low=0.004, high=0.1):
    return float(F(np.exp(r.uniform(np.log(low), np.log(high)))))


def zero(r, kind):
    return 0 if kind == "i16" else int(codes(r, kind, ()))


def lengths(shape, axes, keep):
    return [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]


def one(kind, seed, name, options=None, shape=(1, 8, 8, 16), out=None, consts=(), ratio=None, same=False, fixed=None, version=2, to=None):
    """An operator of one input; @ratio: its scale over that of the output; @fixed: (scale, zero point) of that."""
    r = np.random.RandomState(seed)
    x, s, z = codes(r, kind, shape), step(r), zero(r, kind)
    q = (s, z) if same else fixed or (float(F(s / (ratio or np.exp(r.uniform(-0.7, 0.7))))), zero(r, to or kind))
    rows = [tensor("x", x.dtype, shape, scale=s, zero=z), tensor("y", KINDS[to or kind], out or shape, scale=q[0], zero=q[1])]
    rows += [tensor("c%d" % k, c.dtype, c.shape, c) for k, c in enumerate(consts)]
    return model(rows, [op(name, [0] + list(range(2, len(rows))), [1], options, version=version)], [0], [1]), [x]


def unary_cases(kind, seed):
    top, low = {"i8": (256.0, -128), "u8": (256.0, 0), "i16": (32768.0, 0)}[kind]
    for alpha in (0.1, 1.5, -0.3, 1 / 255.0, 1 / 257.0):
        yield "LEAKY_RELU/%g" % alpha, one(kind, seed, "LEAKY_RELU", ("LeakyReluOptions", {"alpha": alpha}))
    for name in ("RELU", "RELU6"):
        yield name, one(kind, seed, name)
    yield "LOGISTIC", one(kind, seed, "LOGISTIC", fixed=(1 / top, low))
    yield "TANH", one(kind, seed, "TANH", fixed=(2 / top if kind != "i16" else 1 / top, 128 if kind == "u8" else 0))
    yield "SOFTMAX", one(kind, seed, "SOFTMAX", ("SoftmaxOptions", {"beta": 1.0}), fixed=(1 / top, low))
    if kind != "i16":
        yield "HARD_SWISH", one(kind, seed, "HARD_SWISH", version=1)
    for ratio in (0.7, 1.9, 1 / 300.0, 1 / 255.0, 127.0, 200.0):
        yield "QUANTIZE/%g" % ratio, one(kind, seed, "QUANTIZE", ("QuantizeOptions", {}), ratio=ratio)
    other = {"i8": "u8", "u8": "i8", "i16": "i8"}[kind]
    yield "QUANTIZE/to-" + other, one(kind, seed, "QUANTIZE", ("QuantizeOptions", {}), to=other)
    window = {"padding": 0, "stride_w": 1, "stride_h": 2, "filter_width": 3, "filter_height": 2}
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        yield name, one(kind, seed, name, ("Pool2DOptions", window), out=(1, 4, 8, 16), same=True)
    for name in ("MEAN", "SUM"):
        for axes, keep in (([1, 2], 1), ([1, 2], 0), ([3], 1), ([0], 1)):
            for same in (0, 1):
                shape, ratio = (2, 8, 6, 16), None if name == "MEAN" else 0.1
                yield ("%s/%s/%s" % (name, "".join(map(str, axes)) + "k" * keep, "same" if same else "other"),
                       one(kind, seed, name, ("ReducerOptions", {"keep_dims": keep}), shape, lengths(shape, axes, keep), [np.array(axes, I32)], ratio, bool(same)))
    for corners, centers in ((0, 0), (1, 0), (0, 1)):
        yield ("RESIZE_BILINEAR/%d%d" % (corners, centers),
               one(kind, seed, "RESIZE_BILINEAR", ("ResizeBilinearOptions", {"align_corners": corners, "half_pixel_centers": centers}), (1, 9, 10, 6),
                   (1, 15, 23, 6), [np.array([15, 23], I32)], same=True, version=3))


def binary_cases(kind, seed):
    for name, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
        r = np.random.RandomState(seed)
        a, b, sa, sb = codes(r, kind, (1, 8, 8, 16)), codes(r, kind, (1, 8, 8, 16)), step(r), step(r)
        sy = sa * sb * np.exp(r.uniform(1, 4)) if name == "MUL" else max(sa, sb) * np.exp(r.uniform(-0.5, 1))
        rows = [tensor(n, KINDS[kind], a.shape, scale=float(F(s)), zero=zero(r, kind)) for n, s in (("a", sa), ("b", sb), ("y", sy))]
        yield name, (model(rows, [op(name, [0, 1], [2], (options, {}), version=2)], [0, 1], [2]), [a, b])
    if kind == "u8":
        return
    for const in (0, 1):
        for batch in ((), (2, 3)):
            r = np.random.RandomState(seed)
            a, b, sa, sb = codes(r, kind, batch + (17, 20)), codes(r, kind, batch + (20, 24)), step(r, 1e-3, 1e-2), step(r, 1e-3, 1e-2)
            b = b // 256 if kind == "i16" else b
            rows = [tensor("x" if const else "a", a.dtype, a.shape, scale=sa, zero=zero(r, kind)), tensor("b", a.dtype, b.shape, b.astype(a.dtype) if const else None, scale=sb, zero=0 if const else zero(r, kind)),
                    tensor("y", a.dtype, batch + (17, 24), scale=float(F(sa * sb * np.exp(r.uniform(4, 6)))), zero=zero(r, kind))]
            yield ("BATCH_MATMUL/%s/%d" % ("constant" if const else "two", len(batch)),
                   (model(rows, [op("BATCH_MATMUL", [0, 1], [2], ("BatchMatMulOptions", {}), version=3 if kind == "i16" else 2)], [0] if const else [0, 1], [2]),
                    [a] if const else [a, b.astype(a.dtype)]))


WINDOW = {"padding": 1, "stride_w": 1, "stride_h": 1}
WEIGHTED = {     # options, weights, axis of the channels, outputs of (1, 9, 8, 8), or of rows of 40
    "CONV_2D": (("Conv2DOptions", WINDOW), (8, 3, 3, 8), 0, (7, 6, 8)),
    "CONV_2D/pixel": (("Conv2DOptions", WINDOW), (8, 1, 1, 8), 0, (9, 8, 8)),
    "DEPTHWISE_CONV_2D": (("DepthwiseConv2DOptions", {**WINDOW, "depth_multiplier": 1}), (1, 3, 3, 8), 3, (7, 6, 8)),
    "TRANSPOSE_CONV": (("TransposeConvOptions", {"padding": 1, "stride_w": 2, "stride_h": 2}), (8, 3, 3, 8), 0, (19, 17, 8)),
    "FULLY_CONNECTED": (("FullyConnectedOptions", {}), (8, 40), 0, (8,)),
    "FULLY_CONNECTED/long": (("FullyConnectedOptions", {}), (8, 700), 0, (8,)),
    "BATCH_MATMUL": (("BatchMatMulOptions", {}), (40, 8), 1, (8,)),
}


def weighted(name, x, xq, w, wq, bias, y_type, yq, version):
    """@bias: a tensor, or None; yq: of the output."""
    options, _, axis, out = WEIGHTED[name]
    shape = x.shape[:1] + out
    rows = [tensor("x", x.dtype, x.shape, **xq), tensor("w", w.dtype, w.shape, w, axis=axis, **wq), tensor("y", y_type, shape, **yq)]
    ins = [0, 1]
    if name.startswith("TRANSPOSE_CONV"):
        rows.append(tensor("shape", I32, (4,), np.array(shape, I32)))
        ins = [3, 1, 0]
    if bias is not None:
        rows.append(bias)
        ins.append(len(rows) - 1)
    return model(rows, [op(name.split("/")[0], ins, [2], options, version=version)], [0], [2]), [x]


def weighted_cases(kind, seed):
    wide = kind == "i16"
    for name in ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED"):
        for channels in (0, 1) if kind != "u8" else (0,):
            for bias in (("i64",) if wide else ("i32",)) + (("none",) if name[0] in "TF" else ()) + (("i32",) if wide and name[0] == "F" else ()):
                r = np.random.RandomState(seed)
                x = codes(r, kind, (30, 40) if name[0] == "F" else (1, 9, 8, 8))
                shape, s, z = WEIGHTED[name][1], step(r, 1e-4, 1e-3) if wide else step(r, 0.01), zero(r, kind)
                w = r.randint(0, 256, shape).astype(U8) if kind == "u8" else r.randint(-127, 128, shape).astype(I8)
                sw = [step(r, 0.005, 0.03) for _ in range(8)] if channels else step(r, 0.005, 0.03)
                sb = [float(F(s) * F(v)) for v in sw] if channels else float(F(s) * F(sw))
                b = tensor("b", I64 if bias == "i64" else I32, (8,), r.randint(-3000, 3000, 8).astype(I64 if bias == "i64" else I32), scale=sb)
                yq = {"scale": float(F(s * np.mean(sw) * np.exp(r.uniform(4, 6)))), "zero": zero(r, kind)}
                zw = {"zero": 121} if kind == "u8" else {}
                axis_0 = {} if channels or not name.startswith("DEPTH") else None
                if axis_0 is None:
                    w_case = weighted_plain(name, x, {"scale": s, "zero": z}, w, {"scale": sw, **zw}, b, yq, 7 if wide else 3)
                else:
                    w_case = weighted(name, x, {"scale": s, "zero": z}, w, {"scale": sw, **zw}, None if bias == "none" else b, x.dtype, yq,
                                      {"C": 8 if wide else 3, "D": 7 if wide else 3, "T": 5 if wide else 3, "F": 11 if wide else 6}[name[0]])
                yield "%s/%s/%s" % (name, "channels" if channels else "one", bias), w_case


def weighted_plain(name, x, xq, w, wq, bias, yq, version):
    """A depthwise convolution with one scale, which has no axis."""
    rows = [tensor("x", x.dtype, x.shape, **xq), tensor("w", w.dtype, w.shape, w, **wq), tensor("y", x.dtype, x.shape[:1] + WEIGHTED[name][3], **yq), bias]
    return model(rows, [op(name, [0, 1, 3], [2], WEIGHTED[name][0], version=version)], [0], [2]), [x]


def hybrid_cases(seed):
    for name in WEIGHTED:
        for channels in (0, 1):
            if name.startswith("TRANSPOSE") or (name.startswith("DEPTH") and not channels):
                continue
            for asymmetric in (0, 1) if name[0] == "F" else (0,):
                r = np.random.RandomState(seed)
                shape = WEIGHTED[name][1]
                x = (r.randn(*((5, shape[1 if name[0] == "F" else 0]) if name[0] in "FB" else (3, 9, 8, 8))) * 3 + r.randn()).astype(F)
                sw = [step(r, 0.005, 0.03) for _ in range(8)] if channels else step(r, 0.005, 0.03)
                bias = tensor("b", F, (8,), (r.randn(8) * 3).astype(F)) if name[0] != "B" else None
                case = weighted(name, x, {}, r.randint(-127, 128, shape).astype(I8), {"scale": sw}, bias, F, {},
                                {"C": 5 if channels else 2, "D": 6, "F": 12 if channels else 9 if asymmetric else 3, "B": 4}[name[0]])
                yield "%s/%s/%d" % (name, "channels" if channels else "one", asymmetric), case


def cases(seeds):
    for seed in range(seeds):
        for kind in KINDS:
            for family in (unary_cases, binary_cases, weighted_cases):
                for name, (data, inputs) in family(kind, seed):
                    yield "%s/%s/%d" % (name, kind, seed), data, inputs
        for name, (data, inputs) in hybrid_cases(seed):
            yield "%s/hybrid/%d" % (name, seed), data, inputs
