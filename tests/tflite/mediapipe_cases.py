"""MediaPipe's custom operators: cases () as in cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import struct

import numpy as np

from tfl import flex_map, model, op, tensor

F, I32 = np.float32, np.int32


def transposed(x, w, bias, stride, same):
    """[N,H,W,I], weights [O,H,W,I]: each element adds its kernel; SAME cuts kernel - stride off, the lesser half before."""
    (n, rows, columns, _), (out, kh, kw, _) = x.shape, w.shape
    y = np.zeros((n, stride[0] * (rows - 1) + kh, stride[1] * (columns - 1) + kw, out))
    for i in range(rows):
        for j in range(columns):
            y[:, i * stride[0]:i * stride[0] + kh, j * stride[1]:j * stride[1] + kw] += np.einsum("ni,ohwi->nhwo", x[:, i, j].astype(float), w)
    if same:
        cut = [max(k - s, 0) for k, s in zip((kh, kw), stride)]
        y = y[:, cut[0] // 2:y.shape[1] - (cut[0] - cut[0] // 2), cut[1] // 2:y.shape[2] - (cut[1] - cut[1] // 2)]
    return (y + bias).astype(F)


def transposed_case(name, x, w, bias, raw, expected, shape=None):
    arrays, out = (x, w, bias), (shape if isinstance(expected, str) else expected.shape)
    tensors = [tensor("x%d" % k, a.dtype, a.shape, a if k else None) for k, a in enumerate(arrays)] + [tensor("y0", F, out)]
    data = model(tensors, [op("", [0, 1, 2], [3], custom="Convolution2DTransposeBias", raw=raw)], [0], [3])
    return "Convolution2DTransposeBias/" + name, data, [("x0", x)], ["y0"], expected if isinstance(expected, str) else [expected]


def maxima(x, kernel, stride, same, image):
    """Maxima of [N,H,W,C] and where they are: in the window, a number more than a whole one, or in the @image of all channels."""
    lengths, channels = x.shape[1:3], x.shape[3]
    out = [(n + s - 1) // s if same else (n - k) // s + 1 for n, k, s in zip(lengths, kernel, stride)]
    before = [max((o - 1) * s + k - n, 0) // 2 if same else 0 for o, n, k, s in zip(out, lengths, kernel, stride)]
    y, places = np.zeros((len(x), *out, channels), F), np.zeros((len(x), *out, channels), I32 if image else F)
    for n, h, w, c in np.ndindex(*y.shape):
        top, left = h * stride[0] - before[0], w * stride[1] - before[1]
        seen = [(i, j) for i in range(kernel[0]) for j in range(kernel[1]) if 0 <= top + i < lengths[0] and 0 <= left + j < lengths[1]]
        best = max(seen, key=lambda p: (x[n, top + p[0], left + p[1], c], -p[0], -p[1]))
        y[n, h, w, c] = x[n, top + best[0], left + best[1], c]
        places[n, h, w, c] = ((top + best[0]) * lengths[1] + left + best[1]) * channels + c if image else F(best[0] * kernel[1] + best[1]) + F(0.1)
    return y, places


def words(kernel, stride, same, activation=0):
    return struct.pack("<10i", 1 if same else 2, stride[1], stride[0], kernel[1], kernel[0], activation, 0, 0, 0, 0)


def custom(name, arrays, outs, raw):
    """Inputs, outputs or what the refusal says and (type, shape) of each."""
    text = isinstance(outs[0], str)
    shapes = outs[1:] if text else [(y.dtype, y.shape) for y in outs]
    tensors = [tensor("x%d" % k, a.dtype, a.shape) for k, a in enumerate(arrays)] + [tensor("y%d" % k, *t) for k, t in enumerate(shapes)]
    n, m = len(arrays), len(shapes)
    data = model(tensors, [op("", list(range(n)), list(range(n, n + m)), custom=name.split("/")[0], raw=raw)], list(range(n)), list(range(n, n + m)))
    return name, data, [("x%d" % k, a) for k, a in enumerate(arrays)], ["y%d" % k for k in range(m)], outs[0] if text else list(outs)


def places(r):
    for n, (kernel, stride, same, size) in enumerate((((2, 2), (2, 2), 1, (5, 6)), ((3, 2), (2, 3), 1, (5, 7)), ((2, 3), (1, 2), 0, (4, 7)), ((4, 1), (3, 1), 1, (2, 3)))):
        x = r.randint(-4, 5, (2, *size, 3)).astype(F)
        y, at = maxima(x, kernel, stride, same, False)
        yield custom("MaxPoolingWithArgmax2D/%d" % n, [x], [y, at], words(kernel, stride, same))
        yield custom("MaxPoolingWithArgmax2D/relu/%d" % n, [x], [np.maximum(y, 0), at], words(kernel, stride, same, 1))
        y, at = maxima(x, kernel, stride, same, True)
        raw = flex_map(ksize=[1, *kernel, 1], strides=[1, *stride, 1], padding="SAME" if same else "VALID", include_batch_in_index=0)
        yield custom("MaxPoolWithArgmax/%d" % n, [x], [y, at], raw)
        whole = np.zeros((2, *(((m * s for m, s in zip(y.shape[1:3], stride)) if same else ((m - 1) * s + k for m, s, k in zip(y.shape[1:3], stride, kernel)))), 3), F)
        if whole[0].size > at.max():
            np.put_along_axis(whole.reshape(2, -1), at.reshape(2, -1), y.reshape(2, -1), 1)
            yield custom("MaxUnpooling2D/image/%d" % n, [y, at], [whole], words(kernel, stride, same))
    for n, kernel in enumerate(((2, 2), (3, 2), (1, 4))):
        x, at = r.randn(2, 3, 4, 5).astype(F), r.randint(0, kernel[0] * kernel[1], (2, 3, 4, 5))
        y = np.zeros((2, 3, kernel[0], 4, kernel[1], 5), F)
        for i, h, w, c in np.ndindex(*x.shape):
            y[i, h, at[i, h, w, c] // kernel[1], w, at[i, h, w, c] % kernel[1], c] = x[i, h, w, c]
        y = y.reshape(2, 3 * kernel[0], 4 * kernel[1], 5)
        yield custom("MaxUnpooling2D/%d" % n, [x, (at + 0.1).astype(F)], [y], words(kernel, kernel, 1))
    at = at.astype(F)
    yield custom("MaxUnpooling2D/strides", [x, at], ["blocks with strides other than their sides", (F, (2, 6, 4, 5))], words((2, 1), (1, 1), 1))
    yield custom("MaxUnpooling2D/window", [x, at], ["a window or stride of 2 and -1", (F, (2, 6, 4, 5))], words((2, 1), (-1, 1), 1))
    yield custom("MaxUnpooling2D/short", [x, at], ["8 bytes of options, fewer than 24", (F, (2, 6, 4, 5))], b"\1\0\0\0\2\0\0\0")
    yield custom("MaxUnpooling2D/rank", [x[0], at[0]], ["data of other than four axes", (F, (6, 4, 5))], words((2, 1), (2, 1), 1))
    yield custom("MaxPoolWithArgmax/list", [x], ["ksize and strides are not of rows and columns", (F, (2, 3, 4, 5)), (I32, (2, 3, 4, 5))], flex_map(ksize=[1, 2, 2], strides=[1, 2, 2, 1]))
    yield custom("MaxPoolWithArgmax/batch", [x], ["batches that count in the place", (F, (2, 3, 4, 5)), (I32, (2, 3, 4, 5))],
                 flex_map(ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], include_batch_in_index=1))


def matrix_of(x, left, right, subset, target, size, scales):
    """Landmarks2TransformMatrix by its angle, in f64: size and scales are of width and height."""
    at = x[0, :, :2].astype(float)
    way = at[right] - at[left]
    a = target - np.arctan2(way[1], way[0])
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    box = at[subset] @ turn.T
    middle, lengths = turn.T @ ((box.max(0) + box.min(0)) / 2), box.max(0) - box.min(0)
    shift, turned, scaled, back = np.eye(4), np.eye(4), np.eye(4), np.eye(4)
    shift[:2, 3], turned[:2, :2], back[:2, 3] = middle, turn.T, -np.array(size) / 2
    scaled[[0, 1], [0, 1]] = np.array(scales) * lengths / size
    return (shift @ turned @ scaled @ back)[None].astype(F)


def crop(x, m, height, width):
    """TransformTensorBilinear: pixel after pixel."""
    _, rows, columns, channels = x.shape
    y = np.zeros((1, height, width, channels), F)
    for i, j in np.ndindex(height, width):
        u, v = m[0, :2, :2].astype(float) @ [j + 0.5, i + 0.5] + m[0, :2, 3] - 0.5
        if not (0 <= u <= columns - 1 and 0 <= v <= rows - 1):
            continue
        left, top = int(u), int(v)
        for row, column in np.ndindex(2, 2):
            share = (v - top if row else 1 - v + top) * (u - left if column else 1 - u + left)
            if share > 0:
                y[0, i, j] += F(share) * x[0, top + row, left + column]
    return y


def resampled(x, at):
    _, rows, columns, _ = x.shape
    y = np.zeros_like(x)
    for n, i, j in np.ndindex(*x.shape[:3]):
        u, v = at[n, i, j].astype(float)
        for row, column in np.ndindex(2, 2):
            k, l = int(np.floor(v)) + row, int(np.floor(u)) + column
            if 0 <= k < rows and 0 <= l < columns:
                y[n, i, j] += F((1 - abs(v - k)) * (1 - abs(u - l))) * x[n, k, l]
    return y


def crops(r):
    name = "Landmarks2TransformMatrix"
    for n, (left, right, subset, target, size, scales) in enumerate((
            (0, 5, [1, 2, 3, 4], 0.0, (16, 16), (1.5, 1.5)), (7, 2, [0, 8, 8, 3, 5], 0.7, (20, 12), (1.0, 2.0)), (3, 3, [6], -2.5, (8, 8), (1.0, 1.0)))):
        x = (r.randn(1, 9, 3) * 40).astype(F)
        raw = {"left_rotation_idx": left, "right_rotation_idx": right, "subset_idxs": subset, "target_rotation_radians": target,
               "output_width": size[0], "output_height": size[1], "scale_x": scales[0], "scale_y": scales[1]}
        yield custom("%s/%d" % (name, n), [x], [matrix_of(x, left, right, subset, target, size, scales)], flex_map(**raw))
    out = (F, (1, 4, 4))
    yield custom(name + "/landmark", [x], ["landmark 9 of 9", out], flex_map(**{**raw, "subset_idxs": [0, 9]}))
    yield custom(name + "/first", [x], ["subset_idxs of 0 landmarks", out], flex_map(**{k: v for k, v in raw.items() if k != "subset_idxs"}))
    yield custom(name + "/width", [x], ["output_width is 0", out], flex_map(**{**raw, "output_width": 0}))
    yield custom(name + "/scale", [x], ["scales of 0 and 1", out], flex_map(**{**raw, "scale_x": 0.0}))
    yield custom(name + "/shape", [x[:, :, :2]], ["landmarks of other than the shape [1, N, 3]", out], flex_map(**raw))
    for n, (size, at) in enumerate((((5, 7), [[1, 0, 0, 0], [0, 1, 0, 0]]), ((9, 6), [[.4, -.3, 9, 1], [.2, .6, 9, 1]]), ((4, 4), [[2.5, 1, 0, -3], [-1, 2, 0, 4]]), ((3, 3), [[0, 0, 0, .5], [0, 0, 0, .5]]))):
        x, m = r.randn(1, 6, 8, 3).astype(F), np.eye(4, dtype=F)[None].copy()
        m[0, :2] = at
        if n == 3:
            x = x[:, :1, :1]
        yield custom("TransformTensorBilinear/%d" % n, [x, m], [crop(x, m, *size)], flex_map(output_height=size[0], output_width=size[1]))
    for coordinates in (2, 3):
        x, m = (r.randn(1, 7, coordinates) * 9).astype(F), r.randn(1, 4, 4).astype(F)
        y = np.concatenate([x[..., :2] @ m[0, :2, :2].T + m[0, :2, 3], x[..., 2:]], 2).astype(F)
        yield custom("TransformLandmarks/%d" % coordinates, [x, m], [y], b"")
    x = r.randn(2, 5, 6, 3).astype(F)
    yield custom("TransformTensorBilinear/images", [x, m], ["data of several images", (F, (2, 3, 3, 3))], flex_map(output_height=3, output_width=3))
    yield custom("TransformTensorBilinear/first", [x, m], ["output_height is nan", (F, (2, 3, 3, 3))], flex_map(output_size=[3, 3]))
    yield custom("TransformLandmarks/first", [x, m], ["landmarks of other than the shapes", (F, x.shape)], flex_map(dimensions=3, scale=1.0))
    at = np.stack([r.uniform(-2, 7, (2, 5, 6)), r.uniform(-2, 6, (2, 5, 6))], 3).astype(F)
    at[0, 0, :3] = [[-1, 2], [5, 4], [6, 0]]
    yield custom("Resampler/0", [x, at], [resampled(x, at)], b"")
    yield custom("Resampler/places", [x, at[:, :4]], ["places of other than one for each pixel", (F, x.shape)], b"")


def tasks(r):
    x, (scale, offset, mean, variance) = (r.randn(2, 3, 4, 5) * 3 + 1).astype(F), r.rand(4, 5).astype(F)
    now, spread, n = x.mean((0, 1, 2), float), x.var((0, 1, 2), float), 24
    outs = [(x - now) * scale / np.sqrt(spread + 0.001) + offset, 0.999 * mean + 0.001 * now, 0.999 * variance + 0.001 * spread * n / (n - 1), now, spread, np.zeros(1)]
    yield custom("FusedBatchNormV3/0", [x, scale, offset, mean, variance], [o.astype(F) for o in outs], b"")
    yield custom("FusedBatchNormV3/rank", [x[0], scale, offset, mean, variance], ["data of other than four axes", (F, x[0].shape)], b"")
    codes, book = r.randint(0, 6, (9, 4)).astype(np.uint8), r.randn(6, 3).astype(F)
    for n, tokens in enumerate(([3, 8, 1, 0, 5], [1, 2], [0, 4, 4])):
        seen = tokens[:tokens.index(0)] if 0 in tokens else tokens
        want = sum((book[codes[t]].reshape(-1).astype(float) for t in seen), np.zeros(12)) / max(len(seen), 1)
        yield custom("KmeansEmbeddingLookup/%d" % n, [np.array([tokens], I32), codes, book], [want[None].astype(F)], b"")
    yield custom("KmeansEmbeddingLookup/texts", [np.ones((2, 3), I32), codes, book], ["tokens of several texts", (F, (1, 12))], b"")


def cases():
    r = np.random.RandomState(26)
    for n, (kernel, stride, same) in enumerate((((2, 2), (2, 2), 1), ((3, 3), (2, 2), 1), ((4, 3), (2, 1), 1), ((3, 2), (2, 3), 1), ((3, 4), (1, 2), 0), ((1, 5), (1, 2), 0))):
        x, w, bias = r.randn(2, 3, 4, 5).astype(F), r.randn(3, *kernel, 5).astype(F), r.randn(3).astype(F)
        want = transposed(x, w, bias, stride, same)
        yield transposed_case(str(n), x, w, bias, struct.pack("<iii", 1 if same else 2, stride[1], stride[0]), want)
    yield transposed_case("short", x, w, bias, b"\x01\0\0\0\x02\0\0\0", "8 bytes of options, fewer than 12", want.shape)
    yield transposed_case("stride", x, w, bias, struct.pack("<iii", 1, 2, 0), "a stride of 0", want.shape)
    yield from places(r)
    yield from crops(r)
    yield from tasks(r)
