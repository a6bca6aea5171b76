"""Operators of LiteRT's quantization specification: a sound model of each, and one for each rule that it breaks.

cases () -> [(what, model, rule or None)]

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np
from tfl import model, op, tensor

POOL = ("Pool2DOptions", {"padding": 1, "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2})
IMAGE, HALF, ROW = [1, 4, 4, 2], [1, 2, 2, 2], [1, 8]
PADS = np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)

# name: shapes of the data inputs, constants behind them, shape of the output, its type if it is not quantized, options, rule, version
ANY, SAME, BORDER = "any", "same", "border"
OPS = {
    "ADD": ([ROW, ROW], [], ROW, None, ("AddOptions", {}), ANY, 2),
    "AVERAGE_POOL_2D": ([IMAGE], [], HALF, None, POOL, SAME, 2),
    "CONCATENATION": ([ROW, ROW], [], [1, 16], None, ("ConcatenationOptions", {"axis": 1}), SAME, 2),
    "L2_NORMALIZATION": ([ROW], [], ROW, None, ("L2NormOptions", {}), (1 / 128, 0), 2),
    "LOGISTIC": ([ROW], [], ROW, None, None, (1 / 256, -128), 2),
    "MAX_POOL_2D": ([IMAGE], [], HALF, None, POOL, SAME, 2),
    "MUL": ([ROW, ROW], [], ROW, None, ("MulOptions", {}), ANY, 2),
    "RESHAPE": ([IMAGE], [np.array([1, 32], np.int32)], [1, 32], None, ("ReshapeOptions", {"new_shape": [1, 32]}), SAME, 1),
    "RESIZE_BILINEAR": ([HALF], [np.array([4, 4], np.int32)], IMAGE, None, ("ResizeBilinearOptions", {}), SAME, 2),
    "SOFTMAX": ([ROW], [], ROW, None, ("SoftmaxOptions", {"beta": 1.0}), (1 / 256, -128), 2),
    "SPACE_TO_DEPTH": ([IMAGE], [], [1, 2, 2, 8], None, ("SpaceToDepthOptions", {"block_size": 2}), SAME, 2),
    "TANH": ([ROW], [], ROW, None, None, (1 / 128, 0), 2),
    "PAD": ([HALF], [PADS], IMAGE, None, ("PadOptions", {}), SAME, 2),
    "GATHER": ([[4, 8]], [np.array([2, 1], np.int32)], [2, 8], None, ("GatherOptions", {"axis": 0}), SAME, 2),
    "BATCH_TO_SPACE_ND": ([[4, 2, 2, 2]], [np.array([2, 2], np.int32), np.zeros([2, 2], np.int32)], IMAGE, None,
                          ("BatchToSpaceNDOptions", {}), SAME, 2),
    "SPACE_TO_BATCH_ND": ([IMAGE], [np.array([2, 2], np.int32), np.zeros([2, 2], np.int32)], [4, 2, 2, 2], None,
                          ("SpaceToBatchNDOptions", {}), SAME, 2),
    "TRANSPOSE": ([[2, 8]], [np.array([1, 0], np.int32)], [8, 2], None, ("TransposeOptions", {}), SAME, 2),
    "MEAN": ([IMAGE], [np.array([1, 2], np.int32)], [1, 1, 1, 2], None, ("ReducerOptions", {"keep_dims": True}), ANY, 2),
    "SUB": ([ROW, ROW], [], ROW, None, ("SubOptions", {}), ANY, 2),
    "SUM": ([IMAGE], [np.array([1, 2], np.int32)], [1, 2], None, ("ReducerOptions", {}), ANY, 2),
    "SQUEEZE": ([ROW], [], [8], None, ("SqueezeOptions", {"squeeze_dims": [0]}), SAME, 1),
    "LOG_SOFTMAX": ([ROW], [], ROW, None, None, (1 / 16, 127), 2),
    "MAXIMUM": ([ROW, ROW], [], ROW, None, None, SAME, 2),
    "ARG_MAX": ([ROW], [np.array(1, np.int32)], [1], "int32", ("ArgMaxOptions", {"output_type": 2}), ANY, 2),
    "MINIMUM": ([ROW, ROW], [], ROW, None, None, SAME, 2),
    "LESS": ([ROW, ROW], [], ROW, "bool", None, ANY, 2),
    "GREATER": ([ROW, ROW], [], ROW, "bool", None, ANY, 2),
    "GREATER_EQUAL": ([ROW, ROW], [], ROW, "bool", None, ANY, 2),
    "LESS_EQUAL": ([ROW, ROW], [], ROW, "bool", None, ANY, 2),
    "SLICE": ([ROW], [np.array([0, 2], np.int32), np.array([1, 4], np.int32)], [1, 4], None, ("SliceOptions", {}), SAME, 2),
    "EQUAL": ([ROW, ROW], [], ROW, "bool", None, ANY, 2),
    "NOT_EQUAL": ([ROW, ROW], [], ROW, "bool", None, ANY, 2),
    "SHAPE": ([ROW], [], [2], "int32", ("ShapeOptions", {"out_type": 2}), ANY, 1),
    "QUANTIZE": ([ROW], [], ROW, None, None, BORDER, 1),
    # what the kernels demand of others
    "STRIDED_SLICE": ([ROW], [np.array([0, 2], np.int32), np.array([1, 6], np.int32), np.array([1, 1], np.int32)], [1, 4], None,
                      ("StridedSliceOptions", {}), SAME, 2),
    "DEPTH_TO_SPACE": ([[1, 2, 2, 8]], [], IMAGE, None, ("DepthToSpaceOptions", {"block_size": 2}), SAME, 2),
    "EXPAND_DIMS": ([ROW], [np.array(0, np.int32)], [1, 1, 8], None, ("ExpandDimsOptions", {}), SAME, 1),
    "REDUCE_MAX": ([IMAGE], [np.array([1, 2], np.int32)], [1, 2], None, ("ReducerOptions", {}), SAME, 2),
    "REDUCE_MIN": ([IMAGE], [np.array([1, 2], np.int32)], [1, 2], None, ("ReducerOptions", {}), SAME, 2),
    "ARG_MIN": ([ROW], [np.array(1, np.int32)], [1], "int32", ("ArgMinOptions", {"output_type": 2}), ANY, 2),
    "PACK": ([ROW, ROW], [], [2, 1, 8], None, ("PackOptions", {"values_count": 2, "axis": 0}), SAME, 2),
    "RESIZE_NEAREST_NEIGHBOR": ([HALF], [np.array([4, 4], np.int32)], IMAGE, None, ("ResizeNearestNeighborOptions", {}), SAME, 2),
    "MIRROR_PAD": ([IMAGE], [PADS], [1, 6, 6, 2], None, ("MirrorPadOptions", {"mode": 0}), SAME, 2),
    "TILE": ([ROW], [np.array([1, 2], np.int32)], [1, 16], None, ("TileOptions", {}), SAME, 3),
    "REVERSE_V2": ([ROW], [np.array([1], np.int32)], ROW, None, ("ReverseV2Options", {}), SAME, 2),
}
COMPARISONS = {"LESS", "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "EQUAL", "NOT_EQUAL"}


def single(name, types=None, scales=None, zeros=None):
    """A model of operator @name; @types, @scales, @zeros are those of places, -1 the output."""
    shapes, constants, out, out_type, options, rule, version = OPS[name]
    n, types, scales, zeros = len(shapes), types or {}, scales or {}, zeros or {}
    fixed = rule if isinstance(rule, tuple) else (0.1, 3)

    def data(place, label, shape, scale, zero):
        dtype = types.get(place, types.get(None, "int8"))
        zero = {"int8": zero, "uint8": zero + 128, "int16": 0}[dtype]
        many = scales.get(place, scale)
        axis = max(k for k, d in enumerate(shape) if len(np.atleast_1d(many)) in (1, d))
        return tensor(label, dtype, shape, scale=many, zero=zeros.get(place, zero), axis=axis)

    tensors = [data(k, "x%d" % k, shape, 0.1, 3) for k, shape in enumerate(shapes)]
    tensors += [tensor("c%d" % k, c.dtype, c.shape, c) for k, c in enumerate(constants)]
    tensors.append(tensor("y", out_type, out) if out_type else data(-1, "y", out, *fixed))
    last = len(tensors) - 1
    return model(tensors, [op(name, list(range(last)), [last], options, version=version)], list(range(n)), [last])


def cases():
    found = []
    for name, (shapes, _, out, out_type, _, rule, _) in OPS.items():
        def add(what, rule_broken, **more):
            found.append(("%s: %s" % (name, what), single(name, **more), rule_broken))
        places = list(range(len(shapes))) + ([] if out_type else [-1])
        add("sound", None)
        add("unsigned codes", None if rule == BORDER else "element-type", types={None: "uint8"})
        add("a zero point that is no code", "zero-point", zeros={0: 200})
        for place in places:
            shape = out if place < 0 else shapes[place]
            add("scales of %d" % place, "per-tensor", scales={place: [0.1] * shape[-1]})
            if rule == SAME and (place != 0 or len(places) == 1):
                add("scale of %d" % place, "equal-parameters", scales={place: 0.2})
                add("zero point of %d" % place, "equal-parameters", zeros={place: 4})
            if isinstance(rule, tuple) and place < 0:
                add("scale of %d" % place, "fixed-parameters", scales={place: rule[0] * 2})
                add("zero point of %d" % place, "fixed-parameters", zeros={place: rule[1] // 2 + 5})
            if name in COMPARISONS:
                add("scale of %d" % place, "small-scale", scales={place: 1.5})
    return found
