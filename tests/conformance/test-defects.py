#!/usr/bin/python3
"""Files on which the program once went wrong: test-defects.py LPTC SHARED

SHARED holds corpus/defects and corpus/robustness; without it there is nothing to do. A row of the table is a shell command in an
empty folder, where $F is the file and the folder of the file is $D, its exit code (None: any but a signal's), and what its output
has to match. A row with OPEN is known to fail; when it no longer does, that is an error, too: the mark has to go. Prints TAP.
SPDX-License-Identifier: Apache-2.0
"""
import os, re, struct, subprocess, sys, tempfile, zipfile

OPEN = 'open'

def npy (path, shape, code='<f4', data=None):
    """An array of zeros, or of `data`."""
    size = int (code[2:])
    for n in shape: size *= n
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (code, ''.join ('%d, ' % n for n in shape))).ljust (117) + '\n'
    with open (path, 'wb') as f:
        f.write (b'\x93NUMPY\x01\x00' + struct.pack ('<H', len (head)) + head.encode () + (data or bytes (size)))

def floats (path):
    data = open (path, 'rb').read ()
    data = data[10 + struct.unpack ('<H', data[8:10])[0]:]
    return struct.unpack ('<%df' % (len (data) // 4), data)

# --- what a row needs before, and looks at afterwards -------------------------

def zeros (folder):
    npy (os.path.join (folder, 'zeros.npy'), (2, 16))

def bomb (folder):
    """128 MiB of zeros in 130 KB."""
    npy (os.path.join (folder, 'x.npy'), (1 << 25,))
    with zipfile.ZipFile (os.path.join (folder, 'bomb.npz'), 'w', zipfile.ZIP_DEFLATED) as z:
        z.write (os.path.join (folder, 'x.npy'), 'x.npy')
    os.unlink (os.path.join (folder, 'x.npy'))

def shape (folder):
    """An array of another shape, beside one that no header fits."""
    npy (os.path.join (folder, 'x.npy'), (3, 3))
    with zipfile.ZipFile (os.path.join (folder, 'shape.npz'), 'w') as z:
        z.write (os.path.join (folder, 'x.npy'), 'x.npy')

def boxes (folder):
    """Width and height of the boxes of one place, in order."""
    v = floats (os.path.join (folder, 'out', os.listdir (os.path.join (folder, 'out'))[0]))
    got = [(round (v[i + 2] - v[i], 4), round (v[i + 3] - v[i + 1], 4)) for i in range (0, 16, 4)]
    wanted = [(0.2, 0.2), (0.3, 0.3), (0.4, 0.1), (0.1, 0.4)]
    return None if got == wanted else 'boxes %s, wanted %s' % (got, wanted)

def small (folder):
    n = sum (os.path.getsize (os.path.join (folder, f)) for f in os.listdir (folder))
    return None if n < 20000 else '%d bytes written' % n

def inside (folder):
    return None if os.listdir (folder) == ['out'] else 'files beside the folder: %s' % os.listdir (folder)

# --- the table: file, command, exit code, pattern of stdout and stderr, more ---

D, R = 'corpus/defects/', 'corpus/robustness/'
EXEC = 'lptc exec $F --random=1'
VERIFY = 'lptc transform $F --verify -o o.json'

ROWS = [
    # memory, types
    (R + 'eye-quantized-output.lpt', 'lptc exec $F', 1, r'node "r": what Eye makes cannot be quantized'),
    (R + 'quantized-real.lpt', EXEC, 1, r'node "x": f16 cannot be quantized'),
    (R + 'quantized-f16-constant.lpt', EXEC, 1, r'node "n66416": f16 cannot be quantized'),
    (R + 'result-with-output.xml', 'lptc print $F', 1, r'output port'),
    (R + 'nms-no-candidate.lpt', EXEC, 0, ''),
    (R + 'null-offset-matmul.lpt', EXEC, 0, ''),
    (R + 'null-offset-reduce-mean.lpt', EXEC, 0, ''),
    (R + 'dwconv-padding.lpt', 'lptc exec $F --transform --random=1', 0, ''),
    (R + 'clamp-integer-huge-min.lpt', EXEC, 0, r'\{5'),
    # bodies under --verify
    (R + 'verify-body-parameters.lpt', VERIFY, 0, ''),
    (R + 'verify-body-slice.lpt', VERIFY, 0, ''),
    (R + 'verify-body-if.lpt', VERIFY, 0, ''),
    # files that a model names
    (R + 'sidecar/model/dotdot.json', EXEC, 1, r"leads out of the model's folder"),
    (R + 'sidecar/model/link.json', 'mkdir m o && cp $F m && cp $D/../outside/weights.bin o && ln -s ../o/weights.bin m/link.bin && '
                                    'lptc exec m/link.json --random=1', 1, r"leads out of the model's folder"),
    (R + 'sidecar/model/dotdot.json', EXEC + ' --allow-paths', 0, ''),
    # what never ends, or never has enough
    (R + 'loop-2-60-trips.lpt', EXEC + ' --max-trips 100000', 1, r'more than 100000 trips'),
    (R + 'loop-endless.lpt', EXEC + ' --max-trips 100000', 1, r'more than 100000 trips'),
    (R + 'loop-endless-stacked.lpt', EXEC + ' --max-trips 10000', 1, r'more than 10000 trips'),
    (R + 'loop-endless-stacked.lpt', EXEC + ' --max-memory 4M', 1, r'no memory for'),
    (R + 'loop-2-60-trips.lpt', VERIFY + ' --max-trips 100000', 1, r'more than 100000 trips'),
    (R + 'fold-broadcast.lpt', 'lptc transform $F -o o.json', 0, '', small),
    (R + 'fold-tile.lpt', 'lptc transform $F -o o.json', 0, '', small),
    (R + 'fold-range.lpt', 'lptc transform $F -o o.json', 0, '', small),
    (R + 'fold-broadcast.lpt', EXEC + ' --max-memory 500M', 1, r'no memory for .* \(the limit is 524288000 bytes together\)'),
    (R + 'fold-tile.lpt', EXEC + ' --max-memory 500M', 1, r'no memory for'),
    (R + 'fold-range.lpt', EXEC + ' --max-memory 500M', 1, r'no memory for'),
    (R + 'relu1.lpt', 'lptc exec $F -i bomb.npz', 1, r'would become 134217856, more than 256 times as many', bomb),
    (R + 'relu1.lpt', 'lptc exec $F -i shape.npz', 1, r'input "x" has shape \[3,3\], the model takes \[1\]', shape),
    (R + 'truncate-while-reading.sh', 'LPTC=lptc sh $F', 0, r'rc=[01]$'),
    # what is declared
    (R + 'if-declared-shape.lpt', 'lptc exec $F -i c=$D/false.npy -i x=$D/x23.npy', 1, r'declared'),
    (R + 'loop-declared-shape.lpt', EXEC, 1, r'declared'),
    (R + 'mvn-eps-negative.lpt', EXEC, 1, r'eps'),
    (R + 'mvn-eps-nan.lpt', EXEC, 1, r'eps'),
    (R + 'mvn-eps-0-constant.lpt', 'lptc exec $F', None, ''),
    (R + 'f16-output-becomes-f32.lpt', 'lptc transform $F -o o.lpt && lptc exec o.lpt --random=1', 0, r': f16\['),
    (R + 'control-dependency-lost.lpt', 'lptc transform $F -o t.lpt && lptc print t.lpt && lptc transform $F -o t.json && lptc print t.json', 0, ''),
    (R + 'nested-1100.json', 'lptc print $F', 1, r'nested deeper than 1000'),
    # what held already
    (R + 'group-conv-0-groups.lpt', EXEC, None, ''),
    (R + 'group-conv-0-groups.lpt', VERIFY, None, ''),
    (R + 'group-conv-0-groups.lpt', 'lptc transform $F -o o.onnx', 1, 'unsupported in ONNX: no groups'),
    (R + 'loop-endless.lpt', 'lptc transform $F -o o.onnx', 1, 'unsupported in ONNX: a loop that has no end'),
    (R + 'maxpool-0-channels.lpt', EXEC, None, ''),
    (R + 'maxpool-0-channels.lpt', VERIFY, None, ''),
    (R + 'zero-batch.lpt', EXEC, None, ''),
    (R + 'zero-batch.lpt', VERIFY, None, ''),
    (R + 'entity-bomb.xml', 'lptc print $F', 1, r'document type declaration'),
    (R + 'external-entity.xml', 'lptc print $F', 1, r'document type declaration'),
    (R + 'if-nested-16.lpt', EXEC + ' && lptc transform $F -o o.json && lptc transform $F -o o.onnx', 0, ''),
    (R + 'output-names.lpt', EXEC + ' -o out', 0, '', inside),

    # wrong answers
    (D + 'prior-box-opset1-order.lpt', 'lptc exec $F -i x=zeros.npy -o out && rm zeros.npy', 0, '', zeros, boxes),
    (D + 'depth-to-space-equal-channels.lpt', 'lptc transform $F --verify -o o.lpt && lptc exec o.lpt --random=1', 0, r'f32\[1,1,12,12\]'),
    (D + 'depth-to-space-equal-channels.lpt', 'lptc transform $F --target none -o o.lpt && lptc exec o.lpt --random=1', 0, r'f32\[1,1,12,12\]'),
    (D + 'depth-to-space-abort.lpt', VERIFY, 0, ''),
    (D + 'depth-to-space-invalid.lpt', 'lptc transform $F --target none --until cleanup -o o.lpt && lptc print o.lpt', 0, ''),
    (D + 'add-f16-bias.lpt', 'lptc transform $F --until cleanup -o o.lpt && ! grep -q 123.6875 o.lpt', 0, ''),
    (D + 'mvn-per-column-scale.onnx', VERIFY, 0, ''),
    (D + 'mvn-eps.lpt', VERIFY, 0, ''),
    (D + 'reference-f16-output.lpt', EXEC, 0, r': f16\['),
    (D + 'reference-f16-output.lpt', EXEC + ' --float --reference', 0, r': f32\['),
    # real files
    (D + 'detection-output-f16-v10.xml', 'lptc print $F', 0, 'DetectionOutput'),
    (D + 'initializer-twice.onnx', 'lptc print $F', 0, ''),
    (D + 'nodes-out-of-order.onnx', 'lptc print $F', 0, ''),
    (D + 'qlinear-conv-then-float.onnx', 'for o in json lpt onnx; do lptc transform $F -o o.$o || exit; done; lptc explain $F', 0, ''),
    (D + 'qlinear-conv-then-float.onnx', 'lptc transform $F -o o.xml', 1, 'unsupported in an OpenVINO IR'),
    (D + 'matmul-integer-epilogue.onnx', 'lptc transform $F -o o.json', 0, ''),
    (D + 'dequantize-int4-blocks.onnx', 'lptc transform $F --until prepare -o o.onnx && lptc print o.onnx', 0, ''),
    (D + 'zero-point-tie.lpt', VERIFY, 0, ''),
]

def keep (r):
    """Restrictions hold, or the transformation says that they cannot."""
    return 'lptc transform $F --restrict %s -o o.lpt && lptc check o.lpt --restrict %s' % (r, r)

for name, wishes in (('convolution', ('f32,f32', 'i4,i4', 'i16,i8', 'u8,i4', 'u8,u8')), ('add', ('i8,i8', 'f32,f32')), ('avgpool', ('f32',)),
                     ('maxpool', ('i8', 'f32'))):
    op = {'convolution': 'Convolution', 'add': 'Add', 'avgpool': 'AvgPool', 'maxpool': 'MaxPool'}[name]
    ROWS += [(D + 'restrict-%s.lpt' % name, keep ('%s:%s' % (op, w)), 0, '') for w in wishes]

# --- running --------------------------------------------------------------------

def run (lptc, shared, row):
    """What is wrong, or None."""
    path = os.path.join (shared, row[0])
    if not os.path.exists (path):
        return 'there is no such file'
    hooks = [h for h in row[4:] if h is not OPEN]
    env = dict (os.environ, PATH=os.path.dirname (lptc) + os.pathsep + os.environ['PATH'], F=path, D=os.path.dirname (path), LC_ALL='C.UTF-8')
    with tempfile.TemporaryDirectory (prefix='lptc-') as folder:
        for hook in hooks:
            if hook in (zeros, bomb, shape): hook (folder)
        try:
            p = subprocess.run (['/bin/sh', '-c', row[1]], cwd=folder, env=env, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return 'does not end'
        said = '%s\n%s' % (p.stdout[:2000], p.stderr[:2000])
        if p.returncode != row[2] and (row[2] is not None or p.returncode not in (0, 1)):
            return 'exit code %d, not %s: %s' % (p.returncode, row[2], said)
        if not re.search (row[3], p.stdout + p.stderr, re.M):
            return 'lacks /%s/: %s' % (row[3], said)
        for hook in hooks:
            wrong = hook (folder) if hook in (boxes, small, inside) else None
            if wrong: return wrong
        left = [f for f in os.listdir (folder) if f.endswith ('.tmp')]
        return 'left behind: %s' % left if left else None

def main ():
    lptc, shared = os.path.abspath (sys.argv[1]), os.path.abspath (sys.argv[2])
    if not os.path.isdir (os.path.join (shared, D)) or not os.path.isdir (os.path.join (shared, R)):
        print ('1..0 # SKIP no %s' % os.path.join (shared, 'corpus'))
        sys.exit (77)
    failed = 0
    print ('1..%d' % len (ROWS))
    for i, row in enumerate (ROWS, 1):
        wrong, known = run (lptc, shared, row), OPEN in row[4:]
        if known:
            wrong = None if wrong else 'passes, although its row says that it is open: take the mark away'
        print ('%s %d %s: %s%s' % ('not ok' if wrong else 'ok', i, os.path.basename (row[0]), row[1], ' # open' if known else ''))
        if wrong:
            failed += 1
            print ('\n'.join ('# ' + line for line in wrong.splitlines ()))
    sys.exit (1 if failed else 0)

main ()
