#!/usr/bin/python3
"""Folders include and call downwards only: test-rooms.py SOURCE_DIR BUILD_DIR

A unit is a .c and a .h of one stem. Arrows between units are #include lines; arrows between object files are symbols that
one asks for and the other defines (nm), so that a declaration by hand hides nothing. FLOORS has the rooms from the ground up.
A pass, of graphs or of programs, calls no other one. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys

FLOORS = ["include", "executor/runtime", "executor/kernels", "ir/scalar", "ir", "eval", "passes", "executor/operators", "executor/program", "executor", "frontends", "quantize", "report", "cli"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def floor(path):
    """The longest room that @path stands in decides; None: no room."""
    rooms = [room for room in FLOORS if path.startswith(room + "/")]
    return FLOORS.index(max(rooms, key=len)) if rooms else None


def is_upward(user, used):
    a, b = floor(user), floor(used)
    return a is not None and b is not None and b > a


def read_includes(root):
    """{unit: {unit}} and [(file of cli/, private header)]."""
    files = {}
    for room in FLOORS:
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(folder, name), root)
                    with open(os.path.join(folder, name), errors="replace") as f:
                        files[path] = [m.group(1) for m in map(INCLUDE.match, f) if m]
    unit = lambda path: os.path.splitext(path)[0]
    arrows, private = {}, []
    for path, names in files.items():
        arrows.setdefault(unit(path), set())
        for name in names:
            found = next((c for c in (name, "include/" + name, os.path.join(os.path.dirname(path), name)) if c in files), None)
            if found is None:
                continue
            if unit(found) != unit(path):
                arrows[unit(path)].add(unit(found))
            if path.startswith("cli/") and not found.startswith(("include/", "cli/")):
                private.append((path, found))
    return arrows, private


def circles(arrows):
    """Units that reach themselves, as sorted lists (Tarjan's components of more than one)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in arrows.get(v, ()):
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            component = []
            while not component or component[-1] != v:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))
    sys.setrecursionlimit(10000)
    for v in sorted(arrows):
        if v not in index:
            visit(v)
    return found


def read_symbols(build):
    """{object's source: (defined, undefined)} of all objects of the library and the program."""
    sources = {}
    for folder, _, names in os.walk(build):
        # CMakeFiles/lpt_objects.dir/ir/lpt-op.c.o; executor/kernels/CMakeFiles/lpt_kernels_avx2.dir/gemm/avx2.c.o
        m = re.match(r"(.*?)/?CMakeFiles/(lpt_objects|lptc_objects|lptc|lpt_kernels\w*)\.dir/?(.*)", os.path.relpath(folder, build))
        if m is not None:
            for name in names:
                if name.endswith(".o"):
                    sources[os.path.join(folder, name)] = os.path.normpath(os.path.join(m.group(1), m.group(3), name[:-2]))
    objects = {source: (set(), set()) for source in sources.values()}
    if sources:
        text = subprocess.run(["nm", "-A", *sources], stdout=subprocess.PIPE, check=True, text=True).stdout
        for line in text.splitlines():
            # FILE:[address] K symbol
            m = re.match(r"(.*?):[0-9a-f ]* ([A-Za-z]) (\S+)", line)
            if m and m.group(2) in "Uw":
                objects[sources[m.group(1)]][1].add(m.group(3))
            elif m and (m.group(2).isupper() or m.group(2) == "u"):
                objects[sources[m.group(1)]][0].add(m.group(3))
    return objects


def read_passes(root):
    """Their files: one each in passes/, and those of the rows of program-passes.def."""
    with open(os.path.join(root, "executor/program/program-passes.def")) as f:
        names = re.findall(r"^LPT_PROGRAM_PASS \((\w+), \w+\)$", f.read(), re.M)
    passes = {"executor/program/%s.c" % name.replace("_", "-") for name in names}
    return passes | {"passes/" + name for name in os.listdir(os.path.join(root, "passes")) if name.endswith(".c")}


def check(number, what, wrong):
    for line in wrong:
        print("# " + line)
    print("%s %d %s" % ("not ok" if wrong else "ok", number, what))
    return not wrong


def main():
    root, build = sys.argv[1:]
    arrows, private = read_includes(root)
    objects = read_symbols(build)
    home = {symbol: source for source, (defined, _) in objects.items() for symbol in defined}
    calls = sorted({"%s -> %s (%s)" % (source, home[s], s) for source, (_, undefined) in objects.items()
                    for s in undefined if s in home and is_upward(source, home[s])})
    passes = read_passes(root)
    between = sorted({"%s -> %s (%s)" % (source, home[s], s) for source in passes & set(objects) for s in objects[source][1]
                      if home.get(s, source) != source and home[s] in passes})
    print("1..6")
    good = [check(1, "includes go downwards", sorted("%s -> %s" % (a, b) for a, bs in arrows.items() for b in bs if is_upward(a, b))),
            check(2, "no circles of units", [" ".join(c) for c in circles(arrows)]),
            check(3, "cli/ includes public headers only", sorted("%s -> %s" % p for p in private)),
            check(4, "calls go downwards", calls),
            check(5, "objects were found", [] if len(objects) > 300 and floor("ir/lpt-op.c") is not None and "ir/lpt-op.c" in objects
                  else ["%d objects" % len(objects)]),
            check(6, "passes call no other pass", between if len(passes & set(objects)) > 100 else ["%d passes" % len(passes & set(objects))])]
    sys.exit(not all(good))


main()
