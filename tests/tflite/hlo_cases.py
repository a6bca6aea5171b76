"""StableHLO operators and DILATE by their definition, element by element: cases () as in cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import itertools

import numpy as np

from tfl import models, op, tensor

F, I32, I64, B = np.float32, np.int32, np.int64, np.bool_
BODIES = {"add": ("STABLEHLO_ADD", lambda a, b: a + b), "mul": ("MUL", lambda a, b: a * b), "max": ("STABLEHLO_MAXIMUM", max), "min": ("STABLEHLO_MINIMUM", min),
          "or": ("STABLEHLO_OR", lambda a, b: a or b), "set": (None, lambda a, b: b), "sub": ("STABLEHLO_SUBTRACT", lambda a, b: a - b)}


def one(name, inputs, expected, options=None, body=None, **more):
    """Inputs in a tuple are constants; expected: an array or the message."""
    shape, dtype = (expected.shape, expected.dtype) if isinstance(expected, np.ndarray) else more.pop("out", ((3, 4), np.dtype(F)))
    arrays = [a[0] if isinstance(a, tuple) else a for a in inputs]
    tensors = [tensor("x%d" % k, a.dtype, a.shape, a if isinstance(inputs[k], tuple) else None) for k, a in enumerate(arrays)] + [tensor("y", dtype, shape)]
    given = [k for k, a in enumerate(inputs) if not isinstance(a, tuple)]
    graphs = [(tensors, [op(name.split("/")[0], list(range(len(inputs))), [len(inputs)], options_2=options, **more)], given, [len(inputs)])]
    if body:
        kind = BODIES[body][0]
        scalars = [tensor(n, arrays[0].dtype, ()) for n in "abc"]
        graphs.append((scalars, [op(kind, [0, 1], [2])] if kind else [], [0, 1], [2 if kind else 1]))
    return name, models(graphs), [("x%d" % k, arrays[k]) for k in given], ["y"], expected if isinstance(expected, str) else [expected]


def case(index, constant=False, n=3):
    """Branch k is x * (k + 2); an index that is none takes the last."""
    x, i = np.array([1.5, -2, 3], F), np.array(index, I32)
    taken = index if 0 <= index < n else n - 1
    graphs = [([tensor("i", I32, (), i if constant else None), tensor("x", F, (3,)), tensor("y", F, (3,))],
               [op("STABLEHLO_CASE", [0, 1], [2], options_2=("StablehloCaseOptions", {"branch_subgraph_indices": list(range(1, n + 1))}))],
               [1] if constant else [0, 1], [2])]
    for k in range(n):
        graphs.append(([tensor("a", F, (3,)), tensor("f", F, (), np.array(k + 2, F)), tensor("b", F, (3,))],
                       [op("MUL", [0, 1], [2], ("MulOptions", {}))], [0], [2]))
    inputs = [("x", x)] if constant else [("i", i), ("x", x)]
    return "STABLEHLO_CASE/%d%s" % (index, "/constant" if constant else ""), models(graphs), inputs, ["y"], [x * F(taken + 2)]


def places(shape):
    return itertools.product(*(range(n) for n in shape))


def padded(x, value, low, high, interior):
    shape = [n + max(n - 1, 0) * g for n, g in zip(x.shape, interior)]
    y = np.full([n + a + b for n, a, b in zip(shape, low, high)], value, x.dtype)
    for p in places(x.shape):
        q = tuple(i * (g + 1) + a for i, g, a in zip(p, interior, low))
        if all(0 <= i < n for i, n in zip(q, y.shape)):
            y[q] = x[p]
    return y


def windows(x, first, size, stride, dilation, join):
    y = np.empty([max((n - (s - 1) * d - 1) // t + 1, 0) for n, s, t, d in zip(x.shape, size, stride, dilation)], x.dtype)
    for p in places(y.shape):
        y[p] = first
        for w in places(size):
            y[p] = join(y[p], x[tuple(i * t + k * d for i, t, k, d in zip(p, stride, w, dilation))])
    return y


def vector(indices, at, batch):
    """The vector of indices at a batch place."""
    if at == indices.ndim:
        return [indices[batch]]
    return indices[batch[:at] + (slice(None),) + batch[at:]]


def gathered(x, indices, offset_dims, collapsed, start_map, at, sizes):
    inside = [d for d in range(x.ndim) if d not in collapsed]
    batch = list(indices.shape[:at]) + list(indices.shape[at + 1:])
    rank = len(batch) + len(inside)
    outer = [d for d in range(rank) if d not in offset_dims]
    shape = [0] * rank
    for d, n in zip(outer, batch):
        shape[d] = n
    for d, k in zip(offset_dims, inside):
        shape[d] = sizes[k]
    y = np.empty(shape, x.dtype)
    for p in places(shape):
        start = [0] * x.ndim
        for d, v in zip(start_map, vector(indices, at, tuple(p[d] for d in outer))):
            start[d] = min(max(v, 0), x.shape[d] - sizes[d])
        for d, k in zip(offset_dims, inside):
            start[k] += p[d]
        y[p] = x[tuple(start)]
    return y


def scattered(x, indices, updates, window, inserted, start_map, at, join):
    y = x.copy()
    inside = [d for d in range(x.ndim) if d not in inserted]
    outer = [d for d in range(updates.ndim) if d not in window]
    for p in places(updates.shape):
        to = [0] * x.ndim
        for d, v in zip(start_map, vector(indices, at, tuple(p[d] for d in outer))):
            to[d] = int(v)
        for d, k in zip(window, inside):
            to[k] += p[d]
        if all(0 <= i < n for i, n in zip(to, x.shape)):
            y[tuple(to)] = join(y[tuple(to)], updates[p])
    return y


def elementwise(r):
    x, w = r.randn(3, 4).astype(F), (r.randn(3, 4) + 3).astype(F)
    i, j = r.randint(-9, 10, (3, 4)).astype(I32), r.randint(1, 5, (3, 4)).astype(I32)
    a, b = r.rand(3, 4) > 0.5, r.rand(3, 4) > 0.5
    for name, y in (("LOGISTIC", 1 / (1 + np.exp(-x))), ("ABS", np.abs(x)), ("COSINE", np.cos(x)), ("EXPONENTIAL", np.exp(x)), ("FLOOR", np.floor(x)), ("NEGATE", -x), ("TANH", np.tanh(x)),
                    ("CBRT", np.cbrt(x))):
        yield one("STABLEHLO_" + name, [x], y.astype(F))
    for name, y in (("LOG", np.log(w)), ("RSQRT", 1 / np.sqrt(w))):
        yield one("STABLEHLO_" + name, [w], y.astype(F))
    for name, y in (("ADD", x + w), ("SUBTRACT", x - w), ("MULTIPLY", x * w), ("DIVIDE", x / w), ("MAXIMUM", np.maximum(x, w)), ("MINIMUM", np.minimum(x, w))):
        yield one("STABLEHLO_" + name, [x, w], y.astype(F))
    yield one("STABLEHLO_POWER", [w, x], (w ** x).astype(F))
    yield one("STABLEHLO_REMAINDER/f32", [x, w], np.fmod(x, w).astype(F))
    yield one("STABLEHLO_REMAINDER/i32", [i, j], np.fmod(i, j).astype(I32))
    yield one("STABLEHLO_DIVIDE/i32", [i, j], np.trunc(i / j).astype(I32))
    yield one("STABLEHLO_AND/bool", [a, b], a & b)
    yield one("STABLEHLO_AND/i32", [i, j], i & j)
    yield one("STABLEHLO_OR/bool", [a, b], a | b)
    yield one("STABLEHLO_OR/i32", [i, j], i | j)
    yield one("STABLEHLO_SHIFT_LEFT", [i, j], i << j)
    yield one("STABLEHLO_SELECT", [a, x, w], np.where(a, x, w))
    yield one("STABLEHLO_CLAMP", [np.array(-0.5, F), x, np.array(0.7, F)], np.clip(x, F(-0.5), F(0.7)))
    for d, f in enumerate((np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less)):
        yield one("STABLEHLO_COMPARE/%d" % d, [i, j], f(i, j), ("StablehloCompareOptions", {"comparison_direction": d}))
    yield one("STABLEHLO_COMPARE/wrong", [i, j], "unsupported comparison 6", ("StablehloCompareOptions", {"comparison_direction": 6}), out=((3, 4), np.dtype(B)))
    yield one("STABLEHLO_CONVERT", [x], x.astype(I32))


def movement(r):
    x = r.randn(2, 3, 4).astype(F)
    yield one("STABLEHLO_RESHAPE", [x], x.reshape(4, 6))
    yield one("STABLEHLO_TRANSPOSE", [x], x.transpose(2, 0, 1), ("StablehloTransposeOptions", {"permutation": [2, 0, 1]}))
    yield one("STABLEHLO_TRANSPOSE/twice", [x], "axis 0 of rank 3", ("StablehloTransposeOptions", {"permutation": [0, 0, 1]}))
    yield one("STABLEHLO_TRANSPOSE/short", [x], "an order of another number of axes than 3", ("StablehloTransposeOptions", {"permutation": [1, 0]}))
    yield one("STABLEHLO_CONCATENATE", [x, 2 * x], np.concatenate([x, 2 * x], 1), ("StablehloConcatenateOptions", {"dimension": 1}))
    yield one("STABLEHLO_BROADCAST_IN_DIM", [x[0, :1]], np.broadcast_to(x[0, :1][:, None, None, :], (1, 5, 2, 4)).transpose(1, 0, 2, 3).copy(), ("StablehloBroadcastInDimOptions", {"broadcast_dimensions": [1, 3]}))
    yield one("STABLEHLO_BROADCAST_IN_DIM/scalar", [np.array(3, F)], np.full((2, 3), 3, F))
    yield one("STABLEHLO_BROADCAST_IN_DIM/axis", [x[0, 0]], "axis 2 of rank 2", ("StablehloBroadcastInDimOptions", {"broadcast_dimensions": [2]}))
    yield one("STABLEHLO_SLICE", [x], x[1:2, 0:3:2, 1:4], ("StablehloSliceOptions", {"start_indices": [1, 0, 1], "limit_indices": [2, 3, 4], "strides": [1, 2, 1]}))
    yield one("STABLEHLO_SLICE/short", [x], "2 numbers for 3 axes", ("StablehloSliceOptions", {"start_indices": [1, 0], "limit_indices": [2, 3, 4], "strides": [1, 2, 1]}))
    yield one("STABLEHLO_SLICE/stride", [x], "the number 0 for axis 1", ("StablehloSliceOptions", {"start_indices": [1, 0, 1], "limit_indices": [2, 3, 4], "strides": [1, 0, 1]}))
    starts = [np.array(v, I32) for v in (-3, 1, 9)]
    yield one("STABLEHLO_DYNAMIC_SLICE", [x] + starts, x[0:1, 1:3, 1:4], ("StablehloDynamicSliceOptions", {"slice_sizes": [1, 2, 3]}))
    yield one("STABLEHLO_DYNAMIC_SLICE/inputs", [x] + starts[:2], "3 inputs for rank 3", ("StablehloDynamicSliceOptions", {"slice_sizes": [1, 2, 3]}))
    y = x.copy()
    y[0:1, 1:3, 1:4] = 7
    yield one("STABLEHLO_DYNAMIC_UPDATE_SLICE", [x, np.full((1, 2, 3), 7, F)] + starts, y)
    for n, (low, high, gap) in enumerate((((0, 1, 2), (1, 0, 0), (0, 0, 0)), ((0, 1, -1), (-1, 2, 3), (0, 0, 2)), ((1, -2, -3), (0, -2, 0), (3, 2, 1)))):
        yield one("STABLEHLO_PAD/%d" % n, [x, np.array(0.5, F)], padded(x, 0.5, low, high, gap), ("StablehloPadOptions", {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": gap}))
    yield one("STABLEHLO_PAD/cut", [x, np.array(0.5, F)], "more is cut from axis 0", ("StablehloPadOptions", {"edge_padding_low": [-2, 0, 0], "edge_padding_high": [-2, 0, 0], "interior_padding": [0, 0, 0]}))
    yield one("STABLEHLO_PAD/gap", [x, np.array(0.5, F)], "the number -1 for axis 2", ("StablehloPadOptions", {"edge_padding_low": [0, 0, 0], "edge_padding_high": [0, 0, 0], "interior_padding": [0, 0, -1]}))
    yield one("DILATE", [x, (np.array([1, 3, 2], I32),), np.array(-1, F)], padded(x, -1, (0, 0, 0), (0, 0, 0), (0, 2, 1)))
    yield one("DILATE/wrong", [x, (np.array([1, 3, 0], I32),), np.array(-1, F)], "dilation 0")
    yield one("DILATE/short", [x, (np.array([1, 3], I32),), np.array(-1, F)], "2 dilations for rank 3")
    yield one("STABLEHLO_IOTA", [], np.broadcast_to(np.arange(3, dtype=I32)[:, None], (2, 3, 4)).copy(), ("StablehloIotaOptions", {"iota_dimension": 1}))


def products(r):
    a, b = r.randn(2, 5, 3, 4).astype(F), r.randn(4, 2, 6, 3).astype(F)
    dims = {"lhs_batching_dimensions": [0], "rhs_batching_dimensions": [1], "lhs_contracting_dimensions": [2, 3], "rhs_contracting_dimensions": [3, 0]}
    yield one("STABLEHLO_DOT_GENERAL", [a, b], np.einsum("bmij,jbni->bmn", a, b), ("StablehloDotGeneralOptions", dims))
    yield one("STABLEHLO_DOT_GENERAL/outer", [a[0, 0], b[0, 0]], np.einsum("ij,kl->ijkl", a[0, 0], b[0, 0]), ("StablehloDotGeneralOptions", {}))
    yield one("STABLEHLO_DOT_GENERAL/lengths", [a, b], "inner axes of different lengths", ("StablehloDotGeneralOptions", dict(dims, rhs_contracting_dimensions=[2, 0])))
    yield one("STABLEHLO_DOT_GENERAL/twice", [a, b], "counted twice", ("StablehloDotGeneralOptions", dict(dims, rhs_contracting_dimensions=[3, 1])))
    for n, (groups, stride, pads, gap, dilation, turn) in enumerate(((1, [1, 2], [1, 1, 0, 2], [1, 1], [1, 1], [0, 0]), (2, [1, 1], [0, 0, 0, 0], [1, 1], [2, 1], [0, 1]),
                                                                     (1, [1, 1], [2, 1, -1, 1], [2, 3], [1, 1], [1, 1]))):
        x, w = r.randn(2, 6, 7, 4).astype(F), r.randn(3, 2, 4 // groups, 6).astype(F)
        flipped = w[tuple(slice(None, None, -1 if t else 1) for t in turn)]
        p = padded(x, 0, (0, pads[0], pads[2], 0), (0, pads[1], pads[3], 0), (0, gap[0] - 1, gap[1] - 1, 0))
        size = [(p.shape[i + 1] - (w.shape[i] - 1) * dilation[i] - 1) // stride[i] + 1 for i in (0, 1)]
        y = np.zeros([2] + size + [6], F)
        for i, j, g in itertools.product(range(w.shape[0]), range(w.shape[1]), range(groups)):
            part = p[:, i * dilation[0]:i * dilation[0] + (size[0] - 1) * stride[0] + 1:stride[0], j * dilation[1]:j * dilation[1] + (size[1] - 1) * stride[1] + 1:stride[1]]
            c, o = 4 // groups, 6 // groups
            y[..., g * o:g * o + o] += part[..., g * c:g * c + c] @ flipped[i, j, :, g * o:g * o + o]
        options = {"window_strides": stride, "padding": pads, "lhs_dilation": gap, "rhs_dilation": dilation, "window_reversal": turn, "input_batch_dimension": 0, "input_feature_dimension": 3,
                   "input_spatial_dimensions": [1, 2], "kernel_input_feature_dimension": 2, "kernel_output_feature_dimension": 3, "kernel_spatial_dimensions": [0, 1], "output_batch_dimension": 0,
                   "output_feature_dimension": 3, "output_spatial_dimensions": [1, 2], "feature_group_count": groups, "batch_group_count": 1}
        yield one("STABLEHLO_CONVOLUTION/%d" % n, [x, (w,)], y, ("StablehloConvolutionOptions", options))
    yield one("STABLEHLO_CONVOLUTION/axes", [x, w], "not each named once", ("StablehloConvolutionOptions", dict(options, input_feature_dimension=2)))
    yield one("STABLEHLO_CONVOLUTION/batches", [x, w], "groups of batches", ("StablehloConvolutionOptions", dict(options, batch_group_count=2)))


def reductions(r):
    x, k = r.randn(3, 4, 5).astype(F), r.randint(-9, 9, (3, 4, 5)).astype(I32)
    for body in ("add", "max", "min", "mul"):
        first = np.array(1.5, F)
        y = windows(x, first, (3, 1, 5), (1, 1, 1), (1, 1, 1), BODIES[body][1]).reshape(4)
        yield one("STABLEHLO_REDUCE/" + body, [x, first], y, ("StablehloReduceOptions", {"dimensions": [0, 2], "body_subgraph_index": 1}), body)
        low, high, gap, size, stride, dilation = (0, 1, 2), (1, 0, 1), (0, 1, 0), (2, 3, 2), (1, 2, 2), (1, 1, 2)
        options = {"window_dimensions": size, "window_strides": stride, "base_dilations": [g + 1 for g in gap], "window_dilations": dilation,
                   "padding": [v for pair in zip(low, high) for v in pair], "body_subgraph_index": 1}
        neutral = np.array({"add": 0, "max": -100, "min": 100, "mul": 1}[body], F)
        yield one("STABLEHLO_REDUCE_WINDOW/" + body, [x, neutral], windows(padded(x, neutral, low, high, gap), neutral, size, stride, dilation, BODIES[body][1]),
                  ("StablehloReduceWindowOptions", options), body)
        number = {"add": 1, "mul": 2, "min": 3, "max": 4}[body]
        lists = [(np.array(v, I64),) for v in (size, stride, dilation)]
        yield one("REDUCE_WINDOW/" + body, [x, neutral] + lists, windows(x, neutral, size, stride, dilation, BODIES[body][1]), ("ReduceWindowOptions", {"reduce_function": number}))
    yield one("STABLEHLO_REDUCE/or", [x > 1, np.array(False)], (x > 1).any(1), ("StablehloReduceOptions", {"dimensions": [1], "body_subgraph_index": 1}), "or")
    yield one("REDUCE_WINDOW/i32", [k, np.array(0, I32)] + lists, windows(k, 0, size, stride, dilation, BODIES["add"][1]), ("ReduceWindowOptions", {"reduce_function": 1}))
    yield one("REDUCE_WINDOW/function", [x, neutral] + lists, "reduction 0", ("ReduceWindowOptions", {"reduce_function": 0}))
    yield one("REDUCE_WINDOW/rank", [x[0], neutral] + lists, "3 numbers in input 2 for rank 2", ("ReduceWindowOptions", {"reduce_function": 1}))
    yield one("STABLEHLO_REDUCE/sub", [x, first], "is not one sum", ("StablehloReduceOptions", {"dimensions": [0], "body_subgraph_index": 1}), "sub")
    yield one("STABLEHLO_REDUCE/set", [x, first], "is not one sum", ("StablehloReduceOptions", {"dimensions": [0], "body_subgraph_index": 1}), "set")
    yield one("STABLEHLO_REDUCE/graph", [x, first], "subgraph 7 of 1", ("StablehloReduceOptions", {"dimensions": [0], "body_subgraph_index": 7}))
    yield one("STABLEHLO_REDUCE/axis", [x, first], "axis 3 of rank 3", ("StablehloReduceOptions", {"dimensions": [3], "body_subgraph_index": 1}), "add")


def sort(name, arrays, axis, kind, pair, expected, **more):
    """@kind compares inputs @pair of the comparator: two of each operand in turn."""
    n = len(arrays)
    rows = [tensor("x%d" % k, a.dtype, a.shape) for k, a in enumerate(arrays)] + [tensor("y%d" % k, a.dtype, a.shape) for k, a in enumerate(arrays)]
    options = ("StablehloSortOptions", {"dimension": axis, "is_stable": 1, "comparator_subgraph_index": 1})
    main = rows, [op("STABLEHLO_SORT", list(range(n)), list(range(n, 2 * n)), options_2=options)], list(range(n)), list(range(n, 2 * n))
    pairs = [tensor("p%d" % k, arrays[k // 2].dtype, ()) for k in range(2 * n)] + [tensor("c", np.bool_, ())]
    compare = pairs, [op(kind, list(pair), [2 * n], **more)], list(range(2 * n)), [2 * n]
    return "STABLEHLO_SORT/" + name, models([main, compare]), [("x%d" % k, a) for k, a in enumerate(arrays)], ["y%d" % k for k in range(n)], expected


def sorts(r):
    x, k = r.randn(3, 7, 2).astype(F), r.randint(0, 4, (3, 7, 2)).astype(I32)
    yield sort("up", [x], 1, "LESS", (0, 1), [np.sort(x, 1)])
    yield sort("down", [x], 2, "LESS", (1, 0), [-np.sort(-x, 2)])
    for name, kind, pair, order in (("keys", "LESS", (2, 3), np.argsort(k, 0, "stable")), ("greatest", "GREATER", (2, 3), np.argsort(-k, 0, "stable")),
                                    ("turned", "GREATER", (3, 2), np.argsort(k, 0, "stable"))):
        yield sort(name, [x, k], 0, kind, pair, [np.take_along_axis(a, order, 0) for a in (x, k)])
    direction = ("StablehloCompareOptions", {"comparison_direction": 3, "compare_type": 1})
    yield sort("compare", [x], 1, "STABLEHLO_COMPARE", (0, 1), [-np.sort(-x, 1)], options_2=direction)
    yield sort("mixed", [x, x], 1, "LESS", (0, 3), "comparator that is not one LESS or GREATER")
    yield sort("equal", [x], 1, "LESS_EQUAL", (0, 1), "comparator that is not one LESS or GREATER")
    yield sort("axis", [x], 3, "LESS", (0, 1), "axis 3 is outside of rank 3")
    yield sort("shapes", [x, k[0]], 0, "LESS", (0, 1), "operand 1 has another shape")


def gathers(r):
    x = r.randn(5, 6, 7).astype(F)
    sets = ((r.randint(-2, 9, (2, 3, 2)).astype(I32), [1, 3], [1], [2, 1], 2, [2, 1, 3]), (r.randint(0, 5, (4,)).astype(I64), [1, 2], [0], [0], 1, [1, 6, 7]),
            (r.randint(0, 5, (3, 4)).astype(I32), [0], [0, 2], [0, 1, 2], 0, [1, 2, 1]))
    for n, (indices, offset, collapsed, start, at, sizes) in enumerate(sets):
        options = {"offset_dims": offset, "collapsed_slice_dims": collapsed, "start_index_map": start, "index_vector_dim": at, "slice_sizes": sizes}
        yield one("STABLEHLO_GATHER/%d" % n, [x, indices], gathered(x, indices, offset, collapsed, start, at, sizes), ("StablehloGatherOptions", options))
    for name, message, change in (("sizes", "slices of 8 along axis 2", {"slice_sizes": [1, 2, 8]}), ("vector", "along axis 3 of rank 2", {"index_vector_dim": 3}),
                                  ("offsets", "another number of axes", {"offset_dims": [0, 1]}), ("map", "vectors of 3 indices for 2 axes", {"start_index_map": [0, 1]})):
        yield one("STABLEHLO_GATHER/" + name, [x, indices], message, ("StablehloGatherOptions", dict(options, **change)))
    sets = ((r.randint(-2, 9, (2, 3, 2)).astype(I32), (2, 2, 3, 3), [1, 3], [1], [2, 1], 2, "add"), (np.array([3, 0, 3, 4], I64), (4, 6, 7), [1, 2], [0], [0], 1, "max"),
            (np.array([[0, 1, 4, 3], [0, 1, 9, 2], [2, 3, 4, 5]], I32), (4,), [], [0, 1, 2], [0, 1, 2], 0, "set"), (np.array([[1]], I32), (1, 2, 6, 7), [1, 2, 3], [], [0], 1, "mul"))
    for n, (indices, shape, window, inserted, start, at, body) in enumerate(sets):
        updates = r.randn(*shape).astype(F)
        options = {"update_window_dims": window, "inserted_window_dims": inserted, "scatter_dims_to_operand_dims": start, "index_vector_dim": at, "update_computation_subgraph_index": 1}
        yield one("STABLEHLO_SCATTER/%d" % n, [x, indices, updates], scattered(x, indices, updates, window, inserted, start, at, BODIES[body][1]), ("StablehloScatterOptions", options), body)
    yield one("STABLEHLO_SCATTER/body", [x, indices, updates], "is not one sum", ("StablehloScatterOptions", options), "sub")
    yield one("STABLEHLO_SCATTER/or", [x > 0, indices, updates > 0], "joined by and or or", ("StablehloScatterOptions", options), "or")
    yield one("STABLEHLO_SCATTER/long", [x[:, :, :6], indices, updates], "longer than axis 2", ("StablehloScatterOptions", options), "add")
    yield one("STABLEHLO_SCATTER/window", [x, indices, updates], "updates of 2 and 2 axes", ("StablehloScatterOptions", dict(options, update_window_dims=[2, 3])), "add")


def cases():
    r = np.random.RandomState(3)
    for part in (elementwise, movement, products, reductions, gathers, sorts):
        yield from part(r)
    for index in (0, 1, 2, 3, -1):
        yield case(index)
        yield case(index, constant=True)
    name, data, inputs, outputs, _ = case(1)
    yield name + "/branches", data.replace(bytes([3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]), bytes([3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9])), inputs, outputs, "subgraph 9"
