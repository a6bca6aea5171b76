"""Random graphs of one op each, as text (.lpt), with their inputs: over attributes, opsets, types, ranks, odd lengths.

DRAWS: name of an op -> function of (g, r) that adds it to graph @g by random numbers @r and gives its outputs. What a
definition leaves open (equal elements, NaN, negative numbers as unsigned ones) is not drawn.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "i8": np.int8, "boolean": np.bool_,
         "i16": np.int16, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
NAMES = {np.dtype(v): k for k, v in TYPES.items()}
REAL, NUMBER = ("f32", "f32", "f32", "f16", "f64"), ("f32", "f32", "f32", "f16", "f64", "i32", "i64", "u8", "i8")
ANY = NUMBER + ("boolean",)


class Graph:
    def __init__(self, r):
        self.r, self.lines, self.feeds, self.n = r, [], {}, 0

    def add(self, text):
        self.n += 1
        self.lines.append("%%v%d = %s" % (self.n, text))
        return "%%v%d" % self.n

    def param(self, a):
        a = np.asarray(a)
        v = self.add("Parameter : %s[%s]" % (NAMES[a.dtype], ",".join(map(str, a.shape))))
        self.feeds[v[1:]] = a
        return v

    def const(self, a):
        a = np.asarray(a)
        def say(x):
            return str(x).lower() if a.dtype == bool else repr(float(x)) if a.dtype.kind == "f" else str(int(x))
        return self.add("Const {%s} : %s[%s]" % (", ".join(say(x) for x in a.ravel()), NAMES[a.dtype], ",".join(map(str, a.shape))))

    def either(self, a, chance=0.3):
        """A constant, or an input that only a run knows."""
        return self.param(a) if self.r.random() < chance else self.const(a)

    def ints(self, values, chance=0.3, types=("i64", "i64", "i32")):
        return self.either(np.asarray(values, TYPES[pick(self.r, types)]), chance)

    def op(self, name, *inputs, n=1, version=None, types=None, **attrs):
        ins = ", ".join("_" if i is None else i for i in inputs)
        says = ", ".join("%s=%s" % (k, value(v)) for k, v in attrs.items() if v is not None)
        v = self.add("%s%s(%s)%s%s" % (name, "@%d" % version if version else "", ins, " {%s}" % says if says else "", " : " + ", ".join(t + "[...]" for t in types) if types else ""))
        return [v] + ["%s.%d" % (v, i) for i in range(1, n)]

    def data(self, shape, dtype="f32", lo=-3, hi=3):
        if dtype == "boolean":
            return self.r.random(shape) < 0.5
        if dtype[0] == "f":
            return self.r.uniform(lo, hi, shape).astype(TYPES[dtype])
        if dtype[0] == "u":
            return self.r.integers(max(lo, 0), max(hi, 1) * 4, shape).astype(TYPES[dtype])
        return self.r.integers(lo * 4, hi * 4, shape).astype(TYPES[dtype])

    def x(self, shape, dtype="f32", lo=-3, hi=3, chance=0.9):
        return self.either(self.data(shape, dtype, lo, hi), chance)


def value(v):
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, (list, tuple, np.ndarray)):
        return "[%s]" % ",".join(value(i) for i in v)
    if isinstance(v, str):
        return v if v.replace("_", "").isalnum() else '"%s"' % v
    if isinstance(v, (float, np.floating)):
        return repr(float(v))
    return str(int(v))


def pick(r, things):
    return things[int(r.integers(len(things)))]


def flag(r):
    return bool(r.random() < 0.5)


def shape(r, lo=0, hi=5, longest=5, empty=0.0):
    n = int(r.integers(lo, hi + 1))
    s = [int(r.integers(1, longest + 1)) for _ in range(n)]
    if n and r.random() < empty:
        s[int(r.integers(n))] = 0
    return s


def some_axes(r, rank, least=1):
    n = int(r.integers(least, rank + 1)) if rank >= least else 0
    a = r.permutation(rank)[:n]
    return [int(i - rank if flag(r) else i) for i in a]


def an_axis(r, rank):
    a = int(r.integers(rank))
    return a - rank if flag(r) else a


DRAWS = {}


def draws(*names):
    def put(f):
        for n in names:
            DRAWS[n] = (lambda g, r, n=n: f(g, r, n))
        return f
    return put


# --- elementwise

def partner(r, s):
    """A shape that broadcasts with @s."""
    t = [d if flag(r) else 1 for d in s]
    return t[int(r.integers(len(t) + 1)):]


@draws("Add", "Subtract", "Multiply", "Divide", "Power", "Maximum", "Minimum", "Mod", "FloorMod", "SquaredDifference", "Equal", "NotEqual",
       "Less", "LessEqual", "Greater", "GreaterEqual")
def binary(g, r, name):
    t = pick(r, NUMBER + (("boolean",) if name in ("Equal", "NotEqual") else ()))
    s = shape(r, empty=0.05)
    a, b = s, partner(r, s)
    if flag(r):
        a, b = b, a
    attrs = {}
    if name == "Divide" and flag(r):
        attrs["m_pythondiv"] = flag(r)
    if name == "Power" and t[0] == "f":
        return g.op(name, g.x(a, t, 0.1, 3), g.x(b, t))
    if name == "Power":
        return g.op(name, g.x(a, t, -1, 1), g.either(r.integers(0, 3, b).astype(TYPES[t]), 0.5))
    d = g.data(b, t)
    if name in ("Divide", "Mod", "FloorMod") and t != "boolean":
        d = np.where(d == 0, np.asarray(2, d.dtype), d)
        if t[0] == "f":
            d = (np.sign(d) * (np.abs(d) + 0.3)).astype(d.dtype)
    return g.op(name, g.x(a, t, chance=0.8), g.either(d, 0.6), **attrs)


@draws("LogicalAnd", "LogicalOr", "LogicalXor")
def logical(g, r, name):
    s = shape(r)
    return g.op(name, g.x(s, "boolean"), g.x(partner(r, s), "boolean"))


@draws("LogicalNot")
def logical_not(g, r, name):
    return g.op(name, g.x(shape(r), "boolean"))


@draws("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(g, r, name):
    s, t = shape(r), pick(r, ("i32", "i64", "u8", "i8", "boolean"))
    return g.op(name, g.x(s, t), g.x(partner(r, s), t))


@draws("BitwiseNot")
def bitwise_not(g, r, name):
    return g.op(name, g.x(shape(r), pick(r, ("i32", "i64", "u8", "i8", "boolean"))))


@draws("BitwiseLeftShift", "BitwiseRightShift")
def shifts(g, r, name):
    s, t = shape(r), pick(r, ("u8", "u32", "u64", "i32"))
    return g.op(name, g.x(s, t), g.either(r.integers(0, 5, partner(r, s)).astype(TYPES[t]), 0.5))


UNARY = "Abs Acos Acosh Asin Asinh Atan Atanh Ceiling Cos Cosh Erf Exp Floor HSigmoid HSwish Identity IsFinite IsNaN Log Mish Negative Relu Rsqrt " \
        "Sigmoid Sign Sin Sinh SoftPlus SoftSign Sqrt Tan Tanh".split()


@draws(*UNARY)
def unary(g, r, name):
    whole = name in ("Abs", "Identity", "Negative", "Relu", "Sign")
    t = pick(r, NUMBER if whole else REAL)
    lo, hi = {"Acos": (-1, 1), "Asin": (-1, 1), "Acosh": (1, 5), "Atanh": (-.9, .9), "Log": (.1, 5), "Sqrt": (0, 5), "Rsqrt": (.1, 5), "Tan": (-1, 1)}.get(name, (-4, 4))
    return g.op(name, g.x(shape(r, empty=0.05), t, lo, hi))


@draws("IsInf")
def is_inf(g, r, name):
    x = g.data(shape(r), "f32")
    x = np.where(r.random(x.shape) < .3, np.float32(np.inf), np.where(r.random(x.shape) < .3, np.float32(-np.inf), x))
    return g.op(name, g.param(x), detect_negative=flag(r), detect_positive=flag(r))


@draws("Clamp")
def clamp(g, r, name):
    return g.op(name, g.x(shape(r), pick(r, NUMBER)), min=pick(r, (-1.5, -1.0, -0.25, 0.0)), max=pick(r, (0.5, 1.0, 2.5, 6.0)))


@draws("Elu")
def elu(g, r, name):
    return g.op(name, g.x(shape(r), pick(r, REAL)), alpha=pick(r, (0.0, .5, 1., 2.)))


@draws("Gelu")
def gelu(g, r, name):
    return g.op(name, g.x(shape(r), pick(r, REAL)), approximation_mode=pick(r, ("erf", "tanh")))


@draws("HardSigmoid", "Selu")
def numbers(g, r, name):
    t = pick(r, REAL)
    return g.op(name, g.x(shape(r), t), g.either(np.asarray(.3, TYPES[t]), .2), g.either(np.asarray(.6, TYPES[t]), .2))


@draws("Round")
def rounding(g, r, name):
    x = (r.integers(-20, 20, shape(r)) / 4).astype(TYPES[pick(r, REAL)])
    return g.op(name, g.param(x), mode=pick(r, ("half_to_even", "half_away_from_zero")))


@draws("Swish")
def swish(g, r, name):
    t = pick(r, REAL)
    return g.op(name, g.x(shape(r), t), *([g.either(np.asarray(1.5, TYPES[t]), .3)] if flag(r) else []))


@draws("PRelu")
def prelu(g, r, name):
    s, t = shape(r), pick(r, REAL)
    slope = [] if flag(r) else [s[1]] if len(s) > 1 and flag(r) else [s[0]] if len(s) == 1 else partner(r, s)
    return g.op(name, g.x(s, t), g.x(slope, t, chance=.4))


@draws("Select")
def select(g, r, name):
    s, t = shape(r), pick(r, ANY)
    return g.op(name, g.x(partner(r, s), "boolean"), g.x(s, t), g.x(partner(r, s), t))


@draws("Convert")
def convert(g, r, name):
    to = pick(r, ANY)
    return g.op(name, g.x(shape(r), pick(r, ANY), 0 if to[0] == "u" else -3), destination_type=to)


@draws("ConvertLike")
def convert_like(g, r, name):
    to = pick(r, ANY)
    return g.op(name, g.x(shape(r), pick(r, ANY), 0 if to[0] == "u" else -3), g.x(shape(r), to))


# --- windows

def window(r, n, lengths):
    k = [int(r.integers(1, 4)) for _ in range(n)]
    d = [int(r.integers(1, 3)) if flag(r) else 1 for _ in range(n)]
    k = [kk if (kk - 1) * dd + 1 <= l else 1 for kk, dd, l in zip(k, d, lengths)]
    p = [int(r.integers(0, max(1, min(kk, 3)))) if flag(r) else 0 for kk in k]
    q = [int(r.integers(0, max(1, min(kk, 3)))) if flag(r) else 0 for kk in k]
    s = [int(r.integers(1, 4)) for _ in range(n)]
    return k, d, p, q, s


PADS = ("explicit", "explicit", "explicit", "same_upper", "same_lower", "valid")


@draws("Convolution", "GroupConvolution")
def conv(g, r, name):
    n, t = int(r.integers(1, 4)), pick(r, REAL)
    lengths = [int(r.integers(3, 8)) for _ in range(n)]
    k, d, p, q, s = window(r, n, lengths)
    c, o, group = int(r.integers(1, 4)), int(r.integers(1, 4)), int(r.integers(1, 4))
    x = [int(r.integers(1, 3)), c * (group if name[0] == "G" else 1)] + lengths
    w = ([group] if name[0] == "G" else []) + [o, c] + k
    return g.op(name, g.x(x, t, chance=1), g.x(w, t, chance=.3), strides=s, pads_begin=p, pads_end=q, dilations=d, auto_pad=pick(r, PADS))


@draws("DeformableConvolution")
def deform(g, r, name):
    return g.op(name, g.x([1, 2, 4, 4], chance=1), g.x([1, 18, 4, 4], chance=1), g.x([2, 2, 3, 3], chance=0), strides=[1, 1], pads_begin=[1, 1], pads_end=[1, 1], dilations=[1, 1])


@draws("MatMul")
def matmul(g, r, name):
    t = pick(r, REAL + ("i32",))
    m, k, n = (int(r.integers(1, 5)) for _ in range(3))
    batch = shape(r, 0, 2, 3)
    ta, tb = flag(r), flag(r)
    a = [m, k] if not ta else [k, m]
    b = [k, n] if not tb else [n, k]
    sa, sb = batch + a, partner(r, batch) + b
    if r.random() < .15:
        sa, ta = [k], pick(r, (ta, False))
    elif r.random() < .15:
        sb, tb = [k], pick(r, (tb, False))
    return g.op(name, g.x(sa, t), g.x(sb, t, chance=.5), transpose_a=ta, transpose_b=tb)


@draws("ScaledDotProductAttention")
def attention(g, r, name):
    b, l, s, e, v = [int(r.integers(1, 3))], *(int(r.integers(1, 5)) for _ in range(4))
    b = shape(r, 1, 2, 2)
    ins = [g.x(b + [l, e], chance=1), g.x(b + [s, e], chance=1), g.x(b + [s, v], chance=1)]
    causal = flag(r)
    if flag(r):
        ins.append(g.x([l, s]) if not causal else None)
        if flag(r):
            ins.append(g.const(np.float32(.7)))
    while ins and ins[-1] is None:
        ins.pop()
    return g.op(name, *ins, causal=causal)


@draws("Einsum")
def einsum(g, r, name):
    eq, *shapes = pick(r, [("ij,jk->ik", [2, 3], [3, 4]), ("bij,bjk->bki", [2, 2, 3], [2, 3, 4]), ("ij->ji", [2, 3]), ("ij->j", [2, 3]), ("ii->i", [3, 3]),
                           ("ij,kj", [2, 3], [4, 3]), ("...ij,...jk->...ik", [2, 2, 3], [2, 3, 4]), ("i,j->ij", [3], [4]), ("ij,ij->", [2, 3], [2, 3]),
                           ("abc,cd,db->ad", [2, 3, 4], [4, 5], [5, 3]), ("ba", [2, 3]), ("a...->...", [2, 3]), ("iij->j", [3, 3, 2])])
    return g.op(name, *[g.x(s) for s in shapes], equation=eq)


@draws("MaxPool")
def max_pool(g, r, name):
    n, t, version = int(r.integers(1, 4)), pick(r, ("f32", "f32", "f16", "f64", "u8", "i8", "i32")), pick(r, (1, 8, 14))
    lengths = [int(r.integers(3, 8)) for _ in range(n)]
    k, d, p, q, s = window(r, n, lengths)
    if version == 1:
        d = None
    shapes = [int(r.integers(1, 3)), int(r.integers(1, 4))] + lengths
    a = dict(kernel=k, strides=s, pads_begin=p, pads_end=q, auto_pad=pick(r, PADS), rounding_type=pick(r, ("floor", "ceil") + (("ceil_torch",) if version == 14 else ())))
    if version != 1:
        a.update(dilations=d, index_element_type=pick(r, ("i64", "i32")), axis=int(r.integers(0, 3)) if flag(r) else None)
    outs = g.op(name, g.x(shapes, t, chance=1), n=2 if version > 1 else 1, version=version, types=[t, a["index_element_type"]] if version > 1 else None, **a)
    return outs if flag(r) else outs[:1]


@draws("AvgPool")
def avg_pool(g, r, name):
    n, t, version = int(r.integers(1, 4)), pick(r, REAL), pick(r, (1, 14, 16))
    lengths = [int(r.integers(3, 8)) for _ in range(n)]
    k, d, p, q, s = window(r, n, lengths)
    a = dict(kernel=k, strides=s, pads_begin=p, pads_end=q, auto_pad=pick(r, PADS), rounding_type=pick(r, ("floor", "ceil") + (("ceil_torch",) if version > 1 else ())))
    if version == 16:
        a["dilations"] = d
    a["exclude-pad"] = flag(r)
    return g.op(name, g.x([int(r.integers(1, 3)), int(r.integers(1, 4))] + lengths, t, chance=1), version=version, **a)


@draws("AdaptiveAvgPool", "AdaptiveMaxPool")
def adaptive(g, r, name):
    n = int(r.integers(1, 4))
    out = [int(r.integers(1, 4)) for _ in range(n)]
    lengths = [o * int(r.integers(1, 4)) for o in out]
    outs = g.op(name, g.x([2, 2] + lengths, chance=1), g.ints(out, .1), n=2 if "Max" in name else 1)
    return outs if flag(r) else outs[:1]


# --- reductions

@draws("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2")
def reduction(g, r, name):
    s, t = shape(r), pick(r, REAL if name in ("ReduceMean", "ReduceL2", "ReduceProd") else NUMBER)
    axes = some_axes(r, len(s), 0 if r.random() < .15 else 1)
    a = np.asarray(axes, np.int64)
    return g.op(name, g.x(s, t, -2, 2), g.ints(a[0] if len(axes) == 1 and flag(r) else a), keep_dims=flag(r))


@draws("ReduceLogicalAnd", "ReduceLogicalOr")
def reduce_logical(g, r, name):
    s = shape(r)
    return g.op(name, g.x(s, "boolean"), g.ints(some_axes(r, len(s), 0 if r.random() < .15 else 1)), keep_dims=flag(r))


@draws("ArgMax", "ArgMin")
def arg(g, r, name):
    s, t = shape(r, 1), pick(r, ("f32", "i32", "u8", "f64"))
    x = g.data(s, t, -1, 1)
    if flag(r) and t == "f32":
        x = np.round(x * 2) / np.float32(2)
    return g.op(name, g.param(x), axis=an_axis(r, len(s)), keep_dims=flag(r), last_index=flag(r), output_type=pick(r, ("i64", "i32")))


@draws("CumSum")
def cumsum(g, r, name):
    s, t = shape(r, 1), pick(r, ("f32", "f64", "i32", "i64"))
    return g.op(name, g.x(s, t), g.ints(np.int64(an_axis(r, len(s)))), exclusive=flag(r), reverse=flag(r))


# --- normalisation

@draws("BatchNormInference")
def batch_norm(g, r, name):
    s = shape(r, 2, 5)
    v = pick(r, (1, 5))
    c = [s[1]]
    t = pick(r, ("f32", "f32", "f16"))
    p = [g.x(c, t, chance=.2), g.x(c, t, chance=.2), g.x(c, t, chance=.2), g.x(c, t, .2, 2, chance=.2)]
    x = g.x(s, t, chance=1)
    ins = [p[0], p[1], x, p[2], p[3]] if v == 1 else [x] + p
    return g.op(name, *ins, version=v, epsilon=pick(r, (1e-5, .01, 0.)))


@draws("LRN")
def lrn(g, r, name):
    s = shape(r, 2, 5)
    axes = pick(r, ([1], [1], [1 - len(s)], [2, 3] if len(s) > 3 else [1]))
    return g.op(name, g.x(s, chance=1), g.ints(axes, .1), alpha=.3, beta=.75, bias=1.5, size=pick(r, (1, 2, 3, 5)))


@draws("MVN")
def mvn(g, r, name):
    s = shape(r, 2, 5)
    t = pick(r, ("f32", "f32", "f16"))
    if r.random() < .3:
        return g.op(name, g.x(s, t, chance=1), version=2, eps=1e-3, normalize_variance=flag(r), across_channels=flag(r))
    return g.op(name, g.x(s, t, chance=1), g.ints(some_axes(r, len(s))), eps=pick(r, (1e-5, 1e-2)), normalize_variance=flag(r), eps_mode=pick(r, ("inside_sqrt", "outside_sqrt")))


@draws("NormalizeL2")
def normalize_l2(g, r, name):
    s = shape(r, 1, 4)
    return g.op(name, g.x(s, chance=1), g.ints(some_axes(r, len(s), 0 if r.random() < .1 else 1), .1), eps=pick(r, (1e-5, .5)), eps_mode=pick(r, ("add", "max")))


@draws("GroupNormalization")
def group_norm(g, r, name):
    n = pick(r, (1, 2, 3))
    s = [2, n * int(r.integers(1, 3))] + shape(r, 0, 3)
    return g.op(name, g.x(s, chance=1), g.x([s[1]], chance=.2), g.x([s[1]], chance=.2), num_groups=n, epsilon=1e-3)


@draws("GRN")
def grn(g, r, name):
    return g.op(name, g.x(shape(r, 2, 4), chance=1), bias=.1)


@draws("Softmax", "LogSoftmax")
def softmax(g, r, name):
    s = shape(r, 1, 5)
    v = pick(r, (1, 8)) if name == "Softmax" else None
    axis = int(r.integers(len(s))) if v == 1 else an_axis(r, len(s))
    return g.op(name, g.x(s, pick(r, REAL), chance=1), version=v, axis=axis)
