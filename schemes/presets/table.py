#!/usr/bin/env python3
"""Prints the table of presets in schemes/README.md from what the presets really say.

Usage: table.py ASSAY    (the assay command)
"""
import os
import re
import subprocess
import sys

COLUMNS = [
    ("preset", None),
    ("act, weights", lambda g: f"{kind(g, 'activation')}, {kind(g, 'weight')}"),
    ("zero points", lambda g: g("types.activation_zero_point") + ", " + g("types.weight_zero_point")),
    ("accumulator", lambda g: g("accumulator.bits") + " " + g("accumulator.overflow")
        + (", pairs" if g("accumulator.saturate_pairs") == "yes" else "")),
    ("R formed", lambda g: g("rescale.scale")),
    ("R encoded", lambda g: "m" + g("rescale.multiplier_bits")
        if g("rescale.encoding") == "multiplier" else g("rescale.encoding")),
    ("left shift", lambda g: g("rescale.left_shift")
        if g("rescale.encoding") in ("multiplier", "shift") else "-"),
    ("rounding", lambda g: g("rescale.round").strip("[]")),
    ("zero point", lambda g: g("rescale.zero_point")),
    ("add", lambda g: g("add.kind")),
    ("average pool", lambda g: g("pool.kind")),
    ("sigmoid", lambda g: g("unary.logistic")),
    ("softmax", lambda g: g("softmax.kind")),
]


def kind(g, what):
    return ("i" if g(f"types.{what}_signed") == "yes" else "u") + g(f"types.{what}_bits")


def record(assay, name):
    """Base record of a preset, {"section.key": text}."""
    text = subprocess.check_output([assay, "scheme", "show", name], text=True)
    fields, section = {}, None
    for line in text[text.index("\nscheme: ") + 1 :].splitlines():
        if m := re.match(r"^(\w+):$", line):
            section = m.group(1)
        elif m := re.match(r"^  (\w+): (.+)$", line):
            fields.setdefault(f"{section}.{m.group(1)}", m.group(2))
    return fields


assay = sys.argv[1]
listing = subprocess.check_output([assay, "scheme", "list"], text=True)
print("| " + " | ".join(title for title, _ in COLUMNS) + " |")
print("|" + "---|" * len(COLUMNS))
for line in listing.splitlines():
    name = line.split()[0]
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".yaml")):
        continue  # of matrix units: no record
    fields = record(assay, name)
    cells = [name] + [cell(fields.__getitem__) for _, cell in COLUMNS[1:]]
    print("| " + " | ".join(cells) + " |")
