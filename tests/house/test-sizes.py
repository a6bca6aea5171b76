#!/usr/bin/python3
"""Files, functions, parameters and lines stay small: test-sizes.py SOURCE_DIR [--list]

No source file over 600 lines, no function over 80 (from brace to brace), none with more than 7 parameters, no line over 120
columns. What is larger stands in tests/house/sizes.txt with its size and a reason:

    file PATH LINES: why                    function PATH NAME LINES: why
    parameters PATH NAME NUMBER: why        lines ROOM NUMBER: why     (lines over 120 columns in a room)

PATH may end in /*: everything in the room that no other line names. Nothing may grow beyond its number, and no line comes
(MOST): the file may only shrink; what is no longer too large is named, and its line should go. Tables (.def) are not looked at.
--list prints what is too large, in the form of sizes.txt. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

ROOMS = ["include", "ir", "eval", "passes", "executor", "frontends", "quantize", "report", "cli", "tests", "bench"]
MOST = 18
LIMITS = {"file": 600, "function": 80, "parameters": 7, "lines": 120}
# Rooms that lines are counted in: the longest that a path begins with.
PARTS = ["executor/kernels", "executor/operators", "executor/program", "executor/runtime", "frontends/tflite", "frontends/onnx_json", "tests/unit"] + ROOMS


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def strip(text):
    """Without comments, strings and lines of the preprocessor, of the same lines."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", blank, text, flags=re.M)


def count_parameters(arguments):
    depth, n = 0, 1
    for c in arguments:
        depth += (c in "([") - (c in ")]")
        n += c == "," and depth == 0
    return n


def find_functions(text):
    """(name, lines between its braces and they, parameters) of the functions of a file without comments."""
    depth, start, head = 0, 0, 0
    for m in re.finditer(r"[{}]", text):
        depth += 1 if m.group(0) == "{" else -1
        if m.group(0) == "{" and depth == 1:
            start = m.start()
        if m.group(0) == "}" and depth == 0:
            before = text[head:start].rstrip()
            head = m.end()
            if not before.endswith(")"):
                continue
            level, at = 0, len(before)
            while at > 0:
                at -= 1
                level += (before[at] == ")") - (before[at] == "(")
                if level == 0:
                    break
            name = re.findall(r"(\w+)\s*$", before[:at])
            # A name pasted together by a macro: NAME (part) (arguments).
            name = name or re.findall(r"(\w+)\s*\([^()]*\)\s*$", before[:at])
            yield name[0] if name else "?", text.count("\n", start, m.end()) + 1, count_parameters(before[at + 1:-1])


def measure(root):
    """{(kind, path and name): size} of what is too large."""
    sizes, wide = {}, {}
    for room in ROOMS:
        for folder, _, names in sorted(os.walk(os.path.join(root, room))):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), root)
                with open(os.path.join(folder, name), errors="replace") as f:
                    text = f.read()
                sizes["file", path] = text.count("\n")
                part = max((p for p in PARTS if path.startswith(p + "/")), key=len)
                wide[part] = wide.get(part, 0) + sum(len(line) > LIMITS["lines"] for line in text.split("\n"))
                for function, lines, parameters in find_functions(strip(text)):
                    for kind, size in (("function", lines), ("parameters", parameters)):
                        key = kind, path + " " + function
                        sizes[key] = max(size, sizes.get(key, 0))
    found = {key: size for key, size in sizes.items() if size > LIMITS[key[0]]}
    found.update({("lines", part): n for part, n in wide.items() if n > 0})
    return found


def read_allowed(path):
    allowed = {}
    with open(path) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                what, _, why = line.partition(": ")
                kind, name, size = re.match(r"(\w+) (.*) (\d+)$", what).groups()
                allowed[kind, name] = int(size), why.strip()
    return allowed


def find_limit(allowed, kind, name):
    """Of its own line, or of the longest room with one."""
    if (kind, name) in allowed:
        return allowed[kind, name][0]
    rooms = [room for k, room in allowed if k == kind and room.endswith("/*") and name.startswith(room[:-1])]
    return allowed[kind, max(rooms, key=len)][0] if rooms else LIMITS[kind] if kind != "lines" else 0


def main():
    root = sys.argv[1]
    found = measure(root)
    if "--list" in sys.argv:
        for (kind, name), size in sorted(found.items()):
            print("%s %s %d: " % (kind, name, size))
        return 0
    allowed = read_allowed(os.path.join(root, "tests/house/sizes.txt"))
    failures = []
    for (kind, name), size in sorted(found.items()):
        limit = find_limit(allowed, kind, name)
        if size > limit:
            failures.append("%s %s: %d, over %d" % (kind, name, size, limit))
    if len(allowed) > MOST:
        failures.append("%d lines in sizes.txt, %d are allowed" % (len(allowed), MOST))
    failures += ["%s %s is in sizes.txt without a reason" % key for key, (_, why) in sorted(allowed.items()) if not why]
    print("1..1")
    for key in sorted(allowed):
        if key not in found and not key[1].endswith("/*"):
            print("# %s %s is in sizes.txt, but not too large" % key)
    for line in failures:
        print("# " + line)
    print("%s 1 - sizes" % ("not ok" if failures else "ok"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
