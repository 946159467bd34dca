#!/usr/bin/env python3
"""mac_twin.py ASSAY [SEED [RECORDS]]: `assay scheme dot` against the rationals of mac_model.py.

Drawn records, 40 drawn dots each (250 records: 10,000); every code of the formats of at most 8 bits, as an element
and as a scale. The seed is printed; without one it is drawn."""
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from mac_draw import NANS, SMALL, draw_record, draw_row, multiple  # noqa: E402
from mac_model import FORMATS, Unit, complete  # noqa: E402
from tap import Tap  # noqa: E402

ASSAY = os.path.realpath(sys.argv[1])
ROWS = 40
# ---- files ----

def npy(name, bits, shape, values):
    kind, letter = {8: ("|u1", "B"), 16: ("<u2", "H"), 32: ("<u4", "I"), 64: ("<u8", "Q")}[bits]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{d},' for d in shape)}), }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}{letter}", *values))


def codes(name, bits):
    with open(name, "rb") as f:
        data = f.read()
    (length,) = struct.unpack_from("<H", data, 8)
    return list(struct.unpack_from(f"<{(len(data) - 10 - length) * 8 // bits}{ {16: 'H', 32: 'I', 64: 'Q'}[bits]}",
                                   data, 10 + length))


def unit_file(record):
    lines = ["unit: drawn", "mac:"]
    for name, value in record.items():
        lines.append(f"  {name}: {'none' if value is None else value}")
    with open("unit.yaml", "w") as f:
        f.write("\n".join(lines) + "\n")


def shipped(record, rows):
    """rows: (a, b, c, scale_a, scale_b), as `assay scheme dot` answers."""
    unit_file(record)
    r = complete(record)
    n, k = len(rows), len(rows[0][0])
    arguments = [ASSAY, "scheme", "dot", "./unit.yaml", "-o", "d.npy"]
    columns = [("a", r["a"], k), ("b", r["b"], k), ("c", r["acc"], None)]
    if r["scale_block"]:
        columns += [(s, r["scale"], k // r["scale_block"]) for s in ("scale-a", "scale-b")]
    for i, (name, f, width) in enumerate(columns):
        flat = [row[i] for row in rows] if width is None else [x for row in rows for x in row[i]]
        npy(name + ".npy", FORMATS[f][0], (n,) if width is None else (n, width), flat)
        arguments += ["--" + name, name + ".npy"]
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    return codes("d.npy", FORMATS[r["out"]][0])


# ---- comparison ----

def differences(record, rows):
    got = shipped(record, rows)
    if isinstance(got, str):
        return [got]
    unit = Unit(record)
    wrong = []
    for row, d in zip(rows, got):
        expected = unit.dot(*row)
        if d != expected:
            wrong.append(f"{d:x}, expected {expected:x}: {record} {[[hex(x) for x in p] if isinstance(p, list) else hex(p) for p in row]}")
    return wrong


def drawn_records(tap, seed, count):
    rng = random.Random(seed)
    wrong, rows = [], 0
    for _ in range(count):
        record = draw_record(rng)
        r = complete(record)
        each = multiple(record)
        k = each * rng.choice((1, 1, 2, 3) if each < 8 else (1, 1, 2) if each < 20 else (1,))
        drawn = [draw_row(rng, r, k) for _ in range(ROWS)]
        rows += ROWS
        wrong += differences(record, drawn)
        if len(wrong) > 5:
            break
    tap.check(not wrong, f"{count} drawn records, {rows} dots, seed {seed}", "\n".join(wrong[:3]))


def every_code(tap):
    """Times 1 into f64, as it is and flushed; and as a scale of 1."""
    one = 0x3FF0000000000000
    for f in SMALL:
        used = 256 if FORMATS[f][4] == "integer" else 1 << (1 + FORMATS[f][1] + FORMATS[f][2])
        for flush in ("none", "signed", "plus"):
            record = dict(a=f, b="f64", acc="f64", out="f64", group=1, nan=NANS["f64"], zero_sign="ieee", flush_in=flush,
                          nan_rule="operand")
            wrong = differences(record, [([x], [one], 1 << 63, [], []) for x in range(used)])
            tap.check(not wrong, f"every code of {f}, flush {flush}", "\n".join(wrong[:3]))
    for f in ("e8m0", "ue4m3"):
        record = dict(a="f64", b="f64", acc="f64", out="f64", group=1, nan=NANS["f64"], scale=f, scale_block=1)
        for other in (127, 56):
            wrong = differences(record, [([one], [one], 0, [x], [other]) for x in range(256)])
            tap.check(not wrong, f"every scale of {f} by {other}", "\n".join(wrong[:3]))


def main():
    tap = Tap()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 250
    every_code(tap)
    drawn_records(tap, seed, count)
    tap.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    try:
        main()
    finally:
        os.chdir("/")
