#!/usr/bin/python3
"""The seeds of the fuzzer have every operator of tflite-ops.def: test-tflite-seeds.py. Prints TAP.

make-seeds.py writes them.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

import numpy_or_skip  # noqa: F401
from tfl import CODES, CUSTOM, operators

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../fuzz/corpus/tflite")


def main():
    have = set()
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".tflite"):
            with open(os.path.join(FOLDER, name), "rb") as f:
                have |= operators(f.read())
    wanted = sorted(set(CODES) - {"CUSTOM"} | set(CUSTOM))
    for n, name in enumerate(wanted, 1):
        print("%sok %d - %s" % ("" if name in have else "not ", n, name))
    print("1..%d" % len(wanted))
    sys.exit(any(name not in have for name in wanted))


main()
