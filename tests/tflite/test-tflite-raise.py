#!/usr/bin/python3
"""Operators and networks of integers raised to Q/DQ: exact when they are lowered again, and within one code of ONNX Runtime, op by op.

test-tflite-raise.py LPTC SHARED. Prints TAP; without numpy or SHARED/models it is skipped. LPT_TEST_NIGHTLY=1 takes all cases of 8 bits that
cases.py has, else one of each operator, type and kind. With $ORT_LIB and python3-onnx:

- the raised ONNX file runs in ONNX Runtime without optimisations; cut behind each QuantizeLinear, every part is given the codes that
  it read there, and agrees within one code in 99.9 % of the elements;
- labelled data: the accuracies of both are within half a point.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import tempfile

from cases import cases
from numpy_or_skip import np
from peer import describe

NETWORKS = """tflite-mlperf-tiny/kws_int8 tflite-mlperf-tiny/ic_resnet8_int8 tflite-mlperf-tiny/vww_96_int8 tflite-mlperf-tiny/ad01_int8
tflite-mcunet-vww/vww tflite-str-ww/str_ww_ref_model tflite-resnet-large-cifar10/pretrainedResnet_large_int8
tflite-mobilenet-v2-ptq/tf2_mobilenet_v2_1.0_224_ptq tflite-mobilenet-v1-05-160-quant/mobilenet_v1_0.5_160_quant
tflite-mobilenet-v1-025-224/mobilenet_v1_0.25_224_quant tflite-deeplabv3-dm05-quant/deeplabv3_mnv2_dm05_pascal_quant
tflite-mnist-lenet-300-100/ptq_mnist_lenet-300-100""".split()

# Labelled data: codes as the model takes them, labels.
LABELLED = {"tflite-mlperf-tiny/kws_int8": ("data-kws01/x.i8.npy", "data-kws01/y.i64.npy", 0),
            "tflite-mlperf-tiny/ic_resnet8_int8": ("data-cifar10-jpeg/x.u8.npy", "data-cifar10-jpeg/y.i64.npy", 128)}


# ONNX has no such operator: what it is made of are real numbers.
NOT_IN_ONNX = {"SQUARED_DIFFERENCE", "L2_NORMALIZATION"}

FORMS = ("xml", "prepare"), ("lpt", "raise"), ("json", "raise"), ("onnx", "raise")


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def say(self, name, problem, about=""):
        self.n += 1
        self.bad += problem is not None
        text = problem or about
        print("%s %d %s%s" % ("not ok" if problem else "ok", self.n, name, " # " + text if text else ""), flush=True)


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    return None if p.returncode == 0 else (p.stderr.strip().splitlines() or ["exit %d" % p.returncode])[-1]


def draw(lptc, path):
    rng = np.random.default_rng(0)
    inputs = describe(lptc, path)[0]
    return {name: (rng.uniform(-1, 1, shape).astype(dtype) if dtype.kind == "f" else
                   rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)) for name, dtype, shape in inputs}


def execute(lptc, path, inputs, tmp, *flags):
    """Outputs in order, or a message."""
    command = [lptc, "exec", path, "-o", tmp + "/out.npz", *flags]
    for k, (name, a) in enumerate(inputs.items()):
        np.save("%s/in%d.npy" % (tmp, k), a)
        command += ["-i", "%s=%s/in%d.npy" % (name, tmp, k)]
    problem = run(*command)
    if problem:
        return problem
    with np.load(tmp + "/out.npz") as z:
        return [z[k] for k in z.files]


def unequal(got, want):
    if isinstance(got, str):
        return got
    for g, w in zip(got, want):
        if g.dtype != w.dtype or g.shape != w.shape:
            return "%s%s, not %s%s" % (g.dtype, g.shape, w.dtype, w.shape)
        if g.tobytes() != w.tobytes():
            return "%d of %d differ" % ((g != w).sum(), g.size)
    return None if len(got) == len(want) else "%d outputs, not %d" % (len(got), len(want))


def short_names(model):
    """Values that are not inputs are called v0, v1, ...: names are files."""
    graph, names = model.graph, {}
    kept = {v.name for v in graph.input} | {""}
    for node in graph.node:
        for names_of in (node.input, node.output):
            for k, name in enumerate(names_of):
                if name not in kept:
                    names_of[k] = names.setdefault(name, "v%d" % len(names))
        node.name = node.output[0]
    for value in list(graph.initializer) + list(graph.output):
        value.name = names.get(value.name, value.name)
    del graph.value_info[:]
    return model


def cut(onnx, model):
    """Behind each QuantizeLinear an output, and in its place an input: (model, {output: input})."""
    graph, pairs = model.graph, {}
    types = {i.name: i.data_type for i in graph.initializer}
    consts = set(types)
    for node in graph.node:
        if node.op_type == "QuantizeLinear" and node.input[0] not in consts:
            pairs[node.output[0]] = (node.output[0] + "/codes", types[node.input[2]] if len(node.input) > 2 else onnx.TensorProto.UINT8)
    for node in graph.node:
        for k, name in enumerate(node.input):
            if name in pairs:
                node.input[k] = pairs[name][0]
    del graph.output[:]
    for name, (codes, dtype) in pairs.items():
        graph.output.append(onnx.helper.make_tensor_value_info(name, dtype, None))
        graph.input.append(onnx.helper.make_tensor_value_info(codes, dtype, None))
    return model, {name: codes for name, (codes, _) in pairs.items()}


def op_by_op(lptc, path, inputs, tmp, onnx, pyort):
    """ONNX Runtime's codes behind each op, and what lptc makes of the same codes in front of it."""
    whole = short_names(onnx.load(path))
    model, pairs = cut(onnx, onnx.ModelProto.FromString(whole.SerializeToString()))
    del whole.graph.output[:]
    whole.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in pairs)
    onnx.save(whole, tmp + "/whole.onnx")
    session = pyort.Session(tmp + "/whole.onnx", threads=1, opt="none")
    try:
        theirs = dict(zip(session.outputs, session.run(inputs)))
    except pyort.OrtError as error:
        return str(error), ""
    given = dict(inputs, **{pairs[name]: codes for name, codes in theirs.items()})
    used = {name for node in model.graph.node for name in node.input}
    kept = [v if v.name in inputs else onnx.helper.make_tensor_value_info(v.name, v.type.tensor_type.elem_type, given[v.name].shape)
            for v in model.graph.input if v.name in used]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    onnx.save(model, tmp + "/cut.onnx")
    ours = execute(lptc, tmp + "/cut.onnx", {v.name: given[v.name] for v in kept}, tmp, "--requant", "litert")
    if isinstance(ours, str):
        return ours, ""
    total = far = 0
    for got, want in zip(ours, theirs.values()):
        apart = np.abs(got.astype(np.int32) - want.astype(np.int32))
        total, far = total + got.size, far + int((apart > 1).sum())
    share = 100 - 100 * far / max(total, 1)
    text = "%.4f %% of %d codes of %d values within one code" % (share, total, len(pairs))
    return (None if share >= 99.9 else text), text


