"""Operators without another case, by their definition: those younger than TensorFlow Lite 2.9, spectra, subgraphs, state.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from tfl import flex_map, model, models, op, tensor

F, I8, U8, I16, I32, I64, B, C = np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64, np.bool_, np.complex64
RESOURCE = 13


def one(name, inputs, expected, options=None, version=1, out=None, **more):
    """Inputs in a tuple are constants; @out (type, shape) where @expected is a message."""
    arrays = [a[0] if isinstance(a, tuple) else a for a in inputs]
    given = [k for k, a in enumerate(inputs) if not isinstance(a, tuple)]
    dtype, shape = out or (expected.dtype, expected.shape)
    rows = [tensor("x%d" % k, a.dtype, a.shape, None if k in given else a) for k, a in enumerate(arrays)] + [tensor("y", dtype, shape)]
    data = model(rows, [op(name.split("/")[0], list(range(len(arrays))), [len(arrays)], options, version=version, **more)], given, [len(arrays)])
    return name, data, [("x%d" % k, arrays[k]) for k in given], ["y"], expected if isinstance(expected, str) else [expected]


def functions(r):
    x, y = r.randn(3, 40).astype(F), r.randn(3, 40).astype(F)
    x[0, :4], y[0, :4] = [0, 1, -1, 0], [0, 0, 0, -1]
    yield one("ATAN2", [x, y], np.arctan2(x, y).astype(F))
    yield one("SIGN", [x], np.sign(x))
    yield one("RELU_0_TO_1", [x], np.clip(x, 0, 1))
    for kind in (I8, I16, I32):
        a, b = r.randint(-100, 100, (3, 9)).astype(kind), r.randint(0, 7, (3, 9)).astype(kind)
        yield one("BITWISE_XOR/" + kind.__name__, [a, b], a ^ b)
        yield one("RIGHT_SHIFT/" + kind.__name__, [a, b], a >> b)
    yield one("RANK", [x], np.array(2, I32))
    yield one("BROADCAST_ARGS", [np.array([3, 1], I32), (np.array([2, 1, 4], I32),)], np.array([2, 3, 4], I32))
    yield one("DENSIFY", [(x,)], x)
    yield one("BITCAST/constant", [(x,)], x.view(I32))
    ids = np.array([2, 0, 2, 4], I32)
    for kind in (F, I32):
        a = r.randint(-5, 6, (4, 3)).astype(kind)
        ends = np.finfo(F) if kind == F else np.iinfo(I32)
        for name, join, neutral in (("PROD", np.multiply, 1), ("SUM", np.add, 0), ("MAX", np.maximum, ends.min), ("MIN", np.minimum, ends.max)):
            want = np.full((5, 3), neutral, kind)
            for k, row in zip(ids, a):
                want[k] = join(want[k], row)
            yield one("UNSORTED_SEGMENT_%s/%s" % (name, kind.__name__), [a, ids, (np.array(5, I32),)], want)
    x = r.randn(1, 2, 2, 2, 1).astype(F)
    yield one("CONV_3D_TRANSPOSE", [(np.array([1, 4, 4, 4, 1], I32),), (np.ones((2, 2, 2, 1, 1), F),), x, (np.array([0.5], F),)], x.repeat(2, 1).repeat(2, 2).repeat(2, 3) + F(0.5),
              ("Conv3DOptions", {"padding": 1, "stride_d": 2, "stride_h": 2, "stride_w": 2}))


def spectra(r):
    x = r.randn(3, 4, 8).astype(F)
    z = np.fft.rfft2(x).astype(C)
    for name, want in (("REAL", z.real), ("IMAG", z.imag), ("COMPLEX_ABS", np.abs(z))):
        data = model([tensor("x", F, x.shape), tensor("n", I32, (2,), np.array([4, 8], I32)), tensor("z", C, z.shape), tensor("y", F, z.shape)],
                     [op("RFFT2D", [0, 1], [2]), op(name, [2], [3])], [0], [3])
        yield name, data, [("x", x)], ["y"], [np.ascontiguousarray(want, F)]
    data = model([tensor("x", F, x.shape), tensor("n", I32, (2,), np.array([4, 8], I32)), tensor("z", C, z.shape)], [op("RFFT2D", [0, 1], [2])], [0], [2])
    yield "RFFT2D", data, [("x", x)], ["z"], "unsupported type COMPLEX64"


def step(kind):
    """y = x + c, or x * c."""
    return [tensor("x", F, (2,)), tensor("c", F, (2,), np.array([2, 3], F)), tensor("y", F, (2,))], [op(kind, [0, 1], [2], (kind.capitalize() + "Options", {}))], [0], [2]


def subgraphs(r):
    x, c = r.randn(2).astype(F), np.array([2, 3], F)
    ends = [tensor("x", F, (2,)), tensor("y", F, (2,))]
    calls = (("CALL", {"options": ("CallOptions", {"subgraph": 1})}), ("STABLEHLO_COMPOSITE", {"options_2": ("StableHLOCompositeOptions", {"name": "odml.sum", "decomposition_subgraph_index": 1})}))
    for name, more in calls:
        yield name, models([(ends, [op(name, [0], [1], **more)], [0], [1]), step("ADD")]), [("x", x)], ["y"], [x + c]
    for yes in (True, False):
        main = ([tensor("p", B, ())] + ends, [op("IF", [0, 1], [2], ("IfOptions", {"then_subgraph_index": 1, "else_subgraph_index": 2}))], [0, 1], [2])
        yield "IF/%d" % yes, models([main, step("ADD"), step("MUL")]), [("p", np.array(yes)), ("x", x)], ["y"], [x + c if yes else x * c]
    less = ([tensor("x", F, (2,)), tensor("most", F, (), np.array(20, F)), tensor("axis", I32, (), np.array(0, I32)), tensor("m", F, ()), tensor("go", B, ())],
            [op("REDUCE_MAX", [0, 2], [3], ("ReducerOptions", {})), op("LESS", [3, 1], [4])], [0], [4])
    want = x.copy()
    while want.max() < 20:
        want = want + c
    hlo = {"options_2": ("StablehloWhileOptions", {"cond_subgraph_index": 1, "body_subgraph_index": 2})}
    yield "STABLEHLO_WHILE", models([(ends, [op("STABLEHLO_WHILE", [0], [1], **hlo)], [0], [1]), less, step("ADD")]), [("x", x)], ["y"], [want]
    handle = op("VAR_HANDLE", [], [1], ("VarHandleOptions", {"shared_name": "s"}))
    main = ([tensor("x", F, (2,)), tensor("h", RESOURCE, ()), tensor("old", F, (2,)), tensor("y", F, (2,))],
            [op("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 1})), handle, op("READ_VARIABLE", [1], [2]), op("ADD", [0, 2], [3], ("AddOptions", {})),
             op("ASSIGN_VARIABLE", [1, 3], [])], [0], [3])
    once = ([tensor("c", F, (2,), c), tensor("h", RESOURCE, ())], [handle, op("ASSIGN_VARIABLE", [1, 0], [])], [], [])
    yield "READ_VARIABLE", models([main, once]), [("x", x)], ["y"], [x + c]


def detection(r):
    """Two boxes around two anchors, which do not meet."""
    anchors = np.array([[0.2, 0.2, 0.2, 0.2], [0.7, 0.6, 0.4, 0.2]], F)
    boxes, scores = np.zeros((1, 2, 4), F), np.array([[[0, 0.6, 0.1], [0, 0.2, 0.9]]], F)
    options = flex_map(max_detections=2, max_classes_per_detection=1, num_classes=2, nms_score_threshold=0.1, nms_iou_threshold=0.5, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)
    shapes = ((1, 2, 4), (1, 2), (1, 2), (1,))
    rows = [tensor("b", F, boxes.shape), tensor("s", F, scores.shape), tensor("a", F, anchors.shape, anchors)] + [tensor("y%d" % k, F, s) for k, s in enumerate(shapes)]
    data = model(rows, [op("", [0, 1, 2], [3, 4, 5, 6], custom="TFLite_Detection_PostProcess", raw=options)], [0, 1], [3, 4, 5, 6])
    want = [np.array([[[0.5, 0.5, 0.9, 0.7], [0.1, 0.1, 0.3, 0.3]]], F), np.array([[1, 0]], F), np.array([[0.9, 0.6]], F), np.array([2], F)]
    yield "TFLite_Detection_PostProcess", data, [("b", boxes), ("s", scores)], ["y%d" % k for k in range(4)], want


def cases():
    r = np.random.RandomState(6)
    for part in (functions, spectra, subgraphs, detection):
        yield from part(r)
