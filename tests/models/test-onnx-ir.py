#!/usr/bin/python3
"""ONNX networks written as OpenVINO IR, read back, and run beside the original on seeded random input by the scalar executor.

    test-onnx-ir.py LPTC SHARED

SHARED is the folder with the models (skipped where it is absent). Real networks agree to 1e-5 of the largest output.
Quantized ones pass FakeQuantize, where halves between two codes may go the other way, and later layers carry that on:
they agree about as well as the quantized network and its float form do (SQNR of report.json, 3 dB less).
Prints TAP, with the numbers behind each case.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP no numpy")
    sys.exit(77)

LPTC, MODELS = sys.argv[1], os.path.join(sys.argv[2], "models")
if not os.path.isdir(MODELS):
    print("1..0 # SKIP the shared folder is absent")
    sys.exit(77)


def lptc(*args):
    """None where it went well, else what it says."""
    run = subprocess.run([LPTC, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.stdout.strip() or "exit code %d" % run.returncode if run.returncode else None


def arrays(folder):
    return {name: np.load(os.path.join(folder, name)).astype(np.float64) for name in sorted(os.listdir(folder))}


def least_sqnr(path):
    """dB of a quantized network against its float form less 3; None for a real one. Two right evaluations differ by about as much."""
    name = os.path.basename(path)
    if not name.startswith("qdq_"):
        return None
    with open(os.path.join(os.path.dirname(path), "report.json"), encoding="utf-8") as f:
        return min(json.load(f)["sqnr_db_" + name[4:-5]]) - 3


def differs(got, want, sqnr):
    """A verdict and the numbers behind it."""
    if sorted(got) != sorted(want):
        return True, "outputs %s, not %s" % (sorted(got), sorted(want))
    worst, least = 0.0, np.inf
    for name, w in want.items():
        g = got[name]
        if g.shape != w.shape or not np.isfinite(g).all():
            return True, "%s: shape %s, not %s, or not finite" % (name, g.shape, w.shape)
        worst = max(worst, float(np.abs(g - w).max(initial=0) / max(np.abs(w).max(initial=0), 1e-30)))
        least = min(least, 10 * np.log10(max((w * w).sum(), 1e-30) / max(((g - w) ** 2).sum(), 1e-30)))
    note = "largest difference %.2g of the largest output, %.1f dB" % (worst, least)
    return (worst > 1e-5, note) if sqnr is None else (least < sqnr, note + ", at least %.1f wanted" % sqnr)


def feeds(path):
    """The seeded random arrays beside a model, by its inputs' names; none = drawn by lptc."""
    folder = os.path.dirname(path)
    names = re.findall(r"^%(\S+) = Parameter", subprocess.run([LPTC, "print", path], stdout=subprocess.PIPE, text=True).stdout, re.M)
    files = [os.path.join(folder, "input_%d.npy" % i) for i in range(len(names))]
    return [w for n, f in zip(names, files) if os.path.exists(f) for w in ("-i", "%s=%s" % (n, f))] or ["--random=1"]


def check(path, tmp):
    ir, want, got = tmp + "/net.xml", tmp + "/want", tmp + "/got"
    given = feeds(path)
    said = (lptc("transform", "--until=prepare", path, "-o", ir)
            or lptc("exec", "--reference", path, "-o", want, *given)
            or lptc("exec", "--reference", ir, "-o", got, *given))
    return (True, said) if said else differs(arrays(got), arrays(want), least_sqnr(path))


paths = sorted(glob.glob(MODELS + "/onnx-light-topologies/*/model.onnx") + glob.glob(MODELS + "/synthetic/*/*.onnx"))
failed = 0
for number, path in enumerate(paths, 1):
    with tempfile.TemporaryDirectory() as tmp:
        bad, note = check(path, tmp)
    failed += bad
    print("%s %d /models/onnx-ir/%s # %s" % ("not ok" if bad else "ok", number, os.path.relpath(path, MODELS)[:-5], note), flush=True)
print("1..%d" % len(paths))
sys.exit(1 if failed else 0)
