#!/usr/bin/python3
"""Every reason that a pass gives, and every remark of an operator, is seen in a test: test-reasons.py SOURCE_DIR

A reason is a row of passes/core/lpt-reasons.def. It is seen where a golden file has it as a remark, where test-explain or a case of the command line expects its wording or its
code, or where a page shows it (docs/explain.md, whose blocks are what the tool prints). A remark, a row of executor/operators/remarks.def, is seen where a
golden program has its code behind "reference:", or a case of the command line expects it there. What no test sees stands in tests/house/reasons.txt,
"CODE: why", which only shrinks.
Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import sys

source = sys.argv[1]


def read(*path):
    return open(os.path.join(source, *path)).read()


rows = re.findall(r'^LPT_REASON \("([^"]*)", "((?:\\.|[^"\\])*)"\)', read("passes/core/lpt-reasons.def"), re.M)
remarks = {m for p in glob.glob(os.path.join(source, "tests/golden/*/*.lpt")) for m in re.findall(r"^# remark: .*?: (.*)$", open(p).read(), re.M)}
shown = "\n".join(open(p).read() for p in sorted(glob.glob(os.path.join(source, "tests/cli/cases/*")))) + read("tests/unit/test-explain.c").replace('\\"', '"')
shown += "\n".join(re.findall(r"^    .*$", read("docs/explain.md"), re.M))
excused = dict(re.findall(r"^([\w-]+): (.*)$", read("tests/house/reasons.txt"), re.M))
bad = []
for code, wording in rows:
    pattern = ".+".join(re.escape(part) for part in wording.replace('\\"', '"').split("*"))
    seen = any(re.fullmatch(pattern, r) for r in remarks) or re.search(pattern, shown) or re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(code), shown)
    if not seen and code not in excused:
        bad.append('no test sees "%s" [%s]: a golden file (CONTRIBUTING.md, "A pass")' % (wording, code))
    elif seen and code in excused:
        bad.append("tests/house/reasons.txt has %s, which a test sees" % code)
codes = re.findall(r'^LPT_REMARK \(\w+, +"([^"]*)"', read("executor/operators/remarks.def"), re.M)
programs = "\n".join(open(p).read() for name in ("golden-program/*/*.lpt", "cli/cases/*") for p in sorted(glob.glob(os.path.join(source, "tests", name))))
said = {code for line in re.findall(r"reference: ([a-z -]+)", programs) for code in line.split()}
for code in codes:
    if (code in said) == (code in excused):
        bad.append(("tests/house/reasons.txt has %s, which a test sees" if code in said else
                    'no test sees the remark %s: a golden program (CONTRIBUTING.md, "A kernel")') % code)
bad += ["tests/house/reasons.txt has %s, which is neither reason nor remark" % code for code in excused if code not in dict(rows) and code not in codes]
for line in bad:
    print("# " + line)
print("%sok 1 - %d reasons and remarks are seen in a test" % ("not " if bad else "", len(rows) + len(codes) - len(excused)))
sys.exit(len(bad) > 0)
