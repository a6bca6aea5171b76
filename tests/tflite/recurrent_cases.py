"""LSTM, RNN and SVDF with integers, 8-bit weights and real ones: one step of each, small.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

import tfl
from tfl import tensor

F, I8, I16, I32 = np.float32, np.int8, np.int16, np.int32
BATCH, STEPS, INPUTS, CELLS = 1, 3, 3, 4


class Cell:
    """Tensors in the order of the operator's inputs."""

    def __init__(self, seed, hybrid=False):
        self.r, self.hybrid = np.random.RandomState(seed), hybrid
        self.tensors, self.inputs = [], []

    def add(self, row):
        self.tensors.append(row)
        self.inputs.append(len(self.tensors) - 1)

    def none(self, n=1):
        self.inputs += [-1] * n

    def data(self, array, **quant):
        self.add(tensor("t%d" % len(self.tensors), array.dtype, array.shape, array, **quant))

    def weights(self, rows, columns, n=1):
        for _ in range(n):
            if self.hybrid:
                self.data(self.r.randint(-127, 128, (rows, columns)).astype(I8), scale=0.006)
            else:
                self.data(self.r.uniform(-0.7, 0.7, (rows, columns)).astype(F))

    def bias(self, length, n=1):
        for _ in range(n):
            self.data(self.r.uniform(-0.5, 0.5, length).astype(F))

    def state(self, dtype, *shape, **quant):
        self.add(tensor("t%d" % len(self.tensors), dtype, shape, is_variable=1, **quant))

    def model(self, name, x, out, options, version, intermediates=(), more=()):
        """Tensor 0 is @x; @more: what further operators with the same weights and states read, an output of each."""
        n = len(self.tensors)
        rows = self.tensors + list(intermediates) + [tensor("y%d" % k, *o[:2], **o[2]) for k, o in enumerate(out)]
        outs = list(range(len(rows) - len(out), len(rows)))
        buffers, codes = [{}], []
        each = [(self.inputs, outs)]
        if more:
            each = [([first] + self.inputs[1:], [out]) for first, out in zip([0, *more], outs)]
        graph = tfl.subgraph(rows, [tfl.op(name.split("/")[0], *e, options, version=version) for e in each], [0], outs, buffers, codes)
        for operator in graph["operators"]:
            if intermediates:
                operator["intermediates"] = list(range(n, n + len(intermediates)))
        table = [{"deprecated_builtin_code": c, "builtin_code": c, "version": v} for c, _, v in codes]
        data = tfl.write({"version": 3, "operator_codes": table, "subgraphs": [graph], "description": "test", "buffers": buffers})
        return name, data, [("t0", x)], ["y%d" % k for k in range(len(out))], None


def real(name, hybrid):
    sequence, both = "SEQUENCE" in name, name.startswith("BIDIR")
    lstm = name.endswith("LSTM")
    c = Cell(7, hybrid)
    shape = (BATCH, STEPS, INPUTS) if sequence else (BATCH, INPUTS)
    x = c.r.uniform(-3, 3, shape).astype(F)
    c.add(tensor("t0", F, shape))
    for _ in range(1 + both):
        c.weights(CELLS, INPUTS, 4 if lstm else 1)
        c.weights(CELLS, CELLS, 4 if lstm else 1)
        if lstm:
            c.none(3)
        c.bias((CELLS,), 4 if lstm else 1)
        if lstm:
            c.none(2)
        else:
            c.state(F, BATCH, CELLS)
    if lstm:
        for _ in range(2 + 2 * both):
            c.state(F, BATCH, CELLS)
    c.none(9 if lstm and both else 3 if both else 4 if lstm and sequence else 0)
    table = {"LSTM": "LSTMOptions", "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions", "BIDIRECTIONAL_SEQUENCE_LSTM": "BidirectionalSequenceLSTMOptions",
             "RNN": "RNNOptions", "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions", "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions"}[name]
    options = {"fused_activation_function": 4}
    if sequence:
        options["time_major"] = 0
    return c.model(name + "/hybrid" * hybrid, x, [(F, shape[:-1] + (CELLS,), {})] * (1 + both), (table, options), 3)


def svdf(hybrid):
    c = Cell(8, hybrid)
    x = c.r.uniform(-3, 3, (1, 3)).astype(F)
    c.add(tensor("t0", F, (1, 3)))
    c.weights(4, 3)
    c.weights(4, 5)
    c.bias((2,))
    c.state(F, 1, 20)
    return c.model("SVDF" + "/hybrid" * hybrid, x, [(F, (1, 2), {})], ("SVDFOptions", {"rank": 2}), 4)


