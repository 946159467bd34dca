#!/usr/bin/env python3
"""assay infer asks devices with random records: each is found, or another that agrees with every row asked.

  sweep.py ASSAY [SEED [COUNT [KIND]]]        KIND: multiplier (default), scale; TAP; each device a line behind the last, with what is needed to see it again, the rows
asked and the seconds, the device's and the comparison's among them

The device and the comparison of what was found are the model of test/exact, which shares no code with ours."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "exact")]
import device
import records
from numbers_exact import MODES, f32, signed_range

WAYS = ["wrap", "saturate", "refuse"]


def some(rng, chance, drawn, otherwise):
    return drawn if rng.random() < chance else otherwise


def draw_rounds(rng):
    n = rng.choice([1, 1, 1, 2, 2, 3])
    return [[rng.choice([rng.randint(1, 31), 15, 31]), rng.choice(MODES)] for _ in range(n - 1)] + [[None, rng.choice(MODES)]]


def draw_multiplier(rng):
    """A rule of an integer encoding."""
    rule = {"round": draw_rounds(rng), "shift_sign": "right"}
    rule["multiplier_bits"] = some(rng, 0.6, rng.choice([31, 15, 16, 24]), rng.randint(1, 32))
    rule["shift_min"] = some(rng, 0.7, rng.choice([0, 1, 2, -8, 15]), -1100)
    rule["shift_max"] = some(rng, 0.8, rng.choice([31, 46, 62, 63]), rng.randint(max(rule["shift_min"], 20), 100))
    rule["left_shift"] = rng.choice(["product", "wrap", "saturate"])
    rule["pre_shift"] = some(rng, 0.6, "none", rng.choice(["fixed", "rest"]))
    rule["pre_shift_round"] = rng.choice(MODES) if rule["pre_shift"] != "none" else "floor"
    if rule["pre_shift"] == "fixed":
        rule["pre_shift_bits"] = rng.choice([rng.randint(1, 31), rng.randint(1, 12)])
    if rule["pre_shift"] == "rest":
        rule["round"] = [[rng.choice([7, 15, 31, rng.randint(1, 63)]), rng.choice(MODES)]]
    rule["operand_bits"] = some(rng, 0.25, rng.choice([16, 24, rng.randint(1, 40)]), 0)
    rule["product_bits"] = some(rng, 0.3, rng.choice([32, 48, rng.randint(2, 64)]), 0)
    rule["result_bits"] = some(rng, 0.4, rng.choice([32, 16, 17, rng.randint(1, 64)]), 0)
    rule["result_overflow"] = rng.choice(WAYS) if rule["result_bits"] else "saturate"
    rule["zero_point"] = rng.choice(["after", "after", "before"])
    rule["sum_bits"] = some(rng, 0.5, rng.choice([32, 16, rng.randint(1, 32)]), 0) if rule["zero_point"] == "after" else 0
    rule["sum_overflow"] = rng.choice(WAYS) if rule["sum_bits"] else "wrap"
    rule["store"] = rng.choice(["saturate", "saturate", "wrap"])
    if rule["multiplier_bits"] > 1:
        rule["reduced_bits"] = some(rng, 0.15, rng.randint(1, rule["multiplier_bits"] - 1), 0)
        rule["reduced_overflow"] = rng.choice(["cap", "renormalise"])
    rule["input_bits"] = some(rng, 0.1, rng.randint(8, 40), 0)
    rule["input_shift_range"] = rng.random() < 0.1
    return rule


def draw_scale_rule(rng):
    """A rule of any encoding, whose R is formed of three scales."""
    rule = draw_multiplier(rng)
    rule["encoding"] = rng.choice(["multiplier"] * 6 + ["float32", "float32", "float64", "thresholds", "glow", "shift"])
    rule["scale"] = rng.choice(["double", "double", "f32", "f32-product", "f32-reciprocal"])
    rule["multiplier_round"] = rng.choice(["half-away", "half-even", "trunc", rng.choice(MODES)])
    rule["multiplier_renormalise"] = rng.random() < 0.8
    rule["below_shift_min"] = rng.choice(["refuse", "refuse", "largest", "zero"])
    rule["beyond_shift_max"] = rng.choice(["zero", "zero", "refuse", "denormal", "unnormalised"])
    rule["denormal_round"] = rng.choice(MODES)
    rule["negative_scale"] = rng.random() < 0.1
    if rule["encoding"] == "multiplier":
        if rng.random() < 0.1:
            rule["scale"] = "power-of-two"
        return rule
    for name in ("pre_shift", "pre_shift_bits", "pre_shift_round", "reduced_bits", "reduced_overflow", "input_shift_range"):
        rule.pop(name, None)
    if rule["encoding"] == "shift":
        rule.update(scale="power-of-two", multiplier_bits=31, round=draw_rounds(rng), shift_max=rng.choice([31, 62]))
        return rule
    rule["multiplier_bits"] = 31
    if rule["encoding"] == "glow":
        rule["round"] = draw_rounds(rng)
        return rule
    for name in ("left_shift", "operand_bits", "product_bits", "result_bits", "result_overflow", "shift_min", "shift_max"):
        rule.pop(name, None)
    rule["round"] = [[None, rng.choice(MODES)]]
    rule["zero_point"] = rng.choice(["after", "inside"])
    if rule["encoding"] == "thresholds":
        rule.update(zero_point="after", store="saturate", sum_bits=0, input_bits=0)
        return rule
    rule["float_overflow"] = rng.choice(["saturate", "saturate", "int-min"])
    if rule["encoding"] == "float32":
        rule["scale"] = rng.choice(["f32", "f32", "f32-reciprocal", "double", "f32-steps"])
        if rng.random() < 0.2:
            rule.update(float_rounding="add-one", round=[[None, "half-even"]])
    return rule


def few_powers(rng, bits):
    return sum(rng.choice([-1, 1]) << rng.randint(0, bits - 1) for _ in range(rng.randint(1, 4)))


def draw_row(rng, domain, kind):
    """(acc, zero point, (multiplier, shift), bounds) of the domain."""
    low, high = signed_range(kind[0]) if kind[1] else (0, (1 << kind[0]) - 1)
    lo, hi = signed_range(domain["acc_bits"])
    bits = rng.randint(1, domain["acc_bits"])
    acc = rng.choice([few_powers(rng, bits), rng.randint(-1 << bits - 1, 1 << bits - 1), rng.choice([lo, hi, 0, 1, -1])])
    acc = min(max(acc, lo), hi)
    first, last = domain["multiplier"]
    multiplier = rng.choice([1 << rng.randint(0, 32), few_powers(rng, 32), rng.randint(first, last), first, last, rng.randint(0, 1 << rng.randint(0, 32))])
    multiplier = min(max(multiplier, first), last)
    shift = abs(acc).bit_length() + abs(multiplier).bit_length() - rng.choice([rng.randint(-3, kind[0] + 1), rng.randint(0, 66)])
    shift = min(max(rng.choice([shift, shift, shift, rng.randint(*domain["shift"])]), domain["shift"][0]), domain["shift"][1])
    bounds = tuple(sorted([rng.randint(low, high), rng.randint(low, high)])) if rng.random() < 0.15 else None
    return acc, rng.choice([0, low, high, rng.randint(low, high)]) if low else rng.randint(low, high), (multiplier, shift), bounds


def draw_scales(rng, acc, kind, powers):
    """Three float32 scales; R brings many accumulators near the codes."""
    size = rng.choice([rng.randint(-3, kind[0] + 1), rng.randint(-3, kind[0] + 1), rng.randint(-40, 40)])
    e = min(max(size - abs(acc).bit_length(), -80), 50)
    if powers or rng.random() < 0.1:
        first, last = rng.randint(-12, 2), rng.randint(-8, 8)
        return 2.0 ** first, 2.0 ** (e - first + last), 2.0 ** last
    first, last = (float(f32(Fraction(rng.randint(1 << 23, (1 << 24) - 1), 1 << 23 + rng.randint(0, 12)))) for _ in range(2))
    real = Fraction(2) ** e * Fraction(rng.randint(1 << 30, (1 << 31) - 1), 1 << 30)
    return first, float(f32(real * Fraction(last) / Fraction(first))), last


def draw_scale_row(rng, domain, kind, powers):
    acc, zero, _, bounds = draw_row(rng, dict(domain, multiplier=[0, 1 << 31], shift=[0, 62]), kind)
    scales = draw_scales(rng, acc, kind, powers)
    if rng.random() < 0.4 and acc:  # beside a tie
        real = Fraction(scales[0]) * Fraction(scales[1]) / Fraction(scales[2])
        near = (Fraction(2 * rng.randint(-1 << kind[0], 1 << kind[0]) + 1, 2) - zero) / real
        low, high = signed_range(domain["acc_bits"])
        acc = min(max(near.numerator // near.denominator + rng.randint(0, 1), low), high)
    return acc, zero, scales, bounds


def read_found(path):
    """The section `rescale` of the file found."""
    rule, inside = {}, False
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith(" "):
                inside = line.startswith("rescale:")
            elif inside:
                name, value = line.strip().split(": ", 1)
                if value.startswith("["):
                    rule[name] = records.parse_steps(value[1:-1])
                else:
                    rule[name] = {"yes": True, "no": False}.get(value, int(value) if value.lstrip("-").isdigit() else value)
    return rule


def at_step(rng, of, row, domain):
    """The accumulator of a row moved to where the code of a device changes, or the row."""
    acc, rest = row[0], row[1:]
    first, (lo, hi) = of.one(*row), signed_range(domain["acc_bits"])
    way = rng.choice([-1, 1])
    same, other = acc, None
    for i in range(domain["acc_bits"]):
        at = acc + (way << i)
        if not lo <= at <= hi:
            return row
        if of.one(at, *rest) != first:
            other = at
            break
        same = at
    while other is not None and abs(other - same) > 1:
        at = (other + same) // 2
        if of.one(at, *rest) == first:
            same = at
        else:
            other = at
    return (row[0] if other is None else rng.choice([same, other]), *rest)


def is_inside(row, domain):
    """Whether R is one of those that are claimed."""
    if "real_log2" not in domain:
        return True
    low, high = domain["real_log2"]
    in_scale, weight, out = (Fraction(s) for s in row[2])
    return Fraction(2) ** low <= in_scale * weight / out < Fraction(2) ** high


def differing(rng, rule, found, domain, kind, rows):
    """A row on which two rules part, or None; a part of the rows is where one or the other changes its code."""
    a, b = device.Device(rule, kind), device.Device(found, kind)
    powers = rule.get("scale") == "power-of-two"
    for i in range(rows):
        row = draw_row(rng, domain, kind) if "shift" in domain else draw_scale_row(rng, domain, kind, powers)
        if i % 8 == 0:
            row = at_step(rng, rng.choice([a, b]), row, domain)
        if a.one(*row) != b.one(*row) and is_inside(row, domain):
            return row, a.one(*row), b.one(*row)
    return None


def ask(assay, folder, rule, kind, more=(), fault="", rows="multiplier"):
    """(exit status, report or None, what was said)"""
    name, report, found = (os.path.join(folder, n) for n in ("rule.json", "report.json", "found.yaml"))
    for path in (report, found):
        if os.path.exists(path):
            os.remove(path)
    with open(name, "w", encoding="utf-8") as f:
        json.dump(rule, f)
    oracle = "%s '%s/device.py' '%s' %s %s" % (sys.executable, HERE, name, kind, fault)
    done = subprocess.run([assay, "infer", "--oracle", oracle, "--kind", rows, "--type", kind, "--json", report, "-o", found, *more],
                          capture_output=True, text=True, timeout=600)
    if not os.path.exists(report):
        return done.returncode, None, done.stdout + done.stderr
    with open(report, encoding="utf-8") as f:
        return done.returncode, json.load(f), done.stdout + done.stderr


def judge(rng, assay, folder, rule, kind, rows=3000, more=(), of="multiplier"):
    """(verdict, what is wrong or "")"""
    status, report, said = ask(assay, folder, rule, kind, more, rows=of)
    if report is None:
        return ("refused", "") if "refuses every row" in said else ("trouble", said.strip())
    verdict = report["verdict"]
    if status != (verdict != "unique"):
        return verdict, "exit status %d" % status
    if verdict == "none":
        return verdict, "a record is none: " + said.strip().splitlines()[1]
    if report["rows"] > 20000:
        return verdict, "%d rows" % report["rows"]
    parts = differing(rng, rule, read_found(os.path.join(folder, "found.yaml")), report["domain"], device.TYPES[kind], rows)
    if verdict == "unique" and parts:
        return verdict, "another record is called unique: %s: %s, %s" % parts
    return verdict + (", another member" if parts else "") + ("" if report["complete"] else ", cut"), ""


def rows_asked(folder):
    try:
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as f:
            return json.load(f)["rows"]
    except FileNotFoundError:
        return 0


def main():
    assay, seed, count = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or [1])[0]), int((sys.argv[3:] or [100])[0])
    of = (sys.argv[4:] or ["multiplier"])[0]
    folder, tally = tempfile.mkdtemp(), {}
    print("1..%d" % count)
    for i in range(count):
        rng = random.Random("infer %d" % (seed + i))
        kind, rule = rng.choice(["i8", "i8", "u8", "i16"]), draw_scale_rule(rng) if of == "scale" else draw_multiplier(rng)
        began = time.monotonic()
        verdict, wrong = judge(rng, assay, folder, rule, kind, of=of)
        tally[verdict] = tally.get(verdict, 0) + 1
        print("%s %d - seed %d %s: %s, %d rows, %.1f s" %
              ("not ok" if wrong else "ok", i + 1, seed + i, kind, verdict, rows_asked(folder), time.monotonic() - began), flush=True)
        if wrong:
            print("# %s\n# %s" % (wrong, json.dumps(rule)), flush=True)
    print("# " + ", ".join("%s %d" % item for item in sorted(tally.items())))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
