#!/usr/bin/python3
"""Operators with one thing wrong: each file is read, or refused in one line; operands that are not there are refused by all.

test-tflite-broken.py READ-TFLITE. The models are the first of cases.py of each operator and type; changed are bytes of the FlatBuffer. Prints TAP; without
numpy it is skipped.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import struct
import subprocess
import sys

import numpy_or_skip  # noqa: F401
from cases import cases
from tfl import field, follow

STRING, COMPLEX64, INT64, BOOL, FLOAT32, INT8 = 5, 8, 4, 6, 0, 9


class File:
    """The places of the first subgraph's last operator."""

    def __init__(self, data):
        self.data = data
        self.graph = self.item(self.list(follow(data, 0), "Model", "subgraphs"), 0)
        operators = self.list(self.graph, "SubGraph", "operators")
        self.op = self.item(operators, self.count(operators) - 1)
        self.inputs, self.outputs = (self.list(self.op, "Operator", n) for n in ("inputs", "outputs"))

    def list(self, table, name, slot):
        at = field(self.data, table, name, slot)
        return follow(self.data, at) if at else 0

    def count(self, at):
        return struct.unpack_from("<I", self.data, at)[0] if at else 0

    def item(self, at, i):
        return follow(self.data, at + 4 + 4 * i)

    def number(self, at, i):
        return struct.unpack_from("<i", self.data, at + 4 + 4 * i)[0]

    def tensor(self, k):
        """The table of operand @k, or 0."""
        n = self.number(self.inputs, k) if k < self.count(self.inputs) else -1
        return self.item(self.list(self.graph, "SubGraph", "tensors"), n) if n >= 0 else 0

    def with_bytes(self, at, form, value):
        out = bytearray(self.data)
        struct.pack_into(form, out, at, value)
        return bytes(out)


def broken(data):
    """What is wrong, the file."""
    f = File(data)
    n = f.count(f.inputs)
    for k in range(min(n, 6)):
        place = f.inputs + 4 + 4 * k
        yield "operand %d outside" % k, f.with_bytes(place, "<i", 1 << 20)
        yield "operand %d absent" % k, f.with_bytes(place, "<i", -1)
        table = f.tensor(k)
        if not table:
            continue
        kind, shape = field(data, table, "Tensor", "type"), f.list(table, "Tensor", "shape")
        for name, code in (("STRING", STRING), ("COMPLEX64", COMPLEX64), ("INT64", INT64), ("BOOL", BOOL), ("FLOAT32", FLOAT32), ("INT8", INT8)):
            if kind:
                yield "operand %d of %s" % (k, name), f.with_bytes(kind, "<b", code)
        if shape:
            yield "operand %d of rank 0" % k, f.with_bytes(shape, "<I", 0)
            rank = f.count(shape)
            if rank > 1:
                yield "operand %d of a rank less" % k, f.with_bytes(shape, "<I", rank - 1)
            for length in (-5, 0, 7, 2 ** 31 - 1) if rank > 0 else ():
                yield "operand %d of length %d" % (k, length), f.with_bytes(shape + 4 * rank, "<i", length)
    for k in range(n):
        yield "%d operands" % k, f.with_bytes(f.inputs, "<I", k)
    if f.outputs:
        yield "no results", f.with_bytes(f.outputs, "<I", 0)
        yield "result outside", f.with_bytes(f.outputs + 4, "<i", 1 << 20)
    options, kind = field(data, f.op, "Operator", "builtin_options"), field(data, f.op, "Operator", "builtin_options_type")
    if options and kind:
        yield "options of another operator", f.with_bytes(kind, "<B", 101)
    custom = f.list(f.op, "Operator", "custom_options")
    if custom:
        yield "options cut", f.with_bytes(custom, "<I", f.count(custom) // 2)


def main():
    files, seen = [], set()
    for name, data, *_ in cases():
        kind = tuple(name.split("/")[:2])
        if kind not in seen:
            seen.add(kind)
            files += [("%s: %s" % ("/".join(kind), what), bad) for what, bad in broken(data)]
    run = subprocess.run([sys.argv[1]], input=b"".join(struct.pack("<I", len(data)) + data for _, data in files), capture_output=True)
    lines = run.stdout.decode(errors="replace").splitlines()
    wrong = []
    if len(lines) != len(files) or run.returncode != 0:
        wrong.append("%d lines for %d files, exit code %d, at %s" % (len(lines), len(files), run.returncode, files[min(len(lines), len(files) - 1)][0]))
    wrong += ["%s is %s" % (what, line or "refused without a word") for (what, _), line in zip(files, lines)
              if not line or (line == "read" and what.endswith(" outside"))]
    for what in wrong[:20]:
        print("# " + what)
    print("%s 1 %d files with one thing wrong\n1..1" % ("not ok" if wrong else "ok", len(files)))
    if "-v" in sys.argv:
        for message, n in collections.Counter(lines).most_common():
            print("# %5d %s" % (n, message))
    sys.exit(bool(wrong))


main()
