"""A parameter record (schemes/record/record.def) as Python: roundings, accumulators, scales, one rescale.

Integers are Python's, a rounding is of an exact fraction, float steps are the processor's own."""
import math
from fractions import Fraction

import numpy as np

f32 = np.float32
INT32 = (-(2**31), 2**31 - 1)


class Unknown(Exception):
    """An arithmetic that this model does not have."""


# ---- the record ----
def parse_value(text):
    if text.startswith("["):
        return [parse_value(t.strip()) for t in text[1:-1].split(",")]
    if text in ("yes", "no"):
        return text == "yes"
    return int(text) if text.lstrip("-").isdigit() else text


def parse_record(text):
    """Keys and values by indentation, as `assay scheme` prints a record."""
    root = {}
    stack = [(-1, root)]
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        key, _, value = line.strip().partition(":")
        while stack[-1][0] >= indent:
            stack.pop()
        if value.strip():
            stack[-1][1][key.strip('"')] = parse_value(value.strip())
        else:
            stack[-1][1][key.strip('"')] = {}
            stack.append((indent, stack[-1][1][key.strip('"')]))
    return root


def effective(record, node, wide, unsigned):
    """The record in force for a node: later overrides win."""
    out = {k: dict(v) for k, v in record.items() if isinstance(v, dict)}
    depthwise = node["op"] == "conv" and node["attributes"].get("group", 1) > 1
    names = [node["op"], "depthwise"] if depthwise else [node["op"]]
    layers = [record.get("wide")] if wide else []
    for scope in ["ops"] + wide * ["wide_ops"] + unsigned * ["unsigned_ops"]:
        layers += [record.get(scope, {}).get(name) for name in names]
    if unsigned and depthwise:
        layers.append(record.get("unsigned_depthwise"))
    layers.append(record.get("nodes", {}).get(node["name"]))
    for layer in layers:
        for section, values in (layer or {}).items():
            out[section].update(values)
    return out


# ---- rounding and narrowing ----
def rounded(v, mode):
    """An exact Fraction to an integer."""
    low = math.floor(v)
    rest = v - low
    if rest == 0:
        return low
    half = Fraction(1, 2)
    up = {
        "half-up": rest >= half,
        "half-away": rest > half or (rest == half and v > 0),
        "half-even": rest > half or (rest == half and low % 2 == 1),
        "half-zero": rest > half or (rest == half and v < 0),
        "floor": False,
        "ceil": True,
        "trunc": v < 0,
        "away": v > 0,
        "odd": low % 2 == 0,
    }[mode]
    return low + up


def shifted(n, s, mode):
    return rounded(Fraction(n, 2**s), mode) if s >= 0 else n << -s


def saturate(x, bits):
    return min(max(x, -(2 ** (bits - 1))), 2 ** (bits - 1) - 1)


