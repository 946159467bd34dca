#!/usr/bin/python3
"""assay infer DIR OUTPUTS asks drawn devices: the nearest preset with one to four fields of one op changed.

  devices.py ASSAY [SEED [COUNT [OP,OP...]]]     TAP, with what is needed to see a device again

Found: a record that gives every answer. Never settled: a field whose value is not the device's. One answer changed, or a bit
stuck: none, with what contradicts."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import Tap  # noqa: E402

ASSAY = os.path.realpath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 60
ROUNDS = ["half-up", "half-away", "half-even", "floor", "half-zero", "trunc", "ceil", "odd", "away"]

RESCALE = {
    "rescale.round": lambda r: r.choice([[m] for m in ROUNDS[:6]] + [["31 half-up", m] for m in ROUNDS[:4]] + [["15 half-up", "half-away"]]),
    "rescale.multiplier_bits": lambda r: r.choice([12, 15, 16, 23, 24, 30, 31]),
    "rescale.multiplier_round": lambda r: r.choice(ROUNDS[:4]),
    "rescale.scale": lambda r: r.choice(["double", "f32-product", "f32", "f32-reciprocal", "f32-steps"]),
    "rescale.sum_bits": lambda r: r.choice([0, 16, 32]),
    "rescale.store": lambda r: r.choice(["saturate", "wrap"]),
    "rescale.result_bits": lambda r: r.choice([0, 8, 9, 16]),
    "rescale.operand_bits": lambda r: r.choice([0, 16, 20, 24]),
    "rescale.reduced_bits": lambda r: r.choice([0, 15]),
    "rescale.encoding": lambda r: r.choice(["multiplier", "float32", "float64", "shift"]),
}
ACCUMULATOR = {
    "accumulator.bits": lambda r: r.choice([16, 17, 18, 20, 22, 24, 32]),
    "accumulator.overflow": lambda r: r.choice(["wrap", "saturate-each-step", "saturate-at-end"]),
    "accumulator.order": lambda r: r.choice(["forward", "reverse", "lanes"]),
    "accumulator.lanes": lambda r: r.choice([2, 4, 8, 16]),
    "accumulator.block": lambda r: r.choice([1, 2, 4, 8, 16, 32]),
    "accumulator.bias": lambda r: r.choice(["first", "last"]),
}
TABLE = {
    "table.precision": lambda r: r.choice(["float32", "float64"]),
    "table.division": lambda r: r.choice(["divide", "reciprocal"]),
    "table.round": lambda r: r.choice(ROUNDS[:6]),
    "table.zero_point": lambda r: r.choice(["after", "inside"]),
    "table.sigmoid": lambda r: r.choice(["library", "mlas-rational"]),
    "rescale.store": lambda r: r.choice(["saturate", "wrap"]),
}
SPACES = {
    "conv": {**ACCUMULATOR, **RESCALE},
    "fc": {**ACCUMULATOR, **RESCALE},
    "add": {**RESCALE, "add.kind": lambda r: r.choice(["left-shift", "common-exponent", "float-scaled", "float-real", "float-ratio", "separate"]),
            "add.bits": lambda r: r.randint(10, 22), "add.round": lambda r: r.choice(ROUNDS[:6]), "add.scale": lambda r: r.choice(["float32", "float64"]),
            "add.zero_point": lambda r: r.choice(["after", "inside"]), "add.fused": lambda r: r.choice(["yes", "no"])},
    "mul": RESCALE,
    "avg_pool": {**RESCALE, "pool.kind": lambda r: r.choice(["divide", "reciprocal", "rescale", "rescale-divide", "divided-multiplier"]),
                 "pool.round": lambda r: r.choice(ROUNDS[:6]), "pool.keep_zero_point": lambda r: r.choice(["yes", "no"]),
                 "pool.scale": lambda r: r.choice(["in/out/count", "in/(out*count)"]), "accumulator.bits": lambda r: r.choice([10, 12, 16, 32]),
                 "accumulator.overflow": lambda r: r.choice(["wrap", "saturate-at-end"])},
    "sigmoid": {**TABLE, "unary.logistic": lambda r: r.choice(["table", "fixed-point"])},
    "tanh": {**TABLE, "unary.logistic": lambda r: r.choice(["table", "fixed-point"])},
    "leaky_relu": {**RESCALE, **TABLE, "unary.leaky_relu": lambda r: r.choice(["two-rescales", "fixed-8", "fixed-8-or-two-rescales", "table"])},
    "softmax": {"softmax.kind": lambda r: r.choice(["fixed-point", "float-table", "integer-table", "q31-table", "float-sum", "i-bert"]),
                "table.precision": lambda r: r.choice(["float32", "float64"]), "rescale.round": RESCALE["rescale.round"],
                "rescale.multiplier_bits": RESCALE["rescale.multiplier_bits"]},
    "resize": {"resize.bits": lambda r: r.randint(4, 15), "resize.round": lambda r: r.choice(ROUNDS[:6]), "rescale.round": RESCALE["rescale.round"],
               "rescale.multiplier_bits": RESCALE["rescale.multiplier_bits"], "rescale.store": RESCALE["rescale.store"]},
    "quantize": {"convert.division": lambda r: r.choice(["divide", "reciprocal", "divide-float64"]), "convert.round": lambda r: r.choice(ROUNDS[:6]),
                 "convert.zero_point": lambda r: r.choice(["after", "inside"])},
    "dequantize": {"convert.dequantize": lambda r: r.choice(["float32", "float64"])},
}
TAP = Tap()


def assay(*words):
    r = subprocess.run([ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return r.returncode, r.stdout, r.stderr


def answers(network, scheme, outputs):
    """The probe's outputs under a scheme; False: it is refused."""
    op = network["op"]
    words = []
    for v in network["inputs"]:
        words += ["--input", "%s=probes/%s" % (v["name"], v["file"])]
    if assay("golden", "probes/%s/%s.assay" % (op, op), "-s", scheme, "--as-is", "-q", "--engine", "fast", "-f", "-o", "bundle", *words)[0]:
        return False
    shutil.rmtree(outputs, ignore_errors=True)
    os.makedirs(os.path.join(outputs, op))
    wanted = {v["name"] for v in network["outputs"]}
    with open("bundle/manifest.json", encoding="utf-8") as f:
        for t in json.load(f)["tensors"]:
            if t["name"] in wanted:
                shutil.copy(os.path.join("bundle", t["file"]), os.path.join(outputs, op, t["name"] + ".npy"))
    return True


