#!/usr/bin/python3
"""lptc against ONNX Runtime: recurrent and sampling operators and subgraphs on random data, and ONNX files that lptc wrote.

    test-onnx-runtime.py LPTC SHARED

Needs numpy, SHARED/tools/modelgen/pyort.py and the library that $ORT_LIB or $ORT_NODE names; else skipped (code 77).
Prints TAP with the largest difference, or the cosine, of each case.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile


sys.dont_write_bytecode = True
from tap import LPTC, attempt, case, finish, np, skip  # noqa: E402

SHARED = sys.argv[2]
if not os.environ.get("ORT_LIB") and not os.environ.get("ORT_NODE"):
    skip("neither ORT_LIB nor ORT_NODE is set")
sys.path.insert(0, os.path.join(SHARED, "tools", "modelgen"))
try:
    import pyort
except ImportError as e:
    skip("no " + (e.name or "module"))
BOUND = 1e-4


# --- models of one node, as protobuf

def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if isinstance(value, list):
        body = b"".join(field(9, v) for v in value) + field(20, 8)
    else:
        number, kind = {int: (3, 2), float: (2, 1), str: (4, 3)}[type(value)]
        body = field(number, value) + field(20, kind)
    return field(1, name) + body


def info(name, array):
    shape = b"".join(field(1, field(1, d)) for d in array.shape) if array is not None else None
    elem = 1 if array is None else pyort.ELEM_OF[array.dtype]
    return field(1, name) + field(2, field(1, field(1, elem) + (field(2, shape) if shape is not None else b"")))


def one_node(op, opset, inputs, outputs, attrs):
    """@inputs: name -> array, in order; None = left out."""
    node = b"".join(field(1, n if a is not None else "") for n, a in inputs.items())
    node += b"".join(field(2, n) for n in outputs) + field(4, op)
    node += b"".join(field(5, attribute(k, v)) for k, v in attrs.items())
    graph = field(1, node) + field(2, "g") + b"".join(field(11, info(n, a)) for n, a in inputs.items() if a is not None)
    graph += b"".join(field(12, info(n, None)) for n in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset))


def check(tmp, name, op, opset, inputs, outputs, **attrs):
    path, out = os.path.join(tmp, "m.onnx"), os.path.join(tmp, "out")
    feeds = {n: a for n, a in inputs.items() if a is not None}
    args = []
    with open(path, "wb") as f:
        f.write(one_node(op, opset, inputs, outputs, attrs))
    for n, a in feeds.items():
        np.save(os.path.join(tmp, n + ".npy"), a)
        args += ["-i", "%s=%s/%s.npy" % (n, tmp, n)]
    said = attempt("exec", "--reference", path, "-o", out, *args)
    if said:
        case(name, False, said)
        return
    want = pyort.Session(path, threads=1).run(feeds)
    worst = 0.0
    for n, w in zip(outputs, want):
        got = np.load(os.path.join(out, n + ".npy"))
        if got.shape != w.shape:
            case(name, False, "%s: shape %s, not %s" % (n, got.shape, w.shape))
            return
        worst = max(worst, float(np.abs(got - w).max(initial=0)))
    case(name, worst <= BOUND, "largest difference %.2g" % worst)


def recurrent(tmp, rng):
    def f(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    t, b, i, s = 5, 3, 4, 6
    for op, g in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        names = ["Y", "Y_h"] + (["Y_c"] if g == 4 else [])
        for direction in ("forward", "reverse", "bidirectional"):
            d = 2 if direction == "bidirectional" else 1
            more = [{}, {"linear_before_reset": 1}] if op == "GRU" else [{}]
            for extra in more:
                full = {"X": f(t, b, i), "W": f(d, g * s, i), "R": f(d, g * s, s), "B": f(d, 2 * g * s),
                        "lens": np.array([5, 2, 4], np.int32), "h": f(d, b, s)}
                if g == 4:
                    full["c"] = f(d, b, s)
                tag = "%s-%s%s" % (op.lower(), direction, "-linear" if extra else "")
                check(tmp, tag, op, 14, full, names, hidden_size=s, direction=direction, **extra)
                bare = {"X": full["X"], "W": full["W"], "R": full["R"]}
                check(tmp, tag + "-bare", op, 14, bare, names, hidden_size=s, direction=direction, **extra)
    check(tmp, "lstm-clip", "LSTM", 14, {"X": f(t, b, i), "W": f(1, 4 * s, i), "R": f(1, 4 * s, s), "B": f(1, 8 * s)},
          ["Y"], hidden_size=s, clip=0.5)
    check(tmp, "rnn-relu", "RNN", 14, {"X": f(t, b, i), "W": f(1, s, i), "R": f(1, s, s)}, ["Y", "Y_h"],
          hidden_size=s, activations=["Relu"])


def sampling(tmp, rng):
    x = rng.standard_normal((2, 3, 7, 6)).astype(np.float32)
    grid = rng.uniform(-1.3, 1.3, (2, 4, 5, 2)).astype(np.float32)
    for opset, mode in ((16, "bilinear"), (16, "nearest"), (16, "bicubic"), (20, "linear"), (20, "cubic")):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                check(tmp, "grid-sample-%s-%s-%d" % (mode, padding, corners), "GridSample", opset, {"X": x, "grid": grid}, ["Y"],
                      mode=mode, padding_mode=padding, align_corners=corners)
    rois = np.array([[0, 0, 9, 11], [3.5, 2.25, 10, 8], [1, 1, 1.5, 1.5]], np.float32)
    images = np.array([0, 1, 0], np.int64)
    for opset, extra in ((10, {}), (16, {}), (16, {"coordinate_transformation_mode": "output_half_pixel"})):
        for ratio in (0, 2):
            check(tmp, "roi-align-%d-%s-%d" % (opset, "asymmetric" if extra or opset < 16 else "half", ratio), "RoiAlign", opset,
                  {"X": x, "rois": rois, "images": images}, ["Y"], output_height=3, output_width=2, sampling_ratio=ratio,
                  spatial_scale=0.5, **extra)


# --- subgraphs: the models of the fuzz corpus, from protobuf's JSON

MESSAGES = {
    "Model": {"irVersion": (1, int), "graph": (7, "Graph"), "opsetImport": (8, "Opset")},
    "Opset": {"domain": (1, str), "version": (2, int)},
    "Graph": {"node": (1, "Node"), "name": (2, str), "initializer": (5, "Tensor"), "input": (11, "Value"), "output": (12, "Value")},
    "Node": {"input": (1, str), "output": (2, str), "name": (3, str), "opType": (4, str), "attribute": (5, "Attribute")},
    "Attribute": {"name": (1, str), "i": (3, int), "g": (6, "Graph"), "ints": (8, int), "type": (20, ("INT", 2, "GRAPH", 5, "INTS", 7))},
    "Tensor": {"dims": (1, int), "dataType": (2, int), "floatData": (4, float), "int32Data": (5, int), "int64Data": (7, int), "name": (8, str)},
    "Value": {"name": (1, str), "type": (2, "Type")},
    "Type": {"tensorType": (1, "TensorType")},
    "TensorType": {"elemType": (1, int), "shape": (2, "Shape")},
    "Shape": {"dim": (1, "Dim")},
    "Dim": {"dimValue": (1, int), "dimParam": (2, str)},
}


def wire(message, content):
    out = b""
    for key, value in content.items():
        number, kind = MESSAGES[message][key]
        for v in value if isinstance(value, list) else [value]:
            if isinstance(kind, tuple):
                v = kind[kind.index(v) + 1]
            out += field(number, wire(kind, v) if isinstance(kind, str) else int(v) if not isinstance(kind, type) else kind(v))
    return out


def subgraphs(tmp, rng):
    """If, Loop and Scan: ONNX Runtime, lptc, and ONNX Runtime on what lptc writes."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus", "onnx")
    for path in sorted(glob.glob(folder + "/if-*.json") + glob.glob(folder + "/loop-*.json") + glob.glob(folder + "/scan-*.json")):
        name = os.path.basename(path)[:-5]
        with open(path, encoding="utf-8") as f:
            model = json.load(f)
        feeds, args = {}, []
        for value in model["graph"]["input"]:
            tensor = value["type"]["tensorType"]
            shape = [int(d["dimValue"]) for d in tensor["shape"]["dim"]]
            kind = {1: np.float32, 7: np.int64, 9: np.bool_}[int(tensor["elemType"])]
            feeds[value["name"]] = np.asarray(rng.uniform(1, 3, shape)).astype(kind)
            np.save(os.path.join(tmp, value["name"] + ".npy"), feeds[value["name"]])
            args += ["-i", "%s=%s/%s.npy" % (value["name"], tmp, value["name"])]
        original, out, again = (os.path.join(tmp, f) for f in ("o.onnx", "out", "again.onnx"))
        with open(original, "wb") as f:
            f.write(wire("Model", model))
        said = attempt("exec", "--reference", path, "-o", out, *args) or attempt("transform", "--until=prepare", path, "-o", again)
        if said:
            case(name, False, said)
            continue
        rewritten = pyort.Session(again, threads=1).run(feeds)
        try:
            want = pyort.Session(original, threads=1).run(feeds)
        except pyort.OrtError as e:
            # It wants every name once, in subgraphs too, and no outputs of subgraphs that are values from outside.
            if name not in ("if-hides-a-name", "if-passes-through"):
                case(name, False, str(e).strip())
                continue
            want = rewritten
        worst = 0.0
        for value, w, r in zip(model["graph"]["output"], want, rewritten):
            got = np.load(os.path.join(out, value["name"] + ".npy"))
            if got.shape != w.shape or r.shape != w.shape:
                worst = np.inf
            else:
                worst = max(worst, float(np.abs(got - w).max(initial=0)), float(np.abs(r - w).max(initial=0)))
        case(name, worst <= BOUND, "largest difference %.2g" % worst)


