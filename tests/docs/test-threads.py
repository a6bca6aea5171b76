#!/usr/bin/python3
"""Every structure of the public headers says which threads may use it: test-threads.py HEADERS

The comment before a structure or behind its typedef, or the first comment of its header for all of them, has a word on threads, or calls the structure
plain data (whoever owns it says which thread) or immutable. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import sys

SAYS = re.compile(r"\bthread|\bplain[\s*]+data\b|\bimmutable\b", re.I)
COMMENT = r"(?:/\*(?:[^*]|\*(?!/))*\*/)"
# A structure with its members, or the name of one that has none here.
TYPE = re.compile(r"(%s)?\n(?:typedef struct(?: \w+)?\n\{(?:[^{}]|\{[^{}]*\})*\} (\w+);|struct _(\w+)\n\{|typedef struct _\w+ +(\w+);([^\n]*))" % COMMENT)

said = {}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.h"))):
    text = open(path).read()
    whole = SAYS.search(re.match(COMMENT, text).group(0)) is not None
    for m in TYPE.finditer(text):
        # A type of one header may be declared by name in others.
        name = m.group(2) or m.group(3) or m.group(4)
        good = whole or SAYS.search((m.group(1) or "") + (m.group(5) or "")) is not None
        said[name] = os.path.basename(path), good or said.get(name, (None, False))[1]
n, bad = len(said), ["%s: %s" % (file, name) for name, (file, good) in said.items() if not good]
for line in bad:
    print("# %s says nothing about threads" % line)
print("%sok 1 - %d structures say which threads may use them" % ("not " if bad or n < 60 else "", n))
sys.exit(bool(bad) or n < 60)
