"""How a file stores numbers: sparse tensors, blocks with scales of their own, packed integers, options as a FlexBuffer of any width; cases () as in cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import struct

import numpy as np

from newer_cases import detection
from tfl import flex_map, model, op, tensor

F, I8, I32 = np.float32, np.int8, np.int32
INT4, UINT4 = 17, 20
BYTES = {1: "b", 2: "h", 4: "i", 8: "q"}


def densified(name, w, want, kind="DENSIFY"):
    """y = x + w; @w fields of a tensor of the shape of @want, which @kind makes an operand of ADD."""
    x = np.random.RandomState(2).randint(-9, 9, want.shape).astype(F)
    rows = [tensor("x", F, want.shape), tensor("w", w.pop("dtype", F), want.shape, **w), tensor("d", F, want.shape), tensor("y", F, want.shape)]
    data = model(rows, [op(kind, [1], [2], ("CastOptions", {}) if kind == "CAST" else None), op("ADD", [0, 2], [3], ("AddOptions", {}))], [0], [3])
    return kind + "/" + name, data, [("x", x)], ["y"], [(x + want).astype(F)]


def packed(values):
    """Two to a byte, the first in the lower half."""
    flat = values.ravel().astype(I8) & 15
    return bytes((flat[::2] | flat[1::2] << 4).astype(np.uint8))


# --- sparse ---

def sparsify(dense, order, sparse, blocks=(), kinds=("Int32Vector", "Uint8Vector")):
    """(values, the table) of the levels @order, of which those of @sparse are lists; blocks: (axis, length), levels behind those of the axes."""
    shape, inner = list(dense.shape), dict(blocks)
    cut = [v for a, n in enumerate(shape) for v in (n // inner.get(a, 1), inner.get(a, 1))]
    apart = dense.reshape(cut).transpose(list(range(0, 2 * len(shape), 2)) + list(range(1, 2 * len(shape), 2)))
    apart = apart.reshape([n // inner.get(a, 1) for a, n in enumerate(shape)] + [n for _, n in sorted(blocks)])
    places = [axis for axis, _ in sorted(blocks)]
    parts, dims = [apart.transpose(order)], []
    for level, of in enumerate(order):
        if level not in sparse:
            dims.append({"format": 0, "dense_size": apart.shape[of]})
            parts = [p[i] for p in parts for i in range(apart.shape[of])]
            continue
        segments, indices, below = [0], [], []
        for p in parts:
            found = [i for i in range(apart.shape[of]) if np.any(p[i])]
            indices += found
            below += [p[i] for i in found]
            segments.append(len(indices))
        dims.append({"format": 1, "array_segments": (kinds[0], {"values": segments}), "array_indices": (kinds[1], {"values": indices})})
        parts = below
    return np.array(parts, dense.dtype), {"traversal_order": list(order), "block_map": places, "dim_metadata": dims}


def sparse(r):
    dense = np.where(r.rand(4, 6) < 0.4, r.randint(1, 9, (4, 6)), 0).astype(F)
    deep = np.where(r.rand(2, 4, 3) < 0.3, r.randint(1, 9, (2, 4, 3)), 0).astype(F)
    forms = (("rows", dense, [0, 1], {1}, ()), ("columns", dense, [1, 0], {1}, ()), ("both", dense, [0, 1], {0, 1}, ()), ("none", dense, [1, 0], set(), ()),
             ("blocks", dense, [0, 1, 2, 3], {1}, ((0, 2), (1, 3))), ("one-block", dense, [1, 0, 2], {1}, ((1, 2),)), ("turned-blocks", dense, [1, 0, 3, 2], {0, 1}, ((0, 2), (1, 2))),
             ("three", deep, [2, 0, 1], {1, 2}, ()), ("three-blocks", deep, [0, 1, 2, 3], {1, 2}, ((1, 2),)), ("zero", 0 * dense, [0, 1], {1}, ()))
    for k, (name, w, order, lists, blocks) in enumerate(forms):
        values, table = sparsify(w, order, lists, blocks, (("Int32Vector", "Uint8Vector"), ("Uint16Vector", "Uint16Vector"), ("Uint8Vector", "Int32Vector"))[k % 3])
        yield densified("sparse/" + name, {"data": values, "sparsity": table}, w)
    whole = np.where(dense > 4, -dense, 0).astype(I8)
    assert (whole != 0).sum() % 2 == 0
    values, table = sparsify(whole, [0, 1], {1})
    yield densified("sparse/i4", {"dtype": INT4, "data": packed(values), "sparsity": table}, whole, "CAST")


# --- blocks ---

def blocks(r):
    codes, scales, zeros = r.randint(-8, 8, (3, 8)).astype(I8), r.randint(1, 9, (3, 2)).astype(F) / 4, r.randint(-3, 4, (3, 2)).astype(I8)
    x = r.randint(-9, 9, (3, 8)).astype(F)
    for name, with_zeros in (("scales", False), ("zeros", True)):
        details = ("BlockwiseQuantization", {"scales": 2, "zero_points": 3 if with_zeros else -1, "block_size": 4})
        rows = [tensor("x", F, (3, 8)), tensor("w", I8, (3, 8), codes, quantization={"details": details}), tensor("s", F, (3, 2), scales), tensor("z", I8, (3, 2), zeros), tensor("y", F, (3, 8))]
        want = (codes - (zeros.repeat(4, 1) if with_zeros else 0)) * scales.repeat(4, 1)
        yield "ADD/blocks/" + name, model(rows, [op("ADD", [0, 1], [4], ("AddOptions", {}))], [0], [4]), [("x", x)], ["y"], [x + want.astype(F)]
    for name, dtype, a in (("i4", INT4, r.randint(-8, 8, (2, 5))), ("u4", UINT4, r.randint(0, 16, (2, 5)))):
        yield densified(name, {"dtype": dtype, "data": packed(a)}, a, "CAST")


def rounded(x, around):
    """@x as the codes of each image stand for it: with a zero point, or around 0."""
    flat = x.reshape(len(x), -1).astype(float)
    if around:
        step = np.abs(flat).max(1, keepdims=True) / 127
        return (np.rint(flat / step) * step).reshape(x.shape)
    low, high = np.minimum(flat.min(1, keepdims=True), 0), np.maximum(flat.max(1, keepdims=True), 0)
    step = (high - low) / 255
    zero = np.rint(np.where(128 + np.abs(low / step) < 127 + np.abs(high / step), -128 - low / step, 127 - high / step))
    return ((np.clip(np.rint(zero + flat / step), -128, 127) - zero) * step).reshape(x.shape)


def few_bits(r):
    """FULLY_CONNECTED of real data: rounded around 0 beside weights of 4 bits, of short rows as the options say, with a zero point beside those with blocks, as TensorFlow Lite's kernels for them do."""
    x, w, b = r.standard_normal((3, 64)).astype(F), r.randint(-7, 8, (6, 64)), r.standard_normal(6).astype(F)
    most = np.abs(x).max(1, keepdims=True)
    codes, step = np.rint(x * (F(127) / most)), most / F(127)
    rows = [tensor("x", F, x.shape), tensor("b", F, (6,), b), tensor("y", F, (3, 6))]
    for name, scale in (("row", 0.125), ("rows", [0.01 * (i + 1) for i in range(6)])):
        weights = tensor("w", INT4, w.shape, packed(w), scale=scale)
        yield ("FULLY_CONNECTED/i4/" + name, model(rows + [weights], [op("FULLY_CONNECTED", [0, 3, 1], [2], ("FullyConnectedOptions", {}), version=10)], [0], [2]),
               [("x", x)], ["y"], [(codes @ w.T * step * np.array(scale, F) + b).astype(F)])
        yield ("FULLY_CONNECTED/i4/asymmetric-" + name, model(rows + [weights], [op("FULLY_CONNECTED", [0, 3, 1], [2], ("FullyConnectedOptions", {"asymmetric_quantize_inputs": 1}), version=10)], [0], [2]),
               [("x", x)], ["y"], [(codes @ w.T * step * np.array(scale, F) + b).astype(F)])
    short = [tensor("x", F, (3, 30)), rows[1], rows[2], tensor("w", INT4, (6, 30), packed(w[:, :30]), scale=0.125)]
    yield ("FULLY_CONNECTED/i4/short", model(short, [op("FULLY_CONNECTED", [0, 3, 1], [2], ("FullyConnectedOptions", {"asymmetric_quantize_inputs": 1}), version=10)], [0], [2]),
           [("x", x[:, :30])], ["y"], [(rounded(x[:, :30], False) @ w[:, :30].T * 0.125 + b).astype(F)])
    data = rounded(x, False)
    for block in (16, 32):
        scales = (r.randint(1, 9, (6, 64 // block)) / 64).astype(np.float16)
        details = {"details": ("BlockwiseQuantization", {"scales": 4, "zero_points": -1, "block_size": block})}
        more = [tensor("w", INT4, w.shape, packed(w), quantization=details), tensor("s", np.float16, scales.shape, scales)]
        yield ("FULLY_CONNECTED/i4/blocks-%d" % block, model(rows + more, [op("FULLY_CONNECTED", [0, 3, 1], [2], ("FullyConnectedOptions", {}), version=13)], [0], [2]),
               [("x", x)], ["y"], [(data @ (w * scales.astype(float).repeat(block, 1)).T + b).astype(F)])


def few_bit_windows(r):
    """Convolutions of real data with weights of 4 bits, which kernels that know them compute as with those of 8: one scale, data around 0; several, with a zero point."""
    x, w, b = r.standard_normal((2, 4, 5, 6)).astype(F), r.randint(-7, 8, (8, 1, 1, 6)), r.standard_normal(8).astype(F)
    many = [0.01 * (i + 1) for i in range(8)]
    for name, scale in (("one", 0.125), ("channels", many)):
        rows = [tensor("x", F, x.shape), tensor("w", INT4, w.shape, packed(w), scale=scale), tensor("b", F, (8,), b), tensor("y", F, (2, 4, 5, 8))]
        want = np.einsum("nhwi,oi->nhwo", rounded(x, name == "one"), w[:, 0, 0]) * np.array(scale, F) + b
        yield ("CONV_2D/i4/" + name, model(rows, [op("CONV_2D", [0, 1, 2], [3], ("Conv2DOptions", {"padding": 1, "stride_w": 1, "stride_h": 1}), version=7)], [0], [3]),
               [("x", x)], ["y"], [want.astype(F)])
    w, b = r.randint(-7, 8, (1, 3, 2, 6)), b[:6]
    rows = [tensor("x", F, x.shape), tensor("w", INT4, w.shape, packed(w), scale=many[:6], axis=3), tensor("b", F, (6,), b), tensor("y", F, (2, 2, 4, 6))]
    data = rounded(x, False)
    want = sum(data[:, i:i + 2, j:j + 4] * w[0, i, j] for i in range(3) for j in range(2)) * np.array(many[:6], F) + b
    options = ("DepthwiseConv2DOptions", {"padding": 1, "stride_w": 1, "stride_h": 1, "depth_multiplier": 1})
    yield "DEPTHWISE_CONV_2D/i4", model(rows, [op("DEPTHWISE_CONV_2D", [0, 1, 2], [3], options, version=7)], [0], [3]), [("x", x)], ["y"], [want.astype(F)]


# --- options ---

def flexible(width, indirect, floats, **numbers):
    """A map of @width bytes for each number, as small writers make it; what is real lies in front as @floats bytes where it is @indirect. Keys are 1 byte wide."""
    out, places, reals = bytearray(), [], {}
    for key in sorted(numbers):
        places.append(len(out))
        out += key.encode() + b"\0"
    for key in sorted(numbers):
        if isinstance(numbers[key], float) and indirect:
            reals[key] = len(out)
            out += struct.pack("<" + {4: "f", 8: "d"}[floats], numbers[key])
    wide = 1 if len(out) < 200 else 2
    out += struct.pack("<" + BYTES[wide].upper(), len(places))
    keys = len(out)
    for place in places:
        out += struct.pack("<" + BYTES[wide].upper(), len(out) - place)
    put = lambda v: struct.pack("<" + BYTES[width].upper(), v)
    out += put(len(out) - keys) + put(wide) + put(len(places))
    first, types = len(out), []
    for key in sorted(numbers):
        v = numbers[key]
        if key in reals:
            out += put(len(out) - reals[key])
            types.append(8 << 2 | {4: 2, 8: 3}[floats])
        elif isinstance(v, float):
            out += struct.pack("<" + {2: "e", 4: "f", 8: "d"}[width], v)
            types.append(3 << 2 | {2: 1, 4: 2, 8: 3}[width])
        else:
            out += struct.pack("<" + BYTES[width], v)
            types.append((26 if isinstance(v, bool) else 2 if v == 2 else 1) << 2 | {1: 0, 2: 1, 4: 2, 8: 3}[width])
    out += bytes(types)
    end = len(out) - first
    out += struct.pack("<H", end) if end > 255 else bytes([end])
    return bytes(out) + bytes([9 << 2 | {1: 0, 2: 1, 4: 2, 8: 3}[width], 2 if end > 255 else 1])


NUMBERS = dict(max_detections=2, max_classes_per_detection=1, num_classes=2, nms_score_threshold=0.125, nms_iou_threshold=0.5, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0, use_regular_nms=False)


def options(r):
    """The same boxes, however their options are written."""
    (name, data, inputs, outputs, want), = detection(r)
    old = flex_map(**{k: v for k, v in NUMBERS.items() if k != "use_regular_nms"} | {"nms_score_threshold": 0.1})
    at = data.index(old)
    assert struct.unpack_from("<I", data, at - 4)[0] == len(old)
    for width, indirect, floats in ((2, False, 0), (4, False, 0), (8, False, 0), (2, True, 4), (2, True, 8), (4, True, 4)):
        new = flexible(width, indirect, floats, **NUMBERS)
        room = len(old) - len(new)
        assert room >= 0
        changed = data[:at - 4] + struct.pack("<I", len(new)) + new + bytes(room) + data[at + len(old):]
        yield "%s/%d%s" % (name, width, "/to%d" % floats if indirect else ""), changed, inputs, outputs, want


def cases():
    r = np.random.RandomState(9)
    for part in (sparse, blocks, options, few_bits, few_bit_windows):
        yield from part(r)
