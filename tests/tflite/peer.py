"""TensorFlow Lite's C library as a peer ($TFLITE_LIB), lptc, and how far their results are apart.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes as C
import os
import re
import subprocess
import tempfile

import numpy as np

LIB = os.environ.get("TFLITE_LIB")
CODES = {1: np.float32, 2: np.int32, 3: np.uint8, 4: np.int64, 6: np.bool_, 7: np.int16, 8: np.complex64, 9: np.int8, 10: np.float16,
         11: np.float64, 13: np.uint64, 16: np.uint32, 17: np.uint16}


def load_library():
    """None where $TFLITE_LIB names none."""
    if not LIB or not os.path.exists(LIB):
        return None
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


def own(lptc, data, arrays, names, outputs, flags, folder=None):
    """What lptc makes of it, or what it says; @folder is where the file lies."""
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(folder or tmp, "m.tflite")
        with open(path, "wb") as f:
            f.write(data)
        cmd = [lptc, "exec", path, "-o", tmp + "/out"] + flags      # a folder: libzip, for .npz, starts OpenSSL, half of the time
        for k, (name, a) in enumerate(zip(names, arrays)):
            np.save("%s/%d.npy" % (tmp, k), a)
            cmd += ["-i", "%s=%s/%d.npy" % (name, tmp, k)]
        run = subprocess.run(cmd, capture_output=True, text=True)
        if run.returncode:
            return (run.stderr.strip().splitlines() or ["exit %d" % run.returncode])[-1].replace(folder or tmp, "")
        return [np.load("%s/out/%s.npy" % (tmp, re.sub(r"[^A-Za-z0-9_.-]", "_", n))) for n in outputs]


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


def describe(lptc, path):
    """Inputs (name, type, shape) and names of outputs of a model; open lengths are 1."""
    text = subprocess.run([lptc, "print", path], capture_output=True, text=True).stdout
    types = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
             "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "boolean": np.bool_}
    inputs, outputs = [], []
    for line in text.splitlines():
        m = re.match(r'%(?:"(.*?)"|(\S+)) = Parameter\b.*? : (\w+)\[(.*?)\]', line)
        if m:
            shape = [1 if d == "?" else int(d) for d in m[4].split(",") if d]
            inputs.append((m[1] or m[2], np.dtype(types[m[3]]), shape))
        m = re.match(r'Result\(%(?:"(.*?)"|([^\s)]+))\)(?: \{output="(.*)"\})?', line)
        if m:
            outputs.append(m[3] or m[1] or m[2])
    return inputs, outputs
