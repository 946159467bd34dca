#!/usr/bin/env python3
"""A device behind the row protocol: the rescale of a record, by the model of test/exact, which shares no code with ours.

  device.py RULE.json TYPE [FAULT] IN_DIR OUT_DIR     rows of multipliers and shifts, or of three scales

RULE.json: fields of the section `rescale` (the others have the defaults of record.def); TYPE: i8, u8, i16.
FAULT: `stuck BIT`, a bit of the codes that is always 1; `exit`, `hang`,
`length`, `type`, `range`, `moody`, `nothing`, `garbage`: what is no answer."""
import json
import math
import os
import random
import sys
import time
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "exact"))
import npy
import records
import rescale
from numbers_exact import Refused, exponent

TYPES = {"i8": (8, True, "int8"), "u8": (8, False, "uint8"), "i16": (16, True, "int16")}
DEFINITION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schemes", "record", "record.def")


def given(rule, multiplier, shift):
    """A multiplier and a total right shift that are given: what registers do not hold is refused."""
    limit = 1 if rule["encoding"] == "shift" else 1 << rule["multiplier_bits"]
    steps = rule["round"]
    first = steps[0][0] if len(steps) > 1 else 0
    if abs(multiplier) > limit or not rule["shift_min"] <= shift <= rule["shift_max"]:
        raise Refused("outside the registers")
    if rule["left_shift"] != "product" and first - shift > 31:
        raise Refused("more than 32 bits to the left")
    sign = -1 if multiplier < 0 else 1
    scale = rescale.reduce(rule, abs(multiplier), shift) if rule["encoding"] == "multiplier" else rescale.Scale(abs(multiplier), shift)
    return rescale.Scale(sign * scale.multiplier, scale.shift)


def formed(rule, in_scale, weight_scale, out_scale):
    """R of three scales, as the rule forms and encodes it."""
    scales = Fraction(in_scale), Fraction(weight_scale), Fraction(out_scale)
    if rule["scale"] == "power-of-two":
        exact = abs(scales[0] * scales[1] / scales[2])
        if exact and exact != Fraction(2) ** (exponent(exact) - 1):
            raise Refused("no power of two")
    single = rescale.form("f32" if rule["scale"] == "f32-steps" else rule["scale"], *scales)
    if abs(single) == math.inf or single < 0 and not rule["negative_scale"]:
        raise Refused("R is no number, or negative")
    if rule["encoding"] in ("glow", "float32") and single and not 0 < abs(rescale.f32(single)) < math.inf:
        raise Refused("R is no float32")
    return rescale.encode(rule, rescale.form(rule["scale"], *scales))


def column(folder, name):
    path = os.path.join(folder, name + ".npy")
    return npy.load(path)[2] if os.path.exists(path) else None


# What a device takes of multipliers, or of scales, that records take.
TAKES = {
    "unsigned": lambda multiplier, shift: multiplier >= 0,
    "up to 1000": lambda multiplier, shift: -1000 <= multiplier <= 1000,
    "not 0": lambda multiplier, shift: multiplier != 0,
    "positive": lambda *scales: min(scales) > 0,
}


class Device:
    takes = staticmethod(lambda *key: True)

    def __init__(self, rule, kind):
        definition = records.read_definition(DEFINITION)
        self.rule = {name: field.default for name, field in definition["rescale"].items()}
        self.rule["round"] = records.parse_steps("31 half-up, half-away")
        self.rule.update(rule)
        self.rule["round"] = [tuple(step) for step in self.rule["round"]]
        self.kind = kind
        self.scales = {}

    def scale(self, key):
        if key not in self.scales:
            try:
                if not self.takes(*key):
                    raise Refused("not taken")
                self.scales[key] = given(self.rule, *key) if len(key) == 2 else formed(self.rule, *key)
            except Refused:
                self.scales[key] = None
        return self.scales[key]

    def one(self, acc, zero, key, bounds):
        """The code, or None."""
        scale = self.scale(key)
        if scale is None:
            return None
        try:
            return rescale.apply(self.rule, scale, acc, zero, bounds, self.kind[:2])
        except Refused:
            return None

    def rows(self, folder):
        acc, zero = column(folder, "acc"), column(folder, "zp")
        names = ["multiplier", "shift"] if column(folder, "multiplier") else ["in_scale", "weight_scale", "out_scale"]
        keys = list(zip(*[column(folder, name) for name in names]))
        lo, hi = column(folder, "lo"), column(folder, "hi")
        bounds = list(zip(lo, hi)) if lo else [None] * len(acc)
        return [self.one(*row) for row in zip(acc, zero, keys, bounds)]


def faulty(codes, fault, kind):
    if not fault:
        return codes
    if fault[0] == "stuck":
        bit = 1 << int(fault[1])
        return [c if c is None else c | bit for c in codes]
    if fault[0] == "exit":
        sys.exit(3)
    if fault[0] == "hang":
        time.sleep(60)
    if fault[0] == "nothing":
        sys.exit(0)
    if fault[0] == "garbage":
        with open(os.path.join(sys.argv[-1], "out.npy"), "w", encoding="utf-8") as f:
            f.write("no array")
        sys.exit(0)
    if fault[0] == "length":
        return codes[1:]
    if fault[0] == "moody":
        return [c if c is None else max(0, min(100, c + random.randint(0, 1))) for c in codes]
    return codes


def main():
    name, kind = sys.argv[1], TYPES[sys.argv[2]]
    fault, (source, target) = sys.argv[3:-2], sys.argv[-2:]
    with open(name, encoding="utf-8") as f:
        device = Device(json.load(f), kind)
    device.takes = TAKES.get(" ".join(fault), device.takes)
    codes = faulty(device.rows(source), fault, kind)
    out = "float32" if fault[:1] == ["type"] else "int32" if fault[:1] == ["range"] else kind[2]
    plain = [0 if c is None else c + 70000 if fault[:1] == ["range"] else float(c) if out == "float32" else c for c in codes]
    npy.save(os.path.join(target, "out.npy"), out, [len(codes)], plain)
    npy.save(os.path.join(target, "errors.npy"), "uint8", [len(codes)], [int(c is None) for c in codes])


if __name__ == "__main__":
    main()
