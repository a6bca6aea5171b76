#!/usr/bin/python3
"""Einsum of ONNX against numpy.einsum, and what of it are matrix products.

    test-einsum.py LPTC

Prints TAP. Needs numpy and onnx.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import LPTC, case, finish, np, skip  # noqa: E402

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    skip("no onnx")

# Equation, shapes, and whether the op stays.
CASES = [
    ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)], False),
    ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)], False),
    ("bhqk,bkhd->bqhd", [(2, 3, 4, 6), (2, 6, 3, 5)], False),
    ("bsd,dhk->bshk", [(2, 4, 6), (6, 3, 5)], False),
    ("bshk,hkd->bsd", [(2, 4, 3, 5), (3, 5, 7)], False),
    ("ij,jk", [(3, 4), (4, 5)], False),
    ("ba,ac", [(3, 4), (4, 5)], False),
    ("ij->ji", [(3, 4)], False),
    ("ijk->k", [(3, 4, 5)], False),
    ("i,j->ij", [(3,), (4,)], False),
    ("i,i->", [(5,), (5,)], False),
    ("nkctv,kvw->nctw", [(2, 3, 4, 5, 6), (3, 6, 6)], False),
    ("ijz,jkw->ki", [(2, 3, 4), (3, 5, 6)], False),
    (" b i j , b j k -> b i k ", [(2, 3, 4), (2, 4, 5)], False),
    ("bij,bj->bi", [(2, 3, 4), (2, 4)], False),
    ("ji,kj->ki", [(3, 4), (5, 3)], False),
    ("bn,bn->bn", [(2, 3), (2, 3)], False),
    ("a,->a", [(3,), ()], False),
    ("ij,ij->", [(3, 4), (3, 4)], False),
    ("ij,ij->", [(0, 4), (0, 4)], True),
    ("ii->i", [(4, 4)], True),
    ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)], False),
    ("b...,b->...b", [(2, 3, 4), (2,)], False),
    ("...ij,...jk->...ik", [(2, 3, 4), (1, 4, 5)], True),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], False),
    ("bi,bj,bk->ijk", [(2, 3), (2, 4), (2, 5)], False),
    ("ab,bc,cd,de->ea", [(2, 3), (3, 4), (4, 5), (5, 2)], False),
]


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def write(path, equation, shapes, result):
    node = helper.make_node("Einsum", ["x%d" % i for i in range(len(shapes))], ["y"], equation=equation)
    inputs = [helper.make_tensor_value_info("x%d" % i, TensorProto.FLOAT, list(s)) for i, s in enumerate(shapes)]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


rng = np.random.default_rng(0)
for equation, shapes, stays in CASES:
    with tempfile.TemporaryDirectory() as folder:
        model, out = os.path.join(folder, "e.onnx"), os.path.join(folder, "out")
        values = [np.asarray(rng.standard_normal(s), np.float32) for s in shapes]
        want = np.asarray(np.einsum(equation, *[v.astype(np.float64) for v in values]))
        write(model, equation, shapes, list(want.shape))
        command = [LPTC, "exec", model, "-o", out]
        for i, value in enumerate(values):
            np.save(os.path.join(folder, "x%d.npy" % i), value)
            command += ["-i", "x%d=%s" % (i, os.path.join(folder, "x%d.npy" % i))]
        result = run(command)
        if result.returncode != 0:
            case(equation, False, result.stderr.strip())
            continue
        got = np.load(os.path.join(out, "y.npy"))
        far = np.abs(got - want).max() if got.shape == want.shape and got.size else 0
        kept = " = einsum" in run([LPTC, "plan", model]).stdout
        case(equation, got.shape == want.shape and far < 1e-5 and kept == stays, "off by %.1e, %s" % (far, "the op" if kept else "a product"))
finish()
