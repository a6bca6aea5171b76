#!/usr/bin/python3
"""Sequences of LSTMs on integers stay codes: what is joined has the scale of the cell's output, quantized once.

test-tflite-sequence.py LPTC. Prints TAP; without numpy it is skipped.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy_or_skip  # noqa: F401
from recurrent_cases import CELLS, integer_lstm

# What it shows, outputs, peepholes.
CASES = [("plain", CELLS, False), ("peepholes", CELLS, True), ("a projection", 3, False)]


def print_model(lptc, data):
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "model.tflite")
        with open(path, "wb") as f:
            f.write(data)
        return subprocess.run([lptc, "print", path], capture_output=True, text=True, check=True).stdout


def main():
    wrong = 0
    for n, (what, outputs, peephole) in enumerate(CASES, 1):
        text = print_model(sys.argv[1], integer_lstm(n, outputs, peephole)[1])
        joined = re.search(r"= TensorIterator\([^)]*\) : (i8\[[0-9,]*\] q\{[^}]*\})", text)
        ok = joined is not None and " = Quantize(" not in text
        wrong += not ok
        print("%sok %d - %s" % ("" if ok else "not ", n, what))
    print("1..%d" % len(CASES))
    sys.exit(wrong > 0)


main()
