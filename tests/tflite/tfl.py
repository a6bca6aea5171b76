"""Writes .tflite files for tests: nested dicts whose keys are the fields of frontends/tflite/tflite-schema.def.

    write ({"version": 3, "subgraphs": [{"tensors": [...], ...}], ...}) -> bytes
    model ([tensor (...), ...], [op (...), ...], inputs, outputs) -> bytes

A union is (table name, dict). Fields that are None are left out; the rest is written, defaults too.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import struct

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SCALARS = {"BOOL": "B", "I8": "b", "U8": "B", "I32": "i", "U32": "I", "I64": "q", "U64": "Q", "F32": "f"}
VECTORS = {"BOOLS": "B", "U8S": "B", "U16S": "H", "I32S": "i", "U32S": "I", "I64S": "q", "F32S": "f"}
TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "complex64": 8, "int8": 9, "float64": 10,
         "uint64": 12, "uint32": 15, "uint16": 16}


def read_schema():
    tables, unions, codes = {}, {}, {}
    folder = os.path.join(HERE, "../../frontends/tflite")
    for name in ("tflite-schema.def", "tflite-options.def"):
        with open(os.path.join(folder, name)) as f:
            for line in f:
                m = re.match(r"\s*TFL_FIELD \((\w+), (\w+), (\d+), (\w+), (\w+), (-?\d+)\)", line)
                if m:
                    tables.setdefault(m[1], {})[m[2]] = (int(m[3]), m[4], m[5])
                m = re.match(r"TFL_TABLE \((\w+)\)", line)
                if m:
                    tables.setdefault(m[1], {})
                m = re.match(r"TFL_MEMBER \((\w+), (\d+), (\w+)\)", line)
                if m:
                    unions[m[1], m[3]] = int(m[2])
    with open(os.path.join(folder, "tflite-ops.def")) as f:
        rows = f.read()
    for m in re.finditer(r"^TFL_(?:NO_)?OP \((\d+), (\w+)", rows, re.M):
        codes[m[2]] = int(m[1])
    return tables, unions, codes, re.findall(r'^TFL_CUSTOM \("(\w+)", \w+, ', rows, re.M)


TABLES, UNIONS, CODES, CUSTOM = read_schema()


class Writer:
    """Front to back: a table, then what it points to."""

    def __init__(self):
        self.out = bytearray(b"\0\0\0\0TFL3")

    def align(self, n, ahead=0):
        while (len(self.out) + ahead) % n:
            self.out.append(0)

    def point(self, at, to):
        self.out[at:at + 4] = struct.pack("<I", to - at)

    def vector(self, items, code, align=4):
        self.align(max(align, 4), 4)
        at = len(self.out)
        self.out += struct.pack("<I", len(items)) + (bytes(items) if code == "B" else struct.pack("<%d%s" % (len(items), code), *items))
        return at

    def string(self, text):
        data = text.encode() if isinstance(text, str) else text
        at = self.vector(data, "B")
        self.out.append(0)
        return at

    def value(self, kind, extra, value):
        if kind == "STRING":
            return self.string(value)
        if kind in VECTORS:
            return self.vector(value, VECTORS[kind], 16 if kind == "U8S" else struct.calcsize(VECTORS[kind]))
        if kind == "TABLES":
            at = self.vector([0] * len(value), "I")
            for i, item in enumerate(value):
                self.point(at + 4 + 4 * i, self.table(extra, item))
            return at
        return self.table(value[0] if kind == "UNION" else extra, value[1] if kind == "UNION" else value)

    def table(self, name, fields):
        rows = []
        for key, value in fields.items():
            if value is None:
                continue
            slot, kind, extra = TABLES[name][key]
            if kind == "UNION":
                rows.append((slot - 1, "U8", None, UNIONS[extra, value[0]]))
            rows.append((slot, kind, extra, value))
        size = {r[0]: struct.calcsize(SCALARS.get(r[1], "I")) for r in rows}
        slots, at = [0] * (max(size) + 1 if size else 0), 4
        for row in sorted(rows, key=lambda r: -size[r[0]]):
            at += -at % size[row[0]] if size[row[0]] < 8 else -(at - 4) % 8
            slots[row[0]] = at
            at += size[row[0]]
        vtable = struct.pack("<HH%dH" % len(slots), 4 + 2 * len(slots), at, *slots)
        self.align(2)
        self.align(8, len(vtable) + 4)
        start = len(self.out)
        self.out += vtable
        table = len(self.out)
        self.out += struct.pack("<i", table - start) + bytes(at - 4)
        for slot, kind, extra, value in rows:
            place = table + slots[slot]
            if kind in SCALARS:
                self.out[place:place + size[slot]] = struct.pack("<" + SCALARS[kind], value)
        for slot, kind, extra, value in rows:
            if kind not in SCALARS:
                self.point(table + slots[slot], self.value(kind, extra, value))
        return table


def write(model):
    w = Writer()
    w.point(0, w.table("Model", model))
    return bytes(w.out)


def field(data, table, name, slot):
    """Where a field lies; 0: it is not there."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    at = 4 + 2 * TABLES[name][slot][0]
    place = struct.unpack_from("<H", data, vtable + at)[0] if at < struct.unpack_from("<H", data, vtable)[0] else 0
    return table + place if place else 0


