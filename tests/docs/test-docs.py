#!/usr/bin/python3
"""What docs/ shows of the tool is what the tool prints: test-docs.py LPTC SOURCE_DIR PAGE...

A block of a page, indented by four blanks, that begins with "$ lptc ...": the lines behind it are its standard output. A line "..." stands for any number of
lines. Commands run one after the other in a folder where models/ is that of the project; a page with the comment <!-- given: photos --> finds there what
give_photos() puts there, and is left out where that is not at hand. Numbers that a machine decides stand in the page as they were: a line of the comment
<!-- varies: REGEX --> in front of the block makes what the expression fits the same on both sides. With LPT_TEST_UPDATE=1 the page is rewritten, but for
blocks with "...".

SPDX-License-Identifier: Apache-2.0
"""
import csv
import os
import re
import struct
import subprocess
import sys
import tempfile


def run(command, lptc, folder):
    environment = dict(os.environ, PATH=os.path.dirname(lptc) + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8", NO_COLOR="1")
    done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    return done.returncode, [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")] if done.stdout else [], done.stderr


def give_photos(folder, shared):
    """mobilenet.onnx; of 1000 photographs each tenth in calibration/, the others in photos/ with labels.npy. FALSE: they are not there."""
    images, model = os.path.join(shared, "data-imagenet-1k-sample"), os.path.join(shared, "onnx-fp32-mobilenetv1-025-224", "mobilenet_v1_0.25_224.onnx")
    if not os.path.exists(model) or not os.path.exists(os.path.join(images, "labels.csv")):
        return False
    os.symlink(model, os.path.join(folder, "mobilenet.onnx"))
    with open(os.path.join(images, "labels.csv")) as f:
        rows = list(csv.DictReader(f))
    for name in ("photos", "calibration"):
        os.mkdir(os.path.join(folder, name))
    kept = [row for i, row in enumerate(rows) if i % 10 != 0]
    for name, some in (("photos", kept), ("calibration", rows[::10])):
        for i, row in enumerate(some):
            os.symlink(os.path.join(images, "images", row["file"]), os.path.join(folder, name, "%05d.jpg" % i))
    head = ("{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % len(kept)).ljust(117) + "\n"
    with open(os.path.join(folder, "labels.npy"), "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + struct.pack("<%dq" % len(kept), *[int(row["label"]) for row in kept]))
    return True


def fits(got, want):
    """Are these the lines, but for what "..." stands for?"""
    if not want:
        return not got
    if want[0].strip() == "...":
        return any(fits(got[i:], want[1:]) for i in range(len(got) + 1))
    return bool(got) and got[0] == want[0] and fits(got[1:], want[1:])


def blocks(lines):
    """(index of the command's line, index behind the block, expressions of what varies)."""
    varies = []
    i = 0
    while i < len(lines):
        told = re.match(r"<!-- varies: (.*) -->$", lines[i])
        if told:
            varies.append(told.group(1))
        if not lines[i].startswith("    $ lptc"):
            if lines[i] and not told and not lines[i].startswith("    "):
                varies = []
            i += 1
            continue
        end = i + 1
        goes_on = lambda k: k < len(lines) and lines[k].startswith("    ") and not lines[k].startswith("    $ ")
        while goes_on(end) or (end < len(lines) and lines[end] == "" and goes_on(end + 1)):
            end += 1
        yield i, end, varies
        i = end


def main():
    lptc, source, pages = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    update, n, failed = os.environ.get("LPT_TEST_UPDATE"), 0, 0
    for page in pages:
        path = os.path.join(source, "docs", page)
        lines, out, at = open(path).read().split("\n"), [], 0
        with tempfile.TemporaryDirectory(prefix="lptc-") as folder:
            os.symlink(os.path.join(source, "models"), os.path.join(folder, "models"))
            if "<!-- given: photos -->" in lines and not give_photos(folder, os.path.join(source, "..", "shared", "models")):
                n += 1
                print("ok %d - %s # SKIP the photographs are not there" % (n, page))
                continue
            for i, end, varies in blocks(lines):
                code, got, said = run(lines[i][6:], lptc, folder)
                got = [("    " + line).rstrip() for line in got]
                want = lines[i + 1:end]
                blur = lambda text: re.sub("|".join(varies), "#", text) if varies else text
                n += 1
                same = fits(list(map(blur, got)), [blur(w.rstrip()) for w in want]) and code == 0
                failed += not same
                print("%s %d - %s: %s" % ("ok" if same else "not ok", n, page, lines[i][6:]))
                if not same:
                    print("# exit code %d, it says:\n%s\n%s" % (code, "\n".join("# " + g for g in got), "# " + said))
                out += lines[at:i + 1] + (want if same or "    ..." in want else got)
                at = end
        if update:
            with open(path, "w") as f:
                f.write("\n".join(out + lines[at:]))
    print("1..%d" % n)
    return 1 if failed and not update else 0


sys.exit(main())
