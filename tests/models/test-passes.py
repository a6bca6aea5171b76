#!/usr/bin/python3
"""Ten real networks without each optional pass of the plan: the same bytes of every output.

    test-passes.py LPTC SHARED

The passes are the rows of executor/program/program-passes.def that may be left out; inputs are drawn. Pairs of them, on random graphs and
the bundled model: tests/property/test-property-passes.c. Exit code 77 where SHARED has no networks.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import tempfile

from tap import attempt, case, finish, models

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Convolutions, depthwise ones, detections, heads, recurrent cells, attention, floats; of each format.
NETWORKS = ("ir-face-detection-retail-0004/FP16-INT8/face-detection-retail-0004.xml",
            "ir-head-pose-estimation-adas-0001/FP16-INT8/head-pose-estimation-adas-0001.xml",
            "ir-person-reidentification-retail-0031/FP16-INT8/person-reidentification-retail-0031.xml",
            "onnx-qdq-ultraface-slim320/model.onnx",
            "onnx-fp32-mobilenetv1-025-224/mobilenet_v1_0.25_224.onnx",
            "tflite-mobilenet-v1-025-224/mobilenet_v1_0.25_224_quant.tflite",
            "tflite-mlperf-tiny/ic_resnet8_int8.tflite",
            "tflite-mcunet-vww/vww.tflite",
            "tflite-kwt1/kwt1.tflite",
            "tflite-dtln/model_quant_1.tflite")


def optional_passes():
    with open(os.path.join(ROOT, "executor/program/program-passes.def")) as f:
        rows = re.findall(r"^LPT_PROGRAM_PASS \((\w+), (\w+)\)$", f.read(), re.M)
    return [name.replace("_", "-") for name, flag in rows if flag in ("OPTIONAL", "FUSING", "DROPPING")]


def outputs_of(model, folder, *options):
    """What the program says, or its outputs: {name: bytes}."""
    said = attempt("exec", model, "--random=17", "-o", folder, *options)
    if said:
        return said
    files = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            files[name] = f.read()
    return files


def main():
    folder = models()
    passes = optional_passes()
    with tempfile.TemporaryDirectory() as scratch:
        for n, network in enumerate(NETWORKS):
            path, name = os.path.join(folder, network), network.split("/")[0]
            all_passes = outputs_of(path, os.path.join(scratch, "%d-all" % n))
            if isinstance(all_passes, str) or not all_passes:
                case(name, False, all_passes or "no outputs")
                continue
            other = [p for p in passes if outputs_of(path, os.path.join(scratch, "%d-%s" % (n, p)), "--plan-disable=" + p) != all_passes]
            case(name, not other, "other bytes without " + ", ".join(other) if other else
                 "%d outputs, without each of %d passes" % (len(all_passes), len(passes)))
    finish()


main()
