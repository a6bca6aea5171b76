"""Random graphs, as draws.py has them: moves, indices, samples, signals, recurrence, quantization.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from draws import ANY, NUMBER, TYPES, an_axis, draws, flag, partner, pick, shape, some_axes


# --- movement

@draws("Reshape")
def reshape(g, r, name):
    s = shape(r, 0, 4)
    n = int(np.prod(s))
    t = list(r.permutation(s)) if flag(r) else [n]
    t = [int(i) for i in t]
    zero = flag(r)
    if t and flag(r):
        t[int(r.integers(len(t)))] = -1
    if zero:
        for i in range(min(len(t), len(s))):
            if t[i] == s[i] and flag(r):
                t[i] = 0
    return g.op(name, g.x(s, pick(r, ANY)), g.ints(t), special_zero=zero)


@draws("Squeeze")
def squeeze(g, r, name):
    s = [1 if flag(r) else int(r.integers(1, 4)) for _ in range(int(r.integers(0, 6)))]
    axes = [i - len(s) if flag(r) else i for i, d in enumerate(s) if d == 1 and flag(r)]
    v = pick(r, (1, 15))
    return g.op(name, g.x(s, pick(r, ANY)), *([g.ints(axes, .2)] if axes else []), version=v)


@draws("Unsqueeze")
def unsqueeze(g, r, name):
    s = shape(r, 0, 3)
    n = int(r.integers(1, 3))
    axes = [int(a) - (len(s) + n if flag(r) else 0) for a in r.permutation(len(s) + n)[:n]]
    return g.op(name, g.x(s, pick(r, ANY)), g.ints(np.int64(axes[0]) if n == 1 and flag(r) else axes, .2))


@draws("Transpose")
def transpose(g, r, name):
    s = shape(r, 0, 5, empty=.05)
    return g.op(name, g.x(s, pick(r, ANY)), g.ints([int(i) for i in r.permutation(len(s))] if r.random() < .85 else np.zeros(0, np.int64), .1))


@draws("Concat")
def concat(g, r, name):
    s, t = shape(r, 1), pick(r, ANY)
    axis = an_axis(r, len(s))
    ins = []
    for _ in range(int(r.integers(1, 4))):
        u = list(s)
        u[axis] = int(r.integers(0 if r.random() < .1 else 1, 4))
        ins.append(g.x(u, t))
    return g.op(name, *ins, axis=axis)


@draws("Split")
def split(g, r, name):
    s, n = shape(r, 1), int(r.integers(1, 4))
    axis = an_axis(r, len(s))
    s[axis] = n * int(r.integers(1, 3))
    return g.op(name, g.x(s, pick(r, ANY)), g.ints(np.int64(axis), .1), n=n, num_splits=n)


@draws("VariadicSplit")
def variadic(g, r, name):
    s, n = shape(r, 1), int(r.integers(1, 4))
    axis = an_axis(r, len(s))
    parts = [int(r.integers(0 if r.random() < .2 else 1, 4)) for _ in range(n)]
    s[axis] = sum(parts)
    computed = r.random() < .2
    if flag(r) and not computed:
        parts[int(r.integers(n))] = -1
    t = pick(r, ANY)
    return g.op(name, g.x(s, t), g.ints(np.int64(axis), .1), g.ints(parts, float(computed)), n=n, types=[t] * n)


def steps(r, d):
    st = pick(r, (1, 1, 2, 3, -1, -2))
    b, e = int(r.integers(-d - 2 if st > 0 else -d, d + 3)), int(r.integers(-d - 2, d + 3))
    return b, e, st


@draws("Slice")
def slices(g, r, name):
    s = shape(r, 1)
    axes = some_axes(r, len(s))
    bes = [steps(r, s[a]) for a in axes]
    t = pick(r, ("i64", "i32"))
    k = lambda v, c=.3: g.ints(v, c, (t,))
    more = [k(axes, .2)] if sorted(axes) != list(range(len(axes))) or flag(r) else []
    return g.op(name, g.x(s, pick(r, ANY)), k([b[0] for b in bes]), k([b[1] for b in bes]), k([b[2] for b in bes], .1), *more)


@draws("StridedSlice")
def strided(g, r, name):
    s = shape(r, 1, 4)
    n = int(r.integers(1, len(s) + 1))
    bes, na, sh, el, bm, em = [], [], [], [], [], []
    used, at, ell = 0, 0, flag(r) and flag(r)
    for i in range(n):
        if ell and i == n // 2:
            bes.append((0, 0, 1)); na.append(0); sh.append(0); el.append(1); bm.append(0); em.append(0)
            at = len(s) - (n - i - 1)
            continue
        new = r.random() < .15
        d = s[min(at, len(s) - 1)]
        b, e, st = steps(r, d)
        shrink = not new and r.random() < .15
        if shrink:
            b, e, st = int(r.integers(-d, d)), 0, 1
        bes.append((b, e, st)); na.append(int(new)); sh.append(int(shrink)); el.append(0); bm.append(int(r.random() < .2 and not shrink)); em.append(int(r.random() < .2))
        at += not new
    k = lambda v, c=.15: g.ints(v, c, ("i64",))
    more = [k([b[2] for b in bes])] if any(b[2] != 1 for b in bes) or flag(r) else []
    return g.op(name, g.x(s, pick(r, ANY)), k([b[0] for b in bes]), k([b[1] for b in bes]), *more, begin_mask=bm, end_mask=em, new_axis_mask=na if any(na) or flag(r) else None,
                shrink_axis_mask=sh if any(sh) else None, ellipsis_mask=el if any(el) else None)


@draws("Gather")
def gather(g, r, name):
    s = shape(r, 1, 4)
    v = pick(r, (1, 7, 8))
    batch = int(r.integers(0, 2)) if v > 1 and len(s) > 1 else 0
    axis = int(r.integers(batch, len(s)))
    d = s[axis]
    i = r.integers(-d if v == 8 else 0, d, s[:batch] + shape(r, 0, 2))
    return g.op(name, g.x(s, pick(r, ANY)), g.ints(i), g.ints(np.int64(axis - len(s) if flag(r) else axis), .1), version=v, batch_dims=batch if v > 1 else None)


@draws("GatherElements")
def gather_elements(g, r, name):
    s = shape(r, 1, 4)
    axis = an_axis(r, len(s))
    u = list(s)
    u[axis] = int(r.integers(1, 6))
    return g.op(name, g.x(s, pick(r, ANY)), g.ints(r.integers(-s[axis] if flag(r) else 0, s[axis], u)), axis=axis)


@draws("GatherND")
def gather_nd(g, r, name):
    s = shape(r, 1, 4)
    v = pick(r, (5, 8))
    batch = int(r.integers(0, min(len(s), 3)))
    k = int(r.integers(1, len(s) - batch + 1))
    front = s[:batch] + shape(r, 0, 2, 3)
    i = np.stack([r.integers(0, s[batch + j], front) for j in range(k)], -1)
    return g.op(name, g.x(s, pick(r, ANY)), g.ints(i), version=v, batch_dims=batch)


@draws("Broadcast")
def broadcast(g, r, name):
    s = shape(r, 0, 4)
    mode = pick(r, ("numpy", "bidirectional", "explicit"))
    t = [d if d != 1 or flag(r) else 3 for d in s]
    x = g.x(s, pick(r, ANY))
    if mode == "numpy":
        return g.op(name, x, g.ints([2] * int(r.integers(0, 2)) + t), mode=mode)
    if mode == "bidirectional":
        return g.op(name, x, g.ints(partner(r, t)), mode=mode)
    axes = sorted(int(i) for i in r.permutation(len(s) + 1)[:len(s)])
    t = [4] * (len(s) + 1)
    for a, d in zip(axes, s):
        t[a] = d
    return g.op(name, x, g.ints(t), g.ints(axes, .1), mode=mode)


@draws("Tile")
def tile(g, r, name):
    s = shape(r, 0, 4, 3)
    n = len(s) + int(r.integers(-1, 2))
    return g.op(name, g.x(s, pick(r, ANY)), g.ints([int(r.integers(1, 4)) for _ in range(max(n, 0))]))


@draws("Pad")
def pad(g, r, name):
    s, t, v = shape(r, 1, 4), pick(r, ANY), pick(r, (1, 12))
    mode = pick(r, ("constant", "constant", "edge", "reflect", "symmetric"))
    top = [3 if mode in ("constant", "edge") else d - 1 if mode == "reflect" else d for d in s]
    low = [-1 if v == 12 and mode == "constant" and d > 2 and r.random() < .3 else 0 for d in s]
    b = [int(r.integers(l, max(p, 0) + 1)) for l, p in zip(low, top)]
    e = [int(r.integers(l, max(p, 0) + 1)) for l, p in zip(low, top)]
    more = [g.either(g.data([], t), .3)] if mode == "constant" and flag(r) else []
    return g.op(name, g.x(s, t), g.ints(b), g.ints(e), *more, version=v, pad_mode=mode)


@draws("ShapeOf")
def shape_of(g, r, name):
    v = pick(r, (1, 3))
    return g.op(name, g.x(shape(r), pick(r, ANY), chance=1), version=v, output_type=pick(r, ("i64", "i32")) if v == 3 else None)


@draws("ShuffleChannels")
def shuffle(g, r, name):
    s = shape(r, 2, 4)
    axis, n = an_axis(r, len(s)), int(r.integers(1, 4))
    s[axis] = n * int(r.integers(1, 4))
    return g.op(name, g.x(s, pick(r, NUMBER)), axis=axis, group=n)


@draws("DepthToSpace")
def depth_to_space(g, r, name):
    n, b = int(r.integers(1, 4)), int(r.integers(1, 3))
    s = [2, b ** n * int(r.integers(1, 3))] + [int(r.integers(1, 4)) for _ in range(n)]
    return g.op(name, g.x(s, pick(r, NUMBER)), block_size=b, mode=pick(r, ("blocks_first", "depth_first")))


@draws("SpaceToDepth")
def space_to_depth(g, r, name):
    n, b = int(r.integers(1, 4)), int(r.integers(1, 3))
    s = [2, int(r.integers(1, 3))] + [b * int(r.integers(1, 4)) for _ in range(n)]
    return g.op(name, g.x(s, pick(r, NUMBER)), block_size=b, mode=pick(r, ("blocks_first", "depth_first")))


@draws("BatchToSpace", "SpaceToBatch")
def batches(g, r, name):
    n = int(r.integers(2, 5))
    block = [1] + [int(r.integers(1, 3)) for _ in range(n - 1)]
    if name[0] == "B":
        s = [int(np.prod(block)) * 2] + [int(r.integers(2, 4)) for _ in range(n - 1)]
        b = [0] + [int(r.integers(0, 2)) for _ in range(n - 1)]
        e = [0] + [int(r.integers(0, 2)) for _ in range(n - 1)]
    else:
        b = [0] + [int(r.integers(0, 2)) for _ in range(n - 1)]
        e = [0] + [int(r.integers(0, 2)) for _ in range(n - 1)]
        s = [2] + [0] * (n - 1)
        for i in range(1, n):
            whole = block[i] * int(r.integers(2, 4))
            s[i] = whole - b[i] - e[i]
            if s[i] <= 0:
                s[i] += block[i] * 2
    return g.op(name, g.x(s, pick(r, NUMBER)), g.ints(block, .1, ("i64",)), g.ints(b, .1, ("i64",)), g.ints(e, .1, ("i64",)))


@draws("Reverse")
def reverse(g, r, name):
    s = shape(r, 1, 4)
    if flag(r):
        axes = [a % len(s) for a in some_axes(r, len(s), 0)]
        return g.op(name, g.x(s, pick(r, NUMBER)), g.ints(np.asarray(axes, np.int64), .1), mode="index")
    return g.op(name, g.x(s, pick(r, NUMBER)), g.const(r.random(len(s)) < .5), mode="mask")


@draws("ReverseSequence")
def reverse_sequence(g, r, name):
    s = [int(r.integers(1, 5)) for _ in range(int(r.integers(2, 5)))]
    b, q = (int(i) for i in r.permutation(len(s))[:2])
    lens = r.integers(1, s[q] + 1, [s[b]])
    return g.op(name, g.x(s, pick(r, NUMBER)), g.ints(lens), batch_axis=b - len(s) if flag(r) else b, seq_axis=q - len(s) if flag(r) else q)


@draws("Roll")
def roll(g, r, name):
    s = shape(r, 1, 4)
    axes = some_axes(r, len(s))
    return g.op(name, g.x(s, pick(r, NUMBER)), g.ints([int(r.integers(-7, 8)) for _ in axes], .2), g.ints(axes, .1))


@draws("ScatterUpdate")
def scatter_update(g, r, name):
    s, t = shape(r, 1, 4), pick(r, NUMBER)
    axis = int(r.integers(len(s)))
    n = int(r.integers(1, s[axis] + 1))
    i = r.permutation(s[axis])[:n]
    if flag(r):
        i = i.reshape(1, n)
    return g.op(name, g.x(s, t), g.ints(i), g.x(s[:axis] + list(i.shape) + s[axis + 1:], t), g.ints(np.int64(axis - len(s) if flag(r) else axis), .1))


@draws("ScatterElementsUpdate")
def scatter_elements(g, r, name):
    s, t = shape(r, 1, 4), pick(r, ANY)
    axis, v = an_axis(r, len(s)), pick(r, (3, 12))
    u = [int(r.integers(1, d + 1)) for d in s]
    n = s[axis]
    i = np.argsort(r.random(u), axis=axis)
    a = dict(reduction=pick(r, ("none", "sum", "prod", "min", "max", "mean")), use_init_val=flag(r)) if v == 12 else {}
    if a and a["reduction"] != "none" and flag(r):
        i = r.integers(-n, n, u)
    return g.op(name, g.x(s, t), g.ints(i), g.x(u, t), g.ints(np.int64(axis), .1), version=v, **a)


@draws("ScatterNDUpdate")
def scatter_nd(g, r, name):
    s, t, v = shape(r, 1, 4), pick(r, ANY), pick(r, (3, 15))
    k = int(r.integers(1, len(s) + 1))
    every = int(np.prod(s[:k]))
    n = int(r.integers(1, every + 1))
    i = np.stack(np.unravel_index(r.permutation(every)[:n], s[:k]), -1)
    a = dict(reduction=pick(r, ("none", "sum", "sub", "prod", "min", "max"))) if v == 15 else {}
    return g.op(name, g.x(s, t), g.ints(i), g.x([n] + s[k:], t), version=v, **a)


@draws("SliceScatter")
def slice_scatter(g, r, name):
    return g.op(name, g.x([4, 3]), g.x([2, 3]), g.ints([1], .1), g.ints([3], .1), g.ints([1], .1), g.ints([0], .1))


@draws("NonZero")
def non_zero(g, r, name):
    x = g.data(shape(r, 1, 4), pick(r, ANY))
    return g.op(name, g.param(x * (r.random(x.shape) < .5)), output_type=pick(r, ("i64", "i32")))


@draws("Range")
def ranges(g, r, name):
    t = pick(r, ("f32", "i32", "i64"))
    v = pick(r, (1, 4))
    a, b, c = (np.asarray(i, TYPES[t]) for i in pick(r, ((0, 5, 1), (5, -2, -2), (1, 1, 1), (-3, 7, 4))))
    return g.op(name, g.either(a), g.either(b), g.either(c), version=v, output_type=t if v == 4 else None)


@draws("OneHot")
def one_hot(g, r, name):
    s, t = shape(r, 0, 3), pick(r, ANY)
    depth = int(r.integers(1, 5))
    return g.op(name, g.ints(r.integers(0, depth + (2 if flag(r) else 0), s) - (1 if r.random() < .2 else 0), .7), g.ints(np.int64(depth), .1), g.either(g.data([], t)), g.either(g.data([], t)),
                axis=an_axis(r, len(s) + 1))


@draws("Eye")
def eye(g, r, name):
    batch = [g.ints(shape(r, 0, 2, 3), .1)] if flag(r) else []
    return g.op(name, g.ints(np.int64(pick(r, (1, 3, 4)))), g.ints(np.int64(pick(r, (2, 3)))), g.ints(np.int64(pick(r, (-2, -1, 0, 1, 5)))), *batch, output_type=pick(r, ("f32", "i32", "i64", "u8", "f16", "boolean")))


@draws("TopK")
def top_k(g, r, name):
    s, t, v = shape(r, 1, 4), pick(r, ("f32", "i32", "i64", "f64")), pick(r, (1, 3, 11))
    axis = an_axis(r, len(s))
    a = dict(axis=axis, mode=pick(r, ("max", "min")), sort="value", index_element_type=pick(r, ("i32", "i64")))
    if v == 11:
        a["stable"] = flag(r)
    x = r.permutation(int(np.prod(s))).reshape(s).astype(TYPES[t])
    return g.op(name, g.param(x), g.ints(np.int64(r.integers(1, s[axis] + 1)), .2), n=2, version=v, **a)


@draws("Bucketize")
def bucketize(g, r, name):
    x = np.round(g.data(shape(r), "f32") * 2) / np.float32(2)
    return g.op(name, g.param(x), g.either(np.asarray([-1, -.5, .5, 2], np.float32)[:int(r.integers(1, 5))], .2), output_type=pick(r, ("i64", "i32")), with_right_bound=flag(r))


@draws("GridSample")
def grid_sample(g, r, name):
    return g.op(name, g.x([1, 2, int(r.integers(1, 5)), int(r.integers(1, 5))], chance=1), g.x([1, 2, 3, 2], lo=-1.6, hi=1.6, chance=1), align_corners=flag(r), mode=pick(r, ("bilinear", "bicubic", "nearest")),
                padding_mode=pick(r, ("zeros", "border", "reflection")))


@draws("Interpolate")
def interpolate(g, r, name):
    v = pick(r, (1, 4, 4, 4, 11))
    n = int(r.integers(1, 4)) if v > 1 else 2
    s = [int(r.integers(1, 3)), int(r.integers(1, 3))] + [int(r.integers(2, 6)) for _ in range(n)]
    axes = list(range(2, 2 + n))
    if r.random() < .2 and n > 1:
        axes = axes[1:]
    if r.random() < .15:
        axes = axes[::-1]
    out = [int(r.integers(1, 9)) for _ in axes]
    mode = pick(r, ("nearest", "linear", "cubic") + (("linear_onnx",) if v > 1 else ()) + (("area",) if v == 1 else ()) + (("bilinear_pillow", "bicubic_pillow") if v == 11 else ()))
    x = g.x(s, pick(r, ("f32", "f32", "f32", "f16", "u8") if mode == "nearest" else ("f32",)), chance=1)
    if v == 1:
        return g.op(name, x, g.ints(out, .1), version=1, mode=mode, axes=axes, align_corners=flag(r), antialias=flag(r) if mode == "linear" else None, pads_begin=[0], pads_end=[0])
    a = dict(mode=mode, coordinate_transformation_mode=pick(r, ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners")),
             nearest_mode=pick(r, ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")), antialias=flag(r) and flag(r), cube_coeff=pick(r, (-.75, -.5)))
    scales = [o / s[x_] if flag(r) else pick(r, (.5, 1.5, 2., 2.3, .7)) for o, x_ in zip(out, axes)]
    ax = g.ints(axes, .1)
    if r.random() < .2:
        a["pads_begin"], a["pads_end"] = [0] * len(s), [0] * (len(s) - 1) + [1]
    if v == 11:
        sizes = flag(r)
        a["shape_calculation_mode"] = "sizes" if sizes else "scales"
        return g.op(name, x, g.ints(out, .1) if sizes else g.either(np.asarray(scales, np.float32), .1), ax, version=11, **a)
    a["shape_calculation_mode"] = pick(r, ("sizes", "scales"))
    if a["shape_calculation_mode"] == "sizes":
        scales = [o / s[x_] for o, x_ in zip(out, axes)]
    return g.op(name, x, g.ints(out, .1), g.either(np.asarray(scales, np.float32), .1), ax, version=4, **a)


# --- signals

@draws("DFT", "IDFT", "RDFT", "IRDFT")
def dft(g, r, name):
    s = [d + (name == "IRDFT") for d in shape(r, 1, 3)]
    axes = some_axes(r, len(s))
    if flag(r):
        axes = axes[:1]
    more = [g.ints([int(pick(r, (s[a], -1, 3, 5))) for a in axes], 0)] if flag(r) else []
    pos = [a % len(s) for a in axes]
    if name != "RDFT":
        return g.op(name, g.x(s + [2], chance=1), g.ints(pos, 0), *more)
    return g.op(name, g.x(s, chance=1), g.ints(axes, 0), *more)


@draws("STFT")
def stft(g, r, name):
    n = pick(r, (4, 6, 7))
    b = [2] if flag(r) else []
    return g.op(name, g.x(b + [int(r.integers(n, 20))], chance=1), g.x([pick(r, (n, n, n - 1))], chance=.3), g.ints(np.int64(n), 0), g.ints(np.int64(pick(r, (1, 2, 3))), 0), transpose_frames=flag(r))


# --- recurrence

@draws("LSTMCell", "GRUCell", "RNNCell")
def cell(g, r, name):
    b, i, h = (int(r.integers(1, 4)) for _ in range(3))
    gates = {"L": 4, "G": 3, "R": 1}[name[0]]
    lin = name[0] == "G" and flag(r)
    a = dict(hidden_size=h, clip=pick(r, (0., 0., .5, 1.)))
    acts = {"L": ["sigmoid,tanh,tanh", "sigmoid,relu,tanh", "relu,sigmoid,tanh"], "G": ["sigmoid,tanh", "tanh,relu"], "R": ["tanh", "relu", "sigmoid"]}[name[0]]
    a["activations"] = pick(r, acts) if flag(r) else None
    if lin:
        a["linear_before_reset"] = True
    w = [g.x([gates * h, i], chance=.2), g.x([gates * h, h], chance=.2)]
    if flag(r) or name[0] != "L":
        w.append(g.x([(gates + lin) * h], chance=.2))
    state = [g.x([b, h], chance=.7)] + ([g.x([b, h], chance=.7)] if name[0] == "L" else [])
    return g.op(name, g.x([b, i], chance=1), *state, *w, n=2 if name[0] == "L" else 1, **a)


@draws("LSTMSequence", "GRUSequence", "RNNSequence")
def sequence(g, r, name):
    b, t, i, h = (int(r.integers(1, 4)) for _ in range(4))
    way = pick(r, ("forward", "reverse", "bidirectional"))
    d = 2 if way[0] == "b" else 1
    gates = {"L": 4, "G": 3, "R": 1}[name[0]]
    lin = name[0] == "G" and flag(r)
    a = dict(hidden_size=h, direction=way, clip=pick(r, (0., 0., .5)))
    acts = {"L": ["sigmoid,tanh,tanh", "sigmoid,relu,tanh"], "G": ["sigmoid,tanh", "tanh,relu"], "R": ["tanh", "relu"]}[name[0]]
    a["activations"] = pick(r, acts) if flag(r) else None
    if lin:
        a["linear_before_reset"] = True
    w = [g.x([d, gates * h, i], chance=.2), g.x([d, gates * h, h], chance=.2), g.x([d, (gates + lin) * h], chance=.2)]
    state = [g.x([b, d, h], chance=.7)] + ([g.x([b, d, h], chance=.7)] if name[0] == "L" else [])
    lens = g.ints(r.integers(1, t + 1, [b]) if flag(r) else np.full([b], t))
    return g.op(name, g.x([b, t, i], chance=1), *state, lens, *w, n=3 if name[0] == "L" else 2, **a)


@draws("ROIAlign")
def roi_align(g, r, name):
    v = pick(r, (3, 9))
    rois = np.sort(r.uniform(-1, 9, (3, 2, 2)), 1).reshape(3, 4).astype(np.float32)
    a = dict(pooled_h=int(r.integers(1, 4)), pooled_w=int(r.integers(1, 4)), sampling_ratio=pick(r, (0, 1, 2)), spatial_scale=pick(r, (.5, 1., .25)), mode=pick(r, ("avg", "avg", "max")))
    if v == 9:
        a["aligned_mode"] = pick(r, ("asymmetric", "half_pixel_for_nn", "half_pixel"))
    return g.op(name, g.x([2, 2, 5, 6], chance=1), g.param(rois), g.ints([0, 1, 1]), version=v, **a)


@draws("ROIPooling")
def roi_pooling(g, r, name):
    rois = np.concatenate([r.integers(0, 2, (3, 1)), np.sort(r.integers(0, 9, (3, 2, 2)), 1).reshape(3, 4)], 1).astype(np.float32)
    return g.op(name, g.x([2, 2, 5, 6], chance=1), g.param(rois), pooled_h=int(r.integers(1, 4)), pooled_w=int(r.integers(1, 4)), spatial_scale=pick(r, (.5, 1.)), method="max")


@draws("NonMaxSuppression")
def nms(g, r, name):
    v = pick(r, (3, 5, 9))
    p = np.sort(r.uniform(0, 5, (1, 6, 2, 2)), 2).reshape(1, 6, 4).astype(np.float32)
    more = [g.ints(np.int64(pick(r, (1, 3, 6))), .1), g.const(np.float32(pick(r, (.3, .6)))), g.const(np.float32(pick(r, (0., .4))))]
    t = pick(r, ("i64", "i32"))
    outs = g.op(name, g.param(p), g.param(r.random((1, 2, 6)).astype(np.float32)), *more, n=3 if v > 4 else 1, version=v, types=[t, "f32", t] if v > 4 else None, box_encoding=pick(r, ("corner", "center")),
                sort_result_descending=flag(r) and flag(r), output_type=t)
    return outs[:1] if flag(r) else outs


@draws("Col2Im")
def col2im(g, r, name):
    return g.op(name, g.x([2, 8, 12], chance=1), g.ints([4, 5], 0), g.ints([2, 2], 0), strides=[1, 1], dilations=[1, 1], pads_begin=[0, 0], pads_end=[0, 0])


@draws("FakeQuantize")
def fake_quantize(g, r, name):
    s = shape(r, 1, 4)
    p = [1] * len(s)
    if flag(r) and len(s) > 1:
        p[1] = s[1]
    p = p if flag(r) else [] if np.prod(p) == 1 else p
    lo = np.asarray(r.uniform(-2, 0, p)).astype(np.float32)
    hi = np.asarray(lo + r.uniform(1, 3, p)).astype(np.float32)
    lo, hi = (np.minimum(lo, np.float32(0)), np.maximum(hi, np.float32(.5))) if flag(r) else (lo, hi)
    same = flag(r)
    ol, oh = (lo, hi) if same else (lo * np.float32(1.5), hi * np.float32(2))
    return g.op(name, g.x(s, "f32", chance=1), g.const(lo), g.const(hi), g.const(ol), g.const(oh), levels=pick(r, (2, 16, 255, 256, 255, 256, 65536)))
