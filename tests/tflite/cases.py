"""Single-operator models of random data: cases () yields (name, file, [(input, array)], [output], expected arrays or None).

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

import computed_cases
import edge_cases
import frame_cases
import hlo_cases
import list_cases
import mediapipe_cases
import microfrontend_cases
import newer_cases
import recurrent_cases
import recurrent_form_cases
import signal_cases
import state_cases
import stored_cases
from tfl import flex_map, model, op, tensor

F, I8, U8, I16, I32, I64, B = np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64, np.bool_
CODES = {"f32": F, "i8": I8, "u8": U8, "i16": I16, "i32": I32, "i64": I64, "bool": B}


class Maker:
    def __init__(self, seed):
        self.r = np.random.RandomState(seed)

    def data(self, kind, shape, low=None, high=None):
        t = CODES[kind]
        if kind == "f32":
            return (self.r.uniform(-3 if low is None else low, 3 if high is None else high, shape)).astype(F)
        if kind == "bool":
            return self.r.randint(0, 2, shape).astype(B)
        info = np.iinfo(t)
        if low is None and kind in ("i32", "i64"):
            low, high = -50, 51
        return self.r.randint(info.min if low is None else low, info.max + 1 if high is None else high, shape).astype(t)

    def quant(self, kind, scale=None, zero=None):
        if kind not in ("i8", "u8", "i16"):
            return {}
        if zero is None:
            zero = 0 if kind == "i16" else int(self.r.randint(-20, 20)) + (128 if kind == "u8" else 0)
        if scale is None:
            scale = float(F(self.r.uniform(0.01, 0.1) / (256 if kind == "i16" else 1)))
        return {"scale": scale, "zero": zero}


def one(name, kind, shapes, options=None, out=None, consts=(), seed=0, out_kind=None, q=None, out_q=None, low=None, high=None, n_out=1, version=1, same_q=False):
    """Inputs of @kind and @shapes, then constants; the output's shape is a hint."""
    m = Maker(seed * 7919 + sum(map(ord, name + kind)))
    tensors, inputs = [], []
    first = None
    for k, shape in enumerate(shapes):
        qq = q if q is not None and kind in ("i8", "u8", "i16") else m.quant(kind)
        first = first if first is not None else qq
        a = m.data(kind, shape, low, high)
        tensors.append(tensor("x%d" % k, CODES[kind], shape, **(first if same_q else qq)))
        inputs.append(("x%d" % k, a))
    for k, c in enumerate(consts):
        if isinstance(c, dict):
            tensors.append(c)
        else:
            c = np.asarray(c)
            tensors.append(tensor("c%d" % k, c.dtype, c.shape, c))
    n_in = len(tensors)
    okind = out_kind or kind
    outs = []
    for o in range(n_out):
        oq = out_q if out_q is not None and okind in ("i8", "u8", "i16") else (first if same_q else m.quant(okind))
        tensors.append(tensor("y%d" % o, CODES[okind], out if out is not None else shapes[0], **oq))
        outs.append(n_in + o)
    data = model(tensors, [op(name, list(range(n_in)), outs, options, version=version)], list(range(len(shapes))), outs)
    return "%s/%s/%d" % (name, kind, seed), data, inputs, ["y%d" % o for o in range(n_out)], None


def elementwise():
    acts = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions"}
    for name, table in acts.items():
        for kind in ("f32", "i8", "u8", "i16", "i32"):
            for act in (0, 1, 3):
                o = {"fused_activation_function": act}
                if name in ("ADD", "SUB"):
                    o["pot_scale_int16"] = 0
                if name == "DIV" and kind not in ("f32", "i32", "u8"):
                    continue
                yield one(name, kind, [(2, 3, 4, 5), (2, 3, 4, 5) if act else (1, 5)], (table, o), (2, 3, 4, 5), seed=act,
                          low=1 if name == "DIV" else None, high=100 if name == "DIV" and kind != "f32" else None)
    for name in ("MAXIMUM", "MINIMUM"):
        for kind in ("f32", "i8", "u8", "i16", "i32", "i64"):
            yield one(name, kind, [(2, 3, 4, 5), (4, 1)], ("MaximumMinimumOptions", {}), (2, 3, 4, 5), same_q=True)
    for name in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"):
        for kind in ("f32", "i8", "u8", "i32", "i64"):
            yield one(name, kind, [(2, 3, 4, 5), (4, 1)], None, (2, 3, 4, 5), out_kind="bool", low=0 if kind in ("i32", "i64") else None, high=4 if kind in ("i32", "i64") else None)
    for kind in ("f32", "i32", "i8"):
        yield one("SQUARED_DIFFERENCE", kind, [(2, 3, 4, 5), (4, 1)], ("SquaredDifferenceOptions", {}), (2, 3, 4, 5), version=2)
    yield one("POW", "f32", [(3, 4), (3, 4)], ("PowOptions", {}), low=0.1)
    yield one("POW", "i32", [(3, 4), (3, 4)], ("PowOptions", {}), low=0, high=6)
    for kind in ("f32", "i32"):
        yield one("FLOOR_DIV", kind, [(3, 40), (3, 40)], ("FloorDivOptions", {}), low=None if kind == "f32" else -9, high=None if kind == "f32" else -1, version=2)
    for kind in ("f32", "i32", "i64"):
        yield one("FLOOR_MOD", kind, [(3, 40), (3, 40)], ("FloorModOptions", {}), low=None if kind == "f32" else -9, high=None if kind == "f32" else -1)
    for name in ("LOGICAL_AND", "LOGICAL_OR"):
        yield one(name, "bool", [(3, 4), (3, 4)], None)
    yield one("ADD_N", "f32", [(3, 4)] * 3, ("AddNOptions", {}))
    yield one("ADD_N", "i32", [(3, 4)] * 3, ("AddNOptions", {}))