def integer_lstm(seed, outputs, peephole):
    """Gates in 16 bits; a projection where there are fewer outputs than cells."""
    c = Cell(seed)
    r, projected = c.r, outputs != CELLS
    shape = (BATCH, STEPS, INPUTS)
    x = r.randint(-128, 128, shape).astype(I8)
    c.add(tensor("t0", I8, shape, scale=0.03, zero=5))
    for columns in (INPUTS, outputs):
        for _ in range(4):
            c.data(r.randint(-127, 128, (CELLS, columns)).astype(I8), scale=0.003)
    for _ in range(3):
        if peephole:
            c.data(r.randint(-20000, 20000, CELLS).astype(I16), scale=2.0 ** -15)
        else:
            c.none()
    for _ in range(4):
        c.data(r.randint(-1500, 1500, CELLS).astype(I32), scale=float(F(0.03) * F(0.003)))
    if projected:
        c.data(r.randint(-127, 128, (outputs, CELLS)).astype(I8), scale=0.012)
    c.none(1 + (not projected))
    hidden = {"scale": 0.01, "zero": 3 if projected else 0}
    c.state(I8, BATCH, outputs, **hidden)
    c.state(I16, BATCH, CELLS, scale=2.0 ** -11)
    c.none(4)
    between = [tensor("i%d" % k, I16, (), scale=2.0 ** -12) for k in range(4)] + [tensor("i4", I8, (), scale=0.009 if projected else 0.01)]
    return c.model("UNIDIRECTIONAL_SEQUENCE_LSTM/i8/%d" % seed, x, [(I8, (BATCH, STEPS, outputs), hidden)], ("UnidirectionalSequenceLSTMOptions", {"fused_activation_function": 4}), 3, between)


def integer_lstm8(seed, name="LSTM", batch=2, inputs=5, cells=8, outputs=3, step=0.02, far=0, plain=False, edit=None, **clips):
    """Products in 8 bits: two steps. plain: weights of the input gate and peepholes too, which are not read; far: products with h
    of gates f and o have scales that many powers of 2 above those of their sums."""
    c = Cell(seed)
    r, steps = c.r, [c.r.randint(-128, 128, (batch, inputs)).astype(I8) for _ in range(2)]
    c.add(tensor("t0", I8, (batch, inputs), scale=0.03, zero=5))
    small = 2.0 ** -far
    for columns, o in ((inputs, small / 1024 if far else 1), (outputs, 1)):
        for g in range(4):
            if g == 0 and not plain:
                c.none()
            else:
                c.data(r.randint(-127, 128, (cells, columns)).astype(I8), scale=step * (o if g == 3 else 1))
    for _ in range(3):
        if plain:
            c.data(r.randint(-20000, 20000, cells).astype(I16), scale=2.0 ** -15)
        else:
            c.none()
    for g in range(4):
        if g == 0 and not plain:
            c.none()
        else:
            c.data(r.randint(-1500, 1500, cells).astype(I32), scale=0.001)
    c.data(r.randint(-127, 128, (outputs, cells)).astype(I8), scale=0.012)
    c.data(r.randint(-1500, 1500, outputs).astype(I32), scale=0.001)
    hidden = {"scale": 0.01, "zero": 3}
    c.state(I8, batch, outputs, **hidden)
    c.state(I16, batch, cells, scale=2.0 ** -15)
    for g in range(4):
        if g == 0 and not plain:
            c.none()
        else:
            c.data(r.randint(1000, 20000, cells).astype(I16), scale=0.0001)
    between = []
    for k in range(12):
        near = {3: small, 4: small, 9: small, 10: small / 1024}.get(k, 1) if far else 1
        if k % 3 == 0:
            between.append(tensor("i%d" % k, I16, (), scale=2.0 ** -12 * near))
        else:
            between.append(tensor("i%d" % k, I8, (), scale=(0.03 * (1 + 0.1 * k) + 0.01 * (k % 3)) * near, zero=-100 if far and k == 11 else k * 7 % 11 - 5))
    if edit:
        edit(c)
    c.tensors.append(tensor("second", I8, (batch, inputs), steps[1], scale=0.03, zero=5))
    return c.model("%s/i8x8/%d" % (name, seed), steps[0], [(I8, (batch, outputs), hidden)] * 2, ("LSTMOptions", {"fused_activation_function": 4, **clips}), 4, between,
                   [len(c.tensors) - 1])


def cases():
    for name in ("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"):
        for hybrid in (False, True):
            yield real(name, hybrid)
    for hybrid in (False, True):
        yield svdf(hybrid)
    for seed, (outputs, peephole) in enumerate(((CELLS, False), (CELLS, True), (3, False), (3, True), (2, True))):
        yield integer_lstm(seed, outputs, peephole)
    for seed, form in enumerate(({}, {"plain": True}, {"batch": 1, "inputs": 33, "cells": 37, "outputs": 19}, {"step": 0.3}, {"step": 0.001}, {"cell_clip": 0.2},
                                 {"cell_clip": 1.5}, {"proj_clip": 0.3},
                                 {"far": 14, "step": 0.3})):
        yield integer_lstm8(seed, **form)