# --- ops that only graphs of other sources have, and forms of ops that ONNX has not

OPS = {
    "divide-down": "%a = Parameter : i32[6]\n%b = Parameter : i32[6]\n%y = Divide(%a, %b) : i32[6]\nResult(%y)\n",
    "bitwise": "%a = Parameter : u8[8]\n%b = Parameter : u8[8]\n%x = BitwiseAnd(%a, %b) : u8[8]\n%y = BitwiseXor(%x, %b) : u8[8]\n"
               "%z = BitwiseNot(%y) : u8[8]\nResult(%x)\nResult(%z)\n",
    "shift": "%a = Parameter : u8[8]\n%b = Const {1, 2, 3, 0, 1, 2, 3, 4} : u8[8]\n%x = BitwiseRightShift(%a, %b) : u8[8]\n"
             "%y = BitwiseLeftShift(%x, %b) : u8[8]\nResult(%x)\nResult(%y)\n",
    "finite": "%a = Parameter : f32[4]\n%z = Const {0, 1, 0, 2} : f32[4]\n%q = Divide(%a, %z) : f32[4]\n%x = IsFinite(%q) : boolean[4]\n"
              "%y = IsInf(%q) {detect_negative=false} : boolean[4]\nResult(%x)\nResult(%y)\n",
    "reduce-logical": "%a = Parameter : f32[3,4]\n%z = Const {0} : f32[]\n%b = Greater(%a, %z) : boolean[3,4]\n%i = Const {1} : i64[1]\n"
                      "%x = ReduceLogicalAnd(%b, %i) {keep_dims=true} : boolean[3,1]\n%y = ReduceLogicalOr(%b, %i) : boolean[3]\n"
                      "Result(%x)\nResult(%y)\n",
    "adaptive": "%a = Parameter : f32[2,3,6,8]\n%s = Const {3, 2} : i64[2]\n%x = AdaptiveAvgPool(%a, %s) : f32[2,3,3,2]\n"
                "%y = AdaptiveMaxPool(%a, %s) : f32[2,3,3,2], i64[2,3,3,2]\nResult(%x)\nResult(%y)\n",
    "group-normalization": "%a = Parameter : f32[2,6,3,4]\n%g = Parameter : f32[6]\n%b = Parameter : f32[6]\n"
                           "%y = GroupNormalization(%a, %g, %b) {num_groups=3, epsilon=0.001} : f32[2,6,3,4]\nResult(%y)\n",
    "grn": "%a = Parameter : f32[2,6,3,4]\n%y = GRN(%a) {bias=0.5} : f32[2,6,3,4]\nResult(%y)\n",
    "space-to-batch": "%a = Parameter : f32[2,3,5,4]\n%k = Const {1, 1, 3, 2} : i64[4]\n%p = Const {0, 0, 1, 0} : i64[4]\n"
                      "%q = Const {0, 0, 0, 2} : i64[4]\n%y = SpaceToBatch(%a, %k, %p, %q) : f32[12,3,2,3]\nResult(%y)\n",
    "batch-to-space": "%a = Parameter : f32[12,3,2,3]\n%k = Const {1, 1, 3, 2} : i64[4]\n%p = Const {0, 0, 1, 0} : i64[4]\n"
                      "%q = Const {0, 0, 0, 2} : i64[4]\n%y = BatchToSpace(%a, %k, %p, %q) : f32[2,3,5,4]\nResult(%y)\n",
    "reverse": "%a = Parameter : f32[3,4,2]\n%i = Const {0, -1} : i64[2]\n%y = Reverse(%a, %i) {mode=index} : f32[3,4,2]\n"
               "%m = Const {false, true, false} : boolean[3]\n%z = Reverse(%a, %m) {mode=mask} : f32[3,4,2]\nResult(%y)\nResult(%z)\n",
    "reverse-sequence": "%a = Parameter : f32[3,4,2]\n%l = Const {1, 4, 3} : i32[3]\n"
                        "%y = ReverseSequence(%a, %l) {batch_axis=0, seq_axis=1} : f32[3,4,2]\nResult(%y)\n",
    "roll": "%a = Parameter : f32[3,5]\n%s = Const {4, -7} : i64[2]\n%i = Const {0, 1} : i64[2]\n%y = Roll(%a, %s, %i) : f32[3,5]\nResult(%y)\n",
    "scatter-update": "%a = Parameter : f32[3,5,2]\n%i = Const {4, 0, 2, 1} : i64[2,2]\n%u = Parameter : f32[3,2,2,2]\n%x = Const {1} : i64[]\n"
                      "%y = ScatterUpdate(%a, %i, %u, %x) : f32[3,5,2]\nResult(%y)\n",
    "scatter-last": "%a = Parameter : f32[3,2,5]\n%i = Const {4, 0} : i64[2]\n%u = Parameter : f32[3,2,2]\n%x = Const {-1} : i64[]\n"
                    "%y = ScatterUpdate(%a, %i, %u, %x) : f32[3,2,5]\nResult(%y)\n",
    "scatter-elements": "%a = Parameter : f32[3,4]\n%i = Const {1, 0, 2, 2} : i64[2,2]\n%u = Parameter : f32[2,2]\n%x = Const {1} : i64[]\n"
                        "%y = ScatterElementsUpdate(%a, %i, %u, %x) {reduction=sum} : f32[3,4]\n"
                        "%z = ScatterElementsUpdate(%a, %i, %u, %x) {reduction=max} : f32[3,4]\nResult(%y)\nResult(%z)\n",
    "weights-with-an-axis-in-front": "graph {lowered=true, requant=\"onnx\"}\n%a = Parameter : f32[1,2,3]\n%q = Quantize(%a) : u8[1,2,3] q{scale=0.02, zp=128}\n"
        "%w = Const {1, -2, 3, 4, -5, 6, 7, 8, -9, 10, 11, 12} : i8[1,3,4] q{axis=2, scale=[0.01,0.02,0.05,0.04]}\n"
        "%m = MatMul(%q, %w) #{relaxed} : u8[1,2,4] q{scale=0.013, zp=100}\n%y = Dequantize(%m) : f32[1,2,4]\nResult(%y)\n",
    "bucketize": "%a = Parameter : f32[2,3]\n%b = Const {-0.5, 0, 0.5} : f32[3]\n%x = Bucketize(%a, %b) : i64[2,3]\n"
                 "%y = Bucketize(%a, %b) {output_type=i32, with_right_bound=false} : i32[2,3]\nResult(%x)\nResult(%y)\n",
    "eye": "%a = Parameter : f32[?,5]\n%s = ShapeOf(%a) : i64[2]\n%z = Const {0} : i64[]\n%r = Gather(%s, %z, %z) : i64[]\n%c = Const {4} : i64[]\n"
           "%d = Const {-1} : i64[]\n%y = Eye(%r, %c, %d) {output_type=f32} : f32[?,4]\nResult(%y)\n",
    "grid-sample": "%a = Parameter : f32[2,3,4,5]\n%g = Parameter : f32[2,3,3,2]\n"
                   "%y = GridSample(%a, %g) {mode=bicubic, padding_mode=border, align_corners=true} : f32[2,3,3,3]\nResult(%y)\n",
    "lstm-cell": "%x = Parameter : f32[2,3]\n%h = Parameter : f32[2,4]\n%c = Parameter : f32[2,4]\n%w = Parameter : f32[16,3]\n"
                 "%r = Parameter : f32[16,4]\n%b = Parameter : f32[16]\n%y = LSTMCell(%x, %h, %c, %w, %r, %b) {hidden_size=4} : f32[2,4], f32[2,4]\n"
                 "Result(%y)\nResult(%y.1)\n",
    "gru-cell": "%x = Parameter : f32[2,3]\n%h = Parameter : f32[2,4]\n%w = Parameter : f32[12,3]\n%r = Parameter : f32[12,4]\n"
                "%b = Parameter : f32[16]\n%y = GRUCell(%x, %h, %w, %r, %b) {hidden_size=4, linear_before_reset=true} : f32[2,4]\nResult(%y)\n",
    "rnn-cell": "%x = Parameter : f32[2,3]\n%h = Parameter : f32[2,4]\n%w = Parameter : f32[4,3]\n%r = Parameter : f32[4,4]\n%b = Parameter : f32[4]\n"
                "%y = RNNCell(%x, %h, %w, %r, %b) {hidden_size=4, activations=\"relu\"} : f32[2,4]\nResult(%y)\n",
    "lstm-sequence": "%x = Parameter : f32[2,5,3]\n%h = Parameter : f32[2,2,4]\n%c = Parameter : f32[2,2,4]\n%n = Const {5, 3} : i64[2]\n"
                     "%w = Parameter : f32[2,16,3]\n%r = Parameter : f32[2,16,4]\n%b = Parameter : f32[2,16]\n"
                     "%y = LSTMSequence(%x, %h, %c, %n, %w, %r, %b) {hidden_size=4, direction=bidirectional} : f32[2,2,5,4], f32[2,2,4], f32[2,2,4]\n"
                     "Result(%y)\nResult(%y.1)\nResult(%y.2)\n",
    "gru-sequence": "%x = Parameter : f32[2,5,3]\n%h = Parameter : f32[2,1,4]\n%n = Const {5, 3} : i64[2]\n%w = Parameter : f32[1,12,3]\n"
                    "%r = Parameter : f32[1,12,4]\n%b = Parameter : f32[1,12]\n"
                    "%y = GRUSequence(%x, %h, %n, %w, %r, %b) {hidden_size=4, direction=reverse} : f32[2,1,5,4], f32[2,1,4]\nResult(%y)\nResult(%y.1)\n",
    "rnn-sequence": "%x = Parameter : f32[2,5,3]\n%h = Parameter : f32[2,1,4]\n%n = Const {5, 3} : i64[2]\n%w = Parameter : f32[1,4,3]\n"
                    "%r = Parameter : f32[1,4,4]\n%b = Parameter : f32[1,4]\n"
                    "%y = RNNSequence(%x, %h, %n, %w, %r, %b) {hidden_size=4, direction=forward} : f32[2,1,5,4], f32[2,1,4]\nResult(%y)\nResult(%y.1)\n",
    "resize-scales": "%a = Parameter : f32[1,2,5,7]\n%s = Const {0.6, 1.7} : f32[2]\n%i = Const {2, 3} : i64[2]\n"
                     "%y = Interpolate(%a, %s, %i) {mode=linear_onnx, shape_calculation_mode=scales} : f32[1,2,3,11]\nResult(%y)\n",
}


