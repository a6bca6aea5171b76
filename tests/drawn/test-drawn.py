#!/usr/bin/python3
"""What lptc writes, in ONNX Runtime and TensorFlow Lite: random graphs of one op each against the reference executor.

    test-drawn.py LPTC SHARED [--count N] [--seed N] [--ops OP,OP,...]

A graph of each op of draws.py and moves.py runs here, is written, and the file runs in the library that $ORT_LIB or
$ORT_NODE names (with SHARED/tools/modelgen/pyort.py) and in the one of $TFLITE_LIB, in a process of its own, for that library
may end it. Our own reader would undo what our writer did wrong. What a writer refuses by name, and types and ranks
that a runtime has no kernel for, do not count. Without numpy and a library skipped (code 77). Prints TAP, an op a line.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import pickle
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tflite")]


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


try:
    import numpy as np

    import draws
    import moves  # noqa: F401  its draws are in draws.DRAWS
    import peer
except ImportError as e:
    skip("no " + (e.name or "module"))
options = argparse.ArgumentParser()
options.add_argument("lptc")
options.add_argument("shared")
options.add_argument("--count", type=int, default=2)
options.add_argument("--seed", type=int, default=1)
options.add_argument("--ops")
options = options.parse_args()
sys.path.insert(0, os.path.join(options.shared, "tools", "modelgen"))
tflite, pyort = peer.load_library(), None
if os.environ.get("ORT_LIB") or os.environ.get("ORT_NODE"):
    try:
        import pyort
    except ImportError:
        pass
if pyort is None and tflite is None:
    skip("neither ONNX Runtime nor TensorFlow Lite")
# What ONNX Runtime has no kernel for, in its words, where the operator's definition has it.
LIMITS = ("NOT_IMPLEMENTED", "Could not find an implementation", "Failed to find kernel", "'Cubic' mode only supports", "NumDimensions() == 4 was false",
          "size_ % 2 == 1 was false", "data type is not supported", "All values must be >= 0")


def call(*args):
    run = subprocess.run([options.lptc, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return (run.stdout.strip().splitlines() or ["exit code %d" % run.returncode])[-1] if run.returncode else None


def in_onnx_runtime(path, feeds):
    """Outputs, or None where it has no kernel, or what it says."""
    try:
        session = pyort.Session(path, threads=1, opt="none")
        return session.run({n: feeds[n] for n in session.inputs})
    except pyort.OrtError as e:
        return None if any(limit in str(e) for limit in LIMITS) else " ".join(str(e).split())


def in_tensorflow_lite(path, feeds):
    """Outputs, or None where it declines the file or dies of it."""
    with open(path, "rb") as f:
        data = f.read()
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        with os.fdopen(theirs, "wb") as f:
            pickle.dump(peer.peer(tflite, data, list(feeds.values())), f)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as f:
        got = f.read()
    return pickle.loads(got) if os.waitpid(child, 0)[1] == 0 and got else None


def difference(have, want, half):
    """Numbers may be of another width there: TensorFlow Lite has none but float32."""
    if have.shape != want.shape:
        return "shape %s, not %s" % (want.shape, have.shape)
    if have.dtype != want.dtype and not (have.dtype.kind == "f" and want.dtype.kind == "f"):
        return "type %s, not %s" % (want.dtype, have.dtype)
    a, b = have.astype(np.float64), want.astype(np.float64)
    bound = 0 if have.dtype.kind != "f" else 4e-3 if half or have.dtype == np.float16 else 2e-5
    with np.errstate(invalid="ignore"):
        far = ~((np.abs(a - b) <= bound * (1 + np.abs(a))) | (a == b) | (np.isnan(a) & np.isnan(b)))
    return "%d of %d differ: %s, not %s" % (far.sum(), far.size, b[far][:3], a[far][:3]) if far.any() else None


def check(op, seed, folder):
    """(formats that ran, what is wrong) of the graph that @seed draws."""
    r = np.random.default_rng(seed)
    g = draws.Graph(r)
    outs = draws.DRAWS[op](g, r)
    path, args, ran = os.path.join(folder, "m.lpt"), [], 0
    text = "\n".join(g.lines + ['Result(%s) {output="y%d"}' % (o, i) for i, o in enumerate(outs)]) + "\n"
    with open(path, "w") as f:
        f.write(text)
    for n, a in g.feeds.items():
        np.save("%s/%s.npy" % (folder, n), a)
        args += ["-i", "%s=%s/%s.npy" % (n, folder, n)]
    said = call("exec", "--reference", "--float", path, "-o", folder + "/out.npz", *args)
    if said:
        return 0, "seed %d: %s" % (seed, said)
    z = np.load(folder + "/out.npz")
    for there, run, form in ((pyort, in_onnx_runtime, "onnx"), (tflite, in_tensorflow_lite, "tflite")):
        written = "%s/m.%s" % (folder, form)
        if there is None:
            continue
        said = call("transform", path, "--until", "raise", "-o", written)
        if said and "unsupported in " not in said:
            return ran, "seed %d: %s" % (seed, said)
        got = run(written, g.feeds) if said is None else None
        if got is None:
            continue
        ran += 1
        said = got if isinstance(got, str) else None
        for i, want in enumerate(got if said is None else []):
            said = said or difference(z["y%d" % i], want, ": f16" in text)
        if said:
            return ran, "%s, seed %d: %s: %s" % (form, seed, said, [line for line in g.lines if " = " + op in line][0])
    return ran, None


def main():
    ops, failed = options.ops.split(",") if options.ops else list(draws.DRAWS), 0
    if hasattr(os, "dup2"):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)      # what the libraries say of what they decline
    with tempfile.TemporaryDirectory() as folder:
        for n, op in enumerate(ops, 1):
            ran, wrong = 0, None
            for i in range(options.count):
                count, said = check(op, options.seed * 100000 + i, folder)
                ran, wrong = ran + count, wrong or said
            failed += wrong is not None
            print("%s %d /drawn/%s # %s" % ("not ok" if wrong else "ok", n, op, wrong or "%d runs elsewhere" % ran), flush=True)
    print("1..%d" % len(ops))
    sys.exit(1 if failed else 0)


main()
