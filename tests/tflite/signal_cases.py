"""tflite-micro's audio front end by its definition, number by number: cases () as in cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import math

import numpy as np

from tfl import flex_map, model, op, tensor

I16, U32, U64, I32, F = np.int16, np.uint32, np.uint64, np.int32, np.float32


def one(name, inputs, expected, options, outs=None):
    """Inputs in a tuple are constants; expected: arrays or the message."""
    outs = outs or [(a.dtype, a.shape) for a in expected]
    arrays = [a[0] if isinstance(a, tuple) else a for a in inputs]
    tensors = [tensor("x%d" % k, a.dtype, a.shape, a if isinstance(inputs[k], tuple) else None) for k, a in enumerate(arrays)]
    tensors += [tensor("y%d" % k, t, shape) for k, (t, shape) in enumerate(outs)]
    given, n = [k for k, a in enumerate(inputs) if not isinstance(a, tuple)], len(inputs)
    data = model(tensors, [op("", list(range(n)), list(range(n, n + len(outs))), custom=name.split("/")[0], raw=flex_map(**options))], given, list(range(n, n + len(outs))))
    return name, data, [("x%d" % k, arrays[k]) for k in given], ["y%d" % k for k in range(len(outs))], expected


def wrap(x):
    return (int(x) + 32768) % 65536 - 32768


def mul(a, b):
    return tuple((v + 16384) >> 15 for v in (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]))


def root(phase):
    return tuple(math.floor(0.5 + 32767 * f(phase)) for f in (math.cos, math.sin))


def div(a, by):
    return tuple((v * (32767 // by) + 16384) >> 15 for v in a)


def add(a, b, sign=1):
    return wrap(a[0] + sign * b[0]), wrap(a[1] + sign * b[1])


def transform(x, n, turn=-1):
    """Decimation in time by four, by two at the end; n numbers in all. turn 1: the inverse."""
    if len(x) == 1:
        return x
    p = 4 if len(x) % 4 == 0 else 2
    m = len(x) // p
    parts = [transform(x[k::p], n, turn) for k in range(p)]
    y = [None] * len(x)
    for j in range(m):
        f = [div(part[j], p) for part in parts]
        f = f[:1] + [mul(f[k], root(turn * 2 * math.pi * (j * k * (n // len(x))) / n)) for k in range(1, p)]
        if p == 2:
            y[j], y[j + m] = add(f[0], f[1]), add(f[0], f[1], -1)
            continue
        apart, even, odd, across = add(f[0], f[2], -1), add(f[0], f[2]), add(f[1], f[3]), add(f[1], f[3], -1)
        y[j], y[j + 2 * m] = add(even, odd), add(even, odd, -1)
        y[j + m], y[j + 3 * m] = add(apart, (-turn * across[1], turn * across[0])), add(apart, (turn * across[1], -turn * across[0]))
    return y


def spectrum(samples, length):
    x = [int(v) for v in samples[:length]] + [0] * max(length - len(samples), 0)
    n = length // 2
    z = transform([(x[2 * i], x[2 * i + 1]) for i in range(n)], n)
    y = [None] * (n + 1)
    first = div(z[0], 2)
    y[0], y[n] = (wrap(first[0] + first[1]), 0), (wrap(first[0] - first[1]), 0)
    for k in range(1, n // 2 + 1):
        near, far = div(z[k], 2), div((z[n - k][0], wrap(-z[n - k][1])), 2)
        both, turned = add(near, far), mul(add(near, far, -1), root(-math.pi * (k / n + 0.5)))
        y[k] = (both[0] + turned[0]) >> 1, (both[1] + turned[1]) >> 1
        y[n - k] = (both[0] - turned[0]) >> 1, (turned[1] - both[1]) >> 1
    return np.array(y).astype(I16).ravel()


def root_of(x):
    r = math.isqrt(x)
    return r + (x - r * r > r and not (x < 2**32 and r == 0xffff))


def gain_of(x, table):
    if x <= 2:
        return int(table[x]) % 2**32
    bits = x.bit_length()
    t = [int(v) for v in table[4 * bits - 6:4 * bits - 3]]
    part = (x << (11 - bits) if bits < 11 else x >> (bits - 11)) & 0x3ff
    y = (((t[2] * part) >> 5) + (t[1] << 5)) * part + (1 << 14)
    return wrap(((y + 2**31) % 2**32 - 2**31 >> 15) + t[0]) % 2**32


def pcan(x, noise, table, shift):
    r = (x * gain_of(noise, table)) >> shift & 0xffffffff
    return (r * r) >> 20 if r < 8192 else (r >> 6) - 64


def log_of(x, scale, up, most=32767):
    x = x << up & 0xffffffff
    if x <= 1:
        return 0
    whole = x.bit_length() - 1
    part = x - (1 << whole)
    part = part << (16 - whole) if whole < 16 else part >> (whole - 16)
    chord = [round(65536 * (math.log2(1 + i / 128) - i / 128)) for i in range(128)] + [0, 0]
    seg = part >> 9
    y = (whole << 16) + part + chord[seg] + ((chord[seg + 1] - chord[seg]) * (part - (seg << 9)) >> 16)
    y = (y * 45426 + 32768) >> 16
    return min((y * scale + 32768 & 0xffffffff) >> 16, most)


def subtraction(x, o, noise):
    y = []
    for i, v in enumerate(int(v) for v in x):
        a, b = (o["smoothing"], o["one_minus_smoothing"]) if i % 2 == 0 else (o["alternate_smoothing"], o["alternate_one_minus_smoothing"])
        signal = v << o["smoothing_bits"]
        noise[i] = (signal * a + noise[i] * b) >> o["spectral_subtraction_bits"]
        estimate = min(noise[i], signal)
        if o["clamping"]:
            noise[i] = estimate
        y.append(max((signal - estimate) >> o["smoothing_bits"], (v * o["min_signal_remaining"]) >> o["spectral_subtraction_bits"]))
    return np.array(y, U32)


def cases():
    r = np.random.RandomState(4)
    x, w = r.randint(-32768, 32768, (2, 48)).astype(I16), r.randint(0, 32768, 48).astype(I16)
    yield one("SignalWindow", [x, (w,)], [np.clip((x.astype(I32) * w) >> 11, -32768, 32767).astype(I16)], {"shift": 11})
    for n, size in enumerate((1, 100, 32767, 0)):
        s = r.randint(-size, size + 1, 40).astype(I16)
        shift = max(15 - int(np.abs(s.astype(I32)).max()).bit_length(), 0)
        yield one("SignalFftAutoScale/%d" % n, [s], [(s.astype(I32) << shift).astype(I16), np.array(shift, I32)], {})
    for length in (2, 4, 8, 16, 128, 512):
        s = r.randint(-32768, 32768, max(length - length // 8, 2)).astype(I16)
        yield one("SignalRfft/%d" % length, [s], [spectrum(s, length)], {"T": 7, "fft_length": length})
    s = r.randn(30).astype(F)
    yield one("SignalRfft/f32", [s], [np.fft.rfft(s, 32).astype(np.complex64).view(F)], {"T": 0, "fft_length": 32})
    yield one("SignalRfft/size", [x[0]], "fft_length 48, not a power of two", {"fft_length": 48}, [(I16, (50,))])
    yield one("SignalRfft/none", [x[0]], "fft_length 0", {}, [(I16, (50,))])
    c = r.randint(-32768, 32768, 2 * 17).astype(I16)
    energy = (c[0::2].astype(np.int64) ** 2 + c[1::2].astype(np.int64) ** 2)
    energy[[0, 1, 15, 16]] = 0
    yield one("SignalEnergy", [c], [energy.astype(U32)], {"start_index": 2, "end_index": 15})
    yield one("SignalEnergy/bins", [c], "bins 2 to 18 of 17", {"start_index": 2, "end_index": 18}, [(U32, (17,))])
    widths, starts, places = np.array([2, 3, 4, 1], I16), np.array([1, 3, 6, 10], I16), np.array([0, 4, 8, 12], I16)
    weights, rest, bins = r.randint(0, 4096, 16).astype(I16), r.randint(0, 4096, 16).astype(I16), r.randint(0, 2**32, 12, dtype=np.int64).astype(U32)
    total, sums = 0, []
    for width, start, place in zip(widths, starts, places):
        sums.append(total + sum(int(weights[place + j]) * int(bins[start + j]) for j in range(width)))
        total = sum(int(rest[place + j]) * int(bins[start + j]) for j in range(width))
    bank = [(weights,), (rest,), (starts,), (places,), (widths,)]
    yield one("SignalFilterBank", [bins] + bank, [np.array(sums[1:], U64)], {"num_channels": 3})
    yield one("SignalFilterBank/outside", [bins[:9]] + bank, "channel 2 reads what is not there", {"num_channels": 3}, [(U64, (3,))])
    yield one("SignalFilterBank/channels", [bins] + bank, "channel 4 reads what is not there", {"num_channels": 4}, [(U64, (4,))])
    numbers = [0, 1, 2, 3, 6, 7, 65535 ** 2, 65535 * 65536, 2**32 - 1, 2**32, 2**47 + 12345, 2**48 - 1] + [int(v) for v in r.randint(0, 2**44, 20, dtype=np.int64)]
    yield one("SignalFilterBankSquareRoot", [np.array(numbers, U64), np.array(3, I32)], [np.array([root_of(v) >> 3 for v in numbers], U32)], {})
    options = dict(num_channels=5, smoothing=655, one_minus_smoothing=15729, alternate_smoothing=1310, alternate_one_minus_smoothing=15074, smoothing_bits=10, spectral_subtraction_bits=14,
                   min_signal_remaining=819, clamping=0)
    for clamping in (0, 1):
        noise, signal = [0] * 5, r.randint(0, 60000, 5).astype(U32)
        options["clamping"] = clamping
        yield one("SignalFilterBankSpectralSubtraction/%d" % clamping, [signal], [subtraction(signal, options, noise), np.array(noise, U32)], options)
    yield one("SignalFilterBankSpectralSubtraction/length", [signal[:4]], "of other lengths than 5", options, [(U32, (4,)), (U32, (5,))])
    table = r.randint(0, 16384, 125).astype(I16)
    signal, noise = r.randint(0, 2**20, 30).astype(U32), np.array([0, 1, 2, 3, 4, 7, 8, 1023, 1024, 2**20, 2**31, 2**32 - 1] + [int(v) for v in r.randint(0, 2**20, 18)], U32)
    yield one("SignalPCAN", [signal, noise, (table,)], [np.array([pcan(int(a), int(b), table, 6 + 8) for a, b in zip(signal, noise)], np.int64).astype(U32)], {"snr_shift": 14})
    yield one("SignalPCAN/table", [signal, noise, (table[:100],)], "a table of 100 gains", {"snr_shift": 6}, [(U32, (30,))])
    numbers = np.array([0, 1, 2, 3, 4, 127, 65535, 65536, 2**29 - 1] + [int(v) for v in r.randint(0, 2**28, 20)], U32)
    yield one("SignalFilterBankLog", [numbers], [np.array([log_of(int(v), 1600, 3) for v in numbers], I16)], {"output_scale": 1600, "input_correction_bits": 3})
    small = np.arange(1, 50).astype(U32)
    yield one("SignalFilterBankLog/wide", [small], [np.array([log_of(int(v), 32768, 5) for v in small], I16)], {"output_scale": 32768, "input_correction_bits": 5})
    yield one("SignalFilterBankLog/options", [numbers], "output_scale is nan", {"input_correction_bits": 3}, [(I16, (29,))])
    yield one("SignalWindow/type", [x.astype(I32), (w,)], "input 0 is i32", {"shift": 1}, [(I16, (2, 48))])
