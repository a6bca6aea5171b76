#!/usr/bin/python3
"""The interface of the library against that of the last release: test-abi.py LIBRARY SOURCE_DIR

tests/abi/liblpt.abi is what abidw (abigail-tools) says of that release. What it has must still be there and mean the same: functions,
their parameters, the members of every public structure, the numbers of ops. What is new may be added. A change that breaks it passes only
when the soname is another than the release's and CHANGELOG.md has a section of the new version with a line that begins with "- Interface:".

With LPT_TEST_UPDATE=1 the file is written anew: at a release, and as long as CHANGELOG.md calls the version of the file "not released".
Numbers of ops stay as it has them even then.
A library without debug information (-g) tells names of functions only: then, and without abigail-tools, these and the numbers of ops,
which the header has, are all that is compared, and the test says so. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shutil
import subprocess
import sys

library, source = sys.argv[1:]
record, headers = os.path.join(source, "tests/abi/liblpt.abi"), os.path.join(source, "include/lpt")
suppressions = os.path.join(source, "tests/abi/suppressions")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def soname_of(path):
    if path.endswith(".abi"):
        return re.search(r"soname='([^']*)'", open(path).read(4096)).group(1)
    return re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", path).stdout).group(1)


def section_of(version):
    """What CHANGELOG.md says of a version, heading and lines; "" = nothing."""
    text = open(os.path.join(source, "CHANGELOG.md")).read()
    found = re.search(r"^## %s\..*?(?=^## |\Z)" % re.escape(version), text, re.M | re.S)
    return found.group(0) if found else ""


def moved_ops():
    """Ops of the record whose number in the header is another one, or none: the number is the place in the enum."""
    ops = re.search(r"<enum-decl name='LptOp'.*?</enum-decl>", open(record).read(), re.S).group(0)
    has = re.findall(r"^  (LPT_OP_\w+),", open(os.path.join(headers, "lpt-op.h")).read(), re.M)
    had = re.findall(r"enumerator name='(LPT_OP_\w+)' value='(\d+)'", ops)
    return ["%s was %s and is %s" % (name, number, has.index(name) if name in has else "gone") for name, number in had
            if has[int(number):int(number) + 1] != [name]]


def update():
    old = soname_of(record)[len("liblpt.so."):] if os.path.exists(record) else None
    if old is not None and "not released" not in section_of(old).split("\n")[0] and soname_of(record) == soname_of(library):
        return "the interface of %s is released: another soname first (the minor version in CMakeLists.txt)" % old
    if old is not None and soname_of(record) == soname_of(library) and moved_ops():
        return ", ".join(moved_ops())
    done = run("abidw", "--headers-dir", headers, "--drop-private-types", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path",
               "--out-file", record, library)
    # No paths of this machine.
    return done.stderr if done.returncode else None


def main():
    full = ".debug_info" in run("readelf", "-SW", library).stdout and shutil.which("abidiff") is not None
    if os.environ.get("LPT_TEST_UPDATE") and full:
        failure = update()
        print("%sok 1 - interface written%s" % (("not ", ": " + failure) if failure else ("", "")))
        return failure is not None
    if not full:
        # Names only.
        had = set(re.findall(r"<elf-symbol name='(\w+)'", open(record).read()))
        has = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).stdout.split("\n") if line}
        change = "\n".join(moved_ops() + sorted("removed: " + name for name in had - has))
        print("# no debug information or no abigail-tools: names of functions and numbers of ops are compared, types are not")
    else:
        done = run("abidiff", "--no-added-syms", "--headers-dir2", headers, "--drop-private-types", "--suppressions", suppressions, record, library)
        if done.returncode & 3:
            print("not ok 1 - interface: %s" % done.stderr)
            return 1
        change = "\n".join(moved_ops() + ([done.stdout] if done.returncode & 12 else []))
    was, now = soname_of(record), soname_of(library)
    said = "- Interface:" in section_of(now[len("liblpt.so."):])
    if change and not (was != now and said):
        for line in change.split("\n")[:60]:
            print("# " + line)
        print("not ok 1 - the interface of %s is another one; it needs a new soname%s" %
              (was, "" if was == now else ", which is there, and a line \"- Interface:\" in CHANGELOG.md"))
        return 1
    print("ok 1 - interface of %s%s" % (was, ", broken as CHANGELOG.md says" if change else ""))
    return 0


sys.exit(main())
