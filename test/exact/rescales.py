"""Rows of rescales: drawn records, accumulators and scales through `assay scheme apply`, beside the model."""
import math
from fractions import Fraction

import npy
import records
import rescale
from numbers_exact import Refused, Unsaid, clamp, f32, f64, signed_range

ROWS = 48
TYPES = {"i8": (8, True), "u8": (8, False), "i16": (16, True), "i32": (32, True)}


def draw_rounds(rng, encoding):
    modes = records.MODES
    if encoding in ("float32", "float64", "thresholds"):
        return [(None, rng.choice(modes))]
    steps = [(rng.choice([1, 3, 7, 15, 20, 31]), rng.choice(modes)) for _ in range(rng.choice([0, 0, 1, 1, 2]))]
    if steps and rng.random() < 0.2:
        return steps
    return steps + [(None, rng.choice(modes))]


def draw_scale(rng, rule):
    """R: anywhere, on powers of two and beside them, about the ends of the shift's range."""
    bits = rule["multiplier_bits"]
    places = [rng.uniform(-40, 8), rng.uniform(-12, 0), rng.uniform(-20, 0), rng.uniform(-120, 40)]
    for end in (rule["shift_min"], rule["shift_max"]):
        if -122 < bits - end < 123:
            places.append(bits - end + rng.uniform(-3, 3))
    if "tosa-generator" in (rule["below_shift_min"], rule["beyond_shift_max"]):
        places = [bits - rng.choice([-1, 0, 1, 2, 62, 63, 63, 64]) - rng.random()] * 4 + places[:1]
    near = rng.choice(places)
    if rule["encoding"] == "shift" and rng.random() < 0.9:
        near = clamp(clamp(near, -rule["shift_max"], -rule["shift_min"]), -122, 122)
    if rule["encoding"] == "shift" or rule["scale"] == "power-of-two" or rng.random() < 0.2:
        value = 2.0 ** round(near)
    else:
        value = 2.0 ** near
        if rng.random() < 0.15:
            value = 2.0 ** round(near) * (1 + rng.choice([-1, 1]) * 2.0 ** -rng.choice([9, 16, 22, 23]))
    if rule["negative_scale"] and rng.random() < 0.3:
        value = -value
    wide = rule["scale"] == "double" and rule["encoding"] != "glow" and rng.random() < 0.5
    return (f64 if wide else f32)(Fraction(value))


def draw_accumulator(rng, real, wide):
    limit = 47 if wide else 31
    pick = rng.random()
    if pick < 0.25:
        return rng.randint(-300, 300)
    if pick < 0.6 and real != 0:  # near ties of small codes
        near = Fraction(rng.randint(-520, 520), 2) / Fraction(real)
        near = near.numerator // near.denominator + rng.randint(-1, 1)
        return clamp(near, -(1 << limit) + 1, (1 << limit) - 1)
    if pick < 0.75:
        return clamp(rng.choice([-1, 1]) * (1 << rng.randint(0, limit)) + rng.randint(-2, 2),
                     -(1 << limit), (1 << limit) - 1)
    return rng.randint(-(1 << rng.randint(1, limit)), 1 << rng.randint(1, limit) - 1)