def text_of(value):
    return "[%s]" % ", ".join(value) if isinstance(value, list) else str(value)


def tree_of(lines, depth=0):
    """Maps by indentation, as `assay scheme show` prints them; values are texts."""
    tree = {}
    while lines and (len(lines[0]) - len(lines[0].lstrip())) // 2 == depth:
        name, value = lines.pop(0).strip().split(":", 1)
        tree[name] = value.strip() or tree_of(lines, depth + 1)
    return tree


def record_of(scheme, op):
    """Every field in force for an op of signed codes of 8 bits, as text."""
    tree = tree_of([line for line in assay("scheme", "show", scheme)[1].split("\nrecord:\n", 1)[1].splitlines() if line.strip()])
    record = {}
    for part in [tree, tree.get("ops", {}).get(op, {})]:
        for section, fields in part.items():
            if isinstance(fields, dict) and section not in ("ops", "wide_ops", "unsigned_ops", "wide", "unsigned", "nodes"):
                record.update({"%s.%s" % (section, name): value for name, value in fields.items()})
    return record


def scheme_file(base, op, changes):
    sections = {}
    for name, value in changes.items():
        section, field = name.split(".")
        sections.setdefault(section, {})[field] = text_of(value)
    with open("drawn.yaml", "w", encoding="utf-8") as f:
        f.write("scheme: drawn\nextends: %s\nops:\n  %s:\n" % (base, op))
        for section, fields in sections.items():
            f.write("    %s: {%s}\n" % (section, ", ".join("%s: %s" % x for x in fields.items())))


