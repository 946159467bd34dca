#!/usr/bin/env python3
"""A matrix unit behind the row protocol of `assay infer --kind dot`: the rationals of test/twin, which share no code with ours.

  dot_device.py RECORD.json [FAULT] IN_DIR OUT_DIR

RECORD.json: parameters that are not at their defaults. FAULT: `stuck BIT`, a bit of the results that is always 1; `exit`, `hang`,
`length`, `type`, `moody`, `nothing`: what is no answer."""
import json
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../twin"), os.path.join(HERE, "../exact")]
import npy  # noqa: E402
from mac_model import FORMATS, Unit, complete  # noqa: E402

TYPES = {8: "uint8", 16: "uint16", 32: "uint32", 64: "uint64"}


def rows_of(folder, record):
    """(a, b, c, scale_a, scale_b) of each row."""
    _, (n, k), a = npy.load(os.path.join(folder, "a.npy"))
    b, c = (npy.load(os.path.join(folder, name + ".npy"))[2] for name in "bc")
    blocks, scales = 0, ([], [])
    if record["scale_block"]:
        blocks = k // record["scale_block"]
        scales = [npy.load(os.path.join(folder, "scale-%s.npy" % side))[2] for side in "ab"]
    for i in range(n):
        of = [x[i * k:i * k + k] for x in (a, b)]
        yield of[0], of[1], c[i], *(s[i * blocks:i * blocks + blocks] for s in scales)


def main():
    *arguments, rows, answers = sys.argv[1:]
    with open(arguments[0], encoding="utf-8") as f:
        given = json.load(f)
    fault, *bit = arguments[1:] or [""]
    if fault == "exit":
        sys.exit(3)
    if fault == "hang":
        time.sleep(60)
    if fault == "nothing":
        sys.exit(0)
    unit, record = Unit(given), complete(given)
    d = [unit.dot(*row) for row in rows_of(rows, record)]
    bits = FORMATS[record["out"]][0]
    if fault == "stuck":
        d = [x | 1 << int(bit[0]) for x in d]
    if fault == "moody":
        d = [x ^ (random.random() < 0.5) for x in d]
    if fault == "length":
        d.pop()
    npy.save(os.path.join(answers, "out.npy"), "float32" if fault == "type" else TYPES[bits], (len(d),), d)


main()
