#!/usr/bin/python3
"""Real ONNX networks, lowered to int8: accuracy on MNIST's test images, faces found by UltraFace.

    test-onnx.py LPTC SHARED

SHARED is the folder with the models (skipped where it is absent). Prints TAP, with the numbers behind each case.

SPDX-License-Identifier: Apache-2.0
"""
import gzip
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import case, execute, finish, lptc, models, np, overlap  # noqa: E402

MODELS = models()


# --- digits

def idx(name):
    with gzip.open(os.path.join(MODELS, "data-mnist-t10k", name)) as f:
        data = np.frombuffer(f.read(), np.uint8)
    rank = data[3]
    return data[4 + 4 * rank:].reshape([int.from_bytes(bytes(data[4 + 4 * i:8 + 4 * i]), "big") for i in range(rank)])


def digits(tmp):
    images, labels = idx("t10k-images-idx3-ubyte.gz"), idx("t10k-labels-idx1-ubyte.gz")
    np.save(tmp + "/x.npy", images.reshape(-1, 1, 28, 28).astype(np.float32))
    feed, right = "Input3=%s/x.npy" % tmp, {}
    folder = os.path.join(MODELS, "onnx-qdq-mnist")
    lptc("transform", folder + "/model.onnx", "-o", tmp + "/int8.json")
    for name, model in (("float", folder + "/fp32.onnx"), ("int8", tmp + "/int8.json")):
        y, = execute(model, [feed], tmp + "/" + name, "Plus214_Output_0")
        right[name] = float(np.mean(y.reshape(len(labels), 10).argmax(1) == labels))
    case("mnist", right["int8"] >= right["float"] - 0.003,
         "%d images: float %.2f %%, int8 %.2f %%" % (len(labels), 100 * right["float"], 100 * right["int8"]))


# --- faces: single-shot boxes relative to priors

WIDTH, HEIGHT, SCORE, OVERLAP = 320, 240, 0.7, 0.5
PRIORS = ((8, (10, 16, 24)), (16, (32, 48)), (32, (64, 96)), (64, (128, 192, 256)))


def decode(deltas):
    size = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT])
    prior = np.array([((x + 0.5) * stride, (y + 0.5) * stride, side, side) for stride, sides in PRIORS
                      for y in range(-(-HEIGHT // stride)) for x in range(-(-WIDTH // stride)) for side in sides])
    prior = np.minimum(prior / size, 1)
    centre = prior[:, :2] + 0.1 * deltas[:, :2] * prior[:, 2:]
    half = np.exp(0.2 * deltas[:, 2:]) * prior[:, 2:] / 2
    return np.hstack([centre - half, centre + half])


def faces(scores, deltas):
    scores, boxes, kept = scores.reshape(-1, 2)[:, 1], decode(deltas.reshape(-1, 4)), []
    for i in np.argsort(-scores, kind="stable"):
        if scores[i] > SCORE and all(overlap(boxes[i], b) <= OVERLAP for b in kept):
            kept.append(boxes[i])
    return kept


def ultraface(name, tmp):
    folder = os.path.join(MODELS, name)
    want = faces(np.load(folder + "/output_0.npy"), np.load(folder + "/output_1.npy"))
    lptc("transform", folder + "/model.onnx", "-o", tmp + "/%s.json" % name)
    got = faces(*execute(tmp + "/%s.json" % name, ["input=%s/input_0.npy" % folder], tmp + "/" + name, "scores", "boxes"))
    match = [max((overlap(a, b) for b in got), default=0) for a in want]
    case(name, len(got) == len(want) > 0 and min(match) >= 0.9,
         "%d faces, ONNX Runtime %d, least IoU %.3f" % (len(got), len(want), min(match, default=0)))


with tempfile.TemporaryDirectory() as work:
    digits(work)
    ultraface("onnx-qdq-ultraface-rfb320", work)
    ultraface("onnx-qdq-ultraface-slim320", work)
finish()