def draw(rng, network, presets):
    op = network["op"]
    space = SPACES[op]
    while True:
        base = rng.choice(presets)
        names = rng.sample(sorted(space), min(rng.randint(1, 4), len(space)))
        changes = {n: space[n](rng) for n in names}
        scheme_file(base, op, changes)
        if answers(network, "./drawn.yaml", "outputs"):
            return base, changes


def infer():
    status, out, err = assay("infer", "probes", "outputs", "--json", "found.json", "-o", "found.yaml")
    with open("found.json", encoding="utf-8") as f:
        return status, json.load(f), out + err


def judge(told, op, totals):
    status, said, text = infer()
    finding = said["ops"][0]
    truth = record_of("./drawn.yaml", op)
    wrong = ["%s: %s settled, %s true" % (n, v, truth.get(n)) for n, v in finding["settled"].items() if truth.get(n) != v]
    lost = [n for n, v in truth.items() if n in finding["open"] and not {v, None, "..."} & set(finding["open"][n])]
    totals["found"] += finding["verdict"] == "class"
    totals["wrong"] += bool(wrong)
    totals["lost"] += bool(lost)
    TAP.check(status == 1 and not wrong, told + ": nothing wrong is settled", "; ".join(wrong), text)
    TAP.check(finding["verdict"] == "class", told + ": found", "%d of %d, nearest %s with %s" %
              (finding["given"], finding["elements"], finding["nearest"], finding["changes"]))


def try_fault(rng, told, op):
    """One answer that is another code, or a bit of all answers of an output stuck."""
    folder = os.path.join("outputs", op)
    path = os.path.join(folder, rng.choice(sorted(os.listdir(folder))))
    values = numpy.load(path)
    codes = values.view("i%d" % values.itemsize).reshape(-1)
    before = codes.copy()
    if rng.random() < 0.5:
        at = rng.randrange(len(codes))
        codes[at] ^= 1 << rng.randint(0, 6)
        fault = "element %d of %s" % (at, path)
    else:
        bit = 1 << rng.randint(0, 6)
        codes |= bit
        fault = "bit %d of %s" % (bit, path)
    changed = int((codes != before).sum())
    numpy.save(path, values)
    status, said, text = infer()
    finding = said["ops"][0]
    TAP.check(changed == 0 or (status == 1 and said["verdict"] == "none" and finding["verdict"] == "none" and finding["contradictions"]),
              "%s, a fault in %s: none, and what contradicts" % (told, fault), text)


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    rng = random.Random(SEED)
    print("# seed %d" % SEED)
    totals = {"found": 0, "wrong": 0, "lost": 0}
    try:
        assay("probe", "-o", "probes")
        with open("probes/probe.json", encoding="utf-8") as f:
            networks = {n["op"]: n for n in json.load(f)["networks"]}
        presets = [line.split()[0] for line in assay("scheme", "list")[1].splitlines() if line.strip()]
        ops = [o for o in (sys.argv[4].split(",") if len(sys.argv) > 4 else sorted(SPACES)) if o in networks]
        for number in range(COUNT):
            op = ops[number % len(ops)]
            base, changes = draw(rng, networks[op], presets)
            told = "%d %s, %s with %s" % (number, op, base, ", ".join("%s: %s" % (n, text_of(v)) for n, v in changes.items()))
            judge(told, op, totals)
            if number % 4 == 0:
                try_fault(rng, told, op)
    finally:
        shutil.rmtree(work)
    print("# %d devices: %d found, %d with a field settled wrongly, %d with an open field that leaves out the device's value" %
          (COUNT, totals["found"], totals["wrong"], totals["lost"]))
    TAP.end()


main()
