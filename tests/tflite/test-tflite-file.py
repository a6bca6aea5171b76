#!/usr/bin/python3
"""Where a .tflite has its numbers: in the FlatBuffer, behind it, in files beside it; and what is said of places that are none.

test-tflite-file.py LPTC. Prints TAP; without numpy it is skipped.

SPDX-License-Identifier: Apache-2.0
"""
import subprocess
import sys
import tempfile

from numpy_or_skip import np
from peer import own
from tfl import model, op, tensor

X = np.array([1, 2, 3, 4], np.float32)
W, V = np.array([10, 20, 30, 40], np.float32), np.array([0.5, 0.25, 0, 1], np.float32)
BESIDE = b"head" + W.tobytes() + V.tobytes()


def sums(w, v=None, **more):
    """x + w, + v where it is given; @w and @v are fields of a tensor."""
    tensors = [tensor("x", "float32", [4]), tensor("w", "float32", [4], **w)]
    ops = [op("ADD", [0, 1], [2], ("AddOptions", {}))]
    tensors.append(tensor("s" if v else "y", "float32", [4]))
    if v:
        tensors += [tensor("v", "float32", [4], **v), tensor("y", "float32", [4])]
        ops.append(op("ADD", [2, 3], [4], ("AddOptions", {})))
    return model(tensors, ops, [0], [len(tensors) - 1], **more)


def external(item=None, groups=None, **more):
    """w in the file beside; @item changes fields of its place."""
    place = {"id": 7, "group": 0, "offset": 4, "length": 16, **(item or {})}
    return sums({"external_buffer": 7}, external_buffer_groups=groups if groups is not None else [{"name": "w.bin"}], external_buffers=[place], **more)


def behind(offset=None, size=16):
    """w behind the FlatBuffer, where @offset says or else where it is."""
    fill = len(sums({"buffer": 1}, buffers=[{}, {"offset": 8, "size": size}]))
    data = sums({"buffer": 1}, buffers=[{}, {"offset": fill if offset is None else offset, "size": size}])
    return data + W.tobytes()


# What it shows, the model, what it makes of X, or what is said.
CASES = [
    ("inside", sums({"data": W}), X + W),
    ("inside, twice", sums({"data": W}, {"data": V}), X + W + V),
    ("behind", behind(), X + W),
    ("behind, past the end", behind(size=17), "buffer 1 reaches from byte "),
    ("behind, at no place", behind(offset=2 ** 63), "buffer 1 reaches from byte 9223372036854775808 "),
    ("behind, too short", behind(size=12), '"w"'),
    ("no such buffer", sums({"buffer": 9}), "buffer 9 of 1"),
    ("beside", external(), X + W),
    ("beside, unpacked", external({"packing": "unpacked"}), X + W),
    ("beside, packed", external({"packing": "lz4"}), 'unsupported packing "lz4" of an external buffer'),
    ("beside, another id", external({"id": 8}), "there is no external buffer 7"),
    ("beside, no such group", external({"group": 1}), "an external buffer without a file name"),
    ("beside, no name", external(groups=[{}]), "an external buffer without a file name"),
    ("beside, no file", external(groups=[{"name": "v.bin"}]), "v.bin"),
    ("beside, above", external(groups=[{"name": "../w.bin"}]), "external buffer"),
    ("beside, past the end", external({"offset": 21}), "external buffer 7 reaches from byte 21 past the end of the file (16 bytes)"),
    ("beside, huge", external({"offset": 8, "length": 2 ** 64 - 4}), "external buffer 7 reaches from byte 8 "),
    ("beside, twice", sums({"external_buffer": 1}, {"external_buffer": 2}, external_buffer_groups=[{"name": "w.bin"}],
                           external_buffers=[{"id": 1, "group": 0, "offset": 4, "length": 16}, {"id": 2, "group": 0, "offset": 20, "length": 16}]), X + W + V),
    ("schema 2", sums({"data": W}, version=2), "this is a TensorFlow Lite model of schema 2, not 3"),
    ("no operator code", sums({"data": W}, operator_codes=[]), "operator code 0 of 0"),
    ("custom without a name", sums({"data": W}, operator_codes=[{"builtin_code": 32, "version": 1}]), "operator code 0 is a custom operator without a name"),
    ("custom that is not known", sums({"data": W}, operator_codes=[{"builtin_code": 32, "custom_code": "Nobody", "version": 1}]), "Nobody"),
    ("an old code", sums({"data": W}, operator_codes=[{"deprecated_builtin_code": 0, "version": 1}]), X + W),
    ("an unknown code", sums({"data": W}, operator_codes=[{"builtin_code": 9999, "version": 1}]), "9999"),
    ("an unknown type", model([tensor("x", 77, [4]), tensor("y", 77, [4])], [op("ADD", [0, 0], [1], ("AddOptions", {}))], [0], [1]), "unsupported element type 77"),
]


