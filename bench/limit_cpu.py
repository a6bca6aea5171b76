"""Copies of peers' libraries that ask bench/peers/limit-cpu.c, not the processor, what it knows.

limited (library, folder): the copy in folder, in which each `cpuid` (0f a2) that objdump finds is `ud2` (0f 0b). For
x86-64 alone.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess

LEVELS = ("avx2", "avxvnni")


def sections(library):
    """Address, place in the file and length of what the file has of each section."""
    text = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
    rows = re.finditer(r"\] \S+ +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", text)
    return [tuple(int(x, 16) for x in row.groups()) for row in rows]


def limited(library, folder):
    copy = os.path.join(folder, "limited-" + os.path.basename(library))
    if os.path.exists(copy) and os.path.getmtime(copy) >= os.path.getmtime(library):
        return copy
    with open(library, "rb") as f:
        data = bytearray(f.read())
    places = sections(library)
    code = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", library], stdout=subprocess.PIPE, text=True)
    for line in code.stdout:
        if line.rstrip().endswith("cpuid"):
            address = int(line.split(":")[0], 16)
            at = next(address - start + place for start, place, size in places if start <= address < start + size)
            assert data[at:at + 2] == b"\x0f\xa2"
            data[at:at + 2] = b"\x0f\x0b"
    os.makedirs(folder, exist_ok=True)
    with open(copy, "wb") as f:
        f.write(data)
    return copy
