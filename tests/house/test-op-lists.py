#!/usr/bin/python3
"""Code asks an op for its trait, never a list of ops: test-op-lists.py SOURCE_DIR

Finds the functions and tables outside of .def files that name three ops (LPT_OP_...) or more, and compares them with
tests/house/op-lists.txt: lines "FILE NAME: why the rule really is about these ops alone". A comparison by order (op >= LPT_OP_...) is a
list, too: of whatever has its row there, now and later. A list that is not there fails, and so
does a line whose list is gone: the file may only shrink, and has MOST lines. Convolutions in groups are named by readers and in
VIEWED alone: what they have beyond others is in lpt_weighted_view() (ir/lpt-weighted.h). Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

ROOMS = ["ir", "eval", "passes", "executor", "frontends", "quantize", "report", "cli"]
OP = re.compile(r"\bLPT_OP_(?!F_|MAX_|N_)([A-Z][A-Z0-9_]*)\b")
# An op that a function makes is no question; a comparison, a case and an entry of a table are.
ASKED = re.compile(r"(?:[!=]=\s*|\bcase\s+)LPT_OP_(?!F_|MAX_|N_)([A-Z][A-Z0-9_]*)\b")
RANGE = re.compile(r"[<>]=?\s*LPT_OP_(?!F_|MAX_|N_)[A-Z]|\bLPT_OP_(?!F_|MAX_|N_)[A-Z][A-Z0-9_]*\s*[<>]")
# Traits and kinds that are no ops: flags, and what stands for every op of another domain.
NO_OPS = {"CUSTOM", "OPAQUE", "INVALID", "CONST", "PARAMETER", "RESULT"}
LEAST = 3
MOST = 23
GROUPED = re.compile(r"\bLPT_OP_GROUP_CONVOLUTION")
# Those that are about the one op, with the reason.
VIEWED = {
    "passes/group-convolution.c": "the pass of this op: its root",
    "passes/multiply-to-group-convolution.c": "makes one where the target allows it",
}


def strip(text):
    """Without comments and strings, of the same lines."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def blocks(text):
    """(name, is it a table, body) of what stands between braces of the first column, or "= {...};" of tables."""
    depth, start, head = 0, 0, 0
    for m in re.finditer(r"[{}]", text):
        if m.group(0) == "{":
            if depth == 0:
                start = m.start()
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                before = text[head:start]
                names = re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=\s*$|\()", before)
                is_table = before.rstrip().endswith("=")
                yield names[-1 if is_table else 0] if names else "?", is_table, text[start:m.end()]
                head = m.end()


def find_lists(root):
    found = {}
    for room in ROOMS:
        for folder, _, names in sorted(os.walk(os.path.join(root, room))):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(folder, name)
                with open(path, errors="replace") as f:
                    for block, is_table, body in blocks(strip(f.read())):
                        ops = set((OP if is_table else ASKED).findall(body)) - NO_OPS
                        n = max(len(ops), LEAST if RANGE.search(body) else 0)
                        if n >= LEAST:
                            found["%s %s" % (os.path.relpath(path, root), block)] = n
    return found


def find_grouped(root):
    """Files that name convolutions in groups, without readers, which make them."""
    found = set()
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(root, room)):
            if room == "frontends" and os.path.basename(folder) == "read":
                continue
            for path in [os.path.join(folder, name) for name in names if name.endswith((".c", ".h"))]:
                with open(path, errors="replace") as f:
                    if GROUPED.search(strip(f.read())):
                        found.add(os.path.relpath(path, root))
    return found


def main():
    root = sys.argv[1]
    found, allowed = find_lists(root), {}
    with open(os.path.join(root, "tests/house/op-lists.txt")) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, _, why = line.partition(": ")
                allowed[name] = why.strip()
    failures = ["%s names %d ops or a range of them: ask for a trait, or say in op-lists.txt why not" % (k, n) for k, n in sorted(found.items()) if k not in allowed]
    failures += ["%s is in op-lists.txt, but names no %d ops" % (k, LEAST) for k in sorted(allowed) if k not in found]
    failures += ["%s is in op-lists.txt without a reason" % k for k, why in sorted(allowed.items()) if not why]
    grouped = find_grouped(root)
    failures += ["%s names a convolution in groups: ask lpt_weighted_view()" % k for k in sorted(grouped - set(VIEWED))]
    failures += ["%s is in VIEWED, but names no convolution in groups" % k for k in sorted(set(VIEWED) - grouped)]
    if len(allowed) > MOST:
        failures.append("%d lines in op-lists.txt, %d are allowed" % (len(allowed), MOST))
    print("1..1")
    for line in failures:
        print("# " + line)
    print("# %d lists" % len(found))
    print("%s 1 - op-lists" % ("not ok" if failures else "ok"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
