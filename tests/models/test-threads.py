#!/usr/bin/python3
"""Whole networks by three threads: the bytes of one thread, in exec, and bench ends well.

    test-threads.py LPTC SHARED

The bundled model, and convolutions, an LSTM and integers of networks as they come. Prints TAP.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import attempt, case, finish, lptc  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = [os.path.join(ROOT, "models", "digits.xml")] + [os.path.join(sys.argv[2], "models", name) for name in (
    "onnx-fp32-mobilenetv1-025-224/mobilenet_v1_0.25_224.onnx", "tflite-mobilenet-v1-025-224/mobilenet_v1_0.25_224_quant.tflite",
    "tflite-mlperf-tiny/ic_resnet8_fp32.tflite", "tflite-mlperf-tiny/ic_resnet8_int8.tflite", "tflite-mnist-lstm-float/trained_lstm.tflite")]


def outputs(model, out, threads):
    lptc("exec", model, "--random", "3", "--threads", str(threads), "-o", out)
    return {name: open(os.path.join(out, name), "rb").read() for name in os.listdir(out)}


with tempfile.TemporaryDirectory() as tmp:
    for model in filter(os.path.isfile, MODELS):
        name = os.path.splitext(os.path.basename(model))[0]
        one, three = (outputs(model, "%s/%s-%d" % (tmp, name, n), n) for n in (1, 3))
        said = attempt("bench", model, "--threads", "3", "--iterations", "3")
        case(name, one == three and len(one) > 0 and said is None, said or "%d outputs" % len(one))
finish()
