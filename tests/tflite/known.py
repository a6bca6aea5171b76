"""What TensorFlow Lite 2.9 made of the cases, so that they run where its library is not: known.txt, written by test-tflite-ops.py --record.

A line is a case: its name, then each output as TYPE[SHAPE] and up to SAMPLES of its numbers, spread by a stride that no axis divides; of floats first the
greatest. The inputs are drawn anew from the same seeds, so a case that changes needs its line recorded again.

    read () -> {name: [row, ...]}     line (name, arrays) -> text     difference (row, array) -> text or None

SPDX-License-Identifier: Apache-2.0
"""
import os

import numpy as np

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known.txt")
SAMPLES, STRIDE = 8, 7919


def sampled(array):
    flat = array.reshape(-1)
    return flat if flat.size <= SAMPLES else flat[(np.arange(SAMPLES) * STRIDE) % flat.size]


def greatest(array):
    fine = array[np.isfinite(array)]
    return float(np.abs(fine).max()) if fine.size else 0.0


def row(array):
    head = "%s[%s]" % (array.dtype, ",".join(map(str, array.shape)))
    if array.dtype.kind == "f":
        return " ".join([head, "%.7g" % greatest(array)] + ["%.9g" % v for v in sampled(array)])
    return " ".join([head] + [str(int(v)) for v in sampled(array)])


def line(name, arrays):
    return "\t".join([name] + [row(a) for a in arrays]) + "\n"


def read():
    found = {}
    with open(PATH) as f:
        for text in f:
            if not text.startswith("#"):
                name, *rows = text.rstrip("\n").split("\t")
                found[name] = rows
    return found


def difference(wanted, array):
    head, *numbers = wanted.split(" ")
    got, *values = row(array).split(" ")
    if got != head:
        return "%s, not %s" % (got, head)
    if array.dtype.kind != "f":
        return None if values == numbers else "%s, not %s" % (" ".join(values), " ".join(numbers))
    want, have = np.array(numbers, np.float64), np.array(values, np.float64)
    fine = np.isfinite(want)
    if not np.array_equal(want[~fine], have[~fine], equal_nan=True):
        return "NaN or infinity elsewhere"
    far = np.abs(want[fine] - have[fine]).max() if fine.any() else 0.0
    return "by %g of %g" % (far, want[0]) if far > 1e-5 * max(want[0], 1e-6) else None
