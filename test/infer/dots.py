#!/usr/bin/env python3
"""assay infer --kind dot against matrix units that are known, in rationals: shipped ones are found again, drawn ones, faults are none.

  dots.py ASSAY [units [NAME ...] | SEED COUNT]     TAP; units: shipped ones, all or those, a line each for test/infer/README.md;
                                                    SEED COUNT: records that take long, and drawn ones

What is found is compared with the device on rows that were not asked."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../twin"), os.path.join(HERE, "../exact"), os.path.join(HERE, "../support")]
import npy  # noqa: E402
from mac_draw import draw_record, draw_row, multiple  # noqa: E402
from mac_model import FORMATS, Unit, complete  # noqa: E402
from tap import Tap  # noqa: E402

DEVICE = os.path.join(HERE, "dot_device.py")
TYPES = {8: "uint8", 16: "uint16", 32: "uint32", 64: "uint64"}
QUICK = ("x86-avx512-bf16", "nv-volta-f16-f32", "amd-cdna3-f16-k4")
NEAR = (("amd-cdna3-bf16", dict(lanes=4)), ("nv-ampere-f16-f32", dict(flush_out="after")), ("doc-arm-bfdot", dict(flush_in="none", nan_rule="operand")))
# records that no one shipped unit is near to, with k
FAR = ((dict(a="e5m2", b="e5m2", acc="f16", out="f16", nan=0x7E00, group=1, zero_sign="ieee", out_round="floor", overflow="largest", split_k=2, split_sum="pairs"), 8),
       # the order of a sum that loses nothing shows in which infinity came first
       (dict(a="e2m3", b="e4m3fnuz", acc="f16", out="f64", nan=0x7FF8000000000000, group=3, instruction=6, order=[3, 5, 0, 1, 2, 4], product_limit=0, product_round="floor"), 12))
# the same that take half a minute each
LONG_NEAR = (("nv-rtxblackwell-e5m2-f32", dict(flush_out="after", overflow="largest")),)
LONG_FAR = ((dict(a="e4m3fn", b="e4m3fn", acc="f32", out="f32", nan=0x7FC00000, group=1, align_bits=19, flush_out="after", out_frac=10, split_k=2), 8),
            (dict(a="f16", b="f16", acc="f32", out="f32", nan=0x7FFFFFFF, group=1, zero_sign="ieee", split_k=4, split_sum="pairs", outer_round="trunc"), 16))
FRESH = 200  # rows that are compared
TROUBLE = {"exit": "exit status 3", "length": "elements for", "type": "patterns of f32", "moody": "answers differently",
           "nothing": "out.npy: cannot open: No such file or directory (call 1)"}


# ---- records ----

def shipped(assay, name):
    """The record of a unit as `scheme show` has it."""
    text = subprocess.run([assay, "scheme", "show", name], capture_output=True, text=True, check=True).stdout
    record = {}
    for line in text.split("\nmac:\n")[1].split("\n\n")[0].splitlines():
        key, value = re.match(r"  (\w+): (.*?)  #", line).groups()
        record[key] = json.loads(value) if value.startswith("[") else int(value, 0) if re.fullmatch(r"-?[0-9][0-9a-fx]*", value) else value
    return record


def products(record, rng=None):
    """A k of some instructions."""
    each = multiple(record)
    return max(2, -(-8 // each)) * each if not rng or each * 3 > 40 else each * max(rng.choice((1, 2, 3)), -(-4 // each))


# accumulators beside the ends of the normal numbers, signs and steps
ENDS = [(negative, top, step) for negative in (0, 1) for top in (0, 1) for step in (-1, 0)]


def end_of(f, negative, top, step):
    width, exponent, fraction, *_ = FORMATS[f]
    return negative << width - 1 | ((2 ** exponent - 1 if top else 1) << fraction) - top * 2 + step


# ---- the device and what was found ----

def ask(assay, folder, record, k, fault="", more=()):
    """(exit status, report or None, what was said)"""
    with open(os.path.join(folder, "record.json"), "w", encoding="utf-8") as f:
        json.dump(record, f)
    r, report = complete(record), os.path.join(folder, "report.json")
    command = [assay, "infer", "--oracle", "%s %s %s/record.json %s" % (sys.executable, DEVICE, folder, fault), "--kind", "dot", "--a", r["a"],
               "--b", r["b"], "--acc", r["acc"], "--out", r["out"], "--k", str(k), "-o", os.path.join(folder, "found.yaml"), "--json", report, *more]
    if r["scale_block"]:
        command += ["--scale", r["scale"], "--scale-block", str(r["scale_block"])]
    if os.path.exists(report):
        os.remove(report)
    done = subprocess.run(command, capture_output=True, text=True)
    found = None
    if done.returncode != 2:
        with open(report, encoding="utf-8") as f:
            found = json.load(f)
    return done.returncode, found, done.stdout + done.stderr


def differences(assay, folder, record, k, rng):
    """Rows, of FRESH that were not asked, on which what was found is not the device: drawn ones, and accumulators alone."""
    r = complete(record)
    blocks = k // r["scale_block"] if r["scale_block"] else 0
    rows = [draw_row(rng, r, k) for _ in range(FRESH - len(ENDS))]
    rows += [([0] * k, [0] * k, end_of(r["acc"], *end), *(draw_row(rng, r, k)[3:])) for end in ENDS]
    columns = [("a", r["a"], (FRESH, k)), ("b", r["b"], (FRESH, k)), ("c", r["acc"], (FRESH,))]
    columns += [(name, r["scale"], (FRESH, blocks)) for name in ("scale-a", "scale-b") if blocks]
    command = [assay, "scheme", "dot", os.path.join(folder, "found.yaml"), "-o", os.path.join(folder, "d.npy")]
    for i, (name, f, shape) in enumerate(columns):
        flat = [row[i] for row in rows] if len(shape) == 1 else [x for row in rows for x in row[i]]
        npy.save(os.path.join(folder, name + ".npy"), TYPES[FORMATS[f][0]], shape, flat)
        command += ["--" + name, os.path.join(folder, name + ".npy")]
    subprocess.run(command, check=True)
    _, _, given = npy.load(os.path.join(folder, "d.npy"))
    unit = Unit(record)
    return sum(unit.dot(*row) != d for row, d in zip(rows, given))


def judge(assay, folder, record, k, rng, more=()):
    """(verdict, rows asked, rows that differ, units)"""
    status, report, said = ask(assay, folder, record, k, more=more)
    if status != 1:
        return "status %d: %s" % (status, said), 0, FRESH, []
    return report["verdict"], report["rows"], differences(assay, folder, record, k, rng), report["units"]


# ---- tests ----

def check_unit(tap, assay, folder, name, more=()):
    record = shipped(assay, name)
    verdict, rows, wrong, units = judge(assay, folder, record, products(record), random.Random(name), more)
    tap.check(verdict == "class" and wrong == 0 and name in units, "%s: %s, %d rows; %s" % (name, verdict, rows, ", ".join(units)), "%d of %d rows differ" % (wrong, FRESH))


def check_drawn(tap, assay, folder, seed, count, more=()):
    """Of drawn records some are not found within the time; of what is found no row may differ."""
    found = 0
    for s in range(seed, seed + count):
        rng = random.Random(s)
        record = draw_record(rng)
        verdict, rows, wrong, _ = judge(assay, folder, record, products(record, rng), rng, more)
        found += verdict == "class" and wrong == 0
        tap.check(verdict == "none" or (verdict == "class" and wrong == 0), "seed %d: %s, %d rows" % (s, verdict, rows), "%d of %d rows differ" % (wrong, FRESH), record)
    tap.check(2 * found >= count, "%d of %d drawn records are found" % (found, count))


def check_near(tap, assay, folder, name, changes):
    """A shipped unit, changed, is found soon."""
    record = {**shipped(assay, name), **changes}
    verdict, rows, wrong, _ = judge(assay, folder, record, products(record), random.Random(name), ["--seconds", "10"])
    tap.check(verdict == "class" and wrong == 0, "%s with %s: %s, %d rows" % (name, changes, verdict, rows), "%d rows differ" % wrong)


def check_far(tap, assay, folder, record, k):
    """It is found, and not said to be before 160 rows of each probe agree, besides those that were searched with."""
    verdict, rows, wrong, _ = judge(assay, folder, record, k, random.Random(k), ["--seconds", "30"])
    tap.check(verdict == "class" and wrong == 0 and rows > 12 * 160, "%s: %s, %d rows" % (record, verdict, rows), "%d rows differ" % wrong)


def check_digits(tap, assay, folder):
    """Digits far below the result's last are found, all of them, though only ties within one step show them (one row of 40,000 drawn otherwise)."""
    record = dict(a="f16", b="e2m1", acc="f16", out="f16", nan=0x7E00, group=1, zero_sign="ieee", align_bits=28)
    verdict, _, wrong, _ = judge(assay, folder, record, 4, random.Random(28), ["--seconds", "10"])
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as f:
        report = json.load(f)
    found, left = report["record"]["align_bits"], report["open"].get("align_bits")
    tap.check(verdict == "class" and wrong == 0 and found == "28" and not left, "28 digits of a sum of which 11 are kept: %s" % verdict,
              "align_bits: %s, open: %s; %d rows differ" % (found, left, wrong))