def unary():
    out_q = {"LOGISTIC": {"i8": (1 / 256, -128), "u8": (1 / 256, 0), "i16": (1 / 32768, 0)}, "TANH": {"i8": (1 / 128, 0), "u8": (1 / 128, 128), "i16": (1 / 32768, 0)},
             "LOG_SOFTMAX": {"i8": (1 / 16, 127), "u8": (1 / 16, 255)}, "SOFTMAX": {"i8": (1 / 256, -128), "u8": (1 / 256, 0), "i16": (1 / 32768, 0)},
             "L2_NORMALIZATION": {"i8": (1 / 128, 0), "u8": (1 / 128, 128)}}
    kinds = {"LOGISTIC": "f32 i8 u8 i16", "TANH": "f32 i8 u8 i16", "RELU": "f32 i8 u8 i16", "RELU6": "f32 i8 u8 i16", "RELU_N1_TO_1": "f32 i8 u8", "LEAKY_RELU": "f32 i8 u8 i16",
             "HARD_SWISH": "f32 i8 u8", "GELU": "f32 i8 u8", "L2_NORMALIZATION": "f32 i8 u8", "LOG_SOFTMAX": "f32 i8 u8", "SOFTMAX": "f32 i8 u8 i16", "ABS": "f32 i8 i16",
             "RSQRT": "f32 i8", "ELU": "f32 i8", "NEG": "f32 i32 i64", "CEIL": "f32", "COS": "f32", "EXP": "f32", "FLOOR": "f32", "LOG": "f32", "ROUND": "f32", "SIN": "f32",
             "SQRT": "f32", "SQUARE": "f32", "ZEROS_LIKE": "f32 i32 i64", "LOGICAL_NOT": "bool"}
    options = {"LEAKY_RELU": ("LeakyReluOptions", {"alpha": 0.3}), "SOFTMAX": ("SoftmaxOptions", {"beta": 1.0}), "GELU": ("GeluOptions", {"approximate": 1})}
    for name, list_ in kinds.items():
        for kind in list_.split():
            for seed in (0, 1):
                oq = out_q.get(name, {}).get(kind)
                q = None
                if name in ("RSQRT",) and kind == "i8":
                    q = {"scale": 0.02, "zero": -128}
                yield one(name, kind, [(2, 3, 40)], options.get(name) if seed == 0 or name != "GELU" else ("GeluOptions", {"approximate": 0}), seed=seed, q=q,
                          out_q={"scale": oq[0], "zero": oq[1]} if oq else None, low=0.1 if name in ("LOG", "SQRT", "RSQRT") and kind == "f32" else None,
                          version={"GELU": 2}.get(name, 1))
    yield one("SOFTMAX", "i8", [(3, 30)], ("SoftmaxOptions", {"beta": 0.5}), seed=5, out_q={"scale": 1 / 256, "zero": -128})
    yield one("SOFTMAX", "f32", [(3, 30)], ("SoftmaxOptions", {"beta": 0.5}), seed=5)
    for kind in ("f32", "i8", "u8"):
        m = Maker(3)
        yield one("PRELU", kind, [(2, 3, 4, 5)], None, consts=[tensor("a", CODES[kind], (1, 1, 5), m.data(kind, (1, 1, 5)), **m.quant(kind))])
    yield one("LOCAL_RESPONSE_NORMALIZATION", "f32", [(2, 3, 4, 9)], ("LocalResponseNormalizationOptions", {"radius": 2, "bias": 1.0, "alpha": 0.5, "beta": 0.5}))


