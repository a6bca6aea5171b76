#!/usr/bin/python3
"""lptc quantize and eval on a trained network: test-quantize.py LPTC SHARED

MNIST: 200 samples make an int8 model whose accuracy on the other 9800 is that of the float one within 0.05 points; every product
runs on integers; the bytes do not depend on threads or the processor; memory does not grow with the number of samples; images as
files give what arrays give. ResNet-8 as .tflite: integers throughout, its answers those of the float model. Prints TAP; exit code 77 where numpy or the material is missing.
SPDX-License-Identifier: Apache-2.0
"""
import gzip, json, os, subprocess, sys, tempfile

try:
    import numpy as np
except ImportError:
    print('# no numpy')
    sys.exit(77)

lptc, shared = (os.path.abspath (p) for p in sys.argv[1:3])
model, data = (os.path.join(shared, 'models', p) for p in ('onnx-fp32-mnist-cntk/mnist.onnx', 'data-mnist-t10k'))
if not os.path.exists(model) or not os.path.isdir(data):
    print('# no %s' % model)
    sys.exit(77)
number = failed = 0


def check(ok, what):
    global number, failed
    number += 1
    failed += not ok
    print('%sok %d - %s' % ('' if ok else 'not ', number, what))


def run(*args, **env):
    done = subprocess.run([lptc, *args], capture_output=True, text=True, env={**os.environ, **env})
    if done.returncode != 0:
        print('# %s: %s' % (' '.join(args), done.stderr))
    return done


def read(name):
    with open(name, 'rb') as f:
        return f.read()


def peak(*args):
    """Kilobytes; without what AddressSanitizer keeps of freed memory."""
    code = 'import resource, subprocess, sys; subprocess.run (sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); ' \
           'print (resource.getrusage (resource.RUSAGE_CHILDREN).ru_maxrss)'
    return int(subprocess.run([sys.executable, '-c', code, lptc, *args], capture_output=True, text=True, check=True,
                              env={**os.environ, 'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=0:thread_local_quarantine_size_kb=0'}).stdout)


x = np.frombuffer(gzip.open(os.path.join(data, 't10k-images-idx3-ubyte.gz')).read(), np.uint8, offset=16).reshape(-1, 28, 28)
y = np.frombuffer(gzip.open(os.path.join(data, 't10k-labels-idx1-ubyte.gz')).read(), np.uint8, offset=8).astype(np.int64)
with tempfile.TemporaryDirectory(prefix='lptc-') as folder:
    os.chdir(folder)
    np.save('cal.npy', x[:200])
    np.save('x.npy', x[200:])
    np.save('y.npy', y[200:])
    done = run('quantize', model, '--data', 'cal.npy', '-o', 'q.json')
    check(done.returncode == 0 and '3 of 3 products on integers' in done.stdout and '100.0 % u8' in done.stdout, 'all products on integers')
    for form in ('q.onnx', 'q.xml'):
        run('quantize', model, '--data', 'cal.npy', '-o', form)
        e = run('eval', model, form, '--data', 'x.npy', '--labels', 'y.npy', '--json')
        result = json.loads(e.stdout) if e.returncode == 0 else None
        a, b = ([m['scores'][0]['value'] for m in result['models']] if result else (1.0, 0.0))
        check(a > 0.985 and b >= a - 0.0005 and result['sqnr_db'] > 35, '%s: %.4f against %.4f, %.1f dB' % (form, b, a, result['sqnr_db'] if result else 0))
    for level in ('scalar', 'avx2'):
        done = run('quantize', model, '--data', 'cal.npy', '--threads', '2', '-o', 'r.json', LPT_CPU=level)
        check(done.returncode == 0 and read('r.json.bin') == read('q.json.bin'), 'the same bytes with LPT_CPU=%s and two threads' % level)
    peaks = []
    for n in (10, 100, 1000):
        np.save('some.npy', x[:n])
        peaks.append(peak('quantize', model, '--data', 'some.npy', '-o', 'm.json', '--preset', 'accurate'))
    check(max(peaks) < min(peaks) + 6144, 'memory: %s KB with 10, 100, 1000 samples' % peaks)
    way = ['--ranges', 'average', '--weight-ranges', 'min-max', '--disable', 'bias-correction']
    done = run('quantize', model, '--data', 'cal.npy', *way, '--max-drop', '0', '--labels', 'y.npy', '--eval-data',
               'x.npy', '-o', 'k.xml')
    kept = [line.split()[1] for line in done.stdout.splitlines() if line.startswith('--keep ')]
    again = run('quantize', model, '--data', 'cal.npy', *way, *[a for name in kept for a in ('--keep', name)],
                '-o', 'l.xml')
    check(done.returncode == 0 and again.returncode == 0 and kept and read('k.bin') == read('l.bin'),
          'the printed --keep %s give the same model' % kept)
    small, images = (os.path.join(shared, 'models', p) for p in ('tflite-mlperf-tiny/ic_resnet8_fp32.tflite', 'data-cifar10-train100'))
    unseen = os.path.join(shared, 'models', 'data-cifar10-jpeg')
    if all(os.path.exists(p) for p in (small, images, unseen)):
        made = []
        for threads in '123':
            done = run('quantize', small, '--data', os.path.join(images, 'x.u8.npy'), '--threads', threads, '-o', 'r.tflite')
            made.append(read('r.tflite') if done.returncode == 0 else threads)
        check(made[0] == made[1] == made[2], 'a .tflite of the same bytes by one to three threads')
        done = run('quantize', small, '--data', os.path.join(images, 'x.u8.npy'), '-o', 'r.tflite', LPT_CPU='scalar')
        check(done.returncode == 0 and read('r.tflite') == made[0], 'and with LPT_CPU=scalar, which has no transforms for windows of 3x3')
        text = run('print', 'r.tflite').stdout
        sums = [line for line in text.splitlines() if ' = Add(' in line]
        check(len(sums) == 3 and all(' : i8[' in line for line in sums), 'residual sums are integers in it')
        for form in ('r.tflite', 'r8.tflite'):
            if form == 'r8.tflite':
                run('quantize', small, '--data', os.path.join(images, 'x.u8.npy'), '--io-type', 'int8', '-o', form)
            e = run('eval', small, form, '--data', os.path.join(unseen, 'x.u8.npy'), '--labels', os.path.join(unseen, 'y.i64.npy'), '--json')
            result = json.loads(e.stdout) if e.returncode == 0 else None
            a, b = ([m['scores'][0]['value'] for m in result['models']] if result else (1.0, 0.0))
            check(b >= a - 0.01 and result['agree'] > 0.96, '%s: %.3f against %.3f' % (form, b, a))
    else:
        print('# no %s' % small)
print('1..%d' % number)
sys.exit(failed != 0)