def codes_in_blocks(lptc, folder, rows=64, columns=256):
    """What is wrong with a product of data rounded at run time with codes of 4 bits in blocks of 32, or None: it is one of codes, and written as such."""
    packed = bytes(i * 37 % 256 for i in range(rows * columns // 2))
    details = ("BlockwiseQuantization", {"scales": 3, "zero_points": -1, "block_size": 32})
    tensors = [tensor("x", "float32", (1, columns)), tensor("y", "float32", (1, rows)), tensor("w", 17, (rows, columns), packed, quantization={"details": details}),
               tensor("s", "float16", (rows, columns // 32), (1 + np.arange(rows * columns // 32) % 7).astype(np.float16).reshape(rows, -1) / 8)]
    with open(folder + "/blocks.tflite", "wb") as f:
        f.write(model(tensors, [op("FULLY_CONNECTED", [0, 2, -1], [1], ("FullyConnectedOptions", {}), version=13)], [0], [1]))
    paths = [folder + "/blocks" + end for end in (".tflite", ".lpt", "-anew.tflite")]
    text = subprocess.run([lptc, "print", paths[0]], capture_output=True, text=True)
    if "BlockMatMul(" not in text.stdout:
        return text.stderr + text.stdout
    for of, to in zip(paths, paths[1:]):
        done = subprocess.run([lptc, "transform", of, "-o", to], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
    with open(paths[0], "rb") as f, open(paths[2], "rb") as g:
        files = f.read(), g.read()
    if len(files[1]) > len(files[0]) + 1000:
        return "%d bytes, of %d" % (len(files[1]), len(files[0]))
    x = np.sin(np.arange(columns, dtype=np.float32))[None]
    before, after = (own(lptc, f, [x], ["x"], ["y"], [], folder) for f in files)
    return None if not isinstance(after, str) and np.array_equal(before[0], after[0]) else "other results: %s" % after


def main():
    lptc, bad = sys.argv[1], 0
    for k, (what, data, want) in enumerate(CASES):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/w.bin", "wb") as f:
                f.write(BESIDE)
            got = own(lptc, data, [X], ["x"], ["y"], [], folder)
        fine = want in got if isinstance(got, str) and isinstance(want, str) else not isinstance(got, str) and not isinstance(want, str) and np.array_equal(got[0], want)
        bad += not fine
        print("%s %d %s%s" % ("ok" if fine else "not ok", k + 1, what, "" if fine else " # %s" % str(got).replace("\n", "; ")))
    with tempfile.TemporaryDirectory() as folder:
        problem = codes_in_blocks(lptc, folder)
    bad += problem is not None
    print("%s %d weights in blocks, as many as networks have%s" % ("not ok" if problem else "ok", len(CASES) + 1, " # " + problem.replace("\n", "; ") if problem else ""))
    print("1..%d" % (len(CASES) + 1))
    sys.exit(bad > 0)


main()