def windows():
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        for kind in ("f32", "i8", "u8", "i16"):
            if name == "L2_POOL_2D" and kind != "f32":
                continue
            for seed, (pad, act) in enumerate(((0, 0), (1, 1), (0, 3))):
                yield one(name, kind, [(2, 9, 7, 5)], ("Pool2DOptions", {"padding": pad, "stride_w": 2, "stride_h": 1, "filter_width": 3, "filter_height": 2,
                          "fused_activation_function": act}), seed=seed, same_q=True)
    for name, table in (("RESIZE_BILINEAR", "ResizeBilinearOptions"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")):
        for kind in ("f32", "i8", "u8", "i16"):
            for seed, flags in enumerate(({}, {"align_corners": 1}, {"half_pixel_centers": 1})):
                for size in ((7, 9), (3, 2)):
                    yield one(name, kind, [(2, 5, 4, 3)], (table, flags), consts=[np.array(size, I32)], seed=seed + 10 * size[0], same_q=True, version=3)
                m, size = Maker(seed), np.array([7, 3], I32)
                x, q = m.data(kind, (2, 5, 4, 3)), m.quant(kind)
                rows = [tensor("x", x.dtype, x.shape, **q), tensor("size", I32, (2,)), tensor("y", x.dtype, (2, 1, 1, 3), **q)]
                yield "%s/computed/%s/%d" % (name, kind, seed), model(rows, [op(name, [0, 1], [2], (table, flags), version=3)], [0, 1], [2]), [("x", x), ("size", size)], ["y"], None
    for kind in ("f32", "i8", "u8", "i32"):
        yield one("SPACE_TO_DEPTH", kind, [(2, 4, 6, 3)], ("SpaceToDepthOptions", {"block_size": 2}), same_q=True)
        yield one("DEPTH_TO_SPACE", kind, [(2, 2, 3, 12)], ("DepthToSpaceOptions", {"block_size": 2}), same_q=True)
    m = Maker(11)
    for kind in ("f32", "i8", "u8", "i16"):
        for seed, (pad, act, stride, dilation) in enumerate(((0, 0, 1, 1), (1, 1, 2, 1), (0, 3, 2, 1), (0, 0, 1, 2))):
            for name in ("CONV_2D", "DEPTHWISE_CONV_2D"):
                deep = name != "CONV_2D"
                shape = (1, 3, 2, 8) if deep else (6, 3, 2, 4)
                n = shape[3] if deep else shape[0]
                wk = {"f32": "f32", "u8": "u8"}.get(kind, "i8")
                w = m.data(wk, shape, -127 if wk == "i8" else None, 128 if wk == "i8" else None)
                wq = {} if kind == "f32" else {"scale": 0.02, "zero": 130} if kind == "u8" else {"scale": [0.01 + 0.002 * i for i in range(n)], "zero": 0, "axis": 3 if deep else 0}
                bias = m.data("f32", (n,)) if kind == "f32" else m.r.randint(-3000, 3000, n).astype(I64 if kind == "i16" else I32)
                bq = {} if kind == "f32" else {"scale": 0.001, "zero": 0}
                o = {"padding": pad, "stride_w": stride, "stride_h": 1, "fused_activation_function": act, "dilation_w_factor": dilation if stride == 1 else 1, "dilation_h_factor": 1}
                if deep:
                    o["depth_multiplier"] = 2
                yield one(name, kind, [(2, 7, 6, 4)], ("DepthwiseConv2DOptions" if deep else "Conv2DOptions", o), consts=[
                    tensor("w", CODES[wk], shape, w, **wq), tensor("b", bias.dtype, (n,), bias, **bq)], seed=seed,
                    q={"scale": 0.03 if kind != "i16" else 0.0001, "zero": 0 if kind == "i16" else 5}, out_q={"scale": 0.2 if kind != "i16" else 0.001, "zero": 0 if kind == "i16" else 9})
    for kind in ("f32", "i8", "u8", "i16"):
        for seed, (pad, stride, out) in enumerate(((0, 2, (2, 10, 8, 5)), (1, 2, (2, 11, 9, 5)), (0, 1, (2, 5, 4, 5)))):
            wk = {"f32": "f32", "u8": "u8"}.get(kind, "i8")
            shape = (5, 3, 3, 4)
            w = m.data(wk, shape, -127 if wk == "i8" else None, 128 if wk == "i8" else None)
            wq = {} if kind == "f32" else {"scale": 0.02, "zero": 130} if kind == "u8" else {"scale": [0.01 + 0.002 * i for i in range(5)], "zero": 0, "axis": 0}
            x = one("TRANSPOSE_CONV", kind, [(2, 5, 4, 4)], ("TransposeConvOptions", {"padding": pad, "stride_w": stride, "stride_h": stride}), out, seed=seed,
                    q={"scale": 0.03 if kind != "i16" else 0.0001, "zero": 0 if kind == "i16" else 5}, out_q={"scale": 0.2 if kind != "i16" else 0.001, "zero": 0 if kind == "i16" else 9})
            # Its inputs stand in another order.
            mm = Maker(seed)
            a = mm.data(kind, (2, 5, 4, 4))
            q = {} if kind == "f32" else {"scale": 0.03 if kind != "i16" else 0.0001, "zero": 0 if kind == "i16" else 5}
            oq = {} if kind == "f32" else {"scale": 0.2 if kind != "i16" else 0.001, "zero": 0 if kind == "i16" else 9}
            bias = mm.data("f32", (5,)) if kind == "f32" else mm.r.randint(-3000, 3000, 5).astype(I64 if kind == "i16" else I32)
            lengths = np.array(out, I32)
            for computed in (False, True):      # the output's shape: a constant, or an input
                data = model([tensor("s", I32, (4,), None if computed else lengths), tensor("w", CODES[wk], shape, w, **wq),
                              tensor("x0", CODES[kind], (2, 5, 4, 4), **q), tensor("b", bias.dtype, (5,), bias, **({} if kind == "f32" else {"scale": 0.001})),
                              tensor("y0", CODES[kind], out, **oq)],
                             [op("TRANSPOSE_CONV", [0, 1, 2, 3] if seed else [0, 1, 2], [4], ("TransposeConvOptions", {"padding": pad, "stride_w": stride, "stride_h": stride}),
                                 version=3 if seed else 1)], [0, 2] if computed else [2], [4])
                yield x[0] + "/computed" * computed, data, [("s", lengths)] * computed + [("x0", a)], ["y0"], None
    w = m.data("f32", (2, 2, 3, 2, 4))
    yield one("CONV_3D", "f32", [(1, 4, 5, 6, 2)], ("Conv3DOptions", {"padding": 0, "stride_d": 1, "stride_w": 2, "stride_h": 1}), consts=[w, m.data("f32", (4,))], out=(1, 4, 5, 3, 4))


def hybrid():
    m = Maker(5)
    for seed in (0, 1):
        w = m.data("i8", (6, 20), -127, 128)
        yield one("FULLY_CONNECTED", "f32", [(3, 20)], ("FullyConnectedOptions", {"asymmetric_quantize_inputs": seed}), (3, 6), [tensor("w", I8, (6, 20), w, scale=0.02),
                  m.data("f32", (6,))], seed=20 + seed, version=9 if seed else 3)
    w = m.data("i8", (6, 3, 2, 4), -127, 128)
    for seed, scale in enumerate((0.02, [0.01 + 0.002 * i for i in range(6)])):
        yield one("CONV_2D", "f32", [(2, 7, 6, 4)], ("Conv2DOptions", {"padding": 0, "stride_w": 1, "stride_h": 1}), (2, 7, 6, 6), [tensor("w", I8, (6, 3, 2, 4), w, scale=scale),
                  m.data("f32", (6,))], seed=20 + seed, version=5 if seed else 2)
    w = m.data("i8", (1, 3, 2, 4), -127, 128)
    yield one("DEPTHWISE_CONV_2D", "f32", [(2, 7, 6, 4)], ("DepthwiseConv2DOptions", {"padding": 0, "stride_w": 1, "stride_h": 1, "depth_multiplier": 1}), (2, 7, 6, 4),
              [tensor("w", I8, (1, 3, 2, 4), w, scale=[0.01 + 0.002 * i for i in range(4)], axis=3), m.data("f32", (4,))], seed=20, version=6)


def products():
    m = Maker(6)
    for kind in ("f32", "i8", "u8", "i16"):
        for seed in (0, 1, 2):
            wk = {"f32": "f32", "u8": "u8"}.get(kind, "i8")
            w = m.data(wk, (6, 20), -127 if wk == "i8" else None, 128 if wk == "i8" else None)
            q = {"scale": 0.0003 if kind == "i16" else 0.03, "zero": 0 if kind == "i16" else 5}
            ws = 0.02
            bias = m.data("f32", (6,)) if kind == "f32" else m.r.randint(-3000, 3000, 6).astype(I64 if kind == "i16" else I32)
            consts = [tensor("w", CODES[wk], (6, 20), w, **({} if kind == "f32" else {"scale": ws, "zero": 130 if kind == "u8" else 0}))]
            if seed != 1:
                consts.append(tensor("b", bias.dtype, (6,), bias, **({} if kind == "f32" else {"scale": float(F(q["scale"]) * F(ws))})))
            yield one("FULLY_CONNECTED", kind, [(2, 3, 20)], ("FullyConnectedOptions", {"keep_num_dims": int(seed == 2), "fused_activation_function": seed}),
                      (2, 3, 6) if seed == 2 else (6, 6), consts, seed=seed, q=q, out_q={"scale": 0.01 if kind == "i16" else 0.2, "zero": 0 if kind == "i16" else 9}, version=6)
            yield one("FULLY_CONNECTED", kind, [(20,)], ("FullyConnectedOptions", {"keep_num_dims": int(seed != 1)}), (6,) if seed != 1 else (1, 6), consts, seed=seed + 3,
                      q=q, out_q={"scale": 0.01 if kind == "i16" else 0.2, "zero": 0 if kind == "i16" else 9}, version=6)
    for kind in ("f32", "i8", "i16"):
        for seed in (0, 1):
            yield one("BATCH_MATMUL", kind, [(2, 3, 4, 5), (3, 6, 5) if seed else (3, 5, 6)], ("BatchMatMulOptions", {"adj_y": seed}), (2, 3, 4, 6), seed=seed,
                      out_q={"scale": 0.01 if kind == "i16" else 0.2, "zero": 0 if kind == "i16" else 9})


def reduce():
    for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for kind in ("f32", "i8", "u8", "i16", "i32", "i64"):
            for seed, (axes, keep) in enumerate((([1, 2], 1), ([1, 2], 0), ([-1], 1), ([0, 3], 0))):
                for same in (0, 1):
                    if name == "REDUCE_PROD" and kind == "u8":
                        continue
                    if kind in ("f32", "i32", "i64") and same:
                        continue
                    yield one(name, kind, [(2, 3, 4, 5)], ("ReducerOptions", {"keep_dims": keep}), consts=[np.array(axes, I32)], seed=seed + 10 * same, same_q=bool(same) or name in ("REDUCE_MAX", "REDUCE_MIN"),
                              **({"low": -3, "high": 4} if name == "REDUCE_PROD" and kind in ("f32", "i32", "i64") else {}))
    for name in ("REDUCE_ANY", "REDUCE_ALL"):
        yield one(name, "bool", [(2, 3, 4)], ("ReducerOptions", {"keep_dims": 0}), consts=[np.array([1], I32)])
    for kind in ("i8", "u8", "i16"):
        for name in ("MEAN",) + (("SUM", "REDUCE_PROD") if kind == "i8" else ()):      # over no axis, to another scale
            yield one(name, kind, [(2, 5)], ("ReducerOptions", {"keep_dims": 1}), consts=[np.zeros(0, I32)], seed=40)
    q = {"scale": 0.05, "zero": 3}
    x, axes, pool = Maker(3).data("i8", (2, 5, 4, 3)), np.array([1, 3], I32), {"padding": 0, "stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}
    rows = [tensor("x", I8, x.shape, **q), tensor("p", I8, (2, 4, 3, 3), **q), tensor("axes", I32, (2,), axes), tensor("y", I8, (2, 1, 3, 1), scale=0.07, zero=-9)]
    yield ("REDUCE_PROD/i8/channels", model(rows, [op("MAX_POOL_2D", [0], [1], ("Pool2DOptions", pool)), op("REDUCE_PROD", [1, 2], [3], ("ReducerOptions", {"keep_dims": 1}))], [0], [3]),
           [("x", x)], ["y"], None)
    for name in ("SUM", "REDUCE_MAX"):      # a scalar has no axes, whatever is said
        yield one(name, "f32", [()], ("ReducerOptions", {"keep_dims": 1}), consts=[np.array([-1], I32)], seed=50)
    m = Maker(3)
    for name, kind, keep in (("MEAN", "f32", 1), ("SUM", "i32", 0), ("REDUCE_MAX", "i64", 1), ("REDUCE_ANY", "bool", 1)):
        for seed, axes in enumerate(([1, -1], [2, 2])):
            arrays = [m.data(kind, (2, 3, 4)), np.array(axes, I32)]
            rows = [tensor("x%d" % k, a.dtype, a.shape) for k, a in enumerate(arrays)] + [tensor("y0", CODES[kind], (2, 1, 1) if keep else (2,))]
            yield ("%s/computed/%d" % (name, seed), model(rows, [op(name, [0, 1], [2], ("ReducerOptions", {"keep_dims": keep}))], [0, 1], [2]),
                   [("x%d" % k, a) for k, a in enumerate(arrays)], ["y0"], None)
    for name in ("ARG_MAX", "ARG_MIN"):
        for kind in ("f32", "i8", "u8", "i32", "bool"):
            yield one(name, kind, [(2, 3, 40)], (("ArgMaxOptions" if name == "ARG_MAX" else "ArgMinOptions"), {"output_type": 2}), consts=[np.array(2, I32)], out_kind="i32", version=3 if kind == "bool" else 1)
    for kind in ("f32", "i32", "i64"):
        for ex in (0, 1):
            yield one("CUMSUM", kind, [(2, 3, 4)], ("CumsumOptions", {"exclusive": ex, "reverse": ex}), consts=[np.array(1, I32)], seed=ex)


def moves():
    every = ("f32", "i8", "u8", "i16", "i32", "i64", "bool")
    for kind in every:
        yield one("CONCATENATION", kind, [(2, 3, 4), (2, 5, 4), (2, 1, 4)], ("ConcatenationOptions", {"axis": 1}), same_q=True)
        yield one("TRANSPOSE", kind, [(2, 3, 4, 5)], ("TransposeOptions", {}), consts=[np.array([3, 0, 2, 1], I32)], same_q=True)
        yield one("SLICE", kind, [(4, 5, 6)], ("SliceOptions", {}), consts=[np.array([1, 0, 2], I32), np.array([2, -1, 3], I32)], same_q=True)
        for seed, o in enumerate(({}, {"begin_mask": 1, "end_mask": 2}, {"shrink_axis_mask": 1}, {"begin_mask": 4, "shrink_axis_mask": 2})):
            yield one("STRIDED_SLICE", kind, [(4, 5, 6)], ("StridedSliceOptions", o), consts=[np.array([1, -2, 5], I32), np.array([4, 5, 0], I32), np.array([2, 1, -2], I32)], same_q=True, seed=seed)
        yield one("GATHER", kind, [(4, 5, 6)], ("GatherOptions", {"axis": 1}), consts=[np.array([[1, 0], [4, 4]], I32)], same_q=True)
        yield one("GATHER_ND", kind, [(4, 5, 6)], ("GatherNdOptions", {}), consts=[np.array([[1, 0], [3, 4]], I32)], same_q=True)
        yield one("REVERSE_V2", kind, [(4, 5, 6)], ("ReverseV2Options", {}), consts=[np.array([1], I32)], same_q=True)
        yield one("PACK", kind, [(2, 3), (2, 3)], ("PackOptions", {"axis": 1, "values_count": 2}), same_q=True)
        yield one("UNPACK", kind, [(2, 3, 4)], ("UnpackOptions", {"axis": 1, "num": 3}), same_q=True, n_out=3)
        yield one("PAD", kind, [(2, 3, 4, 5)], ("PadOptions", {}), consts=[np.array([[0, 1], [1, 2], [2, 0], [0, 0]], I32)], same_q=True)
        yield one("MIRROR_PAD", kind, [(2, 3, 4)], ("MirrorPadOptions", {"mode": 0}), consts=[np.array([[0, 1], [1, 2], [2, 0]], I32)], same_q=True)
        yield one("MIRROR_PAD", kind, [(2, 3, 4)], ("MirrorPadOptions", {"mode": 1}), consts=[np.array([[0, 1], [1, 2], [2, 0]], I32)], same_q=True, seed=1)
        yield one("TILE", kind, [(2, 3)], ("TileOptions", {}), consts=[np.array([2, 3], I32)], same_q=True)
        yield one("RESHAPE", kind, [(2, 3, 4)], ("ReshapeOptions", {"new_shape": [6, 4]}), (6, 4), consts=[np.array([6, -1], I32)], same_q=True)
        yield one("SQUEEZE", kind, [(2, 1, 4, 1)], ("SqueezeOptions", {"squeeze_dims": [1]}), (2, 4, 1), same_q=True)
        yield one("EXPAND_DIMS", kind, [(2, 4)], ("ExpandDimsOptions", {}), (2, 1, 4), consts=[np.array(1, I32)], same_q=True)
        yield one("SPACE_TO_BATCH_ND", kind, [(2, 4, 6, 3)], ("SpaceToBatchNDOptions", {}), consts=[np.array([2, 3], I32), np.array([[0, 2], [1, 2]], I32)], same_q=True)
        yield one("BATCH_TO_SPACE_ND", kind, [(12, 2, 3, 2)], ("BatchToSpaceNDOptions", {}), consts=[np.array([2, 3], I32), np.array([[0, 1], [1, 0]], I32)], same_q=True)
        yield one("SPLIT_V", kind, [(2, 7)], ("SplitVOptions", {"num_splits": 3}), consts=[np.array([1, 4, -1], I32), np.array(1, I32)], same_q=True, n_out=3)
        yield one("BROADCAST_TO", kind, [(2, 1, 3)], ("BroadcastToOptions", {}), consts=[np.array([4, 2, 5, 3], I32)], same_q=True, version=2)
        yield one("REVERSE_SEQUENCE", kind, [(3, 5, 2)], ("ReverseSequenceOptions", {"seq_dim": 1, "batch_dim": 0}), consts=[np.array([2, 5, 1], I32)], same_q=True)
        yield one("FILL", kind, [], ("FillOptions", {}), (2, 3), consts=[np.array([2, 3], I32), np.array(1, CODES[kind])])
        yield one("WHERE", kind, [(3, 4)], None, (0, 2), out_kind="i64", low=0 if kind != "bool" else None, high=2 if kind != "bool" else None) if kind != "f32" else one("SHAPE", "f32", [(3, 4)], ("ShapeOptions", {"out_type": 2}), (2,), out_kind="i32")
        for name, version in (("SELECT", 1), ("SELECT_V2", 1)):
            m = Maker(4)
            yield one(name, kind, [(2, 3), (2, 3)], None, (2, 3), same_q=True)[:0] or select(name, kind)
    for seed, op_ in enumerate(("f32", "i8", "i32")):
        m = Maker(8)
        a = m.data(op_, (2, 6, 4))
        data = model([tensor("axis", I32, (), np.array(1, I32)), tensor("x0", CODES[op_], (2, 6, 4), **m.quant(op_))] + [tensor("y%d" % i, CODES[op_], (2, 2, 4), **Maker(8).quant(op_)) for i in range(3)],
                     [op("SPLIT", [0, 1], [2, 3, 4], ("SplitOptions", {"num_splits": 3}))], [1], [2, 3, 4])
        yield "SPLIT/" + op_, data, [("x0", a)], ["y0", "y1", "y2"], None


    for kind in ("f32", "i8"):      # an axis that is computed
        m = Maker(9)
        q, x = m.quant(kind), m.data(kind, (4, 6))
        for name, more, table in (("SPLIT", [], ("SplitOptions", {"num_splits": 2})), ("SPLIT_V", [tensor("l", I32, (2,), np.array([1, -1], I32))], ("SplitVOptions", {"num_splits": 2}))):
            for axis in ((0, -1) if name == "SPLIT" else (1, -2)):
                x_first = name == "SPLIT_V"
                rows = [tensor("x", x.dtype, x.shape, **q), tensor("axis", I32, ())] + more + [tensor("y%d" % k, x.dtype, (1, 1), **q) for k in range(2)]
                data = model(rows, [op(name, [0, 2, 1] if x_first else [1, 0], [len(rows) - 2, len(rows) - 1], table, version=2)], [0, 1], [len(rows) - 2, len(rows) - 1])
                yield "%s/%s/computed/%d" % (name, kind, axis), data, [("x", x), ("axis", np.array(axis, I32))], ["y0", "y1"], None


def select(name, kind):
    m = Maker(4)
    q = m.quant(kind)
    c, a, b = m.data("bool", (2, 3)), m.data(kind, (2, 3)), m.data(kind, (2, 3))
    data = model([tensor("c", B, (2, 3)), tensor("a", CODES[kind], (2, 3), **q), tensor("b", CODES[kind], (2, 3), **q), tensor("y", CODES[kind], (2, 3), **q)],
                 [op(name, [0, 1, 2], [3])], [0, 1, 2], [3])
    return name + "/" + kind, data, [("c", c), ("a", a), ("b", b)], ["y"], None


def index():
    for kind in ("f32", "i8", "u8", "i32", "i64"):
        yield one("TOPK_V2", kind, [(3, 20)], ("TopKV2Options", {}), (3, 4), consts=[np.array(4, I32)], same_q=True)[:0] or topk(kind)
        yield one("ONE_HOT", "i32", [(3, 2)], ("OneHotOptions", {"axis": -1}), (3, 2, 5), consts=[np.array(5, I32), np.array(3, CODES[kind]), np.array(1, CODES[kind])], low=0, high=6, out_kind=kind)
        yield scatter(kind)
        yield dynamic_update(kind)
    for kind in ("f32", "i32"):
        yield one("SEGMENT_SUM", kind, [(5, 3)], ("SegmentSumOptions", {}), consts=[np.array([0, 0, 1, 3, 3], I32)])
        yield one("MATRIX_DIAG", kind, [(2, 3)], ("MatrixDiagOptions", {}), (2, 3, 3))
        yield one("MATRIX_SET_DIAG", kind, [(2, 3, 4), (2, 3)], ("MatrixSetDiagOptions", {}), (2, 3, 4))
        yield one("RANGE", kind, [], ("RangeOptions", {}), (0,), consts=[np.array(1, CODES[kind]), np.array(9, CODES[kind]), np.array(2, CODES[kind])])
        yield one("BUCKETIZE", kind, [(3, 7)], ("BucketizeOptions", {"boundaries": [-2.0, 0.0, 1.0, 7.0]}), out_kind="i32")
    yield one("SPARSE_TO_DENSE", "f32", [(3,)], ("SparseToDenseOptions", {}), (4, 5))[:0] or sparse_to_dense()
    yield one("EMBEDDING_LOOKUP", "i32", [(4,)], None, (4, 5), consts=[Maker(1).data("f32", (6, 5))], low=0, high=6, out_kind="f32")
    yield one("EMBEDDING_LOOKUP", "i32", [(4,)], None, (4, 5), consts=[tensor("t", I8, (6, 5), Maker(1).data("i8", (6, 5)), scale=0.1)], low=0, high=6, out_kind="f32", seed=1)
    for kind in ("f32", "i8", "u8", "i16", "i32", "i64", "bool"):
        for to in ("f32", "i32", "i64", "i8", "u8", "bool", "i16"):
            c = one("CAST", kind, [(3, 7)], ("CastOptions", {}), out_kind=to, q={}, out_q={}, low=0 if kind == "f32" and to in ("u8",) else None)
            yield (c[0] + "/" + to,) + c[1:]
    m, q = Maker(8), {"scale": 0.01, "zero": 19}
    at = m.r.randint(-1, 4, (2, 3)).astype(I64)
    rows = [tensor("x", I64, at.shape), tensor("n", I32, ()), tensor("on", I8, (), np.array(-53, I8), **q), tensor("off", I8, (), np.array(38, I8), **q), tensor("y", I8, (2, 3, 1), **q)]
    yield "ONE_HOT/codes", model(rows, [op("ONE_HOT", [0, 1, 2, 3], [4], ("OneHotOptions", {"axis": -1}))], [0, 1], [4]), [("x", at), ("n", np.array(4, I32))], ["y"], None
    x = m.data("u8", (3, 1, 2, 2, 2)) // 64
    yield "WHERE/u8/five", model([tensor("x", U8, x.shape, scale=0.01, zero=2), tensor("y", I64, (1, 5))], [op("WHERE", [0], [1])], [0], [1]), [("x", x)], ["y"], None
    for to in (I8, U8, I16):      # cut, however close to a whole number; beyond the type's ends its lowest bits
        r = np.random.RandomState(8)
        x = np.concatenate([r.randint(-140, 140, 300) + r.uniform(-0.02, 0.02, 300), r.uniform(-99999, 99999, 100)]).astype(F)
        yield "CAST/f32/%s/near" % to.__name__, model([tensor("x", F, x.shape), tensor("y", to, x.shape)], [op("CAST", [0], [1])], [0], [1]), [("x", x)], ["y"], None
    for kind, to in (("i16", I8), ("i16", U8), ("i8", U8), ("u8", I16)):
        x = m.data(kind, (3, 7))
        yield ("CAST/codes/%s/%s" % (kind, to.__name__), model([tensor("x", x.dtype, x.shape, **m.quant(kind)), tensor("y", to, x.shape)], [op("CAST", [0], [1])], [0], [1]),
               [("x", x)], ["y"], None)

def topk(kind):
    m = Maker(4)
    q = m.quant(kind)
    a = m.data(kind, (3, 20), *((0, 9) if kind in ("i32", "i64") else ()))
    data = model([tensor("x", CODES[kind], (3, 20), **q), tensor("k", I32, (), np.array(4, I32)), tensor("v", CODES[kind], (3, 4), **q), tensor("i", I32, (3, 4))],
                 [op("TOPK_V2", [0, 1], [2, 3], ("TopKV2Options", {}))], [0], [2, 3])
    return "TOPK_V2/" + kind, data, [("x", a)], ["v", "i"], None


def scatter(kind):
    m = Maker(4)
    a = m.data(kind, (3, 5), -3 if kind not in ("f32", "u8") else None, 4 if kind not in ("f32", "u8") else None)
    data = model([tensor("i", I32, (3, 1), np.array([[1], [3], [1]], I32)), tensor("u", CODES[kind], (3, 5)), tensor("s", I32, (2,), np.array([4, 5], I32)), tensor("y", CODES[kind], (4, 5))],
                 [op("SCATTER_ND", [0, 1, 2], [3], ("ScatterNdOptions", {}))], [1], [3])
    return "SCATTER_ND/" + kind, data, [("u", a)], ["y"], None


def dynamic_update(kind):
    m = Maker(4)
    q = m.quant(kind)
    data = model([tensor("x", CODES[kind], (4, 5), **q), tensor("u", CODES[kind], (2, 3), **q), tensor("s", I32, (2,)), tensor("y", CODES[kind], (4, 5), **q)],
                 [op("DYNAMIC_UPDATE_SLICE", [0, 1, 2], [3], ("DynamicUpdateSliceOptions", {}))], [0, 1, 2], [3])
    return "DYNAMIC_UPDATE_SLICE/" + kind, data, [("x", m.data(kind, (4, 5))), ("u", m.data(kind, (2, 3))), ("s", np.array([3, -1], I32))], ["y"], None


def sparse_to_dense():
    data = model([tensor("i", I32, (3, 2), np.array([[0, 1], [2, 0], [3, 4]], I32)), tensor("s", I32, (2,), np.array([4, 5], I32)), tensor("v", F, (3,)), tensor("d", F, (), np.array(7, F)),
                  tensor("y", F, (4, 5))], [op("SPARSE_TO_DENSE", [0, 1, 2, 3], [4], ("SparseToDenseOptions", {}))], [2], [4])
    return "SPARSE_TO_DENSE", data, [("v", np.array([1, 2, 3], F))], ["y"], None


def quantize():
    for kind, to in (("f32", "i8"), ("f32", "u8"), ("f32", "i16"), ("i8", "u8"), ("u8", "i8"), ("i8", "i8"), ("u8", "u8"), ("i16", "i8"), ("i16", "i16"), ("i16", "i32"), ("i32", "i8"), ("i32", "i16")):
        for seed in (0, 1):
            m = Maker(seed)
            q, oq = m.quant(kind), m.quant(to)
            if kind == "i32":
                q = {"scale": 0.0001, "zero": 0}
            if to == "i32":
                oq = {"scale": 0.00001, "zero": 0}
            a = m.data(kind, (3, 70))
            data = model([tensor("x", CODES[kind], (3, 70), **q), tensor("y", CODES[to], (3, 70), **oq)], [op("QUANTIZE", [0], [1], ("QuantizeOptions", {}), version=2)], [0], [1])
            yield "QUANTIZE/%s/%s/%d" % (kind, to, seed), data, [("x", a)], ["y"], None
    for kind in ("i8", "u8", "i16"):
        yield one("DEQUANTIZE", kind, [(3, 70)], ("DequantizeOptions", {}), out_kind="f32", version=3)
    yield one("FAKE_QUANT", "f32", [(3, 70)], ("FakeQuantOptions", {"min": -1.3, "max": 2.1, "num_bits": 8, "narrow_range": 0}))
    yield one("FAKE_QUANT", "f32", [(3, 70)], ("FakeQuantOptions", {"min": -1.3, "max": 2.1, "num_bits": 4, "narrow_range": 1}), seed=1, version=2)
    m = Maker(9)
    for kind in ("i8", "u8"):
        data = model([tensor("a", CODES[kind], (2, 3), scale=0.1, zero=3), tensor("b", CODES[kind], (2, 4), scale=0.07, zero=9), tensor("y", CODES[kind], (2, 7), scale=0.12, zero=5)],
                     [op("CONCATENATION", [0, 1], [2], ("ConcatenationOptions", {"axis": 1}))], [0, 1], [2])
        yield "CONCATENATION/%s/rescale" % kind, data, [("a", m.data(kind, (2, 3))), ("b", m.data(kind, (2, 4)))], ["y"], None


def search():
    """(name, inputs, outputs, options): inputs in a tuple are constants."""
    r = np.random.RandomState(12)
    for kind in ("f32", "i8", "u8", "i16", "i32", "i64"):
        yield mixed("UNIQUE/" + kind, [r.randint(0, 9, 40).astype(CODES[kind])], [(CODES[kind], (9,)), (I32, (40,))], ("UniqueOptions", {"idx_out_type": 2}))
    yield mixed("UNIQUE/wide", [np.array([2**40 + 1, 2**40, -5, 2**40 + 1, 2**40], I64)], [(I64, (3,)), (I64, (5,))], ("UniqueOptions", {"idx_out_type": 4}))
    yield mixed("HASHTABLE_LOOKUP/f32", [np.array([5, 3, 4, -1], I32), (np.array([1, 3, 5], I32),), (r.randn(3, 2, 2).astype(F),)], [(F, (4, 2, 2)), (U8, (4,))])
    for combiner in (0, 1, 2):
        yield mixed("EMBEDDING_LOOKUP_SPARSE/%d" % combiner, [np.array([1, 3, 0, 2], I32), (np.array([[0, 0], [2, 0], [2, 1], [3, 0]], I32),), (np.array([4, 2], I32),),
                    np.array([1, 2, 4, 0.5], F), (r.randn(4, 3, 2).astype(F),)], [(F, (4, 3, 2))], ("EmbeddingLookupSparseOptions", {"combiner": combiner}))
    low = r.uniform(0, 1, (60, 2))
    boxes = np.concatenate([low, low + r.uniform(0.1, 0.5, (60, 2))], 1).astype(F)
    boxes[3] = boxes[3][[2, 3, 0, 1]]
    boxes[7] = boxes[5]
    scores = r.uniform(0, 1, 60).astype(F)
    half = np.array([[0, 0, 1, 1], [0, 0, 1, 0.5], [3, 3, 4, 4]], F)
    for seed, (most, overlap, least) in enumerate(((20, 0.3, 0.2), (5, 0.5, 0), (60, 0.9, 0.5), (4, 0.0, 0.1), (3, 1.0, 2.0))):
        numbers = [(np.array(v, t),) for v, t in ((most, I32), (overlap, F), (least, F))]
        yield mixed("NON_MAX_SUPPRESSION_V4/%d" % seed, [boxes, scores] + numbers, [(I32, (most,)), (I32, ())])
        yield mixed("NON_MAX_SUPPRESSION_V5/%d" % seed, [boxes, scores] + numbers + [(np.array(0, F),)], [(I32, (most,)), (F, (most,)), (I32, ())])
        yield mixed("NON_MAX_SUPPRESSION_V5/%d/soft" % seed, [boxes, scores] + numbers + [(np.array(0.3, F),)], [(I32, (most,)), (F, (most,)), (I32, ())])
    yield mixed("NON_MAX_SUPPRESSION_V4/half", [half, np.array([3, 2, 1], F), np.array(3, I32), np.array(0.5, F), np.array(0, F)], [(I32, (3,)), (I32, ())])
    for name in ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"):
        for seeds in ((1, 2), (123456, 0), (0, 7)):
            yield mixed("%s/%d" % (name, seeds[0]), [(np.array([3, 5], I32),)], [(F, (3, 5))], ("RandomOptions", {"seed": seeds[0], "seed2": seeds[1]}))


def computed_pads():
    """Numbers of padding that are an input of the model."""
    r = np.random.RandomState(5)
    pads = np.array([[0, 0], [1, 2], [0, 1], [2, 0]], I32)
    x = r.randn(1, 3, 4, 2).astype(F)
    yield mixed("PAD/computed", [x, pads], [(F, (1, 6, 5, 4))], ("PadOptions", {}))
    yield mixed("PAD/computed/i64", [x, pads.astype(I64)], [(F, (1, 6, 5, 4))], ("PadOptions", {}), [np.pad(x, pads)])     # 2.9 reads them as int32
    yield mixed("PADV2/computed", [r.randn(1, 3, 4, 2).astype(F), pads, (np.array(7, F),)], [(F, (1, 6, 5, 4))], ("PadV2Options", {}))
    yield mixed("MIRROR_PAD/computed", [r.randn(2, 3, 4).astype(F), np.array([[0, 1], [2, 1], [0, 3]], I32)], [(F, (3, 6, 7))], ("MirrorPadOptions", {"mode": 0}))
    yield mixed("PAD/pairs", [r.randn(2, 3).astype(F), np.array([1, 2], I32)], [(F, (2, 3))], ("PadOptions", {}), "no pair for each axis")


def refused():
    """What ends in one line, of which the last element is a part."""
    f, i = np.zeros((3, 4), F), np.zeros(3, I32)
    one_, half = (np.array(1, I32),), (np.array(0.5, F),)
    yield mixed("UNIQUE/rank", [f], [(F, (3,)), (I32, (3,))], None, "UNIQUE, \"y0\"): input of rank 2, not 1")
    yield mixed("HASHTABLE_LOOKUP/rank", [i, f.astype(I32), f], [(F, (3, 4)), (U8, (3,))], None, "keys of rank 1 and 2")
    yield mixed("EMBEDDING_LOOKUP_SPARSE/rank", [i, i, i, f, f], [(F, (3, 4))], None, "ranks 1, 1, 2, 2")
    yield mixed("EMBEDDING_LOOKUP_SPARSE/missing", [i], [(F, (3, 4))], None, "is missing")
    yield mixed("NON_MAX_SUPPRESSION_V4/rank", [f, f, one_, half, half], [(I32, (1,)), (I32, ())], None, "scores of rank 2, not 1")
    yield mixed("NON_MAX_SUPPRESSION_V4/most", [f, f[:, 0], (np.array(-1, I32),), half, half], [(I32, (1,)), (I32, ())], None, "-1 boxes")
    yield mixed("NON_MAX_SUPPRESSION_V5/boxes", [f[:, :3], f[:, 0], one_, half, half, half], [(I32, (1,)), (F, (1,)), (I32, ())], None, "boxes of 3 numbers")
    yield mixed("NON_MAX_SUPPRESSION_V5/missing", [f, f[:, 0], one_, half, half], [(I32, (1,)), (F, (1,)), (I32, ())], None, "input 5 is missing")
    yield mixed("RANDOM_UNIFORM/type", [f], [(F, (3, 5))], ("RandomOptions", {"seed": 1, "seed2": 2}), "")


def audio():
    r = np.random.RandomState(2)
    sound = (np.sin(np.arange(4000)[:, None] * [0.05, 0.3]) + 0.1 * r.randn(4000, 2)).astype(F)
    # The second channel begins in TensorFlow Lite 2.9 with what the first one left.
    for n, (window, stride, squared) in enumerate(((640, 320, 1), (256, 300, 0), (480, 160, 1))):
        for channels in (1, 2):
            frames = np.array([[sound[i:i + window, c] for i in range(0, 4000 - window + 1, stride)] for c in range(channels)])
            length = 1 << (window - 1).bit_length()
            want = np.abs(np.fft.rfft(frames * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)), length)) ** (2 if squared else 1)
            yield mixed("AudioSpectrogram/%d/%d" % (n, channels), [sound[:, :channels]], [(F, want.shape)], custom="AudioSpectrogram", expected=[want.astype(F)] if channels > 1 else None,
                        raw=flex_map(window_size=window, stride=stride, magnitude_squared=squared))
    power = (r.rand(2, 7, 513) ** 4 * 100).astype(F)
    power[0, 1] = 0
    for n, (low, high, channels, count, rate) in enumerate(((20.0, 4000.0, 40, 13, 16000), (0.0, 8000.0, 20, 20, 16000), (300.0, 3000.0, 64, 10, 44100))):
        yield mixed("Mfcc/%d" % n, [power, (np.array([rate], I32),)], [(F, (2, 7, count))], custom="Mfcc",
                    raw=flex_map(upper_frequency_limit=high, lower_frequency_limit=low, filterbank_channel_count=channels, dct_coefficient_count=count))
    spectrogram = {"custom": "AudioSpectrogram", "outputs": [(F, (2, 1, 1))]}
    yield mixed("AudioSpectrogram/rank", [sound[:, 0]], expected="samples of rank 1", raw=flex_map(window_size=9, stride=9), **spectrogram)
    yield mixed("AudioSpectrogram/stride", [sound], expected="stride is 0", raw=flex_map(window_size=9), **spectrogram)
    yield mixed("AudioSpectrogram/window", [sound], expected="window_size is 0", **spectrogram)
    yield mixed("AudioSpectrogram/broken", [sound], expected="window_size is 0", raw=b"ABC", **spectrogram)
    yield mixed("Mfcc/rate", [power, np.array([16000], I32)], [(F, (2, 7, 13))], custom="Mfcc", expected="a sample rate that is not constant", raw=flex_map(a=1))
    yield mixed("Mfcc/limits", [power, (np.array([16000], I32),)], [(F, (2, 7, 13))], custom="Mfcc", expected="frequencies from 20 to 10", raw=flex_map(upper_frequency_limit=10.0))
    yield mixed("Mfcc/count", [power, (np.array([16000], I32),)], [(F, (2, 7, 13))], custom="Mfcc", expected="41 coefficients of 40", raw=flex_map(dct_coefficient_count=41))


def mixed(name, inputs, outputs, options=None, expected=None, **more):
    """One operator of the type before "/"; inputs in a tuple are constants, outputs (type, shape)."""
    tensors = [tensor("x%d" % k, a[0].dtype, a[0].shape, a[0]) if isinstance(a, tuple) else tensor("x%d" % k, a.dtype, a.shape) for k, a in enumerate(inputs)]
    given = [k for k, a in enumerate(inputs) if not isinstance(a, tuple)]
    outs = list(range(len(inputs), len(inputs) + len(outputs)))
    tensors += [tensor("y%d" % k, t, shape) for k, (t, shape) in enumerate(outputs)]
    data = model(tensors, [op(name.split("/")[0], list(range(len(inputs))), outs, options, **more)], given, outs)
    return name, data, [("x%d" % k, inputs[k]) for k in given], ["y%d" % k for k in range(len(outputs))], expected


def cases():
    for part in (elementwise, unary, windows, hybrid, products, reduce, moves, index, quantize, search, audio, computed_pads, refused, edge_cases.cases, frame_cases.cases, hlo_cases.cases, list_cases.cases, mediapipe_cases.cases, microfrontend_cases.cases, newer_cases.cases, recurrent_cases.cases, recurrent_form_cases.cases, signal_cases.cases, state_cases.cases, stored_cases.cases, computed_cases.cases):
        yield from part()
