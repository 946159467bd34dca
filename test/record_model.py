#!/usr/bin/python3
"""An independent model of any parameter record, over golden bundles written with --accumulators.

It reads the record that the manifest holds (schemes/record.def says what each parameter means) and
recomputes, from the bundle's own tensors, scales and zero points: accumulators in the record's order,
width and overflow; multipliers and shifts; every code of conv, fc, matmul, add, sub, mul, pools, means,
lrn, rescale, relu and max pool; quantize and dequantize. Integers are Python's, a rounding is of an exact
fraction, float steps are the processor's own. No code is shared with the library. Prints TAP.

    record_model.py BUNDLE ...
"""
import math
import os
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np

import numpy_model as tensors  # bundles, windows, convolution taps

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
    layers = [record.get("ops", {}).get(node["op"])]
    if wide:
        layers = [record.get("wide"), layers[0], record.get("wide_ops", {}).get(node["op"])]
    if unsigned:
        layers.append(record.get("unsigned_ops", {}).get(node["op"]))
    if unsigned and node["op"] == "conv" and node["attributes"].get("group", 1) > 1:
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


def fields(x, attributes, spatial):
    """What each output cell sees of x: [N, C, cells..., taps]."""
    kernel, stride, dilation, begin, end = tensors.windows(attributes, x.ndim - 2)
    x = np.pad(x, [(0, 0), (0, 0)] + list(zip(begin, end)))
    out = np.zeros(x.shape[:2] + tuple(spatial) + (int(np.prod(kernel)),), np.int64)
    for i, tap in enumerate(np.ndindex(*kernel)):
        at = tensors.strided([t * d for t, d in zip(tap, dilation)], spatial, stride)
        out[..., i] = x[(slice(None), slice(None)) + at]
    return out


# ---- scales ----
def formed(k, s_in, s_w, s_out, per_tensor):
    """R as a float64, by rescale.scale."""
    kind = k["scale"]
    if kind in ("f32", "f32-steps"):
        return float(f32(f32(s_in * s_w) / s_out))
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
        lost = min(shift - k["shift_max"], bits)
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
            self.pre, self.shift, self.m = tensors.glow_triplet(f32(real))
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
            return out.clamp(to_int(f + type(f)(out.zero), k["round"][0], k["float_overflow"]))
        return out.finish(k, self.value(x))


def steps_of(k):
    """[(bits or 0, mode)]"""
    steps = []
    for text in k["round"]:
        bits, _, mode = str(text).rpartition(" ")
        steps.append((int(bits) if bits else 0, mode))
    return steps


class Output:
    def __init__(self, bundle, node):
        name = node["outputs"][0]
        entry = bundle.entry[name]
        self.zero, self.scale = int(bundle.zero(name)), f32(bundle.scale(name))
        self.bits, self.signed = entry["bits"], not entry["dtype"].startswith("u")
        self.lo, self.hi = tensors.bounds(bundle, node, name)
        if node["op"] == "relu":
            self.lo = max(self.lo, self.zero)
        given = node["attributes"]
        self.act_lo = self.lo if "act_lo" in given or node["op"] == "relu" else -math.inf
        self.act_hi = self.hi if "act_hi" in given else math.inf

    def clamp(self, v):
        return min(max(v, self.lo), self.hi)

    def finish(self, k, v):
        v = narrow(v + self.zero, k["sum_bits"], k["sum_overflow"])
        if k["store"] == "wrap":
            v = min(max(v, self.act_lo), self.act_hi)
            return wrap(v, self.bits) if self.signed else v % 2**self.bits
        return self.clamp(v)


