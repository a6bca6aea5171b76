#!/usr/bin/python3
"""lptc check --target litert: what a sound .tflite says, and which rule each broken one names.

test-tflite-check.py LPTC. Prints TAP; without numpy it is skipped.

SPDX-License-Identifier: Apache-2.0
"""
import subprocess
import sys
import tempfile

from numpy_or_skip import np
from check_cases import cases
from tfl import model, op, tensor


def conv(x="int8", w="int8", zero=3, weight=7, scales=None, axis=0, zeros=0, bias="int32", bias_scale=1.0, bias_axis=0, version=3):
    """A CONV_2D of 4 channels; @scales of the weights, @bias_scale times the right one, @bias None: none."""
    scales = scales or [0.5, 0.25, 0.125, 0.5]
    tensors = [tensor("x", x, [1, 4, 4, 2], scale=0.5, zero=zero),
               tensor("w", w, [4, 1, 1, 2], np.full([4, 1, 1, 2], weight, w), scale=scales, zero=zeros, axis=axis)]
    if bias is not None:
        each = scales if len(scales) > 1 else scales * 4
        tensors.append(tensor("b", bias, [4], np.zeros(4, bias), scale=[0.5 * s * bias_scale for s in each], axis=bias_axis))
    tensors.append(tensor("y", x, [1, 4, 4, 4], scale=0.75, zero=0 if zero == 0 else zero + 1))
    last = len(tensors) - 1
    return model(tensors, [op("CONV_2D", list(range(last)), [last], ("Conv2DOptions", {"padding": 1, "stride_w": 1, "stride_h": 1}), version=version)], [0], [last])


def single(name, x, y, x_type="int8", y_type="int8", n=1, options=None, version=2):
    """One operator of @n inputs; @x and @y are (scale, zero point)."""
    tensors = [tensor("x%d" % i, x_type, [1, 8], scale=x[0], zero=x[1]) for i in range(n)]
    tensors.append(tensor("y", y_type, [1, 8], scale=y[0] if y else None, zero=y[1] if y else 0))
    return model(tensors, [op(name, list(range(n)), [n], options, version=version)], list(range(n)), [n])


def pool(y):
    tensors = [tensor("x", "int8", [1, 4, 4, 2], scale=0.5, zero=3), tensor("y", "int8", [1, 2, 2, 2], scale=y[0], zero=y[1])]
    options = ("Pool2DOptions", {"padding": 1, "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2})
    return model(tensors, [op("MAX_POOL_2D", [0], [1], options, version=2)], [0], [1])


# What is broken, the model, the rule that is named; None: no violation.
CASES = [
    ("convolution", conv(), None),
    ("convolution, one scale", conv(scales=[0.5]), None),
    ("logistic", single("LOGISTIC", (0.1, 3), (1 / 256, -128)), None),
    ("add", single("ADD", (0.1, 3), (0.2, 4), n=2), None),
    ("pool", pool((0.5, 3)), None),
    ("comparison", single("LESS", (0.1, 3), None, y_type="bool", n=2), None),
    ("no bias", conv(bias=None), "bias"),
    ("64-bit bias", conv(bias="int64"), "bias-type"),
    ("weights that are unsigned", conv(w="uint8", zeros=128), "element-type"),
    ("scale of the bias", conv(bias_scale=2.0), "bias-scale"),
    ("axis of the bias", conv(bias_axis=3), "quantized-dimension"),
    ("axis of the weights", conv(scales=[0.5, 0.25], axis=3, bias=None), "quantized-dimension"),
    ("a weight of -128", conv(weight=-128), "range"),
    ("zero points of weights", conv(zeros=1), "zero-point"),
    ("unsigned data", conv(x="uint8", w="uint8", zero=128, zeros=128, weight=130, scales=[0.5]), "element-type"),
    ("16 bits with a zero point", conv(x="int16", zero=3), "zero-point"),
    ("version", conv(version=8), "version"),
    ("version of a plain operator", single("LOGISTIC", (0.1, 3), (1 / 256, -128), version=9), "version"),
    ("table", single("LOGISTIC", (0.1, 3), (1 / 128, -128)), "fixed-parameters"),
    ("maximum", pool((0.25, 3)), "equal-parameters"),
    ("large scale of a comparison", single("LESS", (1.5, 3), None, y_type="bool", n=2), "small-scale"),
    ("division", single("DIV", (0.1, 3), (0.2, 4), n=2, version=1), "element-type"),
]


def main():
    lptc, bad, found = sys.argv[1], 0, CASES + cases()
    with tempfile.TemporaryDirectory() as tmp:
        path = tmp + "/m.tflite"
        for k, (what, data, rule) in enumerate(found):
            with open(path, "wb") as f:
                f.write(data)
            run = subprocess.run([lptc, "check", path, "--target", "litert"], capture_output=True, text=True)
            if rule is None:
                fine = run.returncode == 0 and run.stdout == "no violations\n"
            else:
                fine = run.returncode == 1 and "[%s]\n" % rule in run.stdout
            bad += not fine
            print("%s %d %s%s" % ("ok" if fine else "not ok", k + 1, what, "" if fine else " # %s" % (run.stdout + run.stderr).replace("\n", "; ")))
    print("1..%d" % len(found))
    sys.exit(bad > 0)


main()
