"""LSTM and RNN by their definition, with what the plain ones lack: peepholes, layer norm, projections, clips, one gate less, a second input; cases () as in cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from recurrent_cases import Cell
from tfl import model, op, tensor

F = np.float32
STEPS, INPUTS, CELLS = 3, 3, 4
I, FORGET, NEW, O = range(4)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def normal(v):
    """(v - mean) / sqrt (variance + 1e-8)"""
    return (v - v.mean()) / np.sqrt(v.var() + 1e-8)


class Weights:
    """Of one direction: lists of gates i, f, c, o; None where there is none."""

    def __init__(self, r, outputs=CELLS, cifg=False, peephole=False, norm=False, projection=False, aux=0):
        draw = lambda *shape: r.uniform(-0.7, 0.7, shape).astype(F)
        gates = lambda *shape: [None if cifg and g == I else draw(*shape) for g in range(4)]
        self.w, self.r, self.b = gates(CELLS, INPUTS), gates(CELLS, outputs), gates(CELLS)
        self.p = [None if not peephole or g == NEW or (cifg and g == I) else draw(CELLS) for g in range(4)]
        self.n = gates(CELLS) if norm else [None] * 4
        self.proj, self.proj_bias = (draw(outputs, CELLS), draw(outputs)) if projection else (None, None)
        self.a = gates(CELLS, aux) if aux else [None] * 4
        self.outputs = outputs

    def step(self, x, aux, h, c, cell_clip=0, proj_clip=0):
        def gate(g, c):
            v = self.w[g] @ x + self.r[g] @ h
            v = v + self.a[g] @ aux if self.a[g] is not None else v
            v = v + self.p[g] * c if self.p[g] is not None else v
            v = normal(v) * self.n[g] if self.n[g] is not None else v
            return v + self.b[g]
        f = sigmoid(gate(FORGET, c))
        i = 1 - f if self.w[I] is None else sigmoid(gate(I, c))
        c = f * c + i * np.tanh(gate(NEW, c))
        c = np.clip(c, -cell_clip, cell_clip) if cell_clip else c
        h = sigmoid(gate(O, c)) * np.tanh(c)
        if self.proj is not None:
            h = self.proj @ h + self.proj_bias
            h = np.clip(h, -proj_clip, proj_clip) if proj_clip else h
        return h, c

    def run(self, x, aux=None, backwards=False, **clips):
        """x [steps, inputs] -> [steps, outputs]"""
        h, c, y = np.zeros(self.outputs), np.zeros(CELLS), [None] * len(x)
        for k in range(len(x))[::-1] if backwards else range(len(x)):
            h, c = self.step(x[k], None if aux is None else aux[k], h, c, **clips)
            y[k] = h
        return np.stack(y).astype(F)

    def put(self, cell):
        for a in self.w + self.r + [self.p[I], self.p[FORGET], self.p[O]] + self.b + [self.proj, self.proj_bias]:
            put(cell, a)


def put(cell, array):
    if array is None:
        cell.none()
    else:
        cell.data(array)


def sequence(name, seed, time_major=0, clips=None, **forms):
    """UNIDIRECTIONAL_SEQUENCE_LSTM, or LSTM for each step."""
    clips = clips or {}
    cell = Cell(seed)
    weights = Weights(cell.r, **forms)
    x = cell.r.uniform(-2, 2, (STEPS, INPUTS)).astype(F)
    single = name.startswith("LSTM")
    shape = (1, INPUTS) if single else (STEPS, 1, INPUTS) if time_major else (1, STEPS, INPUTS)
    cell.add(tensor("t0", F, shape))
    weights.put(cell)
    cell.state(F, 1, weights.outputs)
    cell.state(F, 1, CELLS)
    for a in weights.n:
        put(cell, a)
    options = {"fused_activation_function": 4, **clips}
    if not single:
        options["time_major"] = time_major
    table = "LSTMOptions" if single else "UnidirectionalSequenceLSTMOptions"
    y = weights.run(x, **clips)
    given = x.reshape(STEPS, INPUTS) if single else x.reshape(shape)
    name, data, inputs, outputs, _ = cell.model(name, given, [(F, shape[:-1] + (weights.outputs,), {})], (table, options), 3)
    return name, data, inputs, outputs, [y if single else y.reshape(shape[:-1] + (weights.outputs,))]


def both_lstm(name, seed, aux, stacked, merge):
    """aux: a second input; stacked: without weights, it is what the backward direction reads."""
    cell = Cell(seed)
    ways = [Weights(cell.r, aux=INPUTS if aux and not stacked else 0) for _ in range(2)]
    x, second = (cell.r.uniform(-2, 2, (STEPS, INPUTS)).astype(F) for _ in range(2))
    cell.add(tensor("t0", F, (1, STEPS, INPUTS)))
    for way in ways:
        way.put(cell)
    for _ in range(2):
        cell.state(F, 1, CELLS)
        cell.state(F, 1, CELLS)
    put(cell, second[None] if aux else None)
    for way in ways:
        for a in way.a:
            put(cell, a)
    beside = second if aux and not stacked else None
    y = [ways[0].run(x, beside), ways[1].run(second if stacked else x, beside, backwards=True)]
    return finished(cell, name, x, y, merge, "BidirectionalSequenceLSTMOptions")


def both_rnn(name, seed, aux, stacked, merge):
    """Time first where it is stacked: with the batch first TensorFlow Lite's kernel for reals reads x there as well, unlike its own description."""
    cell, front = Cell(seed), 1 if stacked else 0
    draw = lambda *shape: cell.r.uniform(-0.7, 0.7, shape).astype(F)
    ways = [(draw(CELLS, INPUTS), draw(CELLS, CELLS), draw(CELLS), draw(CELLS, INPUTS) if aux and not stacked else None) for _ in range(2)]
    x, second = (cell.r.uniform(-2, 2, (STEPS, INPUTS)).astype(F) for _ in range(2))
    cell.add(tensor("t0", F, np.expand_dims(x, front).shape))
    for w, r, b, _ in ways:
        for a in (w, r, b):
            cell.data(a)
        cell.state(F, 1, CELLS)
    put(cell, np.expand_dims(second, front) if aux else None)
    y = []
    for k, (w, r, b, a) in enumerate(ways):
        put(cell, a)
        h, rows, own = np.zeros(CELLS), [None] * STEPS, second if stacked and k == 1 else x
        for t in range(STEPS)[::-1] if k == 1 else range(STEPS):
            h = np.tanh(w @ own[t] + r @ h + b + (a @ second[t] if a is not None else 0))
            rows[t] = h
        y.append(np.stack(rows).astype(F))
    return finished(cell, name, x, y, merge, "BidirectionalSequenceRNNOptions", front)


