"""Variables inside of WHILE and IF: cases () as in cases.py. Several runs are one input.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from tfl import models, op, tensor

F, I32, B, RESOURCE = np.float32, np.int32, np.bool_, 13
ADD = ("AddOptions", {})


def handle(out, name="s"):
    return op("VAR_HANDLE", [], [out], ("VarHandleOptions", {"shared_name": name}))


def first(value, name="s"):
    """A subgraph for CALL_ONCE."""
    return [tensor("h", RESOURCE, ()), tensor("c", F, value.shape, value)], [handle(0, name), op("ASSIGN_VARIABLE", [0, 1], [])], [], []


def loop(passed):
    """y = the state after n times s = s + x, n the state's own counter in the loop; passed: the handle is an operand of WHILE."""
    i, h, x = tensor("i", I32, ()), tensor("h", RESOURCE, ()), tensor("x", F, (1, 2))
    ports, inside = ([0, 1, 2], []) if passed else ([0, 2], [handle(1)])
    cond = [i, h, x, tensor("n", I32, (), np.array(3, I32)), tensor("go", B, ())], [op("LESS", [0, 3], [4])], ports, [4]
    body = [i, h, x, tensor("one", I32, (), np.array(1, I32)), tensor("j", I32, ()), tensor("old", F, (1, 2)), tensor("new", F, (1, 2))], inside + [
        op("ADD", [0, 3], [4], ADD), op("READ_VARIABLE", [1], [5]), op("ADD", [5, 2], [6], ADD), op("ASSIGN_VARIABLE", [1, 6], [])], ports, [4] + ports[1:]
    main = [tensor("x0", F, (1, 2)), h, tensor("zero", I32, (), np.array(0, I32)), tensor("k", I32, ()), tensor("hh", RESOURCE, ()), tensor("xx", F, (1, 2)), tensor("y0", F, (1, 2))], [
        op("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 3})), handle(1),
        op("WHILE", [2, 1, 0] if passed else [2, 0], [3, 4, 5] if passed else [3, 5], ("WhileOptions", {"cond_subgraph_index": 1, "body_subgraph_index": 2})),
        op("READ_VARIABLE", [4 if passed else 1], [6])], [0], [6]
    return models([main, cond, body, first(np.array([[1, -1]], F))])


def waits():
    """The condition reads the state: add x until s is 10 at least; y how often."""
    i, h, x = tensor("i", I32, ()), tensor("h", RESOURCE, ()), tensor("x", F, (1, 1))
    s, flat, axes = tensor("s", F, (1, 1)), tensor("f", F, ()), tensor("axes", I32, (1,), np.array([-1], I32))
    cond = [i, x, h, s, tensor("m", F, (1, 1), np.array([[10]], F)), tensor("go", B, (1, 1))], [handle(2), op("READ_VARIABLE", [2], [3]), op("LESS", [3, 4], [5])], [0, 1], [5]
    body = [i, x, h, s, tensor("new", F, (1, 1)), tensor("one", I32, (), np.array(1, I32)), tensor("j", I32, ())], [
        handle(2), op("READ_VARIABLE", [2], [3]), op("ADD", [3, 1], [4], ADD), op("ASSIGN_VARIABLE", [2, 4], []), op("ADD", [0, 5], [6], ADD)], [0, 1], [6, 1]
    main = [tensor("x0", F, (1, 1)), h, s, tensor("c", F, (1, 1), np.array([[0]], F)), tensor("zero", I32, (1,), np.array([0], I32)), tensor("y0", I32, (1,)), tensor("xx", F, (1, 1)), axes, flat], [
        handle(1), op("ASSIGN_VARIABLE", [1, 3], []), op("WHILE", [4, 0], [5, 6], ("WhileOptions", {"cond_subgraph_index": 1, "body_subgraph_index": 2}))], [0], [5]
    return models([main, cond, body])


def branches():
    """Where x0 > 0: t = t + x0, y = 2 x0; else y = s, and u = x0; s = t outside; z = u."""
    h, k, u, x = tensor("h", RESOURCE, ()), tensor("t", RESOURCE, ()), tensor("u", RESOURCE, ()), tensor("x", F, (1, 1))
    yes = [x, k, tensor("old", F, (1, 1)), tensor("new", F, (1, 1)), tensor("y", F, (1, 1))], [
        handle(1, "t"), op("READ_VARIABLE", [1], [2]), op("ADD", [2, 0], [3], ADD), op("ASSIGN_VARIABLE", [1, 3], []), op("ADD", [0, 0], [4], ADD)], [0], [4]
    no = [x, h, u, tensor("y", F, (1, 1))], [handle(1, "s"), op("READ_VARIABLE", [1], [3]), handle(2, "u"), op("ASSIGN_VARIABLE", [2, 0], [])], [0], [3]
    main = [tensor("x0", F, (1, 1)), tensor("zero", F, (1, 1), np.array([[0]], F)), tensor("c", B, (1, 1)), tensor("y0", F, (1, 1)), h, k, u, tensor("now", F, (1, 1)), tensor("y1", F, (1, 1))], [
        op("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 3})), op("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 4})),
        op("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 5})), op("GREATER", [0, 1], [2]),
        op("IF", [2, 0], [3], ("IfOptions", {"then_subgraph_index": 1, "else_subgraph_index": 2})), handle(4, "s"), handle(5, "t"), handle(6, "u"),
        op("READ_VARIABLE", [5], [7]), op("ASSIGN_VARIABLE", [4, 7], []), op("READ_VARIABLE", [6], [8])], [0], [3, 8]
    start = np.array([[1]], F)
    return models([main, yes, no, first(start, "s"), first(2 * start, "t"), first(3 * start, "u")])


def of_branches(x):
    s, t, u, out = 1, 2, 3, []
    for v in x.ravel():
        y = 2 * v if v > 0 else s
        t, u = (t + v, u) if v > 0 else (t, v)
        s = t
        out.append((y, u))
    return [np.array(column, F).reshape(-1, 1) for column in zip(*out)]


def cases():
    x = np.arange(8, dtype=F).reshape(4, 2)
    for passed in (False, True):
        yield "WHILE/state/%d" % passed, loop(passed), [("x0", x)], ["y0"], [np.array([[1, -1]], F) + 3 * np.cumsum(x, 0)]
        yield "WHILE/state/peer/%d" % passed, loop(passed), [("x0", x[1:2])], ["y0"], None
    yield "WHILE/state/condition", waits(), [("x0", np.array([[3], [10], [4]], F))], ["y0"], [np.array([4, 1, 3], I32)]
    x = np.array([[2], [-1], [5], [-3], [-4], [1]], F)
    yield "IF/state", branches(), [("x0", x)], ["y0", "y1"], of_branches(x)
    for v in (2, -1):
        yield "IF/state/peer/%d" % v, branches(), [("x0", np.array([[v]], F))], ["y0", "y1"], None
