#!/usr/bin/python3
"""Random restrictions on real networks: what `lptc transform` writes, `lptc check` with the same options accepts.

    test-restrict.py LPTC SHARED

One to three of --restrict, --per-tensor, --keep on each of four quantized networks of SHARED, some on another target; 20 combinations,
400 with LPT_TEST_NIGHTLY=1. Exit code 77 where SHARED has no networks.
SPDX-License-Identifier: Apache-2.0
"""
import os, random, subprocess, sys, tempfile

NETS = ('ir-head-pose-estimation-adas-0001/FP16-INT8/head-pose-estimation-adas-0001',
        'ir-gaze-estimation-adas-0002/FP16-INT8/gaze-estimation-adas-0002',
        'ir-face-detection-retail-0004/FP16-INT8/face-detection-retail-0004',
        'ir-person-reidentification-retail-0031/FP16-INT8/person-reidentification-retail-0031')
OPS = ('conv group_conv deconv matmul add mul sub avg_pool max_pool concat relu clamp prelu elu reshape transpose split sigmoid '
       'reduce_mean pad softmax Requantize Dequantize Reinterpret Quantize FakeQuantize').split ()
TYPES = ('', '', ':f32', ':f32,f32', ':u8', ':i8', ':u8,i8', ':u8,u8', ':i8,i8', ':i8,u8', ':u8|i8,i8', ':,i8', ':,u8', ':,i4', ':u8,i4', ':i4,i4',
         ':i16,i8', ':0+1=u8', ':0+1=i8')
GLOBS = ('conv*', '*1*', 'bottleneck2*', 'data*', '*/dim_*', 'fc*', '*', '?????')
TARGETS = ('none', 'openvino-cpu', 'openvino-cpu-new', 'openvino-gpu', 'arm', 'litert', 'tpu')

def options (rnd):
    args = []
    for _ in range (rnd.randint (1, 3)):
        kind = rnd.random ()
        if kind < 0.2:
            args += ['--per-tensor', rnd.choice (OPS) + rnd.choice (('', ':0', ':1', ':0,1'))]
        elif kind < 0.3:
            args += ['--keep', rnd.choice (GLOBS)]
        elif kind < 0.4:
            args += ['--restrict', 'node=' + rnd.choice (GLOBS) + rnd.choice (TYPES)]
        else:
            args += ['--restrict', rnd.choice (OPS) + rnd.choice (TYPES)]
    return args + (['--target', rnd.choice (TARGETS)] if rnd.random () < 0.3 else [])

def main ():
    lptc, models = sys.argv[1], os.path.join (sys.argv[2], 'models')
    nets = [path for path in (os.path.join (models, net + '.xml') for net in NETS) if os.path.exists (path)]
    if not nets:
        print ('no networks in', models)
        return 77
    failed = 0
    with tempfile.TemporaryDirectory (prefix='lptc-') as folder:
        out = os.path.join (folder, 'out.json')
        for i in range (400 if os.environ.get ('LPT_TEST_NIGHTLY') else 20):
            net, args = nets[i % len (nets)], options (random.Random (i))
            for command in (['transform', net, '-o', out], ['check', out]):
                done = subprocess.run ([lptc] + command + args, capture_output=True, text=True)
                if done.returncode != 0:
                    failed += 1
                    print (command[0], os.path.basename (net), ' '.join (args), (done.stdout + done.stderr).splitlines ()[:3], sep='\n  ')
                    break
    return 1 if failed else 0

sys.exit (main ())
