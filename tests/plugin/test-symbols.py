#!/usr/bin/python3
"""Every declaration of the public headers is defined and exported, and nothing else is: test-symbols.py HEADERS LIBRARY CC FLAGS INCLUDES

Headers that are made (lpt-version.h) are found in INCLUDES. Writes a program that takes the address of every exported function and links it against the shared library.
SPDX-License-Identifier: Apache-2.0
"""
import os, re, subprocess, sys, tempfile

headers, library, compiler, flags, includes = sys.argv[1:]
folders = [headers] + [os.path.join (i, 'lpt') for i in includes.split (':') if os.path.isdir (os.path.join (i, 'lpt'))]
paths = {f: os.path.join (folder, f) for folder in folders for f in os.listdir (folder) if f.endswith ('.h')}
names, files = set (), sorted (paths)
for name in files:
    text = re.sub (r'/\*.*?\*/', ' ', open (paths[name]).read (), flags=re.S)
    text = re.sub (r'^[ \t]*#.*$', '', text, flags=re.M)
    declared = re.findall (r'LPT_EXPORT[^;{()]*?\b(lpt_\w+)\s*\(', text)
    # A function that is neither exported nor inline can be called by nobody.
    for line in re.findall (r'^(?!static|typedef|G_DEFINE|LPT_EXPORT)[A-Za-z][\w \*]*?\b(lpt_[a-z0-9_]+)\s*\([^;{]*\)[^;{]*;', text, flags=re.M):
        declared.append (line)
    names.update (declared)
if len (names) < 200:
    sys.exit ('not ok - %d declarations found in %s' % (len (names), headers))
source = ''.join ('#include <lpt/%s>\n' % f for f in files if f != 'lpt-attrs-private.h')
source += 'typedef void (*Any) (void);\nextern Any const all[];\nAny const all[] = {\n%s};\n' % ''.join ('  (Any) %s,\n' % n for n in sorted (names))
source += 'int main (void) { for (unsigned i = 0; i < %d; i++) if (all[i] == 0) return 1; return 0; }\n' % len (names)
with tempfile.TemporaryDirectory (prefix='lpt-') as folder:
    c, program = os.path.join (folder, 'all.c'), os.path.join (folder, 'all')
    open (c, 'w').write (source)
    command = [compiler, '-std=c11', '-Wno-pedantic', '-o', program, c, library, '-Wl,-rpath,' + os.path.dirname (os.path.abspath (library))]
    command += flags.split () + ['-I' + i for i in dict.fromkeys (includes.split (':')) if i and not i.startswith ('$')] + ['-lglib-2.0']
    done = subprocess.run (command, capture_output=True, text=True)
    for name in re.findall (r"undefined reference to `(\w+)'", done.stderr):
        print ('# %s is declared and defined nowhere' % name)
    if done.returncode == 0:
        done = subprocess.run ([program], capture_output=True, text=True)
    if done.returncode != 0:
        print (done.stderr, file=sys.stderr)
    print ('%sok 1 - %d declarations are defined and exported' % ('not ' if done.returncode else '', len (names)))
exported = subprocess.run (['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout.split ('\n')
exported = {line.split ()[-1].split ('@')[0] for line in exported if line}
strange = sorted (n for n in exported - names if not re.match (r'_init$|_fini$|_?_(asan|ubsan|sancov|odr)', n))
for name in strange:
    print ('# %s is exported and no public header declares it' % name)
print ('%sok 2 - %d symbols are exported' % ('not ' if strange else '', len (exported)))
sys.exit (done.returncode != 0 or len (strange) > 0)
