#!/usr/bin/python3
"""In which tables each op has a row: op-tables.py SOURCE_DIR [OP...] [--missing TABLE] [--check]

One line for each row of ir/lpt-ops.def, a column for each table; "-" where the op has no row, which is right where the op
needs none: an op without an integer form is computed in real numbers, one without an operator row by the reference functions,
and what a format cannot say is refused by name when it is written. Real functions are needed by all.

--missing TABLE   the ops without a row there
--check           TAP: every op has a number and a real function, and no table names an op that ir/lpt-ops.def lacks

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import re
import sys

# An op's number is its place there.
HEADER, NUMBER = "include/lpt/lpt-op.h", re.compile(r"^  LPT_OP_(\w+),", re.M)
READ = re.compile(r"^ONNX_\w+ \(.*?\bLPT_OP_([A-Z0-9_]+)", re.M)
# Name of the column: file, and what finds ops in it.
TABLES = [
    ("real", "eval/lpt-exec-ops.def", re.compile(r"^LPT_EXEC \((\w+)", re.M)),
    ("integer", "eval/integer/lpt-int-ops.def", re.compile(r"^LPT_INT_OP \((\w+)", re.M)),
    ("lower", "passes/lower/lower-rules.def", re.compile(r"^LPT_LOWER \((\w+)", re.M)),
    ("operator", "executor/operators/operators.def", re.compile(r"^LPT_OPERATOR \(\w+, *(\w+)", re.M)),
    ("openvino", "ir/lpt-ops.def", re.compile(r'^LPT_OP \((\w+), "[^"]*",.*, "[0-9][0-9 ]*", [^"]*"', re.M)),
    ("onnx-read", "frontends/onnx_json/read/onnx-ops.def", READ),
    ("onnx-write", "frontends/onnx_json/write/onnx-writers.def", re.compile(r"^ONNX_WRITE(?:_[A-Z]+)? \((\w+)", re.M)),
    ("tflite-read", "frontends/tflite/tflite-ops.def", re.compile(r"^TFL_\w+ \(.*?\bLPT_OP_([A-Z0-9_]+)", re.M)),
    ("tflite-write", "frontends/tflite/tflite-ops.def", re.compile(r"^TFL_(?:OP \(\w+, \w+, \w+, [^,]*, |MADE \()(\w+)", re.M)),
]
# Rows of other tables than the ops': what stands for none.
NO_OPS = {"NONE", "OPAQUE", "CUSTOM"}
# Read by functions that name the op they make, not by an argument of their row.
EMITTED = re.compile(r"\bLPT_OP_([A-Z][A-Z0-9_]*)\b")
EMITTERS = {"onnx-read": "frontends/onnx_json/read", "tflite-read": "frontends/tflite/read"}


def read(root, path):
    with open(os.path.join(root, path), errors="replace") as f:
        return f.read()


def read_tables(root):
    """Ops in their order, {column: set of ops}, traits of ops."""
    rows = re.findall(r"^LPT_OP \((\w+), [^,]*, [^,]*, [^,]*, [^,]*, ([^,]*),", read(root, "ir/lpt-ops.def"), re.M)
    has = {name: set(find.findall(read(root, path))) - NO_OPS for name, path, find in TABLES}
    for name, folder in EMITTERS.items():
        for file in sorted(os.listdir(os.path.join(root, folder))):
            if file.endswith(".c"):
                has[name] |= set(op for op in EMITTED.findall(read(root, os.path.join(folder, file))) if op in dict(rows))
    # A function of one input has an integer form and a table without a row.
    unary = {op for op, traits in rows if "UNARY" in traits}
    for name in ("integer", "operator"):
        has[name] |= unary
    # What only moves elements has an operator without a row, too.
    has["operator"] |= set(re.findall(r"^LPT_EXEC \((\w+), \w+, .*F \(MOVES\)", read(root, "eval/lpt-exec-ops.def"), re.M)) - NO_OPS
    return [op for op, _ in rows], has


def print_table(ops, has, only):
    names = [name for name, _, _ in TABLES]
    print("%-34s %s" % ("op", " ".join(names)))
    for op in ops:
        if not only or op in only:
            print("%-34s %s" % (op, " ".join(("yes" if op in has[n] else "-").ljust(len(n)) for n in names).rstrip()))
    print("%-34s %s" % ("%d ops" % len(ops), " ".join(str(len(has[n] & set(ops))).ljust(len(n)) for n in names).rstrip()))


def check(ops, has, numbered):
    failures = ["%s has no number: the last of the enum in %s" % (op, HEADER) for op in ops if op not in numbered]
    failures += ["%s names %s, which ir/lpt-ops.def lacks" % (HEADER, op) for op in sorted(numbered - set(ops))]
    failures += ["%s has no real function: a row in eval/lpt-exec-ops.def" % op for op in ops if op not in has["real"]]
    for name, path, _ in TABLES:
        failures += ["%s names %s, which ir/lpt-ops.def lacks" % (path, op) for op in sorted(has[name] - set(ops) - {"NONE"})]
    print("1..1")
    for line in failures:
        print("# " + line)
    print("%s 1 - op-tables" % ("not ok" if failures else "ok"))
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--missing", choices=[name for name, _, _ in TABLES])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    ops, has = read_tables(args.root)
    if args.check:
        return check(ops, has, set(NUMBER.findall(read(args.root, HEADER))) - NO_OPS)
    if args.missing:
        print("\n".join(op for op in ops if op not in has[args.missing]))
    else:
        print_table(ops, has, {op.upper() for op in args.ops})
    return 0


if __name__ == "__main__":
    sys.exit(main())
