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


def cases():
    r = np.random.RandomState(26)
    for n, (kernel, stride, same) in enumerate((((2, 2), (2, 2), 1), ((3, 3), (2, 2), 1), ((4, 3), (2, 1), 1), ((3, 2), (2, 3), 1), ((3, 4), (1, 2), 0), ((1, 5), (1, 2), 0))):
        x, w, bias = r.randn(2, 3, 4, 5).astype(F), r.randn(3, *kernel, 5).astype(F), r.randn(3).astype(F)
        want = transposed(x, w, bias, stride, same)
        yield transposed_case(str(n), x, w, bias, struct.pack("<iii", 1 if same else 2, stride[1], stride[0]), want)
    yield transposed_case("short", x, w, bias, b"\x01\0\0\0\x02\0\0\0", "8 bytes of options, fewer than 12", want.shape)
    yield transposed_case("stride", x, w, bias, struct.pack("<iii", 1, 2, 0), "a stride of 0", want.shape)
    yield from places(r)
