"""Tensor lists that a loop fills, by their definition: cases () as in cases.py.

    list = Reserve (n), i = 0, h = 0; while i < trips: h = tanh (h + x[i]), list = SetItem (list, place, h), i = i + 1; y = Stack (list)

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from tfl import models, op, tensor

F, I32, B = np.float32, np.int32, np.bool_
VARIANT = 14


def fills(name, n, trips, expected, place="i", prefix="Flex", both=None, step=1):
    """both: a second counter that has to be less; expected: which trips y holds, or the message."""
    x = np.random.RandomState(3).randn(4, 2, 3).astype(F)
    variables = [("i", I32, ()), ("j", I32, ()), ("list", VARIANT, ()), ("h", F, (2, 3)), ("x", F, (4, 2, 3))]
    custom = lambda kind, inputs, outputs: op("", inputs, outputs, custom=prefix + "TensorList" + kind, raw=[0])
    main = ([tensor("x", F, x.shape), tensor("shape", I32, (2,), np.array([-1, 3], I32)), tensor("n", I32, (), np.array(n, I32)), tensor("list", VARIANT, ()),
             tensor("zero", I32, (), np.array(0, I32)), tensor("h0", F, (2, 3), np.zeros((2, 3), F))]
            + [tensor(v + "_end", t, s) for v, t, s in variables] + [tensor("y", F, (n, 2, 3))],
            [custom("Reserve", [1, 2], [3]), op("WHILE", [4, 4, 3, 5, 0], [6, 7, 8, 9, 10], ("WhileOptions", {"cond_subgraph_index": 1, "body_subgraph_index": 2})),
             custom("Stack", [8, 1], [11])], [0], [11])
    cond = ([tensor(v, t, s) for v, t, s in variables] + [tensor("trips", I32, (), np.array(trips, I32)), tensor("a", B, ()),
                                                         tensor("most", I32, (), np.array(both or 0, I32)), tensor("b", B, ()), tensor("c", B, ())],
            [op("LESS", [0, 5], [6])] + ([op("LESS", [1, 7], [8]), op("LOGICAL_AND", [6, 8], [9])] if both else []), list(range(5)), [9 if both else 6])
    body = ([tensor(v, t, s) for v, t, s in variables]
            + [tensor("step", I32, (), np.array(step, I32)), tensor("i_next", I32, ()), tensor("j_next", I32, ()), tensor("xi", F, (2, 3)), tensor("sum", F, (2, 3)),
               tensor("h_next", F, (2, 3)), tensor("list_next", VARIANT, ()), tensor("zero", I32, (), np.array(0, I32))],
            [op("ADD", [0, 5], [6], ("AddOptions", {})), op("ADD", [1, 5], [7], ("AddOptions", {})), op("GATHER", [4, 0], [8], ("GatherOptions", {"axis": 0})),
             op("ADD", [3, 8], [9], ("AddOptions", {})), op("TANH", [9], [10]), custom("SetItem", [2, 0 if place == "i" else 12, 10], [11])], list(range(5)), [6, 7, 11, 10, 4])
    if not isinstance(expected, str):
        h, all_of = np.zeros((2, 3), F), []
        for i in range(4):
            h = np.tanh(h + x[i])
            all_of.append(h)
        expected = [np.stack([all_of[i] for i in expected])]
    return "TensorList/" + name, models([main, cond, body]), [("x", x)], ["y"], expected


def cases():
    refused = "FlexTensorListReserve cannot be executed"
    yield fills("in-order", 4, 4, [0, 1, 2, 3])
    yield fills("without-flex", 3, 3, [0, 1, 2], prefix="")
    yield fills("one-trip", 1, 1, [0])
    yield fills("last", 1, 4, [3], place="0")
    yield fills("two-conditions", 3, 4, [0, 1, 2], both=3)
    yield fills("longer-list", 4, 3, refused)
    yield fills("one-place", 4, 4, refused, place="0")
    yield fills("no-trip", 1, 0, refused, place="0")
    yield fills("steps-of-two", 2, 4, refused, step=2)