def follow(data, at):
    return at + struct.unpack_from("<I", data, at)[0]


def operators(data):
    """Names of the operator codes of a file that is not broken."""
    names = {v: k for k, v in CODES.items()}
    found = set()
    codes = follow(data, field(data, follow(data, 0), "Model", "operator_codes"))
    for i in range(struct.unpack_from("<I", data, codes)[0]):
        table = follow(data, codes + 4 + 4 * i)
        old, new, custom = (field(data, table, "OperatorCode", n) for n in ("deprecated_builtin_code", "builtin_code", "custom_code"))
        code = max(struct.unpack_from("<b", data, old)[0] if old else 0, struct.unpack_from("<i", data, new)[0] if new else 0)
        if code != 32:
            found.add(names.get(code, str(code)))
        elif custom:
            at = follow(data, custom)
            found.add(data[at + 4:at + 4 + struct.unpack_from("<I", data, at)[0]].decode())
    return found


def tensor(name, dtype, shape, data=None, scale=None, zero=0, axis=0, **more):
    """A tensor; scale a number or a list; data an array or None."""
    return dict(name=name, dtype=dtype, shape=list(shape), data=data, scale=scale, zero=zero, axis=axis, more=more)


def op(name, inputs, outputs, options=None, custom=None, version=1, options_2=None, raw=None):
    return dict(name=name, inputs=inputs, outputs=outputs, options=options, custom=custom, version=version, options_2=options_2, raw=raw)


def subgraph(tensors, ops, inputs, outputs, buffers, codes, name="main"):
    rows = []
    for t in tensors:
        buffer = 0
        if t["data"] is not None:
            buffer = len(buffers)
            data = t["data"] if isinstance(t["data"], bytes) else np.ascontiguousarray(t["data"]).tobytes()
            buffers.append({"data": list(data)})
        quant = None
        if t["scale"] is not None:
            scales = t["scale"] if isinstance(t["scale"], (list, np.ndarray)) else [t["scale"]]
            zeros = t["zero"] if isinstance(t["zero"], list) else [t["zero"]] * len(scales)
            quant = {"scale": [float(s) for s in scales], "zero_point": zeros, "quantized_dimension": t["axis"]}
        dtype = t["dtype"] if isinstance(t["dtype"], int) else TYPES[str(np.dtype(t["dtype"]))]
        rows.append({"shape": t["shape"], "type": dtype, "buffer": buffer, "name": t["name"], "quantization": quant, **t["more"]})
    operators = []
    for o in ops:
        key = (CODES[o["name"]] if o["custom"] is None else 32, o["custom"], o["version"])
        if key not in codes:
            codes.append(key)
        operators.append({"opcode_index": codes.index(key), "inputs": o["inputs"], "outputs": o["outputs"], "builtin_options": o["options"],
                          "builtin_options_2": o["options_2"], "custom_options": o["raw"]})
    return {"tensors": rows, "inputs": inputs, "outputs": outputs, "operators": operators, "name": name}


def models(graphs, **more):
    """Several subgraphs: [(tensors, ops, inputs, outputs), ...]."""
    buffers, codes = [{}], []
    subgraphs = [subgraph(*g, buffers, codes, "g%d" % i) for i, g in enumerate(graphs)]
    rows = [{"deprecated_builtin_code": min(c, 127), "builtin_code": c, "custom_code": custom, "version": v} for c, custom, v in codes]
    return write({"version": 3, "operator_codes": rows, "subgraphs": subgraphs, "description": "test", "buffers": buffers, **more})


def model(tensors, ops, inputs, outputs, **more):
    return models([(tensors, ops, inputs, outputs)], **more)


def flex_map(**values):
    """Options of a custom operator: a FlexBuffer of a map of numbers, texts and lists of whole numbers, everything 8 bytes wide."""
    out, places, behind = bytearray(), [], {}
    for key in sorted(values):
        places.append(len(out))
        out += key.encode() + b"\0"
    for key, value in values.items():
        out += bytes(-len(out) % 8)
        if isinstance(value, (str, list)):
            out += struct.pack("<q", len(value))
            behind[key] = len(out)
            out += value.encode() + b"\0" if isinstance(value, str) else struct.pack("<%dq" % len(value), *value)
    out += bytes(-len(out) % 8) + struct.pack("<q", len(places))
    keys = len(out)
    for place in places:
        out += struct.pack("<q", len(out) - place)
    out += struct.pack("<qqq", len(out) - keys, 8, len(places))
    first = len(out)
    kinds = {int: 1, float: 3, str: 5, list: 11}
    for key in sorted(values):
        value = len(out) - behind[key] if key in behind else values[key]
        out += struct.pack("<d" if isinstance(value, float) else "<q", value)
    out += bytes(kinds[type(values[key])] << 2 | 3 for key in sorted(values))
    out += bytes(-len(out) % 8)
    return bytes(out + struct.pack("<q", len(out) - first) + bytes([9 << 2 | 3, 8]))