def wrap(x, bits):
    return (x + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def narrow(x, bits, how):
    if bits == 0:
        return x
    return wrap(x, bits) if how == "wrap" else saturate(x, bits)


def to_int(f, mode, overflow="saturate"):
    v = rounded(Fraction(float(f)), mode)
    return -(2**31) if overflow == "int-min" and not INT32[0] <= v <= INT32[1] else saturate(v, 32)


# ---- accumulators ----
def accumulate(a, products, bias):
    """products[..., k] in reduction order, bias broadcast to the rest."""
    bits, wraps = a["bits"], a["overflow"] == "wrap"

    def step(acc, term):
        total = acc + term
        if bits >= 64:
            return total
        lo, hi = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        return (total - lo) % 2**bits + lo if wraps else np.clip(total, lo, hi)

    def run(terms, acc):
        for k in range(0, terms.shape[-1], a["block"]):
            acc = step(acc, terms[..., k:k + a["block"]].sum(-1))
        return acc

    if wraps or a["overflow"] == "saturate-at-end":
        return step(products.sum(-1), bias)
    first = a["bias"] == "first"
    acc = step(np.zeros(products.shape[:-1], np.int64), bias if first else 0)
    if a["order"] == "lanes":
        for lane in range(a["lanes"]):
            acc = step(acc, run(products[..., lane::a["lanes"]], np.zeros_like(acc)))
    else:
        acc = run(products[..., ::-1] if a["order"] == "reverse" else products, acc)
    return acc if first else step(acc, bias)


# ---- scales ----
def formed(k, s_in, s_w, s_out, per_tensor):
    """R as a float64, by rescale.scale."""
    kind = k["scale"]
    if kind in ("f32", "f32-steps"):
        return float(f32(f32(s_in * s_w) / s_out))
    if kind == "f32-reciprocal":
        return float(f32(f32(s_in * s_w) * f32(1 / s_out)))
    if kind == "f32-product" or (kind == "f32-product-if-per-tensor" and per_tensor):
        return float(f32(s_in * s_w)) / float(s_out)
    return float(s_in) * float(s_w) / float(s_out)


def encode(k, real, shift=None):
    """(multiplier, total shift) of a positive scale; `shift` when it is given already."""
    _, exponent = math.frexp(real)
    bits, mode = k["multiplier_bits"], k["multiplier_round"]
    if k["encoding"] == "shift":
        return 1, 1 - exponent
    if shift is not None:
        return rounded(Fraction(real) * 2**shift, mode), shift
    if k["exponent_by_log"]:
        exponent = math.floor(math.log(real) / math.log(2)) + 1
    shift = bits - exponent
    m = rounded(Fraction(real) * Fraction(2) ** shift, mode)
    if m == 2**bits and k["multiplier_renormalise"]:
        m, shift = m // 2, shift - 1
    if shift < k["shift_min"]:
        if k["below_shift_min"] == "zero":
            return 0, None
        if k["below_shift_min"] == "largest":
            return 2**bits - 1, k["shift_min"]
        raise Unknown("a scale below shift_min")
    if shift > k["shift_max"]:
        lost = shift - k["shift_max"]
        if k["beyond_shift_max"] == "zero":
            return 0, None
        if k["beyond_shift_max"] == "denormal":
            return shifted(m, lost, k["denormal_round"]), k["shift_max"]
        if k["beyond_shift_max"] == "unnormalised":
            return rounded(Fraction(real) * 2 ** k["shift_max"], mode), k["shift_max"]
        raise Unknown("a scale beyond shift_max")
    return m, shift


class Rescale:
    """One rescale of one channel. `steps`: (s_in, s_w, s_out), for scales applied one by one."""

    def __init__(self, k, real, steps=None, shift=None):
        self.k, self.real, self.steps = k, real, steps
        self.pre = 0
        if k["encoding"] == "glow":
            self.pre, self.shift, self.m = glow_triplet(f32(real))
        elif k["encoding"] in ("multiplier", "shift"):
            self.m, self.shift = self.listed = encode(k, real, shift)
            self.shift = 0 if self.shift is None else self.shift
            self.reduce()
            if k["pre_shift"] == "fixed":
                self.pre = k["pre_shift_bits"]
            elif k["pre_shift"] == "rest":
                self.pre = self.shift - int(steps_of(k)[0][0] or 0)
            self.shift -= self.pre

    def reduce(self):
        k = self.k
        if not k["reduced_bits"]:
            return
        drop = k["multiplier_bits"] - k["reduced_bits"]
        self.m, self.shift = shifted(self.m, drop, "half-up"), self.shift - drop
        if self.m >= 2 ** k["reduced_bits"]:
            if k["reduced_overflow"] == "cap":
                self.m = 2 ** k["reduced_bits"] - 1
            else:
                self.m, self.shift = self.m // 2, self.shift - 1

    def value(self, x):
        """x rescaled and rounded, before the zero point."""
        k = self.k
        if k["encoding"] == "thresholds":
            return rounded(x * Fraction(self.real), k["round"][0])
        if k["encoding"] in ("float32", "float64"):
            return to_int(self.product(x), k["round"][0], k["float_overflow"])
        if self.pre > 0:
            mode = "floor" if k["encoding"] == "glow" else k["pre_shift_round"]
            x = shifted(x, self.pre, mode)
        elif self.pre < 0:
            x = saturate(saturate(x, 32) << -self.pre, 32)
        if k["operand_bits"]:
            x = saturate(x, k["operand_bits"])
        steps, shift = steps_of(k), self.shift
        first = steps[0][0] if len(steps) > 1 else 0
        if k["left_shift"] != "product" and shift < first:
            x = x << (first - shift)
            x = wrap(x, 32) if k["left_shift"] == "wrap" else saturate(x, 32)
            shift = first
        v = x * self.m
        if k["product_bits"]:
            v = wrap(v, k["product_bits"])
        if shift < 0:
            v, shift = v << -shift, 0
        for i, (bits, mode) in enumerate(steps):
            bits = shift if i == len(steps) - 1 else min(bits, shift)
            v, shift = shifted(v, bits, mode), shift - bits
        return narrow(v, k["result_bits"], k["result_overflow"])

    def product(self, x):
        if self.k["encoding"] == "float64":
            return np.float64(x) * np.float64(self.real)
        if self.k["scale"] == "f32-steps" and self.steps:
            s_in, s_w, s_out = self.steps
            return f32(f32(f32(f32(x) * s_in) * s_w) / s_out)
        return f32(f32(x) * f32(self.real))

    def code(self, x, out):
        """x to a code of the output."""
        k = self.k
        if k["zero_point"] == "inside" and k["encoding"] in ("float32", "float64"):
            f = self.product(x)
            return out.store(k, to_int(f + type(f)(out.zero), k["round"][0], k["float_overflow"]))
        return out.finish(k, self.value(x - out.zero if k["zero_point"] == "before" else x))


def steps_of(k):
    """[(bits or 0, mode)]"""
    steps = []
    for text in k["round"]:
        bits, _, mode = str(text).rpartition(" ")
        steps.append((int(bits) if bits else 0, mode))
    return steps


def glow_triplet(s):
    """Glow's quantizeScaleOffset32To8: (pre, post, multiplier); all steps in float32."""
    s = f32(s)
    mantissa, exponent = math.frexp(float(s))
    if mantissa == 0.5:
        e = exponent - 1
        return (0, 0, 2**e) if e > 0 else (0, -e, 1)
    pre = post = 0
    while s < 0.5 or (s < 256 and post < 15):
        s, post = f32(s * 2), post + 1
    while s < 255 and pre < post // 2:
        s, pre = f32(s * 2), pre + 1
    return pre, post, rounded(Fraction(float(s)), "half-away")
