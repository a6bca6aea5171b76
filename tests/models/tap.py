"""What the tests of whole models share: the arguments, TAP, calls of the program.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


try:
    import numpy as np
except ImportError:
    skip("no numpy")

LPTC = sys.argv[1]
done = failed = 0


def models():
    """The folder with the real networks, which the second argument names the parent of."""
    folder = os.path.join(sys.argv[2], "models")
    if not os.path.isdir(folder):
        skip("the shared folder is absent")
    return folder


def case(name, good, note):
    global done, failed
    done += 1
    failed += not good
    suite = os.path.basename(sys.argv[0])[len("test-"):-len(".py")]
    print("%s %d /models/%s/%s # %s" % ("ok" if good else "not ok", done, suite, name, note), flush=True)


def finish():
    print("1..%d" % done)
    sys.exit(1 if failed else 0)


def call(*args):
    return subprocess.run([LPTC, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def attempt(*args):
    """None where the program succeeds, else what it says."""
    run = call(*args)
    return run.stdout.strip() or "exit code %d" % run.returncode if run.returncode else None


def lptc(*args):
    """What the program prints; ends the test where it fails."""
    run = call(*args)
    if run.returncode:
        print("Bail out! lptc %s: exit code %d\n%s" % (" ".join(args), run.returncode, run.stdout))
        sys.exit(1)
    return run.stdout


def execute(model, feeds, out, *names, options=()):
    """The outputs @names of @model; feeds: NAME=FILE."""
    lptc("exec", model, *options, *(a for f in feeds for a in ("-i", f)), "-o", out)
    return [np.load(os.path.join(out, n + ".npy")) for n in names]


def overlap(a, b):
    """Intersection over union of two boxes (x0, y0, x1, y1)."""
    side = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    both = np.prod(np.maximum(side, 0))
    return both / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - both)
