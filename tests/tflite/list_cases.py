"""Tensor lists that a loop fills, by their definition: cases () as in cases.py.

    list = Reserve (n), i = 0, h = 0; while i < trips: h = tanh (h + x[i]), list = SetItem (list, place, h), i = i + 1; y = Stack (list)

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from tfl import models, op, tensor

F, I32, B = np.float32, np.int32, np.bool_
VARIANT = 14


def fills(name, n, trips, expected, place="i", prefix="Flex", both=None, step=1, inside=None):
    """both: a second counter that has to be less; inside: an operator on the list in a trip; expected: which trips y holds, or the message."""
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
               tensor("h_next", F, (2, 3)), tensor("list_next", VARIANT, ()), tensor("zero", I32, (), np.array(0, I32)), tensor("seen", *((F, (n, 2, 3)) if inside == "Stack" else (I32, ())))],
            ([custom(inside, [2], [13])] if inside else []) + [op("ADD", [0, 5], [6], ("AddOptions", {})), op("ADD", [1, 5], [7], ("AddOptions", {})), op("GATHER", [4, 0], [8], ("GatherOptions", {"axis": 0})),
             op("ADD", [3, 8], [9], ("AddOptions", {})), op("TANH", [9], [10]), custom("SetItem", [2, 0 if place == "i" else 12, 10], [11])], list(range(5)), [6, 7, 11, 10, 4])
    if not isinstance(expected, str):
        h, all_of = np.zeros((2, 3), F), []
        for i in range(4):
            h = np.tanh(h + x[i])
            all_of.append(h)
        expected = [np.stack([all_of[i] for i in expected])]
    return "TensorList/" + name, models([main, cond, body]), [("x", x)], ["y"], expected


def straight(name, ops, expected):
    """Operators of lists on tensors: 0 x, 1 the shape of its rows, 2 an input of one number, 3 to 5 lists, 6 and 7 the numbers 2 and 4, 8 two numbers, 9 a row, 10 y, 11 the number -1."""
    x = np.random.RandomState(5).randn(4, 3).astype(F)
    rows = [tensor("x", F, (4, 3)), tensor("shape", I32, (1,), np.array([3], I32)), tensor("n", I32, ())]
    rows += [tensor("list%d" % k, VARIANT, ()) for k in range(3)] + [tensor("two", I32, (), np.array(2, I32)), tensor("four", I32, (), np.array(4, I32))]
    rows += [tensor("pair", I32, (2,), np.array([4, 4], I32)), tensor("row", F, (3,), np.ones(3, F)), tensor("y", *((F, (3,)) if isinstance(expected, str) else (expected.dtype, expected.shape))), tensor("none", I32, (), np.array(-1, I32))]
    custom = [op("", inputs, outputs, custom="FlexTensorList" + kind, raw=[0]) for kind, inputs, outputs in ops]
    used = any(2 in inputs for _, inputs, _ in ops)
    data = models([(rows, custom, [0, 2] if used else [0], [10])])
    return "TensorList/" + name, data, [("x", x)] + ([("n", np.array(4, I32))] if used else []), ["y"], expected if isinstance(expected, str) else [expected]


def without_loop():
    x = np.random.RandomState(5).randn(4, 3).astype(F)
    made, kept = ("FromTensor", [0, 1], [3]), "FlexTensorList%s cannot be executed"
    yield straight("stack", [made, ("Stack", [3, 1], [10])], x)
    yield straight("item", [made, ("GetItem", [3, 6, 1], [10])], x[2])
    yield straight("length", [made, ("Length", [3], [10])], np.array(4, I32))
    yield straight("set", [made, ("SetItem", [3, 6, 9], [4]), ("GetItem", [4, 6, 1], [10])], kept % "SetItem")
    reserved = ("Reserve", [1, 7], [3])
    for kind, inputs in (("GetItem", [3, 6, 1]), ("Length", [3]), ("Stack", [3, 1])):
        yield straight("reserved/" + kind, [reserved, (kind, inputs, [10])], kept % "Reserve")
    yield straight("reserved/open", [("Reserve", [1, 2], [3]), ("Length", [3], [10])], kept % "Reserve")
    yield straight("reserved/pair", [("Reserve", [1, 8], [3]), ("Length", [3], [10])], kept % "Reserve")
    yield straight("reserved/none", [("Reserve", [1, 11], [3]), ("Length", [3], [10])], kept % "Reserve")
    yield straight("reserved/missing", [("Reserve", [1, -1], [3]), ("Length", [3], [10])], kept % "Reserve")
    yield straight("constant", [("Stack", [9, 1], [10])], np.ones(3, F))
    yield straight("unwritten", [("Stack", [3, 1], [10])], kept % "Stack")
    yield straight("no-list/set", [("SetItem", [-1, 6, 9], [3]), ("Stack", [3, 1], [10])], kept % "SetItem")
    yield straight("no-list", [("Stack", [-1, 1], [10])], kept % "Stack")
    yield straight("no-list/length", [("Length", [-1], [10])], kept % "Length")


def cases():
    yield from without_loop()
    refused = "FlexTensorListReserve cannot be executed"
    yield fills("in-order", 4, 4, [0, 1, 2, 3])
    yield fills("without-flex", 3, 3, [0, 1, 2], prefix="")
    yield fills("one-trip", 1, 1, [0])
    yield fills("last", 1, 4, [3], place="0")
    yield fills("two-conditions", 3, 4, [0, 1, 2], both=3)
    yield fills("longer-list", 4, 3, refused)
    yield fills("one-place", 4, 4, refused, place="0")
    yield fills("no-trip", 1, 0, refused, place="0")
    yield fills("seen", 4, 4, [0, 1, 2, 3], inside="Length")     # kept, and read by nothing
    yield fills("steps-of-two", 2, 4, refused, step=2)
