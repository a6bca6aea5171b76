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
import shutil
import struct
import subprocess
import sys
import tempfile


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


LPTC, SHARED = sys.argv[1], sys.argv[2]
if not os.environ.get("ORT_LIB") and not os.environ.get("ORT_NODE"):
    skip("neither ORT_LIB nor ORT_NODE is set")
sys.path.insert(0, os.path.join(SHARED, "tools", "modelgen"))
try:
    import numpy as np
    import pyort
except ImportError as e:
    skip("no " + (e.name or "module"))
BOUND = 1e-4
done = failed = 0


def case(name, good, note):
    global done, failed
    done += 1
    failed += not good
    print("%s %d /models/onnx-runtime/%s # %s" % ("ok" if good else "not ok", done, name, note), flush=True)


def lptc(*args):
    """None where it went well, else what it says."""
    run = subprocess.run([LPTC, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.stdout.strip() if run.returncode else None


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
    said = lptc("exec", "--reference", path, "-o", out, *args)
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
        said = lptc("exec", "--reference", path, "-o", out, *args) or lptc("transform", "--until=prepare", path, "-o", again)
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


def written(tmp, folder):
    """An OpenVINO network that lptc writes as ONNX with Q/DQ pairs: ONNX Runtime's answer and lptc's own of the same file."""
    path, out, name = os.path.join(tmp, "w.onnx"), os.path.join(tmp, "written"), "written-" + os.path.basename(folder)
    ir = glob.glob(folder + "/FP16-INT8/*.xml")[0]
    feeds = {os.path.basename(f)[len("seed.in."):-4]: f for f in glob.glob(folder + "/golden/seed.in.*.npy")}
    args = [w for n, f in feeds.items() for w in ("-i", "%s=%s" % (n, f))]
    said = lptc("transform", "--until=prepare", ir, "-o", path) or lptc("exec", "--reference", path, "-o", out, *args)
    if said:
        case(name, False, said)
        return
    want = pyort.Session(path, threads=1).run({n: np.load(f).astype(np.float32) for n, f in feeds.items()})
    got = [np.load(os.path.join(out, f)) for f in sorted(os.listdir(out))]
    if len(got) != len(want):
        case(name, False, "%d outputs, not %d" % (len(got), len(want)))
        return
    # Outputs in any order: each finds its like.
    cosine = min(max(float((g * w).sum() / np.sqrt((g * g).sum() * (w * w).sum())) for g in got if g.shape == w.shape) for w in want)
    case(name, cosine >= 0.999, "cosine %.6f" % cosine)


with tempfile.TemporaryDirectory() as tmp:
    for net in ("head-pose-estimation-adas-0001", "gaze-estimation-adas-0002"):
        if os.path.isdir(os.path.join(SHARED, "models", "ir-" + net)):
            written(tmp, os.path.join(SHARED, "models", "ir-" + net))
            shutil.rmtree(os.path.join(tmp, "written"), ignore_errors=True)
    recurrent(tmp, np.random.default_rng(1))
    sampling(tmp, np.random.default_rng(2))
    subgraphs(tmp, np.random.default_rng(3))
print("1..%d" % done)
sys.exit(1 if failed else 0)
