"""Parts of tflite-micro's audio front end that keep something from run to run, and SignalIrfft: cases () as in cases.py.

Several runs are one input, each run's behind the one before.

SPDX-License-Identifier: Apache-2.0
"""
import math

import numpy as np

from signal_cases import add, div, mul, one, spectrum, transform, wrap

I16, I32, F, B = np.int16, np.int32, np.float32, np.bool_


def runs(name, x, outs, options):
    """x: [runs, ...], outs: the same of each output; the model has the shapes of one run."""
    name, data, inputs, outputs, expected = one(name, [x[0]], [np.asarray(y[0]) for y in outs], options)
    return name, data, [("x0", x.reshape((-1,) + x.shape[2:]))], outputs, [y.reshape((-1,) + y.shape[2:]) for y in outs]


def delay(x, n):
    """[runs, ..., samples]"""
    past, y = np.zeros(x.shape[1:-1] + (n,), x.dtype), []
    for run in x:
        past = np.concatenate([past, run], -1)
        y.append(past[..., :run.shape[-1]])
        past = past[..., run.shape[-1]:]
    return np.array(y)


def framer(x, size, step, prefill):
    """One buffer; frames that were not complete are what they are with zeros for what did not come."""
    kept, y, valid, seen = [0] * (size - step if prefill else (size - 1) // step * step), [], [], 0
    for run in x[:, 0]:
        frames, ok = [], True
        for start in range(0, len(run), step):
            kept = kept + [int(v) for v in run[start:start + step]]
            seen += step
            ok = ok and (prefill or seen >= size)
            frames.append(kept[:size])
            kept = kept[step:]
        y.append([frames])
        valid.append([ok])
    return np.array(y, I16), np.array(valid, B)


def stacker(x, left, right, step):
    waiting, y, valid, recent = None, [], [], None
    for run in x:
        waiting = [run] * (left + 1) if waiting is None else waiting + [run]
        recent = [run] * (left + right + 1) if recent is None else recent[1:] + [run]
        full = len(waiting) == left + right + 1
        assert not full or np.array_equal(waiting, recent)
        y.append(np.concatenate(recent))
        valid.append([full])
        waiting = waiting[step:] if full else waiting
    return np.array(y, I16), np.array(valid, B)


def overlap(x, step):
    """[runs, rows, frames, size]"""
    sums, y = np.zeros((x.shape[1], x.shape[3]), np.float32 if x.dtype == F else np.int64), []
    for run in x:
        parts = []
        for frame in run.transpose(1, 0, 2):
            sums = sums + frame
            sums = sums if x.dtype == F else np.clip(sums, -32768, 32767)
            parts.append(sums[:, :step])
            sums = np.concatenate([sums[:, step:], np.zeros((len(sums), step), sums.dtype)], 1)
        y.append(np.concatenate(parts, 1))
    return np.array(y).astype(x.dtype)


def inverse(bins, length):
    """The spectrum of pairs, then butterflies whose roots turn the other way."""
    n = length // 2
    x = [(int(a), int(b)) for a, b in bins.reshape(-1, 2)]
    z = [div((wrap(x[0][0] + x[n][0]), wrap(x[0][0] - x[n][0])), 2)] + [None] * (n - 1)
    for k in range(1, n // 2 + 1):
        near, far = div(x[k], 2), div((x[n - k][0], wrap(-x[n - k][1])), 2)
        phase = math.pi * (k / n + 0.5)
        turned = mul(add(near, far, -1), tuple(math.floor(0.5 + 32767 * f(phase)) for f in (math.cos, math.sin)))
        both, turned = add(near, far), (wrap(turned[0]), wrap(turned[1]))
        z[k % n] = add(both, turned)
        down = add(both, turned, -1)
        z[n - k] = down[0], wrap(-down[1])
    return np.array(transform(z, n, 1)).astype(I16).ravel()


def cases():
    r = np.random.RandomState(12)
    x = r.randint(-32768, 32768, (5, 1, 2, 6)).astype(I16)
    for n in (0, 1, 6, 17):
        yield runs("SignalDelay/%d" % n, x, [delay(x, n)], {"delay_length": n})
    x = r.randint(-32768, 32768, (6, 1, 8)).astype(I16)
    for n, (size, step, prefill) in enumerate(((4, 4, 0), (8, 4, 1), (10, 4, 0), (10, 4, 1), (5, 2, 0), (23, 8, 0), (23, 8, 1), (3, 1, 1))):
        yield runs("SignalFramer/%d" % n, x, framer(x, size, step, prefill), {"frame_size": size, "frame_step": step, "prefill": prefill})
    for name, message, o in (("steps", "8 samples in steps of 3", (5, 3)), ("wide", "frame_step is 6", (5, 6)), ("size", "frame_size is 0", (0, 1))):
        yield one("SignalFramer/" + name, [x[0]], message, {"frame_size": o[0], "frame_step": o[1], "prefill": 0}, [(I16, (1, 2, 5)), (B, ())])
    x = r.randint(-32768, 32768, (9, 3)).astype(I16)
    for n, (left, right, step) in enumerate(((0, 0, 1), (1, 1, 1), (3, 0, 2), (0, 2, 3), (2, 3, 4), (1, 2, 4))):
        yield runs("SignalStacker/%d" % n, x.reshape(9, 3), [y.reshape(9, -1) for y in stacker(x, left, right, step)],
                   {"num_channels": 3, "stacker_left_context": left, "stacker_right_context": right, "stacker_step": step})
    yield one("SignalStacker/step", [x[0]], "stacker_step is 3", {"num_channels": 3, "stacker_left_context": 1, "stacker_right_context": 0, "stacker_step": 3}, [(I16, (6,)), (B, ())])
    for kind in (I16, F):
        x = r.randint(-20000, 20000, (4, 2, 3, 6)).astype(kind)
        for step in (1, 2, 4, 6):
            yield runs("SignalOverlapAdd/%s/%d" % (kind.__name__, step), x, [overlap(x, step)], {"T": 7 if kind == I16 else 0, "frame_step": step})
    for length in (2, 4, 8, 16, 64, 512):
        bins = r.randint(-32768, 32768, length + 2).astype(I16)
        yield one("SignalIrfft/%d" % length, [bins], [inverse(bins, length)], {"T": 7, "fft_length": length})
    rows = np.stack([spectrum(r.randint(-9000, 9000, 16), 16) for _ in range(3)])
    yield one("SignalIrfft/rows", [rows], [np.stack([inverse(row, 16) for row in rows])], {"T": 7, "fft_length": 16})
    z = np.fft.rfft(r.randn(2, 32)).astype(np.complex64)
    yield one("SignalIrfft/f32", [z.view(F)], [np.fft.irfft(z).astype(F)], {"T": 0, "fft_length": 32})
    yield one("SignalIrfft/size", [rows], "18 numbers are no spectrum of 32 samples", {"fft_length": 32}, [(I16, (3, 32))])
    # Integers of 32 bits: a multiple of the unit impulse has the same number in each bin, n times smaller.
    x = np.zeros((2, 16), I32)
    x[:, 0] = 2**30, -2**28
    flat = np.zeros((2, 18), I32)
    flat[:, ::2] = np.array([[2**26], [-2**24]])
    yield one("SignalRfft/i32", [x], [flat], {"T": 2, "fft_length": 16})
