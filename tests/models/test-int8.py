#!/usr/bin/python3
"""Real FakeQuantize networks, lowered to int8, against the stored results of the fake-quantised graphs.

    test-int8.py LPTC SHARED

SHARED is the folder with the models (skipped where it is absent). Every compute op whose inputs are quantised must run on
integers, and the results must agree as well as OpenVINO's own int8 ones do. Face detection flips many codes between two right
evaluations: its box deltas are held against the float64 evaluation of the graph (exact.py) by three times the mean that SOURCE.md
states for float32 noise, since the stored float32 ones are further than that from it themselves.
Prints TAP, with the numbers behind each case.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import case, execute, finish, lptc, models, np, overlap  # noqa: E402
from exact import Network  # noqa: E402

MODELS = models()
COMPUTE = ("Convolution", "GroupConvolution", "MatMul")


def network(name):
    """The folder and the model without its extension."""
    folder = os.path.join(MODELS, "ir-" + name)
    return folder, "%s/FP16-INT8/%s" % (folder, name)


def golden(folder, sample, name):
    return np.load("%s/golden/%s.%s.npy" % (folder, sample, name)).astype(np.float64)


def feeds(folder, sample, names, tmp):
    for name in names:
        np.save("%s/%s.npy" % (tmp, name), golden(folder, sample, "in." + name).astype(np.float32))
    return ["%s=%s/%s.npy" % (name, tmp, name) for name in names]


def integers(name, model):
    rows = [row for row in json.loads(lptc("explain", model + ".xml", "--json")) if row["op"] in COMPUTE]
    real = [row["name"] for row in rows if row["precision"].startswith("f") and "no quantization" not in row["reason"]]
    case(name + "/integers", rows and not real, "%d compute ops, real though quantised: %s" % (len(rows), ", ".join(real) or "none"))


def results(name, inputs, outputs, tmp):
    """(case, sample, stored, ours) of the outputs, concatenated: lowered, and after LPT alone as an IR that runs in floats."""
    folder, model = network(name)
    integers(name, model)
    lptc("transform", model + ".xml", "-o", tmp + "/int8.json")
    lptc("transform", model + ".xml", "--until", "cleanup", "-o", tmp + "/lpt.xml")
    for file, options in (("int8.json", ()), ("lpt.xml", ("--reference",))):
        for sample in ("real", "seed"):
            want = np.concatenate([golden(folder, sample, "FP16-INT8.out_" + o).ravel() for o in outputs])
            got = execute(tmp + "/" + file, feeds(folder, sample, inputs, tmp), tmp + "/out", *outputs, options=options)
            yield "%s/%s-%s" % (name, os.path.splitext(file)[0], sample), sample, want, np.concatenate([g.ravel() for g in got])


def within(name, bound, inputs, outputs, tmp):
    for label, _, want, got in results(name, inputs, outputs, tmp):
        worst = np.abs(want - got).max()
        case(label, worst <= bound, "differs by %.2g at most, bound %g" % (worst, bound))


def alike(name, least, inputs, outputs, tmp):
    for label, sample, want, got in results(name, inputs, outputs, tmp):
        cosine = want @ got / np.sqrt(want @ want * (got @ got))
        case(label, cosine >= least[sample], "cosine %.5f, least %g" % (cosine, least[sample]))


# --- faces: rows (image, label, score, box)

DELTAS, SCORES, BOXES = "fc7_mbox_loc_flat", "mbox_conf_flatten", "detection_out"
FLOOR = {"real": {DELTAS: 0.001828, SCORES: 0.000032}, "seed": {DELTAS: 0.004748, SCORES: 0.000080}}


def faces(tmp):
    name = "face-detection-retail-0004"
    folder, model = network(name)
    integers(name, model)
    lptc("transform", model + ".xml", "-o", tmp + "/net.json")
    lptc("transform", model + ".xml", "--output", DELTAS, "--output", SCORES, "-o", tmp + "/cut.json")
    for sample, floor in FLOOR.items():
        feed = feeds(folder, sample, ["data"], tmp)
        deltas, scores = execute(tmp + "/cut.json", feed, tmp + "/cut", DELTAS, SCORES)
        stored = golden(folder, sample, "FP16-INT8.det_conf").ravel()
        mean = np.abs(scores.ravel() - stored).mean()
        case("%s/%s-scores" % (name, sample), mean <= 3 * floor[SCORES], "differ by %.6f in the mean, bound %.6f" % (mean, 3 * floor[SCORES]))
        exact = Network(model).run(DELTAS, {"data": golden(folder, sample, "in.data")})
        stored = golden(folder, sample, "FP16-INT8.det_loc").ravel()
        mean = np.abs(deltas.ravel() - exact).mean()
        case("%s/%s-deltas" % (name, sample), mean <= 3 * floor[DELTAS],
             "differ from float64 by %.6f in the mean, bound %.6f; from the stored ones by %.6f, which differ from float64 by %.6f" %
             (mean, 3 * floor[DELTAS], np.abs(deltas.ravel() - stored).mean(), np.abs(exact - stored).mean()))
    feed = feeds(folder, "real", ["data"], tmp)
    found = []
    for out, source, options in (("int8", tmp + "/net.json", ()), ("ref", model + ".xml", ("--reference",))):
        rows = execute(source, feed, tmp + "/" + out, BOXES, options=options)[0].reshape(-1, 7)
        found.append(rows[rows[:, 2] > 0.5])
    got, want = found
    pairs = [max(got, key=lambda g: overlap(g[3:], w[3:])) for w in want] if len(got) else []
    least = min((overlap(g[3:], w[3:]) for g, w in zip(pairs, want)), default=0)
    apart = max((abs(g[2] - w[2]) for g, w in zip(pairs, want)), default=1)
    case(name + "/boxes", len(got) == len(want) > 0 and least >= 0.9 and apart <= 0.02,
         "%d faces, reference %d, least IoU %.3f, scores within %.4f" % (len(got), len(want), least, apart))


with tempfile.TemporaryDirectory() as work:
    within("head-pose-estimation-adas-0001", 0.05, ["data"], ["angle_y_fc", "angle_p_fc", "angle_r_fc"], work)
    within("gaze-estimation-adas-0002", 0.005, ["head_pose_angles", "left_eye_image", "right_eye_image"], ["gaze_vector"], work)
    alike("person-reidentification-retail-0031", {"real": 0.998, "seed": 0.994}, ["data"], ["ip_reid"], work)
    faces(work)
finish()
