"""Networks of many architectures in every quantized form, for bench/compare --archgen.

The generator (tools/archgen/archgen.py beside the project, or another script with its options) makes DIR/NET/FORM.onnx,
fp32.onnx, inputs_K.npz, and report.json with the signal-to-noise ratio of each form against the float network as ONNX
Runtime runs it. Here are the making, our own signal-to-noise ratio on the same inputs, the share of multiply-accumulates
that ran on integers, and the table.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/tools/archgen/archgen.py")
FLOAT = "fp32"
REAL_TYPES = ("f32", "f16", "bf16", "f64", "none")


def listed(script):
    lines = subprocess.run([sys.executable, script, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line.split()[0] for line in lines.splitlines() if line.strip()]


def is_made(folder, seed):
    path = os.path.join(folder, "report.json")
    if not os.path.exists(path):
        return False
    with open(path) as f:
        return json.load(f)["seed"] == seed


def make(script, out, names, seed, library):
    """[(name, {form: file}, float file, None)] as compare.networks() has them; what is there with this seed is kept."""
    known = listed(script)
    for name in set(names) - set(known):
        sys.exit("compare: %s knows no network \"%s\"" % (os.path.basename(script), name))
    found = []
    for name in names or known:
        folder = os.path.join(out, name)
        if not is_made(folder, seed):
            subprocess.run([sys.executable, script, name, "--forms", "all", "--seed", str(seed), "--out", out], check=True,
                           stdout=subprocess.DEVNULL, env=dict(os.environ, ORT_LIB=library))
        forms = {os.path.splitext(os.path.basename(p))[0]: p for p in sorted(glob.glob(os.path.join(folder, "*.onnx")))}
        real = forms.pop(FLOAT)
        found.append((name, forms, real, None))
    return found


# --- accuracy

def outputs(lptc, path, inputs, *options):
    """All outputs for each input, one list; None where it does not run."""
    import numpy as np
    result = []
    for file in inputs:
        with tempfile.TemporaryDirectory() as td:
            if subprocess.run([lptc, "exec", path, "-i", file, "-o", td] + list(options), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode:
                return None
            result += [np.load(p).astype(np.float64).ravel() for p in sorted(glob.glob(os.path.join(td, "*.npy")))]
    return result


def sqnr(real, other):
    """dB over all arrays together."""
    import numpy as np
    a, b = np.concatenate(real), np.concatenate(other)
    error = ((a - b) ** 2).sum()
    return 10 * np.log10((a ** 2).sum() / error) if error else 999.0


def accuracy(lptc, network):
    """{form: (dB of ONNX Runtime, dB of lptc)} against the float network."""
    _, forms, real, _ = network
    folder = os.path.dirname(real)
    with open(os.path.join(folder, "report.json")) as f:
        theirs = json.load(f)["sqnr_db"]
    inputs = sorted(glob.glob(os.path.join(folder, "inputs_*.npz")))
    exact = outputs(lptc, real, inputs, "--float")
    found = {}
    for form, path in forms.items():
        ours = outputs(lptc, path, inputs) if exact else None
        db = theirs.get(form)
        found[form] = (db if isinstance(db, (int, float)) else None, sqnr(exact, ours) if ours else None)
    return found


# --- multiply-accumulates

def integer_share(lptc, path):
    """Of all multiply-accumulates that kernels did, the share on integers; None: it does not run."""
    done = subprocess.run([lptc, "bench", "--profile", "--json", "--iterations=1", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        return None
    sums = {}
    for row in json.loads(done.stdout)["profile"]:
        # A product of codes says "f32" where its results are: what it multiplies is in its kernel's name.
        integer = row["runsIn"] not in REAL_TYPES or re.match(r"(gemm|dwconv)_\w*[us]8", row["execType"])
        sums[bool(integer)] = sums.get(bool(integer), 0) + row["macs"]
    total = sum(sums.values())
    return sums.get(True, 0) / total if total else None


# --- table

def rows(lptc, networks, results):
    """One for each network, form and number of threads."""
    for network in networks:
        db = accuracy(lptc, network)
        share = {form: integer_share(lptc, path) for form, path in network[1].items()}
        for (name, threads), found in results.items():
            for form in network[1] if name == network[0] else ():
                ours, theirs = found.get(("lptc", form)), found.get(("ONNX Runtime", form))
                yield {"network": name, "form": form, "threads": threads, "lptc": ours, "onnxruntime": theirs,
                       "lptc_float": found.get(("lptc", "float")), "onnxruntime_float": found.get(("ONNX Runtime", "float")),
                       "onnxruntime_db": db[form][0], "lptc_db": db[form][1], "integer_macs": share[form]}
