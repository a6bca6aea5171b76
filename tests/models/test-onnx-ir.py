#!/usr/bin/python3
"""ONNX networks written as OpenVINO IR, read back, and run beside the original on seeded random input by the scalar executor.

    test-onnx-ir.py LPTC SHARED

SHARED is the folder with the models (skipped where it is absent). Real networks agree to 1e-5 of the largest output.

Quantized ones: QuantizeLinear computes round (x / s) + z, FakeQuantize round ((x - low) / (high - low) * 255) with
low = (qmin - z) s and high = (qmax - z) s. In real numbers both are the same code, but

  - low and high are float32, and the formula has three float32 operations: each has a relative error of 2^-24, of at most 255
    steps, so that x / s is off by less than TIE = 5 * 255 * 2^-24 steps (8e-5): what lies closer to a half may go either way;
  - halves go to the even code: to an even round (x / s) there, to an even round (x / s) + z - qmin here.

So in the run of the IR every FakeQuantize is held against QuantizeLinear's formula on its own input: the same code, or the one
beside it where x / s is within TIE of a half. Nothing else is allowed, for any element of any network. (The codes are read back
from the output, whose own rounding is of the order of TIE, too.)

A code that went the other way is noise for the layers behind it, and they do not damp it: with the ties of all layers the two runs
end as two quantizations of one real network. Each has the noise that report.json states against its real form; noise of two
runs adds up to at most twice its amplitude (triangle inequality), so they agree within 20 log10 (2) = 6.02 dB of that SQNR.
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

sys.dont_write_bytecode = True
from tap import LPTC, attempt, case, finish, models, np  # noqa: E402

MODELS = models()


def arrays(folder):
    return {name: np.load(os.path.join(folder, name)).astype(np.float64) for name in sorted(os.listdir(folder))}


TIE = 5 * 255 * 2.0 ** -24


def least_sqnr(path):
    """dB that two runs of a quantized network agree to at least; None for a real one."""
    name = os.path.basename(path)
    if not name.startswith("qdq_"):
        return None
    with open(os.path.join(os.path.dirname(path), "report.json"), encoding="utf-8") as f:
        return min(json.load(f)["sqnr_db_" + name[4:-5]]) - 20 * np.log10(2)


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


def file_of(folder, name):
    return os.path.join(folder, re.sub(r"[^A-Za-z0-9_.-]", "_", name) + ".npy")


def text_of(path):
    return subprocess.run([LPTC, "print", path], stdout=subprocess.PIPE, text=True, check=True).stdout


def wrong_codes(path, ir, dump, given):
    """(what is wrong or None, a note): every FakeQuantize of the IR that stands for a QuantizeLinear, on its own input."""
    quantize = r"^%(\S+) = Quantize\(%\S+\) : ([ui])8\[.*?\] q\{scale=([-+.\de]+)(?:, zp=(-?\d+))?\}"
    meant = {n: (t, np.float32(s), int(z or 0)) for n, t, s, z in re.findall(quantize, text_of(path), re.M)}
    inputs = dict(w.split("=", 1) for w in given if "=" in w and not w.startswith("--"))
    checked = ties = 0
    for name, source, ends in re.findall(r"^%(\S+) = FakeQuantize\(%(\S+?)(?: as \w+)?, (.*?)\)", text_of(ir), re.M):
        low, high, out_low, out_high = ends.split(", ")
        if name not in meant or (low, high) != (out_low, out_high):
            continue
        kind, scale, zero = meant[name]
        x = np.load(inputs[source] if source in inputs else file_of(dump, source)).astype(np.float64) / np.float64(scale)
        y = np.load(file_of(dump, name)).astype(np.float64) / np.float64(scale)
        least = (-128 if kind == "i" else 0) - zero
        want = np.clip(np.rint(x), least, least + 255)
        other = np.abs(y - want) > 0.5
        # A tie: x / s is as far from its nearest half as the rounding of the formula reaches, and the code is the one beyond it.
        tie = (np.abs(np.abs(x - np.floor(x)) - 0.5) <= TIE) & (np.abs(y - want) < 1.5)
        if (other & ~tie).any():
            return "%s: %d codes are not QuantizeLinear's, and no ties" % (name, int((other & ~tie).sum())), ""
        if np.abs(y - np.rint(y)).max(initial=0) > TIE:
            return "%s: between two codes" % name, ""
        checked += x.size
        ties += int(other.sum())
    return (None if checked else "no FakeQuantize was found"), ", %d of %d codes beyond a tie" % (ties, checked)


def feeds(path):
    """The seeded random arrays beside a model, by its inputs' names; none = drawn by lptc."""
    folder = os.path.dirname(path)
    names = re.findall(r"^%(\S+) = Parameter", text_of(path), re.M)
    files = [os.path.join(folder, "input_%d.npy" % i) for i in range(len(names))]
    return [w for n, f in zip(names, files) if os.path.exists(f) for w in ("-i", "%s=%s" % (n, f))] or ["--random=1"]


def check(path, tmp):
    ir, want, got = tmp + "/net.xml", tmp + "/want", tmp + "/got"
    given, sqnr, dump = feeds(path), least_sqnr(path), tmp + "/dump"
    said = (attempt("transform", "--until=prepare", path, "-o", ir)
            or attempt("exec", "--reference", path, "-o", want, *given)
            or attempt("exec", "--reference", ir, "-o", got, *given, *([] if sqnr is None else ["--dump-all", dump])))
    if said:
        return True, said
    bad, note = differs(arrays(got), arrays(want), sqnr)
    if sqnr is None:
        return bad, note
    wrong, more = wrong_codes(path, ir, dump, given)
    return bad or wrong is not None, wrong or note + more


for path in sorted(glob.glob(MODELS + "/onnx-light-topologies/*/model.onnx") + glob.glob(MODELS + "/synthetic/*/*.onnx")):
    with tempfile.TemporaryDirectory() as work:
        bad, note = check(path, work)
    case(os.path.relpath(path, MODELS)[:-5], not bad, note)
finish()
