"""AudioMicrofrontend by its definition, frame by frame: cases () as in cases.py.

SPDX-License-Identifier: Apache-2.0
"""
import math

import numpy as np

from signal_cases import gain_of, log_of, one, root_of, spectrum

I16, I32, F = np.int16, np.int32, np.float32
ONE = dict(sample_rate=1000, window_size=25, window_step=10, num_channels=2, upper_band_limit=450.0, lower_band_limit=8.0, smoothing_bits=10, even_smoothing=0.025, odd_smoothing=0.06,
           min_signal_remaining=0.05, enable_pcan=1, pcan_strength=0.95, pcan_offset=80.0, gain_bits=21, enable_log=1, scale_shift=6, left_context=1, right_context=1, frame_stride=1,
           zero_padding=1, out_scale=1, out_float=0)
SPEECH = dict(ONE, sample_rate=16000, window_size=30, window_step=20, num_channels=40, upper_band_limit=7500.0, lower_band_limit=125.0, left_context=0, right_context=0)


def mel(f):
    return F(1127) * np.log1p(F(f) / F(700))


def bank(o, bins):
    """[(bin, weight, rest)] of each entry."""
    n, width, low = o["num_channels"] + 1, F(0.5) * F(o["sample_rate"]) / F(bins - 1), mel(o["lower_band_limit"])
    spacing = (mel(o["upper_band_limit"]) - low) / F(n)
    centres = [low] + [low + spacing * F(c + 1) for c in range(n)]
    k, entries = int(F(1.5) + F(o["lower_band_limit"]) / width), []
    for before, centre in zip(centres, centres[1:]):
        entry = []
        while mel(F(k) * width) <= centre:
            w = (centre - mel(F(k) * width)) / (centre - before)
            entry.append((k, math.floor(w * F(4096) + F(0.5)), math.floor((F(1) - w) * F(4096) + F(0.5))))
            k += 1
        entries.append(entry)
    return entries


def gains(o, bits):
    def at(x):
        y = F(2 ** o["gain_bits"]) * np.power(F(x) / F(2 ** bits) + F(o["pcan_offset"]), -F(o["pcan_strength"]))
        return 32767 if y > 32767 else int(y + F(0.5))
    table = [at(0), at(1)]
    for i in range(2, 33):
        x = 2 ** (i - 1)
        y, half, full = at(x), at(x + x // 2), at(2 * x - (i == 32))
        slope = 4 * (half - y) - (full - y)
        table += [y, slope, full - y - slope, 0]
    return table


def features(x, o):
    size, step = (o[k] * o["sample_rate"] // 1000 for k in ("window_size", "window_step"))
    length = 1 << (size - 1).bit_length()
    up, turn = int(math.log2(length)) - 6, F(math.pi) * F(2) / F(size)
    window = [math.floor((F(0.5) - F(0.5) * np.cos(turn * F(i + 0.5))) * F(4096) + F(0.5)) for i in range(size)]
    shares = [int(F(o[k]) * F(16384)) for k in ("even_smoothing", "odd_smoothing", "min_signal_remaining")]
    entries, table, noise, frames = bank(o, length // 2 + 1), gains(o, o["smoothing_bits"] - up), [0] * o["num_channels"], []
    for start in range(0, len(x) - size + 1, step):
        s = [int(v) * w >> 12 for v, w in zip(x[start:start + size], window)]
        room = 15 - max(max(abs(v) if v > -32768 else 0 for v in s), 0).bit_length()
        z = spectrum(((np.array(s) << room).astype(I16)), length).astype(np.int64)
        energy, row = z[0::2] ** 2 + z[1::2] ** 2, []
        for c in range(o["num_channels"]):
            v = sum(int(energy[k]) * w for k, w, _ in entries[c + 1]) + sum(int(energy[k]) * r for k, _, r in entries[c])
            v = root_of(v) >> room
            signal = v << o["smoothing_bits"] & 0xffffffff
            noise[c] = (signal * shares[c % 2] + noise[c] * (16384 - shares[c % 2])) >> 14
            v = max((signal - min(noise[c], signal)) >> o["smoothing_bits"], v * shares[2] >> 14)
            if o["enable_pcan"]:
                v = v * gain_of(noise[c], table) >> o["gain_bits"] - up - 12 & 0xffffffff
                v = v * v >> 20 if v < 8192 else (v >> 6) - 64
            if o["enable_log"]:
                v = log_of(v << up & 0xffffffff if up > 0 else v >> -up, 1 << o["scale_shift"], 0, 65535)
            row.append(min(v, 65535))
        frames.append(row)
    return frames


def placed(frames, o):
    rows = []
    for i in range(0, len(frames), o["frame_stride"]):
        row = []
        for k in range(i - o["left_context"], i + o["right_context"] + 1):
            outside = o["zero_padding"] and not 0 <= k < len(frames)
            row += [0] * o["num_channels"] if outside else frames[min(max(k, 0), len(frames) - 1)]
        rows.append(row)
    y = np.array(rows, I32)
    return y.astype(F) / F(o["out_scale"]) if o["out_float"] else y // o["out_scale"]


def cases():
    r = np.random.RandomState(11)
    saw = np.tile(np.array([0, 32767, 0, -32768], I16), 9)
    # The library's own test has these numbers.
    yield one("AudioMicrofrontend/known", [saw], [np.array([[0, 0, 479, 425, 436, 378], [479, 425, 436, 378, 0, 0]], I32)], ONE)
    assert features(saw, ONE) == [[479, 425], [436, 378]]
    t = np.arange(4000)
    tone = (9000 * np.sin(t * 0.2) * np.exp(-t / 1500) + r.normal(0, 300, 4000)).astype(I16)
    for n, (x, o) in enumerate((
            (tone, SPEECH), (tone // 40, dict(SPEECH, enable_pcan=0)), (tone, dict(SPEECH, enable_log=0, enable_pcan=0, num_channels=20)),
            (r.randint(-32768, 32768, 2000).astype(I16), dict(SPEECH, left_context=2, right_context=1, frame_stride=2, zero_padding=0, out_scale=3)),
            (tone, dict(SPEECH, out_float=1, out_scale=256, left_context=1, scale_shift=9)),
            (np.full(400, -32768, I16), dict(ONE, window_size=9, window_step=9)), (np.zeros(100, I16), ONE),
            (r.randint(-32768, 32768, 25).astype(I16), dict(ONE, frame_stride=7)))):
        yield one("AudioMicrofrontend/%d" % n, [x], [placed(features(x, o), o)], o)
    for name, message, o in (("samples", "36 samples, fewer than a window has", dict(window_size=37)), ("step", "windows of 25 samples, 26 apart", dict(window_step=26)),
                             ("channels", "num_channels is 0", dict(num_channels=0)), ("bands", "channels up to 500 of 500 Hz", dict(upper_band_limit=500.0)),
                             ("order", "channels from 450 to 8 Hz", dict(lower_band_limit=450.0, upper_band_limit=8.0)), ("scale", "out_scale is 0", dict(out_scale=0)),
                             ("gain", "gain_bits is 9, less than 11", dict(gain_bits=9)), ("noise", "noise with 32 bits behind the point", dict(smoothing_bits=31)),
                             ("part", "even_smoothing is 1.5", dict(even_smoothing=1.5))):
        yield one("AudioMicrofrontend/" + name, [saw], message, dict(ONE, **o), [(I32, (2, 6))])
    yield one("AudioMicrofrontend/type", [saw.astype(F)], "f32 samples of rank 1, not i16", ONE, [(I32, (2, 6))])