# ---- nodes ----
class Model:
    def __init__(self, path):
        self.bundle = tensors.Bundle(path)
        self.record = parse_record(self.bundle.manifest["scheme"]["text"])

    def rule(self, node):
        x = self.bundle.entry[node["inputs"][0]]
        wide = x["bits"] > 8 and x["dtype"] != "float32"
        return effective(self.record, node, wide, x["dtype"].startswith("u"))

    def centred(self, name):
        x, z = self.bundle.load(name), self.bundle.zero(name)
        if z.ndim == 0 or z.size == 1:
            return x - int(z.reshape(-1)[0])
        axis = self.bundle.entry[name]["axis"]
        return x - z.reshape([-1 if a == axis else 1 for a in range(x.ndim)])

    def finish(self, node, rec, acc, axis, s_w):
        """Codes of accumulators with a scale for each index of the axis, or one."""
        k, out, b = rec["rescale"], Output(self.bundle, node), self.bundle
        s_in = f32(b.scale(node["inputs"][0]))
        scales = [f32(s) for s in np.atleast_1d(s_w)]
        real = [formed(k, s_in, s, out.scale, len(scales) == 1) for s in scales]
        units = [Rescale(k, r, (s_in, s, out.scale)) for r, s in zip(real, scales)]
        if k["common_shift"] and len(units) > 1:
            most = int(np.argmax(real))
            shift = units[most].listed[1]
            units = [u if i == most else Rescale(k, u.real, u.steps, shift)
                     for i, u in enumerate(units)]
        fault = self.listed(node, units)
        want = np.empty_like(acc)
        for c, unit in enumerate(units):
            index = [slice(None)] * acc.ndim
            if len(units) > 1:
                index[axis] = c
            part = acc[tuple(index)]
            want[tuple(index)] = tensors.each(lambda a: unit.code(a, out), part)
        return want, fault

    def listed(self, node, units):
        """Whether the manifest's multipliers are those of the units."""
        given = node.get("parameters", {}).get("multiplier")
        if given is None or units[0].k["encoding"] != "multiplier":
            return ""
        derived = [u.listed[0] for u in units]
        return "" if list(given) == derived else f"multipliers {given[:4]}, derived {derived[:4]}"

    def products(self, node):
        """Centred products in reduction order [..., k], and the channel axis."""
        x, w = (self.centred(v) for v in node["inputs"][:2])
        if node["op"] == "fc":
            return x[..., None, :] * w, -1
        if node["op"] == "matmul":
            a = x.swapaxes(-1, -2) if node["attributes"]["transpose_a"] else x
            b = w if node["attributes"]["transpose_b"] else w.swapaxes(-1, -2)
            return a[..., :, None, :] * b[..., None, :, :], -1
        found = self.bundle.load(node["outputs"][0])
        seen = fields(x, node["attributes"], found.shape[2:])
        group, o = node["attributes"]["group"], w.shape[0]
        cg, og = w.shape[1], o // group
        spatial, rank = found.shape[2:], len(found.shape) - 2
        out = np.empty((x.shape[0], o) + tuple(spatial) + (cg * seen.shape[-1],), np.int64)
        for c in range(o):
            part = seen[:, c // og * cg:(c // og + 1) * cg]
            part = np.moveaxis(part, 1, -2).reshape(out[:, c].shape)
            out[:, c] = part * w[c].reshape([1] * (rank + 1) + [-1])
        return out, 1

    def weighted(self, node, rec):
        products, axis = self.products(node)
        bias = 0
        if len(node["inputs"]) > 2 and node["inputs"][2]:
            b = self.bundle.load(node["inputs"][2])
            rank = products.ndim - 1
            bias = b.reshape([-1 if a == axis % rank else 1 for a in range(rank)])
        if rec["accumulator"]["saturate_pairs"]:
            raise Unknown("pairs of products")
        acc = accumulate(rec["accumulator"], products, bias)
        name = node["outputs"][0]
        dumped = self.bundle.accumulators(name)
        if dumped is None or not np.array_equal(dumped, acc):
            return "accumulators differ"
        want, fault = self.finish(node, rec, acc, axis, self.bundle.scale(node["inputs"][1]))
        return fault or tensors.compare(self.bundle.load(name), want)

    def pairs(self, node, rec):
        """add, sub, mul"""
        b, out = self.bundle, Output(self.bundle, node)
        x, y = (self.centred(v) for v in node["inputs"])
        if node["op"] == "mul":
            want, fault = self.finish(node, rec, x * y, -1, b.scale(node["inputs"][1]))
            return fault or tensors.compare(b.load(node["outputs"][0]), want)
        s1, s2 = (f32(b.scale(v)) for v in node["inputs"])
        function = adder(rec, s1, s2, out, -1 if node["op"] == "sub" else 1)
        return tensors.compare(b.load(node["outputs"][0]), tensors.each(function, x, y))

    def pool(self, node, rec):
        b, out = self.bundle, Output(self.bundle, node)
        name, a = node["inputs"][0], node["attributes"]
        x, found, zero = b.load(name), b.load(node["outputs"][0]), int(b.zero(name))
        if node["op"] in ("max_pool", "avg_pool"):
            if node["op"] == "max_pool":
                return self.max_pool(node, x, found, rec, out)
            inside = fields(np.ones_like(x), a, found.shape[2:]).sum(-1)
            sums = fields(x, a, found.shape[2:]).sum(-1)
            depth = int(np.prod(a["kernel"]))
            if a["count_include_pad"]:
                _, _, _, begin, end = tensors.windows(a, x.ndim - 2)
                held = np.pad(np.ones_like(x), [(0, 0), (0, 0)] + list(zip(begin, end)),
                              constant_values=1)
                none = dict(a, pad_begin=[0] * (x.ndim - 2), pad_end=[0] * (x.ndim - 2))
                counts = fields(held, none, found.shape[2:]).sum(-1)
                sums = sums + (counts - inside) * zero
            else:
                counts = inside
        else:
            axes = tuple(n % x.ndim for n in a.get("axes") or range(2, x.ndim))
            depth = int(np.prod([x.shape[n] for n in axes]))
            sums = x.sum(axes)
            counts = np.full_like(sums, depth)
        sums = accumulate(rec["accumulator"], sums[..., None], 0)
        function = pooler(node["op"], rec, f32(b.scale(name)), zero, out, depth,
                          bool(a.get("count_include_pad")))
        return tensors.compare(found, tensors.each(function, sums, counts).reshape(found.shape))

    def max_pool(self, node, x, found, rec, out):
        a = node["attributes"]
        _, _, _, begin, end = tensors.windows(a, x.ndim - 2)
        padded = np.pad(x, [(0, 0), (0, 0)] + list(zip(begin, end)), constant_values=-(2**40))
        none = dict(a, pad_begin=[0] * (x.ndim - 2), pad_end=[0] * (x.ndim - 2))
        most = fields(padded, none, found.shape[2:]).max(-1)
        return self.codes(node, rec, out, most, found)

    def change(self, node, rec):
        """rescale, relu, clip"""
        x, found = self.bundle.load(node["inputs"][0]), self.bundle.load(node["outputs"][0])
        return self.codes(node, rec, Output(self.bundle, node), x, found)

    def codes(self, node, rec, out, codes, found):
        name = node["inputs"][0]
        s_in, zero = f32(self.bundle.scale(name)), int(self.bundle.zero(name))
        if (s_in, zero) == (out.scale, out.zero) and node["op"] != "rescale":
            return tensors.compare(found, np.clip(codes, out.lo, out.hi))
        if rec["unary"]["rescale"] == "table":
            raise Unknown("a table")
        unit = Rescale(rec["rescale"], formed(rec["rescale"], s_in, f32(1), out.scale, True),
                       (s_in, f32(1), out.scale))
        return tensors.compare(found, tensors.each(lambda q: unit.code(q - zero, out), codes))

    def lrn(self, node, rec):
        """Channels first."""
        k, name, a = rec["lrn"], node["inputs"][0], node["attributes"]
        d, out, s_in = self.centred(name), Output(self.bundle, node), f32(self.bundle.scale(name))
        before = (a["size"] - 1) // 2
        squares = np.pad(d * d, [(0, 0), (before, a["size"] - 1 - before)] + [(0, 0)] * (d.ndim - 2))
        sums = sum(squares[:, j:j + d.shape[1]] for j in range(a["size"]))
        bias, alpha, beta = (Decimal(float(f32(a[n]))) for n in ("bias", "alpha", "beta"))
        places = k["bits"] - math.frexp(float(bias**-beta))[1]

        def entry(s):
            base = bias + alpha / a["size"] * Decimal(float(s_in))**2 * int(s)
            return rounded(Fraction(base**-beta) * Fraction(2)**places, k["round"])

        def gain(s):
            e = max(int(s).bit_length() - k["cells"] - 1, 0)
            low = entry(s >> e << e)
            if not k["interpolate"]:
                return low
            high = entry(((s >> e) + 1) << e)
            return low + shifted((high - low) * (s % 2**e), e, k["round"])
        w = f32(2.0**-places)
        unit = Rescale(rec["rescale"], formed(rec["rescale"], s_in, w, out.scale, True),
                       (s_in, w, out.scale))
        want = tensors.each(lambda x, s: unit.code(x * gain(s), out), d, sums)
        return tensors.compare(self.bundle.load(node["outputs"][0]), want)

    def quantize(self, node, rec):
        k, b, out = rec["convert"], self.bundle, Output(self.bundle, node)
        x = np.load(os.path.join(b.path, b.entry[node["inputs"][0]]["file"]))
        f = x / out.scale if k["division"] == "divide" else x * f32(f32(1) / out.scale)
        inside = k["zero_point"] == "inside"
        f = (f + f32(out.zero)).astype(f32) if inside else f.astype(f32)
        want = np.array([out.clamp(to_int(v, k["round"]) + (0 if inside else out.zero))
                         for v in f.flat]).reshape(x.shape)
        return tensors.compare(b.load(node["outputs"][0]), want)

    def dequantize(self, node, rec):
        b, name = self.bundle, node["inputs"][0]
        x, s = self.centred(name), f32(b.scale(name))
        want = (f32(x) * s if rec["convert"]["dequantize"] == "float32"
                else (x.astype(np.float64) * np.float64(s)).astype(f32))
        found = np.load(os.path.join(b.path, b.entry[node["outputs"][0]]["file"]))
        return "" if np.array_equal(found, want.astype(f32)) else "floats differ"


def adder(rec, s1, s2, out, sign):
    """ADD and SUB of centred codes x, y."""
    a, k = rec["add"], rec["rescale"]
    kind, bits, mode = a["kind"], a["bits"], a["round"]
    r1, r2 = f32(s1 / out.scale), f32(s2 / out.scale)
    if kind == "left-shift":
        real = f32 if a["scale"] == "float32" else float
        t = real(2) * max(real(s1), real(s2))
        u1, u2 = (Rescale(k, float(real(s) / t)) for s in (s1, s2))
        uo = Rescale(k, float(t / (real(2**bits) * real(out.scale))))
        return lambda x, y: uo.code(wrap(u1.value(wrap(x << bits, 32)) +
                                         sign * u2.value(wrap(y << bits, 32)), 32), out)
    if kind == "common-exponent":
        shift = bits - (math.frexp(float(max(r1, r2)))[1] - 1)
        m1, m2 = (round(float(r) * 2.0**shift) for r in (r1, r2))
        return lambda x, y: out.finish(k, shifted(wrap(x * m1 + sign * y * m2, 32), shift, mode))
    if kind == "separate":
        u1, u2 = (Rescale(k, formed(k, s, f32(1), out.scale, True), (s, f32(1), out.scale))
                  for s in (s1, s2))
        return lambda x, y: out.finish(k, u1.value(x) + sign * u2.value(y))
    if kind == "align-power-of-two":
        e1, e2, eo = (math.frexp(float(s))[1] for s in (s1, s2, out.scale))
        coarse = max(e1, e2)
        return lambda x, y: out.finish(k, shifted(
            shifted(x << bits, coarse - e1, a["align_round"]) +
            sign * shifted(y << bits, coarse - e2, a["align_round"]), bits + eo - coarse, mode))
    if kind == "plain":
        return lambda x, y: out.finish(k, x + sign * y)

    def end(f):
        if a["zero_point"] == "inside":
            return out.clamp(to_int(f32(f + f32(out.zero)), mode))
        return out.clamp(to_int(f, mode) + out.zero)
    if kind == "float-real":
        return lambda x, y: end(f32(f32(f32(f32(x) * s1) + sign * f32(f32(y) * s2)) / out.scale))
    if kind == "float-ratio":
        return lambda x, y: end(f32(f32(f32(x) * r1) + sign * f32(f32(y) * r2)))
    if kind == "fixed-scale":
        fixed = f32(2.0**-bits)
        f1, f2, fo = f32(s1 / fixed), f32(s2 / fixed), f32(fixed / out.scale)
        return lambda x, y: out.clamp(to_int(f32(f32(f32(
            to_int(f32(f32(x) * f1), mode) + sign * to_int(f32(f32(y) * f2), mode)) * fo) +
            f32(out.zero)), mode))
    raise Unknown(f"add.kind {kind}")


def pooler(op, rec, s_in, zero, out, depth, include_pad):
    """A sum of raw codes over `count` cells."""
    p, k = rec["pool"], rec["rescale"]
    kind = p["kind"]
    ratio = formed(k, s_in, f32(1), out.scale, True)
    steps = (s_in, f32(1), out.scale)
    if op == "reduce_sum":
        unit = Rescale(k, ratio, steps)
        return lambda s, n: unit.code(s - n * zero, out)

    def divided(n):
        if k["scale"] in ("f32", "f32-steps"):
            if p["scale"] == "in/out/count":
                return float(f32(f32(s_in / out.scale) / f32(n)))
            return float(f32(s_in / f32(out.scale * f32(n))))
        return float(s_in) / float(out.scale) / n

    def to_output(code):
        if (s_in, zero) == (out.scale, out.zero):
            return out.clamp(code)
        return Rescale(k, ratio, steps).code(code - zero, out)
    if kind == "divide":
        if p["keep_zero_point"]:
            return lambda s, n: to_output(rounded(Fraction(s, n), p["round"]))
        return lambda s, n: to_output(rounded(Fraction(s - n * zero, n), p["round"]) + zero)
    if kind == "reciprocal":
        def reciprocal(s, n):
            e = (n - 1).bit_length()
            return to_output(shifted((s - n * zero) * (((2**30 + 1) << e) // n), 30 + e,
                                     "half-up") + zero)
        return reciprocal
    if kind == "two-stage":
        part = 65536 // math.isqrt(depth)

        def two(s, n):
            v = shifted((s - n * zero) * part, 16, "half-away")
            return to_output(shifted(v * part, 16, "half-away") + zero)
        return two
    if kind == "rescale-divide" and op == "avg_pool" and not include_pad:
        unit = Rescale(k, ratio, steps)
        return lambda s, n: out.finish(k, rounded(Fraction(unit.value(s - n * zero), n),
                                                  p["round"]))
    if kind in ("rescale", "rescale-divide") or (kind == "float-sum" and op != "avg_pool"):
        return lambda s, n: Rescale(k, divided(n)).code(s - n * zero, out)
    if kind == "divided-multiplier":
        def divided_multiplier(s, n):
            unit = Rescale(k, ratio)
            m, shift = unit.listed
            room = min(n.bit_length() - 1, 32, 31 + k["multiplier_bits"] - shift)
            unit.m, unit.shift = (m << max(room, 0)) // n, shift + max(room, 0)
            return unit.code(s - n * zero, out)
        return divided_multiplier
    if kind == "dpu":
        known = {9: (7, 6), 25: (10, 8), 36: (7, 8), 49: (21, 10), 196: (21, 12)}
        if math.isqrt(depth) ** 2 == depth and depth in known:
            n_, m_ = known[depth]
        else:
            trials = [(round_half_away(2**b / depth), b)
                      for b in range(math.ceil(math.log2(128 * depth)))]
            n_, m_ = min(trials, key=lambda t: abs(t[0] / 2 ** t[1] - 1 / depth))
        more = math.frexp(float(out.scale))[1] - math.frexp(float(s_in))[1]
        return lambda s, n: out.finish(k, shifted((s - n * zero) * n_, m_ + more, p["round"]))
    raise Unknown(f"pool.kind {kind}")


def round_half_away(x):
    return rounded(Fraction(x), "half-away")


CHECKS = {"conv": Model.weighted, "fc": Model.weighted, "matmul": Model.weighted,
          "add": Model.pairs, "sub": Model.pairs, "mul": Model.pairs, "max_pool": Model.pool,
          "avg_pool": Model.pool, "global_avg_pool": Model.pool, "reduce_mean": Model.pool,
          "reduce_sum": Model.pool, "rescale": Model.change, "relu": Model.change,
          "clip": Model.change, "lrn": Model.lrn, "quantize": Model.quantize, "dequantize": Model.dequantize}


def main(paths):
    count = failed = 0
    for path in paths:
        model = Model(path)
        nodes, codes, unknown, faults = 0, 0, set(), []
        for node in model.bundle.manifest["nodes"]:
            check = CHECKS.get(node["op"])
            data = [v for v in node["inputs"] + node["outputs"] if v]
            if check is None or not any(model.bundle.quantized(v) for v in data):
                continue
            try:
                fault = check(model, node, model.rule(node))
            except Unknown as what:
                unknown.add(f"{node['op']}: {what}")
                continue
            nodes += 1
            codes += int(np.prod(model.bundle.entry[node["outputs"][0]]["shape"]))
            if fault:
                faults.append(f"{node['op']} {node['name']}: {fault}")
        count += 1
        failed += bool(faults) or nodes == 0
        print(f"{'not ok' if faults or nodes == 0 else 'ok'} {count} - {os.path.basename(path)}: "
              f"{nodes} nodes, {codes} elements")
        for line in faults[:8]:
            print("# " + line)
        for line in sorted(unknown):
            print("# not modelled: " + line)
    print(f"1..{count}")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
