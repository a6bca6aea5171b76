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

    def model(self, name, x, out, options, version, intermediates=()):
        """Tensor 0 is @x."""
        n = len(self.tensors)
        rows = self.tensors + list(intermediates) + [tensor("y%d" % k, *o[:2], **o[2]) for k, o in enumerate(out)]
        outs = list(range(len(rows) - len(out), len(rows)))
        buffers, codes = [{}], []
        graph = tfl.subgraph(rows, [tfl.op(name.split("/")[0], self.inputs, outs, options, version=version)], [0], outs, buffers, codes)
        if intermediates:
            graph["operators"][0]["intermediates"] = list(range(n, n + len(intermediates)))
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


def cases():
    for name in ("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"):
        for hybrid in (False, True):
            yield real(name, hybrid)
    for hybrid in (False, True):
        yield svdf(hybrid)
    for seed, (outputs, peephole) in enumerate(((CELLS, False), (CELLS, True), (3, False), (3, True), (2, True))):
        yield integer_lstm(seed, outputs, peephole)
