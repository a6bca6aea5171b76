#!/usr/bin/python3
"""Follows the recipes of CONTRIBUTING.md in a fresh copy: follow-recipes.py SOURCE_DIR WORK_DIR [CONTRIBUTION]…

A file of tests/recipes/ is what somebody contributes by one recipe, and nothing else:

    # what it is
    recipe: A pass                       the heading in CONTRIBUTING.md
    processor: x86_64                    only there
    PASS: negative-twice                 what stands for PASS in the recipe's commands
    then: COMMAND                        holds afterwards
    === PATH                             a new file
    === PATH before TEXT                 lines in front of the first place of a file that begins a line with TEXT

The copy has what git knows, as it stands here, and is configured with tests. Then the files of a contribution are put into it, and the commands of its recipe run as
they are written; $EDITOR puts the new files whose names the commands give it. Each command must succeed, ctest must find tests and pass them. Contributions come in
the order of the recipes. At last the tests of the house hold. Prints TAP. It takes minutes: skipped (exit code 77) but for LPT_TEST_NIGHTLY=1.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import platform
import re
import subprocess
import sys

if not os.environ.get("LPT_TEST_NIGHTLY"):
    print("1..0 # SKIP only with LPT_TEST_NIGHTLY=1")
    sys.exit(77)
source, work = (os.path.abspath(p) for p in sys.argv[1:3])
held = work + ".held"
# Unoptimized: everything is compiled anew behind a row of the op table.
CONFIGURE = ("cmake -S . -B build -G Ninja -DLPT_TESTS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O0 $(command -v ccache >/dev/null && "
             "echo -DCMAKE_C_COMPILER_LAUNCHER=ccache)")
HOUSE = "house/|rooms|docs/|symbols|test-explain|test-golden"


def run(command, **more):
    """(whether it succeeded, its output). ctest without tests did not."""
    environment = dict(os.environ, EDITOR=os.path.join(held, "editor"), **more)
    # What who contributes would wait for; 10,000 graphs of each kind are nightly by themselves.
    del environment["LPT_TEST_NIGHTLY"]
    done = subprocess.run(["/bin/bash", "-o", "pipefail", "-c", command], cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", stdin=subprocess.DEVNULL)
    good = done.returncode == 0 and "No tests were found" not in done.stdout
    return good, done.stdout


def report(good, what, text=""):
    report.n += 1
    report.bad += not good
    for line in text.split("\n")[-60:] if not good else []:
        print("# " + line)
    print("%sok %d - %s" % ("" if good else "not ", report.n, what), flush=True)
    return good


report.n = report.bad = 0


def shape(result, what):
    """Arguments of report() for what run() gave."""
    return result[0], what, result[1]


def read_contribution(path):
    """Keys with their values, files as (path, text they stand before or None, lines)."""
    keys, files = {"then": []}, []
    for line in open(path).read().split("\n")[:-1]:
        if line.startswith("=== "):
            name, _, place = line[4:].partition(" before ")
            files.append((name, place.replace("\\n", "\n") or None, []))
        elif files:
            files[-1][2].append(line + "\n")
        elif line and not line.startswith("#"):
            key, _, value = line.partition(": ")
            keys["then"].append(value) if key == "then" else keys.update({key: value})
    return keys, files


def recipe(text, heading):
    section = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % re.escape(heading), text, re.M | re.S)
    return re.findall(r"^    (\S.*)$", section.group(1), re.M) if section else []


def put(name, place, lines):
    """A new file, or lines in front of a place of one that is there; a message when the place is not."""
    path = os.path.join(work, name)
    if place is None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write("".join(lines))
        return None
    text = open(path).read()
    at = text.find("\n" + place)
    if at < 0:
        return "%s has no line \"%s\"" % (name, place)
    open(path, "w").write(text[:at + 1] + "".join(lines) + text[at + 1:])
    return None


def follow(path, text):
    keys, files = read_contribution(path)
    name = os.path.basename(path)
    if keys.get("processor", platform.machine()) != platform.machine():
        print("ok - %s # SKIP not on this processor" % name)
        return
    commands = recipe(text, keys["recipe"])
    if not report(commands != [], "%s: the recipe \"%s\" has commands" % (name, keys["recipe"])):
        return
    for word, value in keys.items():
        if word.isupper():
            commands = [re.sub(r"\b%s\b" % word, value, c) for c in commands]
    edited = {word for c in commands for word in re.findall(r"\$EDITOR (\S+)", c)}
    for file, place, lines in files:
        if file in edited:
            os.makedirs(os.path.dirname(os.path.join(held, file)), exist_ok=True)
            open(os.path.join(held, file), "w").write("".join(lines))
    # A folder that the recipe makes is not there before.
    made = {word for c in commands for word in re.findall(r"\bmkdir (\S+)", c)}
    later = [f for f in files if f[0] not in edited and any(f[0].startswith(m + "/") for m in made)]
    missing = [m for f in files if f[0] not in edited and f not in later for m in [put(*f)] if m]
    report(not missing, "%s: its places are there" % name, "\n".join(missing))
    for command in commands:
        shown = re.sub(r"\s*#.*", "", command)
        report(*shape(run(command), "%s: %s" % (name, shown)))
        if made and any("mkdir " + m in command for m in made):
            for f in later:
                put(*f)
    for command in keys["then"]:
        report(*shape(run(command), "%s: then %s" % (name, command)))


def main():
    if not os.path.isdir(os.path.join(source, ".git")) and not os.path.isfile(os.path.join(source, ".git")):
        print("ok 1 - recipes # SKIP no checkout: what belongs to the project is not known")
        return 0
    text = open(os.path.join(source, "CONTRIBUTING.md")).read()
    subprocess.run(["rm", "-rf", work, held], check=True)
    os.makedirs(work)
    os.makedirs(held)
    with open(os.path.join(held, "editor"), "w") as out:
        out.write('#!/bin/sh\nfor f; do cp "%s/$f" "$f" || exit 1; done\n' % held)
    os.chmod(os.path.join(held, "editor"), 0o755)
    subprocess.run("git -C '%s' ls-files -z | (cd '%s' && tar --null --ignore-failed-read -cf - -T -) 2>/dev/null | tar -xf -" % (source, source), shell=True, cwd=work, check=True)
    good, said = run("git init -q . && git add -A && git -c user.name=x -c user.email=x@example.org commit -qm copy")
    if not report(good, "a copy", said) or not report(*shape(run(CONFIGURE), "it is configured")):
        return 1
    paths = sys.argv[3:] or glob.glob(os.path.join(source, "tests/recipes/*.txt"))
    headings = re.findall(r"^## (.*)$", text, re.M)
    for path in sorted(paths, key=lambda p: headings.index(read_contribution(p)[0]["recipe"])):
        follow(path, text)
    report(*shape(run("git add -A && ninja -C build && ctest --test-dir build -R '%s' --output-on-failure" % HOUSE), "the tests of the house"))
    print("1..%d" % report.n)
    return report.bad > 0


sys.exit(main())