class Rows:
    """The rows of one command, and what the model says of each."""

    def __init__(self, rng, rule, kind, wide):
        low, high = signed_range(kind[0]) if kind[1] else (0, (1 << kind[0]) - 1)
        self.kind, self.columns = kind, []
        self.bounds = rng.random() < 0.3
        for _ in range(ROWS):
            real = draw_scale(rng, rule)
            zero = rng.choice([0, low, high, rng.randint(low, high)]) if kind[0] < 32 else 0
            ends = sorted([rng.randint(low, high), rng.randint(low, high)]) if self.bounds else [low, high]
            in_zero = rng.choice([0, 0, rng.randint(-128, 127)])
            self.columns.append((draw_accumulator(rng, real, wide), real, zero, in_zero, ends[0], ends[1]))

    def write(self, folder):
        """The files, and the options that name them."""
        options = []
        for index, (option, kind) in enumerate([("--acc", "int64"), ("--scale", "float64"), ("--zp", "int64"),
                                                ("--in-zp", "int64"), ("--min", "int64"), ("--max", "int64")]):
            if index >= 4 and not self.bounds:
                continue
            path = "%s/%s.npy" % (folder, option.strip("-"))
            values = [row[index] for row in self.columns]
            npy.save(path, kind, [len(values)], [float(v) for v in values] if kind == "float64" else values)
            options += [option, path]
        return options

    def model(self, rule):
        """[(code or None where the record refuses it)]"""
        return [self.one(rule, row) for row in self.columns]

    def one(self, rule, row):
        acc, real, zero, in_zero, low, high = row
        try:
            steps = (real, Fraction(1), Fraction(1)) if rule["scale"] == "f32-steps" else real
            scale = rescale.encode(rule, steps)
            return rescale.apply(rule, scale, acc - in_zero, zero, (low, high) if self.bounds else None, self.kind)
        except Refused:
            return None
        except Unsaid:
            return Unsaid

    def describe(self, index):
        acc, real, zero, in_zero, low, high = self.columns[index]
        text = "--acc %d --scale %s --zp %d" % (acc, repr(float(real)), zero)
        text += " --in-zp %d" % in_zero if in_zero else ""
        return text + (" --min %d --max %d" % (low, high) if self.bounds else "")


# Fields that an encoding does not read.
MULTIPLIER = ["multiplier_bits", "multiplier_round", "multiplier_renormalise", "common_shift", "exponent_by_log",
              "reduced_bits", "reduced_overflow"]
SHIFT = ["shift_min", "below_shift_min", "shift_max", "beyond_shift_max", "denormal_round", "zero_shift"]
INTEGER = ["pre_shift", "pre_shift_bits", "pre_shift_round", "operand_bits", "left_shift", "product_bits",
           "input_shift_range", "shift_sign"]
FLOAT = ["float_overflow", "float_rounding"]
NARROW = ["result_bits", "result_overflow", "sum_bits", "sum_overflow", "store", "input_bits"]
UNREAD = {
    "multiplier": FLOAT,
    "shift": MULTIPLIER + FLOAT,
    "glow": MULTIPLIER + SHIFT + FLOAT + ["pre_shift", "pre_shift_bits", "pre_shift_round",
                                          "input_shift_range", "negative_scale"],
    "float32": MULTIPLIER + SHIFT + INTEGER + ["result_bits", "result_overflow"],
    "float64": MULTIPLIER + SHIFT + INTEGER + ["result_bits", "result_overflow", "float_rounding"],
    "thresholds": MULTIPLIER + SHIFT + INTEGER + FLOAT + NARROW + ["zero_point"],
}

# Fields that are read beside another alone: that one, its default, values beside which they are read.
BESIDE = {
    "denormal_round": ("beyond_shift_max", "zero", ["denormal"]),
    "reduced_overflow": ("reduced_bits", 0, [3, 7]),
    "pre_shift_round": ("pre_shift", "none", ["fixed", "rest"]),
    "result_overflow": ("result_bits", 0, [8, 16, 32]),
    "sum_overflow": ("sum_bits", 32, [8, 16, 32]),
}


def accompany(rng, drawn):
    for name in sorted(BESIDE.keys() & drawn.keys()):
        other, default, values = BESIDE[name]
        value = drawn.get(other, default)
        if value in (0, "none") or (name == "denormal_round" and value != "denormal"):
            drawn[other] = rng.choice(values)


