#!/usr/bin/python3
"""What CONTRIBUTING.md says can be done: test-recipes.py SOURCE_DIR BUILD_DIR

Of each command in it: a script is there, runs and knows its options; a program is built; a preset is in CMakePresets.json; what `ctest -R` names is a test; of
each path: it is there (NAME, FAMILY, ISA and PASS stand for any). Each pass of the program is in the table of docs/architecture.md. Sources that README.md and
pages of docs/ name in backquotes are there. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

source, build = sys.argv[1:]
text = open(os.path.join(source, "CONTRIBUTING.md")).read()


def names_of_tests(pattern):
    out = subprocess.run(["ctest", "--test-dir", build, "-N", "-R", pattern], capture_output=True, text=True).stdout
    return int(re.search(r"Total Tests: (\d+)", out).group(1))


def is_there(path):
    place = re.sub(r"\b(NAME|FAMILY|ISA|PASS)\b", "*", path)
    if place.startswith("build/"):
        return glob.glob(os.path.join(build, place[6:])) != []
    # A folder that the recipe makes.
    return glob.glob(os.path.join(source, place)) != [] or place != path and os.path.isdir(os.path.join(source, os.path.dirname(path)))


def presets(kind):
    return {p["name"] for p in json.load(open(os.path.join(source, "CMakePresets.json")))[kind]}


def split(line):
    """The commands of a line, as lists of words."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    found = [[]]
    for word in words:
        if word in ("|", "&&", ";"):
            found.append([])
        elif not re.match(r"[A-Z_]+=", word):
            found[-1].append(word)
    return found


def wrong(words):
    """None, or what is wrong with a command."""
    if not words:
        return None
    name = words[0]
    if name == "ctest":
        if "--preset" in words:
            return None if words[words.index("--preset") + 1] in presets("testPresets") else "no such preset"
        return None if "-R" not in words or names_of_tests(words[words.index("-R") + 1]) > 0 else "no test has such a name"
    if name == "cmake":
        kind = "buildPresets" if "--build" in words else "configurePresets"
        return None if "--preset" not in words or words[words.index("--preset") + 1] in presets(kind) else "no such preset"
    if name.startswith("scripts/"):
        if not os.access(os.path.join(source, name), os.X_OK):
            return "no such script"
        if name in ("scripts/test", "scripts/package", "scripts/mutate", "scripts/coverage"):
            told = subprocess.run([os.path.join(source, name), "--help"], capture_output=True, text=True).stdout
            return next(("%s --help does not have %s" % (name, w) for w in words[1:] if w.startswith("--") and w.split("=")[0] not in told), None)
        return None
    if "/" in name:
        return None if is_there(name) else "is not there"
    return None if name in ("$EDITOR", "mkdir", "git", "grep", "ninja") else "an unknown command"


commands = [words for line in re.findall(r"^    (\S.*)$", text, re.M) for words in split(line)]
commands += [["ctest", "-R", name] for name in re.findall(r"`ctest -R ([^`]+)`", text)]
paths = [p for p in re.findall(r"`([\w./-]+)`", text) if "/" in p and not p.startswith("com.")]
bad = ["%s: %s" % (" ".join(c), w) for c in commands for w in [wrong(c)] if w] + ["%s is not there" % p for p in paths if not is_there(p)]
for line in bad:
    print("# " + line)
print("%sok 1 - %d commands and %d paths of CONTRIBUTING.md" % ("not " if bad else "", len(commands), len(paths)))

rows = re.findall(r"^LPT_PROGRAM_PASS \((\w+),", open(os.path.join(source, "executor/program/program-passes.def")).read(), re.M)
table = "".join(line for line in open(os.path.join(source, "docs/architecture.md")) if line.startswith("| `"))
absent = [row.replace("_", "-") for row in rows if "`%s`" % row.replace("_", "-") not in table]
for name in absent:
    print("# docs/architecture.md does not say what %s decides" % name)
print("%sok 2 - %d passes of docs/architecture.md" % ("not " if absent else "", len(rows)))

ROOMS = "include|ir|eval|passes|executor|frontends|quantize|report|cli|tests|bench|scripts"
pages = ["README.md"] + sorted(os.path.relpath(page, source) for page in glob.glob(os.path.join(source, "docs/*.md")))
named = sorted({(page, path) for page in pages for path in re.findall(r"`((?:%s)/[\w./*-]*)`" % ROOMS, open(os.path.join(source, page)).read())})
gone = ["%s names %s, which is not there" % (page, path) for page, path in named if not is_there(path)]
for line in gone:
    print("# " + line)
print("%sok 3 - %d sources that pages name" % ("not " if gone else "", len(named)))
print("1..3")
sys.exit(len(bad) + len(absent) + len(gone) > 0)
