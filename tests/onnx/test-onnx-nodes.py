#!/usr/bin/python3
"""ONNX operators in the forms that exporters write, by their definition: the numbers are numpy's.

test-onnx-nodes.py LPTC [NAME...]. Models are protobuf's JSON. Each runs by kernels and by the reference. Prints TAP; without numpy it is skipped.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import itertools
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP no numpy")
    sys.exit(77)

F, I8, U8, I32, I64, B = np.float32, np.int8, np.uint8, np.int32, np.int64, np.bool_
CODES = {np.dtype(k): v for k, v in {F: 1, U8: 2, I8: 3, np.uint16: 4, np.int16: 5, I32: 6, I64: 7, B: 9, np.float16: 10, np.float64: 11, np.uint32: 12, np.uint64: 13}.items()}
MS = "com.microsoft"


def tensor(name, a):
    return {"name": name, "dataType": CODES[a.dtype], "dims": list(map(str, a.shape)), "rawData": base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()}


def attribute(name, v):
    if isinstance(v, dict):
        return {"name": name, **v}
    if isinstance(v, str):
        return {"name": name, "type": "STRING", "s": base64.b64encode(v.encode()).decode()}
    if isinstance(v, np.ndarray):
        return {"name": name, "type": "TENSOR", "t": tensor("", v)}
    kind = "FLOAT" if isinstance(v[0] if isinstance(v, list) and v else v, float) else "INT"
    key = {"FLOAT": "f", "INT": "i"}[kind]
    if isinstance(v, list):
        return {"name": name, "type": kind + "S", {"f": "floats", "i": "ints"}[key]: v if key == "f" else list(map(str, v))}
    return {"name": name, "type": kind, key: v if key == "f" else str(v)}


def node(op, inputs, outputs="y", domain="", **attributes):
    return {"opType": op, "domain": domain, "name": "n_" + op, "input": inputs.split(), "output": outputs.split(), "attribute": [attribute(k, v) for k, v in attributes.items()]}


def case(name, nodes, inputs, expected, opset=17, constants=None, open_axes=(), outputs=("y",), unknown=False, reference=None):
    """@inputs and @constants by name, "x" and so on; @open_axes are those that have no length in the model; expected: arrays, one array, or the message;
    @reference: that of --reference, if it is another one."""
    def value(k, a):
        dims = [{"dimParam": "d%d" % i} if i in open_axes else {"dimValue": str(n)} for i, n in enumerate(a.shape)]
        return {"name": k, "type": {"tensorType": {"elemType": CODES[a.dtype], **({} if unknown else {"shape": {"dim": dims}})}}}
    nodes = [{**n, "input": ["" if k == "_" else k for k in n["input"]]} for n in (nodes if isinstance(nodes, list) else [nodes])]
    model = {"irVersion": 8, "opsetImport": [{"version": opset}, {"domain": MS, "version": 1}],
             "graph": {"name": "g", "node": nodes, "input": [value(k, a) for k, a in inputs.items()], "output": [{"name": k} for k in outputs],
                       "initializer": [tensor(k, a) for k, a in (constants or {}).items()]}}
    both = [e if isinstance(e, (str, list, tuple)) else [e] for e in (expected, expected if reference is None else reference)]
    return name, model, inputs, outputs, both


def ints(*v):
    return np.array(v, I64)


# --- constants ---

def text(*words):
    return [base64.b64encode(w.encode()).decode() for w in words]


def constants(r):
    x = r.randn(3, 4).astype(F)
    plus = lambda **more: [node("Constant", "", "c", **more), node("Add", "x c")]
    sparse = lambda some, places, dims, **more: {"sparse_value": {"type": "SPARSE_TENSOR", "sparseTensor": {
        k: v for k, v in {"values": tensor("v", some), "indices": tensor("i", places), "dims": list(map(str, dims)), **more}.items() if v is not None}}}
    values, want = np.array([5, 6, 7], F), np.zeros((3, 4), F)
    want[0, 1], want[1, 0], want[2, 3] = values
    for name, indices in (("places", ints(1, 4, 11)), ("rows", np.array([[0, 1], [1, 0], [2, 3]], I64))):
        yield case("sparse/" + name, plus(**sparse(values, indices, (3, 4))), {"x": x}, x + want)
    yield case("sparse/empty", plus(**sparse(values[:0], ints(), (3, 4))), {"x": x}, x)
    for kind in (np.float64, np.float16, I32):
        nodes = [node("Constant", "", "c", **sparse(values.astype(kind), ints(1, 4, 11), (3, 4))), node("Cast", "c", "f", to=1), node("Add", "x f")]
        yield case("sparse/" + np.dtype(kind).name, nodes, {"x": x}, x + want)
    ten, pairs = (1,) * 11, lambda *rows: np.array(rows, I64)
    for name, said, attributes in (
            ("rank", "has too many dimensions", sparse(values, ints(1, 4, 11), ten)), ("negative", "has a negative length", sparse(values, ints(1, 4, 11), (3, -4))),
            ("no values", "has no values or no indices", sparse(values, ints(1, 4, 11), (3, 4), values=None)), ("no indices", "has no values or no indices", sparse(values, ints(1, 4, 11), (3, 4), indices=None)),
            ("packed", "unsupported: a sparse tensor of i4", sparse(values, ints(1, 4, 11), (3, 4), values={"name": "v", "dataType": 22, "dims": ["3"], "int32Data": [1, 2]})),
            ("strings", "unsupported: a sparse tensor of string", sparse(values, ints(1, 4, 11), (3, 4), values={"name": "v", "dataType": 8, "dims": ["3"], "stringData": text("a", "b", "c")})),
            ("type", "has indices that are not one i64", sparse(values, np.array([1, 4, 11], I32), (3, 4))), ("number", "has indices that are not one i64", sparse(values, ints(1, 4), (3, 4))),
            ("columns", "has indices that are not one i64", sparse(values, pairs((0, 1, 0), (1, 0, 0), (2, 3, 0)), (3, 4))),
            ("cube", "has indices that are not one i64", sparse(values, pairs((0, 1), (1, 0), (2, 3)).reshape(3, 2, 1), (3, 4))), ("scalar", "has indices that are not one i64", sparse(values[:1], np.array(1, I64), (3, 4))),
            ("below", "has an index outside of its shape", sparse(values, ints(-1, 4, 11), (3, 4))), ("outside", "has an index outside of its shape", sparse(values, ints(1, 4, 12), (3, 4))),
            ("row outside", "has an index outside of its shape", sparse(values, pairs((0, 1), (1, 4), (2, 3)), (3, 4))), ("row below", "has an index outside of its shape", sparse(values, pairs((0, 1), (1, -1), (2, 3)), (3, 4))),
            ("of nothing", "has an index outside of its shape", sparse(values, ints(0, 1, 2), (0, 4))), ("twice", "has indices that do not ascend", sparse(values, ints(1, 1, 11), (3, 4))),
            ("order", "has indices that do not ascend", sparse(values, pairs((1, 0), (0, 1), (2, 3)), (3, 4)))):
        yield case("sparse/" + name, plus(**attributes), {"x": x}, said)
    yield case("constant/no-tensor", plus(value={"type": "TENSOR"}), {"x": x}, 'attribute "value" holds no tensor')
    yield case("constant/no-sparse", plus(sparse_value={"type": "SPARSE_TENSOR"}), {"x": x}, 'attribute "sparse_value" holds no tensor')
    words = {"value_string": {"type": "STRING", "s": text("a")[0]}, "value_strings": {"type": "STRINGS", "strings": text("a", "bc")}}
    for name, v in words.items():
        nodes = [node("Constant", "", "c", **{name: v}), node("Equal", "c c", "e"), node("Cast", "e", "y", to=1)]
        yield case("constant/" + name, nodes, {"x": x}, "unsupported: strings are kept, not computed")


# --- shapes ---

def shapes(r):
    x = r.randint(-9, 9, (2, 3, 4)).astype(F)
    for opened in ((), (0,), (1, 2)):
        tag = "-open" * len(opened)
        yield case("size" + tag, node("Size", "x"), {"x": x}, np.array(24, I64), open_axes=opened)
        for axis in (0, 1, 2, 3, -1):
            split = axis if axis >= 0 else 3 + axis
            yield case("flatten%s/%d" % (tag, axis), node("Flatten", "x", axis=axis), {"x": x}, x.reshape(int(np.prod(x.shape[:split])), -1), open_axes=opened)
        yield case("shape%s" % tag, node("Shape", "x", start=1), {"x": x}, ints(3, 4), open_axes=opened)
        yield case("shape%s/end" % tag, node("Shape", "x", start=-3, end=-1), {"x": x}, ints(2, 3), open_axes=opened)
    yield case("flatten/rank", node("Flatten", "x", axis=4), {"x": x}, "axis 4 is outside rank 3")
    yield case("transpose", node("Transpose", "x"), {"x": x}, x.T)
    yield case("transpose/rank", node("Transpose", "x"), {"x": x}, "unknown rank", unknown=True)
    yield case("reshape/zero", node("Reshape", "x s"), {"x": x}, x.reshape(2, 12), constants={"s": ints(0, -1)})
    yield case("constant-of-shape", node("ConstantOfShape", "s"), {"s": ints(2, 3)}, np.zeros((2, 3), F))
    yield case("constant-of-shape/value", node("ConstantOfShape", "s", value=np.array([7], I32)), {"s": ints(2, 3)}, np.full((2, 3), 7, I32))
    yield case("constant-of-shape/scalar", node("ConstantOfShape", "s", value=np.array(7, I32)), {"s": ints(2)}, np.full(2, 7, I32))
    yield case("constant-of-shape/empty", node("ConstantOfShape", "s", value=np.array([7], I32)), {"s": np.zeros(0, I64)}, np.array(7, I32))
    yield case("constant/floats", [node("Constant", "", "c", value_floats=[1.0, 2.0, 4.0, 8.0]), node("Mul", "x c")], {"x": x}, x * np.array([1, 2, 4, 8], F))
    yield case("constant/int", [node("Constant", "", "c", value_int=3), node("Cast", "c", "f", to=1), node("Mul", "x f")], {"x": x}, x * F(3))
    yield case("constant/float", [node("Constant", "", "c", value_float=0.5), node("Mul", "x c")], {"x": x}, x * F(0.5))
    yield case("squeeze", node("Squeeze", "x"), {"x": x[:1, :, :1]}, x[0, :, 0])
    yield case("tile", node("Tile", "x n"), {"x": x}, np.tile(x, (1, 2, 1)), constants={"n": ints(1, 2, 1)})


def splits(r):
    x = r.randint(-9, 9, (2, 7)).astype(F)
    yield case("split/uneven", node("Split", "x", "a b c", axis=1, num_outputs=3), {"x": x}, [x[:, :3], x[:, 3:6], x[:, 6:]], opset=18, outputs=("a", "b", "c"))
    yield case("split/even", node("Split", "x", "a b", axis=0), {"x": x}, [x[:1], x[1:]], opset=13, outputs=("a", "b"))
    yield case("split/attribute", node("Split", "x", "a b", axis=-1, split=[2, 5]), {"x": x}, [x[:, :2], x[:, 2:]], opset=11, outputs=("a", "b"))
    yield case("split/input", node("Split", "x n", "a b", axis=1), {"x": x, "n": ints(6, 1)}, [x[:, :6], x[:, 6:]], opset=13, outputs=("a", "b"))
    yield case("split/empty-last", node("Split", "x", "a b c d", axis=1, num_outputs=4), {"x": x[:, :6]}, [x[:, :2], x[:, 2:4], x[:, 4:6], x[:, :0]], opset=18, outputs=("a", "b", "c", "d"))
    yield case("split/too-many", node("Split", "x", "a b c d", axis=1, num_outputs=4), {"x": x[:, :5]}, "*n_Split*", opset=18, outputs=("a", "b", "c", "d"))


def slices(r):
    x = r.randint(-9, 9, (4, 5)).astype(F)
    yield case("slice-1", node("Slice", "x", starts=[1, 2], ends=[3, 99]), {"x": x}, x[1:3, 2:], opset=9)
    yield case("slice-1/axes", node("Slice", "x", starts=[-2], ends=[-1], axes=[1]), {"x": x}, x[:, -2:-1], opset=9)
    most = np.iinfo(I64)
    for name, start, end, step, want in (("back", 3, most.min, -1, x[3::-1]), ("before", -9, most.min, -1, x[0:1]), ("far", 99, most.min, -2, x[::-2]), ("none", 0, 0, -1, x[:0])):
        for how in ("constants", "inputs"):
            vectors = {"s": ints(start), "e": ints(end), "a": ints(-2), "t": ints(step)}
            if how == "inputs" and name == "before":
                continue
            yield case("slice/%s/%s" % (name, how), node("Slice", "x s e a t"), {"x": x, **(vectors if how == "inputs" else {})}, want, constants=vectors if how == "constants" else None)
    # Starts, ends or both are picked by a mask: the model does not say how many.
    keep = np.array([True, False, True])
    for which in ("se", "s", "e"):
        inputs = {"x": x, "m": keep, **({"s0": ints(1, 9, 2)} if "s" in which else {}), **({"e0": ints(3, 9, 4)} if "e" in which else {})}
        nodes = [node("Compress", "%s0 m" % k, k, axis=0) for k in which] + [node("Slice", "x s e a")]
        yield case("slice/masked/" + which, nodes, inputs, x[1:3, 2:4], constants={"a": ints(0, 1), **({} if "s" in which else {"s": ints(1, 2)}), **({} if "e" in which else {"e": ints(3, 4)})})


def pads(r):
    x = r.randint(1, 9, (2, 3)).astype(F)
    for mode, name in (("constant", "constant"), ("edge", "edge"), ("reflect", "reflect"), ("wrap", "wrap")):
        fill = {"constant_values": 7} if mode == "constant" else {}
        for how, inputs, constants in (("constant", {}, {"p": ints(1, 2, 0, 1)}), ("computed", {"p": ints(1, 2, 0, 1)}, {})):
            want = np.pad(x, ((1, 0), (2, 1)), name, **fill)
            yield case("pad/%s/%s" % (mode, how), node("Pad", "x p v", mode=mode), {"x": x, **inputs}, want, opset=19, constants={"v": np.array(7, F), **constants})
        yield case("pad/%s/axes" % mode, node("Pad", "x p v a", mode=mode), {"x": x}, np.pad(x, ((0, 0), (1, 2)), name, **fill), opset=19, constants={"v": np.array([7], F), "p": ints(1, 2), "a": ints(-1)})
        yield case("pad/%s/computed-axes" % mode, node("Pad", "x p v a", mode=mode), {"x": x, "p": ints(1, 2), "a": ints(-1)}, np.pad(x, ((0, 0), (1, 2)), name, **fill), opset=19, constants={"v": np.array(7, F)})
    yield case("pad/no-value", node("Pad", "x p"), {"x": x}, np.pad(x, ((0, 1), (1, 0))), constants={"p": ints(0, 1, 1, 0)})
    yield case("pad-2", node("Pad", "x", pads=[0, 1, 1, 0], value=2.0), {"x": x}, np.pad(x, ((0, 1), (1, 0)), constant_values=2), opset=10)
    yield case("pad/cut", node("Pad", "x p"), {"x": x}, np.pad(x[:, 1:], ((0, 0), (0, 2))), constants={"p": ints(0, -1, 0, 2)})


# --- integers ---

def codes(x, scale, zero, kind, up=False):
    """round (x / scale) + zero, saturated. Halves go to even; between integers of constant scales up (docs/integer-semantics.md)."""
    ends, steps = np.iinfo(kind), np.asarray(x, np.float64) / scale
    return np.clip((np.floor(steps + 0.5) if up else np.rint(steps)) + zero, ends.min, ends.max).astype(kind)


def real(q, scale, zero):
    return (q.astype(np.float64) - zero) * scale


def integers(r):
    a, b = r.randint(0, 256, (2, 4)).astype(U8), r.randint(0, 256, (2, 4)).astype(U8)
    s = {"sa": np.array(0.5, F), "za": np.array(128, U8), "sb": np.array(0.25, F), "zb": np.array(100, U8), "sy": np.array(1, F), "zy": np.array(90, U8)}
    ra, rb = real(a, 0.5, 128), real(b, 0.25, 100)
    binary = "a sa za b sb zb sy zy"
    # Every scale and zero point in turn is computed, so that the operator is spelled out.
    for name, op, want in (("add", "QLinearAdd", ra + rb), ("mul", "QLinearMul", ra * rb)):
        for computed in (None, "sa", "zb", "sy"):
            inputs = {"a": a, "b": b, **({computed: s[computed]} if computed else {})}
            yield case("qlinear-%s/%s" % (name, computed), node(op, binary, domain=MS), inputs, codes(want, 1, 90, U8, not computed), constants={k: v for k, v in s.items() if k != computed})
    c = r.rand(2, 4) > 0.5
    for computed in (None, "sa", "zb", "sy"):
        inputs = {"c": c, "a": a, "b": b, **({computed: s[computed]} if computed else {})}
        yield case("qlinear-where/%s" % computed, node("QLinearWhere", "c " + binary, domain=MS), inputs, codes(np.where(c, ra, rb), 1, 90, U8, not computed), constants={k: v for k, v in s.items() if k != computed})
        inputs.pop("c")
        # Kernels rescale a part whose scale is known as codes.
        parts = [codes(x, 1, 90, U8, computed not in (own, "sy")) for x, own in ((ra, "sa"), (rb, "sb"))]
        yield case("qlinear-concat/%s" % computed, node("QLinearConcat", "sy zy a sa za b sb zb", domain=MS, axis=1), inputs, np.concatenate(parts, 1),
                   constants={k: v for k, v in s.items() if k != computed}, reference=codes(np.concatenate([ra, rb], 1), 1, 90, U8, not computed))
    unary = {"s": np.array(0.25, F), "z": np.array(128, U8), "sy": np.array(2.0 ** -8, F), "zy": np.array(0, U8)}
    x = real(b, 0.25, 128)
    for computed in (None, "s", "zy"):
        inputs, constants = {"b": b, **({computed: unary[computed]} if computed else {})}, {k: v for k, v in unary.items() if k != computed}
        yield case("qlinear-sigmoid/%s" % computed, node("QLinearSigmoid", "b s z sy zy", domain=MS), inputs, codes(1 / (1 + np.exp(-x)), 2.0 ** -8, 0, U8), constants=constants)
        e = np.exp(x - x.max(1, keepdims=True))
        yield case("qlinear-softmax/%s" % computed, node("QLinearSoftmax", "b s z sy zy", domain=MS, axis=1, opset=13), inputs, codes(e / e.sum(1, keepdims=True), 2.0 ** -8, 0, U8), constants=constants)
        e = np.exp(x - x.max())
        yield case("qlinear-softmax-12/%s" % computed, node("QLinearSoftmax", "b s z sy zy", domain=MS, axis=0, opset=12), inputs, codes(e / e.sum(), 2.0 ** -8, 0, U8), constants=constants)
    leaky = dict(unary, sy=np.array(0.25, F), zy=np.array(128, U8))
    yield case("qlinear-leaky-relu", node("QLinearLeakyRelu", "b s z sy zy", domain=MS, alpha=0.5), {"b": b}, codes(np.where(x < 0, x / 2, x), 0.25, 128, U8, True), constants=leaky)
    p = r.randint(0, 256, (1, 3, 4, 4)).astype(U8)
    mean = real(p, 0.25, 128).mean((2, 3), keepdims=True)
    q = dict(unary, sy=np.array(0.0625, F), zy=np.array(128, U8))
    yield case("qlinear-global-pool", node("QLinearGlobalAveragePool", "x s z sy zy", domain=MS), {"x": p}, codes(mean, 0.0625, 128, U8), constants=q)
    yield case("qlinear-global-pool/last", node("QLinearGlobalAveragePool", "x s z sy zy", domain=MS, channels_last=1), {"x": p.transpose(0, 2, 3, 1).copy()}, codes(mean, 0.0625, 128, U8).transpose(0, 2, 3, 1), constants=q)
    parts = real(p, 0.25, 128).reshape(1, 3, 2, 2, 2, 2).mean((3, 5))
    for last in (0, 1):
        turned = p.transpose(0, 2, 3, 1).copy() if last else p
        want = codes(parts, 0.0625, 128, U8)
        yield case("qlinear-pool/%d" % last, node("QLinearAveragePool", "x s z sy zy", domain=MS, kernel_shape=[2, 2], strides=[2, 2], channels_last=last), {"x": turned}, want.transpose(0, 2, 3, 1) if last else want, constants=q)
    i, j = r.randint(-128, 128, (3, 4)).astype(I8), r.randint(-128, 128, (3, 4)).astype(I8)
    zeros = {"zi": np.array(-3, I8), "zj": np.array(9, I8)}
    for names in ("i _ j _", "i zi j _", "i _ j zj", "i zi j zj"):
        want = (i.astype(I32) + (3 if "zi" in names else 0)) * (j.astype(I32) - (9 if "zj" in names else 0))
        yield case("mul-integer/" + names.replace(" ", ""), node("MulInteger", names, domain=MS), {"i": i, "j": j}, want, constants={k: v for k, v in zeros.items() if k in names})
    yield case("mul-integer/short", node("MulInteger", "i zi j", domain=MS), {"i": i, "j": j}, (i.astype(I32) + 3) * j.astype(I32), constants={"zi": zeros["zi"]})
    for axes, keep in (([1], 1), ([0, -1], 0), (None, 1), ([], 0)):
        over = tuple(axes) if axes else None
        more = {"axes": axes} if axes is not None else {}
        for kind, v in ((I32, i), (np.uint32, a)):
            yield case("reduce-sum-integer/%s/%s" % (v.dtype, axes), node("ReduceSumInteger", "x", domain=MS, keepdims=keep, **more), {"x": v}, v.sum(over, kind, keepdims=bool(keep)))
        constants = {"s": np.array(0.25, F), "z": np.array(0, U8), "sy": np.array(0.25, F), "zy": np.array(7, U8)}
        yield case("qlinear-reduce-mean/%s" % axes, node("QLinearReduceMean", "x s z sy zy", domain=MS, keepdims=keep, **more), {"x": a // 4},
                   codes(real(a // 4, 0.25, 0).mean(over, keepdims=bool(keep)), 0.25, 7, U8), constants=constants)


# --- sequences ---

def sequences(r):
    x, y = r.randn(2, 3).astype(F), r.randn(2, 3).astype(F)
    made = node("SequenceConstruct", "x y", "s")
    at = lambda k, s="s": node("SequenceAt", "%s %s" % (s, k), "y0")
    both, out = {"x": x, "y": y}, {"outputs": ("y0",)}
    n = {"zero": np.array(0, I64), "one": np.array(1, I64), "last": np.array(-1, I64), "two": np.array(2, I64), "below": np.array(-3, I64), "pair": ints(0, 1)}
    for k, want in (("zero", x), ("one", y), ("last", y), ("two", "input 1 is outside the sequence"), ("below", "input 1 is outside the sequence"), ("pair", "input 1 is not one number")):
        yield case("sequence-at/" + k, [made, at(k)], both, want, constants=n, **out)
    z = r.randn(2, 3).astype(F)
    for k, want in (("zero", [z, x, y]), ("one", [x, z, y]), ("two", [x, y, z]), ("last", [x, z, y]), ("_", [x, y, z]), ("below", "input 2 is outside the sequence"), ("pair", "input 2 is not one number")):
        nodes = [made, node("SequenceInsert", "s z %s" % k if k != "_" else "s z", "t"), node("ConcatFromSequence", "t", "y0", axis=0)]
        yield case("sequence-insert/" + k, nodes, dict(both, z=z), want if isinstance(want, str) else np.concatenate(want), constants=n, **out)
    yield case("sequence-insert/sequence", [made, node("SequenceInsert", "s s", "t"), node("SequenceLength", "t", "y0")], both, "input 1 is a sequence", **out)
    for k, want in (("zero", y), ("_", x), ("last", x), ("two", "input 1 is outside the sequence")):
        yield case("sequence-erase/" + k, [made, node("SequenceErase", "s " + k if k != "_" else "s", "t"), at("zero", "t")], both, want, constants=n, **out)
    empty = node("SequenceEmpty", "", "s", dtype=1)
    yield case("sequence-erase/empty", [empty, node("SequenceErase", "s", "t"), node("SequenceLength", "t", "y0")], both, "empty", **out)
    yield case("concat-from/empty", [empty, node("ConcatFromSequence", "s", "y0", axis=0)], both, "the sequence is empty", **out)
    yield case("sequence-length", [empty, node("SequenceInsert", "s x", "t"), node("SequenceLength", "t", "y0")], {"x": x}, np.array(1, I64), **out)
    yield case("concat-from/new", [made, node("ConcatFromSequence", "s", "y0", axis=-1, new_axis=1)], both, np.stack([x, y], -1), **out)
    w = r.randn(5, 4).astype(F)
    pieces = lambda more, **k: node("SplitToSequence", "x" + more, "s", **k)
    for name, more, attributes, place, want in (("ones", "", {"keepdims": 0}, "last", w[4]), ("ones-kept", "", {}, "last", w[4:]), ("twos", " two", {"axis": 0}, "last", w[4:]), ("axis", " two", {"axis": -1}, "one", w[:, 2:]),
                                                ("listed", " parts", {"keepdims": 0}, "one", w[1:])):
        yield case("split-to/" + name, [pieces(more, **attributes), at(place)], {"x": w}, want, constants=dict(n, parts=ints(1, 4)), **out)
    yield case("split-to/none", [pieces("", axis=0), node("SequenceLength", "s", "y0")], {"x": w[:0]}, np.array(0, I64), **out)
    yield case("split-to/many", [pieces("", axis=0), node("SequenceLength", "s", "y0")], {"x": np.zeros(4097, F)}, "sequence of more than 4096 elements", **out)
    yield case("split-to/listed-wrong", [pieces(" parts"), at("one")], {"x": w}, "*n_SplitToSequence*", constants=dict(n, parts=ints(1, 3)), **out)


def running(r):
    x = r.randint(-3, 4, (3, 5, 4)).astype(F)
    for axis, exclusive, reverse in itertools.product((0, 1, -1), (0, 1), (0, 1)):
        want = np.flip(x, axis) if reverse else x
        if exclusive:
            want = np.concatenate([np.ones_like(want.take([0], axis)), want.take(range(want.shape[axis] - 1), axis)], axis)
        want = np.cumprod(want, axis)
        want = np.flip(want, axis) if reverse else want
        for kind, open_axes in ((F, ()), (F, (0, 1)), (I64, ())):
            yield case("cum-prod/%d%d%d/%s%d" % (axis, exclusive, reverse, kind.__name__, len(open_axes)), node("CumProd", "x a", exclusive=exclusive, reverse=reverse),
                       {"x": x.astype(kind)}, want.astype(kind), opset=26, constants={"a": np.array(axis, I64)}, open_axes=open_axes)
    yield case("cum-prod/computed", node("CumProd", "x a"), {"x": x, "a": np.array(1, I64)}, "unsupported input 1 that is not constant", opset=26)


def cases():
    for seed, part in enumerate((shapes, constants, splits, slices, pads, integers, sequences, running)):
        yield from part(np.random.RandomState(seed))


def run(lptc, folder, model, inputs, outputs, flags):
    path, out = os.path.join(folder, "m.json"), os.path.join(folder, "out")
    with open(path, "w") as f:
        json.dump(model, f)
    command = [lptc, "exec", path, "-o", out] + flags
    for k, a in inputs.items():
        np.save(os.path.join(folder, k + ".npy"), a)
        command += ["-i", "%s=%s" % (k, os.path.join(folder, k + ".npy"))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["exit code %d" % done.returncode])[-1]
    return [np.load(os.path.join(out, k + ".npy")) for k in outputs]


def difference(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return "%s%s instead of %s%s" % (got.dtype, list(got.shape), want.dtype, list(want.shape))
    if want.dtype.kind == "f":
        return None if np.allclose(got, want, 1e-6, 1e-6) else "%s instead of %s" % (got.ravel()[:8], want.ravel()[:8])
    return None if np.array_equal(got, want) else "%s instead of %s" % (got.ravel()[:8], want.ravel()[:8])


def main():
    lptc, chosen, n, bad = sys.argv[1], sys.argv[2:], 0, 0
    for name, model, inputs, outputs, both in cases():
        if chosen and not any(c in name for c in chosen):
            continue
        problem = None
        for flags, want in zip(([], ["--reference"]), both):
            with tempfile.TemporaryDirectory() as folder:
                got = run(lptc, folder, model, inputs, outputs, flags)
            if isinstance(got, str) or isinstance(want, str):
                said = isinstance(got, str) and isinstance(want, str) and want.strip("*") in got and got.startswith("lptc: ") and "m.json: node \"n_" in got
                problem = problem or (None if said else "%s instead of %s" % (got, want if isinstance(want, str) else "numbers"))
            else:
                problem = problem or next(filter(None, map(difference, got, want)), None)
        n, bad = n + 1, bad + (problem is not None)
        print("%s %d %s%s" % ("not ok" if problem else "ok", n, name, " # %s" % problem if problem else ""))
    print("1..%d" % n)
    sys.exit(bad > 0)


main()
