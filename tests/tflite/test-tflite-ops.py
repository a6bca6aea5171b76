#!/usr/bin/python3
"""Single operators of random data: lptc against TensorFlow Lite.

test-tflite-ops.py LPTC [NAME...]; $TFLITE_LIB is libtensorflowlite_c.so 2.9, without it only operators run that the cases define themselves, and
those that lptc has to refuse. Prints TAP. DIFFERENCES names the cases that are known to differ. Integers are equal bit for bit, floats within 1e-5
of the greatest.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

try:
    import numpy
except ImportError:
    print("1..0 # SKIP numpy is not there")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import cases
from peer import difference, load_library, own, peer

DIFFERENCES = {
    "WHERE/i16": "2.9 finds nothing in 16 bits",
}


def main():
    lptc, chosen = sys.argv[1], sys.argv[2:]
    lib = load_library()
    n = bad = 0
    refused = []
    for name, data, inputs, outputs, expected in cases():
        if chosen and not any(c in name for c in chosen):
            continue
        names, arrays = [i[0] for i in inputs], [i[1] for i in inputs]
        wants = peer(lib, data, arrays) if expected is None and lib is not None else expected
        if wants is None:
            refused.append(name)
            continue
        problem = None
        for flags in ([], ["--reference"]):
            got = own(lptc, data, arrays, names, outputs, flags)
            if isinstance(got, str):
                problem = None if isinstance(wants, str) and wants in got and got.startswith("lptc: ") else got
            elif isinstance(wants, str):
                problem = "runs"
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