def repair(rng, drawn):
    """What the documentation and `assay scheme check` say does not go together is not drawn."""
    encoding = drawn["encoding"]
    for name in UNREAD[encoding]:
        drawn.pop(name, None)
    accompany(rng, drawn)
    if "tosa-generator" in (drawn.get("below_shift_min"), drawn.get("beyond_shift_max")):
        drawn.update(multiplier_bits=rng.choice([15, 31]), shift_min=2, shift_max=62)
    if drawn.get("reduced_bits", 0) >= drawn.get("multiplier_bits", 31):
        drawn.pop("reduced_bits")
        drawn.pop("reduced_overflow", None)
    if drawn.get("float_rounding") == "add-one":
        drawn["round"] = [(None, "half-even")]
    floats = encoding in ("float32", "float64")
    if drawn.get("zero_point") == ("before" if floats else "inside"):
        drawn["zero_point"] = "after"
    if drawn.get("scale") == "f32-steps" and encoding != "float32":
        drawn["scale"] = "f32"
    if drawn.get("store") == "refuse":
        drawn["store"] = rng.choice(["wrap", "saturate"])
    if drawn.get("below_shift_min") in ("denormal", "unnormalised"):
        drawn["below_shift_min"] = rng.choice(["zero", "largest"])
    if drawn.get("beyond_shift_max") == "largest":
        drawn["beyond_shift_max"] = rng.choice(["denormal", "unnormalised"])
    if drawn.get("shift_min", -1100) > drawn.get("shift_max", 62):
        drawn["shift_max"] = drawn["shift_min"]
    drawn.pop("pre_shift_bits", None)
    if drawn.get("pre_shift") == "fixed":
        drawn["pre_shift_bits"] = rng.choice([1, 2, 7, 30, 31])
    elif drawn.get("pre_shift") == "rest":
        drawn["round"] = [(rng.choice([1, 7, 15, 31]), drawn["round"][-1][1])]
    if drawn.get("pre_shift") != "rest":
        drawn["round"][-1] = (None, drawn["round"][-1][1])


def draw_record(rng, pairs):
    """What a file writes: the section rescale with a pair of values not met before."""
    return complete(rng, {field.name: value for field, value in pairs.draw(rng.choice([0.03, 0.1, 0.25])).items()})


def complete(rng, drawn):
    """What goes with some fields of the section rescale."""
    drawn.setdefault("encoding", rng.choice(["multiplier", "multiplier", "multiplier", "shift", "glow", "float32",
                                             "float64", "thresholds"]))
    if "left_shift" not in drawn and rng.random() < 0.7:
        drawn["left_shift"] = "product"
    drawn["round"] = draw_rounds(rng, drawn["encoding"])
    if drawn["encoding"] == "shift":
        drawn["scale"] = "power-of-two"
    repair(rng, drawn)
    return drawn


def pairs_of(rng, definition):
    fields = [f for f in definition["rescale"].values() if f.kind != "STEPS"]
    return records.Pairs(rng, fields)


def choose_type(rng):
    """(option, kind, wide): a container, or the scheme's own activations of any width; int64 sums."""
    if rng.random() < 0.5:
        name = rng.choice(sorted(TYPES))
        return name, TYPES[name], name == "i16" and rng.random() < 0.7
    return None, (rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 12, 16]), rng.random() < 0.5), False


def written_of(drawn, kind, option, wide):
    """The sections of the file."""
    types = {}
    if option is None:
        types.update(activation_bits=kind[0], activation_signed=kind[1])
    if drawn.get("scale") == "power-of-two":
        types["power_of_two_scales"] = True
    if drawn["encoding"] == "shift":
        types["activation_zero_point"] = "none"
    return {"rescale": drawn, "types": types, "accumulator": {"bits": 64} if wide else {}}


def run(command, rng, pairs, definition, folder, report):
    """One record. command(args) -> (status, message)."""
    drawn = draw_record(rng, pairs)
    option, kind, wide = choose_type(rng)
    written = written_of(drawn, kind, option, wide)
    options = (["--type", option] if option else []) + (["--wide"] if wide else [])
    path = folder + "/drawn.yaml"
    for _ in range(records.TRIES):
        text = records.to_yaml("drawn", written)
        with open(path, "w") as out:
            out.write(text)
        rule = records.in_force(definition, written)["rescale"]
        rows = Rows(rng, rule, kind, wide)
        arguments = ["scheme", "apply", path] + rows.write(folder) + options
        status, message = command(arguments + ["-o", folder + "/codes.npy", "--errors", folder + "/errors.npy"])
        if not status:
            pairs.meet(written)
            report.run()
            compare(rows, rule, folder, report, text, options)
            return
        report.refused(status, message, text)
        if not records.drop_named(written, message):
            return


def compare(rows, rule, folder, report, text, options):
    codes, errors = npy.load(folder + "/codes.npy")[2], npy.load(folder + "/errors.npy")[2]
    for index, expected in enumerate(rows.model(rule)):
        seen = None if errors[index] else codes[index]
        if expected is not Unsaid and seen != expected:
            report.differ("rescale", text, "scheme try FILE %s %s" % (rows.describe(index), " ".join(options)), seen,
                          expected)
            return
        report.compared += 1