def check_carries(tap, assay, folder):
    """How results are rounded is found where a sum has more digits than they do by its carries alone. Here one digit is lost at most: ties to zero are truncation."""
    record = dict(a="e4m3fn", b="e4m3fn", acc="f32", out="f32", nan=0x7FC00000, group=8, align_bits=20, out_round="trunc")
    verdict, rows, wrong, _ = judge(assay, folder, record, 8, random.Random(20), ["--seconds", "10"])
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as f:
        report = json.load(f)
    left = {report["record"]["out_round"], *report["open"].get("out_round", "trunc").split(", ")}
    tap.check(verdict == "class" and wrong == 0 and left <= {"trunc", "half-zero"}, "carries beyond the digits of a result show its rounding: %s, %d rows" % (verdict, rows), left)


def check_faults(tap, assay, folder):
    record = dict(a="f16", b="f16", acc="f32", out="f32", group=2, nan=0x7FC00000)
    for fault, words in TROUBLE.items():
        status, _, said = ask(assay, folder, record, 4, fault)
        tap.check(status == 2 and words in said and said.count("\n") == 1, "an oracle's fault: " + fault, said)
    status, _, said = ask(assay, folder, record, 4, "hang", ["--timeout", "0.5"])
    tap.check(status == 2 and "did not end" in said and said.count("\n") == 1, "an oracle that hangs", said)
    status, report, said = ask(assay, folder, record, 4, more=["--budget", "60"])
    tap.check(status == 1 and report["rows"] <= 60 and report["verdict"] == "class", "a budget of few rows is kept", said)
    status, report, said = ask(assay, folder, record, 4, more=["--budget", "5"])
    tap.check(status == 1 and 0 < report["rows"] <= 5, "a budget of very few is spent", said)


