#!/usr/bin/python3
"""Small .tflite files for the fuzzer: make-seeds.py FOLDER (tests/fuzz/corpus/tflite)

Those below, and op-NAME for each operator of tflite-ops.def that they lack: the smallest of cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import cases
from recurrent_cases import integer_lstm8
from tfl import CODES, CUSTOM, model, models, op, operators, tensor


def seeds():
    i8, f32, i32 = np.int8, np.float32, np.int32
    conv = ("Conv2DOptions", {"padding": 0, "stride_w": 1, "stride_h": 1, "fused_activation_function": 3})
    yield "conv-int8", model(
        [tensor("x", i8, (1, 4, 4, 2), scale=0.5, zero=-3), tensor("w", i8, (3, 3, 3, 2), np.arange(54, dtype=i8) - 27, scale=[.1, .2, .3]),
         tensor("b", i32, (3,), np.array([1, -2, 3], i32), scale=[.05, .1, .15]), tensor("y", i8, (1, 4, 4, 3), scale=1.5, zero=4)],
        [op("CONV_2D", [0, 1, 2], [3], conv, version=3)], [0], [3],
        metadata=[{"name": "min_runtime_version", "buffer": 0}],
        signature_defs=[{"inputs": [{"name": "in", "tensor_index": 0}], "outputs": [{"name": "out", "tensor_index": 3}],
                         "signature_key": "serving_default", "subgraph_index": 0}])
    yield "hybrid", model(
        [tensor("x", f32, (2, 4)), tensor("w", i8, (3, 4), np.arange(12, dtype=i8), scale=0.1), tensor("y", f32, (2, 3))],
        [op("FULLY_CONNECTED", [0, 1, -1], [2], ("FullyConnectedOptions", {"fused_activation_function": 1}), version=3)], [0], [2])
    yield "float-pool-pad", model(
        [tensor("x", f32, (1, 5, 5, 2), shape_signature=[-1, 5, 5, 2]), tensor("p", i32, (4, 2), np.array([[0, 0], [1, 1], [1, 1], [0, 0]], i32)),
         tensor("y", f32, (1, 7, 7, 2)), tensor("z", f32, (1, 3, 3, 2)), tensor("axes", i32, (2,), np.array([1, 2], i32)), tensor("m", f32, (1, 2))],
        [op("PAD", [0, 1], [2], ("PadOptions", {})), op("AVERAGE_POOL_2D", [2], [3], ("Pool2DOptions", {
            "padding": 1, "stride_w": 2, "stride_h": 2, "filter_width": 3, "filter_height": 3})),
         op("MEAN", [3, 4], [5], ("ReducerOptions", {"keep_dims": 0}))], [0], [5, 3])
    yield "sparse", model(
        [tensor("x", f32, (1, 4)), tensor("w", f32, (4, 4), np.arange(1, 7, dtype=f32), sparsity={
            "traversal_order": [0, 1], "dim_metadata": [{"format": 0, "dense_size": 4}, {
                "format": 1, "array_segments": ("Int32Vector", {"values": [0, 2, 3, 5, 6]}),
                "array_indices": ("Uint8Vector", {"values": [0, 2, 1, 0, 3, 3]})}]}), tensor("y", f32, (1, 4))],
        [op("FULLY_CONNECTED", [0, 1, -1], [2], ("FullyConnectedOptions", {}), version=8)], [0], [2])
    yield "blocks", model(
        [tensor("x", f32, (1, 8)), tensor("w", 17, (2, 8), bytes(range(8)), quantization={
            "details": ("BlockwiseQuantization", {"scales": 3, "zero_points": -1, "block_size": 4})}), tensor("y", f32, (1, 2)),
         tensor("s", np.float16, (2, 2), np.array([[1, 2], [3, .5]], np.float16))],
        [op("FULLY_CONNECTED", [0, 1, -1], [2], ("FullyConnectedOptions", {}))], [0], [2])
    less = ([tensor("i", i32, ()), tensor("n", i32, (), np.array(5, i32)), tensor("c", bool, ())], [op("LESS", [0, 1], [2])], [0], [2])
    step = ([tensor("i", i32, ()), tensor("one", i32, (), np.array(1, i32)), tensor("j", i32, ())], [op("ADD", [0, 1], [2], ("AddOptions", {}))], [0], [2])
    yield "while", models([([tensor("i", i32, ()), tensor("o", i32, ())], [op("WHILE", [0], [1], ("WhileOptions", {
        "cond_subgraph_index": 1, "body_subgraph_index": 2}))], [0], [1]), less, step])
    yield "state", models([
        ([tensor("x", f32, (1, 2)), tensor("h", 13, ()), tensor("old", f32, (1, 2)), tensor("y", f32, (1, 2))],
         [op("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 1})), op("VAR_HANDLE", [], [1], ("VarHandleOptions", {"shared_name": "s"})),
          op("READ_VARIABLE", [1], [2]), op("ADD", [0, 2], [3], ("AddOptions", {})), op("ASSIGN_VARIABLE", [1, 3], [])], [0], [3]),
        ([tensor("h", 13, ()), tensor("c", f32, (1, 2), np.array([[1, 2]], f32))],
         [op("VAR_HANDLE", [], [0], ("VarHandleOptions", {"shared_name": "s"})), op("ASSIGN_VARIABLE", [0, 1], [])], [], [])])
    yield "custom", model([tensor("x", f32, (1, 2)), tensor("y", f32, (1, 2))], [op("", [0], [1], custom="FlexSoftplus", raw=[1, 2, 3])], [0], [1])
    yield "scratch", model([tensor("x", f32, (1, 2)), tensor("memory", np.uint8, (64,)), tensor("y", f32, (1, 2))],
                           [op("", [0, 1], [2], custom="device", raw=[1])], [0], [2])


def of_operators(have):
    """(name, file): the smallest case of each operator that is not there yet; of those that nothing maps, a file that names them."""
    for _, data, *_ in sorted(cases(), key=lambda c: len(c[1])):
        new = operators(data) - have
        if new:
            have |= new
            yield "op-" + min(new).lower(), data
    for kind in sorted((set(CODES) - {"CUSTOM"} | set(CUSTOM)) - have):
        rows = [tensor("x", np.float32, (1, 2)), tensor("y", np.float32, (1, 2))]
        yield "op-" + kind.lower(), model(rows, [op(kind, [0], [1], custom=None if kind in CODES else kind)], [0], [1])


def everything():
    have = set()
    for name, data in seeds():
        have |= operators(data)
        yield name, data
    yield from of_operators(have)
    yield "lstm-8-bits", integer_lstm8(0)[1]


for name, data in everything():
    with open(os.path.join(sys.argv[1], name + ".tflite"), "wb") as f:
        f.write(data)
