#!/usr/bin/python3
"""Single operators of random data: lptc against TensorFlow Lite.

test-tflite-ops.py LPTC [NAME...]; $TFLITE_LIB is libtensorflowlite_c.so 2.9, without it the test is skipped. Prints TAP.
DIFFERENCES names the cases that are known to differ. Integers are equal bit for bit, floats within 1e-5 of the greatest.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes as C
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is not there")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import cases

LIB = os.environ.get("TFLITE_LIB")
CODES = {1: np.float32, 2: np.int32, 3: np.uint8, 4: np.int64, 6: np.bool_, 7: np.int16, 8: np.complex64, 9: np.int8, 10: np.float16,
         11: np.float64, 13: np.uint64, 16: np.uint32, 17: np.uint16}


def load_library():
    lib = C.CDLL(LIB)
    for name in ("ModelCreate", "InterpreterOptionsCreate", "InterpreterCreate", "InterpreterGetInputTensor", "InterpreterGetOutputTensor", "TensorData"):
        getattr(lib, "TfLite" + name).restype = C.c_void_p
    lib.TfLiteTensorByteSize.restype = C.c_size_t
    return lib


def peer(lib, data, arrays):
    """What TensorFlow Lite makes of it, or None where it refuses."""
    buffer = C.create_string_buffer(data, len(data))
    model = lib.TfLiteModelCreate(buffer, C.c_size_t(len(data)))
    if not model:
        return None
    options = C.c_void_p(lib.TfLiteInterpreterOptionsCreate())
    lib.TfLiteInterpreterOptionsSetNumThreads(options, 1)
    i = lib.TfLiteInterpreterCreate(C.c_void_p(model), options)
    if not i or lib.TfLiteInterpreterAllocateTensors(C.c_void_p(i)):
        return None
    i = C.c_void_p(i)
    for k, a in enumerate(arrays):
        t = C.c_void_p(lib.TfLiteInterpreterGetInputTensor(i, k))
        a = np.ascontiguousarray(a)
        if lib.TfLiteTensorCopyFromBuffer(t, a.ctypes.data_as(C.c_void_p), C.c_size_t(a.nbytes)):
            return None
    if lib.TfLiteInterpreterInvoke(i):
        return None
    out = []
    for k in range(lib.TfLiteInterpreterGetOutputTensorCount(i)):
        t = C.c_void_p(lib.TfLiteInterpreterGetOutputTensor(i, k))
        shape = [lib.TfLiteTensorDim(t, d) for d in range(lib.TfLiteTensorNumDims(t))]
        size = lib.TfLiteTensorByteSize(t)
        raw = C.string_at(C.c_void_p(lib.TfLiteTensorData(t)), size) if size else b""
        out.append(np.frombuffer(raw, CODES[lib.TfLiteTensorType(t)]).reshape(shape).copy())
    return out


def own(lptc, data, arrays, names, outputs, flags):
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "m.tflite")
        with open(path, "wb") as f:
            f.write(data)
        cmd = [lptc, "exec", path, "-o", tmp + "/out.npz"] + flags
        for k, (name, a) in enumerate(zip(names, arrays)):
            np.save("%s/%d.npy" % (tmp, k), a)
            cmd += ["-i", "%s=%s/%d.npy" % (name, tmp, k)]
        run = subprocess.run(cmd, capture_output=True, text=True)
        if run.returncode:
            return (run.stderr.strip().splitlines() or ["exit %d" % run.returncode])[-1].replace(tmp, "")
        z = np.load(tmp + "/out.npz")
        return [z[re.sub(r"[^A-Za-z0-9_.-]", "_", n)] for n in outputs]


def difference(got, want):
    if got.shape != want.shape:
        return "shape %s, not %s" % (got.shape, want.shape)
    if got.dtype != want.dtype:
        return "type %s, not %s" % (got.dtype, want.dtype)
    if want.dtype.kind in "iub":
        d = np.abs(got.astype(np.int64) - want.astype(np.int64))
        return "%d of %d differ, at most by %d" % ((d > 0).sum(), d.size, d.max()) if d.any() else None
    fine = np.isfinite(want)
    if not np.array_equal(got[~fine], want[~fine], equal_nan=True):
        return "NaN or infinity elsewhere"
    d = np.abs(got[fine].astype(np.float64) - want[fine])
    return "by %g of %g" % (d.max(), np.abs(want[fine]).max()) if d.size and d.max() > 1e-5 * max(np.abs(want[fine]).max(), 1e-6) else None


DIFFERENCES = {
    "TRANSPOSE_CONV/i16/0": "16-bit without a bias",
    "WHERE/i8": "2.9 counts other elements", "WHERE/u8": "the same", "WHERE/i16": "the same",
    "SCATTER_ND/u8": "8-bit sums saturate here",
}


def main():
    lptc, chosen = sys.argv[1], sys.argv[2:]
    lib = load_library() if LIB and os.path.exists(LIB) else None
    if lib is None:
        print("1..0 # SKIP TFLITE_LIB names no libtensorflowlite_c.so")
        sys.exit(77)
    n = bad = 0
    refused = []
    for name, data, inputs, outputs, expected in cases():
        if chosen and not any(c in name for c in chosen):
            continue
        names, arrays = [i[0] for i in inputs], [i[1] for i in inputs]
        wants = peer(lib, data, arrays) if lib is not None and expected is None else expected
        if wants is None:
            refused.append(name)
            continue
        problem = None
        for flags in ([], ["--reference"]):
            got = own(lptc, data, arrays, names, outputs, flags)
            if isinstance(got, str):
                problem = got
            else:
                for g, w in zip(got, wants):
                    problem = problem or difference(g, w)
            if problem:
                problem += " (%s)" % " ".join(flags or ["fast"])
                break
        n += 1
        known = next((why for start, why in DIFFERENCES.items() if name.startswith(start)), None)
        bad += problem is not None and known is None
        print("%s %d %s%s" % ("not ok" if problem else "ok", n, name, " # %s%s" % ("TODO %s: " % known if known else "", problem) if problem else ""))
    print("1..%d" % n)
    if refused:
        print("# %d cases without a peer: %s" % (len(refused), " ".join(refused[:200])))
    sys.exit(bad > 0)


main()