def from_text(tmp, rng):
    """Graphs as text, run by lptc, against ONNX Runtime on what lptc writes of them."""
    kinds = {"f32": np.float32, "i32": np.int32, "u8": np.uint8}
    files = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "files")
    texts = dict(OPS)
    for file in ("scales", "channels"):
        with open(os.path.join(files, "written-%s.lpt" % file), encoding="utf-8") as f:
            texts["written-" + file] = f.read()
    for name, text in texts.items():
        path, written_path, out = os.path.join(tmp, "t.lpt"), os.path.join(tmp, "t.onnx"), os.path.join(tmp, "text-" + name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        feeds, args = {}, []
        for tensor, dtype, dims in re.findall(r"^%(\S+) = Parameter : (\w+)\[(.*?)\]", text, re.M):
            shape = [3 if d == "?" else int(d) for d in dims.split(",")]
            numbers = rng.uniform(-1, 1, shape) if dtype == "f32" else rng.integers(1, 200, shape) * (rng.choice([-1, 1], shape) if dtype == "i32" else 1)
            feeds[tensor] = np.asarray(numbers).astype(kinds[dtype])
            np.save(os.path.join(tmp, tensor + ".npy"), feeds[tensor])
            args += ["-i", "%s=%s/%s.npy" % (tensor, tmp, tensor)]
        said = attempt("exec", "--reference", path, "-o", out, *args) or \
            attempt("transform", *([] if "lowered" in text else ["--until=prepare"]), path, "-o", written_path)
        if said:
            case(name, False, said)
            continue
        session = pyort.Session(written_path, threads=1)
        worst = 0.0
        for output, w in zip(session.outputs, session.run(feeds)):
            got = np.load(os.path.join(out, re.sub(r"[^A-Za-z0-9_.-]", "_", output) + ".npy"))
            worst = max(worst, float(np.abs(got.astype(np.float64) - w).max(initial=0))) if got.shape == w.shape else np.inf
        case(name, worst <= BOUND, "largest difference %.2g" % worst)


# --- numbers that no code stands for

def beyond(tmp):
    """NaN, infinities and numbers beyond the codes, quantized here in mode onnx and there in what is written."""
    x = np.array([[[np.nan, -np.nan], [np.inf, -np.inf]], [[0.3, -0.3], [1e9, -1e9]]], np.float32)
    np.save(os.path.join(tmp, "x.npy"), x)
    for dtype, zero in (("u4", 3), ("i4", -2), ("u8", 50), ("i8", 5), ("u16", 7), ("i16", 0), ("i32", 0)):
        both = "axis=1, scale=[0.02,0.5], zp=[%d,%d]" % (zero, zero)
        for name, quant in (("", "scale=0.02, zp=%d" % zero), ("-axis", both)):
            path, written_path, out = (os.path.join(tmp, "beyond" + end) for end in (".lpt", ".onnx", ""))
            with open(path, "w", encoding="utf-8") as f:
                f.write("graph {lowered=true}\n%%x = Parameter : f32[2,2,2]\n%%q = Quantize(%%x) : %s[2,2,2] q{%s}\n"
                        "%%y = Dequantize(%%q) : f32[2,2,2]\nResult(%%y)\n" % (dtype, quant))
            said = (attempt("exec", "--reference", "--requant", "onnx", path, "-o", out, "-i", "x=%s/x.npy" % tmp)
                    or attempt("transform", path, "-o", written_path))
            if said:
                case("beyond-" + dtype + name, False, said)
                continue
            got, want = np.load(os.path.join(out, "y.npy")), pyort.Session(written_path, threads=1).run({"x": x})[0]
            # Codes of 32 bits are real numbers there.
            same = (dtype == "i32") & np.isnan(want) | (np.abs(got - want) <= 1e-6 * np.abs(got))
            case("beyond-" + dtype + name, bool(same.all()), "%s for %s" % (got[~same], want[~same]))


# --- ONNX's node tests: read, written, and run by ONNX Runtime

def agrees(got, want, about):
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.dtype.kind != "f":
        return bool((got == want).all())
    with np.errstate(all="ignore"):
        return bool(np.isclose(got, want, rtol=about["rtol"], atol=about["atol"], equal_nan=True).all())


def rewritten_nodes(tmp):
    """Cases that lptc reads: what it writes gives the golden outputs. Left out: types that arrays cannot hold, and operators
    for whose types ONNX Runtime has no kernel."""
    counts, wrong, path = {"right": 0, "not written": 0, "no kernel": 0}, [], os.path.join(tmp, "node.onnx")
    for folder in sorted(glob.glob(os.path.join(SHARED, "corpus", "onnx_node", "test_*"))):
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as f:
            about = json.load(f)
        said = attempt("transform", "--until=prepare", os.path.join(folder, "model.onnx"), "-o", path)
        if about["storage"] or (said and "in ONNX" not in said):
            continue
        if said:
            counts["not written"] += 1
            wrong.append(os.path.basename(folder) + ": " + said)
            continue
        files = [(n, os.path.join(folder, "input_%d.npy" % i)) for i, n in enumerate(about["inputs"])]
        try:
            outputs = pyort.Session(path, threads=1).run({n: np.load(f) for n, f in files if os.path.exists(f)})
        except pyort.OrtError as e:
            good = "Could not find an implementation" in str(e)
            counts["no kernel"] += good
            wrong += [] if good else [os.path.basename(folder) + ": " + str(e).strip()]
            continue
        if all(agrees(got, np.load(os.path.join(folder, "output_%d.npy" % i)), about) for i, got in enumerate(outputs)):
            counts["right"] += 1
        else:
            wrong.append(os.path.basename(folder) + ": differs")
    for line in wrong:
        print("# " + line)
    case("node-tests", not wrong and counts["right"] >= 1214, ", ".join("%d %s" % (n, what) for what, n in counts.items()))


# --- networks of OpenVINO

# Folder of the IR, values at which it is cut.
NETS = {
    "head-pose-estimation-adas-0001": ("FP16-INT8", ()),
    "gaze-estimation-adas-0002": ("FP16-INT8", ()),
    "person-reidentification-retail-0031": ("FP16-INT8", ()),
    "face-detection-retail-0004": ("FP16-INT8", ("fc7_mbox_loc_flat", "mbox_conf_flatten")),
    "open-closed-eye-0001": ("FP16", ()),
}
BEGINNINGS = {"person-reidentification-retail-0031": ("bottleneck1_2/add", "bottleneck1_3/add")}


def cosine(a, b):
    a, b = (np.asarray(v, np.float64).ravel() for v in (a, b))
    return float(a @ b / np.sqrt((a @ a) * (b @ b))) if a.shape == b.shape else -1


def rounding(session, arrays, half):
    """The least cosine of the answer to itself where f16 inputs are off by their last bit: ONNX Runtime rounds every value
    of such a file to f16, an eighth of a step of 8 bits, where lptc computes an IR in single precision."""
    least, want = 1, session.run(arrays)
    for k in range(4 if half else 0):
        draw = np.random.default_rng(k)
        moved = {n: np.nextafter(a, np.where(draw.random(a.shape) < 0.5, -np.inf, np.inf).astype(a.dtype)) if n in half else a
                 for n, a in arrays.items()}
        least = min([least] + [cosine(a, b) for a, b in zip(session.run(moved), want)])
    return least


def written(tmp, net, precision, cuts, begins=False):
    """An OpenVINO network that lptc writes as ONNX, with Q/DQ pairs: ONNX Runtime's answer and lptc's own of the original.

    What counts is the file's meaning: without ONNX Runtime's graph optimisations, which change the answer of the face
    detector more than that; their number is printed. The input is the photograph where there is one: on noise the embedding
    of the re-identification network, whose intervals are stored in f16, follows every tie. At its end it is held to what
    the last bit of its input does there, behind its first blocks to much more (BEGINNINGS)."""
    path, out, name = os.path.join(tmp, net + ".onnx"), os.path.join(tmp, net), "written-" + net + "".join("-" + c.replace("/", "-") for c in cuts if begins)
    folder = os.path.join(SHARED, "models", "ir-" + net)
    if not os.path.isdir(folder):
        return
    ir = glob.glob(os.path.join(folder, precision, "*.xml"))[0]
    cut = ["--output=" + c for c in cuts]
    kind = "real" if glob.glob(folder + "/golden/real.in.*.npy") else "seed"
    feeds = {os.path.basename(f)[len("real.in."):-4]: f for f in glob.glob(folder + "/golden/%s.in.*.npy" % kind)}
    args = [w for n, f in feeds.items() for w in ("-i", "%s=%s" % (n, f))]
    if cuts and not begins:
        said = attempt("transform", "--until=prepare", ir, "-o", path) or "is written"
        case(name + "-whole", "unsupported in ONNX" in said and "node " in said and not os.path.exists(path), said.splitlines()[-1])
    said = attempt("transform", "--until=prepare", ir, "-o", path, *cut) or attempt("exec", "--reference", ir, "-o", out, *args, *cut)
    if said:
        case(name, False, said)
        return
    half = re.findall(r"^%(\S+) = Parameter : f16", subprocess.run([LPTC, "print", ir], stdout=subprocess.PIPE, text=True, check=True).stdout, re.M)
    arrays = {n: np.load(f).astype(np.float16 if n in half else np.float32) for n, f in feeds.items()}
    least = {}
    for level in ("none", "all"):
        session = pyort.Session(path, threads=1, opt=level)
        least[level] = min(cosine(np.load(os.path.join(out, re.sub(r"[^A-Za-z0-9_.-]", "_", output) + ".npy")), y)
                           for output, y in zip(session.outputs, session.run(arrays)))
        floor = rounding(session, arrays, half) if level == "none" else floor
    case(name, least["none"] >= (0.99999 if begins else min(0.999, floor)),
         "least cosine %.7f, optimised %.7f, last bits %.7f" % (least["none"], least["all"], floor))


with tempfile.TemporaryDirectory() as tmp:
    for net, (precision, cuts) in NETS.items():
        written(tmp, net, precision, cuts)
        for cut in BEGINNINGS.get(net, ()):
            written(tmp, net, precision, (cut,), begins=True)
    recurrent(tmp, np.random.default_rng(1))
    sampling(tmp, np.random.default_rng(2))
    subgraphs(tmp, np.random.default_rng(3))
    from_text(tmp, np.random.default_rng(4))
    beyond(tmp)
    if os.path.isdir(os.path.join(SHARED, "corpus", "onnx_node")):
        rewritten_nodes(tmp)
finish()
