#!/usr/bin/python3
"""The bundled model, end to end: lptc's float reference against an evaluation in numpy, int8 against the reference.

    test-digits.py LPTC

Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "models"))
from tap import case, execute, finish, lptc, np  # noqa: E402
import make_digits  # noqa: E402

MODEL = os.path.join(ROOT, "models", "digits")
label = np.load(MODEL + "-labels.npy")


def scores(model, out, *options):
    return execute(model, ["image=%s-images.npy" % MODEL], out, "scores", options=options)[0].reshape(len(label), 10)


case("files", make_digits.check(MODEL) == 0, "ports, precisions, accuracy as noted")
with tempfile.TemporaryDirectory() as tmp:
    expect = make_digits.Reader(MODEL).run(np.load(MODEL + "-images.npy"))
    ref = scores(MODEL + ".xml", tmp + "/ref", "--reference")
    # A sum that falls on the other side of a rounding tie of a FakeQuantize moves one activation by one of 255 steps;
    # such samples are few and everywhere else only the float summation order differs.
    error = np.abs(ref - expect).max(1)
    case("reference", np.mean(error < 1e-4) >= 0.95 and error.max() < 0.05,
         "%.1f %% of the samples within 1e-4, worst %.2g" % (100 * np.mean(error < 1e-4), error.max()))

    lptc("transform", MODEL + ".xml", "-o", tmp + "/digits.json")
    layers = json.loads(lptc("explain", MODEL + ".xml", "--json"))
    real = [layer["name"] for layer in layers if layer["precision"].startswith("f")]
    # Nothing behind the last matrix product says what integers to write: its bias is added to real numbers.
    case("integers", real == ["logits", "scores"] and len(layers) > 8, "real layers: " + ", ".join(real))
    low = scores(tmp + "/digits.json", tmp + "/int8")
    exact = scores(tmp + "/digits.json", tmp + "/int8-ref", "--reference")
    case("scalar-equals-fast", low.tobytes() == exact.tobytes(), "int8 kernels and the scalar plan")
    accuracy = [make_digits.percent(s, label) for s in (ref, low)]
    # One percent is five samples.
    case("accuracy", min(accuracy) >= 97 and accuracy[1] >= accuracy[0] - 1, "float reference %.1f %%, int8 %.1f %%" % tuple(accuracy))
    same = np.mean(ref.argmax(1) == low.argmax(1))
    case("agreement", same >= 0.99, "the same digit in %.1f %%" % (100 * same))
finish()
