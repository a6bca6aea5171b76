#!/usr/bin/python3
"""No op of a network runs on the reference functions: test-reference-ops.py LPTC SHARED [--list]

Plans every network of SHARED/models (below 2 MB unless LPT_TEST_NIGHTLY is set) and, where ORT_LIB names ONNX Runtime's library, networks
of SHARED/tools/archgen and bench/families.py: two families and all in three forms, or with LPT_TEST_NIGHTLY all of them in all forms, by
seed 1; LPT_ARCH names a folder NET/FORM.onnx to take instead. Folders of single operators (*testdata*) and models without a multiply-accumulate (a front end of sound by
itself) are no networks. A model that does not load is another test's matter.

What stays a reference op in a plan stands in tests/plans/reference-ops.txt, by the remark of "plan --remarks":

    WHERE OP REMARK: why

WHERE is a pattern of paths below models/ or arch/, OP the name of its function. No line comes (MOST), and with LPT_TEST_NIGHTLY a line that
nothing needs any more is an error, too: the list may only shrink. "processor" is no finding: another level has the kernel. That findings are
found is tried first, on a graph with an op that has no kernel. --list prints all findings. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import fnmatch
import glob
import os
import re
import subprocess
import sys
import tempfile

MOST = 10
QUICK_BYTES = 2 << 20
QUICK_NETS, QUICK_FORMS = ["dlrm", "crnn"], "qdq_u8,qdq_i8,dynamic"
NIGHTLY = bool(os.environ.get("LPT_TEST_NIGHTLY"))
HERE = os.path.dirname(os.path.abspath(__file__))
# A diagonal has no kernel.
PLANTED = "%x = Parameter : f32[1,8,6,6]\n%y = Einsum(%x) {equation=\"abcc->abc\"} : f32[1,8,6]\nResult(%y)\n"

Finding = collections.namedtuple("Finding", "where op remark node")


def plan(lptc, path, where):
    """The reference ops of a plan; None: it does not load."""
    p = subprocess.run([lptc, "plan", "--remarks", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=580)
    if p.returncode < 0:
        raise SystemExit("%s: signal %d" % (path, -p.returncode))
    if p.returncode:
        return None
    found = []
    for line in p.stdout.splitlines():
        m = re.search(r"= (\w+)\(.*\)  ; \S+, reference(?:: ([a-z -]+?))?, .*?nodes (\S+)", line) or \
            re.search(r"= (\w+)\(.*\)  ; \S+, reference(?:: ([a-z -]+?))?, nodes (\S+)", line)
        if m and m.group(2) != "processor":
            found.append(Finding(where, m.group(1), m.group(2) or "none", m.group(3)))
    return found


def is_network(lptc, path):
    p = subprocess.run([lptc, "explain", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=580)
    return not p.stdout.startswith("no multiply-accumulates")


def models(shared):
    """(path, name below models/)"""
    root = os.path.join(shared, "models")
    for path in sorted(glob.glob(os.path.join(root, "**"), recursive=True)):
        name = os.path.relpath(path, root)
        if os.path.splitext(path)[1] not in (".onnx", ".xml", ".tflite") or "testdata" in name.split(os.sep)[0] or not os.path.isfile(path):
            continue
        weights = os.path.splitext(path)[0] + ".bin"
        size = os.path.getsize(path) + (os.path.getsize(weights) if path.endswith(".xml") and os.path.exists(weights) else 0)
        if NIGHTLY or size < QUICK_BYTES:
            yield path, "models/" + name


def networks(shared, temporary):
    """(path, name below arch/); nothing with a printed line where they cannot be made."""
    folder = os.environ.get("LPT_ARCH")
    script = os.path.join(shared, "tools/archgen/archgen.py")
    if folder is None:
        if not os.path.exists(script) or not os.path.exists(os.environ.get("ORT_LIB", "")):
            print("# no networks of archgen: neither LPT_ARCH, nor ORT_LIB and %s" % script)
            return
        folder = temporary
        for source, nets in (script, QUICK_NETS), (os.path.join(HERE, "../../bench/families.py"), ["all"]):
            words = ["all", "--forms", "all"] if NIGHTLY else nets + ["--forms", QUICK_FORMS]
            subprocess.run([sys.executable, source, "--seed", "1", "--out", folder] + words, check=True, stdout=subprocess.DEVNULL)
    for path in sorted(glob.glob(os.path.join(folder, "*", "*.onnx"))):
        yield path, "arch/" + os.path.relpath(path, folder)


def read_list():
    lines = []
    with open(os.path.join(HERE, "reference-ops.txt")) as f:
        for text in f:
            m = re.match(r"(\S+) (\S+) (\S+): \S", text)
            if text.strip() and not text.startswith("#"):
                if not m:
                    raise SystemExit("reference-ops.txt: no line of it: " + text)
                lines.append(m.groups())
    return lines


def fits(line, finding):
    return fnmatch.fnmatch(finding.where, line[0]) and line[1] == finding.op and line[2] in finding.remark.split(" ")


def main():
    lptc, shared = sys.argv[1], sys.argv[2]
    if not os.path.isdir(os.path.join(shared, "models")):
        print("1..0 # SKIP the shared folder is absent")
        return 77
    allowed, bad, used, count = read_list(), 0, set(), 0
    with tempfile.TemporaryDirectory() as td:
        planted = os.path.join(td, "planted.lpt")
        with open(planted, "w") as f:
            f.write(PLANTED)
        good = [f.op for f in plan(lptc, planted, "planted") or []] == ["einsum"]
        print("%s 1 - a planted op is found" % ("ok" if good else "not ok"))
        bad += not good
        for source in (models(shared), networks(shared, os.path.join(td, "arch"))):
            for path, where in source:
                found = plan(lptc, path, where)
                if found and not is_network(lptc, path):
                    continue
                if found is None:
                    continue
                count += 1
                for f in found:
                    lines = [i for i, line in enumerate(allowed) if fits(line, f)]
                    used.update(lines)
                    if "--list" in sys.argv or not lines:
                        print("# %s %s %s: %s" % (f.where, f.op, f.remark, f.node))
                    bad += not lines
    print("%s 2 - no other reference op in %d plans" % ("ok" if not bad else "not ok", count))
    idle = [" ".join(line) for i, line in enumerate(allowed) if i not in used]
    for line in idle if NIGHTLY and os.environ.get("ORT_LIB", os.environ.get("LPT_ARCH")) else []:
        print("# nothing needs this line any more: " + line)
        bad += 1
    if len(allowed) > MOST:
        print("# %d lines, more than %d: the list may only shrink" % (len(allowed), MOST))
        bad += 1
    print("%s 3 - the list: %d lines\n1..3" % ("ok" if not bad else "not ok", len(allowed)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