def accuracies(lptc, path, raised, shared, data, tmp, pyort):
    x, y = (np.load(os.path.join(shared, "models", d)) for d in data[:2])
    if data[2]:
        x = (x.astype(np.int32) - data[2]).astype(np.int8)
    name = describe(lptc, path)[0][0][0]
    ours = execute(lptc, path, {name: x}, tmp)
    if isinstance(ours, str):
        return ours, ""
    session = pyort.Session(raised, threads=1, opt="none")
    theirs = np.concatenate([session.run({name: x[k:k + 1]})[0] for k in range(len(x))])
    a, b = ((o.reshape(len(x), -1).argmax(1) == y).mean() for o in (ours[0], theirs))
    return None if abs(a - b) <= 0.005 else "%.3f here, %.3f there" % (a, b), "%.3f here, %.3f there" % (a, b)


def kind_of(name):
    """(operator, type, what the case is about if that is no number)."""
    parts = name.split("/")
    return (*parts[:2], parts[2] if len(parts) > 2 and not parts[2].isdigit() else "")


def operators(lptc, tap, tmp):
    """Single operators of 8 bits: the codes of the direct run, or a form that has no word for them says so."""
    seen, path = set(), tmp + "/operator.tflite"
    for name, data, inputs, _, _ in cases():
        kind = kind_of(name)
        if kind[1] not in ("i8", "u8") or (kind in seen and not os.environ.get("LPT_TEST_NIGHTLY")):
            continue
        seen.add(kind)
        with open(path, "wb") as f:
            f.write(data)
        want = execute(lptc, path, dict(inputs), tmp)
        problems = [] if not isinstance(want, str) else [want]
        for form, until in FORMS if not problems else ():
            out = "%s/operator.%s" % (tmp, form)
            refusal = run(lptc, "transform", path, "--until", until, "-o", out)
            if refusal:
                problems += [refusal] if form in ("lpt", "json") or ": unsupported in " not in refusal else []
            elif form != "onnx" or kind[0] not in NOT_IN_ONNX:
                problem = unequal(execute(lptc, out, dict(inputs), tmp, "--requant", "litert"), want)
                problems += ["%s: %s" % (form, problem)] if problem else []
        tap.say("%s raised" % name, "; ".join(problems) or None)


def load_peers(shared):
    if not os.environ.get("ORT_LIB") and not os.environ.get("ORT_NODE"):
        return None, None
    sys.path.insert(0, os.path.join(shared, "tools/modelgen"))
    try:
        import onnx
        import pyort
    except ImportError:
        return None, None
    return onnx, pyort


def main():
    lptc, shared = sys.argv[1:3]
    if not os.path.isdir(os.path.join(shared, "models")):
        print("1..0 # SKIP %s/models is not there" % shared)
        sys.exit(77)
    onnx, pyort = load_peers(shared)
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp:
        operators(lptc, tap, tmp)
        for network in NETWORKS:
            path = os.path.join(shared, "models", network + ".tflite")
            inputs = draw(lptc, path)
            want = execute(lptc, path, inputs, tmp)
            if isinstance(want, str):
                tap.say(network, want)
                continue
            for form, until in FORMS:
                out = "%s/raised.%s" % (tmp, form)
                problem = run(lptc, "transform", path, "--until", until, "-o", out)
                problem = problem or unequal(execute(lptc, out, inputs, tmp, "--requant", "litert"), want)
                tap.say("%s raised, %s" % (network, form), problem)
            if onnx is None:
                continue
            out = tmp + "/raised.onnx"
            tap.say("%s in ONNX Runtime" % network, *op_by_op(lptc, out, inputs, tmp, onnx, pyort))
            if network in LABELLED:
                tap.say("%s accuracy" % network, *accuracies(lptc, path, out, shared, LABELLED[network], tmp, pyort))
    if onnx is None:
        print("# ORT_LIB names no ONNX Runtime, or python3-onnx is not there: not compared with it")
    print("1..%d" % tap.n)
    sys.exit(tap.bad > 0)


main()
