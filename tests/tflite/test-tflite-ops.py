#!/usr/bin/python3
"""Single operators of random data: lptc against TensorFlow Lite.

test-tflite-ops.py LPTC [--quick | --record] [NAME...]; $TFLITE_LIB is libtensorflowlite_c.so 2.9, without it the results are held against those
that it once gave (known.py), which --record writes, and those that the cases define themselves. Prints TAP. DIFFERENCES names the cases that are
known to differ. Integers are equal bit for bit, floats within 1e-5 of the greatest. --quick takes those that define their results, and of the others one
case of each operator and type, and kernels alone.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import sys

import numpy_or_skip  # noqa: F401
import known
from cases import cases
from peer import difference, load_library, own, peer

DIFFERENCES = {
    "WHERE/i16": "2.9 finds nothing in 16 bits",
}


def all_cases():
    """The cases, those of one name numbered from the second on."""
    counts = collections.Counter()
    for name, *rest in cases():
        counts[name] += 1
        yield (name if counts[name] == 1 else "%s/again%d" % (name, counts[name]), *rest)


def kind(name):
    """Operator and type: what --quick takes one case of."""
    return tuple(name.split("/")[:2])


def run_case(lptc, case, wants, differs, quick):
    """None, or how the results differ from @wants; those known to be refused are a text."""
    _, data, inputs, outputs, _ = case
    for flags in [[]] if quick else [[], ["--reference"]]:
        got = own(lptc, data, [i[1] for i in inputs], [i[0] for i in inputs], outputs, flags)
        problem = None
        if isinstance(got, str):
            problem = None if isinstance(wants, str) and wants in got and got.startswith("lptc: ") else got
        elif isinstance(wants, str):
            problem = "runs"
        else:
            problem = next(filter(None, map(differs, got, wants)), None)
        if problem:
            return "%s (%s)" % (problem, " ".join(flags or ["fast"]))
    return None


def record(lib):
    with open(known.PATH, "w") as out:
        out.write("# Results of TensorFlow Lite 2.9: see known.py\n")
        for name, data, inputs, _, expected in all_cases():
            arrays = peer(lib, data, [i[1] for i in inputs]) if expected is None else None
            if arrays is not None:
                out.write(known.line(name, arrays))


def main():
    lptc, flags, chosen = sys.argv[1], [a for a in sys.argv[2:] if a.startswith("--")], [a for a in sys.argv[2:] if not a.startswith("--")]
    lib = load_library()
    if "--record" in flags:
        return record(lib) if lib is not None else sys.exit("TFLITE_LIB names no library")
    quick, stored = "--quick" in flags, known.read()
    n = bad = 0
    refused, seen = [], set()
    for case in all_cases():
        name, data, inputs, _, expected = case
        if (chosen and not any(c in name for c in chosen)) or (quick and expected is None and kind(name) in seen):
            continue
        wants, differs = expected, difference
        if expected is None and lib is not None and not quick:
            wants = peer(lib, data, [i[1] for i in inputs])
        elif expected is None:
            wants, differs = stored.get(name), lambda g, w: known.difference(w, g)
        if wants is None:
            refused.append(name)
            continue
        if expected is None:
            seen.add(kind(name))
        problem = run_case(lptc, case, wants, differs, quick)
        n += 1
        why = next((why for start, why in DIFFERENCES.items() if name.startswith(start)), None)
        bad += problem is not None and why is None
        print("%s %d %s%s" % ("not ok" if problem else "ok", n, name, " # %s%s" % ("TODO %s: " % why if why else "", problem) if problem else ""))
    print("1..%d" % n)
    if refused:
        print("# %d cases without a peer: %s" % (len(refused), " ".join(refused[:200])))
    sys.exit(bad > 0)


main()
