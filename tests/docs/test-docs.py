#!/usr/bin/python3
"""What docs/ shows of the tool is what the tool prints: test-docs.py LPTC SOURCE_DIR PAGE...

A block of a page, indented by four blanks, that begins with "$ lptc ...": the lines behind it are its standard output. Commands run one after the other in a folder
where models/ is that of the project. Numbers that a machine decides stand in the page as they were: a line of the comment
<!-- varies: REGEX --> in front of the block makes what the expression fits the same on both sides. With LPT_TEST_UPDATE=1 the page is rewritten.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys
import tempfile


def run(command, lptc, folder):
    environment = dict(os.environ, PATH=os.path.dirname(lptc) + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8", NO_COLOR="1")
    done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    return done.returncode, [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")] if done.stdout else [], done.stderr


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
        while end < len(lines) and (lines[end].startswith("    ") or (lines[end] == "" and end + 1 < len(lines) and lines[end + 1].startswith("    "))) and not lines[end].startswith("    $ "):
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
            for i, end, varies in blocks(lines):
                code, got, said = run(lines[i][6:], lptc, folder)
                got = [("    " + line).rstrip() for line in got]
                want = lines[i + 1:end]
                blur = lambda text: re.sub("|".join(varies), "#", text) if varies else text
                n += 1
                same = list(map(blur, got)) == list(map(blur, [w.rstrip() for w in want])) and code == 0
                failed += not same
                print("%s %d - %s: %s" % ("ok" if same else "not ok", n, page, lines[i][6:]))
                if not same:
                    print("# exit code %d, it says:\n%s\n%s" % (code, "\n".join("# " + g for g in got), "# " + said))
                out += lines[at:i + 1] + (want if same else got)
                at = end
        if update:
            with open(path, "w") as f:
                f.write("\n".join(out + lines[at:]))
    print("1..%d" % n)
    return 1 if failed and not update else 0


sys.exit(main())
