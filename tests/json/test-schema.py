"""Validates what lptc writes against docs/lpt-graph.schema.json: test-schema.py LPTC SOURCE_DIR

Every stage of the bundled model, and the corpus of the JSON reader. Without python3-jsonschema: exit code 77.
SPDX-License-Identifier: Apache-2.0
"""
import glob, json, os, subprocess, sys, tempfile

try:
    import jsonschema
except ImportError:
    print ('1..0 # SKIP python3-jsonschema is absent')
    sys.exit (77)

lptc, source = sys.argv[1:]
schema = json.load (open (os.path.join (source, 'docs', 'lpt-graph.schema.json')))
jsonschema.Draft7Validator.check_schema (schema)
validator = jsonschema.Draft7Validator (schema)
failed = 0
count = 0

def check (name, document):
    global failed, count
    count += 1
    errors = [e for e in validator.iter_errors (document)]
    print ('%s %d %s' % ('not ok' if errors else 'ok', count, name))
    for e in errors[:3]:
        print ('#', '/'.join (str (p) for p in e.absolute_path), e.message[:300])
    failed += bool (errors)

with tempfile.TemporaryDirectory () as folder:
    model = os.path.join (source, 'models', 'digits.xml')
    for stage in ('prepare', 'markup', 'decompose', 'propagate', 'cleanup', 'lower'):
        for option in ([], ['--embed-weights']):
            out = os.path.join (folder, 'out.json')
            subprocess.run ([lptc, 'transform', model, '-o', out, '--until', stage] + option, check=True)
            check (' '.join ([stage] + option), json.load (open (out)))
for path in sorted (glob.glob (os.path.join (source, 'tests', 'fuzz', 'corpus', 'json', '*.json'))):
    check (os.path.basename (path), json.load (open (path)))

# The schema must refuse something, too.
broken = json.load (open (os.path.join (source, 'tests', 'fuzz', 'corpus', 'json', 'conv.json')))
broken['nodes'][0]['colour'] = 'red'
count += 1
refused = not validator.is_valid (broken)
print ('%s %d an unknown member is refused' % ('ok' if refused else 'not ok', count))
print ('1..%d' % count)
sys.exit (1 if failed or not refused else 0)