def check_plain(tap, assay, folder):
    """Where no shipped unit agrees, what no row shows stands at its default."""
    record = dict(a="bf16", b="e5m2", acc="f32", out="f32", group=8, align_bits=18, align_cut="half-away", accumulator="after", out_round="trunc",
                  flush_in="signed", nan=0x7FFFFFFF)
    verdict, rows, wrong, _ = judge(assay, folder, record, 16, random.Random(20), ["--budget", "2500"])
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as f:
        report = json.load(f)
    usual = complete(dict(a="bf16", b="e5m2", acc="f32", out="f32", group=8, nan=0x7FFFFFFF))
    other = [p for p, values in report["open"].items() if str(usual[p]) in values.split(", ") and report["record"][p] != str(usual[p])]
    tap.check(verdict == "class" and wrong == 0 and report["open"] and not other, "a unit of one's own is found, %d rows, its open parameters at their defaults" % rows,
              "%d of %d rows differ; not at its default: %s" % (wrong, FRESH, ", ".join(other)))


def check_stuck(tap, assay, folder):
    record = dict(a="f16", b="f16", acc="f16", out="f16", group=2, nan=0x7E00)
    status, report, said = ask(assay, folder, record, 2, "stuck 3", ["--budget", "200", "--seconds", "4"])
    tap.check(status == 1 and report["verdict"] == "none" and report["contradicted"] > 0 and report["contradictions"] and "the search was cut" in said, "a stuck bit is none, with rows", said)


def check_arguments(tap, assay):
    good = ["--oracle", "true", "--kind", "dot", "--a", "f16", "--b", "f16", "--acc", "f32", "--k", "8"]
    for name, more in [("no k", good[:-2]), ("a format", [*good, "--out", "f33"]), ("results in a format of scales", [*good, "--out", "e8m0"]), ("an accumulator wider than the result", [*good, "--out", "f16"]),
                       ("scales without a block", [*good, "--scale", "e8m0"]), ("blocks that do not divide k", [*good, "--scale", "e8m0", "--scale-block", "3"]),
                       ("an option of rescales", [*good, "--type", "i8"]), ("an option of units", ["--oracle", "true", "--kind", "scale", "--type", "i8", "--k", "8"]),
                       ("no oracle", good[2:])]:
        done = subprocess.run([assay, "infer", *more], capture_output=True, text=True)
        tap.check(done.returncode == 2 and done.stderr.count("\n") == 1, "bad arguments: " + name, done.stderr)


def main():
    assay, folder, tap = os.path.abspath(sys.argv[1]), tempfile.mkdtemp(), Tap()
    what = sys.argv[2:]
    if what[:1] == ["units"]:
        listed = subprocess.run([assay, "scheme", "list", "--units"], capture_output=True, text=True, check=True).stdout
        for name in what[1:] or [line.split()[0] for line in listed.splitlines()]:
            check_unit(tap, assay, folder, name)
    elif what:
        for name, changes in LONG_NEAR:
            check_near(tap, assay, folder, name, changes)
        for record, k in LONG_FAR:
            check_far(tap, assay, folder, record, k)
        check_drawn(tap, assay, folder, int(what[0]), int(what[1]))
    else:
        check_arguments(tap, assay)
        check_faults(tap, assay, folder)
        check_plain(tap, assay, folder)
        check_stuck(tap, assay, folder)
        for name in QUICK:
            check_unit(tap, assay, folder, name, ["--seconds", "10", "--budget", "3000"])
        for name, changes in NEAR:
            check_near(tap, assay, folder, name, changes)
        for record, k in FAR:
            check_far(tap, assay, folder, record, k)
        check_digits(tap, assay, folder)
        check_carries(tap, assay, folder)
        check_drawn(tap, assay, folder, 1, 1, ["--seconds", "30"])
    shutil.rmtree(folder)
    tap.end()


main()
