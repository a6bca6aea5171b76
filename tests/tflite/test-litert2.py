#!/usr/bin/python3
"""Mode litert2 against LiteRT 2.5: every result of single operators is equal bit for bit, hybrid ones too.

test-litert2.py LPTC [--record] [NAME...]; $LITERT_JS is the folder of npm's @litertjs/core, which Node runs; without it the results are held against
digests of those that it once gave (litert2-known.txt), which --record writes; that takes one seed for three. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import os
import sys

import numpy_or_skip  # noqa: F401
from litert2_cases import cases
from litert_js import LiteRt
from peer import own

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "litert2-known.txt")


def digest(array):
    return "%s[%s]:%s" % (array.dtype, ",".join(map(str, array.shape)), hashlib.sha256(array.tobytes()).hexdigest()[:16])


def read():
    with open(PATH) as f:
        return dict(line.split() for line in f if not line.startswith("#"))


def record(lite):
    with open(PATH, "w") as out:
        out.write("# Digests of what LiteRT 2.5 gives: see test-litert2.py\n")
        for name, data, inputs in cases(1):
            got = lite.run(data, inputs)
            if isinstance(got, str):
                sys.exit("%s: %s" % (name, got))
            out.write("%s %s\n" % (name, digest(got[0])))


def problem_of(lptc, name, data, inputs, lite, known):
    want = lite.run(data, inputs) if lite.is_there() else None
    for flags in ([], ["--reference"]):
        got = own(lptc, data, inputs, ["x"] if len(inputs) == 1 else ["a", "b"], ["y"], ["--requant", "litert2"] + flags)
        if isinstance(got, str) or isinstance(want, str):
            return got if isinstance(got, str) else want
        if want is not None and digest(got[0]) != digest(want[0]):
            return "%d of %d numbers differ %s" % ((got[0].ravel() != want[0].ravel()).sum() if got[0].size == want[0].size else -1, want[0].size, flags)
        if want is None and digest(got[0]) != known.get(name):
            return "%s, not %s %s" % (digest(got[0]), known.get(name), flags)
    return None


def main():
    lptc, chosen, lite = sys.argv[1], [a for a in sys.argv[2:] if not a.startswith("--")], LiteRt()
    if "--record" in sys.argv:
        return record(lite) if lite.is_there() else sys.exit("LITERT_JS names no folder")
    known = read()
    n = bad = 0
    for name, data, inputs in cases(3 if lite.is_there() else 1):
        if chosen and not any(c in name for c in chosen):
            continue
        problem = problem_of(lptc, name, data, inputs, lite, known)
        n += 1
        bad += problem is not None
        print("%s %d %s%s" % ("not ok" if problem else "ok", n, name, " # " + problem if problem else ""))
    print("1..%d" % n)
    lite.close()
    sys.exit(bad > 0)


main()
