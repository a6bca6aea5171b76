"""Operators whose biases and axes are computed, and numbers of rank 0; cases () as in cases.py.

What 2.9 makes of LOG_SOFTMAX and L2_NORMALIZATION of rank 0 is what lay there before: these are what they are of one element.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from edge_cases import one, q

F, I8, U8, I16, I32, I64 = np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64
KINDS = {"i8": (I8, I8, I32, 3), "u8": (U8, U8, I32, 120), "i16": (I16, I8, I64, 0)}


def drawn(r, dtype, shape):
    low, high = (0, 256) if dtype is U8 else (-100, 101)
    return r.integers(low, high, shape).astype(dtype)


def biases(r, name):
    data, weights, sums, zero = KINDS[name]
    x, bias = drawn(r, data, (1, 4, 4, 3)), (drawn(r, sums, (4,)), q(0.001))
    w, scale = drawn(r, weights, (4, 2, 2, 3)), q(0.02, 7 if name == "u8" else 0)
    rows, flat, out = (drawn(r, data, (2, 8)), q(0.05, zero)), (drawn(r, weights, (4, 8)), scale), q(0.1, zero)
    yield one("FULLY_CONNECTED/computed-bias-" + name, [rows, flat, bias], [0, 2], (data, [2, 4], out), ("FullyConnectedOptions", {}), 4)
    options = ("Conv2DOptions", {"stride_w": 1, "stride_h": 1})
    yield one("CONV_2D/computed-bias-" + name, [(x, q(0.05, zero)), (w, scale), bias], [0, 2], (data, [1, 4, 4, 4], out), options, 3)
    options, shape = ("TransposeConvOptions", {"stride_w": 2, "stride_h": 2}), np.array([1, 8, 8, 4], I32)
    yield one("TRANSPOSE_CONV/computed-bias-" + name, [(shape, None), (w, scale), (x, q(0.05, zero)), bias], [2, 3], (data, [1, 8, 8, 4], out), options, 3)


def axes(r, name):
    data, _, _, zero = KINDS[name]
    for kind in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
        for keep in (0, 1):
            x, shape = (drawn(r, data, (2, 3, 4)), q(0.05, zero)), [2, 1, 4] if keep else [2, 4]
            tensors, options = [x, (np.array([1], I32), None)], ("ReducerOptions", {"keep_dims": keep})
            yield one("%s/computed-axes-%s/%d" % (kind, name, keep), tensors, [0, 1], (data, shape, q(0.05, zero)), options, 2)


def cases():
    r = np.random.default_rng(19)
    for name in KINDS:
        yield from biases(r, name)
        yield from axes(r, name)
    for name, dtype in (("i8", I8), ("u8", U8), ("i16", I16)):
        x = drawn(r, dtype, (5,))
        yield one("LEAKY_RELU/plain-" + name, [(x, None)], [0], (dtype, [5], None), ("LeakyReluOptions", {"alpha": 0.2}), 2)
    yield one("LOG_SOFTMAX/scalar", [(np.array(3, F), None)], [0], (F, [], None), None, 1, np.array(0, F))
    yield one("LOG_SOFTMAX/scalar-i8", [(np.array(3, I8), q(0.05, 3))], [0], (I8, [], q(1 / 16, 127)), None, 2, np.array(127, I8))
    options = ("L2NormOptions", {})
    yield one("L2_NORMALIZATION/scalar", [(np.array(-3, F), None)], [0], (F, [], None), options, 1, np.array(-1, F))
    yield one("L2_NORMALIZATION/scalar-i8", [(np.array(5, I8), q(0.05, 3))], [0], (I8, [], q(1 / 128, 0)), options, 2, np.array(127, I8))
