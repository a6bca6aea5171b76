"""MediaPipe's custom operators: cases () as in cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import struct

import numpy as np

from tfl import model, op, tensor

F = np.float32


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


def cases():
    r = np.random.RandomState(26)
    for n, (kernel, stride, same) in enumerate((((2, 2), (2, 2), 1), ((3, 3), (2, 2), 1), ((4, 3), (2, 1), 1), ((3, 2), (2, 3), 1), ((3, 4), (1, 2), 0), ((1, 5), (1, 2), 0))):
        x, w, bias = r.randn(2, 3, 4, 5).astype(F), r.randn(3, *kernel, 5).astype(F), r.randn(3).astype(F)
        want = transposed(x, w, bias, stride, same)
        yield transposed_case(str(n), x, w, bias, struct.pack("<iii", 1 if same else 2, stride[1], stride[0]), want)
    yield transposed_case("short", x, w, bias, b"\x01\0\0\0\x02\0\0\0", "8 bytes of options, fewer than 12", want.shape)
    yield transposed_case("stride", x, w, bias, struct.pack("<iii", 1, 2, 0), "a stride of 0", want.shape)