def finished(cell, name, x, y, merge, table, front=0):
    options = (table, {"fused_activation_function": 4, "time_major": front, "merge_outputs": merge})
    want = [np.expand_dims(v, front) for v in ([np.concatenate(y, -1)] if merge else y)]
    name, data, inputs, outputs, _ = cell.model(name, np.expand_dims(x, front), [(F, v.shape, {}) for v in want], options, 3)
    return name, data, inputs, outputs, want


def basic(seed):
    """The kernel with one matrix for x and h, rows i, new, f, o; all four outputs."""
    r = np.random.RandomState(seed)
    x, h, c = (r.uniform(-1, 1, (1, n)).astype(F) for n in (INPUTS, CELLS, CELLS))
    w, b = r.uniform(-0.7, 0.7, (4 * CELLS, INPUTS + CELLS)).astype(F), r.uniform(-0.5, 0.5, 4 * CELLS).astype(F)
    joined = np.concatenate([x, h], 1)
    v = joined @ w.T + b
    i, new, f, o = np.split(v, 4, 1)
    state = sigmoid(f) * c + sigmoid(i) * np.tanh(new)
    want = [sigmoid(o) * np.tanh(state), state, joined, v]
    rows = [tensor("x", F, x.shape), tensor("h", F, h.shape), tensor("w", F, w.shape, w), tensor("b", F, b.shape, b), tensor("c", F, c.shape)]
    rows += [tensor("y%d" % k, F, a.shape) for k, a in enumerate(want)]
    data = model(rows, [op("LSTM", [0, 1, 2, 3, 4], [5, 6, 7, 8], ("LSTMOptions", {"kernel_type": 1, "fused_activation_function": 4}), version=2)], [0, 1, 4], [5, 6, 7, 8])
    return "LSTM/basic", data, [("x", x), ("h", h), ("c", c)], ["y%d" % k for k in range(4)], [a.astype(F) for a in want]


def cases():
    one = "UNIDIRECTIONAL_SEQUENCE_LSTM/"
    yield sequence(one + "peephole", 1, peephole=True)
    yield sequence(one + "cifg", 2, cifg=True, peephole=True, time_major=1)
    yield sequence(one + "norm", 3, norm=True)
    yield sequence(one + "projection", 4, outputs=2, projection=True, norm=True)
    yield sequence(one + "clips", 5, outputs=2, projection=True, clips={"cell_clip": 0.3, "proj_clip": 0.2})
    yield sequence("LSTM/all", 6, outputs=2, projection=True, cifg=True, peephole=True, norm=True, clips={"cell_clip": 0.5, "proj_clip": 0.3})
    yield basic(7)
    for k, (what, aux, stacked, merge) in enumerate((("merged", 0, 0, 1), ("aux", 1, 0, 0), ("stacked", 1, 1, 1))):
        yield both_lstm("BIDIRECTIONAL_SEQUENCE_LSTM/" + what, 8 + k, aux, stacked, merge)
        yield both_rnn("BIDIRECTIONAL_SEQUENCE_RNN/" + what, 8 + k, aux, stacked, merge)
